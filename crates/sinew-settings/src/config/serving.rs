//! `hook`, `mcp`, `serve` and `metrics`: how agents and other programs are answered.

use super::section::{choices, section};

section! {
    /// `hook`: what agents are told in passing.
    #[derive(Copy)]
    pub struct HookSection at "hook" {
        /// The longest text a hook adds to a message.
        "maxChars" => max_chars: usize = 6_000, in 500 to 9_500;
        // Agents replace longer additions by a preview.
        /// The longest text with which a hook brings a skill along, its frame included. Of a longer
        /// skill the beginning comes, with a table of contents.
        "maxBody" => max_body: usize = 9_500, in 1_000 to 9_500;
        /// What a hook brings of a skill that fits a message.
        "bring" => bring: BringMode = BringMode::Body;
        /// Whether files that tools have touched make skills with `paths` candidates for the next message.
        "files" => files: bool = true;
        /// How long a message or the end of a turn waits for a hook, a tool a third of it.
        "deadlineMs" => deadline_ms: u32 = 300, in 50 to 10_000;
    }
}

choices! {
    /// What comes along with a message.
    #[derive(Default)]
    pub enum BringMode {
        /// The skill's text.
        #[default]
        Body = "body",
        /// Its name, what it is for, and where it lies.
        Pointer = "pointer",
        /// Nothing.
        Off = "off",
    }
}

section! {
    /// `mcp`: how the MCP server meets its clients.
    pub struct McpSection at "mcp" {
        /// Whether HTTP clients on this machine need the token; others always do.
        "requireToken" or "require_token" => require_token: bool = true;
        /// What skill addresses begin with.
        "skillPrefix" or "skill_prefix" => skill_prefix: SkillPrefix = SkillPrefix::None;
        /// Which skills are prompts, which hosts show as commands.
        "prompts" => prompts: SkillPromptMode = SkillPromptMode::Auto;
    }
}

choices! {
    /// What the addresses of skills begin with.
    #[derive(Default)]
    pub enum SkillPrefix {
        /// Their name.
        #[default]
        None = "none",
        /// Their tier.
        Tier = "tier",
    }
}

choices! {
    /// Which skills are prompts over MCP.
    #[derive(Default)]
    pub enum SkillPromptMode {
        /// Those that the host does not list by itself.
        #[default]
        Auto = "auto",
        /// All that people may call.
        All = "all",
        /// None; only sinew's own two.
        None = "none",
    }
}

section! {
    /// `serve`: where the server listens.
    pub struct ServeSection at "serve" {
        /// Where `serve` listens.
        "listen" => listen: String = "127.0.0.1:7411".to_owned();
        /// The origin by which others know the server, where a proxy stands in front.
        "publicUrl" => public_url: Option<String> = None;
        // A page with its parts and an agent at work stay far below the default.
        /// Requests one client may send in a second, where others than this machine can reach the
        /// server; 0 for any number.
        "ratePerSecond" => rate_per_second: u32 = 50;
        /// An address of the registry's own; below the others' address where absent.
        "registryListen" => registry_listen: Option<String> = None;
        /// The origin by which others know that address, where a proxy stands in front.
        "registryUrl" => registry_url: Option<String> = None;
    }
}

section! {
    /// `metrics`: who may read counters.
    pub struct MetricsSection at "metrics" {
        /// Whether `/metrics` can be read without the token.
        "public" => public: bool = false;
    }
}
