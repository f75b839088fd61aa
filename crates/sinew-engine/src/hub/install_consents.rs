//! What this user agreed to install, as sinew's home records it. A project brings its own lock, and
//! what that says of an approval may be anyone's.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sinew_guard::scan_records;
use sinew_hub::install::{InstallReview, ReviewOccasion};
use sinew_hub::lock::LockEntry;

use crate::Engine;

/// Exactly these files, under this name, from a place that calls them so.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct InstallConsent {
    key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    slug: Option<String>,
    digest: String,
}

impl InstallConsent {
    /// What a lock says was agreed to.
    pub(super) fn claimed(key: &str, entry: &LockEntry) -> Self {
        let (slug, digest) = (entry.source.slug.clone(), entry.tree_sha256.clone());
        Self { key: key.to_owned(), slug, digest }
    }

    fn of(review: &InstallReview) -> Self {
        let (slug, digest) = (review.source.slug.clone(), review.digest.clone());
        Self { key: review.key.clone(), slug, digest }
    }
}

impl Engine {
    /// Where it is recorded.
    pub(super) fn install_consents_path(&self) -> PathBuf {
        self.env.sinew_home().join("installs.jsonl")
    }

    /// What was agreed to on this machine. A line that cannot be read counts for nothing.
    pub(super) fn install_consents(&self) -> BTreeSet<InstallConsent> {
        let text = std::fs::read_to_string(self.install_consents_path()).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// The same for an update that the configuration agrees to, of what was agreed to before.
    pub(crate) fn record_followed_update(&self, review: &InstallReview) {
        let new = InstallConsent::of(review);
        let is_earlier = |old: &InstallConsent| old.key == new.key && old.slug == new.slug;
        if review.occasion == ReviewOccasion::Update
            && self.install_consents().iter().any(is_earlier)
        {
            self.record_install_consent(review);
        }
    }

    /// Records that this user, or the file that speaks for them, agreed to an install.
    pub(crate) fn record_install_consent(&self, review: &InstallReview) {
        let agreed = InstallConsent::of(review);
        if self.install_consents().contains(&agreed) {
            return;
        }
        // Without the record the skill works, and only counts as one that came with its project.
        if let Err(error) =
            scan_records::append_audit_record(&self.install_consents_path(), &agreed)
        {
            tracing::warn!(%error, "an install could not be recorded in sinew's home");
        }
    }
}
