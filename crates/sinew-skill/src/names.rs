//! Names: how they are compared, shown and turned into commands.

pub use sinew_settings::index_name;

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

/// The folder name for a name: lower case, runs of anything else as one `-`.
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

/// A display name: separators become blanks, words start with a capital.
pub fn display_name(name: &str) -> String {
    let words = name.split(|c: char| matches!(c, '-' | '_') || c.is_whitespace());
    let mut display = String::with_capacity(name.len());
    for word in words.filter(|word| !word.is_empty()) {
        if !display.is_empty() {
            display.push(' ');
        }
        let mut chars = word.chars();
        display.extend(chars.next().into_iter().flat_map(char::to_uppercase));
        display.push_str(chars.as_str());
    }
    display
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

fn push_once(text: &mut String, c: char) {
    if !text.ends_with(c) {
        text.push(c);
    }
}
