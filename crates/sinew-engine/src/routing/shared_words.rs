//! The words that a skill shares with a message, as a person would write them: the index knows
//! stems, and no reader should.

use sinew_route::MatchedTerm;

/// The shared words as they stand in the message, or else in the skill's own texts: an English word
/// may stand for one of another language. What stands in neither is left out.
pub(super) fn shared_words(message: &str, texts: &[&str], terms: &[MatchedTerm]) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for term in terms {
        let written =
            std::iter::once(&message).chain(texts).find_map(|text| word_of(text, &term.term));
        words.extend(written.filter(|word| !words.contains(word)));
    }
    words
}

/// The word of a text that a stem is of.
pub(super) fn word_of(text: &str, stem: &str) -> Option<String> {
    let lower = text.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    // Stemming may change the last letter: "try", "tries" and "tri".
    let end = stem.char_indices().last().map_or(0, |(at, _)| at);
    let start = if end < 2 { stem } else { &stem[..end] };
    words.find(|word| word.starts_with(start)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use sinew_route::{DocumentField, MatchedTerm};

    use super::shared_words;

    fn check(message: &str, text: &str, stems: &[&str], expected: &[&str]) {
        let term = |stem: &&str| MatchedTerm {
            term: (*stem).to_owned(),
            field: DocumentField::Name,
            weight: 1.0,
        };
        let terms: Vec<MatchedTerm> = stems.iter().map(term).collect();
        assert_eq!(shared_words(message, &[text], &terms), expected);
    }

    #[test]
    fn words_are_shown_as_they_were_written() {
        check("Resizing these pictures", "", &["resiz", "pictur"], &["resizing", "pictures"]);
        check("Try it", "", &["tri"], &["try"]);
        check("tries and tried", "", &["tri", "tri"], &["tries"]);
    }

    #[test]
    fn a_word_of_another_language_is_shown_as_the_skill_has_it() {
        check("Bilder verkleinern", "Resize pictures.", &["pictur"], &["pictures"]);
    }

    #[test]
    fn a_stem_of_no_written_word_is_left_out() {
        check("Bilder verkleinern", "Shrink photos.", &["pictur"], &[]);
    }
}
