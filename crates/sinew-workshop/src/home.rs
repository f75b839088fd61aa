//! Where a correction belongs: the skill that was in use, a learned skill for tasks of this kind, or a
//! new one named after what was asked.
//!
//! What must never happen here: a rule in a skill that is not the workshop's to edit, or one skill that
//! takes whatever comes.

use crate::activity::{ActivityFit, MessageMeaning, NearestActivity, likeness};
use crate::capture::CapturedCorrection;
use crate::error::Result;
use crate::name;
use crate::personal_words::without_personal;
use crate::proposal::{AGAIN, INSTEAD, Proposal, ProposalChange, TriggerQueries};
use crate::rule::rule_line;
use crate::rule_file::{self, RuleEffect, TaughtRule};
use crate::suggest::ProposalRequest;
use crate::workshop::Workshop;
use sinew_cortex::UtcInstant;
use sinew_skill::ecmascript as text;

/// What was asked says most about the kind of task; what was said and done helps.
const CORRECTION_SHARE: f32 = 0.4;
const DONE_SHARE: f32 = 0.5;

/// A task whose nearest activity is further than this is named after its own words.
pub(crate) const KNOWN_ACTIVITY: f32 = 0.45;

/// Requests that are so alike belong to one skill, where no activity says so.
const SAME_REQUEST: f32 = 0.55;

/// Skills without an activity that a request is compared with: the latest.
const MAX_COMPARED: usize = 50;

/// Other wordings that the trigger gate tries.
const OTHER_WORDINGS: usize = 3;

/// The longest request that is kept, in UTF-16 code units.
const MAX_ASKED: usize = 200;

/// Words of a request that name a skill.
const NAME_WORDS: usize = 4;

/// The longest part of a name that comes from another skill's.
const MAX_COMPANION: usize = 50;

/// The home of a rule.
#[derive(Debug, Clone)]
struct RuleHome {
    skill: String,
    /// What the skill is for, after "when".
    when: String,
    groups: Vec<String>,
}

impl Workshop<'_> {
    /// What a correction proposes: one rule, in the skill where it belongs.
    pub fn rule_request(&self, found: &CapturedCorrection) -> Result<ProposalRequest> {
        // Names, addresses and numbers of people are told to the agent, and not to a file.
        let found = &CapturedCorrection {
            instruction: without_personal(&found.instruction),
            request: found.request.as_deref().map(without_personal),
            ..found.clone()
        };
        let rule = rule_line(&found.instruction);
        let encoder = self.parts.surroundings.encoder();
        let fit = |text: &str| ActivityFit::of(&MessageMeaning::of(text, encoder.as_deref()));
        let mut parts = Vec::new();
        match &found.request {
            Some(request) => {
                parts.push((fit(request), 1.0));
                parts.push((fit(&rule), CORRECTION_SHARE));
            }
            None => parts.push((fit(&rule), 1.0)),
        }
        if let Some(done) = &found.done {
            parts.push((fit(done), DONE_SHARE));
        }
        let fit = ActivityFit::together(&parts);
        let nearest = fit.best().filter(|nearest| nearest.score >= KNOWN_ACTIVITY);
        let far = fit.best().map_or("notes", |far| far.group.id);
        let home = self.home(found, &rule, nearest, far)?;
        let mut positive: Vec<String> = found.request.clone().into_iter().collect();
        if !home.groups.is_empty() {
            positive.extend(fit.other_wordings(OTHER_WORDINGS).into_iter().map(str::to_owned));
        }
        if positive.is_empty() {
            positive.push(found.instruction.clone());
        }
        let description = rule_file::description(&home.when, &[rule.as_str()]);
        let day = day_of(self.now());
        let asked = found.request.clone().map(|asked| text::short(&asked, MAX_ASKED));
        let asked = asked.unwrap_or_default();
        let (when, groups) = (&home.when, &home.groups);
        let taught = TaughtRule { rule: &rule, when, groups, day: &day, asked: &asked };
        let known = self.target(&home.skill, &probe())?.1;
        let known = known.map(|file| rule_file::effect(&file.text, taught));
        let because = match &found.request {
            Some(request) => format!("You corrected \"{}\"", text::short(request, 120)),
            None => "You said so".to_owned(),
        };
        let reason = match known {
            Some(RuleEffect::Strengthened) => format!("{because}{AGAIN}"),
            Some(RuleEffect::Replaced(old)) => {
                format!("{because}{INSTEAD} \"{}\"", text::short(&old, 120))
            }
            _ => because,
        };
        Ok(ProposalRequest {
            skill_name: home.skill,
            title: text::short(&rule, 120),
            reason,
            change: ProposalChange::Rule {
                rule,
                when: home.when,
                description,
                groups: home.groups,
                day,
                asked,
            },
            evidence: vec![found.instruction.clone()],
            queries: TriggerQueries { positive, near_miss: Vec::new() },
        })
    }

    fn home(
        &self,
        found: &CapturedCorrection,
        rule: &str,
        nearest: Option<NearestActivity>,
        far: &str,
    ) -> Result<RuleHome> {
        let groups: Vec<String> = nearest.iter().map(|near| near.group.id.to_owned()).collect();
        let asked = found.request.as_deref().unwrap_or(rule);
        let when =
            nearest.map_or_else(|| text::short(asked, 80), |near| near.group.when.to_owned());
        if let Some(skill) =
            found.in_use.as_deref().and_then(|skill| name::writable_name(skill).ok())
        {
            let (target, _) = self.target(&skill, &probe())?;
            if target.existed && target.owner.allows_automatic() {
                return Ok(RuleHome { skill, when, groups });
            }
            // What is not the workshop's to edit gets a companion that says what holds here.
            let short: String = skill.chars().take(MAX_COMPANION).collect();
            let companion = format!("{}-our-way", short.trim_end_matches(['-', '_']));
            let when = format!("working with the skill {skill}, or {when}");
            return Ok(RuleHome { skill: companion, when, groups });
        }
        // A skill that was divided has parts for single activities.
        if let Some(near) = nearest {
            let own = vec![near.id.to_owned()];
            if let Some(skill) = self.learned_home(&own)? {
                let groups = if near.id == near.group.id { groups } else { own };
                return Ok(RuleHome { skill, when: near.when.to_owned(), groups });
            }
        }
        if let Some(skill) = self.learned_home(&groups)? {
            return Ok(RuleHome { skill, when, groups });
        }
        if nearest.is_none()
            && let Some((skill, when)) = self.alike_home(asked)?
        {
            return Ok(RuleHome { skill, when, groups });
        }
        let subject = match nearest {
            Some(near) => near.group.id.to_owned(),
            None => subject(asked).or_else(|| subject(rule)).unwrap_or_else(|| far.to_owned()),
        };
        Ok(RuleHome { skill: self.unused_name(&subject)?, when, groups })
    }

    /// A skill that was taught for tasks of this kind, or is about to be.
    pub(crate) fn learned_home(&self, groups: &[String]) -> Result<Option<String>> {
        if groups.is_empty() {
            return Ok(None);
        }
        let is_one = |known: &[String]| known.iter().any(|group| groups.contains(group));
        let proposals = self.raw_records().proposals()?;
        // The oldest: later ones went to the same skill.
        for proposal in proposals.iter().rev() {
            let is_open = proposal.status.is_open();
            if !is_open && proposal.status.as_str() != "applied" {
                continue;
            }
            let names: Vec<&String> = match &proposal.change {
                ProposalChange::Rule { groups: known, .. } if is_one(known) => {
                    vec![&proposal.skill_name]
                }
                ProposalChange::Reshape { skills, .. } if !is_open => {
                    let taught =
                        |file: &Option<String>| file.as_deref().and_then(rule_file::taught_groups);
                    let fits = |file| taught(file).is_some_and(|known| is_one(&known));
                    skills.iter().filter(|(_, file)| fits(file)).map(|(name, _)| name).collect()
                }
                _ => continue,
            };
            for name in names.into_iter().filter(|name| !name.ends_with("-our-way")) {
                let (target, existing) = self.target(name, &probe())?;
                // What moved into the history is no home any more.
                let is_there = existing.is_some() && target.owner.allows_automatic();
                if is_open || is_there {
                    return Ok(Some(name.clone()));
                }
            }
        }
        Ok(None)
    }

    /// A learned skill of no known activity whose request was like this one, with what it is for.
    fn alike_home(&self, asked: &str) -> Result<Option<(String, String)>> {
        let encoder = self.parts.surroundings.encoder();
        let mut best: Option<(f32, String, String)> = None;
        let mut compared = 0;
        for proposal in self.raw_records().proposals()? {
            let is_open = proposal.status.is_open();
            let ProposalChange::Rule { groups, asked: known, rule, when, .. } = &proposal.change
            else {
                continue;
            };
            let name = &proposal.skill_name;
            let counts = is_open || proposal.status.as_str() == "applied";
            if !groups.is_empty() || !counts || name.ends_with("-our-way") {
                continue;
            }
            compared += 1;
            if compared > MAX_COMPARED {
                break;
            }
            let known = if known.is_empty() { rule } else { known };
            let score = likeness(asked, known, encoder.as_deref());
            if score < SAME_REQUEST || best.as_ref().is_some_and(|(best, ..)| *best >= score) {
                continue;
            }
            let (target, existing) = self.target(name, &probe())?;
            if is_open || (existing.is_some() && target.owner.allows_automatic()) {
                best = Some((score, name.clone(), when.clone()));
            }
        }
        Ok(best.map(|(_, name, when)| (name, when)))
    }

    /// `our-<subject>`, or the same with a number where that name is taken.
    pub(crate) fn unused_name(&self, subject: &str) -> Result<String> {
        let base = name::writable_name(&format!("our-{subject}"))?;
        let is_open = |proposal: &Proposal| proposal.status.is_open();
        let open: Vec<String> = self
            .raw_records()
            .proposals()?
            .into_iter()
            .filter(is_open)
            .map(|proposal| proposal.skill_name)
            .collect();
        for number in 1.. {
            let name = if number == 1 { base.clone() } else { format!("{base}-{number}") };
            let (target, existing) = self.target(&name, &probe())?;
            let taken = target.owner.forbids() || existing.is_some() || open.contains(&name);
            if !taken {
                return Ok(name);
            }
        }
        Ok(base)
    }
}

/// The day of a moment, such as `2026-11-12`.
pub(crate) fn day_of(now: u64) -> String {
    UtcInstant::from_clock(now).day().to_string()
}

/// Asks for a target without a change of its own.
pub(crate) fn probe() -> ProposalChange {
    ProposalChange::Append {
        section: rule_file::RULES.to_owned(),
        body: String::new(),
        description: String::new(),
    }
}

/// The words of a request that a skill can be named after.
fn subject(request: &str) -> Option<String> {
    const EMPTY: &[&str] = &[
        "the", "and", "for", "with", "this", "that", "please", "you", "can", "could", "our",
        "some", "from", "into", "then", "are", "was", "what", "how",
    ];
    // What stands for a personal word names nothing.
    let plain: String =
        request.split('<').map(|part| part.split('>').next_back().unwrap_or(part)).collect();
    let words = sinew_route::words::raw(&plain).map(str::to_lowercase);
    let words = words.filter(|word| word.chars().count() > 2 && !EMPTY.contains(&word.as_str()));
    let words: Vec<String> = words.take(NAME_WORDS).collect();
    let name = name::normalise_name(&words.join(" "));
    (!name.is_empty()).then_some(name)
}
