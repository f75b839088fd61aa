use std::fmt::Write as _;
use std::path::PathBuf;

use clap::ValueEnum;
use sinew_engine::{Engine, ValidatedFile, ValidationReport, ValidationTarget};
use sinew_settings::ReasonSeverity;
use sinew_skill::validate::{RuleSet, SpecLevel};

use crate::exit::{CommandResult, Exit};
use crate::layout::{WholeListArgs, first_rows, write_more};
use crate::printer::Printer;
use crate::render;

/// Say what readers of the format would refuse, and fix what is beyond doubt
///
/// Without paths, every skill of the active sources is validated. Exit 1 when a file has an error.
///
/// Examples:
///   sinew validate ./my-skill
///   sinew validate skills/ --rules agentskills --fix
///   sinew validate --rules openclaw --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ValidateArgs {
    /// SKILL.md files, skill folders, or folders of skills
    paths: Vec<PathBuf>,
    /// Whose rules apply [default: agentskills at the lenient level]
    #[arg(long, value_enum)]
    rules: Option<RulesArg>,
    /// Do not count common deviations as errors (agentskills)
    #[arg(long, conflicts_with = "parity")]
    lenient: bool,
    /// Refuse what the reference validator refuses beyond the specification (agentskills)
    #[arg(long)]
    parity: bool,
    /// Fix what can be fixed without guessing; a backup is kept
    #[arg(long)]
    fix: bool,
    #[command(flatten)]
    whole: WholeListArgs,
}

impl ValidateArgs {
    /// Whether files are mended.
    pub(crate) fn acts(&self) -> bool {
        self.fix
    }
}

/// Files that a screen shows, and issues of each: with their lines they stay below forty.
const SHOWN_FILES: usize = 5;
const SHOWN_ISSUES: usize = 2;
/// Below this width most paths and issues take two lines.
const NARROW: usize = 80;

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum RulesArg {
    Openclaw,
    Openpocket,
    OpenpocketStrict,
    Agentskills,
}

pub(crate) fn run(args: &ValidateArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let level = match (args.rules, args.lenient, args.parity) {
        (_, false, true) | (Some(_), false, false) => SpecLevel::Strict,
        _ => SpecLevel::Lenient,
    };
    let rules = match args.rules {
        Some(RulesArg::Openclaw) => RuleSet::OpenClaw,
        Some(RulesArg::Openpocket) => RuleSet::OpenPocket,
        Some(RulesArg::OpenpocketStrict) => RuleSet::OpenPocketStrict,
        Some(RulesArg::Agentskills) | None => RuleSet::AgentSkills { level, parity: args.parity },
    };
    let target = if args.paths.is_empty() {
        ValidationTarget::Sources
    } else {
        ValidationTarget::Paths(args.paths.clone())
    };
    validate(&target, rules, args.fix, args.whole, engine, out)
}

/// Validates and shows the result; shared with OpenPocket's own command.
pub(crate) fn validate(
    target: &ValidationTarget,
    rules: RuleSet,
    fix: bool,
    whole: WholeListArgs,
    engine: &Engine,
    out: &mut Printer,
) -> CommandResult {
    let snapshot = engine.snapshot();
    let report = engine.quality().validate(&snapshot.catalog, target, rules, fix)?;
    let is_single = matches!(target, ValidationTarget::Paths(paths) if paths.len() == 1);
    let rows = out.rows(whole.all || is_single && report.files.len() == 1);
    let files = if out.width() < NARROW { SHOWN_FILES - 2 } else { SHOWN_FILES };
    let files = if rows == usize::MAX { rows } else { files };
    out.data(&report, |text| write_report(text, &report, files))?;
    if report.total == 0 {
        out.warn("there is no skill file to validate");
    }
    let fixable =
        report.files.iter().any(|file| file.issues.iter().any(|issue| issue.fix.is_some()));
    if fixable && !fix && !out.is_json() {
        out.hint("--fix corrects what is beyond doubt, and keeps a backup");
    }
    Ok(if report.invalid > 0 { Exit::No } else { Exit::Done })
}

fn write_report(text: &mut String, report: &ValidationReport, most: usize) -> std::fmt::Result {
    if most == usize::MAX {
        report.files.iter().try_for_each(|file| write_file(text, file, true))?;
    } else {
        // A screen shows what is wrong, and then what could be better.
        let (failed, passed): (Vec<&ValidatedFile>, Vec<&ValidatedFile>) =
            report.files.iter().partition(|file| !file.passed);
        let warned = passed.into_iter().filter(|file| is_telling(file));
        let telling: Vec<&ValidatedFile> = failed.into_iter().chain(warned).collect();
        let (shown, left) = first_rows(&telling, most);
        shown.iter().try_for_each(|file| write_file(text, file, false))?;
        write_more(text, 0, left, "sinew validate --all")?;
    }
    writeln!(
        text,
        "Validation summary: valid={} invalid={} total={}",
        report.valid, report.invalid, report.total
    )
}

/// Whether there is more to say about a file than a remark.
fn is_telling(file: &ValidatedFile) -> bool {
    file.fixed.is_some() || file.issues.iter().any(|issue| issue.severity > ReasonSeverity::Info)
}

fn write_file(text: &mut String, file: &ValidatedFile, whole: bool) -> std::fmt::Result {
    let path = render::safe(&file.path.to_string_lossy());
    let word = if file.passed { render::good("PASS") } else { render::bad("FAIL") };
    writeln!(text, "{word} {path}")?;
    if let Some(fixed) = &file.fixed {
        writeln!(
            text,
            "  {} (before: {})",
            render::good("fixed"),
            render::safe(&fixed.backup.to_string_lossy())
        )?;
    }
    let (issues, left) = first_rows(&file.issues, if whole { usize::MAX } else { SHOWN_ISSUES });
    for issue in issues {
        let severity = match issue.severity {
            ReasonSeverity::Error => render::bad("error"),
            ReasonSeverity::Warn => render::warning("warn"),
            ReasonSeverity::Info => render::dim("info"),
        };
        let line = issue.line.map(|line| format!(":{line}")).unwrap_or_default();
        writeln!(text, "  {severity} {}{line} {}", issue.code, render::safe(&issue.message))?;
    }
    match left {
        0 => Ok(()),
        left => writeln!(text, "  {}", render::dim(&format!("and {left} more"))),
    }
}
