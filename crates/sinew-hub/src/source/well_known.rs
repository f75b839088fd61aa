//! Discovery indexes of hosts: version 0.2.0 with digests, 0.1.0 without.

use serde::Deserialize;
use sinew_guard::Untrusted;
use sinew_guard::archive::{ArchiveLimits, components, format_of};
use sinew_settings::ErrorCode;
use sinew_skill::content_hash as sha256_hex;
use url::Url;

use crate::error::HubError;
use crate::net::{DownloadProgress, HttpClient, HttpRequest, HttpResponse, RequestPurpose};
use crate::settings::join_path;
use crate::tree::{SkillTree, TreeFile};
use crate::wire::{WirePage, page};

/// The only schema that is supported.
const SCHEMA: &str = "https://schemas.agentskills.io/discovery/0.2.0/schema.json";
const INDEX: &str = "/.well-known/agent-skills/index.json";
const OLD_INDEX: &str = "/.well-known/skills/index.json";
/// The longest description an index may give.
const MAX_DESCRIPTION: usize = 1024;
/// Files of one entry in the old form.
const MAX_FILES: usize = 1_000;

/// An entry, in either form.
#[derive(Debug, Clone, Deserialize)]
struct WellKnownWire {
    name: String,
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    description: String,
    url: Option<String>,
    digest: Option<String>,
    #[serde(default)]
    files: Vec<String>,
}

/// A skill that a host offers.
#[derive(Debug, Clone)]
pub struct WellKnownSkill {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Where to get its bytes.
    pub from: WellKnownLocation,
}

/// Where to get an entry's bytes.
#[derive(Debug, Clone)]
pub enum WellKnownLocation {
    /// One artifact with a digest.
    Artifact {
        /// Its address.
        url: Url,
        /// SHA-256 of it, lower-case hex.
        sha256: String,
    },
    /// Files one by one, without a digest.
    Files(Vec<(String, Url)>),
}

/// All skills that a host offers.
#[derive(Debug, Clone)]
pub struct WellKnownIndex {
    /// The address of the index.
    pub url: Url,
    /// The entries.
    pub entries: Vec<WellKnownSkill>,
    /// One line for each entry that could not be used.
    pub problems: Vec<String>,
}

/// The files fetched for an entry.
#[derive(Debug)]
pub struct WellKnownFiles {
    /// The files.
    pub tree: SkillTree,
    /// SHA-256 and size of the artifact, if there was one.
    pub artifact: Option<(String, u64)>,
}

/// Reads a host's index.
pub fn index(http: &HttpClient, base: &Url) -> Result<WellKnownIndex, HubError> {
    let ask = |path: &str| http.call(&HttpRequest::get(join_path(base, path)), &mut |_, _| {});
    let answer = ask(INDEX)?;
    if answer.is_ok() {
        return read(&answer, base);
    }
    let old = ask(OLD_INDEX)?;
    if old.is_ok() {
        return read(&old, base);
    }
    Err(HubError::new(ErrorCode::NotFound, format!("{base} offers no skills: there is no {INDEX}")))
}

fn read(answer: &HttpResponse, base: &Url) -> Result<WellKnownIndex, HubError> {
    let value = answer.json()?;
    let schema = value.get("$schema").map(|schema| schema.as_str().unwrap_or("").to_owned());
    let current = match schema.as_deref() {
        Some(SCHEMA) => true,
        None => false,
        Some(other) => {
            let other = Untrusted::new(other).for_terminal();
            let message =
                format!("the index of {base} has the schema `{other}`, which is not supported");
            return Err(
                HubError::new(ErrorCode::Unsupported, message).hint("nothing was installed")
            );
        }
    };
    let rows: WirePage<WellKnownWire> =
        page(value, "skills").map_err(|problem| HubError::new(ErrorCode::Network, problem))?;
    let mut index =
        WellKnownIndex { url: answer.url.clone(), entries: Vec::new(), problems: rows.problems };
    for row in rows.rows {
        let name = Untrusted::new(&row.name).for_terminal();
        match if current { artifact(&row, &answer.url) } else { files(&row, base) } {
            Ok(from) => {
                index.entries.push(WellKnownSkill {
                    name: row.name,
                    description: row.description,
                    from,
                });
            }
            Err(problem) => index.problems.push(format!("{name}: {problem}")),
        }
    }
    Ok(index)
}

fn artifact(row: &WellKnownWire, index: &Url) -> Result<WellKnownLocation, &'static str> {
    if !matches!(row.kind.as_deref(), Some("skill-md" | "archive")) {
        return Err("its type is neither skill-md nor archive");
    }
    if row.description.chars().count() > MAX_DESCRIPTION {
        return Err("its description is too long");
    }
    let url = row.url.as_deref().and_then(|url| index.join(url).ok()).ok_or("it has no address")?;
    let digest = row.digest.as_deref().and_then(|digest| digest.strip_prefix("sha256:"));
    let sha256 = digest
        .filter(|digest| sinew_guard::digest::from_hex(digest).is_some())
        .ok_or("it has no sha256 digest")?
        .to_ascii_lowercase();
    Ok(WellKnownLocation::Artifact { url, sha256 })
}

fn files(row: &WellKnownWire, base: &Url) -> Result<WellKnownLocation, &'static str> {
    let plain = components(&row.name).is_ok_and(|parts| parts.len() == 1);
    if !plain || row.files.is_empty() || row.files.len() > MAX_FILES {
        return Err("its name or its list of files is invalid");
    }
    let file = |path: &String| {
        components(path).map_err(|_| "a file's name is invalid")?;
        let url = join_path(base, &format!("/.well-known/skills/{}/{path}", row.name));
        Ok((path.clone(), url))
    };
    row.files.iter().map(file).collect::<Result<_, _>>().map(WellKnownLocation::Files)
}

impl WellKnownSkill {
    /// The host that serves its bytes, if that is another origin than the index.
    pub fn foreign_host(&self, index: &WellKnownIndex) -> Option<String> {
        match &self.from {
            WellKnownLocation::Artifact { url, .. } if url.origin() != index.url.origin() => {
                url.host_str().map(str::to_owned)
            }
            _ => None,
        }
    }

    /// Fetches its files and checks them against its digest.
    pub fn fetch(
        &self,
        http: &HttpClient,
        progress: DownloadProgress<'_>,
    ) -> Result<WellKnownFiles, HubError> {
        let name = Untrusted::new(&self.name).for_terminal();
        let get = |url: &Url, progress: DownloadProgress<'_>| {
            let call = HttpRequest::get(url.clone())
                .accept_any(RequestPurpose::Download(ArchiveLimits::SKILL.archive));
            let answer = http.call(&call, progress)?;
            match answer.is_ok() {
                true => Ok(answer.body),
                false => Err(HubError::new(
                    ErrorCode::NotFound,
                    format!("the host has no file for `{name}` (status {})", answer.status),
                )),
            }
        };
        match &self.from {
            WellKnownLocation::Artifact { url, sha256 } => {
                let bytes = get(url, progress)?;
                let found = sha256_hex(&bytes);
                if found != *sha256 {
                    let message = format!(
                        "`{name}` does not have the digest that the index gives: sha256:{found}, not sha256:{sha256}"
                    );
                    return Err(HubError::new(ErrorCode::IntegrityMismatch, message));
                }
                let size = bytes.len() as u64;
                let tree = match format_of(&bytes) {
                    Some(_) => SkillTree::from_archive(&bytes, 0)?,
                    None => SkillTree::new(vec![TreeFile::new("SKILL.md", bytes)])?,
                };
                Ok(WellKnownFiles { tree, artifact: Some((found, size)) })
            }
            WellKnownLocation::Files(list) => {
                let mut files = Vec::new();
                for (path, url) in list {
                    files.push(TreeFile::new(path.clone(), get(url, progress)?));
                }
                Ok(WellKnownFiles { tree: SkillTree::new(files)?, artifact: None })
            }
        }
    }
}
