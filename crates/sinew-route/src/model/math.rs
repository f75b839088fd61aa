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
#[inline]
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; 8];
    let (a_chunks, b_chunks) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f32 = a_chunks.remainder().iter().zip(b_chunks.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in a_chunks.zip(b_chunks) {
        for lane in 0..8 {
            lanes[lane] += x[lane] * y[lane];
        }
    }
    ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7])) + rest
}

/// e to the x, within 2e-7 of its value, by a polynomial.
#[inline]
pub(crate) fn exp(x: f32) -> f32 {
    const LOG2_E: f32 = std::f32::consts::LOG2_E;
    // Two parts of ln 2: the first is exact in few bits, so that its multiples are exact.
    const LN2_HIGH: f32 = 0.693_359_4;
    const LN2_LOW: f32 = -2.121_944_4e-4;
    let x = x.clamp(-87.0, 88.0);
    // Adding and taking away 1.5 * 2^23 rounds to the nearest whole number without a library call.
    const ROUND: f32 = 12_582_912.0;
    let n = (x * LOG2_E + ROUND) - ROUND;
    let r = (x - n * LN2_HIGH) - n * LN2_LOW;
    let p = 1.0
        + r * (1.0
            + r * (0.5
                + r * (0.166_666_55 + r * (0.041_665_796 + r * (0.008_333_452 + r * 0.001_398_2)))));
    let power = f32::from_bits((((n as i32) + 127) << 23) as u32);
    p * power
}

/// The error function, within 1.5e-7 (Abramowitz and Stegun, 7.1.26).
#[inline]
fn erf(x: f32) -> f32 {
    let a = x.abs();
    let t = 1.0 / (1.0 + 0.327_591_1 * a);
    let poly = t
        * (0.254_829_6 + t * (-0.284_496_74 + t * (1.421_413_7 + t * (-1.453_152 + t * 1.061_405_4))));
    let y = 1.0 - poly * exp(-a * a);
    if x < 0.0 { -y } else { y }
}

/// GELU in its exact form, on a whole slice.
#[inline]
pub(crate) fn gelu(values: &mut [f32]) {
    for value in values {
        *value = 0.5 * *value * (1.0 + erf(*value * std::f32::consts::FRAC_1_SQRT_2));
    }
}

/// Softmax over a slice.
#[inline]
pub(crate) fn softmax(values: &mut [f32]) {
    let top = values.iter().copied().fold(f32::MIN, f32::max);
    let mut sum = 0.0;
    for value in values.iter_mut() {
        *value = exp(*value - top);
    }
    for value in values.iter() {
        sum += *value;
    }
    let inverse = 1.0 / sum;
    values.iter_mut().for_each(|value| *value *= inverse);
}

/// Layer normalisation in place.
#[inline]
pub(crate) fn layer_norm(values: &mut [f32], weight: &[f32], bias: &[f32], eps: f32) {
    let count = values.len() as f32;
    let mean = lanes_sum(values, |value| value) / count;
    let variance = lanes_sum(values, |value| (value - mean) * (value - mean)) / count;
    let scale = 1.0 / (variance + eps).sqrt();
    for ((value, w), b) in values.iter_mut().zip(weight).zip(bias) {
        *value = (*value - mean) * scale * w + b;
    }
}

#[inline]
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
pub(crate) fn quantise(values: &[f32], out: &mut [i8]) -> f32 {
    let top = values.iter().fold(0.0_f32, |top, value| top.max(value.abs()));
    if top <= 0.0 || !top.is_finite() {
        out.fill(0);
        return 0.0;
    }
    let inverse = 127.0 / top;
    for (byte, value) in out.iter_mut().zip(values) {
        const ROUND: f32 = 12_582_912.0;
        *byte = ((value * inverse + ROUND) - ROUND) as i8;
    }
    top / 127.0
}
