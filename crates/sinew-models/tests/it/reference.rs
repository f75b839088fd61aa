//! The models give the same vectors as the training code.

use std::path::PathBuf;

use sinew_models::{Embedder, KernelLevel, ModelLoadError, StaticModel, TextEncoder, TextSide};
use sinew_testkit::report_skip;

fn has_models() -> bool {
    let has = StaticModel::embedded().is_some() && TextEncoder::embedded().is_some();
    if !has {
        report_skip("this build has no weights");
    }
    has
}

fn weights(name: &str) -> Option<Vec<u8>> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../sinew-weights")).join(name);
    let bytes = std::fs::read(&path).ok();
    if bytes.is_none() {
        report_skip(&format!("no sinew-weights/{name}"));
    }
    bytes
}

fn floats(value: &serde_json::Value) -> Vec<f32> {
    value
        .as_array()
        .expect("numbers")
        .iter()
        .map(|n| n.as_f64().expect("a number") as f32)
        .collect()
}

#[test]
fn vectors_equal_those_of_training() {
    if !has_models() {
        return;
    }
    let reference: serde_json::Value =
        serde_json::from_str(include_str!("../data/reference.json")).expect("JSON");
    let table = StaticModel::embedded().expect("checked").expect("a good file");
    let encoder = TextEncoder::embedded().expect("checked").expect("a good file");
    assert_eq!(reference["static"], table.id());
    assert_eq!(reference["encoder"], encoder.id());
    for row in reference["texts"].as_array().expect("texts") {
        let text = row["text"].as_str().expect("a text");
        let bridge: Vec<&str> =
            row["bridge"].as_array().expect("words").iter().filter_map(|w| w.as_str()).collect();
        let vector = table.message(&[(text, 1.0), (&bridge.join(" "), 0.8)]);
        for (ours, theirs) in vector.iter().zip(floats(&row["static_first8"])) {
            assert!((ours - theirs).abs() < 2e-4, "static {text}: {ours} and {theirs}");
        }
        let text = row["encoder_text"].as_str().expect("a text");
        let ids: Vec<u32> = floats(&row["encoder_ids"]).iter().map(|&id| id as u32).collect();
        let side = if ids.len() > 64 { TextSide::Document } else { TextSide::Message };
        assert_eq!(encoder.tokens(text, side), ids, "{text}");
        let ours = encoder.encode_tokens(&ids);
        let cosine: f32 = ours.iter().zip(floats(&row["encoder"])).map(|(a, b)| a * b).sum();
        assert!(cosine >= 0.995, "encoder {text}: cosine {cosine}");
    }
}

#[test]
fn every_level_gives_the_same_bits() {
    if !has_models() {
        return;
    }
    let ids: Vec<u32> = (0..13).map(|at| 2_000 + 37 * at).collect();
    let vectors: Vec<Vec<f32>> = KernelLevel::available()
        .into_iter()
        .map(|level| {
            TextEncoder::embedded()
                .expect("checked")
                .expect("good")
                .with_level(level)
                .encode_tokens(&ids)
        })
        .collect();
    assert!(vectors.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn a_changed_file_is_refused() {
    let (Some(good), Some(encoder)) = (weights("static.bin"), weights("encoder.bin")) else {
        return;
    };
    assert!(StaticModel::from_bytes(good.clone()).is_ok());
    let mut changed = good.clone();
    *changed.last_mut().expect("bytes") ^= 1;
    assert_eq!(StaticModel::from_bytes(changed).err(), Some(ModelLoadError::DigestMismatch));
    assert!(matches!(
        StaticModel::from_bytes(good[..5_000].to_vec()),
        Err(ModelLoadError::DigestMismatch)
    ));
    assert!(matches!(
        StaticModel::from_bytes(good[..100].to_vec()),
        Err(ModelLoadError::Damaged(_))
    ));
    assert!(matches!(TextEncoder::from_bytes(good), Err(ModelLoadError::WrongKind { .. })));
    assert!(TextEncoder::from_bytes(encoder).is_ok());
    assert!(matches!(StaticModel::from_bytes(Vec::new()), Err(ModelLoadError::WrongKind { .. })));
}
