//! The cortex compared with Skill Cortex's documented behaviour, and what sinew adds to it.

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
