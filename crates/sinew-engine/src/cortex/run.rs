//! Acquisition runs in the database: each step is one transaction, with what it logs and an entry in
//! the audit trail.

use serde::Serialize;
use sinew_cortex::Id;
use sinew_cortex::acquire::{
    Context, Effect, Event, Finish, Refused, Relay, Run, State, Step, may_retain, resume, step,
};
use sinew_cortex::explain::Runs;
use sinew_cortex::memory::Memory;
use sinew_cortex::record::Outcome;
use sinew_cortex::signals::{clean_detail, is_region, words};
use sinew_store::{Expect, Json, Keys, Op, StoreError, Version};

use super::Cortex;
use super::log::{STREAM, entropy, row};
use super::record::name;
use crate::acquire::Wish;
use crate::store::audit;
use crate::{Error, ErrorKind};

/// The runs, by id.
const RUNS: &str = "runs";
/// A longer keyword is none.
const MAX_KEYWORD: usize = 40;
/// Runs read at a time when those are looked for that are not over.
const PAGE: usize = 1_000;

/// A run after it was told how it went.
#[derive(Debug, Clone, Serialize)]
pub struct ReportedRun {
    /// The run.
    pub run: String,
    /// Where it stands.
    pub state: &'static str,
    /// The task area.
    pub region: Option<String>,
    /// The skill.
    pub skill: Option<String>,
    /// The skill's weight; `None` where nothing is remembered of it.
    pub weight: Option<f64>,
    /// The weight as it counts today.
    pub effective_weight: Option<f64>,
    /// Whether it has earned a reflex.
    pub reflex: bool,
    /// How often it was used.
    pub runs: Option<Runs>,
}

impl Cortex<'_> {
    /// What a step did to a run and to what is remembered of its skill.
    pub fn reported(&self, stepped: &Step) -> Result<ReportedRun, Error> {
        let run = &stepped.run;
        let skill = run.current().map(|offer| offer.slug.clone());
        // A new area has its name from the first outcome.
        let region = run.region.clone().or_else(|| Some(run.region_for(skill.as_deref()?)));
        let (today, place) = (self.now().day(), region.clone().zip(skill.clone()));
        let known = self.with_memory(|memory| {
            let (region, skill) = place.as_ref()?;
            let candidate = memory.candidate(region, skill)?;
            let effective = memory.motor.get(region)?.effective(candidate, today, self.policy());
            let fail = candidate.runs().saturating_sub(candidate.success);
            let runs = Runs { success: candidate.success, fail };
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

    /// Begins a run for a task. What must be done first is [`Effect::Recall`].
    pub fn start_run(&self, task: &str) -> Result<Run, Error> {
        self.begin_run(&Wish { task: task.to_owned(), ..Wish::default() })
    }

    /// Begins a run as somebody wishes.
    pub(crate) fn begin_run(&self, wish: &Wish) -> Result<Run, Error> {
        if wish.task.trim().is_empty() {
            return Err(Error::new(ErrorKind::Usage, "no-task", "there is no task"));
        }
        if let Some(region) = wish.region.as_deref().filter(|region| !is_region(region)) {
            let region: String = region.chars().filter(|c| !c.is_control()).take(40).collect();
            let message = format!("`{region}` is no name of a region");
            return Err(Error::new(ErrorKind::Usage, "bad-region", message)
                .hint("use lower-case letters, digits and hyphens"));
        }
        check_keywords(&wish.keywords)?;
        let now = self.now();
        let signals = words(&wish.task, self.engine.vocabulary());
        let run = Run {
            region: wish.region.clone(),
            keywords: wish.keywords.clone(),
            anyway: wish.anyway,
            chosen: wish.chosen.clone(),
            read_only: wish.read_only,
            ..Run::new(Id::new(now, entropy()?), now, &wish.task, signals)
        };
        self.save_run(run, "", Expect::Absent)
    }

    /// A run.
    pub fn run(&self, id: &str) -> Result<Run, Error> {
        self.find_run(id)?.ok_or_else(|| unknown_run(id))
    }

    pub(super) fn find_run(&self, id: &str) -> Result<Option<Run>, Error> {
        if id.parse::<Id>().is_err() {
            return Ok(None);
        }
        Ok(self.load_run(id)?.map(|(run, _)| run))
    }

    fn load_run(&self, id: &str) -> Result<Option<(Run, Version)>, Error> {
        let found = self.store()?.get(RUNS, id)?;
        Ok(found.map(|found| found.body.read().map(|run| (run, found.version))).transpose()?)
    }

    /// Runs that are not over, oldest first: what a crash may have left behind.
    pub fn open_runs(&self) -> Result<Vec<Run>, Error> {
        let store = self.store()?;
        let (mut open, mut after) = (Vec::new(), String::new());
        loop {
            let page = store.list(RUNS, Keys::ALL.after(&after), PAGE)?;
            let Some(last) = page.last() else { return Ok(open) };
            after.clone_from(&last.key);
            let runs = page.iter().filter_map(|found| found.body.read::<Run>().ok());
            open.extend(runs.filter(|run| !matches!(run.state, State::Closed { .. })));
        }
    }

    /// Takes a run one step on: the run, what it logs and the audit entry are saved together, or not
    /// at all. What must be done then is up to the caller.
    pub fn step_run(&self, id: &str, event: &Event, relay: Relay) -> Result<Step, Error> {
        let (run, version) = self.load_run(id)?.ok_or_else(|| unknown_run(id))?;
        let memory = self.memory()?;
        let context = Context { memory: &memory, policy: self.policy(), relay, now: self.now() };
        let stepped = step(&run, self.cleaned(event), &context).map_err(refused)?;
        let from = run.state.name();
        let run = self.save_run(stepped.run, from, Expect::Version(version))?;
        Ok(Step { run, effects: stepped.effects })
    }

    /// An event without names, paths and secrets: it is about to be stored.
    fn cleaned(&self, event: &Event) -> Event {
        let clean = |text: &str| clean_detail(text, self.engine.vocabulary());
        match event.clone() {
            Event::Finished(finish) => Event::Finished(Finish {
                detail: finish.detail.as_deref().map(clean),
                key: finish.key.filter(|key| name("key", key).is_ok()),
                ..finish
            }),
            Event::InstallFailed(detail) => Event::InstallFailed(clean(&detail)),
            Event::Fetched(results) => Event::Fetched(
                results
                    .into_iter()
                    .map(|(slug, result)| (slug, result.map_err(|detail| clean(&detail))))
                    .collect(),
            ),
            other => other,
        }
    }

    /// Carries on with a run that a crash left behind.
    pub fn resume_run(&self, id: &str) -> Result<Step, Error> {
        let (run, version) = self.load_run(id)?.ok_or_else(|| unknown_run(id))?;
        let resumed = resume(&run);
        let from = run.state.name();
        let run = self.save_run(resumed.run, from, Expect::Version(version))?;
        Ok(Step { run, effects: resumed.effects })
    }

    /// Carries out [`Effect::Learn`] and gives the event that follows. Doing it again adds nothing.
    pub fn learn_from_run(
        &self,
        record: Id,
        outcome: &Outcome,
        task: Option<&str>,
    ) -> Result<Event, Error> {
        let at = self.run(outcome.run.as_deref().unwrap_or_default())?.updated;
        let look = |memory: &Memory| {
            memory.candidate(&outcome.region, &outcome.slug).is_some_and(may_retain)
        };
        let (worth_keeping, _) = self.learn(record, outcome, at, None, task, look)?;
        self.mirror();
        Ok(Event::Learned { worth_keeping })
    }

    /// Tells a run how the use of its skill went, and learns from it. What needs hands (asking,
    /// uninstalling, trying again) is left to whoever carries the run on.
    pub fn report_run(&self, id: &str, finish: Finish) -> Result<Step, Error> {
        let mut stepped = self.step_run(id, &Event::Finished(finish), Relay::Limited)?;
        if let [Effect::Learn { record, outcome, task }] = stepped.effects.as_slice() {
            let learned = self.learn_from_run(*record, outcome, task.as_deref())?;
            stepped = self.step_run(id, &learned, Relay::Limited)?;
        }
        Ok(stepped)
    }

    fn save_run(&self, mut run: Run, from: &str, expect: Expect) -> Result<Run, Error> {
        let outbox = std::mem::take(&mut run.outbox);
        let rows = outbox.iter().map(row).collect::<Result<Vec<_>, _>>()?;
        let moved = serde_json::json!({"run": run.id, "from": from, "to": run.state.name()});
        let entry = audit("transition", run.updated, &moved)?;
        let mut ops = vec![Op::put(RUNS, &run.id, expect, Json::of(&run)?), entry];
        if !rows.is_empty() {
            ops.push(Op::append(STREAM, rows));
        }
        match self.store()?.transact(&ops) {
            Err(StoreError::Conflict { .. }) => Err(Error::new(
                ErrorKind::Environment,
                "changed-meanwhile",
                format!("the run {} went on meanwhile", run.id),
            )
            .hint("look at it again with `sinew cortex why <run>`")),
            saved => saved.map(|_| run).map_err(Error::from),
        }
    }
}

/// Words that a registry may be searched with: none, or three to five plain ones.
fn check_keywords(keywords: &[String]) -> Result<(), Error> {
    let plain = |word: &String| {
        word.starts_with(|c: char| c.is_ascii_alphanumeric())
            && word.len() <= MAX_KEYWORD
            && word.chars().all(|c| c.is_ascii_alphanumeric() || "+.#_-".contains(c))
    };
    if (keywords.is_empty() || (3..=5).contains(&keywords.len())) && keywords.iter().all(plain) {
        return Ok(());
    }
    let message = "three to five English keywords, of letters and digits";
    Err(Error::new(ErrorKind::Usage, "bad-keywords", message))
}

fn unknown_run(id: &str) -> Error {
    Error::new(ErrorKind::No, "unknown-run", format!("there is no run `{id}`"))
        .hint("without a run, name --region, --skill and --version")
}

fn refused(refused: Refused) -> Error {
    match refused {
        Refused::NotNow => Error::new(ErrorKind::No, "not-now", refused.to_string())
            .hint("`sinew cortex why <run>` shows where the run stands"),
        _ => Error::new(ErrorKind::Refused, "not-approved", refused.to_string()),
    }
}
