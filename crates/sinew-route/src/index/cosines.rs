//! The cosines of a message's vector with those of all documents.
//!
//! Every document is compared, so the answer is exact; blocks of documents are independent of each
//! other, so the result is the same on one thread and on many.

use rayon::prelude::*;

use super::layout::IndexSection;
use super::view::RouteIndex;
use sinew_models::{KernelLevel, scan};

/// Documents per block: their sums stay in the first-level cache.
const BLOCK: usize = 512;

/// Up to this many documents, one core is done before others would have started.
const ONE_CORE: usize = 128 * 1024;

/// A message's vector in signed bytes, and their scale.
#[derive(Clone, Copy)]
pub(crate) struct MessageVector<'a> {
    pub(crate) bytes: &'a [i8],
    pub(crate) scale: f32,
}

/// Vectors of all documents: rows of bytes, and a scale for each.
#[derive(Clone, Copy)]
pub(super) struct VectorRows<'a> {
    pub(super) bytes: &'a [i8],
    pub(super) scales: &'a [f32],
}

impl RouteIndex {
    /// The larger cosine of a message with the head or the body of every document.
    pub(crate) fn static_cosines(
        &self,
        level: KernelLevel,
        message: MessageVector<'_>,
    ) -> Vec<f32> {
        if message.bytes.len() != self.meta.dims || message.bytes.is_empty() {
            return vec![0.0; self.len()];
        }
        let rows = [true, false].map(|head| {
            let (bytes, scales) = self.static_sections(head);
            VectorRows { bytes: self.slice(bytes), scales: self.slice(scales) }
        });
        larger(level, &rows, message, self.len())
    }

    /// The cosine of a message with every document; 0 for documents without a vector.
    pub(crate) fn encoder_cosines(
        &self,
        level: KernelLevel,
        message: MessageVector<'_>,
    ) -> Vec<f32> {
        larger(level, &[self.encoder_rows()], message, self.len())
    }

    pub(super) fn encoder_rows(&self) -> VectorRows<'_> {
        match &self.filled {
            Some(filled) => filled.rows(),
            None => VectorRows {
                bytes: self.slice(IndexSection::Encoder),
                scales: self.slice(IndexSection::EncoderScales),
            },
        }
    }
}

/// The largest cosine of each document over several sets of rows.
pub(super) fn larger(
    level: KernelLevel,
    sets: &[VectorRows<'_>],
    message: MessageVector<'_>,
    count: usize,
) -> Vec<f32> {
    let mut out = vec![f32::MIN; count];
    let block = |(at, out): (usize, &mut [f32])| {
        for rows in sets {
            raise(level, *rows, at * BLOCK, message, out);
        }
    };
    if count <= ONE_CORE {
        out.chunks_mut(BLOCK).enumerate().for_each(block);
    } else {
        out.par_chunks_mut(BLOCK).enumerate().for_each(block);
    }
    out
}

/// Raises `out` to the cosines of the documents starting at `start`.
fn raise(
    level: KernelLevel,
    rows: VectorRows<'_>,
    start: usize,
    message: MessageVector<'_>,
    out: &mut [f32],
) {
    let mut sums = [0; BLOCK];
    let sums = &mut sums[..out.len()];
    let columns = message.bytes.len();
    scan(level, &rows.bytes[start * columns..(start + out.len()) * columns], message.bytes, sums);
    let scales = &rows.scales[start..start + out.len()];
    for ((out, &sum), row) in out.iter_mut().zip(sums.iter()).zip(scales) {
        let cosine = sum as f32 * (row * message.scale);
        *out = if cosine > *out { cosine } else { *out };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_thousand_documents_give_the_same_on_any_number_of_threads() {
        const COLUMNS: usize = 32;
        let count = ONE_CORE + BLOCK + 7;
        let bytes: Vec<i8> = (0..count * COLUMNS)
            .map(|at| (at * 31 % 255) as i16 as i8)
            .map(|b| b.max(-127))
            .collect();
        let scales: Vec<f32> = (0..count).map(|at| 0.001 * (at % 9) as f32).collect();
        let query: Vec<i8> = (0..COLUMNS as i8).map(|at| at - 16).collect();
        let message = MessageVector { bytes: &query, scale: 0.01 };
        let sets = [VectorRows { bytes: &bytes, scales: &scales }; 2];
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.expect("threads").install(|| larger(KernelLevel::detect(), &sets, message, count))
        };
        let one = on(1);
        assert_eq!(one, on(4));
        for at in [0, 1, 511, 512, ONE_CORE, count - 1] {
            let row = &bytes[at * COLUMNS..(at + 1) * COLUMNS];
            let sum: i32 = row.iter().zip(&query).map(|(&a, &b)| i32::from(a) * i32::from(b)).sum();
            assert_eq!(one[at], sum as f32 * (scales[at] * 0.01), "{at}");
        }
    }
}
