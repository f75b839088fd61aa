//! Who owns a skill: what was learned may be edited, what a person wrote or installed may not.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Who owns a skill.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum SkillOwner {
    /// The skill does not exist yet.
    #[default]
    New,
    /// The workshop wrote it last, and it is as the workshop left it.
    Workshop,
    /// A person wrote it, or changed what the workshop wrote.
    HandWritten,
    /// It came from a registry or a repository.
    Installed,
    /// It is pinned to a version.
    Pinned,
    /// It came with the program.
    Bundled,
    /// It belongs to another tier than the workspace.
    Elsewhere,
}

impl SkillOwner {
    /// The word for messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Workshop => "workshop",
            Self::HandWritten => "hand-written",
            Self::Installed => "installed",
            Self::Pinned => "pinned",
            Self::Bundled => "bundled",
            Self::Elsewhere => "shared",
        }
    }

    /// Whether the workshop may edit it without being asked.
    pub fn allows_automatic(self) -> bool {
        matches!(self, Self::New | Self::Workshop)
    }

    /// Whether not even a person may change it through the workshop.
    pub fn forbids(self) -> bool {
        matches!(self, Self::Pinned | Self::Bundled | Self::Elsewhere)
    }
}

/// Files that say which skills of a workspace were installed, each with a map `skills`.
const LOCKS: &[&str] =
    &[".sinew/lock.json", ".clawhub/lock.json", ".clawdhub/lock.json", "skills-lock.json"];

/// Files inside a skill that say where it came from.
const ORIGINS: &[&str] =
    &[".clawhub/origin.json", ".clawdhub/origin.json", ".openclaw/source-origin.json"];

/// How a skill of the workspace got there, by its locks and its own folder; `None` when it
/// was not installed.
pub(crate) fn installed_owner(workspace: &Path, name: &str) -> Option<SkillOwner> {
    let mut found = None;
    for lock in LOCKS {
        let Ok(bytes) = fs::read(workspace.join(lock)) else { continue };
        let Ok(lock) = serde_json::from_slice::<Value>(&bytes) else {
            // A lock that cannot be read may list the skill, so nothing is edited until it is repaired.
            found = Some(SkillOwner::Installed);
            continue;
        };
        let Some(skills) = lock.get("skills").and_then(Value::as_object) else { continue };
        let entry = skills
            .iter()
            .find(|(key, _)| key.as_str() == name || key.rsplit('/').next() == Some(name));
        if let Some((_, entry)) = entry {
            if entry.get("pinned") == Some(&Value::Bool(true)) {
                return Some(SkillOwner::Pinned);
            }
            found = Some(SkillOwner::Installed);
        }
    }
    let folder = workspace.join("skills").join(name);
    found.or_else(|| {
        let came = ORIGINS.iter().any(|origin| folder.join(origin).exists());
        came.then_some(SkillOwner::Installed)
    })
}
