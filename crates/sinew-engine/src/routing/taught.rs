//! Rules that the user taught come first where they hold: a learned skill is found by the requests that
//! its rules corrected, in whatever words, and what the router found beside it stays.
//!
//! What these requests mean is computed once and kept in a file beside the index; it is made anew where
//! it is damaged, and a message that cannot wait for it is answered without the encoder.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use sinew_catalog::Catalog;
use sinew_guard::atomic::{self, FileAccess};
use sinew_route::{AbstainReason, Embedder, RouteDecision, RouteResult, ScoreParts, SkillMatch};
use sinew_settings::config::ModelChoice;
use sinew_workshop::{MessageMeaning, TaughtHit, TaughtMemory, TaughtSkill, taught_hit};

use crate::Engine;

/// With less time left than this the encoder is not asked a second time.
const ENCODER_TIME: Duration = Duration::from_millis(60);

/// The file of what the texts of learned skills mean, one per workspace.
const MEMORY_FILE: &str = "taught-";

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
        let skills = taught_skills(catalog);
        if skills.is_empty() {
            return None;
        }
        let has_time = until
            .is_none_or(|until| until.saturating_duration_since(Instant::now()) > ENCODER_TIME);
        let encoder = has_time.then(|| self.models(ModelChoice::Default).encoder).flatten();
        let encoder = encoder.filter(|encoder| encoder.is_local());
        let meaning = MessageMeaning::of(message, encoder.as_deref());
        let goes_on = || {
            until.is_none_or(|until| {
                until.saturating_duration_since(Instant::now()) > 2 * ENCODER_TIME
            })
        };
        let memory = encoder.as_deref().map(|it| self.taught_memory(&skills, it, &goes_on));
        let hit = taught_hit(&meaning, &skills, memory.as_ref());
        let name = hit.and_then(|hit| Some(skills.get(hit.at)?.name.clone()));
        leave_out_others(result, &skills, name.as_deref());
        let (hit, name) = (hit?, name?);
        place_first(catalog, result, &name, hit)?;
        let when = &skills.get(hit.at)?.when;
        Some(TaughtAnswer { skill: name, reason: format!("you taught a rule for {when}") })
    }

    /// Computes what the texts of learned skills mean, so that no message has to wait for it.
    pub(crate) fn keep_taught(&self, catalog: &Catalog, goes_on: &dyn Fn() -> bool) {
        let skills = taught_skills(catalog);
        let encoder = self.models(ModelChoice::Default).encoder;
        if let Some(encoder) = encoder.filter(|encoder| encoder.is_local() && !skills.is_empty()) {
            self.taught_memory(&skills, encoder.as_ref(), goes_on);
        }
    }

    fn taught_memory(
        &self,
        skills: &[TaughtSkill],
        encoder: &dyn Embedder,
        goes_on: &dyn Fn() -> bool,
    ) -> TaughtMemory {
        let place = self.workspace().as_os_str().as_encoded_bytes();
        let name = format!("{MEMORY_FILE}{}.bin", &sinew_skill::content_hash(place)[..16]);
        let path: PathBuf = self.env.sinew_home().join("cache").join(name);
        let mut memory = match fs::read(&path) {
            Ok(bytes) => TaughtMemory::read(&bytes, encoder),
            Err(_) => TaughtMemory::for_encoder(encoder),
        };
        memory.follow(skills, encoder, goes_on);
        if memory.is_changed()
            && let Err(error) = atomic::write(&path, &memory.to_bytes(), FileAccess::OwnerOnly)
        {
            // It only costs time at the next message.
            tracing::warn!(path = %path.display(), %error, "what rules mean was not saved");
        }
        memory
    }
}

/// The learned skills that may be offered.
fn taught_skills(catalog: &Catalog) -> Vec<TaughtSkill> {
    let visible = catalog.unshadowed().filter(|entry| entry.model_visible && entry.eligible);
    visible
        .filter_map(|entry| {
            let taught = TaughtSkill::of(entry.skill.as_ref()?)?;
            Some(TaughtSkill { name: entry.name.clone(), ..taught })
        })
        .collect()
}

/// A rule comes by what it was taught at, or by its name. That the words of a message are near
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
    let probability = hit.probability();
    let first = SkillMatch { probability: first.probability.max(probability), ..first };
    result.matches.insert(0, first);
    result.offered = offered + 1;
    result.decision = RouteDecision::Match;
    result.reason = None;
    result.fit = result.fit.max(probability);
    Some(())
}
