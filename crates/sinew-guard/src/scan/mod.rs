//! The scanner: bytes in, a verdict with its reasons out.
//!
//! inventory → spans → layers → facts → rules → demotion → findings → verdict and capabilities. It
//! runs offline, without a model, and gives the same answer for the same bytes on every machine.
//!
//! **Must never happen here:** a file that is skipped silently, a skill that turns a rule off, an
//! error that lets a skill pass. Panics and missing tables end in `block` with rule `scan-failed`.

mod bundle;
mod bytecode;
mod capability;
mod context;
mod decode;
mod explain;
mod facts;
mod filetype;
mod finding;
mod fold;
mod hosts;
mod inventory;
mod layers;
mod lines;
mod literals;
mod metadata;
mod pattern;
mod polarity;
mod program;
mod prose_markup;
mod quoting;
mod role;
mod rules;
mod sarif;
mod shell_facts;
mod shell_packages;
mod shell_programs;
mod shell_secrets;
mod string_assembly;
mod structure;
mod table;

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde::Serialize;

pub use bundle::{BundleFile, MAX_FILE, MAX_FILES, MAX_SKILL, SkillBundle};
pub use capability::{EnvUse, HostUse, SkillCapabilities};
pub use explain::explain;
pub use finding::{FactRef, Finding, FindingSeverity, ScanReport, ScanScope, Verdict};
pub use hosts::HostClass;
pub use sarif::to_sarif;
pub use table::{RuleTableError, ruleset_digest};

use decode::DecodeBudget;
pub(crate) use decode::base64;
use facts::{ExtractedFacts, FactSource, ScanFact};
use filetype::ScannedFileKind;
use inventory::{ScannedFile, TypedPath};
use layers::TextLayer;
use metadata::SkillDeclarations;
use pattern::WorkBudget;
use table::RuleTable;

/// A rule, for listings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ScanRuleInfo {
    /// Stable id.
    pub id: String,
    /// Its highest severity.
    pub severity: FindingSeverity,
    /// What it says.
    pub message: String,
    /// Why it matters.
    pub reason: String,
    /// What to do.
    pub remedy: String,
    /// Entry of the OWASP Agentic Skills Top 10.
    pub ast: String,
}

/// The scanner: a rule table, ready for use from any thread.
#[derive(Debug, Clone)]
pub struct Scanner {
    table: Result<Arc<RuleTable>, String>,
    known_names: Vec<String>,
    panics: bool,
}

impl Default for Scanner {
    fn default() -> Self {
        Self::new()
    }
}

impl Scanner {
    /// A scanner with the shipped rules. It never fails: without its table it blocks everything.
    pub fn new() -> Self {
        let table = match RuleTable::load() {
            Ok(_) if !crate::secrets::is_ready() => {
                Err("the table of secrets is unusable".to_owned())
            }
            Ok(table) => Ok(Arc::new(table)),
            Err(error) => Err(error.to_string()),
        };
        Self { table, known_names: Vec::new(), panics: false }
    }

    /// A scanner with another table: the texts of hosts, organisations, facts and rules, for seeing
    /// the effect of a changed rule without a build.
    #[doc(hidden)]
    pub fn with_tables(texts: &[&str; 4]) -> Result<Self, RuleTableError> {
        let table = Ok(Arc::new(RuleTable::from_texts(texts)?));
        Ok(Self { table, known_names: Vec::new(), panics: false })
    }

    /// A scanner whose first rule panics, for the test that a panic blocks.
    #[doc(hidden)]
    #[must_use]
    pub fn with_panicking_rule(mut self) -> Self {
        self.panics = true;
        self
    }

    /// Names of bundled and installed skills, which others must not imitate.
    #[must_use]
    pub fn with_known_names(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.known_names = names.into_iter().collect();
        self
    }

    /// The digest of the rule table: part of every cache key and approval.
    pub fn ruleset(&self) -> &str {
        self.table.as_ref().map_or("", |table| &table.ruleset)
    }

    /// All rules, in order of their ids.
    pub fn rules(&self) -> Vec<ScanRuleInfo> {
        let rules = self.table.as_ref().map_or(&[][..], |table| &table.rules);
        rules
            .iter()
            .map(|rule| ScanRuleInfo {
                id: rule.id.clone(),
                severity: rule.severity,
                message: rule.message.clone(),
                reason: rule.reason.clone(),
                remedy: rule.remedy.clone(),
                ast: rule.ast.clone(),
            })
            .collect()
    }

    /// Scans the files of a skill.
    pub fn scan_bundle(&self, bundle: &SkillBundle) -> ScanReport {
        self.guarded(
            ScanScope::Bundle,
            || bundle.digest(),
            |table| scan_files(table, bundle, &self.known_names, 0, &ScanBudget::default()),
        )
    }

    /// Scans a generated change: the resulting `SKILL.md` and its support files.
    pub fn scan_proposal(&self, bundle: &SkillBundle) -> ScanReport {
        self.guarded(
            ScanScope::Proposal,
            || bundle.digest(),
            |table| {
                let (mut findings, capabilities) =
                    scan_files(table, bundle, &self.known_names, 0, &ScanBudget::default());
                // Skill Workshop's seven rules match by their plain patterns here, and nothing lowers them.
                let reference = |id: &str| table.rule(id).is_some_and(|rule| rule.base.is_some());
                findings.retain(|finding| !reference(&finding.rule));
                findings.extend(proposal_findings(table, bundle));
                for finding in
                    findings.iter_mut().filter(|finding| finding.rule == "literal-secret")
                {
                    finding.severity = FindingSeverity::Critical;
                    finding.base_severity = FindingSeverity::Critical;
                }
                (findings, capabilities)
            },
        )
    }

    /// Scans one text as the `SKILL.md` of a proposal.
    pub fn scan_proposal_text(&self, text: &str) -> ScanReport {
        self.scan_proposal(&SkillBundle::from_files([(
            "SKILL.md".to_owned(),
            text.as_bytes().to_vec(),
        )]))
    }

    /// Scans front matter text that reaches a prompt: pairs of field and value. Strict.
    pub fn scan_metadata(&self, fields: &[(&str, &str)]) -> ScanReport {
        let digest =
            || crate::digest::tree(fields.iter().map(|(name, value)| (*name, value.as_bytes())));
        self.guarded(ScanScope::Metadata, digest, |table| {
            let mut findings = Vec::new();
            for (field, value) in fields {
                for (rule, severity, detail) in metadata::prompt_problems(field, value) {
                    findings.push(structure::file_finding(table, rule, severity, field, &detail));
                }
                if *field == "name" {
                    for (rule, severity, detail) in
                        metadata::name_problems(value, &self.known_names)
                    {
                        findings
                            .push(structure::file_finding(table, rule, severity, field, &detail));
                    }
                }
                findings.extend(text_findings(
                    table,
                    field,
                    value,
                    &["prompt-injection-ignore-instructions", "prompt-injection-tool"],
                ));
            }
            (findings, SkillCapabilities::default())
        })
    }

    /// Scans any string for hidden text.
    pub fn scan_text(&self, text: &str) -> ScanReport {
        let digest = || crate::digest::tree([("text", text.as_bytes())]);
        self.guarded(ScanScope::Text, digest, |table| {
            (text_findings(table, "text", text, &[]), SkillCapabilities::default())
        })
    }

    fn guarded(
        &self,
        scope: ScanScope,
        digest: impl FnOnce() -> String,
        scan: impl FnOnce(&RuleTable) -> (Vec<Finding>, SkillCapabilities),
    ) -> ScanReport {
        let digest = digest();
        let failed = |detail: &str| {
            let finding = Finding {
                rule: "scan-failed".to_owned(),
                severity: FindingSeverity::Critical,
                base_severity: FindingSeverity::Critical,
                variant: false,
                role: "structure".to_owned(),
                file: String::new(),
                line: 0,
                column: 0,
                end_line: 0,
                message: "The scan did not finish, so nothing is known about this skill."
                    .to_owned(),
                evidence: detail.to_owned(),
                decoded: None,
                reason: "A scanner that stops early must not open the gate.".to_owned(),
                remedy: "Report the skill; it stays blocked.".to_owned(),
                demotions: Vec::new(),
                facts: Vec::new(),
                ast: "AST08".to_owned(),
            };
            ScanReport::new(
                scope,
                vec![finding],
                SkillCapabilities::default(),
                self.ruleset(),
                digest.clone(),
            )
        };
        let table = match &self.table {
            Ok(table) => table,
            Err(detail) => return failed(detail),
        };
        let run = || {
            assert!(!self.panics, "this test scanner panics");
            scan(table)
        };
        match catch_unwind(AssertUnwindSafe(run)) {
            Ok((findings, capabilities)) => ScanReport::new(
                scope,
                rules::truncate(findings),
                capabilities,
                &table.ruleset,
                digest.clone(),
            ),
            Err(_) => failed("a rule panicked"),
        }
    }
}

/// What one skill may cost, including its containers.
#[derive(Debug)]
struct ScanBudget {
    budget: RefCell<DecodeBudget>,
    work: RefCell<WorkBudget>,
    /// Bytes that its containers may still unpack to.
    unpack: Cell<u64>,
}

impl Default for ScanBudget {
    fn default() -> Self {
        Self {
            budget: RefCell::new(DecodeBudget::new()),
            work: RefCell::new(WorkBudget::new()),
            unpack: Cell::new(MAX_SKILL),
        }
    }
}

/// The pipeline over one bundle; nested containers run it again with a higher `depth`.
fn scan_files(
    table: &RuleTable,
    bundle: &SkillBundle,
    known_names: &[String],
    depth: u8,
    means: &ScanBudget,
) -> (Vec<Finding>, SkillCapabilities) {
    let (mut files, kinds) = inventory::read(bundle, &mut means.budget.borrow_mut());
    let declared = declarations(table, bundle, &kinds);
    let mut findings = Vec::new();
    let mut facts: Vec<ScanFact> = Vec::new();
    let programs = program::read(table, &declared.own, &mut files);
    findings.extend(programs.omissions(table, &files));
    {
        let mut work = means.work.borrow_mut();
        work.add(bundle.bytes());
        for (number, file) in files.iter_mut().enumerate() {
            let mut extracted = read_facts(table, file, number, &declared, &programs, &mut work);
            if facts.len() + extracted.facts.len() > facts::MAX_FACTS {
                facts::forget_idle_places(&mut extracted.facts);
            }
            if extracted.exhausted {
                findings.push(structure::file_finding(
                    table,
                    "scan-failed",
                    FindingSeverity::Critical,
                    &file.path,
                    "the skill exceeds the work limit of one scan",
                ));
            }
            facts.extend(extracted.facts);
        }
    }
    findings.extend(rules::evaluate(table, &files, &facts));
    for file in &files {
        findings.extend(structure::check_text(table, file, FindingSeverity::Warn));
    }
    findings.extend(hidden_text(table, &files, &facts));
    if let Some((file, line)) = means.budget.borrow_mut().exhausted.take() {
        findings.push(decode_limit(table, &files[file], line, &facts, file));
    }
    raise_zero_width(&mut findings);
    findings.extend(front_matter(table, &files, &declared, known_names));
    let inner = |bundle: &SkillBundle, depth: u8| scan_files(table, bundle, &[], depth, means).0;
    let opener = structure::ContainerOpener { table, depth, left: &means.unpack, inner: &inner };
    findings.extend(structure::check(&opener, bundle, &kinds));
    let capabilities =
        capability::summarise(table, &files, &facts, &kinds, &declared, bundle.bytes());
    findings.extend(undeclared(table, &files, &capabilities));
    (findings, capabilities)
}

/// Data sent to a host that the front matter does not declare.
fn undeclared(
    table: &RuleTable,
    files: &[ScannedFile],
    capabilities: &SkillCapabilities,
) -> Option<Finding> {
    use HostClass as C;
    let file = files.iter().find(|file| file.is_skill_md())?;
    let sent = |classes: &[HostClass]| {
        capabilities
            .hosts
            .iter()
            .find(|host| host.purpose == "send" && classes.contains(&host.class))
    };
    let (host, severity) = match sent(&[C::Shortener, C::Paste, C::Sink, C::Tunnel, C::RawIp]) {
        Some(host) => (host, FindingSeverity::Warn),
        None => (sent(&[C::Unknown, C::Tenant])?, FindingSeverity::Info),
    };
    Some(structure::file_finding(
        table,
        "undeclared-capability",
        severity,
        &file.path,
        &format!("sends to {}", host.host),
    ))
}

fn declarations(table: &RuleTable, bundle: &SkillBundle, kinds: &[TypedPath]) -> SkillDeclarations {
    let skill_md = kinds.iter().position(|(_, kind, _)| *kind == ScannedFileKind::SkillMd);
    let Some(at) = skill_md else { return SkillDeclarations::default() };
    let file = &bundle.files()[at];
    let folder = bundle.name().or_else(|| file.path.rsplit('/').nth(1)).unwrap_or("skill");
    // A larger file is not loaded, so declarations beyond the limit do not count.
    let head = file.bytes.get(..structure::MAX_SKILL_MD).map_or(&file.bytes[..], |head| {
        &head[..memchr::memrchr(b'\n', head).map_or(head.len(), |end| end + 1)]
    });
    metadata::read_declarations(head, folder, &table.hosts)
}

fn read_facts(
    table: &RuleTable,
    file: &mut ScannedFile,
    number: usize,
    declared: &SkillDeclarations,
    programs: &program::ProgramFindings,
    work: &mut WorkBudget,
) -> ExtractedFacts {
    let mut extracted = ExtractedFacts::default();
    let source = FactSource { table, file, number, declared: &declared.own };
    programs.facts_of(&source, &mut extracted);
    for at in 0..file.layers.list.len() {
        facts::extract(&source, at, work, &mut extracted);
        shell_facts::extract(&source, at, work, &mut extracted);
    }
    if !extracted.rot13.is_empty() {
        let mut lines: Vec<(usize, String)> = Vec::new();
        let mut wanted = extracted.rot13.iter().copied().peekable();
        for (number, text) in lines::TextLines::new(&file.layers.list[0].text).enumerate() {
            if wanted.next_if_eq(&number).is_some() {
                lines.push((number, decode::rot13(text)));
            }
        }
        file.layers.list.push(TextLayer::of_lines(lines, 1, "rot13"));
        let source = FactSource { table, file, number, declared: &declared.own };
        facts::extract(&source, file.layers.list.len() - 1, work, &mut extracted);
    }
    facts::rank(&mut extracted.facts, file);
    facts::resolve_places(&mut extracted.facts, table, &declared.own);
    extracted
}

/// Invisible text that gives an instruction.
fn hidden_text(table: &RuleTable, files: &[ScannedFile], facts: &[ScanFact]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, file) in files.iter().enumerate() {
        for (at, layer) in file.layers.list.iter().enumerate() {
            if layer.codec != "tag-characters" {
                continue;
            }
            let speaks = facts
                .iter()
                .any(|fact| fact.file == number && fact.layer == at && fact.kind != facts::URL)
                || layer
                    .display
                    .as_deref()
                    .is_some_and(|text| text.split_whitespace().count() >= 2);
            let severity = if speaks { FindingSeverity::Critical } else { FindingSeverity::Warn };
            let mut finding = structure::line_finding(
                table,
                "hidden-text-instruction",
                severity,
                file,
                layer.original_line(0),
            );
            finding.decoded = layer.display.as_deref().map(|text| rules::shorten(text, 0));
            findings.push(finding);
        }
    }
    findings
}

/// If something is executed within this many lines of the place where decoding stopped, the finding
/// is critical.
const NEAR_LIMIT: usize = 12;

fn decode_limit(
    table: &RuleTable,
    file: &ScannedFile,
    line: usize,
    facts: &[ScanFact],
    number: usize,
) -> Finding {
    let runs = facts.iter().any(|fact| {
        fact.file == number
            && fact.line.abs_diff(line) <= NEAR_LIMIT
            && matches!(
                table.kinds[usize::from(fact.kind)].as_str(),
                "dyn-exec" | "decode-pipe" | "code-decode-exec"
            )
    });
    let severity = if runs { FindingSeverity::Critical } else { FindingSeverity::Warn };
    structure::line_finding(table, "decode-limit", severity, file, line)
}

/// A word that becomes a command only without its invisible characters was hidden on purpose.
fn raise_zero_width(findings: &mut [Finding]) {
    let grave: Vec<(String, usize)> = findings
        .iter()
        .filter(|f| {
            f.severity == FindingSeverity::Critical && f.rule != "zero-width-in-word" && f.line > 0
        })
        .map(|f| (f.file.clone(), f.line))
        .collect();
    for finding in findings.iter_mut().filter(|f| f.rule == "zero-width-in-word") {
        if grave.iter().any(|(file, line)| *file == finding.file && *line == finding.line) {
            finding.severity = FindingSeverity::Critical;
            finding.base_severity = FindingSeverity::Critical;
        }
    }
}

fn front_matter(
    table: &RuleTable,
    files: &[ScannedFile],
    declared: &SkillDeclarations,
    known_names: &[String],
) -> Vec<Finding> {
    let Some(file) = files.iter().find(|file| file.is_skill_md()) else { return Vec::new() };
    let mut problems = declared.problems.clone();
    for (field, text) in [("name", &declared.name), ("description", &declared.description)] {
        if let Some(text) = text {
            problems.extend(metadata::prompt_problems(field, text));
        }
    }
    if let Some(name) = &declared.name {
        problems.extend(metadata::name_problems(name, known_names));
    }
    problems
        .into_iter()
        .map(|(rule, severity, detail)| {
            let mut finding = structure::file_finding(table, rule, severity, &file.path, &detail);
            finding.line = 1;
            finding.end_line = 1;
            finding.role = "frontmatter".to_owned();
            finding
        })
        .collect()
}

/// Skill Workshop's rules by their plain patterns, line by line, over every text of a proposal.
fn proposal_findings(table: &RuleTable, bundle: &SkillBundle) -> Vec<Finding> {
    let mut budget = DecodeBudget::new();
    let (files, _) = inventory::read(bundle, &mut budget);
    let mut findings = Vec::new();
    for file in &files {
        for line in 0..file.index.len() {
            let text = file.line(line);
            for rule in table.rules.iter().filter(|rule| rule.base.is_some()) {
                let base = rule.base.as_ref().is_some_and(|base| base.is_match(text));
                if !base && !rule.variants.iter().any(|variant| variant.is_match(text)) {
                    continue;
                }
                let mut finding =
                    structure::line_finding(table, &rule.id, rule.severity, file, line);
                finding.variant = !base;
                findings.push(finding);
            }
        }
    }
    findings
}

/// Hidden-text rules, and the named rules of Skill Workshop, over one string.
fn text_findings(table: &RuleTable, name: &str, text: &str, reference: &[&str]) -> Vec<Finding> {
    let mut budget = DecodeBudget::new();
    let file = ScannedFile::new(name, ScannedFileKind::Text, text.to_owned(), 0, true, &mut budget);
    let mut findings: Vec<Finding> = structure::check_text(table, &file, FindingSeverity::Warn)
        .into_iter()
        .filter(|finding| matches!(finding.rule.as_str(), "bidi-override" | "zero-width-in-word"))
        .collect();
    findings.extend(hidden_text(table, std::slice::from_ref(&file), &[]));
    let folded = &file.layers.list[0].text;
    for rule in reference.iter().filter_map(|id| table.rule(id)) {
        for (line, text) in folded.split('\n').enumerate() {
            let base = rule.base.as_ref().is_some_and(|base| base.is_match(text));
            if base || rule.variants.iter().any(|variant| variant.is_match(text)) {
                let mut finding =
                    structure::line_finding(table, &rule.id, rule.severity, &file, line);
                finding.variant = !base;
                findings.push(finding);
            }
        }
    }
    findings
}
