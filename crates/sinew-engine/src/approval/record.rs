//! The approval itself: what is asked, about which bytes, and where it stands.

use std::fmt;

use serde::{Deserialize, Serialize};
use sinew_cortex::UtcInstant;
use sinew_cortex::acquire::{
    ANSWER_WITHIN_MS, CandidateVerdict, ConsentAct, ConsentChannel, ConsentScope,
};
use sinew_guard::digest;
use sinew_settings::Actor;
use sinew_skill::content_hash;

use super::evidence::ApprovalEvidence;

/// Something that waits for a person, or that a person decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Approval {
    /// Its name: 12 characters that mean nothing.
    pub id: String,
    /// What a yes would allow.
    pub kind: ConsentAct,
    /// What it is about.
    pub subject: ApprovalSubject,
    /// What the same yes covers when the first cannot be had, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<ApprovalSubject>,
    /// What a person should know.
    pub evidence: ApprovalEvidence,
    /// The acquisition it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Who asks.
    pub asked_by: Actor,
    /// Since when.
    pub asked_at: UtcInstant,
    /// Until when an answer counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<UtcInstant>,
    /// Where it stands.
    #[serde(flatten)]
    pub state: ApprovalState,
}

impl Approval {
    /// The approval as it is at a time: it expires without a write.
    #[must_use]
    pub fn as_of(mut self, now: UtcInstant) -> Self {
        if matches!(self.state, ApprovalState::Pending { .. }) && self.is_over(now) {
            self.state = ApprovalState::Expired;
        }
        self
    }

    /// Whether it waits for an answer.
    pub fn is_pending(&self) -> bool {
        matches!(self.state, ApprovalState::Pending { .. })
    }

    /// Whether a person said yes.
    pub fn is_approved(&self) -> bool {
        matches!(self.state, ApprovalState::Approved { .. })
    }

    /// Whether this yes answers the same question about exactly the same content again.
    pub fn is_remembered(&self) -> bool {
        matches!(self.state, ApprovalState::Approved { remember: true, .. })
    }

    /// The scanner's verdict as rules about answers see it. What an agent passes on counts for nothing
    /// with a critical finding, even an accepted one.
    pub(super) fn verdict(&self, channel: ConsentChannel) -> CandidateVerdict {
        match self.evidence.scan {
            None => CandidateVerdict::Allow,
            Some(scan) if channel == ConsentChannel::Relay && scan.critical > 0 => {
                CandidateVerdict::Block
            }
            Some(scan) => scan.verdict,
        }
    }

    pub(super) fn is_over(&self, now: UtcInstant) -> bool {
        self.expires_at.is_some_and(|end| now > end)
    }

    pub(super) fn subjects(&self) -> impl Iterator<Item = &ApprovalSubject> {
        std::iter::once(&self.subject).chain(&self.also)
    }
}

/// Whether a yes can be remembered. The others are each about one moment: a command, a change, a
/// finding that is acknowledged.
pub(super) fn can_be_remembered(kind: ConsentAct) -> bool {
    matches!(kind, ConsentAct::Install | ConsentAct::Plan)
}

/// When an answer to a question that is asked now is due.
pub(super) fn expires(kind: ConsentAct, now: UtcInstant) -> Option<UtcInstant> {
    match kind {
        // Proposals and what is in quarantine wait as long as it takes.
        ConsentAct::ProposalApply | ConsentAct::QuarantineRestore => None,
        _ => Some(now.plus_ms(ANSWER_WITHIN_MS)),
    }
}

/// What an approval is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ApprovalSubject {
    /// The skill, slug, proposal, file or command.
    pub name: String,
    /// Its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The bytes that a yes is bound to.
    #[serde(flatten)]
    pub content: ApprovalContent,
}

/// The bytes that a yes is bound to. Nothing at all for a command, whose text is its name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ApprovalContent {
    /// The digest of all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Each file of it, in the order of the paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<ApprovalFileDigest>,
}

/// One file, as it was when it was shown.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ApprovalFileDigest {
    /// Its path within the skill.
    pub path: String,
    /// Its SHA-256, in hexadecimal digits.
    pub sha256: String,
    /// Its length.
    pub size: u64,
}

impl ApprovalContent {
    /// Content known by one digest.
    pub fn from_digest(digest: &str) -> Self {
        Self { digest: Some(digest.to_owned()), files: Vec::new() }
    }

    /// The content of a tree of files.
    pub fn from_files<'a>(files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Self {
        let files = files.into_iter().map(|(path, bytes)| ApprovalFileDigest {
            path: path.to_owned(),
            sha256: content_hash(bytes),
            size: bytes.len() as u64,
        });
        Self::from_file_digests(files)
    }

    /// The content of a tree whose files were hashed before.
    pub fn from_file_digests(files: impl IntoIterator<Item = ApprovalFileDigest>) -> Self {
        let mut files: Vec<ApprovalFileDigest> = files.into_iter().collect();
        files.sort();
        let hashed = files
            .iter()
            .map(|file| (file.path.as_str(), digest::from_hex(&file.sha256).unwrap_or_default()));
        Self { digest: Some(digest::tree_of_hashes(hashed)), files }
    }

    /// The paths that are not the same in both.
    pub(super) fn differing(&self, other: &Self) -> Vec<String> {
        let missing_in = |these: &Self, those: &Self| -> Vec<String> {
            let missing = these.files.iter().filter(|file| !those.files.contains(file));
            missing.map(|file| file.path.clone()).collect()
        };
        let mut paths = missing_in(self, other);
        paths.extend(missing_in(other, self));
        paths.sort();
        paths.dedup();
        paths
    }
}

/// Where an approval stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum ApprovalState {
    /// It waits.
    Pending {
        /// Files that are not those a person said yes to before.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        changed: Vec<String>,
    },
    /// A person said yes.
    Approved {
        /// Who.
        decided_by: DecisionOrigin,
        /// To how much.
        #[serde(default)]
        scope: ConsentScope,
        /// What it was used for; it serves once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        used_for: Option<String>,
        /// Whether the person need not be asked again about exactly this content.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        remember: bool,
    },
    /// A person said no.
    Rejected {
        /// Who.
        decided_by: DecisionOrigin,
    },
    /// There was no answer in time.
    Expired,
    /// The answer is not needed any more.
    Withdrawn {
        /// Who.
        withdrawn_by: Actor,
    },
}

impl ApprovalState {
    /// Its name in records.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Pending { .. } => "pending",
            Self::Approved { .. } => "approved",
            Self::Rejected { .. } => "rejected",
            Self::Expired => "expired",
            Self::Withdrawn { .. } => "withdrawn",
        }
    }
}

/// Who decided, where and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct DecisionOrigin {
    /// Who.
    #[serde(flatten)]
    pub actor: Actor,
    /// Where.
    pub channel: ConsentChannel,
    /// The agent's program that put the question to the person, where one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
    /// When.
    pub at: UtcInstant,
    /// The person's words, where an agent passed them on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// What they had to say about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}

impl fmt::Display for DecisionOrigin {
    /// Who decided and over which channel, as records of installs name it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let actor = self.actor.name();
        let via = self.via.as_deref().unwrap_or("an agent's program");
        match self.channel {
            ConsentChannel::Cli => write!(f, "{actor}, at a terminal"),
            ConsentChannel::Dashboard => write!(f, "{actor}, on a signed-in page"),
            ConsentChannel::Elicitation => write!(f, "{actor}, asked by {via}"),
            ConsentChannel::Relay => write!(f, "a person, as {actor} relays it"),
        }
    }
}

/// A question that is to be put to a person.
#[derive(Debug, Clone, PartialEq)]
pub struct NewApproval {
    /// What a yes would allow.
    pub kind: ConsentAct,
    /// What it is about.
    pub subject: ApprovalSubject,
    /// What the same yes covers when the first cannot be had, in order.
    pub also: Vec<ApprovalSubject>,
    /// What a person should know.
    pub evidence: ApprovalEvidence,
    /// The acquisition it belongs to.
    pub run: Option<String>,
}

impl NewApproval {
    /// A question about one thing.
    pub fn new(kind: ConsentAct, subject: ApprovalSubject, evidence: ApprovalEvidence) -> Self {
        Self { kind, subject, also: Vec::new(), evidence, run: None }
    }

    /// Whether a yes that a person gave for good answers it: to the same content, of which the scanner
    /// still says the same.
    pub(super) fn is_answered_by(&self, yes: &Approval) -> bool {
        yes.is_remembered()
            && self.kind == yes.kind
            && self.subject.name == yes.subject.name
            && self.subject.content.digest.is_some()
            && self.subject.content.digest == yes.subject.content.digest
            && self.evidence.scan == yes.evidence.scan
    }

    /// Whether it asks what another one asks already.
    pub(super) fn is_asked_by(&self, other: &Approval) -> bool {
        self.kind == other.kind
            && self.run == other.run
            && self.subject == other.subject
            && self.also == other.also
    }
}
