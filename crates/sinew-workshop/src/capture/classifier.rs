//! The classifier of the extended profile: one weight for each number that a message is.
//!
//! The weights are trained on turns that we wrote ourselves, in nine languages, and on those kept for
//! development; how, and what was measured, is in `model/capture/README.md`.

use std::sync::LazyLock;

use super::features;

static FILE: &[u8] = include_bytes!("../../data/capture-weights.bin");

/// From this probability on a message is taken for a correction. Chosen so that about one in thirty
/// others is taken for one, in cross-validation.
const CORRECTION: f32 = 0.55;

/// The bias, and the weights.
static WEIGHTS: LazyLock<Option<(f32, Vec<f32>)>> = LazyLock::new(|| {
    let numbers = FILE.chunks_exact(4).map(|bytes| bytes.try_into().map(f32::from_le_bytes));
    let mut numbers: Vec<f32> = numbers.collect::<Result<_, _>>().ok()?;
    // Weights for other features say nothing.
    if numbers.len() != features::count() + 1 {
        return None;
    }
    let bias = numbers.remove(0);
    Some((bias, numbers))
});

/// How likely a message is a correction; none where there are no weights.
pub(super) fn probability(message: &str, previous: Option<&str>) -> Option<f32> {
    let (bias, weights) = WEIGHTS.as_ref()?;
    crate::activity::STATIC_TABLE.as_ref()?;
    let numbers = features::features(message, previous);
    let sum: f32 = numbers.iter().zip(weights).map(|(number, weight)| number * weight).sum();
    Some(1.0 / (1.0 + (-(sum + bias)).exp()))
}

/// Whether a probability is that of a correction.
pub(super) fn is_correction(probability: f32) -> bool {
    probability >= CORRECTION
}
