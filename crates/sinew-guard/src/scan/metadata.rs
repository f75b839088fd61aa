//! Front matter: what it declares, and which parts of it would reach a prompt.

use sinew_settings::ReasonCode;
use sinew_skill::ReadOptions;

use super::finding::FindingSeverity;
use super::fold;
use super::hosts::{HostClass, HostTable, OwnHosts};

/// What a skill declares about itself; it decides which hosts and names count as its own.
#[derive(Debug, Clone, Default)]
pub(crate) struct SkillDeclarations {
    pub(crate) name: Option<String>,
    pub(crate) description: Option<String>,
    /// Hosts of `homepage` and of other URLs in the metadata, of APIs whose key is declared, and the
    /// words of the name.
    pub(crate) own: OwnHosts,
    pub(crate) env: Vec<String>,
    pub(crate) bins: Vec<String>,
    /// Rule, severity and detail of each problem with the front matter itself.
    pub(crate) problems: Vec<(&'static str, FindingSeverity, String)>,
}

/// Names that others imitate, and imitations that have been seen.
const WELL_KNOWN: &[&str] =
    &["clawhub", "clawdhub", "openclaw", "clawdbot", "moltbot", "anthropic", "openai"];
const SQUATS: &[&str] = &["clawhub1", "cllawhub", "clawwhub"];
/// Keys on which nothing depends: which of two values a reader takes makes no difference.
const NOTES: &[&str] =
    &["version", "author", "authors", "license", "tags", "keywords", "category", "emoji", "icon"];
/// Install kinds that the engine can run from an argument vector.
const KINDS: &[&str] = &["brew", "node", "go", "uv", "download", "apt"];

/// Reads the declarations of a skill file.
pub(crate) fn read_declarations(
    bytes: &[u8],
    folder: &str,
    hosts: &HostTable,
) -> SkillDeclarations {
    let outcome = sinew_skill::read(bytes, &ReadOptions::openclaw(folder));
    let mut declared = SkillDeclarations::default();
    for reason in &outcome.reasons {
        let rule = match reason.code {
            ReasonCode::DuplicateKey => "yaml-duplicate-key",
            ReasonCode::FrontmatterInvalid
                if reason.detail.contains("BAD_ALIAS")
                    || reason.detail.contains("alias")
                    || reason.detail.contains("tag") =>
            {
                "yaml-alias-or-tag"
            }
            ReasonCode::FrontmatterInvalid if reason.detail.contains("RESOURCE_EXHAUSTION") => {
                "yaml-too-deep"
            }
            _ => continue,
        };
        let harmless = |key: &&str| reason.detail.contains(&format!("the key `{key}` occurs"));
        let is_note = rule == "yaml-duplicate-key" && NOTES.iter().any(harmless);
        let severity = if is_note { FindingSeverity::Warn } else { FindingSeverity::Critical };
        declared.problems.push((rule, severity, reason.detail.clone()));
    }
    if let Ok(text) = std::str::from_utf8(bytes)
        && let Ok(fenced) = sinew_skill::split_front_matter(text)
        && let Some(front) = fenced.front
    {
        raw_problems(front, &mut declared.problems);
    }
    let Some(skill) = outcome.skill else { return declared };
    let mut urls: Vec<String> = skill.homepage.iter().cloned().collect();
    for (key, value) in skill.frontmatter.flattened() {
        if !matches!(key.as_str(), "description" | "name") {
            urls.push(value);
        }
    }
    if let Some(metadata) = &skill.metadata {
        declared.env.extend(metadata.primary_env.iter().cloned());
        declared
            .env
            .extend(metadata.requires.env.iter().chain(&metadata.requires.any_env).cloned());
        declared
            .bins
            .extend(metadata.requires.bins.iter().chain(&metadata.requires.any_bins).cloned());
        for spec in &metadata.install {
            declared.bins.extend(spec.bins.iter().cloned());
            check_install(&spec.kind, &spec.fields, hosts, &mut declared.problems);
        }
    }
    for url in &urls {
        let lower = url.to_ascii_lowercase();
        for (at, _) in lower.match_indices("://").take(32) {
            let rest = &lower[at + 3..];
            // A value that is an address declares it; a command that fetches from it does not.
            let before =
                lower[..at].trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '+');
            if before.ends_with(char::is_whitespace) {
                continue;
            }
            let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
            let host = rest.split('/').next().unwrap_or("");
            let host = host.split(|c| !word(c)).next().unwrap_or("");
            if host.contains('.') {
                declared.own.hosts.push(registrable(host).to_owned());
            }
        }
    }
    // `ACME_API_KEY` declares acme's hosts, under any top-level domain.
    let labels: Vec<String> = declared.env.iter().filter_map(|env| vendor_label(env)).collect();
    declared.own.hosts.sort();
    declared.own.hosts.dedup();
    declared.own.hosts.extend(labels.into_iter().map(|label| format!("{label}.*")));
    declared.own.keys = declared.env.iter().map(|env| env.to_ascii_lowercase()).collect();
    declared.own.names = names(&skill.name);
    declared.name = Some(skill.name);
    declared.description = Some(skill.description);
    declared
}

/// Words of a skill's name that may also name its own host: not common words, and not names that
/// others imitate.
fn names(name: &str) -> Vec<String> {
    const COMMON: &[&str] = &[
        "agent",
        "assistant",
        "claude",
        "client",
        "code",
        "coding",
        "crypto",
        "data",
        "helper",
        "install",
        "installer",
        "manager",
        "server",
        "setup",
        "skill",
        "skills",
        "tool",
        "tools",
        "tracker",
        "trading",
        "update",
        "updater",
        "utility",
        "wallet",
    ];
    let lower = name.to_ascii_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let mut names: Vec<String> = words
        .iter()
        .map(|word| (*word).to_owned())
        .chain(words.windows(2).map(<[&str]>::concat))
        .filter(|word| word.len() >= 4 && !COMMON.contains(&word.as_str()))
        .filter(|word| !WELL_KNOWN.iter().any(|known| word.contains(known)))
        .collect();
    names.sort();
    names.dedup();
    names
}

/// Deepest nesting of brackets in a front matter.
const MAX_NESTING: usize = 16;

/// Constructs that the repair pass would read as text but another reader of the same file would act
/// on.
fn raw_problems(front: &str, problems: &mut Vec<(&'static str, FindingSeverity, String)>) {
    let has = |rule: &str| problems.iter().any(|(known, ..)| *known == rule);
    let anchored = front.lines().any(|line| {
        line.split_once(": ").is_some_and(|(_, value)| {
            let value = value.trim_start();
            value.strip_prefix('&').is_some_and(|name| {
                let name: String =
                    name.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
                !name.is_empty() && front.contains(&format!("*{name}"))
            })
        })
    });
    let tagged = front.contains(": !!") || front.contains(": !<") || front.contains("<<: *");
    let alias = (anchored || tagged) && !has("yaml-alias-or-tag");
    let mut depth = 0usize;
    let mut deepest = 0usize;
    for b in front.bytes() {
        match b {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    let deep = deepest > MAX_NESTING && !has("yaml-too-deep");
    if alias {
        problems.push((
            "yaml-alias-or-tag",
            FindingSeverity::Critical,
            "an anchor, alias, merge key or tag".to_owned(),
        ));
    }
    if deep {
        problems.push((
            "yaml-too-deep",
            FindingSeverity::Critical,
            format!("brackets nested {deepest} deep"),
        ));
    }
}

/// The part of a host that can be registered: the last two labels, or three under `co.uk` and
/// similar.
pub(crate) fn registrable(host: &str) -> &str {
    let labels: Vec<&str> = host.split('.').collect();
    let long_ending = labels.len() >= 3
        && matches!(labels[labels.len() - 2], "co" | "com" | "org" | "net" | "ac" | "gov")
        && labels[labels.len() - 1].len() == 2;
    let keep = if long_ending { 3 } else { 2 };
    let start = labels.len().saturating_sub(keep);
    let skipped: usize = labels[..start].iter().map(|label| label.len() + 1).sum();
    &host[skipped..]
}

/// The vendor in the name of an API key: `ACME_API_KEY` → `acme`.
pub(crate) fn vendor_label(env: &str) -> Option<String> {
    let lower = env.to_ascii_lowercase();
    let label = lower.split('_').next()?;
    (label.len() >= 4 && lower.len() > label.len()).then(|| label.to_owned())
}

fn check_install(
    kind: &str,
    fields: &std::collections::BTreeMap<String, String>,
    hosts: &HostTable,
    problems: &mut Vec<(&'static str, FindingSeverity, String)>,
) {
    let lower = kind.to_ascii_lowercase();
    let runs_text = matches!(
        lower.as_str(),
        "shell" | "bash" | "sh" | "script" | "exec" | "cmd" | "powershell" | "curl"
    );
    if runs_text {
        // sinew never runs such a step. Honest authors use it for package managers and to start what
        // they ship; anything else is meant to be run by an agent that does not check.
        let is_plain = |value: &str| {
            is_package_install(value)
                || starts_what_is_shipped(value)
                || runs_known_installers(value, hosts)
        };
        let plain = fields.iter().all(|(key, value)| !is_command(key) || is_plain(value))
            && fields.keys().any(|key| is_command(key));
        problems.push((
            "installer-kind-unknown",
            if plain { FindingSeverity::Warn } else { FindingSeverity::Critical },
            format!("install kind {kind:?} runs text"),
        ));
    } else if !KINDS.contains(&lower.as_str()) {
        // sinew never runs such a spec; another package manager is worth a warning, not a block.
        const MANAGERS: &[&str] = &[
            "pip", "pipx", "npm", "pnpm", "yarn", "bun", "cargo", "gem", "python", "poetry",
            "conda", "winget", "scoop", "choco", "skill", "manual",
        ];
        let severity = if MANAGERS.contains(&lower.as_str()) {
            FindingSeverity::Info
        } else {
            FindingSeverity::Warn
        };
        problems.push((
            "installer-kind-unknown",
            severity,
            format!("install kind {kind:?} is not known"),
        ));
    }
    for (key, value) in fields {
        let package = matches!(key.as_str(), "package" | "formula" | "cask" | "module" | "tap");
        let value = value.trim();
        if package
            && (value.starts_with('-')
                || value.contains(['\0', '\n', ';', '|', '&', '`', '$', '\\']))
        {
            problems.push((
                "installer-arg-injection",
                FindingSeverity::Critical,
                format!("install {key} {value:?}"),
            ));
        }
    }
}

fn is_command(key: &str) -> bool {
    matches!(key, "command" | "commands" | "script" | "run" | "cmd" | "shell" | "code" | "exec")
}

/// Whether a text only installs packages by name with package managers, or starts what the skill
/// itself contains.
/// Whether a step reaches neither the network nor another shell: what it starts is in the skill, and
/// is scanned there.
fn starts_what_is_shipped(text: &str) -> bool {
    const FAR: &[&str] = &[
        "curl", "wget", "iwr", "irm ", "://", "base64", "eval", "exec", "$(", "`", "|", "/dev/",
        "nc ", "ssh", "scp", "sudo", "rm ", "http", "fetch", "-c ", "-e ", "~/", "$home", "/etc/",
    ];
    let text = text.to_ascii_lowercase();
    let names_a_file = ["{basedir}", "./", "scripts/"].iter().any(|start| text.contains(start));
    names_a_file && !FAR.iter().any(|word| text.contains(word))
}

/// Whether all that a step fetches are installers of our table, and it does nothing besides.
fn runs_known_installers(text: &str, hosts: &HostTable) -> bool {
    const WORDS: &[&str] =
        &["curl", "wget", "sh", "bash", "sudo", "-c", "|", "&&", "\"$(curl", "-", "--"];
    let text = text.to_ascii_lowercase();
    let none = OwnHosts::default();
    let is_known = |word: &str| {
        let url = word.trim_matches(['"', '\'', ')', '(']);
        url.find("://").is_some_and(|at| {
            let place = hosts.mention_at(url, at, &none);
            place.is_some_and(|place| place.class == HostClass::Installer)
        })
    };
    let is_option = |word: &str| {
        word.strip_prefix('-').is_some_and(|flags| flags.bytes().all(|b| b.is_ascii_alphabetic()))
    };
    let mut installers = 0;
    let plain = text.split_whitespace().all(|word| {
        let known = is_known(word);
        installers += usize::from(known);
        known || WORDS.contains(&word) || is_option(word)
    });
    plain && installers > 0
}

fn is_package_install(text: &str) -> bool {
    const STEPS: &[&str] = &[
        "brew install ",
        "cargo install ",
        "pipx install ",
        "pip install ",
        "pip3 install ",
        "python3 -m pip install ",
        "python -m pip install ",
        "uv pip install ",
        "uv tool install ",
        "uv add ",
        "uv venv",
        "uv sync",
        "npm install",
        "npm i ",
        "npm ci",
        "npm run build",
        "pnpm install",
        "pnpm add ",
        "yarn add ",
        "yarn install",
        "bun install",
        "bun add ",
        "go install ",
        "gem install ",
        "pacman -s ",
        "apt install ",
        "apt-get install ",
        "apt-get update",
        "apt update",
        "dnf install ",
        "yum install ",
        "apk add ",
        "cd ",
        "python3 -m venv ",
        "source ",
        ". ",
        // The skill's own files, which are scanned with it.
        "node {basedir}/",
        "python3 {basedir}/",
        "python {basedir}/",
        "uv run {basedir}/",
        "npm start",
    ];
    let lower = text.to_ascii_lowercase();
    if lower.contains(['|', '`', '<', '>', '\\']) || lower.contains("$(") || lower.contains("://") {
        return false;
    }
    let mut steps = lower.split(['\n', ';']).flat_map(|line| line.split("&&")).map(str::trim);
    steps.all(|step| {
        let step = step.strip_prefix("sudo ").unwrap_or(step);
        let sources = ["-i ", "--index-url", "--extra-index-url", "--registry", "--find-links"];
        step.is_empty()
            || STEPS.iter().any(|known| step.starts_with(known))
                && !sources.iter().any(|option| step.contains(option))
                && (!step.starts_with("source ") && !step.starts_with(". ")
                    || step.ends_with("/activate"))
    })
}

/// Problems of a name or description that would reach a prompt.
pub(crate) fn prompt_problems(
    field: &str,
    text: &str,
) -> Vec<(&'static str, FindingSeverity, String)> {
    const TAGS: &[&str] = &["available_skills", "skill", "name", "description", "location"];
    const BLOCKS: &[&str] = &["available_skills", "skill"];
    const MARKERS: &[&str] = &[
        "<|im_start|>",
        "<|im_end|>",
        "<|system|>",
        "[inst]",
        "[/inst]",
        "<<sys>>",
        "\nsystem:",
        "]]>",
    ];
    let mut problems = Vec::new();
    let lower = fold::fold(text).text;
    // `<name>` alone is a placeholder in many manuals; a tag that opens or closes a block is not.
    let own_tag = TAGS.iter().any(|tag| lower.contains(&format!("</{tag}>")))
        || BLOCKS
            .iter()
            .any(|tag| lower.contains(&format!("<{tag}>")) || lower.contains(&format!("<{tag} ")));
    let control = text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t' | '\r'));
    if own_tag || control || MARKERS.iter().any(|marker| lower.contains(marker)) {
        problems.push((
            "prompt-markup-in-metadata",
            FindingSeverity::Critical,
            format!("{field} contains the prompt's own markup"),
        ));
    } else if text.contains('<') && text.contains('>') {
        problems.push((
            "prompt-markup-in-metadata",
            FindingSeverity::Info,
            format!("{field} contains angle brackets"),
        ));
    }
    problems
}

/// Problems of a skill's name; `known` are names that are already taken.
pub(crate) fn name_problems(
    name: &str,
    known: &[String],
) -> Vec<(&'static str, FindingSeverity, String)> {
    let mut problems = Vec::new();
    let folded = fold::fold(name);
    if !folded.lookalike.is_empty() {
        problems.push((
            "homoglyph-name",
            FindingSeverity::Warn,
            format!("the name reads as {:?}", folded.text),
        ));
    }
    let lower = folded.text.trim().to_owned();
    let skeleton = |other: &str| fold::fold(other).text.trim().replace(['-', '_', ' '], "");
    if known.iter().any(|other| other != name && skeleton(other) == skeleton(name)) {
        problems.push((
            "name-collision",
            FindingSeverity::Warn,
            "the name reads like that of another skill".to_owned(),
        ));
    }
    let taken = |other: &str| {
        other != lower
            && other.len() >= 5
            && distance_within(&lower, other, if other.len() >= 8 { 2 } else { 1 })
    };
    if SQUATS.contains(&lower.as_str()) {
        problems.push((
            "typosquat-name",
            FindingSeverity::Warn,
            "the name is a known imitation".to_owned(),
        ));
    } else if !WELL_KNOWN.contains(&lower.as_str()) {
        let near = WELL_KNOWN
            .iter()
            .copied()
            .chain(known.iter().map(String::as_str))
            .find(|other| taken(other));
        if let Some(near) = near {
            problems.push((
                "typosquat-name",
                FindingSeverity::Warn,
                format!("the name is almost the same as {near:?}"),
            ));
        }
    }
    problems
}

/// Whether two words differ by at most `most` edits: insertions, deletions, changes, swapped
/// letters.
fn distance_within(a: &str, b: &str, most: usize) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > most || a.len() > 64 {
        return false;
    }
    let mut before: Vec<usize> = vec![0; b.len() + 1];
    let mut previous: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut current = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let cost = usize::from(a[i - 1] != b[j - 1]);
            current[j] = (previous[j] + 1).min(current[j - 1] + 1).min(previous[j - 1] + cost);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                current[j] = current[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut previous, current);
    }
    previous[b.len()] <= most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skill_declares_its_own_hosts() {
        let file = b"---\nname: a\ndescription: b\nhomepage: https://docs.acme.co.uk/x\n---\n";
        let hosts = HostTable::from_json(super::super::table::HOSTS, "[]").expect("the table");
        assert_eq!(read_declarations(file, "a", &hosts).own.hosts, ["acme.co.uk"]);
        assert_eq!(names("pi-hole-setup"), ["hole", "holesetup", "pihole"]);
        assert!(names("openclaw-agent").is_empty());
        assert_eq!(vendor_label("ACME_API_KEY").as_deref(), Some("acme"));
        assert_eq!(vendor_label("API_KEY"), None);
    }

    #[test]
    fn imitations_are_named() {
        assert!(!name_problems("cllawhub", &[]).is_empty());
        assert!(!name_problems("clawhbu", &[]).is_empty());
        assert!(!name_problems("clаwhub", &[]).is_empty(), "Cyrillic a");
        assert!(
            name_problems("clawhub", &[]).is_empty() && name_problems("weather", &[]).is_empty()
        );
        assert!(!name_problems("wether-cast", &["weather-cast".to_owned()]).is_empty());
    }
}
