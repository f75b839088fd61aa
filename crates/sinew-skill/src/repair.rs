//! Reading front matter that its author got slightly wrong.
//!
//! A strict parse comes first. Where it fails, the block is cut into its top-level fields and each
//! is read alone; a field that still fails is put right by one of a few known repairs, or the
//! *original* error stands. `metadata` is never guessed at: it says what a skill needs, and a
//! skill whose needs were misread would look as if it had none.

use crate::fence::is_fence;
use crate::value::{Mapping, Value, quote};
use crate::yaml::{self, YamlError, YamlErrorKind};
use crate::{Code, Reason};

/// A front matter larger than this is an attack or a mistake: the longest of 100,000 real ones is
/// 12 KiB.
const MAX_FRONT_MATTER: usize = 64 * 1024;

/// The typed fields of a front matter block.
#[derive(Debug, Clone, Default)]
pub struct FrontMatter {
    /// The fields in their order.
    pub fields: Mapping,
    /// Fields that were put right, in their order.
    pub repaired: Vec<Repaired>,
    /// Set when `metadata` could not be read: what is wrong with it.
    pub unreadable_metadata: Option<String>,
    /// The first line of the file with a flow collection (`[…]` or `{…}`).
    pub flow_line: Option<usize>,
}

/// A field that was put right, and how its line would have to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repaired {
    /// The field.
    pub key: String,
    /// Its line in the file, from 1.
    pub line: usize,
    /// How many lines of the file the field takes.
    pub lines: usize,
    /// The text that a strict parser accepts in their place.
    pub replacement: String,
    /// What was wrong.
    pub symptom: &'static str,
}

/// Parses the text between the fences; `first_line` is its line in the file.
pub fn parse_front_matter(text: &str, first_line: usize) -> Result<FrontMatter, Reason> {
    if text.len() > MAX_FRONT_MATTER {
        return Err(Reason::new(
            Code::FrontmatterInvalid,
            format!("the front matter has {} bytes, more than {MAX_FRONT_MATTER}", text.len()),
        )
        .line(first_line)
        .remedy("move long text from the front matter to the body"));
    }
    let in_file = |line: usize| line + first_line - 1;
    match yaml::parse(text) {
        Ok(parsed) => match parsed.value {
            Value::Null => Ok(FrontMatter::default()),
            Value::Map(fields) => Ok(FrontMatter {
                fields,
                flow_line: parsed.flow_line.map(in_file),
                ..FrontMatter::default()
            }),
            other => Err(Reason::new(
                Code::RootNotMap,
                format!("INVALID_ROOT: the front matter is {}, not fields", other.kind()),
            )
            .line(first_line)
            .remedy("write one `key: value` per line")),
        },
        Err(error) => {
            // These are not slips of the pen; a repair could only hide them.
            let hopeless = matches!(
                error.kind,
                YamlErrorKind::DuplicateKey | YamlErrorKind::Control | YamlErrorKind::Limit
            );
            let repaired = if hopeless { None } else { repair(text, first_line) };
            repaired.ok_or_else(|| as_reason(&error, in_file(error.line)))
        }
    }
}

fn as_reason(error: &YamlError, line: usize) -> Reason {
    let code = match error.kind {
        YamlErrorKind::DuplicateKey => Code::DuplicateKey,
        _ => Code::FrontmatterInvalid,
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

/// One top-level field: its key, and the lines that belong to it.
struct Field<'a> {
    key: &'a str,
    /// Line within the block, from 0.
    line: usize,
    lines: Vec<&'a str>,
}

fn repair(text: &str, first_line: usize) -> Option<FrontMatter> {
    let mut front = FrontMatter::default();
    for field in top_level_fields(text)? {
        if front.fields.get(field.key).is_some() {
            return None;
        }
        let source = field.lines.join("\n");
        if let Ok(parsed) = yaml::parse(&source)
            && let Value::Map(map) = parsed.value
            && map.len() == 1
        {
            front.flow_line =
                front.flow_line.or(parsed.flow_line.map(|l| l + first_line - 1 + field.line));
            front.fields.0.extend(map.0);
            continue;
        }
        if field.key == "metadata" {
            match metadata_as_json(&field) {
                Some(value) => {
                    front.repaired.push(field.repaired(
                        first_line,
                        &json_of(&value),
                        "JSON that YAML does not accept",
                    ));
                    front.fields.set(field.key, value);
                }
                None => front.unreadable_metadata = Some("it is neither YAML nor JSON".to_owned()),
            }
            continue;
        }
        let (value, symptom) = field.quoted()?;
        front.repaired.push(field.repaired(first_line, &quote(&value), symptom));
        front.fields.set(field.key, Value::String(value));
    }
    Some(front)
}

/// Cuts the block at its top-level keys.
///
/// A line that is neither a key nor a continuation joins the field before it when that is the
/// description, and otherwise makes the block hopeless.
fn top_level_fields(text: &str) -> Option<Vec<Field<'_>>> {
    let mut fields: Vec<Field<'_>> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let continues = line.starts_with([' ', '\t']) || line.trim().is_empty();
        if continues || line.starts_with('#') {
            if let Some(field) = fields.last_mut() {
                field.lines.push(line);
            } else if continues && !line.trim().is_empty() {
                return None;
            }
        } else if let Some(key) = top_level_key(line) {
            fields.push(Field { key, line: number, lines: vec![line] });
        } else {
            let field = fields.last_mut()?;
            // An unindented list, or the closing bracket of a flow collection, is legal YAML.
            let may_continue = line.starts_with(['-', '}', ']']) || field.key == "description";
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

impl Field<'_> {
    fn first_value(&self) -> &str {
        self.lines[0][self.key.len() + 1..].trim()
    }

    /// The field's text as one quoted scalar, where its trouble is a known one.
    fn quoted(&self) -> Option<(String, &'static str)> {
        let value = self.first_value();
        let symptom = symptom(value).or_else(|| {
            (self.lines.len() > 1).then_some("a line that is neither field nor indented")
        })?;
        let mut parts = vec![value];
        parts.extend(self.lines[1..].iter().map(|line| line.trim()));
        parts.retain(|part| !part.is_empty() && !part.starts_with('#'));
        let text = parts.join(" ");
        let text = match symptom {
            TEXT_AFTER_BLOCK_MARKER => {
                text.trim_start_matches(['|', '>', '+', '-']).trim().to_owned()
            }
            TEXT_AFTER_QUOTE => text.replace(['"'], ""),
            _ => text,
        };
        Some((text, symptom))
    }

    fn repaired(&self, first_line: usize, value: &str, symptom: &'static str) -> Repaired {
        let trailing = self.lines.iter().rev().take_while(|line| line.trim().is_empty()).count();
        Repaired {
            key: self.key.to_owned(),
            line: first_line + self.line,
            lines: self.lines.len() - trailing,
            replacement: format!("{}: {value}", self.key),
            symptom,
        }
    }
}

const TEXT_AFTER_QUOTE: &str = "text after a closing quote";
const TEXT_AFTER_BLOCK_MARKER: &str = "text after a block marker";

/// What is wrong with a value, if it is one of the known slips.
fn symptom(value: &str) -> Option<&'static str> {
    let first = value.chars().next()?;
    match first {
        '"' | '\'' => Some(TEXT_AFTER_QUOTE),
        '{' if value.starts_with("{{") => Some("a template marker"),
        '[' => Some("brackets that are not one list"),
        '|' | '>' => Some(TEXT_AFTER_BLOCK_MARKER),
        '*' | '&' | '@' | '`' | '%' | '!' => Some("a reserved character at the start"),
        '-' | '?' if value[1..].starts_with(' ') => Some("a reserved character at the start"),
        '{' => None,
        _ if value.contains(": ") || value.ends_with(':') || value.contains(":\t") => {
            Some("an unquoted `: `")
        }
        _ => None,
    }
}

fn metadata_as_json(field: &Field<'_>) -> Option<Value> {
    let mut text = field.first_value().to_owned();
    for line in &field.lines[1..] {
        text.push('\n');
        text.push_str(line);
    }
    parse_json(&text).filter(|value| matches!(value, Value::Map(_)))
}

/// JSON, then JSON5.
pub(crate) fn parse_json(text: &str) -> Option<Value> {
    let text = text.trim();
    let json: serde_json::Value = serde_json::from_str(text).ok().or_else(|| json5_value(text))?;
    Some(Value::from(json))
}

/// JSON5 has no nesting limit of its own; ours keeps it from exhausting the stack.
fn json5_value(text: &str) -> Option<serde_json::Value> {
    let mut depth = 0_usize;
    for byte in text.bytes() {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > yaml::MAX_DEPTH {
            return None;
        }
    }
    json5::from_str(text).ok()
}

fn json_of(value: &Value) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
