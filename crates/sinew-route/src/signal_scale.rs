//! Makes signals comparable: z-scores over the catalog, with a background for small ones.

/// Every catalog is extended by this many documents that match nothing, so that the mean and
/// deviation of five skills are sensible; with a thousand they hardly count.
const PSEUDO: f64 = 30.0;

/// Sums are computed in this many lanes: fast, and added in the same order everywhere.
const LANES: usize = 8;

/// The mean and deviation of a signal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SignalScale {
    mean: f64,
    deviation: f64,
}

impl SignalScale {
    /// From the values of a catalog and the background's mean and deviation.
    pub(crate) fn of(values: &[f32], background: [f64; 2]) -> Self {
        let [mean, deviation] = background;
        let (mut sums, mut squares) = ([0.0_f64; LANES], [0.0_f64; LANES]);
        let chunks = values.chunks_exact(LANES);
        let rest = chunks.remainder();
        for chunk in chunks {
            for lane in 0..LANES {
                let value = f64::from(chunk[lane]);
                sums[lane] += value;
                squares[lane] += value * value;
            }
        }
        for (lane, &value) in rest.iter().enumerate() {
            sums[lane] += f64::from(value);
            squares[lane] += f64::from(value) * f64::from(value);
        }
        let count = PSEUDO + values.len() as f64;
        let sum = PSEUDO * mean + sums.iter().sum::<f64>();
        let square = PSEUDO * (mean * mean + deviation * deviation) + squares.iter().sum::<f64>();
        let mean = sum / count;
        let deviation = (square / count - mean * mean).max(0.0).sqrt().max(1e-6);
        Self { mean, deviation }
    }

    /// A value in deviations from the mean.
    pub(crate) fn z(self, value: f32) -> f64 {
        (f64::from(value) - self.mean) / self.deviation
    }

    /// What one unit of the signal adds to a sum with this `weight`.
    pub(crate) fn slope(self, weight: f64) -> f32 {
        (weight / self.deviation) as f32
    }
}
