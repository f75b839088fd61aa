//! Recall: from a task to the matching region, and to what its candidates are worth.

use std::collections::BTreeSet;

use crate::explain::{
    self, CandidateView, FilterReason, PlanMode, RecallAction, RecallDecision, RecallExplanation,
    RegionMatch, RegionMatchKind, RunnerUpRegion,
};
use crate::memory::{CortexMemory, RegionSignal};
use crate::policy::CortexPolicy;
use crate::signals::SignalVocabulary;
use crate::time::UtcDay;

/// Scores closer than this are a near tie, which is reported.
const NEAR_TIE: f64 = 0.05;
/// A single shared word counts only if it is at least this share of the shorter side.
const ONE_WORD_SHARE: f64 = 0.5;

/// How well a task matches a region by meaning: provided by the router.
pub trait TaskSimilarity {
    /// The calibrated similarity between the task and the region, if known.
    fn of(&self, region: &str) -> Option<f64>;

    /// The similarity from which the router accepts a match.
    fn accepts_from(&self) -> f64;
}

/// How well candidates fit a task by what they say of themselves: provided by the router.
pub trait CandidateFit {
    /// The probability that a skill is right for the task; `None` where nothing is known of what it
    /// says.
    fn of(&self, slug: &str) -> Option<f64>;
}

/// A skill that fits so well is recalled although the task shares no word with what was learned.
const FITS: f64 = 0.72;
/// A skill that fits so well is recalled where the words agree.
const FITS_WITH_WORDS: f64 = 0.6;
/// The same where every word that was learned is in the task, and a single one is all that the task has:
/// it is the same task again, in whatever language it was said.
const FITS_THE_SAME: f64 = 0.1;
/// What agreeing words add to the fit.
const WORDS_SHARE: f64 = 0.5;
/// Skills whose fit is at least this share of the best one's are peers: among them the weight decides.
const PEERS: f64 = 0.5;

/// A task to recall.
#[derive(Clone, Copy, Default)]
pub struct RecallTask<'a> {
    /// All of its signal words.
    pub words: &'a [String],
    /// The region that the caller names; it takes precedence.
    pub region: Option<&'a str>,
    /// The router's similarities.
    pub similarity: Option<&'a dyn TaskSimilarity>,
    /// How well the candidates fit. Where it is known of a region's, they must.
    pub fit: Option<&'a dyn CandidateFit>,
}

/// The region that matches a task, and how it was found.
pub fn find_region(memory: &CortexMemory, task: &RecallTask<'_>) -> (Option<String>, RegionMatch) {
    if let Some(region) = task.region {
        let shared = match memory.pattern(region) {
            Some(pattern) => shared(task.words, pattern.signals.iter().map(|s| s.word.as_str())),
            None => Vec::new(),
        };
        let matched =
            RegionMatch { kind: RegionMatchKind::Named, score: 1.0, shared, runner_up: None };
        return (Some(region.to_owned()), matched);
    }
    let mut hits: Vec<RegionHit<'_>> = Vec::new();
    for pattern in &memory.patterns {
        hits.extend(hit(memory, &pattern.region, &pattern.signals, task));
    }
    if task.similarity.is_some() || task.fit.is_some() {
        // Regions without words can only match by meaning.
        let worded: BTreeSet<&str> = memory.patterns.iter().map(|found| &*found.region).collect();
        let others = memory.motor.keys().filter(|name| !worded.contains(name.as_str()));
        hits.extend(others.filter_map(|name| hit(memory, name, &[], task)));
    }
    let last_used = |region: &str| memory.motor.get(region).map(|region| region.last_used);
    hits.sort_by(|a, b| {
        b.score
            .total_cmp(&a.score)
            .then_with(|| last_used(b.region).cmp(&last_used(a.region)))
            .then_with(|| a.region.cmp(b.region))
    });
    let mut hits = hits.into_iter();
    match hits.next() {
        None => {
            let matched = RegionMatch {
                kind: RegionMatchKind::None,
                score: 0.0,
                shared: Vec::new(),
                runner_up: None,
            };
            (None, matched)
        }
        Some(best) => {
            let runner_up = hits.next().map(|second| RunnerUpRegion {
                region: second.region.to_owned(),
                score: second.score,
                near_tie: best.score - second.score < NEAR_TIE,
            });
            let (kind, score) = (best.kind, best.score);
            (
                Some(best.region.to_owned()),
                RegionMatch { kind, score, shared: best.shared, runner_up },
            )
        }
    }
}

struct RegionHit<'a> {
    region: &'a str,
    kind: RegionMatchKind,
    score: f64,
    shared: Vec<String>,
}

fn hit<'a>(
    memory: &CortexMemory,
    region: &'a str,
    words: &[RegionSignal],
    task: &RecallTask<'_>,
) -> Option<RegionHit<'a>> {
    let shared = shared(task.words, words.iter().map(|signal| signal.word.as_str()));
    let fewest = task.words.len().min(words.len());
    let lexical = if fewest == 0 { 0.0 } else { shared.len() as f64 / fewest as f64 };
    let vocabulary = SignalVocabulary::built_in();
    // Verbs that every kind of task has say nothing by themselves.
    let telling = shared.iter().filter(|word| !vocabulary.is_generic(word)).count();
    let is_lexical =
        telling > 0 && (shared.len() >= 2 || shared.len() == 1 && lexical >= ONE_WORD_SHARE);
    if let Some(fit) = best_fit(memory, region, task) {
        let is_whole = telling > 0 && shared.len() == words.len();
        let is_same = is_whole && (shared.len() >= 2 || task.words.len() == 1);
        let needed = match (is_same, is_lexical) {
            (true, _) => FITS_THE_SAME,
            (false, true) => FITS_WITH_WORDS,
            (false, false) => FITS,
        };
        let kind = if is_lexical { RegionMatchKind::Lexical } else { RegionMatchKind::Meaning };
        let words = if is_lexical { WORDS_SHARE * lexical } else { 0.0 };
        let score = (fit + words) / (1.0 + WORDS_SHARE);
        return (fit >= needed).then_some(RegionHit { region, kind, score, shared });
    }
    let meaning = task.similarity.and_then(|similarity| {
        similarity.of(region).filter(|score| *score >= similarity.accepts_from())
    });
    match meaning {
        Some(score) if !is_lexical || score > lexical => {
            Some(RegionHit { region, kind: RegionMatchKind::Meaning, score, shared })
        }
        _ if is_lexical => {
            Some(RegionHit { region, kind: RegionMatchKind::Lexical, score: lexical, shared })
        }
        _ => None,
    }
}

/// The fit of the region's candidate that fits best, where any is known.
fn best_fit(memory: &CortexMemory, region: &str, task: &RecallTask<'_>) -> Option<f64> {
    let fit = task.fit?;
    let candidates = &memory.motor.get(region)?.candidates;
    candidates.iter().filter_map(|candidate| fit.of(&candidate.slug)).reduce(f64::max)
}

/// The words of a task that a pattern contains, in whatever language the pattern was written.
fn shared<'a>(task: &[String], pattern: impl Iterator<Item = &'a str>) -> Vec<String> {
    let vocabulary = SignalVocabulary::built_in();
    let is_shared = |word: &str| match vocabulary.class(word) {
        Some(_) => task.iter().find(|known| *known == word),
        None => {
            let english = vocabulary.english(word);
            task.iter().find(|known| **known == english)
        }
    };
    let mut found: Vec<String> = pattern.filter_map(is_shared).cloned().collect();
    found.sort_by_key(|word| task.iter().position(|known| known == word));
    found.dedup();
    found
}

/// What is known about a task, and the decision.
///
/// ```
/// use sinew_cortex::explain::RecallAction;
/// use sinew_cortex::recall::{RecallTask, recall};
/// use sinew_cortex::{CortexMemory, CortexPolicy, UtcDay};
///
/// let policy = CortexPolicy::default();
/// let memory = CortexMemory::new(&policy);
/// let told = recall(&memory, &RecallTask::default(), UtcDay::default(), &policy);
/// assert_eq!(told.decision.action, RecallAction::Search);
/// ```
pub fn recall(
    memory: &CortexMemory,
    task: &RecallTask<'_>,
    today: UtcDay,
    policy: &CortexPolicy,
) -> RecallExplanation {
    let (region, matched) = find_region(memory, task);
    let mut candidates = match &region {
        Some(region) => explain::candidate_views(memory, region, today, policy),
        None => Vec::new(),
    };
    if let Some(fit) = task.fit.filter(|_| matched.kind != RegionMatchKind::Named) {
        put_fitting_first(&mut candidates, fit);
    }
    let decision = decide(region.as_deref(), &candidates);
    RecallExplanation {
        task_signals: task.words.to_vec(),
        region,
        matched,
        policy: policy.order,
        candidates,
        decision,
    }
}

/// The best fit comes before the weight: what fits far less than the best of the region was learned for
/// other tasks, and is not offered for this one.
fn put_fitting_first(candidates: &mut [CandidateView], fit: &dyn CandidateFit) {
    let offered = candidates.iter().filter(|view| view.filtered.is_none());
    let best = offered.filter_map(|view| fit.of(&view.slug)).fold(0.0, f64::max);
    for view in candidates.iter_mut().filter(|view| view.filtered.is_none()) {
        if fit.of(&view.slug).is_some_and(|fit| fit < PEERS * best) {
            view.filtered = Some(FilterReason::Unfit);
        }
    }
    candidates.sort_by_key(|view| view.filtered == Some(FilterReason::Unfit));
}

fn decide(region: Option<&str>, candidates: &[CandidateView]) -> RecallDecision {
    let search = |reason: String| RecallDecision {
        action: RecallAction::Search,
        slug: None,
        mode: PlanMode::Standard,
        reason,
    };
    let Some(region) = region else { return search("no region fits the task".to_owned()) };
    let Some(first) = candidates.iter().find(|candidate| candidate.filtered.is_none()) else {
        return search(match candidates.len() {
            0 => format!("{region} has no candidates"),
            many => format!("all {many} candidates of {region} are filtered"),
        });
    };
    let mode = if first.reflex.fires { PlanMode::Reflex } else { PlanMode::Standard };
    let reason = match (mode, first.reflex.missing.as_slice()) {
        (PlanMode::Reflex, _) => "every condition of a reflex is met".to_owned(),
        (PlanMode::Standard, missing) => missing.join("; "),
    };
    RecallDecision { action: RecallAction::Present, slug: Some(first.slug.clone()), mode, reason }
}
