//! Names: how they are compared, shown and turned into commands.

/// The form in which look-ups compare names: lower case, separators as `-`, nothing else.
///
/// ```
/// assert_eq!(sinew_skill::names::index_name("PDF Tools"), "pdf-tools");
/// ```
pub fn index_name(name: &str) -> String {
    let mut index = String::with_capacity(name.len());
    for c in name.to_lowercase().chars() {
        match c {
            'a'..='z' | '0'..='9' => index.push(c),
            '-' | '_' | '/' => push_once(&mut index, '-'),
            c if c.is_whitespace() => push_once(&mut index, '-'),
            _ => {}
        }
    }
    index.trim_matches('-').to_owned()
}

/// The longest slash command that chat platforms accept.
pub const MAX_COMMAND: usize = 32;

/// The slash command for a skill name, before it is made unique.
///
/// ```
/// assert_eq!(sinew_skill::names::command_name("coding.agent"), "coding_agent");
/// ```
pub fn command_name(name: &str) -> String {
    let mut command = String::with_capacity(name.len());
    for c in name.to_lowercase().chars() {
        match c {
            'a'..='z' | '0'..='9' => command.push(c),
            _ => push_once(&mut command, '_'),
        }
    }
    let mut command = command.trim_matches('_').to_owned();
    // Cut after trimming, as OpenClaw does: the cut may leave a `_` at the end.
    command.truncate(MAX_COMMAND);
    if command.is_empty() { "skill".to_owned() } else { command }
}

/// The folder name that fits a name: lower case, runs of anything else as one `-`.
///
/// ```
/// assert_eq!(sinew_skill::names::slug("Open Mail!"), "open-mail");
/// ```
pub fn slug(name: &str) -> String {
    let mut slug = String::with_capacity(name.len());
    for c in name.to_lowercase().chars() {
        match c {
            'a'..='z' | '0'..='9' => slug.push(c),
            _ => push_once(&mut slug, '-'),
        }
    }
    let slug = slug.trim_matches('-');
    let cut = slug.get(..MAX_SLUG).unwrap_or(slug);
    cut.trim_end_matches('-').to_owned()
}

/// The longest folder name the strict rules accept.
pub const MAX_SLUG: usize = 64;

/// A name for people: separators become blanks, words start with a capital.
pub fn display_name(name: &str) -> String {
    let words = name.split(|c: char| matches!(c, '-' | '_') || c.is_whitespace());
    let mut shown = String::with_capacity(name.len());
    for word in words.filter(|word| !word.is_empty()) {
        if !shown.is_empty() {
            shown.push(' ');
        }
        let mut chars = word.chars();
        shown.extend(chars.next().into_iter().flat_map(char::to_uppercase));
        shown.push_str(chars.as_str());
    }
    shown
}

/// Whether a name is a plain slug: `^[a-z0-9][a-z0-9-]{0,63}$`.
pub fn is_slug(name: &str) -> bool {
    let first = name.bytes().next();
    first.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        && name.len() <= MAX_SLUG
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

/// Up to three names nearest to `wanted`, for "did you mean".
pub fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = index_name(wanted);
    let mut scored: Vec<(f64, &str)> = names
        .into_iter()
        .map(|name| {
            let index = index_name(name);
            let contains =
                !wanted.is_empty() && (index.contains(&wanted) || wanted.contains(&index));
            let bonus = if contains && !index.is_empty() { 0.3 } else { 0.0 };
            (strsim::jaro_winkler(&wanted, &index) + bonus, name)
        })
        .filter(|&(score, _)| score >= 0.7)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    scored.dedup_by(|a, b| a.1 == b.1);
    scored.into_iter().take(3).map(|(_, name)| name).collect()
}

fn push_once(text: &mut String, c: char) {
    if !text.ends_with(c) {
        text.push(c);
    }
}
