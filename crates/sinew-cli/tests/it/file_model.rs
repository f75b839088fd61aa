//! A model from a folder in the encoder's place.

use sinew_testkit::TestMachine;

use crate::support::{json, sinew};

/// Words that the small model tells apart; each has a direction of its own.
const PIECES: [&str; 9] =
    ["[UNK]", "[CLS]", "[SEP]", "pictures", "photos", "soup", "stew", "about", "please"];
const DIMS: usize = 16;

/// A BERT without layers: the mean of its words. "photos" means "pictures", "stew" means "soup".
fn weights() -> Vec<u8> {
    let mut word = vec![0.0_f32; PIECES.len() * DIMS];
    for (at, meaning) in [0, 1, 2, 3, 3, 5, 5, 7, 8].into_iter().enumerate() {
        word[at * DIMS + meaning] = 9.0;
    }
    let tensors = [
        ("embeddings.word_embeddings.weight", vec![PIECES.len(), DIMS], word),
        ("embeddings.position_embeddings.weight", vec![64, DIMS], vec![0.0; 64 * DIMS]),
        ("embeddings.token_type_embeddings.weight", vec![2, DIMS], vec![0.0; 2 * DIMS]),
        ("embeddings.LayerNorm.weight", vec![DIMS], vec![1.0; DIMS]),
        ("embeddings.LayerNorm.bias", vec![DIMS], vec![0.0; DIMS]),
    ];
    let (mut header, mut data) = (serde_json::Map::new(), Vec::new());
    for (name, shape, numbers) in tensors {
        let start = data.len();
        data.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        let entry = serde_json::json!({"dtype": "F32", "shape": shape, "data_offsets": [start, data.len()]});
        header.insert(name.to_owned(), entry);
    }
    let header = serde_json::Value::Object(header).to_string();
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &data].concat()
}

fn machine() -> TestMachine {
    let vocab: serde_json::Map<String, serde_json::Value> =
        PIECES.iter().enumerate().map(|(id, piece)| ((*piece).to_owned(), id.into())).collect();
    let config = serde_json::json!({
        "model_type": "bert", "vocab_size": PIECES.len(), "hidden_size": DIMS, "num_hidden_layers": 0,
        "num_attention_heads": 2, "intermediate_size": 16, "max_position_embeddings": 64,
    });
    let tokenizer = serde_json::json!({
        "normalizer": {"type": "BertNormalizer", "lowercase": true},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "vocab": vocab},
    });
    TestMachine::new()
        .skill("work/skills/pictures", "pictures")
        .skill("work/skills/soup", "soup")
        .file("home/models/tiny/config.json", config.to_string())
        .file("home/models/tiny/tokenizer.json", tokenizer.to_string())
        .file("home/models/tiny/model.safetensors", weights())
        .file("home/.sinew/config.json5", "{route: {model: 'file', file: '~/models/tiny'}}")
}

#[test]
fn a_model_from_a_folder_ranks_beside_words() {
    let machine = machine();
    let result = json(&machine, &["find", "photos please"]);
    assert!(result["model"].as_str().expect("a name").contains("file:tiny:"), "{result}");
    assert_eq!(result["matches"][0]["name"], "pictures", "{result}");
    let cosine = |at: usize| result["matches"][at]["parts"]["encoder"]["raw"].as_f64();
    assert!(cosine(0) > cosine(1), "{result}");
    // No calibration was fitted for it, so it is never sure.
    assert_ne!(result["decision"], "match");
    assert_eq!(result["degraded"][0]["kind"], "missing-calibration");
    assert_eq!(json(&machine, &["index", "status"])["pending"], 0);
    machine.write("home/.sinew/config.json5", "{route: {file: '~/models/tiny'}}");
    let chosen = json(&machine, &["find", "--model", "file", "stew please"]);
    assert_eq!(chosen["matches"][0]["name"], "soup", "{chosen}");
}

#[test]
fn what_is_wrong_with_the_folder_is_said_and_the_answer_still_comes() {
    let check = |machine: &TestMachine, why: &str| {
        let shown = sinew(machine, &["find", "about pictures"]);
        assert!(shown.contains("pictures") && shown.contains(why), "{shown}");
        assert!(shown.contains("route.file must name a folder"), "{shown}");
        let result = json(machine, &["find", "about pictures"]);
        assert_eq!(result["degraded"][0]["kind"], "model-missing", "{result}");
    };
    let machine = machine();
    machine.write("home/models/tiny/model.safetensors", &weights()[..600]);
    check(&machine, "model.safetensors: ");
    std::fs::remove_file(machine.path("home/models/tiny/tokenizer.json")).expect("ours");
    check(&machine, "tokenizer.json is missing");
    machine.write("home/.sinew/config.json5", "{route: {model: 'file', file: '~/models/none'}}");
    check(&machine, "the folder is missing");
    machine.write("home/.sinew/config.json5", "{route: {model: 'file'}}");
    check(&machine, "route.file is not set");
}
