//! The cortex with hands: real databases, several processes, damage. A number in brackets is an
//! acceptance case of the cortex.

#[macro_use]
pub(crate) mod support;

mod damage;
mod kill;
mod mirror;
mod outage;
mod prior;
mod processes;
mod record;
mod room;
mod runs;
