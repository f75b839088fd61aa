//! The table of agents: one row each. What a field means stands with [`ConnectableAgent`].

use crate::agents::{
    AgentHooks, AgentLibrary, AgentPath, AgentPlugin, AgentSkillAccess, CommandHookForm,
    CommandHooks, ConnectScope, ConnectableAgent, ItemNeed, LibraryForm, PluginItem, ProgramName,
    ReadTools, ScopedPaths,
};
use crate::edit::ConfigFormat;
use crate::plugin_files;

const SESSION: Option<&str> = Some("startup|resume|clear|compact");
const ANY: Option<&str> = Some("*");
/// The tools by which agents give a task to a helper.
const DELEGATION: Option<&str> = Some("Task|Agent");
const SPAWN: Option<&str> = Some("spawn_agent");

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
        program_name: ProgramName::Short,
        http: r#"{"type":"http","url":"$URL","headers":{"Authorization":"Bearer ${SINEW_TOKEN}"}}"#,
        hooks: AgentHooks::Commands(CommandHooks {
            configs: CLAUDE_SETTINGS,
            events: &[
                ("SessionStart", SESSION),
                ("UserPromptSubmit", None),
                ("PreToolUse", DELEGATION),
                ("PostToolUse", ANY),
                ("PostToolUseFailure", ANY),
                ("Stop", None),
                ("SubagentStart", None),
                ("SubagentStop", None),
                ("SessionEnd", None),
            ],
            timeout: 5,
            form: CommandHookForm::Grouped,
        }),
        read_tools: Some(ReadTools {
            configs: CLAUDE_SETTINGS,
            at: &["permissions", "allow"],
            prefix: "mcp__sinew__",
        }),
        library: Some(AgentLibrary {
            configs: CLAUDE_SETTINGS,
            at: &["skillOverrides"],
            form: LibraryForm::FolderWords("user-invocable-only"),
        }),
        list_line: "- $NAME: $DESCRIPTION\n",
        profile: None,
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
        configs: CODEX,
        format: ConfigFormat::Toml,
        servers: &["mcp_servers"],
        stdio: r#"{"command":"$COMMAND","args":["mcp"],"startup_timeout_sec":10}"#,
        program_name: ProgramName::Short,
        http: r#"{"url":"$URL","bearer_token_env_var":"SINEW_TOKEN"}"#,
        hooks: AgentHooks::Commands(CommandHooks {
            configs: &[
                (ConnectScope::User, &[AgentPath::Codex("hooks.json")]),
                (ConnectScope::Project, &[AgentPath::Project(".codex/hooks.json")]),
            ],
            events: &[
                ("SessionStart", SESSION),
                ("UserPromptSubmit", None),
                ("PreToolUse", SPAWN),
                ("PostToolUse", None),
                ("Stop", None),
                ("SubagentStart", None),
            ],
            timeout: 5,
            form: CommandHookForm::Grouped,
        }),
        read_tools: None,
        library: Some(AgentLibrary {
            configs: CODEX,
            at: &["skills", "config"],
            form: LibraryForm::FileSwitches,
        }),
        list_line: "- $NAME: $DESCRIPTION (file: r0/$NAME/SKILL.md)\n",
        profile: None,
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
        stdio: r#"{"command":"$COMMAND","args":["mcp","--profile","openclaw"]}"#,
        program_name: ProgramName::Full,
        http: r#"{"url":"$URL","transport":"streamable-http","headers":{"Authorization":"Bearer ${SINEW_TOKEN}"}}"#,
        hooks: AgentHooks::Plugin(AgentPlugin {
            folders: &[(ConnectScope::User, AgentPath::Sinew("integrations/openclaw"))],
            files: plugin_files::OPENCLAW,
            entries: &[(
                &["plugins", "entries", "sinew"],
                r#"{"enabled":true,"hooks":{"allowConversationAccess":true},"config":{"program":"$COMMAND"}}"#,
            )],
            items: &[
                PluginItem {
                    at: &["plugins", "load", "paths"],
                    value: "$FOLDER",
                    need: ItemNeed::Always,
                },
                PluginItem {
                    at: &["plugins", "allow"],
                    value: "sinew",
                    need: ItemNeed::WhereListed,
                },
            ],
        }),
        read_tools: None,
        library: Some(AgentLibrary {
            configs: &[(ConnectScope::User, &[AgentPath::OpenClaw])],
            at: &["skills", "limits", "maxSkillsInPrompt"],
            form: LibraryForm::Limit,
        }),
        list_line: XML_LINE,
        profile: Some("openclaw"),
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
        program_name: ProgramName::Full,
        http: r#"{"url":"$URL","headers":{"Authorization":"Bearer ${env:SINEW_TOKEN}"}}"#,
        hooks: AgentHooks::Commands(CommandHooks {
            configs: &[
                (ConnectScope::User, &[AgentPath::Home(".cursor/hooks.json")]),
                (ConnectScope::Project, &[AgentPath::Project(".cursor/hooks.json")]),
            ],
            events: &[
                ("sessionStart", None),
                ("beforeSubmitPrompt", None),
                ("postToolUse", None),
                ("postToolUseFailure", None),
                ("stop", None),
                ("sessionEnd", None),
            ],
            timeout: 5,
            form: CommandHookForm::Flat,
        }),
        read_tools: None,
        library: None,
        list_line: XML_LINE,
        profile: None,
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
        program_name: ProgramName::Short,
        http: r#"{"httpUrl":"$URL","headers":{"Authorization":"Bearer $SINEW_TOKEN"},"timeout":30000}"#,
        hooks: AgentHooks::Commands(CommandHooks {
            configs: GEMINI,
            events: &[
                ("SessionStart", None),
                ("BeforeAgent", None),
                ("AfterTool", ANY),
                ("AfterAgent", None),
                ("SessionEnd", None),
                ("PreCompress", None),
            ],
            timeout: 5_000,
            form: CommandHookForm::GroupedWithNames,
        }),
        read_tools: None,
        library: Some(AgentLibrary {
            configs: GEMINI,
            at: &["skills", "disabled"],
            form: LibraryForm::Names,
        }),
        list_line: XML_LINE,
        profile: None,
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
        program_name: ProgramName::Full,
        http: r#"{"type":"http","url":"$URL","headers":{"Authorization":"Bearer ${env:SINEW_TOKEN}"}}"#,
        hooks: AgentHooks::None,
        read_tools: None,
        library: None,
        list_line: XML_LINE,
        profile: None,
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
        program_name: ProgramName::Full,
        http: r#"{"type":"streamable_http","name":"sinew","uri":"$URL","enabled":true,"timeout":300,"bundled":false,"envs":{},"env_keys":["SINEW_TOKEN"],"headers":{"Authorization":"Bearer $SINEW_TOKEN"}}"#,
        hooks: AgentHooks::None,
        read_tools: None,
        library: None,
        list_line: "- $NAME: $DESCRIPTION\n",
        profile: None,
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
        configs: OPENCODE,
        format: ConfigFormat::Json,
        servers: &["mcp"],
        stdio: r#"{"type":"local","command":["$COMMAND","mcp"],"enabled":true}"#,
        program_name: ProgramName::Short,
        http: r#"{"type":"remote","url":"$URL","enabled":true,"headers":{"Authorization":"Bearer {env:SINEW_TOKEN}"}}"#,
        hooks: AgentHooks::Plugin(AgentPlugin {
            folders: &[
                (ConnectScope::User, AgentPath::Config("opencode/plugins")),
                (ConnectScope::Project, AgentPath::Project(".opencode/plugins")),
            ],
            files: plugin_files::OPENCODE,
            entries: &[],
            items: &[],
        }),
        read_tools: None,
        library: Some(AgentLibrary {
            configs: OPENCODE,
            at: &["permission", "skill"],
            form: LibraryForm::Words("deny"),
        }),
        list_line: XML_LINE,
        profile: None,
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

/// How most agents list a skill.
const XML_LINE: &str = "  <skill>\n    <name>$NAME</name>\n    <description>$DESCRIPTION</description>\n    \
                        <location>$FILE</location>\n  </skill>\n";

const CLAUDE_SETTINGS: ScopedPaths = &[
    (ConnectScope::User, &[AgentPath::Claude("settings.json")]),
    (ConnectScope::Project, &[AgentPath::Project(".claude/settings.json")]),
];

const CODEX: ScopedPaths = &[
    (ConnectScope::User, &[AgentPath::Codex("config.toml")]),
    (ConnectScope::Project, &[AgentPath::Project(".codex/config.toml")]),
];

const OPENCODE: ScopedPaths = &[
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
];

const GEMINI: ScopedPaths = &[
    (ConnectScope::User, &[AgentPath::Home(".gemini/settings.json")]),
    (ConnectScope::Project, &[AgentPath::Project(".gemini/settings.json")]),
];
