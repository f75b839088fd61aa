//! A step as a sentence, the way a person would tell another what to do.

use serde_json::json;

use crate::draft::line;
use crate::replay;
use crate::risk::is_consent;
use crate::run::{RunStep, StepAction};

/// Characters of a command that a sentence shows: enough for nearly every one, in two lines of a page.
const MAX_COMMAND: usize = 300;

/// A text as Markdown shows code, whatever backticks it holds.
pub(crate) fn code(text: &str) -> String {
    let runs = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    match runs {
        0 => format!("`{text}`"),
        most => {
            let fence = "`".repeat(most + 1);
            format!("{fence} {text} {fence}")
        }
    }
}

/// What a person would write for a step.
pub(crate) fn sentence(step: &RunStep) -> String {
    let action = &step.action;
    let text = |field: &str, most: usize| line(action.text(field), most);
    let coded =
        |field: &str| Some(text(field, MAX_COMMAND)).filter(|t| !t.is_empty()).map(|t| code(&t));
    match action.kind.as_str() {
        "tap" => format!("Tap {} at {}{}.", element(step), point(action, "x", "y"), place(step)),
        "tap_element" => format!("Tap {}{}.", element(step), place(step)),
        kind @ ("swipe" | "drag" | "long_press_drag") => {
            let verb = match kind {
                "swipe" => "Swipe",
                "drag" => "Drag",
                _ => "Press, hold and drag",
            };
            let (from, to) = (point(action, "x1", "y1"), point(action, "x2", "y2"));
            format!("{verb} from {from} to {to}{}.", place(step))
        }
        "type" => {
            let typed = action.text("text");
            match typed.starts_with("{{") {
                true => format!("Type {}{}.", code(typed), place(step)),
                false => format!("Type {}{}.", json!(line(typed, 72)), place(step)),
            }
        }
        "keyevent" => {
            let key = match action.number("keycode") {
                Some(key) => key.to_string(),
                None => text("keycode", 40),
            };
            format!("Press the key {}.", code(&key))
        }
        "launch_app" => format!("Open the app {}.", code(&text("packageName", 120))),
        "wait" => {
            let seconds = action.number("durationMs").unwrap_or(0.0) / 1000.0;
            format!("Wait {seconds} seconds.")
        }
        "exec" => match coded("command") {
            Some(command) => format!("Run {command}."),
            None => "Run a command; it was not kept.".to_owned(),
        },
        "shell" => match coded("command") {
            Some(command) => format!("Run {command} on the device."),
            None => "Run a command on the device; it was not kept.".to_owned(),
        },
        "run_script" => "Run the recorded script; the replay script holds it.".to_owned(),
        "request_user_input" => match text("question", 160) {
            question if question.is_empty() => "Ask the user.".to_owned(),
            question => format!("Ask the user: {question}"),
        },
        kind if is_consent(kind) => {
            format!(
                "**Ask a person for consent** ({}), and go on only after a yes.",
                consent_words(action)
            )
        }
        "finish" => "Tell the user what was done.".to_owned(),
        "read" => path_sentence("Read", coded("path")),
        "write" => path_sentence("Write", coded("path")),
        "edit" | "apply_patch" => path_sentence("Change", coded("path")),
        "search" => "Search the files.".to_owned(),
        "fetch" => "Fetch the page.".to_owned(),
        "web_search" => "Search the web.".to_owned(),
        "delegate" => "Hand the part to another agent.".to_owned(),
        "use_skill" => "Follow the skill that fits.".to_owned(),
        kind => match kind.strip_prefix("mcp.").and_then(|rest| rest.split_once('.')) {
            Some((server, tool)) => {
                format!("Use the tool {} of {}.", code(&line(tool, 80)), code(&line(server, 80)))
            }
            None => format!("Use {}.", code(&line(kind, 80))),
        },
    }
}

/// What a person was asked for, in words.
pub(crate) fn consent_words(action: &StepAction) -> String {
    let asked = ["capability", "question", "message"].map(|field| line(action.text(field), 160));
    let plain = || line(&action.kind.replace('_', " "), 80);
    asked.into_iter().find(|asked| !asked.is_empty()).unwrap_or_else(plain)
}

fn path_sentence(verb: &str, path: Option<String>) -> String {
    match path {
        Some(path) => format!("{verb} {path}."),
        None => format!("{verb} a file."),
    }
}

/// What is tapped, by the words on it.
fn element(step: &RunStep) -> String {
    let target = &step.target;
    let words = [&target.text, &target.content_desc];
    let words = words.into_iter().flatten().find(|text| !text.trim().is_empty());
    let resource = target.resource_id.as_deref().filter(|id| !id.is_empty());
    match (words, resource, step.action.text("elementId")) {
        (Some(words), ..) => json!(line(words, 80)).to_string(),
        (None, Some(resource), _) => format!("the element {}", code(&line(resource, 120))),
        (None, None, "") => "the screen".to_owned(),
        (None, None, id) => format!("the element {}", code(&line(id, 80))),
    }
}

fn point(action: &StepAction, x: &str, y: &str) -> String {
    let number = |field: &str| replay::number(action, field).unwrap_or_else(|| "?".to_owned());
    format!("({}, {})", number(x), number(y))
}

/// The application that a gesture is done in.
fn place(step: &RunStep) -> String {
    match line(&step.app, 80) {
        app if app.is_empty() => String::new(),
        app => format!(" in {}", code(&app)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_read_as_sentences() {
        let told = |action: StepAction, app: &str| {
            sentence(&RunStep { action, app: app.to_owned(), ..RunStep::default() })
        };
        let new = StepAction::new;
        assert_eq!(told(new("exec").with("command", "ls scans"), "ls"), "Run `ls scans`.");
        assert_eq!(told(new("exec").with("command", "echo `id`"), "echo"), "Run `` echo `id` ``.");
        assert_eq!(
            told(new("launch_app").with("packageName", "com.x"), ""),
            "Open the app `com.x`."
        );
        assert_eq!(told(new("type").with("text", "{{name}}"), ""), "Type `{{name}}`.");
        assert_eq!(
            told(new("request_human_auth").with("capability", "share photos"), ""),
            "**Ask a person for consent** (share photos), and go on only after a yes."
        );
        assert_eq!(
            told(new("mcp.forge.create_release"), "forge"),
            "Use the tool `create_release` of `forge`."
        );
    }
}
