//! The static model: a table of token rows. A text is the normalised, weighted sum of its rows.
//!
//! A token weighs the square root of its count in the text: a word said nine times weighs three.

use std::borrow::Cow;

use crate::file::{ModelFile, ModelLoadError};
use crate::tokens::Tokenizer;
use crate::weights::{WeightMatrix, WeightSource as _};
use crate::{TEMPLATE_VERSION, embedded};

/// The magic of the file.
const MAGIC: &str = "SNWSTAT1";

/// Tokens that are read of a document; the model was trained on as many.
const DOCUMENT_TOKENS: usize = 320;

/// Tokens that are read of a message; the model was trained on as many.
const MESSAGE_TOKENS: usize = 256;

/// A token is at least one character; BERT reads no further than this in training either.
const MAX_TEXT: usize = 12_000;

/// A table of token rows.
pub struct StaticModel {
    file: ModelFile,
    table: WeightMatrix,
    scales: Vec<f32>,
    tokenizer: Tokenizer,
}

impl StaticModel {
    /// The table inside the binary, used where it lies.
    pub fn embedded() -> Option<Result<Self, ModelLoadError>> {
        embedded::static_table().map(|bytes| Self::open(Cow::Borrowed(bytes), false))
    }

    /// A table from the bytes of a file, checked against its digest.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, ModelLoadError> {
        Self::open(Cow::Owned(bytes), true)
    }

    fn open(bytes: Cow<'static, [u8]>, verify: bool) -> Result<Self, ModelLoadError> {
        let file = ModelFile::open(bytes, MAGIC, verify)?;
        if file.header.template_version != TEMPLATE_VERSION {
            let found = file.header.template_version;
            return Err(ModelLoadError::OtherTemplate { expected: TEMPLATE_VERSION, found });
        }
        let table = file.matrix("table", file.header.vocab, file.header.dims)?;
        let tokenizer = Tokenizer::embedded()
            .ok_or_else(|| ModelLoadError::Missing("the vocabulary".to_owned()))?;
        Ok(Self { scales: file.scales(table), file, table, tokenizer })
    }

    /// The name of these weights.
    pub fn id(&self) -> &str {
        &self.file.header.id
    }

    /// The length of its vectors.
    pub fn dims(&self) -> usize {
        self.table.columns
    }

    /// The vector of a document text.
    pub fn document(&self, text: &str) -> Vec<f32> {
        self.sum(&[(text, 1.0)], DOCUMENT_TOKENS)
    }

    /// The vector of a message: parts with a weight each, such as mapped words at 0.8.
    pub fn message(&self, parts: &[(&str, f32)]) -> Vec<f32> {
        self.sum(parts, MESSAGE_TOKENS)
    }

    /// Whether any word of a text is one that the table knows, not one that it spells.
    pub fn knows_a_word(&self, text: &str) -> bool {
        self.tokenizer.has_a_word(crate::text::head(text, MAX_TEXT))
    }

    fn sum(&self, parts: &[(&str, f32)], limit: usize) -> Vec<f32> {
        let mut counted: Vec<(u32, f32)> = Vec::new();
        for (text, weight) in parts {
            let text = crate::text::head(text, MAX_TEXT);
            let known = self.tokenizer.known_ids(text, limit);
            counted.extend(known.into_iter().map(|id| (id, *weight)));
        }
        counted.sort_unstable_by_key(|&(id, _)| id);
        let mut out = vec![0.0_f32; self.dims()];
        let values = self.file.values(self.table);
        for same in counted.chunk_by(|a, b| a.0 == b.0) {
            let row = same[0].0 as usize;
            let count: f32 = same.iter().map(|&(_, count)| count).sum();
            let (Some(&scale), Some(values)) =
                (self.scales.get(row), values.get(row * self.dims()..(row + 1) * self.dims()))
            else {
                continue;
            };
            let weight = count.sqrt() * scale;
            for (sum, &value) in out.iter_mut().zip(values) {
                *sum += weight * f32::from(value);
            }
        }
        crate::math::normalise(&mut out);
        out
    }
}

impl std::fmt::Debug for StaticModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StaticModel").field("id", &self.id()).finish_non_exhaustive()
    }
}
