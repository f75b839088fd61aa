//! Small languages inside commands: what a statement, a sed script or an awk program does.

use super::{Effect, EffectSet};

/// Words that make a statement change something, wherever they stand in it.
const CHANGING: &[(&str, Effect)] = &[
    ("insert", Effect::Write),
    ("update", Effect::Write),
    ("alter", Effect::Write),
    ("create", Effect::Write),
    ("grant", Effect::Write),
    ("revoke", Effect::Write),
    ("merge", Effect::Write),
    ("upsert", Effect::Write),
    ("call", Effect::Shell),
    ("copy", Effect::Write),
    ("vacuum", Effect::Write),
    ("reindex", Effect::Write),
    ("attach", Effect::Write),
    ("into", Effect::Write),
    ("lock", Effect::Write),
    ("pg_terminate_backend", Effect::Delete),
    ("pg_cancel_backend", Effect::Delete),
    ("nextval", Effect::Write),
    ("setval", Effect::Write),
    ("dblink_exec", Effect::Shell),
    ("load_extension", Effect::Shell),
    ("delete", Effect::Delete),
    ("drop", Effect::Delete),
    ("truncate", Effect::Delete),
    ("kill", Effect::Delete),
];

/// First words of a statement that looks.
const LOOKING: &[&str] = &[
    "select",
    "show",
    "describe",
    "desc",
    "explain",
    "with",
    "values",
    "table",
    "pragma",
    "use",
    "set",
    "begin",
    "commit",
    "rollback",
    "list",
    "summarize",
    "exists",
    "analyze",
];

/// What statements of SQL do, with the dot and backslash commands of their shells.
pub(super) fn sql(text: &str) -> EffectSet {
    let mut set = EffectSet::NONE;
    let text = without_quotes(text).to_lowercase();
    for statement in text.split([';', '\n']).map(str::trim).filter(|part| !part.is_empty()) {
        if let Some(dot) = statement.strip_prefix('.') {
            let looks = [
                "tables",
                "schema",
                "headers",
                "header",
                "mode",
                "databases",
                "indexes",
                "indices",
                "width",
                "help",
                "quit",
                "exit",
                "timeout",
                "fullschema",
                "nullvalue",
            ];
            if !looks.iter().any(|known| dot.split_whitespace().next() == Some(known)) {
                set.add(Effect::Shell);
            }
            continue;
        }
        if let Some(slash) = statement.strip_prefix('\\') {
            let looks = slash.starts_with(['d', 'l', 'x', 't', 'q', 'a', 'p', 'z', '?'])
                && !slash.starts_with("copy");
            if !looks {
                set.add(Effect::Shell);
            }
            continue;
        }
        let words: Vec<&str> =
            statement.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        for (word, effect) in CHANGING {
            if words.contains(word) {
                set.add(*effect);
            }
        }
        if words.windows(2).any(|pair| pair == ["replace", "into"]) {
            set.add(Effect::Write);
        }
        let pragma = words.first() == Some(&"pragma") && statement.contains('=');
        let continues = words.first().is_none_or(|word| word.is_empty());
        let starts = words.first().is_some_and(|word| LOOKING.contains(word));
        // A line of a statement may begin with anything; what it begins with matters only where the
        // text has no statement that looks.
        if pragma || !continues && !starts && !text_looks(&text) && set == EffectSet::NONE {
            set.add(Effect::Write);
        }
    }
    set
}

/// Whether the whole text begins with a statement that looks.
fn text_looks(text: &str) -> bool {
    let first = text.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
    first.is_some_and(|word| LOOKING.contains(&word))
}

/// The text with what stands in quotes left out.
fn without_quotes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut open = None;
    for c in text.chars() {
        match (open, c) {
            (Some(quote), c) if c == quote => open = None,
            (Some(_), _) => {}
            (None, '\'') => open = Some(c),
            (None, c) => out.push(c),
        }
    }
    out
}

/// What a script of sed does: `w` writes a file, `e` runs a command.
pub(super) fn sed(script: &str) -> EffectSet {
    let mut set = EffectSet::NONE;
    for piece in script.split(['\n', ';']).map(str::trim) {
        let rest =
            piece.trim_start_matches(|c: char| !c.is_alphabetic() && !matches!(c, '/' | '\\'));
        let rest = match rest.strip_prefix('/') {
            Some(address) => address.rsplit('/').next().unwrap_or_default().trim_start(),
            None => rest,
        };
        let mut letters = rest.chars();
        let command = letters.next();
        match command {
            Some('w' | 'W') => set.add(Effect::Write),
            Some('e') => set.add(Effect::Shell),
            Some('s') => {
                let Some(mark) = letters.next() else { continue };
                let flags = rest.rsplit(mark).next().unwrap_or_default();
                if flags.contains('w') {
                    set.add(Effect::Write);
                }
                if flags.contains('e') {
                    set.add(Effect::Shell);
                }
            }
            _ => {}
        }
    }
    set
}

/// What a program of awk does: it may start programs and write files.
pub(super) fn awk(program: &str) -> EffectSet {
    let mut set = EffectSet::NONE;
    let text = program.replace("||", " ");
    if text.contains("system(") || text.contains('|') || text.contains("@load") {
        set.add(Effect::Shell);
    }
    let mut rest = text.as_str();
    while let Some(at) = rest.find("print") {
        rest = &rest[at + "print".len()..];
        let statement = rest.split([';', '}', '\n']).next().unwrap_or_default();
        // What stands in quotes or brackets is no redirection.
        let (mut quoted, mut depth) = (false, 0_i32);
        for c in statement.chars() {
            match c {
                '"' => quoted = !quoted,
                '(' if !quoted => depth += 1,
                ')' if !quoted => depth -= 1,
                '>' if !quoted && depth <= 0 => set.add(Effect::Write),
                _ => {}
            }
        }
    }
    set
}

/// What the method of a request does.
pub(super) fn method(name: &str) -> EffectSet {
    match name.to_ascii_uppercase().as_str() {
        "GET" | "HEAD" | "OPTIONS" => EffectSet::NONE,
        "DELETE" => EffectSet::of(Effect::Delete),
        _ => EffectSet::of(Effect::Write),
    }
}

/// Whether a word is the method of a request.
pub(super) fn is_method(word: &str) -> bool {
    matches!(word, "GET" | "HEAD" | "OPTIONS" | "POST" | "PUT" | "PATCH" | "DELETE")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_scripts_and_programs_say_what_they_do() {
        for (text, expected) in [
            ("SELECT * FROM a WHERE b = 'delete'", "read-only"),
            ("select 1; DROP TABLE a", "delete"),
            ("SELECT *\nFROM a\nLIMIT 3", "read-only"),
            ("with x as (select 1) insert into a select * from x", "write"),
            ("explain analyze delete from a", "delete"),
            (".tables", "read-only"),
            (".import a b", "shell"),
            ("\\dt", "read-only"),
            ("\\copy a to 'x'", "shell"),
            ("PRAGMA journal_mode = WAL", "write"),
            ("UPDATE a SET b = 1", "write"),
        ] {
            assert_eq!(sql(text).to_string(), expected, "{text}");
        }
        for (text, expected) in [
            ("s/a/b/g", "read-only"),
            ("1,5p", "read-only"),
            ("/start/,/end/p", "read-only"),
            ("s/a/b/w out", "write"),
            ("1e rm x", "shell"),
            ("w out", "write"),
        ] {
            assert_eq!(sed(text).to_string(), expected, "{text}");
        }
        for (text, expected) in [
            ("{print $1}", "read-only"),
            ("$1 > 5 {print $2}", "read-only"),
            ("{print $1 > \"out\"}", "write"),
            ("{print \"a > b\"}", "read-only"),
            ("{system(\"rm \" $1)}", "shell"),
            ("$1 == 2 || $3 == 4", "read-only"),
        ] {
            assert_eq!(awk(text).to_string(), expected, "{text}");
        }
    }
}
