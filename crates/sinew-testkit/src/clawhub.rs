//! A ClawHub on loopback: the read side of its API as it is on the wire, and the ways it fails.

use std::io::{Cursor, Write as _};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use sinew_skill::content_hash as sha256_hex;

use crate::site::{BodyDelivery, SiteAnswer, SiteRequest, TestSite};

/// How the registry answers from now on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClawHubManner {
    /// Normally.
    Clean,
    /// Some requests are rate-limited.
    RateLimited {
        /// How many.
        times: usize,
        /// `Retry-After`.
        retry_after: String,
    },
    /// Downloads break off in the middle.
    Truncated,
    /// Downloads hold one file with one byte changed.
    WrongDigest,
    /// Downloads hold a file whose path leaves the folder.
    ZipSlip,
    /// Downloads unpack to far more than their size.
    ZipBomb,
    /// Downloads come one byte at a time.
    SlowLoris,
    /// Downloads stop after the headers.
    Stalled,
    /// Downloads say where the files are on GitHub.
    Json(Value),
    /// Every request is redirected.
    Redirects(String),
    /// Versions do not say which files they have.
    NoFiles,
    /// Every request needs this token.
    Wants(String),
}

/// The moderators' verdict on a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModerationFlag {
    /// No objection.
    Clean,
    /// Suspicious.
    Suspicious,
    /// Malicious; it cannot be fetched.
    Malicious,
}

#[derive(Debug, Clone)]
struct ClawHubVersion {
    version: String,
    files: Vec<(String, Vec<u8>)>,
    at: u64,
}

#[derive(Debug, Clone)]
struct ClawHubSkill {
    owner: String,
    slug: String,
    summary: String,
    stars: u64,
    downloads: u64,
    flag: ModerationFlag,
    /// Its owner took it back: whoever asks is told that it is gone.
    withdrawn: bool,
    setup: Vec<(String, bool)>,
    /// Oldest first.
    versions: Vec<ClawHubVersion>,
    tags: Vec<(String, String)>,
}

#[derive(Debug)]
struct ClawHubState {
    skills: Vec<ClawHubSkill>,
    manner: ClawHubManner,
    limited: usize,
    clock: u64,
    skills_sh: Vec<(String, Value)>,
}

/// A ClawHub on loopback.
#[derive(Debug, Clone)]
pub struct ClawHubDouble {
    site: TestSite,
    state: Arc<Mutex<ClawHubState>>,
}

impl ClawHubDouble {
    /// An empty registry.
    pub fn new() -> Self {
        let state = Arc::new(Mutex::new(ClawHubState {
            skills: Vec::new(),
            manner: ClawHubManner::Clean,
            limited: 0,
            clock: 1_780_000_000_000,
            skills_sh: Vec::new(),
        }));
        let shared = Arc::clone(&state);
        let site = TestSite::new(move |request| {
            shared.lock().unwrap_or_else(PoisonError::into_inner).answer(request)
        });
        Self { site, state }
    }

    fn change<T>(&self, change: impl FnOnce(&mut ClawHubState) -> T) -> T {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
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

    /// Publishes a version; the same version again replaces its bytes, which a real one never does.
    pub fn publish(&self, owner: &str, slug: &str, version: &str, files: &[(&str, &str)]) {
        let files = files.iter().map(|(p, text)| ((*p).to_owned(), text.as_bytes().to_vec()));
        let files: Vec<(String, Vec<u8>)> = files.collect();
        self.change(|state| {
            state.clock += 1000;
            let at = state.clock;
            let skill = state.skill_or_new(owner, slug);
            skill.versions.retain(|known| known.version != version);
            skill.versions.push(ClawHubVersion { version: version.to_owned(), files, at });
        });
    }

    /// Publishes a skill with a name and a description and nothing else.
    pub fn publish_simple(&self, owner: &str, slug: &str, version: &str) {
        let text = skill_text(slug, &format!("About {slug}, version {version}"));
        self.publish(owner, slug, version, &[("SKILL.md", &text)]);
        self.describe(owner, slug, &format!("About {slug}"));
    }

    /// What a skill is for, in searches.
    pub fn describe(&self, owner: &str, slug: &str, summary: &str) {
        self.change(|state| summary.clone_into(&mut state.skill_or_new(owner, slug).summary));
    }

    /// What a skill needs before it works.
    pub fn needs(&self, owner: &str, slug: &str, key: &str) {
        self.change(|state| state.skill_or_new(owner, slug).setup.push((key.to_owned(), true)));
    }

    /// Gives a version a tag.
    pub fn tag(&self, owner: &str, slug: &str, tag: &str, version: &str) {
        let pair = (tag.to_owned(), version.to_owned());
        self.change(|state| state.skill_or_new(owner, slug).tags.push(pair));
    }

    /// The moderators' verdict from now on.
    pub fn flag(&self, owner: &str, slug: &str, flag: ModerationFlag) {
        self.change(|state| state.skill_or_new(owner, slug).flag = flag);
    }

    /// Removes a skill.
    pub fn remove(&self, owner: &str, slug: &str) {
        self.change(|state| state.skills.retain(|s| s.owner != owner || s.slug != slug));
    }

    /// Takes a skill back: requests about it are answered with 410 from now on.
    pub fn withdraw(&self, owner: &str, slug: &str) {
        self.change(|state| state.skill_or_new(owner, slug).withdrawn = true);
    }

    /// What `/skills-sh/<id>/install` answers.
    pub fn mirror(&self, id: &str, answer: Value) {
        self.change(|state| state.skills_sh.push((id.to_owned(), answer)));
    }

    /// How requests are answered from now on.
    pub fn set_manner(&self, manner: ClawHubManner) {
        self.change(|state| {
            state.limited = 0;
            state.manner = manner;
        });
    }
}

impl Default for ClawHubDouble {
    fn default() -> Self {
        Self::new()
    }
}

/// The text of a skill file.
pub fn skill_text(name: &str, description: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\n---\n\n# {name}\n\nDo it well.\n")
}

impl ClawHubState {
    fn skill_or_new(&mut self, owner: &str, slug: &str) -> &mut ClawHubSkill {
        let at = self.skills.iter().position(|s| s.owner == owner && s.slug == slug);
        let at = at.unwrap_or_else(|| {
            self.skills.push(ClawHubSkill {
                owner: owner.to_owned(),
                slug: slug.to_owned(),
                summary: format!("About {slug}"),
                stars: 3,
                downloads: 40,
                flag: ModerationFlag::Clean,
                withdrawn: false,
                setup: Vec::new(),
                versions: Vec::new(),
                tags: Vec::new(),
            });
            self.skills.len() - 1
        });
        &mut self.skills[at]
    }

    fn answer(&mut self, request: &SiteRequest) -> SiteAnswer {
        match &self.manner {
            ClawHubManner::RateLimited { times, retry_after } if self.limited < *times => {
                let retry_after = retry_after.clone();
                self.limited += 1;
                return SiteAnswer::text(429, "Rate limit exceeded")
                    .header("retry-after", &retry_after)
                    .header("ratelimit-remaining", "0");
            }
            ClawHubManner::Redirects(to) => {
                let to = format!("{to}{}", request.path);
                return SiteAnswer::text(302, "").header("location", &to);
            }
            ClawHubManner::Wants(token)
                if request.header("authorization") != Some(&format!("Bearer {token}")) =>
            {
                let text =
                    "Unauthorized: API token is missing. Run `clawhub login` to authenticate.";
                return SiteAnswer::text(401, text);
            }
            _ => {}
        }
        if request.path == "/.well-known/clawhub.json" {
            return SiteAnswer::text(404, "Not found");
        }
        let Some(path) = request.path.strip_prefix("/api/v1/") else {
            return SiteAnswer::text(404, "Not found");
        };
        let parts: Vec<&str> = path.split('/').collect();
        match parts.as_slice() {
            ["search"] => self.search(request),
            ["skills"] => self.list(request),
            ["download"] => self.download(request),
            ["resolve"] => self.resolve(request),
            ["skills", "-", "security-verdicts"] => self.verdicts(request),
            ["skills-sh", owner, repo, slug, "install"] => {
                let id = format!("{owner}/{repo}/{slug}");
                match self.skills_sh.iter().find(|(known, _)| *known == id) {
                    Some((_, answer)) => SiteAnswer::json(answer),
                    None => SiteAnswer::text(404, "Skill not found"),
                }
            }
            ["skills", slug, rest @ ..] => match self.find(slug, request) {
                Ok(skill) => self.about(skill, rest, request),
                Err(answer) => answer,
            },
            _ => SiteAnswer::text(404, "Not found"),
        }
    }

    fn find(&self, slug: &str, request: &SiteRequest) -> Result<&ClawHubSkill, SiteAnswer> {
        let owner = request.query("ownerHandle").or(request.query("owner"));
        let matches: Vec<&ClawHubSkill> = self
            .skills
            .iter()
            .filter(|s| s.slug == slug && owner.is_none_or(|owner| owner == s.owner))
            .collect();
        match matches.as_slice() {
            [] => Err(SiteAnswer::text(404, "Skill not found")),
            [one] if one.withdrawn => Err(SiteAnswer::text(410, "Skill was removed by its owner")),
            [one] => Ok(one),
            several => {
                let matches: Vec<Value> = several
                    .iter()
                    .map(|s| {
                        json!({"ownerHandle": s.owner, "slug": s.slug,
                        "ref": format!("@{}/{}", s.owner, s.slug), "url": "https://example.org"})
                    })
                    .collect();
                let body = json!({"code": "AMBIGUOUS_SKILL_SLUG", "slug": slug, "matches": matches,
                    "message": format!("Ambiguous skill slug \"{slug}\".")});
                Err(SiteAnswer { status: 409, ..SiteAnswer::json(&body) })
            }
        }
    }

    fn search(&self, request: &SiteRequest) -> SiteAnswer {
        let words: Vec<String> = request
            .query("q")
            .unwrap_or_default()
            .split_whitespace()
            .map(str::to_lowercase)
            .collect();
        let exact = request.query("mode") == Some("exact");
        let mut rows: Vec<(usize, Value)> = Vec::new();
        for skill in &self.skills {
            let text = format!("{} {}", skill.slug.replace('-', " "), skill.summary).to_lowercase();
            let hits = match exact {
                true => usize::from(words.contains(&skill.slug)),
                false => words.iter().filter(|word| text.contains(word.as_str())).count(),
            };
            if hits > 0 && skill.flag != ModerationFlag::Malicious && !skill.withdrawn {
                rows.push((hits, skill.search_row(hits)));
            }
        }
        rows.sort_by_key(|(hits, _)| std::cmp::Reverse(*hits));
        let limit = request.query("limit").and_then(|n| n.parse().ok()).unwrap_or(25);
        let rows: Vec<Value> = rows.into_iter().map(|(_, row)| row).take(limit).collect();
        SiteAnswer::json(&json!({"results": rows}))
    }

    fn list(&self, request: &SiteRequest) -> SiteAnswer {
        let prefix = request.query("prefix").unwrap_or_default();
        let items: Vec<Value> = self
            .skills
            .iter()
            .filter(|s| s.slug.starts_with(prefix))
            .map(ClawHubSkill::item)
            .collect();
        SiteAnswer::json(&json!({"items": items, "nextCursor": null}))
    }

    fn about(&self, skill: &ClawHubSkill, rest: &[&str], request: &SiteRequest) -> SiteAnswer {
        match rest {
            [] => SiteAnswer::json(&skill.detail()),
            ["versions"] => {
                let items: Vec<Value> =
                    skill.versions.iter().rev().map(ClawHubVersion::row).collect();
                SiteAnswer::json(&json!({"items": items, "nextCursor": null}))
            }
            ["versions", wanted] => match skill.version(Some(wanted)) {
                Some(version) => {
                    let mut version = version.document(skill.flag);
                    if self.manner == ClawHubManner::NoFiles {
                        version.as_object_mut().map(|version| version.remove("files"));
                    }
                    let skill = json!({"slug": skill.slug, "displayName": skill.slug});
                    SiteAnswer::json(&json!({"skill": skill, "version": version}))
                }
                None => SiteAnswer::text(404, "Version not found"),
            },
            ["file"] => {
                let path = request.query("path").unwrap_or_default();
                let version = skill.version(request.query("version"));
                match version.and_then(|v| v.files.iter().find(|(known, _)| known == path)) {
                    Some((_, bytes)) => SiteAnswer::new(200, "text/plain", bytes.clone())
                        .header("x-content-sha256", &sha256_hex(bytes)),
                    None => SiteAnswer::text(404, "File not found"),
                }
            }
            ["install"] => match (skill.version(None), &self.manner) {
                (Some(version), _) => SiteAnswer::json(&json!({"ok": true, "slug": skill.slug,
                    "installKind": "archive", "archive": {"version": version.version}})),
                (None, ClawHubManner::Json(github)) => {
                    SiteAnswer::json(&json!({"ok": true, "slug": skill.slug,
                        "installKind": "github", "github": github}))
                }
                (None, _) => {
                    let body = json!({"ok": false, "slug": skill.slug, "status": 409,
                        "reason": "archive_version_missing", "message": "No version"});
                    SiteAnswer { status: 409, ..SiteAnswer::json(&body) }
                }
            },
            _ => SiteAnswer::text(404, "Not found"),
        }
    }

    fn resolve(&self, request: &SiteRequest) -> SiteAnswer {
        let slug = request.query("slug").unwrap_or_default();
        let skill = match self.find(slug, request) {
            Ok(skill) => skill,
            Err(answer) => return answer,
        };
        let hash = request.query("hash").unwrap_or_default();
        let matched = skill.versions.iter().rev().find(|v| fingerprint(&v.files) == hash);
        let version = |v: &ClawHubVersion| json!({"version": v.version});
        SiteAnswer::json(&json!({"slug": skill.slug, "match": matched.map(version),
            "latestVersion": skill.version(None).map(version)}))
    }

    fn verdicts(&self, request: &SiteRequest) -> SiteAnswer {
        let asked: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let items: Vec<Value> = asked["items"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|item| {
                let owner = item["ownerHandle"].as_str();
                let skill = self.skills.iter().find(|s| {
                    item["slug"] == s.slug.as_str() && owner.is_none_or(|owner| owner == s.owner)
                });
                let known = skill.and_then(|s| Some((s, s.version(item["version"].as_str())?)));
                match known {
                    Some((skill, version)) => json!({"ok": skill.flag == ModerationFlag::Clean,
                        "decision": if skill.flag == ModerationFlag::Clean {"pass"} else {"fail"},
                        "reasons": [], "requestedSlug": item["slug"],
                        "requestedOwnerHandle": item["ownerHandle"],
                        "requestedVersion": item["version"], "slug": skill.slug,
                        "version": version.version,
                        "security": {"status": skill.flag.word(), "passed": skill.flag == ModerationFlag::Clean}}),
                    None => json!({"ok": false, "decision": "fail",
                        "reasons": ["version.not_found"], "requestedSlug": item["slug"],
                        "requestedOwnerHandle": item["ownerHandle"],
                        "requestedVersion": item["version"],
                        "error": {"code": "version.not_found", "message": "Version not found"},
                        "security": null}),
                }
            })
            .collect();
        SiteAnswer::json(&json!({"schema": "clawhub.skill.security-verdicts.v1", "items": items}))
    }

    fn download(&self, request: &SiteRequest) -> SiteAnswer {
        let slug = request.query("slug").unwrap_or_default();
        let skill = match self.find(slug, request) {
            Ok(skill) => skill,
            Err(answer) => return answer,
        };
        if skill.flag == ModerationFlag::Malicious {
            return SiteAnswer::text(
                403,
                "Blocked: this skill has been flagged as malicious by ClawScan and cannot be downloaded.",
            );
        }
        let wanted = request.query("version").or_else(|| {
            let tag = request.query("tag")?;
            skill.tags.iter().find(|(known, _)| known == tag).map(|(_, v)| v.as_str())
        });
        let Some(version) = skill.version(wanted) else {
            return SiteAnswer::text(404, "Version not found");
        };
        if let ClawHubManner::Json(source) = &self.manner {
            return SiteAnswer::json(source);
        }
        let mut files = version.files.clone();
        match &self.manner {
            ClawHubManner::WrongDigest => {
                if let Some(byte) = files.last_mut().and_then(|(_, bytes)| bytes.last_mut()) {
                    *byte ^= 1;
                }
            }
            ClawHubManner::ZipSlip => files.push(("../../outside.md".to_owned(), b"out".to_vec())),
            ClawHubManner::ZipBomb => files.push(("zeros.bin".to_owned(), vec![0; 3_000_000])),
            _ => {}
        }
        let meta = json!({"ownerId": skill.owner, "slug": skill.slug, "version": version.version,
            "publishedAt": version.at});
        let meta = serde_json::to_vec_pretty(&meta).unwrap_or_default();
        files.push(("_meta.json".to_owned(), meta));
        let name = format!("attachment; filename=\"{}-{}.zip\"", skill.slug, version.version);
        let mut answer = SiteAnswer::new(200, "application/zip", zip_files(&files, ""))
            .header("content-disposition", &name);
        answer.sending = match &self.manner {
            ClawHubManner::Truncated => BodyDelivery::Half,
            ClawHubManner::SlowLoris => BodyDelivery::Drip,
            ClawHubManner::Stalled => BodyDelivery::Silence,
            _ => BodyDelivery::Whole,
        };
        answer
    }
}

impl ModerationFlag {
    fn word(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Suspicious => "suspicious",
            Self::Malicious => "malicious",
        }
    }

    fn moderation(self) -> Value {
        match self {
            Self::Clean => Value::Null,
            flag => json!({"isSuspicious": flag == Self::Suspicious,
                "isMalwareBlocked": flag == Self::Malicious, "verdict": flag.word(),
                "reasonCodes": ["test.flag"], "summary": "flagged", "engineVersion": "1",
                "updatedAt": 1}),
        }
    }
}

impl ClawHubSkill {
    fn version(&self, wanted: Option<&str>) -> Option<&ClawHubVersion> {
        match wanted {
            Some(wanted) => self.versions.iter().find(|version| version.version == wanted),
            None => self.versions.last(),
        }
    }

    fn search_row(&self, hits: usize) -> Value {
        json!({
            "id": format!("{}/{}", self.owner, self.slug), "source": "clawhub", "slug": self.slug,
            "displayName": self.slug, "summary": self.summary, "icon": null, "score": hits,
            "ownerHandle": self.owner, "owner": {"handle": self.owner, "displayName": self.owner},
            "install": {"kind": "clawhub", "reference": format!("@{}/{}", self.owner, self.slug),
                "sourceUrl": null},
            "trust": {"visibility": "public", "installability": "installable",
                "clawHubVerdict": self.flag.word(), "upstreamScanners": [],
                "sourceFreshness": "native"},
            "metrics": {"rolling60DayInstalls": 7, "bookmarks": self.stars, "updatedAt": 1},
            "version": self.version(None).map(|v| v.version.clone()),
            "downloads": self.downloads, "updatedAt": 1,
        })
    }

    fn item(&self) -> Value {
        let tags: serde_json::Map<String, Value> =
            self.tags.iter().map(|(tag, version)| (tag.clone(), json!(version))).collect();
        json!({
            "slug": self.slug, "displayName": self.slug, "summary": self.summary,
            "ownerHandle": self.owner, "topics": [], "tags": tags,
            "stats": {"downloads": self.downloads, "stars": self.stars,
                "versions": self.versions.len(), "comments": 0},
            "createdAt": 1, "updatedAt": self.version(None).map_or(1, |v| v.at),
            "latestVersion": self.version(None).map(ClawHubVersion::row), "metadata": null,
        })
    }

    fn detail(&self) -> Value {
        let setup: Vec<Value> = self
            .setup
            .iter()
            .map(|(key, required)| json!({"key": key, "required": required}))
            .collect();
        json!({
            "skill": self.item(),
            "latestVersion": self.version(None).map(ClawHubVersion::row),
            "metadata": {"setup": setup, "os": null, "systems": null},
            "owner": {"handle": self.owner, "userId": "u1", "displayName": self.owner, "image": null},
            "moderation": self.flag.moderation(),
        })
    }
}

impl ClawHubVersion {
    fn row(&self) -> Value {
        json!({"version": self.version, "createdAt": self.at, "changelog": "changes",
            "changelogSource": "user", "license": "MIT-0"})
    }

    fn document(&self, flag: ModerationFlag) -> Value {
        let files: Vec<Value> = self
            .files
            .iter()
            .map(|(path, bytes)| {
                json!({"path": path, "size": bytes.len(),
                "sha256": sha256_hex(bytes), "contentType": "text/plain"})
            })
            .collect();
        let mut row = self.row();
        row["files"] = json!(files);
        row["security"] = json!({"status": flag.word(), "hasWarnings": flag != ModerationFlag::Clean,
            "checkedAt": 1, "model": null, "hasScanResult": true});
        row
    }
}

/// The registry's fingerprint of some files.
pub fn fingerprint(files: &[(String, Vec<u8>)]) -> String {
    let mut files: Vec<&(String, Vec<u8>)> = files.iter().collect();
    files.sort_by(|a, b| sinew_catalog::collate::compare(&a.0, &b.0));
    let lines: Vec<String> =
        files.iter().map(|(path, bytes)| format!("{path}:{}", sha256_hex(bytes))).collect();
    sha256_hex(lines.join("\n").as_bytes())
}

/// The registry's hash of a folder on GitHub.
pub fn folder_hash(files: &[(String, Vec<u8>)]) -> String {
    let mut files: Vec<&(String, Vec<u8>)> = files.iter().collect();
    files.sort_by(|a, b| sinew_catalog::collate::compare(&a.0, &b.0));
    let line = |(path, bytes): &&(String, Vec<u8>)| {
        format!("{path}\0{}\0{}", bytes.len(), sha256_hex(bytes))
    };
    sha256_hex(files.iter().map(line).collect::<Vec<_>>().join("\n").as_bytes())
}

/// A zip of some files, each below `prefix`.
pub fn zip_files(files: &[(String, Vec<u8>)], prefix: &str) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated);
    for (path, bytes) in files {
        writer.start_file(format!("{prefix}{path}"), options).expect("an entry");
        writer.write_all(bytes).expect("its bytes");
    }
    writer.finish().expect("a zip").into_inner()
}
