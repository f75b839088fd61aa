//! The models: a static token table, an encoder, and whatever else can embed text.

pub(crate) mod embed;
pub(crate) mod encoder;
pub(crate) mod file;
mod folder;
pub(crate) mod math;
mod safetensors;
pub(crate) mod set;
mod stack;
pub(crate) mod static_table;
pub(crate) mod weights;
