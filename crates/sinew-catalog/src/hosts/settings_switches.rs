//! What a host's own settings say about single skills.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sinew_settings::{Environment, Reason, ReasonCode, path_text};

use super::claude_plugins::claude_settings;
use super::codex_plugins::codex_user_config;
use super::copilot_plugins::copilot_settings;
use super::gemini_extensions::gemini_settings;
use super::host_files::{self, kept};

/// Whose settings are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostSwitches {
    /// `skillOverrides` of Claude Code's settings.
    ClaudeCode,
    /// `[[skills.config]]` of Codex's configuration.
    Codex,
    /// `disabledSkills` of Copilot CLI's settings.
    Copilot,
    /// `skills.disabled` of Gemini CLI's settings.
    Gemini,
    /// `permission.skill` of opencode's configuration.
    Opencode,
}

/// What a setting does to a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostSwitch {
    /// The host does not load it.
    Off,
    /// The host's model does not see it.
    HiddenFromModel,
}

/// One rule about skills. A rule may also say that nothing is switched, over an earlier one.
#[derive(Debug, Clone, PartialEq)]
struct SwitchRule {
    /// Its place among all rules: of those that fit a skill, the last counts.
    order: usize,
    switch: Option<HostSwitch>,
    /// Where it is written, as a sentence for people.
    place: String,
}

/// The settings of a host about its skills, read once per build.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct SwitchTable {
    rules: usize,
    by_name: BTreeMap<String, SwitchRule>,
    by_path: BTreeMap<PathBuf, SwitchRule>,
    /// Patterns with `*`, in the order in which they are written.
    patterns: Vec<(String, SwitchRule)>,
    everything_off: Option<String>,
}

impl SwitchTable {
    fn rule(&mut self, switch: Option<HostSwitch>, place: String) -> SwitchRule {
        self.rules += 1;
        SwitchRule { order: self.rules, switch, place }
    }

    fn add_name(&mut self, name: &str, switch: Option<HostSwitch>, place: String) {
        let rule = self.rule(switch, place);
        self.by_name.insert(name.to_owned(), rule);
    }

    fn add_path(&mut self, path: PathBuf, switch: Option<HostSwitch>, place: String) {
        let rule = self.rule(switch, place);
        self.by_path.insert(path, rule);
    }

    fn add_pattern(&mut self, pattern: &str, switch: Option<HostSwitch>, place: String) {
        let rule = self.rule(switch, place);
        self.patterns.push((pattern.to_owned(), rule));
    }

    /// What the settings say about a skill, and where.
    pub(crate) fn find(&self, names: &[&str], file: &Path) -> Option<Reason> {
        let (switch, place) = self.decision(names, file)?;
        Some(match switch {
            HostSwitch::Off => Reason::new(ReasonCode::HostDisabled, place.clone()),
            HostSwitch::HiddenFromModel => Reason::new(ReasonCode::HostHidden, place.clone()),
        })
    }

    fn decision(&self, names: &[&str], file: &Path) -> Option<(HostSwitch, &String)> {
        if let Some(place) = &self.everything_off {
            return Some((HostSwitch::Off, place));
        }
        let of_path = if self.by_path.is_empty() {
            None
        } else {
            let real = std::fs::canonicalize(file).unwrap_or_else(|_| file.to_path_buf());
            self.by_path.get(file).or_else(|| self.by_path.get(&real))
        };
        let of_name = names.iter().find_map(|name| self.by_name.get(*name));
        let fits = |pattern: &str| names.iter().any(|name| fits(pattern, name));
        let of_pattern = self.patterns.iter().rev().find(|(pattern, _)| fits(pattern));
        let all = [of_path, of_name, of_pattern.map(|(_, rule)| rule)];
        let last = all.into_iter().flatten().max_by_key(|rule| rule.order)?;
        last.switch.map(|switch| (switch, &last.place))
    }
}

/// Whether a pattern with `*` fits a name.
fn fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// Reads the settings of a host.
pub(crate) fn read_switches(
    host: HostSwitches,
    workspace: &Path,
    env: &Environment,
    reasons: &mut Vec<Reason>,
) -> SwitchTable {
    let mut table = SwitchTable::default();
    match host {
        HostSwitches::ClaudeCode => read_claude(&mut table, workspace, env, reasons),
        HostSwitches::Codex => read_codex(&mut table, env, reasons),
        HostSwitches::Copilot => read_copilot(&mut table, env, reasons),
        HostSwitches::Gemini => read_gemini(&mut table, workspace, env, reasons),
        HostSwitches::Opencode => read_opencode(&mut table, workspace, env, reasons),
    }
    table
}

fn read_claude(
    table: &mut SwitchTable,
    workspace: &Path,
    env: &Environment,
    reasons: &mut Vec<Reason>,
) {
    // The first file is the one that decides, whatever it says.
    for settings in claude_settings(workspace, env, reasons).into_iter().rev() {
        let overrides = settings.value.get("skillOverrides").and_then(Value::as_object);
        for (name, word) in overrides.into_iter().flatten() {
            let word = word.as_str().unwrap_or_default();
            let switch = match word {
                "off" => Some(HostSwitch::Off),
                "user-invocable-only" => Some(HostSwitch::HiddenFromModel),
                // With its name alone the model still sees it.
                "on" | "name-only" => None,
                _ => continue,
            };
            let place = format!("skillOverrides of the {} settings says {word}", settings.scope);
            table.add_name(name, switch, place);
        }
    }
}

/// Codex takes the entries of the user's file one after the other, and the last that fits counts. Those of
/// the machine's files are not asked, and an entry with a name and a path is none.
fn read_codex(table: &mut SwitchTable, env: &Environment, reasons: &mut Vec<Reason>) {
    let Some(config) = codex_user_config(env, reasons) else { return };
    let entries = config.get("skills").and_then(|skills| skills.get("config"));
    for entry in entries.and_then(Value::as_array).into_iter().flatten() {
        let Some(enabled) = entry.get("enabled").and_then(Value::as_bool) else { continue };
        let switch = (!enabled).then_some(HostSwitch::Off);
        let place = "[[skills.config]] of config.toml switches it off".to_owned();
        let text = |key: &str| entry.get(key).and_then(Value::as_str);
        match (text("path"), text("name")) {
            (Some(path), None) => {
                let mut path = env.expand_home(path);
                if !path.ends_with("SKILL.md") {
                    path.push("SKILL.md");
                }
                let path = std::fs::canonicalize(&path).unwrap_or(path);
                table.add_path(path, switch, place);
            }
            (None, Some(name)) => table.add_name(name.trim(), switch, place),
            _ => {}
        }
    }
}

fn read_copilot(table: &mut SwitchTable, env: &Environment, reasons: &mut Vec<Reason>) {
    let settings = copilot_settings(env, reasons);
    let names = settings.get("disabledSkills").and_then(Value::as_array).into_iter().flatten();
    for name in names.filter_map(Value::as_str) {
        let place = "disabledSkills of settings.json names it".to_owned();
        table.add_name(name, Some(HostSwitch::Off), place);
    }
}

fn read_gemini(
    table: &mut SwitchTable,
    workspace: &Path,
    env: &Environment,
    reasons: &mut Vec<Reason>,
) {
    for (scope, settings) in gemini_settings(workspace, env, reasons) {
        let Some(skills) = settings.get("skills") else { continue };
        if skills.get("enabled").and_then(Value::as_bool) == Some(false) {
            table.everything_off = Some(format!("skills.enabled is false in the {scope} settings"));
        }
        let names = skills.get("disabled").and_then(Value::as_array).into_iter().flatten();
        for name in names.filter_map(Value::as_str) {
            let place = format!("skills.disabled of the {scope} settings names it");
            if !table.by_name.contains_key(name) {
                table.add_name(name, Some(HostSwitch::Off), place);
            }
        }
    }
}

fn read_opencode(
    table: &mut SwitchTable,
    workspace: &Path,
    env: &Environment,
    reasons: &mut Vec<Reason>,
) {
    let config = env.var_path("XDG_CONFIG_HOME").unwrap_or_else(|| env.home.join(".config"));
    let folders = [config.join("opencode"), workspace.to_path_buf()];
    for folder in folders {
        for name in ["opencode.json", "opencode.jsonc"] {
            let path = folder.join(name);
            let Some(settings) = kept(host_files::read_json(&path), reasons) else { continue };
            let Some(rule) = settings.get("permission").and_then(|rules| rules.get("skill")) else {
                continue;
            };
            let place = |pattern: &str| {
                format!("permission.skill in {} denies {pattern}", path_text(&path))
            };
            let switch = |word: &Value| {
                (word.as_str() == Some("deny")).then_some(HostSwitch::HiddenFromModel)
            };
            match rule {
                Value::String(_) => {
                    table.add_pattern("*", switch(rule), place("every skill"));
                }
                Value::Object(words) => {
                    for (pattern, word) in words {
                        table.add_pattern(pattern, switch(word), place(pattern));
                    }
                }
                _ => {}
            }
        }
    }
}
