//! A folder as `sentence-transformers` writes it, in memory: a small BERT, and the same arithmetic in
//! plain floats.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sinew_models::{ModelLoadError, TextEncoder};

pub(crate) const DIMS: usize = 32;
pub(crate) const HEADS: usize = 2;
pub(crate) const INNER: usize = 64;
pub(crate) const LAYERS: usize = 2;
pub(crate) const POSITIONS: usize = 24;
pub(crate) const PIECES: [&str; 22] = [
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "merge", "split", "pdf", "file", "##s", "rotate", "page",
    "weather", "rain", "and", "the", "##ing", "cafe", "query", ":", ".", "forecast", "photo",
];

/// A folder in memory.
#[derive(Clone)]
pub(crate) struct ModelFolder {
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    pub(crate) tensors: BTreeMap<String, (Vec<usize>, Vec<f32>)>,
}

/// How numbers are written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum NumberKind {
    F32,
    F16,
    Bf16,
}

impl ModelFolder {
    pub(crate) fn new() -> Self {
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
        folder.pack(NumberKind::F32, &|name| name.to_owned());
        folder
    }

    pub(crate) fn set(&mut self, file: &str, value: &Value) {
        self.files.insert(file.to_owned(), value.to_string().into_bytes());
    }

    /// Changes one key of a JSON file.
    pub(crate) fn with(mut self, file: &str, pointer: &str, value: &Value) -> Self {
        let mut json: Value = serde_json::from_slice(&self.files[file]).expect("JSON");
        let (above, key) = pointer.rsplit_once('/').expect("a pointer");
        json.pointer_mut(above).expect("a place")[key] = value.clone();
        self.set(file, &json);
        self
    }

    pub(crate) fn without(mut self, file: &str) -> Self {
        self.files.remove(file);
        self
    }

    /// Writes `model.safetensors`.
    pub(crate) fn pack(&mut self, kind: NumberKind, rename: &dyn Fn(&str) -> String) {
        let (mut header, mut data) = (serde_json::Map::new(), Vec::new());
        header.insert("__metadata__".to_owned(), json!({"format": "pt"}));
        for (name, (shape, numbers)) in &self.tensors {
            let start = data.len();
            for number in numbers {
                match kind {
                    NumberKind::F32 => data.extend(number.to_le_bytes()),
                    NumberKind::Bf16 => {
                        data.extend(((number.to_bits() >> 16) as u16).to_le_bytes());
                    }
                    NumberKind::F16 => data.extend(half(*number).to_le_bytes()),
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

    pub(crate) fn open(&self) -> Result<TextEncoder, ModelLoadError> {
        TextEncoder::from_folder("small", &|path| self.files.get(path).cloned())
    }

    /// The vector of tokens by the same model in plain floats.
    pub(crate) fn plainly(&self, ids: &[u32], first_only: bool) -> Vec<f32> {
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
