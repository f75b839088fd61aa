//! Which skills a finished turn used, and what is counted of it: a skill was read, called by name, or
//! followed by the text that came along.

use sinew_catalog::{Catalog, CatalogEntry};

use super::event::HookEvent;
use super::home;
use super::input::{OpenedSkill, ToolCall};
use super::journal::{JournalTurn, PriorTurn};
use super::log::LoggedOutcome;
use super::offer::{SkillOffer, body_of};
use super::settlement::entry;
use super::usage_log::{UsageEvent, UsageLog, UsageRecord};
use crate::Engine;

/// Programs that every text names and every turn runs: they say nothing about a skill.
const COMMON_PROGRAMS: &[&str] = &[
    "awk", "bash", "cat", "cd", "chmod", "cp", "date", "echo", "env", "find", "git", "grep",
    "head", "ls", "mkdir", "mv", "node", "printf", "pwd", "python", "python3", "rg", "rm", "sed",
    "sh", "sort", "tail", "tee", "test", "touch", "true", "wc", "which", "xargs",
];

/// A skill that a turn used.
#[derive(Debug)]
pub(super) struct SkillUse<'t> {
    pub(super) entry: &'t CatalogEntry,
    pub(super) event: UsageEvent,
    /// Whether sinew's own tool was called for it, which has counted it already.
    pub(super) is_counted: bool,
    /// The steps after it came into use.
    pub(super) rest: &'t [ToolCall],
}

/// The skills that were opened in a turn, and those whose text came along and was followed.
pub(super) fn uses<'t>(turn: &'t JournalTurn, catalog: &'t Catalog) -> Vec<SkillUse<'t>> {
    let mut uses: Vec<SkillUse<'t>> = Vec::new();
    for (at, step) in turn.steps.iter().enumerate() {
        let Some(used) = step.used.as_ref().filter(|_| step.failed.is_none()) else { continue };
        let Some(entry) = entry(catalog, used, &turn.workspace) else { continue };
        let is_counted = step.tool.to_lowercase().ends_with("read_skill");
        let event = match used {
            OpenedSkill::Name(_) if !is_counted => UsageEvent::Invoked,
            _ => UsageEvent::Read,
        };
        uses.push(SkillUse { entry, event, is_counted, rest: &turn.steps[at + 1..] });
    }
    let brought = turn.offers.iter().skip(turn.earlier_offers);
    for offer in brought.filter(|offer| offer.how.brought_text() && offer.helper.is_none()) {
        let is_known = uses.iter().any(|known| known.entry.name == offer.skill);
        let entry = catalog.unshadowed().find(|entry| entry.name == offer.skill);
        let Some(entry) = entry.filter(|_| !is_known) else { continue };
        if is_followed(entry, &turn.steps) {
            let event = UsageEvent::Followed;
            uses.push(SkillUse { entry, event, is_counted: false, rest: &turn.steps });
        }
    }
    uses
}

/// The skill that was in use in the turn that a correction is about: the last one that was opened, or
/// whose text came along and was followed.
pub(super) fn skill_in_use(
    before: &PriorTurn,
    turn: &JournalTurn,
    catalog: &Catalog,
) -> Option<String> {
    let opened = before.steps.iter().rev().find_map(|step| {
        let used = step.used.as_ref().filter(|_| step.failed.is_none())?;
        entry(catalog, used, &turn.workspace)
    });
    let followed = || {
        let texts = before.offers.iter().rev().filter(|offer| offer.how.brought_text());
        let mut entries =
            texts.filter_map(|offer| catalog.unshadowed().find(|entry| entry.name == offer.skill));
        entries.find(|entry| is_followed(entry, &before.steps))
    };
    opened.or_else(followed).map(|entry| entry.name.clone())
}

/// Whether a step ran a program that the skill's text names, and that is not in every text.
fn is_followed(entry: &CatalogEntry, steps: &[ToolCall]) -> bool {
    let programs = steps.iter().filter_map(|step| step.program.as_deref());
    let mut telling = programs.filter(|program| !COMMON_PROGRAMS.contains(program)).peekable();
    if telling.peek().is_none() {
        return false;
    }
    let Ok(body) = body_of(entry) else { return false };
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '+');
    let words: Vec<&str> = body.text.split(|c: char| !is_part(c)).collect();
    telling.any(|program| words.contains(&program))
}

impl Engine {
    /// Counts what a turn came to. A count that cannot be kept is lost, and nothing else is.
    pub(super) fn note_turn_usage(
        &self,
        turn: &JournalTurn,
        uses: &[SkillUse<'_>],
        outcomes: &[LoggedOutcome],
        proposals: &[String],
    ) {
        let offer_of = |skill: &str| {
            let offers = turn.offers.iter().rev();
            offers.filter(|offer| offer.skill == skill).map(|offer| offer.offer.clone()).next()
        };
        let record = |event: UsageEvent, skill: &str| UsageRecord {
            id: format!("{}:{}:{event:?}:{skill}", short(&turn.session), turn.number),
            at: turn.at,
            event,
            skill: skill.to_owned(),
            agent: turn.agent.clone(),
            project: turn.workspace.clone(),
            offer: offer_of(skill),
            chars: 0,
        };
        let seen_here = uses.iter().filter(|used| !used.is_counted);
        let mut records: Vec<UsageRecord> =
            seen_here.map(|used| record(used.event, &used.entry.name)).collect();
        for outcome in outcomes {
            match outcome.result.as_str() {
                "success" => records.push(record(UsageEvent::Worked, &outcome.skill)),
                "unknown" => {}
                _ => records.push(record(UsageEvent::Failed, &outcome.skill)),
            }
        }
        for proposal in proposals {
            // A correction is about the skill it names, or about what the turn before it worked with.
            let named = turn.offers.iter().any(|offer| offer.skill == *proposal);
            let before = turn.offers[..turn.earlier_offers].last().map(|offer| &offer.skill);
            if let Some(skill) = Some(proposal).filter(|_| named).or(before) {
                records.push(record(UsageEvent::Corrected, skill));
            }
        }
        self.keep_usage(&records);
    }

    pub(super) fn keep_usage(&self, records: &[UsageRecord]) {
        if let Err(error) = UsageLog::below(&home(&self.env)).add(records) {
            tracing::warn!(%error, "what became of an offer could not be counted");
        }
    }
}

impl HookEvent {
    /// Counts what was offered.
    pub(super) fn note_offers(&self, engine: &Engine, offers: &[SkillOffer]) {
        let mut records = Vec::new();
        for offer in offers {
            let record = |event: UsageEvent, chars: usize| UsageRecord {
                id: format!("{}:{event:?}:{}", offer.offer, offer.skill),
                at: offer.at,
                event,
                skill: offer.skill.clone(),
                agent: self.host.name.to_owned(),
                project: engine.workspace().to_owned(),
                offer: Some(offer.offer.clone()),
                chars,
            };
            records.push(record(UsageEvent::Offered, offer.chars));
            if offer.how.brought_text() {
                records.push(record(UsageEvent::Brought, 0));
            }
        }
        engine.keep_usage(&records);
    }
}

/// A session by the beginning of its hash: its id is the agent's business.
fn short(session: &str) -> String {
    sinew_skill::content_hash(session.as_bytes()).chars().take(12).collect()
}
