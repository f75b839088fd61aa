//! Reads a `tokenizer.json` of BERT's kind.

use std::collections::HashMap;

use serde::Deserialize;

use super::basic::TokenCleaning;
use super::{PREFIX, TokenVocabulary, Tokenizer};
use crate::file::ModelLoadError;

#[derive(Deserialize)]
struct TokenizerWire {
    normalizer: Option<NormalizerWire>,
    pre_tokenizer: Option<TypeTagWire>,
    model: WordPieceWire,
}

#[derive(Deserialize)]
struct NormalizerWire {
    r#type: String,
    #[serde(default = "yes")]
    handle_chinese_chars: bool,
    strip_accents: Option<bool>,
    #[serde(default = "yes")]
    lowercase: bool,
}

#[derive(Deserialize)]
struct TypeTagWire {
    r#type: String,
}

#[derive(Deserialize)]
struct WordPieceWire {
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
    pub(crate) fn from_json(bytes: &[u8]) -> Result<Self, ModelLoadError> {
        // The kind first: files of other kinds have another shape, and should be told so.
        #[derive(Deserialize)]
        struct ModelTypeWire {
            model: TypeTagWire,
        }
        let damaged =
            |error: serde_json::Error| ModelLoadError::Damaged(format!("tokenizer.json: {error}"));
        if let Ok(ModelTypeWire { model }) = serde_json::from_slice(bytes)
            && model.r#type != "WordPiece"
        {
            return Err(unsupported("model", &model.r#type, "WordPiece"));
        }
        let file: TokenizerWire = serde_json::from_slice(bytes).map_err(damaged)?;
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
            let missing =
                || ModelLoadError::Damaged(format!("tokenizer.json has no piece {piece}"));
            model.vocab.get(piece).copied().ok_or_else(missing)
        };
        Ok(Self {
            unknown: id(&model.unk_token)?,
            start: id("[CLS]")?,
            end: id("[SEP]")?,
            cleaning: TokenCleaning {
                lower: cleaning.lowercase,
                plain: cleaning.strip_accents.unwrap_or(cleaning.lowercase),
                ideographs: cleaning.handle_chinese_chars,
            },
            max_word: model.max_input_chars_per_word,
            vocabulary: TokenVocabulary::Own(model.vocab),
        })
    }
}

fn unsupported(what: &str, found: &str, expected: &str) -> ModelLoadError {
    ModelLoadError::Unsupported(format!("tokenizer.json has the {what} {found}, not {expected}"))
}
