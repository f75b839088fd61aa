//! The capability summary: what a skill can reach and change, sorted and stable.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};

use super::facts::{ScanFact, URL};
use super::filetype::ScannedFileKind;
use super::hosts::HostClass;
use super::inventory::{ScannedFile, TypedPath};
use super::metadata::SkillDeclarations;
use super::table::RuleTable;

/// Entries per list: a person reads the summary before approving.
const MAX_ENTRIES: usize = 200;

/// A host and what it is used for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct HostUse {
    /// The host.
    pub host: String,
    /// What kind of host it is.
    pub class: HostClass,
    /// `send`, `fetch` or `mention`.
    pub purpose: String,
}

/// An environment variable and whether the front matter names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct EnvUse {
    /// The variable.
    pub name: String,
    /// Whether `primaryEnv` or `requires.env` names it.
    pub declared: bool,
}

/// What a skill can do, as far as its text says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SkillCapabilities {
    /// Hosts it names.
    pub hosts: Vec<HostUse>,
    /// Programs it needs or starts.
    pub binaries: Vec<String>,
    /// Packages it installs.
    pub packages: Vec<String>,
    /// Environment variables it reads.
    pub env: Vec<EnvUse>,
    /// Classes of paths it reads.
    pub reads: Vec<String>,
    /// Classes of paths it writes.
    pub writes: Vec<String>,
    /// Ways in which it starts programs.
    pub exec: Vec<String>,
    /// How it makes itself persistent.
    pub persistence: Vec<String>,
    /// Files that instruct agents and that it writes.
    pub agent_files: Vec<String>,
    /// Archives and documents it contains.
    pub containers: Vec<String>,
    /// Languages of its scripts.
    pub languages: Vec<String>,
    /// Bytes of all files.
    pub bytes: u64,
    /// Number of files.
    pub files: usize,
}

pub(crate) fn summarise(
    table: &RuleTable,
    files: &[ScannedFile],
    facts: &[ScanFact],
    kinds: &[TypedPath],
    declared: &SkillDeclarations,
    bytes: u64,
) -> SkillCapabilities {
    let mut hosts: BTreeMap<String, (HostClass, &'static str)> = BTreeMap::new();
    let (mut reads, mut writes, mut exec) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let (mut persistence, mut agent_files) = (BTreeSet::new(), BTreeSet::new());
    for place in facts.iter().filter(|place| place.kind == URL && !place.negated) {
        if let (Some(url), Some(class)) = (&place.target, place.class)
            && class != HostClass::Placeholder
            && !hosts.contains_key(host_of(url))
        {
            hosts.insert(host_of(url).to_owned(), (class, "mention"));
        }
    }
    for fact in facts.iter().filter(|fact| !fact.negated && fact.kind != URL) {
        let kind = table.kinds[usize::from(fact.kind)].as_str();
        match kind {
            "cred-file" | "wallet-file" | "browser-store" | "keychain" | "dotenv"
            | "passwd-file" | "clipboard" => {
                reads.insert(kind.to_owned());
            }
            "fetch-save" | "write-file" => {
                writes.insert("files".to_owned());
            }
            "pipe-exec" | "subst-exec" | "decode-pipe" | "proc-exec" | "dyn-exec" | "exec-file"
            | "code-decode-exec" => {
                exec.insert(kind.to_owned());
            }
            "persist" | "git-hook" | "cron" | "authorized-keys" => {
                persistence.insert(kind.to_owned());
            }
            "agent-write" | "agent-write-prose" => {
                agent_files.insert("agent-instructions".to_owned());
            }
            _ => {}
        }
        let purpose = match kind {
            "net-sink" | "sink-prose" => "send",
            "fetch" | "fetch-save" | "pipe-exec" | "subst-exec" => "fetch",
            _ => continue,
        };
        let line = facts.partition_point(|other| (other.file, other.line) < (fact.file, fact.line));
        let on_line = facts[line..]
            .iter()
            .take_while(|other| (other.file, other.line) == (fact.file, fact.line))
            .filter(|other| other.kind == URL);
        for url in on_line.filter_map(|place| place.target.as_deref()).take(8) {
            if let Some(entry) = hosts.get_mut(host_of(url))
                && entry.1 != "send"
            {
                entry.1 = purpose;
            }
        }
    }
    let (env, packages) = names_in(files, declared);
    let languages: BTreeSet<String> = kinds
        .iter()
        .filter_map(|(_, kind, _)| match kind {
            ScannedFileKind::Script(language) => Some((*language).to_owned()),
            _ => None,
        })
        .collect();
    let containers = kinds
        .iter()
        .filter(|(_, kind, _)| matches!(kind, ScannedFileKind::Archive | ScannedFileKind::Document))
        .map(|(path, ..)| path.clone())
        .take(MAX_ENTRIES)
        .collect();
    SkillCapabilities {
        hosts: hosts
            .into_iter()
            .take(MAX_ENTRIES)
            .map(|(host, (class, purpose))| HostUse { host, class, purpose: purpose.to_owned() })
            .collect(),
        binaries: declared
            .bins
            .iter()
            .cloned()
            .collect::<BTreeSet<_>>()
            .into_iter()
            .take(MAX_ENTRIES)
            .collect(),
        packages,
        env,
        reads: reads.into_iter().collect(),
        writes: writes.into_iter().collect(),
        exec: exec.into_iter().collect(),
        persistence: persistence.into_iter().collect(),
        agent_files: agent_files.into_iter().collect(),
        containers,
        languages: languages.into_iter().collect(),
        bytes,
        files: kinds.len(),
    }
}

fn host_of(url: &str) -> &str {
    let host = url.split("://").nth(1).unwrap_or(url);
    host.split(['/', ':', '?', '#']).next().unwrap_or(host)
}

fn names_in(files: &[ScannedFile], declared: &SkillDeclarations) -> (Vec<EnvUse>, Vec<String>) {
    static ENV: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#"(?:process\.env\.|environ(?:\.get\(|\[)\s*["']|getenv\(\s*["']|\$\{?|Deno\.env\.get\(["'])([A-Z][A-Z0-9_]{2,63})"#).ok()
    });
    static PACKAGE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"\b(?:pip3?|uv pip|npm|pnpm|brew|cargo|gem|apt(?:-get)?|go) (?:install|i|add)(?: -[-\w]+)* ([A-Za-z0-9@][\w./@-]{1,80})").ok()
    });
    const COMMON: &[&str] = &["HOME", "PATH", "USER", "PWD", "SHELL", "TMPDIR", "LANG"];
    let (mut env, mut packages) = (BTreeMap::new(), BTreeSet::new());
    for name in &declared.env {
        env.insert(name.clone(), true);
    }
    for file in files.iter().filter(|file| file.text.len() < 1_000_000) {
        for (regex, is_env) in [(ENV.as_ref(), true), (PACKAGE.as_ref(), false)] {
            let Some(regex) = regex else { continue };
            let words: &[&str] = if is_env { &["env", "$"] } else { &["install", " add "] };
            if !words.iter().any(|word| file.text.contains(word)) {
                continue;
            }
            for name in regex.captures_iter(&file.text).filter_map(|c| c.get(1)).take(MAX_ENTRIES) {
                let name = name.as_str().to_owned();
                if !is_env {
                    packages.insert(name);
                } else if !COMMON.contains(&name.as_str()) {
                    env.entry(name).or_insert(false);
                }
            }
        }
    }
    let env = env
        .into_iter()
        .take(MAX_ENTRIES)
        .map(|(name, declared)| EnvUse { name, declared })
        .collect();
    (env, packages.into_iter().take(MAX_ENTRIES).collect())
}
