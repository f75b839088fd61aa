//! The cortex with its storage: the log in the database, the clock, the mirror file.
//!
//! [`Engine::cortex`] gives a [`Cortex`]. A caller with an outcome uses [`Cortex::record`], one with a
//! task [`Cortex::recall`]; both may happen in any number of processes at once. The log is the source
//! of truth; the memory held here is a fold that follows the log.
//!
//! What must never happen here: an outcome that was acknowledged and is not in the log, a secret or a
//! name in a record, a damaged memory that stops a task.

mod candidate_fit;
mod cortex_json;
mod elsewhere;
mod history;
mod log;
mod manage;
mod outage_spool;
mod prior;
mod recall;
mod record;
mod run;
mod skill_identity;
mod trials;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, RwLock};

use sinew_cortex::signals::SignalVocabulary;
use sinew_cortex::{CortexMemory, CortexPolicy, Ulid, UtcInstant};
use sinew_store::Store;

pub use cortex_json::{CortexExport, CortexImport};
pub use elsewhere::SkillElsewhere;
pub use manage::{CortexOverview, LessonRow, PruneReport, ReadOnlyRow, RebuildReport, RegionRow};
pub use outage_spool::OutcomeReport;
pub use prior::LearnedPrior;
pub(crate) use prior::{MessageLessons, RoutingMemory};
pub use recall::{ProbedLesson, TaskRecall, WhyAnswer};
pub(crate) use record::lesson_sentence;
pub use record::{NewOutcome, OutcomeEffect, ReflexChange};
pub use run::ReportedRun;
pub use skill_identity::SkillIdentity;

use crate::{Engine, EngineError};
use log::FoldState;
pub(crate) use log::entropy;
use sinew_settings::ErrorCode;

/// What was learned on this machine, or by this team.
#[derive(Debug, Clone, Copy)]
pub struct Cortex<'e> {
    engine: &'e Engine,
    state: &'e CortexState,
}

/// What the engine keeps of the cortex between two questions.
#[derive(Debug)]
pub(crate) struct CortexState {
    policy: CortexPolicy,
    mirror: Option<PathBuf>,
    store: RwLock<Arc<dyn Store>>,
    followed: Mutex<FoldState>,
    notices: Mutex<Vec<String>>,
    last_id: Mutex<Option<Ulid>>,
    regions: recall::RegionRouter,
    candidates: candidate_fit::CandidateRouter,
}

impl Engine {
    /// The cortex of this machine or team, opened on first use.
    pub fn cortex(&self) -> Result<Cortex<'_>, EngineError> {
        let settings = &self.config.cortex;
        if !settings.enabled {
            return Err(EngineError::new(
                ErrorCode::CortexDisabled,
                "the configuration switches the cortex off",
            )
            .hint("set cortex.enabled to true"));
        }
        if let Some(state) = self.cortex.get() {
            return Ok(Cortex { engine: self, state });
        }
        let store = self.store()?;
        let aside = store.location().set_aside.clone();
        let mirror = settings.mirror.as_deref().map(str::trim).filter(|path| !path.is_empty());
        let state = self.cortex.get_or_init(|| CortexState {
            policy: CortexPolicy::from(settings),
            mirror: mirror.map(|path| self.env.expand_home(path)),
            store: RwLock::new(store),
            followed: Mutex::default(),
            notices: Mutex::default(),
            last_id: Mutex::default(),
            regions: recall::RegionRouter::default(),
            candidates: candidate_fit::CandidateRouter::default(),
        });
        let cortex = Cortex { engine: self, state };
        if let Some(aside) = aside {
            cortex.told_of_damage(&aside);
            cortex.restore_from_mirror();
        }
        Ok(cortex)
    }

    /// The words that signals are made of: tools that this machine's skills are named after are tools.
    pub(crate) fn vocabulary(&self) -> &SignalVocabulary {
        self.vocabulary.get_or_init(|| {
            let snapshot = self.current();
            let names = snapshot.catalog.entries.iter().map(|entry| entry.name.as_str());
            SignalVocabulary::with_slugs(names)
        })
    }
}

impl Cortex<'_> {
    /// The settings that hold.
    pub fn policy(&self) -> &CortexPolicy {
        &self.state.policy
    }

    /// The time.
    pub fn now(&self) -> UtcInstant {
        UtcInstant::from_clock(self.engine.env.clock.now_ms())
    }

    /// What is remembered now.
    pub fn memory(&self) -> Result<CortexMemory, EngineError> {
        self.with_memory(CortexMemory::clone)
    }

    /// Problems to report to the user: a damaged file that was set aside, records that could not be
    /// read.
    pub fn notices(&self) -> Vec<String> {
        self.state.notices.lock().map(|notices| notices.clone()).unwrap_or_default()
    }

    fn notice(&self, text: String) {
        if let Ok(mut notices) = self.state.notices.lock()
            && !notices.contains(&text)
        {
            notices.push(text);
        }
    }

    fn told_of_damage(&self, aside: &std::path::Path) {
        self.notice(format!(
            "the memory was damaged; a new one was begun, the old file is kept as {}",
            aside.display()
        ));
    }
}
