//! The encoder: a transformer of BERT's shape in signed bytes, run by our own kernels.
//!
//! Weights are bytes with a scale per row; activations are rounded to bytes per token just before
//! each product. Products are exact integers, floats are added in a fixed order: the same text gives
//! the same vector on every machine. Ours is a six-layer MiniLM; others come from a folder.

use std::borrow::Cow;

use crate::embed::{EmbedError, Embedder, TextSide};
use crate::file::{ModelFile, ModelLoadError};
use crate::kernel::KernelLevel;
use crate::math;
use crate::tokens::Tokenizer;
use crate::transformer::{TransformerShape, TransformerStack};
use crate::weights::WeightSource;
use crate::{TEMPLATE_VERSION, embedded};

const MAGIC: &str = "SNWENC02";

/// Characters of a text that can matter: BERT reads at most 512 pieces.
const MAX_CHARS: usize = 4_000;

/// A transformer that turns text into vectors.
pub struct TextEncoder {
    id: String,
    reading: EncoderSetup,
    stack: TransformerStack,
}

/// How a transformer reads a text, and what becomes its vector.
pub(crate) struct EncoderSetup {
    pub(crate) tokenizer: Tokenizer,
    /// What is put before a message, and before a document.
    pub(crate) prompts: [String; 2],
    /// Tokens of a message, and of a document.
    pub(crate) tokens: [usize; 2],
    pub(crate) pooling: Pooling,
}

/// What of the last layer becomes the vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pooling {
    /// The mean of all tokens.
    Mean,
    /// The first token.
    First,
}

impl TextEncoder {
    /// The encoder inside the binary.
    pub fn embedded() -> Option<Result<Self, ModelLoadError>> {
        embedded::encoder().map(|bytes| Self::open(Cow::Borrowed(bytes), false))
    }

    /// An encoder from the bytes of a file, checked against its digest.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, ModelLoadError> {
        Self::open(Cow::Owned(bytes), true)
    }

    fn open(bytes: Cow<'static, [u8]>, verify: bool) -> Result<Self, ModelLoadError> {
        let file = ModelFile::open(bytes, MAGIC, verify)?;
        let header = &file.header;
        let found = header.template_version;
        if found != TEMPLATE_VERSION {
            return Err(ModelLoadError::OtherTemplate { expected: TEMPLATE_VERSION, found });
        }
        let reading = EncoderSetup {
            tokenizer: Tokenizer::embedded()
                .ok_or_else(|| ModelLoadError::Missing("the vocabulary".to_owned()))?,
            prompts: Default::default(),
            tokens: [header.max_message_tokens, header.max_document_tokens],
            pooling: Pooling::Mean,
        };
        let shape = TransformerShape {
            vocabulary: header.vocab,
            dims: header.dims,
            layers: header.layers,
            heads: header.heads,
            intermediate: header.intermediate,
            max_tokens: header.max_tokens,
            norm_epsilon: header.layer_norm_eps,
        };
        Self::of(header.id.clone(), shape, reading, Box::new(file))
    }

    /// Puts a model together.
    pub(crate) fn of(
        id: String,
        shape: TransformerShape,
        reading: EncoderSetup,
        weights: Box<dyn WeightSource>,
    ) -> Result<Self, ModelLoadError> {
        let (pieces, rows) = (reading.tokenizer.size(), shape.vocabulary);
        if pieces > rows {
            return Err(ModelLoadError::Damaged(format!(
                "the tokenizer has {pieces} pieces, the weights have {rows}"
            )));
        }
        Ok(Self { id, reading, stack: TransformerStack::of(shape, weights)? })
    }

    /// The same encoder with other instructions, to compare them.
    #[must_use]
    pub fn with_level(mut self, level: KernelLevel) -> Self {
        self.stack.level = level;
        self
    }

    /// Token ids of a text, as the model reads it.
    pub fn tokens(&self, text: &str, side: TextSide) -> Vec<u32> {
        let text = match text.char_indices().nth(MAX_CHARS) {
            Some((end, _)) => &text[..end],
            None => text,
        };
        let prompt = &self.reading.prompts[side as usize];
        let text = match prompt.as_str() {
            "" => Cow::Borrowed(text),
            prompt => Cow::Owned(format!("{prompt}{text}")),
        };
        let limit = self.reading.tokens[side as usize].min(self.stack.shape.max_tokens);
        self.reading.tokenizer.marked_ids(&text, limit)
    }

    /// The vector of a text.
    pub fn encode(&self, text: &str, side: TextSide) -> Vec<f32> {
        self.encode_tokens(&self.tokens(text, side))
    }

    /// The vector of token ids.
    pub fn encode_tokens(&self, ids: &[u32]) -> Vec<f32> {
        let dims = self.stack.shape.dims;
        let ids = &ids[..ids.len().min(self.stack.shape.max_tokens)];
        let states = self.stack.run(ids);
        let mut vector = vec![0.0; dims];
        let rows = match self.reading.pooling {
            Pooling::Mean => ids.len(),
            Pooling::First => 1,
        };
        for row in states.chunks_exact(dims).take(rows) {
            vector.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
        math::normalise(&mut vector);
        vector
    }
}

impl Embedder for TextEncoder {
    fn id(&self) -> &str {
        &self.id
    }

    fn dims(&self) -> usize {
        self.stack.shape.dims
    }

    fn embed(&self, texts: &[&str], side: TextSide) -> Result<Vec<Vec<f32>>, EmbedError> {
        let vectors: Vec<Vec<f32>> = texts.iter().map(|text| self.encode(text, side)).collect();
        // Weights from elsewhere may hold anything.
        if vectors.iter().flatten().any(|value| !value.is_finite()) {
            return Err(EmbedError::BadAnswer("a value is not a number".to_owned()));
        }
        Ok(vectors)
    }
}

impl std::fmt::Debug for TextEncoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TextEncoder")
            .field("id", &self.id())
            .field("level", &self.stack.level)
            .finish_non_exhaustive()
    }
}
