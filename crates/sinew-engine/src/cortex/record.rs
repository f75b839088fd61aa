//! Recording how a use went, and what follows from it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sinew_cortex::explain::RunCounts;
use sinew_cortex::failure::FailureKind;
use sinew_cortex::memory::{CortexMemory, RegionCandidate};
use sinew_cortex::prune::PruneRemoval;
use sinew_cortex::recall::find_region;
use sinew_cortex::record::{LessonOp, OutcomeReporter, RecordBody, SkillOutcome, UseResult};
use sinew_cortex::reflex::ReflexStatus;
use sinew_cortex::signals::{self, clean_detail, clean_region, is_region, region_name};
use sinew_cortex::{Ulid, UtcInstant, learn, lesson};
use sinew_settings::ErrorCode;

use super::Cortex;
use crate::EngineError;

/// A record may lie this far in the future: clocks of a team differ. More is a mistake that would keep
/// a region from ever ageing.
const MAX_AHEAD_MS: i64 = 24 * 60 * 60 * 1000;
/// The longest slug, version, source, agent, model, key or tag.
const MAX_NAME: usize = 128;
/// Side effects of one outcome.
const MAX_TAGS: usize = 32;

/// A use of a skill that is to be recorded.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NewOutcome {
    /// The record's id, for a caller that may have to retry; a new one where absent.
    pub id: Option<Ulid>,
    /// The task area; found or named by the task where absent.
    pub region: Option<String>,
    /// The task, for its words; it is not stored.
    pub task: Option<String>,
    /// The skill.
    pub slug: String,
    /// Its version; [`Engine::identified`](crate::Engine::identified) knows it.
    pub version: String,
    /// Where it comes from; `clawhub` where absent.
    pub source: Option<String>,
    /// The digest of its files.
    pub digest: Option<String>,
    /// Whether it worked; `None` when that is unknown.
    pub worked: Option<bool>,
    /// How it failed.
    pub kind: Option<FailureKind>,
    /// What was seen. Names, numbers, paths and secrets are taken out before it is written.
    pub detail: Option<String>,
    /// The missing program or variable, by name.
    pub key: Option<String>,
    /// The skill's side effects; `None` where they are unknown.
    pub side_effects: Option<Vec<String>>,
    /// What this use was seen to change, beyond what its reporter says: it contradicts a person's word
    /// that these files only read.
    pub observed: Vec<String>,
    /// What the caller says about the skill's description: misleading with a mismatch, right with a
    /// success.
    pub point: Option<String>,
    /// How much of it is due to the skill.
    pub blame: Option<f64>,
    /// Whether the host was offline.
    pub offline: bool,
    /// Characters and bytes of its SKILL.md.
    pub skill_md: Option<(u64, u64)>,
    /// When it happened; now where absent.
    pub at: Option<UtcInstant>,
    /// Who says so.
    pub origin: OutcomeReporter,
    /// The agent that used it.
    pub agent: Option<String>,
    /// The agent's model.
    pub model: Option<String>,
    /// How often it was tried; once where absent.
    pub attempts: Option<u32>,
    /// How long it took, in milliseconds.
    pub ms: Option<u64>,
    /// What it cost.
    pub tokens: Option<u64>,
    /// Programs and variables that were probed: `bin:ffmpeg`, `env:TOKEN`.
    pub probes: BTreeMap<String, bool>,
}

/// What an outcome did to the memory.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct OutcomeEffect {
    /// The record, for a retraction.
    pub id: Ulid,
    /// When it happened.
    pub at: UtcInstant,
    /// The region.
    pub region: String,
    /// The skill.
    pub skill: String,
    /// Its version.
    pub version: String,
    /// Its weight before the outcome; `None` where it was unknown.
    pub previous_weight: Option<f64>,
    /// Its weight after the outcome; `None` where it is not remembered.
    pub weight: Option<f64>,
    /// The weight as it counts today.
    pub effective_weight: Option<f64>,
    /// Whether it has earned a reflex.
    pub reflex: bool,
    /// Whether this outcome gave it a reflex, or took one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reflex_change: Option<ReflexChange>,
    /// What is done about a failure of this kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handling: Option<&'static str>,
    /// What a reflex lacks.
    pub reflex_state: Option<ReflexStatus>,
    /// How often it was used.
    pub runs: Option<RunCounts>,
    /// Successes in a row.
    pub streak: u32,
    /// The lower bound of its reliability, one-sided 95 %.
    pub lower_bound: f64,
    /// Lessons that were created, confirmed or contradicted.
    pub lessons: Vec<String>,
    /// What was pruned.
    pub pruned: Vec<PruneRemoval>,
    /// New signals of the region.
    pub signals: Vec<String>,
}

/// What an outcome did to a reflex.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum ReflexChange {
    /// It was earned.
    Set,
    /// It was lost.
    Reset,
}

impl Cortex<'_> {
    /// Records how a use of a skill went. When this returns, it is on disk.
    pub fn record(&self, new: &NewOutcome) -> Result<OutcomeEffect, EngineError> {
        let now = self.now();
        let at = new.at.unwrap_or(now);
        if at.ms() > now.ms().saturating_add(MAX_AHEAD_MS) {
            return Err(EngineError::new(
                ErrorCode::InTheFuture,
                format!("{at} lies in the future; it is {now}"),
            )
            .hint("leave the time out, or correct it"));
        }
        let (region, missed) = self.region_of(new)?;
        let mut outcome = self.outcome(new, &region)?;
        // An outcome reported later may come from another machine, so this one is not probed.
        if new.at.is_none() {
            self.look_around(&mut outcome)?;
        }
        let before = self.with_memory(|memory| standing(memory, &outcome))?;
        let bodies = vec![RecordBody::Outcome(Box::new(outcome.clone()))];
        let id = match new.id {
            None => self.append(at, bodies)?,
            Some(id) => self.append_from(id, at, bodies).map(|()| id)?,
        };
        let point = new.point.as_deref().map(|point| clean_detail(point, self.engine.vocabulary()));
        let point = point.filter(|point| !point.is_empty());
        let task = new.task.as_deref().filter(|_| missed);
        let look = |memory: &CortexMemory| recorded(self, memory, id, at, &outcome);
        let (mut recorded, bodies) = self.learn(id, &outcome, at, point.as_deref(), task, look)?;
        recorded.previous_weight = before.map(|(weight, _)| weight);
        recorded.reflex_change = match (before.is_some_and(|(_, reflex)| reflex), recorded.reflex) {
            (false, true) => Some(ReflexChange::Set),
            (true, false) => Some(ReflexChange::Reset),
            _ => None,
        };
        recorded.handling = outcome.kind.map(FailureKind::remedy);
        for body in bodies {
            match body {
                RecordBody::Lesson { op, lesson, .. } => {
                    recorded.lessons.push(lesson_sentence(op, &lesson));
                }
                RecordBody::Prune { removed } => recorded.pruned.extend(removed),
                RecordBody::Signals { words, .. } => recorded.signals.extend(words),
                _ => {}
            }
        }
        self.mirror();
        Ok(recorded)
    }

    /// Learns from an outcome that is in the log: words, lessons, pruning. Gives what `look` sees right
    /// after the outcome, before anything is pruned, and what was written.
    pub(super) fn learn<T>(
        &self,
        id: Ulid,
        outcome: &SkillOutcome,
        at: UtcInstant,
        point: Option<&str>,
        task: Option<&str>,
        look: impl Fn(&CortexMemory) -> T,
    ) -> Result<(T, Vec<RecordBody>), EngineError> {
        let (region, slug) = (outcome.region.as_str(), outcome.slug.as_str());
        let today = self.now().day();
        let prune = |memory: &CortexMemory| {
            learn::pruning_record(memory, today, self.policy(), Some((region, slug)))
        };
        let (seen, mut bodies, mut pruning) = self.with_memory(|memory| {
            let lessons = learn::lesson_records(memory, id, outcome, point, self.policy());
            (look(memory), lessons, prune(memory))
        })?;
        if let Some(task) = task.filter(|_| outcome.result == UseResult::Success) {
            bodies.extend(learn::signals_record(task, region, slug, self.engine.vocabulary()));
        }
        if !bodies.is_empty() {
            // Ids that follow the outcome's: learning from it twice writes once.
            self.append_from(id.next(), at, bodies.clone())?;
            pruning = self.with_memory(prune)?;
        }
        if let Some(pruning) = pruning {
            self.append(self.now().max(at), vec![pruning.clone()])?;
            bodies.push(pruning);
        }
        Ok((seen, bodies))
    }

    /// The region of an outcome, and whether its words are to be learned: when no pattern knew them.
    fn region_of(&self, new: &NewOutcome) -> Result<(String, bool), EngineError> {
        let (mut words, mut known) = (Vec::new(), None);
        if let Some(task) = &new.task {
            words = signals::signal_words(task, self.engine.vocabulary());
            known = self.with_task(task, None, |memory, task| find_region(memory, task).0)?;
        }
        let missed = known.is_none() && new.task.is_some();
        match &new.region {
            Some(region) if is_region(region) => Ok((region.clone(), missed)),
            Some(region) => {
                let error = EngineError::new(
                    ErrorCode::BadRegion,
                    format!("`{}` is no name of a region", shown(region)),
                );
                Err(match clean_region(region) {
                    Some(clean) => error.hint(format!("did you mean `{clean}`?")),
                    None => error.hint("use lower-case letters, digits and hyphens"),
                })
            }
            None if new.task.is_some() => {
                let named = || region_name(&words, &new.slug, self.engine.vocabulary());
                Ok((known.unwrap_or_else(named), missed))
            }
            None => Err(EngineError::new(
                ErrorCode::NoRegion,
                "an outcome needs a region or a task".to_owned(),
            )
            .hint(
                "name one, such as `task-management`; `sinew cortex show` lists those there are",
            )),
        }
    }

    /// Looks for what the region's lessons are about, and for the variables that the skill reads, so
    /// that lessons are confirmed or contradicted by what is the case.
    fn look_around(&self, outcome: &mut SkillOutcome) -> Result<(), EngineError> {
        let tags = outcome.side_effects.as_deref().unwrap_or_default();
        for (probe, found) in self.probes(&outcome.region, tags, outcome.key.as_deref())? {
            outcome.probes.entry(probe).or_insert(found);
        }
        Ok(())
    }

    /// Whether what the lessons of a region are about is there, and the variables that a skill with
    /// these side effects reads.
    pub(crate) fn probes(
        &self,
        region: &str,
        tags: &[String],
        key: Option<&str>,
    ) -> Result<BTreeMap<String, bool>, EngineError> {
        let mut probes: Vec<String> = self.with_memory(|memory| {
            let lessons = memory.lessons.iter().filter(|held| held.lesson.region() == Some(region));
            lessons.filter_map(|held| held.lesson.probe()).collect()
        })?;
        let read = tags.iter().filter_map(|tag| tag.strip_prefix("read:env:"));
        probes.extend(read.map(|name| format!("env:{name}")));
        let looked = probes.into_iter().filter_map(|probe| {
            // A program that was just reported missing is missing, wherever it was looked for.
            let reported = key.is_some_and(|key| probe.ends_with(&format!(":{key}")));
            let found = self.probe(&probe).filter(|_| !reported)?;
            Some((probe, found))
        });
        Ok(looked.collect())
    }

    /// Whether a program or a variable is there: `bin:ffmpeg`, `env:TOKEN`.
    pub(super) fn probe(&self, probe: &str) -> Option<bool> {
        let env = &self.engine.env;
        match probe.split_once(':')? {
            ("bin", name) => Some(sinew_catalog::find_program(env, name).is_some()),
            ("env", name) => Some(env.var(name).is_some()),
            _ => None,
        }
    }

    fn outcome(&self, new: &NewOutcome, region: &str) -> Result<SkillOutcome, EngineError> {
        let name = |what: &str, text: &str| checked_name(what, text);
        let optional = |what: &str, text: &Option<String>| {
            text.as_deref().map(|text| name(what, text)).transpose()
        };
        let result = match new.worked {
            Some(true) => UseResult::Success,
            Some(false) => UseResult::Failure,
            None => UseResult::Unknown,
        };
        if new.kind.is_some() && result != UseResult::Failure {
            return Err(EngineError::new(
                ErrorCode::KindWithoutFailure,
                "only a failure has a kind".to_owned(),
            )
            .hint("leave the kind out, or report a failure"));
        }
        let blame = new.blame.unwrap_or(1.0);
        if !(blame > 0.0 && blame <= 1.0) {
            return Err(EngineError::new(
                ErrorCode::BadBlame,
                format!("{blame} is no share of blame"),
            )
            .hint("a share lies above 0 and is at most 1"));
        }
        let side_effects = match &new.side_effects {
            None => None,
            Some(tags) if tags.len() > MAX_TAGS => {
                return Err(EngineError::new(
                    ErrorCode::TooManySideEffects,
                    format!("{} side effects; {MAX_TAGS} are kept", tags.len()),
                ));
            }
            Some(tags) => {
                Some(tags.iter().map(|tag| name("side effect", tag)).collect::<Result<_, _>>()?)
            }
        };
        let seen = new.side_effects.iter().flatten().chain(&new.observed).take(MAX_TAGS);
        let observed =
            seen.map(|tag| name("side effect", tag)).collect::<Result<_, EngineError>>()?;
        let probes = new.probes.iter().take(MAX_TAGS);
        let probes = probes.map(|(probe, is_there)| Ok((name("probe", probe)?, *is_there)));
        let detail =
            new.detail.as_deref().map(|detail| clean_detail(detail, self.engine.vocabulary()));
        Ok(SkillOutcome {
            source: name("source", new.source.as_deref().unwrap_or("clawhub"))?,
            digest: optional("digest", &new.digest)?,
            kind: match result {
                UseResult::Failure => Some(new.kind.unwrap_or(FailureKind::RuntimeError)),
                _ => None,
            },
            detail: detail.filter(|detail| !detail.is_empty()),
            key: optional("key", &new.key)?,
            blame,
            shielded: new.offline && result == UseResult::Failure,
            side_effects,
            observed,
            skill_md_chars: new.skill_md.map(|(chars, _)| chars),
            skill_md_bytes: new.skill_md.map(|(_, bytes)| bytes),
            agent: optional("agent", &new.agent)?,
            model: optional("model", &new.model)?,
            origin: new.origin,
            attempts: new.attempts.unwrap_or(1),
            ms: new.ms,
            tokens: new.tokens,
            probes: probes.collect::<Result<_, EngineError>>()?,
            ..SkillOutcome::new(
                region,
                &name("skill", &new.slug)?,
                &name("version", &new.version)?,
                result,
            )
        })
    }
}

/// The weight of a candidate and whether it has a reflex.
fn standing(memory: &CortexMemory, outcome: &SkillOutcome) -> Option<(f64, bool)> {
    let (region, slug) = (outcome.region.as_str(), outcome.slug.as_str());
    let candidate =
        memory.candidate(region, slug).or_else(|| memory.retained_candidate(region, slug))?;
    Some((candidate.weight, candidate.reflex))
}

fn recorded(
    cortex: &Cortex<'_>,
    memory: &CortexMemory,
    id: Ulid,
    at: UtcInstant,
    outcome: &SkillOutcome,
) -> OutcomeEffect {
    let (region, slug) = (outcome.region.as_str(), outcome.slug.as_str());
    let candidate: Option<&RegionCandidate> =
        memory.candidate(region, slug).or_else(|| memory.retained_candidate(region, slug));
    let view = memory.motor.get(region).zip(candidate).map(|(area, candidate)| {
        let known = area.candidates.iter().map(|candidate| candidate.counts.sum()).sum();
        let today = cortex.now().day();
        sinew_cortex::explain::candidate_view(
            memory,
            area,
            candidate,
            known,
            today,
            cortex.policy(),
        )
    });
    OutcomeEffect {
        id,
        at,
        region: outcome.region.clone(),
        skill: outcome.slug.clone(),
        version: outcome.version.clone(),
        previous_weight: None,
        weight: candidate.map(|candidate| candidate.weight),
        effective_weight: view.as_ref().map(|view| view.effective_weight),
        reflex: candidate.is_some_and(|candidate| candidate.reflex),
        reflex_change: None,
        handling: None,
        runs: view.as_ref().map(|view| view.runs),
        streak: candidate.map_or(0, |candidate| candidate.streak),
        lower_bound: view.as_ref().map_or(0.0, |view| view.bayes.lb),
        reflex_state: view.map(|view| view.reflex),
        lessons: Vec::new(),
        pruned: Vec::new(),
        signals: Vec::new(),
    }
}

/// What became of a lesson, in a sentence.
pub(crate) fn lesson_sentence(op: LessonOp, lesson: &lesson::Lesson) -> String {
    let what = match lesson {
        lesson::Lesson::DependencyWarning { region, key } => {
            format!("{region} needs `{key}`, which is often missing")
        }
        lesson::Lesson::SkillQualityWarning { slug, detail } => {
            format!("the description of {slug} misleads: {detail}")
        }
        lesson::Lesson::EnvReady { region, key } => format!("{key} is set for {region}"),
    };
    let op = match op {
        LessonOp::Create => "learned",
        LessonOp::Validate => "confirmed",
        LessonOp::Contradict => "contradicted",
        LessonOp::Remove => "removed",
    };
    format!("{op}: {what}")
}

/// A short name without white space, control characters and secrets.
pub(super) fn checked_name(what: &str, text: &str) -> Result<String, EngineError> {
    let text = text.trim();
    let bad = |why: String| {
        Err(EngineError::new(ErrorCode::BadName, format!("the {what} `{}` {why}", shown(text))))
    };
    if text.is_empty() {
        return bad("is empty".to_owned());
    }
    let length = text.chars().count();
    if length > MAX_NAME {
        return bad(format!("has {length} characters; {MAX_NAME} are allowed"));
    }
    if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return bad("holds blanks or control characters".to_owned());
    }
    if !sinew_guard::secrets::find_strict(text).is_empty() {
        return Err(EngineError::new(ErrorCode::Secret, format!("the {what} looks like a secret"))
            .hint("names are recorded, values never"));
    }
    Ok(text.to_owned())
}

fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(40).collect()
}
