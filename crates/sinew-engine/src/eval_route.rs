//! Measuring the router: on questions with answers, and on a skill's own triggers.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use sinew_catalog::Catalog;
use sinew_route::eval::{
    Options, Pair, Report, TriggerReport, confusable, evaluate, read_questions, read_skills,
    read_trigger_rows, triggers,
};
use sinew_route::{Config, Document, Index, Router};

use crate::validate::files_in;
use crate::{Engine, Error, ErrorKind, ModelChoice};

/// How alike two skills must be to be called confusable.
const CONFUSABLE: f64 = 0.8;

impl Engine {
    /// Asks every question of `queries` over `skills`, a folder or JSON lines; `progress` hears of
    /// encoder vectors as they are computed.
    pub fn eval_route(
        &self,
        skills: &Path,
        queries: &Path,
        choice: ModelChoice,
        misses: bool,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<Report, Error> {
        let skills = self.env.cwd.join(skills);
        let (documents, mut problems) = if skills.is_dir() {
            (documents_in(&skills), Vec::new())
        } else {
            let read = read_skills(&read_text(&skills)?);
            (read.rows, read.bad)
        };
        let questions = read_questions(&read_text(&self.env.cwd.join(queries))?);
        problems.extend(questions.bad);
        let models = self.models(choice);
        let mut index = Index::build(&documents, &models);
        if let Some(encoder) = &models.encoder {
            let pending = index.pending();
            let done = std::sync::atomic::AtomicUsize::new(0);
            let tell = |count: usize| {
                let before = done.fetch_add(count, std::sync::atomic::Ordering::Relaxed);
                progress(before + count, pending.len());
            };
            index.fill(encoder.as_ref(), &pending, &tell).map_err(|error| {
                Error::new(
                    ErrorKind::Environment,
                    "model-failed",
                    format!("the encoder failed: {error}"),
                )
            })?;
        }
        let (router, _) = Router::over(index.into(), models, Config::default());
        Ok(evaluate(&router, &questions.rows, problems, Options { parallel: false, misses }))
    }

    /// Whether a skill of the catalog triggers when it should, and stays quiet when it should not.
    pub fn eval_triggers(
        &self,
        catalog: &Catalog,
        skill: &str,
        rows: &Path,
    ) -> Result<TriggerReport, Error> {
        let entry = self.find(catalog, skill)?;
        let rows = read_trigger_rows(&read_text(&self.env.cwd.join(rows))?);
        if let Some(bad) = rows.bad.first() {
            return Err(Error::new(
                ErrorKind::No,
                "bad-data",
                format!("line {}: {}", bad.line, bad.message),
            )
            .hint("each row has a query and should_trigger"));
        }
        let mut router = self.router(catalog, ModelChoice::Default);
        router.fill(&|_| {})?;
        Ok(triggers(router.router(), &rows.rows, Some(&entry.name)))
    }

    /// Pairs of skills that the router can hardly tell apart.
    pub fn confusable_skills(&self, catalog: &Catalog) -> Vec<Pair> {
        confusable(self.router(catalog, ModelChoice::Static).router(), CONFUSABLE)
    }
}

/// Text, unpacked where it is gzipped.
fn read_text(path: &Path) -> Result<String, Error> {
    let bytes = fs::read(path).map_err(|error| Error::file("read", path, &error))?;
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Ok(String::from_utf8_lossy(&bytes).into_owned());
    }
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(bytes.as_slice())
        .read_to_string(&mut text)
        .map_err(|error| Error::file("unpack", path, &error))?;
    Ok(text)
}

/// Every skill below a folder, by its path.
fn documents_in(folder: &Path) -> Vec<Document> {
    let mut files = files_in(folder);
    files.sort();
    let read = files.iter().filter_map(|file| {
        let name = file.parent()?.file_name()?.to_string_lossy().into_owned();
        let text = String::from_utf8_lossy(&fs::read(file).ok()?).into_owned();
        Some(Document::from_text(&name, &name, &text))
    });
    read.collect()
}
