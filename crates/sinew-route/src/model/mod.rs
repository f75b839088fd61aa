//! The models: a static token table, an encoder, and whatever else can embed text.

pub(crate) mod embed;
pub(crate) mod encoder;
pub(crate) mod file;
mod folder;
pub(crate) mod math;
pub(crate) mod router_models;
mod safetensors;
pub(crate) mod static_table;
mod transformer;
pub(crate) mod weights;
