//! Rules that the user taught come first where they hold: a learned skill is found by the kind of task
//! that a message is, in whatever words, and what the router found beside it stays.

use std::time::{Duration, Instant};

use sinew_catalog::Catalog;
use sinew_route::{AbstainReason, RouteDecision, RouteResult, ScoreParts, SkillMatch};
use sinew_settings::config::ModelChoice;
use sinew_workshop::{MessageMeaning, TaughtHit, TaughtSkill, taught_hit};

use crate::Engine;

/// With less time left than this the encoder is not asked a second time.
const ENCODER_TIME: Duration = Duration::from_millis(60);

/// The score at which a learned skill is as good as certain.
const CERTAIN: f32 = 1.2;

/// A learned skill that comes first, and why.
pub(super) struct TaughtAnswer {
    pub(super) skill: String,
    pub(super) reason: String,
}

impl Engine {
    /// Puts the learned skill whose rules hold for a message first.
    pub(super) fn put_taught_first(
        &self,
        catalog: &Catalog,
        result: &mut RouteResult,
        message: &str,
        until: Option<Instant>,
    ) -> Option<TaughtAnswer> {
        let visible = catalog.unshadowed().filter(|entry| entry.model_visible && entry.eligible);
        let skills: Vec<TaughtSkill> = visible
            .filter_map(|entry| {
                let taught = TaughtSkill::of(entry.skill.as_ref()?)?;
                Some(TaughtSkill { name: entry.name.clone(), ..taught })
            })
            .collect();
        if skills.is_empty() {
            return None;
        }
        let has_time = until
            .is_none_or(|until| until.saturating_duration_since(Instant::now()) > ENCODER_TIME);
        let encoder = has_time.then(|| self.models(ModelChoice::Default).encoder).flatten();
        let encoder = encoder.filter(|encoder| encoder.is_local());
        let meaning = MessageMeaning::of(message, encoder.as_deref());
        let hit = taught_hit(&meaning, &skills);
        let name = hit.and_then(|hit| Some(skills.get(hit.at)?.name.clone()));
        leave_out_others(result, &skills, name.as_deref());
        let (hit, name) = (hit?, name?);
        place_first(catalog, result, &name, hit)?;
        Some(TaughtAnswer { skill: name, reason: format!("you taught a rule for {}", hit.when) })
    }
}

/// A rule comes by the kind of task it holds for, or by its name. That the words of a message are near
/// its own is no sign of that: "who wrote the last commit?" needs no rule about committing.
fn leave_out_others(result: &mut RouteResult, skills: &[TaughtSkill], hit: Option<&str>) {
    let is_taught = |found: &SkillMatch| skills.iter().any(|skill| skill.name == found.name);
    let stays = |found: &SkillMatch| {
        hit == Some(found.name.as_str()) || found.parts.name.raw > 0.0 || !is_taught(found)
    };
    let was_first = result.matches.first().is_some_and(|first| !stays(first));
    result.offered = result.matches.iter().take(result.offered).filter(|one| stays(one)).count();
    result.matches.retain(stays);
    if result.offered == 0 && result.decision != RouteDecision::None {
        result.decision = RouteDecision::None;
        result.reason = Some(AbstainReason::NothingFits);
    } else if was_first && result.decision == RouteDecision::Match {
        result.decision = RouteDecision::Shortlist;
    }
}

fn place_first(
    catalog: &Catalog,
    result: &mut RouteResult,
    name: &str,
    hit: TaughtHit,
) -> Option<()> {
    let known = result.matches.iter().position(|found| found.name == name);
    if known == Some(0) && result.decision == RouteDecision::Match {
        return Some(());
    }
    let offered =
        result.matches.iter().take(result.offered).filter(|found| found.name != name).count();
    let first = match known {
        Some(at) => result.matches.remove(at),
        None => {
            let entry = catalog.unshadowed().find(|entry| entry.name == name)?;
            SkillMatch {
                id: entry.name.clone(),
                name: entry.name.clone(),
                description: entry.description.clone(),
                probability: 0.0,
                score: result.matches.first().map_or(0.0, |found| found.score),
                parts: ScoreParts::default(),
                terms: Vec::new(),
            }
        }
    };
    let probability = f64::from((hit.score / CERTAIN).min(0.99));
    let first = SkillMatch { probability: first.probability.max(probability), ..first };
    result.matches.insert(0, first);
    result.offered = offered + 1;
    result.decision = RouteDecision::Match;
    result.reason = None;
    result.fit = result.fit.max(probability);
    Some(())
}
