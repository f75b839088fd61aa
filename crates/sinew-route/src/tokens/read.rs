//! Reads a `tokenizer.json` of BERT's kind.

use std::collections::HashMap;

use serde::Deserialize;

use super::basic::Cleaning;
use super::{PREFIX, Tokenizer, Vocabulary};
use crate::model::file::ModelError;

#[derive(Deserialize)]
struct File {
    normalizer: Option<Normalizer>,
    pre_tokenizer: Option<Typed>,
    model: Model,
}

#[derive(Deserialize)]
struct Normalizer {
    r#type: String,
    #[serde(default = "yes")]
    handle_chinese_chars: bool,
    strip_accents: Option<bool>,
    #[serde(default = "yes")]
    lowercase: bool,
}

#[derive(Deserialize)]
struct Typed {
    r#type: String,
}

#[derive(Deserialize)]
struct Model {
    unk_token: String,
    #[serde(default = "prefix")]
    continuing_subword_prefix: String,
    #[serde(default = "hundred")]
    max_input_chars_per_word: usize,
    vocab: HashMap<Box<str>, u32>,
}

fn yes() -> bool {
    true
}

fn prefix() -> String {
    PREFIX.to_owned()
}

fn hundred() -> usize {
    100
}

impl Tokenizer {
    /// From the bytes of a `tokenizer.json`.
    pub(crate) fn from_json(bytes: &[u8]) -> Result<Self, ModelError> {
        // The kind first: files of other kinds have another shape, and should be told so.
        #[derive(Deserialize)]
        struct Kind {
            model: Typed,
        }
        let damaged =
            |error: serde_json::Error| ModelError::Damaged(format!("tokenizer.json: {error}"));
        if let Ok(Kind { model }) = serde_json::from_slice(bytes)
            && model.r#type != "WordPiece"
        {
            return Err(unsupported("model", &model.r#type, "WordPiece"));
        }
        let file: File = serde_json::from_slice(bytes).map_err(damaged)?;
        let normalizer = file.normalizer.as_ref().map_or("none", |one| &one.r#type);
        let Some(cleaning) = file.normalizer.as_ref().filter(|one| one.r#type == "BertNormalizer")
        else {
            return Err(unsupported("normalizer", normalizer, "BertNormalizer"));
        };
        let pre = file.pre_tokenizer.as_ref().map_or("none", |one| &one.r#type);
        if pre != "BertPreTokenizer" {
            return Err(unsupported("pre_tokenizer", pre, "BertPreTokenizer"));
        }
        let model = file.model;
        if model.continuing_subword_prefix != PREFIX {
            return Err(unsupported("prefix", &model.continuing_subword_prefix, PREFIX));
        }
        let id = |piece: &str| {
            let missing = || ModelError::Damaged(format!("tokenizer.json has no piece {piece}"));
            model.vocab.get(piece).copied().ok_or_else(missing)
        };
        Ok(Self {
            unknown: id(&model.unk_token)?,
            start: id("[CLS]")?,
            end: id("[SEP]")?,
            cleaning: Cleaning {
                lower: cleaning.lowercase,
                plain: cleaning.strip_accents.unwrap_or(cleaning.lowercase),
                ideographs: cleaning.handle_chinese_chars,
            },
            max_word: model.max_input_chars_per_word,
            vocabulary: Vocabulary::Own(model.vocab),
        })
    }
}

fn unsupported(what: &str, found: &str, expected: &str) -> ModelError {
    ModelError::Unsupported(format!("tokenizer.json has the {what} {found}, not {expected}"))
}
