//! Commands as words: which program a command runs, as the fingerprint names it.

use serde_json::Value;

use crate::quote;
use crate::run::StepAction;

/// Words that may come before the program's name.
const WRAPPERS: &[&str] = &["sudo", "env", "nohup", "time", "command", "exec"];

/// Words of the shell that start a part without being a program.
const KEYWORDS: &[&str] = &["for", "do", "done", "if", "then", "fi", "cd"];

/// The text of a command: as it is, or out of `[bash, -lc, text]`; other lists are quoted and joined.
pub(crate) fn command_text(command: &Value) -> Option<String> {
    match command {
        Value::String(text) => Some(text.clone()),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().map(Value::as_str).collect::<Option<_>>()?;
            match words.as_slice() {
                [shell, "-lc" | "-c", text] if matches!(base(shell), "bash" | "sh" | "zsh") => {
                    Some((*text).to_owned())
                }
                words => Some(words.iter().map(|w| quote::word(w)).collect::<Vec<_>>().join(" ")),
            }
        }
        _ => None,
    }
}

/// The application of a step whose transcript names none.
pub(crate) fn app(action: &StepAction) -> String {
    match action.kind.as_str() {
        "exec" => program(action.text("command")),
        "read" | "write" | "edit" | "apply_patch" | "search" => "fs".to_owned(),
        "fetch" | "web_search" => "web".to_owned(),
        "delegate" | "use_skill" | "todo_write" => "agent".to_owned(),
        kind if kind.starts_with("request_user_") => "agent".to_owned(),
        kind => match kind.strip_prefix("mcp.").and_then(|rest| rest.split('.').next()) {
            Some(server) => server.to_owned(),
            None => String::new(),
        },
    }
}

/// The program that a command runs.
pub(crate) fn program(command: &str) -> String {
    for part in parts(command) {
        let words = words(part);
        let first = words.iter().find(|word| {
            !(is_assignment(word) || WRAPPERS.contains(&word.as_str()) || word.starts_with('-'))
        });
        match first {
            Some(word) if !KEYWORDS.contains(&word.as_str()) => return base(word).to_owned(),
            _ => {}
        }
    }
    "sh".to_owned()
}

/// The parts of a command between `&&`, `||`, `;`, `|` and line ends.
fn parts(command: &str) -> impl Iterator<Item = &str> {
    // An empty part between the two bars of `||` has no words and is passed over.
    command.split("&&").flat_map(|part| part.split([';', '|', '\n']))
}

/// The words of a command by the shell's quoting rules; by white space where they do not hold.
pub(crate) fn words(command: &str) -> Vec<String> {
    split(command).unwrap_or_else(|| command.split_whitespace().map(str::to_owned).collect())
}

fn split(command: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = command.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' | '\r' | '\n' => words.extend(word.take()),
            '\\' => word.get_or_insert_default().push(chars.next()?),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '\'' => break,
                        c => word.push(c),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '"' => break,
                        '\\' => match chars.next()? {
                            c @ ('"' | '\\') => word.push(c),
                            c => word.extend(['\\', c]),
                        },
                        c => word.push(c),
                    }
                }
            }
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Some(words)
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// The last part of a path.
pub(crate) fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn programs_are_found_behind_what_stands_before_them() {
        let check = |command: &str, name: &str| assert_eq!(program(command), name, "{command}");
        check("git status --short && git log", "git");
        check("A=1 B='x y' aws s3 sync", "aws");
        check("command -v cwebp || echo missing", "cwebp");
        check("sudo -n apt-get install -y webp", "apt-get");
        check("for f in *.png; do cwebp \"$f\"; done", "sh");
        check("cd /x && /usr/bin/make all", "make");
        check("echo 'open", "echo");
        check("", "sh");
        check("\n\n| |", "sh");
    }

    #[test]
    fn lists_are_unwrapped_or_quoted() {
        let check = |command: Value, text: &str| {
            assert_eq!(command_text(&command).as_deref(), Some(text));
        };
        check(json!(["bash", "-lc", "ls | wc -l"]), "ls | wc -l");
        check(json!(["/bin/sh", "-c", "a"]), "a");
        check(json!(["git", "commit", "-m", "it's"]), r"git commit -m 'it'\''s'");
        assert_eq!(command_text(&json!({"a": 1})), None);
    }
}
