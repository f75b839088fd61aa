//! How to install what a skill needs: the ways there are, the best one here, and what would be run.
//!
//! A skill only *declares* installers. Each declaration passes two stages of one rule table before
//! it becomes an argument vector: the first when the skill is loaded, the second when the vector is
//! built. Nothing here starts a program; `sinew-exec` does, after a person has agreed.
//!
//! **Must never happen here:** text of a skill that becomes a second argument, an option, or input
//! of a shell.

mod options;
mod rules;
mod vector;

use serde::Serialize;
use sinew_settings::{Reason, ReasonCode};
use sinew_skill::InstallSpec;
use url::Url;

pub use options::{InstallOption, OfferContext, offered_options, remedy_for_program};
pub use vector::InstallerSetup;

/// What installs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum InstallerKind {
    /// Homebrew.
    Brew,
    /// npm, pnpm, yarn or bun.
    Node,
    /// `go install`.
    Go,
    /// `uv tool install`.
    Uv,
    /// apt, on Debian and similar systems.
    Apt,
    /// sinew itself.
    Download,
}

impl InstallerKind {
    /// Every kind.
    pub const ALL: [Self; 6] =
        [Self::Brew, Self::Node, Self::Go, Self::Uv, Self::Apt, Self::Download];

    /// The name that skills use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Brew => "brew",
            Self::Node => "node",
            Self::Go => "go",
            Self::Uv => "uv",
            Self::Apt => "apt",
            Self::Download => "download",
        }
    }
}

/// A declared installer that passed the first stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedInstaller {
    /// The declaration.
    pub spec: InstallSpec,
    /// What installs it.
    pub kind: InstallerKind,
    /// What is installed: a formula, a package or a module; for a download, its address.
    pub what: String,
    /// For brew: a cask rather than a formula.
    pub cask: bool,
    /// For brew: a tap that has to be added first and needs its own consent.
    pub tap: Option<String>,
    /// The details of a download.
    pub download: Option<DownloadSpec>,
}

/// A file to fetch, and what to do with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DownloadSpec {
    /// Its address.
    pub url: Url,
    /// The expected digest, in lower case.
    pub sha256: Option<String>,
    /// The archive format, as written.
    pub archive: Option<String>,
    /// Whether to unpack it, if the skill says so.
    pub extract: Option<bool>,
    /// Leading path components to strip while unpacking.
    pub strip: usize,
    /// The target folder, below the skill's folder of tools.
    pub target: Option<String>,
}

/// Stripping more than this leaves nothing of any real archive.
const MAX_STRIP: usize = 16;

/// The first stage: whether a declaration has a known kind and is well formed.
pub fn check_spec(spec: &InstallSpec) -> Result<CheckedInstaller, Reason> {
    let kind = InstallerKind::ALL.into_iter().find(|kind| kind.as_str() == spec.kind);
    let kind = kind.ok_or_else(|| {
        invalid(spec, &format!("{} is not a known kind of installer", printable(&spec.kind)))
    })?;
    let (field, text) = named(spec, kind).ok_or_else(|| {
        invalid(spec, &format!("it does not name a {}", rules::fields(kind).join(" or ")))
    })?;
    rules::check_first_stage(kind, text)
        .map_err(|problem| invalid(spec, &format!("`{field}` {problem}")))?;
    let field = |name: &str| spec.fields.get(name).map(|text| text.trim());
    let tap = match field("tap").filter(|_| kind == InstallerKind::Brew) {
        Some(tap) => {
            rules::check_tap(tap).map_err(|problem| invalid(spec, &format!("`tap` {problem}")))?;
            Some(tap.to_owned())
        }
        // `owner/tap/tool` makes brew add the tap by itself, so it is asked for like one.
        None => (kind == InstallerKind::Brew).then(|| tap_of(text)).flatten(),
    };
    let download = match kind {
        InstallerKind::Download => {
            Some(download(text, &field).map_err(|text| invalid(spec, &text))?)
        }
        _ => None,
    };
    let cask = kind == InstallerKind::Brew && field("formula").is_none_or(str::is_empty);
    Ok(CheckedInstaller { spec: spec.clone(), kind, what: text.to_owned(), cask, tap, download })
}

/// The tap that a formula's full name brings along; Homebrew's own are there without asking.
fn tap_of(formula: &str) -> Option<String> {
    let (tap, _) = formula.rsplit_once('/')?;
    let own = tap.split('/').next().is_some_and(|owner| owner.eq_ignore_ascii_case("homebrew"));
    (tap.contains('/') && !own).then(|| tap.to_owned())
}

/// The field that names what to install, and its text.
fn named(spec: &InstallSpec, kind: InstallerKind) -> Option<(&'static str, &str)> {
    rules::fields(kind).iter().find_map(|field| {
        let text = spec.fields.get(*field)?.trim();
        (!text.is_empty()).then_some((*field, text))
    })
}

fn download<'a>(
    address: &str,
    field: &dyn Fn(&str) -> Option<&'a str>,
) -> Result<DownloadSpec, String> {
    let url = rules::parse_download_url(address)?;
    let sha256 = match field("sha256") {
        Some(text) => Some(rules::parse_sha256(text)?),
        None => None,
    };
    let strip = match field("stripComponents") {
        Some(text) => text
            .parse()
            .ok()
            .filter(|strip| *strip <= MAX_STRIP)
            .ok_or_else(|| format!("`stripComponents` is not a number up to {MAX_STRIP}"))?,
        None => 0,
    };
    let extract = match field("extract") {
        None => None,
        Some("true") => Some(true),
        Some("false") => Some(false),
        Some(_) => return Err("`extract` is neither true nor false".to_owned()),
    };
    Ok(DownloadSpec {
        url,
        sha256,
        archive: field("archive").map(str::to_ascii_lowercase).filter(|text| !text.is_empty()),
        extract,
        strip,
        target: field("targetDir").map(str::to_owned).filter(|text| !text.is_empty()),
    })
}

impl CheckedInstaller {
    /// The label that users see, with the manager that is used here.
    pub fn label(&self, setup: &InstallerSetup) -> String {
        let manager = setup.manager(self.kind);
        let declared = self.spec.label.as_deref().map(clean).filter(|label| !label.is_empty());
        match (self.kind, declared) {
            // The skill's author cannot know which manager is used here.
            (InstallerKind::Node, _) | (_, None) => match &self.download {
                Some(download) => format!("Download {}", file_name(&download.url)),
                None => format!("Install {} ({manager})", self.what),
            },
            (_, Some(label)) => label,
        }
    }
}

/// The last part of an address, for naming a file.
pub fn file_name(url: &Url) -> String {
    let last = url.path_segments().and_then(|mut parts| parts.next_back()).unwrap_or_default();
    let plain: String = last
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '+'))
        .collect();
    match plain.trim_matches('.') {
        "" => "download".to_owned(),
        name => name.to_owned(),
    }
}

/// The reason for a declaration that is dropped.
pub(crate) fn invalid(spec: &InstallSpec, detail: &str) -> Reason {
    Reason::new(ReasonCode::InstallSpecInvalid, format!("{}: {detail}", printable(&spec.id)))
        .key(printable(&spec.id))
        .remedy("correct the skill's `install` entry; its other entries still work")
}

/// A longer label is cut.
const MAX_LABEL: usize = 120;

fn clean(text: &str) -> String {
    text.trim().chars().filter(|c| !c.is_control()).take(MAX_LABEL).collect()
}

fn printable(text: &str) -> String {
    clean(text)
}
