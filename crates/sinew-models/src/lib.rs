//! The models of routing: bytes in, vectors out.
//!
//! A [`StaticModel`] sums the rows of a token table; a [`TextEncoder`] runs a transformer of BERT's
//! shape in signed bytes, ours or one from a folder; a [`RemoteEmbedder`] asks a server. The weights
//! of ours are in the program where it is built with the feature `embedded`.
//!
//! ```
//! use sinew_models::{StaticModel, TextSide};
//!
//! let Some(table) = StaticModel::embedded() else { return Ok(()) };
//! let table = table?;
//! let close = |a: &str, b: &str| -> f32 {
//!     table.document(a).iter().zip(table.document(b)).map(|(a, b)| a * b).sum()
//! };
//! assert!(close("merge two PDF files", "join pdf pages") > close("merge two PDF files", "rain"));
//! # Ok::<(), sinew_models::ModelLoadError>(())
//! ```
//!
//! **Promise:** the same text gives the same vector, to the bit, on every machine and with every
//! instruction set; no file and no text makes this crate panic. **Left out on purpose:** ranking,
//! files and the network (bytes and an [`EmbedTransport`] come in).

mod embed;
mod embedded;
mod encoder;
mod file;
mod fnv;
mod folder;
mod kernel;
mod math;
mod safetensors;
mod static_table;
pub mod text;
mod tokens;
mod transformer;
mod weights;

/// The version of the texts that models read of a document. Models name the one they were trained on.
pub const TEMPLATE_VERSION: u32 = 1;

pub use embed::{
    EmbedDialect, EmbedError, EmbedTransport, Embedder, REMOTE_DEADLINE, RemoteEmbedder, TextSide,
};
pub use encoder::TextEncoder;
pub use file::ModelLoadError;
pub use kernel::{KernelLevel, scan};
pub use math::quantise;
pub use static_table::StaticModel;
