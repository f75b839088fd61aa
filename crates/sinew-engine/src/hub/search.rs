//! Searching elsewhere, with what the router and the memory know.

use serde::Serialize;
use sinew_hub::{Hub, RegistryCandidate, RegistryHits, RegistryQuery};
use sinew_route::{RouteContext, RouteDecision, RouteDocument, Router, UserMessage};
use sinew_settings::config::ModelChoice;

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
        Ok(SearchReport {
            candidates: candidates.collect(),
            relevant: found.relevant,
            supplemented: found.supplemented,
            diagnostics: found.diagnostics,
            age_ms: found.age_ms,
        })
    }
}
