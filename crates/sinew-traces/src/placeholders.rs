//! Placeholders in a cleaned command, and the variables that a script puts in their place.

use crate::parameters::{RunParameter, name_of};
use crate::quote::{QuoteState, QuoteTracker};

/// Whether a text holds anything that a script would have to fill in.
pub(crate) fn has_any(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find(['[', '{']) {
        if next(&rest[at..]).is_some() {
            return true;
        }
        rest = &rest[at + 1..];
    }
    false
}

/// A placeholder for a value that was redacted.
#[derive(Debug, PartialEq, Eq)]
enum ScriptPlaceholder<'h> {
    /// `[REDACTED:kind]`.
    Redacted(&'h str),
    /// `{{name}}`.
    Named(&'h str),
}

/// The placeholder that a text starts with, and its length.
fn next(text: &str) -> Option<(ScriptPlaceholder<'_>, usize)> {
    let is_word = |word: &str| {
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        !word.is_empty() && word.len() <= 40 && word.chars().all(fits)
    };
    if let Some(rest) = text.strip_prefix("[REDACTED:") {
        let kind = &rest[..rest.find(']')?];
        return is_word(kind)
            .then_some((ScriptPlaceholder::Redacted(kind), "[REDACTED:]".len() + kind.len()));
    }
    let rest = text.strip_prefix("{{")?;
    let name = &rest[..rest.find("}}")?];
    is_word(name).then_some((ScriptPlaceholder::Named(name), "{{}}".len() + name.len()))
}

/// The variables of a script, as far as its steps use them.
#[derive(Debug)]
pub(crate) struct ScriptVariables<'s> {
    params: &'s [RunParameter],
    used: Vec<String>,
    /// Secrets that are not parameters of the run.
    secrets: Vec<RunParameter>,
}

impl<'s> ScriptVariables<'s> {
    pub(crate) fn new(params: &'s [RunParameter]) -> Self {
        Self { params, used: Vec::new(), secrets: Vec::new() }
    }

    /// The parameters that the script asks for: those of the run, then secrets.
    pub(crate) fn used(&self, params: &[RunParameter]) -> Vec<RunParameter> {
        let own = params.iter().filter(|param| self.used.contains(&param.name)).cloned();
        own.chain(self.secrets.iter().cloned()).collect()
    }

    /// The variable of a text that is one parameter and nothing else.
    pub(crate) fn variable_for(&mut self, text: &str) -> Option<String> {
        match next(text)? {
            (ScriptPlaceholder::Named(name), length) if length == text.len() => self.named(name),
            _ => None,
        }
    }

    fn named(&mut self, name: &str) -> Option<String> {
        match name {
            "user" => return Some("USER".to_owned()),
            "host" => return Some("HOSTNAME".to_owned()),
            _ => {}
        }
        let param = self.params.iter().find(|param| param.name == name)?;
        if !self.used.contains(&param.name) {
            self.used.push(param.name.clone());
        }
        Some(variable(&param.name))
    }

    /// The variable of something redacted: by the name it was assigned to, else by its kind.
    fn redacted(&mut self, kind: &str, before: &str) -> String {
        let assigned = before.strip_suffix('=').map(|before| {
            let start = before
                .rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
                .map_or(0, |at| at + 1);
            &before[start..]
        });
        let named = assigned.filter(|name| !name.is_empty()).map(name_of);
        let is_taken =
            |name: &str| self.params.iter().chain(&self.secrets).any(|param| param.name == name);
        let name = match named {
            Some(name) => name,
            None => (1..)
                .map(|number| format!("{kind}_{number}"))
                .find(|name| !is_taken(name))
                .unwrap_or_default(),
        };
        if !self.secrets.iter().any(|param| param.name == name) {
            self.secrets.push(RunParameter {
                name: name.clone(),
                meaning: String::new(),
                default: None,
                secret: true,
                distinct: 1,
            });
        }
        variable(&name)
    }

    /// A command with variables in place of redacted values; none where that is not possible.
    pub(crate) fn in_command(&mut self, command: &str) -> Option<String> {
        // Inside a here-document quotes mean something else.
        if has_any(command) && command.contains("<<") {
            return None;
        }
        let mut expanded = String::with_capacity(command.len() + 16);
        let mut follow = QuoteTracker::new();
        let mut at = 0;
        while let Some(c) = command[at..].chars().next() {
            let rest = &command[at..];
            let hole = next(rest).and_then(|(hole, length)| {
                let name = match hole {
                    ScriptPlaceholder::Redacted(kind) => Some(self.redacted(kind, &command[..at])),
                    ScriptPlaceholder::Named(name) => self.named(name),
                };
                name.map(|name| (name, length))
            });
            let home = || is_home(&command[..at], rest).then(|| ("HOME".to_owned(), 1));
            match hole.or_else(home) {
                Some((name, length)) => {
                    expanded.push_str(&match follow.state() {
                        QuoteState::Outside => format!("\"${{{name}}}\""),
                        QuoteState::Double => format!("${{{name}}}"),
                        QuoteState::Single => format!("'\"${{{name}}}\"'"),
                    });
                    at += length;
                }
                None => {
                    follow.step(c);
                    expanded.push(c);
                    at += c.len_utf8();
                }
            }
        }
        Some(expanded)
    }
}

fn variable(name: &str) -> String {
    format!("SINEW_P_{}", name.to_uppercase())
}

/// Whether the `~` at the start of `rest` means a home folder.
fn is_home(before: &str, rest: &str) -> bool {
    let starts = before
        .chars()
        .next_back()
        .is_none_or(|c| c.is_whitespace() || matches!(c, '\'' | '"' | '=' | ':' | '('));
    let behind = rest.strip_prefix('~').map(|rest| rest.chars().next());
    starts && matches!(behind, Some(None | Some('/' | ' ' | '"' | '\'' | ':')))
}

/// A folder as a word of the script, with the home as a variable.
pub(crate) fn home_as_variable(folder: &str) -> String {
    match folder.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => {
            format!(
                "\"$HOME\"{}",
                if rest.is_empty() { String::new() } else { crate::quote::single(rest) }
            )
        }
        _ => crate::quote::single(folder),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_are_filled_where_they_stand() {
        let check = |command: &str, expected: &str| {
            assert_eq!(ScriptVariables::new(&[]).in_command(command).as_deref(), Some(expected));
        };
        check("A_TOKEN=[REDACTED:token] git push", "A_TOKEN=\"${SINEW_P_A_TOKEN}\" git push");
        check(
            "curl -H 'Authorization: Bearer [REDACTED:token]' x",
            "curl -H 'Authorization: Bearer '\"${SINEW_P_TOKEN_1}\"'' x",
        );
        check("echo \"[REDACTED:otp]\"", "echo \"${SINEW_P_OTP_1}\"");
        check("ls ~/src '~/x' a~b", "ls \"${HOME}\"/src ''\"${HOME}\"'/x' a~b");
        check("ssh {{user}}@x {{other}}", "ssh \"${USER}\"@x {{other}}");
        assert_eq!(ScriptVariables::new(&[]).in_command("cat <<X\n[REDACTED:pem]\nX"), None);
    }
}
