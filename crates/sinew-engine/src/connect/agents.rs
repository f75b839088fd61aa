//! The agents that can be connected, as data: where each keeps its configuration, and what is written
//! there. One writer serves all of them.

use std::path::PathBuf;

use sinew_catalog::Environment;

use super::edit::Format;

/// Whose configuration is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// The user's own, for every project.
    User,
    /// The project's, for everybody who works on it.
    Project,
}

/// Where something lies.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place {
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
pub(crate) struct Agent {
    pub(crate) id: &'static str,
    pub(super) title: &'static str,
    aliases: &'static [&'static str],
    /// Its program.
    program: &'static str,
    /// Folders and files that are there once it was used.
    traces: &'static [Place],
    /// Its configuration, by scope; where several names are possible, the first that exists.
    pub(super) configs: &'static [(Scope, &'static [Place])],
    pub(super) format: Format,
    /// Where its servers are.
    pub(super) servers: &'static [&'static str],
    /// Our entry: `$COMMAND` stands for the program.
    pub(super) stdio: &'static str,
    /// Our entry for a server behind an address: `$URL` stands for it.
    pub(super) http: &'static str,
    pub(super) hooks: Option<Hooks>,
    /// Where it looks for the user's own skills.
    pub(super) skills: Skills,
    /// Folders of skills that it reads.
    pub(crate) imports: &'static [Place],
    /// Folders of commands, each a single file.
    pub(crate) commands: &'static [Place],
    /// What the user has to know after connecting.
    pub(super) note: Option<&'static str>,
}

/// How an agent is told to run hooks.
#[derive(Debug)]
pub(crate) struct Hooks {
    pub(super) configs: &'static [(Scope, &'static [Place])],
    /// Its events, each with what it is limited to.
    pub(super) events: &'static [(&'static str, Option<&'static str>)],
    /// In its own unit; five seconds.
    pub(super) timeout: u32,
    /// Whether a hook has a name.
    pub(super) named: bool,
}

/// How an agent is given sinew's skills.
#[derive(Debug)]
pub(crate) enum Skills {
    /// As entries of a folder of its own.
    Folder(Place),
    /// As one more folder that it reads, named at this place in its configuration.
    Listed(&'static [&'static str]),
}

const SESSION: Option<&str> = Some("startup|resume|clear|compact");
const ANY: Option<&str> = Some("*");

/// Every agent, in the order in which people know them.
pub(crate) const AGENTS: &[Agent] = &[
    Agent {
        id: "claude-code",
        title: "Claude Code",
        aliases: &["claude"],
        program: "claude",
        traces: &[Place::Claude(""), Place::ClaudeState],
        configs: &[
            (Scope::User, &[Place::ClaudeState]),
            (Scope::Project, &[Place::Project(".mcp.json")]),
        ],
        format: Format::Json,
        servers: &["mcpServers"],
        stdio: r#"{"type":"stdio","command":"$COMMAND","args":["mcp"]}"#,
        http: r#"{"type":"http","url":"$URL","headers":{"Authorization":"Bearer ${SINEW_TOKEN}"}}"#,
        hooks: Some(Hooks {
            configs: &[
                (Scope::User, &[Place::Claude("settings.json")]),
                (Scope::Project, &[Place::Project(".claude/settings.json")]),
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
        skills: Skills::Folder(Place::Claude("skills")),
        imports: &[Place::Claude("skills"), Place::Project(".claude/skills")],
        commands: &[Place::Claude("commands"), Place::Project(".claude/commands")],
        note: None,
    },
    Agent {
        id: "codex",
        title: "Codex",
        aliases: &[],
        program: "codex",
        traces: &[Place::Codex("")],
        configs: &[
            (Scope::User, &[Place::Codex("config.toml")]),
            (Scope::Project, &[Place::Project(".codex/config.toml")]),
        ],
        format: Format::Toml,
        servers: &["mcp_servers"],
        stdio: r#"{"command":"$COMMAND","args":["mcp"],"startup_timeout_sec":10}"#,
        http: r#"{"url":"$URL","bearer_token_env_var":"SINEW_TOKEN"}"#,
        hooks: Some(Hooks {
            configs: &[
                (Scope::User, &[Place::Codex("hooks.json")]),
                (Scope::Project, &[Place::Project(".codex/hooks.json")]),
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
        skills: Skills::Folder(Place::Home(".agents/skills")),
        imports: &[
            Place::Home(".agents/skills"),
            Place::Codex("skills"),
            Place::Project(".agents/skills"),
            Place::Project(".codex/skills"),
        ],
        commands: &[],
        note: Some(
            "Codex asks once whether it may trust the new hooks; until then they do not run",
        ),
    },
    Agent {
        id: "openclaw",
        title: "OpenClaw",
        aliases: &[],
        program: "openclaw",
        traces: &[Place::OpenClawState("")],
        configs: &[(Scope::User, &[Place::OpenClaw])],
        format: Format::Json5,
        servers: &["mcp", "servers"],
        stdio: r#"{"command":"$COMMAND","args":["mcp"]}"#,
        http: r#"{"url":"$URL","transport":"streamable-http","headers":{"Authorization":"Bearer ${SINEW_TOKEN}"}}"#,
        hooks: None,
        skills: Skills::Listed(&["skills", "load", "extraDirs"]),
        imports: &[
            Place::OpenClawState("skills"),
            Place::Home(".agents/skills"),
            Place::Project(".agents/skills"),
            Place::Project("skills"),
        ],
        commands: &[],
        note: None,
    },
    Agent {
        id: "cursor",
        title: "Cursor",
        aliases: &[],
        program: "cursor",
        traces: &[Place::Home(".cursor")],
        configs: &[
            (Scope::User, &[Place::Home(".cursor/mcp.json")]),
            (Scope::Project, &[Place::Project(".cursor/mcp.json")]),
        ],
        format: Format::Json,
        servers: &["mcpServers"],
        stdio: r#"{"command":"$COMMAND","args":["mcp"]}"#,
        http: r#"{"url":"$URL","headers":{"Authorization":"Bearer ${env:SINEW_TOKEN}"}}"#,
        hooks: None,
        skills: Skills::Folder(Place::Home(".cursor/skills")),
        imports: &[
            Place::Project(".cursor/skills"),
            Place::Project(".agents/skills"),
            Place::Home(".cursor/skills"),
        ],
        commands: &[],
        note: None,
    },
    Agent {
        id: "gemini",
        title: "Gemini CLI",
        aliases: &["gemini-cli"],
        program: "gemini",
        traces: &[Place::Home(".gemini")],
        configs: GEMINI,
        format: Format::Json,
        servers: &["mcpServers"],
        stdio: r#"{"command":"$COMMAND","args":["mcp"],"timeout":30000}"#,
        http: r#"{"httpUrl":"$URL","headers":{"Authorization":"Bearer $SINEW_TOKEN"},"timeout":30000}"#,
        hooks: Some(Hooks {
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
        skills: Skills::Folder(Place::Home(".gemini/skills")),
        imports: &[
            Place::Home(".gemini/skills"),
            Place::Home(".agents/skills"),
            Place::Project(".gemini/skills"),
            Place::Project(".agents/skills"),
        ],
        commands: &[],
        note: None,
    },
    Agent {
        id: "vscode",
        title: "VS Code",
        aliases: &["vs-code", "code"],
        program: "code",
        traces: &[Place::VsCode("")],
        configs: &[
            (Scope::User, &[Place::VsCode("mcp.json")]),
            (Scope::Project, &[Place::Project(".vscode/mcp.json")]),
        ],
        format: Format::Json,
        servers: &["servers"],
        stdio: r#"{"type":"stdio","command":"$COMMAND","args":["mcp"]}"#,
        http: r#"{"type":"http","url":"$URL","headers":{"Authorization":"Bearer ${env:SINEW_TOKEN}"}}"#,
        hooks: None,
        skills: Skills::Folder(Place::Home(".copilot/skills")),
        imports: &[
            Place::Project(".github/skills"),
            Place::Project(".claude/skills"),
            Place::Project(".agents/skills"),
            Place::Home(".copilot/skills"),
            Place::Home(".agents/skills"),
        ],
        commands: &[],
        note: None,
    },
    Agent {
        id: "goose",
        title: "goose",
        aliases: &[],
        program: "goose",
        traces: &[Place::Config("goose")],
        configs: &[(Scope::User, &[Place::Config("goose/config.yaml")])],
        format: Format::Yaml,
        servers: &["extensions"],
        stdio: r#"{"type":"stdio","name":"sinew","cmd":"$COMMAND","args":["mcp"],"enabled":true,"timeout":300,"bundled":false,"envs":{},"env_keys":[]}"#,
        http: r#"{"type":"streamable_http","name":"sinew","uri":"$URL","enabled":true,"timeout":300,"bundled":false,"envs":{},"env_keys":["SINEW_TOKEN"],"headers":{"Authorization":"Bearer $SINEW_TOKEN"}}"#,
        hooks: None,
        skills: Skills::Folder(Place::Home(".agents/skills")),
        imports: &[
            Place::Home(".agents/skills"),
            Place::Project(".agents/skills"),
            Place::Project(".goose/skills"),
            Place::Project(".claude/skills"),
            Place::Claude("skills"),
        ],
        commands: &[],
        note: None,
    },
    Agent {
        id: "opencode",
        title: "opencode",
        aliases: &["open-code"],
        program: "opencode",
        traces: &[Place::Config("opencode")],
        configs: &[
            (
                Scope::User,
                &[
                    Place::Config("opencode/opencode.json"),
                    Place::Config("opencode/opencode.jsonc"),
                ],
            ),
            (Scope::Project, &[Place::Project("opencode.json"), Place::Project("opencode.jsonc")]),
        ],
        format: Format::Json,
        servers: &["mcp"],
        stdio: r#"{"type":"local","command":["$COMMAND","mcp"],"enabled":true}"#,
        http: r#"{"type":"remote","url":"$URL","enabled":true,"headers":{"Authorization":"Bearer {env:SINEW_TOKEN}"}}"#,
        hooks: None,
        skills: Skills::Folder(Place::Config("opencode/skills")),
        imports: &[
            Place::Project(".opencode/skills"),
            Place::Config("opencode/skills"),
            Place::Project(".claude/skills"),
            Place::Claude("skills"),
            Place::Project(".agents/skills"),
            Place::Home(".agents/skills"),
        ],
        commands: &[],
        note: None,
    },
];

const GEMINI: &[(Scope, &[Place])] = &[
    (Scope::User, &[Place::Home(".gemini/settings.json")]),
    (Scope::Project, &[Place::Project(".gemini/settings.json")]),
];

impl Agent {
    pub(super) fn find(name: &str) -> Option<&'static Self> {
        AGENTS.iter().find(|agent| agent.id == name || agent.aliases.contains(&name))
    }

    /// Whether it is on this machine.
    pub(super) fn is_here(&self, env: &Environment) -> bool {
        env.find_program(self.program).is_some()
            || self.traces.iter().any(|place| place.path(env, &env.cwd).exists())
    }
}

impl Place {
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
