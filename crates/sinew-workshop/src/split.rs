//! A skill with rules of every kind, or with too many of them, becomes several: one for each kind of task.
//!
//! It is one proposal: a person sees every file, agrees once, and can take all of it back at once.

use std::collections::BTreeMap;

use sinew_settings::Actor;

use crate::activity::{ActivityFit, MessageMeaning};
use crate::capture::REMINDERS;
use crate::error::{Result, WorkshopError};
use crate::home::{KNOWN_ACTIVITY, day_of, probe};
use crate::name;
use crate::proposal::{ProposalChange, ProposalSource};
use crate::reshape::ReshapeRequest;
use crate::rule::without_count;
use crate::rule_file::{self, TaughtRule, with_rules};
use crate::suggest::ProposalUpdate;
use crate::workshop::Workshop;

/// The home of what was learned before rules had one each.
pub const OLD_HOME: &str = "learned-workflows";

/// A rule says less about the kind of task than the request that it corrected.
const RULE_SHARE: f32 = 0.4;

/// From a skill that is only too long, fewer rules than these do not leave.
const MIN_PART: usize = 3;

/// Rules about one kind of task.
struct RulePart {
    when: &'static str,
    rules: Vec<String>,
    /// The requests that they corrected.
    asked: Vec<String>,
}

impl Workshop<'_> {
    /// Proposes to divide a skill by what its rules are about; none where there is nothing to divide, or
    /// where that waits for a decision already.
    pub fn split(&self, skill: &str, by: &Actor) -> Result<Option<ProposalUpdate>> {
        let name = name::writable_name(skill)?;
        let (_, existing) = self.target(&name, &probe())?;
        let file = existing.ok_or_else(|| WorkshopError::NoSuchSkill(name.clone()))?.text;
        let is_taught = rule_file::taught_groups(&file).is_some();
        let rules = match is_taught {
            true => rule_file::rules(&file).into_iter().map(str::to_owned).collect(),
            false => without_reminders(&rule_file::lists(&file)),
        };
        let (mut parts, mut rest) = self.parts_of(&rules, is_taught)?;
        if is_taught {
            // The largest part stays, and so does what is too little for a skill.
            let largest = parts.iter().max_by_key(|(_, part)| part.rules.len());
            let largest = largest.map(|(id, _)| *id);
            parts.retain(|id, part| Some(*id) != largest && part.rules.len() >= MIN_PART);
        } else if !rest.is_empty() {
            let when = "doing what has no skill of its own";
            let part = RulePart { when, rules: rest, asked: Vec::new() };
            parts.insert("", part);
            rest = Vec::new();
        }
        if parts.is_empty() {
            return Ok(None);
        }
        let day = day_of(self.now());
        let mut skills: BTreeMap<String, Option<String>> = BTreeMap::new();
        let mut evidence = Vec::new();
        let mut moved: Vec<String> = Vec::new();
        for (id, part) in &parts {
            let groups: Vec<String> =
                Some((*id).to_owned()).filter(|id| !id.is_empty()).into_iter().collect();
            let known = self.learned_home(&groups)?.filter(|home| !is_taught && *home != name);
            let home = match known {
                Some(home) => home,
                None if id.is_empty() => self.unused_name("notes")?,
                None => self.unused_name(id)?,
            };
            let known = self.target(&home, &probe())?.1.map(|found| found.text);
            let (when, groups) = (part.when, &groups);
            let taught = TaughtRule { rule: "", when, groups, day: &day, asked: "" };
            let text = with_rules(&home, &part.rules, taught, known.as_deref())?;
            let text = text.map(|text| rule_file::with_asked(&text, &part.asked));
            evidence.extend(part.rules.iter().take(2).map(|rule| format!("{home}: {rule}")));
            moved.extend(part.rules.iter().cloned());
            skills.insert(home, text);
        }
        let homes: Vec<&str> = skills.keys().map(String::as_str).collect();
        let title = format!("Split {name} into {}", homes.join(", "));
        let reason = format!(
            "{} of its {} rules are about {} other kinds of task",
            moved.len(),
            rules.len(),
            parts.len()
        );
        let stays = is_taught || !rest.is_empty() || rule_file::has_prose(&file);
        let left = stays.then(|| rule_file::without_rules(&file, &moved));
        skills.insert(name.clone(), left);
        let request = ReshapeRequest { skill: name, title, reason, evidence, skills };
        self.propose_reshape(request, ProposalSource::Tool, by)
    }

    /// Proposes to divide a skill that has become too long; that it cannot be divided is no failure of
    /// the correction that made it so.
    pub(crate) fn split_when_full(&self, skill: &str) -> Result<Option<ProposalUpdate>> {
        let (target, existing) = self.target(skill, &probe())?;
        let is_full = existing.is_some_and(|found| rule_file::is_full(&found.text));
        match is_full && target.owner.allows_automatic() {
            true => self.split(skill, &Actor::System),
            false => Ok(None),
        }
    }

    /// The rules by what they are about, and those that are about nothing that is known.
    fn parts_of(
        &self,
        rules: &[String],
        by_activity: bool,
    ) -> Result<(BTreeMap<&'static str, RulePart>, Vec<String>)> {
        let encoder = self.parts.surroundings.encoder();
        let fit = |text: &str| ActivityFit::of(&MessageMeaning::of(text, encoder.as_deref()));
        let requests = self.requests_of_rules()?;
        let mut parts: BTreeMap<&'static str, RulePart> = BTreeMap::new();
        let mut rest = Vec::new();
        for rule in rules {
            let (plain, _) = without_count(rule);
            let request = requests.iter().find(|(body, _)| body.contains(plain));
            let known = match request {
                Some((_, request)) => {
                    ActivityFit::together(&[(fit(request), 1.0), (fit(plain), RULE_SHARE)])
                }
                None => fit(plain),
            };
            let Some(near) = known.best().filter(|near| near.score >= KNOWN_ACTIVITY) else {
                rest.push(rule.clone());
                continue;
            };
            let (id, when) = match by_activity {
                true => (near.id, near.when),
                false => (near.group.id, near.group.when),
            };
            let none = RulePart { when, rules: Vec::new(), asked: Vec::new() };
            let part = parts.entry(id).or_insert(none);
            part.rules.push(rule.clone());
            part.asked.extend(request.map(|(_, request)| request.clone()));
        }
        Ok((parts, rest))
    }

    /// What was asked when a rule was said, by the text that the rule is in.
    fn requests_of_rules(&self) -> Result<Vec<(String, String)>> {
        let proposals = self.records()?.proposals()?;
        let told = proposals.into_iter().filter_map(|proposal| {
            let body = match proposal.change {
                ProposalChange::Rule { rule, .. } => rule,
                ProposalChange::Create { body, .. } | ProposalChange::Append { body, .. } => body,
                _ => return None,
            };
            // Of an old capture the last message is the correction itself.
            let asked = proposal.queries.positive.into_iter().find(|asked| !body.contains(asked));
            Some((body, asked?))
        });
        Ok(told.collect())
    }
}

/// The rules of an old file, oldest first: without the reminders that stood under every one of them.
fn without_reminders(lists: &[Vec<String>]) -> Vec<String> {
    let in_every = |line: &String| lists.len() > 1 && lists.iter().all(|list| list.contains(line));
    let is_rule = |line: &&String| !REMINDERS.contains(&line.as_str()) && !in_every(line);
    let mut rules: Vec<String> = Vec::new();
    for rule in lists.iter().rev().flat_map(|list| list.iter().filter(is_rule)) {
        if !rules.contains(rule) {
            rules.push(rule.clone());
        }
    }
    rules
}
