//! The acquisition flow with hands: recall, search, show, ask, install, use, learn, release.
//!
//! The states and what follows from them are `sinew_cortex::acquire`; here their effects are carried
//! out. [`Engine::acquisition`] gives an [`Acquisition`] over a [`Market`] (where skills come from); a
//! [`Host`] is whoever sits at the other end: a person at a terminal, a script, an agent's server.
//! What the host cannot decide now is left standing: the run is in the database after every step, and
//! [`Acquisition::carry_on`] takes it up in any process.
//!
//! What must never happen here: bytes on disk that nobody agreed to, a skill of the person's own that
//! is taken away, an outcome that counts twice.
//!
//! [`Engine::acquisition`]: crate::Engine::acquisition

mod ask;
mod deps;
mod effects;
mod flow;
mod host;
mod hub;
mod market;
mod place;
mod plan;
mod seek;
mod show;

pub use flow::{Acquisition, Standing, Waits, Wish};
pub use host::{Host, Paused, Ready, Reply, Told, Unattended};
pub use hub::HubMarket;
pub use market::{Fetched, Listing, Market, Order, Placed, Searched, Wanted};
pub use show::Shown;
