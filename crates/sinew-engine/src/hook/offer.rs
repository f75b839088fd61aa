//! Which skills are offered to a message, and how each of them comes: with its text, as a pointer, or as a
//! reminder of a text that was given before.
//!
//! What must never happen here: the text of a skill that the scanner warned about, or text that is not
//! the text that was scanned.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use sinew_catalog::{Catalog, CatalogEntry};
use sinew_guard::scan::Verdict;
use sinew_route::RouteDecision;
use sinew_settings::config::BringMode;
use sinew_settings::path_text;

use super::agents::HookAgent;
use super::context::MAX_OFFERS;
use super::skill_text::SkillFileBody;
use super::touched_files::FileCandidate;
use crate::Engine;
use crate::routing::{RouteAnswer, read_skill};

/// Characters of a part of the message that stands beside its skill.
const MAX_PART: usize = 120;

/// How sure an offer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OfferConfidence {
    /// The user named the skills.
    Named,
    /// One skill, with confidence.
    Match,
    /// Some that the message needs one after the other.
    Steps,
    /// Some that may help.
    Shortlist,
}

impl OfferConfidence {
    /// Whether several skills are offered, each on a line.
    pub(super) fn is_list(self) -> bool {
        matches!(self, Self::Steps | Self::Shortlist)
    }
}

/// How a skill came to the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum OfferKind {
    /// With its whole text.
    Text,
    /// With the beginning of its text.
    Head,
    /// By name and location.
    Pointer,
    /// As a reminder of the text that was given before.
    Again,
    /// By name and location, with a warning.
    Warned,
}

impl OfferKind {
    /// Whether the agent has the skill's text from it.
    pub(super) fn brought_text(self) -> bool {
        matches!(self, Self::Text | Self::Head)
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Text => "its text was brought",
            Self::Head => "the beginning of its text was brought",
            Self::Pointer => "it was pointed at",
            Self::Again => "it was mentioned, since its text was given before",
            Self::Warned => "it was pointed at with a warning",
        }
    }
}

/// A skill that was offered, as the session's journal keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SkillOffer {
    /// The offer, of which several skills may be part.
    pub(super) offer: String,
    /// When, in milliseconds since 1970.
    pub(super) at: u64,
    pub(super) skill: String,
    /// The digest of its file.
    pub(super) digest: String,
    pub(super) how: OfferKind,
    /// Its share of the characters that were added.
    pub(super) chars: usize,
    /// The helper of the agent that it was offered to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) helper: Option<String>,
}

/// The id of what is offered to one message of a session.
pub(super) fn offer_id(agent: &str, session: &str, at: u64, message: &str) -> String {
    let digest = Sha256::new()
        .chain_update(agent)
        .chain_update([0])
        .chain_update(session)
        .chain_update(at.to_le_bytes())
        .chain_update(message)
        .finalize();
    digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

/// What the agent is to get of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SkillDelivery {
    Body(SkillFileBody),
    Pointer,
    Again,
    Warned { findings: usize },
}

impl SkillDelivery {
    /// How it comes where there is no room for a text.
    pub(super) fn kind_without_text(&self) -> OfferKind {
        match self {
            Self::Body(_) | Self::Pointer => OfferKind::Pointer,
            Self::Again => OfferKind::Again,
            Self::Warned { .. } => OfferKind::Warned,
        }
    }
}

/// A skill that is offered.
#[derive(Debug)]
pub(super) struct OfferedSkill<'c> {
    pub(super) entry: &'c CatalogEntry,
    pub(super) location: String,
    /// How the agent itself calls it, where it knows it.
    pub(super) call: Option<String>,
    /// Why it is here, where the message alone does not say so.
    pub(super) because: Option<String>,
    /// What was learned about it, in sinew's own sentences.
    pub(super) lessons: Vec<String>,
    pub(super) delivery: SkillDelivery,
}

/// What is offered, and what is worth telling about it.
#[derive(Debug)]
pub(super) struct OfferChoice<'c> {
    pub(super) confidence: OfferConfidence,
    pub(super) offers: Vec<OfferedSkill<'c>>,
    pub(super) notes: Vec<String>,
}

/// What an offer depends on besides the answer.
pub(super) struct OfferRules<'r> {
    pub(super) engine: &'r Engine,
    pub(super) host: &'r HookAgent,
    /// What was offered in the session before.
    pub(super) earlier: &'r [SkillOffer],
    /// The helper of the agent that is asked for; its context begins empty.
    pub(super) helper: Option<&'r str>,
}

impl OfferRules<'_> {
    /// The skills that are offered: those that the message names, or those that fit it.
    pub(super) fn choose<'c>(
        &self,
        catalog: &'c Catalog,
        answer: &RouteAnswer,
        files: &[FileCandidate<'c>],
    ) -> OfferChoice<'c> {
        let mut notes = Vec::new();
        if self.engine.config.hook.bring == BringMode::Off {
            notes.push("hook.bring is off: no skill comes along".to_owned());
            return OfferChoice {
                confidence: OfferConfidence::Shortlist,
                offers: Vec::new(),
                notes,
            };
        }
        let entry = |name: &str| catalog.unshadowed().find(|entry| entry.name == name);
        let mut chosen: Vec<(&CatalogEntry, Vec<String>, Option<String>)> = Vec::new();
        let confidence = if !answer.named.is_empty() {
            let named = answer.named.iter();
            chosen.extend(
                named.filter_map(|one| Some((entry(&one.name)?, one.lessons.clone(), None))),
            );
            OfferConfidence::Named
        } else {
            let part = |name: &str| {
                let step = answer.steps.iter().find(|step| step.skill == name)?;
                Some(format!("for \"{}\"", step.text.chars().take(MAX_PART).collect::<String>()))
            };
            chosen.extend(
                answer.offers().iter().filter_map(|one| {
                    Some((entry(&one.name)?, one.lessons.clone(), part(&one.name)))
                }),
            );
            match answer.decision {
                _ if !answer.steps.is_empty() => OfferConfidence::Steps,
                RouteDecision::Match => OfferConfidence::Match,
                RouteDecision::Shortlist | RouteDecision::None => OfferConfidence::Shortlist,
            }
        };
        for candidate in files {
            notes.push(format!("{}: {}", candidate.entry.name, candidate.because));
            let known = chosen.iter().any(|(entry, ..)| entry.name == candidate.entry.name);
            if confidence == OfferConfidence::Shortlist && !known {
                chosen.insert(0, (candidate.entry, Vec::new(), Some(candidate.because.clone())));
            }
        }
        chosen.retain(|(entry, ..)| !is_blocked(entry));
        chosen.truncate(MAX_OFFERS);
        let listing = self.engine.skills().host_listing(self.host.name);
        // In library mode the agent is told to leave skills alone: its own call would be refused.
        let calls = !self.engine.connect().is_library(self.host.name).unwrap_or(false);
        let with_text = !confidence.is_list();
        // Rules that the user taught are short: what they hold for comes with its text beside them.
        let is_taught = |entry: &CatalogEntry| {
            entry
                .skill
                .as_ref()
                .is_some_and(|skill| sinew_workshop::TaughtSkill::of(skill).is_some())
        };
        let with_texts =
            1 + usize::from(chosen.first().is_some_and(|(entry, ..)| is_taught(entry)));
        let offers = chosen.into_iter().enumerate().map(|(at, (entry, lessons, because))| {
            let (delivery, note) = self.delivery(entry, with_text && at < with_texts);
            notes.extend(note.map(|note| format!("{}: {note}", entry.name)));
            OfferedSkill {
                entry,
                location: path_text(&entry.file_path),
                call: (calls && listing.knows(entry)).then(|| self.host.call(&entry.id)).flatten(),
                because,
                lessons,
                delivery,
            }
        });
        let offers = offers.collect();
        OfferChoice { confidence, offers, notes }
    }

    /// What the agent gets of a skill, and why it is not its text.
    fn delivery(&self, entry: &CatalogEntry, with_text: bool) -> (SkillDelivery, Option<String>) {
        let pointer = |why: &str| (SkillDelivery::Pointer, Some(why.to_owned()));
        if let Some(scan) = entry.scan.as_ref().filter(|scan| scan.verdict == Verdict::Warn) {
            let note = "the scanner warned about it, so its text does not come along";
            return (SkillDelivery::Warned { findings: scan.findings }, Some(note.to_owned()));
        }
        if !with_text {
            return (SkillDelivery::Pointer, None);
        }
        if self.engine.config.hook.bring == BringMode::Pointer {
            return pointer("hook.bring is pointer, so its text does not come along");
        }
        let given = |offer: &SkillOffer| {
            offer.how.brought_text()
                && offer.skill == entry.name
                && offer.digest == entry.content_hash
                && offer.helper.as_deref() == self.helper
        };
        if self.earlier.iter().any(given) {
            return (
                SkillDelivery::Again,
                Some("its text was given earlier in this session".to_owned()),
            );
        }
        match body_of(entry) {
            Ok(body) => (SkillDelivery::Body(body), None),
            Err(why) => pointer(why),
        }
    }
}

/// The text of a skill, if it is the one that was scanned.
pub(super) fn body_of(entry: &CatalogEntry) -> Result<SkillFileBody, &'static str> {
    let bytes = read_skill(&entry.file_path).ok_or("its file cannot be read now")?;
    if sinew_skill::content_hash(&bytes) != entry.content_hash {
        return Err("its file has changed since it was scanned");
    }
    SkillFileBody::of_file(&bytes).ok_or("its file holds nothing below the front matter")
}

/// Whether the guard holds a skill back. The gate does too; here it is for certain.
pub(super) fn is_blocked(entry: &CatalogEntry) -> bool {
    entry.scan.as_ref().is_some_and(|scan| scan.verdict == Verdict::Block)
}

/// Whether a skill's text may come unasked.
pub(super) fn may_come(entry: &CatalogEntry) -> bool {
    let verdict = entry.scan.as_ref().map(|scan| scan.verdict);
    entry.model_visible && matches!(verdict, None | Some(Verdict::Allow))
}
