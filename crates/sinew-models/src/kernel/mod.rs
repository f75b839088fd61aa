//! Integer kernels: dot products of signed bytes, exact, so every CPU gives the same answer.
//!
//! **Invariant:** values lie within ±127 (−128 is never written by `quantise` nor by the exporter);
//! then no intermediate sum overflows and all levels agree with the scalar one to the bit.

pub(crate) mod floats;
#[cfg(target_arch = "aarch64")]
mod neon;
mod scalar;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::sync::OnceLock;

use serde::Serialize;

/// Rows per block of packed weights: the `i32` lanes of the widest register in use.
pub(crate) const BLOCK: usize = 16;

/// The instructions a kernel may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum KernelLevel {
    /// Plain Rust.
    Scalar,
    /// NEON.
    Neon,
    /// AVX2.
    Avx2,
    /// AVX-512 with VNNI.
    Avx512Vnni,
}

impl KernelLevel {
    /// The best level of this CPU.
    pub fn detect() -> Self {
        static FOUND: OnceLock<KernelLevel> = OnceLock::new();
        *FOUND.get_or_init(|| Self::available().last().copied().unwrap_or(Self::Scalar))
    }

    /// Every level this CPU can run, slowest first.
    pub fn available() -> Vec<Self> {
        #[allow(unused_mut, reason = "other CPUs have one level")]
        let mut levels = vec![Self::Scalar];
        #[cfg(target_arch = "aarch64")]
        levels.push(Self::Neon);
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") {
                levels.push(Self::Avx2);
            }
            if x86::has_vnni() {
                levels.push(Self::Avx512Vnni);
            }
        }
        levels
    }
}

/// The dot product of `query` with each row of `rows`, into `out`.
pub fn scan(level: KernelLevel, rows: &[i8], query: &[i8], out: &mut [i32]) {
    assert_eq!(rows.len(), query.len() * out.len(), "rows and query must fit");
    match level {
        #[cfg(target_arch = "x86_64")]
        KernelLevel::Avx2 | KernelLevel::Avx512Vnni if query.len().is_multiple_of(32) => {
            x86::scan(level, rows, query, out);
        }
        #[cfg(target_arch = "aarch64")]
        KernelLevel::Neon if query.len().is_multiple_of(16) => neon::scan(rows, query, out),
        _ => scalar::scan(rows, query, out),
    }
}

/// Weights of a linear layer, packed so that one load feeds sixteen rows.
///
/// Layout: blocks of 16 rows; in a block, for each four columns, the four bytes of each row.
pub(crate) struct PackedWeights {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    bytes: Vec<i8>,
}

impl PackedWeights {
    /// Packs a row-major matrix; rows must divide by 16 and columns by 4.
    pub(crate) fn new(values: &[i8], rows: usize, columns: usize) -> Option<Self> {
        if !rows.is_multiple_of(BLOCK)
            || !columns.is_multiple_of(4)
            || values.len() != rows * columns
        {
            return None;
        }
        let mut bytes = vec![0; values.len()];
        for (block, packed) in bytes.chunks_exact_mut(BLOCK * columns).enumerate() {
            for row in 0..BLOCK {
                let source = &values[(block * BLOCK + row) * columns..][..columns];
                for (group, four) in source.chunks_exact(4).enumerate() {
                    packed[(group * BLOCK + row) * 4..][..4].copy_from_slice(four);
                }
            }
        }
        Some(Self { rows, columns, bytes })
    }

    /// `out[t][r]` = activations of token t · row r, for every token and row.
    pub(crate) fn multiply(&self, level: KernelLevel, activations: &[i8], out: &mut [i32]) {
        let tokens = activations.len() / self.columns;
        assert_eq!(activations.len(), tokens * self.columns, "whole tokens");
        assert_eq!(out.len(), tokens * self.rows, "room for every product");
        match level {
            #[cfg(target_arch = "x86_64")]
            KernelLevel::Avx512Vnni | KernelLevel::Avx2 => {
                x86::multiply(level, &self.bytes, self.rows, self.columns, activations, out);
            }
            #[cfg(target_arch = "aarch64")]
            KernelLevel::Neon => {
                neon::multiply(&self.bytes, self.rows, self.columns, activations, out)
            }
            _ => scalar::multiply(&self.bytes, self.rows, self.columns, activations, out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(count: usize, seed: u32) -> Vec<i8> {
        let mut state = seed;
        (0..count)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                ((state >> 24) as i32 % 255 - 127).clamp(-127, 127) as i8
            })
            .collect()
    }

    #[test]
    fn every_level_agrees_with_the_scalar_one() {
        for (rows, columns, tokens) in [(16, 64, 1), (48, 384, 5), (32, 1536, 9), (16, 36, 3)] {
            let values = bytes(rows * columns, 7);
            let packed = PackedWeights::new(&values, rows, columns).expect("a fitting shape");
            let activations = bytes(tokens * columns, 11);
            let mut plain = vec![0; tokens * rows];
            for t in 0..tokens {
                for r in 0..rows {
                    plain[t * rows + r] = (0..columns)
                        .map(|c| {
                            i32::from(values[r * columns + c])
                                * i32::from(activations[t * columns + c])
                        })
                        .sum();
                }
            }
            for level in KernelLevel::available() {
                let mut out = vec![0; tokens * rows];
                packed.multiply(level, &activations, &mut out);
                assert_eq!(out, plain, "{level:?} {rows}x{columns}x{tokens}");
                let mut scanned = vec![0; rows];
                scan(level, &values, &activations[..columns], &mut scanned);
                assert_eq!(scanned, plain[..rows], "{level:?} scan");
            }
        }
    }

    #[test]
    fn any_number_of_rows_is_scanned() {
        for (rows, columns) in [(0, 64), (1, 256), (3, 64), (4, 128), (7, 256), (9, 96), (5, 7)] {
            let (values, query) = (bytes(rows * columns, 3), bytes(columns, 5));
            let mut plain = vec![0; rows];
            scalar::scan(&values, &query, &mut plain);
            for level in KernelLevel::available() {
                let mut out = vec![0; rows];
                scan(level, &values, &query, &mut out);
                assert_eq!(out, plain, "{level:?} {rows}x{columns}");
            }
        }
    }

    #[test]
    fn extremes_do_not_overflow() {
        let values = vec![-127; 16 * 1536];
        let packed = PackedWeights::new(&values, 16, 1536).expect("a fitting shape");
        for sign in [127, -127] {
            for level in KernelLevel::available() {
                let mut out = vec![0; 16];
                packed.multiply(level, &vec![sign; 1536], &mut out);
                assert_eq!(out, vec![-127 * i32::from(sign) * 1536; 16], "{level:?}");
            }
        }
    }
}
