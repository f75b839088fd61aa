//! A unified diff, line by line, as pages show it.

use super::text::line;

/// A line of a diff.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct DiffLine {
    /// The class of its span.
    pub(super) class: &'static str,
    pub(super) text: String,
    /// Its number in the new text, where it is part of that.
    pub(super) at: Option<usize>,
}

/// The lines of a unified diff of one file or several.
pub(super) fn lines(diff: &str) -> Vec<DiffLine> {
    let all: Vec<&str> = diff.lines().collect();
    let begins = |at: usize, with: &str| all.get(at).is_some_and(|text| text.starts_with(with));
    // The names of the two files; a removed line may begin with dashes, too.
    let names = |at: usize| begins(at, "--- ") && begins(at + 1, "+++ ") && begins(at + 2, "@@");
    let mut next = 0;
    let each = all.iter().enumerate().map(|(at, text)| {
        let of_new = |next: &mut usize| {
            *next += 1;
            Some(*next - 1)
        };
        let (class, number) = match text.as_bytes().first() {
            _ if names(at) || at > 0 && names(at - 1) => ("at", None),
            Some(b'@') => {
                next = first_of_new(text).unwrap_or(next);
                ("at", None)
            }
            Some(b'+') => ("add", of_new(&mut next)),
            Some(b'-') => ("del", None),
            Some(b'\\') => ("at", None),
            _ => ("", of_new(&mut next)),
        };
        DiffLine { class, text: line(text), at: number }
    });
    each.collect()
}

/// The first line of the new text, from a head such as `@@ -3,3 +3,7 @@`.
fn first_of_new(head: &str) -> Option<usize> {
    let new = head.split(' ').find_map(|part| part.strip_prefix('+'))?;
    new.split(',').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_the_numbers_of_what_comes() {
        let diff = "--- a/x\n+++ b/x\n@@ -3,3 +3,3 @@\n same\n--- gone\n+++ here\n same\n\
                    --- a/y\n+++ b/y\n@@ -0,0 +1 @@\n+new\n\\ No newline at end of file\n";
        let shown: Vec<_> = lines(diff).into_iter().map(|line| (line.class, line.at)).collect();
        let name = ("at", None);
        assert_eq!(
            shown,
            [
                name,
                name,
                name,
                ("", Some(3)),
                ("del", None),
                ("add", Some(4)),
                ("", Some(5)),
                name,
                name,
                name,
                ("add", Some(1)),
                name,
            ]
        );
        assert!(lines("").is_empty());
    }
}
