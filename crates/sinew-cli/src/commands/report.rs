use std::fmt::Write as _;

use clap::ValueEnum;
use sinew_cortex::acquire::{AcquireStep, UseReport};
use sinew_cortex::failure::FailureKind;
use sinew_cortex::record::{OutcomeReporter, UseResult};
use sinew_cortex::{Ulid, UtcInstant};
use sinew_engine::hub::HubOverrides;
use sinew_engine::{Cortex, Engine, NewOutcome, OutcomeEffect, OutcomeReport};

use super::acquire::TerminalHost;
use super::cortex::{self, percent};
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// Report to the cortex how the use of a skill went
///
/// What works gets stronger, what fails weaker, and a long-proven skill that only reads becomes a
/// reflex. Names, numbers, paths and secrets are removed from the detail before it is written.
///
/// Examples:
///   sinew report --region task-management --skill todoist --result ok
///   sinew report --task "compress these photos" --skill imagemagick --version 7.1 --result ok
///   sinew report --region pdf-merge --skill pdf --version 2 --result fail --kind dependency_missing --key qpdf
///   sinew report --retract 01K9ZW3M4N5P6Q7R8S9TAVBWCX
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, disable_version_flag = true)]
pub(crate) struct ReportArgs {
    /// The run that used the skill, instead of --region, --skill and --version
    #[arg(conflicts_with_all = ["region", "skill", "version", "task"])]
    run: Option<String>,
    /// The area of the task
    #[arg(long, value_name = "NAME")]
    region: Option<String>,
    /// What the task was; it names the region where none is given, and is not stored
    #[arg(long, value_name = "TEXT")]
    task: Option<String>,
    /// The skill
    #[arg(long, value_name = "SLUG", required_unless_present_any = ["run", "retract"])]
    skill: Option<String>,
    /// Its version; the installed one's where absent
    #[arg(long, value_name = "V")]
    version: Option<String>,
    /// How it went
    #[arg(long, value_enum, required_unless_present = "retract")]
    result: Option<ResultArg>,
    /// How it failed: task_mismatch, runtime_error, auth_error, dependency_missing, api_error
    #[arg(long, value_name = "KIND", value_parser = str::parse::<FailureKind>)]
    kind: Option<FailureKind>,
    /// What was seen
    #[arg(long, value_name = "TEXT")]
    detail: Option<String>,
    /// The missing program or variable, by name
    #[arg(long, value_name = "NAME")]
    key: Option<String>,
    /// What the skill did besides reading, such as write:files or shell:git; none means that it only read
    #[arg(long = "side-effect", value_name = "TAG")]
    side_effects: Vec<String>,
    /// A point of the skill's description: misleading with a mismatch, right with a success
    #[arg(long, value_name = "TEXT")]
    point: Option<String>,
    /// Where the skill comes from
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
    /// When it happened [default: now]
    #[arg(long, value_name = "RFC3339", value_parser = str::parse::<UtcInstant>)]
    at: Option<UtcInstant>,
    /// Retract a wrong report
    #[arg(long, value_name = "ID", value_parser = str::parse::<Ulid>, exclusive = true)]
    retract: Option<Ulid>,
}

/// How it went, on the command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum ResultArg {
    /// It worked
    Ok,
    /// It did not
    Fail,
    /// It is not known
    Unknown,
}

pub(crate) fn run(args: &ReportArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    if let Some(id) = args.retract {
        let cortex = engine.cortex()?;
        cortex.retract(id)?;
        cortex::print_notices(&cortex, out);
        let shown = serde_json::json!({ "retracted": id });
        out.data(&shown, |text| writeln!(text, "taken back: {id}"))?;
        return Ok(Exit::Done);
    }
    // Without a terminal the caller is a program that reports for its user.
    let origin = if out.can_ask() { OutcomeReporter::User } else { OutcomeReporter::Agent };
    if let Some(run) = &args.run {
        // The run goes on from here: to a question, to the next one, or to putting the skill back.
        let cortex = engine.cortex()?;
        let market = engine.hub().market(&HubOverrides::default())?;
        let mut host = TerminalHost::reporting(engine, out);
        let standing =
            engine.hub().acquisition(&market).report(run, finish(args, origin), &mut host)?;
        cortex::print_notices(&cortex, out);
        let stepped = AcquireStep { run: standing.run, effects: Vec::new() };
        return show_run(&cortex, &stepped, out);
    }
    let snapshot = engine.snapshot();
    let outcome = engine.identified(&snapshot.catalog, outcome(args, engine, origin));
    match engine.report_outcome(&outcome)? {
        OutcomeReport::Recorded(recorded) => {
            cortex::print_notices(&engine.cortex()?, out);
            out.data(&*recorded, |text| write_recorded(text, &recorded))?;
        }
        OutcomeReport::Waiting { id, outage } => {
            out.warn(&format!("{}; the report is kept", outage.message));
            let shown = serde_json::json!({ "waiting": id });
            out.data(&shown, |text| {
                writeln!(text, "kept as {id}: it is recorded when the database answers")
            })?;
        }
    }
    Ok(Exit::Done)
}

fn outcome(args: &ReportArgs, engine: &Engine, origin: OutcomeReporter) -> NewOutcome {
    NewOutcome {
        region: args.region.clone(),
        task: args.task.clone(),
        slug: args.skill.clone().unwrap_or_default(),
        version: args.version.clone().unwrap_or_default(),
        source: args.source.clone(),
        worked: match args.result {
            Some(ResultArg::Ok) => Some(true),
            Some(ResultArg::Fail) => Some(false),
            Some(ResultArg::Unknown) | None => None,
        },
        kind: args.kind,
        detail: args.detail.clone(),
        key: args.key.clone(),
        side_effects: Some(args.side_effects.clone()),
        point: args.point.clone(),
        at: args.at,
        origin,
        agent: engine.agent().map(str::to_owned),
        ..NewOutcome::default()
    }
}

fn finish(args: &ReportArgs, origin: OutcomeReporter) -> UseReport {
    let result = match args.result {
        Some(ResultArg::Ok) => UseResult::Success,
        Some(ResultArg::Fail) => UseResult::Failure,
        Some(ResultArg::Unknown) | None => UseResult::Unknown,
    };
    UseReport {
        result,
        kind: args.kind,
        detail: args.detail.clone(),
        key: args.key.clone(),
        point: args.point.clone(),
        origin,
        side_effects: args.side_effects.clone(),
        ..UseReport::success()
    }
}

fn show_run(cortex: &Cortex<'_>, stepped: &AcquireStep, out: &mut Printer) -> CommandResult {
    let shown = cortex.reported_run(stepped)?;
    out.data(&shown, |text| {
        writeln!(text, "{} is in {}", shown.run, shown.state)?;
        match (&shown.skill, shown.weight, &shown.runs) {
            (Some(skill), Some(weight), Some(runs)) => writeln!(
                text,
                "  {}: weight {weight:.4}, worked {} of {} times",
                render::safe(skill),
                runs.success,
                runs.success + runs.fail
            ),
            _ => Ok(()),
        }
    })?;
    Ok(Exit::Done)
}

fn write_recorded(text: &mut String, recorded: &OutcomeEffect) -> std::fmt::Result {
    let (skill, version) = (render::safe(&recorded.skill), render::safe(&recorded.version));
    let heading = format!("{skill} {version} in {}", render::safe(&recorded.region));
    render::heading(text, &heading)?;
    let (Some(weight), Some(effective)) = (recorded.weight, recorded.effective_weight) else {
        return writeln!(text, "  noted; nothing else is remembered of it");
    };
    writeln!(
        text,
        "  {} weight {weight:.4}, today {effective:.4}",
        cortex::bar(weight, effective)
    )?;
    if let Some(runs) = recorded.runs {
        let all = runs.success + runs.fail;
        writeln!(
            text,
            "  worked {} of {all} times here; at least {} (one-sided 95 %)",
            runs.success,
            percent(recorded.lower_bound)
        )?;
    }
    if let Some(reflex) = &recorded.reflex_state {
        cortex::write_reflex(text, reflex)?;
    }
    for lesson in &recorded.lessons {
        writeln!(text, "  {}", render::safe(lesson))?;
    }
    if !recorded.signals.is_empty() {
        writeln!(text, "  words for this region: {}", recorded.signals.join(", "))?;
    }
    for removal in &recorded.pruned {
        writeln!(text, "  {}", render::dim(&cortex::removal(removal)))?;
    }
    writeln!(text, "  {}", render::dim(&format!("record {}", recorded.id)))
}
