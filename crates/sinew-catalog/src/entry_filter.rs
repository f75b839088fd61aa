//! Which entries a list shows: the same question over HTTP and over MCP.

use serde::Deserialize;

use crate::entry::{CatalogEntry, EntryState};

/// Which states are wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum SkillStateFilter {
    /// Every state.
    #[default]
    All,
    /// Usable now.
    Ready,
    /// Something is missing.
    NeedsSetup,
    /// Switched off.
    Disabled,
    /// Held back.
    Blocked,
    /// Not for this agent or session.
    Excluded,
    /// Another skill of the same name is used.
    Shadowed,
    /// Could not be loaded.
    Broken,
}

impl SkillStateFilter {
    /// Whether an entry of this state is wanted.
    pub fn takes(self, state: EntryState) -> bool {
        let wanted = match self {
            Self::All => return true,
            Self::Ready => EntryState::Ready,
            Self::NeedsSetup => EntryState::NeedsSetup,
            Self::Disabled => EntryState::Disabled,
            Self::Blocked => EntryState::Blocked,
            Self::Excluded => EntryState::Excluded,
            Self::Shadowed => EntryState::Shadowed,
            Self::Broken => EntryState::Broken,
        };
        wanted == state
    }
}

/// What an entry must have to be listed.
#[derive(Debug, Clone, Default)]
pub struct EntryFilter {
    state: SkillStateFilter,
    tier: Option<String>,
    letters: Option<String>,
}

impl EntryFilter {
    /// Entries of a state, of a tier, with these letters in name or description.
    pub fn new(state: SkillStateFilter, tier: Option<&str>, letters: Option<&str>) -> Self {
        Self { state, tier: tier.map(str::to_owned), letters: letters.map(str::to_lowercase) }
    }

    /// Whether an entry is listed.
    pub fn takes(&self, entry: &CatalogEntry) -> bool {
        let contains = |letters: &String| {
            [&entry.name, &entry.description]
                .iter()
                .any(|text| text.to_lowercase().contains(letters.as_str()))
        };
        self.state.takes(entry.state)
            && self.tier.as_deref().is_none_or(|tier| entry.tier.as_str() == tier)
            && self.letters.as_ref().is_none_or(contains)
    }
}
