//! Tries fusion weights and BM25F parameters on dev, validation and trigger messages.
//!
//!     SINEW_SHARED=../shared cargo run --release -p sinew-route --example tune [bm25f]
#![allow(clippy::print_stdout, reason = "a program that prints a table")]

mod common;

use std::sync::Arc;

use rayon::prelude::*;
use sinew_route::eval::{ExpectedMatch, RawSignals, raw_signals};
use sinew_route::{
    Bm25fParams, RouteDocument, RouteIndex, Router, RouterConfig, RouterModels, SignalWeights,
};

/// A name, skills, and messages with the ids that answer them.
type Unsignalled = (&'static str, Vec<RouteDocument>, Vec<(String, Vec<String>)>);

struct Signalled {
    name: &'static str,
    raw: Vec<RawSignals>,
    right: Vec<Vec<usize>>,
}

fn main() {
    let models = common::remembering();
    let (dev, validation) = (common::dev(), common::validation());
    let (trigger, rows) = common::trigger();
    let mut sets: Vec<Unsignalled> = Vec::new();
    for set in [dev, validation] {
        let asked = set
            .questions
            .iter()
            .filter(|question| question.expected_match() == ExpectedMatch::Skill);
        let asked =
            asked.map(|q| (q.query.clone(), q.expected.iter().chain(&q.also).cloned().collect()));
        let asked: Vec<(String, Vec<String>)> = asked.collect();
        if set.name == "validation" {
            let foreign: Vec<bool> = set.questions.iter().map(|q| q.kind == "foreign").collect();
            let part = |want: bool| {
                asked
                    .iter()
                    .zip(&foreign)
                    .filter(|(_, f)| **f == want)
                    .map(|(a, _)| a.clone())
                    .collect()
            };
            sets.push(("validation", set.documents.clone(), part(false)));
            sets.push(("foreign", set.documents, part(true)));
        } else {
            sets.push((set.name, set.documents, asked));
        }
    }
    let should = rows.iter().filter(|row| row.should_trigger);
    // Every second skill with only its description, as in a catalog of mixed origin.
    let half = |(at, one): (usize, &RouteDocument)| match at % 2 {
        0 => one.clone(),
        _ => RouteDocument::from_description(&one.id, &one.name, &one.description),
    };
    let half = sets[1].1.iter().enumerate().map(half).collect();
    sets.push(("half bare", half, sets[1].2.clone()));
    sets.push((
        "trigger",
        trigger,
        should.map(|row| (row.query.clone(), vec![row.skill.clone()])).collect(),
    ));
    if std::env::args().nth(1).as_deref() == Some("bm25f") {
        parameters(&sets, &models);
        return;
    }
    let signalled: Vec<Signalled> = sets
        .iter()
        .map(|(name, documents, asked)| {
            let index = common::index(
                if *name == "foreign" { "validation" } else { name },
                documents,
                &models,
            );
            signals(name, index, asked, &models)
        })
        .collect();
    let with_encoder = signalled.iter().all(|set| !set.raw[0].encoder.is_empty());
    for table in [1.0, 1.5, 2.0, 2.5, 3.0, 4.0] {
        println!("1:{table}:0   {}", line(&signalled, [1.0, table, 0.0], 0.0));
    }
    for floor in [0.3, 0.5, 0.7] {
        println!("1:2.5:0 adaptive {floor}  {}", line(&signalled, [1.0, 2.5, 0.0], floor));
    }
    if with_encoder {
        for table in [0.5, 1.0, 1.5, 2.0, 2.5] {
            for encoder in [1.0, 1.5, 2.0, 2.5, 3.0, 4.0] {
                println!("1:{table}:{encoder}   {}", line(&signalled, [1.0, table, encoder], 0.0));
            }
        }
    }
}

fn signals(
    name: &'static str,
    index: RouteIndex,
    asked: &[(String, Vec<String>)],
    models: &RouterModels,
) -> Signalled {
    let right = asked
        .iter()
        .map(|(_, ids)| ids.iter().filter_map(|id| index.position(id)).collect())
        .collect();
    let config = RouterConfig {
        weights: Some(SignalWeights { lexical: 1.0, table: 1.0, encoder: 1.0 }),
        ..RouterConfig::default()
    };
    let router = Router::from_index(Arc::new(index), models.clone(), config).0;
    let raw = asked.par_iter().map(|(text, _)| raw_signals(&router, text)).collect();
    Signalled { name, raw, right }
}

/// hit@1 / hit@5 / NDCG@10 of every set; `floor` > 0 lowers the lexical weight if few words are
/// known.
fn line(sets: &[Signalled], weights: [f64; 3], floor: f64) -> String {
    sets.iter()
        .map(|set| {
            let (mut one, mut five, mut gain) = (0.0, 0.0, 0.0);
            for (raw, right) in set.raw.iter().zip(&set.right) {
                let known =
                    if floor > 0.0 { floor + (1.0 - floor) * f64::from(raw.known) } else { 1.0 };
                let parts = [
                    (&raw.lexical, weights[0] * known),
                    (&raw.table, weights[1]),
                    (&raw.encoder, weights[2]),
                ];
                let mut score = vec![0.0; raw.lexical.len()];
                for (values, weight) in
                    parts.iter().filter(|(values, weight)| *weight > 0.0 && !values.is_empty())
                {
                    let n = values.len() as f64;
                    let mean = values.iter().map(|&v| f64::from(v)).sum::<f64>() / n;
                    let deviation =
                        (values.iter().map(|&v| (f64::from(v) - mean).powi(2)).sum::<f64>() / n)
                            .sqrt()
                            .max(1e-6);
                    score
                        .iter_mut()
                        .zip(values.iter())
                        .for_each(|(s, &v)| *s += weight * (f64::from(v) - mean) / deviation);
                }
                let best = right.iter().map(|&at| score[at]).fold(f64::MIN, f64::max);
                let rank = 1 + score
                    .iter()
                    .enumerate()
                    .filter(|(at, s)| !right.contains(at) && **s >= best)
                    .count();
                one += f64::from(u8::from(rank == 1));
                five += f64::from(u8::from(rank <= 5));
                gain += if rank <= 10 { 1.0 / ((rank + 1) as f64).log2() } else { 0.0 };
            }
            let n = set.right.len() as f64 / 100.0;
            format!("{} {:.1}/{:.1}/{:.1}", set.name, one / n, five / n, gain / n)
        })
        .collect::<Vec<_>>()
        .join("  ")
}

fn parameters(sets: &[Unsignalled], models: &RouterModels) {
    let models = models.clone().without_encoder();
    let start = Bm25fParams::default();
    let mut tries = vec![("default", start)];
    for k1 in [1.2, 2.0, 4.0, 6.0] {
        tries.push(("k1", Bm25fParams { k1, ..start }));
    }
    let names = ["name", "triggers", "description", "headings", "body"];
    for (field, name) in names.into_iter().enumerate() {
        for factor in [0.6, 1.6] {
            let mut params = start;
            params.weights[field] *= factor;
            tries.push((name, params));
        }
    }
    for (field, value) in
        [(0, 0.1), (0, 0.6), (2, 0.3), (2, 0.75), (3, 0.3), (3, 0.9), (4, 0.75), (4, 1.0)]
    {
        let mut params = start;
        params.b[field] = value;
        tries.push(("b", params));
    }
    let bases: Vec<RouteIndex> =
        sets.iter().map(|(_, documents, _)| RouteIndex::build(documents, &models)).collect();
    for (what, params) in tries {
        let signalled: Vec<Signalled> = sets
            .iter()
            .zip(&bases)
            .map(|((name, documents, asked), base)| {
                signals(name, base.with_params(documents, &models, params), asked, &models)
            })
            .collect();
        println!(
            "{what:12} k1 {} w {:?} b {:?}\n   alone {}\n   1:2.5 {}",
            params.k1,
            params.weights,
            params.b,
            line(&signalled, [1.0, 0.0, 0.0], 0.0),
            line(&signalled, [1.0, 2.5, 0.0], 0.0)
        );
    }
}
