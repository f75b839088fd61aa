//! The kernels for aarch64, where NEON is always there.
//!
//! Two products of bytes within ±127 fit into sixteen bits, so that a multiplication and a second
//! one with addition come before each widening.
#![allow(
    unsafe_code,
    reason = "CPU intrinsics; every function is tested for equality with its scalar twin"
)]

use std::arch::aarch64::*;

use super::BLOCK;

/// Rows against one query; the caller has checked the lengths and that columns divide by 16.
pub(super) fn scan(rows: &[i8], query: &[i8], out: &mut [i32]) {
    for (row, out) in rows.chunks_exact(query.len()).zip(out) {
        // SAFETY: NEON is part of every aarch64 this is built for; all chunks are 16 bytes.
        unsafe {
            let mut sum = vdupq_n_s32(0);
            for (a, b) in row.chunks_exact(16).zip(query.chunks_exact(16)) {
                let (a, b) = (vld1q_s8(a.as_ptr()), vld1q_s8(b.as_ptr()));
                let low = vmull_s8(vget_low_s8(a), vget_low_s8(b));
                sum = vpadalq_s16(sum, vmlal_high_s8(low, a, b));
            }
            *out = vaddvq_s32(sum);
        }
    }
}

/// Packed weights against tokens; the caller has checked the lengths.
pub(super) fn multiply(
    packed: &[i8],
    rows: usize,
    columns: usize,
    activations: &[i8],
    out: &mut [i32],
) {
    for (token, out) in activations.chunks_exact(columns).zip(out.chunks_exact_mut(rows)) {
        for (block, out) in packed.chunks_exact(BLOCK * columns).zip(out.chunks_exact_mut(BLOCK)) {
            // SAFETY: NEON is there; a block has 64 bytes and a token 4 for each group of columns,
            // and `out` has room for sixteen numbers.
            unsafe { multiply_block(block, token, out) }
        }
    }
}

/// Sixteen rows against one token. Each group of four columns holds four bytes of each row.
unsafe fn multiply_block(block: &[i8], token: &[i8], out: &mut [i32]) {
    // SAFETY: as the caller says.
    unsafe {
        // For every two rows: sums of columns 0 + 1 and 2 + 3 of each, side by side.
        let mut sums = [vdupq_n_s32(0); 8];
        let mut groups = block.chunks_exact(8 * BLOCK);
        let mut eights = token.chunks_exact(8);
        for (group, eight) in groups.by_ref().zip(eights.by_ref()) {
            let (first, second) = (four(eight), four(&eight[4..]));
            for (pair, sum) in sums.iter_mut().enumerate() {
                let weights = vld1_s8(group.as_ptr().add(8 * pair));
                let next = vld1_s8(group.as_ptr().add(4 * BLOCK + 8 * pair));
                *sum = vpadalq_s16(*sum, vmlal_s8(vmull_s8(weights, first), next, second));
            }
        }
        if let rest @ [_, _, _, _] = eights.remainder() {
            let (group, first) = (groups.remainder(), four(rest));
            for (pair, sum) in sums.iter_mut().enumerate() {
                let weights = vld1_s8(group.as_ptr().add(8 * pair));
                *sum = vpadalq_s16(*sum, vmull_s8(weights, first));
            }
        }
        for (at, two) in sums.chunks_exact(2).enumerate() {
            vst1q_s32(out.as_mut_ptr().add(4 * at), vpaddq_s32(two[0], two[1]));
        }
    }
}

/// Four bytes of a token, twice.
///
/// # Safety
/// `bytes` has at least four.
unsafe fn four(bytes: &[i8]) -> int8x8_t {
    let number = [bytes[0], bytes[1], bytes[2], bytes[3]].map(|byte| byte as u8);
    // SAFETY: NEON is there.
    unsafe { vreinterpret_s8_s32(vdup_n_s32(i32::from_le_bytes(number))) }
}
