//! The environment policy: which variables a skill may set for a child process, and which no child
//! gets.
//!
//! A pure function of names, values and declarations; the lists are data (`data/env-policy.json`).
//! **Must never happen here:** the process environment read or changed, a value in a record, a name
//! dropped without a record.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex_lite::Regex;
use serde::{Deserialize, Serialize};
use sinew_settings::ReasonCode;

const POLICY: &str = include_str!("../data/env-policy.json");

/// Why a variable is not passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum EnvRefusal {
    /// Controls loaders, interpreters or compilers; removed for every child.
    BlockedEverywhere,
    /// Never for a skill, regardless of what it declares.
    SkillAlwaysBlocked,
    /// Blocked by sinew beyond OpenClaw's list.
    ExtraBlocked,
    /// May be inherited but not set by a skill.
    BlockedOverride,
    /// Needs a declaration that is missing.
    Undeclared,
    /// Only declared and configured names are passed to an unreviewed skill.
    Unreviewed,
    /// Not a valid name.
    BadName,
    /// A NUL in the value.
    NulValue,
}

impl EnvRefusal {
    /// The code of the record.
    pub fn code(self) -> ReasonCode {
        match self {
            Self::BlockedEverywhere
            | Self::SkillAlwaysBlocked
            | Self::ExtraBlocked
            | Self::BlockedOverride => ReasonCode::EnvBlocked,
            Self::Undeclared | Self::Unreviewed => ReasonCode::EnvUndeclared,
            Self::BadName => ReasonCode::EnvBadName,
            Self::NulValue => ReasonCode::EnvNul,
        }
    }

    /// The explanation shown to people.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::BlockedEverywhere => "it controls loaders, interpreters or compilers",
            Self::SkillAlwaysBlocked => "no skill may set it, whatever it declares",
            Self::ExtraBlocked => "it decides which programs are found, or belongs to sinew",
            Self::BlockedOverride => "it may be inherited, but not set by a skill",
            Self::Undeclared => "it names a credential that the skill does not declare",
            Self::Unreviewed => "the skill is unreviewed, and it does not declare the name",
            Self::BadName => "it is not a valid variable name",
            Self::NulValue => "its value contains a NUL byte",
        }
    }
}

/// What a skill declares, and how far it is trusted.
#[derive(Debug, Clone, Default)]
pub struct SkillEnv<'a> {
    /// The skill, for the record.
    pub skill: &'a str,
    /// `primaryEnv` and `requires.env`.
    pub declared: &'a [String],
    /// Whether a person has approved this digest, or the source is reviewed.
    pub reviewed: bool,
    /// Whether declared credentials such as `GH_TOKEN` may be set (`skills.env.allowDeclaredCredentials`).
    pub allow_declared_credentials: bool,
    /// Names that hold the host's own credentials, in addition to those that look like credentials.
    pub host_credentials: &'a [String],
}

impl SkillEnv<'_> {
    fn declares(&self, name: &str) -> bool {
        self.declared.iter().any(|own| own.eq_ignore_ascii_case(name))
    }

    fn is_host_credential(&self, name: &str) -> bool {
        self.host_credentials.iter().any(|own| own.eq_ignore_ascii_case(name))
    }
}

/// A variable that was refused or is suspicious. It never contains the value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EnvRecord {
    /// `env-blocked`, `env-undeclared`, `env-bad-name`, `env-nul` or `env-suspicious`.
    pub code: ReasonCode,
    /// The skill.
    pub skill: String,
    /// The variable.
    pub key: String,
    /// Why it was refused, if it was.
    pub class: Option<EnvRefusal>,
}

#[derive(Default, Deserialize)]
struct NameListRecord {
    #[serde(default)]
    keys: Vec<String>,
    #[serde(default)]
    prefixes: Vec<String>,
    #[serde(default)]
    regexes: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EnvPolicyRecord {
    blocked_everywhere: NameListRecord,
    blocked_override: NameListRecord,
    skill_always_blocked: NameListRecord,
    allowed_inherited: NameListRecord,
    sensitive: NameListRecord,
    extra_blocked: NameListRecord,
    declarable_credentials: NameListRecord,
    unreviewed_prefixes: Vec<String>,
}

struct EnvNameSet {
    keys: BTreeSet<String>,
    prefixes: Vec<String>,
    /// These compile quickly and match slowly: names are short, and a process checks few of them.
    regexes: Vec<Regex>,
}

impl EnvNameSet {
    fn new(list: NameListRecord) -> Option<Self> {
        let upper = |names: Vec<String>| names.into_iter().map(|name| name.to_uppercase());
        Some(Self {
            keys: upper(list.keys).collect(),
            prefixes: upper(list.prefixes).collect(),
            // Names are compared in upper case, as the list has them.
            regexes: list.regexes.iter().map(|it| Regex::new(it)).collect::<Result<_, _>>().ok()?,
        })
    }

    fn holds(&self, upper: &str) -> bool {
        self.keys.contains(upper)
            || self.prefixes.iter().any(|prefix| upper.starts_with(prefix.as_str()))
            || self.regexes.iter().any(|regex| regex.is_match(upper))
    }
}

struct EnvPolicy {
    everywhere: EnvNameSet,
    always: EnvNameSet,
    extra: EnvNameSet,
    overridden: EnvNameSet,
    inherited: EnvNameSet,
    sensitive: EnvNameSet,
    declarable: EnvNameSet,
    unreviewed: Vec<String>,
}

static LISTS: LazyLock<Option<EnvPolicy>> = LazyLock::new(|| {
    let raw: EnvPolicyRecord = serde_json::from_str(POLICY).ok()?;
    Some(EnvPolicy {
        everywhere: EnvNameSet::new(raw.blocked_everywhere)?,
        always: EnvNameSet::new(raw.skill_always_blocked)?,
        extra: EnvNameSet::new(raw.extra_blocked)?,
        overridden: EnvNameSet::new(raw.blocked_override)?,
        inherited: EnvNameSet::new(raw.allowed_inherited)?,
        sensitive: EnvNameSet::new(raw.sensitive)?,
        declarable: EnvNameSet::new(raw.declarable_credentials)?,
        unreviewed: raw.unreviewed_prefixes,
    })
});

/// A longer value is suspicious.
const LONG_VALUE: usize = 32_768;
/// The shortest value that looks like an encoded blob.
const BLOB_VALUE: usize = 80;

/// Whether a name is blocked everywhere and removed for children.
pub fn is_blocked_everywhere(name: &str) -> bool {
    // Without its lists the policy blocks everything.
    LISTS.as_ref().is_none_or(|lists| lists.everywhere.holds(&name.to_uppercase()))
}

/// Whether a name may be inherited but not set.
pub fn is_blocked_override(name: &str) -> bool {
    LISTS.as_ref().is_none_or(|lists| lists.overridden.holds(&name.to_uppercase()))
}

/// Whether a name needs a declaration.
pub fn is_sensitive(name: &str) -> bool {
    LISTS.as_ref().is_none_or(|lists| lists.sensitive.holds(&name.to_uppercase()))
}

/// Whether the skill may set the variable, and if not, why.
pub fn check_variable(skill: &SkillEnv<'_>, name: &str, value: &str) -> Result<(), EnvRefusal> {
    if !is_name(name) {
        return Err(EnvRefusal::BadName);
    }
    if value.contains('\0') {
        return Err(EnvRefusal::NulValue);
    }
    let Some(lists) = LISTS.as_ref() else { return Err(EnvRefusal::BlockedEverywhere) };
    let upper = name.to_uppercase();
    if lists.everywhere.holds(&upper) {
        return Err(EnvRefusal::BlockedEverywhere);
    }
    if lists.always.holds(&upper) {
        return Err(EnvRefusal::SkillAlwaysBlocked);
    }
    if lists.extra.holds(&upper) {
        return Err(EnvRefusal::ExtraBlocked);
    }
    let declared = skill.declares(name);
    if lists.overridden.holds(&upper) {
        let credential = lists.declarable.holds(&upper);
        if !(credential && declared && skill.allow_declared_credentials && skill.reviewed) {
            return Err(EnvRefusal::BlockedOverride);
        }
    }
    if (lists.sensitive.holds(&upper) || skill.is_host_credential(name)) && !declared {
        return Err(EnvRefusal::Undeclared);
    }
    if !skill.reviewed
        && (!declared || lists.unreviewed.iter().any(|prefix| upper.starts_with(prefix.as_str())))
    {
        return Err(EnvRefusal::Unreviewed);
    }
    Ok(())
}

/// The variables that a skill's configuration gives to a child, and a record for each refused one.
pub fn filter_variables(
    skill: &SkillEnv<'_>,
    requested: &BTreeMap<String, String>,
) -> (BTreeMap<String, String>, Vec<EnvRecord>) {
    let mut allowed = BTreeMap::new();
    let mut records = Vec::new();
    for (name, value) in requested {
        let mut record = |code, class| {
            records.push(EnvRecord {
                code,
                skill: skill.skill.to_owned(),
                key: safe_name(name),
                class,
            });
        };
        match check_variable(skill, name, value) {
            Ok(()) => {
                if is_suspicious(value) {
                    record(ReasonCode::EnvSuspicious, None);
                }
                allowed.insert(name.clone(), value.clone());
            }
            Err(class) => record(class.code(), Some(class)),
        }
    }
    (allowed, records)
}

/// What a child inherits of `host`: nothing that is blocked everywhere, and nothing that is blocked
/// from being set unless it may be inherited.
pub fn inherited_by_child(host: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let Some(lists) = LISTS.as_ref() else { return BTreeMap::new() };
    host.iter()
        .filter(|(name, _)| {
            let upper = name.to_uppercase();
            !lists.everywhere.holds(&upper)
                && (!lists.overridden.holds(&upper) || lists.inherited.holds(&upper))
        })
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// What a skill's process inherits of `host`: like [`inherited_by_child`], without credentials that
/// the skill does not declare, and with those that it does. Every variable held back has a record.
pub fn inherited_by_skill(
    skill: &SkillEnv<'_>,
    host: &BTreeMap<String, String>,
) -> (BTreeMap<String, String>, Vec<EnvRecord>) {
    let mut inherited = inherited_by_child(host);
    let mut records = Vec::new();
    let Some(lists) = LISTS.as_ref() else { return (inherited, records) };
    for (name, value) in host {
        let upper = name.to_uppercase();
        let class = if lists.everywhere.holds(&upper) {
            Some(EnvRefusal::BlockedEverywhere)
        } else if lists.sensitive.holds(&upper)
            || lists.declarable.holds(&upper)
            || skill.is_host_credential(name)
        {
            check_variable(skill, name, value).err()
        } else if inherited.contains_key(name) {
            None
        } else {
            Some(EnvRefusal::BlockedOverride)
        };
        match class {
            None => drop(inherited.insert(name.clone(), value.clone())),
            Some(class) => {
                inherited.remove(name);
                records.push(EnvRecord {
                    code: class.code(),
                    skill: skill.skill.to_owned(),
                    key: safe_name(name),
                    class: Some(class),
                });
            }
        }
    }
    (inherited, records)
}

fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

fn is_suspicious(value: &str) -> bool {
    value.len() > LONG_VALUE
        || value.len() >= BLOB_VALUE
            && value.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'='))
}

/// A name as a record may contain it: the value may have been written where the name belongs.
fn safe_name(name: &str) -> String {
    name.split('=').next().unwrap_or("").chars().filter(|c| !c.is_control()).take(128).collect()
}
