//! What agents do with skills through sinew's own tools, counted like what hooks see: an answer of
//! `find_skill` is an offer, and what is read or reported afterwards goes back to the last offer.
//!
//! A hook that sees a call of these tools leaves the counting to the tool.

use super::offer::offer_id;
use super::usage_log::{UsageEvent, UsageLog, UsageRecord};
use super::{Hooks, home};

/// For how long what an agent does with a skill goes back to an offer of it: a day's work.
const OFFER_LIFE_MS: u64 = 24 * 60 * 60 * 1000;

/// What an agent did with a skill through a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkillToolUse {
    /// It read the skill.
    Read,
    /// It told that the skill did its task.
    Worked,
    /// It told that the skill did not.
    Failed,
}

impl SkillToolUse {
    fn event(self) -> UsageEvent {
        match self {
            Self::Read => UsageEvent::Read,
            Self::Worked => UsageEvent::Worked,
            Self::Failed => UsageEvent::Failed,
        }
    }
}

impl Hooks<'_> {
    /// Counts an answer that offered skills to an agent, and the characters that it cost.
    pub fn note_answer(&self, agent: &str, message: &str, skills: &[&str], chars: usize) {
        let at = self.engine.env.clock.now_ms();
        let id = offer_id(agent, "find_skill", at, message);
        let share = chars / skills.len().max(1);
        let offered = skills.iter().map(|skill| UsageRecord {
            id: format!("{id}:{:?}:{skill}", UsageEvent::Offered),
            at,
            event: UsageEvent::Offered,
            skill: (*skill).to_owned(),
            agent: agent.to_owned(),
            project: self.engine.workspace().to_owned(),
            offer: Some(id.clone()),
            chars: share,
        });
        self.engine.keep_usage(&offered.collect::<Vec<_>>());
    }

    /// Counts what an agent did with a skill. Reading it again after one offer is one use.
    pub fn note_tool_use(&self, agent: &str, skill: &str, used: SkillToolUse) {
        let at = self.engine.env.clock.now_ms();
        let offer = self.last_offer(agent, skill, at);
        let about = match (used, &offer) {
            (SkillToolUse::Read, Some(offer)) => offer.clone(),
            _ => format!("tool:{agent}:{at}"),
        };
        let record = UsageRecord {
            id: format!("{about}:{:?}:{skill}", used.event()),
            at,
            event: used.event(),
            skill: skill.to_owned(),
            agent: agent.to_owned(),
            project: self.engine.workspace().to_owned(),
            offer,
            chars: 0,
        };
        self.engine.keep_usage(&[record]);
    }

    /// The last offer of a skill to an agent in this project.
    fn last_offer(&self, agent: &str, skill: &str, now: u64) -> Option<String> {
        let log = UsageLog::below(&home(&self.engine.env));
        let records = log.since(now.saturating_sub(OFFER_LIFE_MS)).unwrap_or_default();
        let mut offers = records.into_iter().rev().filter(|record| {
            record.event == UsageEvent::Offered
                && record.skill == skill
                && record.agent == agent
                && record.project == self.engine.workspace()
        });
        offers.next()?.offer
    }
}
