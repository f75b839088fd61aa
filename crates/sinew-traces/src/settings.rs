//! `traces` of the configuration.

use sinew_catalog::Config;
use sinew_catalog::config::OpenPocketMode;

use crate::redact::TypedTextMode;

/// What becomes of a draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PublishMode {
    /// It is proposed, and waits for a person.
    #[default]
    Proposal,
    /// It is written at once where nothing speaks against it, in OpenPocket's folders.
    Auto,
    /// Runs are remembered and compared; nothing is drafted.
    Off,
}

/// What becomes of a run that ended well as far as can be seen, and of which nobody spoke.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WeakRunPolicy {
    /// A draft with low confidence.
    #[default]
    Draft,
    /// It is remembered, and becomes a draft when the same is done again.
    WhenRepeated,
    /// Nothing.
    Skip,
}

/// How finished runs are learned from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceSettings {
    /// `traces.enabled`, or OpenPocket's `agent.autoArtifactsEnabled`.
    pub enabled: bool,
    /// `traces.publish`.
    pub publish: PublishMode,
    /// What becomes of runs of which nobody said that they worked.
    pub weak: WeakRunPolicy,
    /// `traces.reference_exact`: OpenPocket's sections, and no more than them.
    pub reference_exact: bool,
    /// `traces.typed_text`.
    pub typed: TypedTextMode,
    /// Whether an older draft in OpenPocket's folders is kept in the archive (`traces.duplicates`).
    pub archive: bool,
    /// Whether drafts that are files have front matter, too (`traces.front_matter`).
    pub front_matter: bool,
    /// Whether drafts wait for a person before the prompt has them (`traces.drafts_in_index`).
    pub hidden: bool,
    /// `traces.min_steps`.
    pub min_steps: usize,
    /// `traces.keep_runs`.
    pub keep_runs: usize,
    /// `traces.scripts`.
    pub scripts: bool,
    /// Whether drafts in OpenPocket's folders are folders of their own (`skillsSpecMode: strict`).
    pub strict: bool,
}

impl Default for TraceSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            publish: PublishMode::Proposal,
            weak: WeakRunPolicy::Draft,
            reference_exact: false,
            typed: TypedTextMode::Parameter,
            archive: true,
            front_matter: true,
            hidden: true,
            min_steps: 1,
            keep_runs: 500,
            scripts: true,
            strict: false,
        }
    }
}

impl TraceSettings {
    /// As the configuration says.
    pub fn of(config: &Config) -> Self {
        let traces = &config.traces;
        let exact = traces.reference_exact;
        // What somebody chose counts; what nobody did follows OpenPocket, or does not.
        let is = |chosen: &Option<String>, reference: &str| match chosen {
            Some(chosen) => chosen == reference,
            None => exact,
        };
        Self {
            enabled: traces.enabled,
            publish: match traces.publish.as_deref() {
                Some("off") => PublishMode::Off,
                _ if is(&traces.publish, "auto") => PublishMode::Auto,
                _ => PublishMode::Proposal,
            },
            weak: if traces.accept_weak { WeakRunPolicy::Draft } else { WeakRunPolicy::Skip },
            reference_exact: exact,
            typed: match is(&traces.typed_text, "verbatim") {
                true => TypedTextMode::Verbatim,
                false => TypedTextMode::Parameter,
            },
            archive: !is(&traces.duplicates, "delete"),
            front_matter: !is(&traces.front_matter, "reference"),
            hidden: !traces.drafts_in_index.unwrap_or(exact),
            min_steps: traces.min_steps,
            keep_runs: traces.keep_runs,
            scripts: traces.scripts,
            strict: config.openpocket.mode == OpenPocketMode::Strict,
        }
    }

    /// For runs that nobody has handed over: what is done once and not spoken of is no skill yet.
    #[must_use]
    pub fn for_unrequested_runs(self) -> Self {
        match self.weak {
            WeakRunPolicy::Draft => Self { weak: WeakRunPolicy::WhenRepeated, ..self },
            WeakRunPolicy::WhenRepeated | WeakRunPolicy::Skip => self,
        }
    }
}
