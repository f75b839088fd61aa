//! `skills`: where skills come from, how many there may be, and what each of them is given.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::key::{KeyKind, ValueRange};
use super::section::{choices, section};
use super::value::WholeValue;

section! {
    /// `skills`, as far as it has no parts.
    pub struct SkillsSection at "skills" {
        /// Bundled skills that may load, by name or skill key.
        "allowBundled" => allow_bundled: Vec<String> = Vec::new(), shown "all";
    }
}

section! {
    /// `skills.load`: where skills come from and how they are watched.
    pub struct LoadSection at "skills.load" {
        /// Further folders with skills; `~` is the home.
        "extraDirs" => extra_dirs: Vec<String> = Vec::new();
        /// Real paths that links in a workspace may lead to.
        "allowSymlinkTargets" => allow_symlink_targets: Vec<String> = Vec::new();
        /// Watch the folders for changes.
        "watch" => watch: bool = true;
        /// How long changes gather before they are acted on.
        "debounceMs" => debounce_ms: u64 = 250;
        /// How long skills that change wait for others, so that their vectors are computed together.
        "reloadWindowMs" => reload_window_ms: u64 = 30_000;
        /// Read ~/.agents/skills; auto does unless the state folder was moved.
        "personal" => personal: PersonalRootMode = PersonalRootMode::Auto;
        /// Read the skill folders of other agents on this machine.
        "agents" => agents: bool = true;
        /// How deep a root is walked; 2 for extra folders not named skills.
        "maxDepth" => max_depth: Option<usize> = None, shown "6";
        /// Use skills whose metadata cannot be read.
        "tolerateBadMetadata" => tolerate_bad_metadata: bool = false;
    }
}

/// Whether `~/.agents/skills` is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PersonalRootMode {
    /// Unless the state folder was moved from its default place.
    #[default]
    Auto,
    /// Always.
    Yes,
    /// Never.
    No,
}

impl WholeValue for PersonalRootMode {
    const KIND: KeyKind = KeyKind::Words(&["auto", "true", "false"]);

    fn from_value(value: &Value, _: Option<ValueRange>) -> Option<Self> {
        match value {
            Value::Bool(true) => Some(Self::Yes),
            Value::Bool(false) => Some(Self::No),
            Value::String(text) if text.trim().eq_ignore_ascii_case("auto") => Some(Self::Auto),
            _ => None,
        }
    }

    fn json(&self) -> Value {
        match self {
            Self::Auto => "auto".into(),
            Self::Yes => true.into(),
            Self::No => false.into(),
        }
    }
}

section! {
    /// `skills.limits`: how much is looked at, loaded and shown.
    #[derive(Copy)]
    pub struct SkillLimits at "skills.limits" {
        /// Skill folders considered per root (300 in the openclaw profile).
        "maxCandidatesPerRoot" => max_candidates_per_root: Option<usize> = None, shown "20000";
        /// Skills loaded per root (200 in the openclaw profile).
        "maxSkillsLoadedPerSource" => max_skills_loaded_per_source: Option<usize> = None, shown "20000";
        /// Skills listed in the prompt.
        "maxSkillsInPrompt" => max_skills_in_prompt: usize = 150;
        /// Length of the prompt block in UTF-16 code units.
        "maxSkillsPromptChars" => max_skills_prompt_chars: usize = 30_000;
        /// Size of one skill file.
        "maxSkillFileBytes" => max_skill_file_bytes: u64 = 256_000;
    }
}

section! {
    /// `skills.prompt`: how skills are shown to an agent.
    pub struct PromptSection at "skills.prompt" {
        /// How the prompt budget is spent.
        "planner" => planner: PromptPlanner = PromptPlanner::Graded;
        /// Order of the prompt block.
        "order" => order: PromptOrder = PromptOrder::Name;
        /// Skills that keep their place when room is short.
        "pin" => pin: Vec<String> = Vec::new();
        /// How many of the best ranked keep their description longest.
        "fullDescriptions" => full_descriptions: usize = 8;
        /// Your own introduction of the prompt block.
        "template" => template: Option<String> = None;
    }
}

choices! {
    /// How skills are fitted into the budget.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum PromptPlanner {
        /// Shorten by rank before anything is dropped.
        #[default]
        Graded = "graded",
        /// As current OpenClaw does it.
        Openclaw = "openclaw",
        /// The longest run of full entries.
        Prefix = "prefix",
    }
}

choices! {
    /// The order of the entries in the text.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum PromptOrder {
        /// By name, so that prompt caches stay warm.
        #[default]
        Name = "name",
        /// Best first.
        Rank = "rank",
    }
}

section! {
    /// `skills.profile.openpocket`: OpenPocket's own settings.
    pub struct OpenPocketSection at "skills.profile.openpocket" {
        /// In the openpocket profile, let your copy win over the bundled one.
        "userFirst" => user_first: bool = false;
    }
}

section! {
    /// `skills.install`: how a skill's needs are met.
    pub struct InstallSection at "skills.install" {
        /// Offer brew first where it is installed.
        "preferBrew" => prefer_brew: bool = true;
        /// Who installs what comes from npm's registry.
        "nodeManager" => node_manager: NodeManager = NodeManager::Npm;
        /// Hosts that downloads may come from although their address is not public.
        "allowPrivateHosts" => allow_private_hosts: Vec<String> = Vec::new();
        /// Read for compatibility; has no effect.
        "allowUploadedArchives" => allow_uploaded_archives: bool = false;
    }
}

choices! {
    /// Who installs what comes from npm's registry.
    #[derive(Default, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum NodeManager {
        /// npm.
        #[default]
        Npm = "npm",
        /// pnpm.
        Pnpm = "pnpm",
        /// yarn.
        Yarn = "yarn",
        /// bun.
        Bun = "bun",
    }
}

section! {
    /// `skills.env`: what a run is given.
    #[derive(Copy)]
    pub struct EnvSection at "skills.env" {
        /// Whose variables a run gets: those of the skills in use (used), or of all (snapshot).
        "scope" => scope: EnvScope = EnvScope::Used;
        /// Let a skill's own entry set a credential that the skill declares.
        "allowDeclaredCredentials" => allow_declared_credentials: bool = true;
    }
}

choices! {
    /// Which skills' variables a run gets.
    #[derive(Default)]
    pub enum EnvScope {
        /// Those of the skills that are in use.
        #[default]
        Used = "used",
        /// Those of every eligible skill.
        Snapshot = "snapshot",
    }
}

section! {
    /// `skills.hosts.<id>`: an agent that sinew does not know, with the folders of its skills.
    pub struct HostSettings at "skills.hosts.<id>" {
        /// What people call it.
        "title" => title: Option<String> = None;
        /// Its folders for every project; `~` is the home.
        "personal" => personal: Vec<String> = Vec::new();
        /// Its folders below a project.
        "project" => project: Vec<String> = Vec::new();
    }
}

section! {
    /// `skills.remotes.<id>`: a machine that the host is connected to.
    pub struct RemoteSettings at "skills.remotes.<id>" {
        /// Its platform: darwin, linux, win32.
        "platform" => platform: String = String::new();
        /// The programs that it has.
        "bins" => bins: Vec<String> = Vec::new();
    }
}

section! {
    /// `skills.entries.<key>`: one skill's own settings.
    pub struct EntrySettings at "skills.entries.<key>" {
        /// false switches the skill off.
        "enabled" => enabled: Option<bool> = None, shown "true";
        /// The skill's API key: text, or {source, id} with source env, file or exec (a command,
        /// split at blanks).
        "apiKey" => api_key: Option<SecretSetting> = None;
        /// Variables for the skill's runs: text, or {source, id}.
        "env" => env: SecretMap = SecretMap::new();
        /// The skill that the entry was made for: its name, or {name, source} with the source's name
        /// or the skill's folder. Without it, the skill that is called like the entry.
        "for" => owner: Option<EntryOwner> = None;
        /// Passed through to the skill.
        "config" => config: Value = Value::Null, shown "{}";
    }
}

/// The skill that an entry was made for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryOwner {
    /// Its name.
    pub name: String,
    /// Where it comes from: a source's name, or the skill's folder.
    pub source: Option<String>,
}

impl fmt::Display for EntryOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.source.as_ref().map_or(Ok(()), |source| write!(f, " from {source}"))
    }
}

impl EntryOwner {
    /// The value as it stands in a file.
    pub fn to_value(&self) -> Value {
        self.json()
    }
}

impl WholeValue for EntryOwner {
    const KIND: KeyKind = KeyKind::OwnerOfEntry;

    fn from_value(value: &Value, _: Option<ValueRange>) -> Option<Self> {
        let text = |value: &Value| {
            let text = value.as_str()?.trim();
            (!text.is_empty()).then(|| text.to_owned())
        };
        match value {
            Value::Object(map) => Some(Self {
                name: text(map.get("name")?)?,
                source: match map.get("source") {
                    Some(source) => Some(text(source)?),
                    None => None,
                },
            }),
            name => Some(Self { name: text(name)?, source: None }),
        }
    }

    fn json(&self) -> Value {
        match &self.source {
            Some(source) => serde_json::json!({"name": self.name, "source": source}),
            None => self.name.clone().into(),
        }
    }
}

/// Variables with their secrets.
pub type SecretMap = BTreeMap<String, SecretSetting>;

/// A secret: a value, or where to find it. It never shows itself.
#[derive(Clone, PartialEq, Eq)]
pub enum SecretSetting {
    /// The value itself.
    Literal(String),
    /// Kept elsewhere.
    Reference {
        /// `env`, `file`, or `exec` (also written `command`).
        source: String,
        /// The name within the source: a variable, a path or a command.
        id: String,
    },
}

impl fmt::Debug for SecretSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Literal(_) => f.write_str("Secret(set)"),
            Self::Reference { source, .. } => write!(f, "Secret(from {source})"),
        }
    }
}

impl SecretSetting {
    /// Whether there is anything in it.
    pub fn is_blank(&self) -> bool {
        match self {
            Self::Literal(value) => value.trim().is_empty(),
            Self::Reference { id, .. } => id.trim().is_empty(),
        }
    }
}

impl WholeValue for SecretSetting {
    const KIND: KeyKind = KeyKind::Secret;

    fn from_value(value: &Value, _: Option<ValueRange>) -> Option<Self> {
        match value {
            Value::String(text) => Some(Self::Literal(text.clone())),
            Value::Object(map) => Some(Self::Reference {
                source: map.get("source")?.as_str()?.trim().to_ascii_lowercase(),
                id: map.get("id")?.as_str()?.trim().to_owned(),
            }),
            _ => None,
        }
    }

    fn json(&self) -> Value {
        "(set)".into()
    }
}
