//! Models from a folder: a small BERT that the test makes, run beside the same arithmetic in plain
//! floats; then everything that may be wrong with such a folder.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use sinew_route::{
    DegradedKind, Embedder, ModelLoadError, RouteDecision, RouterConfig, TextEncoder, TextSide,
};

use crate::support::{ask, corpus_skills, has_models, models, names, router_with, skipped};

const DIMS: usize = 32;
const HEADS: usize = 2;
const INNER: usize = 64;
const LAYERS: usize = 2;
const POSITIONS: usize = 24;
const PIECES: [&str; 22] = [
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "merge", "split", "pdf", "file", "##s", "rotate", "page",
    "weather", "rain", "and", "the", "##ing", "cafe", "query", ":", ".", "forecast", "photo",
];

/// A folder in memory.
#[derive(Clone)]
struct Folder {
    files: BTreeMap<String, Vec<u8>>,
    tensors: BTreeMap<String, (Vec<usize>, Vec<f32>)>,
}

/// How numbers are written.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    F32,
    F16,
    Bf16,
}

impl Folder {
    fn new() -> Self {
        let mut folder = Self { files: BTreeMap::new(), tensors: BTreeMap::new() };
        folder.set("config.json", &json!({
            "model_type": "bert", "vocab_size": PIECES.len(), "hidden_size": DIMS,
            "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "intermediate_size": INNER,
            "max_position_embeddings": POSITIONS, "layer_norm_eps": 1e-12, "hidden_act": "gelu",
        }));
        let vocab: BTreeMap<&str, usize> = PIECES.iter().copied().zip(0..).collect();
        folder.set("tokenizer.json", &json!({
            "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true},
            "pre_tokenizer": {"type": "BertPreTokenizer"},
            "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "vocab": vocab},
        }));
        folder.set(
            "modules.json",
            &json!([
                {"idx": 0, "path": "", "type": "sentence_transformers.models.Transformer"},
                {"idx": 1, "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
                {"idx": 2, "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"},
            ]),
        );
        folder.set(
            "1_Pooling/config.json",
            &json!({"pooling_mode_mean_tokens": true, "pooling_mode_cls_token": false}),
        );
        let mut random = 1_u32;
        let mut tensor = |name: &str, shape: &[usize], mean: f32, spread: f32| {
            let numbers = (0..shape.iter().product::<usize>()).map(|_| {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                mean + spread * ((random >> 8) as f32 / 8_388_608.0 - 1.0)
            });
            folder.tensors.insert(name.to_owned(), (shape.to_vec(), numbers.collect()));
        };
        tensor("embeddings.word_embeddings.weight", &[PIECES.len(), DIMS], 0.0, 1.0);
        tensor("embeddings.position_embeddings.weight", &[POSITIONS, DIMS], 0.0, 0.2);
        tensor("embeddings.token_type_embeddings.weight", &[2, DIMS], 0.0, 0.1);
        tensor("embeddings.LayerNorm.weight", &[DIMS], 1.0, 0.1);
        tensor("embeddings.LayerNorm.bias", &[DIMS], 0.0, 0.1);
        for layer in 0..LAYERS {
            for (part, rows, columns) in [
                ("attention.self.query", DIMS, DIMS),
                ("attention.self.key", DIMS, DIMS),
                ("attention.self.value", DIMS, DIMS),
                ("attention.output.dense", DIMS, DIMS),
                ("intermediate.dense", INNER, DIMS),
                ("output.dense", DIMS, INNER),
            ] {
                let name = format!("encoder.layer.{layer}.{part}");
                tensor(&format!("{name}.weight"), &[rows, columns], 0.0, 0.3);
                tensor(&format!("{name}.bias"), &[rows], 0.0, 0.1);
            }
            for part in ["attention.output.LayerNorm", "output.LayerNorm"] {
                let name = format!("encoder.layer.{layer}.{part}");
                tensor(&format!("{name}.weight"), &[DIMS], 1.0, 0.1);
                tensor(&format!("{name}.bias"), &[DIMS], 0.0, 0.1);
            }
        }
        folder.pack(Kind::F32, &|name| name.to_owned());
        folder
    }

    fn set(&mut self, file: &str, value: &Value) {
        self.files.insert(file.to_owned(), value.to_string().into_bytes());
    }

    /// Changes one key of a JSON file.
    fn with(mut self, file: &str, pointer: &str, value: &Value) -> Self {
        let mut json: Value = serde_json::from_slice(&self.files[file]).expect("JSON");
        let (above, key) = pointer.rsplit_once('/').expect("a pointer");
        json.pointer_mut(above).expect("a place")[key] = value.clone();
        self.set(file, &json);
        self
    }

    fn without(mut self, file: &str) -> Self {
        self.files.remove(file);
        self
    }

    /// Writes `model.safetensors`.
    fn pack(&mut self, kind: Kind, rename: &dyn Fn(&str) -> String) {
        let (mut header, mut data) = (serde_json::Map::new(), Vec::new());
        header.insert("__metadata__".to_owned(), json!({"format": "pt"}));
        for (name, (shape, numbers)) in &self.tensors {
            let start = data.len();
            for number in numbers {
                match kind {
                    Kind::F32 => data.extend(number.to_le_bytes()),
                    Kind::Bf16 => data.extend(((number.to_bits() >> 16) as u16).to_le_bytes()),
                    Kind::F16 => data.extend(half(*number).to_le_bytes()),
                }
            }
            let dtype = format!("{kind:?}").to_uppercase();
            header.insert(
                rename(name),
                json!({"dtype": dtype, "shape": shape, "data_offsets": [start, data.len()]}),
            );
        }
        let header = Value::Object(header).to_string();
        let mut file = (header.len() as u64).to_le_bytes().to_vec();
        file.extend(header.as_bytes());
        file.extend(data);
        self.files.insert("model.safetensors".to_owned(), file);
    }

    fn open(&self) -> Result<TextEncoder, ModelLoadError> {
        TextEncoder::from_folder("small", &|path| self.files.get(path).cloned())
    }

    /// The vector of tokens by the same model in plain floats.
    fn plainly(&self, ids: &[u32], first_only: bool) -> Vec<f32> {
        let tensor = |name: &str| &self.tensors[name].1;
        let row = |name: &str, at: usize| &tensor(name)[at * DIMS..(at + 1) * DIMS];
        let norm = |x: &mut [f32], name: &str| {
            let mean = x.iter().sum::<f32>() / DIMS as f32;
            let variance = x.iter().map(|v| (v - mean).powi(2)).sum::<f32>() / DIMS as f32;
            let (weight, bias) =
                (tensor(&format!("{name}.weight")), tensor(&format!("{name}.bias")));
            for at in 0..DIMS {
                x[at] = (x[at] - mean) / (variance + 1e-12).sqrt() * weight[at] + bias[at];
            }
        };
        let linear = |x: &[f32], name: &str| -> Vec<f32> {
            let (weight, bias) =
                (tensor(&format!("{name}.weight")), tensor(&format!("{name}.bias")));
            let rows = weight.chunks(x.len()).zip(bias);
            rows.map(|(row, bias)| row.iter().zip(x).map(|(a, b)| a * b).sum::<f32>() + bias)
                .collect()
        };
        let mut x: Vec<Vec<f32>> = ids
            .iter()
            .enumerate()
            .map(|(place, &id)| {
                let (word, kind) = (
                    row("embeddings.word_embeddings.weight", id as usize),
                    row("embeddings.token_type_embeddings.weight", 0),
                );
                let position = row("embeddings.position_embeddings.weight", place);
                let mut sum: Vec<f32> =
                    (0..DIMS).map(|at| word[at] + kind[at] + position[at]).collect();
                norm(&mut sum, "embeddings.LayerNorm");
                sum
            })
            .collect();
        for layer in 0..LAYERS {
            let name = |part: &str| format!("encoder.layer.{layer}.{part}");
            let of = |part: &str| -> Vec<Vec<f32>> {
                x.iter().map(|x| linear(x, &name(part))).collect()
            };
            let (q, k, v) =
                (of("attention.self.query"), of("attention.self.key"), of("attention.self.value"));
            let size = DIMS / HEADS;
            let mut next = Vec::new();
            for token in 0..x.len() {
                let mut mixed = vec![0.0; DIMS];
                for head in 0..HEADS {
                    let part = head * size..(head + 1) * size;
                    let scores: Vec<f32> = k
                        .iter()
                        .map(|k| {
                            (q[token][part.clone()]
                                .iter()
                                .zip(&k[part.clone()])
                                .map(|(a, b)| a * b)
                                .sum::<f32>()
                                / (size as f32).sqrt())
                            .exp()
                        })
                        .collect();
                    let all: f32 = scores.iter().sum();
                    for (score, v) in scores.iter().zip(&v) {
                        part.clone().for_each(|at| mixed[at] += score / all * v[at]);
                    }
                }
                let mut sum: Vec<f32> = linear(&mixed, &name("attention.output.dense"))
                    .iter()
                    .zip(&x[token])
                    .map(|(a, b)| a + b)
                    .collect();
                norm(&mut sum, &name("attention.output.LayerNorm"));
                let up: Vec<f32> = linear(&sum, &name("intermediate.dense"))
                    .iter()
                    .map(|&v| 0.5 * v * (1.0 + erf(f64::from(v) / 2.0_f64.sqrt()) as f32))
                    .collect();
                let mut out: Vec<f32> = linear(&up, &name("output.dense"))
                    .iter()
                    .zip(&sum)
                    .map(|(a, b)| a + b)
                    .collect();
                norm(&mut out, &name("output.LayerNorm"));
                next.push(out);
            }
            x = next;
        }
        let rows = if first_only { &x[..1] } else { &x[..] };
        let mut mean: Vec<f32> = (0..DIMS).map(|at| rows.iter().map(|row| row[at]).sum()).collect();
        let length = mean.iter().map(|v| v * v).sum::<f32>().sqrt();
        mean.iter_mut().for_each(|v| *v /= length);
        mean
    }
}

/// By its series, which is good enough within the range of these numbers.
fn erf(x: f64) -> f64 {
    let (mut term, mut sum) = (x, x);
    for n in 1..60 {
        term *= -x * x / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    (sum * 2.0 / std::f64::consts::PI.sqrt()).clamp(-1.0, 1.0)
}

/// Cut, not rounded, to sixteen bits.
fn half(number: f32) -> u16 {
    let bits = number.to_bits();
    let (sign, exponent) = ((bits >> 16) as u16 & 0x8000, (bits >> 23 & 255) as i32 - 112);
    if exponent <= 0 { sign } else { sign | (exponent as u16) << 10 | (bits >> 13) as u16 & 1023 }
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn vectors_are_those_of_the_model_in_plain_floats() {
    let mut folder = Folder::new();
    for (kind, prefix) in [(Kind::F32, ""), (Kind::F16, "bert."), (Kind::Bf16, "")] {
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
    folder.pack(Kind::F32, &|name| {
        name.replace("Norm.weight", "Norm.gamma").replace("Norm.bias", "Norm.beta")
    });
    assert!(folder.open().is_ok());
}

#[test]
fn text_is_read_as_the_folder_says() {
    let encoder = Folder::new().open().expect("a good folder");
    let ids = |text: &str, side| encoder.tokens(text, side);
    assert_eq!(ids("Rotates CAFÉ files, zebra", TextSide::Message), [2, 9, 8, 16, 7, 8, 1, 1, 3]);
    assert_eq!(ids(&"pdf ".repeat(50), TextSide::Document).len(), POSITIONS);
    let short = Folder::new();
    let mut short = short.with("tokenizer.json", "/normalizer/lowercase", &json!(false));
    short.set("sentence_bert_config.json", &json!({"max_seq_length": 6}));
    short.set("config_sentence_transformers.json", &json!({"prompts": {"query": "query: "}}));
    let encoder = short.open().expect("a good folder");
    assert_eq!(encoder.tokens("PDF pdf pdf pdf", TextSide::Document), [2, 1, 6, 6, 6, 3]);
    assert_eq!(encoder.tokens("pdf", TextSide::Message), [2, 17, 18, 6, 3]);
    let first = Folder::new();
    let first = first.with("1_Pooling/config.json", "/pooling_mode_mean_tokens", &json!(false));
    let first = first.with("1_Pooling/config.json", "/pooling_mode_cls_token", &json!(true));
    let encoder = first.open().expect("a good folder");
    let ids = encoder.tokens("rotate the photo", TextSide::Message);
    assert!(cosine(&encoder.encode_tokens(&ids), &first.plainly(&ids, true)) > 0.99);
    assert!(Folder::new().without("modules.json").without("1_Pooling/config.json").open().is_ok());
}

#[test]
fn the_id_names_the_folder_and_everything_that_changes_a_vector() {
    let id = |folder: &Folder| folder.open().expect("a good folder").id().to_owned();
    let base = Folder::new();
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
    let check = |folder: Folder, expected: &str| {
        let error = folder.open().err().map_or("no error".to_owned(), |error| error.to_string());
        assert!(error.contains(expected), "{error:?} should contain {expected:?}");
    };
    for file in ["config.json", "tokenizer.json", "model.safetensors", "1_Pooling/config.json"] {
        check(Folder::new().without(file), &format!("{file} is missing"));
    }
    let with = |file: &str, at: &str, value: Value| Folder::new().with(file, at, &value);
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
    let mut rubbish = Folder::new();
    rubbish.files.insert("tokenizer.json".to_owned(), b"<html>".to_vec());
    check(rubbish, "tokenizer.json: ");
}

#[test]
fn damaged_weights_are_refused_at_any_place() {
    let good = Folder::new();
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
    wild.pack(Kind::F32, &|name| name.to_owned());
    assert!(matches!(wild.open(), Err(ModelLoadError::Damaged(_))));
    let mut words = good.clone();
    let (_, numbers) = words.tensors.get_mut("embeddings.word_embeddings.weight").expect("there");
    numbers.fill(f32::INFINITY);
    words.pack(Kind::F32, &|name| name.to_owned());
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

#[test]
fn a_model_from_a_folder_ranks_and_is_never_sure() {
    let encoder = Arc::new(Folder::new().open().expect("a good folder"));
    let router =
        router_with(&corpus_skills(), models().with_encoder(encoder), RouterConfig::default());
    let result = ask(&router, "merge and split pdf files");
    assert!(result.model.contains("file:small:"), "{}", result.model);
    assert!(result.matches[0].parts.encoder.raw != 0.0);
    assert_ne!(result.decision, RouteDecision::Match);
    if has_models() {
        let kinds: Vec<DegradedKind> = result.degraded.iter().map(|one| one.kind).collect();
        assert_eq!(kinds, [DegradedKind::MissingCalibration]);
    }
}

/// all-MiniLM-L6-v2 as published, where `SINEW_MINILM` names its folder. The expected numbers are
/// those of the original in floats.
#[test]
fn the_published_minilm_gives_its_own_vectors() {
    let Some(folder) = std::env::var_os("SINEW_MINILM").map(PathBuf::from) else {
        skipped("SINEW_MINILM does not name the folder of all-MiniLM-L6-v2");
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
    let router = router_with(
        &corpus_skills(),
        models().with_encoder(Arc::new(encoder)),
        RouterConfig::default(),
    );
    assert_eq!(names(&ask(&router, "please join these pdf documents"))[0], "pdf-tools");
}
