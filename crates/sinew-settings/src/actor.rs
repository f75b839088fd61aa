//! Who acts. Set by the surface that received the request, never by the request itself.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Who asks for something to be done, or did it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum Actor {
    /// A person, or the configuration that speaks for one.
    Person {
        /// Who, where that is known; the client that asked them, or the key that agrees.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// Where they acted. Older records do not say it.
        #[serde(default, skip_serializing_if = "Option::is_none", rename = "place")]
        via: Option<PersonChannel>,
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

/// Where a person acted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum PersonChannel {
    /// At a terminal.
    Terminal,
    /// On a signed-in page.
    Page,
    /// In a dialogue of a client that they connected.
    Dialogue,
    /// Nowhere: the configuration agrees in advance.
    Configuration,
}

impl Actor {
    /// A person at a terminal.
    pub fn at_terminal(name: Option<String>) -> Self {
        Self::Person { name, via: Some(PersonChannel::Terminal) }
    }

    /// A person on a signed-in page.
    pub fn on_page() -> Self {
        Self::Person { name: None, via: Some(PersonChannel::Page) }
    }

    /// A person whom a client asked.
    pub fn asked_by(client: &str) -> Self {
        Self::Person { name: Some(client.to_owned()), via: Some(PersonChannel::Dialogue) }
    }

    /// The configuration, by the key that agrees.
    pub fn configuration(key: &str) -> Self {
        Self::Person { name: Some(key.to_owned()), via: Some(PersonChannel::Configuration) }
    }

    /// The name alone, where the channel is told beside it.
    pub fn name(&self) -> String {
        match self {
            Self::Person { via: Some(PersonChannel::Dialogue), .. }
            | Self::Person { name: None, .. } => "a person".to_owned(),
            Self::Person { name: Some(name), .. } => name.clone(),
            Self::Agent { name } => format!("the agent {name}"),
            Self::System => "sinew".to_owned(),
        }
    }

    /// Whether this is a person, the only one who can give consent.
    pub fn is_person(&self) -> bool {
        matches!(self, Self::Person { .. })
    }
}

impl fmt::Display for Actor {
    /// Who acted and where, as records name it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())?;
        match self {
            Self::Person { via: Some(PersonChannel::Terminal), .. } => {
                f.write_str(", at a terminal")
            }
            Self::Person { via: Some(PersonChannel::Page), .. } => {
                f.write_str(", on a signed-in page")
            }
            Self::Person { via: Some(PersonChannel::Dialogue), name } => {
                write!(f, ", asked by {}", name.as_deref().unwrap_or("an agent's program"))
            }
            _ => Ok(()),
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
        assert_eq!(
            read(r#"{"kind":"person","name":null}"#),
            Actor::Person { name: None, via: None }
        );
        assert_eq!(read(r#"{"kind":"person"}"#), Actor::Person { name: None, via: None });
        let agent = Actor::Agent { name: "codex".to_owned() };
        assert_eq!(read(r#"{"kind":"agent","name":"codex"}"#), agent);
        let written = serde_json::to_string(&agent).expect("JSON");
        assert_eq!(read(&written), agent);
        for person in [Actor::on_page(), Actor::asked_by("cursor"), Actor::configuration("key")] {
            let written = serde_json::to_string(&person).expect("JSON");
            assert_eq!(read(&written), person);
        }
    }

    #[test]
    fn a_record_names_where_a_person_acted() {
        for (actor, said) in [
            (Actor::at_terminal(Some("kim".to_owned())), "kim, at a terminal"),
            (Actor::at_terminal(None), "a person, at a terminal"),
            (Actor::on_page(), "a person, on a signed-in page"),
            (Actor::asked_by("cursor"), "a person, asked by cursor"),
            (
                Actor::configuration("approvals.unattended (install)"),
                "approvals.unattended (install)",
            ),
            (Actor::Person { name: None, via: None }, "a person"),
        ] {
            assert_eq!(actor.to_string(), said);
        }
    }
}
