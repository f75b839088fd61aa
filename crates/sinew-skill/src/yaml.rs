//! The only place that reads values from the YAML parser.
//!
//! It builds values from parse events rather than through serde, because a skill file needs what
//! serde throws away: the line of an error, how a number was written, which collections are in flow
//! style, and that an alias or a tag was there at all. Both are refused: front matter has no use for
//! them, and aliases are how a few bytes become a gigabyte.

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, StructureStyle};

use crate::plain_yaml;
use crate::value::{YamlMapping, YamlNumber, YamlValue};

/// Deeper nesting is an attack: real metadata has five levels.
pub(crate) const MAX_DEPTH: usize = 16;
/// More nodes in one front matter are an attack: real ones have a few dozen.
pub(crate) const MAX_NODES: usize = 2_000;

/// The content of a YAML text.
#[derive(Debug)]
pub(crate) struct ParsedYaml {
    pub(crate) value: YamlValue,
    /// The first line (from 1) that opens a flow collection.
    pub(crate) flow_line: Option<usize>,
    /// The positions of the root map's fields.
    pub(crate) places: Vec<FieldPosition>,
}

/// The position of a field of the root map, and the source text of a value that is not text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FieldPosition {
    pub(crate) key: String,
    /// The line of the key within the text, from 1.
    pub(crate) line: usize,
    /// `True` or `~` if the value is that: a name keeps its author's spelling.
    pub(crate) written: Option<String>,
}

/// Why a YAML text was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct YamlError {
    pub(crate) kind: YamlErrorKind,
    /// The line within the text, from 1.
    pub(crate) line: usize,
    pub(crate) message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum YamlErrorKind {
    DuplicateKey,
    Syntax,
    Control,
    AliasOrTag,
    Limit,
}

impl YamlErrorKind {
    /// The code that OpenClaw's parser gives to the same problem, for comparing the two.
    pub(crate) fn openclaw_code(self, message: &str) -> &'static str {
        match self {
            Self::DuplicateKey => "DUPLICATE_KEY",
            Self::AliasOrTag => "BAD_ALIAS",
            Self::Limit => "RESOURCE_EXHAUSTION",
            Self::Control => "UNEXPECTED_TOKEN",
            Self::Syntax if message.contains("mapping values") => "BLOCK_AS_IMPLICIT_KEY",
            Self::Syntax if message.contains("indent") => "BAD_INDENT",
            Self::Syntax if message.contains("escape") => "BAD_DQ_ESCAPE",
            Self::Syntax if message.contains("expected") => "MISSING_CHAR",
            Self::Syntax => "UNEXPECTED_TOKEN",
        }
    }
}

/// Parses one YAML document.
pub(crate) fn parse(text: &str) -> Result<ParsedYaml, YamlError> {
    if let Some((line, c)) = forbidden_control(text) {
        return Err(YamlError {
            kind: YamlErrorKind::Control,
            line,
            message: format!("control character U+{:04X} is not allowed in YAML", c as u32),
        });
    }
    match plain_yaml::parse(text) {
        Some(parsed) => Ok(parsed),
        None => parse_whole(text),
    }
}

/// Parses one YAML document with the general parser only.
pub(crate) fn parse_whole(text: &str) -> Result<ParsedYaml, YamlError> {
    let options = granit_parser::options! {
        // Another crate in the build may enable the feature; comments are not values.
        emit_comments: false,
        flow_nesting_limit: MAX_DEPTH + 1,
        block_nesting_limit: MAX_DEPTH + 1
    };
    let mut builder = YamlBuilder {
        parser: Parser::new_from_str_with_options(text, options),
        nodes: 0,
        flow_line: None,
        places: Vec::new(),
        is_written: false,
    };
    let value = builder.document()?;
    Ok(ParsedYaml { value, flow_line: builder.flow_line, places: builder.places })
}

/// YAML's printable characters exclude C0 except tab and line ends, DEL, and C1 except NEL.
fn forbidden_control(text: &str) -> Option<(usize, char)> {
    let bad = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}');
    // Every C1 character starts with the byte C2. Most texts contain no such byte, and checking all
    // bytes is faster than stopping early.
    let doubtful = |byte: u8| {
        (byte.is_ascii_control() & !matches!(byte, b'\t' | b'\n' | b'\r')) | (byte == 0xC2)
    };
    if !text.bytes().fold(false, |any, byte| any | doubtful(byte)) {
        return None;
    }
    let (at, c) = text.char_indices().find(|&(_, c)| bad(c))?;
    Some((1 + text[..at].matches('\n').count(), c))
}

struct YamlBuilder<'a> {
    parser: Parser<'a, granit_parser::StrInput<'a>>,
    nodes: usize,
    flow_line: Option<usize>,
    places: Vec<FieldPosition>,
    /// Whether the last event has text in the file; the parser reports `~` for an empty value.
    is_written: bool,
}

impl<'a> YamlBuilder<'a> {
    fn next(&mut self) -> Result<Option<(Event<'a>, usize)>, YamlError> {
        match self.parser.next_event() {
            None => Ok(None),
            Some(Ok((event, span))) => {
                self.is_written = span.start.index() < span.end.index();
                Ok(Some((event, span.start.line())))
            }
            Some(Err(error)) => Err(syntax(&error)),
        }
    }

    fn document(&mut self) -> Result<YamlValue, YamlError> {
        let mut root = None;
        while let Some((event, line)) = self.next()? {
            match event {
                Event::StreamStart | Event::DocumentStart(..) | Event::DocumentEnd => {}
                Event::StreamEnd => break,
                _ if root.is_some() => {
                    return Err(YamlError {
                        kind: YamlErrorKind::Syntax,
                        line,
                        message: "more than one document".to_owned(),
                    });
                }
                event => root = Some(self.node(event, line, 1)?),
            }
        }
        Ok(root.unwrap_or(YamlValue::Null))
    }

    fn node(
        &mut self,
        event: Event<'a>,
        line: usize,
        depth: usize,
    ) -> Result<YamlValue, YamlError> {
        self.nodes += 1;
        if depth > MAX_DEPTH || self.nodes > MAX_NODES {
            return Err(YamlError {
                kind: YamlErrorKind::Limit,
                line,
                message: format!("more than {MAX_DEPTH} levels or {MAX_NODES} values"),
            });
        }
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let is_text = tag.as_ref().is_some_and(|tag| tag.is_yaml_core_schema_tag("str"));
                refuse(line, anchor, tag.as_deref())?;
                if style == ScalarStyle::Plain && !is_text {
                    return Ok(resolve_plain(&text));
                }
                Ok(YamlValue::String(text.into_owned()))
            }
            Event::SequenceStart(style, anchor, tag) => {
                refuse(line, anchor, tag.as_deref())?;
                self.note_style(style, line);
                let mut items = Vec::new();
                while let Some((event, line)) = self.next()? {
                    if matches!(event, Event::SequenceEnd) {
                        break;
                    }
                    items.push(self.node(event, line, depth + 1)?);
                }
                Ok(YamlValue::List(items))
            }
            Event::MappingStart(style, anchor, tag) => {
                refuse(line, anchor, tag.as_deref())?;
                self.note_style(style, line);
                self.mapping(depth).map(YamlValue::Map)
            }
            Event::Alias(_) => Err(alias(line)),
            _ => Err(YamlError {
                kind: YamlErrorKind::Syntax,
                line,
                message: "unexpected token".to_owned(),
            }),
        }
    }

    fn mapping(&mut self, depth: usize) -> Result<YamlMapping, YamlError> {
        let mut map = YamlMapping::default();
        while let Some((event, line)) = self.next()? {
            if matches!(event, Event::MappingEnd) {
                break;
            }
            let key = match self.node(event, line, depth + 1)? {
                YamlValue::Null => String::new(),
                YamlValue::List(_) | YamlValue::Map(_) => {
                    return Err(YamlError {
                        kind: YamlErrorKind::Syntax,
                        line,
                        message: "a list or map cannot be a key".to_owned(),
                    });
                }
                scalar => scalar.source_text().unwrap_or_default(),
            };
            if map.get(&key).is_some() {
                return Err(YamlError {
                    kind: YamlErrorKind::DuplicateKey,
                    line,
                    message: format!("the key `{key}` occurs twice"),
                });
            }
            let Some((event, value_line)) = self.next()? else { break };
            let written = match &event {
                Event::Scalar(text, ScalarStyle::Plain, ..) if depth == 1 && self.is_written => {
                    Some(text.clone())
                }
                _ => None,
            };
            let value = self.node(event, value_line, depth + 1)?;
            if depth == 1 {
                let written =
                    written.filter(|_| matches!(value, YamlValue::Bool(_) | YamlValue::Null));
                let written = written.map(std::borrow::Cow::into_owned);
                self.places.push(FieldPosition { key: key.clone(), line, written });
            }
            map.0.push((key, value));
        }
        Ok(map)
    }

    fn note_style(&mut self, style: StructureStyle, line: usize) {
        if style == StructureStyle::Flow && self.flow_line.is_none() {
            self.flow_line = Some(line);
        }
    }
}

fn refuse(line: usize, anchor: usize, tag: Option<&granit_parser::Tag>) -> Result<(), YamlError> {
    if anchor != 0 {
        return Err(alias(line));
    }
    match tag {
        Some(tag) if !tag.is_yaml_core_schema() => Err(YamlError {
            kind: YamlErrorKind::AliasOrTag,
            line,
            message: "tags (`!`) are not read in front matter".to_owned(),
        }),
        _ => Ok(()),
    }
}

fn alias(line: usize) -> YamlError {
    YamlError {
        kind: YamlErrorKind::AliasOrTag,
        line,
        message: "anchors (`&`) and aliases (`*`) are not read in front matter".to_owned(),
    }
}

fn syntax(error: &ScanError) -> YamlError {
    let message = error.kind().to_string();
    let kind = if matches!(error.kind(), ErrorKind::RecursionLimitExceeded) {
        YamlErrorKind::Limit
    } else if message.contains("alias") || message.contains("anchor") {
        YamlErrorKind::AliasOrTag
    } else {
        YamlErrorKind::Syntax
    };
    YamlError { kind, line: error.marker().line(), message }
}

/// The YAML 1.2 core schema.
pub(crate) fn resolve_plain(text: &str) -> YamlValue {
    match constant(text) {
        Some(constant) => constant,
        None if is_number(text) => YamlValue::Number(YamlNumber(text.to_owned())),
        None => YamlValue::String(text.to_owned()),
    }
}

/// Whether the schema reads a plain scalar as text.
pub(crate) fn is_text(plain: &str) -> bool {
    constant(plain).is_none() && !is_number(plain)
}

fn constant(text: &str) -> Option<YamlValue> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Some(YamlValue::Null),
        "true" | "True" | "TRUE" => Some(YamlValue::Bool(true)),
        "false" | "False" | "FALSE" => Some(YamlValue::Bool(false)),
        _ => None,
    }
}

fn is_number(text: &str) -> bool {
    let all = |digits: &str, ok: fn(&u8) -> bool| {
        !digits.is_empty() && digits.bytes().all(|byte| ok(&byte))
    };
    if let Some(hex) = text.strip_prefix("0x") {
        return all(hex, u8::is_ascii_hexdigit);
    }
    if let Some(octal) = text.strip_prefix("0o") {
        return all(octal, |byte| (b'0'..=b'7').contains(byte));
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => (&unsigned[..at], Some(&unsigned[at + 1..])),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    (!whole.is_empty() || !fraction.is_empty())
        && digits(whole)
        && digits(fraction)
        && exponent.is_none_or(|e| all(e.strip_prefix(['+', '-']).unwrap_or(e), u8::is_ascii_digit))
}
