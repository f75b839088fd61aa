//! Who acts. Set by the surface that received the request, never by the request itself.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Who asks for something to be done, or did it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
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
    /// sinew itself. Records of the workshop used to say `automatic`.
    #[serde(alias = "automatic")]
    System,
}

impl Actor {
    /// Whether this is a person, the only one who can give consent.
    pub fn is_person(&self) -> bool {
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

#[cfg(test)]
mod tests {
    use super::Actor;

    #[test]
    fn records_of_every_age_can_be_read() {
        let read = |text: &str| serde_json::from_str::<Actor>(text).expect("an actor");
        assert_eq!(read(r#"{"kind":"automatic"}"#), Actor::System);
        assert_eq!(read(r#"{"kind":"system"}"#), Actor::System);
        assert_eq!(read(r#"{"kind":"person","name":null}"#), Actor::Person { name: None });
        assert_eq!(read(r#"{"kind":"person"}"#), Actor::Person { name: None });
        let agent = Actor::Agent { name: "codex".to_owned() };
        assert_eq!(read(r#"{"kind":"agent","name":"codex"}"#), agent);
        let written = serde_json::to_string(&agent).expect("JSON");
        assert_eq!(read(&written), agent);
    }
}
