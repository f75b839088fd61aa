//! Measuring the router: on questions with answers, and on a skill's own triggers.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};
use sinew_catalog::{Catalog, CatalogEntry};
use sinew_route::eval::{
    ConfusablePair, EvalComparison, EvalQuestion, QuestionResult, RouteEvalOptions,
    RouteEvalReport, TriggerReport, UnreadableRow, compare, confusable_pairs, evaluate,
    evaluate_triggers, read_answers, read_questions, read_skills, read_trigger_rows,
};
use sinew_route::{RouteDocument, RouteIndex, Router, RouterModels};
use sinew_settings::ErrorCode;
use sinew_settings::config::ModelChoice;

use super::shared_words::word_of;
use super::{CatalogRouter, document, read_skill};
use crate::quality::files_in;
use crate::{EngineError, QualityHandle};

/// How alike two skills must be to be called confusable.
const CONFUSABLE: f64 = 0.8;

/// One of two runs that are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EvalRunSide {
    /// Made now, with these models.
    Models(ModelChoice),
    /// Made before: the JSON that `eval route` printed.
    Saved(PathBuf),
}

/// Two runs on the same questions.
#[derive(Debug, Clone, Serialize)]
pub struct ModelComparison {
    /// The models of the first.
    pub first: String,
    /// The models of the second.
    pub second: String,
    /// Second minus first.
    #[serde(flatten)]
    pub difference: EvalComparison,
}

/// What is read of a saved report.
#[derive(Deserialize)]
struct SavedEvalReport {
    model: String,
    questions: Vec<QuestionResult>,
}

/// What the router is asked, and over which skills.
#[derive(Debug, Clone, Copy, Default)]
pub struct EvalData<'a> {
    /// A folder of skills, or JSON lines; those of the catalog where absent.
    pub skills: Option<&'a Path>,
    /// The questions; the test cases of the workspace where absent.
    pub queries: Option<&'a Path>,
    /// Their right skills, where another file says them.
    pub answers: Option<&'a Path>,
}

/// Skills and questions, ready to be asked.
pub(super) struct EvalSetup {
    pub(super) router: Router,
    pub(super) questions: Vec<EvalQuestion>,
    pub(super) problems: Vec<UnreadableRow>,
}

/// Hears of encoder vectors as they are computed: how many are done, of how many.
pub type VectorProgress<'a> = &'a (dyn Fn(usize, usize) + Sync);

impl QualityHandle<'_> {
    /// Asks every question over the skills.
    pub fn eval_route(
        &self,
        data: EvalData<'_>,
        choice: ModelChoice,
        misses: bool,
        progress: VectorProgress<'_>,
    ) -> Result<RouteEvalReport, EngineError> {
        let EvalSetup { router, questions, problems } = self.eval_setup(data, choice, progress)?;
        Ok(evaluate(&router, &questions, problems, RouteEvalOptions { parallel: false, misses }))
    }

    /// Reads the skills and the questions, and computes the vectors.
    pub(super) fn eval_setup(
        &self,
        data: EvalData<'_>,
        choice: ModelChoice,
        progress: VectorProgress<'_>,
    ) -> Result<EvalSetup, EngineError> {
        let (documents, mut problems) =
            match data.skills.map(|skills| self.engine.env.cwd.join(skills)) {
                Some(folder) if folder.is_dir() => (documents_in(&folder), Vec::new()),
                Some(file) => {
                    let read = read_skills(&read_text(&file)?);
                    (read.rows, read.bad)
                }
                None => {
                    let snapshot = self.engine.snapshot();
                    let readable =
                        snapshot.catalog.unshadowed().filter(|entry| entry.skill.is_some());
                    (readable.map(document).collect(), Vec::new())
                }
            };
        let questions = match data.queries {
            Some(queries) => read_text(&self.engine.env.cwd.join(queries))?,
            None => self.saved_cases()?,
        };
        let mut questions = read_questions(&questions);
        if let Some(answers) = data.answers {
            let answers = read_answers(&read_text(&self.engine.env.cwd.join(answers))?);
            questions.rows.iter_mut().for_each(|one| one.answered_by(&answers));
        }
        problems.extend(questions.bad);
        let models = self.engine.models(choice);
        let index = filled_index(&documents, &models, progress)?;
        let (router, _) = Router::from_index(index.into(), models, self.engine.route_config());
        Ok(EvalSetup { router, questions: questions.rows, problems })
    }

    /// The test cases of the workspace.
    fn saved_cases(&self) -> Result<String, EngineError> {
        let path = self.cases_path();
        if !path.exists() {
            let said = format!("there are no questions: {} is not there", path.display());
            return Err(EngineError::new(ErrorCode::MissingData, said).hint(
                "name a file with --queries, or save test cases on the dashboard's Route page",
            ));
        }
        read_text(&path)
    }

    /// The paired difference of two runs; those that are not saved are made now.
    pub fn compare_route(
        &self,
        sides: [&EvalRunSide; 2],
        data: EvalData<'_>,
        progress: VectorProgress<'_>,
    ) -> Result<ModelComparison, EngineError> {
        let run = |side: &EvalRunSide| match side {
            EvalRunSide::Saved(path) => {
                let path = self.engine.env.cwd.join(path);
                serde_json::from_str(&read_text(&path)?).map_err(|error| {
                    EngineError::new(
                        ErrorCode::BadReport,
                        format!("{} is no report of `sinew eval route`: {error}", path.display()),
                    )
                    .caused_by(error)
                    .hint("name a model, or a file that `sinew eval route --json` wrote")
                })
            }
            EvalRunSide::Models(choice) => {
                let report = self.eval_route(data, *choice, false, progress)?;
                Ok(SavedEvalReport { model: report.model, questions: report.questions })
            }
        };
        let [first, second] = [run(sides[0])?, run(sides[1])?];
        let difference = compare(&first.questions, &second.questions);
        Ok(ModelComparison { first: first.model, second: second.model, difference })
    }

    /// Whether a skill of the catalog triggers when it should, and stays quiet when it should not.
    pub fn eval_triggers(
        &self,
        catalog: &Catalog,
        skill: &str,
        rows: &Path,
    ) -> Result<TriggerReport, EngineError> {
        let entry = self.engine.find(catalog, skill)?;
        let rows = read_trigger_rows(&read_text(&self.engine.env.cwd.join(rows))?);
        if let Some(bad) = rows.bad.first() {
            return Err(EngineError::new(
                ErrorCode::BadData,
                format!("line {}: {}", bad.line, bad.message),
            )
            .hint("each row has a query and should_trigger"));
        }
        let mut router = CatalogRouter::open(self.engine, catalog, ModelChoice::Default, None);
        router.fill_vectors(&|_| {})?;
        Ok(evaluate_triggers(router.router(), &rows.rows, Some(&entry.name)))
    }

    /// Pairs of skills that the router can hardly tell apart.
    pub fn confusable_skills(&self, catalog: &Catalog) -> Vec<ConfusablePair> {
        let router = CatalogRouter::open(self.engine, catalog, ModelChoice::Static, None);
        let mut pairs = confusable_pairs(router.router(), CONFUSABLE);
        for pair in &mut pairs {
            let of_pair = |entry: &&CatalogEntry| entry.name == pair.a || entry.name == pair.b;
            let texts: Vec<String> = catalog
                .unshadowed()
                .filter(of_pair)
                .map(|entry| format!("{} {}", entry.name, entry.description))
                .collect();
            // The index knows stems; one of no written word is left out.
            let written = |stem: &String| texts.iter().find_map(|text| word_of(text, stem));
            pair.shared = pair.shared.iter().filter_map(written).collect();
        }
        pairs
    }
}

/// An index of documents with all vectors.
pub(super) fn filled_index(
    documents: &[RouteDocument],
    models: &RouterModels,
    progress: VectorProgress<'_>,
) -> Result<RouteIndex, EngineError> {
    let mut index = RouteIndex::build(documents, models);
    if let Some(encoder) = &models.encoder {
        let pending = index.pending();
        let done = AtomicUsize::new(0);
        let tell = |count: usize| {
            progress(done.fetch_add(count, Ordering::Relaxed) + count, pending.len());
        };
        index.fill(encoder.as_ref(), &pending, &tell).map_err(|error| {
            EngineError::new(ErrorCode::ModelFailed, format!("the encoder failed: {error}"))
                .caused_by(error)
        })?;
    }
    Ok(index)
}

/// Text, unpacked where it is gzipped.
fn read_text(path: &Path) -> Result<String, EngineError> {
    let bytes = fs::read(path).map_err(|error| EngineError::file("read", path, error))?;
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Ok(String::from_utf8_lossy(&bytes).into_owned());
    }
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(bytes.as_slice())
        .read_to_string(&mut text)
        .map_err(|error| EngineError::file("unpack", path, error))?;
    Ok(text)
}

/// Every skill below a folder, by its path.
fn documents_in(folder: &Path) -> Vec<RouteDocument> {
    let mut files = files_in(folder);
    files.sort();
    let read = files.iter().filter_map(|file| {
        let name = file.parent()?.file_name()?.to_string_lossy().into_owned();
        let text = String::from_utf8_lossy(&read_skill(file)?).into_owned();
        Some(RouteDocument::from_text(&name, &name, &text))
    });
    read.collect()
}
