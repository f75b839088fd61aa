//! `sinew eval triggers`: one skill on its author's messages.

use std::fmt::Write as _;
use std::path::Path;

use sinew_engine::Engine;
use sinew_route::eval::TriggerTrial;

use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

pub(super) fn run(skill: &str, data: &Path, engine: &Engine, out: &mut Printer) -> CommandResult {
    let snapshot = engine.snapshot();
    let report = engine.quality().eval_triggers(&snapshot.catalog, skill, data)?;
    let wrong = |trial: &TriggerTrial| {
        trial.should_trigger != (trial.rank == Some(1)) && (trial.should_trigger || trial.matched)
    };
    out.data(&report, |text| {
        render::heading(
            text,
            &format!(
                "{} first for {:.0} % of {}, matched by mistake for {:.0} % of {}",
                render::safe(skill),
                100.0 * report.hit1,
                report.should,
                100.0 * report.false_matches,
                report.should_not
            ),
        )?;
        for trial in report.trials.iter().filter(|trial| wrong(trial)) {
            let instead = trial
                .instead
                .as_deref()
                .map(|name| format!(" (first: {})", render::safe(name)))
                .unwrap_or_default();
            let what = if trial.should_trigger { "missed" } else { "stolen" };
            writeln!(text, "  {} {}{instead}", render::warning(what), render::safe(&trial.query))?;
        }
        Ok(())
    })?;
    Ok(if report.trials.iter().any(wrong) { Exit::No } else { Exit::Done })
}
