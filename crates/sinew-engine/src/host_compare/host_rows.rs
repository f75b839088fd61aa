//! What agents print about their skills, as rows.

use std::path::PathBuf;

use serde_json::Value;

/// One skill in an agent's own list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HostSkillRow {
    pub(super) name: String,
    /// Its file, where the agent says so.
    pub(super) file: Option<PathBuf>,
    pub(super) ready: bool,
    /// Whether it is built into the agent and has no file.
    pub(super) built_in: bool,
}

/// An agent's list.
#[derive(Debug, Default)]
pub(super) struct HostAnswer {
    pub(super) rows: Vec<HostSkillRow>,
    /// Files that the agent refused, with its reason.
    pub(super) refused: Vec<(PathBuf, String)>,
}

/// The shape of an agent's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListingFormat {
    /// One JSON object with `skills`.
    OpenClaw,
    /// Lines of JSON; the one that begins a session names the skills.
    Claude,
    /// Lines of JSON-RPC.
    Codex,
    /// A JSON list of folders.
    Copilot,
    /// Text for people.
    Gemini,
    /// A JSON list.
    Opencode,
}

impl ListingFormat {
    /// Whether nothing that follows a line is needed.
    pub(super) fn is_last_line(self, line: &str) -> bool {
        let value = || serde_json::from_str::<Value>(line).unwrap_or_default();
        match self {
            Self::Claude => value()["subtype"] == "init",
            Self::Codex => value()["id"] == 1,
            Self::OpenClaw | Self::Copilot | Self::Gemini | Self::Opencode => false,
        }
    }

    /// Reads an answer; `None` if it is not one.
    pub(super) fn read(self, text: &str) -> Option<HostAnswer> {
        match self {
            Self::OpenClaw => read_openclaw(text),
            Self::Claude => read_claude(text),
            Self::Codex => read_codex(text),
            Self::Copilot => read_copilot(text),
            Self::Gemini => read_gemini(text),
            Self::Opencode => read_opencode(text),
        }
    }
}

fn text_of(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).map(str::to_owned)
}

/// JSON that other lines may precede.
fn embedded_json(text: &str, open: char) -> Option<Value> {
    let at = text.find(open)?;
    let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
    values.next()?.ok()
}

fn read_openclaw(text: &str) -> Option<HostAnswer> {
    let value = embedded_json(text, '{')?;
    let rows = value.get("skills")?.as_array()?.iter().filter_map(|skill| {
        Some(HostSkillRow {
            name: text_of(skill, "name")?,
            file: text_of(skill, "filePath").map(PathBuf::from),
            ready: skill.get("eligible").and_then(Value::as_bool).unwrap_or(false),
            built_in: false,
        })
    });
    Some(HostAnswer { rows: rows.collect(), refused: Vec::new() })
}

fn read_claude(text: &str) -> Option<HostAnswer> {
    let mut lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let init = lines.find(|line| line["subtype"] == "init")?;
    let names = init.get("skills")?.as_array()?.iter().filter_map(Value::as_str);
    let rows = names.map(|name| HostSkillRow {
        name: name.to_owned(),
        file: None,
        ready: true,
        built_in: false,
    });
    Some(HostAnswer { rows: rows.collect(), refused: Vec::new() })
}

fn read_codex(text: &str) -> Option<HostAnswer> {
    let mut lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let answer = lines.find(|line| line["id"] == 1)?;
    let mut found = HostAnswer::default();
    for folder in answer.get("result")?.get("data")?.as_array()? {
        for skill in folder.get("skills").and_then(Value::as_array).into_iter().flatten() {
            let Some(name) = text_of(skill, "name") else { continue };
            found.rows.push(HostSkillRow {
                name,
                file: text_of(skill, "path").map(PathBuf::from),
                ready: skill.get("enabled").and_then(Value::as_bool).unwrap_or(true),
                built_in: false,
            });
        }
        for error in folder.get("errors").and_then(Value::as_array).into_iter().flatten() {
            if let (Some(path), Some(message)) = (text_of(error, "path"), text_of(error, "message"))
            {
                found.refused.push((PathBuf::from(path), message));
            }
        }
    }
    Some(found)
}

fn read_copilot(text: &str) -> Option<HostAnswer> {
    let value = embedded_json(text, '[')?;
    let rows = value.as_array()?.iter().filter_map(|skill| {
        let folder = text_of(skill, "path").map(PathBuf::from);
        Some(HostSkillRow {
            name: text_of(skill, "name")?,
            file: folder.map(|folder| folder.join("SKILL.md")),
            ready: skill.get("enabled").and_then(Value::as_bool).unwrap_or(true),
            built_in: skill["source"] == "builtin",
        })
    });
    Some(HostAnswer { rows: rows.collect(), refused: Vec::new() })
}

/// `name [Enabled] [Built-in]`, then indented lines of which one is the location.
fn read_gemini(text: &str) -> Option<HostAnswer> {
    let mut found = HostAnswer::default();
    let mut known =
        text.contains("Discovered Agent Skills") || text.contains("No skills discovered");
    for line in text.lines() {
        if let Some(place) = line.trim_start().strip_prefix("Location:") {
            if let Some(row) = found.rows.last_mut() {
                row.file = Some(PathBuf::from(place.trim()));
            }
        } else if !line.starts_with(' ')
            && let Some((name, state)) = line.split_once(" [")
            && let Some(word) =
                state.split(']').next().filter(|w| ["Enabled", "Disabled"].contains(w))
        {
            known = true;
            found.rows.push(HostSkillRow {
                name: name.to_owned(),
                file: None,
                ready: word == "Enabled",
                built_in: false,
            });
        }
    }
    known.then_some(found)
}

fn read_opencode(text: &str) -> Option<HostAnswer> {
    let value = embedded_json(text, '[')?;
    let rows = value.as_array()?.iter().filter_map(|skill| {
        let file = text_of(skill, "location").unwrap_or_default();
        Some(HostSkillRow {
            name: text_of(skill, "name")?,
            built_in: file.starts_with('<'),
            file: (!file.starts_with('<')).then(|| PathBuf::from(file)),
            ready: true,
        })
    });
    Some(HostAnswer { rows: rows.collect(), refused: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::{HostSkillRow, ListingFormat};

    fn names(format: ListingFormat, text: &str) -> Vec<(String, bool)> {
        let rows = format.read(text).expect("an answer").rows;
        rows.into_iter().map(|HostSkillRow { name, ready, .. }| (name, ready)).collect()
    }

    #[test]
    fn each_agents_answer_is_read() {
        let (a, b) = (("a".to_owned(), true), ("b".to_owned(), false));
        let openclaw = "a warning\n{\"skills\":[{\"name\":\"a\",\"eligible\":true},{\"name\":\"b\",\"eligible\":false}]}";
        assert_eq!(names(ListingFormat::OpenClaw, openclaw), [a.clone(), b.clone()]);
        let codex = "{\"method\":\"x\"}\n{\"id\":1,\"result\":{\"data\":[{\"skills\":[{\"name\":\"a\",\"enabled\":true,\"path\":\"/a\"},{\"name\":\"b\",\"enabled\":false}],\"errors\":[{\"path\":\"/c\",\"message\":\"no\"}]}]}}";
        assert_eq!(names(ListingFormat::Codex, codex), [a.clone(), b.clone()]);
        let gemini = "Discovered Agent Skills:\n\na [Enabled] [Built-in]\n  Description: d [Disabled]\n  Location:    /a/SKILL.md\n\nb [Disabled]\n";
        assert_eq!(names(ListingFormat::Gemini, gemini), [a.clone(), b]);
        let claude = "{\"type\":\"system\",\"subtype\":\"init\",\"skills\":[\"a\"]}\n";
        assert_eq!(names(ListingFormat::Claude, claude), std::slice::from_ref(&a));
        let copilot =
            "[{\"name\":\"a\",\"path\":\"/a\",\"enabled\":true,\"source\":\"personal-copilot\"}]";
        assert_eq!(names(ListingFormat::Copilot, copilot), std::slice::from_ref(&a));
        let opencode = "[{\"name\":\"a\",\"location\":\"<built-in>\"}]";
        assert_eq!(names(ListingFormat::Opencode, opencode), [a]);
    }

    #[test]
    fn what_is_no_answer_is_not_read_as_an_empty_one() {
        for format in [
            ListingFormat::OpenClaw,
            ListingFormat::Claude,
            ListingFormat::Codex,
            ListingFormat::Copilot,
            ListingFormat::Gemini,
            ListingFormat::Opencode,
        ] {
            assert!(format.read("Error: not logged in\n").is_none(), "{format:?}");
        }
    }
}
