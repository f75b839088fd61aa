//! Hosts that are known by their folders alone, and those that the configuration adds.
//!
//! A host is a row: where it keeps skills, how its presence shows, and the document that says so with
//! the day on which it was read. A host with rules of its own (precedence, plugins, switches) is a
//! profile in `profile.rs` instead.

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
    /// The document that says so.
    pub source: &'static str,
    /// The day on which that document was read.
    pub looked_up: &'static str,
}

/// The table that the `skills` program of skills.sh installs by, at one commit.
const SKILLS_CLI: &str = "https://github.com/vercel-labs/skills/blob/007a533297755fc506d18c15e5667b997e4387eb/src/agents.ts";

/// Every host that is known by its folders, by name.
pub const HOSTS: &[HostRow] = &[
    HostRow {
        id: "aider-desk",
        title: "AiderDesk",
        installed: "{home}/.aider-desk",
        personal: &["{home}/.aider-desk/skills"],
        project: &["{workspace}/.aider-desk/skills"],
        source: SKILLS_CLI,
        looked_up: "2026-11-18",
    },
    HostRow {
        id: "amp",
        title: "Amp",
        installed: "{config}/amp",
        personal: &["{config}/agents/skills"],
        project: &["{workspace}/.agents/skills"],
        source: SKILLS_CLI,
        looked_up: "2026-11-18",
    },
    HostRow {
        id: "antigravity",
        title: "Antigravity",
        installed: "{gemini}/antigravity",
        personal: &["{gemini}/antigravity/skills"],
        project: &["{workspace}/.agents/skills"],
        source: SKILLS_CLI,
        looked_up: "2026-11-18",
    },
    HostRow {
        id: "augment",
        title: "Augment",
        installed: "{home}/.augment",
        personal: &["{home}/.augment/skills"],
        project: &["{workspace}/.augment/skills"],
        source: SKILLS_CLI,
        looked_up: "2026-11-18",
    },
    HostRow {
        id: "autohand",
        title: "Autohand Code",
        installed: "{home}/.autohand",
        personal: &["{home}/.autohand/skills"],
        project: &["{workspace}/.autohand/skills"],
        source: SKILLS_CLI,
        looked_up: "2026-11-18",
    },
    HostRow {
        id: "cline",
        title: "Cline",
        installed: "{home}/.cline",
        personal: &["{home}/.agents/skills"],
        project: &["{workspace}/.agents/skills"],
        source: SKILLS_CLI,
        looked_up: "2026-11-18",
    },
    HostRow {
        id: "codebuddy",
        title: "CodeBuddy",
        installed: "{home}/.codebuddy",
        personal: &["{home}/.codebuddy/skills"],
        project: &["{workspace}/.codebuddy/skills"],
        source: SKILLS_CLI,
        looked_up: "2026-11-18",
    },
    HostRow {
        id: "command-code",
        title: "Command Code",
        installed: "{home}/.commandcode",
        personal: &["{home}/.commandcode/skills"],
        project: &["{workspace}/.commandcode/skills"],
        source: SKILLS_CLI,
        looked_up: "2026-11-18",
    },
    HostRow {
        id: "continue",
        title: "Continue",
        installed: "{home}/.continue",
        personal: &["{home}/.continue/skills"],
        project: &["{workspace}/.continue/skills"],
        source: SKILLS_CLI,
        looked_up: "2026-11-18",
    },
    HostRow {
        id: "copilot",
        title: "GitHub Copilot CLI",
        installed: "{home}/.copilot",
        personal: &["{home}/.copilot/skills"],
        project: &[
            "{workspace}/.github/skills",
            "{workspace}/.claude/skills",
            "{workspace}/.agents/skills",
        ],
        source: SKILLS_CLI,
        looked_up: "2026-11-18",
    },
    HostRow {
        id: "cortex-code",
        title: "Cortex Code",
        installed: "{home}/.snowflake/cortex",
        personal: &["{home}/.snowflake/cortex/skills"],
        project: &["{workspace}/.cortex/skills"],
        source: SKILLS_CLI,
        looked_up: "2026-11-18",
    },
    HostRow {
        id: "crush",
        title: "Crush",
        installed: "{home}/.config/crush",
        personal: &["{home}/.config/crush/skills"],
        project: &["{workspace}/.crush/skills"],
        source: SKILLS_CLI,
        looked_up: "2026-11-18",
    },
    HostRow {
        id: "devin",
        title: "Devin for Terminal",
        installed: "{config}/devin",
        personal: &["{config}/devin/skills"],
        project: &["{workspace}/.devin/skills"],
        source: SKILLS_CLI,
        looked_up: "2026-11-18",
    },
    HostRow {
        id: "droid",
        title: "Factory Droid",
        installed: "{home}/.factory",
        personal: &["{home}/.factory/skills", "{home}/.agents/skills"],
        project: &["{workspace}/.factory/skills", "{workspace}/.agents/skills"],
        source: SKILLS_CLI,
        looked_up: "2026-11-18",
    },
    HostRow {
        id: "forge",
        title: "ForgeCode",
        installed: "{home}/.forge",
        personal: &["{home}/.forge/skills"],
        project: &["{workspace}/.forge/skills"],
        source: SKILLS_CLI,
        looked_up: "2026-11-18",
    },
    HostRow {
        id: "grok",
        title: "Grok Build",
        installed: "{home}/.grok",
        personal: &["{home}/.grok/skills"],
        project: &["{workspace}/.grok/skills"],
        source: SKILLS_CLI,
        looked_up: "2026-11-18",
    },
    HostRow {
        id: "hermes",
        title: "Hermes Agent",
        installed: "{home}/.hermes",
        personal: &["{home}/.hermes/skills"],
        project: &["{workspace}/.hermes/skills"],
        source: SKILLS_CLI,
        looked_up: "2026-11-18",
    },
    HostRow {
        id: "iflow",
        title: "iFlow CLI",
        installed: "{home}/.iflow",
        personal: &["{home}/.iflow/skills"],
        project: &["{workspace}/.iflow/skills"],
        source: SKILLS_CLI,
        looked_up: "2026-11-18",
    },
    HostRow {
        id: "junie",
        title: "Junie",
        installed: "{home}/.junie",
        personal: &["{home}/.junie/skills"],
        project: &["{workspace}/.junie/skills"],
        source: SKILLS_CLI,
        looked_up: "2026-11-18",
    },
    HostRow {
        id: "kilo",
        title: "Kilo Code",
        installed: "{home}/.kilo",
        personal: &["{home}/.kilo/skills"],
        project: &["{workspace}/.agents/skills"],
        source: SKILLS_CLI,
        looked_up: "2026-11-18",
    },
    HostRow {
        id: "kimi",
        title: "Kimi Code CLI",
        installed: "{home}/.kimi",
        personal: &["{home}/.agents/skills"],
        project: &["{workspace}/.agents/skills"],
        source: SKILLS_CLI,
        looked_up: "2026-11-18",
    },
    HostRow {
        id: "kiro",
        title: "Kiro CLI",
        installed: "{home}/.kiro",
        personal: &["{home}/.kiro/skills"],
        project: &["{workspace}/.kiro/skills"],
        source: SKILLS_CLI,
        looked_up: "2026-11-18",
    },
    HostRow {
        id: "kode",
        title: "Kode",
        installed: "{home}/.kode",
        personal: &["{home}/.kode/skills"],
        project: &["{workspace}/.kode/skills"],
        source: SKILLS_CLI,
        looked_up: "2026-11-18",
    },
    HostRow {
        id: "mistral-vibe",
        title: "Mistral Vibe",
        installed: "{home}/.vibe",
        personal: &["{home}/.vibe/skills"],
        project: &["{workspace}/.vibe/skills"],
        source: SKILLS_CLI,
        looked_up: "2026-11-18",
    },
    HostRow {
        id: "mux",
        title: "Mux",
        installed: "{home}/.mux",
        personal: &["{home}/.mux/skills"],
        project: &["{workspace}/.mux/skills"],
        source: SKILLS_CLI,
        looked_up: "2026-11-18",
    },
    HostRow {
        id: "neovate",
        title: "Neovate",
        installed: "{home}/.neovate",
        personal: &["{home}/.neovate/skills"],
        project: &["{workspace}/.neovate/skills"],
        source: SKILLS_CLI,
        looked_up: "2026-11-18",
    },
    HostRow {
        id: "openhands",
        title: "OpenHands",
        installed: "{home}/.openhands",
        personal: &["{home}/.openhands/skills"],
        project: &["{workspace}/.openhands/skills"],
        source: SKILLS_CLI,
        looked_up: "2026-11-18",
    },
    HostRow {
        id: "pi",
        title: "pi",
        installed: "{home}/.pi/agent",
        personal: &["{home}/.pi/agent/skills"],
        project: &["{workspace}/.pi/skills"],
        source: SKILLS_CLI,
        looked_up: "2026-11-18",
    },
    HostRow {
        id: "qoder",
        title: "Qoder",
        installed: "{home}/.qoder",
        personal: &["{home}/.qoder/skills"],
        project: &["{workspace}/.qoder/skills"],
        source: SKILLS_CLI,
        looked_up: "2026-11-18",
    },
    HostRow {
        id: "qwen",
        title: "Qwen Code",
        installed: "{home}/.qwen",
        personal: &["{home}/.qwen/skills"],
        project: &["{workspace}/.qwen/skills"],
        source: SKILLS_CLI,
        looked_up: "2026-11-18",
    },
    HostRow {
        id: "roo",
        title: "Roo Code",
        installed: "{home}/.roo",
        personal: &["{home}/.roo/skills"],
        project: &["{workspace}/.roo/skills"],
        source: SKILLS_CLI,
        looked_up: "2026-11-18",
    },
    HostRow {
        id: "rovodev",
        title: "Rovo Dev",
        installed: "{home}/.rovodev",
        personal: &["{home}/.rovodev/skills"],
        project: &["{workspace}/.rovodev/skills"],
        source: SKILLS_CLI,
        looked_up: "2026-11-18",
    },
    HostRow {
        id: "tabnine",
        title: "Tabnine CLI",
        installed: "{home}/.tabnine",
        personal: &["{home}/.tabnine/agent/skills"],
        project: &["{workspace}/.tabnine/agent/skills"],
        source: SKILLS_CLI,
        looked_up: "2026-11-18",
    },
    HostRow {
        id: "trae",
        title: "Trae",
        installed: "{home}/.trae",
        personal: &["{home}/.trae/skills"],
        project: &["{workspace}/.trae/skills"],
        source: SKILLS_CLI,
        looked_up: "2026-11-18",
    },
    HostRow {
        id: "warp",
        title: "Warp",
        installed: "{home}/.warp",
        personal: &["{home}/.agents/skills"],
        project: &["{workspace}/.agents/skills"],
        source: SKILLS_CLI,
        looked_up: "2026-11-18",
    },
    HostRow {
        id: "windsurf",
        title: "Windsurf",
        installed: "{home}/.codeium/windsurf",
        personal: &["{home}/.codeium/windsurf/skills"],
        project: &["{workspace}/.windsurf/skills"],
        source: SKILLS_CLI,
        looked_up: "2026-11-18",
    },
    HostRow {
        id: "zed",
        title: "Zed",
        installed: "{config}/zed",
        personal: &["{home}/.agents/skills"],
        project: &["{workspace}/.agents/skills"],
        source: SKILLS_CLI,
        looked_up: "2026-11-18",
    },
    HostRow {
        id: "zencoder",
        title: "Zencoder",
        installed: "{home}/.zencoder",
        personal: &["{home}/.zencoder/skills"],
        project: &["{workspace}/.zencoder/skills"],
        source: SKILLS_CLI,
        looked_up: "2026-11-18",
    },
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
