//! OpenPocket's sessions in Markdown.

use std::io;

use serde_json::Value;

use super::pocket::{Found, stated};
use super::{Source, whole};
use crate::traces::lines::Counts;
use crate::traces::run::Run;
use crate::traces::segment::{Segments, Session};

/// Reads a session; each `## Task` in it is a run.
pub(super) fn read(
    from: &mut dyn Source,
    mut session: Session,
    counts: &mut Counts,
    sink: &mut dyn FnMut(Run),
) -> io::Result<()> {
    session.agent = "openpocket".to_owned();
    let text = whole(from)?;
    let mut page = Page { segments: Segments::new(session), ..Page::default() };
    for line in text.lines() {
        counts.lines += u64::from(!line.trim().is_empty());
        page.line(line);
        page.segments.hand_on(sink);
    }
    page.leave();
    page.segments.finish();
    page.segments.hand_on(sink);
    counts.steps_left_out += page.segments.left_out;
    Ok(())
}

/// Where on the page we are.
#[derive(Debug, Default, PartialEq, Eq)]
enum Place {
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
struct Page {
    segments: Segments,
    place: Place,
    /// What the lines of the present place or fence gather.
    gathered: String,
    step: Step,
    /// The part of a step that the next fence belongs to, and the fence that is open.
    part: String,
    fence: Option<String>,
    started_at: String,
}

#[derive(Debug, Default)]
struct Step {
    at: String,
    app: String,
    kind: String,
    status: String,
    thought: String,
    action: String,
    result: String,
}

impl Page {
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
            "---" | "## Steps" => self.enter(Place::Between),
            "## Final" => self.enter(Place::Final),
            "### Message" if self.place == Place::Final => self.enter(Place::Message),
            heading if heading == "## Task" || heading.starts_with("## Task (") => {
                self.enter(Place::Task);
            }
            heading if heading.starts_with("### Step ") => self.enter(Place::Step),
            other => self.inside(other),
        }
    }

    fn inside(&mut self, line: &str) {
        match self.place {
            Place::Task | Place::Message => self.gather(line),
            Place::Head | Place::Final | Place::Step => {
                if self.place == Place::Step && line.starts_with("```") {
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
            Place::Between => {}
        }
    }

    fn bullet(&mut self, name: &str, value: &str) {
        match (&self.place, name) {
            (Place::Head, "id") => value.clone_into(&mut self.segments.session.id),
            (Place::Head, "started_at") => value.clone_into(&mut self.started_at),
            (Place::Final, "status") => self.segments.ended(stated(value)),
            (Place::Step, _) if value.is_empty() => name.clone_into(&mut self.part),
            (Place::Step, "at") => value.clone_into(&mut self.step.at),
            (Place::Step, "app") => value.clone_into(&mut self.step.app),
            (Place::Step, "action") => value.clone_into(&mut self.step.kind),
            (Place::Step, "status") => value.clone_into(&mut self.step.status),
            _ => {}
        }
    }

    fn gather(&mut self, line: &str) {
        // A longer text is not shown anywhere.
        if self.gathered.len() + line.len() < crate::traces::run::MAX_FIELD {
            self.gathered.push_str(line);
            self.gathered.push('\n');
        }
    }

    fn enter(&mut self, place: Place) {
        self.leave();
        self.place = place;
    }

    /// Hands on what the present place has gathered.
    fn leave(&mut self) {
        let gathered = std::mem::take(&mut self.gathered);
        match self.place {
            Place::Task => {
                let at = std::mem::take(&mut self.started_at);
                self.segments.task(gathered.trim().to_owned(), &at);
            }
            Place::Step => {
                let step = std::mem::take(&mut self.step);
                self.part.clear();
                let found = Found {
                    action: serde_json::from_str(&step.action).unwrap_or(Value::Null),
                    thought: step.thought,
                    result: step.result,
                    at: step.at,
                    app: Some(step.app.as_str()),
                    status: Some(step.status.as_str()).filter(|status| !status.is_empty()),
                    kind: Some(step.kind.as_str()).filter(|kind| !kind.is_empty()),
                };
                found.hand_to(&mut self.segments);
            }
            Place::Message => {
                self.segments.agent_said(gathered.trim().to_owned());
            }
            _ => {}
        }
        self.place = Place::Between;
    }
}
