//! From a tree to a [`Config`], with a reason for everything that is not usable.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use sinew_settings::{Reason, ReasonCode};

use super::{
    AgentSettings, AgentsSection, Config, EntrySettings, McpSection, OpenPocketMode,
    OpenPocketSection, PersonalRootMode, SecretSetting, keys,
};

pub(super) fn read_text(text: &str) -> (Config, Vec<Reason>) {
    if text.trim().is_empty() {
        return (Config::default(), Vec::new());
    }
    match json5::from_str::<Value>(text) {
        Ok(tree) => read_tree(tree),
        Err(error) => (
            Config::default(),
            vec![
                Reason::new(ReasonCode::BadConfigValue, format!("the file is not JSON5: {error}"))
                    .remedy("correct the file; until then every default holds"),
            ],
        ),
    }
}

pub(super) fn read_tree(tree: Value) -> (Config, Vec<Reason>) {
    let mut reader = ConfigReader { reasons: Vec::new() };
    let mut config = Config::default();
    if let Value::Object(root) = &tree {
        reader.root(root, &mut config);
    } else if !tree.is_null() {
        reader.bad("the configuration", "a map");
    }
    config.tree = tree;
    (config, reader.reasons)
}

pub(super) struct ConfigReader {
    reasons: Vec<Reason>,
}

impl ConfigReader {
    fn root(&mut self, root: &Map<String, Value>, config: &mut Config) {
        if let Some(skills) = self.map(root, "skills", "skills") {
            self.unknown_keys(skills, "skills");
            self.skills(skills, config);
        }
        if let Some(agents) = self.map(root, "agents", "agents") {
            config.agents = self.agents(agents);
        }
        if let Some(plugins) = self.map(root, "plugins", "plugins") {
            self.plugins(plugins, config);
        }
        if let Some(route) = self.map(root, "route", "route") {
            self.unknown_keys(route, "route");
            self.route(route, config);
        }
        if let Some(cortex) = self.map(root, "cortex", "cortex") {
            self.unknown_keys(cortex, "cortex");
            self.cortex(cortex, config);
        }
        if let Some(approvals) = self.map(root, "approvals", "approvals") {
            self.unknown_keys(approvals, "approvals");
            self.set(&mut config.approvals.relay, approvals, "approvals.relay", |value| {
                one_of(value, &["limited", "allow", "never"]).map(Some)
            });
        }
        if let Some(hub) = self.map(root, "hub", "hub") {
            self.unknown_keys(hub, "hub");
            self.hub(hub, config);
        }
        if let Some(hook) = self.map(root, "hook", "hook") {
            self.unknown_keys(hook, "hook");
            let to = &mut config.hook;
            self.set(&mut to.max_chars, hook, "hook.maxChars", |v| {
                between(v, 500, 9_500)?.map(|chars| chars as usize)
            });
            self.set(&mut to.deadline_ms, hook, "hook.deadlineMs", |v| between(v, 50, 10_000)?);
        }
        // OpenClaw keeps its own servers under the same name, so further keys are not ours to judge.
        if let Some(mcp) = self.map(root, "mcp", "mcp") {
            self.mcp(mcp, &mut config.mcp);
        }
        // What these say is read, and judged, by whoever serves.
        for section in ["serve", "registry", "metrics"] {
            if let Some(keys) = self.map(root, section, section) {
                self.unknown_keys(keys, section);
            }
        }
        if let Some(agent) = root.get("agent").and_then(Value::as_object) {
            // OpenPocket's name for the same switch; sinew's own, read next, goes first.
            let to = &mut config.traces.enabled;
            self.set(to, agent, "agent.autoArtifactsEnabled", boolean);
        }
        if let Some(traces) = self.map(root, "traces", "traces") {
            self.unknown_keys(traces, "traces");
            self.traces(traces, config);
        }
        if let Some(security) = self.map(root, "security", "security") {
            self.install_policy(security, config);
        }
        if let Some(agent) = self.map(root, "agent", "agent") {
            self.openpocket_mode(agent, &mut config.openpocket);
        }
    }

    fn skills(&mut self, skills: &Map<String, Value>, config: &mut Config) {
        self.set(&mut config.allow_bundled, skills, "skills.allowBundled", strings);
        if let Some(load) = self.map(skills, "load", "skills.load") {
            let to = &mut config.load;
            self.set(&mut to.extra_dirs, load, "skills.load.extraDirs", strings);
            self.set(
                &mut to.allow_symlink_targets,
                load,
                "skills.load.allowSymlinkTargets",
                strings,
            );
            self.set(&mut to.watch, load, "skills.load.watch", boolean);
            self.set(&mut to.debounce_ms, load, "skills.load.debounceMs", integer);
            self.set(&mut to.reload_window_ms, load, "skills.load.reloadWindowMs", integer);
            self.set(&mut to.personal, load, "skills.load.personal", personal);
            self.set(&mut to.agents, load, "skills.load.agents", boolean);
            self.set(&mut to.max_depth, load, "skills.load.maxDepth", some_size);
            self.set(
                &mut to.tolerate_bad_metadata,
                load,
                "skills.load.tolerateBadMetadata",
                boolean,
            );
        }
        if let Some(limits) = self.map(skills, "limits", "skills.limits") {
            let to = &mut config.limits;
            self.set(
                &mut to.max_candidates_per_root,
                limits,
                "skills.limits.maxCandidatesPerRoot",
                some_size,
            );
            self.set(
                &mut to.max_skills_loaded_per_source,
                limits,
                "skills.limits.maxSkillsLoadedPerSource",
                some_size,
            );
            self.set(&mut to.max_skills_in_prompt, limits, "skills.limits.maxSkillsInPrompt", size);
            self.set(
                &mut to.max_skills_prompt_chars,
                limits,
                "skills.limits.maxSkillsPromptChars",
                size,
            );
            self.set(
                &mut to.max_skill_file_bytes,
                limits,
                "skills.limits.maxSkillFileBytes",
                integer,
            );
        }
        if let Some(prompt) = self.map(skills, "prompt", "skills.prompt") {
            let to = &mut config.prompt;
            self.set(&mut to.planner, prompt, "skills.prompt.planner", |value| {
                one_of(value, &["graded", "openclaw", "prefix"])
            });
            self.set(&mut to.order, prompt, "skills.prompt.order", |value| {
                one_of(value, &["name", "rank"])
            });
            self.set(&mut to.pin, prompt, "skills.prompt.pin", strings);
            self.set(&mut to.full_descriptions, prompt, "skills.prompt.fullDescriptions", size);
            self.set(&mut to.template, prompt, "skills.prompt.template", some_text);
        }
        if let Some(profile) = self.map(skills, "profile", "skills.profile")
            && let Some(openpocket) = self.map(profile, "openpocket", "skills.profile.openpocket")
        {
            let path = "skills.profile.openpocket.userFirst";
            self.set(&mut config.openpocket.user_first, openpocket, path, boolean);
        }
        self.runs(skills, config);
        if let Some(entries) = self.map(skills, "entries", "skills.entries") {
            config.entries = self.entries(entries);
        }
    }

    fn entries(&mut self, entries: &Map<String, Value>) -> BTreeMap<String, EntrySettings> {
        let mut read = BTreeMap::new();
        for (key, value) in entries {
            let path = format!("skills.entries.{key}");
            let Value::Object(map) = value else {
                self.bad(&path, "a map");
                continue;
            };
            self.unknown_below(map, &path, &keys::children("skills.entries.<key>"));
            let mut entry = EntrySettings::default();
            self.set(&mut entry.enabled, map, &format!("{path}.enabled"), |value| {
                boolean(value).map(Some)
            });
            self.set(&mut entry.api_key, map, &format!("{path}.apiKey"), |value| {
                secret(value).map(Some)
            });
            if let Some(env) = self.map(map, "env", &format!("{path}.env")) {
                for (name, value) in env {
                    match secret(value) {
                        Some(secret) => drop(entry.env.insert(name.clone(), secret)),
                        None => self.bad(&format!("{path}.env.{name}"), "text"),
                    }
                }
            }
            entry.config = map.get("config").cloned().unwrap_or_default();
            read.insert(key.clone(), entry);
        }
        read
    }

    fn agents(&mut self, agents: &Map<String, Value>) -> AgentsSection {
        let mut read = AgentsSection::default();
        if let Some(defaults) = self.map(agents, "defaults", "agents.defaults") {
            self.set(&mut read.defaults, defaults, "agents.defaults.skills", |v| {
                strings(v).map(Some)
            });
        }
        if let Some(entries) = self.map(agents, "entries", "agents.entries") {
            for (id, value) in entries {
                if let Some(agent) = self.agent(value, &format!("agents.entries.{id}")) {
                    read.entries.insert(id.clone(), agent);
                }
            }
        }
        // The older form: a list of agents that name themselves.
        if let Some(Value::Array(list)) = agents.get("list") {
            for (index, value) in list.iter().enumerate() {
                let Some(id) = value.get("id").and_then(Value::as_str) else {
                    self.bad(&format!("agents.list[{index}].id"), "text");
                    continue;
                };
                if let Some(agent) = self.agent(value, &format!("agents.list[{index}]")) {
                    read.entries.entry(id.to_owned()).or_insert(agent);
                }
            }
        }
        read
    }

    fn agent(&mut self, value: &Value, path: &str) -> Option<AgentSettings> {
        let Value::Object(map) = value else {
            self.bad(path, "a map");
            return None;
        };
        let mut agent = AgentSettings::default();
        self.set(&mut agent.skills, map, &format!("{path}.skills"), |v| strings(v).map(Some));
        let limits = format!("{path}.skillsLimits");
        if let Some(map) = self.map(map, "skillsLimits", &limits) {
            let path = format!("{limits}.maxSkillsPromptChars");
            self.set(&mut agent.max_skills_prompt_chars, map, &path, some_size);
        }
        Some(agent)
    }

    fn route(&mut self, route: &Map<String, Value>, config: &mut Config) {
        let to = &mut config.route;
        let models =
            |value: &Value| one_of(value, &["default", "static", "words", "file", "remote"]);
        self.set(&mut to.model, route, "route.model", |value| models(value).map(Some));
        self.set(&mut to.threshold, route, "route.threshold", share);
        self.set(&mut to.margin, route, "route.margin", share);
        self.set(&mut to.top, route, "route.top", |v| some_size(v).filter(|top| *top != Some(0)));
        self.set(&mut to.file, route, "route.file", some_text);
        if let Some(remote) = self.map(route, "remote", "route.remote") {
            let to = &mut to.remote;
            let dialects = |value: &Value| one_of(value, &["openai", "ollama"]);
            self.set(&mut to.url, remote, "route.remote.url", some_text);
            self.set(&mut to.model, remote, "route.remote.model", some_text);
            self.set(&mut to.dims, remote, "route.remote.dims", some_size);
            self.set(&mut to.dialect, remote, "route.remote.dialect", |v| dialects(v).map(Some));
            self.set(&mut to.api_key, remote, "route.remote.apiKey", |v| secret(v).map(Some));
            self.set(&mut to.timeout_ms, remote, "route.remote.timeoutMs", some_size);
        }
    }

    fn mcp(&mut self, mcp: &Map<String, Value>, to: &mut McpSection) {
        let prefix = |value: &Value| one_of(value, &["none", "tier"]).map(|word| word == "tier");
        self.set(&mut to.require_token, mcp, "mcp.require_token", boolean);
        self.set(&mut to.skill_prefix, mcp, "mcp.skill_prefix", prefix);
    }

    fn cortex(&mut self, cortex: &Map<String, Value>, config: &mut Config) {
        let to = &mut config.cortex;
        let one = |value: &Value, allowed: &[&str]| one_of(value, allowed).map(Some);
        self.set(&mut to.enabled, cortex, "cortex.enabled", boolean);
        self.set(&mut to.policy, cortex, "cortex.policy", |v| one(v, &["cortex", "bayes"]));
        self.set(&mut to.decay_scope, cortex, "cortex.decay_scope", |v| {
            one(v, &["region", "candidate"])
        });
        self.set(&mut to.window_hours, cortex, "cortex.window_hours", |v| between(v, 1, 720));
        self.set(&mut to.shield, cortex, "cortex.shield", |v| one(v, &["bayes", "all", "off"]));
        self.set(&mut to.lesson_decay, cortex, "cortex.lesson_decay", boolean);
        self.set(&mut to.mirror, cortex, "cortex.mirror", some_text);
        if let Some(reflex) = self.map(cortex, "reflex", "cortex.reflex") {
            let gates = ["reference", "reference+bound", "bound", "off"];
            self.set(&mut to.gate, reflex, "cortex.reflex.gate", |v| one(v, &gates));
            self.set(&mut to.min_lb, reflex, "cortex.reflex.min_lb", |v| {
                v.as_f64().filter(|bound| (0.5..=0.99).contains(bound)).map(Some)
            });
            self.set(&mut to.install, reflex, "cortex.reflex.install", |v| {
                one(v, &["notify", "confirm"])
            });
            let window = "cortex.reflex.cancel_window_ms";
            self.set(&mut to.cancel_window_ms, reflex, window, |v| between(v, 0, 60_000));
        }
    }

    fn hub(&mut self, hub: &Map<String, Value>, config: &mut Config) {
        let to = &mut config.hub;
        self.set(&mut to.registry, hub, "hub.registry", some_text);
        self.set(&mut to.skills_sh, hub, "hub.skillsShUrl", some_text);
        self.set(&mut to.updates, hub, "hub.updates", |v| {
            one_of(v, &["ask", "auto-safe"]).map(Some)
        });
        if let Some(registries) = self.map(hub, "registries", "hub.registries") {
            for (name, value) in registries {
                match value.as_str().filter(|url| !url.trim().is_empty()) {
                    Some(url) => drop(to.registries.insert(name.clone(), url.trim().to_owned())),
                    None => self.bad(&format!("hub.registries.{name}"), "an address"),
                }
            }
        }
        if let Some(github) = self.map(hub, "github", "hub.github") {
            self.set(&mut to.github_token, github, "hub.github.useToken", boolean);
            self.set(&mut to.github_api, github, "hub.github.apiUrl", some_text);
            self.set(&mut to.github_codeload, github, "hub.github.codeloadUrl", some_text);
        }
    }

    fn traces(&mut self, traces: &Map<String, Value>, config: &mut Config) {
        let to = &mut config.traces;
        self.set(&mut to.enabled, traces, "traces.enabled", boolean);
        self.set(&mut to.publish, traces, "traces.publish", |value| {
            one_of(value, &["proposal", "auto", "off"]).map(Some)
        });
        self.set(&mut to.accept_weak, traces, "traces.accept_weak", boolean);
        self.set(&mut to.reference_exact, traces, "traces.reference_exact", boolean);
        self.set(&mut to.sources, traces, "traces.sources", |value| {
            value.as_array()?.iter().map(|name| one_of(name, TRACE_SOURCES)).collect()
        });
        self.set(&mut to.typed_text, traces, "traces.typed_text", |value| {
            one_of(value, &["param", "verbatim"]).map(Some)
        });
        self.set(&mut to.duplicates, traces, "traces.duplicates", |value| {
            one_of(value, &["supersede", "delete"]).map(Some)
        });
        self.set(&mut to.front_matter, traces, "traces.front_matter", |value| {
            one_of(value, &["always", "reference"]).map(Some)
        });
        self.set(&mut to.drafts_in_index, traces, "traces.drafts_in_index", |value| {
            boolean(value).map(Some)
        });
        self.set(&mut to.min_steps, traces, "traces.min_steps", size);
        self.set(&mut to.max_age_days, traces, "traces.max_age_days", integer);
        self.set(&mut to.keep_runs, traces, "traces.keep_runs", |value| {
            between(value, 1, MOST_KEPT_RUNS)?.map(|runs| runs as usize)
        });
        self.set(&mut to.scripts, traces, "traces.scripts", boolean);
    }

    fn plugins(&mut self, plugins: &Map<String, Value>, config: &mut Config) {
        self.set(&mut config.plugins.enabled, plugins, "plugins.enabled", boolean);
        if let Some(load) = self.map(plugins, "load", "plugins.load") {
            self.set(&mut config.plugins.paths, load, "plugins.load.paths", strings);
        }
        if let Some(slots) = self.map(plugins, "slots", "plugins.slots") {
            self.set(&mut config.plugins.memory_slot, slots, "plugins.slots.memory", some_text);
        }
        if let Some(entries) = self.map(plugins, "entries", "plugins.entries") {
            let off = |value: &Value| value.get("enabled") == Some(&Value::Bool(false));
            config.plugins.disabled =
                entries.iter().filter(|(_, value)| off(value)).map(|(id, _)| id.clone()).collect();
        }
    }

    fn openpocket_mode(&mut self, agent: &Map<String, Value>, to: &mut OpenPocketSection) {
        let key =
            ["skillsSpecMode", "skills_spec_mode"].into_iter().find(|key| agent.contains_key(*key));
        let Some(key) = key else { return };
        match agent[key].as_str().and_then(OpenPocketMode::parse) {
            Some(mode) => to.mode = mode,
            None => self.bad(&format!("agent.{key}"), "legacy, mixed or strict; mixed holds"),
        }
    }

    /// Sets `to` from the last segment of `path`, or says why not.
    pub(super) fn set<T>(
        &mut self,
        to: &mut T,
        map: &Map<String, Value>,
        path: &str,
        read: impl Fn(&Value) -> Option<T>,
    ) {
        let key = path.rsplit('.').next().unwrap_or(path);
        let Some(value) = map.get(key).filter(|value| !value.is_null()) else { return };
        match read(value) {
            Some(value) => *to = value,
            None => self.bad(path, "a value of the right kind"),
        }
    }

    pub(super) fn map<'a>(
        &mut self,
        map: &'a Map<String, Value>,
        key: &str,
        path: &str,
    ) -> Option<&'a Map<String, Value>> {
        match map.get(key)? {
            Value::Null => None,
            Value::Object(map) => Some(map),
            _ => {
                self.bad(path, "a map");
                None
            }
        }
    }

    pub(super) fn bad(&mut self, path: &str, expected: &str) {
        let known = keys::KEYS.iter().find(|key| key.path == path);
        let remedy = match known {
            Some(key) => format!("{} The default is {}.", key.doc, or_none(key.default)),
            None => format!("write {expected}"),
        };
        self.reasons.push(
            Reason::new(ReasonCode::BadConfigValue, format!("{path} is not {expected}"))
                .remedy(remedy),
        );
    }

    fn unknown_keys(&mut self, map: &Map<String, Value>, path: &str) {
        let known = keys::children(path);
        self.unknown_below(map, path, &known);
        for (key, value) in map {
            let below = format!("{path}.{key}");
            if known.contains(&key.as_str())
                && below != "skills.entries"
                && let Value::Object(inner) = value
                && !keys::children(&below).is_empty()
            {
                self.unknown_keys(inner, &below);
            }
        }
    }

    fn unknown_below(&mut self, map: &Map<String, Value>, path: &str, known: &[&str]) {
        for key in map.keys().filter(|key| !known.contains(&key.as_str())) {
            let nearest = sinew_settings::nearest(key, known.iter().copied())
                .first()
                .map(|name| (*name).to_owned());
            let reason = Reason::new(
                ReasonCode::UnknownConfigKey,
                format!("{path}.{key} means nothing here"),
            );
            self.reasons.push(match nearest {
                Some(nearest) => reason.remedy(format!("did you mean {path}.{nearest}?")),
                None => reason.remedy(format!("remove it, or use one of {}", known.join(", "))),
            });
        }
    }
}

/// What `traces.sources` may name.
const TRACE_SOURCES: &[&str] = &["live", "claude-code", "codex", "openclaw", "openpocket"];

/// Every run is compared with all that are kept: more would be felt at each turn.
const MOST_KEPT_RUNS: u64 = 5_000;

fn or_none(text: &str) -> &str {
    if text.is_empty() { "none" } else { text }
}

pub(super) fn boolean(value: &Value) -> Option<bool> {
    value.as_bool()
}

pub(super) fn integer(value: &Value) -> Option<u64> {
    // JSON5 reads `250.0` and `2.5e2` as floats; both are whole numbers to their author.
    value.as_u64().or_else(|| {
        value.as_f64().filter(|n| n.fract() == 0.0 && (0.0..9e15).contains(n)).map(|n| n as u64)
    })
}

fn size(value: &Value) -> Option<usize> {
    integer(value).and_then(|number| usize::try_from(number).ok())
}

fn share(value: &Value) -> Option<Option<f64>> {
    value.as_f64().filter(|share| (0.0..=1.0).contains(share)).map(Some)
}

fn between(value: &Value, low: u64, high: u64) -> Option<Option<u32>> {
    let number = integer(value).filter(|number| (low..=high).contains(number))?;
    u32::try_from(number).ok().map(Some)
}

fn some_size(value: &Value) -> Option<Option<usize>> {
    size(value).map(Some)
}

fn some_text(value: &Value) -> Option<Option<String>> {
    value.as_str().map(|text| Some(text.to_owned()))
}

pub(super) fn strings(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|item| item.as_str().map(|text| text.trim().to_owned())).collect()
}

pub(super) fn one_of(value: &Value, allowed: &[&str]) -> Option<String> {
    let text = value.as_str()?.trim().to_ascii_lowercase();
    allowed.contains(&text.as_str()).then_some(text)
}

fn personal(value: &Value) -> Option<PersonalRootMode> {
    match value {
        Value::Bool(true) => Some(PersonalRootMode::Yes),
        Value::Bool(false) => Some(PersonalRootMode::No),
        Value::String(text) if text.trim().eq_ignore_ascii_case("auto") => {
            Some(PersonalRootMode::Auto)
        }
        _ => None,
    }
}

fn secret(value: &Value) -> Option<SecretSetting> {
    match value {
        Value::String(text) => Some(SecretSetting::Literal(text.clone())),
        Value::Object(map) => Some(SecretSetting::Reference {
            source: map.get("source")?.as_str()?.trim().to_ascii_lowercase(),
            id: map.get("id")?.as_str()?.trim().to_owned(),
        }),
        _ => None,
    }
}
