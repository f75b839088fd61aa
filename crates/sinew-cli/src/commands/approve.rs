use std::fmt::Write as _;

use serde::Serialize;
use sinew_engine::approval::{
    Approval, ApprovalAnswer, ApprovalDecision, ApprovalState, ApprovalSubject, CandidateVerdict,
    ConsentAct, ConsentAnswer, ConsentScope,
};
use sinew_engine::hub::ApprovalMethod;
use sinew_engine::{Engine, EngineError};
use sinew_settings::config::UnattendedAct;
use sinew_settings::{Actor, ErrorCode, ErrorKind};

use crate::exit::{CommandResult, Exit};
use crate::keys;
use crate::layout::{TableColumn, TextTable, first_rows, write_more};
use crate::printer::Printer;
use crate::render::{self, safe};

/// Approve or reject what waits for a person
///
/// Without an id, goes through everything that waits, one key each; in a pipe it is only listed. A
/// decision needs a terminal: in a pipe, exit 3. An approval holds for exactly the files that were
/// shown.
///
/// Examples:
///   sinew approve                    go through what waits
///   sinew approve 3k9x0v7m2q4d       show one, and ask
///   sinew approve 3k9x0v7m2q4d --remember
///   sinew approve 3k9x0v7m2q4d --reject   say no, or ask again where a yes was remembered
///   sinew approve --list --json      what waits, for scripts
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ApproveArgs {
    /// The approval
    id: Option<String>,
    /// Say no
    #[arg(long, requires = "id")]
    reject: bool,
    /// Do not ask again about exactly these files
    #[arg(long, requires = "id", conflicts_with = "reject")]
    remember: bool,
    /// List what waits, and decide nothing
    #[arg(long, conflicts_with_all = ["id", "reject"])]
    list: bool,
}

impl ApproveArgs {
    /// Whether something is decided, as typed.
    pub(crate) fn decides(&self) -> bool {
        self.id.is_some()
    }
}

#[derive(Serialize)]
struct ApprovalListing {
    approvals: Vec<Approval>,
    /// Answers that count for the same content again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    remembered: Vec<Approval>,
}

pub(crate) fn run(args: &ApproveArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let Some(id) = &args.id else {
        let waiting = engine.approvals().list(true)?;
        if args.list || out.is_json() || !out.at_terminal() || waiting.is_empty() {
            return list(waiting, engine, out);
        }
        return go_through(&waiting, engine, out);
    };
    let approval = engine.approvals().get(id)?;
    if !out.at_terminal() {
        return Err(EngineError::new(
            ErrorCode::NeedsATerminal,
            format!("deciding about {} needs a terminal", approval.id),
        )
        .hint(format!("run `sinew approve {}` in a terminal", approval.id))
        .into());
    }
    if !approval.is_pending() {
        // The engine words the error for an approval that is over.
        let said =
            if args.reject { ConsentAnswer::No } else { ConsentAnswer::Yes(ConsentScope::Listed) };
        let decided = engine
            .approvals()
            .decide(id, &ApprovalDecision::at_terminal(said, terminal_person(engine)))?;
        if approval.is_remembered() && !decided.is_remembered() {
            out.note("it is no longer remembered");
        }
        return print_decision(&decided, out);
    }
    let answer = match args.reject {
        true => ApprovalAnswer::No,
        false => ask(&approval, engine, out)?,
    };
    let Some(decision) = decision(&answer, engine) else {
        out.note("nothing was decided");
        return Ok(Exit::Failed(ErrorKind::Refused));
    };
    let decision = ApprovalDecision { remember: args.remember, ..decision };
    print_decision(&engine.approvals().decide(id, &decision)?, out)
}

/// The user at the terminal.
pub(crate) fn terminal_person(engine: &Engine) -> Actor {
    Actor::at_terminal(engine.environment().var("USER").map(str::to_owned))
}

/// The caller of the command: without a terminal it may be a program.
pub(crate) fn current_actor(engine: &Engine, out: &Printer) -> Actor {
    if out.can_ask() {
        terminal_person(engine)
    } else {
        Actor::Agent { name: "a program without a terminal".to_owned() }
    }
}

/// The caller of a command that decides something: a person at a terminal, the configuration
/// where it lets commands without one decide this, or else a program.
pub(crate) fn deciding_actor(engine: &Engine, out: &Printer, act: UnattendedAct) -> Actor {
    if out.at_terminal() {
        return terminal_person(engine);
    }
    match engine.config().approvals.covers(act) {
        true => Actor::configuration(&format!("approvals.unattended ({})", act.as_str())),
        false => Actor::Agent { name: "a program without a terminal".to_owned() },
    }
}

fn list(approvals: Vec<Approval>, engine: &Engine, out: &mut Printer) -> CommandResult {
    let (width, rows) = (out.width(), out.rows(false));
    let mut remembered = engine.approvals().list(false)?;
    remembered.retain(Approval::is_remembered);
    let listing = ApprovalListing { approvals, remembered };
    out.data(&listing, |text| {
        if listing.approvals.is_empty() && listing.remembered.is_empty() {
            return writeln!(text, "nothing waits");
        }
        let mut table = TextTable::new(vec![
            TableColumn::fixed("ID"),
            TableColumn::fixed("KIND"),
            TableColumn::flexible("ABOUT"),
            TableColumn::fixed("SCAN"),
            TableColumn::fixed("UNTIL").from(80),
        ]);
        let all: Vec<&Approval> = listing.approvals.iter().chain(&listing.remembered).collect();
        let (shown, left) = first_rows(&all, rows);
        for approval in shown {
            let scan = approval.evidence.scan.map_or("", |scan| verdict(scan.verdict));
            let until = match approval.is_remembered() {
                true => "remembered".to_owned(),
                false => approval.expires_at.map(|until| until.to_string()).unwrap_or_default(),
            };
            table.row(vec![
                render::plain(&approval.id),
                render::plain(approval.kind.as_str()),
                render::plain(&about(&approval.subject)),
                render::plain(scan),
                render::dim(&until),
            ]);
        }
        table.write(text, width)?;
        write_more(text, 0, left, "sinew approve --list --json")
    })?;
    Ok(Exit::Done)
}

fn go_through(waiting: &[Approval], engine: &Engine, out: &mut Printer) -> CommandResult {
    let mut decided = 0;
    for (at, approval) in waiting.iter().enumerate() {
        out.ask(&format!("\n[{} of {}]\n", at + 1, waiting.len()));
        let answer = ask(approval, engine, out)?;
        if answer == ApprovalAnswer::Cancel {
            break;
        }
        let Some(decision) = decision(&answer, engine) else { continue };
        match engine.approvals().decide(&approval.id, &decision) {
            Ok(approval) => {
                decided += 1;
                print_decision(&approval, out)?;
            }
            Err(error) => out.error(&error.message),
        }
    }
    out.note(&format!("{decided} decided, {} left", waiting.len() - decided));
    Ok(Exit::Done)
}

/// Shows an approval and waits for a key. Cancel goes through no further ones.
fn ask(
    approval: &Approval,
    engine: &Engine,
    out: &mut Printer,
) -> Result<ApprovalAnswer, std::io::Error> {
    let mut text = String::new();
    show(&mut text, approval).map_err(std::io::Error::other)?;
    out.ask(&text);
    let only = if approval.also.is_empty() { "" } else { " [o]nly the first" };
    out.ask(&format!("[a]pprove{only} [r]eject [s]kip [q]uit "));
    let yes = |scope| ApprovalAnswer::Yes {
        by: terminal_person(engine).to_string(),
        method: ApprovalMethod::Prompt,
        reason: None,
        scope,
    };
    loop {
        let key = keys::next()?;
        let answer = match key {
            Some('a' | 'y') => yes(ConsentScope::Listed),
            Some('o') if !approval.also.is_empty() => yes(ConsentScope::OnlyThis),
            Some('r' | 'n') => ApprovalAnswer::No,
            Some('s') => ApprovalAnswer::ABSENT,
            None | Some('q') => ApprovalAnswer::Cancel,
            Some(_) => continue,
        };
        out.ask(&format!("{}\n", key.unwrap_or('q')));
        return Ok(answer);
    }
}

/// The decision that an answer makes, if it makes one.
fn decision(answer: &ApprovalAnswer, engine: &Engine) -> Option<ApprovalDecision> {
    let said = match answer {
        ApprovalAnswer::Yes { scope, .. } => ConsentAnswer::Yes(*scope),
        ApprovalAnswer::No => ConsentAnswer::No,
        ApprovalAnswer::Others
        | ApprovalAnswer::Pick(_)
        | ApprovalAnswer::Cancel
        | ApprovalAnswer::Absent { .. } => {
            return None;
        }
    };
    Some(ApprovalDecision::at_terminal(said, terminal_person(engine)))
}

fn print_decision(approval: &Approval, out: &mut Printer) -> CommandResult {
    out.data(approval, |text| {
        writeln!(
            text,
            "{} {} {}",
            approval.state.as_str(),
            approval.kind.as_str(),
            about(&approval.subject)
        )
    })?;
    if let (ApprovalState::Approved { .. }, Some(run)) = (&approval.state, &approval.run) {
        out.hint(&format!("`sinew acquire --resume {run}` goes on"));
    }
    Ok(Exit::Done)
}

/// A subject in one line.
fn about(subject: &ApprovalSubject) -> String {
    match &subject.version {
        Some(version) => safe(&format!("{}@{version}", subject.name)),
        None => safe(&subject.name),
    }
}

fn verdict(verdict: CandidateVerdict) -> &'static str {
    match verdict {
        CandidateVerdict::Allow => "allow",
        CandidateVerdict::Warn => "warn",
        CandidateVerdict::Block => "block",
    }
}

/// An approval for people: what is asked, about which files, and what is known.
pub(crate) fn show(text: &mut String, approval: &Approval) -> std::fmt::Result {
    let what = match approval.kind {
        ConsentAct::Install => "Install",
        ConsentAct::Plan => "Carry out the plan of",
        ConsentAct::Dependency => "Run on this system:",
        ConsentAct::SwitchCandidate => "Go on with",
        ConsentAct::Retain => "Keep",
        ConsentAct::ProposalApply => "Write the proposal",
        ConsentAct::QuarantineRestore => "Take out of quarantine:",
        ConsentAct::ConfigWrite => "Change the file",
    };
    render::heading(text, &format!("{what} {}?", about(&approval.subject)))?;
    write_content(text, &approval.subject)?;
    for other in &approval.also {
        writeln!(text, "  or, if that fails, {}", about(other))?;
        write_content(text, other)?;
    }
    write_evidence(text, approval)?;
    if let ApprovalState::Pending { changed } = &approval.state
        && !changed.is_empty()
    {
        let files = safe(&changed.join(", "));
        writeln!(text, "  {} changed since it was agreed to: {files}", render::warning("!"))?;
    }
    writeln!(text, "  {}", render::dim(&format!("asked by {}", approval.asked_by)))
}

fn write_content(text: &mut String, subject: &ApprovalSubject) -> std::fmt::Result {
    let Some(digest) = &subject.content.digest else { return Ok(()) };
    let files = &subject.content.files;
    let bytes: u64 = files.iter().map(|file| file.size).sum();
    let size = match files.len() {
        0 => String::new(),
        1 => format!(", 1 file, {bytes} bytes"),
        count => format!(", {count} files, {bytes} bytes"),
    };
    writeln!(text, "  {}", render::dim(&format!("{digest}{size}")))
}

fn write_evidence(text: &mut String, approval: &Approval) -> std::fmt::Result {
    let evidence = &approval.evidence;
    if let Some(description) = &evidence.description {
        writeln!(text, "  {}", safe(description))?;
    }
    let mut facts = Vec::new();
    facts.extend(evidence.source.as_ref().map(|source| format!("from {source}")));
    facts.extend((evidence.reviewed == Some(false)).then(|| "unreviewed".to_owned()));
    facts.extend(evidence.stars.map(|stars| format!("{stars} stars")));
    facts.extend(evidence.downloads.map(|downloads| format!("{downloads} downloads")));
    if let Some(scan) = evidence.scan {
        let (critical, warn) = (scan.critical, scan.warn);
        facts.push(format!(
            "scan: {} ({critical} critical, {warn} warnings)",
            verdict(scan.verdict)
        ));
    }
    facts.extend(evidence.history.clone());
    if !facts.is_empty() {
        writeln!(text, "  {}", safe(&facts.join(" · ")))?;
    }
    if !evidence.capabilities.is_empty() {
        writeln!(text, "  can: {}", safe(&evidence.capabilities.join(", ")))?;
    }
    if !evidence.missing.is_empty() {
        let missing = safe(&evidence.missing.join(", "));
        writeln!(text, "  {} needs what is not here: {missing}", render::warning("!"))?;
    }
    if let Some(command) = &evidence.command {
        writeln!(text, "  runs: {}", safe(command))?;
    }
    for step in &evidence.steps {
        writeln!(text, "  {} {}", step.symbols(), safe(&step.text))?;
    }
    for lesson in &evidence.lessons {
        writeln!(text, "  {} {}", render::warning("!"), safe(lesson))?;
    }
    if let Some(diff) = &evidence.diff {
        for line in diff.lines() {
            writeln!(text, "  {}", safe(line))?;
        }
    }
    Ok(())
}
