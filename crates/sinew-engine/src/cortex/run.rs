//! Acquisition runs in the database: each step is one transaction, with what it logs and an entry in
//! the audit trail.

use serde::Serialize;
use sinew_cortex::Ulid;
use sinew_cortex::acquire::{
    AcquireContext, AcquireEffect, AcquireEvent, AcquireRefusal, AcquireRun, AcquireState,
    AcquireStep, GONE, UseReport, may_retain, resume, step,
};
use sinew_cortex::explain::RunCounts;
use sinew_cortex::memory::CortexMemory;
use sinew_cortex::record::SkillOutcome;
use sinew_cortex::signals::{clean_detail, is_region, signal_words};
use sinew_settings::ErrorCode;
use sinew_settings::config::RelayPolicy;
use sinew_store::{DocumentVersion, ExpectedVersion, JsonText, KeyRange, StoreError, StoreOp};

use super::Cortex;
use super::log::{STREAM, entropy, log_row};
use super::record::checked_name;
use crate::EngineError;
use crate::acquire::AcquireRequest;
use crate::store::audit;

/// The runs, by id.
const RUNS: &str = "runs";
/// The longest keyword.
const MAX_KEYWORD: usize = 40;
/// Runs read at a time when searching for open ones.
const PAGE: usize = 1_000;

/// A run after its outcome was reported.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ReportedRun {
    /// The run.
    pub run: String,
    /// Its state.
    pub state: &'static str,
    /// The task area.
    pub region: Option<String>,
    /// The skill.
    pub skill: Option<String>,
    /// The skill's weight; `None` where it is not remembered.
    pub weight: Option<f64>,
    /// The weight as it counts today.
    pub effective_weight: Option<f64>,
    /// Whether it has earned a reflex.
    pub reflex: bool,
    /// How often it was used.
    pub runs: Option<RunCounts>,
}

impl Cortex<'_> {
    /// What a step did to a run and to the memory of its skill.
    pub fn reported_run(&self, stepped: &AcquireStep) -> Result<ReportedRun, EngineError> {
        let run = &stepped.run;
        let skill = run.current().map(|offer| offer.slug.clone());
        // A new area has its name from the first outcome.
        let region = run.region.clone().or_else(|| Some(run.region_for(skill.as_deref()?)));
        let (today, place) = (self.now().day(), region.clone().zip(skill.clone()));
        let known = self.with_memory(|memory| {
            let (region, skill) = place.as_ref()?;
            let candidate = memory.candidate(region, skill)?;
            let effective =
                memory.motor.get(region)?.effective_weight(candidate, today, self.policy());
            let fail = candidate.runs().saturating_sub(candidate.success);
            let runs = RunCounts { success: candidate.success, fail };
            Some((candidate.weight, effective, candidate.reflex, runs))
        })?;
        Ok(ReportedRun {
            run: run.id.clone(),
            state: run.state.name(),
            region,
            skill,
            weight: known.map(|(weight, ..)| weight),
            effective_weight: known.map(|(_, effective, ..)| effective),
            reflex: known.is_some_and(|(.., reflex, _)| reflex),
            runs: known.map(|(.., runs)| runs),
        })
    }

    /// Begins a run for a task. What must be done first is [`AcquireEffect::Recall`].
    pub fn start_run(&self, task: &str) -> Result<AcquireRun, EngineError> {
        self.begin_run(&AcquireRequest { task: task.to_owned(), ..AcquireRequest::default() })
    }

    /// Begins a run for a request.
    pub(crate) fn begin_run(&self, wish: &AcquireRequest) -> Result<AcquireRun, EngineError> {
        if wish.task.trim().is_empty() {
            return Err(EngineError::new(ErrorCode::NoTask, "there is no task"));
        }
        if let Some(region) = wish.region.as_deref().filter(|region| !is_region(region)) {
            let region: String = region.chars().filter(|c| !c.is_control()).take(40).collect();
            let message = format!("`{region}` is no name of a region");
            return Err(EngineError::new(ErrorCode::BadRegion, message)
                .hint("use lower-case letters, digits and hyphens"));
        }
        check_keywords(&wish.keywords)?;
        let now = self.now();
        let signals = signal_words(&wish.task, self.engine.vocabulary());
        let run = AcquireRun {
            region: wish.region.clone(),
            keywords: wish.keywords.clone(),
            anyway: wish.anyway,
            chosen: wish.chosen.clone(),
            read_only: wish.read_only,
            ..AcquireRun::new(Ulid::new(now, entropy()?), now, &wish.task, signals)
        };
        self.save_run(run, "", ExpectedVersion::Absent)
    }

    /// A run.
    pub fn run(&self, id: &str) -> Result<AcquireRun, EngineError> {
        self.find_run(id)?.ok_or_else(|| unknown_run(id))
    }

    pub(crate) fn find_run(&self, id: &str) -> Result<Option<AcquireRun>, EngineError> {
        if id.parse::<Ulid>().is_err() {
            return Ok(None);
        }
        Ok(self.load_run(id)?.map(|(run, _)| run))
    }

    fn load_run(&self, id: &str) -> Result<Option<(AcquireRun, DocumentVersion)>, EngineError> {
        let found = self.store()?.get(RUNS, id)?;
        Ok(found.map(|found| found.body.read().map(|run| (run, found.version))).transpose()?)
    }

    /// Runs that are not over, oldest first: what a crash may have left behind.
    pub fn open_runs(&self) -> Result<Vec<AcquireRun>, EngineError> {
        let store = self.store()?;
        let (mut open, mut after) = (Vec::new(), String::new());
        loop {
            let page = store.list(RUNS, KeyRange::ALL.after(&after), PAGE)?;
            let Some(last) = page.last() else { return Ok(open) };
            after.clone_from(&last.key);
            let runs = page.iter().filter_map(|found| found.body.read::<AcquireRun>().ok());
            open.extend(runs.filter(|run| !matches!(run.state, AcquireState::Closed { .. })));
        }
    }

    /// Advances a run by one step: the run, its log records and the audit entry are saved together, or
    /// not at all. The effects are up to the caller.
    pub fn step_run(
        &self,
        id: &str,
        event: &AcquireEvent,
        relay: RelayPolicy,
    ) -> Result<AcquireStep, EngineError> {
        let (run, version) = self.load_run(id)?.ok_or_else(|| unknown_run(id))?;
        let memory = self.memory()?;
        let context =
            AcquireContext { memory: &memory, policy: self.policy(), relay, now: self.now() };
        let stepped = step(&run, self.cleaned(event), &context).map_err(refused)?;
        let from = run.state.name();
        let run = self.save_run(stepped.run, from, ExpectedVersion::Version(version))?;
        Ok(AcquireStep { run, effects: stepped.effects })
    }

    /// An event without names, paths and secrets: it is about to be stored.
    fn cleaned(&self, event: &AcquireEvent) -> AcquireEvent {
        let clean = |text: &str| clean_detail(text, self.engine.vocabulary());
        match event.clone() {
            AcquireEvent::Finished(finish) => AcquireEvent::Finished(UseReport {
                detail: finish.detail.as_deref().map(clean),
                point: finish.point.as_deref().map(clean).filter(|point| !point.is_empty()),
                key: finish.key.filter(|key| checked_name("key", key).is_ok()),
                ..finish
            }),
            AcquireEvent::InstallFailed(detail) => AcquireEvent::InstallFailed(clean(&detail)),
            AcquireEvent::Fetched(results) => AcquireEvent::Fetched(
                results
                    .into_iter()
                    .map(|(slug, result)| {
                        let told =
                            |detail: String| if detail == GONE { detail } else { clean(&detail) };
                        (slug, result.map_err(told))
                    })
                    .collect(),
            ),
            other => other,
        }
    }

    /// Carries on with a run that a crash left behind.
    pub fn resume_run(&self, id: &str) -> Result<AcquireStep, EngineError> {
        let (run, version) = self.load_run(id)?.ok_or_else(|| unknown_run(id))?;
        let resumed = resume(&run);
        let from = run.state.name();
        let run = self.save_run(resumed.run, from, ExpectedVersion::Version(version))?;
        Ok(AcquireStep { run, effects: resumed.effects })
    }

    /// Carries out [`AcquireEffect::Learn`] and gives the event that follows. Doing it again adds nothing.
    pub fn learn_from_run(
        &self,
        record: Ulid,
        outcome: &SkillOutcome,
        task: Option<&str>,
    ) -> Result<AcquireEvent, EngineError> {
        self.learn_from_run_with(record, outcome, task, None)
    }

    /// The same, with what was said about the skill's description.
    pub(crate) fn learn_from_run_with(
        &self,
        record: Ulid,
        outcome: &SkillOutcome,
        task: Option<&str>,
        point: Option<&str>,
    ) -> Result<AcquireEvent, EngineError> {
        let at = self.run(outcome.run.as_deref().unwrap_or_default())?.updated;
        let look = |memory: &CortexMemory| {
            memory.candidate(&outcome.region, &outcome.slug).is_some_and(may_retain)
                && memory.may_offer_keeping(&outcome.slug)
        };
        let (worth_keeping, _) = self.learn(record, outcome, at, point, task, look)?;
        self.mirror();
        Ok(AcquireEvent::Learned { worth_keeping })
    }

    /// Reports to a run how the use of its skill went, and learns from it. Further effects (asking,
    /// uninstalling, trying again) are left to the caller that continues the run.
    pub fn report_run(&self, id: &str, finish: UseReport) -> Result<AcquireStep, EngineError> {
        let mut stepped =
            self.step_run(id, &AcquireEvent::Finished(finish), RelayPolicy::Limited)?;
        if let [AcquireEffect::Learn { record, outcome, task, point }] = stepped.effects.as_slice()
        {
            let learned =
                self.learn_from_run_with(*record, outcome, task.as_deref(), point.as_deref())?;
            stepped = self.step_run(id, &learned, RelayPolicy::Limited)?;
        }
        Ok(stepped)
    }

    fn save_run(
        &self,
        mut run: AcquireRun,
        from: &str,
        expect: ExpectedVersion,
    ) -> Result<AcquireRun, EngineError> {
        let outbox = std::mem::take(&mut run.outbox);
        let rows = outbox.iter().map(log_row).collect::<Result<Vec<_>, _>>()?;
        let moved = serde_json::json!({"run": run.id, "from": from, "to": run.state.name()});
        let entry = audit("transition", run.updated, &moved)?;
        let mut ops = vec![StoreOp::put(RUNS, &run.id, expect, JsonText::of(&run)?), entry];
        if !rows.is_empty() {
            ops.push(StoreOp::append(STREAM, rows));
        }
        match self.store()?.transact(&ops) {
            Err(StoreError::Conflict { .. }) => Err(EngineError::new(
                ErrorCode::ChangedMeanwhile,
                format!("the run {} went on meanwhile", run.id),
            )
            .hint("look at it again with `sinew cortex why <run>`")),
            saved => saved.map(|_| run).map_err(EngineError::from),
        }
    }
}

/// Words that a registry may be searched with: none, or three to five plain ones.
fn check_keywords(keywords: &[String]) -> Result<(), EngineError> {
    let plain = |word: &String| {
        word.starts_with(|c: char| c.is_ascii_alphanumeric())
            && word.len() <= MAX_KEYWORD
            && word.chars().all(|c| c.is_ascii_alphanumeric() || "+.#_-".contains(c))
    };
    if (keywords.is_empty() || (3..=5).contains(&keywords.len())) && keywords.iter().all(plain) {
        return Ok(());
    }
    let message = "three to five English keywords, of letters and digits";
    Err(EngineError::new(ErrorCode::BadKeywords, message))
}

fn unknown_run(id: &str) -> EngineError {
    EngineError::new(ErrorCode::UnknownRun, format!("there is no run `{id}`"))
        .hint("without a run, name --region and --skill")
}

fn refused(refused: AcquireRefusal) -> EngineError {
    match refused {
        AcquireRefusal::NotNow => EngineError::new(ErrorCode::NotNow, refused.to_string())
            .hint("`sinew cortex why <run>` shows where the run stands"),
        _ => EngineError::new(ErrorCode::NotApproved, refused.to_string()),
    }
}
