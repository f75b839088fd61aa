//! Encoder vectors of documents: filled in after the rest, in any order, by any number of threads.

use rayon::prelude::*;

use super::cosines::Rows;
use super::layout::{Bytes, SECTIONS, Section};
use super::prepare::Vector;
use super::view::{Index, TextKind};
use crate::model::embed::{EmbedError, Embedder, Side};

/// Vectors that live beside the bytes until these are laid out anew.
#[derive(Debug, Clone)]
pub(super) struct Vectors {
    present: Vec<u8>,
    rows: Vec<i8>,
    scales: Vec<f32>,
}

impl Vectors {
    fn of(index: &Index) -> Self {
        Self {
            present: index.slice(Section::EncoderPresent).to_vec(),
            rows: index.slice(Section::Encoder).to_vec(),
            scales: index.slice(Section::EncoderScales).to_vec(),
        }
    }

    pub(super) fn rows(&self) -> Rows<'_> {
        Rows { bytes: &self.rows, scales: &self.scales }
    }

    /// The bytes of an index with these vectors in place of its own.
    pub(super) fn laid_over(&self, bytes: &Bytes) -> Bytes {
        let parts: [&[u8]; SECTIONS] = std::array::from_fn(|section| match section {
            s if s == Section::EncoderPresent as usize => self.present.as_slice(),
            s if s == Section::Encoder as usize => bytemuck::cast_slice(&self.rows),
            s if s == Section::EncoderScales as usize => bytemuck::cast_slice(&self.scales),
            s => bytes.raw(ALL[s]),
        });
        Bytes::lay_out(&parts)
    }
}

const ALL: [Section; SECTIONS] = [
    Section::Meta,
    Section::StringOffsets,
    Section::Strings,
    Section::Lengths,
    Section::TermOffsets,
    Section::Terms,
    Section::Idf,
    Section::PostingOffsets,
    Section::PostingDocuments,
    Section::PostingImpacts,
    Section::PostingCounts,
    Section::StaticHead,
    Section::StaticHeadScales,
    Section::StaticBody,
    Section::StaticBodyScales,
    Section::EncoderPresent,
    Section::Encoder,
    Section::EncoderScales,
    Section::ByName,
    Section::ById,
];

impl Index {
    fn present(&self) -> &[u8] {
        self.filled
            .as_ref()
            .map_or_else(|| self.slice(Section::EncoderPresent), |filled| &filled.present)
    }

    pub(super) fn encoder_row(&self, at: usize) -> Option<(&[i8], f32)> {
        let rows = self.encoder_rows();
        let dims = self.meta.encoder_dims;
        (self.present()[at] == 1)
            .then(|| (&rows.bytes[at * dims..(at + 1) * dims], rows.scales[at]))
    }

    /// Documents that have no encoder vector yet.
    pub fn pending(&self) -> Vec<usize> {
        let present = self.present();
        (0..self.len()).filter(|&at| present[at] == 0).collect()
    }

    /// How many documents have no encoder vector yet.
    pub fn pending_count(&self) -> usize {
        self.present().iter().filter(|&&present| present == 0).count()
    }

    pub(crate) fn has_vector(&self, at: usize) -> bool {
        self.present()[at] == 1
    }

    /// Computes the encoder vectors of some documents; `progress` hears of each batch.
    ///
    /// Call it with parts of [`Index::pending`] and save in between: what is done stays done.
    pub fn fill(
        &mut self,
        encoder: &dyn Embedder,
        documents: &[usize],
        progress: &(dyn Fn(usize) + Sync),
    ) -> Result<(), EmbedError> {
        /// Texts per call: one request to a remote model, a fraction of a second for ours.
        const BATCH: usize = 16;
        if encoder.id() != self.meta.encoder || encoder.dims() != self.meta.encoder_dims {
            return Err(EmbedError::Dimensions {
                expected: self.meta.encoder_dims,
                found: encoder.dims(),
            });
        }
        let texts: Vec<(usize, &str)> = documents
            .iter()
            .filter(|&&at| at < self.len())
            .map(|&at| (at, self.text(at, TextKind::Encoder)))
            .collect();
        let done: Result<Vec<Vec<(usize, Vector)>>, EmbedError> = texts
            .par_chunks(BATCH)
            .map(|batch| {
                let only: Vec<&str> = batch.iter().map(|(_, text)| *text).collect();
                let vectors = encoder.embed(&only, Side::Document)?;
                progress(batch.len());
                Ok(batch
                    .iter()
                    .zip(&vectors)
                    .map(|((at, _), vector)| (*at, Vector::of(vector)))
                    .collect())
            })
            .collect();
        let done = done?;
        let mut filled = self.filled.take().unwrap_or_else(|| Vectors::of(self));
        let dims = self.meta.encoder_dims;
        for (at, vector) in done.into_iter().flatten() {
            filled.present[at] = 1;
            filled.rows[at * dims..(at + 1) * dims].copy_from_slice(&vector.bytes);
            filled.scales[at] = vector.scale;
        }
        self.filled = Some(filled);
        Ok(())
    }

    /// The name of the model whose vectors the index holds.
    pub fn encoder_id(&self) -> &str {
        &self.meta.encoder
    }

    /// The name of the static table the index was made with.
    pub fn table_id(&self) -> &str {
        &self.meta.table
    }
}
