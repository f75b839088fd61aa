//! The order of what a search found: the router over names, descriptions, and for the best rows the text
//! itself.
//!
//! A registry orders rows by the words of a query; the router knows the whole message. What must never
//! happen here: a row on top because its registry had it there.

use std::collections::BTreeMap;
use std::sync::Arc;

use sinew_route::{
    RouteContext, RouteDecision, RouteDocument, RouteIndex, RouteResult, Router, RouterConfig,
    RouterModels, UserMessage,
};
use sinew_settings::config::ModelChoice;

use super::market::MarketListing;
use crate::Engine;

/// Rows whose vectors of the encoder are computed; a dozen take a second at worst.
const READ_CLOSELY: usize = 16;
/// Rows whose texts are fetched: one small request each.
const FETCHED_TEXTS: usize = 8;
/// Bytes of a text that are read.
const MAX_TEXT: usize = 64 * 1024;

/// The router over what a search for a task found.
pub(crate) struct ListingRanking<'a> {
    pub(crate) engine: &'a Engine,
    /// The message in the user's words.
    pub(crate) task: &'a str,
}

impl ListingRanking<'_> {
    /// Whether a row of a search fits the task, asked about alone: that three skills can do a task makes
    /// none of them less fit.
    pub(crate) fn fits_alone(&self, listing: &MarketListing) -> bool {
        let models = self.engine.models(ModelChoice::Default);
        let document = document(listing);
        let (router, _) = Router::build(&[document], models, self.engine.route_config());
        route(&router, self.task).decision != RouteDecision::None
    }

    /// The rows that fit the task, reviewed ones first, and each of them the best first. `text_of` gives
    /// the text of a row, where its source has it ready.
    pub(crate) fn ranked(
        &self,
        rows: &[MarketListing],
        text_of: &dyn Fn(&MarketListing) -> Option<String>,
    ) -> Vec<MarketListing> {
        let by_reference: BTreeMap<&str, &MarketListing> =
            rows.iter().map(|row| (row.reference.as_str(), row)).collect();
        let documents: Vec<RouteDocument> =
            by_reference.values().map(|listing| document(listing)).collect();
        let models = self.engine.models(ModelChoice::Default);
        // First by words and static vectors over all rows, then closely over the best.
        let first = self.order(&documents, models.clone().without_encoder());
        let best = |ids: &[String], most: usize| -> Vec<RouteDocument> {
            let found = ids.iter().take(most);
            found.filter_map(|id| documents.iter().find(|one| one.id == *id).cloned()).collect()
        };
        let closely = self.order(&best(&first.ids, READ_CLOSELY), models.clone());
        let mut with_texts = best(&closely.ids, FETCHED_TEXTS);
        for document in &mut with_texts {
            let listing = by_reference.get(document.id.as_str());
            let text = listing.and_then(|listing| text_of(listing));
            if let Some(text) = text.filter(|text| text.len() <= MAX_TEXT) {
                *document = RouteDocument::from_text(&document.id, &document.name, &text);
            }
        }
        let read = self.order(&with_texts, models);
        let mut order: Vec<&String> = Vec::new();
        for id in read.ids.iter().chain(&closely.ids).chain(&first.ids) {
            if !order.contains(&id) {
                order.push(id);
            }
        }
        let fits = |listing: &&MarketListing| {
            read.worth_reading().contains(&listing.reference) || self.fits_alone(listing)
        };
        let ordered = order.into_iter().filter_map(|id| by_reference.get(id.as_str()).copied());
        let mut fitting: Vec<MarketListing> = ordered.filter(fits).cloned().collect();
        fitting.sort_by_key(|listing| !listing.reviewed);
        fitting
    }

    /// The router's order of documents.
    fn order(&self, documents: &[RouteDocument], models: RouterModels) -> ListingOrder {
        let mut index = RouteIndex::build(documents, &models);
        let local = models.encoder.clone().filter(|encoder| encoder.is_local());
        if let Some(encoder) = local {
            let pending = index.pending();
            // Without its vectors, words and static vectors decide.
            let _ = index.fill(encoder.as_ref(), &pending, &|_| {});
        }
        let config = RouterConfig { top: documents.len(), ..self.engine.route_config() };
        let (router, _) = Router::from_index(Arc::new(index), models, config);
        let result = route(&router, self.task);
        ListingOrder {
            offered: result.offered,
            ids: result.matches.into_iter().map(|found| found.id).collect(),
        }
    }
}

/// The ids of rows in the router's order.
struct ListingOrder {
    ids: Vec<String>,
    /// How many of them the router would offer.
    offered: usize,
}

impl ListingOrder {
    fn worth_reading(&self) -> &[String] {
        &self.ids[..self.offered.min(self.ids.len())]
    }
}

fn route(router: &Router, task: &str) -> RouteResult {
    router.route(&UserMessage::from_user(task), &RouteContext::default())
}

/// A row as the router reads it: its description, and the words of its slug.
fn document(listing: &MarketListing) -> RouteDocument {
    let name = listing.name.as_deref().unwrap_or(&listing.slug);
    let text = format!("{} {}", listing.slug.replace('-', " "), listing.description);
    RouteDocument::from_description(&listing.reference, name, &text)
}
