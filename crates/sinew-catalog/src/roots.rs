//! From a profile's rows to the folders on this machine.

use std::fs;
use std::path::{Path, PathBuf};

use sinew_settings::config::PersonalRootMode;
use sinew_settings::{Config, Environment, FolderRelocation, Reason, ReasonCode, path_text};

use crate::plugins;
use crate::profile::{
    AGENT_ROOTS, LinkPolicy, MergeWinner, Profile, RootLocation, RootTemplate, Tier,
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
}

/// Whether a root can itself be a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RootShape {
    /// A folder of skills, or one skill.
    Any,
    /// Only a folder of skills.
    Container,
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
}

/// The depth of a root that is known to contain skills.
const DEPTH: usize = 6;
/// The depth of an extra folder that is not named `skills`: it may be anything, even a whole
/// checkout.
const SHALLOW: usize = 2;

/// The roots of a profile, lowest rank first, and what was left out.
pub fn resolve_roots(
    profile: &Profile,
    places: &CallerFolders,
    config: &Config,
    env: &Environment,
) -> (Vec<SkillRoot>, Vec<Reason>) {
    let mut resolver =
        RootResolver { profile, places, config, env, roots: Vec::new(), reasons: Vec::new() };
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
    let paths = templates.filter_map(|template| match template.place {
        RootLocation::Path(path) => Some(expand_root_path(path, places, env)),
        _ => None,
    });
    paths.filter(|path| !path.is_dir()).collect()
}

struct RootResolver<'a> {
    profile: &'a Profile,
    places: &'a CallerFolders,
    config: &'a Config,
    env: &'a Environment,
    roots: Vec<SkillRoot>,
    reasons: Vec<Reason>,
}

impl RootResolver<'_> {
    fn template(&mut self, template: &RootTemplate) {
        let RootTemplate { tier, place, source, links } = *template;
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
            RootLocation::Plugins => {
                let (folders, reasons) = plugins::skill_folders(self.config, self.env);
                self.reasons.extend(reasons);
                // Of two plugins the first wins, but in the merge the last wins.
                for folder in folders.into_iter().rev() {
                    self.push(folder, source, tier, links);
                }
            }
            RootLocation::OtherAgents => {
                if self.config.load.agents {
                    for template in AGENT_ROOTS.iter().flat_map(|agent| agent.roots) {
                        if let RootLocation::Path(path) = template.place
                            && expand_root_path(path, self.places, self.env).is_dir()
                        {
                            self.template(template);
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
        "codex" => env.var_path("CODEX_HOME").unwrap_or_else(|| env.home.join(".codex")),
        _ => PathBuf::new(),
    };
    match rest.trim_start_matches('/') {
        "" => base,
        rest => base.join(rest),
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
