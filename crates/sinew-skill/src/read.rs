//! A skill file, read: the value and everything worth knowing about it.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::metadata::{MetadataHealth, loose_list, metadata_invalid, read_metadata};
use crate::value::{Mapping, Value};
use crate::{
    Code, Dispatch, Invocation, Metadata, Reason, Triggers, fence, header, names, repair, sections,
    text,
};

/// Whose reading of the format applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// Front matter is required.
    #[default]
    OpenClaw,
    /// Missing fields come from the body; keys in any case.
    OpenPocket,
}

impl Dialect {
    pub(crate) fn is_openpocket(self) -> bool {
        self == Self::OpenPocket
    }
}

/// What the reader needs to know beside the bytes.
#[derive(Debug, Clone, Copy)]
pub struct ReadOptions<'a> {
    /// The name a skill takes when its front matter gives none: its folder's.
    pub default_name: &'a str,
    /// Whose reading applies.
    pub dialect: Dialect,
    /// Whether this is a generated draft, whose title describes it better than its first bullet.
    pub generated: bool,
}

impl<'a> ReadOptions<'a> {
    /// The strict reading, with the folder's name as the default name.
    pub fn openclaw(default_name: &'a str) -> Self {
        Self { default_name, dialect: Dialect::OpenClaw, generated: false }
    }

    /// OpenPocket's reading, with body fallbacks.
    pub fn openpocket(default_name: &'a str) -> Self {
        Self { default_name, dialect: Dialect::OpenPocket, generated: false }
    }
}

/// One skill, as its file describes it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Skill {
    /// The identifier and merge key.
    pub name: String,
    /// What it is for: what models and the router match on.
    pub description: String,
    /// The name for people.
    pub display_name: String,
    /// Where to read more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub homepage: Option<String>,
    /// Who may call it.
    pub invocation: Invocation,
    /// Straight into a tool, where asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dispatch: Option<Dispatch>,
    /// The vendor block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    /// Whether the metadata could be read.
    pub metadata_health: MetadataHealth,
    /// Trigger phrases, keywords and tags, for the router.
    pub triggers: Triggers,
    /// `behavior_fingerprint` of a generated draft.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// Every field, as written.
    pub frontmatter: Mapping,
    /// Fields that were put right while reading.
    pub repairs: Vec<Repair>,
}

/// A field that was put right while reading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Repair {
    /// The field.
    pub key: String,
    /// Its line, from 1.
    pub line: usize,
}

/// What came of reading a file.
#[derive(Debug)]
pub struct Outcome<'a> {
    /// The skill, unless something makes it unusable.
    pub skill: Option<Skill>,
    /// The text after the front matter.
    pub body: Cow<'a, str>,
    /// What was wrong, in order; an error means that `skill` is absent.
    pub reasons: Vec<Reason>,
}

/// The longest description taken from a body.
const MAX_BODY_DESCRIPTION: usize = 180;

/// The lower-case hexadecimal SHA-256 of a file's bytes.
pub fn content_hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// Reads a skill file.
pub fn read<'a>(bytes: &'a [u8], options: &ReadOptions<'_>) -> Outcome<'a> {
    let text = match text::decode(bytes) {
        Ok(text) => text,
        Err(reason) => return failed(Cow::Borrowed(""), vec![reason]),
    };
    let fenced = match fence::split(&text) {
        Ok(fenced) => fenced,
        Err(reason) => return failed(text.clone(), vec![reason]),
    };
    let mut reasons = fenced.reasons;
    let body_at = text.len() - fenced.body.len();
    let front = match fenced.front.map(|front| repair::parse_front_matter(front, fenced.front_line))
    {
        None => repair::FrontMatter::default(),
        Some(Ok(front)) => front,
        Some(Err(reason)) => {
            reasons.push(reason);
            return failed(tail(text.clone(), body_at), reasons);
        }
    };
    for repaired in &front.repaired {
        reasons.push(
            Reason::new(
                Code::FrontmatterRepaired,
                format!("`{}` was read in spite of {}", repaired.key, repaired.symptom),
            )
            .line(repaired.line)
            .remedy(format!("put the value of `{}` in quotes", repaired.key)),
        );
    }
    let has_front = fenced.front.is_some();
    let skill = assemble(front, fenced.body, has_front, options, &mut reasons);
    Outcome { skill, body: tail(text.clone(), body_at), reasons }
}

fn tail(text: Cow<'_, str>, at: usize) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[at..]),
        Cow::Owned(mut text) => Cow::Owned(text.split_off(at)),
    }
}

fn failed(body: Cow<'_, str>, reasons: Vec<Reason>) -> Outcome<'_> {
    Outcome { skill: None, body, reasons }
}

fn assemble(
    front: repair::FrontMatter,
    body: &str,
    has_front: bool,
    options: &ReadOptions<'_>,
    reasons: &mut Vec<Reason>,
) -> Option<Skill> {
    let fields = front.fields;
    let openpocket = options.dialect.is_openpocket();
    let field = |key: &str| if openpocket { fields.get_ignore_case(key) } else { fields.get(key) };

    let heading = sections::first_heading(body);
    let name = read_name(field("name"), heading.filter(|_| openpocket), options, reasons);
    let description =
        read_description(field("description"), body, heading, has_front, options, reasons);

    let outcome = read_metadata(&fields, options.dialect);
    reasons.extend(outcome.reasons);
    let mut health = outcome.health;
    if let Some(detail) = front.unreadable_metadata {
        reasons.push(metadata_invalid(format!("`metadata` cannot be read: {detail}")));
        health = MetadataHealth::Unreadable;
    }
    note_unused(&fields, reasons);
    let invocation = header::invocation(&fields, reasons);
    let (name, description) = (name?, description?);
    let text = |key: &str| {
        field(key)
            .and_then(Value::source_text)
            .map(|t| t.trim().to_owned())
            .filter(|t| !t.is_empty())
    };
    let vendor_homepage = outcome.metadata.as_ref().and_then(|metadata| metadata.homepage.clone());
    Some(Skill {
        display_name: heading.map_or_else(|| names::display_name(&name), str::to_owned),
        homepage: vendor_homepage.or_else(|| text("homepage")),
        invocation,
        dispatch: header::dispatch(&fields),
        triggers: gather_triggers(&fields, outcome.triggers, outcome.metadata.as_ref(), body),
        metadata: outcome.metadata,
        metadata_health: health,
        fingerprint: text("behavior_fingerprint"),
        repairs: front
            .repaired
            .into_iter()
            .map(|repaired| Repair { key: repaired.key, line: repaired.line })
            .collect(),
        frontmatter: fields,
        name,
        description,
    })
}

fn read_name(
    field: Option<&Value>,
    heading: Option<&str>,
    options: &ReadOptions<'_>,
    reasons: &mut Vec<Reason>,
) -> Option<String> {
    let missing = |detail: String| {
        Reason::new(Code::NameMissing, detail).remedy("add `name: <the folder's name>`")
    };
    match field {
        Some(other @ (Value::List(_) | Value::Map(_))) => {
            reasons.push(missing(format!("`name` is {}, not text", other.kind())));
            None
        }
        Some(value) if !matches!(value, Value::Null) => {
            let name = value.source_text().unwrap_or_default().trim().to_owned();
            if name.is_empty() {
                reasons.push(missing("`name` is blank".to_owned()));
                return None;
            }
            Some(name)
        }
        _ => {
            let name = heading.unwrap_or(options.default_name).trim();
            if name.is_empty() {
                reasons.push(missing("there is no `name` and no folder name".to_owned()));
                return None;
            }
            Some(name.to_owned())
        }
    }
}

fn read_description(
    field: Option<&Value>,
    body: &str,
    heading: Option<&str>,
    has_front: bool,
    options: &ReadOptions<'_>,
    reasons: &mut Vec<Reason>,
) -> Option<String> {
    let from_field = match field {
        Some(Value::List(items)) => {
            let joined: Vec<String> = items.iter().filter_map(Value::source_text).collect();
            reasons.push(
                Reason::new(
                    Code::DescriptionJoined,
                    format!("`description` is a list of {}; its items were joined", items.len()),
                )
                .remedy("write the description as one text"),
            );
            joined.join("; ")
        }
        Some(value) => value.source_text().unwrap_or_default(),
        None => String::new(),
    };
    let from_field = from_field.trim();
    if !from_field.is_empty() {
        return Some(from_field.to_owned());
    }
    if options.dialect.is_openpocket() {
        let title = heading.filter(|_| options.generated && !has_front);
        let line = title.or_else(|| sections::first_text_line(body)).unwrap_or("(no description)");
        return Some(line.chars().take(MAX_BODY_DESCRIPTION).collect());
    }
    reasons.push(
        Reason::new(Code::DescriptionMissing, "there is no `description`")
            .remedy("add `description:` with what the skill does and when to use it"),
    );
    None
}

/// Fields that look as if they did something, and the form that does.
const UNUSED: &[(&str, &str)] =
    &[("platforms", "metadata.openclaw.os"), ("requires", "metadata.openclaw.requires")];

fn note_unused(fields: &Mapping, reasons: &mut Vec<Reason>) {
    for (field, instead) in UNUSED {
        if fields.get(field).is_some() {
            reasons.push(
                Reason::new(Code::UnusedField, format!("a top-level `{field}` has no effect"))
                    .remedy(format!("write `{instead}`")),
            );
        }
    }
}

fn gather_triggers(
    fields: &Mapping,
    from_metadata: Vec<String>,
    metadata: Option<&Metadata>,
    body: &str,
) -> Triggers {
    let mut triggers = metadata.map(|metadata| metadata.triggers.clone()).unwrap_or_default();
    for key in ["triggers", "keywords", "tags"] {
        match fields.get(key) {
            Some(Value::Map(map)) => {
                let list = |key| map.get(key).map(loose_list).unwrap_or_default();
                triggers.any.extend(list("any"));
                triggers.all.extend(list("all"));
                triggers.none.extend(list("none"));
            }
            Some(value) => triggers.any.extend(loose_list(value)),
            None => {}
        }
    }
    triggers.any.extend(from_metadata);
    let is_trigger = |title: &str| matches!(title.to_lowercase().as_str(), "trigger" | "triggers");
    if body.contains("rigger") {
        let section = sections::sections(body).into_iter().find(|s| is_trigger(s.title));
        let lines = section.map(|section| section.text.lines()).into_iter().flatten();
        let clean = |line: &str| line.trim().trim_start_matches(['-', '*']).trim().to_owned();
        triggers.any.extend(lines.map(clean).filter(|line| !line.is_empty()));
    }
    triggers
}
