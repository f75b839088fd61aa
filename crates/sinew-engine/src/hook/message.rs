//! What comes along with a message, or with the task that an agent gives to a helper: the skill that fits.

use std::time::{Duration, Instant};

use sinew_catalog::{EntryState, Snapshot};
use sinew_route::{DegradedKind, DegradedSignal};
use sinew_settings::Actor;

use super::context::{self, ContextLimits, HookContext, MAX_OFFERS};
use super::event::HookEvent;
use super::input::MaskedText;
use super::journal_line::JournalLine;
use super::log::{HookDecisionKind, LoggedMatch, LoggedOffer};
use super::offer::{OfferChoice, OfferRules, SkillOffer, offer_id};
use super::{HookReply, go_on, kept, touched_files};
use crate::routing::{RouteAnswer, RouteRequest, UnavailableSkill};
use crate::{Engine, EngineError, SkillElsewhere};

/// Characters of a message that are routed.
const MAX_ROUTED: usize = 20_000;
/// Characters of a message that the log keeps.
const MAX_LOGGED: usize = 200;
/// The share of the time an agent waits after which a model that is not done is left out.
const MODELS_SHARE: f64 = 0.8;
/// Characters of the frame around skills that come back.
const FRAME_ROOM: usize = 120;
/// Ranked skills that the log keeps.
const LOGGED_RANKS: usize = 5;

impl HookEvent {
    pub(super) fn user_prompt(&self, engine: &Engine) -> Result<HookReply, EngineError> {
        match self.input.prompt() {
            // An offer that is not read would be counted, and never used.
            Some(_) if !self.host.reads(self.moment) => Err(EngineError::new(
                sinew_settings::ErrorCode::UnknownEvent,
                format!("{} reads nothing that a hook adds to a message", self.host.name),
            )
            .hint("its model asks with `find_skill`")),
            Some(prompt) => self.offer_skills(engine, &prompt, None),
            None => Ok(HookReply::default()),
        }
    }

    /// What a helper of the agent gets with its task.
    pub(super) fn helper_start(&self, engine: &Engine) -> Result<HookReply, EngineError> {
        let Some(helper) = self.input.helper() else { return Ok(HookReply::default()) };
        let kind = self.input.helper_kind();
        let journal = self.journal(&engine.env);
        match journal.claim_delegation(&helper, kind.as_deref()).map_err(kept)? {
            Some(task) => self.offer_skills(engine, &task, Some(&helper)),
            None => Err(EngineError::new(
                sinew_settings::ErrorCode::UnknownEvent,
                "the task of the agent's helper is not known: no call that started it was seen",
            )),
        }
    }

    fn offer_skills(
        &self,
        engine: &Engine,
        message: &str,
        helper: Option<&str>,
    ) -> Result<HookReply, EngineError> {
        let message: String = message.chars().take(MAX_ROUTED).collect();
        let request = RouteRequest {
            actor: Actor::Agent { name: self.host.name.to_owned() },
            until: Some(self.models_until(engine)),
            ..RouteRequest::new(message.as_str())
        };
        let snapshot = engine.snapshot_for(&request);
        let answer = engine.routing().route(&snapshot, &request);
        let journal = self.journal(&engine.env);
        let earlier = go_on(journal.lines().map_err(kept))?;
        let touched = match engine.config.hook.files {
            true => earlier.touched_files(),
            false => Vec::new(),
        };
        let files = touched_files::candidates(&snapshot.catalog, &touched, &message, &answer);
        let given = match self.host.keeps_additions {
            true => earlier.offers(),
            false => Vec::new(),
        };
        let rules = OfferRules { engine, host: self.host, earlier: &given, helper };
        let mut choice = rules.choose(&snapshot.catalog, &answer, &files);
        let unavailable = unavailable(&answer);
        let limits = ContextLimits {
            most: engine.config.hook.max_chars,
            with_text: engine.config.hook.max_body,
            bytes: self.host.most_bytes,
        };
        let mut context =
            context::matching_skills(choice.confidence, &choice.offers, &unavailable, limits);
        if context.text.is_empty() && choice.offers.is_empty() && unavailable.is_empty() {
            let lacking = LackingSkill { snapshot: &snapshot, message: &message, answer: &answer };
            let may_search = helper.is_none() && !earlier.has_search_hint();
            let told = self.add_elsewhere(engine, &lacking, may_search, &mut context)?;
            choice.notes.extend(told);
        }
        let at = engine.env.clock.now_ms();
        let id = offer_id(self.host.name, &self.session, at, &message);
        let mut offers = skill_offers(&id, at, &choice, &context, helper);
        for offer in &offers {
            go_on(journal.mark(&JournalLine::Offer(offer.clone())).map_err(kept))?;
        }
        if helper.is_none() {
            let brought = offers.iter().filter(|offer| offer.how.brought_text());
            let brought: Vec<&str> = brought.map(|offer| offer.skill.as_str()).collect();
            let room = limits.with_text.saturating_sub(context.text.chars().count() + FRAME_ROOM);
            let owed = self.skills_owed(engine, &snapshot.catalog, &earlier, room, &brought)?;
            let came_back = owed.offers.iter().map(|offer| {
                format!("{}: it was in use before the conversation was shortened", offer.skill)
            });
            choice.notes.extend(came_back);
            let parts = [owed.text.as_str(), context.text.as_str()];
            context.text =
                parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n");
            offers.extend(owed.offers);
        }
        self.note_offers(engine, &offers);
        self.log(engine, routed(&message, &answer, &unavailable, choice, &context, &offers))?;
        let pending = |gone: &DegradedSignal| gone.kind == DegradedKind::VectorsPending;
        let work_left =
            answer.degraded.iter().any(pending) || engine.routing().work_is_due(&snapshot);
        Ok(HookReply { output: self.added(&context.text), work_left })
    }

    /// When a model must be done: the rest of the time is for the text, the journal and the log.
    fn models_until(&self, engine: &Engine) -> Instant {
        let deadline = Duration::from_millis(engine.config.hook.deadline_ms.into());
        self.started + deadline.mul_f64(MODELS_SHARE)
    }

    /// Where no skill here fits: one line about a skill that did tasks like this one before and is not
    /// here any more, or, once a session, that one can be looked for. Gives what the log says of it.
    ///
    /// A reflex is not begun here: a hook has no time to fetch, and no way to hear a "cancel". The line
    /// sends the agent to `acquire_skill`, which shows the notice and waits.
    fn add_elsewhere(
        &self,
        engine: &Engine,
        lacking: &LackingSkill<'_>,
        may_search: bool,
        context: &mut HookContext,
    ) -> Result<Option<String>, EngineError> {
        let LackingSkill { snapshot, message, answer } = lacking;
        let elsewhere = engine.skill_elsewhere_for_hook(snapshot, message, answer);
        let note = match &elsewhere {
            Some(SkillElsewhere::Remembered { slug, .. }) => {
                format!("remembered: {slug}, which is not installed")
            }
            Some(SkillElsewhere::Registries) if may_search => {
                let journal = self.journal(&engine.env);
                go_on(journal.mark(&JournalLine::SearchHint).map_err(kept))?;
                "no skill here fits: registries can be searched".to_owned()
            }
            _ => return Ok(None),
        };
        if let Some(elsewhere) = &elsewhere {
            context.text = context::elsewhere(elsewhere);
        }
        Ok(Some(note))
    }
}

/// A message that no skill here seems to fit.
struct LackingSkill<'a> {
    snapshot: &'a Snapshot,
    message: &'a str,
    answer: &'a RouteAnswer,
}

/// The offers as the journal keeps them; each has its share of what was added.
fn skill_offers(
    id: &str,
    at: u64,
    choice: &OfferChoice<'_>,
    context: &HookContext,
    helper: Option<&str>,
) -> Vec<SkillOffer> {
    let share = context.text.chars().count() / context.shown.len().max(1);
    let shown = choice.offers.iter().zip(&context.shown);
    let offers = shown.map(|(offer, how)| SkillOffer {
        offer: id.to_owned(),
        at,
        skill: offer.entry.name.clone(),
        digest: offer.entry.content_hash.clone(),
        how: *how,
        chars: share,
        helper: helper.map(str::to_owned),
    });
    offers.collect()
}

fn routed(
    message: &str,
    answer: &RouteAnswer,
    unavailable: &[&UnavailableSkill],
    choice: OfferChoice<'_>,
    context: &HookContext,
    offers: &[SkillOffer],
) -> HookDecisionKind {
    let is_offered = |name: &str| offers.iter().any(|offer| offer.skill == name);
    let ranked = answer.matches.iter().take(LOGGED_RANKS).map(|found| LoggedMatch {
        name: found.name.clone(),
        probability: found.probability,
        parts: parts(found.parts.each().map(|(name, part)| (name, part.value()))),
        offered: is_offered(&found.name),
    });
    HookDecisionKind::Routed {
        message: MaskedText::of(message, MAX_LOGGED).text,
        decision: answer.decision.as_str().to_owned(),
        named: answer.named.iter().map(|named| named.name.clone()).collect(),
        ranked: ranked.collect(),
        unavailable: unavailable.iter().map(|skill| skill.sentence()).collect(),
        threshold: answer.threshold,
        degraded: answer.degraded.iter().map(DegradedSignal::sentence).collect(),
        offers: offers
            .iter()
            .map(|offer| LoggedOffer {
                offer: offer.offer.clone(),
                skill: offer.skill.clone(),
                how: offer.how,
            })
            .collect(),
        notes: choice.notes,
        added: context.text.chars().count(),
    }
}

/// The skills that would fit if this machine had what they need. What a person switched off, or the
/// guard holds back, is not brought up at every message.
fn unavailable(answer: &RouteAnswer) -> Vec<&UnavailableSkill> {
    let needs_setup = |skill: &&UnavailableSkill| skill.state == EntryState::NeedsSetup;
    answer.unavailable.iter().filter(needs_setup).take(MAX_OFFERS).collect()
}

fn parts<'p>(each: impl Iterator<Item = (&'p str, f64)>) -> Vec<(String, f64)> {
    each.filter(|(_, value)| *value != 0.0).map(|(name, value)| (name.to_owned(), value)).collect()
}
