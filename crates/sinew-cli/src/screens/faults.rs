//! The rules of the layout, as faults of a screen.

use std::collections::BTreeSet;

use unicode_width::UnicodeWidthStr as _;

/// Lines that a person takes in without scrolling.
const MAX_LINES: usize = 40;

/// What no screen holds: tabs, escaped line breaks, placeholders in the place of names, and certainty
/// where there is none.
const NEVER: &[&str] =
    &["\t", "\\u{a}", "<skill>", "<name>", "<agent>", "<RULE>", " 0 %", "100 %", "apt apt"];

/// What is wrong with a screen, in sentences. `wide` is the same answer where nothing is wrapped.
pub(super) fn screen_faults(shown: &str, wide: &str, width: usize, all: bool) -> Vec<String> {
    let mut faults = Vec::new();
    let count = shown.lines().count();
    if count > MAX_LINES && !all {
        faults.push(format!("{count} lines unasked"));
    }
    faults.extend(
        NEVER.iter().filter(|part| shown.contains(**part)).map(|part| format!("holds {part:?}")),
    );
    let words: BTreeSet<&str> = wide.split_whitespace().collect();
    for line in shown.lines() {
        if line.width() > width {
            faults.push(format!("{} columns: {line}", line.width()));
        }
        if line.trim_end() != line {
            faults.push(format!("ends with spaces: {line:?}"));
        }
        // How much is left depends on how much fits.
        if line.trim_start().starts_with("and ") && line.contains(" more") {
            continue;
        }
        let broken = line.split_whitespace().filter(|word| !is_whole(word, &words, width));
        faults.extend(broken.map(|word| format!("breaks a word: {word}")));
    }
    faults
}

/// Whether a word stands in the wide answer, too. What was cut says so with an ellipsis, and what no
/// line holds may go on in the next.
fn is_whole(word: &str, words: &BTreeSet<&str>, width: usize) -> bool {
    words.contains(word)
        || word.ends_with('…')
        || words.iter().any(|long| long.width() > width / 2 && long.contains(word))
        // Signs of other scripts are words of their own, and times differ.
        || !word.is_ascii()
        || word.chars().all(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::screen_faults;

    #[test]
    fn each_rule_finds_its_fault() {
        let wide = "one two three\n";
        assert!(screen_faults("one two\nthree\n", wide, 10, false).is_empty());
        for (shown, fault) in [
            ("one two thr\nee\n", "breaks a word: thr"),
            ("one two three\n", "13 columns: one two three"),
            ("one \n", "ends with spaces: \"one \""),
            ("one\ttwo\n", "holds \"\\t\""),
            ("sure 100 %\n", "holds \"100 %\""),
        ] {
            let faults = screen_faults(shown, wide, 10, false);
            assert!(faults.iter().any(|found| found == fault), "{faults:?}");
        }
        let long = "one\n".repeat(41);
        assert_eq!(screen_faults(&long, wide, 10, false), ["41 lines unasked"]);
        assert!(screen_faults(&long, wide, 10, true).is_empty());
    }
}
