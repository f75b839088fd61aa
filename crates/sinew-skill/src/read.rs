//! Reading a skill file: the value and everything worth knowing about it.

use std::borrow::Cow;

use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;
use sha2::{Digest, Sha256};
use sinew_settings::{Reason, ReasonCode, ReasonSeverity};

use crate::metadata::{MetadataHealth, metadata_invalid, read_metadata};
use crate::value::{YamlMapping, YamlValue};
use crate::{
    InvocationPolicy, SkillMetadata, ToolDispatch, TriggerHints, fence, header, names, repair,
    sections, text,
};

/// Which dialect of the format applies.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, BorshDeserialize, BorshSerialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum SkillDialect {
    /// Front matter is required.
    #[default]
    OpenClaw,
    /// Missing fields come from the body; keys in any case.
    OpenPocket,
}

impl SkillDialect {
    pub(crate) fn is_openpocket(self) -> bool {
        self == Self::OpenPocket
    }

    /// A field under its exact name, or in any case if the dialect ignores case.
    pub(crate) fn get<'a>(self, map: &'a YamlMapping, key: &str) -> Option<&'a YamlValue> {
        if self.is_openpocket() { map.get_ignore_case(key) } else { map.get(key) }
    }
}

/// What the reader needs to know besides the bytes.
#[derive(Debug, Clone, Copy)]
pub struct ReadOptions<'a> {
    /// The name of a skill whose front matter gives none: that of its folder.
    pub default_name: &'a str,
    /// The dialect.
    pub dialect: SkillDialect,
    /// Whether this is a generated draft, whose title describes it better than its first bullet.
    pub generated: bool,
}

impl<'a> ReadOptions<'a> {
    /// The strict reading, with the folder's name as the default name.
    pub fn openclaw(default_name: &'a str) -> Self {
        Self { default_name, dialect: SkillDialect::OpenClaw, generated: false }
    }

    /// OpenPocket's reading, with body fallbacks.
    pub fn openpocket(default_name: &'a str) -> Self {
        Self { default_name, dialect: SkillDialect::OpenPocket, generated: false }
    }
}

/// One skill, as its file describes it.
#[derive(Debug, Clone, Serialize, BorshDeserialize, BorshSerialize)]
#[serde(rename_all = "camelCase")]
pub struct Skill {
    /// The identifier and merge key.
    pub name: String,
    /// What it is for: what models and the router match on.
    pub description: String,
    /// The display name.
    pub display_name: String,
    /// Where to read more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub homepage: Option<String>,
    /// Who may call it.
    pub invocation: InvocationPolicy,
    /// The tool that its command goes to directly, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dispatch: Option<ToolDispatch>,
    /// The vendor block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<SkillMetadata>,
    /// Whether the metadata could be read.
    pub metadata_health: MetadataHealth,
    /// Trigger phrases, keywords and tags, for the router.
    pub triggers: TriggerHints,
    /// `behavior_fingerprint` of a generated draft.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// Every field, as written.
    pub frontmatter: YamlMapping,
    /// Fields that were repaired while reading.
    pub repairs: Vec<RepairRecord>,
}

/// A field that was repaired while reading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, BorshDeserialize, BorshSerialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RepairRecord {
    /// The field.
    pub key: String,
    /// Its line, from 1.
    pub line: usize,
}

/// The result of reading a file.
#[derive(Debug)]
pub struct ParsedSkillFile<'a> {
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
    content_hash_of([bytes])
}

/// The same for bytes in several parts.
pub fn content_hash_of<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble)]);
    let hasher = parts.into_iter().fold(Sha256::new(), Sha256::chain_update);
    let mut text = String::with_capacity(64);
    for byte in hasher.finalize() {
        text.push(digit(byte >> 4));
        text.push(digit(byte & 15));
    }
    text
}

/// Reads a skill file.
pub fn read<'a>(bytes: &'a [u8], options: &ReadOptions<'_>) -> ParsedSkillFile<'a> {
    let text = match text::decode(bytes) {
        Ok(text) => text,
        Err(reason) => return ParsedSkillFile::failed(Cow::Borrowed(""), vec![reason]),
    };
    let fenced = match fence::split_front_matter(&text) {
        Ok(fenced) => fenced,
        Err(reason) => return ParsedSkillFile::failed(text, vec![reason]),
    };
    let body_at = text.len() - fenced.body.len();
    let mut reasons = fenced.reasons;
    let front = fenced.front.map(|front| repair::parse_front_matter(front, fenced.front_line));
    let front = match front.transpose() {
        Ok(front) => front,
        Err(reason) => {
            reasons.push(reason);
            return ParsedSkillFile::failed(tail(text, body_at), reasons);
        }
    };
    for repaired in front.iter().flat_map(|front| &front.repaired) {
        reasons.push(
            Reason::new(
                ReasonCode::FrontmatterRepaired,
                format!("`{}` was read despite {}", repaired.key, repaired.symptom),
            )
            .line(repaired.line)
            .remedy(format!("put the value of `{}` in quotes", repaired.key)),
        );
    }
    let skill = assemble(front, fenced.body, options, &mut reasons);
    ParsedSkillFile { skill, body: tail(text, body_at), reasons }
}

impl<'a> ParsedSkillFile<'a> {
    fn failed(body: Cow<'a, str>, reasons: Vec<Reason>) -> Self {
        Self { skill: None, body, reasons }
    }
}

fn tail(text: Cow<'_, str>, at: usize) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[at..]),
        Cow::Owned(mut text) => Cow::Owned(text.split_off(at)),
    }
}

fn assemble(
    front: Option<repair::FrontMatter>,
    body: &str,
    options: &ReadOptions<'_>,
    reasons: &mut Vec<Reason>,
) -> Option<Skill> {
    let has_front = front.is_some();
    let front = front.unwrap_or_default();
    let dialect = options.dialect;
    let text = |key: &str| {
        let text = dialect.get(&front.fields, key)?.source_text()?;
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    };

    let heading = sections::first_heading(body);
    let name = read_name(&front, heading, options, reasons);
    let description = read_description(&front, body, heading, has_front, options, reasons);

    let mut outcome = read_metadata(&front.fields, dialect);
    if let Some(detail) = &front.unreadable_metadata {
        outcome.reasons.push(metadata_invalid(format!("`metadata` cannot be read: {detail}")));
        outcome.health = MetadataHealth::Unreadable;
    }
    let line = front.line_of("metadata");
    reasons.extend(outcome.reasons.into_iter().map(|reason| reason.at_line(line)));
    note_unused(&front, dialect, reasons);
    let invocation = header::invocation(&front, dialect, reasons);
    let dispatch = header::dispatch(&front, dialect, reasons);

    let (name, description) = (name?, description?);
    let vendor_homepage = outcome.metadata.as_ref().and_then(|metadata| metadata.homepage.clone());
    let triggers =
        gather_triggers(&front.fields, dialect, outcome.metadata.as_ref(), outcome.triggers, body);
    let repair = |repaired: &repair::FieldRepair| RepairRecord {
        key: repaired.key.clone(),
        line: repaired.line,
    };
    Some(Skill {
        display_name: heading.map_or_else(|| names::display_name(&name), str::to_owned),
        homepage: vendor_homepage.or_else(|| text("homepage")),
        invocation,
        dispatch,
        triggers,
        metadata: outcome.metadata,
        metadata_health: outcome.health,
        fingerprint: text("behavior_fingerprint"),
        repairs: front.repaired.iter().map(repair).collect(),
        frontmatter: front.fields,
        name,
        description,
    })
}

fn read_name(
    front: &repair::FrontMatter,
    heading: Option<&str>,
    options: &ReadOptions<'_>,
    reasons: &mut Vec<Reason>,
) -> Option<String> {
    let openpocket = options.dialect.is_openpocket();
    let fallback = heading.filter(|_| openpocket).unwrap_or(options.default_name).trim();
    let detail = match options.dialect.get(&front.fields, "name") {
        None | Some(YamlValue::Null) if fallback.is_empty() => {
            "there is no `name` and no folder name".to_owned()
        }
        None | Some(YamlValue::Null) => return Some(fallback.to_owned()),
        Some(value) => match written(front, "name", value) {
            Some(name) if !name.trim().is_empty() => return Some(name.trim().to_owned()),
            Some(_) => "`name` is blank".to_owned(),
            None => format!("`name` is {}, not text", value.kind()),
        },
    };
    let reason = Reason::new(ReasonCode::NameMissing, detail)
        .at_line(front.line_of("name"))
        .remedy("write `name: <the folder's name>`");
    // OpenPocket's permissive modes find a name elsewhere; the author should still know.
    if openpocket && !fallback.is_empty() {
        reasons.push(reason.severity(ReasonSeverity::Warn));
        return Some(fallback.to_owned());
    }
    reasons.push(reason);
    None
}

/// The scalar as its author wrote it, even if YAML reads it as another type.
fn written(front: &repair::FrontMatter, key: &str, value: &YamlValue) -> Option<String> {
    front.text_as_written(key).map(str::to_owned).or_else(|| value.source_text())
}

fn read_description(
    front: &repair::FrontMatter,
    body: &str,
    heading: Option<&str>,
    has_front: bool,
    options: &ReadOptions<'_>,
    reasons: &mut Vec<Reason>,
) -> Option<String> {
    let line = front.line_of("description");
    let field = options.dialect.get(&front.fields, "description");
    let from_field = match field {
        Some(YamlValue::List(items)) => {
            let joined: Vec<String> = items.iter().filter_map(YamlValue::source_text).collect();
            reasons.push(
                Reason::new(
                    ReasonCode::DescriptionJoined,
                    format!("`description` is a list of {}; its items were joined", items.len()),
                )
                .at_line(line)
                .remedy("write the description as one text"),
            );
            joined.join("; ")
        }
        None | Some(YamlValue::Null) => String::new(),
        Some(value) => written(front, "description", value).unwrap_or_default(),
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
    let detail = match field {
        Some(value @ YamlValue::Map(_)) => format!("`description` is {}, not text", value.kind()),
        Some(_) => "`description` is blank".to_owned(),
        None => "there is no `description`".to_owned(),
    };
    reasons.push(
        Reason::new(ReasonCode::DescriptionMissing, detail)
            .at_line(line)
            .remedy("add `description:` with what the skill does and when to use it"),
    );
    None
}

/// Fields that look as if they had an effect, and the form that does.
const UNUSED: &[(&str, &str)] =
    &[("platforms", "metadata.openclaw.os"), ("requires", "metadata.openclaw.requires")];

fn note_unused(front: &repair::FrontMatter, dialect: SkillDialect, reasons: &mut Vec<Reason>) {
    for (field, instead) in UNUSED {
        let value = dialect.get(&front.fields, field);
        // The skills that another one needs are read from here as well.
        let skills_only = value
            .and_then(YamlValue::as_map)
            .is_some_and(|map| *field == "requires" && map.iter().all(|(key, _)| key == "skills"));
        if value.is_some() && !skills_only {
            reasons.push(
                Reason::new(
                    ReasonCode::UnusedField,
                    format!("a top-level `{field}` has no effect"),
                )
                .at_line(front.line_of(field))
                .remedy(format!("write `{instead}`")),
            );
        }
    }
}

/// The author's hints for the router: fields, the vendor block, and a *Trigger* section.
fn gather_triggers(
    fields: &YamlMapping,
    dialect: SkillDialect,
    metadata: Option<&SkillMetadata>,
    from_metadata: TriggerHints,
    body: &str,
) -> TriggerHints {
    let mut triggers = metadata.map(|metadata| metadata.triggers.clone()).unwrap_or_default();
    for key in ["triggers", "keywords", "tags"] {
        if let Some(value) = dialect.get(fields, key) {
            triggers.append(TriggerHints::from_value(value));
        }
    }
    triggers.append(from_metadata);
    let is_trigger = |title: &str| matches!(title.to_lowercase().as_str(), "trigger" | "triggers");
    // Splitting a body into sections costs more than everything else here, and most bodies do not
    // contain this word.
    if body.contains("rigger") {
        let section = sections::sections(body).into_iter().find(|s| is_trigger(s.title));
        let lines = section.map(|section| section.text.lines()).into_iter().flatten();
        let clean = |line: &str| line.trim().trim_start_matches(['-', '*']).trim().to_owned();
        triggers.any.extend(lines.map(clean).filter(|line| !line.is_empty()));
    }
    triggers
}
