//! Models from a folder: a small BERT that the test makes, run beside the same arithmetic in plain
//! floats; then everything that may be wrong with such a folder.

use std::path::PathBuf;

use serde_json::{Value, json};
use sinew_models::{Embedder, ModelLoadError, TextEncoder, TextSide};
use sinew_testkit::report_skip;

use crate::model_folder::{ModelFolder, NumberKind, POSITIONS};

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn vectors_are_those_of_the_model_in_plain_floats() {
    let mut folder = ModelFolder::new();
    for (kind, prefix) in
        [(NumberKind::F32, ""), (NumberKind::F16, "bert."), (NumberKind::Bf16, "")]
    {
        folder.pack(kind, &|name| format!("{prefix}{name}"));
        let encoder = folder.open().expect("a good folder");
        for text in
            ["Merge PDF files and split the pages.", "weather forecast", "Café raining", "🙂"]
        {
            let ids = encoder.tokens(text, TextSide::Message);
            let cosine =
                cosine(&encoder.encode(text, TextSide::Message), &folder.plainly(&ids, false));
            assert!(cosine > 0.995, "{kind:?} {text}: {cosine}");
        }
    }
    folder.pack(NumberKind::F32, &|name| {
        name.replace("Norm.weight", "Norm.gamma").replace("Norm.bias", "Norm.beta")
    });
    assert!(folder.open().is_ok());
}

#[test]
fn text_is_read_as_the_folder_says() {
    let encoder = ModelFolder::new().open().expect("a good folder");
    let ids = |text: &str, side| encoder.tokens(text, side);
    assert_eq!(ids("Rotates CAFÉ files, zebra", TextSide::Message), [2, 9, 8, 16, 7, 8, 1, 1, 3]);
    assert_eq!(ids(&"pdf ".repeat(50), TextSide::Document).len(), POSITIONS);
    let short = ModelFolder::new();
    let mut short = short.with("tokenizer.json", "/normalizer/lowercase", &json!(false));
    short.set("sentence_bert_config.json", &json!({"max_seq_length": 6}));
    short.set("config_sentence_transformers.json", &json!({"prompts": {"query": "query: "}}));
    let encoder = short.open().expect("a good folder");
    assert_eq!(encoder.tokens("PDF pdf pdf pdf", TextSide::Document), [2, 1, 6, 6, 6, 3]);
    assert_eq!(encoder.tokens("pdf", TextSide::Message), [2, 17, 18, 6, 3]);
    let first = ModelFolder::new();
    let first = first.with("1_Pooling/config.json", "/pooling_mode_mean_tokens", &json!(false));
    let first = first.with("1_Pooling/config.json", "/pooling_mode_cls_token", &json!(true));
    let encoder = first.open().expect("a good folder");
    let ids = encoder.tokens("rotate the photo", TextSide::Message);
    assert!(cosine(&encoder.encode_tokens(&ids), &first.plainly(&ids, true)) > 0.99);
    assert!(
        ModelFolder::new().without("modules.json").without("1_Pooling/config.json").open().is_ok()
    );
}

#[test]
fn the_id_names_the_folder_and_everything_that_changes_a_vector() {
    let id = |folder: &ModelFolder| folder.open().expect("a good folder").id().to_owned();
    let base = ModelFolder::new();
    assert!(id(&base).starts_with("file:small:"), "{}", id(&base));
    assert_eq!(id(&base), id(&base.clone()));
    let mut other = base.clone();
    *other.files.get_mut("model.safetensors").and_then(|file| file.last_mut()).expect("bytes") ^= 1;
    let mut prompted = base.clone();
    prompted.set("config_sentence_transformers.json", &json!({"prompts": {"document": "d: "}}));
    assert_ne!(id(&base), id(&other));
    assert_ne!(id(&base), id(&prompted));
}

#[test]
fn whatever_is_wrong_with_a_folder_is_named() {
    let check = |folder: ModelFolder, expected: &str| {
        let error = folder.open().err().map_or("no error".to_owned(), |error| error.to_string());
        assert!(error.contains(expected), "{error:?} should contain {expected:?}");
    };
    for file in ["config.json", "tokenizer.json", "model.safetensors", "1_Pooling/config.json"] {
        check(ModelFolder::new().without(file), &format!("{file} is missing"));
    }
    let with = |file: &str, at: &str, value: Value| ModelFolder::new().with(file, at, &value);
    check(with("config.json", "/model_type", json!("mpnet")), "model_type \"mpnet\", not \"bert\"");
    check(with("config.json", "/hidden_act", json!("relu")), "hidden_act \"relu\"");
    check(with("config.json", "/hidden_size", json!(48)), "shape");
    check(with("config.json", "/hidden_size", json!("wide")), "config.json: ");
    check(with("config.json", "/num_hidden_layers", json!(3)), "no tensor encoder.layer.2.");
    check(with("config.json", "/num_hidden_layers", json!(4_000_000)), "sizes that no BERT has");
    check(with("config.json", "/num_attention_heads", json!(0)), "0 heads");
    check(with("config.json", "/num_attention_heads", json!(5)), "5 heads of 32 dimensions");
    check(with("config.json", "/vocab_size", json!(9)), "22 pieces, the weights have 9");
    check(
        with("config.json", "/vocab_size", json!(99)),
        "word.weight has the shape [22, 32], expected [99, 32]",
    );
    check(with("tokenizer.json", "/model/type", json!("Unigram")), "model Unigram, not WordPiece");
    check(with("tokenizer.json", "/normalizer/type", json!("NFC")), "normalizer NFC");
    check(with("tokenizer.json", "/pre_tokenizer", json!(null)), "pre_tokenizer none");
    check(with("tokenizer.json", "/model/unk_token", json!("<unk>")), "no piece <unk>");
    check(
        with("modules.json", "/1/type", json!("sentence_transformers.models.Dense")),
        "module Dense",
    );
    check(
        with("1_Pooling/config.json", "/pooling_mode_max_tokens", json!(true)),
        "pooling max_tokens + mean_tokens",
    );
    let mut rubbish = ModelFolder::new();
    rubbish.files.insert("tokenizer.json".to_owned(), b"<html>".to_vec());
    check(rubbish, "tokenizer.json: ");
}

#[test]
fn damaged_weights_are_refused_at_any_place() {
    let good = ModelFolder::new();
    let whole = good.files["model.safetensors"].clone();
    let open = |bytes: &[u8]| {
        let mut folder = good.clone();
        folder.files.insert("model.safetensors".to_owned(), bytes.to_vec());
        folder.open()
    };
    for cut in [0, 3, 8, 100, whole.len() / 2, whole.len() - 1] {
        assert!(matches!(open(&whole[..cut]), Err(ModelLoadError::Damaged(_))), "cut at {cut}");
    }
    let mut huge = whole.clone();
    huge[..8].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(matches!(open(&huge), Err(ModelLoadError::Damaged(_))));
    // Numbers that are none give no vector, and no panic.
    let mut wild = good.clone();
    wild.tensors.values_mut().for_each(|(_, numbers)| numbers.fill(f32::NAN));
    wild.pack(NumberKind::F32, &|name| name.to_owned());
    assert!(matches!(wild.open(), Err(ModelLoadError::Damaged(_))));
    let mut words = good.clone();
    let (_, numbers) = words.tensors.get_mut("embeddings.word_embeddings.weight").expect("there");
    numbers.fill(f32::INFINITY);
    words.pack(NumberKind::F32, &|name| name.to_owned());
    assert!(words.open().expect("shapes fit").embed(&["pdf"], TextSide::Message).is_err());
    let mut state = 11_usize;
    for _ in 0..400 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
        let mut changed = whole.clone();
        changed[(state >> 30) % 3_000] = (state >> 20) as u8;
        if let Ok(encoder) = open(&changed) {
            let _ = encoder.embed(&["merge pdf files"], TextSide::Message);
        }
    }
}

/// all-MiniLM-L6-v2 as published, where `SINEW_MINILM` names its folder. The expected numbers are
/// those of the original in floats.
#[test]
fn the_published_minilm_gives_its_own_vectors() {
    let Some(folder) = std::env::var_os("SINEW_MINILM").map(PathBuf::from) else {
        report_skip("SINEW_MINILM does not name the folder of all-MiniLM-L6-v2");
        return;
    };
    let encoder = TextEncoder::from_folder("minilm", &|path| std::fs::read(folder.join(path)).ok())
        .expect("a good folder");
    for (text, ids, first) in [
        (
            "How do I merge two PDF files?",
            vec![101, 2129, 2079, 1045, 13590, 2048, 11135, 6764, 1029, 102],
            [-0.0175, -0.0227, -0.1139, -0.0119, -0.0098, -0.0023, -0.0435, 0.0394],
        ),
        (
            "Something is wrong with my session, can you diagnose it?",
            vec![
                101, 2242, 2003, 3308, 2007, 2026, 5219, 1010, 2064, 2017, 22939, 26745, 3366,
                2009, 1029, 102,
            ],
            [0.0544, -0.0287, -0.0482, -0.0262, -0.0584, -0.0096, 0.0774, 0.0323],
        ),
        (
            "Über den Wolken … café №5",
            vec![101, 19169, 7939, 24185, 28143, 2078, 1529, 7668, 1578, 2629, 102],
            [0.0079, 0.0738, 0.015, 0.032, -0.0257, 0.0339, 0.0823, 0.0443],
        ),
    ] {
        assert_eq!(encoder.tokens(text, TextSide::Message), ids, "{text}");
        let vector = encoder.encode(text, TextSide::Message);
        for (ours, theirs) in vector.iter().zip(first) {
            assert!((ours - theirs).abs() < 0.01, "{text}: {ours} and {theirs}");
        }
    }
    let close = |a: &str, b: &str| {
        cosine(&encoder.encode(a, TextSide::Message), &encoder.encode(b, TextSide::Message))
    };
    assert!(close("merge two PDFs", "join PDF documents") > 0.6);
    assert!(close("merge two PDFs", "a sunny afternoon by the sea") < 0.2);
}
