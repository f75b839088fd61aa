//! `security`: who may veto an installation, and which programs run in a box; and `approvals`: whose answers count.

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
    /// `security.sandbox`: which programs of skills run in a box, and what they may reach there.
    pub struct SandboxSection at "security.sandbox" {
        /// Whose programs run in a box: those of skills that were acquired for one task, where the
        /// system can (auto) or else not at all (short-term), those of every skill (always), or none.
        "mode" => mode: SandboxMode = SandboxMode::Auto;
        /// Files and folders that programs in a box may read, beside the skill's own.
        "read" => read: Vec<String> = Vec::new(), shown "none";
        /// Files and folders that they may change.
        "write" => write: Vec<String> = Vec::new(), shown "none";
        /// What they may do in the folder where they run.
        "workspace" => workspace: SandboxWorkspace = SandboxWorkspace::Write;
        /// Whether they have a network: as the skill declares or shows a need of it, always, or never.
        "network" => network: SandboxNetworkMode = SandboxNetworkMode::Auto;
    }
}

section! {
    /// `security.signatures`: whose signatures count, and what an install needs.
    pub struct SignaturesSection at "security.signatures" {
        /// Public keys by the names of their owners: files in PEM, or their text.
        "keys" => keys: BTreeMap<String, String> = BTreeMap::new(), shown "none";
        /// Identities of certificates, each as `issuer identity`; a `*` at the end stands for anything.
        "identities" => identities: Vec<String> = Vec::new(), shown "none";
        /// A file with the authorities and logs that certificates and log entries are checked
        /// against, as Sigstore writes it.
        "trustedRoot" => trusted_root: Option<String> = None, shown "the public Sigstore's, built in";
        /// What an install needs: nothing, a proved signer (signed), or one of the keys and
        /// identities that are named here (trusted). A broken signature is refused in any case.
        "require" => require: SignatureDemand = SignatureDemand::Nothing;
    }
}

choices! {
    /// What an install needs of a signature.
    #[derive(Default)]
    pub enum SignatureDemand {
        /// Nothing.
        #[default]
        Nothing = "nothing",
        /// A signer who is proved.
        Signed = "signed",
        /// A signer whom the configuration names.
        Trusted = "trusted",
    }
}

choices! {
    /// Whose programs run in a box.
    #[derive(Default)]
    pub enum SandboxMode {
        /// Those of skills that were acquired for one task, where the system has a box.
        #[default]
        Auto = "auto",
        /// The same, and they do not run where the system has none.
        ShortTerm = "short-term",
        /// Those of every skill.
        Always = "always",
        /// None, unless a command asks for it.
        Never = "never",
    }
}

choices! {
    /// What a program in a box may do in the folder where it runs.
    #[derive(Default)]
    pub enum SandboxWorkspace {
        /// Read and change it.
        #[default]
        Write = "write",
        /// Read it.
        Read = "read",
        /// Nothing.
        Nothing = "none",
    }
}

choices! {
    /// Whether programs in a box have a network.
    #[derive(Default)]
    pub enum SandboxNetworkMode {
        /// Where the skill declares or shows a need of it.
        #[default]
        Auto = "auto",
        /// Always.
        Allow = "allow",
        /// Never.
        Never = "none",
    }
}

section! {
    /// `approvals`: whose answers count.
    pub struct ApprovalsSection at "approvals" {
        /// Which answers an agent may pass on: limited means those about plans, switches and keeping.
        "relay" => relay: RelayPolicy = RelayPolicy::Limited;
        /// What commands may agree to with their flags where no terminal is: install, risk,
        /// dependency, uninstall, proposal, settings. A finding is accepted at a terminal or a page only.
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
