//! Secrets in commands, by position: what stands where the table says that a secret stands.
//!
//! A command may be a line of its own, the half of a sentence, a string of a program, or a list of
//! arguments in JSON. So each name of a program in the table is where a command may begin, and what
//! follows it is split as shell text.
//!
//! **Invariant:** at most [`MAX_COMMAND`] bytes are read behind each name, so the time is linear.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use super::command_options::{OPTION_NOUNS, OPTIONS, PRINTERS, SecretOption, SecretPosition};
use super::value_checks::is_placeholder;
use crate::shell::{RedirectionKind, ShellCommand, ShellScript, ShellWord, base_name};

/// Bytes of a command that are read; secrets stand near the program's name.
const MAX_COMMAND: usize = 2_048;
/// Bytes before a name in which an open quotation mark is looked for.
const MAX_BEFORE: usize = 512;

/// The names of the table and of the printers.
static NAMES: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let known = OPTIONS.iter().flat_map(|row| row.programs.split(' '));
    let mut names: Vec<&str> = known.chain(PRINTERS.iter().copied()).collect();
    names.sort_unstable();
    names.dedup();
    AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(names).ok()
});

pub(super) fn is_ready() -> bool {
    NAMES.is_some()
}

/// The secrets of all commands in a text, in no order.
pub(super) fn find(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let Some(names) = NAMES.as_ref() else { return found };
    for name in names.find_iter(text) {
        let (start, end) = (name.start(), name.end());
        if begins_command(text, start) && ends_name(&text[end..]) {
            let command = command_text(text, start, end);
            found.extend(secrets_of(&text[start..end], &command, text, start));
        }
    }
    found
}

/// Whether a program's name may start here.
fn begins_command(text: &str, at: usize) -> bool {
    text[..at].chars().next_back().is_none_or(|c| {
        !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '@' | ':' | ',' | '$' | '#'))
            || !c.is_ascii()
    })
}

/// Whether the name ends here: a blank, or the next string of a list of arguments.
fn ends_name(rest: &str) -> bool {
    rest.starts_with([' ', '\t', '\\'])
        || (rest.starts_with(['"', '\'']) && rest[1..].trim_start().starts_with(','))
}

/// The text of the command that starts here: the rest of its line, of its string, or of its
/// here-document. Of a list of arguments, the marks between them are blanked.
fn command_text(text: &str, start: usize, name_end: usize) -> Cow<'_, str> {
    let mut limit = (start + MAX_COMMAND).min(text.len());
    while !text.is_char_boundary(limit) {
        limit -= 1;
    }
    let rest = &text[start..limit];
    if text[name_end..].starts_with(['"', '\'']) {
        let close = rest.find([']', '\n']).unwrap_or(rest.len());
        return Cow::Owned(blanked_list(&rest[..close]));
    }
    let line = logical_line(rest);
    let line = if rest[..line].contains("<<") { rest.len() } else { line };
    let rest = &rest[..line];
    match open_quote(text, start) {
        Some(quote) => Cow::Borrowed(&rest[..closing(rest, quote)]),
        None => Cow::Borrowed(rest),
    }
}

/// Where the line ends, over lines that are continued.
fn logical_line(text: &str) -> usize {
    let mut ends = text.match_indices('\n').map(|(at, _)| at);
    let is_open = |at: &usize| !text[..*at].trim_end_matches('\r').ends_with('\\');
    ends.find(is_open).unwrap_or(text.len())
}

/// The marks between arguments in a list of strings, as blanks: positions stay the same.
fn blanked_list(list: &str) -> String {
    let bytes = list.as_bytes();
    let near = |at: usize, step: isize| {
        let mut at = at as isize + step;
        while bytes.get(at as usize).is_some_and(u8::is_ascii_whitespace) {
            at += step;
        }
        usize::try_from(at).ok().and_then(|at| bytes.get(at)).copied()
    };
    let blank = |(at, c): (usize, char)| {
        let is_mark = match c {
            '"' | '\'' => {
                matches!(near(at, -1), Some(b',')) || matches!(near(at, 1), None | Some(b','))
            }
            ',' => matches!(near(at, -1), Some(b'"' | b'\'')),
            _ => false,
        };
        if is_mark { ' ' } else { c }
    };
    list.char_indices().map(blank).collect()
}

/// A quotation mark, and whether a backslash stands before it.
type QuoteMark = (char, bool);

/// The quotation that is open at a position of its line, looking back a bounded way.
fn open_quote(text: &str, at: usize) -> Option<QuoteMark> {
    let mut from = at.saturating_sub(MAX_BEFORE);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let before = &text[from..at];
    let before = &before[before.rfind('\n').map_or(0, |line| line + 1)..];
    let mut open: Vec<QuoteMark> = Vec::new();
    let mut last = ' ';
    for c in before.chars() {
        if matches!(c, '"' | '\'' | '`') {
            let mark = (c, last == '\\');
            match open.iter().rposition(|other| *other == mark) {
                Some(place) => open.truncate(place),
                // An apostrophe stands behind a letter.
                None if c == '\'' && last.is_alphanumeric() => {}
                None => open.push(mark),
            }
        }
        last = c;
    }
    open.pop()
}

/// Where a quotation is closed, or the end.
fn closing(text: &str, (quote, escaped): QuoteMark) -> usize {
    let closes = |at: &usize| text[..*at].ends_with('\\') == escaped;
    let end = text.match_indices(quote).map(|(at, _)| at).find(closes);
    end.map_or(text.len(), |end| end - usize::from(escaped))
}

/// The secrets of the command `text[start..]`, whose program is `name`.
fn secrets_of(name: &str, command: &str, text: &str, start: usize) -> Vec<Range<usize>> {
    let script = ShellScript::parse(command);
    let Some(first) = script.commands.first() else { return Vec::new() };
    let mut places = Vec::new();
    if PRINTERS.contains(&name) {
        let mut readers = script.commands.iter().filter(|other| {
            other.pipeline == first.pipeline && other.stage > 0 && other.parent == first.parent
        });
        let reader = readers.find_map(input_position);
        if let Some(position) = reader {
            printed(first, position, command, &mut places);
        }
    }
    for row in OPTIONS.iter().filter(|row| row.programs.split(' ').any(|known| known == name)) {
        by_row(row, first, command, &mut places);
    }
    let counts = |place: &Range<usize>| {
        let value = &command[place.clone()];
        let is_noun = OPTION_NOUNS.contains(&value.trim_end_matches(['.', ',', ';', ':', ')']));
        !value.trim().is_empty() && !is_placeholder(value) && !is_noun
    };
    places.retain(counts);
    places
        .into_iter()
        .map(|place| start + place.start..(start + place.end).min(text.len()))
        .collect()
}

/// How a command reads a secret from its input, if it does.
fn input_position(command: &ShellCommand) -> Option<SecretPosition> {
    let named = |row: &&SecretOption| {
        matches!(row.position, SecretPosition::Input | SecretPosition::InputAfterColon)
            && [0, command.wrapped].iter().any(|&at| {
                let name = command.words.get(at).map_or("", |word| base_name(&word.text));
                row.programs.split(' ').any(|known| known == name)
                    && applies(row, &command.words[at + 1..])
            })
    };
    OPTIONS.iter().find(named).map(|row| row.position)
}

/// Whether the verb is there and, for positions that need it, the option among the flags.
fn applies(row: &SecretOption, arguments: &[ShellWord]) -> bool {
    let has = |wanted: &str| arguments.iter().any(|word| word.text == wanted);
    let short = row.option.strip_prefix('-').filter(|rest| rest.len() == 1);
    let in_group = |letter: &str| {
        arguments.iter().any(|word| {
            let group = word.text.strip_prefix('-').unwrap_or_default();
            !group.starts_with('-') && group.len() <= 4 && group.contains(letter)
        })
    };
    let with_option = row.option.is_empty() || has(row.option) || short.is_some_and(in_group);
    let with_verb = row.verb.is_empty() || has(row.verb);
    let needs_option = matches!(
        row.position,
        SecretPosition::Input | SecretPosition::InputAfterColon | SecretPosition::LastOperand
    );
    with_verb && (!needs_option || with_option)
}

/// What a printer gives to the next program of its pipeline.
fn printed(
    printer: &ShellCommand,
    position: SecretPosition,
    command: &str,
    places: &mut Vec<Range<usize>>,
) {
    // A file that is shown is named, and not told.
    let shows_file = printer.words.first().is_some_and(|word| base_name(&word.text) == "cat");
    let arguments = printer.words.iter().skip(1).filter(|_| !shows_file);
    let values = arguments.filter(|word| !word.is_flag() && !word.has_substitution);
    let values = values.filter(|word| !matches!(word.text.as_str(), "%s" | "%s\\n" | "%s\n"));
    for word in values {
        places.push(of_input(command, inner(command, word), position));
    }
    here_text(printer, position, command, places);
}

/// The text that a command is given as its input.
fn here_text(
    reader: &ShellCommand,
    position: SecretPosition,
    command: &str,
    places: &mut Vec<Range<usize>>,
) {
    for given in &reader.redirections {
        let target = &given.target;
        match given.kind {
            RedirectionKind::HereString if !target.has_substitution => {
                places.push(of_input(command, inner(command, target), position));
            }
            RedirectionKind::HereDocument => {
                let mut at = target.span.start;
                for line in command[target.span.clone()].split_inclusive('\n') {
                    let value = line.trim_end_matches(['\n', '\r']);
                    places.push(of_input(command, at..at + value.len(), position));
                    at += line.len();
                }
            }
            _ => {}
        }
    }
}

fn of_input(command: &str, place: Range<usize>, position: SecretPosition) -> Range<usize> {
    match position {
        SecretPosition::InputAfterColon => {
            after(command, &place, ':').unwrap_or(place.end..place.end)
        }
        _ => place,
    }
}

/// Adds what one row finds in a command whose first word is the program.
fn by_row(row: &SecretOption, command: &ShellCommand, text: &str, places: &mut Vec<Range<usize>>) {
    let arguments = command.words.get(1..).unwrap_or(&[]);
    if !applies(row, arguments) {
        return;
    }
    let behind_verb =
        arguments.iter().position(|word| word.text == row.verb).map_or(0, |at| at + 1);
    let operands = || {
        arguments[if row.verb.is_empty() { 0 } else { behind_verb }..]
            .iter()
            .filter(|word| !word.is_flag())
    };
    let mut add = |word: &ShellWord, place: Range<usize>| {
        if !word.has_substitution {
            places.push(place);
        }
    };
    match row.position {
        SecretPosition::Next => {
            next_values(row.option, arguments, text).for_each(|(word, place)| add(word, place));
        }
        SecretPosition::BeforeCommand => {
            let flags = arguments.iter().take_while(|word| word.is_flag()).count();
            let own = &arguments[..arguments.len().min(flags + 1)];
            let next = next_values(row.option, own, text);
            next.chain(glued(row.option, own, text)).for_each(|(word, place)| add(word, place));
        }
        SecretPosition::Glued => glued(row.option, arguments, text).for_each(|(w, p)| add(w, p)),
        SecretPosition::NextOrGlued => {
            next_values(row.option, arguments, text).for_each(|(word, place)| add(word, place));
            glued(row.option, arguments, text).for_each(|(word, place)| add(word, place));
        }
        SecretPosition::After(_) if row.option == "-o" => {
            for (word, place) in next_values(row.option, arguments, text) {
                mount_options(text, &place).for_each(|place| add(word, place));
            }
        }
        SecretPosition::After(mark) if row.option.is_empty() => {
            for word in operands() {
                if let Some(place) = after(text, &inner(text, word), mark) {
                    add(word, before_mark(text, place, '@'));
                }
            }
        }
        SecretPosition::After(mark) => {
            let values =
                next_values(row.option, arguments, text).chain(glued(row.option, arguments, text));
            for (word, place) in values {
                if let Some(place) = after(text, &place, mark) {
                    add(word, place);
                }
            }
        }
        SecretPosition::AnyStart => {
            for word in arguments {
                let place = inner(text, word);
                let behind = text[place.clone()].strip_prefix(row.option).map(str::len);
                if let Some(length) = behind {
                    add(word, place.end - length..place.end);
                }
            }
        }
        SecretPosition::Operand(number) => {
            if let Some(word) = operands().nth(number) {
                add(word, inner(text, word));
            }
        }
        SecretPosition::LastOperand => {
            // One operand alone is a file, or what is looked at.
            if let Some(word) =
                operands().next_back().filter(|_| row.option.is_empty() || operands().count() > 1)
            {
                add(word, inner(text, word));
            }
        }
        SecretPosition::Input | SecretPosition::InputAfterColon => {
            here_text(command, row.position, text, places);
        }
    }
}

/// The words behind an option, and what follows its `=`.
fn next_values<'c>(
    option: &'static str,
    words: &'c [ShellWord],
    text: &'c str,
) -> impl Iterator<Item = (&'c ShellWord, Range<usize>)> {
    words.iter().enumerate().filter_map(move |(at, word)| {
        if word.text == option {
            let value = words.get(at + 1)?;
            // Another option: this one asks.
            let is_option = value.is_flag() && !value.is_quoted;
            return (!is_option).then(|| (value, inner(text, value)));
        }
        let place = inner(text, word);
        let rest = text[place.clone()].strip_prefix(option)?.strip_prefix('=')?;
        Some((word, unquoted(text, place.end - rest.len()..place.end)))
    })
}

/// What stands directly behind an option.
fn glued<'c>(
    option: &'static str,
    words: &'c [ShellWord],
    text: &'c str,
) -> impl Iterator<Item = (&'c ShellWord, Range<usize>)> {
    words.iter().filter_map(move |word| {
        let raw = &text[word.span.clone()];
        let rest = raw
            .strip_prefix(option)
            .or_else(|| raw.trim_start_matches(['"', '\'']).strip_prefix(option))?;
        let rest = rest.strip_prefix('=').unwrap_or(rest);
        let place = trimmed_end(text, word.span.end - rest.len()..word.span.end);
        (!rest.is_empty()).then(|| (word, unquoted(text, place)))
    })
}

/// The password among the options of a mount.
fn mount_options<'t>(
    text: &'t str,
    place: &Range<usize>,
) -> impl Iterator<Item = Range<usize>> + 't {
    let mut at = place.start;
    text[place.clone()].split_inclusive(',').filter_map(move |part| {
        let start = at;
        at += part.len();
        let value = part.trim_end_matches(',');
        let (name, _) = value.split_once('=')?;
        ["pass", "password", "pw"]
            .contains(&name)
            .then(|| start + name.len() + 1..start + value.len())
    })
}

/// What is behind the first such character.
fn after(text: &str, place: &Range<usize>, mark: char) -> Option<Range<usize>> {
    let at = text[place.clone()].find(mark)?;
    Some(unquoted(text, place.start + at + mark.len_utf8()..place.end))
}

fn before_mark(text: &str, place: Range<usize>, mark: char) -> Range<usize> {
    let end = text[place.clone()].rfind(mark).map_or(place.end, |at| place.start + at);
    place.start..end
}

/// A word without its quotes.
fn inner(text: &str, word: &ShellWord) -> Range<usize> {
    unquoted(text, trimmed_end(text, word.span.clone()))
}

/// Takes away a closing mark that belongs to what the command stands in: `-psecret", "next"`.
fn trimmed_end(text: &str, place: Range<usize>) -> Range<usize> {
    let raw = &text[place.clone()];
    if raw.starts_with(['"', '\'', '\\', '$']) {
        return place;
    }
    let closes = |(at, _): &(usize, &str)| {
        let next = raw[at + 1..].chars().next();
        next.is_none_or(|c| matches!(c, ',' | ']' | '}' | ')' | ':' | ' ' | '.'))
            && !raw[..*at].contains(['"', '\''])
    };
    let end = raw.match_indices(['"', '\'']).find(closes);
    let end = end.map_or(raw.len(), |(at, _)| at - usize::from(raw[..at].ends_with('\\')));
    place.start..place.start + end
}

fn unquoted(text: &str, place: Range<usize>) -> Range<usize> {
    let raw = &text[place.clone()];
    for mark in ["\\\"", "\\'", "\"", "'", "$'"] {
        if let Some(rest) = raw.strip_prefix(mark) {
            let close = mark.trim_start_matches('$');
            let start = place.end - rest.len();
            // In a string of JSON, a word with blanks ends behind this one.
            let within = if close.starts_with('\\') { &text[start..] } else { rest };
            // A mark that is not closed belongs to what the command stands in.
            let end = within.find(close).map_or(place.end, |at| start + at);
            return start..end;
        }
    }
    place
}
