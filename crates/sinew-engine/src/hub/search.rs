//! Searching elsewhere, with what the router and the memory know.

use std::collections::BTreeMap;

use serde::Serialize;
use sinew_hub::{Hub, RegistryCandidate, RegistryHits, RegistryQuery};
use sinew_route::{RouteContext, RouteDecision, RouteDocument, Router, UserMessage};
use sinew_settings::config::ModelChoice;

use crate::acquire::{ListingRanking, MarketListing, ROWS, listing};
use crate::{EngineError, HubHandle};

/// What became of a skill here before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct CandidateHistory {
    /// How often it worked.
    pub success: u64,
    /// How often it did not.
    pub fail: u64,
    /// It is not to be offered again.
    pub blacklisted: bool,
}

/// A row of a search, with its history.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SearchCandidate {
    /// The row.
    #[serde(flatten)]
    pub candidate: RegistryCandidate,
    /// The address of its source.
    pub address: String,
    /// What became of it here before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history: Option<CandidateHistory>,
}

/// What a search found.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SearchReport {
    /// The rows: fitting ones first, and reviewed before unreviewed.
    pub candidates: Vec<SearchCandidate>,
    /// How many of the reviewed ones fit.
    pub relevant: usize,
    /// Whether unreviewed sources were asked because too little fits.
    pub supplemented: bool,
    /// What could not be asked, or said something strange.
    pub diagnostics: Vec<String>,
    /// How old the answer is, where it is from the cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age_ms: Option<u64>,
}

impl HubHandle<'_> {
    /// Searches the sources of the hub.
    pub fn search(&self, hub: &Hub, query: &RegistryQuery) -> Result<SearchReport, EngineError> {
        let models = self.engine.models(ModelChoice::Default);
        let config = self.engine.route_config();
        let message = UserMessage::from_user(&query.words);
        // Each is asked about alone: that three skills fit makes none of them less fit.
        let relevant = |row: &RegistryCandidate| {
            let name = row.reference.rsplit('/').next().unwrap_or(&row.name);
            let text = format!("{} {}", name.replace('-', " "), row.summary);
            let document = RouteDocument::from_description(&row.reference, &row.name, &text);
            let (router, _) = Router::build(&[document], models.clone(), config.clone());
            router.route(&message, &RouteContext::default()).decision != RouteDecision::None
        };
        let found: RegistryHits = hub.search(query, &relevant)?;
        Ok(self.with_history(hub, found))
    }

    /// Searches for a task, in its user's words, as an acquisition would: more rows of each source, in the
    /// order of the router over names, descriptions and texts. Where none fits, the registries' own rows
    /// come as they are. At most `query.limit` rows.
    pub fn search_for_task(
        &self,
        hub: &Hub,
        task: &str,
        query: &RegistryQuery,
    ) -> Result<SearchReport, EngineError> {
        let ranking = ListingRanking { engine: self.engine, task };
        let fits =
            |row: &RegistryCandidate| listing(row).is_some_and(|row| ranking.fits_alone(&row));
        let wide = RegistryQuery { limit: ROWS, ..query.clone() };
        let mut found: RegistryHits = hub.search(&wide, &fits)?;
        let rows: BTreeMap<&str, &RegistryCandidate> =
            found.candidates.iter().map(|row| (row.reference.as_str(), row)).collect();
        let listings: Vec<MarketListing> = found.candidates.iter().filter_map(listing).collect();
        let text_of = |listing: &MarketListing| hub.skill_text(rows.get(&*listing.reference)?);
        let ranked = ranking.ranked(&listings, &text_of);
        let ranked = ranked.iter().filter_map(|row| rows.get(&*row.reference).copied().cloned());
        let ranked: Vec<RegistryCandidate> = ranked.collect();
        if !ranked.is_empty() {
            found.candidates = ranked;
        }
        found.candidates.truncate(query.limit);
        Ok(self.with_history(hub, found))
    }

    fn with_history(&self, hub: &Hub, found: RegistryHits) -> SearchReport {
        let memory = self.engine.cortex().and_then(|cortex| cortex.memory()).ok();
        let candidates = found.candidates.into_iter().map(|candidate| {
            let slug = candidate.reference.rsplit(['/', ':']).next().unwrap_or_default().to_owned();
            let history = memory.as_ref().and_then(|memory| {
                let known = memory.motor.values().flat_map(|region| &region.candidates);
                let mut history = CandidateHistory {
                    blacklisted: memory.is_blacklisted(&slug),
                    ..CandidateHistory::default()
                };
                for outcome in known.filter(|known| known.slug == slug) {
                    history.success += outcome.success;
                    history.fail += outcome.fail;
                }
                (history != CandidateHistory::default()).then_some(history)
            });
            let address = hub.source_address(&candidate.source);
            SearchCandidate { candidate, address, history }
        });
        SearchReport {
            candidates: candidates.collect(),
            relevant: found.relevant,
            supplemented: found.supplemented,
            diagnostics: found.diagnostics,
            age_ms: found.age_ms,
        }
    }
}
