//! The configuration: OpenClaw's tree, with sinew's additions under the same names.
//!
//! Each key is declared once, in the section it belongs to: its path, its type, what holds without
//! it, the values that are allowed and what it does. The typed fields, the reading, the reasons and
//! the reference page all come from that declaration; [`keys`] is the whole table.
//!
//! A value that cannot be used is reported and its default holds; an unknown key in a part that is
//! sinew's alone is reported with the nearest known one. Nothing in a configuration can make reading
//! fail. What must not run on a guess asks [`Config::check`] first, and what changes anything asks
//! [`Config::gate`]: where the file may have said "no", a fault is never read as silence.

mod agents;
mod cortex;
mod gate;
mod glob;
mod hub;
mod key;
mod plugins;
mod reader;
mod registry;
mod reviewer;
mod route;
mod section;
mod security;
mod serving;
mod skills;
mod source;
mod traces;
mod truthiness;
mod value;
mod workshop;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::Reason;

pub use agents::{AgentSettings, AgentsSection, OpenPocketAgentSection, OpenPocketMode};
pub use cortex::{
    CandidateOrder, CortexSection, DecayScope, ReflexGate, ReflexInstall, ShieldScope,
};
pub use gate::{ConfigFault, MAX_NESTING, is_nested_too_deeply};
pub use hub::{CLAWHUB, HubSection, UpdatePolicy};
pub use key::{ConfigKey, KeyKind, ValueRange, find_key, keys};
pub use plugins::{PluginEntry, PluginsSection};
pub use registry::{DEFAULT_S3_REGION, MirrorMode, MirrorSection, RegistryMode, RegistrySection};
pub use reviewer::{ProviderKind, ProviderSection, ReviewerEndpoint, ReviewerProvider};
pub use route::{ModelChoice, RemoteDialect, RemoteModelSection, RouteSection};
pub use security::{
    ApprovalsSection, InstallPolicy, InstallPolicyCommand, PolicySwitch, RelayPolicy, SandboxMode,
    SandboxNetworkMode, SandboxSection, SandboxWorkspace, SignatureDemand, SignaturesSection,
    UnattendedAct,
};
pub use serving::{
    BringMode, HookSection, McpSection, MetricsSection, ServeSection, SkillPrefix, SkillPromptMode,
};
pub use skills::{
    EntryOwner, EntrySettings, EnvScope, EnvSection, HostSettings, InstallSection, LoadSection,
    NodeManager, OpenPocketSection, PersonalRootMode, PromptOrder, PromptPlanner, PromptSection,
    RemoteSettings, SecretMap, SecretSetting, SkillLimits, SkillsSection,
};
pub use source::{ConfigSource, LoadedConfig, read_config_text};
pub use traces::{
    DraftFrontMatter, DuplicateDrafts, PublishMode, TraceSource, TracesSection, TypedTextMode,
};
pub use truthiness::is_truthy;
pub use value::CommandArguments;
pub use workshop::{
    ApprovalPolicy, ApprovalRule, CaptureProfile, GateMode, ProbationRule, ReviewMode, StaleCheck,
    WorkshopSettings,
};

use reader::{ConfigReader, Leniency};
use section::Section;

/// What the configuration says, defaults where it says nothing usable.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Config {
    /// The whole tree, for `requires.config`.
    pub tree: Value,
    /// `skills`, as far as it has no parts.
    pub skills: SkillsSection,
    /// `skills.load`.
    pub load: LoadSection,
    /// `skills.limits`.
    pub limits: SkillLimits,
    /// `skills.prompt`.
    pub prompt: PromptSection,
    /// `skills.profile.openpocket`.
    pub openpocket: OpenPocketSection,
    /// `skills.install`.
    pub install: InstallSection,
    /// `skills.env`.
    pub env: EnvSection,
    /// `skills.entries`.
    pub entries: BTreeMap<String, EntrySettings>,
    /// `skills.hosts`.
    pub hosts: BTreeMap<String, HostSettings>,
    /// `skills.remotes`.
    pub remotes: BTreeMap<String, RemoteSettings>,
    /// `agents`.
    pub agents: AgentsSection,
    /// `agent`.
    pub openpocket_agent: OpenPocketAgentSection,
    /// `plugins`.
    pub plugins: PluginsSection,
    /// The workshop's entry in `plugins`.
    pub workshop: WorkshopSettings,
    /// `security.installPolicy`.
    pub install_policy: InstallPolicy,
    /// `security.sandbox`.
    pub sandbox: SandboxSection,
    /// `security.signatures`.
    pub signatures: SignaturesSection,
    /// `route`.
    pub route: RouteSection,
    /// `hub`.
    pub hub: HubSection,
    /// `cortex`.
    pub cortex: CortexSection,
    /// `approvals`.
    pub approvals: ApprovalsSection,
    /// `hook`.
    pub hook: HookSection,
    /// `mcp`.
    pub mcp: McpSection,
    /// `serve`.
    pub serve: ServeSection,
    /// `metrics`.
    pub metrics: MetricsSection,
    /// `registry`.
    pub registry: RegistrySection,
    /// `traces`.
    pub traces: TracesSection,
    /// Values that stand in the file and cannot be used.
    pub unusable: Vec<UnusableValue>,
    /// What closes the gate: see [`Config::gate`].
    pub faults: Vec<ConfigFault>,
}

/// A value that stands in the file and cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path} must be {expected}")]
pub struct UnusableValue {
    /// Where it stands.
    pub path: String,
    /// What should stand there.
    pub expected: String,
}

/// Parts of the file that are sinew's alone, where every key must mean something. In the others,
/// further keys belong to the program whose file it may be.
const OWN_PARTS: &[&str] = &[
    "skills",
    "route",
    "cortex",
    "approvals",
    "hub",
    "security.installPolicy",
    "security.sandbox",
    "security.signatures",
    "hook",
    "serve",
    "registry",
    "metrics",
    "traces",
    "plugins.entries.skill-workshop.config",
];

impl Config {
    /// Reads JSON5 text. Text that is no JSON5 at all gives one reason, and closes the gate.
    pub fn from_text(text: &str) -> (Self, Vec<Reason>) {
        if text.trim().is_empty() {
            return (Self::default(), Vec::new());
        }
        if is_nested_too_deeply(text) {
            return Self::closed(format!("the file has more than {MAX_NESTING} levels"));
        }
        match json5::from_str::<Value>(text) {
            Ok(tree) => Self::from_tree(tree),
            Err(error) => Self::closed(format!("the file is not JSON5: {error}")),
        }
    }

    /// Reads a tree.
    pub fn from_tree(tree: Value) -> (Self, Vec<Reason>) {
        let mut reader = ConfigReader::default();
        let mut config = Self::default();
        if let Value::Object(root) = &tree {
            config.read(root, &mut reader);
            config.close_gate(root, &mut reader);
        } else if !tree.is_null() {
            return Self::closed("the configuration is not a map".to_owned());
        }
        config.tree = tree;
        config.unusable = reader.unusable;
        (config, reader.reasons)
    }

    /// Every key with what holds for it, in the order of the reference page: null where nothing does.
    /// Secrets are masked. Keys below `<…>` have their defaults.
    pub fn declared(&self) -> Vec<(ConfigKey, Value)> {
        [
            self.skills.declared(),
            self.load.declared(),
            self.limits.declared(),
            self.prompt.declared(),
            self.openpocket.declared(),
            self.install.declared(),
            self.env.declared(),
            HostSettings::default().declared(),
            RemoteSettings::default().declared(),
            EntrySettings::default().declared(),
            self.agents.declared(),
            AgentSettings::default().declared(),
            self.openpocket_agent.declared(),
            self.plugins.declared(),
            PluginEntry::default().declared(),
            self.workshop.declared(),
            self.workshop.probation.declared(),
            self.workshop.provider_keys.declared(),
            self.install_policy.declared(),
            self.install_policy.exec.declared(),
            self.sandbox.declared(),
            self.signatures.declared(),
            self.route.declared(),
            self.route.remote.declared(),
            self.hub.declared(),
            self.cortex.declared(),
            self.approvals.declared(),
            self.hook.declared(),
            self.mcp.declared(),
            self.serve.declared(),
            self.metrics.declared(),
            self.registry.declared(),
            self.registry.mirror.declared(),
            self.traces.declared(),
        ]
        .concat()
    }

    fn read(&mut self, root: &Map<String, Value>, reader: &mut ConfigReader) {
        for part in OWN_PARTS {
            reader.name_unknown_keys(root, part);
        }
        reader.section(root, &mut self.skills);
        reader.section(root, &mut self.load);
        reader.section(root, &mut self.limits);
        reader.section(root, &mut self.prompt);
        reader.section(root, &mut self.openpocket);
        reader.section(root, &mut self.env);
        reader.section(root, &mut self.install);
        for (id, at, map) in reader.maps_below(root, "skills.hosts") {
            reader.unknown_keys(map, HostSettings::PATH, &at);
            self.hosts.entry(id.clone()).or_default().fill(map, &at, reader);
        }
        for (id, at, map) in reader.maps_below(root, "skills.remotes") {
            reader.unknown_keys(map, RemoteSettings::PATH, &at);
            self.remotes.entry(id.clone()).or_default().fill(map, &at, reader);
        }
        self.read_entries(root, reader);
        self.read_agents(root, reader);
        reader.section(root, &mut self.plugins);
        let plugins = root.get("plugins").and_then(|plugins| plugins.get("entries"));
        for (id, value) in plugins.and_then(Value::as_object).into_iter().flatten() {
            match value.get("enabled").and_then(Value::as_bool) {
                Some(true) => self.plugins.switched_on.push(id.clone()),
                Some(false) => self.plugins.disabled.push(id.clone()),
                None => {}
            }
        }
        reader.section(root, &mut self.route);
        reader.section(root, &mut self.route.remote);
        reader.section(root, &mut self.cortex);
        reader.section(root, &mut self.approvals);
        reader.section(root, &mut self.hub);
        for (name, url) in &mut self.hub.registries {
            *url = url.trim().to_owned();
            if url.is_empty() {
                reader.bad(&format!("hub.registries.{name}"), "an address");
            }
        }
        self.hub.registries.retain(|_, url| !url.is_empty());
        reader.section(root, &mut self.hook);
        reader.section(root, &mut self.mcp);
        reader.section(root, &mut self.serve);
        reader.section(root, &mut self.metrics);
        reader.section(root, &mut self.registry);
        reader.section(root, &mut self.registry.mirror);
        reader.section(root, &mut self.openpocket_agent);
        // OpenPocket's name for the same switch; sinew's own, read next, goes first.
        if let Some(enabled) = self.openpocket_agent.auto_artifacts_enabled {
            self.traces.enabled = enabled;
        }
        reader.section(root, &mut self.traces);
        self.read_install_policy(root, reader);
        reader.section(root, &mut self.sandbox);
        reader.section(root, &mut self.signatures);
        self.read_workshop(root, reader);
    }

    fn read_entries(&mut self, root: &Map<String, Value>, reader: &mut ConfigReader) {
        for (key, at, map) in reader.maps_below(root, "skills.entries") {
            reader.unknown_keys(map, EntrySettings::PATH, &at);
            let entry = self.entries.entry(key.clone()).or_default();
            entry.fill(map, &at, reader);
            // What may have said "off" is off.
            let switch = map.get("enabled").filter(|value| !value.is_null());
            let misspelt =
                map.keys().any(|name| name != "enabled" && gate::is_near(name, "enabled"));
            if misspelt || switch.is_some_and(|value| !value.is_boolean()) {
                entry.enabled = Some(false);
            }
        }
        let entries = root.get("skills").and_then(|skills| skills.get("entries"));
        for (key, value) in entries.and_then(Value::as_object).into_iter().flatten() {
            if !value.is_object() {
                self.entries.entry(key.clone()).or_default().enabled = Some(false);
            }
        }
    }

    fn read_agents(&mut self, root: &Map<String, Value>, reader: &mut ConfigReader) {
        reader.section(root, &mut self.agents);
        for (id, at, map) in reader.maps_below(root, "agents.entries") {
            let agent = self.agents.entries.entry(id.clone()).or_default();
            agent.fill(map, &at, reader);
            agent.close_list(map, &at, reader);
        }
        let entries = root.get("agents").and_then(|agents| agents.get("entries"));
        for (id, value) in entries.and_then(Value::as_object).into_iter().flatten() {
            if !value.is_object() {
                self.agents.entries.entry(id.clone()).or_default().skills = Some(Vec::new());
            }
        }
        // The older form: a list of agents that name themselves.
        let list = root.get("agents").and_then(|agents| agents.get("list"));
        if list.is_some_and(|list| !list.is_null() && !list.is_array()) {
            reader.bad("agents.list", "a list");
        }
        for (index, value) in list.and_then(Value::as_array).into_iter().flatten().enumerate() {
            let at = format!("agents.list[{index}]");
            let Some(id) = value.get("id").and_then(Value::as_str) else {
                reader.bad(&format!("{at}.id"), "text");
                continue;
            };
            let mut agent = AgentSettings::default();
            if let Value::Object(map) = value {
                agent.fill(map, &at, reader);
                agent.close_list(map, &at, reader);
            }
            self.agents.entries.entry(id.to_owned()).or_insert(agent);
        }
    }

    fn read_install_policy(&mut self, root: &Map<String, Value>, reader: &mut ConfigReader) {
        let policy = &mut self.install_policy;
        match root.get("security").and_then(|security| security.get("installPolicy")) {
            None | Some(Value::Null | Value::Object(_)) => {
                reader.section(root, policy);
                reader.section(root, &mut policy.exec);
                policy.exec.command = policy.exec.command.trim().to_owned();
            }
            Some(_) => {
                // The user wants a policy here; one that cannot be read must not mean "no policy".
                policy.enabled = PolicySwitch::On;
                policy.damaged = true;
                reader.bad(InstallPolicy::PATH, "a map; until it is, nothing is installed");
            }
        }
    }

    fn read_workshop(&mut self, root: &Map<String, Value>, reader: &mut ConfigReader) {
        reader.leniency = Leniency::Correct;
        reader.section(root, &mut self.workshop);
        reader.section(root, &mut self.workshop.probation);
        reader.section(root, &mut self.workshop.provider_keys);
        let entry = root.get("plugins").and_then(|plugins| {
            plugins.get("entries")?.get("skill-workshop")?.get("config")?.get("provider")
        });
        if let Some(Value::Object(written)) = entry {
            self.workshop.provider = self.workshop.provider_keys.reviewer(written, reader);
        }
        self.workshop.loaded &= self.plugins.enabled;
        reader.leniency = Leniency::Refuse;
    }

    /// Whether everything that the file says below a path can be used: for what must not run on a
    /// guess.
    pub fn check(&self, path: &str) -> Result<(), UnusableValue> {
        let is_below = |value: &&UnusableValue| {
            value
                .path
                .strip_prefix(path)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        self.unusable.iter().find(is_below).cloned().map_or(Ok(()), Err)
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
