//! Makes signals comparable: z-scores over the catalog, with a background for small ones.

/// A catalog is joined by this many documents that look like nothing, so that the mean and the
/// deviation of five skills are not silly; with a thousand they no longer count.
const PSEUDO: f64 = 30.0;

/// The mean and the deviation a signal is measured by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    mean: f64,
    deviation: f64,
}

impl Scale {
    /// From the values of a catalog and the background's mean and deviation.
    pub(crate) fn of(values: impl Iterator<Item = f32>, background: [f64; 2]) -> Self {
        let [mean, deviation] = background;
        let (mut count, mut sum, mut squares) =
            (PSEUDO, PSEUDO * mean, PSEUDO * (mean * mean + deviation * deviation));
        for value in values {
            let value = f64::from(value);
            count += 1.0;
            sum += value;
            squares += value * value;
        }
        let mean = sum / count;
        let deviation = (squares / count - mean * mean).max(0.0).sqrt().max(1e-6);
        Self { mean, deviation }
    }

    /// A value in deviations from the mean.
    pub(crate) fn z(self, value: f32) -> f64 {
        (f64::from(value) - self.mean) / self.deviation
    }
}
