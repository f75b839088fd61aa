//! `eval calibrate`: fits what decisions are made by to a person's own messages.
//!
//! The keys go to the configuration. For a model that the program does not carry (a folder's, a server's)
//! the way from its scores to probabilities is fitted as well, and kept beside the configuration: from then
//! on it can say `match`.

use std::fs;
use std::path::PathBuf;

use serde::Serialize;
use sinew_guard::atomic::{self, FileAccess};
use sinew_route::eval::{
    CalibrationPool, DecisionFigures, DecisionKeys, EvalQuestion, ExpectedMatch, UnreadableRow,
    calibrate, decision_trials, fit_decision_keys, own_questions, own_skills,
};
use sinew_route::{Calibration, CalibrationSet, Router, RouterConfig};
use sinew_settings::config::ModelChoice;
use sinew_settings::{Actor, ErrorCode};

use super::eval::{EvalSetup, filled_index};
use super::{EvalData, VectorProgress};
use crate::{Engine, EngineError, QualityHandle};

/// The file of calibrations that were fitted here, below the home.
const FILE: &str = "route-calibration.json";

/// A larger file is none of ours.
const MAX_FILE: u64 = 1 << 20;

/// Keeps slopes small: there are hundreds of messages, not thousands.
const PULL: f64 = 0.005;

/// With fewer messages that have a skill, ours decide as well.
const ENOUGH_OWN: usize = 200;

/// What was fitted.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RouteCalibration {
    /// The models it is for.
    pub model: String,
    /// The user's own messages that were asked.
    pub messages: usize,
    /// Messages of the program that were asked as well, because the user's own are few.
    pub carried: usize,
    /// The keys as they were.
    pub before: DecisionKeys,
    /// What they were worth, on these messages.
    pub worth_before: DecisionFigures,
    /// The keys that were fitted.
    pub keys: DecisionKeys,
    /// What they are worth.
    pub worth: DecisionFigures,
    /// Whether the way from scores to probabilities was fitted too.
    pub fitted_scale: bool,
    /// Rows that could not be read.
    pub problems: Vec<UnreadableRow>,
    /// What was written, and where; nothing for a trial.
    pub written: Vec<PathBuf>,
    #[serde(skip)]
    scale: Option<Calibration>,
}

impl Engine {
    fn calibration_file(&self) -> PathBuf {
        self.env.sinew_home().join(FILE)
    }

    /// The calibrations that the program carries, and those that were fitted here.
    pub(super) fn calibrations(&self) -> CalibrationSet {
        let mut all = CalibrationSet::embedded();
        all.sets.extend(self.fitted_calibrations().sets);
        all
    }

    /// A file that cannot be read counts as none: answers then say that the model was never calibrated.
    fn fitted_calibrations(&self) -> CalibrationSet {
        let path = self.calibration_file();
        let small =
            fs::metadata(&path).is_ok_and(|facts| facts.is_file() && facts.len() <= MAX_FILE);
        let text = small.then(|| fs::read_to_string(&path).ok()).flatten();
        text.and_then(|text| CalibrationSet::from_json(&text).ok()).unwrap_or_default()
    }
}

impl QualityHandle<'_> {
    /// Fits floor, threshold and margin to questions with answers, and the scale of a model that has
    /// none. Nothing is written.
    pub fn fit_calibration(
        &self,
        data: EvalData<'_>,
        choice: ModelChoice,
        progress: VectorProgress<'_>,
    ) -> Result<RouteCalibration, EngineError> {
        let EvalSetup { mut router, questions, problems } =
            self.eval_setup(data, choice, progress)?;
        let models = self.engine.models(choice);
        if let Some(missing) = models.missing.first() {
            return Err(EngineError::new(ErrorCode::ModelFailed, missing.sentence())
                .hint(missing.remedy.clone()));
        }
        let (with_skill, none) = parted(questions.clone());
        let (ours, our_none) = parted(own_questions());
        let carried = filled_index(&own_skills(), &models, progress)?;
        let mut carried =
            CalibrationPool { index: carried.into(), questions: ours, none: our_none };
        let own = CalibrationPool { index: router.index().clone(), questions: with_skill, none };
        let probe = router.route(
            &sinew_route::UserMessage::from_user("probe"),
            &sinew_route::RouteContext::default(),
        );
        let scale = (probe.calibration == "none" && models.encoder.is_some()).then(|| {
            let start = Calibration {
                data: format!(
                    "{} own messages, {} carried",
                    questions.len(),
                    own_questions().len()
                ),
                ..Calibration::default()
            };
            calibrate(&models, &[carried.clone(), own.clone()], 0, start, PULL)
        });
        let mut config = router.config().clone();
        config.calibrations.sets.extend(scale.clone());
        let with = |pool: &CalibrationPool, config: &RouterConfig| {
            Router::from_index(pool.index.clone(), models.clone(), config.clone()).0
        };
        router = with(&own, &config);
        let mut trials = decision_trials(&router, &questions);
        if own.questions.len() >= ENOUGH_OWN {
            carried.questions.clear();
            carried.none.clear();
        }
        let ours = [carried.questions.clone(), carried.none.clone()].concat();
        trials.extend(decision_trials(&with(&carried, &config), &ours));
        let before = DecisionKeys {
            floor: config.floor,
            threshold: config.threshold,
            margin: config.margin,
        };
        let keys = fit_decision_keys(&trials, before);
        Ok(RouteCalibration {
            model: probe.model,
            messages: questions.len(),
            carried: ours.len(),
            before,
            worth_before: DecisionFigures::of(&trials, before),
            keys,
            worth: DecisionFigures::of(&trials, keys),
            fitted_scale: scale.is_some(),
            problems,
            written: Vec::new(),
            scale,
        })
    }

    /// Refuses a program: it would say itself when its choices are right.
    pub fn check_may_calibrate(&self, actor: &Actor) -> Result<(), EngineError> {
        if actor.is_person() {
            return Ok(());
        }
        let said = "only a person can change how decisions are made";
        Err(EngineError::new(ErrorCode::NeedsPerson, said)
            .hint("run it in a terminal, or let approvals.unattended list `settings`"))
    }

    /// Writes what was fitted to the configuration. Only a person can.
    pub fn keep_calibration(
        &self,
        fitted: &mut RouteCalibration,
        actor: &Actor,
    ) -> Result<(), EngineError> {
        self.check_may_calibrate(actor)?;
        let settings = self.engine.settings();
        for (key, before, after) in [
            ("route.floor", fitted.before.floor, fitted.keys.floor),
            ("route.threshold", fitted.before.threshold, fitted.keys.threshold),
            ("route.margin", fitted.before.margin, fitted.keys.margin),
        ] {
            if (before - after).abs() > 1e-9 {
                settings.set_value(key, &after.to_string(), actor)?;
                let file = settings.config_source().path.clone();
                if !fitted.written.contains(&file) {
                    fitted.written.push(file);
                }
            }
        }
        let Some(scale) = &fitted.scale else { return Ok(()) };
        let mut known = self.engine.fitted_calibrations();
        known.sets.retain(|one| one.model != scale.model);
        known.sets.push(scale.clone());
        let path = self.engine.calibration_file();
        let text = serde_json::to_string_pretty(&known).map_err(|error| {
            EngineError::new(ErrorCode::BadData, "the calibration is not JSON").caused_by(error)
        })?;
        atomic::write(&path, (text + "\n").as_bytes(), FileAccess::Shared)
            .map_err(|error| EngineError::file("write", &path, error))?;
        fitted.written.push(path);
        Ok(())
    }
}

/// Messages that have a skill, and those that need none; others say nothing about decisions.
fn parted(questions: Vec<EvalQuestion>) -> (Vec<EvalQuestion>, Vec<EvalQuestion>) {
    let kept = questions.into_iter().filter(|one| one.expected_match() != ExpectedMatch::AnyOther);
    kept.partition(|one| one.expected_match() == ExpectedMatch::Skill)
}
