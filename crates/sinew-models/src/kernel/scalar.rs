//! The kernels in plain Rust: what the others must equal.

use super::BLOCK;

pub(super) fn scan(rows: &[i8], query: &[i8], out: &mut [i32]) {
    for (row, out) in rows.chunks_exact(query.len().max(1)).zip(out) {
        *out = row.iter().zip(query).map(|(&a, &b)| i32::from(a) * i32::from(b)).sum();
    }
}

pub(super) fn multiply(
    packed: &[i8],
    rows: usize,
    columns: usize,
    activations: &[i8],
    out: &mut [i32],
) {
    for (token, out) in activations.chunks_exact(columns).zip(out.chunks_exact_mut(rows)) {
        for (block, out) in packed.chunks_exact(BLOCK * columns).zip(out.chunks_exact_mut(BLOCK)) {
            let mut sums = [0_i32; BLOCK];
            for (group, four) in block.chunks_exact(4 * BLOCK).zip(token.chunks_exact(4)) {
                for (row, sum) in sums.iter_mut().enumerate() {
                    for column in 0..4 {
                        *sum += i32::from(group[4 * row + column]) * i32::from(four[column]);
                    }
                }
            }
            out.copy_from_slice(&sums);
        }
    }
}
