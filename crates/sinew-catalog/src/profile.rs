//! Profiles: which folders an agent reads its skills from, and which copy wins.
//!
//! A profile is data. Supporting another agent means another row here, never another branch
//! elsewhere.

use sinew_skill::SkillDialect;

/// The rank of a source, lowest first. Where two skills share a name, the higher tier wins.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    serde::Serialize,
    borsh::BorshDeserialize,
    borsh::BorshSerialize,
)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum Tier {
    /// Folders the user or a plugin added, and other agents' folders.
    #[default]
    Extra,
    /// Skills that came with the program.
    Bundled,
    /// Skills grown by OpenClaw's workshop.
    Grown,
    /// Skills that were installed.
    Managed,
    /// The user's own, for every project.
    Personal,
    /// The project's own, shared between agents.
    Project,
    /// The workspace's own.
    Workspace,
}

impl Tier {
    /// Whether the user put the skill there, rather than a vendor.
    pub fn is_own(self) -> bool {
        !matches!(self, Self::Extra | Self::Bundled)
    }

    /// The name that users see.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Extra => "extra",
            Self::Bundled => "bundled",
            Self::Grown => "grown",
            Self::Managed => "managed",
            Self::Personal => "personal",
            Self::Project => "project",
            Self::Workspace => "workspace",
        }
    }
}

/// Where links inside a root may point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkPolicy {
    /// Anywhere: only the user writes here.
    Free,
    /// Into the root, or to a listed target: projects come from untrusted authors.
    Listed,
    /// Only into the root.
    Inside,
    /// Nowhere: neither folders nor files may be links.
    None,
}

/// Where a root is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RootLocation {
    /// A path with `{home}`, `{workspace}`, `{state}`, `{sinew}`, `{openpocket}`, `{claude}` or
    /// `{codex}` in it.
    Path(&'static str),
    /// Each of `skills.load.extraDirs`.
    ExtraDirs,
    /// The skill folders of plugins.
    Plugins,
    /// The folders of [`AGENT_ROOTS`] that exist.
    OtherAgents,
    /// The bundled skills, wherever they are.
    Bundled,
}

/// One row of a profile.
#[derive(Debug, Clone, Copy)]
pub struct RootTemplate {
    /// Its rank.
    pub tier: Tier,
    /// Where it is.
    pub place: RootLocation,
    /// The source's name in every record.
    pub source: &'static str,
    /// Where its links may point.
    pub links: LinkPolicy,
}

/// Which of two skills of the same name is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeWinner {
    /// The one from the later row.
    Later,
    /// The one from the earlier row.
    Earlier,
}

/// How an agent finds its skills.
#[derive(Debug, Clone, Copy)]
pub struct Profile {
    /// The name on the command line.
    pub name: &'static str,
    /// The agent that works this way.
    pub title: &'static str,
    /// How files are read.
    pub dialect: SkillDialect,
    /// Which copy wins.
    pub winner: MergeWinner,
    /// Skill folders considered per root.
    pub max_candidates: usize,
    /// Skills loaded per root.
    pub max_loaded: usize,
    /// Whether `~/.agents/skills` is left out when OpenClaw's state folder was moved, and
    /// `skills.load.personal` decides about it.
    pub personal_follows_state: bool,
    /// The rows, lowest rank first.
    pub roots: &'static [RootTemplate],
}

const fn row(
    tier: Tier,
    place: RootLocation,
    source: &'static str,
    links: LinkPolicy,
) -> RootTemplate {
    RootTemplate { tier, place, source, links }
}

const fn home(path: &'static str, source: &'static str) -> RootTemplate {
    row(Tier::Personal, RootLocation::Path(path), source, LinkPolicy::Free)
}

const fn project(path: &'static str, source: &'static str) -> RootTemplate {
    row(Tier::Project, RootLocation::Path(path), source, LinkPolicy::Listed)
}

/// A router makes large libraries usable, so sinew's own caps only stop runaway folders.
const ROOMY: usize = 20_000;

const AGENTS_PERSONAL: RootTemplate = home("{home}/.agents/skills", "agents-skills-personal");
const AGENTS_PROJECT: RootTemplate = project("{workspace}/.agents/skills", "agents-skills-project");
const CLAUDE_PERSONAL: RootTemplate = home("{claude}/skills", "claude-code-personal");
const CLAUDE_PROJECT: RootTemplate = project("{workspace}/.claude/skills", "claude-code-project");
const BUNDLED: RootTemplate =
    row(Tier::Bundled, RootLocation::Bundled, "openclaw-bundled", LinkPolicy::Inside);
const EXTRA: RootTemplate =
    row(Tier::Extra, RootLocation::ExtraDirs, "openclaw-extra", LinkPolicy::Listed);
const PLUGINS: RootTemplate =
    row(Tier::Extra, RootLocation::Plugins, "openclaw-extra", LinkPolicy::None);
const WORKSPACE: RootTemplate = row(
    Tier::Workspace,
    RootLocation::Path("{workspace}/skills"),
    "openclaw-workspace",
    LinkPolicy::Listed,
);

const fn agent(name: &'static str, title: &'static str, roots: &'static [RootTemplate]) -> Profile {
    Profile {
        name,
        title,
        dialect: SkillDialect::OpenClaw,
        winner: MergeWinner::Later,
        max_candidates: ROOMY,
        max_loaded: ROOMY,
        personal_follows_state: false,
        roots,
    }
}

/// Every profile, the default first.
pub const PROFILES: &[Profile] = &[
    Profile {
        personal_follows_state: true,
        ..agent(
            "sinew",
            "sinew's own folders, and those of every agent on this machine",
            &[
                row(Tier::Extra, RootLocation::OtherAgents, "other-agents", LinkPolicy::Listed),
                EXTRA,
                PLUGINS,
                BUNDLED,
                row(
                    Tier::Managed,
                    RootLocation::Path("{sinew}/skills"),
                    "openclaw-managed",
                    LinkPolicy::Free,
                ),
                AGENTS_PERSONAL,
                AGENTS_PROJECT,
                WORKSPACE,
            ],
        )
    },
    Profile {
        max_candidates: 300,
        max_loaded: 200,
        personal_follows_state: true,
        ..agent(
            "openclaw",
            "OpenClaw",
            &[
                EXTRA,
                PLUGINS,
                BUNDLED,
                row(
                    Tier::Grown,
                    RootLocation::Path("{state}/agents/main/agent/workshop-skills"),
                    "openclaw-workshop",
                    LinkPolicy::Inside,
                ),
                row(
                    Tier::Managed,
                    RootLocation::Path("{state}/skills"),
                    "openclaw-managed",
                    LinkPolicy::Free,
                ),
                AGENTS_PERSONAL,
                AGENTS_PROJECT,
                WORKSPACE,
            ],
        )
    },
    Profile {
        dialect: SkillDialect::OpenPocket,
        winner: MergeWinner::Earlier,
        ..agent(
            "openpocket",
            "OpenPocket",
            &[
                row(Tier::Bundled, RootLocation::Bundled, "bundled", LinkPolicy::Inside),
                row(
                    Tier::Managed,
                    RootLocation::Path("{openpocket}/skills"),
                    "local",
                    LinkPolicy::Free,
                ),
                row(
                    Tier::Workspace,
                    RootLocation::Path("{workspace}/skills"),
                    "workspace",
                    LinkPolicy::Listed,
                ),
            ],
        )
    },
    // In Claude Code a personal skill wins over a project's.
    agent("claude-code", "Claude Code", &[CLAUDE_PROJECT, CLAUDE_PERSONAL]),
    agent(
        "codex",
        "Codex",
        &[
            home("{codex}/skills", "codex-personal"),
            AGENTS_PERSONAL,
            project("{workspace}/.codex/skills", "codex-project"),
            AGENTS_PROJECT,
        ],
    ),
    agent(
        "cursor",
        "Cursor",
        &[
            CLAUDE_PERSONAL,
            home("{codex}/skills", "codex-personal"),
            home("{home}/.cursor/skills", "cursor-personal"),
            CLAUDE_PROJECT,
            project("{workspace}/.codex/skills", "codex-project"),
            AGENTS_PROJECT,
            project("{workspace}/.cursor/skills", "cursor-project"),
        ],
    ),
    agent(
        "goose",
        "goose",
        &[
            CLAUDE_PERSONAL,
            AGENTS_PERSONAL,
            CLAUDE_PROJECT,
            project("{workspace}/.goose/skills", "goose-project"),
            AGENTS_PROJECT,
        ],
    ),
    agent(
        "gemini",
        "Gemini CLI",
        &[
            home("{home}/.gemini/skills", "gemini-personal"),
            AGENTS_PERSONAL,
            project("{workspace}/.gemini/skills", "gemini-project"),
            AGENTS_PROJECT,
        ],
    ),
    agent(
        "opencode",
        "opencode",
        &[
            CLAUDE_PERSONAL,
            AGENTS_PERSONAL,
            home("{home}/.config/opencode/skills", "opencode-personal"),
            CLAUDE_PROJECT,
            AGENTS_PROJECT,
            project("{workspace}/.opencode/skills", "opencode-project"),
        ],
    ),
    agent(
        "directory",
        "one folder of skills, and nothing else",
        &[row(Tier::Workspace, RootLocation::Path("{workspace}"), "directory", LinkPolicy::Listed)],
    ),
];

/// An agent's folders, as sinew's own profile reads them beside its own.
#[derive(Debug, Clone, Copy)]
pub struct AgentRoots {
    /// The agent.
    pub agent: &'static str,
    /// Its display name.
    pub title: &'static str,
    /// Its folders.
    pub roots: &'static [RootTemplate],
}

const fn extra_home(path: &'static str, source: &'static str) -> RootTemplate {
    row(Tier::Extra, RootLocation::Path(path), source, LinkPolicy::Free)
}

const fn extra_project(path: &'static str, source: &'static str) -> RootTemplate {
    row(Tier::Extra, RootLocation::Path(path), source, LinkPolicy::Listed)
}

/// The agents whose folders sinew's own profile adds where they exist.
pub const AGENT_ROOTS: &[AgentRoots] = &[
    AgentRoots {
        agent: "openclaw",
        title: "OpenClaw",
        roots: &[extra_home("{state}/skills", "openclaw-agent")],
    },
    AgentRoots {
        agent: "openpocket",
        title: "OpenPocket",
        roots: &[extra_home("{openpocket}/skills", "openpocket-agent")],
    },
    AgentRoots {
        agent: "claude-code",
        title: "Claude Code",
        roots: &[
            extra_home("{claude}/skills", "claude-code-personal"),
            extra_project("{workspace}/.claude/skills", "claude-code-project"),
        ],
    },
    AgentRoots {
        agent: "codex",
        title: "Codex",
        roots: &[
            extra_home("{codex}/skills", "codex-personal"),
            extra_project("{workspace}/.codex/skills", "codex-project"),
        ],
    },
    AgentRoots {
        agent: "cursor",
        title: "Cursor",
        roots: &[
            extra_home("{home}/.cursor/skills", "cursor-personal"),
            extra_project("{workspace}/.cursor/skills", "cursor-project"),
        ],
    },
    AgentRoots {
        agent: "gemini",
        title: "Gemini CLI",
        roots: &[
            extra_home("{home}/.gemini/skills", "gemini-personal"),
            extra_project("{workspace}/.gemini/skills", "gemini-project"),
        ],
    },
    AgentRoots {
        agent: "vscode",
        title: "VS Code",
        roots: &[
            extra_home("{home}/.copilot/skills", "vscode-personal"),
            extra_project("{workspace}/.github/skills", "vscode-project"),
        ],
    },
    AgentRoots {
        agent: "goose",
        title: "goose",
        roots: &[extra_project("{workspace}/.goose/skills", "goose-project")],
    },
    AgentRoots {
        agent: "opencode",
        title: "opencode",
        roots: &[
            extra_home("{home}/.config/opencode/skills", "opencode-personal"),
            extra_project("{workspace}/.opencode/skills", "opencode-project"),
        ],
    },
];

impl Profile {
    /// The profile of that name.
    pub fn find(name: &str) -> Option<&'static Self> {
        PROFILES.iter().find(|profile| profile.name == name)
    }

    /// sinew's own.
    pub fn default_profile() -> &'static Self {
        &PROFILES[0]
    }

    /// Whether files are read OpenPocket's way.
    pub fn is_openpocket(&self) -> bool {
        self.dialect == SkillDialect::OpenPocket
    }
}
