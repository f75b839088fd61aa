//! The encoder: a six-layer MiniLM in signed bytes, run by our own kernels.
//!
//! Weights are bytes with a scale per row; activations are rounded to bytes per token just before
//! each product. Products are exact integers, floats are added in a fixed order: the same text gives
//! the same vector on every machine.

use std::borrow::Cow;
use std::sync::OnceLock;

use super::embed::{EmbedError, Embedder, Side};
use super::file::{Matrix, ModelError, ModelFile};
use super::math;
use crate::TEMPLATE_VERSION;
use crate::kernel::{Level, Packed, floats};
use crate::wordpiece;

const MAGIC: &str = "SNWENC01";

/// Characters of a text that can matter: BERT reads at most `max_tokens` pieces.
const MAX_CHARS: usize = 4_000;

/// A transformer that turns text into vectors.
pub struct Encoder {
    file: ModelFile,
    level: Level,
    word: Matrix,
    /// Position plus segment embeddings.
    position: Vec<f32>,
    norm: Norm,
    plan: Vec<Plan>,
    /// Packed on first use: a process that never encodes does not pay for it.
    layers: OnceLock<Vec<Layer>>,
}

struct Norm {
    weight: Vec<f32>,
    bias: Vec<f32>,
}

/// A linear layer that is still in the file: one or more matrices over the same input.
struct Unpacked {
    parts: Vec<Matrix>,
    bias: Vec<f32>,
}

/// A layer that is still in the file.
struct Plan {
    qkv: Unpacked,
    o: Unpacked,
    up: Unpacked,
    down: Unpacked,
    norm1: Norm,
    norm2: Norm,
}

struct Linear {
    packed: Packed,
    scales: Vec<f32>,
}

struct Layer {
    qkv: Linear,
    o: Linear,
    up: Linear,
    down: Linear,
}

impl Encoder {
    /// The encoder inside the binary.
    pub fn embedded() -> Option<Result<Self, ModelError>> {
        #[cfg(has_encoder)]
        return Some(Self::open(Cow::Borrowed(include_bytes!(env!("SINEW_ENCODER_FILE"))), false));
        #[cfg(not(has_encoder))]
        return None;
    }

    /// An encoder from the bytes of a file, checked against its digest.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, ModelError> {
        Self::open(Cow::Owned(bytes), true)
    }

    fn open(bytes: Cow<'static, [u8]>, verify: bool) -> Result<Self, ModelError> {
        let file = ModelFile::open(bytes, MAGIC, verify)?;
        let header = &file.header;
        let found = header.template_version;
        if found != TEMPLATE_VERSION {
            return Err(ModelError::OtherTemplate { expected: TEMPLATE_VERSION, found });
        }
        let (dims, inner) = (header.dims, header.intermediate);
        let fits =
            header.heads > 0 && dims % (8 * header.heads) == 0 && dims % 16 == 0 && inner % 16 == 0;
        if !fits || header.max_tokens < 3 || !wordpiece::is_present() {
            return Err(ModelError::Damaged("a shape that is not supported".to_owned()));
        }
        let norm = |name: &str| -> Result<Norm, ModelError> {
            Ok(Norm {
                weight: file.floats(&format!("{name}.weight"), dims)?,
                bias: file.floats(&format!("{name}.bias"), dims)?,
            })
        };
        let linear = |names: &[String], rows, columns| -> Result<Unpacked, ModelError> {
            let mut out = Unpacked { parts: Vec::new(), bias: Vec::new() };
            for name in names {
                out.parts.push(file.matrix(&format!("{name}.weight"), rows, columns)?);
                out.bias.extend(file.floats(&format!("{name}.bias"), rows)?);
            }
            Ok(out)
        };
        let mut plan = Vec::new();
        for i in 0..header.layers {
            let name = |part: &str| format!("layers.{i}.{part}");
            plan.push(Plan {
                qkv: linear(&[name("q"), name("k"), name("v")], dims, dims)?,
                o: linear(&[name("o")], dims, dims)?,
                up: linear(&[name("up")], inner, dims)?,
                down: linear(&[name("down")], dims, inner)?,
                norm1: norm(&name("norm1"))?,
                norm2: norm(&name("norm2"))?,
            });
        }
        let mut position = file.floats("position.weight", header.max_tokens * dims)?;
        let kind = file.floats("kind", dims)?;
        for row in position.chunks_exact_mut(dims) {
            row.iter_mut().zip(&kind).for_each(|(value, kind)| *value += kind);
        }
        let word = file.matrix("word.weight", header.vocab, dims)?;
        let norm = norm("norm")?;
        Ok(Self {
            level: Level::detect(),
            word,
            position,
            norm,
            plan,
            layers: OnceLock::new(),
            file,
        })
    }

    /// The same encoder with other instructions, to compare them.
    #[must_use]
    pub fn with_level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    fn layers(&self) -> &[Layer] {
        self.layers.get_or_init(|| {
            let pack = |linear: &Unpacked| {
                let (columns, mut rows) = (linear.parts[0].columns, 0);
                let (mut values, mut scales) = (Vec::new(), Vec::new());
                for part in &linear.parts {
                    values.extend_from_slice(self.file.values(part));
                    scales.extend_from_slice(&part.scales);
                    rows += part.rows;
                }
                let packed =
                    Packed::new(&values, rows, columns).expect("shapes were checked on opening");
                Linear { packed, scales }
            };
            let layer = |plan: &Plan| Layer {
                qkv: pack(&plan.qkv),
                o: pack(&plan.o),
                up: pack(&plan.up),
                down: pack(&plan.down),
            };
            self.plan.iter().map(layer).collect()
        })
    }

    /// Token ids of a text, as the model reads it.
    pub fn tokens(&self, text: &str, side: Side) -> Vec<u16> {
        let limit = match side {
            Side::Message => self.file.header.max_message_tokens,
            Side::Document => self.file.header.max_document_tokens,
        };
        let text = match text.char_indices().nth(MAX_CHARS) {
            Some((end, _)) => &text[..end],
            None => text,
        };
        wordpiece::marked(text, limit.min(self.file.header.max_tokens))
    }

    /// The vector of a text.
    pub fn encode(&self, text: &str, side: Side) -> Vec<f32> {
        self.encode_tokens(&self.tokens(text, side))
    }

    /// The vector of token ids.
    pub fn encode_tokens(&self, ids: &[u16]) -> Vec<f32> {
        let dims = self.word.columns;
        let ids = &ids[..ids.len().min(self.position.len() / dims)];
        let mut work = Work::new(self, ids.len());
        self.embed_tokens(ids, &mut work.x);
        for (plan, layer) in self.plan.iter().zip(self.layers()) {
            self.attend(plan, layer, &mut work);
            self.feed_forward(plan, layer, &mut work);
        }
        let mut mean = vec![0.0; dims];
        for row in work.x.chunks_exact(dims) {
            mean.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
        math::normalise(&mut mean);
        mean
    }

    fn embed_tokens(&self, ids: &[u16], x: &mut [f32]) {
        let dims = self.word.columns;
        let values = self.file.values(&self.word);
        for ((&id, row), position) in
            ids.iter().zip(x.chunks_exact_mut(dims)).zip(self.position.chunks_exact(dims))
        {
            let id = usize::from(id).min(self.word.rows - 1);
            let scale = self.word.scales[id];
            for ((value, &byte), place) in row.iter_mut().zip(&values[id * dims..]).zip(position) {
                *value = f32::from(byte) * scale + place;
            }
            floats::layer_norm(
                self.level,
                row,
                &self.norm.weight,
                &self.norm.bias,
                self.file.header.layer_norm_eps,
            );
        }
    }

    fn attend(&self, plan: &Plan, layer: &Layer, work: &mut Work) {
        let dims = self.word.columns;
        let heads = self.file.header.heads;
        let size = dims / heads;
        layer.qkv.apply(
            self.level,
            &work.x,
            &plan.qkv.bias,
            &mut work.bytes,
            &mut work.sums,
            &mut work.wide,
        );
        for head in 0..heads {
            floats::attend(
                self.level,
                &work.wide,
                dims,
                head * size,
                size,
                &mut work.room,
                &mut work.mixed,
            );
        }
        layer.o.apply(
            self.level,
            &work.mixed,
            &plan.o.bias,
            &mut work.bytes,
            &mut work.sums,
            &mut work.narrow,
        );
        self.add_and_norm(&mut work.x, &work.narrow, &plan.norm1);
    }

    fn feed_forward(&self, plan: &Plan, layer: &Layer, work: &mut Work) {
        layer.up.apply(
            self.level,
            &work.x,
            &plan.up.bias,
            &mut work.bytes,
            &mut work.sums,
            &mut work.wide,
        );
        floats::gelu(self.level, &mut work.wide);
        layer.down.apply(
            self.level,
            &work.wide,
            &plan.down.bias,
            &mut work.bytes,
            &mut work.sums,
            &mut work.narrow,
        );
        self.add_and_norm(&mut work.x, &work.narrow, &plan.norm2);
    }

    fn add_and_norm(&self, x: &mut [f32], added: &[f32], norm: &Norm) {
        let eps = self.file.header.layer_norm_eps;
        x.iter_mut().zip(added).for_each(|(value, added)| *value += added);
        for row in x.chunks_exact_mut(self.word.columns) {
            floats::layer_norm(self.level, row, &norm.weight, &norm.bias, eps);
        }
    }
}

impl Linear {
    /// `out` = `x` · weights + bias, with `x` rounded to bytes token by token.
    fn apply(
        &self,
        level: Level,
        x: &[f32],
        bias: &[f32],
        bytes: &mut Vec<i8>,
        sums: &mut Vec<i32>,
        out: &mut Vec<f32>,
    ) {
        let (rows, columns) = (self.packed.rows, self.packed.columns);
        let tokens = x.len() / columns;
        bytes.resize(x.len(), 0);
        sums.resize(tokens * rows, 0);
        out.resize(tokens * rows, 0.0);
        let scales: Vec<f32> = x
            .chunks_exact(columns)
            .zip(bytes.chunks_exact_mut(columns))
            .map(|(values, bytes)| floats::quantise(level, values, bytes))
            .collect();
        self.packed.multiply(level, bytes, sums);
        for ((out, sums), scale) in
            out.chunks_exact_mut(rows).zip(sums.chunks_exact(rows)).zip(scales)
        {
            floats::rescale(level, out, sums, scale, &self.scales, bias);
        }
    }
}

/// Room for one text's numbers, reused by every layer.
struct Work {
    x: Vec<f32>,
    mixed: Vec<f32>,
    narrow: Vec<f32>,
    wide: Vec<f32>,
    room: Vec<f32>,
    bytes: Vec<i8>,
    sums: Vec<i32>,
}

impl Work {
    fn new(encoder: &Encoder, tokens: usize) -> Self {
        let dims = encoder.word.columns;
        let wide = (3 * dims).max(encoder.file.header.intermediate);
        Self {
            x: vec![0.0; tokens * dims],
            mixed: vec![0.0; tokens * dims],
            narrow: Vec::with_capacity(tokens * dims),
            wide: Vec::with_capacity(tokens * wide),
            room: vec![0.0; tokens * (1 + 2 * dims / encoder.file.header.heads)],
            bytes: Vec::with_capacity(tokens * wide),
            sums: Vec::with_capacity(tokens * wide),
        }
    }
}

impl Embedder for Encoder {
    fn id(&self) -> &str {
        &self.file.header.id
    }

    fn dims(&self) -> usize {
        self.word.columns
    }

    fn embed(&self, texts: &[&str], side: Side) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(texts.iter().map(|text| self.encode(text, side)).collect())
    }
}

impl std::fmt::Debug for Encoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Encoder")
            .field("id", &self.id())
            .field("level", &self.level)
            .finish_non_exhaustive()
    }
}
