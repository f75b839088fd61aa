//! How each agent is started against a model on loopback, as data: what it is lent of the user's
//! files, and what it is told by options and variables.
//!
//! In every text, `$FOLDER` stands for the folder of the trial, `$ADDRESS` for the model and
//! `$MESSAGE` for the message.

use crate::agents::AgentPath;
use crate::edit::ConfigFormat;

/// How an agent is tried.
#[derive(Debug)]
pub(super) struct TrialRecipe {
    pub(super) agent: &'static str,
    pub(super) args: &'static [&'static str],
    pub(super) vars: &'static [(&'static str, &'static str)],
    /// Variables that would lead it to another model or account.
    pub(super) without: &'static [&'static str],
    /// Files of the user, and the name of their copies below the trial's folder. Credentials are
    /// never among them.
    pub(super) copies: &'static [(AgentPath, &'static str)],
    /// Folders that it only reads.
    pub(super) links: &'static [(AgentPath, &'static str)],
    /// What is changed in the copies.
    pub(super) edits: &'static [CopyEdit],
    /// Paths of the user that the copies name, and what stands there instead: what was trusted under
    /// the one path is then trusted under the other.
    pub(super) moved: &'static [(AgentPath, &'static str)],
}

/// A change of a copy.
#[derive(Debug)]
pub(super) struct CopyEdit {
    pub(super) file: &'static str,
    pub(super) format: ConfigFormat,
    pub(super) at: &'static [&'static str],
    /// JSON; `None` removes the entry.
    pub(super) value: Option<&'static str>,
    /// Another entry, without which this one is left alone.
    pub(super) beside: Option<&'static [&'static str]>,
}

const fn without(file: &'static str, at: &'static [&'static str]) -> CopyEdit {
    CopyEdit { file, format: ConfigFormat::Json, at, value: None, beside: None }
}

const fn openclaw(at: &'static [&'static str], value: Option<&'static str>) -> CopyEdit {
    CopyEdit { file: "agent/openclaw.json", format: ConfigFormat::Json5, at, value, beside: None }
}

const OPENCLAW_MODEL: &str = r#"{"sinew":{"baseUrl":"$ADDRESS","apiKey":"none","api":"anthropic-messages","models":[{"id":"loopback","name":"loopback","reasoning":false,"input":["text"],"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0},"contextWindow":200000,"maxTokens":8000}]}}"#;

const OPENCODE_MODEL: &str = r#"{"model":"sinew/loopback","small_model":"sinew/loopback","autoupdate":false,"share":"disabled","provider":{"sinew":{"npm":"@ai-sdk/openai-compatible","name":"loopback","options":{"baseURL":"$ADDRESS/v1","apiKey":"none"},"models":{"loopback":{"name":"loopback","limit":{"context":200000,"output":8000}}}}}}"#;

/// Every agent that can be tried.
pub(super) const RECIPES: &[TrialRecipe] = &[
    TrialRecipe {
        agent: "claude-code",
        args: &[
            "-p",
            "$MESSAGE",
            // Variables of a project's own settings would count more than those of the process.
            "--settings",
            r#"{"env":{"ANTHROPIC_BASE_URL":"$ADDRESS","ANTHROPIC_API_KEY":"none"}}"#,
        ],
        vars: &[
            ("CLAUDE_CONFIG_DIR", "$FOLDER/agent"),
            ("ANTHROPIC_BASE_URL", "$ADDRESS"),
            ("ANTHROPIC_API_KEY", "none"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("DISABLE_TELEMETRY", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
            ("DISABLE_ERROR_REPORTING", "1"),
        ],
        without: &[
            "ANTHROPIC_AUTH_TOKEN",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "CLAUDE_CODE_USE_BEDROCK",
            "CLAUDE_CODE_USE_VERTEX",
            "CLAUDE_CODE_USE_FOUNDRY",
            "CLAUDECODE",
            "CLAUDE_CODE_ENTRYPOINT",
        ],
        copies: &[
            (AgentPath::ClaudeState, "agent/.claude.json"),
            (AgentPath::Claude("settings.json"), "agent/settings.json"),
            (AgentPath::Claude("CLAUDE.md"), "agent/CLAUDE.md"),
        ],
        links: &[
            (AgentPath::Claude("skills"), "agent/skills"),
            (AgentPath::Claude("commands"), "agent/commands"),
            (AgentPath::Claude("agents"), "agent/agents"),
            (AgentPath::Claude("plugins"), "agent/plugins"),
            (AgentPath::Claude("hooks"), "agent/hooks"),
        ],
        edits: &[
            without("agent/settings.json", &["apiKeyHelper"]),
            without("agent/settings.json", &["awsAuthRefresh"]),
            without("agent/settings.json", &["awsCredentialExport"]),
        ],
        moved: &[],
    },
    TrialRecipe {
        agent: "codex",
        args: &[
            "exec",
            "--skip-git-repo-check",
            "--sandbox",
            "read-only",
            "-c",
            r#"model="gpt-5""#,
            "-c",
            r#"model_provider="sinew""#,
            "-c",
            r#"model_providers.sinew={name="loopback",base_url="$ADDRESS/v1",wire_api="responses",env_key="SINEW_LOOPBACK_KEY"}"#,
            // Codex gives a server one second and then asks its model without the tools. What is tried is
            // whether they arrive, on a busy machine too; how long the server takes to start has its own row.
            "-c",
            "mcp_optional_startup_grace_ms=0",
            "$MESSAGE",
        ],
        vars: &[("CODEX_HOME", "$FOLDER/agent"), ("SINEW_LOOPBACK_KEY", "none")],
        without: &["OPENAI_BASE_URL", "OPENAI_API_KEY", "CODEX_API_KEY"],
        copies: &[
            (AgentPath::Codex("config.toml"), "agent/config.toml"),
            (AgentPath::Codex("hooks.json"), "agent/hooks.json"),
            (AgentPath::Codex("AGENTS.md"), "agent/AGENTS.md"),
        ],
        links: &[
            (AgentPath::Codex("skills"), "agent/skills"),
            (AgentPath::Codex("prompts"), "agent/prompts"),
            (AgentPath::Codex("rules"), "agent/rules"),
        ],
        // Codex hands a server only the variables that its entry names.
        edits: &[CopyEdit {
            file: "agent/config.toml",
            format: ConfigFormat::Toml,
            at: &["mcp_servers", "sinew", "env"],
            value: Some(r#"{"SINEW_TRIAL":"$FOLDER"}"#),
            beside: Some(&["mcp_servers", "sinew", "command"]),
        }],
        // Codex keeps which hooks it may run by the path of their file.
        moved: &[(AgentPath::Codex("hooks.json"), "agent/hooks.json")],
    },
    TrialRecipe {
        agent: "gemini",
        // Without a person it hides tools that it would ask about. The script decides what is called.
        args: &["--approval-mode", "yolo", "-p", "$MESSAGE"],
        vars: &[
            ("GEMINI_CLI_HOME", "$FOLDER/agent"),
            ("GOOGLE_GEMINI_BASE_URL", "$ADDRESS"),
            ("GEMINI_API_KEY", "none"),
            ("GEMINI_TELEMETRY_ENABLED", "false"),
            // Without a person it does not start in a folder that is not trusted yet.
            ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
        ],
        without: &[
            "GOOGLE_API_KEY",
            "GOOGLE_GENAI_USE_VERTEXAI",
            "GOOGLE_GENAI_USE_GCA",
            "GOOGLE_CLOUD_PROJECT",
            "CLOUD_SHELL",
            "GEMINI_CLI_IDE_SERVER_PORT",
        ],
        copies: &[
            (AgentPath::Home(".gemini/settings.json"), "agent/.gemini/settings.json"),
            (AgentPath::Home(".gemini/GEMINI.md"), "agent/.gemini/GEMINI.md"),
            (AgentPath::Home(".gemini/trustedFolders.json"), "agent/.gemini/trustedFolders.json"),
        ],
        links: &[
            (AgentPath::Home(".gemini/skills"), "agent/.gemini/skills"),
            (AgentPath::Home(".gemini/commands"), "agent/.gemini/commands"),
            (AgentPath::Home(".gemini/extensions"), "agent/.gemini/extensions"),
        ],
        edits: &[CopyEdit {
            file: "agent/.gemini/settings.json",
            format: ConfigFormat::Json,
            at: &["security", "auth", "selectedType"],
            value: Some(r#""gemini-api-key""#),
            beside: None,
        }],
        moved: &[],
    },
    TrialRecipe {
        agent: "goose",
        args: &["run", "--no-session", "--text", "$MESSAGE"],
        vars: &[
            ("XDG_CONFIG_HOME", "$FOLDER/agent/config"),
            ("XDG_DATA_HOME", "$FOLDER/agent/data"),
            ("GOOSE_PROVIDER", "openai"),
            ("GOOSE_MODEL", "gpt-4o"),
            ("OPENAI_HOST", "$ADDRESS"),
            ("OPENAI_API_KEY", "none"),
            // Otherwise it looks for keys in the user's own ring.
            ("GOOSE_DISABLE_KEYRING", "1"),
            ("GOOSE_TELEMETRY_ENABLED", "false"),
            // Without a person it asks no question before a tool is called. The script decides which.
            ("GOOSE_MODE", "auto"),
        ],
        without: &["OPENAI_BASE_URL", "OPENAI_BASE_PATH", "GOOSE_PLANNER_PROVIDER"],
        copies: &[
            (AgentPath::Config("goose/config.yaml"), "agent/config/goose/config.yaml"),
            (AgentPath::Config("goose/.goosehints"), "agent/config/goose/.goosehints"),
        ],
        links: &[],
        edits: &[],
        moved: &[],
    },
    TrialRecipe {
        agent: "openclaw",
        args: &["agent", "--local", "--session-id", "sinew-trial", "--message", "$MESSAGE"],
        vars: &[
            ("OPENCLAW_CONFIG_PATH", "$FOLDER/agent/openclaw.json"),
            ("OPENCLAW_STATE_DIR", "$FOLDER/agent"),
            ("OPENCLAW_NO_AUTO_UPDATE", "1"),
        ],
        without: &["OPENCLAW_GATEWAY_URL", "OPENCLAW_GATEWAY_TOKEN", "OPENCLAW_GATEWAY_PASSWORD"],
        copies: &[(AgentPath::OpenClaw, "agent/openclaw.json")],
        links: &[
            (AgentPath::OpenClawState("workspace"), "agent/workspace"),
            (AgentPath::OpenClawState("skills"), "agent/skills"),
            (AgentPath::OpenClawState("extensions"), "agent/extensions"),
        ],
        edits: &[
            // Other models come with keys, and channels with tokens: neither is lent.
            openclaw(&["models", "providers"], Some(OPENCLAW_MODEL)),
            openclaw(&["agents", "defaults", "model"], Some(r#"{"primary":"sinew/loopback"}"#)),
            openclaw(&["agents", "defaults", "models"], None),
            // Files that the workspace does not have are not made there.
            openclaw(&["agents", "defaults", "skipBootstrap"], Some("true")),
            openclaw(&["auth"], None),
            openclaw(&["channels"], None),
            openclaw(&["gateway"], None),
        ],
        moved: &[],
    },
    TrialRecipe {
        agent: "opencode",
        args: &["run", "--model", "sinew/loopback", "$MESSAGE"],
        vars: &[
            ("XDG_CONFIG_HOME", "$FOLDER/agent/config"),
            ("XDG_DATA_HOME", "$FOLDER/agent/data"),
            ("OPENCODE_CONFIG_CONTENT", OPENCODE_MODEL),
            ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
            ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
            ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
        ],
        without: &["OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR"],
        copies: &[
            (AgentPath::Config("opencode/opencode.json"), "agent/config/opencode/opencode.json"),
            (AgentPath::Config("opencode/opencode.jsonc"), "agent/config/opencode/opencode.jsonc"),
            (AgentPath::Config("opencode/AGENTS.md"), "agent/config/opencode/AGENTS.md"),
        ],
        links: &[
            (AgentPath::Config("opencode/skills"), "agent/config/opencode/skills"),
            (AgentPath::Config("opencode/plugins"), "agent/config/opencode/plugins"),
            (AgentPath::Config("opencode/plugin"), "agent/config/opencode/plugin"),
            (AgentPath::Config("opencode/commands"), "agent/config/opencode/commands"),
            (AgentPath::Config("opencode/agents"), "agent/config/opencode/agents"),
        ],
        edits: &[],
        moved: &[],
    },
];
