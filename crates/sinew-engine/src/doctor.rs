//! `doctor`: what sinew sees on this machine.

use serde::Serialize;
use sinew_catalog::{AGENT_ROOTS, Catalog, Place, Places, Profile, State, path_text};
use sinew_workshop::Policy;

use crate::Engine;

/// What sinew sees on this machine.
#[derive(Debug, Serialize)]
pub struct Diagnosis {
    /// The program's version.
    pub version: &'static str,
    /// The worst health of any probe.
    pub health: Health,
    /// One line each.
    pub probes: Vec<Probe>,
}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
pub struct Probe {
    /// What it belongs to.
    pub area: &'static str,
    /// What was looked at.
    pub name: String,
    /// How it is.
    pub health: Health,
    /// What was found.
    pub detail: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    /// As it should be.
    Good,
    /// Absent, and that is fine.
    Absent,
    /// Worth a look.
    Warn,
}

impl Engine {
    /// What sinew sees on this machine, and what would help.
    pub fn doctor(&self, catalog: &Catalog) -> Diagnosis {
        let mut probes = Vec::new();
        self.probe_settings(&mut probes);
        self.probe_agents(&mut probes);
        self.probe_roots(catalog, &mut probes);
        self.probe_skills(catalog, &mut probes);
        self.probe_workshop(&mut probes);
        self.probe_connections(&mut probes);
        let health = probes.iter().map(|probe| probe.health).max().unwrap_or(Health::Good);
        Diagnosis { version: env!("CARGO_PKG_VERSION"), health, probes }
    }

    fn probe_settings(&self, probes: &mut Vec<Probe>) {
        let env = self.environment();
        probes.push(good("settings", "home", path_text(&env.sinew_home())));
        let source = self.config_source();
        let (health, detail) = match source.exists {
            true => (Health::Good, path_text(&source.path)),
            false => (Health::Absent, format!("{} (none; defaults hold)", path_text(&source.path))),
        };
        probes.push(Probe { health, ..good("settings", "config", detail) });
        probes.push(good(
            "settings",
            "profile",
            format!("{}: {}", self.profile().name, self.profile().title),
        ));
        let folders = env.path_folders();
        let missing = folders.iter().filter(|folder| !folder.is_dir()).count();
        probes.push(good(
            "settings",
            "PATH",
            format!("{} folders, {missing} of them missing", folders.len()),
        ));
    }

    fn probe_agents(&self, probes: &mut Vec<Probe>) {
        for agent in AGENT_ROOTS {
            let folders = agent_folders(self, agent.roots);
            let read =
                self.config().load.agents && self.profile().name == Profile::default_profile().name;
            let (health, detail) = match (folders.as_slice(), read) {
                ([], _) => (Health::Absent, "no skill folder on this machine".to_owned()),
                (found, true) => (Health::Good, found.join(", ")),
                (found, false) => (Health::Absent, format!("{} (not read)", found.join(", "))),
            };
            let remedy = (health == Health::Good).then(|| {
                "set skills.load.agents to false to leave other agents' skills out".to_owned()
            });
            probes.push(Probe { health, remedy, ..good("agents", agent.title, detail) });
        }
    }

    fn probe_roots(&self, catalog: &Catalog, probes: &mut Vec<Probe>) {
        for root in &catalog.roots {
            let count = catalog
                .entries
                .iter()
                .filter(|entry| {
                    entry.source == root.source && entry.base_dir.starts_with(&root.path)
                })
                .count();
            let path = path_text(&root.path);
            let (health, detail) = match root.path.is_dir() {
                true => (Health::Good, format!("{path}: {count} skills")),
                false => (Health::Absent, format!("{path} (none)")),
            };
            probes.push(Probe { health, ..good("roots", &root.source, detail) });
        }
    }

    fn probe_workshop(&self, probes: &mut Vec<Probe>) {
        let (settings, _) = self.workshop_settings();
        if !settings.is_on() {
            let detail = "agents have no workshop; your own commands work".to_owned();
            probes.push(Probe { health: Health::Absent, ..good("workshop", "entry", detail) });
            return;
        }
        let auto = settings.approval_policy == Policy::Auto;
        let detail = if auto { "safe changes are written at once" } else { "changes wait for you" };
        let shared = self.env.var("SINEW_DATABASE_URL").is_some();
        probes.push(Probe {
            health: if auto && shared { Health::Warn } else { Health::Good },
            remedy: (auto && shared).then(|| {
                "others share this store; set approvalPolicy to pending, so that a person looks"
                    .to_owned()
            }),
            ..good("workshop", "policy", detail.to_owned())
        });
        if settings.review_mode.has_reviewer() {
            let (health, detail, remedy) = match &settings.provider {
                Some(_) => (Health::Good, "a model is configured", None),
                None => (Health::Absent, "no provider", Some("set provider to let a model review")),
            };
            let remedy = remedy.map(str::to_owned);
            probes.push(Probe {
                health,
                remedy,
                ..good("workshop", "reviewer", detail.to_owned())
            });
        }
    }

    fn probe_skills(&self, catalog: &Catalog, probes: &mut Vec<Probe>) {
        let count =
            |state: State| catalog.entries.iter().filter(|entry| entry.state == state).count();
        let ready = count(State::Ready);
        probes.push(good("skills", "ready", format!("{ready} of {}", catalog.active().count())));
        let broken = count(State::Broken);
        if broken > 0 {
            probes.push(Probe {
                health: Health::Warn,
                remedy: Some(
                    "`sinew list` shows them; `sinew why <skill>` says what is wrong".to_owned(),
                ),
                ..good("skills", "broken", broken.to_string())
            });
        }
        let report = self.prompt(catalog, &crate::PromptOptions::default()).report;
        let cut = report.omitted.len();
        probes.push(Probe {
            health: if cut > 0 { Health::Warn } else { Health::Good },
            remedy: (cut > 0).then(|| {
                "raise skills.limits, or pin what matters with skills.prompt.pin".to_owned()
            }),
            ..good(
                "skills",
                "prompt",
                format!(
                    "{} of {} skills in {} of {} characters",
                    report.included, report.total, report.used, report.budget
                ),
            )
        });
        for reason in self.issues(catalog) {
            if reason.severity > sinew_skill::Severity::Info {
                probes.push(Probe {
                    area: "issues",
                    name: reason.code.to_string(),
                    health: Health::Warn,
                    detail: match &reason.path {
                        Some(path) => format!("{} ({path})", reason.detail),
                        None => reason.detail.clone(),
                    },
                    remedy: reason.remedy,
                });
            }
        }
    }
}

/// An agent's folders that exist.
fn agent_folders(engine: &Engine, templates: &[sinew_catalog::RootTemplate]) -> Vec<String> {
    let paths = templates.iter().filter_map(|template| match template.place {
        Place::Path(path) => Some(path),
        _ => None,
    });
    let places = Places { workspace: engine.workspace().to_owned(), ..Places::default() };
    paths
        .map(|path| sinew_catalog::expand_place(path, &places, engine.environment()))
        .filter(|path| path.is_dir())
        .map(|path| path_text(&path))
        .collect()
}

fn good(area: &'static str, name: &str, detail: String) -> Probe {
    Probe { area, name: name.to_owned(), health: Health::Good, detail, remedy: None }
}
