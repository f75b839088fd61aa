//! One skill of the catalog, with everything that was decided about it.

use std::path::PathBuf;
use std::sync::Arc;

use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;
use sinew_settings::config::{EntryOwner, EntrySettings};
use sinew_settings::{Config, Reason};
use sinew_skill::{InstallSpec, RepairRecord, Skill};

use crate::entry_owner;
use crate::hosts::PluginOrigin;
use crate::profile::Tier;
use crate::scan::ScanSummary;

/// The overall state that users see.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    BorshDeserialize,
    BorshSerialize,
)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum EntryState {
    /// Usable now.
    Ready,
    /// Something on this machine or in the configuration is missing.
    NeedsSetup,
    /// Switched off.
    Disabled,
    /// Held back by an allow-list, the guard, a review, or unreadable requirements.
    Blocked,
    /// Usable, but not for this agent or in this session.
    Excluded,
    /// Another skill of the same name is used.
    Shadowed,
    /// Could not be loaded.
    Broken,
}

impl EntryState {
    /// The name that records and messages use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::NeedsSetup => "needs-setup",
            Self::Disabled => "disabled",
            Self::Blocked => "blocked",
            Self::Excluded => "excluded",
            Self::Shadowed => "shadowed",
            Self::Broken => "broken",
        }
    }
}

/// What a skill requires, or which of those requirements are missing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, BorshDeserialize, BorshSerialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SkillRequirements {
    /// Programs, all of them required.
    pub bins: Vec<String>,
    /// Programs, at least one of them required.
    pub any_bins: Vec<String>,
    /// Environment variables, all of them required.
    pub env: Vec<String>,
    /// Environment variables, at least one of them required.
    pub any_env: Vec<String>,
    /// Configuration paths.
    pub config: Vec<String>,
    /// Operating systems.
    pub os: Vec<String>,
    /// Other skills.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<String>,
}

impl SkillRequirements {
    /// Whether there are no requirements.
    pub fn is_empty(&self) -> bool {
        let lists = [&self.bins, &self.any_bins, &self.env, &self.any_env, &self.config, &self.os];
        lists.iter().all(|list| list.is_empty()) && self.skills.is_empty()
    }
}

/// Where requirements were found, if not on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, BorshDeserialize, BorshSerialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum RequirementOrigin {
    /// A machine that the host is connected to.
    Remote,
}

/// Whether a configuration path is set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, BorshDeserialize, BorshSerialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ConfigPathCheck {
    /// The dotted path.
    pub path: String,
    /// Whether it is set.
    pub satisfied: bool,
}

/// A skill that was found, and what was decided about it.
#[derive(Debug, Clone, Serialize, BorshDeserialize, BorshSerialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct CatalogEntry {
    /// The identifier and merge key; a broken skill has its folder's name.
    pub name: String,
    /// The display name.
    pub display_name: String,
    /// What it is for.
    pub description: String,
    /// The overall state.
    pub state: EntryState,
    /// Whether it passes the gate.
    pub eligible: bool,
    /// The source it came from.
    pub source: String,
    /// That source's rank.
    pub tier: Tier,
    /// Whether it came with the program.
    pub bundled: bool,
    /// The plugin that brought it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<PluginOrigin>))]
    #[borsh(serialize_with = "write_plugin", deserialize_with = "read_plugin")]
    pub plugin: Option<Arc<PluginOrigin>>,
    /// The skill's file.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    #[borsh(serialize_with = "write_path", deserialize_with = "read_path")]
    pub file_path: PathBuf,
    /// The skill's folder.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    #[borsh(serialize_with = "write_path", deserialize_with = "read_path")]
    pub base_dir: PathBuf,
    /// The folder's name, or the file's without `.md`: OpenPocket's id.
    pub id: String,
    /// The key under `skills.entries`.
    pub skill_key: String,
    /// The variable that receives the configured API key.
    pub primary_env: Option<String>,
    /// An emoji for lists.
    pub emoji: Option<String>,
    /// Where to read more.
    pub homepage: Option<String>,
    /// Skips the requirement checks.
    pub always: bool,
    /// Switched off by the configuration.
    pub disabled: bool,
    /// Left out by `skills.allowBundled`.
    pub blocked_by_allowlist: bool,
    /// Left out by the agent's own list.
    pub blocked_by_agent_filter: bool,
    /// For another operating system.
    pub platform_incompatible: bool,
    /// Whether the model sees it.
    pub model_visible: bool,
    /// Whether users may call it.
    pub user_invocable: bool,
    /// Whether it has a slash command now.
    pub command_visible: bool,
    /// That command.
    pub command_name: Option<String>,
    /// What it requires.
    pub requirements: SkillRequirements,
    /// Which of those requirements are missing.
    pub missing: SkillRequirements,
    /// Each configuration path it requires.
    pub config_checks: Vec<ConfigPathCheck>,
    /// How to install what is missing.
    pub install: Vec<InstallSpec>,
    /// Whether a person or a reviewing registry vouches for it; a skill straight from the network
    /// is treated with care until someone does.
    pub reviewed: bool,
    /// Where its requirements were found, if not on this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub via: Option<RequirementOrigin>,
    /// The connected machine that has them, where it has a name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub via_machine: Option<String>,
    /// Written by a program from a run.
    pub generated: bool,
    /// SHA-256 of the file.
    pub content_hash: String,
    /// Fields that were repaired while reading.
    pub repairs: Vec<RepairRecord>,
    /// Everything worth knowing; among the gate's reasons, the primary one comes first.
    pub reasons: Vec<Reason>,
    /// The guard's verdict on its files, if they were scanned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scan: Option<ScanSummary>,
    /// Whether `skills.entries` has an entry under its name that was made for another skill.
    #[serde(skip)]
    pub(crate) settings_withheld: bool,
    /// Whether its key is the slug that a lock records.
    #[serde(skip)]
    pub(crate) key_is_locked: bool,
    /// Why the guard holds it back, until the gate has recorded it.
    #[serde(skip)]
    pub(crate) blocked: Option<Reason>,
    /// Why the host's own settings hide it from the model.
    #[serde(skip)]
    pub(crate) hidden_by_host: Option<Reason>,
    /// The skill itself, unless it is broken.
    #[serde(skip)]
    #[borsh(serialize_with = "write_skill", deserialize_with = "read_skill")]
    pub skill: Option<Arc<Skill>>,
}

impl CatalogEntry {
    /// What the configuration gives to this skill.
    pub fn settings<'c>(&self, config: &'c Config) -> Option<&'c EntrySettings> {
        config.entries.get(&self.skill_key).filter(|_| !self.settings_withheld)
    }

    /// What the configuration keeps for this skill under `config`; `None` where that is empty.
    pub fn configuration<'c>(&self, config: &'c Config) -> Option<&'c serde_json::Value> {
        let value = &self.settings(config)?.config;
        let empty = value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty);
        (!empty).then_some(value)
    }

    /// The value of `for` that makes an entry this skill's own.
    pub fn entry_owner(&self) -> EntryOwner {
        entry_owner::of(self)
    }

    /// Records a reason with the skill's name and source.
    pub(crate) fn note(&mut self, reason: Reason) {
        let reason = reason.skill(&*self.name).source(&*self.source);
        self.reasons.push(reason);
    }

    /// Whether an agent can use it now.
    pub fn is_eligible(&self) -> bool {
        self.eligible
    }

    /// Whether it came with the program and lacks something here, or is not allowed: lists count such
    /// skills instead of showing them, so that they do not hide the user's own. One that the user switched
    /// off, or that is broken, is shown.
    pub fn is_idle_carried(&self) -> bool {
        self.bundled && (self.state == EntryState::NeedsSetup || self.blocked_by_allowlist)
    }

    /// Whether each of these words stands in its name, key, description or source, in any case.
    pub fn mentions(&self, words: &[String]) -> bool {
        let texts = [&self.name, &self.skill_key, &self.description, &self.source];
        let text = texts.map(|text| text.to_lowercase()).join("\n");
        words.iter().all(|word| text.contains(&word.to_lowercase()))
    }

    /// The reason that decides its state, if there is one.
    pub fn primary_reason(&self) -> Option<&Reason> {
        let stage = match self.state {
            EntryState::Ready => return None,
            EntryState::Broken => {
                return self.reasons.iter().max_by_key(|reason| reason.severity);
            }
            EntryState::Shadowed => sinew_settings::ReasonStage::Merge,
            EntryState::Excluded => sinew_settings::ReasonStage::Visibility,
            EntryState::NeedsSetup | EntryState::Disabled | EntryState::Blocked => {
                sinew_settings::ReasonStage::Gate
            }
        };
        self.reasons.iter().find(|reason| reason.stage == stage).or_else(|| {
            self.reasons
                .iter()
                .find(|reason| reason.code == sinew_settings::ReasonCode::MetadataInvalid)
        })
    }
}

/// A path as text; one that is no text cannot be kept.
fn write_path<W: borsh::io::Write>(
    path: &std::path::Path,
    writer: &mut W,
) -> borsh::io::Result<()> {
    let text = path.to_str().ok_or_else(|| borsh::io::Error::other("a path that is no text"))?;
    BorshSerialize::serialize(text, writer)
}

fn read_path<R: borsh::io::Read>(reader: &mut R) -> borsh::io::Result<PathBuf> {
    String::deserialize_reader(reader).map(PathBuf::from)
}

fn write_plugin<W: borsh::io::Write>(
    plugin: &Option<Arc<PluginOrigin>>,
    writer: &mut W,
) -> borsh::io::Result<()> {
    BorshSerialize::serialize(&plugin.as_deref(), writer)
}

fn read_plugin<R: borsh::io::Read>(reader: &mut R) -> borsh::io::Result<Option<Arc<PluginOrigin>>> {
    Option::<PluginOrigin>::deserialize_reader(reader).map(|plugin| plugin.map(Arc::new))
}

fn write_skill<W: borsh::io::Write>(
    skill: &Option<Arc<Skill>>,
    writer: &mut W,
) -> borsh::io::Result<()> {
    BorshSerialize::serialize(&skill.as_deref(), writer)
}

fn read_skill<R: borsh::io::Read>(reader: &mut R) -> borsh::io::Result<Option<Arc<Skill>>> {
    Ok(Option::<Skill>::deserialize_reader(reader)?.map(Arc::new))
}
