//! Quoting: whether a match within a line is executed, or only shown, searched for or talked about.

use super::lines::floor_char_boundary;

/// Whether the match at `at..end` is a search pattern, or part of a literal that is one.
pub(crate) fn is_pattern_literal(line: &str, at: usize, end: usize) -> bool {
    const SEARCH: &[&str] =
        &["grep ", "rg ", "ripgrep ", "ag ", "ack ", "findstr ", "select-string "];
    const CALLS: &[&str] = &[
        "re.compile",
        "re.search",
        "re.match",
        "re.findall",
        "regexp(",
        ".test(",
        ".match(",
        ".includes(",
        "contains(",
        "r\"",
        "r'",
        "regex",
        "pattern",
        "matches(",
        "rule(",
        "startswith(",
        "assert",
        "expect(",
        "== \"",
        "== '",
    ];
    let before = &line[..floor_char_boundary(line, at)];
    let segment = before.rsplit([';', '&']).next().unwrap_or(before);
    let in_quotes = in_literal(line, at, end);
    if in_quotes && is_handed_over(before) {
        return false;
    }
    if SEARCH.iter().any(|tool| segment.contains(tool)) && (in_quotes || !segment.contains('|')) {
        return true;
    }
    // Printed text is not executed, unless the output is piped on.
    const PRINTS: &[&str] = &["echo ", "printf ", "print(", "console.log(", "write-host ", "puts "];
    let after = &line[floor_char_boundary(line, end)..];
    if in_quotes
        && PRINTS.iter().any(|call| before.trim_start().starts_with(call))
        && !after.contains(['>', '|'])
        && !before.contains('|')
    {
        return true;
    }
    in_quotes
        && (CALLS.iter().any(|call| before.contains(call))
            || is_membership_test(before)
            || is_expression(line, at, end))
}

/// `x in ["…` tests for membership; `for x in ["…` iterates.
fn is_membership_test(before: &str) -> bool {
    before.rfind(" in ").is_some_and(|at| {
        let tested = &before[..at];
        !tested.trim_start().starts_with("for ") && !tested.contains(" for ")
    })
}

/// Whether the literal that is open at the end of `before` is passed to something that runs it.
fn is_handed_over(before: &str) -> bool {
    const RUNS: &[&str] = &[
        " -c",
        "eval",
        "exec",
        "system(",
        "popen(",
        "subprocess",
        "spawn",
        "execsync(",
        "iex",
        "invoke-expression",
        "new function",
        "-command",
        "<<<",
    ];
    let opened = before.rfind(['"', '\'', '`']).unwrap_or(before.len());
    let call = before[..opened].trim_end_matches(['(', '[', '"', '\'', ' ', '$', 'f', 'r', 'b']);
    let command = call.rsplit([';', '|', '&']).next().unwrap_or(call);
    RUNS.iter().any(|run| command.ends_with(run.trim_end_matches('(')))
        || command.contains("subprocess.")
}

/// Whether the literal around `at..end` is a regular expression, judged by characters that only
/// those contain.
fn is_expression(line: &str, at: usize, end: usize) -> bool {
    const MARKS: &[&str] = &["(?i)", "(?:", "\\s*", "\\s+", "\\b", "\\w", "\\d", "[^", ".*"];
    let (at, end) = (floor_char_boundary(line, at), floor_char_boundary(line, end));
    let start = line[..at].rfind(['"', '\'']).map_or(0, |i| i + 1);
    let stop = line[end..].find(['"', '\'']).map_or(line.len(), |i| end + i);
    let literal = &line[start..stop];
    MARKS.iter().filter(|mark| literal.contains(**mark)).count() >= 2
        || literal.starts_with("(?i)")
        || literal.contains("(?i)(")
}

/// The command that contains `at..end`, without its neighbours on the line and without a comment,
/// which cannot vouch for it.
pub(crate) fn command_around(line: &str, at: usize, end: usize) -> &str {
    let (at, end) = (floor_char_boundary(line, at), floor_char_boundary(line, end));
    let start = line[..at].rfind([';', '|', '&']).map_or(0, |i| i + 1);
    let after = &line[end..];
    let next = [after.find([';', '|', '&']), after.find(" #"), after.find(" //")];
    let stop = next.into_iter().flatten().min().map_or(line.len(), |i| end + i);
    &line[start..stop]
}

/// Whether `at..end` lies between two quotation marks or code marks of one kind.
pub(crate) fn in_literal(line: &str, at: usize, end: usize) -> bool {
    // A match may include the closing mark.
    let last = floor_char_boundary(line, end.min(line.len()).saturating_sub(1).max(at));
    let (before, after) = (&line[..floor_char_boundary(line, at)], &line[last..]);
    let pairs = [('「', '」'), ('『', '』'), ('“', '”'), ('«', '»'), ('„', '“')];
    let in_pair = |(open, close): &(char, char)| {
        let opened = before.rfind(*open);
        opened.is_some() && opened > before.rfind(*close) && after.contains(*close)
    };
    pairs.iter().any(in_pair)
        || ['"', '\'', '`'].iter().any(|quote| {
            let open = marks(before, *quote) % 2 == 1;
            // A quotation may continue on the next line; an apostrophe does not open one.
            open && (after.contains(*quote) || *quote == '"')
        })
}

/// How many quotation marks of a kind a text has; an apostrophe between letters is none.
fn marks(text: &str, quote: char) -> usize {
    let letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    text.match_indices(quote)
        .filter(|(at, _)| {
            quote != '\''
                || !letter(text[..*at].chars().next_back())
                || !letter(text[at + 1..].chars().next())
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searched_text_is_a_pattern() {
        let line = "grep -rn \"curl .* | bash\" .";
        assert!(is_pattern_literal(line, line.find("curl").unwrap_or(0), 22));
        let line = "curl x | bash";
        assert!(!is_pattern_literal(line, 0, 13));
    }
}
