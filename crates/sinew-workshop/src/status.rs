//! The states of a proposal, and its possible transitions.

use serde::{Deserialize, Serialize};

use crate::error::{Result, WorkshopError};

/// The state of a proposal, with its details.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "lowercase", rename_all_fields = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum ProposalState {
    /// It waits for a decision.
    Pending,
    /// It was written.
    Applied,
    /// It was turned down, or taken back.
    Rejected {
        /// It had been written, and the file was restored.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        undone: bool,
    },
    /// A critical finding holds it.
    #[cfg_attr(feature = "schema", schema(rename_all = "camelCase"))]
    Quarantined {
        /// The message of the first critical finding.
        quarantine_reason: String,
    },
    /// Its target is no longer what it was made for.
    #[cfg_attr(feature = "schema", schema(rename_all = "camelCase"))]
    Stale {
        /// Why.
        stale_reason: String,
    },
}

/// What can happen to a proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ProposalTransition {
    Apply,
    Reject,
    /// New content, which was scanned.
    Revise,
    Quarantine(String),
    GoStale(String),
    /// A person acknowledged what was found.
    Restore,
    Undo,
    /// An undo was taken back.
    Redo,
}

impl ProposalState {
    /// The word for it.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Applied => "applied",
            Self::Rejected { .. } => "rejected",
            Self::Quarantined { .. } => "quarantined",
            Self::Stale { .. } => "stale",
        }
    }

    /// Whether it counts against `maxPending`.
    pub fn is_open(&self) -> bool {
        matches!(self, Self::Pending | Self::Quarantined { .. })
    }

    /// The state after an event, or why it cannot happen.
    pub(crate) fn after(self, event: ProposalTransition) -> Result<Self> {
        use ProposalTransition as E;
        match (self, event) {
            (Self::Pending, E::Apply) => Ok(Self::Applied),
            (Self::Quarantined { .. }, E::Apply) => Err(WorkshopError::Quarantined),
            (Self::Pending | Self::Quarantined { .. } | Self::Stale { .. }, E::Reject) => {
                Ok(Self::Rejected { undone: false })
            }
            (Self::Pending | Self::Quarantined { .. } | Self::Stale { .. }, E::Revise) => {
                Ok(Self::Pending)
            }
            (Self::Pending, E::Quarantine(reason)) => {
                Ok(Self::Quarantined { quarantine_reason: reason })
            }
            (Self::Pending, E::GoStale(reason)) => Ok(Self::Stale { stale_reason: reason }),
            (Self::Quarantined { .. }, E::Restore) => Ok(Self::Pending),
            (Self::Applied, E::Undo) => Ok(Self::Rejected { undone: true }),
            (Self::Rejected { undone: true }, E::Redo) => Ok(Self::Applied),
            (status, _) => Err(WorkshopError::WrongStatus(status.as_str())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proposal::ProposalChange;
    use proptest::prelude::*;

    fn every_status() -> Vec<ProposalState> {
        vec![
            ProposalState::Pending,
            ProposalState::Applied,
            ProposalState::Rejected { undone: false },
            ProposalState::Rejected { undone: true },
            ProposalState::Quarantined { quarantine_reason: "r".to_owned() },
            ProposalState::Stale { stale_reason: "r".to_owned() },
        ]
    }

    #[test]
    fn the_table_of_lives_is_the_specs() {
        let names = |event: &ProposalTransition| -> Vec<String> {
            let lives = every_status().into_iter().map(|from| {
                let word = from.as_str();
                match from.after(event.clone()) {
                    Ok(to) => format!("{word}>{}", to.as_str()),
                    Err(error) => format!("{word}!{error}"),
                }
            });
            lives.filter(|life| !life.contains("!proposal is")).collect()
        };
        assert_eq!(
            names(&ProposalTransition::Apply),
            ["pending>applied", "quarantined!quarantined proposal cannot be applied"]
        );
        let open = ["pending>rejected", "quarantined>rejected", "stale>rejected"];
        assert_eq!(names(&ProposalTransition::Reject), open);
        let open = ["pending>pending", "quarantined>pending", "stale>pending"];
        assert_eq!(names(&ProposalTransition::Revise), open);
        assert_eq!(names(&ProposalTransition::Restore), ["quarantined>pending"]);
        assert_eq!(names(&ProposalTransition::Undo), ["applied>rejected"]);
        assert_eq!(names(&ProposalTransition::Redo), ["rejected>applied"]);
    }

    #[test]
    fn a_record_reads_back_as_it_was_written() {
        for status in every_status() {
            let text = serde_json::to_string(&status).expect("JSON");
            assert_eq!(
                serde_json::from_str::<ProposalState>(&text).expect("a status"),
                status,
                "{text}"
            );
        }
        let change = ProposalChange::Replace { old_text: "a".to_owned(), new_text: "b".to_owned() };
        assert_eq!(
            serde_json::to_string(&change).expect("JSON"),
            r#"{"kind":"replace","oldText":"a","newText":"b"}"#
        );
    }

    fn any_event() -> impl Strategy<Value = ProposalTransition> {
        prop_oneof![
            Just(ProposalTransition::Apply),
            Just(ProposalTransition::Reject),
            Just(ProposalTransition::Revise),
            Just(ProposalTransition::Quarantine("q".to_owned())),
            Just(ProposalTransition::GoStale("s".to_owned())),
            Just(ProposalTransition::Restore),
            Just(ProposalTransition::Undo),
            Just(ProposalTransition::Redo),
        ]
    }

    proptest! {
        /// Whatever happens in whatever order: what was rejected by a person never comes back, and
        /// only what is pending is ever written.
        #[test]
        fn no_order_of_events_writes_what_is_not_pending(
            events in proptest::collection::vec(any_event(), 0..40)
        ) {
            let mut status = ProposalState::Pending;
            for event in events {
                let before = status.clone();
                if let Ok(after) = before.clone().after(event.clone()) {
                    if after == ProposalState::Applied {
                        let taken_back = ProposalState::Rejected { undone: true };
                        prop_assert!(before == ProposalState::Pending || before == taken_back);
                    }
                    let turned_down = ProposalState::Rejected { undone: false };
                    prop_assert!(before != turned_down);
                    status = after;
                }
            }
        }
    }
}
