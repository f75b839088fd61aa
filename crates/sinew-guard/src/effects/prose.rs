//! What a sentence asks for, by the words that say what is done.
//!
//! A verb counts where a sentence puts one: at its beginning, behind `to`, `then`, `you should`. Verbs
//! that make something count where what they make stays: a file, a ticket, a message, what stands in
//! backticks. What cannot be undone counts wherever it is named; what a sentence forbids does not.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::{Effect, EffectSet};

/// The words of `data/effect_words.txt`.
#[derive(Default)]
struct ProseWords {
    /// Verbs of what cannot be undone: they count wherever they stand.
    deleting: HashSet<&'static str>,
    /// Verbs that change something outside of the answer, whatever their object.
    changing: HashSet<&'static str>,
    /// Verbs that change what stays, and need it as their object: `set the price` does, `set goals` does not.
    changing_a_thing: HashSet<&'static str>,
    /// Verbs that make something: a text in the answer, unless what they make is kept.
    making: HashSet<&'static str>,
    /// What is kept when it is made.
    kept: HashSet<&'static str>,
    /// Verbs whose object decides between taking away a thing and a word.
    removing: HashSet<&'static str>,
    /// What stays when it is made or changed.
    lasting: HashSet<&'static str>,
    /// Words behind which a verb stands.
    before_verb: HashSet<&'static str>,
    /// Who or what acts, before a verb in the third person.
    actors: HashSet<&'static str>,
    /// Verbs that run something.
    running: HashSet<&'static str>,
    /// Verbs that are no names of things with an `s` behind them.
    only_verbs: HashSet<&'static str>,
}

static WORDS: LazyLock<ProseWords> = LazyLock::new(|| {
    let text = include_str!("../../data/effect_words.txt");
    let mut words = ProseWords::default();
    for (name, list) in text.lines().filter_map(|line| line.split_once(": ")) {
        let room = match name {
            "deleting" => &mut words.deleting,
            "changing" => &mut words.changing,
            "changing_a_thing" => &mut words.changing_a_thing,
            "making" => &mut words.making,
            "kept" => &mut words.kept,
            "removing" => &mut words.removing,
            "lasting" => &mut words.lasting,
            "before_verb" => &mut words.before_verb,
            "actors" => &mut words.actors,
            "running" => &mut words.running,
            "only_verbs" => &mut words.only_verbs,
            _ => continue,
        };
        room.extend(list.split(' '));
    }
    words
});

/// Words that forbid what follows them in their clause.
const FORBIDS: &[&str] = &["never", "don't", "cannot", "can't", "won't", "doesn't"];
/// Words that make `not` one of them: `if not there` forbids nothing.
const BEFORE_NOT: &[&str] = &["do", "does", "must", "should", "may", "will", "can", "shall"];
/// What turns that round: "do not forget to".
const NOT_FORBIDDEN: &[&str] =
    &["forget", "hesitate", "fail", "skip", "neglect", "only", "just", "until", "unless", "before"];

/// How far behind a verb its object is looked for, in words.
const OBJECT_WITHIN: usize = 6;

/// What a sentence does by its words. The text is without its code spans: a command among them stands
/// as `\u{0}`, and what runs it does what it does; the name of a thing stands as `the thing`.
pub fn prose_effects(text: &str) -> EffectSet {
    let mut set = EffectSet::NONE;
    let lower = text.to_lowercase();
    // A full stop inside a name ends nothing.
    let lower = lower.replace(". ", ".\n").replace('.', " ");
    let ends = [';', '!', '?', '\n', '—', '–', ':', '|', '(', ')', '→', '"', '“', '”'];
    let mut rest: Vec<&str> = lower.split(ends).collect();
    // `Run:` and what follows it are one: what is run stands behind the colon.
    let mut at = 0;
    while at + 1 < rest.len() {
        if rest[at + 1].trim_start().starts_with('\u{0}') {
            let start = rest[at].as_ptr() as usize - lower.as_ptr() as usize;
            let end = rest[at + 1].as_ptr() as usize - lower.as_ptr() as usize + rest[at + 1].len();
            rest[at] = &lower[start..end];
            rest.remove(at + 1);
        } else {
            at += 1;
        }
    }
    for clause in rest {
        clause_effects(clause, &mut set);
    }
    set
}

fn clause_effects(clause: &str, set: &mut EffectSet) {
    let separates = |c: char| !c.is_alphanumeric() && !matches!(c, '-' | '\'' | '\u{0}' | ',');
    let words: Vec<&str> = clause
        .split(separates)
        .flat_map(|word| word.split_inclusive(','))
        .filter(|word| !word.trim_matches(['-', ',']).is_empty())
        .collect();
    let bare = |word: &str| -> String { word.trim_matches([',', '-', '\'']).to_owned() };
    let plain: Vec<String> = words.iter().map(|word| bare(word)).collect();
    let mut forbidden = false;
    for at in 0..plain.len() {
        let word = plain[at].as_str();
        let previous = at.checked_sub(1).map(|at| plain[at].as_str());
        let after = &plain[at + 1..];
        let is_not = word == "not" && previous.is_some_and(|word| BEFORE_NOT.contains(&word));
        if is_not || FORBIDS.contains(&word) {
            forbidden = !after.first().is_some_and(|next| NOT_FORBIDDEN.contains(&next.as_str()));
        } else if forbidden && matches!(word, "but" | "instead" | "then" | "and") {
            forbidden = false;
        }
        let behind_comma = at > 0 && words[at - 1].ends_with(',');
        let begins = previous.is_none() || behind_comma;
        if !forbidden {
            act(word, previous, begins, after, set);
        }
        secret(word, previous, set);
        forbidden &= !words[at].ends_with(',');
    }
}

/// Adds what a word does as a verb.
fn act(word: &str, previous: Option<&str>, begins: bool, after: &[String], set: &mut EffectSet) {
    if WORDS.deleting.contains(word) {
        return set.add(Effect::Delete);
    }
    // A word that stands alone is a label.
    if begins && after.is_empty() {
        return;
    }
    // Infinitives and orders; `it creates` behind who does it; `by creating`.
    let base = begins || previous.is_some_and(|word| WORDS.before_verb.contains(word));
    let acts = previous.is_some_and(|word| word == "\u{0}" || WORDS.actors.contains(word));
    let by = previous.is_some_and(|word| matches!(word, "by" | "start" | "begin" | "keep"));
    let third = |stem: &&str| acts || begins && WORDS.only_verbs.contains(stem);
    let gerund = word.strip_suffix("ing").filter(|_| by);
    let forms = [
        base.then(|| word.to_owned()),
        word.strip_suffix("es").filter(third).map(str::to_owned),
        word.strip_suffix('s').filter(third).map(str::to_owned),
        gerund.map(str::to_owned),
        gerund.map(|stem| format!("{stem}e")),
    ];
    let near = after.iter().take(OBJECT_WITHIN);
    let near: Vec<&str> = near
        .map(String::as_str)
        .take_while(|word| !matches!(*word, "when" | "if" | "so" | "because" | "that"))
        .collect();
    let has = |nouns: &HashSet<&'static str>| {
        near.iter().any(|word| word.contains('\u{0}') || nouns.contains(word))
    };
    for verb in forms.iter().flatten().map(String::as_str) {
        if WORDS.removing.contains(verb) {
            if has(&WORDS.lasting) {
                set.add(Effect::Delete);
            }
        } else if WORDS.running.contains(verb) {
            if !runs_span(after) {
                set.add(Effect::Shell);
            }
        } else if WORDS.changing.contains(verb)
            || WORDS.changing_a_thing.contains(verb) && has(&WORDS.lasting)
            || WORDS.making.contains(verb) && has(&WORDS.kept)
        {
            set.add(Effect::Write);
        }
    }
    // `it is stored at …`
    let kept = matches!(word, "stored" | "saved" | "written" | "appended" | "persisted" | "logged");
    if kept
        && has(&WORDS.kept)
        && previous.is_some_and(|word| matches!(word, "is" | "are" | "be" | "gets"))
    {
        set.add(Effect::Write);
    }
    let uses = base && matches!(word, "use" | "using");
    let program = |word: &&String| {
        matches!(word.as_str(), "script" | "scripts" | "program" | "binary" | "cli")
    };
    if uses && after.iter().take(4).any(|word| program(&word)) && !runs_span(after) {
        set.add(Effect::Shell);
    }
}

/// Adds that a secret is used. `token` and `key` alone mean many things.
fn secret(word: &str, previous: Option<&str>, set: &mut EffectSet) {
    const CERTAIN: &[&str] = &[
        "credential",
        "credentials",
        "password",
        "passwords",
        "passphrase",
        "apikey",
        "oauth",
        "login",
    ];
    const KINDS: &[&str] = &[
        "api",
        "access",
        "auth",
        "private",
        "secret",
        "ssh",
        "bearer",
        "session",
        "refresh",
        "the",
        "your",
        "a",
        "bot",
        "user",
        "personal",
        "github",
        "service",
        "admin",
        "signing",
        "encryption",
        "with",
        "license",
    ];
    let key = matches!(word, "key" | "keys" | "token" | "tokens" | "secret" | "secrets");
    let articles = ["the", "a", "user", "with"];
    let kind = previous.is_some_and(|previous| {
        KINDS.contains(&previous) && !(word.starts_with("key") && articles.contains(&previous))
    });
    if CERTAIN.contains(&word) || key && kind {
        set.add(Effect::Credentials);
    }
}

/// Whether what is run is the code span that follows, or what follows the text.
fn runs_span(rest: &[String]) -> bool {
    const FILLERS: &[&str] = &[
        "the",
        "this",
        "these",
        "following",
        "command",
        "commands",
        "like",
        "with",
        "e-g",
        "such",
        "as",
        "using",
        "one",
        "of",
        "each",
        "below",
        "in",
        "via",
        "shell",
        "terminal",
        "bash",
        "a",
        "then",
        "it",
        "first",
        "now",
        "and",
        "again",
        "line",
        "script",
        "snippet",
        "query",
        "queries",
    ];
    for word in rest {
        if word.contains('\u{0}') {
            return true;
        }
        if !FILLERS.contains(&word.as_str()) {
            return false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_count_and_nouns_do_not() {
        for (text, expected) in [
            ("List the tasks", "read-only"),
            ("Send the list", "write"),
            ("Close the ticket", "write"),
            ("Use your API token", "credentials"),
            ("Run the importer", "shell"),
            ("Delete what is done", "delete"),
            ("Update the ticket with the API token: \u{0}", "write+credentials"),
            ("Show the last commit and the changes of each file", "read-only"),
            ("Read the post and count a set of words", "read-only"),
            ("Commit and push", "write"),
            ("Never delete a file", "read-only"),
            ("Do not forget to delete the file", "delete"),
            ("Do not write a file, only read", "read-only"),
            ("Do not ask, delete it", "delete"),
            ("Run the following command: \u{0}", "read-only"),
            ("Run the importer, then \u{0}", "shell"),
            ("It sets the price", "write"),
            ("Set goals and write a summary", "read-only"),
            ("Then post the message", "write"),
            ("Write a short summary", "read-only"),
            ("Write the summary to a file", "write"),
            ("Generate a report", "write"),
            ("Fix it by removing the file", "write+delete"),
            ("Use the helper script", "shell"),
            ("It can write to NOTES.md files", "write"),
            ("**Update:** what is new", "read-only"),
        ] {
            assert_eq!(prose_effects(text).to_string(), expected, "{text}");
        }
    }
}
