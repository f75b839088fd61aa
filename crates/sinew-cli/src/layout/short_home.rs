//! Paths below the home folder, as people write them.

/// The text with the home folder as `~` where a path begins. In quotes a shell would not know it, so
/// that commands with a quoted path keep it whole.
pub(crate) fn with_short_home(text: &str, home: &str) -> String {
    if home.len() < 2 || !text.contains(home) {
        return text.to_owned();
    }
    let mut short = String::with_capacity(text.len());
    let mut done = 0;
    for (at, _) in text.match_indices(home) {
        let end = at + home.len();
        if begins_a_path(&text[..at]) && ends_a_name(&text[end..]) {
            short.push_str(&text[done..at]);
            short.push('~');
            done = end;
        }
    }
    short.push_str(&text[done..]);
    short
}

fn begins_a_path(before: &str) -> bool {
    if let Some(styled) = before.strip_suffix('m') {
        let codes = styled.trim_end_matches(|c: char| c.is_ascii_digit() || c == ';');
        return codes.ends_with("\u{1b}[");
    }
    before.chars().next_back().is_none_or(|c| c.is_whitespace() || "(`“|".contains(c))
}

fn ends_a_name(after: &str) -> bool {
    after.chars().next().is_none_or(|c| c == '/' || !(c.is_alphanumeric() || "-_.".contains(c)))
}

#[cfg(test)]
mod tests {
    use super::with_short_home;

    #[test]
    fn paths_below_the_home_are_short() {
        for (text, expected) in [
            ("/home/ann/.sinew is made", "~/.sinew is made"),
            ("(in /home/ann)", "(in ~)"),
            ("\u{1b}[32m/home/ann/a\u{1b}[0m", "\u{1b}[32m~/a\u{1b}[0m"),
            // These are other folders, and text that a shell reads to the letter.
            ("/home/anna/.sinew", "/home/anna/.sinew"),
            ("/mnt/home/ann/x", "/mnt/home/ann/x"),
            ("export HOME='/home/ann/x'", "export HOME='/home/ann/x'"),
        ] {
            assert_eq!(with_short_home(text, "/home/ann"), expected);
        }
        assert_eq!(with_short_home("/etc/x", "/"), "/etc/x");
    }
}
