//! Searching: several sources, one list, and each row says whether its source reviews skills.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sinew_settings::ErrorCode;

use crate::error::HubError;
use crate::hub::Hub;
use crate::net::NetworkAccess;
use crate::reference::{RegistryRef, RequestedVersion, ShorthandMeaning, SkillReference};
use crate::registry::{QualifiedSlug, RegistryClient};
use crate::settings::DEFAULT_NAME;
use crate::source::skills_sh;
use crate::wire::{SearchRowWire, SkillSummaryWire};

/// Rows kept in the cached index.
const MAX_REMEMBERED: usize = 2_000;
/// With fewer relevant results than this, unreviewed sources are searched as well.
const ENOUGH: usize = 2;
const INDEX: &str = "index.json";

/// A skill that a search found.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RegistryCandidate {
    /// What to install.
    pub reference: String,
    /// Its name.
    pub name: String,
    /// What it is for.
    pub summary: String,
    /// `clawhub`, a registry's name, `github` or `skills-sh`.
    pub source: String,
    /// Whether that source reviews skills before it serves them.
    pub reviewed: bool,
    /// The owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The latest version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Stars or bookmarks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stars: Option<u64>,
    /// Downloads or installs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub downloads: Option<u64>,
    /// What scans said: `clean`, `suspicious`, `pending` … or `unknown`.
    pub verdict: String,
    /// Whether it fits what was searched for.
    #[serde(default)]
    pub relevant: bool,
}

/// Which sources are searched.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum SearchSources {
    /// The default registry, and others if it has too few results.
    #[default]
    Usual,
    /// All of them.
    All,
    /// One registry.
    Registry(String),
    /// GitHub.
    GitHub,
    /// skills.sh.
    SkillsSh,
}

impl SearchSources {
    /// Parses a source's name; whether a registry of that name exists is checked when it is
    /// searched.
    pub fn parse(text: &str) -> Self {
        match text {
            "all" => Self::All,
            "github" => Self::GitHub,
            "skills-sh" => Self::SkillsSh,
            name => Self::Registry(name.to_owned()),
        }
    }
}

/// How names are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NameMatching {
    /// By meaning and words.
    #[default]
    Words,
    /// Exactly this name.
    Exact,
    /// Names that start with the words.
    Prefix,
}

/// What to search for.
#[derive(Debug, Clone)]
pub struct RegistryQuery {
    /// The words.
    pub words: String,
    /// The same task in a few keywords: registries are searched with both. A source that wants every
    /// word of a query is searched with these alone.
    pub keywords: Option<String>,
    /// Which sources.
    pub sources: SearchSources,
    /// How names are compared.
    pub matching: NameMatching,
    /// How many results from each source.
    pub limit: usize,
}

impl RegistryQuery {
    /// The words, and the keywords where there are any.
    fn each(&self) -> impl Iterator<Item = &str> {
        let words = Some(self.words.as_str()).filter(|words| !words.is_empty());
        let keywords = self.keywords.as_deref().filter(|keywords| *keywords != self.words);
        words.into_iter().chain(keywords)
    }

    fn fewest_words(&self) -> &str {
        self.keywords.as_deref().unwrap_or(&self.words)
    }
}

/// The results of a search.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RegistryHits {
    /// The results, reviewed ones first.
    pub candidates: Vec<RegistryCandidate>,
    /// How many of the reviewed results are relevant.
    pub relevant: usize,
    /// Whether unreviewed sources were searched because there were too few results.
    pub supplemented: bool,
    /// Sources that failed, and rows that made no sense.
    pub diagnostics: Vec<String>,
    /// How old the results are, if they come from the cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age_ms: Option<u64>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct CachedCandidates {
    at_ms: u64,
    rows: Vec<RegistryCandidate>,
}

impl Hub {
    /// Searches. `relevant` says whether a row fits the task. A source that fails becomes a line in
    /// the answer; an error means that none answered.
    pub fn search(
        &self,
        query: &RegistryQuery,
        relevant: &dyn Fn(&RegistryCandidate) -> bool,
    ) -> Result<RegistryHits, HubError> {
        if self.network() == NetworkAccess::Off {
            return self.search_cached(query, relevant);
        }
        let mut found = RegistryHits {
            candidates: Vec::new(),
            relevant: 0,
            supplemented: false,
            diagnostics: Vec::new(),
            age_ms: None,
        };
        let registries: Vec<String> = match &query.sources {
            SearchSources::Usual => vec![DEFAULT_NAME.to_owned()],
            SearchSources::All => self.registry_names(),
            SearchSources::Registry(name) => vec![name.clone()],
            SearchSources::GitHub | SearchSources::SkillsSh => Vec::new(),
        };
        let (mut answered, mut failures) = (false, Vec::new());
        for name in registries {
            for words in query.each() {
                match self.search_registry(&name, words, query, &mut found.diagnostics) {
                    Ok(rows) => {
                        answered = true;
                        found.candidates.extend(rows);
                    }
                    // One that does not answer is not asked twice.
                    Err(error) => {
                        failures.push(error);
                        break;
                    }
                }
            }
        }
        let mut seen = BTreeSet::new();
        found.candidates.retain(|candidate| seen.insert(candidate.reference.clone()));
        for candidate in &mut found.candidates {
            candidate.relevant = relevant(candidate);
        }
        found.relevant = found.candidates.iter().filter(|candidate| candidate.relevant).count();
        let too_little = query.sources == SearchSources::Usual
            && query.matching == NameMatching::Words
            && found.relevant < ENOUGH;
        let mut further = Vec::new();
        if too_little || matches!(query.sources, SearchSources::All | SearchSources::GitHub) {
            found.supplemented = too_little;
            further.push(self.search_github(query, &mut found.diagnostics));
        }
        if matches!(query.sources, SearchSources::All | SearchSources::SkillsSh) {
            further.push(self.search_skills_sh(query));
        }
        for rows in further {
            match rows {
                Ok(rows) => {
                    answered = true;
                    for mut row in rows {
                        row.relevant = relevant(&row);
                        found.candidates.push(row);
                    }
                }
                Err(error) => failures.push(error),
            }
        }
        if !answered && !failures.is_empty() {
            return Err(failures.remove(0));
        }
        found.diagnostics.extend(failures.iter().map(|error| error.message.clone()));
        seen.clear();
        found.candidates.retain(|candidate| seen.insert(candidate.reference.clone()));
        found.candidates.sort_by_key(|c| (!c.relevant, !c.reviewed));
        self.remember_found(&found.candidates);
        Ok(found)
    }

    /// The text of a skill's SKILL.md, where the registry of a row has it ready.
    pub fn skill_text(&self, row: &RegistryCandidate) -> Option<String> {
        let version = row.version.as_deref()?;
        let reference = SkillReference::parse(&row.reference, ShorthandMeaning::GitHub).ok()?;
        let SkillReference::Registry(at) = reference else { return None };
        let registry = self.registry(at.registry.as_deref()).ok()?;
        let skill = QualifiedSlug { slug: &at.slug, owner: at.owner.as_deref() };
        String::from_utf8(registry.file(skill, "SKILL.md", version).ok()?).ok()
    }

    fn search_registry(
        &self,
        name: &str,
        words: &str,
        query: &RegistryQuery,
        diagnostics: &mut Vec<String>,
    ) -> Result<Vec<RegistryCandidate>, HubError> {
        let registry = self.registry(Some(name))?;
        if query.matching == NameMatching::Prefix {
            let page = registry.search_prefix(words, query.limit)?;
            diagnostics.extend(page.problems);
            return Ok(page.rows.iter().filter_map(|info| listed(&registry, info)).collect());
        }
        let page = match query.matching {
            NameMatching::Exact => registry.search_exact(words, query.limit)?,
            _ => registry.search(words, query.limit)?,
        };
        diagnostics.extend(page.problems);
        let mut rows = Vec::new();
        for row in page.rows {
            match candidate(&registry, &row) {
                Ok(row) => rows.push(row),
                Err(problem) => {
                    let slug = row.slug.as_deref().unwrap_or("a row without a slug");
                    diagnostics.push(format!("{name}: {slug}: {problem}"));
                }
            }
        }
        Ok(rows)
    }

    fn search_github(
        &self,
        query: &RegistryQuery,
        diagnostics: &mut Vec<String>,
    ) -> Result<Vec<RegistryCandidate>, HubError> {
        let github = self.github();
        if !github.can_search() && query.sources == SearchSources::Usual {
            return self.search_skills_sh(query);
        }
        if !github.can_search() {
            diagnostics.push(
                "GitHub's search needs a token (hub.github.useToken); skills.sh was searched instead"
                    .to_owned(),
            );
            return self.search_skills_sh(query);
        }
        let hits = github.search(query.fewest_words(), query.limit)?;
        Ok(hits
            .into_iter()
            .map(|hit| {
                let name = hit.at.path.as_deref().and_then(|path| path.rsplit('/').next());
                RegistryCandidate {
                    name: name.unwrap_or(&hit.at.repo).to_owned(),
                    summary: hit.description,
                    source: "github".to_owned(),
                    reviewed: false,
                    owner: Some(hit.at.owner.clone()),
                    version: None,
                    stars: Some(hit.stars),
                    downloads: None,
                    verdict: "unknown".to_owned(),
                    relevant: false,
                    reference: SkillReference::GitHub(hit.at).to_string(),
                }
            })
            .collect())
    }

    fn search_skills_sh(&self, query: &RegistryQuery) -> Result<Vec<RegistryCandidate>, HubError> {
        let rows =
            skills_sh::search(&self.http, &self.settings, query.fewest_words(), query.limit)?;
        Ok(rows
            .into_iter()
            .map(|row| RegistryCandidate {
                name: row.name.clone(),
                summary: row.name,
                source: "skills-sh".to_owned(),
                reviewed: false,
                owner: Some(row.at.owner.clone()),
                version: None,
                stars: None,
                downloads: Some(row.installs),
                verdict: "unknown".to_owned(),
                relevant: false,
                reference: SkillReference::SkillsSh(row.at).to_string(),
            })
            .collect())
    }

    /// Answers from the results of earlier searches.
    fn search_cached(
        &self,
        query: &RegistryQuery,
        relevant: &dyn Fn(&RegistryCandidate) -> bool,
    ) -> Result<RegistryHits, HubError> {
        let Some(index) = self.cache.document::<CachedCandidates>(INDEX) else {
            return Err(HubError::new(
                ErrorCode::Offline,
                "sinew is offline, and there are no earlier searches to answer from",
            )
            .hint("search once while online"));
        };
        let words = query.fewest_words().split_whitespace();
        let words: Vec<String> = words.map(str::to_lowercase).collect();
        let fits = |row: &RegistryCandidate| {
            let name = row.name.to_lowercase();
            let text = format!("{name} {} {}", row.reference, row.summary).to_lowercase();
            match query.matching {
                NameMatching::Words => words.iter().any(|word| text.contains(word.as_str())),
                NameMatching::Exact => words.contains(&name),
                NameMatching::Prefix => words.iter().any(|word| name.starts_with(word.as_str())),
            }
        };
        let mut candidates: Vec<RegistryCandidate> = index.rows.into_iter().filter(fits).collect();
        for candidate in &mut candidates {
            candidate.relevant = relevant(candidate);
        }
        candidates.sort_by_key(|c| (!c.relevant, !c.reviewed));
        candidates.truncate(query.limit);
        let age = self.env.clock.now_ms().saturating_sub(index.at_ms);
        Ok(RegistryHits {
            relevant: candidates.iter().filter(|c| c.relevant && c.reviewed).count(),
            candidates,
            supplemented: false,
            diagnostics: vec!["sinew is offline; these are results of earlier searches".to_owned()],
            age_ms: Some(age),
        })
    }

    fn remember_found(&self, rows: &[RegistryCandidate]) {
        if rows.is_empty() {
            return;
        }
        let known = self.cache.document::<CachedCandidates>(INDEX).unwrap_or_default();
        let fresh: BTreeSet<&String> = rows.iter().map(|row| &row.reference).collect();
        let older = known.rows.into_iter().filter(|row| !fresh.contains(&row.reference));
        let rows = rows.iter().cloned().chain(older).take(MAX_REMEMBERED).collect();
        self.cache.put_document(INDEX, &CachedCandidates { at_ms: self.env.clock.now_ms(), rows });
    }
}

/// A registry's row as a candidate; unknown values are left out, never guessed.
fn candidate(
    registry: &RegistryClient,
    row: &SearchRowWire,
) -> Result<RegistryCandidate, &'static str> {
    let slug = row.slug.as_deref().ok_or("it has no slug")?;
    let kind = row.install.as_ref().and_then(|install| install.kind.as_deref());
    let from_list = match (row.source.as_deref(), kind) {
        (Some("skills-sh"), _) | (_, Some("skills-sh")) => true,
        (None | Some("clawhub"), None | Some("clawhub" | "github")) => false,
        (Some(_), _) => return Err("its source is not known"),
        (_, Some(_)) => return Err("its install method is not known"),
    };
    let owner = row
        .owner_handle
        .clone()
        .or_else(|| row.owner.as_ref().and_then(|owner| owner.handle.clone()))
        .or_else(|| row.publisher.as_ref().and_then(|owner| owner.handle.clone()));
    let reference = match from_list {
        true => {
            let written = row.install.as_ref().and_then(|install| install.reference.clone());
            let written = written.ok_or("it has no reference")?;
            match SkillReference::parse(&written, ShorthandMeaning::GitHub) {
                Ok(reference @ SkillReference::SkillsSh(_)) => reference,
                _ => return Err("its reference is not one of skills.sh"),
            }
        }
        false => reference(registry, owner.as_deref(), slug)?,
    };
    let verdict = match row.trust.as_ref().and_then(|trust| trust.verdict.as_ref()) {
        Some(Value::String(word)) => word.clone(),
        Some(Value::Object(fields)) => ["status", "verdict"]
            .iter()
            .find_map(|name| fields.get(*name)?.as_str())
            .unwrap_or("unknown")
            .to_owned(),
        _ => "unknown".to_owned(),
    };
    Ok(RegistryCandidate {
        reference: reference.to_string(),
        name: row.display_name.clone().unwrap_or_else(|| slug.to_owned()),
        summary: row.summary.clone().unwrap_or_default(),
        source: if from_list { "skills-sh".to_owned() } else { registry.name.clone() },
        reviewed: !from_list,
        owner,
        version: row.version.clone(),
        stars: row.metrics.as_ref().and_then(|metrics| metrics.bookmarks),
        downloads: row
            .downloads
            .or_else(|| row.metrics.as_ref().and_then(|metrics| metrics.recent_installs)),
        verdict,
        relevant: false,
    })
}

fn listed(registry: &RegistryClient, info: &SkillSummaryWire) -> Option<RegistryCandidate> {
    Some(RegistryCandidate {
        reference: reference(registry, info.owner_handle.as_deref(), &info.slug).ok()?.to_string(),
        name: info.display_name.clone().unwrap_or_else(|| info.slug.clone()),
        summary: info.summary.clone().unwrap_or_default(),
        source: registry.name.clone(),
        reviewed: true,
        owner: info.owner_handle.clone(),
        version: info.latest_version.as_ref().map(|latest| latest.version.clone()),
        stars: info.stats.stars,
        downloads: info.stats.downloads,
        verdict: "unknown".to_owned(),
        relevant: false,
    })
}

/// What a registry names must parse as a reference like any other.
fn reference(
    registry: &RegistryClient,
    owner: Option<&str>,
    slug: &str,
) -> Result<SkillReference, &'static str> {
    let owner = owner.map(crate::reference::parse_handle).transpose()?;
    let slug = crate::reference::parse_slug(slug)?;
    let name = (registry.name != DEFAULT_NAME).then(|| registry.name.clone());
    Ok(SkillReference::Registry(RegistryRef {
        registry: name,
        owner,
        slug,
        wanted: RequestedVersion::Latest,
    }))
}
