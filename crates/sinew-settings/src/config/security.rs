//! `security`: who may veto an installation; and `approvals`: whose answers count.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::key::KeyKind;
use super::reader::ConfigReader;
use super::section::{choices, section};
use super::value::{CommandArguments, KeyPlace, SettingValue};

section! {
    /// `security.installPolicy`: a command that may veto an installation.
    pub struct InstallPolicy at "security.installPolicy" {
        /// Ask a command of yours before anything is installed.
        "enabled" => enabled: PolicySwitch = PolicySwitch::Off;
        /// What it is asked about: skill, plugin.
        "targets" => targets: Option<Vec<String>> = None, shown "all";
        also {
            /// What is run.
            exec: InstallPolicyCommand = InstallPolicyCommand::default();
            /// Whether something of it cannot be read. Then its answer is no: what would be run may
            /// be another command than the one that was meant.
            damaged: bool = false;
        }
    }
}

section! {
    /// `security.installPolicy.exec`: the command.
    pub struct InstallPolicyCommand at "security.installPolicy.exec" {
        /// The command's absolute path.
        "command" => command: String = String::new();
        /// Its arguments.
        "args" => args: CommandArguments = CommandArguments::default();
        /// How long it may take.
        "timeoutMs" => timeout_ms: u64 = 10_000;
        /// How long it may say nothing; timeoutMs where absent.
        "noOutputTimeoutMs" => no_output_timeout_ms: Option<u64> = None;
        /// How much it may say.
        "maxOutputBytes" => max_output_bytes: u64 = 1_048_576;
        /// Its variables.
        "env" => env: BTreeMap<String, String> = BTreeMap::new();
        /// Variables that it inherits.
        "passEnv" => pass_env: Vec<String> = Vec::new();
        /// Folders the command must lie in.
        "trustedDirs" => trusted_dirs: Vec<String> = Vec::new();
    }
}

/// Whether the policy is asked. What cannot be read must not mean "no say".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PolicySwitch {
    /// It is not.
    #[default]
    Off,
    /// It is.
    On,
}

impl SettingValue for PolicySwitch {
    const KIND: KeyKind = KeyKind::Switch;

    fn read(value: &Value, place: &KeyPlace<'_>, reader: &mut ConfigReader) -> Option<Self> {
        Some(match value.as_bool() {
            Some(false) => Self::Off,
            Some(true) => Self::On,
            None => {
                let place = KeyPlace { otherwise: Some("it counts as true"), ..*place };
                reader.unusable(value, Self::KIND, &place);
                Self::On
            }
        })
    }

    fn json(&self) -> Value {
        Value::Bool(*self == Self::On)
    }
}

section! {
    /// `approvals`: whose answers count.
    pub struct ApprovalsSection at "approvals" {
        /// Which answers an agent may pass on: limited means those about plans, switches and keeping.
        "relay" => relay: RelayPolicy = RelayPolicy::Limited;
        /// What commands may agree to with their flags where no terminal is: install, risk,
        /// dependency, uninstall, proposal. A finding is accepted at a terminal or a page only.
        "unattended" => unattended: Vec<UnattendedAct> = Vec::new(), shown "none";
    }
}

choices! {
    /// What a command may agree to without a terminal.
    pub enum UnattendedAct {
        /// Installs and updates of skills.
        Install = "install",
        /// Risks of an install that have a flag of their own.
        Risk = "risk",
        /// Programs that skills need.
        Dependency = "dependency",
        /// Removing skills.
        Uninstall = "uninstall",
        /// Deciding about proposals.
        Proposal = "proposal",
        /// Switches of skills, and values of the configuration that grant nothing.
        Settings = "settings",
    }
}

impl ApprovalsSection {
    /// Whether the file agrees to this where no terminal is.
    pub fn covers(&self, act: UnattendedAct) -> bool {
        self.unattended.contains(&act)
    }
}

choices! {
    /// Which answers an agent may relay.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum RelayPolicy {
        /// Those about plans, switches and retention.
        #[default]
        Limited = "limited",
        /// All that are not blocked.
        Allow = "allow",
        /// None.
        Never = "never",
    }
}
