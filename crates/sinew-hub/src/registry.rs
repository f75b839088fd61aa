//! A registry that speaks ClawHub's API, version 1.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use serde_json::{Value, json};
use sinew_guard::Untrusted;
use sinew_guard::archive::ArchiveLimits;
use sinew_settings::ErrorCode;
use url::Url;

use crate::error::HubError;
use crate::net::{
    AccessToken, DownloadProgress, HttpClient, HttpRequest, HttpResponse, RequestPurpose, origin,
};
use crate::settings::{display_address, join_path};
use crate::wire::{
    AmbiguousSlugWire, GitHubSourceWire, InstallAnswerWire, ResolutionWire, SearchRowWire,
    SkillDetailWire, SkillSummaryWire, VerdictWire, VersionDocumentWire, VersionSummaryWire,
    WirePage, page, read,
};

/// How long an answer about a skill is reused.
const FRESH: Duration = Duration::from_secs(60);
/// Answers kept in memory.
const MAX_REMEMBERED: usize = 256;
/// The largest single file that is fetched.
const MAX_FILE: u64 = 10_000_000;
/// Verdicts requested at once.
const MAX_VERDICTS: usize = 100;
/// Pages of versions that are read to resolve a range: 2,000 versions.
const MAX_PAGES: usize = 20;
/// What is written as `%20` in a segment of a path.
const NOT_IN_PATHS: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'*').remove(b'-').remove(b'.').remove(b'_');

/// A client for one registry.
pub struct RegistryClient {
    /// Its configured name.
    pub name: String,
    base: Url,
    token: Option<AccessToken>,
    http: Arc<HttpClient>,
    remembered: Mutex<BTreeMap<String, (Instant, Value)>>,
}

impl fmt::Debug for RegistryClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Registry({} at {})", self.name, self.address())
    }
}

/// A slug, with its owner if known.
#[derive(Debug, Clone, Copy)]
pub struct QualifiedSlug<'a> {
    /// The skill.
    pub slug: &'a str,
    /// Its owner, if known.
    pub owner: Option<&'a str>,
}

/// What a download gave.
#[derive(Debug)]
pub enum RegistryDownload {
    /// The archive.
    Archive(Vec<u8>),
    /// Where the files are on GitHub.
    GitHub(GitHubSourceWire),
}

/// One skill version whose verdict is requested.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VerdictRequest {
    /// The skill.
    pub slug: String,
    /// Which version.
    pub version: String,
    /// The owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner_handle: Option<String>,
}

impl RegistryClient {
    /// A client for the registry at `base`.
    pub fn new(name: String, base: Url, token: Option<AccessToken>, http: Arc<HttpClient>) -> Self {
        Self { name, base, token, http, remembered: Mutex::default() }
    }

    /// Its address, as records carry it.
    pub fn address(&self) -> String {
        display_address(&self.base)
    }

    /// Skills that match some words.
    pub fn search(&self, words: &str, limit: usize) -> Result<WirePage<SearchRowWire>, HubError> {
        let url = self.url("/search", &[("q", words), ("limit", &limit.to_string())]);
        self.page(url, "results")
    }

    /// Skills with exactly this name.
    pub fn search_exact(
        &self,
        name: &str,
        limit: usize,
    ) -> Result<WirePage<SearchRowWire>, HubError> {
        let limit = limit.to_string();
        let url = self.url("/search", &[("q", name), ("limit", &limit), ("mode", "exact")]);
        self.page(url, "results")
    }

    /// Skills whose names start with these words.
    pub fn search_prefix(
        &self,
        prefix: &str,
        limit: usize,
    ) -> Result<WirePage<SkillSummaryWire>, HubError> {
        let url = self.url("/skills", &[("prefix", prefix), ("limit", &limit.to_string())]);
        self.page(url, "items")
    }

    /// A skill in detail.
    pub fn detail(&self, skill: QualifiedSlug<'_>) -> Result<SkillDetailWire, HubError> {
        self.document(self.skill_url(skill, "", &[]))
    }

    /// Its versions, newest first.
    pub fn versions(&self, skill: QualifiedSlug<'_>) -> Result<Vec<VersionSummaryWire>, HubError> {
        let (mut rows, mut cursor) = (Vec::new(), None::<String>);
        for _ in 0..MAX_PAGES {
            let mut query = vec![("limit", "100")];
            if let Some(cursor) = &cursor {
                query.push(("cursor", cursor));
            }
            let page: WirePage<VersionSummaryWire> =
                self.page(self.skill_url(skill, "/versions", &query), "items")?;
            rows.extend(page.rows);
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        Ok(rows)
    }

    /// One version, with its files.
    pub fn version(
        &self,
        skill: QualifiedSlug<'_>,
        version: &str,
    ) -> Result<VersionDocumentWire, HubError> {
        let path = format!("/versions/{}", encoded(version));
        self.document(self.skill_url(skill, &path, &[]))
    }

    /// One file of a version.
    pub fn file(
        &self,
        skill: QualifiedSlug<'_>,
        path: &str,
        version: &str,
    ) -> Result<Vec<u8>, HubError> {
        let query = [("path", path), ("version", version)];
        let call = HttpRequest::get(self.skill_url(skill, "/file", &query))
            .with_token(self.token.as_ref())
            .accept_any(RequestPurpose::Download(MAX_FILE));
        let answer = self.http.call(&call, &mut |_, _| {})?;
        self.checked(answer).map(|answer| answer.body)
    }

    /// How the registry wants a skill to be installed that has no version of its own.
    pub fn install(
        &self,
        skill: QualifiedSlug<'_>,
        force: bool,
    ) -> Result<InstallAnswerWire, HubError> {
        let query: &[(&str, &str)] = if force { &[("forceInstall", "1")] } else { &[] };
        self.install_answer(self.skill_url(skill, "/install", query))
    }

    /// What the registry knows about an entry of skills.sh.
    pub fn skills_sh(
        &self,
        owner: &str,
        repo: &str,
        slug: &str,
    ) -> Result<InstallAnswerWire, HubError> {
        let path =
            format!("/skills-sh/{}/{}/{}/install", encoded(owner), encoded(repo), encoded(slug));
        self.install_answer(self.url(&path, &[]))
    }

    /// The archive of a version.
    pub fn download(
        &self,
        skill: QualifiedSlug<'_>,
        version: &str,
        progress: DownloadProgress<'_>,
    ) -> Result<RegistryDownload, HubError> {
        let mut query = vec![("slug", skill.slug)];
        query.extend(skill.owner.map(|owner| ("ownerHandle", owner)));
        query.push(("version", version));
        let call = HttpRequest::get(self.url("/download", &query))
            .with_token(self.token.as_ref())
            .accept_any(RequestPurpose::Download(ArchiveLimits::SKILL.archive));
        let answer = self.checked(self.http.call(&call, progress)?)?;
        if !answer.is_json() {
            return Ok(RegistryDownload::Archive(answer.body));
        }
        read(answer.json()?).map(RegistryDownload::GitHub).map_err(|problem| self.strange(&problem))
    }

    /// The version that has a fingerprint.
    pub fn resolve(
        &self,
        skill: QualifiedSlug<'_>,
        hash: &str,
    ) -> Result<Option<String>, HubError> {
        let mut query = vec![("slug", skill.slug), ("hash", hash)];
        query.extend(skill.owner.map(|owner| ("ownerHandle", owner)));
        let found: ResolutionWire = self.document(self.url("/resolve", &query))?;
        Ok(found.matched.map(|matched| matched.version))
    }

    /// Verdicts on many versions at once.
    pub fn verdicts(&self, items: &[VerdictRequest]) -> Result<Vec<VerdictWire>, HubError> {
        let mut rows = Vec::new();
        for batch in items.chunks(MAX_VERDICTS) {
            let body = json!({ "items": batch });
            let call = HttpRequest {
                post: Some(&body),
                ..HttpRequest::get(self.url("/skills/-/security-verdicts", &[]))
                    .with_token(self.token.as_ref())
            };
            let answer = self.checked(self.http.call(&call, &mut |_, _| {})?)?;
            let page: WirePage<VerdictWire> =
                page(answer.json()?, "items").map_err(|problem| self.strange(&problem))?;
            rows.extend(page.rows);
        }
        Ok(rows)
    }

    fn url(&self, path: &str, query: &[(&str, &str)]) -> Url {
        let mut url = join_path(&self.base, &format!("/api/v1{path}"));
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        url
    }

    fn skill_url(&self, skill: QualifiedSlug<'_>, path: &str, query: &[(&str, &str)]) -> Url {
        let mut all: Vec<(&str, &str)> =
            skill.owner.map(|owner| ("ownerHandle", owner)).into_iter().collect();
        all.extend(query);
        self.url(&format!("/skills/{}{path}", encoded(skill.slug)), &all)
    }

    fn document<T: serde::de::DeserializeOwned>(&self, url: Url) -> Result<T, HubError> {
        read(self.json(url)?).map_err(|problem| self.strange(&problem))
    }

    fn page<T: serde::de::DeserializeOwned>(
        &self,
        url: Url,
        field: &str,
    ) -> Result<WirePage<T>, HubError> {
        page(self.json(url)?, field).map_err(|problem| self.strange(&problem))
    }

    fn json(&self, url: Url) -> Result<Value, HubError> {
        let key = url.to_string();
        let known =
            self.remembered.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        if let Some((_, value)) = known.filter(|(at, _)| at.elapsed() < FRESH) {
            return Ok(value);
        }
        let call = HttpRequest::get(url).with_token(self.token.as_ref());
        let value = self.checked(self.http.call(&call, &mut |_, _| {})?)?.json()?;
        let mut remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        if remembered.len() >= MAX_REMEMBERED {
            remembered.clear();
        }
        remembered.insert(key, (Instant::now(), value.clone()));
        Ok(value)
    }

    fn install_answer(&self, url: Url) -> Result<InstallAnswerWire, HubError> {
        let answer = self
            .http
            .call(&HttpRequest::get(url).with_token(self.token.as_ref()), &mut |_, _| {})?;
        if answer.is_ok() {
            return read(answer.json()?).map_err(|problem| self.strange(&problem));
        }
        let refusal: Option<InstallAnswerWire> = answer
            .is_json()
            .then(|| answer.json().ok().and_then(|value| read(value).ok()))
            .flatten();
        match refusal.and_then(|refusal| Some((refusal.reason?, refusal.message))) {
            Some((reason, message)) => Err(refused(&reason, message.as_deref())),
            None => self.checked(answer).and_then(|_| Err(self.strange("no answer"))),
        }
    }

    fn strange(&self, problem: &str) -> HubError {
        let problem = Untrusted::new(problem).for_terminal();
        HubError::new(
            ErrorCode::Network,
            format!("{} sent an answer that does not follow its protocol: {problem}", self.name),
        )
    }

    /// The answer, or the error that its status means.
    fn checked(&self, answer: HttpResponse) -> Result<HttpResponse, HubError> {
        if answer.is_ok() {
            return Ok(answer);
        }
        let text = answer.server_message();
        let reason = if text.is_empty() { format!("status {}", answer.status) } else { text };
        let message = format!("{}: {reason}", self.name);
        Err(match answer.status {
            400 => HubError::new(ErrorCode::BadRequest, message),
            401 => HubError::new(
                ErrorCode::Auth,
                format!("{} requires a valid token", origin(&answer.url)),
            )
            .hint("log in: sinew registry login"),
            403 if reason.starts_with("Blocked:") => {
                HubError::new(ErrorCode::BlockedUpstream, message)
            }
            403 => HubError::new(ErrorCode::Unavailable, message),
            404 => HubError::new(ErrorCode::NotFound, message)
                .hint("`sinew search` lists available skills"),
            409 => ambiguous(&answer, message),
            410 => HubError::new(ErrorCode::Gone, message),
            413 => HubError::new(ErrorCode::TooLarge, message),
            415 => HubError::new(ErrorCode::Unsupported, message),
            423 => HubError::new(ErrorCode::PendingScan, message),
            _ => HubError::new(ErrorCode::Network, message).hint("try again later"),
        })
    }
}

fn ambiguous(answer: &HttpResponse, message: String) -> HubError {
    let found: Option<AmbiguousSlugWire> = answer.json().ok().and_then(|value| read(value).ok());
    let reference = |found: crate::wire::AmbiguousMatchWire| {
        let shown = match (found.owner_handle, found.slug, found.reference) {
            (Some(owner), Some(slug), _) => format!("@{owner}/{slug}"),
            (_, _, Some(reference)) => reference,
            _ => return None,
        };
        Some(Untrusted::new(&shown).for_terminal())
    };
    let matches: Vec<String> = found
        .map(|found| found.matches.into_iter().filter_map(reference).collect())
        .unwrap_or_default();
    let message = match matches.is_empty() {
        true => message,
        false => "several owners have a skill of that name".to_owned(),
    };
    let mut error = HubError::new(ErrorCode::Ambiguous, message);
    if !matches.is_empty() {
        error = error.hint(format!("name one of them: {}", matches.join(", ")));
    }
    error.matches = matches;
    error
}

/// The error for each reason that `/install` gives for a refusal.
fn refused(reason: &str, message: Option<&str>) -> HubError {
    let text = Untrusted::new(message.unwrap_or(reason)).for_terminal();
    let text: String = text.chars().take(500).collect();
    match reason {
        "github_upstream_removed" | "github_upstream_missing" => {
            HubError::new(ErrorCode::Gone, text)
                .hint("`sinew uninstall --gone` offers to remove skills that the registry removed")
        }
        "github_upstream_unknown" => {
            HubError::new(ErrorCode::PendingScan, text).hint("try again later")
        }
        "github_verification_pending" => HubError::new(ErrorCode::PendingScan, text)
            .hint("wait for the scan, or add --accept-pending"),
        "github_scan_failed" => HubError::new(ErrorCode::BlockedUpstream, text),
        _ => HubError::new(ErrorCode::NotFound, text),
    }
}

/// One segment of a path, percent-encoded.
fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NOT_IN_PATHS).to_string()
}
