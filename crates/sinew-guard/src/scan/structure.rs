//! Structural rules: about what a file is, not what it says.
//!
//! Containers are opened in memory up to depth 2 and scanned like the skill itself; findings inside
//! are reported under `container!inner`.

use std::cell::Cell;

use memchr::memmem;

use super::bundle::SkillBundle;
use super::bytecode::{self, BytecodeComparison};
use super::filetype::{self, ScannedFileKind};
use super::finding::{Finding, FindingSeverity};
use super::inventory::{ScannedFile, TypedPath};
use super::lines::count_ends;
use super::role::TextRole;
use super::rules;
use super::table::RuleTable;
use crate::archive::{self, ArchiveLimits};
use crate::secrets;

/// How deep nested containers are opened.
const MAX_NESTING: u8 = 2;
/// A larger skill file is not loaded.
pub(crate) const MAX_SKILL_MD: usize = 256_000;
/// A line of code this long was not written by hand.
const MIN_PACKED: usize = 5_000;
/// Secrets listed per file; the first one is reason enough.
const MAX_SECRETS: usize = 64;
/// More bytes than this after an image's end are not padding.
const MIN_APPENDED: usize = 16;

/// Caps for a container inside a skill: it counts as part of the skill.
const INNER: ArchiveLimits = ArchiveLimits {
    archive: 10_000_000,
    unpacked: 20_000_000,
    entry: 10_000_000,
    entries: 1_000,
    ratio: 200,
    strip: 0,
};

/// A finding about a file as a whole.
pub(crate) fn file_finding(
    table: &RuleTable,
    rule: &str,
    severity: FindingSeverity,
    file: &str,
    detail: &str,
) -> Finding {
    let known = table.rule(rule);
    let text = |field: fn(&super::table::ScanRule) -> &String| {
        known.map_or_else(String::new, |rule| field(rule).clone())
    };
    Finding {
        rule: rule.to_owned(),
        severity,
        base_severity: severity,
        variant: false,
        role: TextRole::Structure.as_str().to_owned(),
        file: file.to_owned(),
        line: 0,
        column: 0,
        end_line: 0,
        message: text(|rule| &rule.message),
        evidence: rules::shorten(detail, 0),
        decoded: None,
        reason: text(|rule| &rule.reason),
        remedy: text(|rule| &rule.remedy),
        demotions: Vec::new(),
        facts: Vec::new(),
        ast: text(|rule| &rule.ast),
    }
}

/// A finding on one line, by a rule that needs no facts.
pub(crate) fn line_finding(
    table: &RuleTable,
    rule: &str,
    severity: FindingSeverity,
    file: &ScannedFile,
    line: usize,
) -> Finding {
    let evidence = rules::evidence(file, line, 0);
    showing(table, rule, severity, file, line, evidence)
}

/// A finding on one line that shows other text than the line.
fn showing(
    table: &RuleTable,
    rule: &str,
    severity: FindingSeverity,
    file: &ScannedFile,
    line: usize,
    evidence: String,
) -> Finding {
    Finding {
        line: line + 1,
        end_line: line + 1,
        column: 1,
        role: file.span_at(line).role.as_str().to_owned(),
        evidence,
        ..file_finding(table, rule, severity, &file.path, "")
    }
}

/// Opens containers and scans their content.
pub(crate) struct ContainerOpener<'a> {
    pub(crate) table: &'a RuleTable,
    /// How many containers surround this one.
    pub(crate) depth: u8,
    /// Bytes that may still be unpacked.
    pub(crate) left: &'a Cell<u64>,
    /// The scanner itself, as a callback, so that this module does not depend on the pipeline.
    pub(crate) inner: &'a dyn Fn(&SkillBundle, u8) -> Vec<Finding>,
}

/// Findings about file types, reading problems, and containers.
pub(crate) fn check(
    opener: &ContainerOpener<'_>,
    bundle: &SkillBundle,
    kinds: &[TypedPath],
) -> Vec<Finding> {
    use FindingSeverity::{Critical, Warn};
    let table = opener.table;
    let mut findings: Vec<Finding> = bundle
        .problems()
        .iter()
        .map(|trouble| {
            let severity = if trouble.rule == "too-many-files" { Warn } else { Critical };
            file_finding(table, trouble.rule, severity, &trouble.path, &trouble.detail)
        })
        .collect();
    for (file, (path, kind, mismatch)) in bundle.files().iter().zip(kinds) {
        let mut add = |rule: &str, severity, detail: &str| {
            findings.push(file_finding(table, rule, severity, path, detail));
        };
        match kind {
            ScannedFileKind::Executable => {
                add("executable-file", Critical, "a compiled program, not text");
            }
            ScannedFileKind::Library => add("native-library", Critical, "a native library"),
            ScannedFileKind::Bytecode => match bytecode::compare(bundle, path, &file.bytes) {
                BytecodeComparison::NoSource => add("bytecode-file", Critical, "compiled code"),
                BytecodeComparison::Same => {
                    add("bytecode-file", Warn, "compiled code whose names match its source");
                }
                BytecodeComparison::Different(what) => {
                    let detail = format!("compiled code that differs from its source: {what}");
                    add("bytecode-file", Critical, &detail);
                }
            },
            ScannedFileKind::LfsPointer => {
                add("lfs-pointer", Warn, "a pointer; the content itself is missing");
            }
            ScannedFileKind::UnknownBinary if mismatch.is_some() => {
                add("encoding-unscannable", Critical, "its name says text, its bytes do not");
            }
            ScannedFileKind::SkillMd if file.bytes.len() > MAX_SKILL_MD => {
                let detail =
                    format!("{} bytes; a skill file this large is not loaded", file.bytes.len());
                add("oversize-unscannable", Warn, &detail);
            }
            _ => {}
        }
        if let Some(what) = mismatch {
            let severity = if kind.is_code() { Critical } else { Warn };
            add("type-mismatch", severity, &format!("its name disagrees with {what}"));
        }
        match kind {
            ScannedFileKind::Archive | ScannedFileKind::Document => {
                findings.extend(opener.container(path, &file.bytes));
            }
            ScannedFileKind::Image => {
                if let Some(end) = filetype::image_end(&file.bytes)
                    && file.bytes.len() - end >= MIN_APPENDED
                {
                    findings.extend(opener.appended(path, &file.bytes[end..]));
                }
            }
            ScannedFileKind::FinderData => findings.extend(opener.finder_data(path, &file.bytes)),
            _ => {}
        }
    }
    findings
}

impl ContainerOpener<'_> {
    fn about(&self, rule: &str, severity: FindingSeverity, path: &str, detail: &str) -> Finding {
        file_finding(self.table, rule, severity, path, detail)
    }

    fn container(&self, path: &str, bytes: &[u8]) -> Vec<Finding> {
        use FindingSeverity::{Critical, Warn};
        if self.depth >= MAX_NESTING {
            let detail = "containers are nested too deep to be read";
            return vec![self.about("nested-archive-code", Critical, path, detail)];
        }
        let files = match self.open(path, bytes) {
            Ok(files) => files,
            Err(detail) => {
                return vec![self.about("encoding-unscannable", Critical, path, &detail)];
            }
        };
        let macros = files.iter().any(|(name, _)| {
            let name = name.to_ascii_lowercase();
            name.ends_with("vbaproject.bin")
                || name.ends_with("vbadata.xml")
                || name.starts_with("basic/") && name.ends_with(".xml")
        });
        let mut findings = Vec::new();
        if macros {
            findings.push(self.about("macro-document", Critical, path, "it carries macros"));
        }
        let bundle = SkillBundle::from_files(files);
        let holds_code = bundle
            .files()
            .iter()
            .any(|file| filetype::kind_of(&file.path, &file.bytes).0.is_code());
        let mut inside = (self.inner)(&bundle, self.depth + 1);
        let worst = inside.iter().map(|finding| finding.severity).max();
        for finding in &mut inside {
            finding.file = format!("{path}!{}", finding.file);
            for fact in &mut finding.facts {
                fact.file = format!("{path}!{}", fact.file);
            }
        }
        if worst == Some(Critical) {
            let detail = "what is inside is blocked";
            findings.push(self.about("nested-archive-code", Critical, path, detail));
        } else if holds_code {
            findings.push(self.about("nested-archive-code", Warn, path, "it contains code"));
        }
        findings.extend(inside);
        findings
    }

    /// The files of a container; their size is deducted from what may still be unpacked.
    fn open(&self, path: &str, bytes: &[u8]) -> Result<Vec<(String, Vec<u8>)>, String> {
        if bytes.starts_with(b"\xd0\xcf\x11\xe0") {
            // The old document format: macros are streams whose names are in the file as UTF-16.
            let macros: Vec<u8> = "_VBA_PROJECT".bytes().flat_map(|b| [b, 0]).collect();
            let found = memmem::find(bytes, &macros).is_some();
            let files = found.then(|| ("vbaProject.bin".to_owned(), Vec::new()));
            return Ok(files.into_iter().collect());
        }
        let limits = ArchiveLimits { unpacked: INNER.unpacked.min(self.left.get()), ..INNER };
        let files = open(path, bytes, &limits)?;
        let unpacked: u64 = files.iter().map(|(_, bytes)| bytes.len() as u64).sum();
        self.left.set(self.left.get().saturating_sub(unpacked));
        Ok(files)
    }

    fn appended(&self, path: &str, rest: &[u8]) -> Vec<Finding> {
        let (mut findings, coded) = self.behind(path, rest);
        let severity = if coded { FindingSeverity::Critical } else { FindingSeverity::Warn };
        let detail = format!("{} bytes after the end of the image", rest.len());
        findings.push(self.about("appended-data", severity, path, &detail));
        findings
    }

    /// What lies behind data that no program shows, and whether it can be run.
    fn behind(&self, path: &str, rest: &[u8]) -> (Vec<Finding>, bool) {
        let archive_at =
            rest.windows(4).position(|w| w == b"PK\x03\x04" || w[..3] == [0x1f, 0x8b, 8]);
        let findings = match archive_at {
            Some(at) => self.container(&format!("{path}+{at}"), &rest[at..]),
            None => {
                let files = [("appended.txt".to_owned(), rest.to_vec())];
                (self.inner)(&SkillBundle::from_files(files), self.depth + 1)
            }
        };
        let coded = archive_at.is_some()
            && findings.iter().any(|f| f.rule == "nested-archive-code")
            || findings.iter().any(|finding| finding.severity == FindingSeverity::Critical)
            || rest.starts_with(b"#!");
        (findings, coded)
    }

    /// Archives made on a Mac are full of these, and nothing reads them as instructions. Where their
    /// own data ends is not worth knowing: whatever can be read in them is read.
    fn finder_data(&self, path: &str, bytes: &[u8]) -> Vec<Finding> {
        let readable = |b: &u8| *b >= b' ' && *b != 0x7f || *b == b'\t';
        let lines: Vec<u8> = bytes.iter().map(|b| if readable(b) { *b } else { b'\n' }).collect();
        let script = memmem::find(&lines, b"\n#!").map(|at| at + 1);
        let archive = memmem::find(bytes, b"PK\x03\x04");
        let rest = match (archive, script) {
            (Some(at), _) => &bytes[at..],
            (None, at) => &lines[at.unwrap_or(0)..],
        };
        let (mut findings, coded) = self.behind(path, rest);
        if coded {
            let detail = "code among what macOS keeps of a file";
            findings.push(self.about("appended-data", FindingSeverity::Critical, path, detail));
        } else {
            findings.clear();
        }
        findings
    }
}

fn open(
    path: &str,
    bytes: &[u8],
    limits: &ArchiveLimits,
) -> Result<Vec<(String, Vec<u8>)>, String> {
    if archive::format_of(bytes) == Some(archive::ArchiveFormat::TarGz) {
        // A single compressed file is not a tar; it is scanned under its name without the
        // extension.
        let plain = inflate(bytes, limits.unpacked)?;
        if plain.get(257..262) != Some(b"ustar") {
            let name = path.rsplit('/').next().unwrap_or(path);
            let name = name.strip_suffix(".gz").unwrap_or(name);
            return Ok(vec![(name.to_owned(), plain)]);
        }
    }
    match archive::unpack(bytes, limits) {
        Ok(entries) => Ok(entries.into_iter().map(|entry| (entry.path, entry.bytes)).collect()),
        Err(error) => Err(format!("it cannot be opened: {error}")),
    }
}

fn inflate(bytes: &[u8], cap: u64) -> Result<Vec<u8>, String> {
    use std::io::Read as _;
    let mut plain = Vec::new();
    match flate2::read::MultiGzDecoder::new(bytes).take(cap + 1).read_to_end(&mut plain) {
        Ok(_) if plain.len() as u64 > cap => Err("it unpacks to more than is allowed".to_owned()),
        Ok(_) => Ok(plain),
        Err(error) => Err(format!("it cannot be opened: {error}")),
    }
}

/// Findings about invisible characters, bidi overrides and secrets, line by line.
pub(crate) fn check_text(
    table: &RuleTable,
    file: &ScannedFile,
    secret_severity: FindingSeverity,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for &line in &file.layers.odd.bidi {
        let severity =
            if file.span_at(line).code { FindingSeverity::Critical } else { FindingSeverity::Warn };
        findings.push(line_finding(table, "bidi-override", severity, file, line));
    }
    for &line in &file.layers.odd.zero_width {
        findings.push(line_finding(table, "zero-width-in-word", FindingSeverity::Warn, file, line));
    }
    for secret in secrets::find_first(&file.text, MAX_SECRETS) {
        let line = file.index.line_of(&file.text, secret.range.start);
        let hidden = secrets::REDACTED.to_owned();
        let mut finding = showing(table, "literal-secret", secret_severity, file, line, hidden);
        let role = file.span_at(line).role;
        if secret_severity == FindingSeverity::Warn
            && (matches!(role, TextRole::Test | TextRole::Reference)
                || secret.id == "private-key" && !file.is_skill_md())
        {
            finding.severity = FindingSeverity::Info;
        }
        findings.push(finding);
    }
    if let Some(line) = packed_line(file) {
        let is_library = names_a_licence(file);
        let severity = if is_library { FindingSeverity::Info } else { FindingSeverity::Warn };
        findings.push(line_finding(table, "unanalysable-code", severity, file, line));
    }
    for (line, bytes) in &file.layers.payloads {
        let (kind, _) = filetype::kind_of("payload", bytes);
        if matches!(
            kind,
            ScannedFileKind::Executable
                | ScannedFileKind::Library
                | ScannedFileKind::Archive
                | ScannedFileKind::Bytecode
        ) {
            let mut finding =
                line_finding(table, "decode-exec", FindingSeverity::Critical, file, *line);
            finding.decoded = Some(format!("{} bytes of a program or archive", bytes.len()));
            findings.push(finding);
        }
    }
    findings
}

/// Whether a file says at its top whose it is and under which licence, as libraries do.
pub(crate) fn names_a_licence(file: &ScannedFile) -> bool {
    let head = file.text.get(..1024.min(file.text.len())).unwrap_or("").to_ascii_lowercase();
    head.starts_with("/*!") || head.contains("license") || head.contains("copyright")
}

/// The first line of a script that is too long to be read and runs code that it builds.
fn packed_line(file: &ScannedFile) -> Option<usize> {
    const CALLS: &[&str] = &["eval(", "Function(", "exec(", "atob("];
    if !matches!(file.kind, ScannedFileKind::Script(_)) || file.text.len() < MIN_PACKED {
        return None;
    }
    let (text, mut start) = (file.text.as_str(), 0);
    while let Some(head) = text.as_bytes().get(start..start + MIN_PACKED) {
        // Lines that end before they could be long enough are skipped together.
        if let Some(end) = memchr::memrchr(b'\n', head) {
            start += end + 1;
            continue;
        }
        let end =
            memchr::memchr(b'\n', &text.as_bytes()[start..]).map_or(text.len(), |i| start + i);
        if CALLS.iter().any(|call| text[start..end].contains(call)) {
            return Some(count_ends(&text.as_bytes()[..start]));
        }
        start = end + 1;
    }
    None
}
