//! Fits a logistic model: Newton's method with weak regularisation.

use super::{FEATURES, LogisticModel, MatchFeatures};

/// One labelled observation.
#[derive(Debug, Clone, Copy)]
pub struct CalibrationSample {
    /// The observed features.
    pub features: MatchFeatures,
    /// Whether the candidate was right.
    pub right: bool,
    /// Its weight.
    pub weight: f64,
}

const SIZE: usize = FEATURES.len() + 1;
const ROUNDS: usize = 40;

/// The logistic model that best explains the samples; `pull` keeps slopes small (0.01 is mild).
/// Features named in `without` get no slope.
pub fn fit(samples: &[CalibrationSample], pull: f64, without: &[&str]) -> LogisticModel {
    let mut beta = [0.0; SIZE];
    let unused: Vec<usize> = FEATURES
        .iter()
        .enumerate()
        .filter(|(_, name)| without.contains(name))
        .map(|(at, _)| at + 1)
        .collect();
    let total: f64 = samples.iter().map(|sample| sample.weight).sum::<f64>().max(1e-9);
    for _ in 0..ROUNDS {
        let mut gradient = [0.0; SIZE];
        let mut hessian = [[0.0; SIZE]; SIZE];
        for sample in samples {
            let mut x = [1.0; SIZE];
            x[1..].copy_from_slice(sample.features.values());
            unused.iter().for_each(|&at| x[at] = 0.0);
            let sum: f64 = x.iter().zip(&beta).map(|(x, beta)| x * beta).sum();
            let p = 1.0 / (1.0 + (-sum).exp());
            let error = f64::from(u8::from(sample.right)) - p;
            let curve = (p * (1.0 - p)).max(1e-6);
            for row in 0..SIZE {
                gradient[row] += sample.weight * error * x[row];
                for column in 0..SIZE {
                    hessian[row][column] += sample.weight * curve * x[row] * x[column];
                }
            }
        }
        for at in 0..SIZE {
            let pull = if at == 0 { 1e-6 } else { pull } * total;
            gradient[at] -= pull * beta[at];
            hessian[at][at] += pull;
        }
        let step = solve(hessian, gradient);
        beta.iter_mut().zip(step).for_each(|(beta, step)| *beta += step);
        if step.iter().all(|step| step.abs() < 1e-9) {
            break;
        }
    }
    unused.iter().for_each(|&at| beta[at] = 0.0);
    let round = |value: f64| (value * 1e4).round() / 1e4;
    LogisticModel { bias: round(beta[0]), slopes: beta[1..].iter().copied().map(round).collect() }
}

/// Solves a small linear system by elimination with pivoting.
fn solve(mut matrix: [[f64; SIZE]; SIZE], mut right: [f64; SIZE]) -> [f64; SIZE] {
    for column in 0..SIZE {
        let pivot = (column..SIZE)
            .max_by(|&a, &b| matrix[a][column].abs().total_cmp(&matrix[b][column].abs()))
            .unwrap_or(column);
        matrix.swap(column, pivot);
        right.swap(column, pivot);
        let head = matrix[column];
        if head[column].abs() < 1e-12 {
            continue;
        }
        for row in column + 1..SIZE {
            let factor = matrix[row][column] / head[column];
            for at in column..SIZE {
                matrix[row][at] -= factor * head[at];
            }
            right[row] -= factor * right[column];
        }
    }
    let mut out = [0.0; SIZE];
    for row in (0..SIZE).rev() {
        let known: f64 = (row + 1..SIZE).map(|at| matrix[row][at] * out[at]).sum();
        if matrix[row][row].abs() >= 1e-12 {
            out[row] = (right[row] - known) / matrix[row][row];
        }
    }
    out
}
