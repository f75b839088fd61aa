//! Looking for candidates: in the memory first, in registries where that knows none.

use sinew_cortex::acquire::{Event, MAX_SHOWN, Offer, Run};
use sinew_cortex::explain::{Action, MatchKind};
use sinew_route::{Context, Decision, Document, Message, Router};
use sinew_store::{Expect, Json};

use super::flow::Drive;
use super::host::Told;
use super::market::Listing;
use crate::{Error, ModelChoice};

/// How sources name the skills that were acquired from them, so that a recall needs no search.
const REFERENCES: &str = "acquired";
/// Fewer relevant results of reviewed registries than this are filled up from elsewhere.
const FEW: usize = 2;
/// The source that nobody reviews.
const UNREVIEWED: &str = "github";

impl Drive<'_> {
    /// Asks the installed skills, then the memory.
    pub(super) fn recall(&mut self, run: &Run) -> Event {
        let task = run.task.as_deref().unwrap_or_default();
        let snapshot = self.engine.snapshot();
        let found = self.engine.router(&snapshot.catalog, ModelChoice::Default).find(task, None);
        let result = &found.result;
        if let (Decision::Match, Some(skill), false) =
            (result.decision, result.matches.first(), run.anyway)
        {
            self.host.told(&Told::Handled { skill: &skill.name });
            return Event::Handled;
        }
        let installed =
            result.matches.iter().take(result.offered).map(|found| found.name.clone()).collect();
        let recalled = self.cortex.recall(task, run.region.as_deref());
        let told = recalled.explanation;
        let offers: Vec<Offer> = match told.decision.action {
            Action::Search => Vec::new(),
            Action::Present => {
                let offered = told.candidates.iter().filter(|view| view.filtered.is_none());
                offered
                    .map(|view| Offer {
                        reviewed: view.source != UNREVIEWED,
                        learned: Some(view.version.clone()),
                        last_resort: view.is_last_resort(),
                        ..Offer::new(&view.slug, &view.source)
                    })
                    .collect()
            }
        };
        self.host.told(&Told::Recalled {
            region: told.region.as_deref(),
            candidates: offers.len(),
            reason: &told.decision.reason,
            installed,
        });
        let hit = match told.matched.kind {
            MatchKind::None => false,
            MatchKind::Named => !told.matched.shared.is_empty(),
            _ => true,
        };
        Event::Recalled { region: told.region, hit, offers }
    }

    /// Searches reviewed registries, and others where too little of that fits the task.
    pub(super) fn search(
        &mut self,
        run: &Run,
        keywords: &[String],
        without: &[String],
    ) -> Result<Vec<Offer>, Error> {
        let task = run.task.as_deref().unwrap_or_default();
        let blacklist = self.cortex.with_memory(|memory| {
            memory.blacklist.iter().map(|entry| entry.slug.clone()).collect::<Vec<_>>()
        })?;
        let wanted = |listing: &Listing| {
            !without.contains(&listing.slug) && !blacklist.contains(&listing.slug)
        };
        let mut problems = Vec::new();
        let mut failed = None;
        let mut rows: Vec<Listing> = Vec::new();
        match keywords.is_empty() {
            true => problems.push("the task has no words to search with".to_owned()),
            false => match self.market.search(keywords) {
                Ok(found) => rows = found.into_iter().filter(wanted).collect(),
                Err(error) => {
                    problems.push(error.message.clone());
                    failed = Some(error);
                }
            },
        }
        let mut found = rows.len();
        let mut relevant = self.relevant(task, rows);
        let count = relevant.len();
        let supplemented = count < FEW && !keywords.is_empty();
        if supplemented {
            match self.market.supplement(keywords) {
                Ok(more) => {
                    let more: Vec<Listing> = more.into_iter().filter(wanted).collect();
                    found += more.len();
                    relevant.extend(self.relevant(task, more));
                }
                Err(error) => problems.push(error.message),
            }
        }
        self.host.told(&Told::Searched {
            keywords,
            found,
            relevant: count,
            supplemented,
            problems,
        });
        // A registry that cannot be reached is no answer; whoever carries on asks it again.
        if let (Some(error), true) = (failed, relevant.is_empty()) {
            return Err(error.hint(format!("`sinew acquire --resume {}` tries again", run.id)));
        }
        let mut offers: Vec<Offer> = Vec::new();
        for listing in relevant {
            if offers.len() < MAX_SHOWN && !offers.iter().any(|offer| offer.slug == listing.slug) {
                offers.push(Offer {
                    reference: listing.reference.clone(),
                    reviewed: listing.reviewed,
                    ..Offer::new(&listing.slug, &listing.source)
                });
                self.listings.insert(listing.slug.clone(), listing);
            }
        }
        Ok(offers)
    }

    /// Those whose name and summary the router would at least put on a short list, best first. Each is
    /// asked about alone: that three skills can do a task makes none of them less fit.
    fn relevant(&self, task: &str, rows: Vec<Listing>) -> Vec<Listing> {
        let models = self.engine.models(ModelChoice::Default);
        let config = self.engine.route_config();
        let message = Message::from_user(task);
        let mut fitting: Vec<(f64, Listing)> = Vec::new();
        for row in rows {
            let name = row.name.as_deref().unwrap_or(&row.slug);
            let text = format!("{} {}", row.slug.replace('-', " "), row.description);
            let document = Document::from_description(&row.slug, name, &text);
            let (router, _) = Router::build(&[document], models.clone(), config.clone());
            let result = router.route(&message, &Context::default());
            if result.decision != Decision::None {
                fitting.push((result.fit, row));
            }
        }
        fitting.sort_by(|a, b| b.0.total_cmp(&a.0));
        fitting.into_iter().map(|(_, row)| row).collect()
    }

    pub(super) fn remembered_reference(&self, offer: &Offer) -> Result<Option<String>, Error> {
        if !offer.reference.is_empty() {
            return Ok(Some(offer.reference.clone()));
        }
        let found = self.engine.store()?.get(REFERENCES, &reference_key(offer))?;
        Ok(found.and_then(|found| found.body.read().ok()))
    }

    pub(super) fn remember_reference(&self, offer: &Offer, reference: &str) -> Result<(), Error> {
        let (store, key) = (self.engine.store()?, reference_key(offer));
        let known = store.get(REFERENCES, &key)?.and_then(|found| found.body.read::<String>().ok());
        if known.as_deref() != Some(reference) {
            store.put(REFERENCES, &key, Expect::Any, Json::of(reference)?)?;
        }
        Ok(())
    }
}

fn reference_key(offer: &Offer) -> String {
    format!("{}/{}", offer.source, offer.slug)
}
