//! What the configuration says about runs and installers: `skills.env`, `skills.install` and
//! `security.installPolicy`.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

use super::Config;
use super::reader::{ConfigReader, boolean, integer, one_of, strings};

/// `skills.env`: what a run is given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EnvSection {
    /// Which skills' variables a run gets.
    pub scope: EnvScope,
    /// Whether a skill's own entry may set a credential that the skill declares.
    pub allow_declared_credentials: bool,
}

impl Default for EnvSection {
    fn default() -> Self {
        Self { scope: EnvScope::Used, allow_declared_credentials: true }
    }
}

/// Which skills' variables a run gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EnvScope {
    /// Those of the skills that are in use.
    #[default]
    Used,
    /// Those of every eligible skill.
    Snapshot,
}

/// `skills.install`: how a skill's needs are met.
#[derive(Debug, Clone, PartialEq)]
pub struct InstallSection {
    /// Offer brew first where it is installed.
    pub prefer_brew: bool,
    /// Who installs what comes from npm's registry.
    pub node_manager: NodeManager,
    /// Hosts that downloads may come from although their address is not public.
    pub allow_private_hosts: Vec<String>,
}

impl Default for InstallSection {
    fn default() -> Self {
        Self {
            prefer_brew: true,
            node_manager: NodeManager::default(),
            allow_private_hosts: Vec::new(),
        }
    }
}

/// Who installs what comes from npm's registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NodeManager {
    /// npm.
    #[default]
    Npm,
    /// pnpm.
    Pnpm,
    /// yarn.
    Yarn,
    /// bun.
    Bun,
}

impl NodeManager {
    /// Every manager.
    pub const ALL: [Self; 4] = [Self::Npm, Self::Pnpm, Self::Yarn, Self::Bun];

    /// The program's name.
    pub fn program(self) -> &'static str {
        match self {
            Self::Npm => "npm",
            Self::Pnpm => "pnpm",
            Self::Yarn => "yarn",
            Self::Bun => "bun",
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|manager| manager.program() == name)
    }
}

/// `security.installPolicy`: a command that may veto an installation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct InstallPolicy {
    /// Whether it is asked.
    pub enabled: bool,
    /// What it is asked about (`skill`, `plugin`); `None` means everything.
    pub targets: Option<Vec<String>>,
    /// What is run.
    pub exec: InstallPolicyCommand,
}

/// `security.installPolicy.exec`.
#[derive(Debug, Clone, PartialEq)]
pub struct InstallPolicyCommand {
    /// The program, by its absolute path.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// How long it may take.
    pub timeout_ms: u64,
    /// How long it may say nothing.
    pub no_output_timeout_ms: Option<u64>,
    /// How much it may say.
    pub max_output_bytes: u64,
    /// Its variables.
    pub env: BTreeMap<String, String>,
    /// Variables that it inherits.
    pub pass_env: Vec<String>,
    /// Folders the program must lie in; empty means anywhere.
    pub trusted_dirs: Vec<String>,
}

impl Default for InstallPolicyCommand {
    fn default() -> Self {
        Self {
            command: String::new(),
            args: Vec::new(),
            timeout_ms: 10_000,
            no_output_timeout_ms: None,
            max_output_bytes: 1_048_576,
            env: BTreeMap::new(),
            pass_env: Vec::new(),
            trusted_dirs: Vec::new(),
        }
    }
}

impl ConfigReader {
    pub(super) fn runs(&mut self, skills: &Map<String, Value>, config: &mut Config) {
        if let Some(env) = self.map(skills, "env", "skills.env") {
            let to = &mut config.env;
            self.set(&mut to.scope, env, "skills.env.scope", |value| {
                match one_of(value, &["used", "snapshot"])?.as_str() {
                    "snapshot" => Some(EnvScope::Snapshot),
                    _ => Some(EnvScope::Used),
                }
            });
            let path = "skills.env.allowDeclaredCredentials";
            self.set(&mut to.allow_declared_credentials, env, path, boolean);
        }
        if let Some(install) = self.map(skills, "install", "skills.install") {
            let to = &mut config.install;
            self.set(&mut to.prefer_brew, install, "skills.install.preferBrew", boolean);
            self.set(&mut to.node_manager, install, "skills.install.nodeManager", |value| {
                NodeManager::named(&value.as_str()?.trim().to_ascii_lowercase())
            });
            let path = "skills.install.allowPrivateHosts";
            self.set(&mut to.allow_private_hosts, install, path, strings);
        }
    }

    pub(super) fn install_policy(&mut self, security: &Map<String, Value>, config: &mut Config) {
        let Some(value) = security.get("installPolicy").filter(|value| !value.is_null()) else {
            return;
        };
        let path = "security.installPolicy";
        let to = &mut config.install_policy;
        let Value::Object(policy) = value else {
            // Whoever wrote something here wants a say; what cannot be read must not mean "no say".
            to.enabled = true;
            self.bad(path, "a map; until it is, nothing is installed");
            return;
        };
        to.enabled =
            !matches!(policy.get("enabled"), None | Some(Value::Null | Value::Bool(false)));
        if to.enabled && policy.get("enabled") != Some(&Value::Bool(true)) {
            self.bad(&format!("{path}.enabled"), "true or false; it counts as true");
        }
        self.set(&mut to.targets, policy, &format!("{path}.targets"), |v| strings(v).map(Some));
        let path = format!("{path}.exec");
        let Some(exec) = self.map(policy, "exec", &path) else { return };
        let to = &mut to.exec;
        let text = |value: &Value| value.as_str().map(|text| text.trim().to_owned());
        self.set(&mut to.command, exec, &format!("{path}.command"), text);
        self.set(&mut to.args, exec, &format!("{path}.args"), words);
        self.set(&mut to.timeout_ms, exec, &format!("{path}.timeoutMs"), integer);
        let silent = format!("{path}.noOutputTimeoutMs");
        self.set(&mut to.no_output_timeout_ms, exec, &silent, |v| integer(v).map(Some));
        self.set(&mut to.max_output_bytes, exec, &format!("{path}.maxOutputBytes"), integer);
        self.set(&mut to.env, exec, &format!("{path}.env"), texts);
        self.set(&mut to.pass_env, exec, &format!("{path}.passEnv"), strings);
        self.set(&mut to.trusted_dirs, exec, &format!("{path}.trustedDirs"), strings);
    }
}

/// Arguments as they are: blanks at their ends may matter.
fn words(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
}

fn texts(value: &Value) -> Option<BTreeMap<String, String>> {
    let pair = |(name, value): (&String, &Value)| Some((name.clone(), value.as_str()?.to_owned()));
    value.as_object()?.iter().map(pair).collect()
}
