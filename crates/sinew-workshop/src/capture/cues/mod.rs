//! The cues of the extended profile, as data: what makes a sentence a lasting instruction, and what
//! makes it something else. Texts are lower-cased, with straight apostrophes.
//!
//! A row is general knowledge of a language, never a sentence from a real conversation.

mod chinese_japanese;
mod counter_cues;
mod english;
mod germanic;
mod other_languages;
mod romance;

/// What a row says about a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CueFamily {
    /// An explicitly lasting instruction.
    Future,
    /// A lasting instruction: always, never, whenever.
    Standing,
    /// A report of what worked in the end.
    Worked,
    /// Something went wrong, and the agent did it.
    Blame,
    /// It is not the first time.
    Repeat,
    /// What follows, or followed, from doing it wrong.
    Consequence,
    /// It holds for all of a kind, or in a place that stays.
    Scope,
    /// If and when.
    Condition,
    /// Something must be done.
    Duty,
    /// Something must not be done.
    Ban,
    /// One thing before another.
    Order,
    /// What the user wants.
    Wish,
    /// An order, which says nothing about how long it holds.
    Fix,
    /// Against: it is a question.
    Question,
    /// Against: it holds for now.
    Now,
    /// Against: it reports another person's words.
    Reported,
    /// Against: the user talks about themselves.
    Own,
    /// Against: a joke.
    SmallTalk,
}

impl CueFamily {
    /// The word for explanations.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Future => "future",
            Self::Standing => "standing",
            Self::Worked => "worked",
            Self::Blame => "blame",
            Self::Repeat => "repeat",
            Self::Consequence => "consequence",
            Self::Scope => "scope",
            Self::Condition => "condition",
            Self::Duty => "duty",
            Self::Ban => "ban",
            Self::Order => "order",
            Self::Wish => "wish",
            Self::Fix => "fix",
            Self::Question => "question",
            Self::Now => "now",
            Self::Reported => "reported",
            Self::Own => "own",
            Self::SmallTalk => "small-talk",
        }
    }
}

/// One row: a family, its pattern, and the pattern that cancels it.
pub(super) struct CaptureCue {
    pub(super) family: CueFamily,
    /// Enough by itself.
    pub(super) strong: bool,
    pub(super) heard: &'static str,
    /// The row does not count where this pattern matches too.
    pub(super) unless: &'static str,
}

const fn strong(family: CueFamily, heard: &'static str, unless: &'static str) -> CaptureCue {
    CaptureCue { family, strong: true, heard, unless }
}

const fn weak(family: CueFamily, heard: &'static str, unless: &'static str) -> CaptureCue {
    CaptureCue { family, strong: false, heard, unless }
}

const fn against(family: CueFamily, heard: &'static str) -> CaptureCue {
    CaptureCue { family, strong: false, heard, unless: "" }
}

/// Every row, by language.
pub(super) const CUES: &[&[CaptureCue]] = &[
    english::ENGLISH,
    germanic::GERMAN,
    romance::SPANISH,
    romance::FRENCH,
    romance::ITALIAN,
    romance::PORTUGUESE,
    chinese_japanese::CHINESE,
    chinese_japanese::JAPANESE,
    other_languages::OTHERS,
    counter_cues::AGAINST,
];
