//! The agents that can be connected, as data: where each keeps its configuration, and what is written
//! there. One writer serves all of them.

use std::path::PathBuf;

use sinew_settings::Environment;

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
    /// Below OpenClaw's state folder.
    OpenClawState(&'static str),
    /// Below the user's configuration folder.
    Config(&'static str),
    /// Below VS Code's user folder.
    VsCode(&'static str),
    /// Below the project.
    Project(&'static str),
}

/// An agent.
#[derive(Debug)]
pub(crate) struct ConnectableAgent {
    pub(crate) id: &'static str,
    pub(super) title: &'static str,
    aliases: &'static [&'static str],
    /// Its program.
    program: &'static str,
    /// Folders and files that exist once it was used.
    traces: &'static [AgentPath],
    /// Its configuration, by scope; where several names are possible, the first that exists.
    pub(super) configs: &'static [(ConnectScope, &'static [AgentPath])],
    pub(super) format: ConfigFormat,
    /// Where its servers are.
    pub(super) servers: &'static [&'static str],
    /// Our entry: `$COMMAND` stands for the program.
    pub(super) stdio: &'static str,
    /// Our entry for a server behind an address: `$URL` stands for it.
    pub(super) http: &'static str,
    pub(super) hooks: Option<AgentHooks>,
    /// Where it looks for the user's own skills.
    pub(super) skills: AgentSkillAccess,
    /// Folders of skills that it reads.
    pub(crate) imports: &'static [AgentPath],
    /// Folders of commands, each a single file.
    pub(crate) commands: &'static [AgentPath],
    /// What the user has to know after connecting.
    pub(super) note: Option<&'static str>,
}

/// How an agent is told to run hooks.
#[derive(Debug)]
pub(crate) struct AgentHooks {
    pub(super) configs: &'static [(ConnectScope, &'static [AgentPath])],
    /// Its events, each with the matcher that limits it.
    pub(super) events: &'static [(&'static str, Option<&'static str>)],
    /// In its own unit; five seconds.
    pub(super) timeout: u32,
    /// Whether a hook has a name.
    pub(super) named: bool,
}

/// How an agent is given sinew's skills.
#[derive(Debug)]
pub(crate) enum AgentSkillAccess {
    /// As entries of a folder of its own.
    Folder(AgentPath),
    /// As one more folder that it reads, named at this place in its configuration.
    Listed(&'static [&'static str]),
}

const SESSION: Option<&str> = Some("startup|resume|clear|compact");
const ANY: Option<&str> = Some("*");

/// Every agent, the best known first.
pub(crate) const AGENTS: &[ConnectableAgent] = &[
    ConnectableAgent {
        id: "claude-code",
        title: "Claude Code",
        aliases: &["claude"],
        program: "claude",
        traces: &[AgentPath::Claude(""), AgentPath::ClaudeState],
        configs: &[
            (ConnectScope::User, &[AgentPath::ClaudeState]),
            (ConnectScope::Project, &[AgentPath::Project(".mcp.json")]),
        ],
        format: ConfigFormat::Json,
        servers: &["mcpServers"],
        stdio: r#"{"type":"stdio","command":"$COMMAND","args":["mcp"]}"#,
        http: r#"{"type":"http","url":"$URL","headers":{"Authorization":"Bearer ${SINEW_TOKEN}"}}"#,
        hooks: Some(AgentHooks {
            configs: &[
                (ConnectScope::User, &[AgentPath::Claude("settings.json")]),
                (ConnectScope::Project, &[AgentPath::Project(".claude/settings.json")]),
            ],
            events: &[
                ("SessionStart", SESSION),
                ("UserPromptSubmit", None),
                ("PostToolUse", ANY),
                ("PostToolUseFailure", ANY),
                ("Stop", None),
                ("SubagentStop", None),
                ("SessionEnd", None),
            ],
            timeout: 5,
            named: false,
        }),
        skills: AgentSkillAccess::Folder(AgentPath::Claude("skills")),
        imports: &[AgentPath::Claude("skills"), AgentPath::Project(".claude/skills")],
        commands: &[AgentPath::Claude("commands"), AgentPath::Project(".claude/commands")],
        note: None,
    },
    ConnectableAgent {
        id: "codex",
        title: "Codex",
        aliases: &[],
        program: "codex",
        traces: &[AgentPath::Codex("")],
        configs: &[
            (ConnectScope::User, &[AgentPath::Codex("config.toml")]),
            (ConnectScope::Project, &[AgentPath::Project(".codex/config.toml")]),
        ],
        format: ConfigFormat::Toml,
        servers: &["mcp_servers"],
        stdio: r#"{"command":"$COMMAND","args":["mcp"],"startup_timeout_sec":10}"#,
        http: r#"{"url":"$URL","bearer_token_env_var":"SINEW_TOKEN"}"#,
        hooks: Some(AgentHooks {
            configs: &[
                (ConnectScope::User, &[AgentPath::Codex("hooks.json")]),
                (ConnectScope::Project, &[AgentPath::Project(".codex/hooks.json")]),
            ],
            events: &[
                ("SessionStart", SESSION),
                ("UserPromptSubmit", None),
                ("PostToolUse", None),
                ("Stop", None),
            ],
            timeout: 5,
            named: false,
        }),
        skills: AgentSkillAccess::Folder(AgentPath::Home(".agents/skills")),
        imports: &[
            AgentPath::Home(".agents/skills"),
            AgentPath::Codex("skills"),
            AgentPath::Project(".agents/skills"),
            AgentPath::Project(".codex/skills"),
        ],
        commands: &[],
        note: Some(
            "Codex asks once whether it may trust the new hooks; until then they do not run",
        ),
    },
    ConnectableAgent {
        id: "openclaw",
        title: "OpenClaw",
        aliases: &[],
        program: "openclaw",
        traces: &[AgentPath::OpenClawState("")],
        configs: &[(ConnectScope::User, &[AgentPath::OpenClaw])],
        format: ConfigFormat::Json5,
        servers: &["mcp", "servers"],
        stdio: r#"{"command":"$COMMAND","args":["mcp"]}"#,
        http: r#"{"url":"$URL","transport":"streamable-http","headers":{"Authorization":"Bearer ${SINEW_TOKEN}"}}"#,
        hooks: None,
        skills: AgentSkillAccess::Listed(&["skills", "load", "extraDirs"]),
        imports: &[
            AgentPath::OpenClawState("skills"),
            AgentPath::Home(".agents/skills"),
            AgentPath::Project(".agents/skills"),
            AgentPath::Project("skills"),
        ],
        commands: &[],
        note: None,
    },
    ConnectableAgent {
        id: "cursor",
        title: "Cursor",
        aliases: &[],
        program: "cursor",
        traces: &[AgentPath::Home(".cursor")],
        configs: &[
            (ConnectScope::User, &[AgentPath::Home(".cursor/mcp.json")]),
            (ConnectScope::Project, &[AgentPath::Project(".cursor/mcp.json")]),
        ],
        format: ConfigFormat::Json,
        servers: &["mcpServers"],
        stdio: r#"{"command":"$COMMAND","args":["mcp"]}"#,
        http: r#"{"url":"$URL","headers":{"Authorization":"Bearer ${env:SINEW_TOKEN}"}}"#,
        hooks: None,
        skills: AgentSkillAccess::Folder(AgentPath::Home(".cursor/skills")),
        imports: &[
            AgentPath::Project(".cursor/skills"),
            AgentPath::Project(".agents/skills"),
            AgentPath::Home(".cursor/skills"),
        ],
        commands: &[],
        note: None,
    },
    ConnectableAgent {
        id: "gemini",
        title: "Gemini CLI",
        aliases: &["gemini-cli"],
        program: "gemini",
        traces: &[AgentPath::Home(".gemini")],
        configs: GEMINI,
        format: ConfigFormat::Json,
        servers: &["mcpServers"],
        stdio: r#"{"command":"$COMMAND","args":["mcp"],"timeout":30000}"#,
        http: r#"{"httpUrl":"$URL","headers":{"Authorization":"Bearer $SINEW_TOKEN"},"timeout":30000}"#,
        hooks: Some(AgentHooks {
            configs: GEMINI,
            events: &[
                ("SessionStart", None),
                ("BeforeAgent", None),
                ("AfterTool", ANY),
                ("AfterAgent", None),
                ("SessionEnd", None),
            ],
            timeout: 5_000,
            named: true,
        }),
        skills: AgentSkillAccess::Folder(AgentPath::Home(".gemini/skills")),
        imports: &[
            AgentPath::Home(".gemini/skills"),
            AgentPath::Home(".agents/skills"),
            AgentPath::Project(".gemini/skills"),
            AgentPath::Project(".agents/skills"),
        ],
        commands: &[],
        note: None,
    },
    ConnectableAgent {
        id: "vscode",
        title: "VS Code",
        aliases: &["vs-code", "code"],
        program: "code",
        traces: &[AgentPath::VsCode("")],
        configs: &[
            (ConnectScope::User, &[AgentPath::VsCode("mcp.json")]),
            (ConnectScope::Project, &[AgentPath::Project(".vscode/mcp.json")]),
        ],
        format: ConfigFormat::Json,
        servers: &["servers"],
        stdio: r#"{"type":"stdio","command":"$COMMAND","args":["mcp"]}"#,
        http: r#"{"type":"http","url":"$URL","headers":{"Authorization":"Bearer ${env:SINEW_TOKEN}"}}"#,
        hooks: None,
        skills: AgentSkillAccess::Folder(AgentPath::Home(".copilot/skills")),
        imports: &[
            AgentPath::Project(".github/skills"),
            AgentPath::Project(".claude/skills"),
            AgentPath::Project(".agents/skills"),
            AgentPath::Home(".copilot/skills"),
            AgentPath::Home(".agents/skills"),
        ],
        commands: &[],
        note: None,
    },
    ConnectableAgent {
        id: "goose",
        title: "goose",
        aliases: &[],
        program: "goose",
        traces: &[AgentPath::Config("goose")],
        configs: &[(ConnectScope::User, &[AgentPath::Config("goose/config.yaml")])],
        format: ConfigFormat::Yaml,
        servers: &["extensions"],
        stdio: r#"{"type":"stdio","name":"sinew","cmd":"$COMMAND","args":["mcp"],"enabled":true,"timeout":300,"bundled":false,"envs":{},"env_keys":[]}"#,
        http: r#"{"type":"streamable_http","name":"sinew","uri":"$URL","enabled":true,"timeout":300,"bundled":false,"envs":{},"env_keys":["SINEW_TOKEN"],"headers":{"Authorization":"Bearer $SINEW_TOKEN"}}"#,
        hooks: None,
        skills: AgentSkillAccess::Folder(AgentPath::Home(".agents/skills")),
        imports: &[
            AgentPath::Home(".agents/skills"),
            AgentPath::Project(".agents/skills"),
            AgentPath::Project(".goose/skills"),
            AgentPath::Project(".claude/skills"),
            AgentPath::Claude("skills"),
        ],
        commands: &[],
        note: None,
    },
    ConnectableAgent {
        id: "opencode",
        title: "opencode",
        aliases: &["open-code"],
        program: "opencode",
        traces: &[AgentPath::Config("opencode")],
        configs: &[
            (
                ConnectScope::User,
                &[
                    AgentPath::Config("opencode/opencode.json"),
                    AgentPath::Config("opencode/opencode.jsonc"),
                ],
            ),
            (
                ConnectScope::Project,
                &[AgentPath::Project("opencode.json"), AgentPath::Project("opencode.jsonc")],
            ),
        ],
        format: ConfigFormat::Json,
        servers: &["mcp"],
        stdio: r#"{"type":"local","command":["$COMMAND","mcp"],"enabled":true}"#,
        http: r#"{"type":"remote","url":"$URL","enabled":true,"headers":{"Authorization":"Bearer {env:SINEW_TOKEN}"}}"#,
        hooks: None,
        skills: AgentSkillAccess::Folder(AgentPath::Config("opencode/skills")),
        imports: &[
            AgentPath::Project(".opencode/skills"),
            AgentPath::Config("opencode/skills"),
            AgentPath::Project(".claude/skills"),
            AgentPath::Claude("skills"),
            AgentPath::Project(".agents/skills"),
            AgentPath::Home(".agents/skills"),
        ],
        commands: &[],
        note: None,
    },
];

const GEMINI: &[(ConnectScope, &[AgentPath])] = &[
    (ConnectScope::User, &[AgentPath::Home(".gemini/settings.json")]),
    (ConnectScope::Project, &[AgentPath::Project(".gemini/settings.json")]),
];

impl ConnectableAgent {
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
            Self::OpenClawState(path) => below(env.openclaw_state().0, path),
            Self::Config(path) => below(config(), path),
            Self::VsCode(path) => match env.os.as_str() {
                "darwin" => below(env.home.join("Library/Application Support/Code/User"), path),
                _ => below(config().join("Code/User"), path),
            },
            Self::Project(path) => below(workspace.to_owned(), path),
        }
    }
}
