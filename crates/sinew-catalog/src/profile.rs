//! Profiles: which folders an agent reads its skills from, and which copy wins.
//!
//! A profile is data. Supporting another agent means another row here, never another branch
//! elsewhere.

use sinew_skill::SkillDialect;

use crate::host_table;
use crate::hosts::{HostSwitches, PluginHost};

/// The rank of a source, lowest first. Where two skills share a name, the one whose root stands later
/// in the profile wins, which is the higher tier; only sinew's own profile has what it carries below
/// everything else.
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

/// A folder that a host reads in each folder of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScopeFolder {
    /// The path below each folder.
    pub path: &'static str,
    /// The source's name in every record.
    pub source: &'static str,
}

/// Which of the folders between a project's root and the current one ranks highest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScopeOrder {
    /// The current folder.
    NearestWins,
    /// The project's root.
    RootWins,
}

/// What a host reads where the workspace belongs to no repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScopeReach {
    /// The workspace alone.
    Workspace,
    /// Every folder above it, up to the home folder.
    Above,
}

/// Where a root is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RootLocation {
    /// A path that begins with `{home}`, `{workspace}`, `{state}`, `{sinew}`, `{openpocket}`,
    /// `{claude}`, `{codex}`, `{copilot}`, `{gemini}`, `{config}` or `{system}`; `{agent}` in it is the selected
    /// agent.
    Path(&'static str),
    /// Folders in every folder from the project's root to the workspace.
    Scopes(&'static [ScopeFolder], ScopeOrder, ScopeReach),
    /// Folders in folders below the workspace, which the host reads once files there are worked on.
    Below(ScopeFolder),
    /// The skill folders of a host's plugins.
    HostPlugins(PluginHost),
    /// A folder inside the package of an installed host: program, package, path.
    Package(&'static str, &'static str, &'static str),
    /// A folder of rules in Cursor's format, as [`Path`](Self::Path) names it.
    Rules(&'static str),
    /// Such folders in folders below the workspace.
    RulesBelow(ScopeFolder),
    /// What OpenClaw keeps for the agent that looks after it, beside its bundled skills.
    Custodian,
    /// Each of `skills.load.extraDirs`.
    ExtraDirs,
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
    /// How deep it is walked, if the host has a rule of its own.
    pub depth: Option<usize>,
}

impl RootTemplate {
    /// The row, walked no deeper than that.
    const fn to_depth(mut self, depth: usize) -> Self {
        self.depth = Some(depth);
        self
    }
}

/// What a host calls a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkillNaming {
    /// By the name in its front matter.
    FrontMatter,
    /// By its folder.
    Folder,
}

/// Whether a host reads a project's skills in every folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProjectTrust {
    /// Wherever it is started.
    Everywhere,
    /// Where `trustedFolders.json` of Gemini CLI says so.
    Gemini,
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
    /// What the host calls a skill.
    pub naming: SkillNaming,
    /// Whose settings about single skills hold.
    pub switches: Option<HostSwitches>,
    /// Where a project's own skills are read.
    pub trust: ProjectTrust,
    /// The rows, lowest rank first.
    pub roots: &'static [RootTemplate],
}

const fn row(
    tier: Tier,
    place: RootLocation,
    source: &'static str,
    links: LinkPolicy,
) -> RootTemplate {
    RootTemplate { tier, place, source, links, depth: None }
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
const PLUGINS: RootTemplate = row(
    Tier::Extra,
    RootLocation::HostPlugins(PluginHost::OpenClaw),
    "openclaw-extra",
    LinkPolicy::None,
);
const CLAUDE_SCOPES: RootTemplate = scopes(
    &[ScopeFolder { path: ".claude/skills", source: "claude-code-project" }],
    ScopeOrder::NearestWins,
    ScopeReach::Above,
);
const AGENTS_SCOPES: RootTemplate = scopes(
    &[ScopeFolder { path: ".agents/skills", source: "agents-skills-project" }],
    ScopeOrder::NearestWins,
    ScopeReach::Workspace,
);
const CODEX_SCOPES: RootTemplate = scopes(
    &[ScopeFolder { path: ".codex/skills", source: "codex-project" }],
    ScopeOrder::NearestWins,
    ScopeReach::Workspace,
);
const CLAUDE_PLUGINS: RootTemplate = plugins(PluginHost::ClaudeCode, "claude-code-plugin");
const CODEX_PLUGINS: RootTemplate = plugins(PluginHost::Codex, "codex-plugin");
const GEMINI_EXTENSIONS: RootTemplate = plugins(PluginHost::Gemini, "gemini-extension");
const COPILOT_PLUGINS: RootTemplate = plugins(PluginHost::Copilot, "copilot-plugin");
const CURSOR_PLUGINS: RootTemplate =
    plugins(PluginHost::Folders("cursor=~/.cursor/plugins/local/*"), "cursor-plugin");
/// By marketplace, plugin and version; which of them are on, Cursor keeps in a database of its own.
const CURSOR_MARKETPLACES: RootTemplate =
    plugins(PluginHost::Folders("cursor=~/.cursor/plugins/cache/*/*/*"), "cursor-plugin");

const CURSOR_RULES: RootTemplate = row(
    Tier::Project,
    RootLocation::Rules("{workspace}/.cursor/rules"),
    "cursor-rules",
    LinkPolicy::Inside,
);

/// Folders below the workspace that a host reads once it works on files there.
const fn below(path: &'static str, source: &'static str) -> RootTemplate {
    let place = RootLocation::Below(ScopeFolder { path, source });
    row(Tier::Project, place, "", LinkPolicy::Listed)
}

const fn scopes(
    folders: &'static [ScopeFolder],
    order: ScopeOrder,
    reach: ScopeReach,
) -> RootTemplate {
    row(Tier::Project, RootLocation::Scopes(folders, order, reach), "", LinkPolicy::Listed)
}

const fn plugins(host: PluginHost, source: &'static str) -> RootTemplate {
    row(Tier::Extra, RootLocation::HostPlugins(host), source, LinkPolicy::Inside)
}
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
        naming: SkillNaming::FrontMatter,
        switches: None,
        trust: ProjectTrust::Everywhere,
        roots,
    }
}

/// A profile without rules of its own.
pub(crate) const fn plain_profile(
    name: &'static str,
    title: &'static str,
    roots: &'static [RootTemplate],
) -> Profile {
    agent(name, title, roots)
}

/// Every profile with rules of its own, the default first.
pub const PROFILES: &[Profile] = &[
    Profile {
        personal_follows_state: true,
        ..agent(
            "sinew",
            "sinew's own folders, and those of every agent on this machine",
            // What sinew carries is a beginning: whatever has the same name elsewhere is there
            // because the user or an agent wanted it, and is ready more often.
            &[
                BUNDLED,
                row(Tier::Extra, RootLocation::OtherAgents, "other-agents", LinkPolicy::Listed),
                EXTRA,
                PLUGINS,
                row(
                    Tier::Managed,
                    RootLocation::Path("{sinew}/skills"),
                    "openclaw-managed",
                    LinkPolicy::Free,
                ),
                AGENTS_PERSONAL,
                AGENTS_SCOPES,
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
                    Tier::Bundled,
                    RootLocation::Custodian,
                    "openclaw-custodian",
                    LinkPolicy::Inside,
                ),
                row(
                    Tier::Grown,
                    RootLocation::Path("{state}/agents/{agent}/agent/workshop-skills"),
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
    // In Claude Code a personal skill wins over a project's, and the machine's over both.
    Profile {
        naming: SkillNaming::Folder,
        switches: Some(HostSwitches::ClaudeCode),
        ..agent(
            "claude-code",
            "Claude Code",
            &[
                CLAUDE_PLUGINS,
                below(".claude/skills", "claude-code-nested").to_depth(1),
                CLAUDE_SCOPES.to_depth(1),
                CLAUDE_PERSONAL.to_depth(1),
                row(
                    Tier::Managed,
                    RootLocation::Path("{system}/etc/claude-code/.claude/skills"),
                    "claude-code-managed",
                    LinkPolicy::Inside,
                )
                .to_depth(1),
            ],
        )
    },
    Profile {
        switches: Some(HostSwitches::Codex),
        ..agent(
            "codex",
            "Codex",
            &[
                row(
                    Tier::Bundled,
                    RootLocation::Path("{codex}/skills/.system"),
                    "codex-system",
                    LinkPolicy::Inside,
                ),
                CODEX_PLUGINS,
                row(
                    Tier::Managed,
                    RootLocation::Path("{system}/etc/codex/skills"),
                    "codex-managed",
                    LinkPolicy::Free,
                ),
                home("{codex}/skills", "codex-personal"),
                AGENTS_PERSONAL,
                CODEX_SCOPES,
                AGENTS_SCOPES,
            ],
        )
    },
    // Cursor calls a skill what its folder is called, and reads folders of packages once it works on
    // their files.
    Profile {
        naming: SkillNaming::Folder,
        ..agent(
            "cursor",
            "Cursor",
            &[
                row(
                    Tier::Bundled,
                    RootLocation::Path("{home}/.cursor/skills-cursor"),
                    "cursor-bundled",
                    LinkPolicy::Inside,
                ),
                CURSOR_MARKETPLACES,
                CURSOR_PLUGINS,
                CLAUDE_PERSONAL,
                home("{codex}/skills", "codex-personal"),
                AGENTS_PERSONAL,
                home("{home}/.cursor/skills", "cursor-personal"),
                row(
                    Tier::Project,
                    RootLocation::RulesBelow(ScopeFolder {
                        path: ".cursor/rules",
                        source: "cursor-rules-nested",
                    }),
                    "",
                    LinkPolicy::Inside,
                ),
                below(".agents/skills", "agents-skills-nested"),
                below(".cursor/skills", "cursor-nested"),
                CLAUDE_PROJECT,
                project("{workspace}/.codex/skills", "codex-project"),
                AGENTS_PROJECT,
                CURSOR_RULES,
                project("{workspace}/.cursor/skills", "cursor-project"),
            ],
        )
    },
    // In Copilot CLI the skill that is found first wins: those of the nearest folder before those
    // above it, a project's before a person's, and both before plugins.
    Profile {
        switches: Some(HostSwitches::Copilot),
        ..agent(
            "copilot",
            "GitHub Copilot CLI",
            &[
                COPILOT_PLUGINS,
                AGENTS_PERSONAL,
                home("{copilot}/skills", "copilot-personal"),
                scopes(
                    &[
                        ScopeFolder { path: ".claude/skills", source: "claude-code-project" },
                        ScopeFolder { path: ".agents/skills", source: "agents-skills-project" },
                        ScopeFolder { path: ".github/skills", source: "copilot-project" },
                    ],
                    ScopeOrder::NearestWins,
                    ScopeReach::Workspace,
                ),
            ],
        )
    },
    agent(
        "goose",
        "goose",
        &[
            // Named by the home folder, wherever the user keeps settings.
            home("{home}/.config/agents/skills", "goose-agents-personal"),
            CLAUDE_PERSONAL,
            home("{config}/goose/skills", "goose-personal"),
            AGENTS_PERSONAL,
            CLAUDE_PROJECT,
            project("{workspace}/.goose/skills", "goose-project"),
            AGENTS_PROJECT,
        ],
    ),
    // Gemini CLI reads a skill's folder and no deeper, and a project only where it trusts it.
    Profile {
        switches: Some(HostSwitches::Gemini),
        trust: ProjectTrust::Gemini,
        ..agent(
            "gemini",
            "Gemini CLI",
            &[
                row(
                    Tier::Bundled,
                    RootLocation::Package("gemini", "@google/gemini-cli", "bundle/builtin"),
                    "gemini-bundled",
                    LinkPolicy::Inside,
                )
                .to_depth(1),
                GEMINI_EXTENSIONS,
                home("{gemini}/skills", "gemini-personal").to_depth(1),
                AGENTS_PERSONAL.to_depth(1),
                project("{workspace}/.gemini/skills", "gemini-project").to_depth(1),
                AGENTS_PROJECT.to_depth(1),
            ],
        )
    },
    // In opencode the last folder that was read wins, and it reads upwards.
    Profile {
        switches: Some(HostSwitches::Opencode),
        ..agent(
            "opencode",
            "opencode",
            &[
                CLAUDE_PERSONAL,
                AGENTS_PERSONAL,
                scopes(
                    &[
                        ScopeFolder { path: ".claude/skills", source: "claude-code-project" },
                        ScopeFolder { path: ".agents/skills", source: "agents-skills-project" },
                    ],
                    ScopeOrder::RootWins,
                    ScopeReach::Above,
                ),
                home("{config}/opencode/skill", "opencode-personal"),
                home("{config}/opencode/skills", "opencode-personal"),
                scopes(
                    &[
                        ScopeFolder { path: ".opencode/skill", source: "opencode-project" },
                        ScopeFolder { path: ".opencode/skills", source: "opencode-project" },
                    ],
                    ScopeOrder::RootWins,
                    ScopeReach::Above,
                ),
                home("{home}/.opencode/skills", "opencode-personal"),
            ],
        )
    },
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
            CLAUDE_PLUGINS,
            extra_home("{claude}/skills", "claude-code-personal"),
            RootTemplate { tier: Tier::Extra, ..CLAUDE_SCOPES },
        ],
    },
    AgentRoots {
        agent: "codex",
        title: "Codex",
        roots: &[
            CODEX_PLUGINS,
            extra_home("{codex}/skills", "codex-personal"),
            extra_project("{workspace}/.codex/skills", "codex-project"),
        ],
    },
    AgentRoots {
        agent: "cursor",
        title: "Cursor",
        roots: &[
            CURSOR_MARKETPLACES,
            CURSOR_PLUGINS,
            extra_home("{home}/.cursor/skills", "cursor-personal"),
            RootTemplate { tier: Tier::Extra, ..CURSOR_RULES },
            extra_project("{workspace}/.cursor/skills", "cursor-project"),
        ],
    },
    AgentRoots {
        agent: "gemini",
        title: "Gemini CLI",
        roots: &[
            GEMINI_EXTENSIONS,
            extra_home("{gemini}/skills", "gemini-personal"),
            extra_project("{workspace}/.gemini/skills", "gemini-project"),
        ],
    },
    AgentRoots { agent: "copilot", title: "GitHub Copilot CLI", roots: &[COPILOT_PLUGINS] },
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
        roots: &[
            extra_home("{config}/goose/skills", "goose-personal"),
            extra_project("{workspace}/.goose/skills", "goose-project"),
        ],
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
        host_table::all_profiles().find(|profile| profile.name == name)
    }

    /// sinew's own.
    pub fn default_profile() -> &'static Self {
        &PROFILES[0]
    }

    /// Whether skills in folders of folders are read in the workspace's own root.
    pub fn reads_grouped_folders(&self) -> bool {
        self.roots.iter().any(|root| {
            matches!(root.place, RootLocation::Path("{workspace}/skills")) && root.depth.is_none()
        })
    }

    /// Whether files are read OpenPocket's way.
    pub fn is_openpocket(&self) -> bool {
        self.dialect == SkillDialect::OpenPocket
    }
}
