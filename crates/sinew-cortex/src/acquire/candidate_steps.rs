//! From a task to a candidate: recall, search, fetch, and the offer by reflex or with a question.

use sinew_settings::config::ReflexInstall;

use super::consent::AcquireRefusal;
use super::run::{
    AcquireCandidate, AcquireEnding, AcquireState, AttemptStage, CandidateAttempt,
    CandidateVerdict, GONE, StagedCandidate,
};
use super::step::{AcquireEffect, AcquireStepper};
use super::{MAX_SHOWN, MAX_SWITCHES};
use crate::explain::PlanMode;
use crate::failure::FailureKind;
use crate::record::{RecordBody, RegionSkill, StatKey};
use crate::reflex::{self, ReadOnlyWord, ReflexContext};

impl AcquireStepper<'_> {
    pub(super) fn recalled(
        &mut self,
        region: Option<String>,
        hit: bool,
        offers: Vec<AcquireCandidate>,
    ) {
        self.run.region = region;
        self.run.hit = hit;
        // What is gone is not tried again until a search finds it.
        let mut offers = offers;
        offers.retain(|offer| !self.context.memory.is_vanished(&offer.slug));
        if offers.is_empty() {
            return self.search();
        }
        self.stat(StatKey::CacheHits);
        self.present(offers);
    }

    pub(super) fn search(&mut self) {
        let keywords = self.run.keywords();
        let without = self.run.candidates.iter().map(|offer| offer.slug.clone()).collect();
        self.effects.push(AcquireEffect::Search { keywords, without });
        self.run.state = AcquireState::Search;
    }

    pub(super) fn found(&mut self, mut offers: Vec<AcquireCandidate>) {
        // Searches are counted per run, not per question.
        if self.run.searches == 0 {
            self.stat(StatKey::Searches);
        }
        self.run.searches += 1;
        let memory = self.context.memory;
        offers.retain(|offer| !memory.is_blacklisted(&offer.slug));
        // Those that were shown before stay, behind the new ones.
        let shown = std::mem::take(&mut self.run.candidates);
        let shown: Vec<AcquireCandidate> = shown.into_iter().filter(|_| self.run.others).collect();
        offers.retain(|offer| !shown.iter().any(|known| known.slug == offer.slug));
        offers.truncate(MAX_SHOWN);
        offers.extend(shown);
        if offers.is_empty() {
            return self.close(AcquireEnding::NoCandidates);
        }
        self.present(offers);
    }

    fn present(&mut self, mut offers: Vec<AcquireCandidate>) {
        // What failed last at this kind of task is not first again.
        offers.sort_by_key(|offer| self.failed_last(&offer.slug));
        if !self.run.others {
            offers.truncate(MAX_SHOWN);
        }
        self.run.candidates = offers;
        self.run.cursor = 0;
        let region = self.run.region.clone();
        for at in 0..self.run.candidates.len() {
            let offer = &mut self.run.candidates[at];
            let known =
                region.as_deref().and_then(|name| self.context.memory.candidate(name, &offer.slug));
            offer.learned = known.map(|candidate| candidate.version.clone());
            if offer.last_resort
                && let Some(region) = &region
            {
                let place = RegionSkill {
                    slug: offer.slug.clone(),
                    region: region.clone(),
                    run: Some(self.run.id.clone()),
                };
                self.run.log(RecordBody::Offered(place), self.context.now);
            }
        }
        self.fetch();
    }

    /// Whether the last use of a skill for this kind of task failed by its own fault.
    fn failed_last(&self, slug: &str) -> bool {
        let region = self.run.region_for(slug);
        let known = self.context.memory.candidate(&region, slug);
        known.is_some_and(|candidate| candidate.ring.ends_with(['t', 'r']))
    }

    fn fetch(&mut self) {
        let wanted = self.run.candidates.iter().filter(|offer| offer.staged.is_none());
        let slugs = wanted.map(|offer| offer.slug.clone()).collect();
        self.effects.push(AcquireEffect::Fetch(slugs));
        self.run.state = AcquireState::Present;
    }

    pub(super) fn fetched(&mut self, results: Vec<(String, Result<StagedCandidate, String>)>) {
        for (slug, result) in results {
            let Some(offer) = self.run.candidates.iter_mut().find(|offer| offer.slug == slug)
            else {
                continue;
            };
            match result {
                Ok(staged) => {
                    offer.failed = (staged.verdict == CandidateVerdict::Block)
                        .then(|| AcquireRefusal::Blocked.to_string());
                    offer.staged = Some(staged);
                }
                Err(detail) => offer.failed = Some(detail),
            }
        }
        self.note_vanished();
        for offer in &mut self.run.candidates {
            if offer.staged.is_none() && offer.failed.is_none() {
                offer.failed = Some("it was not fetched".to_owned());
            }
        }
        // Before a person is asked: another version is another skill.
        for offer in self.run.candidates.clone() {
            if let (Some(stored), Some(staged)) = (offer.learned, offer.staged)
                && stored != staged.version
            {
                let body =
                    RecordBody::VersionSeen { slug: offer.slug, stored, found: staged.version };
                self.run.log(body, self.context.now);
            }
        }
        if self.turn_to_usable() {
            self.offer();
        }
    }

    /// Records what is remembered and no longer there.
    fn note_vanished(&mut self) {
        let gone = |offer: &&AcquireCandidate| {
            offer.learned.is_some() && offer.failed.as_deref() == Some(GONE)
        };
        let slugs: Vec<String> =
            self.run.candidates.iter().filter(gone).map(|offer| offer.slug.clone()).collect();
        for slug in slugs.into_iter().filter(|slug| !self.context.memory.is_vanished(slug)) {
            let region = self.run.region_for(&slug);
            let place = RegionSkill { slug, region, run: Some(self.run.id.clone()) };
            self.run.log(RecordBody::Vanished(place), self.context.now);
        }
    }

    /// Whether what was remembered is gone, so that a search has to follow.
    fn must_search(&self) -> bool {
        let mut all = self.run.candidates.iter();
        self.run.searches == 0
            && self.run.chosen.is_none()
            && all.any(|offer| offer.failed.as_deref() == Some(GONE))
            && self.run.candidates.iter().all(|offer| offer.failed.is_some())
    }

    /// Moves to the first candidate that can be installed, or ends the run.
    pub(super) fn turn_to_usable(&mut self) -> bool {
        if self.must_search() {
            self.search();
            return false;
        }
        while let Some(offer) = self.run.current().cloned() {
            let Some(detail) = offer.failed.clone() else { return true };
            self.note_attempt(
                &offer,
                AttemptStage::Install,
                Some(FailureKind::RuntimeError),
                &detail,
                0,
            );
            if !self.turn_to_next() {
                break;
            }
        }
        self.fail(AcquireEnding::InstallFailed);
        false
    }

    pub(super) fn turn_to_next(&mut self) -> bool {
        let has_next = self.run.cursor + 1 < self.run.candidates.len();
        if !has_next || self.run.switches >= MAX_SWITCHES {
            return false;
        }
        self.run.cursor += 1;
        self.run.switches += 1;
        true
    }

    pub(super) fn note_attempt(
        &mut self,
        offer: &AcquireCandidate,
        stage: AttemptStage,
        kind: Option<FailureKind>,
        detail: &str,
        attempts: u32,
    ) {
        self.run.attempts.push(CandidateAttempt {
            slug: offer.slug.clone(),
            source: offer.source.clone(),
            version: offer.version().to_owned(),
            stage,
            kind,
            detail: detail.to_owned(),
            attempts,
        });
    }

    /// Offers the candidates: by reflex if it fires, otherwise with a question.
    fn offer(&mut self) {
        let Some(offer) = self.run.current().cloned() else { return };
        match self.reflex(&offer) {
            Some(text) => {
                self.run.mode = PlanMode::Reflex;
                let policy = self.context.policy;
                if policy.install == ReflexInstall::Notify && self.was_approved(&offer) {
                    let ms = policy.cancel_window_ms;
                    let until = self.context.now.plus_ms(i64::try_from(ms).unwrap_or(i64::MAX));
                    self.effects.push(AcquireEffect::Notify { text, ms });
                    self.run.state = AcquireState::Notice { until };
                } else {
                    self.effects.push(AcquireEffect::Notify { text, ms: 0 });
                    self.ask_install(&offer);
                }
            }
            None => {
                self.run.mode = PlanMode::Standard;
                self.ask_install(&offer);
            }
        }
    }

    /// Whether a person approved exactly these bytes before, and the scanner still allows them.
    pub(super) fn was_approved(&self, offer: &AcquireCandidate) -> bool {
        let region = self.run.region_for(&offer.slug);
        offer.staged.as_ref().is_some_and(|staged| {
            staged.verdict == CandidateVerdict::Allow
                && self.context.memory.is_approved(&region, &offer.slug, &staged.digest)
        })
    }

    /// The notice of the candidate's reflex, if it fires for the files that would be installed.
    fn reflex(&self, offer: &AcquireCandidate) -> Option<String> {
        let region = self.run.region.as_deref()?;
        let candidate = self.context.memory.candidate(region, &offer.slug)?;
        let staged = offer.staged.as_ref()?;
        let idle = self.context.memory.motor.get(region)?.idle_days(
            candidate,
            self.context.now.day(),
            self.context.policy,
        );
        let moment = ReflexContext {
            idle,
            found: Some(&staged.version),
            shown: &staged.side_effects,
            declared: ReadOnlyWord::of(self.context.memory, Some(&staged.digest)),
        };
        let decided = reflex::decide(candidate, &moment, self.context.policy);
        let notice = match moment.declared {
            ReadOnlyWord::ReadOnly => reflex::declared_notice,
            _ => reflex::notice,
        };
        decided.fires.then(|| notice(candidate, &self.run.signals))
    }
}
