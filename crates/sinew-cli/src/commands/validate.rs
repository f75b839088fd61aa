use std::fmt::Write as _;
use std::path::PathBuf;

use clap::ValueEnum;
use sinew_engine::{Engine, ValidationReport, ValidationTarget};
use sinew_settings::ReasonSeverity;
use sinew_skill::validate::{RuleSet, SpecLevel};

use crate::exit::{CommandResult, Exit};
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
}

impl ValidateArgs {
    /// Whether files are mended.
    pub(crate) fn acts(&self) -> bool {
        self.fix
    }
}

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
    validate(&target, rules, args.fix, engine, out)
}

/// Validates and shows the result; shared with OpenPocket's own command.
pub(crate) fn validate(
    target: &ValidationTarget,
    rules: RuleSet,
    fix: bool,
    engine: &Engine,
    out: &mut Printer,
) -> CommandResult {
    let snapshot = engine.snapshot();
    let report = engine.quality().validate(&snapshot.catalog, target, rules, fix)?;
    out.data(&report, |text| write_report(text, &report))?;
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

fn write_report(text: &mut String, report: &ValidationReport) -> std::fmt::Result {
    for file in &report.files {
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
        for issue in &file.issues {
            let severity = match issue.severity {
                ReasonSeverity::Error => render::bad("error"),
                ReasonSeverity::Warn => render::warning("warn"),
                ReasonSeverity::Info => render::dim("info"),
            };
            let line = issue.line.map(|line| format!(":{line}")).unwrap_or_default();
            writeln!(text, "  {severity} {}{line} {}", issue.code, render::safe(&issue.message))?;
        }
    }
    writeln!(
        text,
        "Validation summary: valid={} invalid={} total={}",
        report.valid, report.invalid, report.total
    )
}
