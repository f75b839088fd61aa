//! Where skills come from, as the flow needs it.

use std::path::PathBuf;

use sinew_guard::scan::SkillCapabilities;

use crate::EngineError;
use crate::approval::{ApprovalContent, ApprovalScan};

/// Registries and the folder that skills are installed into.
///
/// An implementation verifies, scans and stages; the flow decides. Every call may be repeated after
/// a crash.
pub trait SkillMarket {
    /// Searches, summaries alone. `relevant` says whether a row fits the task; where too little of what
    /// is reviewed does, unreviewed sources are asked as well.
    fn search(
        &self,
        query: &MarketQuery<'_>,
        relevant: &dyn Fn(&MarketListing) -> bool,
    ) -> Result<MarketSearchResult, EngineError>;

    /// The text of a row's SKILL.md, where its source has it ready; nothing is installed or run.
    fn text(&self, _listing: &MarketListing) -> Option<String> {
        None
    }

    /// The address of a source, for people: `clawhub` is the name of the default registry, wherever that
    /// is.
    fn source_address(&self, source: &str) -> String {
        source.to_owned()
    }

    /// The row of one skill that was chosen by its reference, in the version that is wanted.
    fn lookup(&self, reference: &str, version: Option<&str>) -> Result<MarketListing, EngineError>;

    /// Resolves, downloads, verifies and scans a skill, where no catalog sees it.
    fn fetch(&self, wanted: &AcquireTarget<'_>) -> Result<FetchedCandidate, EngineError>;

    /// Puts a skill in place for a run, with exactly these bytes. Where they are there for this run
    /// already, nothing happens; what is there for another reason stays, and is an error.
    fn install(
        &self,
        wanted: &AcquireTarget<'_>,
        order: &InstallOrder<'_>,
    ) -> Result<MarketInstall, EngineError>;

    /// What is installed under a name.
    fn installed(&self, slug: &str) -> Result<Option<MarketInstall>, EngineError>;

    /// Takes away what a run installed, its entries in locks as well; `false` where there was nothing.
    /// What is there for another reason is left as it is.
    fn uninstall(&self, slug: &str, run: &str) -> Result<bool, EngineError>;

    /// From now on what a run installed is the person's own.
    fn retain(&self, slug: &str, run: &str) -> Result<(), EngineError>;
}

/// What markets are searched with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MarketQuery<'a> {
    /// The message, without people, addresses, numbers, paths and secrets.
    pub message: &'a str,
    /// Three to five keywords, in English where their English is known.
    pub keywords: &'a [String],
}

/// What a search found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MarketSearchResult {
    /// Every row, those that fit first.
    pub listings: Vec<MarketListing>,
    /// How many of the reviewed ones fit.
    pub relevant: usize,
    /// Whether unreviewed sources were asked, because too little fits.
    pub supplemented: bool,
    /// What could not be asked, or said something strange.
    pub problems: Vec<String>,
}

/// An installation that was agreed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InstallOrder<'a> {
    /// The digest of exactly what was agreed to.
    pub digest: &'a str,
    /// The run it is for.
    pub run: &'a str,
    /// Who agreed; `None` for a reflex, which stands on an older yes to the same bytes.
    pub by: Option<&'a str>,
}

/// One row of a search.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MarketListing {
    /// The skill.
    pub slug: String,
    /// How its source names it.
    pub reference: String,
    /// Where it comes from: `clawhub`, `github`, or a registry's name.
    pub source: String,
    /// Whether that source reviews what it offers.
    pub reviewed: bool,
    /// What people call it.
    pub name: Option<String>,
    /// What it says it is for.
    pub description: String,
    /// How many people marked it.
    pub stars: Option<u64>,
    /// How often it was downloaded.
    pub downloads: Option<u64>,
    /// The version that was asked for; the newest where absent.
    pub version: Option<String>,
}

/// A skill that is to be fetched or installed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AcquireTarget<'a> {
    /// The skill.
    pub slug: &'a str,
    /// How its source names it; empty where the slug is enough.
    pub reference: &'a str,
    /// Where it comes from.
    pub source: &'a str,
    /// Which version; the newest where absent.
    pub version: Option<&'a str>,
}

/// A skill's files, verified and scanned.
#[derive(Debug, Clone, PartialEq)]
pub struct FetchedCandidate {
    /// Their version.
    pub version: String,
    /// Which files, with the digest that an installation is bound to.
    pub content: ApprovalContent,
    /// What the scanner says.
    pub scan: ApprovalScan,
    /// What they can do.
    pub capabilities: SkillCapabilities,
    /// The text of SKILL.md.
    pub skill_md: String,
    /// How the source names exactly this skill.
    pub reference: String,
}

/// A skill in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarketInstall {
    /// The digest of its files.
    pub digest: String,
    /// Its folder.
    pub folder: PathBuf,
    /// The run that put it there, if one did.
    pub run: Option<String>,
}
