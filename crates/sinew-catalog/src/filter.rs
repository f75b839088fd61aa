//! Which skills an agent and a session may see. Applied once, so that prompt, commands, references
//! and routing agree.

use std::collections::BTreeMap;

use sinew_settings::{Reason, ReasonCode};

use crate::catalog::CatalogRequest;
use crate::entry::{CatalogEntry, EntryState};

/// An agent's list, parsed.
#[derive(Debug)]
pub(crate) struct AgentFilter<'a>(&'a [String]);

impl<'a> AgentFilter<'a> {
    pub(crate) fn new(names: &'a [String]) -> Self {
        Self(names)
    }

    /// Whether the list allows the skill. Denials win; a list of only denials allows the rest.
    pub(crate) fn allows(&self, entry: &CatalogEntry) -> bool {
        // A key is what a skill says of itself: it can keep a skill out, and never let one in.
        let matches = |pattern: &str| matches_name(pattern, &entry.name);
        let denied = self
            .0
            .iter()
            .filter_map(|name| name.strip_prefix('!'))
            .any(|pattern| matches(pattern) || matches_name(pattern, &entry.skill_key));
        let mut positive = self.0.iter().filter(|name| !name.starts_with('!')).peekable();
        let only_denials = positive.peek().is_none() && !self.0.is_empty();
        !denied && (only_denials || positive.any(|name| matches(name)))
    }

    /// Names that match nothing.
    pub(crate) fn unknown(&self, entries: &[CatalogEntry]) -> Vec<Reason> {
        let names = || entries.iter().map(|entry| entry.name.as_str());
        self.0
            .iter()
            .filter(|name| {
                let denial = name.strip_prefix('!');
                !entries.iter().any(|entry| {
                    matches_name(denial.unwrap_or(name), &entry.name)
                        || denial.is_some_and(|denied| matches_name(denied, &entry.skill_key))
                })
            })
            .map(|name| {
                let near = sinew_settings::nearest(name, names());
                let keyed = entries.iter().find(|entry| entry.skill_key == **name);
                let remedy = match keyed.map(|entry| entry.name.as_str()).or(near.first().copied())
                {
                    Some(near) => format!("did you mean {near}?"),
                    None => "remove it from the agent's list".to_owned(),
                };
                Reason::new(ReasonCode::UnknownFilterName, format!("no skill is called {name}"))
                    .remedy(remedy)
            })
            .collect()
    }
}

/// An exact name, or a prefix before a trailing `*`.
fn matches_name(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => pattern == name,
    }
}

/// A session's own switches, by skill key.
pub type SessionOverrides = BTreeMap<String, bool>;

/// Applies the agent's list and the session's switches.
pub(crate) fn apply(
    request: &CatalogRequest<'_>,
    entries: &mut [CatalogEntry],
    issues: &mut Vec<Reason>,
) -> Option<Vec<String>> {
    let names = request.config.agent_skills(request.agent);
    let filter = names.map(AgentFilter::new);
    if let Some(filter) = &filter {
        issues.extend(filter.unknown(entries));
    }
    for entry in entries.iter_mut() {
        let Some(skill) = entry.skill.clone() else { continue };
        if entry.state == EntryState::Shadowed {
            continue;
        }
        let switch = request.overrides.get(&entry.skill_key).copied();
        let filtered = filter.as_ref().is_some_and(|filter| !filter.allows(entry));
        let reason = match (switch, filtered) {
            (Some(false), _) => Some(
                Reason::new(ReasonCode::SessionOverride, "this session hides it")
                    .remedy("lift the session's override"),
            ),
            (Some(true), _) | (None, false) => None,
            (None, true) => Some(
                Reason::new(ReasonCode::AgentFilter, "the agent's list of skills leaves it out")
                    .remedy(format!("add {} to the agent's skills", entry.name)),
            ),
        };
        let visible = reason.is_none();
        entry.blocked_by_agent_filter = filtered && switch != Some(true);
        if let Some(reason) = reason {
            entry.note(reason);
            if entry.state == EntryState::Ready {
                entry.state = EntryState::Excluded;
            }
        }
        let hidden = entry.hidden_by_host.take();
        entry.model_visible = entry.eligible
            && visible
            && hidden.is_none()
            && !skill.invocation.disable_model_invocation;
        if let Some(reason) = hidden {
            entry.note(reason);
        }
        entry.command_visible = entry.eligible && visible && entry.user_invocable;
        if skill.invocation.disable_model_invocation {
            entry.note(Reason::new(
                ReasonCode::ModelInvocationDisabled,
                "its author hides it from the model",
            ));
        }
        if !entry.user_invocable {
            entry
                .note(Reason::new(ReasonCode::NotUserInvocable, "its author disabled its command"));
        }
    }
    names.map(<[String]>::to_vec)
}
