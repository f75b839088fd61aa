//! The models: a static token table, an encoder, and whatever else can embed text.

pub(crate) mod embed;
pub(crate) mod encoder;
pub(crate) mod file;
pub(crate) mod math;
pub(crate) mod set;
pub(crate) mod static_table;
