//! One skill: its text, its files, what it asks for, what was found, and what happened to it.

use askama::Template;
use axum::extract::{Path, Query, State};
use serde::Deserialize;
use sinew_catalog::{Catalog, CatalogEntry, EntryState, SKILL_FILE};
use sinew_cortex::UtcInstant;
use sinew_engine::{
    Engine, ExplanationMark, ScannedTarget, ValidationTarget, WhyAnswer, variable_origin,
};
use sinew_guard::scan::{Finding, FindingSeverity, Verdict};
use sinew_settings::{Actor, ReasonSeverity};
use sinew_skill::validate::RuleSet;

use super::frame::{HtmlPage, PageFrame, PageResult, PageVisitor};
use super::history::{self, HistoryChange, HistoryUse, HistoryVersion};
use super::skills::{state_class, verdict_chip};
use super::switch::is_pinned;
use super::text::{block, line, line_html, number, path_segment, percent, short};
use super::{chart, markdown};
use crate::app::WebApp;

#[derive(Debug, Deserialize)]
pub(super) struct SkillPageQuery {
    file: Option<String>,
    /// A version whose change is shown.
    version: Option<String>,
}

#[derive(Template)]
#[template(path = "skill.html")]
struct SkillPage {
    frame: PageFrame,
    name: String,
    path: String,
    description: String,
    state: &'static str,
    class: &'static str,
    answer: String,
    steps: Vec<ExplanationRow>,
    enabled: bool,
    pinned: bool,
    /// What holds it back, and the ways out; shown before anything else.
    held: Option<HeldPanel>,
    facts: Vec<(&'static str, String)>,
    env: Vec<(String, &'static str)>,
    file: Option<SkillFilePanel>,
    /// Why no file is shown.
    unread: Option<String>,
    files: Vec<SkillFileRow>,
    verdict: (&'static str, &'static str),
    digest: String,
    digest_start: String,
    findings: Vec<ScanFindingRow>,
    /// Whether readers of the format take it; absent where it cannot be read.
    format: Option<ValidationPanel>,
    shadowed: Vec<(String, String)>,
    versions: Vec<HistoryVersion>,
    /// What one of them changed.
    change: Option<HistoryChange>,
    gates: Vec<RequirementRow>,
    uses: Vec<HistoryUse>,
    more_uses: usize,
    regions: Vec<RegionWeightRow>,
}

/// Why a skill is held back, and what a person can do about it.
struct HeldPanel {
    /// HTML: the catalog's own words, where no finding says it better.
    reasons: Vec<String>,
    findings: Vec<ScanFindingRow>,
    more: usize,
    /// The rules that would have to be accepted.
    rules: Vec<String>,
    removable: bool,
}

impl HeldPanel {
    fn of(entry: &CatalogEntry, scanned: Option<&ScannedTarget>) -> Option<Self> {
        if entry.state != EntryState::Blocked {
            return None;
        }
        let holds = |found: &&Finding| found.severity == FindingSeverity::Critical;
        let all: Vec<&Finding> = scanned
            .filter(|scanned| scanned.verdict == Verdict::Block)
            .map(|scanned| scanned.report.findings.iter().filter(holds).collect())
            .unwrap_or_default();
        let mut rules: Vec<String> = all.iter().map(|found| found.rule.clone()).collect();
        rules.sort();
        rules.dedup();
        let reasons = entry.reasons.iter().filter(|reason| reason.severity > ReasonSeverity::Info);
        Some(Self {
            reasons: reasons.map(|reason| line_html(&reason.detail)).collect(),
            findings: all.iter().take(MAX_HELD).map(|found| finding(found)).collect(),
            more: all.len().saturating_sub(MAX_HELD),
            rules,
            removable: !entry.bundled,
        })
    }
}

/// What a skill asks for, and what was found.
struct RequirementRow {
    kind: &'static str,
    asked: String,
    found: String,
    met: bool,
}

struct ExplanationRow {
    stage: &'static str,
    class: &'static str,
    mark: &'static str,
    /// HTML, as is the next one.
    text: String,
    remedy: Option<String>,
}

struct SkillFilePanel {
    name: String,
    drawn: Option<String>,
    text: String,
    sha256: String,
    size: String,
    /// Whether it was cut.
    cut: bool,
}

/// A file in the list.
struct SkillFileRow {
    name: String,
    path: String,
    size: String,
    sha256: String,
    start: String,
}

struct ValidationPanel {
    passed: bool,
    issues: Vec<IssueRow>,
}

struct IssueRow {
    severity: String,
    class: &'static str,
    code: &'static str,
    place: String,
    /// HTML.
    message: String,
}

struct ScanFindingRow {
    severity: &'static str,
    class: &'static str,
    rule: String,
    place: String,
    /// The file, in an address.
    file: String,
    message: String,
    evidence: String,
    remedy: String,
}

struct RegionWeightRow {
    region: String,
    bar: String,
    effective: String,
    worked: String,
}

/// Bytes of a file that are shown, so that a page stays below 100 KB however its text is escaped.
const MAX_SHOWN: usize = 24_000;
/// Files that are listed: with their digests they stay below 20 KB.
const MAX_FILES: usize = 100;
/// Uses that are listed; the rest is on the Activity page.
const MAX_USES: usize = 8;
/// Findings at the head of the page of a skill that is held back; all of them are in its scan.
const MAX_HELD: usize = 5;
/// Findings shown; the rest is what `sinew scan` prints.
const MAX_FINDINGS: usize = 50;

pub(super) async fn show(
    State(app): State<WebApp>,
    visitor: PageVisitor,
    Path(name): Path<String>,
    Query(wanted): Query<SkillPageQuery>,
) -> PageResult {
    let page = app.ask(move |look| {
        let (engine, catalog) = (&look.engine, &look.snapshot.catalog);
        let now = UtcInstant::from_clock(engine.environment().clock.now_ms());
        let entry = engine.find(catalog, &name)?;
        let details = engine.skills().details(catalog, entry, &Actor::on_page());
        let why = &details.explain;
        let steps = why.steps.iter().map(|step| {
            let (class, mark) = match step.mark {
                ExplanationMark::Pass => ("pass", "✓"),
                ExplanationMark::Fail => ("fail", "✗"),
                ExplanationMark::Note => ("note-mark", "·"),
            };
            let remedy = step.remedy.as_deref().map(line_html);
            ExplanationRow { stage: step.stage, class, mark, text: line_html(&step.text), remedy }
        });
        let own = entry.file_path.file_name().map(|name| name.to_string_lossy().into_owned());
        let own = own.unwrap_or_else(|| SKILL_FILE.to_owned());
        let read = engine.skills().read_file(catalog, &entry.name, wanted.file.as_deref());
        let format = format(engine, catalog, entry);
        let (file, unread) = match read {
            Ok(read) => {
                let is_text = read.file.ends_with(".md");
                let body = match read.file == own {
                    // The front matter is shown as facts.
                    true => sinew_skill::split_front_matter(&read.text)
                        .ok()
                        .map(|parts| parts.body.to_owned()),
                    false => None,
                };
                let body = body.unwrap_or_else(|| read.text.clone());
                let mut ends = (0..=MAX_SHOWN.min(read.text.len())).rev();
                let end = ends.find(|at| read.text.is_char_boundary(*at)).unwrap_or_default();
                let cut = end < read.text.len();
                let file = SkillFilePanel {
                    drawn: (is_text && !cut).then(|| markdown::to_html(&body)).flatten(),
                    text: block(&read.text[..end]),
                    cut,
                    sha256: read.sha256,
                    size: number(read.size),
                    name: line(&read.file),
                };
                (Some(file), None)
            }
            Err(error) => (None, Some(line(&error.message))),
        };
        let files = engine.skills().file_digests(entry, look.digests(), MAX_FILES).into_iter().map(
            |file| {
                let sha256 = file.sha256.unwrap_or_default();
                SkillFileRow {
                    name: line(&file.file),
                    path: path_segment(&file.file),
                    size: number(usize::try_from(file.size).unwrap_or(usize::MAX)),
                    start: short(&sha256),
                    sha256,
                }
            },
        );
        let scanned = engine.quality().scan_skill(catalog, &entry.name);
        let (verdict, digest, findings) = match &scanned {
            Ok(scanned) => (
                verdict_chip(scanned.verdict),
                scanned.report.digest.clone(),
                scanned.report.findings.iter().take(MAX_FINDINGS).map(finding).collect(),
            ),
            Err(_) => (("not scanned", ""), String::new(), Vec::new()),
        };
        let (versions, change) =
            history::versions(engine, &entry.name, wanted.version.as_deref(), now);
        let uses = history::uses(engine, &entry.name, now)?;
        let gates = details.checks.iter().map(|seen| RequirementRow {
            kind: seen.kind,
            asked: line(&seen.asked),
            found: line(&seen.found),
            met: seen.met,
        });
        let learned = engine.cortex().and_then(|cortex| cortex.why(&entry.name));
        let regions = match learned {
            Ok(WhyAnswer::Skill { regions, .. }) => regions
                .into_iter()
                .map(|(region, view)| RegionWeightRow {
                    region: line(&region),
                    bar: chart::weight(view.weight, view.effective_weight, view.bayes.lb),
                    effective: format!("{:.2}", view.effective_weight),
                    worked: format!(
                        "{} of {} worked; at least {} reliable",
                        view.runs.success,
                        view.runs.success + view.runs.fail,
                        percent(view.bayes.lb)
                    ),
                })
                .collect(),
            _ => Vec::new(),
        };
        let mut facts = vec![
            ("File", line(&entry.file_path.to_string_lossy())),
            ("Source", format!("{} (tier {})", line(&entry.source), entry.tier.as_str())),
            ("Key", line(&entry.skill_key)),
        ];
        facts.extend(entry.homepage.as_deref().map(|page| ("Homepage", line(page))));
        facts.extend(
            entry.command_name.as_deref().map(|name| ("Command", format!("/{}", line(name)))),
        );
        let sees = if entry.model_visible { "sees it" } else { "does not see it" };
        let cost = details.prompt_chars.map(|chars| format!(", for {} characters", number(chars)));
        facts.push(("The model", format!("{sees}{}", cost.unwrap_or_default())));
        // What it requires is shown among the gates; the other facts are listed here.
        let needs = &entry.requirements;
        let asked = |name: &String| needs.env.contains(name) || needs.any_env.contains(name);
        let env = details.env.iter().filter(|state| !asked(&state.name));
        let env = env.map(|state| (line(&state.name), variable_origin(state)));
        HtmlPage::of(&SkillPage {
            frame: visitor.frame(look, "skills", &line(&entry.name)),
            name: line(&entry.name),
            path: path_segment(&entry.name),
            description: line(&entry.description),
            state: entry.state.as_str(),
            class: state_class(entry.state),
            answer: line(&why.answer),
            steps: steps.collect(),
            enabled: !entry.disabled,
            pinned: is_pinned(engine, entry),
            held: HeldPanel::of(entry, scanned.as_ref().ok()),
            facts,
            env: env.collect(),
            files: files.collect(),
            file,
            unread,
            verdict,
            digest_start: short(&digest),
            digest,
            findings,
            format,
            shadowed: details
                .shadowed
                .iter()
                .map(|copy| (line(&copy.file_path.to_string_lossy()), line(&copy.source)))
                .collect(),
            versions,
            change,
            gates: gates.collect(),
            more_uses: uses.len().saturating_sub(MAX_USES),
            uses: uses.into_iter().take(MAX_USES).collect(),
            regions,
        })
    });
    Ok(page.await?)
}

/// What readers of the format would say about a skill's own file.
fn format(engine: &Engine, catalog: &Catalog, entry: &CatalogEntry) -> Option<ValidationPanel> {
    let target = ValidationTarget::Paths(vec![entry.file_path.clone()]);
    let report = engine.quality().validate(catalog, &target, RuleSet::default(), false).ok()?;
    let file = report.files.into_iter().next()?;
    let issues = file.issues.iter().take(MAX_FINDINGS).map(|issue| IssueRow {
        severity: issue.severity.to_string(),
        class: match issue.severity {
            ReasonSeverity::Error => "bad",
            ReasonSeverity::Warn => "warn",
            ReasonSeverity::Info => "info",
        },
        code: issue.code,
        place: issue.line.map(|at| format!("line {at}")).unwrap_or_default(),
        message: line_html(&issue.message),
    });
    Some(ValidationPanel { passed: file.passed, issues: issues.collect() })
}

fn finding(found: &Finding) -> ScanFindingRow {
    let (severity, class) = match found.severity {
        FindingSeverity::Critical => ("critical", "bad"),
        FindingSeverity::Warn => ("warn", "warn"),
        FindingSeverity::Info => ("info", "info"),
    };
    ScanFindingRow {
        severity,
        class,
        rule: line(&found.rule),
        place: match found.line {
            0 => line(&found.file),
            at => format!("{}:{at}", line(&found.file)),
        },
        file: path_segment(&found.file),
        message: line(&found.message),
        evidence: line(&found.evidence),
        remedy: line(&found.remedy),
    }
}
