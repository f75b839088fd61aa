//! The index: everything about a catalog that routing needs, in one block of bytes.
//!
//! The bytes are the file: what was built is what is written, and what is read is used in place.
//! A document is known by (content hash, model id, template version); an equal one is taken over.
//! Encoder vectors are filled in later and ride along.

mod assemble;
mod cosines;
mod layout;
mod prepare;
mod vectors;
mod view;

pub(crate) use cosines::Pointer;
pub use layout::IndexError;
pub use view::{Built, DocumentKey, Index};
