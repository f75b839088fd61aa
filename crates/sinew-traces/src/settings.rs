//! `traces` of the configuration.

use sinew_settings::Config;
use sinew_settings::config::{
    DraftFrontMatter, DuplicateDrafts, OpenPocketMode, PublishMode, TypedTextMode,
};

/// What becomes of a run that seems to have ended well, but that the user did not confirm.
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
    /// What becomes of runs that the user did not confirm.
    pub weak: WeakRunPolicy,
    /// `traces.referenceExact`: OpenPocket's sections, and no more than them.
    pub reference_exact: bool,
    /// `traces.typedText`.
    pub typed: TypedTextMode,
    /// Whether an older draft in OpenPocket's folders is kept in the archive (`traces.duplicates`).
    pub archive: bool,
    /// Whether drafts that are files have front matter, too (`traces.frontMatter`).
    pub front_matter: bool,
    /// Whether drafts wait for a person before the prompt has them (`traces.draftsInIndex`).
    pub hidden: bool,
    /// `traces.minSteps`.
    pub min_steps: usize,
    /// `traces.keepRuns`.
    pub keep_runs: usize,
    /// `traces.scripts`.
    pub scripts: bool,
    /// Whether drafts in OpenPocket's folders are folders of their own (`skillsSpecMode: strict`).
    pub strict: bool,
    /// Which form of a draft the profile reads, where it is written at once.
    pub form: DraftForm,
}

/// The form in which a profile finds a draft that is written at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DraftForm {
    /// As OpenPocket writes it: below `skills/auto`, as a file or a folder by `skillsSpecMode`.
    #[default]
    OpenPocket,
    /// A folder below `skills/auto`: folders in folders are read.
    GroupedFolder,
    /// A folder among the others: deeper ones are not read.
    SkillFolder,
}

impl Default for TraceSettings {
    fn default() -> Self {
        Self::of(&Config::default())
    }
}

impl TraceSettings {
    /// As the configuration says.
    pub fn of(config: &Config) -> Self {
        let traces = &config.traces;
        let exact = traces.reference_exact;
        // A configured value counts; a missing one follows OpenPocket where `reference_exact` is set.
        Self {
            enabled: traces.enabled,
            publish: traces.publish.unwrap_or(match exact {
                true => PublishMode::Auto,
                false => PublishMode::Proposal,
            }),
            weak: if traces.accept_weak { WeakRunPolicy::Draft } else { WeakRunPolicy::Skip },
            reference_exact: exact,
            typed: traces.typed_text.unwrap_or(match exact {
                true => TypedTextMode::Verbatim,
                false => TypedTextMode::Parameter,
            }),
            archive: traces
                .duplicates
                .map_or(!exact, |chosen| chosen == DuplicateDrafts::Supersede),
            front_matter: traces
                .front_matter
                .map_or(!exact, |chosen| chosen == DraftFrontMatter::Always),
            hidden: !traces.uses_unread_drafts(),
            min_steps: traces.min_steps,
            keep_runs: traces.keep_runs,
            scripts: traces.scripts,
            strict: config.openpocket_agent.mode == OpenPocketMode::Strict,
            form: DraftForm::OpenPocket,
        }
    }

    /// In the form that a profile reads; OpenPocket's way, where it was asked for, stays.
    #[must_use]
    pub fn in_form(self, form: DraftForm) -> Self {
        if self.reference_exact { self } else { Self { form, ..self } }
    }

    /// For runs that the user did not hand over: one that happened once, without confirmation, is not
    /// enough for a skill.
    #[must_use]
    pub fn for_unrequested_runs(self) -> Self {
        match self.weak {
            WeakRunPolicy::Draft => Self { weak: WeakRunPolicy::WhenRepeated, ..self },
            WeakRunPolicy::WhenRepeated | WeakRunPolicy::Skip => self,
        }
    }
}
