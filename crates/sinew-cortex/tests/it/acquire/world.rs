//! Everything outside a run, simulated: nothing is downloaded, everything is counted.

use std::collections::{BTreeMap, VecDeque};

use sinew_cortex::acquire::{
    AcquireCandidate, AcquireContext, AcquireEffect, AcquireEvent, AcquireRefusal, AcquireReport,
    AcquireRun, AcquireState, CandidateVerdict, ConsentAct, ConsentAnswer, ConsentChannel,
    ConsentReply, ConsentScope, StagedCandidate, StagedSummary, UseReport, may_retain, step,
};
use sinew_cortex::recall::{RecallTask, recall};
use sinew_cortex::record::{CortexRecord, RecordBody, SkillOutcome};
use sinew_cortex::signals::{SignalVocabulary, signal_words};
use sinew_cortex::{CortexPolicy, Ulid, UtcInstant, fold, learn};
use sinew_settings::config::RelayPolicy;

use crate::bundle::{DAY, Log, R, S, start};

pub(super) const TASK: &str = "manage my to-do list";

/// Everything outside a run: registries, disks, people.
pub(super) struct World {
    pub(super) log: Vec<CortexRecord>,
    pub(super) policy: CortexPolicy,
    pub(super) now: UtcInstant,
    /// What a search finds.
    pub(super) registry: Vec<AcquireCandidate>,
    /// The result of fetching, if it is not a harmless version 1.0.0.
    pub(super) staged: BTreeMap<String, Result<StagedCandidate, String>>,
    /// Skills that cannot be installed.
    pub(super) broken: Vec<String>,
    /// What is installed, by slug.
    pub(super) disk: BTreeMap<String, String>,
    pub(super) installs: Vec<String>,
    pub(super) uninstalls: Vec<String>,
    pub(super) executed: Vec<String>,
    pub(super) waited: Vec<u64>,
    pub(super) asked: Vec<ConsentAct>,
    pub(super) shown: Vec<String>,
    pub(super) report: Option<AcquireReport>,
    pub(super) finishes: VecDeque<UseReport>,
    pub(super) answers: VecDeque<ConsentAnswer>,
    /// Whether the first question is answered by asking for other candidates.
    pub(super) wants_others: bool,
    pub(super) handled: bool,
}

impl World {
    pub(super) fn new() -> Self {
        Self {
            log: Vec::new(),
            policy: CortexPolicy::default(),
            now: start(),
            registry: ["one", "two", "three", "four"]
                .map(|slug| AcquireCandidate::new(slug, "clawhub"))
                .into(),
            staged: BTreeMap::new(),
            broken: Vec::new(),
            disk: BTreeMap::new(),
            installs: Vec::new(),
            uninstalls: Vec::new(),
            executed: Vec::new(),
            waited: Vec::new(),
            asked: Vec::new(),
            shown: Vec::new(),
            report: None,
            finishes: VecDeque::new(),
            answers: VecDeque::new(),
            wants_others: false,
            handled: false,
        }
    }

    pub(super) fn knowing(log: Log) -> Self {
        Self { log: log.records, now: log.now, policy: log.policy, ..Self::new() }
    }

    pub(super) fn finishing(mut self, finishes: impl IntoIterator<Item = UseReport>) -> Self {
        self.finishes.extend(finishes);
        self
    }

    pub(super) fn answering(mut self, answers: impl IntoIterator<Item = ConsentAnswer>) -> Self {
        self.answers.extend(answers);
        self
    }

    pub(super) fn memory(&self) -> sinew_cortex::CortexMemory {
        fold::fold(&self.log, &self.policy)
    }

    pub(super) fn step(
        &self,
        run: &AcquireRun,
        event: AcquireEvent,
    ) -> Result<sinew_cortex::acquire::AcquireStep, AcquireRefusal> {
        let memory = self.memory();
        let context = AcquireContext {
            memory: &memory,
            policy: &self.policy,
            relay: RelayPolicy::Limited,
            now: self.now,
        };
        step(run, event, &context)
    }

    pub(super) fn begin(&self) -> AcquireRun {
        let signals = signal_words(TASK, &SignalVocabulary::built_in());
        AcquireRun::new(Ulid::new(self.now, 7), self.now, TASK, signals)
    }

    /// Writes what must reach the log; an existing record is not duplicated.
    pub(super) fn flush(&mut self, run: &mut AcquireRun) {
        for record in std::mem::take(&mut run.outbox) {
            self.append(record);
        }
    }

    pub(super) fn append(&mut self, record: CortexRecord) {
        if !self.log.iter().any(|known| known.id == record.id) {
            self.log.push(record);
        }
    }

    /// Carries out one effect and returns the resulting event.
    pub(super) fn perform(
        &mut self,
        effect: AcquireEffect,
        run: &AcquireRun,
    ) -> Option<AcquireEvent> {
        match effect {
            AcquireEffect::Recall if self.handled => Some(AcquireEvent::Handled),
            AcquireEffect::Recall => Some(self.recalled(run)),
            AcquireEffect::Search { keywords, without } => {
                assert!(!keywords.is_empty());
                let fresh = self.registry.iter().filter(|offer| !without.contains(&offer.slug));
                Some(AcquireEvent::Found(fresh.cloned().collect()))
            }
            AcquireEffect::Fetch(slugs) => {
                let staged = slugs.into_iter().map(|slug| (slug.clone(), self.fetch(&slug)));
                Some(AcquireEvent::Fetched(staged.collect()))
            }
            AcquireEffect::Notify { text, ms } => {
                self.shown.push(text);
                (ms > 0).then_some(AcquireEvent::TimeUp)
            }
            AcquireEffect::Ask(question) => {
                self.asked.push(question.act);
                if std::mem::take(&mut self.wants_others) {
                    return Some(AcquireEvent::OthersWanted);
                }
                Some(AcquireEvent::Answered(reply(
                    self.answers.pop_front().unwrap_or(ConsentAnswer::Yes(ConsentScope::Listed)),
                )))
            }
            AcquireEffect::Install { slug, digest } => Some(self.install(slug, digest)),
            AcquireEffect::MakePlan(_) => Some(AcquireEvent::Planned),
            AcquireEffect::Execute(slug) => {
                self.executed.push(slug);
                Some(AcquireEvent::Finished(
                    self.finishes.pop_front().unwrap_or_else(UseReport::success),
                ))
            }
            AcquireEffect::Wait(ms) => {
                self.waited.push(ms);
                self.now = self.now.plus_ms(i64::try_from(ms).expect("a short wait"));
                Some(AcquireEvent::TimeUp)
            }
            AcquireEffect::InstallDependency(command) => {
                self.installs.push(command);
                Some(AcquireEvent::DependencyInstalled(true))
            }
            AcquireEffect::AskCredentials(_) => {
                self.shown.push("check the credentials".to_owned());
                Some(AcquireEvent::Answered(reply(
                    self.answers.pop_front().unwrap_or(ConsentAnswer::No),
                )))
            }
            AcquireEffect::AskOutcome(_) => {
                self.shown.push("how did it go?".to_owned());
                Some(AcquireEvent::Finished(UseReport::success()))
            }
            AcquireEffect::Learn { record, outcome, task, .. } => {
                Some(self.learn(record, &outcome, task))
            }
            AcquireEffect::Uninstall(slug) => {
                if let Some(slug) = slug {
                    self.disk.remove(&slug);
                    self.uninstalls.push(slug);
                }
                matches!(run.state, AcquireState::Release { .. })
                    .then_some(AcquireEvent::Uninstalled)
            }
            AcquireEffect::Tell(report) => {
                self.report = Some(report);
                None
            }
        }
    }

    pub(super) fn recalled(&self, run: &AcquireRun) -> AcquireEvent {
        let memory = self.memory();
        let task = RecallTask { words: &run.signals, ..RecallTask::default() };
        let explained = recall(&memory, &task, self.now.day(), &self.policy);
        let offered = explained.candidates.iter().filter(|view| view.filtered.is_none());
        let offers = offered.map(|view| AcquireCandidate::new(&view.slug, &view.source)).collect();
        AcquireEvent::Recalled { hit: explained.region.is_some(), region: explained.region, offers }
    }

    pub(super) fn fetch(&self, slug: &str) -> Result<StagedCandidate, String> {
        self.staged.get(slug).cloned().unwrap_or_else(|| Ok(harmless(slug)))
    }

    pub(super) fn install(&mut self, slug: String, digest: String) -> AcquireEvent {
        if self.broken.contains(&slug) {
            return AcquireEvent::InstallFailed("the disk is full".to_owned());
        }
        if self.disk.get(&slug) != Some(&digest) {
            self.installs.push(slug.clone());
            self.disk.insert(slug, digest.clone());
        }
        AcquireEvent::Installed(digest)
    }

    pub(super) fn learn(
        &mut self,
        record: Ulid,
        outcome: &SkillOutcome,
        task: Option<String>,
    ) -> AcquireEvent {
        let memory = self.memory();
        let mut bodies = learn::lesson_records(&memory, record, outcome, None, &self.policy);
        if let Some(task) = task {
            bodies.extend(learn::signals_record(
                &task,
                &outcome.region,
                &outcome.slug,
                &SignalVocabulary::built_in(),
            ));
        }
        let place = Some((outcome.region.as_str(), outcome.slug.as_str()));
        bodies.extend(learn::pruning_record(&memory, self.now.day(), &self.policy, place));
        for (number, body) in bodies.into_iter().enumerate() {
            let id = Ulid::derived(self.now, &[&record.to_string(), &number.to_string()]);
            self.append(CortexRecord { id, ts: self.now, body });
        }
        let memory = self.memory();
        let candidate = memory.candidate(&outcome.region, &outcome.slug);
        AcquireEvent::Learned { worth_keeping: candidate.is_some_and(may_retain) }
    }

    /// Runs to the end, or until `crash` says so; returns the last stored run.
    pub(super) fn drive(
        &mut self,
        run: AcquireRun,
        effects: Vec<AcquireEffect>,
        mut crash: impl FnMut(&AcquireRun) -> bool,
    ) -> AcquireRun {
        let mut run = run;
        let mut effects: VecDeque<AcquireEffect> = effects.into();
        while let Some(effect) = effects.pop_front() {
            let Some(event) = self.perform(effect, &run) else { continue };
            let stepped = self.step(&run, event).expect("the flow goes on");
            run = stepped.run;
            // Stored; a crash from here on finds this state.
            let stored = run.clone();
            if crash(&stored) {
                return stored;
            }
            self.flush(&mut run);
            effects.extend(stepped.effects);
        }
        run
    }

    pub(super) fn run(&mut self) -> AcquireRun {
        let run = self.begin();
        self.drive(run, vec![AcquireEffect::Recall], |_| false)
    }

    pub(super) fn outcomes(&self) -> Vec<&SkillOutcome> {
        let bodies = self.log.iter().filter_map(|record| match &record.body {
            RecordBody::Outcome(outcome) if outcome.run.is_some() => Some(outcome.as_ref()),
            _ => None,
        });
        bodies.collect()
    }
}

pub(super) fn reply(answer: ConsentAnswer) -> ConsentReply {
    ConsentReply { answer, who: "Kim".to_owned(), channel: ConsentChannel::Cli, can_elicit: false }
}

pub(super) fn harmless(slug: &str) -> StagedCandidate {
    StagedCandidate {
        version: "1.0.0".to_owned(),
        digest: format!("sha256:{slug}-1.0.0"),
        verdict: CandidateVerdict::Allow,
        side_effects: vec!["network:api.example.com".to_owned()],
        skill_md_chars: 1_200,
        skill_md_bytes: 1_300,
        shown: StagedSummary::default(),
    }
}

pub(super) const YES: ConsentAnswer = ConsentAnswer::Yes(ConsentScope::Listed);

/// A log in which the skill earned its reflex for the task, and its files were approved.
pub(super) fn reflexive() -> Log {
    let mut log = Log::new();
    let words = ["manage", "todo", "task", "reminder"].map(str::to_owned).to_vec();
    log.push(RecordBody::Signals { region: R.to_owned(), words, vocabulary: 1 });
    log.every(7 * DAY, 20);
    log
}

pub(super) fn approved(log: &mut Log) {
    let digest = Some(harmless(S).digest);
    log.push(RecordBody::Consent(sinew_cortex::record::ConsentRecord {
        run: "r".to_owned(),
        act: ConsentAct::Install,
        region: Some(R.to_owned()),
        subject: S.to_owned(),
        digest,
        who: "Kim".to_owned(),
        channel: ConsentChannel::Cli,
        at: log.now,
    }));
}
