//! What the subcommands share: who types, ids by their start, texts from files, and the log.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sinew_engine::{Engine, EngineError};
use sinew_settings::config::UnattendedAct;
use sinew_settings::{Actor, ErrorCode};
use sinew_workshop::{EventLevel, Proposal, ProposalUpdate, WorkshopEvent};

use crate::commands::approve::deciding_actor;
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;

/// Fewer characters of an id do not name a proposal.
const MIN_PREFIX: usize = 4;

/// A text that is typed here is longer than any skill may be.
const MAX_INPUT: u64 = 4 * 1024 * 1024;

/// Who calls: a person at a terminal, for whom typing is the approval, or what stands in for one.
pub(super) fn caller(engine: &Engine, out: &Printer) -> Actor {
    deciding_actor(engine, out, UnattendedAct::Proposal)
}

/// The id that a person means: all of it, or its start where only one proposal has it.
pub(super) fn resolve_id(engine: &Engine, given: &str) -> Result<String, EngineError> {
    let proposals = engine.workshop().with(|shop| shop.proposals())?;
    if proposals.iter().any(|proposal| proposal.id == given) {
        return Ok(given.to_owned());
    }
    let starts = proposals.iter().filter(|p| given.len() >= MIN_PREFIX && p.id.starts_with(given));
    let ids: Vec<&str> = starts.map(|proposal| proposal.id.as_str()).collect();
    match ids.as_slice() {
        [one] => Ok((*one).to_owned()),
        // The workshop's own words for an id that it does not know.
        [] => Ok(given.to_owned()),
        many => Err(EngineError::new(
            ErrorCode::AmbiguousProposal,
            format!("{given} is the start of {} ids", many.len()),
        )
        .hint(format!("name one of {}", many.join(", ")))),
    }
}

/// A text from the command line, a file, or standard input for `-`.
pub(super) fn read_text(
    engine: &Engine,
    given: Option<&str>,
    file: Option<&Path>,
) -> Result<Option<String>, EngineError> {
    let Some(file) = file else { return Ok(given.map(str::to_owned)) };
    let mut text = String::new();
    let (path, read) = if file == Path::new("-") {
        let read = std::io::stdin().take(MAX_INPUT).read_to_string(&mut text);
        (PathBuf::from("standard input"), read)
    } else {
        let path = engine.environment().cwd.join(file);
        let opened = std::fs::File::open(&path);
        let read = opened.and_then(|file| file.take(MAX_INPUT).read_to_string(&mut text));
        (path, read)
    };
    read.map_err(|error| EngineError::file("read", &path, error))?;
    Ok(Some(text))
}

/// Tells what happened, in the words of the log.
pub(super) fn print_events(events: &[WorkshopEvent], out: &mut Printer) {
    for event in events {
        match event.level() {
            EventLevel::Debug => {}
            EventLevel::Info => out.note(&event.line()),
            EventLevel::Warn => out.warn(&event.line()),
        }
    }
}

/// A record for people: everything but the copy of what OpenClaw wrote.
pub(super) fn record(proposal: &Proposal) -> Value {
    let mut value = json!(proposal);
    if let Some(object) = value.as_object_mut() {
        object.remove("original");
    }
    value
}

/// The answer of a command that decided about one proposal.
pub(super) fn print_decision(done: &ProposalUpdate, out: &mut Printer) -> CommandResult {
    let status = done.proposal.status.as_str();
    let mut value = json!({"status": status});
    if let Some(path) = &done.skill_path {
        value["skillPath"] = json!(path);
    }
    value["proposal"] = record(&done.proposal);
    out.data(&value, |text| super::proposal_text::write_decision(text, done))?;
    print_events(&done.events, out);
    Ok(if status == "quarantined" { Exit::No } else { Exit::Done })
}
