//! Probation: what was learned has to prove itself.
//!
//! An applied creation or addition is visible at once and on trial. Three successful uses promote it;
//! a month without any, or a record that is worse than that of the same tasks without it, makes a
//! proposal to retire it. Uses come from outside, and only a person retires anything.
//!
//! What must never happen here: a skill that is taken away unasked, or asked about twice.

use serde::{Deserialize, Serialize};
use sinew_cortex::bayes::{Z, wilson};
use sinew_settings::Actor;
use sinew_settings::config::ProbationRule;

use crate::error::Result;
use crate::event::{WorkshopEvent, WorkshopEventKind};
use crate::gates::SkillOwner;
use crate::proposal::{Proposal, ProposalChange, ProposalSource};
use crate::records::RecordsChange;
use crate::status::ProposalState;
use crate::suggest::{ApplyMode, ProposalOrigin, ProposalRequest};
use crate::workshop::Workshop;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// The probation state of something that was learned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case", rename_all_fields = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum ProbationStatus {
    /// It has to prove itself.
    Trial {
        /// Since when, in milliseconds since 1970.
        since: u64,
    },
    /// It has proved itself; a bad record can still lead to retirement.
    Promoted {
        /// When its trial began.
        since: u64,
    },
    /// The user was asked whether to retire it. The question is asked only once.
    Questioned {
        /// The proposal that asks.
        proposal: String,
    },
}

/// How uses ended since a change was written, and the same tasks without it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TrialRecord {
    /// Whether it was opened at all, however that ended.
    pub used: bool,
    /// Uses that worked.
    pub success: u64,
    /// Uses that did not.
    pub failure: u64,
    /// Uses of the same task areas that worked without it.
    pub success_without: u64,
    /// And those that did not.
    pub failure_without: u64,
}

/// The verdict on a record.
#[derive(Debug, Clone, PartialEq, Eq)]
enum TrialVerdict {
    /// Nothing yet.
    Open,
    /// It has proved itself.
    Promote,
    /// It should be retired, and why.
    Retire(String),
}

/// What `trials` say about a change that was written `age_ms` ago.
fn judge(
    probation: &ProbationStatus,
    trials: &TrialRecord,
    age_ms: u64,
    rule: ProbationRule,
) -> TrialVerdict {
    let TrialRecord { success, failure, .. } = *trials;
    let uses = success + failure;
    let others = trials.success_without + trials.failure_without;
    if uses >= rule.min_trials && others > 0 {
        let mean = trials.success_without as f64 / others as f64;
        // Wilson's upper bound of success is one minus the lower bound of failure.
        let at_most = 1.0 - wilson(failure as f64, uses as f64, Z);
        if at_most < mean {
            return TrialVerdict::Retire(format!(
                "it worked in {success} of {uses} uses, so at most in {:.0} % of all; \
                 {} of {others} uses worked here without it",
                100.0 * at_most,
                trials.success_without,
            ));
        }
    }
    match probation {
        ProbationStatus::Trial { .. } if success >= rule.uses => TrialVerdict::Promote,
        ProbationStatus::Trial { .. } if !trials.used && age_ms >= rule.idle_days * DAY_MS => {
            TrialVerdict::Retire(format!("it was not used once in {} days", age_ms / DAY_MS))
        }
        _ => TrialVerdict::Open,
    }
}

impl Proposal {
    /// When its trial began, while it can still be judged.
    fn tried_since(&self) -> Option<u64> {
        match (&self.status, &self.probation) {
            (
                ProposalState::Applied,
                Some(ProbationStatus::Trial { since } | ProbationStatus::Promoted { since }),
            ) => Some(*since),
            _ => None,
        }
    }
}

impl Workshop<'_> {
    /// Checks everything that is on trial: promotes what has proved itself, and asks a person about
    /// what should be retired.
    pub fn check_probation(&self) -> Result<Vec<WorkshopEvent>> {
        let mut decided = Vec::new();
        for proposal in self.records()?.proposals()? {
            if let Some(judgement) = self.judged(&proposal) {
                decided.push((proposal.id, judgement));
            }
        }
        if decided.is_empty() {
            return Ok(Vec::new());
        }
        let _lock = self.lock()?;
        let mut events = Vec::new();
        for (id, judgement) in decided {
            let proposal = self.raw_records().proposal(&id)?;
            // Another process may have checked meanwhile.
            if proposal.tried_since().is_some() {
                events.extend(self.settle_probation(proposal, judgement)?);
            }
        }
        Ok(events)
    }

    fn judged(&self, proposal: &Proposal) -> Option<TrialVerdict> {
        let since = proposal.tried_since()?;
        let probation = proposal.probation.as_ref()?;
        let trials = self.parts.surroundings.trials(&proposal.skill_name, since)?;
        let age = self.now().saturating_sub(since);
        match judge(probation, &trials, age, self.settings().probation) {
            TrialVerdict::Open => None,
            decided => Some(decided),
        }
    }

    fn settle_probation(
        &self,
        mut tried: Proposal,
        judgement: TrialVerdict,
    ) -> Result<Vec<WorkshopEvent>> {
        let records = self.raw_records();
        let mut entry = records.change()?;
        let target = self.target(&tried.skill_name, &tried.change);
        let is_ours = target
            .is_ok_and(|(it, _)| matches!(it.owner, SkillOwner::Workshop | SkillOwner::Installed));
        match (judgement, tried.probation.clone()) {
            // What a person changed or removed is theirs to judge.
            _ if !is_ours => tried.probation = None,
            (TrialVerdict::Promote, Some(ProbationStatus::Trial { since })) => {
                tried.probation = Some(ProbationStatus::Promoted { since });
                entry.event(self.event(WorkshopEventKind::Promoted, &tried, None));
            }
            (TrialVerdict::Retire(why), Some(_)) => {
                let asked = self.ask_to_retire(&mut entry, &tried, &why)?;
                tried.probation = Some(ProbationStatus::Questioned { proposal: asked.id });
            }
            _ => return Ok(Vec::new()),
        }
        entry.put(&tried)?;
        entry.save()
    }

    fn ask_to_retire(
        &self,
        entry: &mut RecordsChange<'_>,
        tried: &Proposal,
        why: &str,
    ) -> Result<Proposal> {
        let name = &tried.skill_name;
        let draft = ProposalRequest {
            skill_name: name.clone(),
            title: match self.is_whole_skill(tried) {
                true => format!("Retire {name}"),
                false => format!("Take back what was added to {name}: {}", tried.title),
            },
            reason: why.to_owned(),
            change: ProposalChange::Retire { of: tried.id.clone() },
            evidence: Vec::new(),
            queries: Default::default(),
        };
        let origin = ProposalOrigin {
            by: Actor::System,
            source: ProposalSource::Probation,
            agent_id: None,
            session_id: None,
            apply: ApplyMode::Never,
        };
        let before = self.raw_records().proposals()?;
        let mut asked = self.new_proposal(entry, name, &draft, &origin)?;
        asked.note(self.step("queued", &Actor::System, Some(why.to_owned())));
        entry.put(&asked)?;
        entry.event(self.event(WorkshopEventKind::Queued, &asked, Some(why.to_owned())));
        self.prune(entry, &before)?;
        Ok(asked)
    }

    /// Whether a proposal made the skill, and did not add to one.
    pub(crate) fn is_whole_skill(&self, tried: &Proposal) -> bool {
        matches!(tried.change, ProposalChange::Create { .. })
            && !tried.target.existed
            && tried.target.owner != SkillOwner::Installed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRIAL: ProbationStatus = ProbationStatus::Trial { since: 0 };

    fn trials(success: u64, failure: u64, without: (u64, u64)) -> TrialRecord {
        let used = success + failure > 0;
        let (success_without, failure_without) = without;
        TrialRecord { used, success, failure, success_without, failure_without }
    }

    #[test]
    fn three_successes_promote_and_a_worse_record_retires() {
        let check = |trials: TrialRecord| judge(&TRIAL, &trials, 0, ProbationRule::default());
        assert_eq!(check(trials(2, 0, (0, 0))), TrialVerdict::Open);
        assert_eq!(check(trials(3, 0, (0, 0))), TrialVerdict::Promote);
        assert_eq!(check(trials(3, 4, (70, 30))), TrialVerdict::Promote, "seven uses are too few");
        let TrialVerdict::Retire(why) = check(trials(3, 5, (70, 30))) else { panic!("it goes") };
        assert!(why.starts_with("it worked in 3 of 8 uses, so at most in 65 % of all"), "{why}");
        assert_eq!(check(trials(5, 3, (70, 30))), TrialVerdict::Promote);
        assert_eq!(check(trials(0, 8, (0, 0))), TrialVerdict::Open, "nothing to compare with");
        let promoted = ProbationStatus::Promoted { since: 0 };
        let later = judge(&promoted, &trials(3, 5, (70, 30)), 0, ProbationRule::default());
        assert!(matches!(later, TrialVerdict::Retire(_)));
    }

    #[test]
    fn the_bounds_are_the_specs() {
        let at_most = |success: f64| 1.0 - wilson(8.0 - success, 8.0, Z);
        assert!((at_most(3.0) - 0.6520).abs() < 5e-5, "{}", at_most(3.0));
        assert!((at_most(5.0) - 0.8388).abs() < 5e-5, "{}", at_most(5.0));
    }

    #[test]
    fn an_unused_skill_is_retired_after_a_month_and_a_promoted_one_stays() {
        let rule = ProbationRule::default();
        let idle = |probation: &ProbationStatus, days: u64| {
            judge(probation, &TrialRecord::default(), days * DAY_MS, rule)
        };
        assert_eq!(idle(&TRIAL, 29), TrialVerdict::Open);
        assert_eq!(
            idle(&TRIAL, 30),
            TrialVerdict::Retire("it was not used once in 30 days".to_owned())
        );
        assert_eq!(idle(&ProbationStatus::Promoted { since: 0 }, 300), TrialVerdict::Open);
        let used = TrialRecord { used: true, ..TrialRecord::default() };
        assert_eq!(judge(&TRIAL, &used, 30 * DAY_MS, rule), TrialVerdict::Open);
    }
}
