//! Hosts that are known by their folders alone, and those that the configuration adds.
//!
//! A host is a row: where it keeps skills, how its presence shows, and the document that says so with
//! the day on which it was read; where such a document was read, also the file of its MCP servers. A host
//! with rules of its own (precedence, plugins, switches) is a profile in `profile.rs` instead.

use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use sinew_settings::config::HostSettings;

use crate::profile::{
    LinkPolicy, PROFILES, Profile, RootLocation, RootTemplate, Tier, plain_profile,
};

/// A host that is known by its folders.
#[derive(Debug, Clone, Copy)]
pub struct HostRow {
    /// Its name on the command line.
    pub id: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// The folder that shows that it is installed.
    pub installed: &'static str,
    /// Folders of the user.
    pub personal: &'static [&'static str],
    /// Folders of a project.
    pub project: &'static [&'static str],
    /// Where the user's MCP servers are written, if a document that was read says so.
    pub mcp: Option<McpServersFile>,
    /// The document that says so.
    pub source: &'static str,
    /// The day on which that document was read.
    pub looked_up: &'static str,
}

/// A file with MCP servers by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct McpServersFile {
    /// Its path.
    pub file: &'static str,
    /// The key below which they are.
    pub key: &'static str,
    /// The document that says so.
    pub source: &'static str,
    /// The day on which that document was read.
    pub looked_up: &'static str,
}

impl HostRow {
    /// The row with the file of its MCP servers.
    const fn mcp(mut self, file: &'static str, key: &'static str, source: &'static str) -> Self {
        self.mcp = Some(McpServersFile { file, key, source, looked_up: LATER });
        self
    }

    /// The row as the host's own document has it.
    const fn says(mut self, source: &'static str) -> Self {
        self.source = source;
        self.looked_up = LATER;
        self
    }
}

/// The table that the `skills` program of skills.sh installs by, at one commit.
const SKILLS_CLI: &str = "https://github.com/vercel-labs/skills/blob/007a533297755fc506d18c15e5667b997e4387eb/src/agents.ts";

/// The day on which that table was read.
const LOOKED_UP: &str = "2026-11-18";

/// The table that the `add-mcp` program writes servers by, at one commit.
const ADD_MCP: &str = "https://github.com/neondatabase/add-mcp/blob/0ad511e4ae44bd2208a1aa4c07fda366f041d1b9/src/agents.ts";

/// The day on which what a row names instead was read.
const LATER: &str = "2026-11-19";

/// The key below which most hosts have their servers.
const MCP_SERVERS: &str = "mcpServers";

const fn host(
    id: &'static str,
    title: &'static str,
    installed: &'static str,
    personal: &'static [&'static str],
    project: &'static [&'static str],
) -> HostRow {
    let (source, looked_up) = (SKILLS_CLI, LOOKED_UP);
    HostRow { id, title, installed, personal, project, mcp: None, source, looked_up }
}

/// Every host that is known by its folders, by name.
pub const HOSTS: &[HostRow] = &[
    host(
        "aider-desk",
        "AiderDesk",
        "{home}/.aider-desk",
        &["{home}/.aider-desk/skills"],
        &["{workspace}/.aider-desk/skills"],
    ),
    host(
        "amp",
        "Amp",
        "{config}/amp",
        &["{config}/agents/skills"],
        &["{workspace}/.agents/skills"],
    ),
    host(
        "antigravity",
        "Antigravity",
        "{gemini}/antigravity",
        &["{gemini}/antigravity/skills"],
        &["{workspace}/.agents/skills"],
    )
    .mcp("{gemini}/antigravity/mcp_config.json", MCP_SERVERS, ADD_MCP),
    host(
        "augment",
        "Augment",
        "{home}/.augment",
        &["{home}/.augment/skills"],
        &["{workspace}/.augment/skills"],
    ),
    host(
        "autohand",
        "Autohand Code",
        "{home}/.autohand",
        &["{home}/.autohand/skills"],
        &["{workspace}/.autohand/skills"],
    ),
    host(
        "cline",
        "Cline",
        "{home}/.cline",
        &["{home}/.agents/skills"],
        &["{workspace}/.agents/skills"],
    )
    .mcp("{home}/.cline/data/settings/cline_mcp_settings.json", MCP_SERVERS, ADD_MCP),
    host(
        "codebuddy",
        "CodeBuddy",
        "{home}/.codebuddy",
        &["{home}/.codebuddy/skills"],
        &["{workspace}/.codebuddy/skills"],
    ),
    host(
        "command-code",
        "Command Code",
        "{home}/.commandcode",
        &["{home}/.commandcode/skills"],
        &["{workspace}/.commandcode/skills"],
    ),
    host(
        "continue",
        "Continue",
        "{home}/.continue",
        &["{home}/.continue/skills"],
        &["{workspace}/.continue/skills"],
    ),
    host(
        "cortex-code",
        "Cortex Code",
        "{home}/.snowflake/cortex",
        &["{home}/.snowflake/cortex/skills"],
        &["{workspace}/.cortex/skills"],
    ),
    host(
        "crush",
        "Crush",
        "{home}/.config/crush",
        &["{home}/.config/crush/skills"],
        &["{workspace}/.crush/skills"],
    ),
    host(
        "devin",
        "Devin for Terminal",
        "{config}/devin",
        &["{config}/devin/skills"],
        &["{workspace}/.devin/skills"],
    ),
    host(
        "droid",
        "Factory Droid",
        "{home}/.factory",
        &["{home}/.factory/skills", "{home}/.agents/skills"],
        &["{workspace}/.factory/skills", "{workspace}/.agents/skills"],
    ),
    host(
        "forge",
        "ForgeCode",
        "{home}/.forge",
        &["{home}/.forge/skills"],
        &["{workspace}/.forge/skills"],
    ),
    host(
        "grok",
        "Grok Build",
        "{home}/.grok",
        &["{home}/.grok/skills"],
        &["{workspace}/.grok/skills"],
    ),
    host(
        "hermes",
        "Hermes Agent",
        "{home}/.hermes",
        &["{home}/.hermes/skills"],
        &["{workspace}/.hermes/skills"],
    ),
    host(
        "iflow",
        "iFlow CLI",
        "{home}/.iflow",
        &["{home}/.iflow/skills"],
        &["{workspace}/.iflow/skills"],
    ),
    host(
        "junie",
        "Junie",
        "{home}/.junie",
        &["{home}/.junie/skills"],
        &["{workspace}/.junie/skills"],
    ),
    host(
        "kilo",
        "Kilo Code",
        "{home}/.kilo",
        &["{home}/.kilo/skills"],
        &["{workspace}/.agents/skills"],
    ),
    host(
        "kimi",
        "Kimi Code CLI",
        "{home}/.kimi",
        &["{home}/.agents/skills"],
        &["{workspace}/.agents/skills"],
    ),
    host(
        "kiro",
        "Kiro CLI",
        "{home}/.kiro",
        &["{home}/.kiro/skills"],
        &["{workspace}/.kiro/skills"],
    )
    .mcp(
        "{home}/.kiro/settings/mcp.json",
        MCP_SERVERS,
        "https://kiro.dev/docs/mcp/configuration",
    ),
    host("kode", "Kode", "{home}/.kode", &["{home}/.kode/skills"], &["{workspace}/.kode/skills"]),
    host(
        "letta",
        "Letta Code",
        "{home}/.letta",
        &["{home}/.letta/skills"],
        &["{workspace}/.skills", "{workspace}/.agents/skills"],
    )
    .says("https://docs.letta.com/configuration/skills"),
    host(
        "mistral-vibe",
        "Mistral Vibe",
        "{home}/.vibe",
        &["{home}/.vibe/skills"],
        &["{workspace}/.vibe/skills"],
    ),
    host("mux", "Mux", "{home}/.mux", &["{home}/.mux/skills"], &["{workspace}/.mux/skills"]),
    host(
        "neovate",
        "Neovate",
        "{home}/.neovate",
        &["{home}/.neovate/skills"],
        &["{workspace}/.neovate/skills"],
    ),
    host(
        "openhands",
        "OpenHands",
        "{home}/.openhands",
        &["{home}/.openhands/skills"],
        &["{workspace}/.openhands/skills"],
    ),
    host("pi", "pi", "{home}/.pi/agent", &["{home}/.pi/agent/skills"], &["{workspace}/.pi/skills"]),
    host(
        "qoder",
        "Qoder",
        "{home}/.qoder",
        &["{home}/.qoder/skills"],
        &["{workspace}/.qoder/skills"],
    ),
    host(
        "qwen",
        "Qwen Code",
        "{home}/.qwen",
        &["{home}/.qwen/skills"],
        &["{workspace}/.qwen/skills"],
    )
    .mcp(
        "{home}/.qwen/settings.json",
        MCP_SERVERS,
        "https://qwenlm.github.io/qwen-code-docs/en/users/features/mcp/",
    ),
    host("roo", "Roo Code", "{home}/.roo", &["{home}/.roo/skills"], &["{workspace}/.roo/skills"]),
    host(
        "rovodev",
        "Rovo Dev",
        "{home}/.rovodev",
        &["{home}/.rovodev/skills"],
        &["{workspace}/.rovodev/skills"],
    ),
    host(
        "tabnine",
        "Tabnine CLI",
        "{home}/.tabnine",
        &["{home}/.tabnine/agent/skills"],
        &["{workspace}/.tabnine/agent/skills"],
    ),
    host("trae", "Trae", "{home}/.trae", &["{home}/.trae/skills"], &["{workspace}/.trae/skills"]),
    host(
        "vscode",
        "VS Code",
        "{config}/Code",
        &["{home}/.claude/skills", "{home}/.agents/skills", "{home}/.copilot/skills"],
        &["{workspace}/.claude/skills", "{workspace}/.agents/skills", "{workspace}/.github/skills"],
    )
    .mcp("{config}/Code/User/mcp.json", "servers", ADD_MCP)
    .says("https://code.visualstudio.com/docs/agent-customization/agent-skills"),
    host(
        "warp",
        "Warp",
        "{home}/.warp",
        &["{home}/.agents/skills"],
        &["{workspace}/.agents/skills"],
    ),
    host(
        "windsurf",
        "Windsurf",
        "{home}/.codeium/windsurf",
        &["{home}/.codeium/windsurf/skills"],
        &["{workspace}/.windsurf/skills"],
    )
    .mcp(
        "{home}/.codeium/windsurf/mcp_config.json",
        MCP_SERVERS,
        "https://github.com/newtalaria/docs/blob/main/agents/mcp/windsurf.md",
    ),
    host("zed", "Zed", "{config}/zed", &["{home}/.agents/skills"], &["{workspace}/.agents/skills"])
        .mcp("{config}/zed/settings.json", "context_servers", ADD_MCP),
    host(
        "zencoder",
        "Zencoder",
        "{home}/.zencoder",
        &["{home}/.zencoder/skills"],
        &["{workspace}/.zencoder/skills"],
    ),
];

/// The profiles of [`HOSTS`], made once.
static HOST_PROFILES: LazyLock<Vec<Profile>> = LazyLock::new(|| {
    HOSTS.iter().map(|host| profile_of(host.id, host.title, host.personal, host.project)).collect()
});

/// The profiles that configurations added to this process. A profile lives as long as the program, and
/// a configuration that is read again finds the one it had.
static CONFIGURED: Mutex<BTreeMap<String, &'static Profile>> = Mutex::new(BTreeMap::new());

/// Every profile there is, the default first.
pub fn all_profiles() -> impl Iterator<Item = &'static Profile> {
    PROFILES.iter().chain(HOST_PROFILES.iter())
}

/// The rows of the hosts in [`HOSTS`] that sinew's own profile reads beside its own: what other rows
/// read already is left out.
pub(crate) static OTHER_HOST_ROOTS: LazyLock<Vec<RootTemplate>> = LazyLock::new(|| {
    let shared = ["/.agents/skills", "/.claude/skills", "/.github/skills", "/.copilot/skills"];
    let rows = HOST_PROFILES.iter().flat_map(|profile| profile.roots);
    rows.filter(|row| match row.place {
        RootLocation::Path(path) => !shared.iter().any(|known| path.ends_with(known)),
        _ => false,
    })
    .map(|row| RootTemplate { tier: Tier::Extra, ..*row })
    .collect()
});

fn profile_of(id: &str, title: &'static str, personal: &[&str], project: &[&str]) -> Profile {
    let kept = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
    let row = |path: &&str, tier: Tier, kind: &str, links: LinkPolicy| RootTemplate {
        tier,
        place: RootLocation::Path(kept((*path).to_owned())),
        source: kept(format!("{id}-{kind}")),
        links,
        depth: None,
    };
    let own = personal.iter().map(|path| row(path, Tier::Personal, "personal", LinkPolicy::Free));
    let shared = project.iter().map(|path| row(path, Tier::Project, "project", LinkPolicy::Listed));
    let roots: Vec<RootTemplate> = own.chain(shared).collect();
    plain_profile(kept(id.to_owned()), title, Box::leak(roots.into_boxed_slice()))
}

/// The profile of a host that the configuration describes.
pub fn configured_profile(id: &str, host: &HostSettings) -> &'static Profile {
    let key = format!("{id} {host:?}");
    let mut known = CONFIGURED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(profile) = known.get(&key) {
        return profile;
    }
    let title: &'static str = match &host.title {
        Some(title) => Box::leak(title.clone().into_boxed_str()),
        None => Box::leak(id.to_owned().into_boxed_str()),
    };
    let folder = |path: &String| match path.strip_prefix("~/") {
        Some(rest) => format!("{{home}}/{rest}"),
        None => path.clone(),
    };
    let personal: Vec<String> = host.personal.iter().map(folder).collect();
    let project: Vec<String> = host
        .project
        .iter()
        .map(|path| format!("{{workspace}}/{}", path.trim_start_matches('/')))
        .collect();
    let words = |paths: &[String]| -> Vec<&'static str> {
        paths.iter().map(|path| &*Box::leak(path.clone().into_boxed_str())).collect()
    };
    let made = profile_of(id, title, &words(&personal), &words(&project));
    let profile: &'static Profile = Box::leak(Box::new(made));
    known.insert(key, profile);
    profile
}
