//! `traces`: what is learned from finished runs.

use super::section::{choices, section};

section! {
    /// `traces`: what is learned from finished runs.
    ///
    /// A choice that is absent follows `referenceExact`.
    pub struct TracesSection at "traces" {
        /// Whether finished runs are learned from.
        "enabled" => enabled: bool = true;
        /// What becomes of a draft; auto writes it where the profile's skills are read.
        "publish" => publish: Option<PublishMode> = None, shown "proposal";
        /// Draft runs that were not confirmed to have worked, with low confidence.
        "acceptWeak" or "accept_weak" => accept_weak: bool = true;
        /// Write drafts where and as OpenPocket does: at once, typed text included, old ones removed.
        "referenceExact" or "reference_exact" => reference_exact: bool = false;
        /// Where runs come from unasked: from hooks (live), or the sessions of agents.
        "sources" => sources: Vec<TraceSource> = vec![TraceSource::Live];
        /// Typed text in drafts; param makes a parameter of it.
        "typedText" or "typed_text" => typed_text: Option<TypedTextMode> = None, shown "param";
        /// What a newer draft does to the older one in skills/auto; supersede archives it.
        "duplicates" => duplicates: Option<DuplicateDrafts> = None, shown "supersede";
        /// Which drafts have front matter; reference means only those in folders of their own.
        "frontMatter" or "front_matter" => front_matter: Option<DraftFrontMatter> = None, shown "always";
        /// Whether drafts are in the prompt unreviewed.
        "draftsInIndex" or "drafts_in_index" => drafts_in_index: Option<bool> = None, shown "false";
        /// A run with fewer steps makes no draft.
        "minSteps" or "min_steps" => min_steps: usize = 1;
        /// Older sessions are not looked through unless named.
        "maxAgeDays" or "max_age_days" => max_age_days: u64 = 30;
        /// Runs that are remembered per workspace; the oldest go first.
        "keepRuns" or "keep_runs" => keep_runs: usize = 500, in 1 to MOST_KEPT_RUNS;
        /// Whether drafts come with a replay script.
        "scripts" => scripts: bool = true;
    }
}

/// Every run is compared with all that are kept: more would be felt at each turn.
const MOST_KEPT_RUNS: u32 = 5_000;

impl TracesSection {
    /// Whether drafts are in the prompt before a person has read them.
    pub fn uses_unread_drafts(&self) -> bool {
        self.drafts_in_index.unwrap_or(self.reference_exact)
    }

    /// Whether what hooks tell is learned from.
    pub fn learns_from_hooks(&self) -> bool {
        self.enabled && self.sources.contains(&TraceSource::Live)
    }
}

choices! {
    /// What becomes of a draft.
    #[derive(Default)]
    pub enum PublishMode {
        /// It is proposed, and waits for a person.
        #[default]
        Proposal = "proposal",
        /// It is written at once where nothing speaks against it, in the form that the profile reads.
        Auto = "auto",
        /// Runs are remembered and compared; nothing is drafted.
        Off = "off",
    }
}

choices! {
    /// How typed text is kept.
    #[derive(Default)]
    pub enum TypedTextMode {
        /// As a parameter.
        #[default]
        Parameter = "param",
        /// As it is, like OpenPocket, as far as it is no secret.
        Verbatim = "verbatim",
    }
}

choices! {
    /// What a newer draft does to the older one.
    pub enum DuplicateDrafts {
        /// The older one goes to the archive.
        Supersede = "supersede",
        /// The older one is removed.
        Delete = "delete",
    }
}

choices! {
    /// Which drafts have front matter.
    pub enum DraftFrontMatter {
        /// All.
        Always = "always",
        /// Those in folders of their own, like OpenPocket.
        Reference = "reference",
    }
}

choices! {
    /// Where runs come from unasked.
    pub enum TraceSource {
        /// What hooks tell while an agent works.
        Live = "live",
        /// The sessions of Claude Code.
        ClaudeCode = "claude-code",
        /// The sessions of Codex.
        Codex = "codex",
        /// The sessions of OpenClaw.
        OpenClaw = "openclaw",
        /// The sessions of OpenPocket.
        OpenPocket = "openpocket",
    }
}
