//! Reading front matter with small mistakes.
//!
//! A strict parse comes first. If it fails, the block is split into its top-level fields and each
//! is parsed alone; a field that still fails gets one of a few known repairs, or the *original*
//! error stands. `metadata` is never guessed: it says what a skill needs, and a skill whose needs
//! were misread would look as if it had none.

use sinew_settings::{Reason, ReasonCode};

use crate::fence::is_fence;
use crate::value::{YamlMapping, YamlValue, flow};
use crate::yaml::{self, FieldPosition, YamlError, YamlErrorKind};

/// Larger front matter is an attack or a mistake: the longest of 100,000 real ones is 12 KiB.
const MAX_FRONT_MATTER: usize = 64 * 1024;

/// The typed fields of a front matter block.
#[derive(Debug, Clone, Default)]
pub struct FrontMatter {
    /// The fields in their order.
    pub fields: YamlMapping,
    /// Fields that were repaired, in their order.
    pub repaired: Vec<FieldRepair>,
    /// What is wrong with `metadata`, if it could not be read.
    pub unreadable_metadata: Option<String>,
    /// The first line of the file with a flow collection (`[…]` or `{…}`).
    pub flow_line: Option<usize>,
    /// The strict parser's error, if the block had to be repaired.
    pub strict_error: Option<Reason>,
    places: Vec<FieldPosition>,
}

impl FrontMatter {
    /// The line of the file on which a field starts.
    pub fn line_of(&self, key: &str) -> Option<usize> {
        self.places.iter().find(|place| place.key == key).map(|place| place.line)
    }

    /// Fields without a file around them.
    pub(crate) fn of_fields(fields: YamlMapping) -> Self {
        Self { fields, ..Self::default() }
    }

    /// The text of a scalar field as its author wrote it: `True` stays `True`.
    pub(crate) fn text_as_written(&self, key: &str) -> Option<&str> {
        self.places.iter().find(|place| place.key == key)?.written.as_deref()
    }
}

/// A field that was repaired, and the correct text for its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldRepair {
    /// The field.
    pub key: String,
    /// Its line in the file, from 1.
    pub line: usize,
    /// How many lines of the file the field takes.
    pub lines: usize,
    /// The text that a strict parser accepts instead.
    pub replacement: String,
    /// What was wrong.
    pub symptom: &'static str,
}

/// Parses the text between the fences; `first_line` is its line in the file.
pub fn parse_front_matter(text: &str, first_line: usize) -> Result<FrontMatter, Reason> {
    if text.len() > MAX_FRONT_MATTER {
        return Err(Reason::new(
            ReasonCode::FrontmatterInvalid,
            format!("the front matter has {} bytes, more than {MAX_FRONT_MATTER}", text.len()),
        )
        .line(first_line)
        .remedy("move long text from the front matter to the body"));
    }
    let in_file = |line: usize| line + first_line - 1;
    match yaml::parse(text) {
        Ok(parsed) => match parsed.value {
            YamlValue::Null => Ok(FrontMatter::default()),
            YamlValue::Map(fields) => Ok(FrontMatter {
                fields,
                flow_line: parsed.flow_line.map(in_file),
                places: places_in_file(parsed.places, first_line),
                ..FrontMatter::default()
            }),
            other => Err(Reason::new(
                ReasonCode::RootNotMap,
                format!("INVALID_ROOT: the front matter is {}, not fields", other.kind()),
            )
            .line(first_line)
            .remedy("write one `key: value` per line")),
        },
        Err(error) => {
            // These are not typing mistakes; a repair could only hide them.
            let hopeless = matches!(
                error.kind,
                YamlErrorKind::DuplicateKey | YamlErrorKind::Control | YamlErrorKind::Limit
            );
            let reason = as_reason(&error, in_file(error.line));
            match if hopeless { None } else { repair(text, first_line) } {
                Some(front) => Ok(FrontMatter { strict_error: Some(reason), ..front }),
                None => Err(reason),
            }
        }
    }
}

/// Converts the lines of `places` from the text to the file.
fn places_in_file(mut places: Vec<FieldPosition>, first_line: usize) -> Vec<FieldPosition> {
    for place in &mut places {
        place.line += first_line - 1;
    }
    places
}

fn as_reason(error: &YamlError, line: usize) -> Reason {
    let code = match error.kind {
        YamlErrorKind::DuplicateKey => ReasonCode::DuplicateKey,
        _ => ReasonCode::FrontmatterInvalid,
    };
    let openclaw = error.kind.openclaw_code(&error.message);
    let remedy = match error.kind {
        YamlErrorKind::DuplicateKey => "keep one of the two".to_owned(),
        YamlErrorKind::Control => "remove the control character".to_owned(),
        YamlErrorKind::AliasOrTag => "put the value in quotes".to_owned(),
        YamlErrorKind::Limit => "make the front matter smaller".to_owned(),
        YamlErrorKind::Syntax => format!("correct line {line}, or put its value in quotes"),
    };
    Reason::new(code, format!("{openclaw}: {}", error.message)).line(line).remedy(remedy)
}

/// Above this number, fields are not repaired one by one: real front matter has a dozen.
const MAX_FIELDS: usize = 200;

/// One top-level field: its key, and the lines that belong to it.
struct FieldBlock<'a> {
    key: &'a str,
    /// Line within the block, from 0.
    line: usize,
    lines: Vec<&'a str>,
}

fn repair(text: &str, first_line: usize) -> Option<FrontMatter> {
    let mut front = FrontMatter::default();
    for field in top_level_fields(text)? {
        let line = first_line + field.line;
        if front.fields.get(field.key).is_some() {
            return None;
        }
        let place = FieldPosition { key: field.key.to_owned(), line, written: None };
        if let Some(parsed) = strict_field(&field.lines.join("\n"), field.key) {
            front.flow_line = front.flow_line.or(parsed.flow_line.map(|l| l + line - 1));
            front.fields.set(field.key, parsed.value);
            front.places.push(FieldPosition { written: parsed.written, ..place });
            continue;
        }
        front.places.push(place);
        let holds_requirements = GATING.iter().any(|key| field.key.eq_ignore_ascii_case(key));
        let repair = if holds_requirements {
            metadata_as_json(&field).map(|value| (value, NOT_YAML))
        } else {
            let (text, symptom) = field.quoted()?;
            Some((YamlValue::String(text), symptom))
        };
        let repair = repair.and_then(|(value, symptom)| {
            let repaired = field.repaired(first_line, &flow(&value), symptom);
            // A repair counts only if a strict parser reads exactly the same value from it.
            let same = strict_field(&repaired.replacement, field.key)?.value == value;
            same.then_some((value, repaired))
        });
        match repair {
            Some((value, repaired)) => {
                front.repaired.push(repaired);
                front.fields.set(field.key, value);
            }
            None if holds_requirements => {
                front.unreadable_metadata = Some("it is neither YAML nor JSON".to_owned());
            }
            None => return None,
        }
    }
    // If each field is valid alone, the problem is between them, and a repair would hide it.
    let helped = !front.repaired.is_empty() || front.unreadable_metadata.is_some();
    helped.then_some(front)
}

/// Fields that say what a skill needs. They are never guessed: quoted as text they would look as if
/// the skill needed nothing.
const GATING: &[&str] = &["metadata", "openclaw"];

struct StrictField {
    value: YamlValue,
    flow_line: Option<usize>,
    written: Option<String>,
}

/// Reads one field alone, strictly.
fn strict_field(source: &str, key: &str) -> Option<StrictField> {
    let parsed = yaml::parse(source).ok()?;
    let YamlValue::Map(mut map) = parsed.value else { return None };
    let written = parsed.places.into_iter().next().and_then(|place| place.written);
    match (map.0.pop(), map.is_empty()) {
        (Some((name, value)), true) if name == key => {
            Some(StrictField { value, flow_line: parsed.flow_line, written })
        }
        _ => None,
    }
}

/// Splits the block at its top-level keys.
///
/// A line that is neither a key nor a continuation belongs to the field before it if that is the
/// description; otherwise the block cannot be repaired.
fn top_level_fields(text: &str) -> Option<Vec<FieldBlock<'_>>> {
    let mut fields: Vec<FieldBlock<'_>> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let continues = line.starts_with([' ', '\t']) || line.trim().is_empty();
        if continues || line.starts_with('#') {
            if let Some(field) = fields.last_mut() {
                field.lines.push(line);
            } else if continues && !line.trim().is_empty() {
                return None;
            }
        } else if let Some(key) = top_level_key(line) {
            if fields.len() == MAX_FIELDS {
                return None;
            }
            fields.push(FieldBlock { key, line: number, lines: vec![line] });
        } else {
            let field = fields.last_mut()?;
            // An unindented list, or the closing bracket of a flow collection, is valid YAML.
            let may_continue = line.starts_with(['-', '}', ']']) || field.is_description();
            if !may_continue || is_fence(line) {
                return None;
            }
            field.lines.push(line);
        }
    }
    Some(fields)
}

/// The key of a `key: value` line that starts in the first column.
fn top_level_key(line: &str) -> Option<&str> {
    let (key, rest) = line.split_once(':')?;
    let plain = key.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
    (plain && (rest.is_empty() || rest.starts_with([' ', '\t']))).then_some(key)
}

impl FieldBlock<'_> {
    fn first_value(&self) -> &str {
        self.lines[0][self.key.len() + 1..].trim()
    }

    /// The field's text as one line, if its problem is a known one.
    fn quoted(&self) -> Option<(String, &'static str)> {
        if let Some(text) = self.indented() {
            return Some((text, "a quoted text whose next lines are not indented"));
        }
        let value = self.first_value();
        let marker_alone = is_block_marker(value);
        let symptom = match symptom(value) {
            Some(_) if marker_alone => "text that is not indented below a block marker",
            Some(symptom) => symptom,
            // A key without a value on its line opens a nested block, which is not a single text.
            None if self.lines.len() > 1 && (!value.is_empty() || self.is_description()) => {
                "a line that is neither a field nor indented, or that contains an unquoted `: `"
            }
            None => return None,
        };
        let mut parts = if marker_alone { Vec::new() } else { vec![value] };
        parts.extend(self.lines[1..].iter().map(|line| line.trim()));
        parts.retain(|part| !part.is_empty() && !part.starts_with('#'));
        Some((parts.join(" "), symptom))
    }

    /// The text of a quoted value whose only problem is that its next lines are not indented.
    fn indented(&self) -> Option<String> {
        if self.lines.len() < 2 || !self.first_value().starts_with(['"', '\'']) {
            return None;
        }
        match strict_field(&self.lines.join("\n "), self.key)?.value {
            YamlValue::String(text) => Some(text),
            _ => None,
        }
    }

    fn is_description(&self) -> bool {
        self.key.eq_ignore_ascii_case("description")
    }

    /// The edit that a fix would make. Comments between the lines of the value move below it.
    fn repaired(&self, first_line: usize, value: &str, symptom: &'static str) -> FieldRepair {
        let is_comment = |line: &&str| line.trim_start().starts_with('#');
        let trailing = self.lines[1..].iter().rev();
        let trailing = trailing.take_while(|line| line.trim().is_empty() || is_comment(line));
        let lines = self.lines.len() - trailing.count();
        let mut replacement = format!("{}: {value}", self.key);
        for comment in self.lines[1..lines].iter().filter(|line| is_comment(line)) {
            replacement.push('\n');
            replacement.push_str(comment);
        }
        FieldRepair {
            key: self.key.to_owned(),
            line: first_line + self.line,
            lines,
            replacement,
            symptom,
        }
    }
}

const NOT_YAML: &str = "JSON that YAML does not accept";

/// What is wrong with a value, if it is one of the known mistakes.
fn symptom(value: &str) -> Option<&'static str> {
    let mut chars = value.chars();
    let first = chars.next()?;
    match first {
        '"' | '\'' if value[1..].contains(first) => Some("text after a closing quote"),
        '"' | '\'' => Some("a quote that is never closed"),
        '{' if value.starts_with("{{") => Some("a template marker"),
        '[' => Some("brackets that are not one list"),
        '{' => Some("braces that are not one map"),
        '|' | '>' => Some("text after a block marker"),
        '*' | '&' | '@' | '`' | '%' | '!' | ',' | ']' | '}' => {
            Some("a reserved character at the start")
        }
        '-' | '?' if value[1..].starts_with(' ') => Some("a reserved character at the start"),
        _ if value.contains(": ") || value.ends_with(':') || value.contains(":\t") => {
            Some("an unquoted `: `")
        }
        _ => None,
    }
}

/// `|` or `>` with optional indicators: the text starts on the next line.
fn is_block_marker(value: &str) -> bool {
    value.strip_prefix(['|', '>']).is_some_and(|rest| {
        rest.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'-'))
    })
}

fn metadata_as_json(field: &FieldBlock<'_>) -> Option<YamlValue> {
    let mut text = field.first_value().to_owned();
    for line in &field.lines[1..] {
        text.push('\n');
        text.push_str(line);
    }
    parse_json(&text).filter(|value| matches!(value, YamlValue::Map(_)))
}

/// JSON, then JSON5.
pub(crate) fn parse_json(text: &str) -> Option<YamlValue> {
    let text = text.trim();
    // JSON5 has no nesting limit; this one keeps it from exhausting the stack.
    if is_too_deep(text) {
        return None;
    }
    let json: serde_json::Value =
        serde_json::from_str(text).ok().or_else(|| json5::from_str(text).ok())?;
    Some(YamlValue::from(json))
}

/// Brackets inside strings count as well: that only makes the limit stricter for unusual texts.
fn is_too_deep(text: &str) -> bool {
    let mut depth = 0_usize;
    text.bytes().any(|byte| {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > yaml::MAX_DEPTH
    })
}
