//! The configuration: OpenClaw's tree, with sinew's additions under the same names.
//!
//! A value that cannot be used is reported and its default holds; an unknown key under `skills` is
//! reported with the nearest known one. Nothing in a configuration can make loading fail.

mod exec;
mod keys;
mod reader;
mod truthiness;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::Serialize;
use sinew_settings::Reason;

pub use exec::{
    EnvScope, EnvSection, InstallPolicy, InstallPolicyCommand, InstallSection, NodeManager,
};
pub use keys::{ConfigKey, KEYS};
pub use truthiness::is_truthy;

/// The configuration that the catalog reads.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Config {
    /// The whole tree, for `requires.config`.
    pub tree: serde_json::Value,
    /// Bundled skills that may load; empty means all.
    pub allow_bundled: Vec<String>,
    /// `skills.load`.
    pub load: LoadSection,
    /// `skills.limits`.
    pub limits: SkillLimits,
    /// `skills.prompt`.
    pub prompt: PromptSection,
    /// `skills.env`.
    pub env: EnvSection,
    /// `skills.install`.
    pub install: InstallSection,
    /// `security.installPolicy`.
    pub install_policy: InstallPolicy,
    /// `skills.entries`.
    pub entries: BTreeMap<String, EntrySettings>,
    /// `agents`.
    pub agents: AgentsSection,
    /// `plugins`.
    pub plugins: PluginsSection,
    /// OpenPocket's own settings.
    pub openpocket: OpenPocketSection,
    /// `route`.
    pub route: RouteSection,
    /// `cortex`.
    pub cortex: CortexSection,
    /// `approvals`.
    pub approvals: ApprovalsSection,
    /// `hub`.
    pub hub: HubSection,
    /// `hook`.
    pub hook: HookSection,
    /// `mcp`.
    pub mcp: McpSection,
    /// `traces`.
    pub traces: TracesSection,
}

/// `hub`: where skills are found that are not here.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HubSection {
    /// The registry that a bare slug means.
    pub registry: Option<String>,
    /// Further registries by name.
    pub registries: BTreeMap<String, String>,
    /// Whether a token may be sent to GitHub.
    pub github_token: bool,
    /// GitHub's API.
    pub github_api: Option<String>,
    /// GitHub's archives.
    pub github_codeload: Option<String>,
    /// The search of skills.sh.
    pub skills_sh: Option<String>,
    /// `ask` or `auto-safe`.
    pub updates: Option<String>,
}

/// `mcp`: how the MCP server meets its clients.
#[derive(Debug, Clone, PartialEq)]
pub struct McpSection {
    /// Whether HTTP clients on this machine need the token; others always do.
    pub require_token: bool,
    /// Whether the addresses of skills begin with their tier.
    pub skill_prefix: bool,
}

impl Default for McpSection {
    fn default() -> Self {
        Self { require_token: true, skill_prefix: false }
    }
}

/// `skills.load`: where skills come from and how they are watched.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadSection {
    /// Further folders with skills, lowest tier.
    pub extra_dirs: Vec<String>,
    /// Real paths that links in a workspace may lead to.
    pub allow_symlink_targets: Vec<String>,
    /// Whether changes are watched.
    pub watch: bool,
    /// How long changes gather before they are acted on.
    pub debounce_ms: u64,
    /// How long costly follow-ups of a change are gathered.
    pub reload_window_ms: u64,
    /// Whether `~/.agents/skills` is read.
    pub personal: PersonalRootMode,
    /// Whether other agents' skill folders are read.
    pub agents: bool,
    /// How deep a root is walked; the profile's own number where absent.
    pub max_depth: Option<usize>,
    /// Whether a skill with unreadable metadata may be used.
    pub tolerate_bad_metadata: bool,
}

impl Default for LoadSection {
    fn default() -> Self {
        Self {
            extra_dirs: Vec::new(),
            allow_symlink_targets: Vec::new(),
            watch: true,
            debounce_ms: 250,
            reload_window_ms: 30_000,
            personal: PersonalRootMode::Auto,
            agents: true,
            max_depth: None,
            tolerate_bad_metadata: false,
        }
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

/// `skills.limits`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SkillLimits {
    /// Skill folders considered per root; the profile's number where absent.
    pub max_candidates_per_root: Option<usize>,
    /// Skills loaded per root; the profile's number where absent.
    pub max_skills_loaded_per_source: Option<usize>,
    /// Skills listed in the prompt.
    pub max_skills_in_prompt: usize,
    /// Length of the prompt block in UTF-16 code units.
    pub max_skills_prompt_chars: usize,
    /// Size of one skill file in bytes.
    pub max_skill_file_bytes: u64,
}

impl Default for SkillLimits {
    fn default() -> Self {
        Self {
            max_candidates_per_root: None,
            max_skills_loaded_per_source: None,
            max_skills_in_prompt: 150,
            max_skills_prompt_chars: 30_000,
            max_skill_file_bytes: 256_000,
        }
    }
}

/// `skills.prompt`.
#[derive(Debug, Clone, PartialEq)]
pub struct PromptSection {
    /// `graded`, `openclaw` or `prefix`.
    pub planner: String,
    /// `name` or `rank`.
    pub order: String,
    /// Skills that keep their place when room is short.
    pub pin: Vec<String>,
    /// How many of the best ranked keep their description longest.
    pub full_descriptions: usize,
    /// The user's own introduction.
    pub template: Option<String>,
}

impl Default for PromptSection {
    fn default() -> Self {
        Self {
            planner: "graded".to_owned(),
            order: "name".to_owned(),
            pin: Vec::new(),
            full_descriptions: 8,
            template: None,
        }
    }
}

/// `skills.entries.<key>`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EntrySettings {
    /// `false` switches the skill off.
    pub enabled: Option<bool>,
    /// The API key, for `primaryEnv`.
    pub api_key: Option<SecretSetting>,
    /// Variables for the skill's runs.
    pub env: BTreeMap<String, SecretSetting>,
    /// Passed through to the skill.
    pub config: serde_json::Value,
}

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

/// `agents`: which skills each agent sees.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AgentsSection {
    /// `agents.defaults.skills`.
    pub defaults: Option<Vec<String>>,
    /// `agents.entries.<id>`.
    pub entries: BTreeMap<String, AgentSettings>,
}

/// One agent's settings.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AgentSettings {
    /// The skills it sees; `None` leaves it to the defaults.
    pub skills: Option<Vec<String>>,
    /// Its own prompt budget.
    pub max_skills_prompt_chars: Option<usize>,
}

/// `plugins`.
#[derive(Debug, Clone, PartialEq)]
pub struct PluginsSection {
    /// `false` silences all plugins.
    pub enabled: bool,
    /// Folders of plugins, in order.
    pub paths: Vec<String>,
    /// Plugins that are switched off.
    pub disabled: Vec<String>,
    /// The plugin that holds the memory slot.
    pub memory_slot: Option<String>,
}

impl Default for PluginsSection {
    fn default() -> Self {
        Self { enabled: true, paths: Vec::new(), disabled: Vec::new(), memory_slot: None }
    }
}

/// `route`: how the right skill is found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RouteSection {
    /// `default`, `static`, `words`, `file` or `remote`.
    pub model: Option<String>,
    /// The probability a match needs.
    pub threshold: Option<f64>,
    /// Its lead over the second.
    pub margin: Option<f64>,
    /// How many skills are shown.
    pub top: Option<usize>,
    /// The folder of the model, for `file`.
    pub file: Option<String>,
    /// The model behind an address, for `remote`.
    pub remote: RemoteModelSection,
}

/// `route.remote`: an embedding model behind an address.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RemoteModelSection {
    /// Its base address.
    pub url: Option<String>,
    /// Its name there.
    pub model: Option<String>,
    /// The length of its vectors.
    pub dims: Option<usize>,
    /// `openai` or `ollama`.
    pub dialect: Option<String>,
    /// The key it wants.
    pub api_key: Option<SecretSetting>,
    /// How long it may take for a message.
    pub timeout_ms: Option<usize>,
}

/// `cortex`: what is remembered, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct CortexSection {
    /// Whether outcomes are remembered and recalled.
    pub enabled: bool,
    /// `cortex` or `bayes`.
    pub policy: Option<String>,
    /// `region` or `candidate`.
    pub decay_scope: Option<String>,
    /// Hours in which further successes count less.
    pub window_hours: Option<u32>,
    /// `reference`, `reference+bound`, `bound` or `off`.
    pub gate: Option<String>,
    /// The reliability that the bound asks for.
    pub min_lb: Option<f64>,
    /// `notify` or `confirm`.
    pub install: Option<String>,
    /// How long a reflex can be cancelled.
    pub cancel_window_ms: Option<u32>,
    /// `bayes`, `all` or `off`.
    pub shield: Option<String>,
    /// Whether lessons fade.
    pub lesson_decay: bool,
    /// A `cortex.json` that is kept up to date.
    pub mirror: Option<String>,
}

impl Default for CortexSection {
    fn default() -> Self {
        Self {
            enabled: true,
            policy: None,
            decay_scope: None,
            window_hours: None,
            gate: None,
            min_lb: None,
            install: None,
            cancel_window_ms: None,
            shield: None,
            lesson_decay: true,
            mirror: None,
        }
    }
}

/// `approvals`: whose answers count.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ApprovalsSection {
    /// `limited`, `allow` or `never`.
    pub relay: Option<String>,
}

/// `hook`: what agents are told in passing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HookSection {
    /// The longest text that is added to a message, in characters.
    pub max_chars: usize,
    /// How long a message or the end of a turn may wait.
    pub deadline_ms: u32,
}

impl Default for HookSection {
    fn default() -> Self {
        Self { max_chars: 6_000, deadline_ms: 300 }
    }
}

/// `traces`: what is learned from finished runs.
#[derive(Debug, Clone, PartialEq)]
pub struct TracesSection {
    /// Whether anything is.
    pub enabled: bool,
    /// `proposal`, `auto` or `off`.
    pub publish: Option<String>,
    /// Whether a run counts of which nobody said that it worked.
    pub accept_weak: bool,
    /// Whether drafts are written where and as OpenPocket writes them.
    pub reference_exact: bool,
    /// Where runs come from unasked: `live` for what hooks tell, or the name of an agent whose folder
    /// of sessions is looked through.
    pub sources: Vec<String>,
    /// `param` or `verbatim`.
    pub typed_text: Option<String>,
    /// `supersede` or `delete`.
    pub duplicates: Option<String>,
    /// `always` or `reference`.
    pub front_matter: Option<String>,
    /// Whether drafts that nobody has reviewed are in the prompt.
    pub drafts_in_index: Option<bool>,
    /// A run with fewer steps makes no draft.
    pub min_steps: usize,
    /// Sessions that are older are not looked through.
    pub max_age_days: u64,
    /// Runs that are remembered per workspace.
    pub keep_runs: usize,
    /// Whether drafts come with a replay script.
    pub scripts: bool,
}

impl Default for TracesSection {
    fn default() -> Self {
        Self {
            enabled: true,
            publish: None,
            accept_weak: true,
            reference_exact: false,
            sources: vec![LIVE.to_owned()],
            typed_text: None,
            duplicates: None,
            front_matter: None,
            drafts_in_index: None,
            min_steps: 1,
            max_age_days: 30,
            keep_runs: 500,
            scripts: true,
        }
    }
}

/// The source of runs that hooks tell of while an agent works.
const LIVE: &str = "live";

impl TracesSection {
    /// Whether what hooks tell is learned from.
    pub fn learns_from_hooks(&self) -> bool {
        self.enabled && self.sources.iter().any(|source| source == LIVE)
    }
}

/// OpenPocket's own settings.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct OpenPocketSection {
    /// What counts as a skill.
    pub mode: OpenPocketMode,
    /// Whether the user's copy wins over the bundled one.
    pub user_first: bool,
}

/// What counts as a skill in OpenPocket's profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OpenPocketMode {
    /// Any Markdown file.
    Legacy,
    /// Legacy files and strict skills.
    #[default]
    Mixed,
    /// Only `SKILL.md` that passes strict validation.
    Strict,
}

impl OpenPocketMode {
    /// Reads a mode; case and surrounding blanks do not matter.
    pub fn parse(text: &str) -> Option<Self> {
        match text.trim().to_ascii_lowercase().as_str() {
            "legacy" => Some(Self::Legacy),
            "mixed" => Some(Self::Mixed),
            "strict" => Some(Self::Strict),
            _ => None,
        }
    }
}

/// A configuration and what was wrong with it.
#[derive(Debug, Clone, Default)]
pub struct LoadedConfig {
    /// The configuration, defaults where it says nothing usable.
    pub config: Config,
    /// What was wrong.
    pub reasons: Vec<Reason>,
    /// The file it was read from.
    pub path: Option<PathBuf>,
}

impl Config {
    /// Reads JSON5 text. Text that is no JSON5 at all gives the defaults and one reason.
    pub fn from_text(text: &str) -> (Self, Vec<Reason>) {
        reader::read_text(text)
    }

    /// Reads a tree.
    pub fn from_tree(tree: serde_json::Value) -> (Self, Vec<Reason>) {
        reader::read_tree(tree)
    }

    /// Which skills an agent may see; `None` means all.
    pub fn agent_skills(&self, agent: Option<&str>) -> Option<&[String]> {
        agent
            .and_then(|id| self.agents.entries.get(id))
            .and_then(|agent| agent.skills.as_deref())
            .or(self.agents.defaults.as_deref())
    }

    /// The prompt budget of an agent.
    pub fn prompt_chars(&self, agent: Option<&str>) -> usize {
        agent
            .and_then(|id| self.agents.entries.get(id))
            .and_then(|agent| agent.max_skills_prompt_chars)
            .unwrap_or(self.limits.max_skills_prompt_chars)
    }
}
