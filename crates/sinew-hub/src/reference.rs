//! References: what users type to name a skill from elsewhere.
//!
//! A reference is checked here, before any request: anything that could turn into a path, a query
//! or a second reference is refused. Parsing and rendering are inverse: `parse(render(r)) == r`.

use std::fmt;

use semver::{Version, VersionReq};
use sinew_guard::archive::components;
use url::Url;

/// The longest reference: a URL with a long path still fits.
const MAX_LENGTH: usize = 1000;
/// Longest owner handle.
const MAX_HANDLE: usize = 40;
/// Longest name of a slug, skill, repository or git reference.
const MAX_NAME: usize = 200;

/// A reference to a skill from elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkillReference {
    /// On a registry.
    Registry(RegistryRef),
    /// In a repository on GitHub.
    GitHub(GitHubRef),
    /// In skills.sh's list, which points to GitHub.
    SkillsSh(SkillsShRef),
    /// In any git repository.
    Git(GitRef),
    /// In a host's discovery index.
    WellKnown(WellKnownRef),
    /// In a folder or an archive on this machine.
    Local(String),
}

/// A slug on a registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistryRef {
    /// The registry's configured name; the default one if absent.
    pub registry: Option<String>,
    /// The owner's handle.
    pub owner: Option<String>,
    /// The skill.
    pub slug: String,
    /// Which version.
    pub wanted: RequestedVersion,
}

/// Which version of a skill is requested.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum RequestedVersion {
    /// The latest.
    #[default]
    Latest,
    /// Exactly this one.
    Version(String),
    /// The one with this tag.
    Tag(String),
    /// The newest in this range.
    Range(String),
}

/// A skill in a repository on GitHub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitHubRef {
    /// The account.
    pub owner: String,
    /// The repository.
    pub repo: String,
    /// A folder in it.
    pub path: Option<String>,
    /// The skill's name, if there are several.
    pub skill: Option<String>,
    /// A branch, tag or commit.
    pub at: Option<String>,
}

/// An entry of skills.sh.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillsShRef {
    /// The account.
    pub owner: String,
    /// The repository.
    pub repo: String,
    /// The skill.
    pub slug: String,
}

/// A git repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitRef {
    /// The address passed to `git fetch`.
    pub url: String,
    /// A branch, tag or commit.
    pub at: Option<String>,
    /// The skill's name, if there are several.
    pub skill: Option<String>,
}

/// A host with a discovery index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WellKnownRef {
    /// The address, without a trailing slash.
    pub url: String,
    /// The entry, if there are several.
    pub skill: Option<String>,
}

/// How `owner/name` without a prefix is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ShorthandMeaning {
    /// A repository on GitHub.
    #[default]
    GitHub,
    /// A slug of an owner on the registry.
    Registry,
}

/// Why a text is not a valid reference.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a valid reference: {what}")]
pub struct ReferenceError {
    /// What was typed, safe to show.
    pub text: String,
    /// What is wrong with it.
    pub what: &'static str,
}

type ReferenceResult<T> = Result<T, &'static str>;

impl SkillReference {
    /// Parses what was typed.
    pub fn parse(text: &str, reading: ShorthandMeaning) -> Result<Self, ReferenceError> {
        parse(text.trim(), reading).map_err(|what| {
            let short: String = text.trim().chars().take(100).collect();
            ReferenceError { text: sinew_guard::Untrusted::new(&short).for_terminal(), what }
        })
    }

    /// The kind of source, as records name it.
    pub fn source(&self) -> &'static str {
        match self {
            Self::Registry(_) => "registry",
            Self::GitHub(_) => "github",
            Self::SkillsSh(_) => "skills-sh",
            Self::Git(_) => "git",
            Self::WellKnown(_) => "well-known",
            Self::Local(_) => "local",
        }
    }
}

fn parse(text: &str, reading: ShorthandMeaning) -> ReferenceResult<SkillReference> {
    if text.is_empty() {
        return Err("it is empty");
    }
    if text.chars().count() > MAX_LENGTH {
        return Err("it is too long");
    }
    if text.chars().any(char::is_control) {
        return Err("it contains a control character");
    }
    if is_local(text) {
        return Ok(SkillReference::Local(text.to_owned()));
    }
    let lower = text.to_ascii_lowercase();
    if text.contains('\\') || lower.contains("%2f") || lower.contains("%5c") {
        return Err("it contains a backslash or an encoded separator");
    }
    if text.split(['/', '@', '#', ':']).any(|part| part == "..") || text.contains("/../") {
        return Err("it contains `..`");
    }
    if lower.contains("%2e%2e") || lower.contains("%00") {
        return Err("it contains an encoded `..` or NUL");
    }
    if let Some(url) = text.strip_prefix("git@") {
        return scp(text, url);
    }
    if lower.starts_with("http://") || lower.starts_with("https://") {
        return web(text);
    }
    if lower.starts_with("ssh://") {
        return git_url(text);
    }
    if text.contains("://") {
        return Err("its scheme is not http, https or ssh");
    }
    match text.split_once(':') {
        Some(("github", rest)) => github(rest).map(SkillReference::GitHub),
        Some(("git", rest)) => short_git(rest),
        Some(("skills-sh", rest)) => skills_sh(rest).map(SkillReference::SkillsSh),
        Some(("gitlab", _)) => Err("GitLab has no short form; name the repository's .git address"),
        Some((name, rest)) if is_registry_name(name) => registry(Some(name), rest),
        Some(_) => Err("the part before the colon is not a known source"),
        None if text.starts_with('@') || !text.contains('/') => registry(None, text),
        None if reading == ShorthandMeaning::Registry => registry(None, &format!("@{text}")),
        None => github(text).map(SkillReference::GitHub),
    }
}

fn is_local(text: &str) -> bool {
    matches!(text, "." | ".." | "~")
        || ["./", "../", "~/", "/"].iter().any(|start| text.starts_with(start))
        || std::path::Path::new(text).is_absolute()
}

/// Whether a name may be used for a registry.
pub fn is_registry_name(name: &str) -> bool {
    let ok = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.len() <= MAX_HANDLE
        && name.chars().all(ok)
}

fn registry(name: Option<&str>, text: &str) -> ReferenceResult<SkillReference> {
    let (owner, rest) = match text.strip_prefix('@') {
        Some(owned) => {
            let (owner, rest) =
                owned.split_once('/').ok_or("an owner needs a skill: @owner/slug")?;
            (Some(parse_handle(owner)?), rest)
        }
        None => (None, text),
    };
    let (slug, wanted) = match rest.split_once('@') {
        Some((slug, wanted)) => (slug, parse_requested_version(wanted)?),
        None => (rest, RequestedVersion::Latest),
    };
    let slug = parse_slug(slug)?;
    Ok(SkillReference::Registry(RegistryRef {
        registry: name.map(str::to_owned),
        owner,
        slug,
        wanted,
    }))
}

/// The handle of an owner: trimmed, in lower case, without its `@`.
pub fn parse_handle(text: &str) -> ReferenceResult<String> {
    let text = text.trim();
    let handle = text.strip_prefix('@').unwrap_or(text).to_ascii_lowercase();
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let ok = handle.len() <= MAX_HANDLE
        && handle.starts_with(plain)
        && handle.ends_with(plain)
        && handle.chars().all(|c| plain(c) || matches!(c, '.' | '_' | '-'))
        && !handle.contains("..");
    if ok { Ok(handle) } else { Err("its owner is not a valid handle") }
}

/// A slug, in any case; returned in lower case.
pub fn parse_slug(text: &str) -> ReferenceResult<String> {
    let slug = text.to_ascii_lowercase();
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let ok = slug.len() <= MAX_NAME
        && slug.starts_with(plain)
        && slug.ends_with(plain)
        && slug.chars().all(|c| plain(c) || c == '-');
    if ok { Ok(slug) } else { Err("its name is not a valid slug (letters, digits and hyphens)") }
}

/// The version, tag or range after a slug's `@`.
pub fn parse_requested_version(text: &str) -> ReferenceResult<RequestedVersion> {
    if text.len() > MAX_NAME {
        return Err("its version is too long");
    }
    if Version::parse(text).is_ok() {
        return Ok(RequestedVersion::Version(text.to_owned()));
    }
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(word) {
        return Ok(match text {
            "latest" => RequestedVersion::Latest,
            tag => RequestedVersion::Tag(tag.to_owned()),
        });
    }
    match VersionReq::parse(text) {
        Ok(_) => Ok(RequestedVersion::Range(text.to_owned())),
        Err(_) => Err("its version is neither a version, a range nor a tag"),
    }
}

/// `#ref` and `@skill`, in either order.
fn selectors(text: &str) -> ReferenceResult<(&str, Option<String>, Option<String>)> {
    let end = text.find(['#', '@']).unwrap_or(text.len());
    let (base, mut rest) = text.split_at(end);
    let (mut at, mut skill) = (None, None);
    while let Some(mark) = rest.chars().next() {
        let body = &rest[1..];
        let end = body.find(['#', '@']).unwrap_or(body.len());
        let slot = if mark == '#' { &mut at } else { &mut skill };
        if slot.replace(body[..end].to_owned()).is_some() {
            return Err("it names a ref or a skill more than once");
        }
        rest = &body[end..];
    }
    if let Some(at) = &at {
        git_at(at)?;
    }
    if let Some(skill) = &skill {
        skill_name(skill)?;
    }
    Ok((base, at, skill))
}

fn git_at(at: &str) -> ReferenceResult<()> {
    let ok = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | '+');
    let parts_ok = at.split('/').all(|part| !part.is_empty() && !part.starts_with(['.', '-']));
    let fits = !at.is_empty() && at.len() <= MAX_NAME && at.chars().all(ok) && parts_ok;
    if fits && !at.contains("..") {
        Ok(())
    } else {
        Err("its ref is not a valid branch, tag or commit")
    }
}

fn skill_name(name: &str) -> ReferenceResult<()> {
    let ok = |c: char| !matches!(c, '/' | '%' | '?' | ':' | '"' | '<' | '>' | '|' | '*');
    let fits = !name.trim().is_empty() && name.trim() == name && name.len() <= MAX_NAME;
    if fits && name.chars().all(ok) && !name.contains("..") {
        Ok(())
    } else {
        Err("the skill's name has characters that are not allowed")
    }
}

fn github(text: &str) -> ReferenceResult<GitHubRef> {
    let (base, at, skill) = selectors(text)?;
    let mut parts = base.splitn(3, '/');
    let (owner, repo) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let path = match parts.next() {
        Some(path) => Some(folder(path)?),
        None => None,
    };
    let (owner, repo) = account_and_repo(owner, repo)?;
    Ok(GitHubRef { owner, repo, path, skill, at })
}

fn account_and_repo(owner: &str, repo: &str) -> ReferenceResult<(String, String)> {
    let owner_ok = (1..=39).contains(&owner.len())
        && !owner.starts_with('-')
        && owner.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let repo_ok = (1..=100).contains(&repo.len())
        && !matches!(repo, "." | "..")
        && repo.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'));
    if owner_ok && repo_ok {
        Ok((owner.to_owned(), repo.to_owned()))
    } else {
        Err("it is not owner/repo")
    }
}

fn folder(path: &str) -> ReferenceResult<String> {
    let plain = !path.contains(['%', '?']) && !path.ends_with('/');
    match components(path) {
        Ok(_) if plain => Ok(path.to_owned()),
        _ => Err("its folder is not a plain path"),
    }
}

fn skills_sh(text: &str) -> ReferenceResult<SkillsShRef> {
    let parts: Vec<&str> = text.split('/').collect();
    let [owner, repo, slug] = parts.as_slice() else {
        return Err("it is not skills-sh:owner/repo/slug");
    };
    let (owner, repo) = account_and_repo(owner, repo)?;
    Ok(SkillsShRef { owner, repo, slug: parse_slug(slug)? })
}

/// `git:owner/repo[@ref]`, OpenClaw's short form.
fn short_git(text: &str) -> ReferenceResult<SkillReference> {
    let (base, at) = match text.split_once(['@', '#']) {
        Some((base, at)) => (base, Some(at.to_owned())),
        None => (text, None),
    };
    let (owner, repo) = base.split_once('/').ok_or("it is not git:owner/repo")?;
    let (owner, repo) = account_and_repo(owner, repo.strip_suffix(".git").unwrap_or(repo))?;
    if let Some(at) = &at {
        git_at(at)?;
    }
    let url = format!("https://github.com/{owner}/{repo}.git");
    Ok(SkillReference::Git(GitRef { url, at, skill: None }))
}

/// `git@host:path.git`.
fn scp(text: &str, after: &str) -> ReferenceResult<SkillReference> {
    let end = after.find(['#', '@']).unwrap_or(after.len());
    let (base, selected) = after.split_at(end);
    let (host, path) = base.split_once(':').ok_or("it is not git@host:path")?;
    if !is_host(host) || components(path).is_err() || path.contains([' ', '%']) {
        return Err("it is not git@host:path");
    }
    let (_, at, skill) = selectors(selected)?;
    let url = text[..text.len() - selected.len()].to_owned();
    Ok(SkillReference::Git(GitRef { url, at, skill }))
}

/// Whether a name can be a host; one that starts with a hyphen would be read as an option of `ssh`.
fn is_host(host: &str) -> bool {
    !host.is_empty()
        && !host.starts_with('-')
        && host
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '[' | ']' | ':'))
}

fn web(text: &str) -> ReferenceResult<SkillReference> {
    let (base, fragment) = match text.split_once('#') {
        Some((base, fragment)) => (base, Some(fragment)),
        None => (text, None),
    };
    let url = Url::parse(base).map_err(|_| "it is not a valid address")?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err("an address must not contain a user name or a password");
    }
    if url.query().is_some() {
        return Err("an address must not contain a query");
    }
    let path = url.path().trim_matches('/').to_owned();
    let ends_in_git = std::path::Path::new(&path).extension().is_some_and(|end| end == "git");
    if ends_in_git || path.contains(".git@") {
        return git_url(text);
    }
    if url.host_str().is_some_and(|host| matches!(host, "github.com" | "www.github.com")) {
        return github_url(&path, fragment);
    }
    let skill = fragment.filter(|skill| !skill.is_empty()).map(str::to_owned);
    if let Some(skill) = &skill {
        skill_name(skill)?;
    }
    let url = url.as_str().trim_end_matches('/').to_owned();
    Ok(SkillReference::WellKnown(WellKnownRef { url, skill }))
}

fn github_url(path: &str, fragment: Option<&str>) -> ReferenceResult<SkillReference> {
    let parts: Vec<&str> = path.splitn(5, '/').collect();
    let (at, folder_path) = match parts.as_slice() {
        [_, _] => (fragment.map(str::to_owned), None),
        [_, _, "tree" | "blob", at] => (Some((*at).to_owned()), None),
        [_, _, "tree" | "blob", at, path] => {
            let path = path.strip_suffix("/SKILL.md").unwrap_or(path);
            (Some((*at).to_owned()), Some(path).filter(|path| *path != "SKILL.md"))
        }
        _ => return Err("it is not a repository or folder on GitHub"),
    };
    let (owner, repo) = account_and_repo(parts[0], parts[1])?;
    if let Some(at) = &at {
        git_at(at)?;
    }
    let path = folder_path.map(folder).transpose()?;
    Ok(SkillReference::GitHub(GitHubRef { owner, repo, path, skill: None, at }))
}

fn git_url(text: &str) -> ReferenceResult<SkillReference> {
    // In `ssh://git@host/…` the first `@` belongs to the address.
    let start = text.find("://").map_or(0, |at| at + 3);
    let path = text[start..].find('/').map_or(text.len(), |at| start + at);
    let (_, at, skill) = selectors(&text[path..])?;
    let end = text[path..].find(['#', '@']).map_or(text.len(), |at| path + at);
    let url = Url::parse(&text[..end]).map_err(|_| "it is not a valid address")?;
    let user_ok = url.password().is_none() && matches!(url.username(), "" | "git");
    if !url.host_str().is_some_and(is_host) || !user_ok || url.query().is_some() {
        return Err("it is not the address of a repository");
    }
    Ok(SkillReference::Git(GitRef { url: text[..end].to_owned(), at, skill }))
}

impl fmt::Display for SkillReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Registry(reference) => reference.fmt(f),
            Self::GitHub(github) => {
                write!(f, "github:{}/{}", github.owner, github.repo)?;
                if let Some(path) = &github.path {
                    write!(f, "/{path}")?;
                }
                write_selectors(f, github.skill.as_deref(), github.at.as_deref())
            }
            Self::SkillsSh(entry) => {
                write!(f, "skills-sh:{}/{}/{}", entry.owner, entry.repo, entry.slug)
            }
            Self::Git(git) => {
                f.write_str(&git.url)?;
                write_selectors(f, git.skill.as_deref(), git.at.as_deref())
            }
            Self::WellKnown(index) => {
                f.write_str(&index.url)?;
                match &index.skill {
                    Some(skill) => write!(f, "#{skill}"),
                    None => Ok(()),
                }
            }
            Self::Local(path) => f.write_str(path),
        }
    }
}

impl fmt::Display for RegistryRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(registry) = &self.registry {
            write!(f, "{registry}:")?;
        }
        if let Some(owner) = &self.owner {
            write!(f, "@{owner}/")?;
        }
        f.write_str(&self.slug)?;
        match &self.wanted {
            RequestedVersion::Latest => Ok(()),
            RequestedVersion::Version(wanted)
            | RequestedVersion::Tag(wanted)
            | RequestedVersion::Range(wanted) => {
                write!(f, "@{wanted}")
            }
        }
    }
}

fn write_selectors(
    f: &mut fmt::Formatter<'_>,
    skill: Option<&str>,
    at: Option<&str>,
) -> fmt::Result {
    if let Some(skill) = skill {
        write!(f, "@{skill}")?;
    }
    match at {
        Some(at) => write!(f, "#{at}"),
        None => Ok(()),
    }
}
