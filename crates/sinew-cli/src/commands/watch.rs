use std::ops::ControlFlow;

use sinew_engine::{Engine, LiveEngine, WatchEvent};

use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// Follow the skills and print each change as it happens
///
/// Lines start with + for a new skill, - for one that is gone, ~ for one that changed.
///
/// Examples:
///   sinew watch
///   sinew watch --json | jq .
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct WatchArgs {}

pub(crate) fn run(_args: &WatchArgs, engine: Engine, out: &mut Printer) -> CommandResult {
    let mut failed = None;
    LiveEngine::new(engine).watch(|event| match show(&event, out) {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            failed = Some(error);
            ControlFlow::Break(())
        }
    });
    match failed {
        // The reader is gone; there is nothing left to write to.
        Some(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(Exit::Done),
        Some(error) => Err(error.into()),
        None => Ok(Exit::Done),
    }
}

fn show(event: &WatchEvent, out: &mut Printer) -> std::io::Result<()> {
    if out.is_json() {
        return out.json_line(event);
    }
    match event {
        WatchEvent::Started { skills, folders } => {
            out.note(&format!("watching {skills} skills in {folders} folders; Ctrl-C ends it"));
        }
        WatchEvent::Notice(reason) => out.reason(reason),
        WatchEvent::Changed(change) => {
            let mut text = String::new();
            for (mark, names) in
                [("+", &change.added), ("-", &change.removed), ("~", &change.changed)]
            {
                for name in names {
                    let state = change.snapshot.catalog.get(name).map(|entry| entry.state.as_str());
                    let state = state.map(|state| format!(" ({state})")).unwrap_or_default();
                    text.push_str(&format!("{mark} {}{state}\n", render::safe(name)));
                }
            }
            out.text(&text)?;
        }
    }
    Ok(())
}
