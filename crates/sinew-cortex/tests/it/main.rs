//! The cortex against its specification. A number in brackets is the acceptance case it shows.

mod acquire;
mod bayes;
mod bundle;
mod history;
mod lessons;
mod original;
mod properties;
mod pruning;
mod recall;
mod reflex;
mod signals;
mod simulate;
mod weights;
