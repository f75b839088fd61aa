//! OpenPocket's sessions in Markdown.

use std::io;

use serde_json::Value;

use super::openpocket::{PocketStep, ending_from_word};
use super::{TranscriptSource, whole};
use crate::lines::LineCounts;
use crate::run::AgentRun;
use crate::segment::{RunSegmenter, TraceSession};

/// Reads a session; each `## Task` in it is a run.
pub(super) fn read(
    from: &mut dyn TranscriptSource,
    mut session: TraceSession,
    counts: &mut LineCounts,
    sink: &mut dyn FnMut(AgentRun),
) -> io::Result<()> {
    session.agent = "openpocket".to_owned();
    let text = whole(from)?;
    let mut page =
        MarkdownReader { segments: RunSegmenter::new(session), ..MarkdownReader::default() };
    for line in text.lines() {
        counts.lines += u64::from(!line.trim().is_empty());
        page.line(line);
        page.segments.emit_ready(sink);
    }
    page.leave();
    page.segments.finish();
    page.segments.emit_ready(sink);
    counts.steps_left_out += page.segments.left_out;
    Ok(())
}

/// The section of the page that is being read.
#[derive(Debug, Default, PartialEq, Eq)]
enum MarkdownPosition {
    #[default]
    Head,
    Task,
    Step,
    Final,
    Message,
    Between,
}

/// A page, read from top to bottom.
#[derive(Debug, Default)]
struct MarkdownReader {
    segments: RunSegmenter,
    place: MarkdownPosition,
    /// The lines of the current section or fence so far.
    gathered: String,
    step: MarkdownStep,
    /// The part of a step that the next fence belongs to, and the fence that is open.
    part: String,
    fence: Option<String>,
    started_at: String,
}

#[derive(Debug, Default)]
struct MarkdownStep {
    at: String,
    app: String,
    kind: String,
    status: String,
    thought: String,
    action: String,
    result: String,
}

impl MarkdownReader {
    fn line(&mut self, line: &str) {
        if let Some(fence) = &self.fence {
            if line.trim_end() == fence {
                self.fence = None;
                let text = std::mem::take(&mut self.gathered);
                let text = text.trim_end().to_owned();
                match self.part.as_str() {
                    "thought" => self.step.thought = text,
                    "action" => self.step.action = text,
                    "execution_result" => self.step.result = text,
                    _ => {}
                }
            } else {
                self.gather(line);
            }
            return;
        }
        match line.trim_end() {
            "---" | "## Steps" => self.enter(MarkdownPosition::Between),
            "## Final" => self.enter(MarkdownPosition::Final),
            "### Message" if self.place == MarkdownPosition::Final => {
                self.enter(MarkdownPosition::Message);
            }
            heading if heading == "## Task" || heading.starts_with("## Task (") => {
                self.enter(MarkdownPosition::Task);
            }
            heading if heading.starts_with("### Step ") => self.enter(MarkdownPosition::Step),
            other => self.inside(other),
        }
    }

    fn inside(&mut self, line: &str) {
        match self.place {
            MarkdownPosition::Task | MarkdownPosition::Message => self.gather(line),
            MarkdownPosition::Head | MarkdownPosition::Final | MarkdownPosition::Step => {
                if self.place == MarkdownPosition::Step && line.starts_with("```") {
                    self.fence = Some(line.chars().take_while(|c| *c == '`').collect());
                    self.gathered.clear();
                    return;
                }
                let Some((name, value)) = line.strip_prefix("- ").and_then(|l| l.split_once(':'))
                else {
                    return;
                };
                self.bullet(name.trim(), value.trim());
            }
            MarkdownPosition::Between => {}
        }
    }

    fn bullet(&mut self, name: &str, value: &str) {
        match (&self.place, name) {
            (MarkdownPosition::Head, "id") => value.clone_into(&mut self.segments.session.id),
            (MarkdownPosition::Head, "started_at") => value.clone_into(&mut self.started_at),
            (MarkdownPosition::Final, "status") => {
                self.segments.set_ending(ending_from_word(value));
            }
            (MarkdownPosition::Step, _) if value.is_empty() => name.clone_into(&mut self.part),
            (MarkdownPosition::Step, "at") => value.clone_into(&mut self.step.at),
            (MarkdownPosition::Step, "app") => value.clone_into(&mut self.step.app),
            (MarkdownPosition::Step, "action") => value.clone_into(&mut self.step.kind),
            (MarkdownPosition::Step, "status") => value.clone_into(&mut self.step.status),
            _ => {}
        }
    }

    fn gather(&mut self, line: &str) {
        // Longer text is not used anywhere.
        if self.gathered.len() + line.len() < crate::run::MAX_FIELD {
            self.gathered.push_str(line);
            self.gathered.push('\n');
        }
    }

    fn enter(&mut self, place: MarkdownPosition) {
        self.leave();
        self.place = place;
    }

    /// Ends the current section and passes its text on.
    fn leave(&mut self) {
        let gathered = std::mem::take(&mut self.gathered);
        match self.place {
            MarkdownPosition::Task => {
                let at = std::mem::take(&mut self.started_at);
                self.segments.task(gathered.trim().to_owned(), &at);
            }
            MarkdownPosition::Step => {
                let step = std::mem::take(&mut self.step);
                self.part.clear();
                let found = PocketStep {
                    action: serde_json::from_str(&step.action).unwrap_or(Value::Null),
                    thought: step.thought,
                    result: step.result,
                    at: step.at,
                    app: Some(step.app.as_str()),
                    status: Some(step.status.as_str()).filter(|status| !status.is_empty()),
                    kind: Some(step.kind.as_str()).filter(|kind| !kind.is_empty()),
                };
                found.add_to(&mut self.segments);
            }
            MarkdownPosition::Message => {
                self.segments.agent_message(gathered.trim().to_owned());
            }
            _ => {}
        }
        self.place = MarkdownPosition::Between;
    }
}
