use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sinew_engine::{CaptureOptions, Engine, EngineError, TurnReport};
use sinew_settings::ErrorCode;
use sinew_settings::config::CaptureProfile;
use sinew_workshop::{FinishedTurn, read_transcript};

use super::proposal_text;
use super::shared::{print_events, read_text, record};
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// Look for a correction in a message or a finished turn, and propose what it teaches
///
/// Exit 1 when there is none. A message is judged by patterns alone; a transcript (messages with
/// role and content, as a JSON list or one per line) also counts towards the reviewer, which runs
/// when it is due.
///
/// Examples:
///   sinew workshop capture --text "next time, check the frames first" --dry-run
///   sinew workshop capture --text "please never send without asking" --profile extended --explain
///   sinew workshop capture --transcript turn.jsonl
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct WorkshopCaptureArgs {
    /// What the user said
    #[arg(
        long,
        value_name = "TEXT",
        required_unless_present = "transcript",
        conflicts_with = "transcript",
        allow_hyphen_values = true
    )]
    text: Option<String>,
    /// The messages of a finished turn, or - for standard input
    #[arg(long, value_name = "FILE")]
    transcript: Option<PathBuf>,
    /// Which patterns to use [default: captureProfile of the configuration]
    #[arg(long, value_name = "reference|extended")]
    profile: Option<String>,
    /// Store nothing
    #[arg(long, conflicts_with = "transcript")]
    dry_run: bool,
    /// Show the cues that were found, for and against
    #[arg(long, conflicts_with = "transcript")]
    explain: bool,
    /// Run the reviewer now, whether or not it is due
    #[arg(long, requires = "transcript")]
    review: bool,
    /// The session that the turn belongs to
    #[arg(long, value_name = "ID", requires = "transcript")]
    session: Option<String>,
}

impl WorkshopCaptureArgs {
    /// The patterns that were asked for. The option has the name of the global one, which chooses
    /// whose folders apply; any other word is meant for that.
    fn patterns(&self) -> Option<CaptureProfile> {
        match self.profile.as_deref() {
            Some("reference") => Some(CaptureProfile::Reference),
            Some("extended") => Some(CaptureProfile::Extended),
            _ => None,
        }
    }

    /// Whether `--profile` was taken for the patterns.
    pub(super) fn takes_profile(&self) -> bool {
        self.patterns().is_some()
    }
}

pub(super) fn run(args: &WorkshopCaptureArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    if let Some(file) = &args.transcript {
        return transcript(args, file, engine, out);
    }
    let said = args.text.as_deref().unwrap_or_default();
    let options = CaptureOptions { profile: args.patterns(), dry_run: args.dry_run };
    let mut answer = engine.workshop().capture(said, options)?;
    if let Some(Value::Object(proposal)) = &mut answer.proposal {
        proposal.remove("original");
    }
    out.data(&answer, |text| {
        match (&answer.proposal, &answer.skipped) {
            (Some(proposal), _) => {
                let skill = proposal["skillName"].as_str().unwrap_or_default();
                let status = proposal["status"].as_str().unwrap_or("would be proposed");
                writeln!(text, "{} {} ({status})", render::good("captured"), render::safe(skill))?;
                let change = &proposal["change"];
                let body = change["body"].as_str().unwrap_or_default();
                let bullet = body.lines().find(|line| line.starts_with("- "));
                let rule = change["rule"].as_str().map(|rule| format!("+ {rule}"));
                let shown = rule.as_deref().or(bullet).unwrap_or_default();
                writeln!(text, "  {}", render::safe(shown))?;
            }
            (None, Some(why)) => {
                writeln!(text, "{} {}", render::warning("skipped"), render::safe(why))?;
            }
            (None, None) => writeln!(text, "{}", render::dim("no correction in it"))?,
        }
        if args.explain && !answer.cues.is_empty() {
            writeln!(text, "  {} {}", render::dim("cues"), render::safe(&answer.cues.join(" ")))?;
        }
        Ok(())
    })?;
    print_events(&answer.events, out);
    Ok(if answer.captured { Exit::Done } else { Exit::No })
}

fn transcript(
    args: &WorkshopCaptureArgs,
    file: &Path,
    engine: &Engine,
    out: &mut Printer,
) -> CommandResult {
    let written = read_text(engine, None, Some(file))?.unwrap_or_default();
    let messages = read_transcript(&written).map_err(|error| {
        EngineError::new(ErrorCode::BadTranscript, format!("{}: {error}", file.display()))
            .caused_by(error)
    })?;
    let turn = FinishedTurn {
        messages: &messages,
        succeeded: true,
        agent_id: engine.agent(),
        session_id: args.session.as_deref(),
    };
    let mut report = engine.workshop().transcript(&turn, args.patterns())?;
    if report.review_due || args.review {
        let TurnReport { proposals, events, .. } = engine.workshop().review_turn(&turn)?;
        report.proposals.extend(proposals);
        report.events.extend(events);
    }
    let records: Vec<Value> = report.proposals.iter().map(record).collect();
    let answer = json!({
        "captured": !records.is_empty(),
        "proposal": records.first(),
        "proposals": records,
    });
    out.data(&answer, |text| {
        for proposal in &report.proposals {
            let id = proposal_text::short_id(&proposal.id);
            let name = render::safe(&proposal.skill_name);
            writeln!(
                text,
                "{} {name} {}",
                proposal_text::status(&proposal.status),
                render::dim(id)
            )?;
        }
        Ok(())
    })?;
    print_events(&report.events, out);
    Ok(if report.proposals.is_empty() { Exit::No } else { Exit::Done })
}
