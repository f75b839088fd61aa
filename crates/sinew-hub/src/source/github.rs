//! GitHub: a ref is resolved to a commit, and the archive of that commit is fetched, never that of
//! a branch.

use serde::Deserialize;
use sinew_guard::archive::{self, ArchiveLimits};
use sinew_settings::ErrorCode;
use url::Url;

use crate::cache::HubCache;
use crate::error::HubError;
use crate::net::{
    DownloadProgress, HttpClient, HttpRequest, HttpResponse, NetworkAccess, RequestPurpose,
};
use crate::reference::GitHubRef;
use crate::settings::{GitHubEndpoints, join_path};
use crate::tree::{SkillTree, TreeError, TreeFile};
use crate::wire::{WirePage, page};

/// Caps on the archive of a whole repository; the skill in it is held to the usual caps.
const MAX_REPOSITORY: ArchiveLimits = ArchiveLimits {
    archive: 100_000_000,
    unpacked: 1_000_000_000,
    entry: 200_000_000,
    entries: 100_000,
    ratio: 200,
    strip: 1,
};
/// Search results with the same name.
const MAX_PER_NAME: usize = 3;

/// A client for GitHub, as configured.
#[derive(Debug)]
pub struct GitHubClient<'a> {
    http: &'a HttpClient,
    places: &'a GitHubEndpoints,
    cache: &'a HubCache,
}

/// A repository in search results.
#[derive(Debug, Clone, Deserialize)]
struct GitHubRepositoryWire {
    /// `owner/repo`.
    full_name: String,
    description: Option<String>,
    #[serde(default)]
    stargazers_count: u64,
}

/// A file in search results.
#[derive(Debug, Clone, Deserialize)]
struct GitHubFileWire {
    path: String,
    repository: GitHubRepositoryWire,
}

/// A skill that a search found.
#[derive(Debug, Clone)]
pub struct GitHubHit {
    /// Where it is.
    pub at: GitHubRef,
    /// What the repository is for.
    pub description: String,
    /// The repository's stars.
    pub stars: u64,
}

impl<'a> GitHubClient<'a> {
    /// A client for GitHub, as configured.
    pub fn new(http: &'a HttpClient, places: &'a GitHubEndpoints, cache: &'a HubCache) -> Self {
        Self { http, places, cache }
    }

    /// The commit that a branch, tag or commit stands for now.
    pub fn commit(&self, at: &GitHubRef) -> Result<String, HubError> {
        if let Some(commit) = at.at.as_deref().filter(|at| is_commit(at)) {
            return Ok(commit.to_ascii_lowercase());
        }
        let wanted = at.at.as_deref().unwrap_or("HEAD");
        let path = format!("/repos/{}/{}/commits/{wanted}", at.owner, at.repo);
        let call = HttpRequest {
            accept: "application/vnd.github.sha",
            ..HttpRequest::get(join_path(&self.places.api, &path))
                .with_token(self.places.token.as_ref())
        };
        let answer = self.checked(self.http.call(&call, &mut |_, _| {})?, at)?;
        let commit = String::from_utf8_lossy(&answer.body).trim().to_owned();
        match is_commit(&commit) {
            true => Ok(commit.to_ascii_lowercase()),
            false => {
                Err(HubError::new(ErrorCode::Network, "GitHub did not name a commit".to_owned()))
            }
        }
    }

    /// The files of a commit below a folder, from the cache if they are in it.
    pub fn fetch(
        &self,
        at: &GitHubRef,
        commit: &str,
        progress: DownloadProgress<'_>,
    ) -> Result<CommitArchive, HubError> {
        if !is_commit(commit) {
            let message = format!("{}/{}: {commit:?} is not a commit", at.owner, at.repo);
            return Err(HubError::new(ErrorCode::IntegrityMismatch, message));
        }
        let key = format!("github/{}/{}/{commit}", at.owner, at.repo).to_ascii_lowercase();
        let bytes = match self.cache.get::<()>(&key) {
            Some((bytes, _)) => bytes,
            None if self.http.network() == NetworkAccess::Off => {
                let message = format!("{}/{} at {commit} is not cached", at.owner, at.repo);
                return Err(
                    HubError::new(ErrorCode::Offline, message).hint("run it once while online")
                );
            }
            None => {
                let path = format!("/{}/{}/zip/{commit}", at.owner, at.repo);
                let call = HttpRequest::get(join_path(&self.places.codeload, &path))
                    .accept_any(RequestPurpose::Download(MAX_REPOSITORY.archive));
                let answer = self.checked(self.http.call(&call, progress)?, at)?;
                self.cache.put(&key, &answer.body, ());
                answer.body
            }
        };
        Ok(CommitArchive { bytes, commit: commit.to_owned() })
    }

    /// Whether GitHub allows a search: it does so only with a token.
    pub fn can_search(&self) -> bool {
        self.places.token.is_some()
    }

    /// Skill files on GitHub that match some words.
    pub fn search(&self, words: &str, limit: usize) -> Result<Vec<GitHubHit>, HubError> {
        let mut url = join_path(&self.places.api, "/search/code");
        url.query_pairs_mut()
            .append_pair("q", &format!("filename:SKILL.md {words}"))
            .append_pair("per_page", &limit.to_string());
        let call = HttpRequest {
            accept: "application/vnd.github+json",
            ..HttpRequest::get(url).with_token(self.places.token.as_ref())
        };
        let answer = self.http.call(&call, &mut |_, _| {})?;
        if !answer.is_ok() {
            let message = format!("GitHub's search answered with {}", answer.status);
            return Err(HubError::new(ErrorCode::Network, message));
        }
        let found: WirePage<GitHubFileWire> = page(answer.json()?, "items")
            .map_err(|problem| HubError::new(ErrorCode::Network, problem))?;
        let hits = found.rows.into_iter().filter_map(|found| {
            let folder = found.path.strip_suffix("SKILL.md")?.trim_end_matches('/');
            hit(found.repository, Some(folder).filter(|folder| !folder.is_empty()))
        });
        Ok(few_per_name(hits))
    }

    fn checked(&self, answer: HttpResponse, at: &GitHubRef) -> Result<HttpResponse, HubError> {
        if answer.is_ok() {
            return Ok(answer);
        }
        let what = match &at.at {
            Some(at_ref) => format!("{}/{} at {at_ref}", at.owner, at.repo),
            None => format!("{}/{}", at.owner, at.repo),
        };
        Err(match answer.status {
            404 | 422 => HubError::new(ErrorCode::NotFound, format!("GitHub has no {what}"))
                .hint("check the name; a private repository needs its git@ address"),
            401 | 403 => HubError::new(ErrorCode::Auth, format!("GitHub does not show {what}")),
            status => HubError::new(
                ErrorCode::Network,
                format!("GitHub answered with {status} for {what}"),
            ),
        })
    }
}

/// The archive of a commit.
#[derive(Debug)]
pub struct CommitArchive {
    /// The zip.
    pub bytes: Vec<u8>,
    /// The commit.
    pub commit: String,
}

impl CommitArchive {
    /// Every path of the repository, including files that are not unpacked.
    pub fn paths(&self) -> Result<Vec<String>, HubError> {
        let names = archive::zip_names(&self.bytes, &MAX_REPOSITORY).map_err(TreeError::Archive)?;
        Ok(names
            .iter()
            .filter_map(|name| name.split_once('/'))
            .map(|(_, p)| p.to_owned())
            .collect())
    }

    /// The files below a folder.
    pub fn subtree(&self, folder: &str) -> Result<SkillTree, HubError> {
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let wanted = |name: &str| {
            name.split_once('/').is_some_and(|(_, path)| {
                path.starts_with(&prefix) && path.len() > prefix.len() && !path.ends_with('/')
            })
        };
        let entries = archive::unpack_selected(&self.bytes, &MAX_REPOSITORY, &wanted)
            .map_err(TreeError::Archive)?;
        let file = |entry: archive::ArchiveFile| TreeFile {
            path: entry.path[prefix.len()..].to_owned(),
            bytes: entry.bytes,
            executable: entry.executable,
        };
        Ok(SkillTree::new(entries.into_iter().map(file).collect())?)
    }
}

/// Whether a text is a full commit hash.
pub fn is_commit(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The web page of a folder at a commit.
pub fn page_url(owner: &str, repo: &str, commit: &str, path: &str) -> String {
    let url = format!("https://github.com/{owner}/{repo}/tree/{commit}");
    match Url::parse(&url) {
        Ok(mut url) if !path.is_empty() => {
            url.set_path(&format!("{}/{path}", url.path()));
            url.to_string()
        }
        _ => url,
    }
}

fn hit(repository: GitHubRepositoryWire, path: Option<&str>) -> Option<GitHubHit> {
    let (owner, repo) = repository.full_name.split_once('/')?;
    let text = match path {
        Some(path) => format!("{owner}/{repo}/{path}"),
        None => format!("{owner}/{repo}"),
    };
    // What GitHub names must parse as a reference like any other.
    match crate::reference::SkillReference::parse(&text, crate::reference::ShorthandMeaning::GitHub)
    {
        Ok(crate::reference::SkillReference::GitHub(at)) => Some(GitHubHit {
            at,
            description: repository.description.unwrap_or_default(),
            stars: repository.stargazers_count,
        }),
        _ => None,
    }
}

fn few_per_name(hits: impl Iterator<Item = GitHubHit>) -> Vec<GitHubHit> {
    let mut seen = std::collections::BTreeMap::<String, usize>::new();
    hits.filter(|hit| {
        let name = hit.at.path.as_deref().and_then(|path| path.rsplit('/').next());
        let count = seen.entry(name.unwrap_or(&hit.at.repo).to_ascii_lowercase()).or_default();
        *count += 1;
        *count <= MAX_PER_NAME
    })
    .collect()
}
