//! Strings assembled from pieces: concatenation, variables, reversal, shell quoting tricks.
//!
//! This is not an interpreter: assignments of literals are followed in order within one block, and
//! a line that uses them is emitted again with the values filled in. Everything is bounded.

use std::collections::BTreeMap;

use memchr::{memchr, memrchr};

use super::lines::{TextLines, count_ends, next_where};

/// Variables followed per block; scripts that hide a command use a few.
const MAX_VARIABLES: usize = 128;
/// The longest value that is tracked.
const MAX_VALUE: usize = 2048;
/// Text and lines added per file, so that nested values cannot multiply; real scripts add few.
const MAX_ADDED: usize = 1 << 20;
const MAX_ADDED_LINES: usize = 50_000;
/// Lines of one file that are processed; the longest hand-written script has fewer.
const MAX_LINES: usize = 200_000;
/// Lines and bytes of one call that are joined into one line.
const MAX_CALL_LINES: usize = 12;
const MAX_CALL: usize = 2000;
/// Literals of one line that are reversed.
const MAX_REVERSED: usize = 16;
/// Commands of one line whose assignments are followed.
const MAX_COMMANDS: usize = 32;
/// Longer lines are treated as data.
const MAX_LINE: usize = 4096;

/// Lines that read differently once assembled, with their numbers.
#[derive(Debug, Default)]
pub(crate) struct AssembledLines {
    pub(crate) lines: Vec<(usize, String)>,
    added: usize,
    seen: usize,
    /// Whether a bound was reached, so that something may have been missed.
    pub(crate) is_cut: bool,
}

impl AssembledLines {
    fn push(&mut self, number: usize, line: String) {
        if self.added + line.len() > MAX_ADDED || self.lines.len() >= MAX_ADDED_LINES {
            self.is_cut = true;
        } else {
            self.added += line.len();
            self.lines.push((number, line));
        }
    }

    /// Processes one block of folded text that starts at line `first`; in prose, only lines that
    /// contain code.
    pub(crate) fn read(&mut self, text: &str, first: usize, is_code: bool) {
        if !is_code && memchr(b'`', text.as_bytes()).is_none() {
            return;
        }
        self.join_calls(text, first, is_code);
        let mut values: BTreeMap<String, String> = BTreeMap::new();
        let (mut number, mut at) = (first, 0);
        while at < text.len() {
            // Until a variable has a value, only lines with pieces of a string matter.
            if values.is_empty() {
                let Some(piece) = next_where(text.as_bytes(), at, is_piece) else { return };
                number += count_ends(&text.as_bytes()[at..piece]);
                at = memrchr(b'\n', &text.as_bytes()[at..piece]).map_or(at, |end| at + end + 1);
            }
            let end =
                memchr(b'\n', &text.as_bytes()[at..]).map_or(text.len(), |length| at + length);
            let line = &text[at..end];
            if self.seen > MAX_LINES || self.is_cut {
                self.is_cut = true;
                return;
            }
            let is_read = is_code || memchr(b'`', line.as_bytes()).is_some();
            if is_read && line.len() <= MAX_LINE && !line.trim().is_empty() {
                self.seen += 1;
                self.read_line(number, line, &mut values);
            }
            at = end + 1;
            number += 1;
        }
    }

    fn read_line(&mut self, number: usize, line: &str, values: &mut BTreeMap<String, String>) {
        let pieces = line.bytes().any(|b| is_piece(b, 0));
        let cleaned = if pieces { unquote_shell(line) } else { None };
        let whole = cleaned.as_deref().unwrap_or(line);
        let base = if pieces { after_assignments(whole, values) } else { whole };
        if pieces
            && base.contains('=')
            && values.len() < MAX_VARIABLES
            && let Some((name, value)) = assignment(base, values)
            && value.len() <= MAX_VALUE
        {
            let plain = base.trim().contains(value.as_str());
            values.insert(name, value.clone());
            if !plain && value.len() >= 4 {
                self.push(number, value);
            }
            return;
        }
        let joined = if pieces { join_literals(base, values) } else { None };
        let base = joined.as_deref().unwrap_or(base);
        let with_values = if values.is_empty() { None } else { fill(base, values) };
        if let Some(text) = with_values.or(joined).or(cleaned) {
            self.push(number, text);
        }
    }

    /// Calls whose arguments are on separate lines, each joined into one line.
    fn join_calls(&mut self, text: &str, first: usize, is_code: bool) {
        let (mut number, mut counted, mut from) = (first, 0, 0);
        let opens = |b: u8, next: u8| (b == b'(') & (next <= b' ');
        while let Some(open) = next_where(text.as_bytes(), from, opens) {
            from = open + 1;
            number += count_ends(&text.as_bytes()[counted..open]);
            counted = open;
            // Without this limit, a long line would cost quadratic time.
            let low = open.saturating_sub(MAX_CALL);
            let high = text.len().min(open + MAX_CALL);
            let start = memrchr(b'\n', &text.as_bytes()[low..open]).map_or(low, |i| low + i + 1);
            let end = memchr(b'\n', &text.as_bytes()[open..high]).map_or(high, |i| open + i);
            let whole = (start > low || low == 0) && (end < high || high == text.len());
            if !whole || !text.as_bytes()[open + 1..end].trim_ascii().is_empty() {
                continue;
            }
            let line = &text[start..end];
            let is_read = is_code || memchr(b'`', line.as_bytes()).is_some();
            if !is_read || line.len() > MAX_CALL {
                continue;
            }
            if self.is_cut {
                return;
            }
            let rest = text.get(end + 1..).unwrap_or("");
            let is_read = |line: &&str| is_code || memchr(b'`', line.as_bytes()).is_some();
            self.push(number, joined_call(line, TextLines::new(rest).filter(is_read)));
        }
    }
}

/// Bytes that occur in strings and assignments.
fn is_piece(b: u8, _: u8) -> bool {
    (b == b'$') | (b == b'"') | (b == b'\'') | (b == b'\\') | (b == b'=')
}

fn joined_call<'a>(line: &str, rest: impl Iterator<Item = &'a str>) -> String {
    let mut call = line.trim_end().to_owned();
    let mut open = 1i32;
    for next in rest.take(MAX_CALL_LINES) {
        if call.len() + next.len() > MAX_CALL {
            break;
        }
        call.push_str(next.trim());
        call.push(' ');
        open += next.matches('(').count() as i32 - next.matches(')').count() as i32;
        if open <= 0 {
            break;
        }
    }
    call
}

/// `c""url`, `c\url`, `$IFS`, `$'…'`: removes what a shell ignores.
fn unquote_shell(line: &str) -> Option<String> {
    let bytes = line.as_bytes();
    if !bytes.iter().any(|b| matches!(b, b'$' | b'"' | b'\'' | b'\\')) {
        return None;
    }
    let tricky = line.contains("$ifs")
        || line.contains("${ifs")
        || line.contains("$@")
        || line.contains("$'")
        || bytes.windows(4).any(|w| {
            w[0].is_ascii_alphanumeric()
                && w[3].is_ascii_alphanumeric()
                && (w[1] == b'"' && w[2] == b'"' || w[1] == b'\'' && w[2] == b'\'')
        })
        || bytes
            .windows(3)
            .any(|w| w[0].is_ascii_lowercase() && w[1] == b'\\' && w[2].is_ascii_lowercase());
    if !tricky {
        return None;
    }
    let mut text = line.replace("${ifs}", " ").replace("$ifs$9", " ").replace("$ifs", " ");
    for noise in ["\"\"", "''", "$@", "$*"] {
        text = text.replace(noise, "");
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut previous = ' ';
    while let Some(c) = chars.next() {
        let next_is_letter = chars.peek().is_some_and(char::is_ascii_lowercase);
        // `\n` and `\t` stay: they normally mean line end and tab.
        if c == '\\' && next_is_letter && !matches!(chars.peek(), Some('n' | 't' | 'x' | 'u')) {
            continue;
        }
        if c == '\\' && next_is_letter && previous.is_ascii_lowercase() {
            continue;
        }
        out.push(c);
        previous = c;
    }
    (out != line).then_some(out)
}

/// Reads the assignments at the start of a line of several commands (`a=cur; b=l; $a$b x`), and
/// returns the rest.
fn after_assignments<'a>(line: &'a str, values: &mut BTreeMap<String, String>) -> &'a str {
    if !line.contains(';') || !line.contains('=') {
        return line;
    }
    let Some(parts) = split_terms(line, ';').filter(|parts| parts.len() <= MAX_COMMANDS) else {
        return line;
    };
    let (last, leading) = parts.split_last().map_or(("", &[][..]), |(last, all)| (*last, all));
    for part in leading {
        match assignment(part, values) {
            Some((name, value)) if values.len() < MAX_VARIABLES && value.len() <= MAX_VALUE => {
                values.insert(name, value);
            }
            _ => return &line[part.as_ptr() as usize - line.as_ptr() as usize..],
        }
    }
    if last.trim().is_empty() { line } else { last }
}

fn assignment(line: &str, values: &BTreeMap<String, String>) -> Option<(String, String)> {
    let mut rest = line.trim();
    for word in
        ["export ", "const ", "let ", "var ", "local ", "set ", "readonly ", "self.", "this.", "$"]
    {
        rest = rest.strip_prefix(word).unwrap_or(rest).trim_start();
    }
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
    let (name, tail) = rest.split_at(end);
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let tail = tail.trim_start();
    let tail = match tail.strip_prefix(':') {
        // A type annotation.
        Some(annotated) => annotated.trim_start().split_once('=').map(|(_, value)| value)?,
        None => tail.strip_prefix("+=").or_else(|| tail.strip_prefix('='))?,
    };
    if tail.starts_with('=') {
        return None;
    }
    let expression = tail.trim().trim_end_matches(';');
    let value = evaluate(expression, values).or_else(|| {
        let bare = !line.contains(" = ") && !expression.contains(char::is_whitespace);
        (bare && !expression.is_empty() && !expression.contains(['(', '[', '{', '$', '"', '\'']))
            .then(|| expression.to_owned())
    })?;
    let value = if line.contains("+=") {
        format!("{}{value}", values.get(name).map_or("", String::as_str))
    } else {
        value
    };
    Some((name.to_owned(), value))
}

/// The value of an expression made only of literals, known names, `+`, `join` and reversal.
fn evaluate(expression: &str, values: &BTreeMap<String, String>) -> Option<String> {
    let expression = expression.trim();
    let list = expression.strip_prefix('[').and_then(|rest| {
        let end = rest.rfind(']')?;
        let after = rest[end + 1..].trim();
        (after.is_empty() || after.starts_with(".join(") || after.starts_with(".reverse("))
            .then_some((&rest[..end], after))
    });
    if let Some((items, after)) = list {
        let mut parts = split_terms(items, ',')?
            .into_iter()
            .map(|term| evaluate_term(term, values))
            .collect::<Option<Vec<_>>>()?;
        if after.starts_with(".reverse(") {
            parts.reverse();
        }
        return Some(parts.concat());
    }
    if let Some(inner) = ["''.join(", "\"\".join("].iter().find_map(|p| expression.strip_prefix(p))
    {
        return evaluate(inner.strip_suffix(')')?, values);
    }
    let terms = split_terms(expression, '+')?;
    terms
        .into_iter()
        .map(|term| evaluate_term(term, values))
        .collect::<Option<Vec<_>>>()
        .map(|p| p.concat())
}

fn evaluate_term(term: &str, values: &BTreeMap<String, String>) -> Option<String> {
    let term = term.trim();
    let literal = term.trim_start_matches(['f', 'b', 'r', 'u']);
    let quote = literal.chars().next()?;
    if !matches!(quote, '"' | '\'' | '`') {
        return values.get(term.trim_start_matches("self.").trim_start_matches("this.")).cloned();
    }
    let end = literal[1..].find(quote)? + 1;
    let (content, after) = (&literal[1..end], literal[end + 1..].trim());
    let content = if content.contains(['{', '$']) {
        fill(content, values).unwrap_or_else(|| content.to_owned())
    } else {
        content.to_owned()
    };
    match after {
        "" => Some(content),
        "[::-1]" => Some(content.chars().rev().collect()),
        _ if after.contains("reverse()") => Some(content.chars().rev().collect()),
        _ if after.starts_with(".decode(")
            || after.starts_with(".strip(")
            || after.starts_with(".encode(") =>
        {
            Some(content)
        }
        _ => None,
    }
}

/// Splits at `separator` outside quotes; `None` if quotes do not close.
fn split_terms(text: &str, separator: char) -> Option<Vec<&str>> {
    let mut terms = Vec::new();
    let (mut start, mut quote) = (0, None);
    for (at, c) in text.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if matches!(c, '"' | '\'' | '`') => quote = Some(c),
            None if c == separator => {
                terms.push(&text[start..at]);
                start = at + 1;
            }
            None => {}
        }
    }
    if quote.is_some() {
        return None;
    }
    let last = &text[start..];
    if !(separator == ',' && last.trim().is_empty()) {
        terms.push(last);
    }
    (terms.len() <= 256).then_some(terms)
}

/// `"cu" + "rl"` becomes `"curl"`, and `"lruc"[::-1]` is reversed, anywhere in a line.
fn join_literals(line: &str, values: &BTreeMap<String, String>) -> Option<String> {
    let glued = line.contains("\"+")
        || line.contains("\" +")
        || line.contains("'+")
        || line.contains("' +")
        || line.contains("\" . ")
        || line.contains("' . ");
    if !glued && !line.contains("[::-1]") {
        return None;
    }
    let mut text = line.to_owned();
    for quote in ['"', '\''] {
        for glue in
            [format!("{quote} + {quote}"), format!("{quote}+{quote}"), format!("{quote} . {quote}")]
        {
            if text.contains(&glue) {
                text = text.replace(&glue, "");
            }
        }
        let reversed = format!("{quote}[::-1]");
        for _ in 0..MAX_REVERSED {
            let Some(end) = text.find(&reversed) else { break };
            let start = text[..end].rfind(quote)?;
            let backwards: String = text[start + 1..end].chars().rev().collect();
            text = format!(
                "{}{quote}{backwards}{quote}{}",
                &text[..start],
                &text[end + reversed.len()..]
            );
        }
    }
    if text == line {
        return None;
    }
    // Reversal may have made two literals adjacent.
    for quote in ['"', '\''] {
        text = text.replace(&format!("{quote} + {quote}"), "");
    }
    Some(fill(&text, values).unwrap_or(text))
}

/// Replaces known names with their values.
fn fill(line: &str, values: &BTreeMap<String, String>) -> Option<String> {
    let mut out = String::with_capacity(line.len() + 64);
    let mut changed = false;
    let mut rest = line;
    while let Some(at) = rest.find(|c: char| c.is_ascii_alphabetic() || c == '_') {
        let end = rest[at..]
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .map_or(rest.len(), |length| at + length);
        let name = &rest[at..end];
        match values.get(name) {
            Some(value)
                if !rest[end..].trim_start().starts_with('=')
                    && out.len() + value.len() < MAX_LINE * 2 =>
            {
                let before = rest[..at]
                    .strip_suffix("${")
                    .or_else(|| rest[..at].strip_suffix('{'))
                    .or_else(|| rest[..at].strip_suffix('$'))
                    .unwrap_or(&rest[..at]);
                out.push_str(before);
                out.push_str(value);
                changed = true;
                rest = rest[end..].strip_prefix('}').unwrap_or(&rest[end..]);
            }
            _ => {
                out.push_str(&rest[..end]);
                rest = &rest[end..];
            }
        }
    }
    out.push_str(rest);
    changed.then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(block: &str, wanted: &str) {
        let mut assembled = AssembledLines::default();
        assembled.read(block, 0, true);
        let lines = assembled.lines;
        assert!(lines.iter().any(|(_, line)| line.contains(wanted)), "{lines:?}");
    }

    #[test]
    fn pieces_come_together() {
        check("c\"\"url https://a | ba''sh", "curl https://a | bash");
        check("cu\\rl$ifs-o${ifs}x", "curl -o x");
        check("a=curl\nb=https://x.example\n$a ${b} | sh", "curl https://x.example | sh");
        check("os.system(\"cu\" + \"rl \" + \"x\")", "os.system(\"curl x\")");
        check("x = \"cu\" + \"rl\"\ny = x + \" | sh\"\nos.system(y)", "os.system(curl | sh)");
        check("p = \"hsab | lruc\"[::-1]", "curl | bash");
        check("c1 = 'curl'\nos.system(f\"{c1} x\")", "curl x");
        check("parts = ['__imp', 'ort__']\nexec(''.join(parts))", "__import__");
    }
}
