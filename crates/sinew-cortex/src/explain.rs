//! The explanation of every answer: what was matched, what each candidate is worth under both
//! policies, what a reflex lacks, and the decision.

use serde::Serialize;
use sinew_settings::config::CandidateOrder;

use crate::lesson::{self, Lesson, RememberedLesson};
use crate::memory::{CortexMemory, LastFailure, Region, RegionCandidate};
use crate::policy::CortexPolicy;
use crate::reflex::{self, ReadOnlyWord, ReflexContext, ReflexStatus};
use crate::time::UtcDay;
use crate::{bayes, weight};

/// Why a task is answered as it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecallExplanation {
    /// The signal words of the task.
    pub task_signals: Vec<String>,
    /// The matching region.
    pub region: Option<String>,
    /// How it was found.
    #[serde(rename = "match")]
    pub matched: RegionMatch,
    /// The policy that orders candidates.
    pub policy: CandidateOrder,
    /// The region's candidates, best first; excluded ones last.
    pub candidates: Vec<CandidateView>,
    /// The decision.
    pub decision: RecallDecision,
}

/// How a region was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RegionMatch {
    /// The kind of match.
    pub kind: RegionMatchKind,
    /// How well it matches, 0 to 1.
    pub score: f64,
    /// The words that task and pattern share.
    pub shared: Vec<String>,
    /// The next best region.
    pub runner_up: Option<RunnerUpRegion>,
}

/// How a region was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RegionMatchKind {
    /// The caller named it.
    Named,
    /// By shared words.
    Lexical,
    /// By the meaning of the task.
    Meaning,
    /// No region matches.
    None,
}

/// A region that matches almost as well.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunnerUpRegion {
    /// The region.
    pub region: String,
    /// How well it matches.
    pub score: f64,
    /// Whether it is so close that it might as well have been chosen.
    pub near_tie: bool,
}

/// One candidate with everything that is known about it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct CandidateView {
    /// The skill.
    pub slug: String,
    /// The version that was learned.
    pub version: String,
    /// Where it comes from.
    pub source: String,
    /// Its learned weight.
    pub weight: f64,
    /// Days since its last use, as they count for decay.
    pub days_idle: u32,
    /// Its weight after decay.
    pub effective_weight: f64,
    /// How often it was used.
    pub runs: RunCounts,
    /// Successes in a row.
    pub streak: u32,
    /// Its last failure.
    pub last_fail: Option<LastFailure>,
    /// Why it is not offered.
    pub filtered: Option<FilterReason>,
    /// Its numbers under the Bayesian policy.
    pub bayes: BayesView,
    /// Its reflex.
    pub reflex: ReflexStatus,
    /// Warnings about it.
    pub lessons: Vec<LessonView>,
    /// Its rank under each policy, counted from 1; `None` if it is not offered.
    pub rank: PolicyRanks,
    /// Failures caused by an outage.
    pub env_fails: u32,
    /// Consequences of the numbers that may surprise.
    pub notes: Vec<String>,
}

/// How often a skill was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RunCounts {
    /// Successes.
    pub success: u64,
    /// Failures.
    pub fail: u64,
}

/// Why a candidate is not offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum FilterReason {
    /// It is on the blacklist.
    #[serde(rename = "blacklisted")]
    Blacklisted,
    /// It is gone from where it came from, until a search finds it again.
    #[serde(rename = "vanished")]
    Vanished,
    /// Too weak.
    #[serde(rename = "effective_weight<0.3")]
    Weak,
    /// It was learned for other tasks of the region.
    #[serde(rename = "unfit")]
    Unfit,
    /// Unreliable, and offered within the last 30 days.
    #[serde(rename = "last_resort")]
    LastResort,
}

/// A candidate's numbers under the Bayesian policy.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct BayesView {
    /// Discounted successes.
    pub a: f64,
    /// Discounted failures.
    pub b: f64,
    /// The expected reliability.
    pub mean: f64,
    /// The bonus for uncertainty.
    pub bonus: f64,
    /// The score it is ordered by.
    pub score: f64,
    /// The lower bound of the reliability, one-sided 95 %.
    pub lb: f64,
    /// The sum of the counts.
    pub n: f64,
}

/// A candidate's rank under each policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PolicyRanks {
    /// Under `cortex`.
    pub cortex: Option<usize>,
    /// Under `bayes`.
    pub bayes: Option<usize>,
}

/// A lesson as it is shown.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct LessonView {
    /// What was learned.
    #[serde(flatten)]
    pub lesson: Lesson,
    /// The current confidence, 0 to 1.
    pub confidence: f64,
    /// When it was learned.
    pub created: UtcDay,
    /// Whether it must be checked again before it is relied on.
    pub stale: bool,
}

impl LessonView {
    /// The current state of a lesson.
    pub fn of(lesson: &RememberedLesson, today: UtcDay, policy: &CortexPolicy) -> Self {
        Self {
            lesson: lesson.lesson.clone(),
            confidence: f64::from(lesson.faded_confidence(today, policy)) / 100.0,
            created: lesson.created,
            stale: lesson.is_stale(today),
        }
    }
}

/// The decision of a recall.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecallDecision {
    /// What to do.
    pub action: RecallAction,
    /// The first candidate.
    pub slug: Option<String>,
    /// Whether the user is asked about its plan.
    pub mode: PlanMode,
    /// The reason.
    pub reason: String,
}

/// What to do with a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RecallAction {
    /// Offer the known candidates.
    Present,
    /// Search registries.
    Search,
}

/// Whether the user is asked about a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlanMode {
    /// The user is asked.
    #[default]
    Standard,
    /// Only a notice is shown.
    Reflex,
}

/// The region's candidates in the policy's order; those that are not offered come last.
pub fn candidate_views(
    memory: &CortexMemory,
    name: &str,
    today: UtcDay,
    policy: &CortexPolicy,
) -> Vec<CandidateView> {
    let Some(region) = memory.motor.get(name) else { return Vec::new() };
    let known: f64 = region.candidates.iter().map(|candidate| candidate.counts.sum()).sum();
    let mut views: Vec<(CandidateView, &RegionCandidate)> = region
        .candidates
        .iter()
        .map(|candidate| {
            (candidate_view(memory, region, candidate, known, today, policy), candidate)
        })
        .collect();
    for order in [CandidateOrder::Bayes, CandidateOrder::Cortex] {
        views.sort_by(|a, b| compare(&a.0, &b.0, order));
        let mut place = 0;
        for (view, candidate) in &mut views {
            let offered = filtered(memory, view, candidate, today, order).is_none();
            place += usize::from(offered);
            let rank = offered.then_some(place);
            match order {
                CandidateOrder::Cortex => view.rank.cortex = rank,
                CandidateOrder::Bayes => view.rank.bayes = rank,
            }
        }
    }
    for (view, candidate) in &mut views {
        view.filtered = filtered(memory, view, candidate, today, policy.order);
    }
    let place = |view: &CandidateView| match policy.order {
        CandidateOrder::Cortex => view.rank.cortex,
        CandidateOrder::Bayes => view.rank.bayes,
    };
    views.sort_by_key(|(view, _)| place(view).unwrap_or(usize::MAX));
    views.into_iter().map(|(view, _)| view).collect()
}

/// The view of one candidate.
pub fn candidate_view(
    memory: &CortexMemory,
    region: &Region,
    candidate: &RegionCandidate,
    known: f64,
    today: UtcDay,
    policy: &CortexPolicy,
) -> CandidateView {
    let idle = region.idle_days(candidate, today, policy);
    let counts = candidate.counts;
    let warns = |held: &&RememberedLesson| {
        held.lesson.slug() == Some(&candidate.slug)
            && held.faded_confidence(today, policy) >= lesson::KEEP_MIN
    };
    let declared = ReadOnlyWord::of(memory, candidate.digest.as_deref());
    let moment = ReflexContext { idle, declared, ..ReflexContext::default() };
    CandidateView {
        slug: candidate.slug.clone(),
        version: candidate.version.clone(),
        source: candidate.source.clone(),
        weight: candidate.weight,
        days_idle: idle,
        effective_weight: weight::effective(candidate.weight, idle),
        runs: RunCounts { success: candidate.success, fail: candidate.fail },
        streak: candidate.streak,
        last_fail: candidate.last_fail.clone(),
        filtered: None,
        bayes: BayesView {
            a: counts.a,
            b: counts.b,
            mean: counts.mean(),
            bonus: counts.bonus(known),
            score: counts.score(known),
            lb: counts.lower_bound(),
            n: counts.sum(),
        },
        reflex: reflex::decide(candidate, &moment, policy),
        lessons: memory
            .lessons
            .iter()
            .filter(warns)
            .map(|held| LessonView::of(held, today, policy))
            .collect(),
        rank: PolicyRanks::default(),
        env_fails: candidate.env_fails,
        notes: notes(candidate),
    }
}

fn filtered(
    memory: &CortexMemory,
    view: &CandidateView,
    candidate: &RegionCandidate,
    today: UtcDay,
    order: CandidateOrder,
) -> Option<FilterReason> {
    if memory.is_blacklisted(&view.slug) {
        return Some(FilterReason::Blacklisted);
    }
    if memory.is_vanished(&view.slug) {
        return Some(FilterReason::Vanished);
    }
    match order {
        CandidateOrder::Cortex => {
            (view.effective_weight < weight::OFFER_MIN).then_some(FilterReason::Weak)
        }
        CandidateOrder::Bayes => {
            let lately = candidate.offered.map(|day| today.days_since(day));
            let lately = lately.is_some_and(|days| days < bayes::LAST_RESORT_DAYS);
            (view.is_last_resort() && lately).then_some(FilterReason::LastResort)
        }
    }
}

impl CandidateView {
    /// Whether, under `bayes`, it comes after all others.
    pub fn is_last_resort(&self) -> bool {
        self.bayes.mean < bayes::LAST_RESORT
    }
}

/// Best first. A candidate whose description misleads comes after its peers.
fn compare(a: &CandidateView, b: &CandidateView, order: CandidateOrder) -> std::cmp::Ordering {
    let warned = a.lessons.is_empty().cmp(&b.lessons.is_empty()).reverse();
    warned
        .then_with(|| match order {
            CandidateOrder::Cortex => b
                .effective_weight
                .total_cmp(&a.effective_weight)
                .then_with(|| b.weight.total_cmp(&a.weight))
                .then_with(|| b.runs.success.cmp(&a.runs.success)),
            CandidateOrder::Bayes => a
                .is_last_resort()
                .cmp(&b.is_last_resort())
                .then_with(|| b.bayes.score.total_cmp(&a.bayes.score)),
        })
        .then_with(|| a.slug.cmp(&b.slug))
}

/// Consequences of Skill Cortex's numbers that may surprise.
fn notes(candidate: &RegionCandidate) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(days) = weight::reflex_days(candidate.weight).filter(|_| candidate.reflex) {
        notes.push(format!(
            "at weight {:.2} a reflex fires within {days:.1} idle days; a task done every 18 days or \
             less often never fires",
            candidate.weight
        ));
    }
    if candidate.env_fails > 0 {
        notes.push(format!("{} failures happened during an outage", candidate.env_fails));
    }
    if let Some(at) = candidate.alarm {
        notes.push(format!("its reliability fell: the drift alarm was raised on {}", at.day()));
    }
    notes
}
