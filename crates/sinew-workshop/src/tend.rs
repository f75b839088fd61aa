//! The curator: looks through the learned skills and proposes to join, rewrite or retire what overlaps,
//! contradicts, fails, was never used or has gone stale.
//!
//! What must never happen here: a change that is applied, or the same question asked twice.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::LazyLock;

use regex::Regex;
use sinew_settings::Actor;

use crate::error::Result;
use crate::event::WorkshopEvent;
use crate::gates::SkillOwner;
use crate::home::{day_of, probe};
use crate::proposal::{Proposal, ProposalChange, ProposalSource};
use crate::reshape::ReshapeRequest;
use crate::rule::{RuleRelation, compare, without_count};
use crate::rule_file::{self, MAX_RULES, TaughtRule, with_rule, with_rules};
use crate::status::ProposalState;
use crate::workshop::Workshop;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// While a server runs, the skills are looked through this often.
const TEND_EVERY_MS: u64 = 7 * DAY_MS;

/// Uses that did not help, before a skill is said to fail.
const FAILURES: u64 = 3;

/// Two skills overlap where so many of their rules say the same.
const SAME_RULES: usize = 2;

/// A command in a rule.
static COMMAND: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"`([^`\n]{2,120})`").ok());

/// What a look through the learned skills came to.
#[derive(Debug, Clone, Default)]
pub struct TendReport {
    /// How many skills were looked at.
    pub skills: usize,
    /// What is proposed.
    pub proposals: Vec<Proposal>,
    /// What happened, for the log.
    pub events: Vec<WorkshopEvent>,
}

/// A learned skill as it is now.
struct LearnedSkill {
    name: String,
    file: String,
    groups: Vec<String>,
    /// When its first rule was applied, in milliseconds since 1970.
    since: u64,
}

impl LearnedSkill {
    fn rules(&self) -> Vec<&str> {
        rule_file::rules(&self.file)
    }
}

impl Workshop<'_> {
    /// Looks through the learned skills and proposes what would make them better. Nothing is applied.
    pub fn tend(&self, by: &Actor) -> Result<TendReport> {
        let proposals = self.records()?.proposals()?;
        let learned = self.learned_skills(&proposals)?;
        let mut wishes: Vec<ReshapeRequest> = Vec::new();
        for skill in &learned {
            wishes.extend(self.rarely_right(skill));
            wishes.extend(gone_stale(skill, |command| self.is_gone(command)));
            wishes.extend(at_odds(skill, &day_of(self.now()))?);
        }
        for (at, older) in learned.iter().enumerate() {
            for newer in &learned[at + 1..] {
                wishes.extend(self.joined(older, newer)?);
                wishes.extend(contradicting(older, newer, &proposals));
            }
        }
        let mut report = TendReport { skills: learned.len(), ..TendReport::default() };
        // One question about a skill at a time: the answer may settle the others.
        let mut asked: BTreeSet<String> = BTreeSet::new();
        for wish in wishes {
            if wish.skills.keys().any(|name| asked.contains(name)) {
                continue;
            }
            asked.extend(wish.skills.keys().cloned());
            if let Some(made) = self.propose_reshape(wish, ProposalSource::Probation, by)? {
                report.events.extend(made.events);
                report.proposals.push(made.proposal);
            }
        }
        Ok(report)
    }

    /// The same, where a week has passed since the last time.
    pub fn tend_weekly(&self) -> Result<TendReport> {
        {
            let _lock = self.lock()?;
            let mut entry = self.raw_records().change()?;
            let last = entry.state.tended_at;
            if last.is_some_and(|last| self.now().saturating_sub(last) < TEND_EVERY_MS) {
                return Ok(TendReport::default());
            }
            entry.state.tended_at = Some(self.now());
            entry.save()?;
        }
        self.tend(&Actor::System)
    }

    /// The skills of this workspace that hold rules and are as the workshop left them, oldest first.
    fn learned_skills(&self, proposals: &[Proposal]) -> Result<Vec<LearnedSkill>> {
        let folder = self.workspace().join("skills");
        let Ok(entries) = fs::read_dir(&folder) else { return Ok(Vec::new()) };
        let mut names: Vec<String> =
            entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        let mut learned = Vec::new();
        for name in names {
            if crate::name::writable_name(&name).is_ok_and(|written| written == name)
                && let (target, Some(found)) = self.target(&name, &probe())?
                && target.owner == SkillOwner::Workshop
                && let Some(groups) = rule_file::taught_groups(&found.text)
            {
                let since = since(&name, proposals).unwrap_or_else(|| self.now());
                learned.push(LearnedSkill { name, file: found.text, groups, since });
            }
        }
        learned.sort_by(|a, b| (a.since, &a.name).cmp(&(b.since, &b.name)));
        Ok(learned)
    }

    /// A skill whose rules did not help, or that no message ever needed.
    fn rarely_right(&self, skill: &LearnedSkill) -> Option<ReshapeRequest> {
        let trials = self.parts.surroundings.trials(&skill.name, skill.since)?;
        let uses = trials.success + trials.failure;
        let days = self.now().saturating_sub(skill.since) / DAY_MS;
        let (title, reason) = if trials.failure >= FAILURES && trials.failure > trials.success {
            let told = format!(
                "its rules were brought {uses} times, and {} times the user had to say the same again",
                trials.failure
            );
            (format!("Retire {}, which does not help", skill.name), told)
        } else if !trials.used && uses == 0 && days >= self.settings().probation.idle_days {
            let told = format!("no message needed it in {days} days");
            (format!("Retire {}, which was never used", skill.name), told)
        } else {
            return None;
        };
        Some(ReshapeRequest {
            skill: skill.name.clone(),
            title,
            reason,
            evidence: skill.rules().into_iter().map(str::to_owned).collect(),
            skills: BTreeMap::from([(skill.name.clone(), None)]),
        })
    }

    /// Whether a command names a program or a file that is not there.
    fn is_gone(&self, command: &str) -> bool {
        let mut words = command.split_whitespace();
        let (Some(program), more) = (words.next(), words.next().is_some()) else { return false };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/+".contains(c);
        if !program.chars().all(is_plain) || program.starts_with(['-', '/']) {
            return false;
        }
        if let Some((folder, _)) = program.trim_start_matches("./").split_once('/') {
            // A path of this workspace, and not a branch or a module of another: its folder is known.
            let is_script = program.starts_with("./") || self.workspace().join(folder).is_dir();
            return is_script && !self.workspace().join(program).exists();
        }
        // One word may be anything; with arguments it is a command.
        let is_name = program.starts_with(|c: char| c.is_ascii_lowercase());
        more && is_name && !program.contains('.') && !self.parts.surroundings.has_program(program)
    }

    /// Two skills for the same kind of task, or with the same rules, as one.
    fn joined(&self, older: &LearnedSkill, newer: &LearnedSkill) -> Result<Option<ReshapeRequest>> {
        let shared: Vec<&String> =
            newer.groups.iter().filter(|group| older.groups.contains(group)).collect();
        let is_companion = |skill: &LearnedSkill| skill.name.ends_with("-our-way");
        let alike: Vec<&str> = newer
            .rules()
            .into_iter()
            .filter(|new| {
                let says = |old: &&str| compare(new, old) == RuleRelation::Same;
                older.rules().iter().any(says)
            })
            .collect();
        let overlaps = !shared.is_empty() || alike.len() >= SAME_RULES;
        let count = older.rules().len() + newer.rules().len();
        if !overlaps || is_companion(older) || is_companion(newer) || count > MAX_RULES {
            return Ok(None);
        }
        let day = day_of(self.now());
        let (mut file, mut others) = (older.file.clone(), Vec::new());
        for rule in newer.rules() {
            let taught = TaughtRule { rule, when: "", groups: &newer.groups, day: &day, asked: "" };
            match alike.contains(&rule) {
                // What is in both counts once more; nothing takes another's place unseen.
                true => file = with_rule(&older.name, taught, Some(&file))?,
                false => others.push(rule.to_owned()),
            }
        }
        let taught = TaughtRule { rule: "", when: "", groups: &newer.groups, day: &day, asked: "" };
        let file = with_rules(&older.name, &others, taught, Some(&file))?;
        let asked = rule_file::asked(&newer.file);
        let file = file.map(|file| rule_file::with_asked(&file, &asked));
        let reason = match (shared.is_empty(), alike.len()) {
            (false, 0) => "both are for the same kind of task".to_owned(),
            (false, same) => {
                format!("both are for the same kind of task, and {same} rules are in both")
            }
            (true, same) => format!("{same} rules are in both"),
        };
        let evidence = match alike.is_empty() {
            true => newer.rules().iter().map(|rule| format!("{}: {rule}", newer.name)).collect(),
            false => alike.iter().map(|rule| format!("in both: {rule}")).collect(),
        };
        Ok(Some(ReshapeRequest {
            skill: newer.name.clone(),
            title: format!("Merge {} into {}", newer.name, older.name),
            reason,
            evidence,
            skills: BTreeMap::from([(older.name.clone(), file), (newer.name.clone(), None)]),
        }))
    }
}

/// When a skill got its first rule.
fn since(name: &str, proposals: &[Proposal]) -> Option<u64> {
    let applied = proposals.iter().filter(|known| known.status == ProposalState::Applied);
    let its = applied.filter(|known| match &known.change {
        ProposalChange::Reshape { skills, .. } => skills.contains_key(name),
        _ => known.skill_name == name,
    });
    its.map(|known| known.created_at).min()
}

/// A skill without the rules whose commands do not exist any more.
fn gone_stale(skill: &LearnedSkill, is_gone: impl Fn(&str) -> bool) -> Option<ReshapeRequest> {
    let pattern = COMMAND.as_ref()?;
    let mut stale: Vec<String> = Vec::new();
    let mut evidence = Vec::new();
    for rule in skill.rules() {
        let commands = pattern.captures_iter(rule).filter_map(|found| found.get(1));
        let gone = commands.map(|found| found.as_str()).find(|command| is_gone(command));
        if let Some(command) = gone {
            evidence.push(format!("`{command}` is not there any more: {rule}"));
            stale.push(rule.to_owned());
        }
    }
    if stale.is_empty() {
        return None;
    }
    let is_all = stale.len() == skill.rules().len();
    let file = (!is_all).then(|| rule_file::without_rules(&skill.file, &stale));
    Some(ReshapeRequest {
        skill: skill.name.clone(),
        title: match is_all {
            true => format!("Retire {}, whose commands are gone", skill.name),
            false => format!("Take {} out of date rules out of {}", stale.len(), skill.name),
        },
        reason: "a command that they name does not exist any more".to_owned(),
        evidence,
        skills: BTreeMap::from([(skill.name.clone(), file)]),
    })
}

/// A skill whose own rules repeat or contradict each other; the later one of two stays.
fn at_odds(skill: &LearnedSkill, day: &str) -> Result<Option<ReshapeRequest>> {
    let rules = skill.rules();
    let mut evidence = Vec::new();
    let mut old: Vec<String> = Vec::new();
    for (at, rule) in rules.iter().enumerate() {
        for later in &rules[at + 1..] {
            match compare(without_count(later).0, rule) {
                RuleRelation::Contradiction => {
                    evidence.push(format!("\"{rule}\" against the later \"{later}\""));
                    old.push((*rule).to_owned());
                }
                RuleRelation::Same => {
                    evidence.push(format!("twice: {later}"));
                    old.push((*rule).to_owned());
                }
                RuleRelation::Other => {}
            }
        }
    }
    if old.is_empty() {
        return Ok(None);
    }
    let mut file = rule_file::without_rules(&skill.file, &old);
    for rule in &old {
        // What was said twice counts twice.
        let plain = without_count(rule).0;
        let is_same = |left: &&str| compare(plain, left) == RuleRelation::Same;
        if rule_file::rules(&file).iter().any(is_same) {
            let taught =
                TaughtRule { rule: plain, when: "", groups: &skill.groups, day, asked: "" };
            file = with_rule(&skill.name, taught, Some(&file))?;
        }
    }
    Ok(Some(ReshapeRequest {
        skill: skill.name.clone(),
        title: format!("Put the rules of {} in order", skill.name),
        reason: "rules in it say the same twice, or contradict each other".to_owned(),
        evidence,
        skills: BTreeMap::from([(skill.name.clone(), Some(file))]),
    }))
}

/// Rules of two skills that contradict each other: the one that was said later stays.
fn contradicting(
    a: &LearnedSkill,
    b: &LearnedSkill,
    proposals: &[Proposal],
) -> Option<ReshapeRequest> {
    let said = |rule: &str| {
        let plain = without_count(rule).0;
        let its = proposals.iter().filter(
            |known| matches!(&known.change, ProposalChange::Rule { rule, .. } if rule == plain),
        );
        its.map(|known| known.number).max().unwrap_or(0)
    };
    let mut evidence = Vec::new();
    let (mut old, mut holder) = (Vec::new(), None);
    for first in a.rules() {
        for second in b.rules() {
            if compare(without_count(second).0, first) != RuleRelation::Contradiction {
                continue;
            }
            let (older, its, newer) = match said(first) <= said(second) {
                true => (first, a, second),
                false => (second, b, first),
            };
            if holder.is_none_or(|known: &LearnedSkill| known.name == its.name) {
                holder = Some(its);
                evidence.push(format!("\"{older}\" against the later \"{newer}\""));
                old.push(older.to_owned());
            }
        }
    }
    let holder = holder?;
    let is_all = old.len() >= holder.rules().len();
    let file = (!is_all).then(|| rule_file::without_rules(&holder.file, &old));
    Some(ReshapeRequest {
        skill: holder.name.clone(),
        title: format!("Take {} contradicted rules out of {}", old.len(), holder.name),
        reason: "another skill says otherwise, and said so later".to_owned(),
        evidence,
        skills: BTreeMap::from([(holder.name.clone(), file)]),
    })
}
