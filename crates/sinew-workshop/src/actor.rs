//! Who acts. A surface says so; a request never does.

use serde::{Deserialize, Serialize};

/// Who acts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum WorkshopActor {
    /// A person, whose call is the approval.
    Person {
        /// Who, where known.
        name: Option<String>,
    },
    /// A model or a program; it may ask, revise and reject.
    Agent {
        /// Which.
        name: String,
    },
    /// The workshop itself, at the end of a turn.
    Automatic,
}

impl WorkshopActor {
    /// Whether this is a person.
    pub fn is_person(&self) -> bool {
        matches!(self, Self::Person { .. })
    }

    /// The name for records.
    pub fn display_name(&self) -> String {
        match self {
            Self::Person { name: Some(name) } => name.clone(),
            Self::Person { name: None } => "a person".to_owned(),
            Self::Agent { name } => format!("the agent {name}"),
            Self::Automatic => "sinew".to_owned(),
        }
    }
}
