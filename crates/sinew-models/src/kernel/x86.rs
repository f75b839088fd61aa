//! The kernels for x86-64: AVX2 (sign trick over `maddubs`) and AVX-512 VNNI (`dpbusd`).
#![allow(
    unsafe_code,
    reason = "CPU intrinsics; every function is tested for equality with its scalar twin"
)]

use std::arch::x86_64::*;

use super::{BLOCK, KernelLevel};

/// Whether the CPU has all that the VNNI kernels use.
pub(super) fn has_vnni() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vnni")
}

/// Rows against one query; the caller has checked the lengths and that columns divide by 32.
pub(super) fn scan(level: KernelLevel, rows: &[i8], query: &[i8], out: &mut [i32]) {
    if level == KernelLevel::Avx512Vnni && query.len().is_multiple_of(64) {
        // SAFETY: `Level::Avx512Vnni` is only ever detected, never assumed (see `Level::available`).
        unsafe { scan_vnni(rows, query, out) }
    } else {
        // SAFETY: this level and the one above it are only detected on CPUs with AVX2.
        unsafe { scan_avx2(rows, query, out) }
    }
}

/// Packed weights against tokens; the caller has checked the lengths.
pub(super) fn multiply(
    level: KernelLevel,
    packed: &[i8],
    rows: usize,
    columns: usize,
    activations: &[i8],
    out: &mut [i32],
) {
    let (mut token, mut fours) = (0, Vec::with_capacity(activations.len() / 4));
    let tokens = activations.len() / columns;
    // Eight or four tokens at a time share each load of weights.
    let mut groups = Vec::with_capacity(tokens / 4 + 4);
    while token < tokens {
        let step = match tokens - token {
            8.. if level == KernelLevel::Avx512Vnni => 8,
            4.. => 4,
            _ => 1,
        };
        let part = &activations[token * columns..(token + step) * columns];
        let start = fours.len();
        interleave(part, columns, &mut fours);
        groups.push(TokenGroup { token, step, fours: start..fours.len() });
        token += step;
    }
    let excess: Vec<i32> = activations
        .chunks_exact(columns)
        .map(|token| 128 * token.iter().map(|&v| i32::from(v)).sum::<i32>())
        .collect();
    // All tokens pass a panel of weights while it lies in the nearest cache: with the loops the other
    // way round, every eight tokens would fetch all weights again.
    let blocks = (PANEL / (BLOCK * columns)).max(1);
    for (panel, weights) in packed.chunks(blocks * BLOCK * columns).enumerate() {
        for group in &groups {
            let fours = &fours[group.fours.clone()];
            let excess = &excess[group.token..group.token + group.step];
            let out = &mut out[group.token * rows..(group.token + group.step) * rows];
            let out = &mut out[panel * blocks * BLOCK..];
            // SAFETY: both levels are only ever detected; lengths were checked by the caller, and the
            // last row of `out` reaches as far as the panel does.
            unsafe {
                match (level, group.step) {
                    (KernelLevel::Avx512Vnni, 8) => {
                        multiply_vnni::<8>(weights, rows, columns, fours, excess, out);
                    }
                    (KernelLevel::Avx512Vnni, 4) => {
                        multiply_vnni::<4>(weights, rows, columns, fours, excess, out);
                    }
                    (KernelLevel::Avx512Vnni, _) => {
                        multiply_vnni::<1>(weights, rows, columns, fours, excess, out);
                    }
                    (_, 4) => multiply_avx2::<4>(weights, rows, columns, fours, out),
                    _ => multiply_avx2::<1>(weights, rows, columns, fours, out),
                }
            }
        }
    }
}

/// Bytes of weights that all tokens pass before the next ones: half of a first-level cache.
const PANEL: usize = 24 << 10;

/// Tokens that share each load of weights.
struct TokenGroup {
    token: usize,
    step: usize,
    /// Where their bytes are among those of all tokens.
    fours: std::ops::Range<usize>,
}

/// Adds the tokens' bytes in groups of four, side by side: what one load of weights is multiplied with.
fn interleave(activations: &[i8], columns: usize, fours: &mut Vec<i32>) {
    let tokens = activations.len() / columns;
    for group in 0..columns / 4 {
        for token in 0..tokens {
            let four = &activations[token * columns + 4 * group..][..4];
            fours.push(i32::from_le_bytes([
                four[0] as u8,
                four[1] as u8,
                four[2] as u8,
                four[3] as u8,
            ]));
        }
    }
}

/// How many bytes ahead of the current rows are prefetched: the hardware's own prefetch ends with each
/// page of memory, and with a hundred thousand skills the speed of memory is the limit.
const AHEAD: usize = 4096;

/// Rows that are multiplied side by side.
const ROWS: usize = 4;

/// Asks for memory that will be read soon; beyond the end of the rows it does nothing.
#[inline(always)]
fn ask_ahead(rows: &[i8]) {
    for line in (0..rows.len()).step_by(64) {
        // SAFETY: a prefetch is a hint; it reads nothing and cannot fault, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(rows.as_ptr().wrapping_add(AHEAD + line)) };
    }
}

#[target_feature(enable = "avx2")]
unsafe fn scan_avx2(rows: &[i8], query: &[i8], out: &mut [i32]) {
    let ones = _mm256_set1_epi16(1);
    for (row, out) in rows.chunks_exact(query.len()).zip(out) {
        ask_ahead(row);
        let mut sum = _mm256_setzero_si256();
        for (a, b) in row.chunks_exact(32).zip(query.chunks_exact(32)) {
            // SAFETY: both chunks are 32 bytes; the loads are unaligned.
            let (a, b) = unsafe {
                (_mm256_loadu_si256(a.as_ptr().cast()), _mm256_loadu_si256(b.as_ptr().cast()))
            };
            let pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(b), _mm256_sign_epi8(a, b));
            sum = _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, ones));
        }
        *out = sum_avx2(sum);
    }
}

#[target_feature(enable = "avx2")]
fn sum_avx2(sum: __m256i) -> i32 {
    let half = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
    let quarter = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0b01_00_11_10));
    let one = _mm_add_epi32(quarter, _mm_shuffle_epi32(quarter, 0b10_11_00_01));
    _mm_cvtsi128_si32(one)
}

#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
unsafe fn scan_vnni(rows: &[i8], query: &[i8], out: &mut [i32]) {
    // Rows are read as unsigned (plus 128); what that adds is the same for every row.
    let excess: i32 = 128 * query.iter().map(|&value| i32::from(value)).sum::<i32>();
    let mut blocks = rows.chunks_exact(ROWS * query.len());
    let mut outs = out.chunks_exact_mut(ROWS);
    for (block, out) in blocks.by_ref().zip(outs.by_ref()) {
        ask_ahead(block);
        // SAFETY: a block holds as many rows as are asked for.
        let sums: [i32; ROWS] = unsafe { dots_vnni(block, query) };
        out.iter_mut().zip(sums).for_each(|(out, sum)| *out = sum - excess);
    }
    let rest = blocks.remainder().chunks_exact(query.len());
    for (row, out) in rest.zip(outs.into_remainder()) {
        // SAFETY: one row.
        let [sum] = unsafe { dots_vnni(row, query) };
        *out = sum - excess;
    }
}

/// Products of `R` rows with a query, rows plus 128. `rows` must hold `R` times as much as `query`.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
unsafe fn dots_vnni<const R: usize>(rows: &[i8], query: &[i8]) -> [i32; R] {
    let flip = _mm512_set1_epi8(-128);
    let mut sums = [_mm512_setzero_si512(); R];
    for at in (0..query.len()).step_by(64) {
        // SAFETY: the query's length divides by 64, so that as many bytes follow `at` in each row.
        unsafe {
            let b = _mm512_loadu_si512(query.as_ptr().add(at).cast());
            for (row, sum) in sums.iter_mut().enumerate() {
                let a = _mm512_loadu_si512(rows.as_ptr().add(row * query.len() + at).cast());
                *sum = _mm512_dpbusd_epi32(*sum, _mm512_xor_si512(a, flip), b);
            }
        }
    }
    let mut out = [0; R];
    for (out, sum) in out.iter_mut().zip(sums) {
        *out = _mm512_reduce_add_epi32(sum);
    }
    out
}

#[target_feature(enable = "avx2")]
unsafe fn multiply_avx2<const T: usize>(
    packed: &[i8],
    rows: usize,
    columns: usize,
    fours: &[i32],
    out: &mut [i32],
) {
    let ones = _mm256_set1_epi16(1);
    for (block, weights) in packed.chunks_exact(BLOCK * columns).enumerate() {
        let mut sums = [[_mm256_setzero_si256(); 2]; T];
        for (bytes, fours) in weights.chunks_exact(4 * BLOCK).zip(fours.chunks_exact(T)) {
            // SAFETY: a chunk is 64 bytes: two unaligned loads of 32.
            let halves = unsafe {
                let at: *const __m256i = bytes.as_ptr().cast();
                [_mm256_loadu_si256(at), _mm256_loadu_si256(at.add(1))]
            };
            for (sums, &four) in sums.iter_mut().zip(fours) {
                let four = _mm256_set1_epi32(four);
                let size = _mm256_abs_epi8(four);
                for (sum, half) in sums.iter_mut().zip(halves) {
                    let pairs = _mm256_maddubs_epi16(size, _mm256_sign_epi8(half, four));
                    *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(pairs, ones));
                }
            }
        }
        for (t, sums) in sums.iter().enumerate() {
            let out = &mut out[t * rows + block * BLOCK..][..BLOCK];
            // SAFETY: the slice has room for sixteen numbers: two unaligned stores of eight.
            unsafe {
                let at: *mut __m256i = out.as_mut_ptr().cast();
                _mm256_storeu_si256(at, sums[0]);
                _mm256_storeu_si256(at.add(1), sums[1]);
            }
        }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
unsafe fn multiply_vnni<const T: usize>(
    packed: &[i8],
    rows: usize,
    columns: usize,
    fours: &[i32],
    excess: &[i32],
    out: &mut [i32],
) {
    // Weights are read as unsigned (plus 128); a token's excess is the same for every row.
    let flip = _mm512_set1_epi8(-128);
    for (block, weights) in packed.chunks_exact(BLOCK * columns).enumerate() {
        let mut sums = [_mm512_setzero_si512(); T];
        for (bytes, fours) in weights.chunks_exact(4 * BLOCK).zip(fours.chunks_exact(T)) {
            // SAFETY: a chunk is 64 bytes; the load is unaligned.
            let weights = unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) };
            let weights = _mm512_xor_si512(weights, flip);
            for (sum, &four) in sums.iter_mut().zip(fours) {
                *sum = _mm512_dpbusd_epi32(*sum, weights, _mm512_set1_epi32(four));
            }
        }
        for (t, sum) in sums.iter().enumerate() {
            let sum = _mm512_sub_epi32(*sum, _mm512_set1_epi32(excess[t]));
            let out = &mut out[t * rows + block * BLOCK..][..BLOCK];
            // SAFETY: the slice has room for sixteen numbers; the store is unaligned.
            unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), sum) };
        }
    }
}
