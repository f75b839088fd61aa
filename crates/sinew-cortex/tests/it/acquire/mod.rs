//! The acquisition flow in a simulated world.

mod consent;
mod crashes;
mod failures;
mod offers;
mod world;
