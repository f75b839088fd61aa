//! A workshop on a bench of its own: a workspace, a store, a clock that ticks, skills around it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use serde_json::{Value, json};
use sinew_guard::scan::Scanner;
use sinew_route::RouteDocument;
use sinew_settings::Config;
use sinew_settings::config::{CaptureProfile, WorkshopSettings};
use sinew_settings::{Actor, Clock};
use sinew_store::Store;
use sinew_workshop::{
    ApplyConsent, NeighbourSkill, Proposal, ProposalChange, ProposalOrigin, ProposalRequest,
    ProposalSource, ProposalUpdate, Result, SkillOwner, SkillSurroundings, StoredQuery,
    TrialRecord, TriggerQueries, Workshop, WorkshopCaller, WorkshopParts,
};
use tempfile::TempDir;

/// Compiling the scanner's patterns is what costs; all tests of a process share one.
static SCANNER: LazyLock<Scanner> = LazyLock::new(Scanner::new);

pub(crate) const PERSON: Actor = Actor::Person { name: None, via: None };

pub(crate) fn agent() -> Actor {
    Actor::Agent { name: "claude".to_owned() }
}

#[derive(Debug, Default)]
pub(crate) struct TickingClock(AtomicU64);

impl Clock for TickingClock {
    fn now_ms(&self) -> u64 {
        1_000_000 + self.0.fetch_add(1, Ordering::Relaxed)
    }
}

impl TickingClock {
    pub(crate) fn pass(&self, ms: u64) {
        self.0.fetch_add(ms, Ordering::Relaxed);
    }
}

/// The bench's folder: removed by the process that made it, left alone by a child process.
pub(crate) struct Folder {
    path: PathBuf,
    _made: Option<TempDir>,
}

impl Folder {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

pub(crate) struct Bench {
    pub(crate) folder: Folder,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) settings: WorkshopSettings,
    pub(crate) clock: TickingClock,
    pub(crate) elsewhere: BTreeMap<String, SkillOwner>,
    pub(crate) queries: Vec<StoredQuery>,
    pub(crate) pushed_out: Vec<String>,
    pub(crate) trials: BTreeMap<String, TrialRecord>,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("sinew.db");
        let store = sinew_store::open(&path.to_string_lossy(), &Default::default());
        Self::on(folder, store.expect("a store"))
    }

    /// A bench over a store of one's own.
    pub(crate) fn on(folder: TempDir, store: Arc<dyn Store>) -> Self {
        fs::create_dir(folder.path().join("work")).expect("a workspace");
        let path = folder.path().to_owned();
        Self::in_folder(Folder { path, _made: Some(folder) }, store)
    }

    /// The bench that a child process was started for; `None` when ignored tests are run by hand.
    pub(crate) fn of_parent() -> Option<Self> {
        let path = PathBuf::from(std::env::var_os("SINEW_CHILD_ROOT")?);
        let store =
            sinew_store::open(&path.join("sinew.db").to_string_lossy(), &Default::default());
        Some(Self::in_folder(Folder { path, _made: None }, store.expect("a store")))
    }

    /// This test binary again, on the same bench.
    pub(crate) fn child(&self, test: &str) -> Command {
        let mut command = Command::new(std::env::current_exe().expect("this binary"));
        command.args([test, "--exact", "--ignored", "--quiet", "--nocapture"]);
        command.env("SINEW_CHILD_ROOT", self.folder.path());
        command
    }

    fn in_folder(folder: Folder, store: Arc<dyn Store>) -> Self {
        Self {
            store,
            folder,
            settings: WorkshopSettings {
                loaded: true,
                capture_profile: CaptureProfile::Reference,
                ..WorkshopSettings::default()
            },
            clock: TickingClock::default(),
            elsewhere: BTreeMap::new(),
            queries: Vec::new(),
            pushed_out: Vec::new(),
            trials: BTreeMap::new(),
        }
    }

    /// A bench with the plugin's `config` object; captures as the plugin does unless it says otherwise.
    pub(crate) fn with(mut config: Value) -> Self {
        if let Some(config) = config.as_object_mut() {
            config.entry("captureProfile").or_insert_with(|| "reference".into());
        }
        let tree = json!({"plugins": {"entries": {"skill-workshop": {
            "enabled": true,
            "config": config,
        }}}});
        Self { settings: Config::from_tree(tree).0.workshop, ..Self::new() }
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.workspace().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        fs::write(path, text).expect("a file");
    }

    /// A file's text; empty where there is none.
    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap_or_default()
    }

    pub(crate) fn skill(&self, name: &str) -> String {
        self.read(&format!("skills/{name}/SKILL.md"))
    }

    /// Every file of the workspace.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut waiting = vec![self.workspace()];
        while let Some(folder) = waiting.pop() {
            for entry in fs::read_dir(folder).expect("a folder").flatten() {
                match entry.file_type().expect("a kind").is_dir() {
                    true => waiting.push(entry.path()),
                    false => {
                        let inside = entry.path();
                        let inside = inside.strip_prefix(self.workspace()).expect("inside");
                        found.push(inside.to_string_lossy().into_owned());
                    }
                }
            }
        }
        found.sort();
        found
    }

    pub(crate) fn shop<T>(&self, work: impl FnOnce(&Workshop<'_>) -> T) -> T {
        let workspace = self.workspace();
        let locks = self.folder.path().join("locks");
        work(&Workshop::new(WorkshopParts {
            store: self.store.as_ref(),
            workspace: &workspace,
            locks: &locks,
            settings: &self.settings,
            scanner: &SCANNER,
            surroundings: self,
            clock: &self.clock,
        }))
    }

    pub(crate) fn suggest(&self, draft: &ProposalRequest, by: Actor) -> Result<ProposalUpdate> {
        let origin = ProposalOrigin {
            by,
            source: ProposalSource::Tool,
            agent_id: None,
            session_id: None,
            apply: Default::default(),
        };
        self.shop(|shop| shop.suggest(draft, &origin))
    }

    pub(crate) fn apply(&self, id: &str) -> Result<ProposalUpdate> {
        self.shop(|shop| shop.apply(id, &PERSON, &ApplyConsent::default()))
    }

    /// Suggests as a person and applies.
    pub(crate) fn write_skill(&self, name: &str, body: &str) -> Proposal {
        let made = self.suggest(&create(name, body), PERSON).expect("a proposal");
        self.apply(&made.proposal.id).expect("written").proposal
    }

    pub(crate) fn tool(&self, parameters: Value, by: Actor) -> std::result::Result<Value, String> {
        let caller = WorkshopCaller { by, agent_id: None, session_id: None };
        let answer = self.shop(|shop| shop.call_tool(&parameters, &caller));
        answer.map(|answer| answer.value).map_err(|error| error.to_string())
    }

    pub(crate) fn status_of(&self, id: &str) -> String {
        self.shop(|shop| shop.inspect(id)).expect("a proposal").status.as_str().to_owned()
    }
}

impl SkillSurroundings for Bench {
    fn owner_elsewhere(&self, name: &str) -> Option<SkillOwner> {
        self.elsewhere.get(name).copied()
    }

    fn skills(&self) -> Vec<NeighbourSkill> {
        let entries = fs::read_dir(self.path("skills")).into_iter().flatten().flatten();
        let mut skills: Vec<NeighbourSkill> = entries
            .filter_map(|entry| {
                let name = entry.file_name().to_string_lossy().into_owned();
                let text = fs::read_to_string(entry.path().join("SKILL.md")).ok()?;
                let document = RouteDocument::from_text(&name, &name, &text);
                let own = self.queries.iter().filter(|query| query.skill == name);
                Some(NeighbourSkill { queries: own.cloned().collect(), document })
            })
            .collect();
        skills.sort_by(|a, b| a.document.name.cmp(&b.document.name));
        skills
    }

    fn displaced_skills(&self, _name: &str, _description: &str) -> Vec<String> {
        self.pushed_out.clone()
    }

    fn trials(&self, name: &str, _since: u64) -> Option<TrialRecord> {
        self.trials.get(name).copied()
    }

    fn refresh(&self) {}
}

pub(crate) fn draft(name: &str, change: ProposalChange) -> ProposalRequest {
    ProposalRequest {
        skill_name: name.to_owned(),
        title: String::new(),
        reason: String::new(),
        change,
        evidence: Vec::new(),
        queries: TriggerQueries::default(),
    }
}

pub(crate) fn create(name: &str, body: &str) -> ProposalRequest {
    let change = ProposalChange::Create {
        description: format!("About {name}"),
        body: body.to_owned(),
        files: BTreeMap::new(),
        generated: None,
    };
    draft(name, change)
}

pub(crate) fn append(name: &str, body: &str) -> ProposalRequest {
    let change = ProposalChange::Append {
        section: "Workflow".to_owned(),
        body: body.to_owned(),
        description: String::new(),
    };
    draft(name, change)
}

pub(crate) fn replace(name: &str, old: &str, new: &str) -> ProposalRequest {
    draft(name, ProposalChange::Replace { old_text: old.to_owned(), new_text: new.to_owned() })
}
