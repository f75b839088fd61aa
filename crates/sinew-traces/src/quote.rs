//! Quoting for shells: whatever a text holds, the shell sees one word.

/// A text in single quotes, as POSIX requires.
pub(crate) fn single(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// A text as one word: as it is where that is safe, else in single quotes.
pub(crate) fn word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c);
    let is_plain = !text.is_empty() && text.chars().all(plain);
    if is_plain { text.to_owned() } else { single(text) }
}

/// Whether a position in a command is inside quotes, and inside which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QuoteState {
    /// In none.
    Outside,
    /// In single ones: nothing is expanded.
    Single,
    /// In double ones.
    Double,
}

/// Follows the quotes of a command from left to right.
#[derive(Debug)]
pub(crate) struct QuoteTracker {
    now: QuoteState,
    escaped: bool,
}

impl QuoteTracker {
    pub(crate) fn new() -> Self {
        Self { now: QuoteState::Outside, escaped: false }
    }

    /// The state at the next character.
    pub(crate) fn state(&self) -> QuoteState {
        self.now
    }

    pub(crate) fn step(&mut self, c: char) {
        if std::mem::take(&mut self.escaped) {
            return;
        }
        self.now = match (self.now, c) {
            (QuoteState::Outside | QuoteState::Double, '\\') => {
                self.escaped = true;
                return;
            }
            (QuoteState::Outside, '\'') => QuoteState::Single,
            (QuoteState::Single, '\'') | (QuoteState::Double, '"') => QuoteState::Outside,
            (QuoteState::Outside, '"') => QuoteState::Double,
            (state, _) => state,
        };
    }
}
