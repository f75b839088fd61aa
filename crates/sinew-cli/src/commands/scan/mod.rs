mod build_report;

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};
use serde::Serialize;
use sinew_catalog::shell_word;
use sinew_engine::{Engine, EngineError, ScanAcceptance, ScannedTarget};
use sinew_guard::scan::{Finding, FindingSeverity, Verdict, explain};
use sinew_guard::scan_records::BINARIES;
use sinew_hub::net::NetworkAccess;
use sinew_settings::ErrorCode;

use crate::exit::{CommandError, CommandResult, Exit};
use crate::layout::{TableColumn, TextTable, WholeListArgs, first_rows, write_more};
use crate::printer::Printer;
use crate::render;

/// Look for malware, leaks and tricks in a skill's files
///
/// A folder without a SKILL.md is looked through for skills: a plugin, a folder of an agent, a
/// repository. An address of a git repository is fetched, scanned and removed. Exit 1 when a verdict
/// is block; with --deny warn, also when it is warn.
///
/// Examples:
///   sinew scan ./downloaded-skill
///   sinew scan skill.zip --json
///   sinew scan ~/.claude
///   sinew scan https://github.com/anthropics/skills.git
///   sinew scan --ci --output sinew.sarif
///   sinew scan --all --deny warn
///   sinew scan github --explain fetch-exec
///   sinew scan rules
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, args_conflicts_with_subcommands = true)]
pub(crate) struct ScanArgs {
    #[command(subcommand)]
    action: Option<ScanCommand>,
    /// Skills by name, folders, SKILL.md files, archives (.zip, .tar.gz), or addresses of repositories
    #[arg(required_unless_present_any = ["all", "ci"])]
    targets: Vec<String>,
    /// Every skill of the catalog
    #[arg(long, conflicts_with = "targets")]
    all: bool,
    /// Print SARIF 2.1.0
    #[arg(long, conflicts_with = "json")]
    sarif: bool,
    /// Print each finding as a line that build servers understand; the folder itself without targets
    #[arg(long, conflicts_with_all = ["json", "explain", "acceptance"])]
    ci: bool,
    /// Write SARIF 2.1.0 of everything that was scanned to this file
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The targets are files that changed: scan the skills that they belong to
    #[arg(long, conflicts_with = "all")]
    changed: bool,
    /// Explain the findings of one rule
    #[arg(long, value_name = "RULE")]
    explain: Option<String>,
    /// The lowest verdict that makes the command fail
    #[arg(long, value_enum, default_value = "block")]
    deny: DenyLevel,
    /// Accept one rule's findings for exactly these bytes; needs a terminal
    #[arg(long, value_name = "RULE", requires_all = ["digest", "reason"], group = "acceptance")]
    accept: Option<String>,
    /// Accept the programs, libraries and bytecode in exactly these bytes; needs a terminal
    #[arg(long, requires_all = ["digest", "reason"], group = "acceptance")]
    allow_binaries: bool,
    /// The digest that is accepted, as the scan shows it
    #[arg(long, value_name = "sha256:…", requires = "acceptance")]
    digest: Option<String>,
    /// Why the finding is acceptable
    #[arg(long, value_name = "TEXT", requires = "acceptance")]
    reason: Option<String>,
}

/// Findings that a screen shows, the worst first as the scanner orders them.
const SHOWN_FINDINGS: usize = 6;

impl ScanArgs {
    /// Whether a finding is accepted.
    pub(crate) fn acts(&self) -> bool {
        self.accept.is_some() || self.allow_binaries
    }
}

#[derive(Debug, Subcommand)]
enum ScanCommand {
    /// List the rules
    Rules {
        #[command(flatten)]
        whole: WholeListArgs,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum DenyLevel {
    Warn,
    Block,
}

#[derive(Serialize)]
struct ScanAnswer<'a> {
    verdict: Verdict,
    results: &'a [ScannedTarget],
}

pub(crate) fn run(args: &ScanArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    if let Some(ScanCommand::Rules { whole }) = args.action {
        return rules(whole, engine, out);
    }
    let scanned = scan(args, engine, out)?;
    if args.accept.is_some() || args.allow_binaries {
        return accept(args, &scanned, engine, out);
    }
    let verdict = scanned.iter().map(|scanned| scanned.verdict).max().unwrap_or(Verdict::Allow);
    let (width, rows) = (out.width(), out.rows(args.explain.is_some()));
    if args.sarif || args.output.is_some() {
        let sarif = build_report::sarif(&scanned, engine);
        let sarif = format!("{sarif:#}\n");
        match &args.output {
            Some(file) => std::fs::write(file, sarif)
                .map_err(|error| CommandError::from(EngineError::file("write", file, error)))?,
            None => out.text(&sarif)?,
        }
    }
    if args.ci {
        build_report::write(&scanned, engine, args.sarif, out)?;
    } else if args.sarif {
        // It was printed or written above.
    } else if let [single] = scanned.as_slice() {
        out.data(&single.report, |text| write_scan(text, single, args.explain.as_deref(), rows))?;
    } else {
        out.data(&ScanAnswer { verdict, results: &scanned }, |text| {
            match rows {
                usize::MAX => scanned
                    .iter()
                    .try_for_each(|one| write_scan(text, one, args.explain.as_deref(), rows))?,
                rows => write_found(text, &scanned, width, rows)?,
            }
            let blocked = scanned.iter().filter(|s| s.verdict == Verdict::Block).count();
            let warned = scanned.iter().filter(|s| s.verdict == Verdict::Warn).count();
            writeln!(text, "{} scanned, {blocked} blocked, {warned} with warnings", scanned.len())
        })?;
    }
    let denied = match args.deny {
        DenyLevel::Warn => verdict >= Verdict::Warn,
        DenyLevel::Block => verdict >= Verdict::Block,
    };
    if verdict == Verdict::Block && !out.is_json() && !args.sarif && !args.ci {
        let worst = scanned.iter().find(|one| one.verdict == Verdict::Block).and_then(|one| {
            let critical = |finding: &&Finding| finding.severity == FindingSeverity::Critical;
            Some((&one.target, &one.report.findings.iter().find(critical)?.rule))
        });
        if let Some((target, rule)) = worst {
            let target = crate::commands::deps::command_line(std::slice::from_ref(target));
            out.hint(&format!(
                "`sinew scan {target} --explain {rule}` shows why; do not install what you cannot explain"
            ));
        }
    }
    Ok(if denied { Exit::No } else { Exit::Done })
}

/// Scans what was asked for. A place needs no catalog, so that none is read for it.
fn scan(
    args: &ScanArgs,
    engine: &Engine,
    out: &Printer,
) -> Result<Vec<ScannedTarget>, EngineError> {
    let quality = engine.quality();
    if args.all {
        let snapshot = engine.snapshot();
        let total = snapshot.catalog.unshadowed().count();
        let bar = out.progress("scanning", total);
        let scanned = quality.scan_all(&snapshot.catalog, |done| bar.set(done))?;
        bar.finish();
        return Ok(scanned);
    }
    let targets = match (args.changed, args.targets.is_empty()) {
        (true, _) => quality.skills_of_files(&args.targets),
        (false, true) => vec![".".to_owned()],
        (false, false) => args.targets.clone(),
    };
    let mut scanned = Vec::new();
    for target in &targets {
        if quality.is_place(target) {
            scanned.extend(quality.scan_place(target, NetworkAccess::On)?);
            continue;
        }
        // A folder is looked at by itself; only the name of a skill needs the catalog.
        scanned.push(match quality.scan_path(target) {
            Some(one) => one?,
            None => quality.scan(&engine.snapshot().catalog, target)?,
        });
    }
    Ok(scanned)
}

fn shown_verdict(verdict: Verdict) -> render::StyledText {
    match verdict {
        Verdict::Allow => render::good("allow"),
        Verdict::Warn => render::warning("warn"),
        Verdict::Block => render::bad("block"),
    }
}

/// What was found in many skills, one line each and the worst first; what is clean is only counted.
fn write_found(
    text: &mut String,
    scanned: &[ScannedTarget],
    width: usize,
    rows: usize,
) -> std::fmt::Result {
    let mut found: Vec<&ScannedTarget> =
        scanned.iter().filter(|one| one.verdict > Verdict::Allow).collect();
    found.sort_by_key(|one| std::cmp::Reverse(one.verdict));
    let (shown, left) = first_rows(&found, rows);
    let mut table = TextTable::new(vec![
        TableColumn::fixed("VERDICT"),
        TableColumn::fixed("SKILL"),
        TableColumn::flexible("WORST FINDING"),
    ]);
    for one in shown {
        let worst = one.report.findings.iter().max_by_key(|finding| finding.severity);
        let worst = worst.map(|worst| worst.message.as_str()).unwrap_or_default();
        table.row(vec![shown_verdict(one.verdict), render::plain(&one.target), render::dim(worst)]);
    }
    table.write(text, width)?;
    write_more(text, 0, left, "sinew scan --all --json")?;
    match shown.first() {
        Some(first) => {
            let said = format!("`sinew scan {}` shows what was found", shell_word(&first.target));
            writeln!(text, "{}", render::dim(&said))
        }
        None => Ok(()),
    }
}

fn write_scan(
    text: &mut String,
    scanned: &ScannedTarget,
    rule: Option<&str>,
    rows: usize,
) -> std::fmt::Result {
    let verdict = shown_verdict(scanned.verdict);
    writeln!(
        text,
        "{verdict} {} {}",
        render::safe(&scanned.target),
        render::dim(&scanned.report.digest)
    )?;
    let telling = scanned.report.findings.iter().filter(|finding| match rule {
        Some(rule) => finding.rule == rule,
        None => finding.severity >= FindingSeverity::Warn,
    });
    let telling: Vec<&Finding> = telling.collect();
    let most = if rows == usize::MAX { usize::MAX } else { SHOWN_FINDINGS };
    let (shown, left) = first_rows(&telling, most);
    for finding in shown {
        if rule.is_some() {
            for line in explain(finding).lines() {
                writeln!(text, "  {}", render::safe(line))?;
            }
            continue;
        }
        let severity = match finding.severity {
            FindingSeverity::Critical => render::bad("critical"),
            FindingSeverity::Warn => render::warning("warn"),
            FindingSeverity::Info => render::dim("info"),
        };
        let place = match finding.line {
            0 => finding.file.clone(),
            line => format!("{}:{line}", finding.file),
        };
        writeln!(text, "  {severity} {} {}", finding.rule, render::safe(&place))?;
        writeln!(text, "      {}", render::safe(&finding.message))?;
        if !finding.evidence.is_empty() {
            writeln!(text, "      {} {}", render::dim("|"), render::safe(&finding.evidence))?;
        }
        if let Some(decoded) = &finding.decoded {
            writeln!(text, "      {} {}", render::dim("decodes to"), render::safe(decoded))?;
        }
        writeln!(text, "      {} {}", render::dim("→"), render::safe(&finding.remedy))?;
    }
    write_more(text, 2, left, &format!("sinew scan {} --json", render::safe(&scanned.target)))
}

fn rules(whole: WholeListArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let rules = engine.quality().scan_rules();
    let (width, rows) = (out.width(), out.rows(whole.all));
    out.data(&rules, |text| {
        let columns = vec![
            TableColumn::fixed("SEVERITY"),
            TableColumn::fixed("RULE"),
            TableColumn::fixed("AST").from(100),
            TableColumn::flexible("MESSAGE"),
        ];
        let mut table = TextTable::new(columns);
        let (shown, left) = first_rows(&rules, rows);
        for rule in shown {
            table.row(vec![
                render::plain(rule.severity.as_str()),
                render::plain(&rule.id),
                render::dim(&rule.ast),
                render::plain(&rule.message),
            ]);
        }
        table.write(text, width)?;
        write_more(text, 0, left, "sinew scan rules --all")
    })?;
    Ok(Exit::Done)
}

/// Records acceptances. A terminal stands for a person: an agent that runs commands has none.
fn accept(
    args: &ScanArgs,
    scanned: &[ScannedTarget],
    engine: &Engine,
    out: &mut Printer,
) -> CommandResult {
    let [scanned] = scanned else {
        return Err(EngineError::new(ErrorCode::OneTarget, "an acceptance is for one skill").into());
    };
    let found = |rule: &&str| scanned.report.findings.iter().any(|finding| finding.rule == **rule);
    let rules: Vec<&str> = match &args.accept {
        Some(rule) => vec![rule],
        None => BINARIES.iter().copied().filter(found).collect(),
    };
    if rules.is_empty() {
        let message = "there is no program, library or bytecode in this skill to allow";
        return Err(EngineError::new(ErrorCode::NotAccepted, message).into());
    }
    let actor = crate::commands::approve::current_actor(engine, out);
    for rule in rules {
        let acceptance = ScanAcceptance {
            rule: rule.to_owned(),
            digest: args.digest.clone().unwrap_or_default(),
            reason: args.reason.clone().unwrap_or_default(),
        };
        engine.quality().accept_finding(
            scanned,
            &acceptance,
            &actor,
            &crate::environment::now_rfc3339(),
        )?;
        out.note(&format!("accepted {rule} for {}", acceptance.digest));
    }
    Ok(Exit::Done)
}
