//! Patterns for names.

/// Whether a name fits a pattern in which `*` stands for any text and `?` for one character.
pub(super) fn matches_glob(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    // Where the last `*` stands, and how far the name had come: one star is all that is retried.
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(&c) if c == '?' || c == name[n] => {
                p += 1;
                n += 1;
            }
            _ => match star {
                Some((at, taken)) => {
                    star = Some((at, taken + 1));
                    (p, n) = (at + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_whole_names() {
        let check = |pattern: &str, name: &str, fits: bool| {
            assert_eq!(matches_glob(pattern, name), fits, "{pattern} {name}");
        };
        check("release-*", "release-notes", true);
        check("release-*", "release", false);
        check("*-workflow", "animated-gif-workflow", true);
        check("a*b*c", "axxbyyc", true);
        check("a?c", "abc", true);
        check("a?c", "ac", false);
        check("*", "", true);
        check("", "a", false);
        check(&"*a".repeat(60), &"a".repeat(59), false);
    }
}
