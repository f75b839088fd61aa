//! Every key the catalog reads, as data: the reader checks against it, and the reference page is
//! made from it.

/// One documented configuration key.
#[derive(Debug, Clone, Copy)]
pub struct ConfigKey {
    /// The dotted path; `<…>` stands for any name.
    pub path: &'static str,
    /// What holds when it is absent.
    pub default: &'static str,
    /// What it does.
    pub doc: &'static str,
}

const fn key(path: &'static str, default: &'static str, doc: &'static str) -> ConfigKey {
    ConfigKey { path, default, doc }
}

/// The keys, grouped as in the file.
pub const KEYS: &[ConfigKey] = &[
    key("skills.allowBundled", "all", "Bundled skills that may load, by name or skill key."),
    key("skills.load.extraDirs", "[]", "Further folders with skills; `~` is the home."),
    key(
        "skills.load.allowSymlinkTargets",
        "[]",
        "Real paths that links in a workspace may lead to.",
    ),
    key("skills.load.watch", "true", "Watch the folders for changes."),
    key("skills.load.debounceMs", "250", "How long changes gather before they are acted on."),
    key(
        "skills.load.reloadWindowMs",
        "30000",
        "How long costly follow-ups of a change are gathered.",
    ),
    key("skills.load.personal", "auto", "Read ~/.agents/skills: auto, true or false."),
    key("skills.load.agents", "true", "Read the skill folders of other agents on this machine."),
    key(
        "skills.load.maxDepth",
        "6",
        "How deep a root is walked; 2 for extra folders not named skills.",
    ),
    key("skills.load.tolerateBadMetadata", "false", "Use skills whose metadata cannot be read."),
    key(
        "skills.limits.maxCandidatesPerRoot",
        "20000",
        "Skill folders considered per root (300 in the openclaw profile).",
    ),
    key(
        "skills.limits.maxSkillsLoadedPerSource",
        "20000",
        "Skills loaded per root (200 in the openclaw profile).",
    ),
    key("skills.limits.maxSkillsInPrompt", "150", "Skills listed in the prompt."),
    key(
        "skills.limits.maxSkillsPromptChars",
        "30000",
        "Length of the prompt block in UTF-16 code units.",
    ),
    key("skills.limits.maxSkillFileBytes", "256000", "Size of one skill file."),
    key(
        "skills.prompt.planner",
        "graded",
        "How the prompt budget is spent: graded, openclaw or prefix.",
    ),
    key("skills.prompt.order", "name", "Order of the prompt block: name or rank."),
    key("skills.prompt.pin", "[]", "Skills that keep their place when room is short."),
    key(
        "skills.prompt.fullDescriptions",
        "8",
        "How many of the best ranked keep their description longest.",
    ),
    key("skills.prompt.template", "", "Your own introduction of the prompt block."),
    key(
        "skills.profile.openpocket.userFirst",
        "false",
        "In the openpocket profile, let your copy win over the bundled one.",
    ),
    key("skills.install.preferBrew", "true", "Offer brew first where it is installed."),
    key("skills.install.nodeManager", "npm", "npm, pnpm, yarn or bun."),
    key(
        "skills.install.allowPrivateHosts",
        "[]",
        "Hosts that downloads may come from although their address is not public.",
    ),
    key("skills.install.allowUploadedArchives", "false", "Read for compatibility; has no effect."),
    key(
        "skills.env.scope",
        "used",
        "Whose variables a run gets: those of the skills in use (used), or of all (snapshot).",
    ),
    key(
        "skills.env.allowDeclaredCredentials",
        "true",
        "Let a skill's own entry set a credential that the skill declares.",
    ),
    key("skills.entries.<key>.enabled", "true", "false switches the skill off."),
    key(
        "skills.entries.<key>.apiKey",
        "",
        "The skill's API key: text, or {source, id} with source env, file or exec (a command, split at blanks).",
    ),
    key("skills.entries.<key>.env", "{}", "Variables for the skill's runs: text, or {source, id}."),
    key("skills.entries.<key>.config", "{}", "Passed through to the skill."),
    key(
        "agents.defaults.skills",
        "all",
        "Skills that agents see unless their own list says otherwise.",
    ),
    key("agents.entries.<id>.skills", "all", "Skills this agent sees: names, `prefix-*`, `!name`."),
    key(
        "agents.entries.<id>.skillsLimits.maxSkillsPromptChars",
        "",
        "This agent's own length of the prompt block.",
    ),
    key("agent.skillsSpecMode", "mixed", "In the openpocket profile: legacy, mixed or strict."),
    key("plugins.enabled", "true", "Whether plugins contribute skills and commands."),
    key("plugins.load.paths", "[]", "Folders of plugins, in order."),
    key("plugins.slots.memory", "", "The one memory plugin that contributes."),
    key("plugins.entries.<id>.enabled", "true", "false switches the plugin off."),
    key(
        "plugins.entries.skill-workshop.enabled",
        "false",
        "true lets agents use the workshop: its tool, capture and the reviewer.",
    ),
    key(
        "plugins.entries.skill-workshop.config.enabled",
        "true",
        "Works once the entry is enabled.",
    ),
    key(
        "plugins.entries.skill-workshop.config.autoCapture",
        "true",
        "Capture and review after successful turns.",
    ),
    key(
        "plugins.entries.skill-workshop.config.approvalPolicy",
        "pending",
        "pending queues proposals, auto writes safe ones at once.",
    ),
    key(
        "plugins.entries.skill-workshop.config.approvalRules",
        "[]",
        "{match, policy} by skill name, first match wins: pending, auto or never.",
    ),
    key(
        "plugins.entries.skill-workshop.config.reviewMode",
        "hybrid",
        "Which automatic paths run: off, heuristic, llm or hybrid.",
    ),
    key(
        "plugins.entries.skill-workshop.config.reviewInterval",
        "15",
        "Successful turns between reviews, 1 to 200.",
    ),
    key(
        "plugins.entries.skill-workshop.config.reviewMinToolCalls",
        "8",
        "Tool calls between reviews, 1 to 500.",
    ),
    key(
        "plugins.entries.skill-workshop.config.reviewTimeoutMs",
        "45000",
        "How long one review may take, 5000 to 180000.",
    ),
    key(
        "plugins.entries.skill-workshop.config.reviewRepair",
        "0",
        "Extra requests after invalid JSON, 0 or 1.",
    ),
    key(
        "plugins.entries.skill-workshop.config.maxPending",
        "50",
        "Pending and quarantined proposals kept per workspace, 1 to 200.",
    ),
    key(
        "plugins.entries.skill-workshop.config.maxSkillBytes",
        "40000",
        "Size of a generated skill or support file, 1024 to 200000.",
    ),
    key(
        "plugins.entries.skill-workshop.config.captureProfile",
        "reference",
        "What counts as a correction: reference or extended.",
    ),
    key(
        "plugins.entries.skill-workshop.config.staleCheck",
        "rebase",
        "A target that changed meanwhile: rebase or strict.",
    ),
    key(
        "plugins.entries.skill-workshop.config.duplicateGate",
        "advise",
        "New skills that are close to others: off, advise or block.",
    ),
    key(
        "plugins.entries.skill-workshop.config.triggerGate",
        "block",
        "Descriptions that take other skills' queries: off, warn or block.",
    ),
    key(
        "plugins.entries.skill-workshop.config.probation",
        "{uses: 3, idleDays: 30, minTrials: 8}",
        "What something learned has to show before it is promoted, or a person is asked to retire it.",
    ),
    key(
        "plugins.entries.skill-workshop.config.provider",
        "",
        "The reviewer's model: {kind: openai, anthropic or command, …}.",
    ),
    key(
        "security.installPolicy.enabled",
        "false",
        "Ask a command of yours before anything is installed.",
    ),
    key("security.installPolicy.targets", "all", "What it is asked about: skill, plugin."),
    key("security.installPolicy.exec.command", "", "The command's absolute path."),
    key("security.installPolicy.exec.args", "[]", "Its arguments."),
    key("security.installPolicy.exec.timeoutMs", "10000", "How long it may take."),
    key(
        "security.installPolicy.exec.noOutputTimeoutMs",
        "",
        "How long it may say nothing; timeoutMs where absent.",
    ),
    key("security.installPolicy.exec.maxOutputBytes", "1048576", "How much it may say."),
    key("security.installPolicy.exec.env", "{}", "Its variables."),
    key("security.installPolicy.exec.passEnv", "[]", "Variables that it inherits."),
    key("security.installPolicy.exec.trustedDirs", "[]", "Folders the command must lie in."),
    key("route.model", "default", "What ranks: default, static, words, file or remote."),
    key("route.threshold", "0.75", "The probability a match needs."),
    key("route.margin", "0.2", "The lead a match needs over the second."),
    key("route.top", "5", "How many skills `find` shows, and the longest short list."),
    key(
        "route.file",
        "",
        "Folder of a sentence-transformers model of BERT's shape, for the model `file`.",
    ),
    key("route.remote.url", "", "Base address of an embedding server (OpenAI, Ollama, vLLM …)."),
    key("route.remote.model", "", "The model's name there."),
    key("route.remote.dims", "", "The length of its vectors."),
    key("route.remote.dialect", "openai", "openai (/v1/embeddings) or ollama (/api/embed)."),
    key("route.remote.apiKey", "", "The key it wants: text, or {source, id}."),
    key("route.remote.timeoutMs", "300", "How long it may take for a message."),
    key("hub.registry", "https://clawhub.ai", "The registry that a bare slug means."),
    key("hub.registries.<name>", "", "A further registry's address; `name:slug` asks it."),
    key("hub.github.useToken", "false", "Send GITHUB_TOKEN or GH_TOKEN to GitHub's API."),
    key("hub.github.apiUrl", "https://api.github.com", "Where GitHub's API is."),
    key("hub.github.codeloadUrl", "https://codeload.github.com", "Where GitHub's archives are."),
    key("hub.skillsShUrl", "https://skills.sh", "Where skills.sh's search is."),
    key(
        "hub.updates",
        "ask",
        "auto-safe applies an update without asking where only text changed and nothing was found.",
    ),
    key("cortex.enabled", "true", "Whether outcomes are remembered and recalled."),
    key("cortex.policy", "cortex", "How candidates are ordered: cortex or bayes."),
    key("cortex.decay_scope", "region", "Whose last use counts for decay: region or candidate."),
    key("cortex.window_hours", "168", "Hours in which further successes count less; 1 to 720."),
    key(
        "cortex.reflex.gate",
        "by policy",
        "What a reflex must show: reference, reference+bound, bound or off.",
    ),
    key("cortex.reflex.min_lb", "0.8", "The reliability that the bound asks for; 0.5 to 0.99."),
    key(
        "cortex.reflex.install",
        "notify",
        "How a reflex asks before it installs: notify or confirm.",
    ),
    key(
        "cortex.reflex.cancel_window_ms",
        "5000",
        "How long a reflex can be cancelled; 0 to 60000.",
    ),
    key("cortex.shield", "bayes", "What an outage spares: bayes, all or off."),
    key("cortex.lesson_decay", "true", "Whether lessons fade when nothing confirms them."),
    key("cortex.mirror", "", "A cortex.json that is kept up to date beside the database."),
    key(
        "approvals.relay",
        "limited",
        "Which answers an agent may pass on: limited (plans, switches, keeping), allow or never.",
    ),
    key("hook.maxChars", "6000", "The longest text a hook adds to a message; 500 to 9500."),
    key(
        "hook.deadlineMs",
        "300",
        "How long a message or the end of a turn waits for a hook, a tool a third of it; 50 to 10000.",
    ),
    key(
        "mcp.require_token",
        "true",
        "Whether HTTP clients on this machine need the token; others always do.",
    ),
    key("mcp.skill_prefix", "none", "What skill addresses begin with: none or tier."),
    key("serve.listen", "127.0.0.1:7411", "Where `serve` listens."),
    key(
        "serve.publicUrl",
        "",
        "The origin by which others know the server, where a proxy stands in front.",
    ),
    key(
        "serve.ratePerSecond",
        "50",
        "Requests one client may send in a second, where others than this machine can reach the server; 0 for any number.",
    ),
    key(
        "serve.registryListen",
        "",
        "An address of the registry's own; below the others' address where absent.",
    ),
    key(
        "serve.registryUrl",
        "",
        "The origin by which others know that address, where a proxy stands in front.",
    ),
    key("metrics.public", "false", "Whether `/metrics` can be read without the token."),
    key("registry.mode", "private", "Who reads without a token: private or public-read."),
    key(
        "registry.blobs",
        "<home>/registry/blobs",
        "Where bundles lie: a folder, or s3://bucket/prefix with the keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
    ),
    key("registry.s3.endpoint", "", "The S3 service, where it is not Amazon's."),
    key("registry.s3.region", "us-east-1", "Its region; AWS_REGION where absent."),
    key(
        "registry.s3.pathStyle",
        "with an endpoint",
        "Whether the bucket is a part of the path, not of the host.",
    ),
    key(
        "registry.limits.scale",
        "1, on loopback 1000",
        "Multiplies how many requests a caller may send in a minute.",
    ),
    key(
        "registry.mirror.mode",
        "off",
        "Bring skills of another registry in: off, proxy (when asked for) or snapshot (by `registry mirror`).",
    ),
    key("registry.mirror.upstream", "https://clawhub.ai", "The other registry's base."),
    key(
        "registry.mirror.allow",
        "[]",
        "What may be brought in: owner, owner/slug, */slug or *, and github:account or github:account/repo; nothing else is.",
    ),
    key("registry.mirror.deny", "[]", "What may not, even so."),
    key("registry.mirror.prefix", "", "Put before the names of the other registry's owners."),
    key("registry.mirror.intervalSeconds", "600", "How long what the other registry said counts."),
    key("traces.enabled", "true", "Whether finished runs are learned from."),
    key(
        "traces.publish",
        "proposal",
        "What becomes of a draft: proposal, auto (written to skills/auto) or off.",
    ),
    key(
        "traces.accept_weak",
        "true",
        "Draft runs of which nobody said that they worked, with low confidence.",
    ),
    key(
        "traces.reference_exact",
        "false",
        "Write drafts where and as OpenPocket does: at once, typed text included, old ones removed.",
    ),
    key(
        "traces.sources",
        "[live]",
        "Where runs come from unasked: live (hooks), claude-code, codex, openclaw, openpocket (their sessions).",
    ),
    key("traces.typed_text", "param", "Typed text in drafts: param (a parameter) or verbatim."),
    key(
        "traces.duplicates",
        "supersede",
        "What a newer draft does to the older one in skills/auto: supersede (archive it) or delete.",
    ),
    key(
        "traces.front_matter",
        "always",
        "Which drafts have front matter: always, or reference (only in folders of their own).",
    ),
    key(
        "traces.drafts_in_index",
        "false",
        "Whether drafts in skills/auto are in the prompt unreviewed.",
    ),
    key("traces.min_steps", "1", "A run with fewer steps makes no draft."),
    key("traces.max_age_days", "30", "Older sessions are not looked through unless named."),
    key("traces.keep_runs", "500", "Runs that are remembered per workspace; the oldest go first."),
    key("traces.scripts", "true", "Whether drafts come with a replay script."),
    key("agent.autoArtifactsEnabled", "true", "OpenPocket's name for traces.enabled."),
];

/// The names that may stand directly below a dotted path, `<…>` included.
pub(super) fn children(path: &str) -> Vec<&'static str> {
    let mut names: Vec<&'static str> = KEYS
        .iter()
        .filter_map(|key| key.path.strip_prefix(path)?.strip_prefix('.'))
        .map(|rest| rest.split('.').next().unwrap_or(rest))
        .collect();
    names.dedup();
    names
}
