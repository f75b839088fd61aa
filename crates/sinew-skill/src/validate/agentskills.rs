//! The Agent Skills specification, as its reference validator applies it.

use sinew_settings::{ReasonCode, ReasonSeverity};

use super::document::{SkillDocument, at_field, prefer_name_fix};
use super::name::{self, NAME_RULES, folder_name_fix};
use super::{FileEdit, Fix, SpecLevel, ValidationFile, ValidationIssue, reference_validator};
use crate::layout::layout;
use crate::repair::FrontMatter;
use crate::text;
use crate::value::{YamlMapping, YamlValue};

/// The severity of one rule at each level.
#[derive(Debug, Clone, Copy)]
pub struct AgentSkillsRule {
    /// The stable name.
    pub code: &'static str,
    /// At the strict level.
    pub strict: ReasonSeverity,
    /// At the lenient level.
    pub lenient: ReasonSeverity,
    /// At either level, if the reference validator is to be matched.
    pub parity: Option<ReasonSeverity>,
}

const fn rule(
    code: &'static str,
    strict: ReasonSeverity,
    lenient: ReasonSeverity,
) -> AgentSkillsRule {
    AgentSkillsRule { code, strict, lenient, parity: None }
}

/// Every rule, in the order of the specification.
pub const RULES: &[AgentSkillsRule] = {
    use ReasonSeverity::{Error, Info, Warn};
    &[
        rule("SKILL_FILE_MISSING", Error, Error),
        rule("FRONTMATTER_MISSING", Error, Error),
        rule("FRONTMATTER_UNTERMINATED", Error, Error),
        rule("FRONTMATTER_INVALID", Error, Error),
        rule("DUPLICATE_KEY", Error, Error),
        // The YAML dialect of the reference validator has no flow collections; most registry skills
        // use them.
        AgentSkillsRule { parity: Some(Error), ..rule("FLOW_COLLECTION", Warn, Warn) },
        rule("FIELD_UNKNOWN", Error, Info),
        rule("NAME_MISSING", Error, Error),
        rule("NAME_TOO_LONG", Error, Error),
        rule("NAME_NOT_LOWERCASE", Error, Error),
        rule("NAME_INVALID", Error, Error),
        rule("NAME_HYPHENS", Error, Error),
        rule("NAME_PATH_MISMATCH", Error, Warn),
        rule("DESCRIPTION_MISSING", Error, Error),
        rule("DESCRIPTION_TOO_LONG", Error, Error),
        rule("COMPATIBILITY_INVALID", Error, Error),
        rule("COMPATIBILITY_TOO_LONG", Error, Error),
        rule("METADATA_NOT_STRINGS", Info, Info),
        rule("ALLOWED_TOOLS_TYPE", Error, Error),
        rule("BODY_LONG", Warn, Warn),
        rule("REF_DIVERGENCE", Warn, Warn),
    ]
};

/// The fields of the specification.
const FIELDS: &[&str] =
    &["name", "description", "license", "allowed-tools", "metadata", "compatibility"];
/// The longest description, in characters.
const MAX_DESCRIPTION: usize = 1024;
/// The longest compatibility note, in characters.
const MAX_COMPATIBILITY: usize = 500;
/// A body is read completely when its skill is used: longer texts belong in references.
const MAX_BODY_LINES: usize = 500;
/// The specification says about 5,000 tokens; a token has about four characters.
const MAX_BODY_CHARS: usize = 4 * 5_000;

pub(super) fn check(
    target: &ValidationFile<'_>,
    level: SpecLevel,
    parity: bool,
) -> Vec<ValidationIssue> {
    let mut checker = AgentSkillsChecker { target, level, parity, issues: Vec::new() };
    checker.file();
    checker.issues
}

pub(super) fn file_missing(directory: &str) -> ValidationIssue {
    let message = format!("the folder `{directory}` holds no SKILL.md");
    ValidationIssue::error("SKILL_FILE_MISSING", message)
}

struct AgentSkillsChecker<'a> {
    target: &'a ValidationFile<'a>,
    level: SpecLevel,
    parity: bool,
    issues: Vec<ValidationIssue>,
}

impl AgentSkillsChecker<'_> {
    /// An issue with the severity its rule has at this level.
    fn issue(&self, code: &'static str, message: impl Into<String>) -> ValidationIssue {
        let rule = RULES.iter().find(|rule| rule.code == code);
        let severity = rule.map_or(ReasonSeverity::Error, |rule| match (self.parity, self.level) {
            (true, level) => rule.parity.unwrap_or(rule.severity_at(level)),
            (false, level) => rule.severity_at(level),
        });
        ValidationIssue::new(severity, code, message)
    }

    fn file(&mut self) {
        if !matches!(self.target.file_name, "SKILL.md" | "skill.md") {
            self.issues.push(file_missing(self.target.directory));
        }
        let text = match text::decode(self.target.bytes) {
            Ok(text) => text,
            Err(reason) => {
                return self
                    .issues
                    .push(ValidationIssue::of_reason("FRONTMATTER_INVALID", &reason));
            }
        };
        let document = match SkillDocument::parse(&text) {
            Ok(document) => document,
            Err(reason) => {
                return self
                    .issues
                    .push(ValidationIssue::of_reason("FRONTMATTER_UNTERMINATED", &reason));
            }
        };
        self.start(&document);
        match &document.front {
            None => {}
            Some(Err(reason)) => {
                let code = match reason.code {
                    ReasonCode::DuplicateKey => "DUPLICATE_KEY",
                    _ => "FRONTMATTER_INVALID",
                };
                self.issues.push(ValidationIssue::of_reason(code, reason));
            }
            Some(Ok(front)) => self.fields(&document, front),
        }
        self.body(&document);
    }

    /// The file must start with `---`.
    fn start(&mut self, document: &SkillDocument<'_>) {
        if document.front.is_none() || document.fence_line() > 1 {
            let message = "the file does not start with `---`";
            let issue = self.issue("FRONTMATTER_MISSING", message).at_line(Some(1));
            self.issues.push(issue.fixed_by(document.fence_fix()));
        }
        if document.front.is_some() && self.target.bytes.starts_with(b"\xef\xbb\xbf") {
            let fix = Fix::new("remove the byte order mark", vec![FileEdit::StripBom]);
            let code = if self.parity { "FRONTMATTER_MISSING" } else { "REF_DIVERGENCE" };
            let message = "the file starts with a byte order mark, which the reference validator \
                           treats as text before the front matter";
            self.issues.push(self.issue(code, message).at_line(Some(1)).fixed_by(Some(fix)));
        }
    }

    fn fields(&mut self, document: &SkillDocument<'_>, front: &FrontMatter) {
        let fields = &front.fields;
        let name = fields.get("name");
        let name_fix = folder_name_fix(self.target, document, front, name, name::is_sound);
        self.syntax(front, name_fix.as_ref());
        if self.parity {
            self.dialect(document);
        }
        if let Some(line) = front.flow_line {
            let message = "a flow collection (`[…]` or `{…}`): the reference validator refuses it";
            self.issues.push(self.issue("FLOW_COLLECTION", message).at_line(Some(line)));
        }
        for (key, _) in fields.iter().filter(|(key, _)| !FIELDS.contains(key)) {
            let message = format!("`{key}` is not a field of the specification");
            self.issues.push(at_field(self.issue("FIELD_UNKNOWN", message), front, key));
        }
        for (key, code, message) in Self::wrong_values(front, self.target.directory) {
            let fix = name_fix.clone().filter(|_| key == "name");
            self.issues.push(at_field(self.issue(code, message), front, key).fixed_by(fix));
        }
        if let Some(issue) = self.allowed_tools(fields) {
            self.issues.push(at_field(issue, front, "allowed-tools"));
        }
        if fields.get("metadata").is_some_and(|value| !is_map_of_strings(value)) {
            let message = "`metadata` is not a map of texts; the reference validator turns its values \
                           into text";
            self.issues.push(at_field(
                self.issue("METADATA_NOT_STRINGS", message),
                front,
                "metadata",
            ));
        }
        self.divergence(document, front);
    }

    /// The reader repaired something that a YAML parser rejects.
    fn syntax(&mut self, front: &FrontMatter, name_fix: Option<&Fix>) {
        for repaired in &front.repaired {
            let message = format!("`{}` is not valid YAML: {}", repaired.key, repaired.symptom);
            let issue = self.issue("FRONTMATTER_INVALID", message).at_line(Some(repaired.line));
            self.issues.push(issue.fixed_by(Some(prefer_name_fix(name_fix, repaired))));
        }
        if let (Some(detail), Some(error)) = (&front.unreadable_metadata, &front.strict_error) {
            let line =
                front.line_of("metadata").or(error.line.and_then(|l| usize::try_from(l).ok()));
            let message = format!("`metadata` cannot be read: {detail}");
            self.issues.push(self.issue("FRONTMATTER_INVALID", message).at_line(line));
        }
    }

    /// The YAML dialect of the reference validator is narrower than YAML.
    fn dialect(&mut self, document: &SkillDocument<'_>) {
        let layout = layout(document.fenced.front.unwrap_or_default());
        let refused = [
            (layout.tag_line, "a tag (`!`)"),
            (layout.tab_line, "a tab outside quotes"),
            (layout.uneven_line, "a map with another indentation than the one before it"),
        ];
        for (line, what) in refused {
            let Some(line) = line else { continue };
            let line = line + document.fence_line();
            let message = format!("{what}: the reference validator refuses it");
            self.issues.push(self.issue("FRONTMATTER_INVALID", message).at_line(Some(line)));
        }
    }

    /// What the reference validator itself checks about values: field, code and message.
    fn wrong_values(
        front: &FrontMatter,
        directory: &str,
    ) -> Vec<(&'static str, &'static str, String)> {
        let mut wrong: Vec<(&str, &str, String)> = Vec::new();
        let text = |key: &str| front.fields.get(key).and_then(|value| text_of(front, key, value));
        let has = |key: &str| front.fields.get(key).is_some();

        match text("name").filter(|name| !name.trim().is_empty()) {
            None => wrong.push(("name", "NAME_MISSING", "there is no `name`".to_owned())),
            Some(text) => {
                let form = name::nfkc(text.trim());
                for rule in NAME_RULES.iter().filter(|rule| (rule.broken_by)(&form)) {
                    wrong.push(("name", rule.code, rule.message.to_owned()));
                }
                if form != name::nfkc(directory) {
                    let message = format!("the name `{form}` is not the folder's, `{directory}`");
                    wrong.push(("name", "NAME_PATH_MISMATCH", message));
                }
            }
        }
        match text("description").filter(|text| !text.trim().is_empty()) {
            None => {
                let message = "there is no `description`".to_owned();
                wrong.push(("description", "DESCRIPTION_MISSING", message));
            }
            Some(text) if text.chars().count() > MAX_DESCRIPTION => {
                let message = format!(
                    "the description has {} characters, more than {MAX_DESCRIPTION}",
                    text.chars().count()
                );
                wrong.push(("description", "DESCRIPTION_TOO_LONG", message));
            }
            Some(_) => {}
        }
        match text("compatibility") {
            None if has("compatibility") => {
                let message = "`compatibility` is not text".to_owned();
                wrong.push(("compatibility", "COMPATIBILITY_INVALID", message));
            }
            Some(text) if text.chars().count() > MAX_COMPATIBILITY => {
                let message = format!(
                    "`compatibility` has {} characters, more than {MAX_COMPATIBILITY}",
                    text.chars().count()
                );
                wrong.push(("compatibility", "COMPATIBILITY_TOO_LONG", message));
            }
            _ => {}
        }
        wrong
    }

    fn allowed_tools(&self, fields: &YamlMapping) -> Option<ValidationIssue> {
        let (severity, what) = match fields.get("allowed-tools")? {
            YamlValue::Map(_) => (ReasonSeverity::Error, "a map"),
            YamlValue::List(_) => (ReasonSeverity::Info, "a list"),
            _ => return None,
        };
        let message =
            format!("`allowed-tools` is {what}; write the tools in one text, with blanks");
        Some(ValidationIssue { severity, ..self.issue("ALLOWED_TOOLS_TYPE", message) })
    }

    fn divergence(&mut self, document: &SkillDocument<'_>, front: &FrontMatter) {
        let Some(cut) = reference_validator::find_truncation(document) else { return };
        let mut issue =
            self.issue("REF_DIVERGENCE", cut.describe(&front.fields)).at_line(Some(cut.line));
        // Matching the reference validator means rejecting what it rejects, whatever the reason.
        let refused = || match cut.fields() {
            None => true,
            Some(fields) => {
                let seen = FrontMatter::of_fields(fields);
                !Self::wrong_values(&seen, self.target.directory).is_empty()
            }
        };
        if self.parity && refused() {
            issue.severity = ReasonSeverity::Error;
        }
        self.issues.push(issue);
    }

    fn body(&mut self, document: &SkillDocument<'_>) {
        let body = document.fenced.body;
        let lines = body.lines().count();
        if lines > MAX_BODY_LINES || body.chars().count() > MAX_BODY_CHARS {
            let message = format!(
                "the body has {lines} lines and about {} tokens; move details to references/",
                body.chars().count() / 4
            );
            let line = Some(document.fenced.body_line);
            self.issues.push(self.issue("BODY_LONG", message).at_line(line));
        }
    }
}

impl AgentSkillsRule {
    /// The severity of the rule at a level.
    pub fn severity_at(&self, level: SpecLevel) -> ReasonSeverity {
        match level {
            SpecLevel::Strict => self.strict,
            SpecLevel::Lenient => self.lenient,
        }
    }
}

/// A scalar as text: in the reference validator's dialect every scalar is text, and an empty value
/// is empty text.
fn text_of(front: &FrontMatter, key: &str, value: &YamlValue) -> Option<String> {
    match value {
        YamlValue::Null => Some(front.text_as_written(key).unwrap_or_default().to_owned()),
        value => front.text_as_written(key).map(str::to_owned).or_else(|| value.source_text()),
    }
}

fn is_map_of_strings(value: &YamlValue) -> bool {
    value.as_map().is_some_and(|map| map.iter().all(|(_, value)| value.as_str().is_some()))
}
