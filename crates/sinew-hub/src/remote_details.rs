//! A skill that is not installed: what its source says about it. Nothing is installed or run.

use serde::Serialize;
use sinew_settings::ErrorCode;

use crate::error::HubError;
use crate::hub::Hub;
use crate::lock::SourceRecord;
use crate::reference::{RequestedVersion, SkillReference};
use crate::registry::QualifiedSlug;
use crate::resolve::FetchPlan;
use crate::wire::{ModerationWire, SetupKeyWire, VersionSummaryWire};

/// What a source says about a skill.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RemoteSkillDetails {
    /// The reference that was given.
    pub reference: String,
    /// Where it is.
    pub source: SourceRecord,
    /// Whether that source reviews skills before it serves them.
    pub reviewed: bool,
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The version or commit that would be installed.
    pub version: String,
    /// Stars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stars: Option<u64>,
    /// Downloads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub downloads: Option<u64>,
    /// What moderators and scans say: `clean`, `suspicious`, `malicious`, `unknown` …
    pub verdict: String,
    /// What moderators say, in full.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moderation: Option<ModerationWire>,
    /// What it needs before it works.
    pub setup: Vec<SetupKeyWire>,
    /// Its files: path and size.
    pub files: Vec<(String, u64)>,
    /// Its versions, newest first, if requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub versions: Vec<VersionSummaryWire>,
    /// One file's text, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Details to fetch beyond the usual ones.
#[derive(Debug, Clone, Default)]
pub struct RemoteSkillExtras {
    /// The text of this file.
    pub file: Option<String>,
    /// Its versions.
    pub versions: bool,
}

impl Hub {
    /// Asks a skill's source about it.
    pub fn remote_details(
        &self,
        reference: &SkillReference,
        want: &RemoteSkillExtras,
    ) -> Result<RemoteSkillDetails, HubError> {
        let mut resolved = self.resolve(reference)?;
        let mut about = RemoteSkillDetails {
            reference: reference.to_string(),
            reviewed: resolved.source.kind.is_reviewed(),
            name: resolved.key.clone().unwrap_or_default(),
            description: String::new(),
            version: resolved.version.clone().unwrap_or_default(),
            stars: None,
            downloads: None,
            verdict: resolved.verdict().to_owned(),
            moderation: resolved.moderation.clone(),
            setup: resolved.setup.clone(),
            files: Vec::new(),
            versions: Vec::new(),
            text: None,
            source: resolved.source.clone(),
        };
        if let (
            FetchPlan::Registry { registry, owner, slug, version },
            SkillReference::Registry(wanted),
        ) = (resolved.from.clone(), reference)
        {
            let registry = self.registry(Some(&registry))?;
            let skill = QualifiedSlug { slug: &slug, owner: owner.as_deref() };
            let detail = registry.detail(skill)?;
            let document = registry.version(skill, &version)?.version;
            about.name = detail.skill.display_name.unwrap_or_else(|| slug.clone());
            about.description = detail.skill.summary.unwrap_or_default();
            about.stars = detail.skill.stats.stars;
            about.downloads = detail.skill.stats.downloads;
            if let Some(status) = document.security.and_then(|security| security.status)
                && about.verdict == "clean"
            {
                about.verdict = status;
            }
            let files = document.files.unwrap_or_default();
            about.files = files.into_iter().map(|file| (file.path, file.size)).collect();
            if want.versions || matches!(wanted.wanted, RequestedVersion::Range(_)) {
                about.versions = registry.versions(skill)?;
            }
            if let Some(path) = &want.file {
                let bytes = registry.file(skill, path, &version)?;
                about.text = Some(text(path, bytes)?);
            }
            return Ok(about);
        }
        // Other sources have no index of their own, so the files are fetched to describe the skill.
        let fetched = self.fetch(&mut resolved, &mut |_, _| {})?;
        about.source = resolved.source;
        about.version = resolved.version.unwrap_or_default();
        about.name = fetched.found.name;
        about.description = fetched.found.description;
        let files = fetched.tree.files();
        about.files =
            files.iter().map(|file| (file.path.clone(), file.bytes.len() as u64)).collect();
        if let Some(path) = &want.file {
            let file = fetched.tree.get(path).ok_or_else(|| {
                HubError::new(ErrorCode::NotFound, format!("there is no file {path:?}"))
            })?;
            about.text = Some(text(path, file.bytes.clone())?);
        }
        Ok(about)
    }
}

fn text(path: &str, bytes: Vec<u8>) -> Result<String, HubError> {
    String::from_utf8(bytes)
        .map_err(|_| HubError::new(ErrorCode::Unsupported, format!("{path:?} is not a text file")))
}
