//! What an agent is told: everything it needs to work, and nothing that helps it to bypass the guard.
//! Rule names, lines and evidence are for people.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use sinew_catalog::{Catalog, CatalogEntry, EntryState, SkillRequirements};
use sinew_cortex::explain::LessonView;
use sinew_guard::scan::{FindingSeverity, ScanReport, Scanner, SkillBundle, Verdict};
use sinew_settings::{Actor, ErrorCode, Reason, ReasonCode, path_text};
use sinew_skill::{YamlValue, content_hash};

use crate::quality::read_bundle;
use crate::{EngineError, SkillsHandle};

/// What an agent is told to do about a finding.
const ASK: &str = "ask the user to look at it: `sinew scan` shows what was found";

/// The rules of the documented systems, for callers that know only those.
const REFERENCE_RULES: [&str; 7] = [
    "prompt-injection-ignore-instructions",
    "prompt-injection-system",
    "prompt-injection-tool",
    "shell-pipe-to-shell",
    "secret-exfiltration",
    "destructive-delete",
    "unsafe-permissions",
];

/// A skill in a list.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SkillSummary {
    /// Its name.
    pub name: String,
    /// Its address over MCP, where it is served.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// What it is for.
    pub description: String,
    /// Its source's rank.
    pub tier: &'static str,
    /// The one word people see.
    pub state: EntryState,
    /// Why it cannot be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What it lacks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<SkillRequirements>,
    /// Whether people may call it.
    pub user_invocable: bool,
    /// Whether the model sees it.
    pub model_visible: bool,
    /// Its slash commands.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// Its version, where it says one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// How far it is trusted.
    pub trust: SkillTrust,
}

/// How far a skill is trusted.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SkillTrust {
    /// What the guard says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Findings at warn and above.
    pub findings: usize,
    /// Whether a person or a reviewing registry vouches for it.
    pub reviewed: bool,
}

/// A skill's file as an agent reads it.
#[derive(Debug, Clone)]
pub struct SkillReading {
    /// The skill.
    pub name: String,
    /// Its address over MCP, where it is served.
    pub uri: Option<String>,
    /// The file below its folder.
    pub file: String,
    /// Its location, as the prompt block names it.
    pub location: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its text, where it is text; with what was learned in this workspace.
    pub text: Option<String>,
    /// Lower-case hexadecimal SHA-256 of its bytes.
    pub sha256: String,
    /// The other files of the skill.
    pub files: Vec<String>,
    /// Warnings about it that were learned.
    pub lessons: Vec<LessonView>,
    /// Variables that it asks for, by name.
    pub env_required: Vec<String>,
}

/// What is to be scanned.
#[derive(Debug, Clone, Copy)]
pub enum ScanSubject<'a> {
    /// A skill of the catalog.
    Skill(&'a str),
    /// A folder or file in the workspace or in a skill folder.
    Path(&'a str),
    /// A text, as if it were a `SKILL.md`.
    Text(&'a str),
}

/// What an agent is told about a scan.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct AgentScanVerdict {
    /// Allow, warn or block.
    pub verdict: Verdict,
    /// How many findings there are of each weight.
    pub counts: FindingCounts,
    /// What to do.
    pub next: &'static str,
    /// How much was scanned.
    pub scanned: ScanExtent,
    /// The digest of it.
    pub sha256: String,
}

/// Findings by weight.
#[derive(Debug, Clone, Copy, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FindingCounts {
    /// They block.
    pub critical: usize,
    /// They are shown.
    pub warn: usize,
    /// They are noted.
    pub info: usize,
}

/// How much was scanned.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ScanExtent {
    /// Files.
    pub files: usize,
    /// Bytes.
    pub bytes: u64,
}

impl SkillsHandle<'_> {
    /// An entry as this actor may see it.
    pub fn entry_visible_to<'e>(
        &self,
        entry: &'e CatalogEntry,
        actor: &Actor,
    ) -> Cow<'e, CatalogEntry> {
        let told = |reason: &Reason| reason.code == ReasonCode::Quarantined;
        if actor.is_person() || !entry.reasons.iter().any(told) {
            return Cow::Borrowed(entry);
        }
        let mut reduced = entry.clone();
        let findings = entry.scan.as_ref().map_or(1, |scan| scan.findings);
        for reason in reduced.reasons.iter_mut().filter(|reason| told(reason)) {
            reason.detail = format!("the guard holds it back ({findings} findings)");
            reason.remedy = Some(ASK.to_owned());
        }
        Cow::Owned(reduced)
    }

    /// Refuses a skill that an agent cannot use now.
    pub fn check_usable(&self, entry: &CatalogEntry, actor: &Actor) -> Result<(), EngineError> {
        if entry.state == EntryState::Ready {
            return Ok(());
        }
        let entry = self.entry_visible_to(entry, actor);
        let reason = entry.primary_reason();
        let held = reason.is_some_and(|reason| reason.code == ReasonCode::Quarantined);
        let code = if held { ErrorCode::Quarantined } else { ErrorCode::Excluded };
        let why = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
        let said = format!("the skill {} is {}{why}", entry.name, entry.state.as_str());
        let error = EngineError::new(code, said);
        Err(match reason.and_then(|reason| reason.remedy.clone()) {
            Some(remedy) => error.hint(remedy),
            None => error,
        })
    }

    /// A skill in a list, as this actor may see it.
    pub fn summary(&self, entry: &CatalogEntry, actor: &Actor) -> SkillSummary {
        let entry = self.entry_visible_to(entry, actor);
        let version = entry.skill.as_ref().and_then(|skill| skill.frontmatter.get("version"));
        SkillSummary {
            name: entry.name.clone(),
            uri: self.skill_uri(&entry),
            description: entry.description.clone(),
            tier: entry.tier.as_str(),
            state: entry.state,
            reason: entry.primary_reason().map(ToString::to_string),
            missing: (!entry.missing.is_empty()).then(|| entry.missing.clone()),
            user_invocable: entry.user_invocable,
            model_visible: entry.model_visible,
            commands: entry.command_name.iter().cloned().collect(),
            version: version.and_then(YamlValue::source_text),
            trust: SkillTrust {
                verdict: entry.scan.as_ref().map(|scan| scan.verdict),
                findings: entry.scan.as_ref().map_or(0, |scan| scan.findings),
                reviewed: entry.reviewed,
            },
        }
    }

    /// How many skills there are in each state.
    pub fn state_counts(&self, catalog: &Catalog) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::new();
        for entry in &catalog.entries {
            *counts.entry(entry.state.as_str()).or_default() += 1;
        }
        counts
    }

    /// A skill's own file, or one below its folder, for an actor who is going to use it.
    pub fn read(
        &self,
        catalog: &Catalog,
        wanted: &str,
        file: Option<&str>,
        actor: &Actor,
    ) -> Result<SkillReading, EngineError> {
        // A location names a file of a skill as well as the skill; both ways lead to one entry.
        let read = self.load_file(catalog, wanted, file)?;
        self.check_usable(read.entry, actor)?;
        let mut text = String::from_utf8(read.bytes.clone()).ok();
        if let Some(text) = &mut text
            && read.path == read.entry.file_path
        {
            self.add_learned(read.entry, text);
            self.engine.workshop().note_loaded(read.entry);
        }
        let entry = read.entry;
        let env = entry.requirements.env.iter().chain(&entry.requirements.any_env);
        Ok(SkillReading {
            name: entry.name.clone(),
            uri: self.skill_uri(entry),
            location: self.homes().compact(&path_text(&read.path)).into_owned(),
            sha256: content_hash(&read.bytes),
            text,
            bytes: read.bytes,
            files: read.files,
            file: read.file,
            lessons: self.lessons_about(&entry.name),
            env_required: env.cloned().collect(),
        })
    }

    /// What was learned about a skill. Reading is local: no database is made for it.
    fn lessons_about(&self, skill: &str) -> Vec<LessonView> {
        if self.engine.known_outcomes() == 0 {
            return Vec::new();
        }
        let Ok(cortex) = self.engine.cortex() else { return Vec::new() };
        let today = cortex.now().day();
        let lessons = cortex.with_memory(|memory| {
            let regions: Vec<&String> = memory
                .motor
                .keys()
                .filter(|region| memory.candidate(region, skill).is_some())
                .collect();
            let about = memory.lessons.iter().filter(|held| {
                held.lesson.slug() == Some(skill)
                    || held.lesson.region().is_some_and(|r| regions.iter().any(|known| *known == r))
            });
            about.map(|held| LessonView::of(held, today, cortex.policy())).collect()
        });
        lessons.unwrap_or_default()
    }

    /// A text in which no rule of the guard is named: which one it was is for people.
    pub fn mask_rule_names(&self, text: &str) -> String {
        let rules = self.engine.scanner.get_or_init(Scanner::new).rules();
        let named = rules.iter().filter(|rule| text.contains(&rule.id));
        named.fold(text.to_owned(), |text, rule| text.replace(&rule.id, "a rule"))
    }

    /// Scans for an agent: the verdict and the counts. A path must lie in the workspace or in a
    /// folder with skills.
    pub fn scan_verdict(
        &self,
        catalog: &Catalog,
        subject: ScanSubject<'_>,
        reference_only: bool,
    ) -> Result<AgentScanVerdict, EngineError> {
        let bundle = match subject {
            ScanSubject::Text(text) => {
                SkillBundle::from_files([("SKILL.md".to_owned(), text.as_bytes().to_vec())])
            }
            ScanSubject::Skill(name) => read_bundle(&self.engine.find(catalog, name)?.base_dir)?,
            ScanSubject::Path(path) => {
                let path = self.engine.env.cwd.join(self.engine.env.expand_home(path));
                self.check_inside(catalog, &path)?;
                read_bundle(&path)?
            }
        };
        let report = self.engine.scanner.get_or_init(Scanner::new).scan_bundle(&bundle);
        let looked = ScanExtent { files: bundle.files().len(), bytes: bundle.bytes() };
        Ok(verdict(&report, looked, reference_only))
    }

    /// Whether a path lies where agents may look.
    fn check_inside(&self, catalog: &Catalog, path: &Path) -> Result<(), EngineError> {
        let real = std::fs::canonicalize(path).ok();
        let roots = catalog.roots.iter().map(|root| root.path.as_path());
        let inside = |root: &Path| {
            let root = std::fs::canonicalize(root).ok();
            real.as_ref().zip(root).is_some_and(|(real, root)| real.starts_with(root))
        };
        if std::iter::once(self.engine.workspace()).chain(roots).any(inside) {
            return Ok(());
        }
        let said = format!("{} lies in no folder that agents may look at", path.display());
        Err(EngineError::new(ErrorCode::OutsideSkills, said)
            .hint("name a skill, or a path in the workspace or in a folder with skills"))
    }
}

fn verdict(report: &ScanReport, scanned: ScanExtent, reference_only: bool) -> AgentScanVerdict {
    let counted = |rule: &str| !reference_only || REFERENCE_RULES.contains(&rule);
    let findings = || report.findings.iter().filter(|finding| counted(&finding.rule));
    let count = |severity| findings().filter(|finding| finding.severity == severity).count();
    let counts = FindingCounts {
        critical: count(FindingSeverity::Critical),
        warn: count(FindingSeverity::Warn),
        info: count(FindingSeverity::Info),
    };
    let verdict = Verdict::from_severities(findings().map(|finding| finding.severity));
    AgentScanVerdict {
        verdict,
        counts,
        next: match verdict {
            Verdict::Allow => "nothing speaks against it",
            Verdict::Warn | Verdict::Block => ASK,
        },
        scanned,
        sha256: report.digest.clone(),
    }
}
