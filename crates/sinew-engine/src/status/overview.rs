//! The machine on one screen: its skills, its agents, what waits for a person, and the next step.

use serde::Serialize;
use sinew_catalog::{Catalog, EntryState};

use super::StatusHandle;
use crate::hook::RecentMessage;
use crate::quality::CheckSummary;
use crate::{EngineError, store};
use sinew_catalog::shell_word;

/// How many of the last messages are told: a screen has room for these beside everything else.
const MAX_MESSAGES: usize = 3;

/// How many blocked skills are named; the others are counted.
const MAX_BLOCKED: usize = 5;

/// What a person who types `sinew` and nothing else wants to know.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MachineOverview {
    /// The program's version.
    pub version: &'static str,
    /// How many skills of each kind there are.
    pub skills: CheckSummary,
    /// Skills that the scanner holds back, the first few.
    pub blocked: Vec<BlockedSkill>,
    /// Agents on this machine.
    pub agents: Vec<OverviewAgent>,
    /// Approvals that wait for a person.
    pub waiting: usize,
    /// What the last messages were given, the latest first.
    pub messages: Vec<RecentMessage>,
    /// The one thing to do next.
    pub next: NextStep,
}

/// A skill that is held back.
#[derive(Debug, Serialize)]
pub struct BlockedSkill {
    /// The skill.
    pub name: String,
    /// Why.
    pub why: String,
}

/// An agent on this machine.
#[derive(Debug, Serialize)]
pub struct OverviewAgent {
    /// Its name on the command line.
    pub agent: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// Whether sinew is connected to it.
    pub connected: bool,
}

/// What to do next, and why.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct NextStep {
    /// Why.
    pub why: String,
    /// The command.
    pub command: String,
}

impl StatusHandle<'_> {
    /// The state of this machine, from what is known without asking anything slow.
    pub fn overview(&self, catalog: &Catalog) -> Result<MachineOverview, EngineError> {
        let engine = self.engine;
        let held = catalog.unshadowed().filter(|entry| entry.state == EntryState::Blocked);
        let blocked: Vec<BlockedSkill> = held
            .take(MAX_BLOCKED)
            .map(|entry| BlockedSkill {
                name: entry.name.clone(),
                why: entry.primary_reason().map(ToString::to_string).unwrap_or_default(),
            })
            .collect();
        let connections = engine.connect().connections()?;
        let here = connections.iter().filter(|agent| agent.found || !agent.files.is_empty());
        let agents = here.map(|agent| OverviewAgent {
            agent: agent.agent,
            title: agent.title,
            connected: !agent.files.is_empty(),
        });
        // A machine without records gets no database for this question.
        let waiting = match store::local_exists(&engine.env) {
            true => engine.approvals().list(true)?.len(),
            false => 0,
        };
        let mut overview = MachineOverview {
            version: env!("CARGO_PKG_VERSION"),
            skills: engine.quality().check(catalog).summary,
            blocked,
            agents: agents.collect(),
            waiting,
            messages: engine.hooks().recent_messages(MAX_MESSAGES),
            next: NextStep { why: String::new(), command: String::new() },
        };
        overview.next = match engine.check_gate() {
            Err(closed) => NextStep { why: closed.to_string(), command: "sinew doctor".to_owned() },
            Ok(()) => overview.next_step(),
        };
        Ok(overview)
    }
}

impl MachineOverview {
    /// What matters most comes first: danger, then questions, then what is not used yet.
    fn next_step(&self) -> NextStep {
        let step = |why: String, command: String| NextStep { why, command };
        if let Some(first) = self.blocked.first() {
            let why = match self.skills.blocked {
                1 => "the scanner holds a skill back".to_owned(),
                count => format!("the scanner holds {count} skills back"),
            };
            return step(why, format!("sinew why {}", shell_word(&first.name)));
        }
        if self.waiting > 0 {
            return step(
                format!("{} decisions wait for you", self.waiting),
                "sinew approve".into(),
            );
        }
        if let Some(agent) = self.agents.iter().find(|agent| !agent.connected) {
            let why = format!("{} does not use sinew yet", agent.title);
            return step(why, "sinew setup".to_owned());
        }
        match self.agents.first() {
            None => step(
                "no agent was found; ask for a skill by hand".to_owned(),
                "sinew find who changed this line".to_owned(),
            ),
            Some(agent) if self.messages.is_empty() => {
                let why = format!("ask {} something, then see what came with it", agent.title);
                step(why, "sinew why --last".to_owned())
            }
            Some(_) => step("see what your agents were given".to_owned(), "sinew usage".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overview() -> MachineOverview {
        MachineOverview {
            version: "0",
            skills: CheckSummary::default(),
            blocked: Vec::new(),
            agents: Vec::new(),
            waiting: 0,
            messages: Vec::new(),
            next: NextStep { why: String::new(), command: String::new() },
        }
    }

    #[test]
    fn what_matters_most_is_the_next_step() {
        let mut machine = overview();
        assert!(machine.next_step().command.starts_with("sinew find "));
        machine.agents.push(OverviewAgent { agent: "codex", title: "Codex", connected: true });
        assert_eq!(machine.next_step().command, "sinew why --last");
        machine.agents.push(OverviewAgent { agent: "goose", title: "goose", connected: false });
        assert_eq!(machine.next_step().command, "sinew setup");
        machine.waiting = 2;
        assert_eq!(machine.next_step().why, "2 decisions wait for you");
        machine.blocked.push(BlockedSkill { name: "thief".to_owned(), why: String::new() });
        machine.skills.blocked = 1;
        assert_eq!(machine.next_step().command, "sinew why thief");
    }
}
