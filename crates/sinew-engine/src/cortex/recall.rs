//! Recall with the router's help, and `why`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use sinew_cortex::acquire::AcquireRun;
use sinew_cortex::explain::{
    CandidateView, LessonView, RecallExplanation, candidate_view, candidate_views,
};
use sinew_cortex::lesson::Lesson;
use sinew_cortex::memory::CortexMemory;
use sinew_cortex::recall::{CandidateFit, RecallTask, TaskSimilarity, recall};
use sinew_cortex::signals::signal_words;
use sinew_route::{RouteContext, RouteDocument, Router, RouterConfig, RouterModels, UserMessage};

use super::Cortex;
use super::manage::unknown_skill;
use crate::EngineError;

/// What is known about a task, and the lessons that belong to it.
#[derive(Debug, Clone, Serialize)]
pub struct TaskRecall {
    /// The decision with everything behind it.
    #[serde(flatten)]
    pub explanation: RecallExplanation,
    /// Lessons of the region, checked on this machine.
    pub lessons: Vec<ProbedLesson>,
}

/// A lesson, and what is the case on this machine now.
#[derive(Debug, Clone, Serialize)]
pub struct ProbedLesson {
    /// The lesson.
    #[serde(flatten)]
    pub lesson: LessonView,
    /// Whether the program or variable was found; `None` where there is nothing to check.
    pub found: Option<bool>,
}

/// Why something is as it is.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "about", rename_all = "lowercase")]
pub enum WhyAnswer {
    /// A task.
    Task(Box<TaskRecall>),
    /// A skill, in each region it was used in.
    Skill {
        /// The skill.
        slug: String,
        /// Its record in each region.
        regions: BTreeMap<String, CandidateView>,
        /// Whether it is never offered.
        blacklisted: bool,
    },
    /// A run.
    Run(Box<AcquireRun>),
}

impl Cortex<'_> {
    /// What is known about a task. A memory that cannot be read counts as empty: the answer is then to
    /// search, and the reason says why.
    pub fn recall(&self, task: &str, region: Option<&str>) -> TaskRecall {
        match self.try_recall(task, region) {
            Ok(recalled) => recalled,
            Err(error) => {
                let words = signal_words(task, self.engine.vocabulary());
                let memory = CortexMemory::new(self.policy());
                let today = self.now().day();
                let task = RecallTask { words: &words, region, ..RecallTask::default() };
                let mut explanation = recall(&memory, &task, today, self.policy());
                explanation.decision.reason = format!("the memory cannot be read: {error}");
                TaskRecall { explanation, lessons: Vec::new() }
            }
        }
    }

    /// Calls `look` with the memory and a task as it is recalled: its words, and how well what is
    /// remembered fits it.
    pub(crate) fn with_task<T>(
        &self,
        task: &str,
        region: Option<&str>,
        look: impl Fn(&CortexMemory, &RecallTask<'_>) -> T,
    ) -> Result<T, EngineError> {
        let words = signal_words(task, self.engine.vocabulary());
        // The catalog is looked at before the memory is held.
        self.engine.current();
        self.with_memory(|memory| {
            let fits = match region {
                Some(_) => None,
                None => self.candidate_fits(memory, task),
            };
            let says_nothing = |name: &String| {
                let known = memory.motor.get(name).into_iter().flat_map(|found| &found.candidates);
                let mut known = known.filter_map(|found| fits.as_ref()?.of(&found.slug));
                known.next().is_none()
            };
            // Regions of skills that say nothing of themselves are compared by their names and words.
            let patterns = memory.patterns.iter().map(|pattern| &pattern.region);
            let meaning = match region {
                None if memory.motor.keys().chain(patterns).any(says_nothing) => {
                    let threshold = self.engine.config.route.threshold;
                    RouterSimilarity::of(&self.state.regions, memory, task, threshold)
                }
                _ => None,
            };
            let similarity = meaning.as_ref().map(|meaning| meaning as &dyn TaskSimilarity);
            let fit = fits.as_ref().map(|fits| fits as &dyn CandidateFit);
            look(memory, &RecallTask { words: &words, region, similarity, fit })
        })
    }

    fn try_recall(&self, task: &str, region: Option<&str>) -> Result<TaskRecall, EngineError> {
        let today = self.now().day();
        self.with_task(task, region, |memory, asked| {
            let explanation = recall(memory, asked, today, self.policy());
            let lessons = memory.lessons.iter().filter(|held| {
                held.lesson.region().is_some()
                    && held.lesson.region() == explanation.region.as_deref()
            });
            let lessons = lessons.map(|held| ProbedLesson {
                found: held.lesson.probe().and_then(|probe| self.probe(&probe)),
                lesson: LessonView::of(held, today, self.policy()),
            });
            // A stale warning about something that exists here now is left out.
            let is_worth_telling = |told: &ProbedLesson| {
                let warns = matches!(told.lesson.lesson, Lesson::DependencyWarning { .. });
                !(warns && told.lesson.stale && told.found == Some(true))
            };
            let lessons = lessons.filter(is_worth_telling).collect();
            TaskRecall { explanation, lessons }
        })
    }

    /// Why a task, a skill or a run is answered as it is.
    pub fn why(&self, about: &str) -> Result<WhyAnswer, EngineError> {
        if let Some(run) = self.find_run(about)? {
            return Ok(WhyAnswer::Run(Box::new(run)));
        }
        let today = self.now().day();
        let (regions, blacklisted) = self.with_memory(|memory| {
            let found = memory.motor.keys().filter_map(|name| {
                let views = candidate_views(memory, name, today, self.policy());
                Some((name.clone(), views.into_iter().find(|view| view.slug == about)?))
            });
            let mut found: BTreeMap<String, CandidateView> = found.collect();
            // A retained skill has left its region, but its record still exists.
            for kept in memory.retained.iter().filter(|kept| kept.slug == about) {
                if let Some(region) = memory.motor.get(&kept.region) {
                    let seen =
                        candidate_view(memory, region, &kept.candidate, 0.0, today, self.policy());
                    found.entry(kept.region.clone()).or_insert(seen);
                }
            }
            (found, memory.is_blacklisted(about))
        })?;
        if !regions.is_empty() || blacklisted {
            return Ok(WhyAnswer::Skill { slug: about.to_owned(), regions, blacklisted });
        }
        // A single unknown word is more likely a skill than a task.
        if !about.contains(char::is_whitespace)
            && signal_words(about, self.engine.vocabulary()).is_empty()
        {
            return Err(unknown_skill(about));
        }
        Ok(WhyAnswer::Task(Box::new(self.recall(about, None))))
    }
}

/// The router over what regions are about, kept while they are about the same: making it costs ten
/// times what asking it does.
#[derive(Debug, Default)]
pub(super) struct RegionRouter(Mutex<Option<(Vec<RegionText>, Arc<Router>)>>);

/// A region, and the words it is known by.
type RegionText = (String, String);

impl RegionRouter {
    fn router(&self, about: Vec<RegionText>, threshold: Option<f64>) -> Arc<Router> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, router)) = &*kept
            && *known == about
        {
            return Arc::clone(router);
        }
        let documents: Vec<RouteDocument> = about
            .iter()
            .map(|(name, text)| RouteDocument::from_description(name, name, text))
            .collect();
        let mut config = RouterConfig { top: documents.len(), ..RouterConfig::default() };
        config.threshold = threshold.unwrap_or(config.threshold);
        // The static table is enough for eighty short texts.
        let (router, _) =
            Router::build(&documents, RouterModels::embedded().without_encoder(), config);
        let router = Arc::new(router);
        *kept = Some((about, Arc::clone(&router)));
        router
    }
}

/// How well a task fits each region by what both mean, as the router sees it.
struct RouterSimilarity {
    fits: BTreeMap<String, f64>,
    threshold: f64,
}

impl RouterSimilarity {
    fn of(
        regions: &RegionRouter,
        memory: &CortexMemory,
        task: &str,
        threshold: Option<f64>,
    ) -> Option<Self> {
        let mut names: Vec<&str> = memory.motor.keys().map(String::as_str).collect();
        names.extend(memory.patterns.iter().map(|pattern| pattern.region.as_str()));
        names.sort_unstable();
        names.dedup();
        if names.is_empty() || task.trim().is_empty() {
            return None;
        }
        let about = names.into_iter().map(|name| {
            let mut text = name.replace('-', " ");
            for signal in memory.pattern(name).iter().flat_map(|pattern| &pattern.signals) {
                text.push(' ');
                text.push_str(&signal.word);
            }
            (name.to_owned(), text)
        });
        let router = regions.router(about.collect(), threshold);
        let result = router.route(&UserMessage::from_user(task), &RouteContext::default());
        let fits = result.matches.into_iter().map(|found| (found.id, found.probability)).collect();
        Some(Self { fits, threshold: threshold.unwrap_or(RouterConfig::default().threshold) })
    }
}

impl TaskSimilarity for RouterSimilarity {
    fn of(&self, region: &str) -> Option<f64> {
        self.fits.get(region).copied()
    }

    fn accepts_from(&self) -> f64 {
        self.threshold
    }
}
