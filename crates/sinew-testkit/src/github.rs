//! A GitHub on loopback: commits, archives by commit and code search; and skills.sh's search, which
//! leads there.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use sinew_skill::content_hash as sha256_hex;

use crate::clawhub::zip_files;
use crate::site::{SiteAnswer, SiteRequest, TestSite};

#[derive(Debug, Clone)]
struct GitHubCommit {
    repo: String,
    sha: String,
    files: Vec<(String, Vec<u8>)>,
}

#[derive(Debug, Default)]
struct GitHubState {
    commits: Vec<GitHubCommit>,
    /// `(repo, branch or tag, sha)`.
    refs: Vec<(String, String, String)>,
    stars: u64,
    limited: Option<u64>,
}

/// A GitHub on loopback. Its API, its archives and skills.sh all answer at one address.
#[derive(Debug, Clone)]
pub struct GitHubDouble {
    site: TestSite,
    state: Arc<Mutex<GitHubState>>,
}

impl GitHubDouble {
    /// Without a repository.
    pub fn new() -> Self {
        let state = Arc::new(Mutex::new(GitHubState { stars: 12, ..GitHubState::default() }));
        let shared = Arc::clone(&state);
        let site = TestSite::new(move |request| {
            shared.lock().unwrap_or_else(PoisonError::into_inner).answer(request)
        });
        Self { site, state }
    }

    /// Its address.
    pub fn address(&self) -> &str {
        self.site.address()
    }

    /// What came in so far.
    pub fn requests(&self) -> Vec<SiteRequest> {
        self.site.requests()
    }

    /// The paths that came in so far.
    pub fn paths(&self) -> Vec<String> {
        self.site.paths()
    }

    /// Commits files to a branch, which then points there; gives the commit.
    pub fn commit(&self, repo: &str, branch: &str, files: &[(&str, &str)]) -> String {
        let files: Vec<(String, Vec<u8>)> =
            files.iter().map(|(p, text)| ((*p).to_owned(), text.as_bytes().to_vec())).collect();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let seed = format!("{repo}{branch}{}{files:?}", state.commits.len());
        let sha = sha256_hex(seed.as_bytes())[..40].to_owned();
        state.commits.push(GitHubCommit { repo: repo.to_owned(), sha: sha.clone(), files });
        state.refs.retain(|(known, name, _)| known != repo || (name != branch && name != "HEAD"));
        for name in [branch, "HEAD"] {
            state.refs.push((repo.to_owned(), name.to_owned(), sha.clone()));
        }
        sha
    }

    /// From now on the limit is reached, until this moment in seconds.
    pub fn limit(&self, reset: u64) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).limited = Some(reset);
    }
}

impl Default for GitHubDouble {
    fn default() -> Self {
        Self::new()
    }
}

impl GitHubState {
    fn answer(&self, request: &SiteRequest) -> SiteAnswer {
        if let Some(reset) = self.limited {
            return SiteAnswer::text(403, "API rate limit exceeded")
                .header("x-ratelimit-remaining", "0")
                .header("x-ratelimit-reset", &reset.to_string());
        }
        let parts: Vec<&str> = request.path.trim_start_matches('/').split('/').collect();
        match parts.as_slice() {
            ["repos", owner, repo, "commits", at @ ..] => {
                let (repo, at) = (format!("{owner}/{repo}"), at.join("/"));
                match self.refs.iter().find(|(known, name, _)| *known == repo && *name == at) {
                    Some((_, _, sha)) => SiteAnswer::text(200, sha),
                    None => SiteAnswer::text(422, "No commit found"),
                }
            }
            [owner, repo, "zip", sha] => {
                let name = format!("{owner}/{repo}");
                match self.commits.iter().find(|c| c.repo == name && c.sha == *sha) {
                    Some(commit) => {
                        let zip = zip_files(&commit.files, &format!("{repo}-{sha}/"));
                        SiteAnswer::new(200, "application/zip", zip)
                    }
                    None => SiteAnswer::text(404, "404: Not Found"),
                }
            }
            ["search", "code"] if request.header("authorization").is_none() => {
                SiteAnswer::text(401, "Requires authentication")
            }
            ["search", "code"] => self.code(request),
            ["api", "search"] => self.skills_sh(request),
            _ => SiteAnswer::text(404, "Not Found"),
        }
    }

    /// Skill files whose text or path holds one of the words.
    fn hits(&self, query: &str) -> Vec<(&GitHubCommit, &str)> {
        let words: Vec<String> = query
            .split_whitespace()
            .filter(|word| !word.contains(':'))
            .map(str::to_lowercase)
            .collect();
        let mut hits = Vec::new();
        for (repo, name, sha) in &self.refs {
            let commit = self.commits.iter().find(|c| c.repo == *repo && c.sha == *sha);
            let Some(commit) = commit.filter(|_| name == "HEAD") else { continue };
            for (path, bytes) in commit.files.iter().filter(|(path, _)| path.ends_with("SKILL.md"))
            {
                let text = format!("{path} {}", String::from_utf8_lossy(bytes)).to_lowercase();
                if words.iter().any(|word| text.contains(word.as_str())) {
                    hits.push((commit, path.as_str()));
                }
            }
        }
        hits
    }

    fn code(&self, request: &SiteRequest) -> SiteAnswer {
        let items: Vec<Value> = self
            .hits(request.query("q").unwrap_or_default())
            .into_iter()
            .map(|(commit, path)| {
                json!({"name": "SKILL.md", "path": path, "repository": {
                "full_name": commit.repo, "description": format!("Skills of {}", commit.repo),
                "stargazers_count": self.stars}})
            })
            .collect();
        SiteAnswer::json(&json!({"total_count": items.len(), "items": items}))
    }

    fn skills_sh(&self, request: &SiteRequest) -> SiteAnswer {
        let skills: Vec<Value> = self
            .hits(request.query("q").unwrap_or_default())
            .into_iter()
            .map(|(commit, path)| {
                let folder = path.trim_end_matches("SKILL.md").trim_end_matches('/');
                let name = folder.rsplit('/').next().filter(|name| !name.is_empty());
                let name = name.unwrap_or_else(|| commit.repo.rsplit('/').next().unwrap_or(""));
                json!({"id": format!("{}/{name}", commit.repo), "skillId": name, "name": name,
                    "installs": 9, "source": commit.repo})
            })
            .collect();
        SiteAnswer::json(&json!({"skills": skills}))
    }
}
