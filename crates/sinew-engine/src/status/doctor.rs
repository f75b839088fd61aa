//! `doctor`: what sinew sees on this machine.

use serde::Serialize;
use sinew_catalog::shell_word;
use sinew_catalog::{AGENT_ROOTS, CallerFolders, Catalog, EntryState, Profile, RootLocation};
use sinew_settings::config::ApprovalPolicy;
use sinew_settings::path_text;

use crate::{Engine, StatusHandle};

/// How many blocked skills are named; the others are counted.
const MAX_HELD_NAMES: usize = 5;

/// What sinew sees on this machine.
#[derive(Debug, Serialize)]
pub struct DoctorReport {
    /// The program's version.
    pub version: &'static str,
    /// The worst health of any probe.
    pub health: ProbeHealth,
    /// One line each.
    pub probes: Vec<DoctorProbe>,
}

/// One thing that was checked.
#[derive(Debug, Serialize)]
pub struct DoctorProbe {
    /// What it belongs to.
    pub area: &'static str,
    /// What was checked.
    pub name: String,
    /// How it is.
    pub health: ProbeHealth,
    /// What was found.
    pub detail: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ProbeHealth {
    /// As it should be.
    Good,
    /// Absent, and that is fine.
    Absent,
    /// Needs attention.
    Warn,
    /// Keeps sinew from acting until it is mended.
    Fault,
}

/// The length of a registry's pepper.
const PEPPER_BYTES: u64 = 32;

impl StatusHandle<'_> {
    /// What sinew sees on this machine, and what would help.
    pub fn doctor(&self, catalog: &Catalog) -> DoctorReport {
        let mut probes = Vec::new();
        self.probe_settings(&mut probes);
        self.probe_database(&mut probes);
        self.probe_pepper(&mut probes);
        self.probe_agents(&mut probes);
        self.probe_roots(catalog, &mut probes);
        self.probe_skills(catalog, &mut probes);
        self.probe_runs(&mut probes);
        self.probe_workshop(&mut probes);
        self.probe_connections(&mut probes);
        let health = probes.iter().map(|probe| probe.health).max().unwrap_or(ProbeHealth::Good);
        DoctorReport { version: env!("CARGO_PKG_VERSION"), health, probes }
    }

    fn probe_settings(&self, probes: &mut Vec<DoctorProbe>) {
        let env = self.engine.environment();
        let home = env.sinew_home();
        let (health, remedy) = match crate::home_care::is_open(&home) {
            true => (ProbeHealth::Warn, Some(format!("run `chmod 700 {}`", path_text(&home)))),
            false => (ProbeHealth::Good, None),
        };
        probes.push(DoctorProbe { health, remedy, ..good("settings", "home", path_text(&home)) });
        for file in crate::home_care::exposed_files(env) {
            let file = path_text(&file);
            let remedy = Some(format!("run `chmod 600 {file}`"));
            let (health, detail) = (ProbeHealth::Warn, format!("others can reach {file}"));
            probes.push(DoctorProbe { health, remedy, ..good("settings", "files", detail) });
        }
        let source = self.engine.settings().config_source();
        let (health, detail) = match source.exists {
            true => (ProbeHealth::Good, path_text(&source.path)),
            false => {
                (ProbeHealth::Absent, format!("{} (none; defaults hold)", path_text(&source.path)))
            }
        };
        probes.push(DoctorProbe { health, ..good("settings", "config", detail) });
        for fault in &self.engine.config.faults {
            let remedy = Some("correct the file; until then nothing is changed".to_owned());
            let detail = fault.problem.clone();
            let health = ProbeHealth::Fault;
            probes.push(DoctorProbe { health, remedy, ..good("settings", "gate", detail) });
        }
        probes.push(good(
            "settings",
            "profile",
            format!("{}: {}", self.engine.profile().name, self.engine.profile().title),
        ));
        let folders = env.path_folders();
        let missing = folders.iter().filter(|folder| !folder.is_dir()).count();
        probes.push(good(
            "settings",
            "PATH",
            format!("{} folders, {missing} of them missing", folders.len()),
        ));
    }

    /// The secret that the tokens of a registry on this machine are hashed with.
    fn probe_pepper(&self, probes: &mut Vec<DoctorProbe>) {
        let path = self.engine.environment().sinew_home().join("registry").join("pepper");
        let Ok(facts) = std::fs::metadata(&path) else { return };
        let (health, detail) = match facts.len() {
            length if length < PEPPER_BYTES => (
                ProbeHealth::Fault,
                format!("{} has {length} bytes of {PEPPER_BYTES}", path_text(&path)),
            ),
            _ => (ProbeHealth::Good, path_text(&path)),
        };
        let remedy = (health == ProbeHealth::Fault).then(|| {
            "restore it from a copy; without it no token of the registry is valid".to_owned()
        });
        probes.push(DoctorProbe { health, remedy, ..good("registry", "pepper", detail) });
    }

    fn probe_database(&self, probes: &mut Vec<DoctorProbe>) {
        let care = self.engine.database();
        let shown = match (care.file(), self.engine.env.var("SINEW_DATABASE_URL")) {
            (Some(path), _) => path_text(&path),
            // The address may hold a password.
            (None, Some(_)) => "a server".to_owned(),
            (None, None) => {
                let detail = "none yet; it is made when there is something to remember".to_owned();
                let health = ProbeHealth::Absent;
                probes.push(DoctorProbe { health, ..good("database", "store", detail) });
                return;
            }
        };
        match care.check_whole() {
            Ok(()) => probes.push(good("database", "store", format!("{shown}: sound"))),
            Err(error) => probes.push(DoctorProbe {
                health: ProbeHealth::Fault,
                remedy: Some(error.hints.join("; ")).filter(|hints| !hints.is_empty()),
                ..good("database", "store", error.to_string())
            }),
        }
        if care.file().is_some() {
            let copies = care.copies();
            let (health, detail) = match copies.first() {
                Some(newest) => {
                    (ProbeHealth::Good, format!("{}, the newest {}", copies.len(), newest.file))
                }
                None => (ProbeHealth::Absent, "none yet; one is made every day".to_owned()),
            };
            probes.push(DoctorProbe { health, ..good("database", "copies", detail) });
        }
    }

    fn probe_agents(&self, probes: &mut Vec<DoctorProbe>) {
        for agent in AGENT_ROOTS {
            let folders = agent_folders(self.engine, agent.roots);
            let read = self.engine.config().load.agents
                && self.engine.profile().name == Profile::default_profile().name;
            let (health, detail) = match (folders.as_slice(), read) {
                ([], _) => (ProbeHealth::Absent, "no skill folder on this machine".to_owned()),
                (found, true) => (ProbeHealth::Good, found.join(", ")),
                (found, false) => (ProbeHealth::Absent, format!("{} (not read)", found.join(", "))),
            };
            let remedy = (health == ProbeHealth::Good).then(|| {
                "set skills.load.agents to false to leave other agents' skills out".to_owned()
            });
            probes.push(DoctorProbe { health, remedy, ..good("agents", agent.title, detail) });
        }
    }

    fn probe_roots(&self, catalog: &Catalog, probes: &mut Vec<DoctorProbe>) {
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
                true => (ProbeHealth::Good, format!("{path}: {count} skills")),
                false => (ProbeHealth::Absent, format!("{path} (none)")),
            };
            probes.push(DoctorProbe { health, ..good("roots", &root.source, detail) });
        }
    }

    /// Acquisition runs that are not over, with what they brought.
    fn probe_runs(&self, probes: &mut Vec<DoctorProbe>) {
        if !self.engine.config.cortex.enabled || !crate::store::local_exists(&self.engine.env) {
            return;
        }
        let open = match self.engine.cortex().and_then(|cortex| cortex.open_runs()) {
            Ok(open) if open.is_empty() => return,
            Ok(open) => open,
            Err(error) => {
                probes.push(DoctorProbe {
                    health: ProbeHealth::Warn,
                    ..good("cortex", "runs", error.to_string())
                });
                return;
            }
        };
        let told = open.iter().take(MAX_HELD_NAMES).map(|run| {
            let state = run.state.name();
            match &run.installed {
                Some(skill) => format!("{} ({state}, with {skill} for this task)", run.id),
                None => format!("{} ({state})", run.id),
            }
        });
        let told: Vec<String> = told.collect();
        let hours = self.engine.config.cortex.run_timeout;
        probes.push(DoctorProbe {
            remedy: Some(format!(
                "`sinew report <run> --result ok|fail` ends one, `sinew acquire --cancel <run>` stops it; \
                 after {hours} hours without a word it ends by itself"
            )),
            ..good("cortex", "runs", format!("{} open: {}", open.len(), told.join(", ")))
        });
    }

    fn probe_workshop(&self, probes: &mut Vec<DoctorProbe>) {
        let (settings, _) = self.engine.workshop().settings();
        if !settings.is_on() {
            let detail = "agents have no workshop; your own commands work".to_owned();
            probes.push(DoctorProbe {
                health: ProbeHealth::Absent,
                ..good("workshop", "entry", detail)
            });
            return;
        }
        let auto = settings.approval_policy == ApprovalPolicy::Auto;
        let detail = if auto { "safe changes are written at once" } else { "changes wait for you" };
        let shared = self.engine.env.var("SINEW_DATABASE_URL").is_some();
        probes.push(DoctorProbe {
            health: if auto && shared { ProbeHealth::Warn } else { ProbeHealth::Good },
            remedy: (auto && shared).then(|| {
                "others share this store; set approvalPolicy to pending, so that a person looks"
                    .to_owned()
            }),
            ..good("workshop", "policy", detail.to_owned())
        });
        if settings.review_mode.has_reviewer() {
            let (health, detail, remedy) = match &settings.provider {
                Some(_) => (ProbeHealth::Good, "a model is configured", None),
                None => {
                    (ProbeHealth::Absent, "no provider", Some("set provider to let a model review"))
                }
            };
            let remedy = remedy.map(str::to_owned);
            probes.push(DoctorProbe {
                health,
                remedy,
                ..good("workshop", "reviewer", detail.to_owned())
            });
        }
    }

    fn probe_connections(&self, probes: &mut Vec<DoctorProbe>) {
        // `sinew connect --list` reports a ledger that cannot be read.
        for probe in self.engine.connect().probe().unwrap_or_default() {
            let remedy = (!probe.works)
                .then(|| format!("`sinew connect {} --force` writes it anew", probe.agent));
            let health = if probe.works { ProbeHealth::Good } else { ProbeHealth::Warn };
            probes.push(DoctorProbe {
                health,
                remedy,
                ..good("connections", probe.title, probe.detail)
            });
        }
    }

    fn probe_skills(&self, catalog: &Catalog, probes: &mut Vec<DoctorProbe>) {
        let count =
            |state: EntryState| catalog.entries.iter().filter(|entry| entry.state == state).count();
        let ready = count(EntryState::Ready);
        probes.push(good(
            "skills",
            "ready",
            format!("{ready} of {}", catalog.unshadowed().count()),
        ));
        // What a list of allowed skills leaves out is a wish of the user's; what the scanner holds is not.
        let held: Vec<&str> = catalog
            .unshadowed()
            .filter(|entry| entry.state == EntryState::Blocked && !entry.blocked_by_allowlist)
            .map(|entry| entry.name.as_str())
            .collect();
        if let Some(first) = held.first() {
            let (shown, more) = held.split_at(held.len().min(MAX_HELD_NAMES));
            let more =
                if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
            probes.push(DoctorProbe {
                health: ProbeHealth::Warn,
                remedy: Some(format!(
                    "`sinew why {}` shows what was found; remove the skill, or accept the finding",
                    shell_word(first)
                )),
                ..good("skills", "blocked", format!("{}{more}", shown.join(", ")))
            });
        }
        let broken = count(EntryState::Broken);
        let mut faulty = catalog.entries.iter().filter(|entry| entry.state == EntryState::Broken);
        if let Some(first) = faulty.next() {
            probes.push(DoctorProbe {
                health: ProbeHealth::Warn,
                remedy: Some(format!("`sinew why {}` says what is wrong", shell_word(&first.name))),
                ..good("skills", "broken", broken.to_string())
            });
        }
        let report = self.engine.skills().prompt(catalog, &crate::PromptOptions::default()).report;
        let cut = report.omitted.len();
        probes.push(DoctorProbe {
            health: if cut > 0 { ProbeHealth::Warn } else { ProbeHealth::Good },
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
            if reason.severity > sinew_settings::ReasonSeverity::Info {
                probes.push(DoctorProbe {
                    area: "issues",
                    name: reason.code.to_string(),
                    health: ProbeHealth::Warn,
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
        RootLocation::Path(path) => Some(path),
        _ => None,
    });
    let places =
        CallerFolders { workspace: engine.workspace().to_owned(), ..CallerFolders::default() };
    paths
        .map(|path| sinew_catalog::expand_root_path(path, &places, engine.environment()))
        .filter(|path| path.is_dir())
        .map(|path| path_text(&path))
        .collect()
}

fn good(area: &'static str, name: &str, detail: String) -> DoctorProbe {
    DoctorProbe { area, name: name.to_owned(), health: ProbeHealth::Good, detail, remedy: None }
}
