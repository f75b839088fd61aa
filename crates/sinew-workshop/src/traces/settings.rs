//! `traces` of the configuration.

use sinew_catalog::Config;
use sinew_catalog::config::{SpecMode, Traces};

/// What becomes of a draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Publish {
    /// It is proposed, and waits for a person.
    #[default]
    Proposal,
    /// It is written at once where nothing speaks against it, in the reference's folders.
    Auto,
    /// Runs are remembered and compared; nothing is drafted.
    Off,
}

/// How finished runs are learned from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceSettings {
    /// `traces.enabled`, or OpenPocket's `agent.autoArtifactsEnabled`.
    pub enabled: bool,
    /// `traces.publish`.
    pub publish: Publish,
    /// `traces.accept_weak`.
    pub accept_weak: bool,
    /// `traces.reference_exact`.
    pub reference_exact: bool,
    /// Whether drafts in the reference's folders are folders of their own (`skillsSpecMode: strict`).
    pub strict: bool,
}

impl Default for TraceSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            publish: Publish::Proposal,
            accept_weak: true,
            reference_exact: false,
            strict: false,
        }
    }
}

impl TraceSettings {
    /// As the configuration says.
    pub fn of(config: &Config) -> Self {
        let Traces { enabled, accept_weak, reference_exact, .. } = config.traces;
        let publish = match config.traces.publish.as_deref() {
            Some("auto") => Publish::Auto,
            Some("off") => Publish::Off,
            None if reference_exact => Publish::Auto,
            _ => Publish::Proposal,
        };
        let strict = config.openpocket.mode == SpecMode::Strict;
        Self { enabled, publish, accept_weak, reference_exact, strict }
    }
}
