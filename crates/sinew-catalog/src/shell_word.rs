//! Names and values as words of a command that is shown to be copied.

/// A word that a shell reads as one: in quotes where it holds more than letters, digits and a few signs.
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "@+._/-=:~%,".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::shell_word;

    #[test]
    fn a_name_in_a_command_stays_one_word() {
        assert_eq!(shell_word("github"), "github");
        assert_eq!(shell_word("~/skills/a-b"), "~/skills/a-b");
        assert_eq!(shell_word("PDF Tools"), "'PDF Tools'");
        assert_eq!(shell_word("a&b"), "'a&b'");
        assert_eq!(shell_word("a'; rm b"), "'a'\\''; rm b'");
        assert_eq!(shell_word(""), "''");
    }
}
