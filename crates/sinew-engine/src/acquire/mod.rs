//! The acquisition flow with hands: recall, search, show, ask, install, use, learn, release.
//!
//! The states and what follows from them are `sinew_cortex::acquire`; here their effects are carried
//! out. [`HubHandle::acquisition`](crate::HubHandle::acquisition) gives an [`AcquireFlow`] over a [`SkillMarket`] (where skills come from); a
//! [`AcquireHost`] is the surface at the other end: a person at a terminal, a script, an agent's server.
//! What the host cannot decide now is left standing: the run is in the database after every step, and
//! [`AcquireFlow::resume`] takes it up in any process.
//!
//! What must never happen here: bytes on disk without a person's agreement, a skill of the person's
//! own that is taken away, an outcome that counts twice.

mod candidate_summary;
mod candidates;
mod deps;
mod effects;
mod flow;
mod host;
mod hub;
mod market;
mod plan;
mod questions;
mod ranked_listings;
mod search;

pub use candidate_summary::CandidateSummary;
pub use flow::{AcquireFlow, AcquireRequest, AcquireStatus, AcquireWait};
pub use host::{AcquireHost, AcquireProgress, PauseEnd, ReadySkill, UnattendedHost};
pub use hub::HubMarket;
pub(crate) use hub::{ROWS, listing};
pub use market::{
    AcquireTarget, FetchedCandidate, InstallOrder, MarketInstall, MarketListing, MarketQuery,
    MarketSearchResult, SkillMarket,
};
pub(crate) use ranked_listings::ListingRanking;
