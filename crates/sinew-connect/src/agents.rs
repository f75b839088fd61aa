//! What is known about an agent that can be connected: where it keeps its configuration, and what is
//! written there. The rows are in `agent_table.rs`; one writer serves all of them.

use std::path::PathBuf;

use sinew_settings::Environment;

use super::agent_table::AGENTS;
use super::edit::ConfigFormat;

/// Whose configuration is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ConnectScope {
    /// The user's own, for every project.
    User,
    /// The project's, shared by all who work on it.
    Project,
}

/// Where a file or folder of an agent is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum AgentPath {
    /// Below the home folder.
    Home(&'static str),
    /// Below Claude Code's folder.
    Claude(&'static str),
    /// Claude Code's state file, which moves with its folder.
    ClaudeState,
    /// Below Codex's folder.
    Codex(&'static str),
    /// OpenClaw's configuration.
    OpenClaw,
    /// Below OpenPocket's folder.
    OpenPocket(&'static str),
    /// Below OpenClaw's state folder.
    OpenClawState(&'static str),
    /// Below the user's configuration folder.
    Config(&'static str),
    /// Below VS Code's user folder.
    VsCode(&'static str),
    /// Below the project.
    Project(&'static str),
    /// Below sinew's own folder.
    Sinew(&'static str),
}

/// An agent.
#[derive(Debug)]
pub(crate) struct ConnectableAgent {
    pub(crate) id: &'static str,
    pub(super) title: &'static str,
    pub(super) aliases: &'static [&'static str],
    /// Its program.
    pub(super) program: &'static str,
    /// Folders and files that exist once it was used.
    pub(super) traces: &'static [AgentPath],
    /// Its configuration, by scope; where several names are possible, the first that exists.
    pub(super) configs: ScopedPaths,
    pub(super) format: ConfigFormat,
    /// Where its servers are.
    pub(super) servers: &'static [&'static str],
    /// Our entry: `$COMMAND` stands for the program.
    pub(super) stdio: &'static str,
    /// How the program is named there.
    pub(super) program_name: ProgramName,
    /// Our entry for a server behind an address: `$URL` stands for it.
    pub(super) http: &'static str,
    pub(super) hooks: AgentHooks,
    /// How it is told that tools which only read need no question.
    pub(super) read_tools: Option<ReadTools>,
    /// How it is told to leave skills out of its list.
    pub(super) library: Option<AgentLibrary>,
    /// A line of its own list of skills: `$NAME`, `$DESCRIPTION` and `$FILE` stand for those of a skill.
    pub(super) list_line: &'static str,
    /// The profile that its server and its hooks work with, where that is not sinew's own.
    pub(super) profile: Option<&'static str>,
    /// Where it looks for the user's own skills.
    pub(super) skills: AgentSkillAccess,
    /// Folders of skills that it reads.
    pub(crate) imports: &'static [AgentPath],
    /// Folders of commands, each a single file.
    pub(crate) commands: &'static [AgentPath],
    /// What the user has to know after connecting.
    pub(super) note: Option<&'static str>,
}

/// Paths by scope; where several names are possible, the first that exists.
pub(crate) type ScopedPaths = &'static [(ConnectScope, &'static [AgentPath])];

/// How an agent is told which program to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProgramName {
    /// By its name where PATH finds it: the agent is started in a shell.
    Short,
    /// By its whole path: the agent is a window or a service, and does not have the shell's PATH.
    Full,
}

/// Where an agent keeps the names of tools that it may call without asking.
#[derive(Debug)]
pub(crate) struct ReadTools {
    pub(super) configs: ScopedPaths,
    pub(super) at: &'static [&'static str],
    /// What it puts before the name of a tool of ours.
    pub(super) prefix: &'static str,
}

/// sinew's tools that look at skills and change nothing.
pub(crate) const READ_TOOLS: &[&str] = &["find_skill", "list_skills", "read_skill", "explain"];

/// How an agent tells us what happens in a session.
#[derive(Debug)]
pub(crate) enum AgentHooks {
    /// It runs a command at each moment.
    Commands(CommandHooks),
    /// It loads a plugin of ours, which runs the command.
    Plugin(AgentPlugin),
    /// It reads a skill of ours, which says how to ask.
    Skill(AgentPlugin),
    /// It has none that could add to a message.
    None,
}

impl AgentHooks {
    /// The word for it.
    pub(super) fn as_str(&self) -> &'static str {
        match self {
            Self::Commands(hooks) if hooks.form == CommandHookForm::Flat => "session",
            Self::Commands(_) => "commands",
            Self::Plugin(_) => "plugin",
            Self::Skill(_) => "skill",
            Self::None => "none",
        }
    }
}

/// Commands that an agent runs.
#[derive(Debug)]
pub(crate) struct CommandHooks {
    pub(super) configs: ScopedPaths,
    /// Its events, each with the matcher that limits it.
    pub(super) events: &'static [(&'static str, Option<&'static str>)],
    /// In its own unit; five seconds.
    pub(super) timeout: u32,
    pub(super) form: CommandHookForm,
}

/// How an agent writes a command down, and what it may add.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommandHookForm {
    /// In groups with a matcher; it adds to messages.
    Grouped,
    /// The same, and each has a name.
    GroupedWithNames,
    /// By itself, in a file with a version; it adds to the beginning of a session alone.
    Flat,
}

/// A plugin of ours that an agent loads.
#[derive(Debug)]
pub(crate) struct AgentPlugin {
    /// Where its files are put, by scope.
    pub(super) folders: &'static [(ConnectScope, AgentPath)],
    pub(super) files: &'static [PluginFile],
    /// What the agent's configuration says about it: `$COMMAND` stands for the program.
    pub(super) entries: &'static [(&'static [&'static str], &'static str)],
    /// Lists of the configuration that name it: `$FOLDER` stands for the folder of its files.
    pub(super) items: &'static [PluginItem],
}

/// A file that the program carries.
#[derive(Debug)]
pub(crate) struct PluginFile {
    pub(super) name: &'static str,
    pub(super) text: &'static str,
}

/// An item of a list that names a plugin.
#[derive(Debug)]
pub(crate) struct PluginItem {
    pub(super) at: &'static [&'static str],
    pub(super) value: &'static str,
    pub(super) need: ItemNeed,
}

/// Whether a list is made for an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ItemNeed {
    /// It has to be there.
    Always,
    /// Only where the user keeps such a list: without one, everything is allowed.
    WhereListed,
}

/// How an agent is told to leave skills out of its list: where, and in which form.
#[derive(Debug)]
pub(crate) struct AgentLibrary {
    pub(super) configs: ScopedPaths,
    pub(super) at: &'static [&'static str],
    pub(super) form: LibraryForm,
}

/// In which form an agent is told about a skill that it leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LibraryForm {
    /// A map from names to this word.
    Words(&'static str),
    /// The same, for an agent that goes by the names of folders.
    FolderWords(&'static str),
    /// A list of names.
    Names,
    /// A list of entries with the skill's file, and that it is off.
    FileSwitches,
    /// One number: how many skills are listed.
    Limit,
}

/// How an agent is given sinew's skills.
#[derive(Debug)]
pub(crate) enum AgentSkillAccess {
    /// As entries of a folder of its own.
    Folder(AgentPath),
    /// As one more folder that it reads, named at this place in its configuration.
    Listed(&'static [&'static str]),
}

impl ConnectableAgent {
    /// Whether its hooks can add to a message.
    pub(super) fn adds_to_messages(&self) -> bool {
        match &self.hooks {
            AgentHooks::Commands(hooks) => hooks.form != CommandHookForm::Flat,
            AgentHooks::Plugin(_) => true,
            AgentHooks::Skill(_) | AgentHooks::None => false,
        }
    }

    pub(super) fn find(name: &str) -> Option<&'static Self> {
        AGENTS.iter().find(|agent| agent.id == name || agent.aliases.contains(&name))
    }

    /// Whether it is on this machine.
    pub(super) fn is_installed(&self, env: &Environment) -> bool {
        sinew_catalog::find_program(env, self.program).is_some()
            || self.traces.iter().any(|place| place.path(env, &env.cwd).exists())
    }
}

impl AgentPath {
    pub(crate) fn path(self, env: &Environment, workspace: &std::path::Path) -> PathBuf {
        let claude = || env.var_path("CLAUDE_CONFIG_DIR");
        let config = || match env.os.as_str() {
            "win32" => env.var_path("APPDATA").unwrap_or_else(|| env.home.join("AppData/Roaming")),
            _ => env.var_path("XDG_CONFIG_HOME").unwrap_or_else(|| env.home.join(".config")),
        };
        let below = |folder: PathBuf, path: &str| match path {
            "" => folder,
            path => folder.join(path),
        };
        match self {
            Self::Home(path) => below(env.home.clone(), path),
            Self::Claude(path) => below(claude().unwrap_or_else(|| env.home.join(".claude")), path),
            Self::ClaudeState => claude().unwrap_or_else(|| env.home.clone()).join(".claude.json"),
            Self::Codex(path) => {
                below(env.var_path("CODEX_HOME").unwrap_or_else(|| env.home.join(".codex")), path)
            }
            Self::OpenClaw => env.openclaw_config(),
            Self::OpenPocket(path) => below(env.openpocket_home(), path),
            Self::OpenClawState(path) => below(env.openclaw_state().0, path),
            Self::Config(path) => below(config(), path),
            Self::VsCode(path) => match env.os.as_str() {
                "darwin" => below(env.home.join("Library/Application Support/Code/User"), path),
                _ => below(config().join("Code/User"), path),
            },
            Self::Project(path) => below(workspace.to_owned(), path),
            Self::Sinew(path) => below(env.sinew_home(), path),
        }
    }
}
