//! Looking for candidates: in the memory first, in registries where that knows none.

use std::cell::RefCell;
use std::collections::BTreeMap;

use sinew_cortex::acquire::{AcquireCandidate, AcquireEvent, AcquireRun, ChosenSkill, MAX_SHOWN};
use sinew_cortex::explain::{RecallAction, RegionMatchKind};
use sinew_route::{RouteContext, RouteDecision, RouteDocument, Router, UserMessage};
use sinew_settings::{ErrorKind, config::ModelChoice};
use sinew_store::{ExpectedVersion, JsonText};

use super::flow::AcquireDriver;
use super::host::AcquireProgress;
use super::market::MarketListing;
use crate::{EngineError, RouteRequest};

/// How sources name the skills that were acquired from them, so that a recall needs no search.
const REFERENCES: &str = "acquired";
/// Unreviewed sources.
const UNREVIEWED: &[&str] = &["git", "github", "skills-sh", "well-known"];

impl AcquireDriver<'_> {
    /// Asks the installed skills, then the memory.
    pub(super) fn recall(&mut self, run: &AcquireRun) -> AcquireEvent {
        let task = run.task.as_deref().unwrap_or_default();
        let answer = self.engine.route(&RouteRequest::new(task));
        // A chosen skill is the one that is wanted, whatever is installed or remembered.
        let open = !run.anyway && run.chosen.is_none();
        if let (Some(skill), true) = (answer.matched(), open) {
            self.host.on_progress(&AcquireProgress::Handled { skill: &skill.name });
            return AcquireEvent::Handled;
        }
        let installed = answer.offers().iter().map(|found| found.name.clone()).collect();
        let recalled = self.cortex.recall(task, run.region.as_deref());
        let told = recalled.explanation;
        let offers: Vec<AcquireCandidate> = match told.decision.action {
            RecallAction::Present if run.chosen.is_none() => {
                let offered = told.candidates.iter().filter(|view| view.filtered.is_none());
                offered
                    .map(|view| AcquireCandidate {
                        reviewed: !UNREVIEWED.contains(&view.source.as_str()),
                        learned: Some(view.version.clone()),
                        last_resort: view.is_last_resort(),
                        ..AcquireCandidate::new(&view.slug, &view.source)
                    })
                    .collect()
            }
            RecallAction::Present | RecallAction::Search => Vec::new(),
        };
        self.host.on_progress(&AcquireProgress::Recalled {
            region: told.region.as_deref(),
            candidates: offers.len(),
            reason: &told.decision.reason,
            installed,
        });
        let hit = match told.matched.kind {
            RegionMatchKind::None => false,
            RegionMatchKind::Named => !told.matched.shared.is_empty(),
            _ => true,
        };
        AcquireEvent::Recalled { region: told.region, hit, offers }
    }

    /// Searches registries for what fits the task.
    pub(super) fn search(
        &mut self,
        run: &AcquireRun,
        keywords: &[String],
        without: &[String],
    ) -> Result<Vec<AcquireCandidate>, EngineError> {
        if let Some(chosen) = &run.chosen {
            return self.look_up(chosen, without);
        }
        if keywords.is_empty() {
            let problems = vec!["the task has no words to search with".to_owned()];
            self.host.on_progress(&AcquireProgress::Searched {
                keywords,
                found: 0,
                relevant: 0,
                supplemented: false,
                problems,
            });
            return Ok(Vec::new());
        }
        let blacklist = self.cortex.blacklist()?;
        let unwanted = |slug: &String| {
            without.contains(slug) || blacklist.iter().any(|entry| entry.slug == *slug)
        };
        let task = run.task.as_deref().unwrap_or_default();
        let fits = RefCell::new(BTreeMap::new());
        let relevant = |listing: &MarketListing| {
            if unwanted(&listing.slug) {
                return false;
            }
            let fit = self.fit(task, listing);
            fits.borrow_mut().insert(listing.reference.clone(), fit.unwrap_or(0.0));
            fit.is_some()
        };
        let searched = self.market.search(keywords, &relevant).map_err(|error| {
            error.hint(format!("`sinew acquire --resume {}` tries again", run.id))
        })?;
        self.host.on_progress(&AcquireProgress::Searched {
            keywords,
            found: searched.listings.len(),
            relevant: searched.relevant,
            supplemented: searched.supplemented,
            problems: searched.problems,
        });
        let fits = fits.into_inner();
        let fit = |listing: &MarketListing| fits.get(&listing.reference).copied().unwrap_or(0.0);
        let mut fitting: Vec<MarketListing> =
            searched.listings.into_iter().filter(|listing| fit(listing) > 0.0).collect();
        fitting.sort_by(|a, b| b.reviewed.cmp(&a.reviewed).then_with(|| fit(b).total_cmp(&fit(a))));
        let mut offers: Vec<AcquireCandidate> = Vec::new();
        for listing in fitting {
            if offers.len() < MAX_SHOWN && !offers.iter().any(|offer| offer.slug == listing.slug) {
                offers.push(offer_of(&listing));
                self.listings.insert(listing.slug.clone(), listing);
            }
        }
        Ok(offers)
    }

    /// The one skill that was chosen. That there is none, or none that may be had, is an answer.
    fn look_up(
        &mut self,
        chosen: &ChosenSkill,
        without: &[String],
    ) -> Result<Vec<AcquireCandidate>, EngineError> {
        let mut problems = Vec::new();
        let listing = match self.market.lookup(&chosen.reference, chosen.version.as_deref()) {
            Err(error) if error.kind() == ErrorKind::Environment => return Err(error),
            Err(error) => {
                problems.push(error.message);
                None
            }
            Ok(listing) => Some(listing).filter(|listing| !without.contains(&listing.slug)),
        };
        let offers: Vec<AcquireCandidate> = listing.iter().map(offer_of).collect();
        self.listings.extend(listing.map(|listing| (listing.slug.clone(), listing)));
        self.host.on_progress(&AcquireProgress::Searched {
            keywords: &[],
            found: offers.len(),
            relevant: offers.iter().filter(|offer| offer.reviewed).count(),
            supplemented: false,
            problems,
        });
        Ok(offers)
    }

    pub(super) fn remembered_reference(
        &self,
        offer: &AcquireCandidate,
    ) -> Result<Option<String>, EngineError> {
        if !offer.reference.is_empty() {
            return Ok(Some(offer.reference.clone()));
        }
        let found = self.engine.store()?.get(REFERENCES, &reference_key(offer))?;
        Ok(found.and_then(|found| found.body.read().ok()))
    }

    pub(super) fn remember_reference(
        &self,
        offer: &AcquireCandidate,
        reference: &str,
    ) -> Result<(), EngineError> {
        let (store, key) = (self.engine.store()?, reference_key(offer));
        let known = store.get(REFERENCES, &key)?.and_then(|found| found.body.read::<String>().ok());
        if known.as_deref() != Some(reference) {
            store.put(REFERENCES, &key, ExpectedVersion::Any, JsonText::of(reference)?)?;
        }
        Ok(())
    }
}

impl AcquireDriver<'_> {
    /// How well a row of a search fits a task: `None` where the router would not even put it on a short
    /// list. Each is asked about alone: that three skills can do a task makes none of them less fit.
    fn fit(&self, task: &str, listing: &MarketListing) -> Option<f64> {
        let name = listing.name.as_deref().unwrap_or(&listing.slug);
        let text = format!("{} {}", listing.slug.replace('-', " "), listing.description);
        let document = RouteDocument::from_description(&listing.slug, name, &text);
        let models = self.engine.models(ModelChoice::Default);
        let (router, _) = Router::build(&[document], models, self.engine.route_config());
        let result = router.route(&UserMessage::from_user(task), &RouteContext::default());
        (result.decision != RouteDecision::None).then_some(result.fit)
    }
}

fn offer_of(listing: &MarketListing) -> AcquireCandidate {
    AcquireCandidate {
        reference: listing.reference.clone(),
        reviewed: listing.reviewed,
        wanted: listing.version.clone(),
        ..AcquireCandidate::new(&listing.slug, &listing.source)
    }
}

fn reference_key(offer: &AcquireCandidate) -> String {
    format!("{}/{}", offer.source, offer.slug)
}
