//! The acquisition flow in a simulated world: nothing is downloaded, everything is counted.

use std::collections::{BTreeMap, VecDeque};

use sinew_cortex::acquire::{
    AcquireCandidate, AcquireContext, AcquireEffect, AcquireEnding, AcquireEvent, AcquireRefusal,
    AcquireReport, AcquireRun, AcquireState, CandidateVerdict, ConsentAct, ConsentAnswer,
    ConsentChannel, ConsentReply, ConsentScope, StagedCandidate, UseReport, check_consent,
    may_retain, resume, step,
};
use sinew_cortex::failure::FailureKind::{
    self, ApiError, AuthError, DependencyMissing, RuntimeError, TaskMismatch,
};
use sinew_cortex::recall::{RecallTask, recall};
use sinew_cortex::record::{BlacklistOp, CortexRecord, RecordBody, SkillOutcome, UseResult};
use sinew_cortex::signals::{SignalVocabulary, signal_words};
use sinew_cortex::{CortexPolicy, Ulid, UtcInstant, fold, learn};
use sinew_settings::config::{ReflexInstall, RelayPolicy};

use crate::bundle::{DAY, Log, R, S, close, start};

const TASK: &str = "manage my to-do list";

/// Everything outside a run: registries, disks, people.
struct World {
    log: Vec<CortexRecord>,
    policy: CortexPolicy,
    now: UtcInstant,
    /// What a search finds.
    registry: Vec<AcquireCandidate>,
    /// The result of fetching, if it is not a harmless version 1.0.0.
    staged: BTreeMap<String, Result<StagedCandidate, String>>,
    /// Skills that cannot be installed.
    broken: Vec<String>,
    /// What is installed, by slug.
    disk: BTreeMap<String, String>,
    installs: Vec<String>,
    uninstalls: Vec<String>,
    executed: Vec<String>,
    waited: Vec<u64>,
    asked: Vec<ConsentAct>,
    shown: Vec<String>,
    report: Option<AcquireReport>,
    finishes: VecDeque<UseReport>,
    answers: VecDeque<ConsentAnswer>,
    /// Whether the first question is answered by asking for other candidates.
    wants_others: bool,
    handled: bool,
}

impl World {
    fn new() -> Self {
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

    fn knowing(log: Log) -> Self {
        Self { log: log.records, now: log.now, policy: log.policy, ..Self::new() }
    }

    fn finishing(mut self, finishes: impl IntoIterator<Item = UseReport>) -> Self {
        self.finishes.extend(finishes);
        self
    }

    fn answering(mut self, answers: impl IntoIterator<Item = ConsentAnswer>) -> Self {
        self.answers.extend(answers);
        self
    }

    fn memory(&self) -> sinew_cortex::CortexMemory {
        fold::fold(&self.log, &self.policy)
    }

    fn step(
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

    fn begin(&self) -> AcquireRun {
        let signals = signal_words(TASK, &SignalVocabulary::built_in());
        AcquireRun::new(Ulid::new(self.now, 7), self.now, TASK, signals)
    }

    /// Writes what must reach the log; an existing record is not duplicated.
    fn flush(&mut self, run: &mut AcquireRun) {
        for record in std::mem::take(&mut run.outbox) {
            self.append(record);
        }
    }

    fn append(&mut self, record: CortexRecord) {
        if !self.log.iter().any(|known| known.id == record.id) {
            self.log.push(record);
        }
    }

    /// Carries out one effect and returns the resulting event.
    fn perform(&mut self, effect: AcquireEffect, run: &AcquireRun) -> Option<AcquireEvent> {
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
            AcquireEffect::Learn { record, outcome, task } => {
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

    fn recalled(&self, run: &AcquireRun) -> AcquireEvent {
        let memory = self.memory();
        let task = RecallTask { words: &run.signals, ..RecallTask::default() };
        let explained = recall(&memory, &task, self.now.day(), &self.policy);
        let offered = explained.candidates.iter().filter(|view| view.filtered.is_none());
        let offers = offered.map(|view| AcquireCandidate::new(&view.slug, &view.source)).collect();
        AcquireEvent::Recalled { hit: explained.region.is_some(), region: explained.region, offers }
    }

    fn fetch(&self, slug: &str) -> Result<StagedCandidate, String> {
        self.staged.get(slug).cloned().unwrap_or_else(|| Ok(harmless(slug)))
    }

    fn install(&mut self, slug: String, digest: String) -> AcquireEvent {
        if self.broken.contains(&slug) {
            return AcquireEvent::InstallFailed("the disk is full".to_owned());
        }
        if self.disk.get(&slug) != Some(&digest) {
            self.installs.push(slug.clone());
            self.disk.insert(slug, digest.clone());
        }
        AcquireEvent::Installed(digest)
    }

    fn learn(
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
    fn drive(
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

    fn run(&mut self) -> AcquireRun {
        let run = self.begin();
        self.drive(run, vec![AcquireEffect::Recall], |_| false)
    }

    fn outcomes(&self) -> Vec<&SkillOutcome> {
        let bodies = self.log.iter().filter_map(|record| match &record.body {
            RecordBody::Outcome(outcome) if outcome.run.is_some() => Some(outcome.as_ref()),
            _ => None,
        });
        bodies.collect()
    }
}

fn reply(answer: ConsentAnswer) -> ConsentReply {
    ConsentReply { answer, who: "Kim".to_owned(), channel: ConsentChannel::Cli, can_elicit: false }
}

fn harmless(slug: &str) -> StagedCandidate {
    StagedCandidate {
        version: "1.0.0".to_owned(),
        digest: format!("sha256:{slug}-1.0.0"),
        verdict: CandidateVerdict::Allow,
        side_effects: vec!["network:api.example.com".to_owned()],
        skill_md_chars: 1_200,
        skill_md_bytes: 1_300,
    }
}

const YES: ConsentAnswer = ConsentAnswer::Yes(ConsentScope::Listed);

/// A log in which the skill earned its reflex for the task, and its files were approved.
fn reflexive() -> Log {
    let mut log = Log::new();
    let words = ["manage", "todo", "task", "reminder"].map(str::to_owned).to_vec();
    log.push(RecordBody::Signals { region: R.to_owned(), words, vocabulary: 1 });
    log.every(7 * DAY, 20);
    log
}

fn approved(log: &mut Log) {
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

#[test]
fn an_unknown_task_searches_installs_works_learns_and_leaves() {
    // After a miss and a success, words are learned.
    let mut world = World::new();
    let run = world.run();
    assert_eq!(run.state, AcquireState::Closed { end: AcquireEnding::Released });
    assert_eq!(run.task, None, "no word of the person outlives the run");
    let memory = world.memory();
    assert_eq!((memory.stats.searches, memory.stats.installs), (1, 1));
    assert_eq!(memory.patterns.len(), 1);
    let region = &memory.patterns[0].region;
    assert_eq!(region, "todo-manage");
    close(memory.candidate(region, "one").expect("a record").weight, 0.575);
    assert_eq!(
        (world.installs, world.uninstalls),
        (vec!["one".to_owned()], vec!["one".to_owned()])
    );
    assert!(world.disk.is_empty());
    assert_eq!(world.asked, [ConsentAct::Install, ConsentAct::Plan]);
}

#[test]
fn a_task_that_an_installed_skill_can_do_ends_at_once() {
    let mut world = World { handled: true, ..World::new() };
    let run = world.run();
    assert_eq!(run.state.name(), "done(handled)");
    assert!(world.log.is_empty(), "nothing is learned");
}

#[test]
fn a_memory_that_cannot_be_read_does_not_stand_in_the_way() {
    let world = World::new();
    let recalled = AcquireEvent::Recalled { region: None, hit: false, offers: Vec::new() };
    let stepped = world.step(&world.begin(), recalled).expect("a step");
    assert_eq!(stepped.run.state, AcquireState::Search);
}

#[test]
fn what_is_known_is_offered_without_a_search_and_its_words_stay() {
    let mut log = Log::new();
    let words = vec!["manage".to_owned(), "todo".to_owned()];
    log.push(RecordBody::Signals { region: R.to_owned(), words, vocabulary: 1 });
    log.ok();
    let mut world = World::knowing(log);
    world.run();
    let memory = world.memory();
    assert_eq!((memory.stats.searches, memory.stats.cache_hits), (0, 1));
    let pattern = memory.pattern(R).expect("a pattern");
    let words: Vec<&str> = pattern.signals.iter().map(|s| s.word.as_str()).collect();
    assert_eq!(words, ["manage", "todo"]);
    assert_eq!(memory.candidate(R, S).expect("a record").success, 2);
}

#[test]
fn nothing_found_is_an_end() {
    let mut world = World { registry: Vec::new(), ..World::new() };
    assert_eq!(world.run().state.name(), "failed(no_candidates)");
}

#[test]
fn a_blacklisted_search_result_is_not_shown() {
    let mut log = Log::new();
    log.push(RecordBody::Blacklist { op: BlacklistOp::Add, slug: "one".to_owned(), reason: None });
    let mut world = World::knowing(log);
    let run = world.run();
    assert!(run.candidates.iter().all(|offer| offer.slug != "one"));
    assert_eq!(world.installs, ["two"]);
}

#[test]
fn a_reflex_tells_waits_and_asks_for_nothing() {
    let mut log = reflexive();
    approved(&mut log);
    let mut world = World::knowing(log);
    let run = world.run();
    assert_eq!(world.asked, [ConsentAct::Retain]);
    assert!(
        world.shown[0].starts_with("⚡ Skill Cortex reflex: todoist v1.0.0 (100% success rate)")
    );
    assert_eq!(world.memory().stats.reflexes_fired, 1);
    assert_eq!(run.state.name(), "done(retained)");
}

#[test]
fn a_reflex_without_an_approved_digest_asks() {
    let mut world = World::knowing(reflexive());
    world.run();
    assert_eq!(
        world.asked,
        [ConsentAct::Install, ConsentAct::Retain],
        "the plan is not asked about"
    );
    let mut log = reflexive();
    approved(&mut log);
    let mut world = World::knowing(log);
    world.policy.install = ReflexInstall::Confirm;
    world.run();
    assert_eq!(world.asked[0], ConsentAct::Install);
    let mut log = reflexive();
    approved(&mut log);
    let mut world = World::knowing(log);
    let warned = StagedCandidate { verdict: CandidateVerdict::Warn, ..harmless(S) };
    world.staged.insert(S.to_owned(), Ok(warned));
    world.run();
    assert_eq!(world.asked[0], ConsentAct::Install);
}

#[test]
fn a_reflex_that_is_cancelled_leaves_no_trace() {
    let mut log = reflexive();
    approved(&mut log);
    let mut world = World::knowing(log);
    let before = world.memory();
    let run = world.drive(world.begin(), vec![AcquireEffect::Recall], |run| {
        matches!(run.state, AcquireState::Notice { .. })
    });
    assert!(
        matches!(run.state, AcquireState::Notice { until } if until == world.now.plus_ms(5_000))
    );
    let stepped = world.step(&run, AcquireEvent::Cancelled).expect("a step");
    let run = world.drive(stepped.run, stepped.effects, |_| false);
    assert_eq!(run.state.name(), "aborted(cancelled)");
    assert!(world.installs.is_empty());
    let after = world.memory();
    assert_eq!(before.motor, after.motor);
    assert_eq!(after.stats.reflexes_fired, 0);
}

#[test]
fn another_version_is_recorded_before_the_user_is_asked() {
    let mut log = reflexive();
    approved(&mut log);
    let mut world = World::knowing(log);
    let newer = StagedCandidate { version: "1.3.0".to_owned(), ..harmless(S) };
    world.staged.insert(S.to_owned(), Ok(newer));
    let mut run = world.drive(world.begin(), vec![AcquireEffect::Recall], |run| {
        matches!(run.state, AcquireState::Approve { .. })
    });
    assert!(world.asked.is_empty());
    world.flush(&mut run);
    let memory = world.memory();
    let candidate = memory.candidate(R, S).expect("a record");
    assert_eq!((candidate.reflex, candidate.streak), (false, 0));
}

#[test]
fn three_failed_installs_are_two_switches_and_a_report() {
    let mut world = World::new();
    world.broken = ["one", "two", "three"].map(str::to_owned).to_vec();
    let run = world.run();
    assert_eq!((run.state.name(), run.switches), ("failed(install)", 2));
    let report = world.report.expect("a report");
    let rows: Vec<&str> = report.tried.iter().map(|row| row.slug.as_str()).collect();
    assert_eq!((rows, report.switches), (vec!["one", "two", "three"], 2));
    assert_eq!(report.tried[0].detail, "the disk is full");
    assert_eq!(world.asked, [ConsentAct::Install], "one yes covers the list");
    assert!(world.log.iter().all(|record| !matches!(record.body, RecordBody::Outcome(_))));
}

#[test]
fn a_candidate_that_cannot_be_fetched_counts_as_one_that_cannot_be_installed() {
    let mut world = World::new();
    for slug in ["one", "two", "three"] {
        world.staged.insert(slug.to_owned(), Err("404".to_owned()));
    }
    let run = world.run();
    assert_eq!((run.state.name(), run.switches, run.attempts.len()), ("failed(install)", 2, 3));
    assert!(world.asked.is_empty());
}

#[test]
fn what_the_scanner_blocks_cannot_be_approved() {
    let mut world = World::new();
    let blocked = StagedCandidate { verdict: CandidateVerdict::Block, ..harmless("one") };
    world.staged.insert("one".to_owned(), Ok(blocked));
    world.run();
    assert_eq!(world.installs, ["two"]);
    let yes = reply(YES);
    assert_eq!(
        check_consent(ConsentAct::Install, &yes, RelayPolicy::Allow, CandidateVerdict::Block),
        Err(AcquireRefusal::Blocked)
    );
}

#[test]
fn a_yes_to_only_this_covers_only_this() {
    let mut world = World::new().answering([ConsentAnswer::Yes(ConsentScope::OnlyThis)]);
    world.broken = vec!["one".to_owned()];
    world.run();
    assert_eq!(world.asked, [ConsentAct::Install, ConsentAct::Install, ConsentAct::Plan]);
}

#[test]
fn an_unreviewed_source_needs_its_own_yes() {
    let mut world = World::new();
    world.registry[1].reviewed = false;
    world.broken = vec!["one".to_owned()];
    world.run();
    assert_eq!(world.asked, [ConsentAct::Install, ConsentAct::Install, ConsentAct::Plan]);
    assert_eq!(world.installs, ["two"]);
}

#[test]
fn a_service_failure_is_tried_once_more_after_three_seconds() {
    let api = || UseReport::failure(ApiError);
    let mut world = World::new().finishing([api(), UseReport::success()]);
    world.run();
    assert_eq!(world.waited, [3_000]);
    assert_eq!(world.executed.len(), 2);
    let outcomes = world.outcomes();
    assert_eq!(
        (outcomes.len(), outcomes[0].result, outcomes[0].attempts),
        (1, UseResult::Success, 2)
    );
    close(world.memory().candidate("todo-manage", "one").expect("a record").weight, 0.575);

    let mut world = World::new().finishing([api(), api()]).answering([YES, YES, ConsentAnswer::No]);
    world.run();
    assert_eq!((world.executed.len(), world.outcomes().len()), (2, 1));
    assert_eq!(world.outcomes()[0].kind, Some(ApiError));
    close(world.memory().candidate("todo-manage", "one").expect("a record").weight, 0.45);
}

#[test]
fn refused_credentials_are_never_retried_by_themselves() {
    let mut world = World::new().finishing([UseReport::failure(AuthError)]).answering([
        YES,
        YES,
        ConsentAnswer::No,
        ConsentAnswer::No,
    ]);
    world.run();
    assert_eq!((world.executed.len(), world.shown[0].as_str()), (1, "check the credentials"));
    assert_eq!(world.outcomes()[0].kind, Some(AuthError));
    let mut world =
        World::new().finishing([UseReport::failure(AuthError)]).answering([YES, YES, YES]);
    world.run();
    assert_eq!(world.outcomes()[0].result, UseResult::Success);
}

#[test]
fn a_missing_program_is_installed_only_after_its_own_yes() {
    let missing = || UseReport {
        key: Some("ffmpeg".to_owned()),
        command: Some("brew install ffmpeg".to_owned()),
        ..UseReport::failure(DependencyMissing)
    };
    let mut world = World::new().finishing([missing()]).answering([
        YES,
        YES,
        ConsentAnswer::No,
        ConsentAnswer::No,
    ]);
    world.run();
    assert_eq!(world.installs, ["one"]);
    assert_eq!(world.asked[2], ConsentAct::Dependency);
    assert_eq!(world.outcomes()[0].key.as_deref(), Some("ffmpeg"));
    let mut world = World::new().finishing([missing()]);
    let run = world.run();
    assert_eq!(world.installs, ["one", "brew install ffmpeg"]);
    assert_eq!(
        run.consents.iter().filter(|consent| consent.act == ConsentAct::Dependency).count(),
        1
    );
    assert_eq!(world.outcomes()[0].result, UseResult::Success);
}

#[test]
fn a_broken_skill_goes_and_the_next_comes_only_after_a_yes() {
    for kind in [RuntimeError, TaskMismatch] {
        let mut world = World::new().finishing([UseReport::failure(kind)]).answering([
            YES,
            YES,
            ConsentAnswer::No,
        ]);
        let run = world.run();
        assert_eq!(run.state.name(), "aborted(declined)");
        assert_eq!((world.installs.len(), world.uninstalls.len()), (1, 1));
        assert_eq!(world.asked[2], ConsentAct::SwitchCandidate);
        let mut world = World::new().finishing([UseReport::failure(kind)]);
        let run = world.run();
        assert_eq!((run.state.name(), run.switches), ("done(released)", 1));
        assert_eq!(world.installs, ["one", "two"]);
        assert_eq!(world.outcomes().len(), 2, "one outcome per candidate");
    }
}

#[test]
fn after_two_switches_nothing_more_is_tried() {
    let broken = |_| UseReport::failure(RuntimeError);
    let mut world = World::new().finishing((0..5).map(broken));
    world.broken = vec!["two".to_owned()];
    let run = world.run();
    assert_eq!((run.state.name(), run.switches), ("failed(all_candidates)", 2));
    let report = AcquireReport::of(&run);
    let stages: Vec<String> = report
        .tried
        .iter()
        .map(|row| format!("{} {:?} {}", row.slug, row.stage, row.kind))
        .collect();
    assert_eq!(
        stages,
        ["one Execute runtime_error", "two Install runtime_error", "three Execute runtime_error"]
    );
    assert!(world.disk.is_empty());
}

#[test]
fn a_proven_small_skill_may_stay() {
    let with = |success: u64, weight: f64, chars: u64| {
        let mut log = Log::new();
        log.ok();
        let mut candidate = log.candidate();
        (candidate.success, candidate.weight, candidate.skill_md_chars) = (success, weight, chars);
        may_retain(&candidate)
    };
    assert!(with(3, 0.81, 7_999));
    assert!(!with(3, 0.81, 8_000) && !with(2, 0.81, 10) && !with(3, 0.79, 10));

    let mut log = reflexive();
    approved(&mut log);
    let mut world = World::knowing(log);
    let run = world.run();
    assert_eq!(run.state.name(), "done(retained)");
    assert!(world.disk.contains_key(S) && world.uninstalls.is_empty());
    let memory = world.memory();
    assert!(memory.candidate(R, S).is_none() && memory.retained_candidate(R, S).is_some());
    let exported = sinew_cortex::original::export(&memory, world.now, &world.policy).to_text();
    assert!(!exported.contains("\"slug\": \"todoist\""));

    let mut log = reflexive();
    approved(&mut log);
    let mut world = World::knowing(log).answering([ConsentAnswer::No]);
    let run = world.run();
    assert_eq!((run.state.name(), world.uninstalls.len()), ("done(released)", 1));
    assert!(world.memory().candidate(R, S).is_some());
}

#[test]
fn others_are_searched_for_once() {
    let mut world = World { wants_others: true, ..World::new() };
    world.registry.push(AcquireCandidate::new("five", "github"));
    world.run();
    assert_eq!(world.installs, ["four"]);
    assert_eq!(world.memory().stats.searches, 1, "searches count per run");
    let mut world = World { wants_others: true, ..World::new() };
    let run = world.drive(world.begin(), vec![AcquireEffect::Recall], |run| {
        run.others && matches!(run.state, AcquireState::Approve { .. })
    });
    let refused = world.step(&run, AcquireEvent::OthersWanted);
    assert_eq!(refused, Err(AcquireRefusal::OthersOnce));
}

#[test]
fn an_unanswered_question_expires() {
    let mut world = World::new();
    let run = world.drive(world.begin(), vec![AcquireEffect::Recall], |run| {
        matches!(run.state, AcquireState::Approve { .. })
    });
    assert_eq!(world.step(&run, AcquireEvent::TimeUp), Err(AcquireRefusal::NotNow));
    world.now = world.now.plus_ms(DAY + 1);
    for event in [AcquireEvent::TimeUp, AcquireEvent::Answered(reply(YES))] {
        let stepped = world.step(&run, event).expect("a step");
        let run = world.drive(stepped.run, stepped.effects, |_| false);
        assert_eq!(run.state.name(), "aborted(expired)");
    }
    assert!(world.installs.is_empty());
}

#[test]
fn bytes_that_changed_after_the_yes_are_not_installed() {
    let mut world = World::new();
    let run = world.drive(world.begin(), vec![AcquireEffect::Recall], |run| {
        run.state == AcquireState::Install
    });
    let stepped =
        world.step(&run, AcquireEvent::Installed("sha256:other".to_owned())).expect("a step");
    assert_eq!(stepped.run.attempts[0].slug, "one");
    assert_eq!(stepped.run.current().map(|offer| offer.slug.as_str()), Some("two"));
    // An approval is bound to the digest it was given for.
    let mut swapped = run.clone();
    if let Some(staged) = &mut swapped.candidates[0].staged {
        staged.digest = "sha256:swapped".to_owned();
    }
    assert!(run.covers(&run.candidates[0]) && !swapped.covers(&swapped.candidates[0]));
}

#[test]
fn an_agent_may_pass_on_some_answers() {
    let relayed = ConsentReply { channel: ConsentChannel::Relay, ..reply(YES) };
    let check = |act, relay| check_consent(act, &relayed, relay, CandidateVerdict::Allow).is_ok();
    for act in [ConsentAct::Plan, ConsentAct::SwitchCandidate, ConsentAct::Retain] {
        assert!(
            check(act, RelayPolicy::Limited)
                && check(act, RelayPolicy::Allow)
                && !check(act, RelayPolicy::Never)
        );
    }
    for act in [ConsentAct::Install, ConsentAct::Dependency] {
        assert!(
            !check(act, RelayPolicy::Limited)
                && check(act, RelayPolicy::Allow)
                && !check(act, RelayPolicy::Never)
        );
    }
    let can_ask = ConsentReply { can_elicit: true, ..relayed };
    let refused =
        check_consent(ConsentAct::Plan, &can_ask, RelayPolicy::Allow, CandidateVerdict::Allow);
    assert_eq!(refused, Err(AcquireRefusal::MustElicit));
    assert!(
        check_consent(ConsentAct::Install, &reply(YES), RelayPolicy::Never, CandidateVerdict::Warn)
            .is_ok()
    );
}

#[test]
fn every_yes_is_in_the_log_with_its_digest() {
    let mut world = World::new();
    let run = world.run();
    let logged: Vec<&sinew_cortex::record::ConsentRecord> = world
        .log
        .iter()
        .filter_map(|record| match &record.body {
            RecordBody::Consent(consent) => Some(consent),
            _ => None,
        })
        .collect();
    assert_eq!(logged.len(), run.consents.len());
    assert!(logged.iter().any(|consent| consent.digest == Some(harmless("one").digest)));
    assert!(logged.iter().all(|consent| consent.who == "Kim" && consent.run == run.id));
}

#[test]
fn a_closed_run_hears_nothing() {
    let mut world = World::new();
    let run = world.run();
    assert_eq!(world.step(&run, AcquireEvent::Cancelled), Err(AcquireRefusal::NotNow));
    assert_eq!(resume(&run).effects, []);
}

#[test]
fn cancel_is_heard_in_every_state() {
    let mut states = Vec::new();
    let mut world =
        World::new().finishing([UseReport::failure(ApiError), UseReport::failure(RuntimeError)]);
    world.drive(world.begin(), vec![AcquireEffect::Recall], |run| {
        states.push(run.clone());
        false
    });
    assert!(states.len() > 12);
    for run in states.into_iter().filter(|run| !matches!(run.state, AcquireState::Closed { .. })) {
        let mut world = World::new();
        if let Some(slug) = &run.installed {
            world.disk.insert(slug.clone(), "sha256".to_owned());
        }
        let stepped = world.step(&run, AcquireEvent::Cancelled).expect("a step");
        assert!(matches!(
            stepped.run.state,
            AcquireState::Release { then: AcquireEnding::Cancelled }
        ));
        let run = world.drive(stepped.run, stepped.effects, |_| false);
        assert_eq!((run.state.name(), world.disk.len()), ("aborted(cancelled)", 0));
    }
}

/// What must be the same with and without a crash.
fn tally(world: &World) -> (usize, usize, Vec<(String, UseResult)>) {
    let outcomes = world.outcomes();
    let outcomes = outcomes.iter().map(|outcome| (outcome.slug.clone(), outcome.result)).collect();
    (world.installs.len(), world.disk.len(), outcomes)
}

#[test]
fn a_crash_in_any_state_doubles_nothing() {
    let fresh =
        || World::new().finishing([UseReport::failure(ApiError), UseReport::failure(RuntimeError)]);
    let mut calm = fresh();
    let mut steps = 0;
    calm.drive(calm.begin(), vec![AcquireEffect::Recall], |_| {
        steps += 1;
        false
    });
    for at in 1..=steps {
        // Crash after the step was stored, before its outbox was written and its effects began.
        let mut world = fresh();
        let mut number = 0;
        let stored = world.drive(world.begin(), vec![AcquireEffect::Recall], |_| {
            number += 1;
            number == at
        });
        check_resumed(world, &stored, &calm, at);
    }
}

#[test]
fn a_crash_after_the_work_and_before_its_record_doubles_nothing() {
    let fresh =
        || World::new().finishing([UseReport::failure(ApiError), UseReport::failure(RuntimeError)]);
    let mut calm = fresh();
    let mut steps = 0;
    calm.drive(calm.begin(), vec![AcquireEffect::Recall], |_| {
        steps += 1;
        false
    });
    for at in 2..=steps {
        // The effects of the previous step were carried out, but that was not recorded.
        let mut world = fresh();
        let mut stored = world.begin();
        let mut number = 0;
        let mut before = stored.clone();
        world.drive(stored.clone(), vec![AcquireEffect::Recall], |run| {
            number += 1;
            before = std::mem::replace(&mut stored, run.clone());
            number == at
        });
        check_resumed(world, &before, &calm, at);
    }
}

fn check_resumed(mut world: World, stored: &AcquireRun, calm: &World, at: usize) {
    let text = serde_json::to_string(stored).expect("a run");
    let mut run: AcquireRun = serde_json::from_str(&text).expect("a run");
    assert_eq!(run, *stored);
    let was_executing = matches!(run.state, AcquireState::Execute { .. });
    world.flush(&mut run);
    let resumed = resume(&run);
    if was_executing {
        assert!(matches!(resumed.effects[..], [AcquireEffect::AskOutcome(_)]), "{at}");
    }
    let run = world.drive(resumed.run, resumed.effects, |_| false);
    assert!(matches!(run.state, AcquireState::Closed { .. }), "{at}: {}", run.state.name());
    let (installs, left, outcomes) = tally(&world);
    let slugs: Vec<&str> = outcomes.iter().map(|(slug, _)| slug.as_str()).collect();
    let mut once = slugs.clone();
    once.dedup();
    assert_eq!(slugs, once, "{at}: an outcome is counted once");
    assert_eq!(left, 0, "{at}: nothing stays installed");
    let (most, _, _) = tally(calm);
    assert!(installs <= most, "{at}: {installs} installs, {most} without a crash");
}

#[test]
fn the_one_outcome_of_a_candidate_says_where_it_comes_from() {
    let mut world = World::new();
    world.run();
    let outcomes = world.outcomes();
    let outcome = outcomes[0];
    assert_eq!(outcome.digest, Some(harmless("one").digest));
    assert_eq!(outcome.skill_md_chars, Some(1_200));
    assert_eq!(outcome.side_effects, Some(vec!["network:api.example.com".to_owned()]));
    let kinds: Vec<FailureKind> = outcomes.iter().filter_map(|outcome| outcome.kind).collect();
    assert!(kinds.is_empty());
}
