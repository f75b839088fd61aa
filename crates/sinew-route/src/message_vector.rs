//! A message as one vector, for callers that compare messages with each other and not with skills.
//!
//! The texts are those that the router's own signals read, so that what was trained for them holds here.

use sinew_models::StaticModel;

use crate::message::{PreparedQuery, UserMessage};

/// The vector of a message by the static table; foreign words count with their English ones.
pub fn static_vector(table: &StaticModel, message: &str) -> Vec<f32> {
    let query = PreparedQuery::new(&UserMessage::from_user(message), true, false);
    table.message(&query.whole.static_parts())
}

/// What an encoder reads of a message.
pub fn encoder_input(message: &str) -> String {
    let query = PreparedQuery::new(&UserMessage::from_user(message), true, false);
    query.whole.encoder_text().into_owned()
}
