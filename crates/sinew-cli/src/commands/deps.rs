use std::fmt::Write as _;

use serde::Serialize;
use sinew_catalog::Catalog;
use sinew_catalog::install::InstallOption;
use sinew_catalog::shell_word;
use sinew_engine::{DepsInstallReport, DepsInstallRequest, DepsReport, Engine};
use sinew_exec::child::ProcessControl;
use sinew_settings::{ErrorKind, ReasonCode};

use super::terminal_approver::{GivenAnswers, TerminalApprover};
use crate::exit::{CommandResult, Exit};
use crate::layout::{MAX_ROWS, TableColumn, TextTable, first_rows, write_more};
use crate::printer::Printer;
use crate::render;
use crate::signals;

/// Show what a skill needs on this machine, and install it
///
/// Without a skill, shows every skill that lacks something. Nothing is installed without --install
/// and your approval; without a terminal, --yes counts only where approvals.unattended or the
/// installation policy covers it. Exit 1 while something is missing.
///
/// Examples:
///   sinew deps                                what is missing, and the best way to get it
///   sinew deps github --all                   every way to get it, with the exact command
///   sinew deps github --install               ask, then install
///   sinew deps github --install --dry-run     what would be run
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct DepsArgs {
    /// The skill's name or key
    skill: Option<String>,
    /// Every way to get it; without a skill, every skill
    #[arg(long)]
    all: bool,
    /// Install what is missing, after asking
    #[arg(long, requires = "skill")]
    install: bool,
    /// Use this way to install instead of the best one
    #[arg(long, value_name = "ID", requires = "install")]
    option: Option<String>,
    /// Show what would be run, and start nothing
    #[arg(long, requires = "install")]
    dry_run: bool,
    /// Agree to what the skill needs
    #[arg(long, short, requires = "install")]
    yes: bool,
    /// With --yes, also agree to a package manager that is missing
    #[arg(long, requires = "yes")]
    with_manager: bool,
    /// With --yes, also agree to a tap that must be added
    #[arg(long, requires = "yes")]
    with_tap: bool,
    /// Acknowledge a warning of the installation policy
    #[arg(long, requires = "install")]
    acknowledge: bool,
    /// How long an installer may take, 1 to 900 seconds
    #[arg(long, value_name = "SECONDS", requires = "install")]
    timeout: Option<u64>,
    /// List every program that skills ask for, for hosts that look for them elsewhere
    #[arg(long, conflicts_with_all = ["skill", "all"])]
    bins: bool,
}

impl DepsArgs {
    /// Whether something is installed.
    pub(crate) fn acts(&self) -> bool {
        self.install && !self.dry_run
    }
}

#[derive(Serialize)]
struct DepsListing {
    skills: Vec<DepsReport>,
}

#[derive(Serialize)]
struct ProgramListing<'a> {
    bins: Vec<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DepsDryRun<'a> {
    skill: &'a str,
    dry_run: bool,
    options: Vec<InstallOption>,
}

pub(crate) fn run(args: &DepsArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let snapshot = engine.snapshot();
    let catalog = &snapshot.catalog;
    if args.bins {
        let bins = ProgramListing { bins: catalog.program_names().into_iter().collect() };
        out.data(&bins, |text| {
            bins.bins.iter().try_for_each(|bin| writeln!(text, "{}", render::safe(bin)))
        })?;
        return Ok(Exit::Done);
    }
    let Some(skill) = &args.skill else {
        let listing = DepsListing { skills: engine.exec().all_deps(catalog) };
        let (width, narrow) = (out.width(), out.rows(args.all) != usize::MAX);
        out.data(&listing, |text| {
            if listing.skills.is_empty() {
                return writeln!(text, "every skill has what it needs");
            }
            match narrow {
                false => listing.skills.iter().try_for_each(|one| write_report(text, one, false)),
                true => write_overview(text, &listing.skills, catalog, width),
            }
        })?;
        return Ok(if listing.skills.is_empty() { Exit::Done } else { Exit::No });
    };
    let entry = engine.find(catalog, skill)?;
    if !args.install {
        let report = engine.exec().deps(entry);
        out.data(&report, |text| write_report(text, &report, args.all))?;
        return Ok(if report.missing.is_empty() { Exit::Done } else { Exit::No });
    }
    let request = DepsInstallRequest { option: args.option.clone(), timeout: args.timeout };
    if args.dry_run {
        let options = engine.exec().chosen_options(entry, &request)?;
        let plan = DepsDryRun { skill: &entry.name, dry_run: true, options };
        out.data(&plan, |text| {
            plan.options
                .iter()
                .try_for_each(|option| writeln!(text, "{}", command_line(&option.argv)))
        })?;
        return Ok(Exit::Done);
    }
    let control = ProcessControl::default();
    signals::forward(&control);
    let given = GivenAnswers {
        dependency: args.yes,
        manager: args.with_manager,
        tap: args.with_tap,
        policy: args.acknowledge,
        ..GivenAnswers::default()
    };
    let mut approver = TerminalApprover::new(engine, out, given);
    let done = engine.exec().install_deps(catalog, entry, &request, &mut approver, &control)?;
    out.data(&done, |text| write_installation(text, &done))?;
    verdict(&done)
}

/// The exit code of an installation that did not work says why.
fn verdict(done: &DepsInstallReport) -> CommandResult {
    let Some(failed) = done.results.iter().find(|result| !result.ok) else { return Ok(Exit::Done) };
    let refused = [
        ReasonCode::ConsentRequired,
        ReasonCode::PolicyBlocked,
        ReasonCode::PolicyWarned,
        ReasonCode::PolicyUnavailable,
        ReasonCode::ScanBlocked,
    ];
    let kind = match failed.code {
        Some(code) if refused.contains(&code) => ErrorKind::Refused,
        Some(ReasonCode::InstallSpecInvalid) => ErrorKind::No,
        _ => ErrorKind::Environment,
    };
    Ok(Exit::Failed(kind))
}

/// A command as a person would type it.
pub(super) fn command_line(argv: &[String]) -> String {
    let words: Vec<String> = argv.iter().map(|word| shell_word(word)).collect();
    render::safe(&words.join(" "))
}

/// What each skill lacks and the best way to get it, one line each: the user's own first.
fn write_overview(
    text: &mut String,
    skills: &[DepsReport],
    catalog: &Catalog,
    width: usize,
) -> std::fmt::Result {
    let is_carried = |report: &&DepsReport| {
        catalog.unshadowed().any(|entry| entry.bundled && entry.name == report.skill)
    };
    let (carried, own): (Vec<&DepsReport>, Vec<&DepsReport>) = skills.iter().partition(is_carried);
    let all: Vec<&DepsReport> = own.into_iter().chain(carried).collect();
    let heading = match all.len() {
        1 => "1 skill lacks something here".to_owned(),
        count => format!("{count} skills lack something here"),
    };
    render::heading(text, &heading)?;
    let (shown, left) = first_rows(&all, MAX_ROWS);
    let mut table = TextTable::new(vec![
        TableColumn::fixed("SKILL"),
        TableColumn::flexible("LACKS"),
        TableColumn::flexible("BEST WAY TO GET IT").from(70),
    ]);
    for report in shown {
        let missing = &report.missing;
        let lists = [
            &missing.bins,
            &missing.any_bins,
            &missing.env,
            &missing.any_env,
            &missing.config,
            &missing.os,
        ];
        let lacks: Vec<&str> =
            lists.iter().flat_map(|list| list.iter().map(String::as_str)).collect();
        let best = report.options.iter().find(|option| option.preferred);
        let best = best.map(|option| command_line(&option.argv)).unwrap_or_default();
        table.row(vec![
            render::plain(&report.skill),
            render::plain(&lacks.join(", ")),
            render::dim(&best),
        ]);
    }
    table.write(text, width)?;
    write_more(text, 0, left, "sinew deps --all")?;
    match shown.first() {
        Some(first) => {
            let said = format!("`sinew deps {}` shows one of them whole", shell_word(&first.skill));
            writeln!(text, "{}", render::dim(&said))
        }
        None => Ok(()),
    }
}

fn write_report(text: &mut String, report: &DepsReport, all: bool) -> std::fmt::Result {
    render::heading(text, &format!("{} — {}", render::safe(&report.skill), report.state.as_str()))?;
    let missing = &report.missing;
    for (what, names) in [
        ("program", &missing.bins),
        ("one of these programs", &missing.any_bins),
        ("variable", &missing.env),
        ("one of these variables", &missing.any_env),
        ("setting", &missing.config),
        ("system", &missing.os),
    ] {
        if !names.is_empty() {
            writeln!(text, "  {} {what}: {}", render::bad("✗"), render::safe(&names.join(", ")))?;
        }
    }
    if missing.is_empty() {
        writeln!(text, "  {} nothing is missing", render::good("✓"))?;
    }
    let offered = report.options.iter().filter(|option| all || option.preferred);
    for option in offered {
        let mark = if option.preferred { render::good("→") } else { render::dim("·") };
        let choose = match all {
            true => format!("--option {}", option.id),
            false => String::new(),
        };
        let label = render::safe(&option.label);
        match choose.is_empty() {
            true => writeln!(text, "  {mark} {label}")?,
            false => writeln!(text, "  {mark} {label}  {}", render::dim(&choose))?,
        }
        writeln!(text, "      {}", command_line(&option.argv))?;
        if !option.manager_present {
            writeln!(
                text,
                "      {}",
                render::warning(&format!("{} is not here", option.manager))
            )?;
        }
        if let Some(problem) = &option.problem {
            writeln!(text, "      {}", render::warning(&problem.detail))?;
        }
    }
    for missing in &report.managers {
        if let Some(remedy) = &missing.reason.remedy {
            writeln!(text, "      {} {}", render::dim("→"), render::safe(remedy))?;
        }
    }
    for reason in &report.refused {
        render::reason(text, reason)?;
    }
    write_off_path(text, report)?;
    let more = report.options.iter().filter(|option| !option.preferred).count();
    if !all && more > 0 {
        let said = format!("{more} more: `sinew deps {} --all`", shell_word(&report.skill));
        writeln!(text, "  {}", render::dim(&said))?;
    }
    Ok(())
}

fn write_off_path(text: &mut String, report: &DepsReport) -> std::fmt::Result {
    for off in &report.off_path {
        let folder = off.folder.to_string_lossy();
        writeln!(
            text,
            "  {} {} is in {}, which is not on your PATH; `sinew exec` finds it there",
            render::dim("·"),
            render::safe(&off.bin),
            render::safe(&folder)
        )?;
    }
    Ok(())
}

fn write_installation(text: &mut String, done: &DepsInstallReport) -> std::fmt::Result {
    for result in &done.results {
        let mark = if result.ok { render::good("✓") } else { render::bad("✗") };
        let code = result.code.map(|code| format!("{code}: ")).unwrap_or_default();
        writeln!(
            text,
            "{mark} {} {code}{}",
            render::safe(&result.spec_id),
            render::safe(&result.message)
        )?;
        for warning in &result.warnings {
            writeln!(text, "    {} {}", render::dim("·"), render::safe(warning))?;
        }
    }
    match done.became_ready.as_slice() {
        [] if done.ok() => {
            writeln!(text, "{} is {}", render::safe(&done.skill), done.state.as_str())
        }
        [] => Ok(()),
        ready => writeln!(text, "ready now: {}", render::safe(&ready.join(", "))),
    }
}
