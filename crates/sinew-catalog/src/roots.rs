//! From a profile's rows to the folders of this machine.

use std::fs;
use std::path::{Path, PathBuf};

use sinew_skill::{Code, Reason};

use crate::config::{Config, Personal};
use crate::environment::{Environment, Moved, path_text};
use crate::plugins;
use crate::profile::{AGENT_ROOTS, Links, Place, Profile, RootTemplate, Tier, Winner};

/// A folder that may hold skills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// Where it lies.
    pub path: PathBuf,
    /// The source's name in every record.
    pub source: String,
    /// Its rank.
    pub tier: Tier,
    /// Where its links may lead.
    pub links: Links,
    /// How deep it is walked.
    pub max_depth: usize,
    /// Whether the folder itself may be a skill.
    pub shape: Shape,
}

/// Whether a root can itself be a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A folder of skills, or one skill.
    Any,
    /// Only a folder of skills.
    Container,
}

/// Where the caller stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    /// The agent's workspace.
    pub workspace: PathBuf,
    /// Where commands run, when that is another folder.
    pub execution_workspace: Option<PathBuf>,
    /// The bundled skills.
    pub bundled: Option<PathBuf>,
    /// Load the workspace's own tier alone.
    pub workspace_only: bool,
}

/// Depth of a root that is known to hold skills.
const DEPTH: usize = 6;
/// Depth of an extra folder that is not named `skills`: it may be anything, a whole checkout even.
const SHALLOW: usize = 2;

/// The roots of a profile, lowest rank first, and what was left out.
pub fn resolve(
    profile: &Profile,
    places: &Places,
    config: &Config,
    env: &Environment,
) -> (Vec<Root>, Vec<Reason>) {
    let mut resolver =
        Resolver { profile, places, config, env, roots: Vec::new(), reasons: Vec::new() };
    if let Some(execution) = &places.execution_workspace
        && *execution != places.workspace
        && !places.workspace_only
    {
        for (path, source) in
            [(".agents/skills", "agents-skills-execution"), ("skills", "openclaw-execution")]
        {
            resolver.push(execution.join(path), source, Tier::Extra, Links::Listed);
        }
    }
    for template in profile.roots {
        if !places.workspace_only || template.tier == Tier::Workspace {
            resolver.template(template);
        }
    }
    let Resolver { roots, reasons, .. } = resolver;
    let mut roots = without_doubles(roots);
    if profile.winner == Winner::Earlier && !config.openpocket.user_first {
        // The merge lets later rows win.
        roots.reverse();
    }
    (roots, reasons)
}

/// In the home folder, a personal and a project root can be the same folder. Then the one whose
/// links may lead further stays: it is the user's own.
fn without_doubles(roots: Vec<Root>) -> Vec<Root> {
    let freedom = |root: &Root| match root.links {
        Links::Free => 3,
        Links::Listed => 2,
        Links::Inside => 1,
        Links::None => 0,
    };
    let mut kept: Vec<(PathBuf, Root)> = Vec::new();
    for root in roots {
        let real = fs::canonicalize(&root.path).unwrap_or_else(|_| root.path.clone());
        match kept.iter_mut().find(|(known, _)| *known == real) {
            Some((_, known)) if freedom(&root) > freedom(known) => *known = root,
            Some(_) => {}
            None => kept.push((real, root)),
        }
    }
    kept.into_iter().map(|(_, root)| root).collect()
}

/// Folders of other agents that are not there, but would be read if they were.
pub(crate) fn absent(
    profile: &Profile,
    places: &Places,
    config: &Config,
    env: &Environment,
) -> Vec<PathBuf> {
    let reads_others = profile.roots.iter().any(|row| row.place == Place::OtherAgents);
    if !reads_others || !config.load.agents || places.workspace_only {
        return Vec::new();
    }
    let templates = AGENT_ROOTS.iter().flat_map(|agent| agent.roots);
    let paths = templates.filter_map(|template| match template.place {
        Place::Path(path) => Some(expand_place(path, places, env)),
        _ => None,
    });
    paths.filter(|path| !path.is_dir()).collect()
}

struct Resolver<'a> {
    profile: &'a Profile,
    places: &'a Places,
    config: &'a Config,
    env: &'a Environment,
    roots: Vec<Root>,
    reasons: Vec<Reason>,
}

impl Resolver<'_> {
    fn template(&mut self, template: &RootTemplate) {
        let RootTemplate { tier, place, source, links } = *template;
        match place {
            Place::Path(path) => {
                let follows = self.profile.personal_follows_state;
                if follows && source == "agents-skills-personal" && !self.personal_is_read() {
                    return;
                }
                self.push(expand_place(path, self.places, self.env), source, tier, links);
            }
            Place::ExtraDirs => {
                for folder in &self.config.load.extra_dirs {
                    self.push(self.env.expand_home(folder), source, tier, links);
                }
            }
            Place::Plugins => {
                let (folders, reasons) = plugins::skill_folders(self.config, self.env);
                self.reasons.extend(reasons);
                // Of two plugins the first wins; the merge lets the last win.
                for folder in folders.into_iter().rev() {
                    self.push(folder, source, tier, links);
                }
            }
            Place::OtherAgents => {
                if self.config.load.agents {
                    for template in AGENT_ROOTS.iter().flat_map(|agent| agent.roots) {
                        if let Place::Path(path) = template.place
                            && expand_place(path, self.places, self.env).is_dir()
                        {
                            self.template(template);
                        }
                    }
                }
            }
            Place::Bundled => match &self.places.bundled {
                Some(path) => self.push(path.clone(), source, tier, links),
                None => self.reasons.push(
                    Reason::new(Code::RootMissing, "there are no bundled skills")
                        .source(source)
                        .remedy("set SINEW_BUNDLED_SKILLS_DIR to a folder of skills"),
                ),
            },
        }
    }

    fn push(&mut self, path: PathBuf, source: &str, tier: Tier, links: Links) {
        let named_skills = path.file_name().is_some_and(|name| name == "skills");
        let usual = if tier == Tier::Extra && !named_skills { SHALLOW } else { DEPTH };
        self.roots.push(Root {
            path,
            source: source.to_owned(),
            tier,
            links,
            max_depth: self.config.load.max_depth.unwrap_or(usual),
            shape: if tier == Tier::Grown { Shape::Container } else { Shape::Any },
        });
    }

    fn personal_is_read(&self) -> bool {
        match self.config.load.personal {
            Personal::Yes => true,
            Personal::No => false,
            Personal::Auto => self.env.openclaw_state().1 == Moved::No,
        }
    }
}

/// The folder a [`Place::Path`] template means on this machine.
pub fn expand_place(template: &str, places: &Places, env: &Environment) -> PathBuf {
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

/// How far above the program a `skills` folder is looked for.
const BUNDLED_PARENTS: usize = 6;

/// The bundled skills by the reference's rule: a variable, or a folder beside or above the program.
pub fn find_bundled(env: &Environment) -> Option<PathBuf> {
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
