//! The natural-language part of a Markdown body, and names as separate words.

use std::borrow::Cow;

/// Only this much of a body is read.
const MAX_BODY: usize = 40_000;

/// The first words of a body, without fenced code, comments, addresses, tables and markup.
pub(crate) fn plain_body(body: &str, words: usize) -> String {
    let body = super::head(body, MAX_BODY);
    let mut out = String::new();
    let mut left = words;
    let mut fenced = false;
    let mut comment = false;
    for line in body.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            continue;
        }
        if fenced {
            continue;
        }
        let line = without_comment(line, &mut comment);
        let line = line.trim_start();
        let line = line.strip_prefix("- ").or_else(|| line.strip_prefix("+ ")).unwrap_or(line);
        let line = without_links(line);
        for word in line.split_whitespace() {
            if word.starts_with("http://")
                || word.starts_with("https://")
                || word.starts_with("---")
            {
                continue;
            }
            let marks = ['#', '*', '`', '|', '>', '_', '='];
            for part in word.split(marks).filter(|part| !part.is_empty()) {
                if left == 0 {
                    return out;
                }
                if !out.is_empty() {
                    out.push(' ');
                }
                out.push_str(part);
                left -= 1;
            }
        }
    }
    out
}

/// The first words of a text whose words are separated by single spaces.
pub(crate) fn first_words(text: &str, words: usize) -> &str {
    let end = text.match_indices(' ').nth(words.saturating_sub(1)).map(|(at, _)| at);
    end.map_or(text, |end| &text[..end])
}

fn without_comment<'a>(line: &'a str, inside: &mut bool) -> &'a str {
    if *inside {
        let Some(end) = line.find("-->") else { return "" };
        *inside = false;
        return &line[end + 3..];
    }
    match line.find("<!--") {
        Some(start) => {
            *inside = !line[start..].contains("-->");
            &line[..start]
        }
        None => line,
    }
}

/// `[text](address)` → `text`.
fn without_links(line: &str) -> Cow<'_, str> {
    if !line.contains("](") {
        return Cow::Borrowed(line);
    }
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(open) = rest.find('[') {
        let Some(middle) = rest[open..].find("](").map(|at| open + at) else { break };
        let Some(close) = rest[middle..].find(')').map(|at| middle + at) else { break };
        out.push_str(&rest[..open]);
        out.push_str(&rest[open + 1..middle]);
        rest = &rest[close + 1..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// `set_reminder`, `setReminder`, `set-reminder` → `set reminder`.
pub(crate) fn spaced_name(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    let mut before_small = false;
    for c in name.chars() {
        if matches!(c, '-' | '_' | '/' | '.' | ':') {
            if !out.ends_with(' ') {
                out.push(' ');
            }
            before_small = false;
            continue;
        }
        if before_small && c.is_ascii_uppercase() {
            out.push(' ');
        }
        before_small = c.is_ascii_lowercase() || c.is_ascii_digit();
        out.push(c);
    }
    out.trim().to_owned()
}

/// The headings of a body, levels 1 to 4, one per line.
pub(crate) fn headings(body: &str) -> Vec<String> {
    let mut fenced = false;
    body.lines()
        .filter_map(|line| {
            if line.trim_start().starts_with("```") {
                fenced = !fenced;
            }
            let level = line.bytes().take_while(|&byte| byte == b'#').count();
            let title = line[level..].trim();
            ((1..=4).contains(&level)
                && !fenced
                && line[level..].starts_with([' ', '\t'])
                && !title.is_empty())
            .then(|| title.to_owned())
        })
        .collect()
}
