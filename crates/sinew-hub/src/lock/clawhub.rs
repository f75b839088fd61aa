//! The files of other tools in the same folder: the upstream client's lock, its note in each skill,
//! OpenClaw's note, and the lock of the `skills` client, which is only read.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value, json};
use sinew_guard::atomic::{self, FileAccess};
use sinew_settings::Clock;

use super::{LockEntry, SourceKind, put_aside};
use crate::digest::openclaw_tree;
use crate::error::HubError;

/// The upstream client's lock, including everything in it that sinew does not know.
#[derive(Debug, Default)]
pub struct ClawhubLock {
    root: Map<String, Value>,
}

impl ClawhubLock {
    /// Where the lock is written.
    pub fn path(workdir: &Path) -> PathBuf {
        workdir.join(".clawhub/lock.json")
    }

    /// Reads the lock, or the one under the client's former name.
    pub fn read(workdir: &Path) -> Option<Self> {
        let old = workdir.join(".clawdhub/lock.json");
        [Self::path(workdir), old].iter().find_map(|path| {
            match serde_json::from_slice(&std::fs::read(path).ok()?) {
                Ok(Value::Object(root)) => Some(Self { root }),
                _ => None,
            }
        })
    }

    /// The entries: each key and its data.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &Value)> {
        let skills = self.root.get("skills").and_then(Value::as_object);
        skills.into_iter().flatten().map(|(key, value)| (key.as_str(), value))
    }

    /// Changes the lock; the caller holds the workdir. A file that is not JSON is moved aside, not
    /// lost.
    pub(crate) fn change(
        workdir: &Path,
        clock: &dyn Clock,
        change: impl FnOnce(&mut Map<String, Value>),
    ) -> Result<(), HubError> {
        let path = Self::path(workdir);
        let mut lock = Self::read(workdir).unwrap_or_else(|| {
            if path.exists() {
                // The upstream client would treat it as empty; its bytes are kept beside it.
                let _ = put_aside(&path, clock);
            }
            Self::default()
        });
        lock.root.entry("version").or_insert_with(|| json!(1));
        let skills = lock.root.entry("skills").or_insert_with(|| json!({}));
        if !skills.is_object() {
            *skills = json!({});
        }
        if let Some(skills) = skills.as_object_mut() {
            change(skills);
        }
        let text = serde_json::to_string_pretty(&lock.root).unwrap_or_default() + "\n";
        atomic::write(&path, text.as_bytes(), FileAccess::Shared)
            .map_err(|error| HubError::file("write", &path, error))
    }

    /// Writes an entry; fields that other programs wrote stay.
    pub(crate) fn set(
        workdir: &Path,
        clock: &dyn Clock,
        key: &str,
        entry: &LockEntry,
    ) -> Result<(), HubError> {
        let Some(key) = key_of(key, entry) else { return Ok(()) };
        let (fields, now) = (fields(entry), clock.now_ms());
        Self::change(workdir, clock, |skills| {
            let known = skills.entry(key).or_insert_with(|| json!({}));
            if !known.is_object() {
                *known = json!({});
            }
            if let Some(known) = known.as_object_mut() {
                known.entry("installedAt").or_insert_with(|| json!(now));
                for (name, value) in fields {
                    match value {
                        Value::Null => drop(known.shift_remove(name)),
                        value => drop(known.insert(name.to_owned(), value)),
                    }
                }
            }
        })
    }

    /// Removes an entry if it exists.
    pub(crate) fn remove(
        workdir: &Path,
        clock: &dyn Clock,
        key: &str,
        entry: &LockEntry,
    ) -> Result<(), HubError> {
        let Some(key) = key_of(key, entry) else { return Ok(()) };
        match Self::read(workdir).is_some_and(|lock| lock.entries().any(|(known, _)| known == key))
        {
            true => Self::change(workdir, clock, |skills| drop(skills.shift_remove(&key))),
            false => Ok(()),
        }
    }
}

/// The key that the upstream client uses; `None` for skills that it cannot manage, because it would
/// offer the registry's skill of the same name as an update.
fn key_of(key: &str, entry: &LockEntry) -> Option<String> {
    match entry.source.kind {
        SourceKind::Clawhub | SourceKind::Registry => Some(key.to_owned()),
        SourceKind::SkillsSh => Some(skills_sh_ref(entry)),
        _ => None,
    }
}

fn skills_sh_ref(entry: &LockEntry) -> String {
    let source = &entry.source;
    let slug = source.slug.as_deref().unwrap_or_default();
    format!("skills-sh:{}/{slug}", source.repo.as_deref().unwrap_or_default())
}

fn fields(entry: &LockEntry) -> Vec<(&'static str, Value)> {
    let source = &entry.source;
    let mut fields = vec![
        ("version", json!(entry.version)),
        ("ownerHandle", json!(source.owner)),
        ("pinned", if entry.pinned { json!(true) } else { Value::Null }),
        ("pinReason", json!(entry.pin_reason.as_ref().filter(|_| entry.pinned))),
        ("registry", json!(source.registry)),
        ("fileTreeSha256", json!(openclaw_tree(&entry.files))),
    ];
    if source.kind == SourceKind::SkillsSh {
        fields.extend(skills_sh_fields(entry));
    }
    fields
}

fn skills_sh_fields(entry: &LockEntry) -> Vec<(&'static str, Value)> {
    let source = &entry.source;
    vec![
        ("sourceRef", json!(skills_sh_ref(entry))),
        ("sourceKind", json!("skills-sh")),
        ("sourceRepository", json!(source.repo)),
        ("sourcePath", json!(source.path)),
        ("sourceUrl", json!(source.url)),
        ("canonicalRef", json!(skills_sh_ref(entry))),
        ("clawhubScan", json!("unscanned")),
    ]
}

/// The notes for other tools inside an installed skill: path and bytes.
pub(crate) fn notes(entry: &LockEntry, clock: &dyn Clock) -> Vec<(String, Vec<u8>)> {
    let source = &entry.source;
    let slug = source.slug.clone().unwrap_or_default();
    let pretty = |value: &Value| {
        (serde_json::to_string_pretty(value).unwrap_or_default() + "\n").into_bytes()
    };
    if source.kind.is_registry() || source.kind == SourceKind::SkillsSh {
        let mut note = Map::new();
        note.insert("version".to_owned(), json!(1));
        note.insert("registry".to_owned(), json!(source.registry.clone().unwrap_or_default()));
        note.insert("slug".to_owned(), json!(slug));
        if let Some(owner) = &source.owner {
            note.insert("ownerHandle".to_owned(), json!(owner));
        }
        if source.kind == SourceKind::SkillsSh {
            for (name, value) in skills_sh_fields(entry) {
                note.insert(name.to_owned(), value);
            }
        }
        note.insert("installedVersion".to_owned(), json!(entry.version));
        note.insert("installedAt".to_owned(), json!(clock.now_ms()));
        note.insert("fingerprint".to_owned(), json!(entry.fingerprint_with_meta));
        return vec![(".clawhub/origin.json".to_owned(), pretty(&Value::Object(note)))];
    }
    let mut note = json!({
        "version": 1, "source": source.kind.as_str(), "spec": source.requested, "slug": slug,
        "installedAt": clock.now_ms(),
    });
    if let Some(commit) = &source.commit {
        note["git"] = json!({"url": source.url, "ref": source.at, "commit": commit,
            "resolvedAt": entry.updated_at});
    }
    vec![(".openclaw/source-origin.json".to_owned(), pretty(&note))]
}

/// The lock of the `skills` client.
#[derive(Debug, Default, Deserialize)]
pub struct SkillsLock {
    /// Skills by name.
    #[serde(default)]
    pub skills: std::collections::BTreeMap<String, SkillsLockEntry>,
}

/// One skill of the `skills` client.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SkillsLockEntry {
    /// `owner/repo`, an address or a path.
    pub source: String,
    /// A branch, tag or commit.
    #[serde(rename = "ref")]
    pub at: Option<String>,
    /// `github`, `well-known` …
    pub source_type: Option<String>,
}

impl SkillsLock {
    /// Reads the `skills` client's locks of a workdir, under its current and its former name.
    pub fn read(workdir: &Path) -> Self {
        let read = |name: &str| {
            serde_json::from_slice::<Self>(&std::fs::read(workdir.join(name)).ok()?).ok()
        };
        read("skills-lock.json").or_else(|| read(".skill-lock.json")).unwrap_or_default()
    }
}
