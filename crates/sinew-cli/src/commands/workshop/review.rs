use serde_json::{Value, json};
use sinew_engine::{Engine, EngineError};
use sinew_settings::ErrorCode;
use sinew_workshop::{
    ApplyConsent, DuplicateVerdict, ProposalChange, ProposalPreview, ProposalRevision,
    ProposalState, ProposalUpdate,
};

use super::proposal_text;
use super::shared::{caller, print_events, record};
use crate::exit::{CommandError, CommandResult, Exit};
use crate::keys;
use crate::printer::Printer;
use crate::render;

/// Go through the proposals that wait, one key each
///
/// For each: the change as a diff, what was said, findings, the nearest skills, messages it would
/// win and lose, and what it costs. Keys: a approve, r reject, e revise, s skip, d approve and
/// remember that it is not a duplicate, n never for this skill, q quit. Without a terminal
/// nothing is decided (exit 3); with --json the proposals are printed.
///
/// Examples:
///   sinew workshop review
///   sinew workshop review --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct WorkshopReviewArgs {}

/// What a person did, and what became of the rest.
#[derive(Default)]
struct ReviewTally {
    approved: usize,
    rejected: usize,
    revised: usize,
    skipped: usize,
}

pub(super) fn run(_args: &WorkshopReviewArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    print_events(&engine.workshop().check_probation()?, out);
    let mut waiting = engine.workshop().with(|shop| shop.proposals())?;
    waiting.retain(|proposal| {
        matches!(
            proposal.status,
            ProposalState::Pending
                | ProposalState::Quarantined { .. }
                | ProposalState::Stale { .. }
        )
    });
    // The oldest first: later proposals may build on earlier ones.
    waiting.reverse();
    if out.is_json() {
        return print_all(&waiting.iter().map(|p| p.id.clone()).collect::<Vec<_>>(), engine, out);
    }
    if waiting.is_empty() {
        out.note("there is nothing to decide");
        return Ok(Exit::Done);
    }
    if !out.at_terminal() {
        let message = format!("deciding about {} proposals needs a terminal", waiting.len());
        return Err(EngineError::new(ErrorCode::NeedsATerminal, message)
            .hint("run `sinew workshop review` in a terminal; `--json` prints what waits")
            .into());
    }
    let mut tally = ReviewTally::default();
    for (at, proposal) in waiting.iter().enumerate() {
        out.text(&format!("\n[{} of {}]\n", at + 1, waiting.len()))?;
        if !decide(&proposal.id, &mut tally, engine, out)? {
            break;
        }
    }
    out.text(&format!(
        "{} approved, {} rejected, {} revised, {} left\n",
        tally.approved,
        tally.rejected,
        tally.revised,
        waiting.len() - tally.approved - tally.rejected
    ))?;
    Ok(Exit::Done)
}

fn print_all(ids: &[String], engine: &Engine, out: &mut Printer) -> CommandResult {
    let mut shown: Vec<Value> = Vec::new();
    for id in ids {
        let preview = engine.workshop().with(|shop| shop.preview(id))?;
        let mut value = record(&preview.proposal);
        value["diff"] = json!(preview.diff());
        shown.push(value);
    }
    out.data(&shown, |_| Ok(()))?;
    Ok(Exit::Done)
}

/// Shows one proposal and does what is asked; `false` when the person is done.
fn decide(
    id: &str,
    tally: &mut ReviewTally,
    engine: &Engine,
    out: &mut Printer,
) -> Result<bool, CommandError> {
    let mut preview = show_one(id, engine, out)?;
    let mut accept_stolen = false;
    loop {
        let held = matches!(
            preview.proposal.status,
            ProposalState::Quarantined { .. } | ProposalState::Stale { .. }
        );
        let is_near = preview
            .gates
            .duplicate
            .as_ref()
            .is_some_and(|duplicate| duplicate.verdict == DuplicateVerdict::AppendTo);
        let approve = match (held, is_near) {
            (true, _) => "",
            (false, true) => "[a]pprove [d] approve, it is not a duplicate ",
            (false, false) => "[a]pprove ",
        };
        out.text(&format!("{approve}[r]eject [e]dit [s]kip [n]ever for this skill [q]uit "))?;
        let key = keys::next().map_err(CommandError::Output)?;
        out.text(&format!("{}\n", key.unwrap_or('q')))?;
        let by = caller(engine, out);
        let done = match key {
            None | Some('q') => return Ok(false),
            Some('s') => {
                tally.skipped += 1;
                return Ok(true);
            }
            Some(key @ ('a' | 'd')) if !held => {
                let consent = ApplyConsent {
                    // What is written is what was shown, or nothing.
                    result_sha256: Some(preview.result_sha256.clone()),
                    accept_stolen,
                    not_a_duplicate: key == 'd',
                };
                engine.workshop().with(|shop| shop.apply(id, &by, &consent))
            }
            Some('r') => engine.workshop().with(|shop| shop.reject(id, None, &by)),
            Some('n') => {
                let path = engine.workshop().forbid_proposals(&preview.proposal.skill_name)?;
                out.note(&format!("never for {}: {}", preview.proposal.skill_name, path.display()));
                engine.workshop().with(|shop| shop.reject(id, Some("never for this skill"), &by))
            }
            Some('e') => match edited(&preview, engine, out)? {
                None => continue,
                Some(revision) => {
                    let done = engine.workshop().with(|shop| shop.revise(id, &revision, &by));
                    if told(&done, out) {
                        tally.revised += 1;
                        preview = show_one(id, engine, out)?;
                    }
                    continue;
                }
            },
            Some(_) => continue,
        };
        // The second time, the person has seen what other skills would lose.
        accept_stolen |= done.as_ref().is_err_and(|error| error.code == ErrorCode::Steals);
        if !told(&done, out) {
            if done.as_ref().is_err_and(|error| error.code == ErrorCode::Changed) {
                preview = show_one(id, engine, out)?;
            }
            continue;
        }
        *if key == Some('r') || key == Some('n') {
            &mut tally.rejected
        } else {
            &mut tally.approved
        } += 1;
        return Ok(true);
    }
}

fn show_one(id: &str, engine: &Engine, out: &mut Printer) -> Result<ProposalPreview, CommandError> {
    let preview = engine.workshop().with(|shop| shop.preview(id))?;
    let mut text = String::new();
    proposal_text::preview(&mut text, &preview)
        .map_err(|error| CommandError::Output(std::io::Error::other(error)))?;
    out.text(&text)?;
    Ok(preview)
}

/// Tells how it went; whether it did.
fn told(done: &Result<ProposalUpdate, EngineError>, out: &mut Printer) -> bool {
    match done {
        Ok(done) => {
            print_events(&done.events, out);
            true
        }
        Err(error) => {
            out.error(&error.message);
            for hint in &error.hints {
                out.hint(hint);
            }
            false
        }
    }
}

/// The proposal's text as a person changes it in their editor.
fn edited(
    preview: &ProposalPreview,
    engine: &Engine,
    out: &mut Printer,
) -> Result<Option<ProposalRevision>, CommandError> {
    let (before, is_replacement) = match &preview.proposal.change {
        ProposalChange::Create { body, .. } | ProposalChange::Append { body, .. } => (body, false),
        ProposalChange::Replace { new_text, .. } => (new_text, true),
        ProposalChange::Rule { rule, .. } => (rule, false),
        ProposalChange::Retire { .. } | ProposalChange::Reshape { .. } => {
            out.note("there is no text to edit: approve it, or reject it");
            return Ok(None);
        }
    };
    let after = in_editor(before, engine)?.trim_end().to_owned();
    if after == before.trim_end() || after.is_empty() {
        out.note("nothing was changed");
        return Ok(None);
    }
    let revision = match is_replacement {
        true => ProposalRevision { new_text: Some(after), ..ProposalRevision::default() },
        false => ProposalRevision { body: Some(after), ..ProposalRevision::default() },
    };
    Ok(Some(revision))
}

/// Opens the person's editor on a text and gives back what it became.
fn in_editor(text: &str, engine: &Engine) -> Result<String, CommandError> {
    let env = engine.environment();
    let editor = env.var("VISUAL").or_else(|| env.var("EDITOR")).unwrap_or("vi");
    let failed = |error: std::io::Error| {
        EngineError::new(
            ErrorCode::NoEditor,
            format!("the editor {} cannot be used: {error}", render::safe(editor)),
        )
        .caused_by(error)
        .hint("set EDITOR, or use `sinew workshop revise`")
    };
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or("vi");
    let folder = tempfile::tempdir().map_err(failed)?;
    let file = folder.path().join("proposal.md");
    std::fs::write(&file, text).map_err(failed)?;
    let status =
        std::process::Command::new(program).args(words).arg(&file).status().map_err(failed)?;
    if !status.success() {
        return Ok(text.to_owned());
    }
    Ok(std::fs::read_to_string(&file).map_err(failed)?)
}
