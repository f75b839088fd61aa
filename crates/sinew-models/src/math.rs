//! Float arithmetic of the models, the same on every machine: no library functions whose last bit
//! depends on the platform, and sums in a fixed order.

/// Scales a vector to length one; a zero vector stays zero.
pub(crate) fn normalise(vector: &mut [f32]) {
    let length = dot(vector, vector).sqrt();
    if length > 1e-9 {
        vector.iter_mut().for_each(|value| *value /= length);
    }
}

/// A dot product in eight lanes, added in a fixed order, so that it vectorises and never varies.
#[inline(always)]
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; 8];
    let (a_chunks, b_chunks) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f32 = a_chunks.remainder().iter().zip(b_chunks.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in a_chunks.zip(b_chunks) {
        for lane in 0..8 {
            lanes[lane] += x[lane] * y[lane];
        }
    }
    ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5]))
        + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]))
        + rest
}

/// Adding 1.5 * 2^23 rounds to the nearest whole number, which then stands in the low bits: no
/// library call, and it vectorises.
const ROUND: f32 = 12_582_912.0;

#[inline(always)]
fn whole(shifted: f32) -> i32 {
    shifted.to_bits() as i32 - ROUND.to_bits() as i32
}

/// e to the x, within 2e-7 of its value, by a polynomial.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    const LOG2_E: f32 = std::f32::consts::LOG2_E;
    // Two parts of ln 2: the first is exact in few bits, so that its multiples are exact.
    const LN2_HIGH: f32 = 0.693_359_4;
    const LN2_LOW: f32 = -2.121_944_4e-4;
    let x = x.clamp(-87.0, 88.0);
    let shifted = x * LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = (x - n * LN2_HIGH) - n * LN2_LOW;
    let p = 1.0
        + r * (1.0
            + r * (0.5
                + r * (0.166_666_55
                    + r * (0.041_665_796 + r * (0.008_333_452 + r * 0.001_398_2)))));
    p * f32::from_bits(((whole(shifted) + 127) << 23) as u32)
}

/// The error function, within 1.5e-7 (Abramowitz and Stegun, 7.1.26).
#[inline(always)]
fn erf(x: f32) -> f32 {
    let a = x.abs();
    let t = 1.0 / (1.0 + 0.327_591_1 * a);
    let poly = t
        * (0.254_829_6
            + t * (-0.284_496_74 + t * (1.421_413_7 + t * (-1.453_152 + t * 1.061_405_4))));
    let y = 1.0 - poly * exp(-a * a);
    if x < 0.0 { -y } else { y }
}

/// GELU in its exact form, on a whole slice.
#[inline(always)]
pub(crate) fn gelu(values: &mut [f32]) {
    for value in values {
        *value = 0.5 * *value * (1.0 + erf(*value * std::f32::consts::FRAC_1_SQRT_2));
    }
}

/// Softmax over a slice.
#[inline(always)]
fn softmax(values: &mut [f32]) {
    let top = top(values, |value| value);
    for value in values.iter_mut() {
        *value = exp(*value - top);
    }
    let inverse = 1.0 / lanes_sum(values, |value| value);
    values.iter_mut().for_each(|value| *value *= inverse);
}

/// The largest mapped value, at least the lowest float.
#[inline(always)]
fn top(values: &[f32], map: impl Fn(f32) -> f32) -> f32 {
    let mut lanes = [f32::MIN; 16];
    let chunks = values.chunks_exact(16);
    let rest = chunks.remainder();
    for chunk in chunks {
        for lane in 0..16 {
            let value = map(chunk[lane]);
            lanes[lane] = if value > lanes[lane] { value } else { lanes[lane] };
        }
    }
    let rest = rest.iter().map(|&value| map(value));
    lanes.into_iter().chain(rest).fold(f32::MIN, |top, value| if value > top { value } else { top })
}

/// `out` = the sum of all rows, each times its share, in the order of the rows. Sixteen sums at a time
/// stay in registers; each is added in the same order as without that.
#[inline(always)]
fn mix(shares: impl Iterator<Item = f32> + Clone, rows: &[f32], out: &mut [f32]) {
    const LANES: usize = 16;
    let width = out.len();
    let mut start = 0;
    while start + LANES <= width {
        let mut sums = [0.0_f32; LANES];
        for (share, row) in shares.clone().zip(rows.chunks_exact(width)) {
            let row = &row[start..start + LANES];
            for lane in 0..LANES {
                sums[lane] += share * row[lane];
            }
        }
        out[start..start + LANES].copy_from_slice(&sums);
        start += LANES;
    }
    let rest = &mut out[start..];
    rest.fill(0.0);
    for (share, row) in shares.zip(rows.chunks_exact(width)) {
        rest.iter_mut().zip(&row[start..]).for_each(|(sum, value)| *sum += share * value);
    }
}

/// Attention of one head: every token's mix of all tokens' values.
///
/// `qkv` holds query, key and value of each token side by side; `head` is where the head starts in
/// each, `size` its width. `room` is for the keys, turned so that all scores grow side by side.
#[inline(always)]
pub(crate) fn attend(
    qkv: &[f32],
    dims: usize,
    head: usize,
    size: usize,
    room: &mut [f32],
    mixed: &mut [f32],
) {
    let tokens = qkv.len() / (3 * dims);
    let (scores, room) = room.split_at_mut(tokens);
    let (keys, values) = room.split_at_mut(tokens * size);
    for (at, token) in qkv.chunks_exact(3 * dims).enumerate() {
        for (column, &value) in token[dims + head..][..size].iter().enumerate() {
            keys[column * tokens + at] = value;
        }
        values[at * size..][..size].copy_from_slice(&token[2 * dims + head..][..size]);
    }
    let scale = 1.0 / (size as f32).sqrt();
    for (token, out) in qkv.chunks_exact(3 * dims).zip(mixed.chunks_exact_mut(dims)) {
        let query = &token[head..][..size];
        mix(query.iter().map(|&query| query * scale), keys, scores);
        softmax(scores);
        mix(scores.iter().copied(), values, &mut out[head..head + size]);
    }
}

/// Turns integer sums back into floats: `out = sum * scale * row + bias`.
#[inline(always)]
pub(crate) fn rescale(out: &mut [f32], sums: &[i32], scale: f32, rows: &[f32], bias: &[f32]) {
    for (((out, &sum), row), bias) in out.iter_mut().zip(sums).zip(rows).zip(bias) {
        *out = sum as f32 * (scale * row) + bias;
    }
}

/// Layer normalisation in place.
#[inline(always)]
pub(crate) fn layer_norm(values: &mut [f32], weight: &[f32], bias: &[f32], eps: f32) {
    let count = values.len() as f32;
    let mean = lanes_sum(values, |value| value) / count;
    let variance = lanes_sum(values, |value| (value - mean) * (value - mean)) / count;
    let scale = 1.0 / (variance + eps).sqrt();
    for ((value, w), b) in values.iter_mut().zip(weight).zip(bias) {
        *value = (*value - mean) * scale * w + b;
    }
}

#[inline(always)]
fn lanes_sum(values: &[f32], map: impl Fn(f32) -> f32) -> f32 {
    let mut lanes = [0.0_f32; 8];
    let chunks = values.chunks_exact(8);
    let rest: f32 = chunks.remainder().iter().map(|&value| map(value)).sum();
    for chunk in chunks {
        for lane in 0..8 {
            lanes[lane] += map(chunk[lane]);
        }
    }
    lanes.iter().sum::<f32>() + rest
}

/// Rounds a vector to signed bytes; gives the scale that turns them back.
#[inline(always)]
pub fn quantise(values: &[f32], out: &mut [i8]) -> f32 {
    let top = top(values, f32::abs);
    if top <= 0.0 || !top.is_finite() {
        out.fill(0);
        return 0.0;
    }
    let inverse = 127.0 / top;
    for (byte, value) in out.iter_mut().zip(values) {
        *byte = whole(value * inverse + ROUND) as i8;
    }
    top / 127.0
}
