//! A candidate as people see it before they answer.

use serde::Serialize;
use sinew_cortex::acquire::{AcquireCandidate, AcquireRun, StagedCandidate, StagedSummary};
use sinew_cortex::explain::{CandidateView, candidate_views};
use sinew_cortex::lesson::Lesson;
use sinew_settings::Environment;
use sinew_skill::ReadOptions;

use super::effects;
use super::market::{FetchedCandidate, MarketListing};
use crate::approval::{ApprovalEvidence, ApprovalScan, ApprovalSubject, CandidateVerdict};
use crate::{Cortex, EngineError, ProbedLesson};

/// Lines of each kind, and characters of a line, that are kept of a candidate: more is no summary.
const MAX_KEPT: usize = 50;
const MAX_KEPT_TEXT: usize = 1_000;

/// Everything that is shown of a candidate.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct CandidateSummary {
    /// The skill.
    pub slug: String,
    /// Its version.
    pub version: Option<String>,
    /// What it says it is for.
    pub description: Option<String>,
    /// Where it comes from, by name.
    pub source: String,
    /// The address of that source.
    pub address: String,
    /// Whether that source reviews what it offers.
    pub reviewed: bool,
    /// How many people marked it.
    pub stars: Option<u64>,
    /// How often it was downloaded.
    pub downloads: Option<u64>,
    /// The digest of its files.
    pub digest: Option<String>,
    /// What the scanner says.
    pub scan: Option<ApprovalScan>,
    /// What it can do.
    pub capabilities: Vec<String>,
    /// Programs that it needs and this machine does not have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// How it went before.
    pub history: Option<String>,
    /// What was learned about it.
    pub lessons: Vec<String>,
    /// Why it cannot be installed.
    pub failed: Option<String>,
}

impl CandidateSummary {
    /// A candidate with what is known of it.
    pub(super) fn of(
        offer: &AcquireCandidate,
        address: String,
        listing: Option<&MarketListing>,
        known: Option<&CandidateView>,
        env: &Environment,
    ) -> Self {
        let shown = offer.staged.as_ref().map(|staged| &staged.shown);
        let said =
            listing.map(|listing| listing.description.clone()).filter(|text| !text.is_empty());
        Self {
            slug: offer.slug.clone(),
            version: offer.staged.as_ref().map(|staged| staged.version.clone()),
            description: said
                .or_else(|| offer.description.clone())
                .or_else(|| shown.and_then(|shown| shown.description.clone())),
            source: offer.source.clone(),
            address,
            reviewed: offer.reviewed,
            stars: listing.and_then(|listing| listing.stars).or(offer.stars),
            downloads: listing.and_then(|listing| listing.downloads).or(offer.downloads),
            digest: offer.staged.as_ref().map(|staged| staged.digest.clone()),
            scan: offer.staged.as_ref().map(scan_of),
            missing: shown.map(|shown| missing(&shown.programs, env)).unwrap_or_default(),
            capabilities: shown.map(|shown| shown.capabilities.clone()).unwrap_or_default(),
            history: known.map(history),
            lessons: known.map(warnings).unwrap_or_default(),
            failed: offer.failed.clone(),
        }
    }

    /// The same as evidence of a question.
    pub(super) fn evidence(&self, lessons: &[String]) -> ApprovalEvidence {
        ApprovalEvidence {
            name: Some(self.slug.clone()),
            description: self.description.clone(),
            stars: self.stars,
            downloads: self.downloads,
            source: Some(self.address.clone()),
            reviewed: Some(self.reviewed),
            scan: self.scan,
            capabilities: self.capabilities.clone(),
            missing: self.missing.clone(),
            history: self.history.clone(),
            lessons: self.lessons.iter().chain(lessons).cloned().collect(),
            ..ApprovalEvidence::default()
        }
    }
}

/// What a question about a candidate is bound to.
pub(super) fn subject(
    offer: &AcquireCandidate,
    fetched: Option<&FetchedCandidate>,
) -> ApprovalSubject {
    ApprovalSubject {
        name: offer.slug.clone(),
        version: offer.staged.as_ref().map(|staged| staged.version.clone()),
        content: fetched.map(|fetched| fetched.content.clone()).unwrap_or_default(),
    }
}

/// The records of a run's candidates in its region.
pub(super) fn known_candidates(
    cortex: &Cortex<'_>,
    run: &AcquireRun,
) -> Result<Vec<CandidateView>, EngineError> {
    let Some(region) = &run.region else { return Ok(Vec::new()) };
    let today = cortex.now().day();
    cortex.with_memory(|memory| candidate_views(memory, region, today, cortex.policy()))
}

/// Lessons of a region in words, with what is the case on this machine.
pub(super) fn lesson_lines(lessons: &[ProbedLesson]) -> Vec<String> {
    let line = |told: &ProbedLesson| match &told.lesson.lesson {
        Lesson::DependencyWarning { key, .. } => {
            let now = match told.found {
                Some(true) => "; it is here now",
                Some(false) => "; it is missing now",
                None => "",
            };
            Some(format!("needs the program {key}, which is often missing{now}"))
        }
        // A variable that is set as usual is nothing to tell.
        Lesson::EnvReady { key, .. } => {
            (told.found == Some(false)).then(|| format!("{key} is usually set, and is not now"))
        }
        Lesson::SkillQualityWarning { slug, detail } => {
            Some(format!("the description of {slug} misleads: {detail}"))
        }
    };
    lessons.iter().filter_map(line).collect()
}

/// What a person is shown of fetched files; it is kept with the run.
pub(super) fn staged_summary(fetched: &FetchedCandidate) -> StagedSummary {
    let ApprovalScan { critical, warn, info, .. } = fetched.scan;
    let description = description(fetched).map(|text| short_text(&text));
    let capabilities = effects::lines(&fetched.capabilities);
    let capabilities = capabilities.iter().take(MAX_KEPT).map(|line| short_text(line)).collect();
    let programs = fetched.capabilities.binaries.iter();
    let programs = programs.take(MAX_KEPT).map(|name| short_text(name)).collect();
    StagedSummary { description, capabilities, programs, critical, warn, info }
}

fn short_text(text: &str) -> String {
    text.chars().take(MAX_KEPT_TEXT).collect()
}

/// What the scanner said of staged files.
fn scan_of(staged: &StagedCandidate) -> ApprovalScan {
    let (verdict, StagedSummary { critical, warn, info, .. }) = (staged.verdict, &staged.shown);
    // A run of an older sinew kept the verdict alone.
    let critical = (*critical).max(usize::from(verdict == CandidateVerdict::Block));
    ApprovalScan { verdict, critical, warn: *warn, info: *info }
}

/// Which of these programs are not here.
fn missing(programs: &[String], env: &Environment) -> Vec<String> {
    let needed = programs.iter();
    needed.filter(|bin| sinew_catalog::find_program(env, bin).is_none()).cloned().collect()
}

/// What a skill says about itself.
fn description(fetched: &FetchedCandidate) -> Option<String> {
    let read = sinew_skill::read(fetched.skill_md.as_bytes(), &ReadOptions::openclaw(""));
    read.skill.map(|skill| skill.description).filter(|text| !text.is_empty())
}

/// Never a percentage without its count.
fn history(known: &CandidateView) -> String {
    let all = known.runs.success + known.runs.fail;
    let bound = (known.bayes.lb * 100.0).floor();
    format!(
        "worked {} of {all} times here; at least {bound} % (one-sided 95 %)",
        known.runs.success
    )
}

fn warnings(known: &CandidateView) -> Vec<String> {
    let mut lines: Vec<String> = known
        .last_fail
        .iter()
        .map(|fail| format!("failed on {}: {}", fail.date, fail.kind.as_str()))
        .collect();
    lines.extend(known.lessons.iter().filter_map(|told| match &told.lesson {
        Lesson::SkillQualityWarning { detail, .. } => {
            Some(format!("its description misleads: {detail}"))
        }
        _ => None,
    }));
    lines
}
