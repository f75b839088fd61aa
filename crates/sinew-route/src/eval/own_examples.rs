//! The messages that are part of the program: 307 over 80 skills, written for it.
//!
//! They stand in where a user has too few of their own to fit on, and for models that we never saw.

use super::data::{EvalQuestion, read_questions, read_skills};
use crate::document::RouteDocument;

static SKILLS: &str = include_str!("../../tests/corpus/skills.jsonl");
static MESSAGES: &str = include_str!("../../tests/corpus/messages.jsonl");

/// The skills.
pub fn own_skills() -> Vec<RouteDocument> {
    read_skills(SKILLS).rows
}

/// The messages over them.
pub fn own_questions() -> Vec<EvalQuestion> {
    read_questions(MESSAGES).rows
}
