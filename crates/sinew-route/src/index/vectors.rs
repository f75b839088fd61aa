//! Encoder vectors of documents: filled in after the rest, in any order, by any number of threads.

use rayon::prelude::*;

use super::cosines::VectorRows;
use super::layout::{IndexBytes, IndexSection, SECTIONS};
use super::prepare::ByteVector;
use super::view::{RouteIndex, TextKind};
use sinew_models::{EmbedError, Embedder, TextSide};

/// Vectors that are kept beside the bytes until these are laid out again.
#[derive(Debug, Clone)]
pub(super) struct EncoderVectors {
    present: Vec<u8>,
    rows: Vec<i8>,
    scales: Vec<f32>,
}

impl EncoderVectors {
    fn of(index: &RouteIndex) -> Self {
        Self {
            present: index.slice(IndexSection::EncoderPresent).to_vec(),
            rows: index.slice(IndexSection::Encoder).to_vec(),
            scales: index.slice(IndexSection::EncoderScales).to_vec(),
        }
    }

    pub(super) fn rows(&self) -> VectorRows<'_> {
        VectorRows { bytes: &self.rows, scales: &self.scales }
    }

    /// The bytes of an index with these vectors in place of its own.
    pub(super) fn laid_over(&self, bytes: &IndexBytes) -> IndexBytes {
        let parts: [&[u8]; SECTIONS] = std::array::from_fn(|section| match section {
            s if s == IndexSection::EncoderPresent as usize => self.present.as_slice(),
            s if s == IndexSection::Encoder as usize => bytemuck::cast_slice(&self.rows),
            s if s == IndexSection::EncoderScales as usize => bytemuck::cast_slice(&self.scales),
            s => bytes.raw(ALL[s]),
        });
        IndexBytes::lay_out(&parts)
    }
}

const ALL: [IndexSection; SECTIONS] = [
    IndexSection::Meta,
    IndexSection::StringOffsets,
    IndexSection::Strings,
    IndexSection::Lengths,
    IndexSection::TermOffsets,
    IndexSection::Terms,
    IndexSection::Idf,
    IndexSection::PostingOffsets,
    IndexSection::PostingDocuments,
    IndexSection::PostingImpacts,
    IndexSection::PostingCounts,
    IndexSection::StaticHead,
    IndexSection::StaticHeadScales,
    IndexSection::StaticBody,
    IndexSection::StaticBodyScales,
    IndexSection::EncoderPresent,
    IndexSection::Encoder,
    IndexSection::EncoderScales,
    IndexSection::ByName,
    IndexSection::ById,
];

impl RouteIndex {
    fn present(&self) -> &[u8] {
        self.filled
            .as_ref()
            .map_or_else(|| self.slice(IndexSection::EncoderPresent), |filled| &filled.present)
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

    /// Whether a document has its encoder vector.
    pub fn has_vector(&self, at: usize) -> bool {
        self.present()[at] == 1
    }

    /// Computes the encoder vectors of some documents; `progress` is called after each batch.
    ///
    /// Call it with parts of [`RouteIndex::pending`] and save in between: finished vectors are not
    /// computed again.
    pub fn fill(
        &mut self,
        encoder: &dyn Embedder,
        documents: &[usize],
        progress: &(dyn Fn(usize) + Sync),
    ) -> Result<(), EmbedError> {
        /// Texts per call: one request to a remote model.
        const BATCH: usize = 16;
        /// Texts per call of ours, so that threads end at the same time.
        const LOCAL_BATCH: usize = 4;
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
        // Texts of like length share a batch, so that no thread waits for one long text.
        let mut texts = texts;
        texts.sort_by_key(|(at, text)| (std::cmp::Reverse(text.len()), *at));
        let done: Result<Vec<Vec<(usize, ByteVector)>>, EmbedError> = texts
            .par_chunks(if encoder.is_local() { LOCAL_BATCH } else { BATCH })
            .map(|batch| {
                let only: Vec<&str> = batch.iter().map(|(_, text)| *text).collect();
                let vectors = encoder.embed(&only, TextSide::Document)?;
                progress(batch.len());
                Ok(batch
                    .iter()
                    .zip(&vectors)
                    .map(|((at, _), vector)| (*at, ByteVector::of(vector)))
                    .collect())
            })
            .collect();
        let done = done?;
        let mut filled = self.filled.take().unwrap_or_else(|| EncoderVectors::of(self));
        let dims = self.meta.encoder_dims;
        for (at, vector) in done.into_iter().flatten() {
            filled.present[at] = 1;
            filled.rows[at * dims..(at + 1) * dims].copy_from_slice(&vector.bytes);
            filled.scales[at] = vector.scale;
        }
        self.filled = Some(filled);
        Ok(())
    }

    /// The id of the model whose vectors the index has.
    pub fn encoder_id(&self) -> &str {
        &self.meta.encoder
    }

    /// The id of the static table the index was made with.
    pub fn table_id(&self) -> &str {
        &self.meta.table
    }
}
