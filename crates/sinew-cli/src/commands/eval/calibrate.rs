//! `sinew eval calibrate`: decisions fitted to a person's own messages.

use std::fmt::Write as _;

use sinew_engine::{Engine, RouteCalibration};
use sinew_route::eval::{DecisionFigures, DecisionKeys};
use sinew_settings::config::UnattendedAct;

use super::EvalDataArgs;
use crate::commands::approve::deciding_actor;
use crate::commands::find::ModelArg;
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

#[derive(Debug, clap::Args)]
pub(super) struct EvalCalibrateArgs {
    #[command(flatten)]
    data: EvalDataArgs,
    /// Which models rank
    #[arg(long, value_enum, default_value = "default")]
    model: ModelArg,
    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
}

impl EvalCalibrateArgs {
    /// Whether what is fitted is written.
    pub(super) fn writes(&self) -> bool {
        !self.dry_run
    }
}

pub(super) fn run(args: &EvalCalibrateArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let data = args.data.files();
    let actor = deciding_actor(engine, out, UnattendedAct::Settings);
    if args.writes() {
        engine.quality().check_may_calibrate(&actor)?;
    }
    let bar = out.progress("reading skills", 0);
    let fitted = engine.quality().fit_calibration(data, args.model.into(), &|done, of| {
        bar.set_of(done, of);
    });
    bar.finish();
    let mut fitted = fitted?;
    if args.writes() {
        engine.quality().keep_calibration(&mut fitted, &actor)?;
    }
    out.data(&fitted, |text| write_fitted(text, &fitted))?;
    for bad in &fitted.problems {
        out.warn(&format!("line {}: {}", bad.line, bad.message));
    }
    for path in &fitted.written {
        out.note(&format!("wrote {}", path.display()));
    }
    if fitted.written.is_empty() {
        out.note("nothing was written");
    }
    Ok(if fitted.problems.is_empty() { Exit::Done } else { Exit::No })
}

fn write_fitted(text: &mut String, fitted: &RouteCalibration) -> std::fmt::Result {
    let heading = format!("{} own messages, {} carried", fitted.messages, fitted.carried);
    render::heading(text, &heading)?;
    writeln!(text, "  model      {}", render::safe(&fitted.model))?;
    for (name, keys, worth) in
        [("before", fitted.before, &fitted.worth_before), ("after", fitted.keys, &fitted.worth)]
    {
        write_keys(text, name, keys)?;
        write_worth(text, worth)?;
    }
    if fitted.fitted_scale {
        writeln!(text, "  scale      fitted for this model: it can say match now")?;
    }
    Ok(())
}

fn write_keys(text: &mut String, name: &str, keys: DecisionKeys) -> std::fmt::Result {
    let DecisionKeys { floor, threshold, margin } = keys;
    writeln!(text, "  {name:<10} floor {floor:.2}  threshold {threshold:.2}  margin {margin:.2}")
}

fn write_worth(text: &mut String, worth: &DecisionFigures) -> std::fmt::Result {
    let percent = |share: f64| 100.0 * share;
    writeln!(
        text,
        "             {} matches, {:.1} % right; {:.1} % of {} matched, {:.1} % silent",
        worth.matches,
        percent(worth.right),
        percent(worth.matched),
        worth.with_skill,
        percent(worth.silent)
    )?;
    writeln!(
        text,
        "             {:.1} % of {} that need no skill get none",
        percent(worth.kept),
        worth.without
    )
}
