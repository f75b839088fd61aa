//! From a profile's rows to the folders on this machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sinew_settings::config::PersonalRootMode;
use sinew_settings::{Config, Environment, FolderRelocation, Reason, ReasonCode, path_text};

use crate::host_table;
use crate::hosts::{self, PluginHost, PluginOrigin};
use crate::profile::{
    AGENT_ROOTS, LinkPolicy, MergeWinner, Profile, ProjectTrust, RootLocation, RootTemplate,
    ScopeFolder, ScopeOrder, ScopeReach, SkillNaming, Tier,
};

/// A folder that may hold skills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillRoot {
    /// Its path.
    pub path: PathBuf,
    /// The source's name in every record.
    pub source: String,
    /// Its rank.
    pub tier: Tier,
    /// Where its links may point.
    pub links: LinkPolicy,
    /// How deep it is walked.
    pub max_depth: usize,
    /// Whether the folder itself may be a skill.
    pub shape: RootShape,
    /// What its skills are called.
    pub naming: SkillNaming,
    /// The plugin that brings it.
    pub plugin: Option<Arc<PluginOrigin>>,
    /// What stands before the names of its skills.
    pub prefix: Option<String>,
    /// The folder below the workspace that its skills are for, if they wait for work there.
    pub nested: Option<String>,
}

/// Whether a root can itself be a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RootShape {
    /// A folder of skills, or one skill.
    Any,
    /// Only a folder of skills.
    Container,
    /// A folder of rules, one per file; those with a description are used like skills.
    Rules,
}

/// The folders the caller works in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallerFolders {
    /// The agent's workspace.
    pub workspace: PathBuf,
    /// Where commands run, if that is another folder.
    pub execution_workspace: Option<PathBuf>,
    /// The bundled skills.
    pub bundled: Option<PathBuf>,
    /// Load only the workspace's own tier.
    pub workspace_only: bool,
    /// Look below the workspace for folders that a host reads later.
    pub look_below: bool,
    /// The host's agent whose folders are read; `main` where absent.
    pub agent_id: Option<String>,
    /// Whether the host has other agents beside it, so that what is the host's own is not this one's.
    pub agent_is_one_of_several: bool,
}

/// The depth of a root that is known to contain skills.
const DEPTH: usize = 6;
/// The depth of an extra folder that is not named `skills`: it may be anything, even a whole
/// checkout.
const SHALLOW: usize = 2;

/// The depth that OpenClaw walked to before it read groups of skills.
const UNGROUPED: usize = 1;

/// The first OpenClaw that reads skills in folders of folders.
const GROUPS_SINCE: [u32; 3] = [2026, 4, 0];

/// The roots of a profile, lowest rank first, and what was left out.
pub fn resolve_roots(
    profile: &Profile,
    places: &CallerFolders,
    config: &Config,
    env: &Environment,
) -> (Vec<SkillRoot>, Vec<Reason>) {
    let mut resolver = RootResolver {
        profile,
        places,
        config,
        env,
        scopes: None,
        depth: None,
        roots: Vec::new(),
        reasons: Vec::new(),
    };
    if profile.name == "openclaw" {
        let installed = hosts::find_host_package(env, "openclaw", "openclaw", &places.workspace);
        let ungrouped = installed.is_some_and(|package| !package.is_at_least(GROUPS_SINCE));
        resolver.depth = ungrouped.then_some(UNGROUPED);
    }
    if profile.trust == ProjectTrust::Gemini {
        resolver.check_trust();
    }
    if let Some(execution) = &places.execution_workspace
        && *execution != places.workspace
        && !places.workspace_only
    {
        for (path, source) in
            [(".agents/skills", "agents-skills-execution"), ("skills", "openclaw-execution")]
        {
            resolver.push(execution.join(path), source, Tier::Extra, LinkPolicy::Listed);
        }
    }
    for template in profile.roots {
        if !places.workspace_only || template.tier == Tier::Workspace {
            resolver.template(template);
        }
    }
    let RootResolver { roots, reasons, .. } = resolver;
    let mut roots = without_doubles(roots);
    if profile.winner == MergeWinner::Earlier && !config.openpocket.user_first {
        // In the merge, later rows win.
        roots.reverse();
    }
    (roots, reasons)
}

/// In the home folder, a personal and a project root can be the same folder. Then the one with the
/// less strict link policy stays: it is the user's own.
fn without_doubles(roots: Vec<SkillRoot>) -> Vec<SkillRoot> {
    let freedom = |root: &SkillRoot| match root.links {
        LinkPolicy::Free => 3,
        LinkPolicy::Listed => 2,
        LinkPolicy::Inside => 1,
        LinkPolicy::None => 0,
    };
    let mut distinct: Vec<(PathBuf, SkillRoot)> = Vec::new();
    for root in roots {
        let real = fs::canonicalize(&root.path).unwrap_or_else(|_| root.path.clone());
        match distinct.iter_mut().find(|(known, _)| *known == real) {
            Some((_, known)) if freedom(&root) > freedom(known) => *known = root,
            Some(_) => {}
            None => distinct.push((real, root)),
        }
    }
    distinct.into_iter().map(|(_, root)| root).collect()
}

/// Folders of other agents that do not exist, but would be read if they did.
pub(crate) fn missing_agent_roots(
    profile: &Profile,
    places: &CallerFolders,
    config: &Config,
    env: &Environment,
) -> Vec<PathBuf> {
    let reads_others = profile.roots.iter().any(|row| row.place == RootLocation::OtherAgents);
    if !reads_others || !config.load.agents || places.workspace_only {
        return Vec::new();
    }
    let templates = AGENT_ROOTS.iter().flat_map(|agent| agent.roots);
    let paths = templates.flat_map(|template| match template.place {
        RootLocation::Path(path) => vec![expand_root_path(path, places, env)],
        RootLocation::Scopes(folders, ..) => {
            folders.iter().map(|folder| places.workspace.join(folder.path)).collect()
        }
        _ => Vec::new(),
    });
    paths.filter(|path| !path.is_dir()).collect()
}

struct RootResolver<'a> {
    profile: &'a Profile,
    places: &'a CallerFolders,
    config: &'a Config,
    env: &'a Environment,
    /// The folders from the workspace to the project's root, once they were asked for.
    scopes: Option<(Vec<PathBuf>, bool)>,
    /// How deep every root is walked, if the installed host says so.
    depth: Option<usize>,
    roots: Vec<SkillRoot>,
    reasons: Vec<Reason>,
}

/// What an entry of the home folder is not: a project's.
const PROJECT_FOLDER: &str = "{workspace}";

impl RootResolver<'_> {
    fn template(&mut self, template: &RootTemplate) {
        let RootTemplate { tier, place, source, links, depth } = *template;
        let of_project = match place {
            RootLocation::Path(path) | RootLocation::Rules(path) => {
                path.starts_with(PROJECT_FOLDER)
            }
            RootLocation::Scopes(..) | RootLocation::Below(_) | RootLocation::RulesBelow(_) => true,
            _ => false,
        };
        if of_project && self.profile.trust != ProjectTrust::Everywhere && !self.trusted() {
            return;
        }
        let from = self.roots.len();
        self.locate(tier, place, source, links);
        for root in &mut self.roots[from..] {
            let set = self.config.load.max_depth.or(depth).or(self.depth);
            root.max_depth = set.unwrap_or(root.max_depth);
        }
    }

    fn trusted(&self) -> bool {
        !self.reasons.iter().any(|reason| reason.code == ReasonCode::FolderNotTrusted)
    }

    fn check_trust(&mut self) {
        let workspace = &self.places.workspace;
        if !hosts::gemini_trusts(workspace, self.env, &mut self.reasons) {
            self.reasons.push(
                Reason::new(
                    ReasonCode::FolderNotTrusted,
                    format!("{} does not trust {}", self.profile.title, path_text(workspace)),
                )
                .path(path_text(workspace))
                .remedy("trust the folder in Gemini CLI with /permissions"),
            );
        }
    }

    fn locate(&mut self, tier: Tier, place: RootLocation, source: &str, links: LinkPolicy) {
        match place {
            RootLocation::Path(path) => {
                let follows = self.profile.personal_follows_state;
                if follows && source == "agents-skills-personal" && !self.personal_is_read() {
                    return;
                }
                self.push(expand_root_path(path, self.places, self.env), source, tier, links);
            }
            RootLocation::ExtraDirs => {
                for folder in &self.config.load.extra_dirs {
                    self.push(self.env.expand_home(folder), source, tier, links);
                }
            }
            RootLocation::HostPlugins(host) => self.plugins(host, source, tier, links),
            RootLocation::Scopes(folders, order, reach) => {
                // What belongs to no repository is its host's alone.
                let reach = if tier == Tier::Extra { ScopeReach::Workspace } else { reach };
                self.scopes(folders, order, reach, (tier, links));
            }
            RootLocation::Below(folder) => self.below(folder, RootShape::Any, tier, links),
            RootLocation::RulesBelow(folder) => self.below(folder, RootShape::Rules, tier, links),
            RootLocation::Package(program, package, path) => {
                let workspace = &self.places.workspace;
                if let Some(found) = hosts::find_host_package(self.env, program, package, workspace)
                {
                    self.push(found.root.join(path), source, tier, links);
                }
            }
            RootLocation::Rules(path) => {
                let path = expand_root_path(path, self.places, self.env);
                if path.is_dir() {
                    self.push(path, source, tier, links);
                    if let Some(root) = self.roots.last_mut() {
                        root.shape = RootShape::Rules;
                    }
                }
            }
            RootLocation::Custodian => {
                let beside = self.places.bundled.as_ref().and_then(|bundled| bundled.parent());
                let folder = beside.map(|folder| folder.join("custodian-skills"));
                let is_owner = !self.places.agent_is_one_of_several;
                if let Some(folder) = folder.filter(|folder| is_owner && folder.is_dir()) {
                    self.push(folder, source, tier, links);
                }
            }
            RootLocation::OtherAgents => {
                if self.config.load.agents {
                    for template in AGENT_ROOTS.iter().flat_map(|agent| agent.roots) {
                        let there = match template.place {
                            RootLocation::Path(path) => {
                                expand_root_path(path, self.places, self.env).is_dir()
                            }
                            _ => true,
                        };
                        if there {
                            self.template(template);
                        }
                    }
                    for template in host_table::OTHER_HOST_ROOTS.iter() {
                        if let RootLocation::Path(path) = template.place
                            && expand_root_path(path, self.places, self.env).is_dir()
                        {
                            self.template(template);
                        }
                    }
                    for (id, host) in &self.config.hosts {
                        for template in host_table::configured_profile(id, host).roots {
                            let extra = RootTemplate { tier: Tier::Extra, ..*template };
                            if let RootLocation::Path(path) = template.place
                                && expand_root_path(path, self.places, self.env).is_dir()
                            {
                                self.template(&extra);
                            }
                        }
                    }
                }
            }
            RootLocation::Bundled => match &self.places.bundled {
                Some(path) => self.push(path.clone(), source, tier, links),
                None => self.reasons.push(
                    Reason::new(ReasonCode::RootMissing, "there are no bundled skills")
                        .source(source)
                        .remedy("set SINEW_BUNDLED_SKILLS_DIR to a folder of skills"),
                ),
            },
        }
    }

    /// The folders below the workspace, where they are asked for.
    fn below(&mut self, folder: ScopeFolder, shape: RootShape, tier: Tier, links: LinkPolicy) {
        if !self.places.look_below {
            return;
        }
        for (level, below) in hosts::folders_below(&self.places.workspace, folder.path) {
            self.push(level.join(folder.path), folder.source, tier, links);
            if let Some(root) = self.roots.last_mut() {
                root.nested = Some(below);
                root.shape = shape;
            }
        }
    }

    fn plugins(&mut self, host: PluginHost, source: &str, tier: Tier, links: LinkPolicy) {
        let (config, env) = (self.config, self.env);
        let (found, reasons) = hosts::plugin_folders(host, &self.places.workspace, config, env);
        self.reasons.extend(reasons);
        let linked = match host {
            PluginHost::OpenClaw => {
                hosts::plugin_links(&self.places.workspace, config, env, &found)
            }
            _ => (Vec::new(), Vec::new()),
        };
        // Of two plugins the first wins, but in the merge the last wins.
        for folder in found.into_iter().rev() {
            self.push(folder.path, source, tier, links);
            if let Some(root) = self.roots.last_mut() {
                root.plugin = Some(Arc::new(folder.origin));
                root.prefix = folder.prefix;
                root.max_depth = folder.depth.unwrap_or(root.max_depth);
                if matches!(host, PluginHost::ClaudeCode) {
                    root.naming = SkillNaming::Folder;
                }
            }
        }
        for folder in linked.0.into_iter().rev() {
            self.push(folder, source, tier, links);
        }
        self.reasons.extend(linked.1);
    }

    fn scopes(
        &mut self,
        folders: &[ScopeFolder],
        order: ScopeOrder,
        reach: ScopeReach,
        (tier, links): (Tier, LinkPolicy),
    ) {
        let (workspace, home) = (&self.places.workspace, &self.env.home);
        let levels = self.scopes.take();
        let levels = levels.unwrap_or_else(|| hosts::folders_to_project_root(workspace, home));
        let (folders_above, in_project) = &levels;
        let all = *in_project || reach == ScopeReach::Above;
        let count = if all { folders_above.len() } else { 1 };
        let mut ordered: Vec<&PathBuf> = folders_above.iter().take(count).collect();
        if order == ScopeOrder::NearestWins {
            ordered.reverse();
        }
        for level in ordered {
            for folder in folders {
                let path = level.join(folder.path);
                // The workspace's own folder is named even where it is missing; those above it only
                // where they are there.
                if level == workspace && tier != Tier::Extra || path.is_dir() {
                    self.push(path, folder.source, tier, links);
                }
            }
        }
        self.scopes = Some(levels);
    }

    fn push(&mut self, path: PathBuf, source: &str, tier: Tier, links: LinkPolicy) {
        let named_skills = path.file_name().is_some_and(|name| name == "skills");
        let usual = if tier == Tier::Extra && !named_skills { SHALLOW } else { DEPTH };
        self.roots.push(SkillRoot {
            path,
            source: source.to_owned(),
            tier,
            links,
            max_depth: self.config.load.max_depth.unwrap_or(usual),
            shape: if tier == Tier::Grown { RootShape::Container } else { RootShape::Any },
            naming: self.profile.naming,
            plugin: None,
            prefix: None,
            nested: None,
        });
    }

    fn personal_is_read(&self) -> bool {
        match self.config.load.personal {
            PersonalRootMode::Yes => true,
            PersonalRootMode::No => false,
            PersonalRootMode::Auto => self.env.openclaw_state().1 == FolderRelocation::No,
        }
    }
}

/// The folder that a [`RootLocation::Path`] template stands for on this machine.
pub fn expand_root_path(template: &str, places: &CallerFolders, env: &Environment) -> PathBuf {
    let Some((name, rest)) = template.strip_prefix('{').and_then(|t| t.split_once('}')) else {
        return PathBuf::from(template);
    };
    let base = match name {
        "home" => env.home.clone(),
        "workspace" => places.workspace.clone(),
        "state" => env.openclaw_state().0,
        "sinew" => env.sinew_home(),
        "openpocket" => env.openpocket_home(),
        "claude" => env.var_path("CLAUDE_CONFIG_DIR").unwrap_or_else(|| env.home.join(".claude")),
        "copilot" => hosts::copilot_home(env),
        "codex" => env.var_path("CODEX_HOME").unwrap_or_else(|| env.home.join(".codex")),
        "gemini" => {
            env.var_path("GEMINI_CLI_HOME").unwrap_or_else(|| env.home.clone()).join(".gemini")
        }
        "config" => env.var_path("XDG_CONFIG_HOME").unwrap_or_else(|| env.home.join(".config")),
        "system" => hosts::system_path(env, "/"),
        _ => PathBuf::new(),
    };
    match rest.trim_start_matches('/') {
        "" => base,
        rest => base.join(rest.replace("{agent}", places.agent_id.as_deref().unwrap_or("main"))),
    }
}

/// How many levels above the program a `skills` folder is searched for.
const BUNDLED_PARENTS: usize = 6;

/// The bundled skills, found as OpenClaw does: from a variable, or in a folder beside or above the
/// program.
pub fn find_bundled_skills(env: &Environment) -> Option<PathBuf> {
    let named = ["SINEW_BUNDLED_SKILLS_DIR", "OPENCLAW_BUNDLED_SKILLS_DIR"];
    if let Some(path) = named.iter().find_map(|name| env.var_path(name)) {
        return Some(path);
    }
    let exe = env.exe.as_deref()?;
    exe.ancestors()
        .skip(1)
        .take(BUNDLED_PARENTS + 1)
        .map(|folder| folder.join("skills"))
        .find(|folder| looks_like_skills(folder))
}

fn looks_like_skills(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| {
        let name = path_text(Path::new(&entry.file_name()));
        let is_markdown = name.ends_with(".md") && !name.starts_with('.');
        is_markdown || entry.path().join("SKILL.md").is_file()
    })
}
