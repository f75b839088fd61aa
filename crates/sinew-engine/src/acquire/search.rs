//! Looking for candidates: in the memory first, in registries where that knows none.

use sinew_cortex::acquire::{AcquireCandidate, AcquireEvent, AcquireRun, ChosenSkill, MAX_SHOWN};
use sinew_cortex::explain::{RecallAction, RegionMatchKind};
use sinew_cortex::signals::search_message;
use sinew_route::words::english_words;
use sinew_settings::ErrorKind;
use sinew_store::{ExpectedVersion, JsonText};

use super::flow::AcquireDriver;
use super::host::AcquireProgress;
use super::market::{MarketListing, MarketQuery};
use super::ranked_listings::ListingRanking;
use crate::{EngineError, RouteRequest};

/// How sources name the skills that were acquired from them, so that a recall needs no search.
const REFERENCES: &str = "acquired";
/// Keywords of a search.
const MAX_KEYWORDS: usize = 5;
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
        let task = run.task.as_deref().unwrap_or_default();
        let message = search_message(task);
        let keywords = in_english(keywords, task);
        if keywords.is_empty() && message.is_empty() {
            let problems = vec!["the task has no words to search with".to_owned()];
            self.host.on_progress(&AcquireProgress::Searched {
                keywords: &keywords,
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
        let ranking = ListingRanking { engine: self.engine, task };
        let relevant =
            |listing: &MarketListing| !unwanted(&listing.slug) && ranking.fits_alone(listing);
        let query = MarketQuery { message: &message, keywords: &keywords };
        let searched = self.market.search(&query, &relevant).map_err(|error| {
            error.hint(format!("`sinew acquire --resume {}` tries again", run.id))
        })?;
        self.host.on_progress(&AcquireProgress::Searched {
            keywords: &keywords,
            found: searched.listings.len(),
            relevant: searched.relevant,
            supplemented: searched.supplemented,
            problems: searched.problems,
        });
        let mut rows = searched.listings;
        rows.retain(|listing| !unwanted(&listing.slug));
        let fitting = ranking.ranked(&rows, &|listing| self.market.text(listing));
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
                problems.push(error.to_string());
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

/// Keywords with the English words that the bridge lexicon knows for a task in another language.
fn in_english(keywords: &[String], task: &str) -> Vec<String> {
    let mut all = keywords.to_vec();
    for word in english_words(task) {
        if all.len() < MAX_KEYWORDS && !all.iter().any(|known| known == word) {
            all.push(word.to_owned());
        }
    }
    all
}

fn offer_of(listing: &MarketListing) -> AcquireCandidate {
    AcquireCandidate {
        reference: listing.reference.clone(),
        reviewed: listing.reviewed,
        wanted: listing.version.clone(),
        description: Some(listing.description.clone()).filter(|text| !text.is_empty()),
        stars: listing.stars,
        downloads: listing.downloads,
        ..AcquireCandidate::new(&listing.slug, &listing.source)
    }
}

fn reference_key(offer: &AcquireCandidate) -> String {
    format!("{}/{}", offer.source, offer.slug)
}
