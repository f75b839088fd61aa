//! Who asks. Set by the surface that received the request, never by the request itself.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Who asks for something to be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Actor {
    /// A person at a terminal or a signed-in page.
    Person {
        /// Who, where that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
    /// A program acting for a person; it can ask, and never approve.
    Agent {
        /// The agent's own name.
        name: String,
    },
    /// sinew itself.
    System,
}

impl Actor {
    /// Whether this actor may give a person's consent.
    pub fn can_approve(&self) -> bool {
        matches!(self, Self::Person { .. })
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Person { name: Some(name) } => f.write_str(name),
            Self::Person { name: None } => f.write_str("a person"),
            Self::Agent { name } => write!(f, "the agent {name}"),
            Self::System => f.write_str("sinew"),
        }
    }
}
