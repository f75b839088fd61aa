//! Models from a folder as `sentence-transformers` writes them, of BERT's shape.
//!
//! | file | what is read of it |
//! |---|---|
//! | `config.json` | the sizes |
//! | `model.safetensors` | the weights |
//! | `tokenizer.json` | the vocabulary, and how text is cleaned |
//! | `modules.json`, `1_Pooling/config.json` | what becomes the vector; the mean where absent |
//! | `sentence_bert_config.json` | how many tokens are read |
//! | `config_sentence_transformers.json` | what is put before a query and a document |
//!
//! A folder that asks for anything else is refused: a model that runs differently from how it was
//! trained ranks badly, and nothing would show why.

use std::collections::HashMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::encoder::{EncoderSetup, Pooling, TextEncoder};
use crate::file::ModelLoadError;
use crate::safetensors::SafetensorsFile;
use crate::tokens::Tokenizer;
use crate::transformer::TransformerShape;

#[derive(Deserialize)]
struct BertConfigWire {
    #[serde(default)]
    model_type: String,
    vocab_size: usize,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    max_position_embeddings: usize,
    #[serde(default = "small")]
    layer_norm_eps: f32,
    #[serde(default = "gelu")]
    hidden_act: String,
    #[serde(default = "absolute")]
    position_embedding_type: String,
}

fn small() -> f32 {
    1e-12
}

fn gelu() -> String {
    "gelu".to_owned()
}

fn absolute() -> String {
    "absolute".to_owned()
}

#[derive(Deserialize)]
struct PipelineModuleWire {
    #[serde(default)]
    path: String,
    r#type: String,
}

/// No model of BERT's shape has more layers; a file that says so would only use up memory.
const MAX_LAYERS: usize = 96;

impl TextEncoder {
    /// An encoder from a folder; `file` gives the bytes of a file in it, `None` where it is absent.
    ///
    /// Weights are rounded to signed bytes, row by row, when the first text is encoded.
    pub fn from_folder(
        name: &str,
        file: &dyn Fn(&str) -> Option<Vec<u8>>,
    ) -> Result<Self, ModelLoadError> {
        let needed =
            |path: &str| file(path).ok_or_else(|| ModelLoadError::Missing(path.to_owned()));
        let raw_config = needed("config.json")?;
        let config: BertConfigWire = parse("config.json", &raw_config)?;
        check(&config)?;
        let raw_tokenizer = needed("tokenizer.json")?;
        let tokenizer = Tokenizer::from_json(&raw_tokenizer)?;
        let (pooling, raw_pooling) = pooling(file)?;
        let max_tokens = max_tokens(file, config.max_position_embeddings)?;
        let prompts = prompts(file)?;
        let weights = needed("model.safetensors")?;
        // Whatever changes a vector is in the id: vectors and calibrations are kept under it.
        let settings = format!("{raw_pooling} {max_tokens} {prompts:?}");
        let parts = [&raw_config, &raw_tokenizer, settings.as_bytes(), &weights];
        let hashes: Vec<String> =
            parts.iter().map(|bytes| sinew_skill::content_hash(bytes)).collect();
        let digest = sinew_skill::content_hash(hashes.concat().as_bytes());
        let shape = TransformerShape {
            vocabulary: config.vocab_size,
            dims: config.hidden_size,
            layers: config.num_hidden_layers,
            heads: config.num_attention_heads,
            intermediate: config.intermediate_size,
            max_tokens,
            norm_epsilon: config.layer_norm_eps,
        };
        let reading = EncoderSetup { tokenizer, prompts, tokens: [max_tokens; 2], pooling };
        let id = format!("file:{name}:{}", &digest[..12]);
        Self::of(id, shape, reading, Box::new(SafetensorsFile::open(weights)?))
    }
}

fn parse<T: DeserializeOwned>(path: &str, bytes: &[u8]) -> Result<T, ModelLoadError> {
    serde_json::from_slice(bytes)
        .map_err(|error| ModelLoadError::Damaged(format!("{path}: {error}")))
}

fn check(config: &BertConfigWire) -> Result<(), ModelLoadError> {
    for (key, found, supported) in [
        ("model_type", &config.model_type, "bert"),
        ("hidden_act", &config.hidden_act, "gelu"),
        ("position_embedding_type", &config.position_embedding_type, "absolute"),
    ] {
        if found != supported {
            let message = format!("config.json has the {key} {found:?}, not {supported:?}");
            return Err(ModelLoadError::Unsupported(message));
        }
    }
    let sizes = [config.hidden_size, config.intermediate_size, config.max_position_embeddings];
    if config.num_hidden_layers > MAX_LAYERS || sizes.iter().any(|&size| size > 1 << 16) {
        return Err(ModelLoadError::Unsupported(
            "config.json has sizes that no BERT has".to_owned(),
        ));
    }
    Ok(())
}

/// What becomes the vector, and the text that says so.
fn pooling(file: &dyn Fn(&str) -> Option<Vec<u8>>) -> Result<(Pooling, String), ModelLoadError> {
    let Some(modules) = file("modules.json") else {
        return Ok((Pooling::Mean, String::new()));
    };
    let modules: Vec<PipelineModuleWire> = parse("modules.json", &modules)?;
    let mut found = (Pooling::Mean, String::new());
    for module in &modules {
        let kind = module.r#type.rsplit('.').next().unwrap_or_default();
        match kind {
            "Transformer" | "Normalize" => {}
            "Pooling" => {
                let path = format!("{}/config.json", module.path);
                let raw = file(&path).ok_or_else(|| ModelLoadError::Missing(path.clone()))?;
                let modes: HashMap<String, serde_json::Value> = parse(&path, &raw)?;
                found = (pooling_mode(&path, &modes)?, String::from_utf8_lossy(&raw).into_owned());
            }
            other => {
                let message = format!("modules.json has the module {other}");
                return Err(ModelLoadError::Unsupported(message));
            }
        }
    }
    Ok(found)
}

fn pooling_mode(
    path: &str,
    modes: &HashMap<String, serde_json::Value>,
) -> Result<Pooling, ModelLoadError> {
    let mut on: Vec<&str> = modes
        .iter()
        .filter(|(_, value)| **value == serde_json::Value::Bool(true))
        .filter_map(|(key, _)| key.strip_prefix("pooling_mode_"))
        .collect();
    on.sort_unstable();
    match on.as_slice() {
        ["mean_tokens"] => Ok(Pooling::Mean),
        ["cls_token"] => Ok(Pooling::First),
        other => {
            let message = format!("{path} has the pooling {}", other.join(" + "));
            Err(ModelLoadError::Unsupported(message))
        }
    }
}

/// How many tokens are read: what the folder says, and never more than there are positions.
fn max_tokens(
    file: &dyn Fn(&str) -> Option<Vec<u8>>,
    positions: usize,
) -> Result<usize, ModelLoadError> {
    #[derive(Deserialize)]
    struct LengthConfigWire {
        max_seq_length: Option<usize>,
    }
    let path = "sentence_bert_config.json";
    let Some(raw) = file(path) else { return Ok(positions) };
    let lengths: LengthConfigWire = parse(path, &raw)?;
    Ok(lengths.max_seq_length.unwrap_or(positions).min(positions))
}

/// What is put before a message, and before a document.
fn prompts(file: &dyn Fn(&str) -> Option<Vec<u8>>) -> Result<[String; 2], ModelLoadError> {
    #[derive(Deserialize)]
    struct PromptConfigWire {
        #[serde(default)]
        prompts: HashMap<String, String>,
    }
    let path = "config_sentence_transformers.json";
    let Some(raw) = file(path) else { return Ok(Default::default()) };
    let mut prompts = parse::<PromptConfigWire>(path, &raw)?.prompts;
    let mut take =
        |names: &[&str]| names.iter().find_map(|name| prompts.remove(*name)).unwrap_or_default();
    Ok([take(&["query"]), take(&["document", "passage"])])
}
