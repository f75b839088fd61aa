//! The vendor block under `metadata`: what a skill needs, and how to install it.

use std::borrow::Cow;

use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;
use sinew_settings::{Reason, ReasonCode};

use crate::SkillDialect;
use crate::value::{YamlMapping, YamlValue};

/// Vendor blocks; the first one present wins.
const VENDORS: &[&str] = &["sinew", "openclaw", "clawdbot", "clawdis", "moltbot"];

/// The vendor block, typed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, BorshDeserialize, BorshSerialize)]
#[serde(rename_all = "camelCase")]
pub struct SkillMetadata {
    /// Which vendor's block was read.
    pub vendor: String,
    /// An emoji for lists.
    pub emoji: Option<String>,
    /// Skips the requirement checks.
    pub always: bool,
    /// The key under `skills.entries`.
    pub skill_key: Option<String>,
    /// The environment variable that receives the configured API key.
    pub primary_env: Option<String>,
    /// Where to read more.
    pub homepage: Option<String>,
    /// Operating systems the skill is for; empty means all.
    pub os: Vec<String>,
    /// What the machine must have.
    pub requires: DeclaredRequirements,
    /// How to install it.
    pub install: Vec<InstallSpec>,
    /// Hints about when to use the skill.
    pub triggers: TriggerHints,
}

/// What the machine must have before the skill works.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, BorshDeserialize, BorshSerialize)]
#[serde(rename_all = "camelCase")]
pub struct DeclaredRequirements {
    /// Programs, all of them required.
    pub bins: Vec<String>,
    /// Programs, at least one of them required.
    pub any_bins: Vec<String>,
    /// Environment variables, all of them required.
    pub env: Vec<String>,
    /// Environment variables, at least one of them required.
    pub any_env: Vec<String>,
    /// Configuration paths, all truthy.
    pub config: Vec<String>,
    /// Other skills, all of them required: names, or references to where each comes from.
    pub skills: Vec<String>,
}

/// Where authors write the skills that theirs needs, outside a vendor's block. The formats that are
/// under discussion differ in the name of the field; each holds a list, or a map with `skills`.
const SKILL_NEEDS: &[&str] = &["requires", "dependencies"];
/// A list that names skills and nothing else.
const SKILL_PREREQUISITES: &[&str] = &["prerequisite-skills", "prerequisite_skills"];

/// The name of a skill that a requirement means: `notes`, `notes@^1`, `@ada/notes`,
/// `owner/repo@notes#main` and `github:owner/repo/skills/notes` all name `notes`.
///
/// ```
/// # use sinew_skill::required_skill_name;
/// assert_eq!(required_skill_name("@ada/notes@^1.2"), "notes");
/// assert_eq!(required_skill_name("owner/repo@notes#main"), "notes");
/// ```
pub fn required_skill_name(text: &str) -> &str {
    let text = text.split('#').next().unwrap_or_default().trim();
    if let Some(owned) = text.strip_prefix('@') {
        let slug = owned.split_once('/').map_or(owned, |(_, slug)| slug);
        return slug.split('@').next().unwrap_or_default();
    }
    let bare = match text.split_once(':') {
        Some((scheme, rest)) if !rest.starts_with("//") && !scheme.contains('/') => rest,
        _ => text,
    };
    match (bare.contains('/'), bare.rsplit_once('@')) {
        (true, Some((_, skill))) if !skill.is_empty() && !skill.contains('/') => skill,
        (true, _) => bare.trim_end_matches('/').rsplit('/').next().unwrap_or(bare),
        (false, _) => bare.split('@').next().unwrap_or_default(),
    }
}

/// Hints about when to use a skill.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, BorshDeserialize, BorshSerialize)]
pub struct TriggerHints {
    /// Any of these suggests the skill.
    pub any: Vec<String>,
    /// All of these together suggest it.
    pub all: Vec<String>,
    /// Any of these rules it out.
    pub none: Vec<String>,
}

impl TriggerHints {
    /// Reads a map with `any`, `all` and `none`; a list or one string counts as `any`.
    pub(crate) fn from_value(value: &YamlValue) -> Self {
        let YamlValue::Map(map) = value else {
            return Self { any: loose_list(value), ..Self::default() };
        };
        let list = |key| map.get_ignore_case(key).map(loose_list).unwrap_or_default();
        Self { any: list("any"), all: list("all"), none: list("none") }
    }

    /// Appends the hints from another place.
    pub(crate) fn append(&mut self, other: Self) {
        self.any.extend(other.any);
        self.all.extend(other.all);
        self.none.extend(other.none);
    }
}

/// One way to install what a skill needs, as data; nothing here is ever run by this crate.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, BorshDeserialize, BorshSerialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct InstallSpec {
    /// Its name within the skill.
    pub id: String,
    /// The manager: `brew`, `node`, `go`, `uv`, `apt`, `download`, in lower case.
    pub kind: String,
    /// The label that users see.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Programs that it provides.
    pub bins: Vec<String>,
    /// Operating systems this way is for.
    pub os: Vec<String>,
    /// The other text fields (`formula`, `package`, `module`, `url` …) under their own names.
    #[serde(flatten)]
    pub fields: std::collections::BTreeMap<String, String>,
}

/// Whether the metadata could be read.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, BorshDeserialize, BorshSerialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum MetadataHealth {
    /// Read completely, or absent.
    #[default]
    Sound,
    /// Something that could contain a requirement was unreadable: the skill is not used.
    Unreadable,
}

/// Everything read from `metadata`.
#[derive(Debug, Default)]
pub(crate) struct ParsedMetadata {
    pub(crate) metadata: Option<SkillMetadata>,
    pub(crate) health: MetadataHealth,
    /// `metadata.triggers`, Netclaw's form.
    pub(crate) triggers: TriggerHints,
    pub(crate) reasons: Vec<Reason>,
}

/// The map that literal dotted keys of one vendor make; a deeper path than three parts says nothing.
fn dotted_block(fields: &YamlMapping) -> Option<(&'static str, YamlMapping)> {
    VENDORS.iter().find_map(|vendor| {
        let mut block = YamlMapping::default();
        for (key, value) in fields.iter() {
            let Some((first, rest)) = key.split_once('.') else { continue };
            if !first.eq_ignore_ascii_case(vendor) {
                continue;
            }
            match rest.split_once('.') {
                None => block.0.push((rest.to_owned(), value.clone())),
                Some((part, leaf)) => {
                    let at = block.0.iter().position(|(name, _)| name.eq_ignore_ascii_case(part));
                    let at = at.unwrap_or_else(|| {
                        block.0.push((part.to_owned(), YamlValue::Map(YamlMapping::default())));
                        block.0.len() - 1
                    });
                    if let YamlValue::Map(map) = &mut block.0[at].1 {
                        map.0.push((leaf.to_owned(), value.clone()));
                    }
                }
            }
        }
        (!block.is_empty()).then_some((*vendor, block))
    })
}

/// Reads the vendor block from the front matter's fields.
pub(crate) fn read_metadata(fields: &YamlMapping, dialect: SkillDialect) -> ParsedMetadata {
    let mut reader = MetadataReader { dialect, outcome: ParsedMetadata::default() };
    reader.read(fields);
    reader.outcome
}

struct MetadataReader {
    dialect: SkillDialect,
    outcome: ParsedMetadata,
}

impl MetadataReader {
    fn read(&mut self, fields: &YamlMapping) {
        self.read_blocks(fields);
        let needed = self.general_needs(fields);
        if needed.is_empty() {
            return;
        }
        let metadata = self.outcome.metadata.get_or_insert_default();
        let skills = &mut metadata.requires.skills;
        skills
            .extend(needed.into_iter().filter(|skill| !skills.contains(skill)).collect::<Vec<_>>());
    }

    /// The skills that are named outside a vendor's block.
    fn general_needs(&mut self, fields: &YamlMapping) -> Vec<String> {
        let metadata = self.field(fields, "metadata").and_then(YamlValue::as_map);
        let mut needed = Vec::new();
        for map in [Some(fields), metadata].into_iter().flatten() {
            for name in SKILL_NEEDS {
                if let Some(YamlValue::Map(inner)) = self.field(map, name) {
                    needed.extend(self.needed_skills(inner));
                }
            }
            for name in SKILL_PREREQUISITES {
                if let Some(value) = self.field(map, name) {
                    needed.extend(self.skill_list(name, value));
                }
            }
        }
        let mut seen = std::collections::BTreeSet::new();
        needed.retain(|skill| seen.insert(skill.clone()));
        needed
    }

    fn needed_skills(&mut self, map: &YamlMapping) -> Vec<String> {
        match self.field(map, "skills") {
            Some(value) => self.skill_list("skills", value),
            None => Vec::new(),
        }
    }

    /// Names, references, or maps with a `name` or `slug` and a `source`; one with
    /// `optional: true` is not needed.
    fn skill_list(&mut self, key: &str, value: &YamlValue) -> Vec<String> {
        let items = match value {
            YamlValue::Null => return Vec::new(),
            YamlValue::String(text) => return self.split(text),
            YamlValue::List(items) => items,
            other => {
                self.bad_field(key, other, "write a list of skills");
                self.unreadable(format!("`{key}` is not a list of skills"));
                return Vec::new();
            }
        };
        let mut skills = Vec::new();
        for item in items {
            let text = |map: &YamlMapping, name: &str| {
                map.get(name).and_then(YamlValue::as_str).map(|text| text.trim().to_owned())
            };
            let skill = match item {
                YamlValue::String(name) => Some(name.trim().to_owned()),
                YamlValue::Map(map) if map.get("optional") == Some(&YamlValue::Bool(true)) => {
                    continue;
                }
                YamlValue::Map(map) => ["source", "ref", "name", "slug", "skill"]
                    .iter()
                    .find_map(|field| text(map, field)),
                _ => None,
            };
            match skill.filter(|skill| !skill.is_empty()) {
                Some(skill) => skills.push(skill),
                None => {
                    self.bad_field(key, item, "name each skill, or write a map with `name`");
                    self.unreadable(format!("`{key}` is not a list of skills"));
                }
            }
        }
        skills
    }

    fn read_blocks(&mut self, fields: &YamlMapping) {
        let value = match self.field(fields, "metadata") {
            // JSON as text is one of the four accepted forms.
            Some(YamlValue::String(text)) if text.trim_start().starts_with('{') => {
                let parsed = crate::repair::parse_json(text);
                if parsed.is_none() {
                    self.unreadable("`metadata` is text, but neither JSON nor JSON5");
                }
                parsed.map(Cow::Owned)
            }
            other => other.map(Cow::Borrowed),
        };
        let map = match value.as_deref() {
            Some(YamlValue::Map(map)) => Some(map),
            None | Some(YamlValue::Null) => None,
            Some(YamlValue::String(text)) if text.trim().is_empty() => None,
            Some(other) => {
                self.unreadable(format!("`metadata` is {}, not a map", other.kind()));
                None
            }
        };
        if let Some(map) = map {
            let triggers = self.field(map, "triggers");
            self.outcome.triggers = triggers.map(TriggerHints::from_value).unwrap_or_default();
            if let Some((vendor, block)) = self.vendor_block(map) {
                self.block(vendor, block);
                return;
            }
        }
        // OpenPocket also reads a block beside `metadata`.
        if self.dialect.is_openpocket()
            && let Some((vendor, block)) = self.vendor_block(fields)
        {
            self.block(vendor, block);
            return;
        }
        // Its own line-based reader takes whole paths for keys: `openclaw.requires.bins: git`.
        if self.dialect.is_openpocket()
            && let Some((vendor, block)) = dotted_block(fields)
        {
            self.block(vendor, &block);
        }
    }

    /// The first vendor's map; a block that is not a map may have contained requirements.
    fn vendor_block<'a>(
        &mut self,
        map: &'a YamlMapping,
    ) -> Option<(&'static str, &'a YamlMapping)> {
        let vendors = VENDORS.iter().filter_map(|name| Some((*name, self.field(map, name)?)));
        let found: Vec<(&str, &YamlValue)> = vendors.collect();
        let block = found.iter().find_map(|(name, value)| Some((*name, value.as_map()?)));
        let odd =
            found.iter().find(|(_, value)| !matches!(value, YamlValue::Null | YamlValue::Map(_)));
        if block.is_none()
            && let Some((name, value)) = odd
        {
            self.bad_field(name, value, "write a map");
            self.unreadable(format!("`{name}` is not a map"));
        }
        block
    }

    fn field<'a>(&self, map: &'a YamlMapping, key: &str) -> Option<&'a YamlValue> {
        self.dialect.get(map, key)
    }

    fn block(&mut self, vendor: &str, block: &YamlMapping) {
        let mut metadata = SkillMetadata { vendor: vendor.to_owned(), ..SkillMetadata::default() };
        metadata.emoji = self.text(block, "emoji");
        metadata.skill_key = self.text(block, "skillKey");
        metadata.primary_env = self.text(block, "primaryEnv");
        metadata.homepage = self.text(block, "homepage");
        metadata.always = match self.field(block, "always") {
            None | Some(YamlValue::Null) => false,
            Some(YamlValue::Bool(value)) => *value,
            Some(other) => {
                self.bad_field("always", other, "write `always: true` without quotes");
                false
            }
        };
        metadata.os = self.gating_list(block, "os");
        match self.field(block, "requires") {
            None | Some(YamlValue::Null) => {}
            Some(YamlValue::Map(requires)) => {
                metadata.requires = DeclaredRequirements {
                    bins: self.gating_list(requires, "bins"),
                    any_bins: self.gating_list(requires, "anyBins"),
                    env: self.gating_list(requires, "env"),
                    any_env: self.gating_list(requires, "anyEnv"),
                    config: self.gating_list(requires, "config"),
                    skills: self.needed_skills(requires),
                };
            }
            Some(other) => {
                self.bad_field("requires", other, "write a map with bins, env or config");
                self.unreadable("`requires` is not a map");
            }
        }
        metadata.install = self.install(block);
        let triggers = self.field(block, "triggers");
        metadata.triggers = triggers.map(TriggerHints::from_value).unwrap_or_default();
        self.outcome.metadata = Some(metadata);
    }

    fn text(&mut self, block: &YamlMapping, key: &str) -> Option<String> {
        match self.field(block, key)? {
            YamlValue::Null => None,
            YamlValue::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
            other => {
                self.bad_field(key, other, "write text");
                None
            }
        }
    }

    /// A list that decides whether the skill may run: if it cannot be read, the skill is not used.
    fn gating_list(&mut self, block: &YamlMapping, key: &str) -> Vec<String> {
        let Some(value) = self.field(block, key) else { return Vec::new() };
        match value {
            YamlValue::Null => Vec::new(),
            YamlValue::String(text) => self.split(text),
            YamlValue::List(items) if items.iter().all(|item| item.as_str().is_some()) => items
                .iter()
                .filter_map(YamlValue::as_str)
                .map(|item| item.trim().to_owned())
                .filter(|item| !item.is_empty())
                .collect(),
            other => {
                self.bad_field(key, other, "write a list of names");
                self.unreadable(format!("`{key}` is not a list of names"));
                Vec::new()
            }
        }
    }

    fn split(&self, text: &str) -> Vec<String> {
        let blanks = self.dialect.is_openpocket();
        text.split(|c: char| c == ',' || (blanks && c.is_whitespace()))
            .map(|part| part.trim().to_owned())
            .filter(|part| !part.is_empty())
            .collect()
    }

    fn install(&mut self, block: &YamlMapping) -> Vec<InstallSpec> {
        let specs: Vec<&YamlValue> = match self.field(block, "install") {
            None | Some(YamlValue::Null) => return Vec::new(),
            Some(YamlValue::List(items)) => items.iter().collect(),
            Some(single @ YamlValue::Map(_)) => vec![single],
            Some(other) => {
                self.bad_field("install", other, "write a list of maps");
                return Vec::new();
            }
        };
        let mut read = Vec::new();
        for (index, spec) in specs.into_iter().enumerate() {
            match spec {
                YamlValue::Map(map) => read.extend(self.install_spec(map, index)),
                other => self.bad_field("install", other, "write a list of maps"),
            }
        }
        read
    }

    fn install_spec(&mut self, map: &YamlMapping, index: usize) -> Option<InstallSpec> {
        let kind = map.get("kind").or_else(|| map.get("type")).and_then(YamlValue::as_str);
        let Some(kind) = kind.map(|kind| kind.trim().to_ascii_lowercase()) else {
            self.outcome.reasons.push(
                Reason::new(
                    ReasonCode::BadMetadataField,
                    format!("install[{index}] has no `kind`"),
                )
                .remedy("name one of brew, node, go, uv, apt, download"),
            );
            return None;
        };
        let list = |key| map.get(key).map(loose_list).unwrap_or_default();
        let known = ["kind", "type", "id", "label", "bins", "os"];
        Some(InstallSpec {
            id: map
                .get("id")
                .and_then(YamlValue::source_text)
                .map(|id| id.trim().to_owned())
                .filter(|id| !id.is_empty())
                .unwrap_or_else(|| format!("{kind}-{index}")),
            label: map.get("label").and_then(YamlValue::as_str).map(str::to_owned),
            bins: list("bins"),
            os: list("os"),
            fields: map
                .iter()
                .filter(|(key, _)| !known.contains(key))
                .filter_map(|(key, value)| Some((key.to_owned(), value.source_text()?)))
                .collect(),
            kind,
        })
    }

    fn bad_field(&mut self, key: &str, value: &YamlValue, remedy: &str) {
        self.outcome.reasons.push(
            Reason::new(ReasonCode::BadMetadataField, format!("`{key}` is {}", value.kind()))
                .remedy(remedy),
        );
    }

    fn unreadable(&mut self, detail: impl Into<String>) {
        self.outcome.health = MetadataHealth::Unreadable;
        self.outcome.reasons.push(metadata_invalid(detail));
    }
}

/// The reason for unreadable metadata, which keeps the skill from being used.
pub(crate) fn metadata_invalid(detail: impl Into<String>) -> Reason {
    Reason::new(ReasonCode::MetadataInvalid, detail.into()).remedy(
        "correct the metadata, or set skills.load.tolerateBadMetadata to use the skill without it",
    )
}

/// A purely informative list: a list of scalars, or one comma-separated string.
pub(crate) fn loose_list(value: &YamlValue) -> Vec<String> {
    let trim = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    match value {
        YamlValue::String(text) => text.split(',').filter_map(trim).collect(),
        YamlValue::List(items) => {
            items.iter().filter_map(YamlValue::source_text).filter_map(|text| trim(&text)).collect()
        }
        _ => Vec::new(),
    }
}
