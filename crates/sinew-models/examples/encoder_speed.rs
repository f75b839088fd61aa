//! How long the encoder takes per text, at each instruction set level.
//!
//!     cargo run --release -p sinew-models --example encoder_speed
#![allow(clippy::print_stdout, reason = "a program that prints figures")]

use std::time::Instant;

use sinew_models::{KernelLevel, TextEncoder};

fn main() {
    for level in KernelLevel::available() {
        let Some(Ok(encoder)) = TextEncoder::embedded() else {
            println!("no encoder in this build");
            return;
        };
        let encoder = encoder.with_level(level);
        for tokens in [18, 64, 96] {
            let ids: Vec<u32> = (0..tokens).map(|at| 2000 + 37 * at).collect();
            let _ = encoder.encode_tokens(&ids);
            let rounds = if level == KernelLevel::Scalar { 3 } else { 30 };
            let mut times: Vec<_> = (0..rounds)
                .map(|_| {
                    let start = Instant::now();
                    std::hint::black_box(encoder.encode_tokens(&ids));
                    start.elapsed()
                })
                .collect();
            times.sort();
            println!(
                "{level:?} {tokens} tokens: p50 {:?}, best {:?}",
                times[times.len() / 2],
                times[0]
            );
        }
    }
}
