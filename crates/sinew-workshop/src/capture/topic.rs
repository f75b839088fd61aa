//! The five skills that a correction can go to, by its topic.

use std::sync::LazyLock;

use regex::Regex;

/// What a captured skill is about.
#[derive(Debug, PartialEq, Eq)]
pub struct CaptureTopic {
    /// The skill's name.
    pub skill: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Its name in reasons and descriptions.
    pub label: &'static str,
    /// The words that hint at it; Skill Workshop's own, with its precedence of `\b` and `|`.
    hint: &'static str,
}

/// In this order; the last one has no hint and takes the rest.
static TOPICS: [CaptureTopic; 5] = [
    CaptureTopic {
        skill: "animated-gif-workflow",
        title: "Animated GIF Workflow",
        label: "animated GIF requests",
        hint: r"(?-u:\b)animated(?-u:\b)|(?-u:\b)gifs?(?-u:\b)",
    },
    CaptureTopic {
        skill: "screenshot-asset-workflow",
        title: "Screenshot Asset Workflow",
        label: "screenshot asset updates",
        hint: r"(?-u:\b)screenshot|screen capture|imageoptim|asset(?-u:\b)",
    },
    CaptureTopic {
        skill: "qa-scenario-workflow",
        title: "QA Scenario Workflow",
        label: "QA tasks",
        hint: r"(?-u:\b)qa(?-u:\b)|(?-u:\b)scenario(?-u:\b)|(?-u:\b)test plan(?-u:\b)",
    },
    CaptureTopic {
        skill: "github-pr-workflow",
        title: "GitHub PR Workflow",
        label: "GitHub PR work",
        hint: r"(?-u:\b)pr(?-u:\b)|(?-u:\b)pull request(?-u:\b)|(?-u:\b)github(?-u:\b)",
    },
    CaptureTopic {
        skill: "learned-workflows",
        title: "Learned Workflows",
        label: "repeatable tasks",
        hint: "",
    },
];

/// What counts as the end of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordBoundary {
    /// JavaScript's `\b`, for which `pr` is a word of "prüfen".
    Ascii,
    /// Unicode's word boundary.
    Unicode,
}

static ASCII: LazyLock<Vec<Option<Regex>>> = LazyLock::new(|| hints(str::to_owned));
static UNICODE: LazyLock<Vec<Option<Regex>>> =
    LazyLock::new(|| hints(|hint| hint.replace(r"(?-u:\b)", r"\b")));

fn hints(written: impl Fn(&str) -> String) -> Vec<Option<Regex>> {
    TOPICS.iter().map(|topic| Regex::new(&written(topic.hint)).ok()).collect()
}

/// What a collapsed message is about.
pub(super) fn of(message: &str, boundary: WordBoundary) -> &'static CaptureTopic {
    let lower = message.to_lowercase();
    let hints = match boundary {
        WordBoundary::Ascii => &ASCII,
        WordBoundary::Unicode => &UNICODE,
    };
    let hinted = TOPICS.iter().zip(hints.iter()).find(|(topic, hint)| {
        topic.hint.is_empty() || hint.as_ref().is_some_and(|hint| hint.is_match(&lower))
    });
    hinted.map_or(&TOPICS[TOPICS.len() - 1], |(topic, _)| topic)
}
