//! The layers of a transformer of BERT's shape: from token ids to what the last layer says of each.

use std::sync::OnceLock;

use crate::file::ModelLoadError;
use crate::kernel::{KernelLevel, PackedWeights, floats};
use crate::weights::{LookupMatrix, WeightMatrix, WeightSource};

/// The sizes of a transformer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TransformerShape {
    pub(crate) vocabulary: usize,
    pub(crate) dims: usize,
    pub(crate) layers: usize,
    pub(crate) heads: usize,
    pub(crate) intermediate: usize,
    pub(crate) max_tokens: usize,
    pub(crate) norm_epsilon: f32,
}

/// All layers, over the weights of a model.
pub(crate) struct TransformerStack {
    pub(crate) shape: TransformerShape,
    pub(crate) level: KernelLevel,
    weights: Box<dyn WeightSource>,
    word: LookupMatrix,
    /// Position plus segment embeddings.
    position: Vec<f32>,
    norm: LayerNorm,
    plan: Vec<UnpackedLayer>,
    /// Packed on first use: a process that never encodes does not pay for it.
    layers: OnceLock<Vec<TransformerLayer>>,
}

struct LayerNorm {
    weight: Vec<f32>,
    bias: Vec<f32>,
}

/// A linear layer that is still in the file: one or more matrices over the same input.
struct UnpackedLinear {
    parts: Vec<WeightMatrix>,
    bias: Vec<f32>,
}

/// A layer that is still in the file.
struct UnpackedLayer {
    qkv: UnpackedLinear,
    o: UnpackedLinear,
    up: UnpackedLinear,
    down: UnpackedLinear,
    norm1: LayerNorm,
    norm2: LayerNorm,
}

struct LinearLayer {
    packed: PackedWeights,
    scales: Vec<f32>,
}

struct TransformerLayer {
    qkv: LinearLayer,
    o: LinearLayer,
    up: LinearLayer,
    down: LinearLayer,
}

impl TransformerStack {
    /// Looks for every tensor; the large ones are not read yet.
    pub(crate) fn of(
        shape: TransformerShape,
        weights: Box<dyn WeightSource>,
    ) -> Result<Self, ModelLoadError> {
        let TransformerShape { dims, heads, intermediate: inner, max_tokens, .. } = shape;
        let fits = heads > 0 && dims % (8 * heads) == 0 && dims % 16 == 0 && inner % 16 == 0;
        if !fits || max_tokens < 3 {
            return Err(ModelLoadError::Unsupported(format!(
                "{heads} heads of {dims} dimensions, {inner} between, {max_tokens} tokens"
            )));
        }
        let norm = |name: &str| -> Result<LayerNorm, ModelLoadError> {
            Ok(LayerNorm {
                weight: weights.floats(&format!("{name}.weight"), dims)?,
                bias: weights.floats(&format!("{name}.bias"), dims)?,
            })
        };
        let linear = |names: &[String], rows, columns| -> Result<UnpackedLinear, ModelLoadError> {
            let mut out = UnpackedLinear { parts: Vec::new(), bias: Vec::new() };
            for name in names {
                out.parts.push(weights.matrix(&format!("{name}.weight"), rows, columns)?);
                out.bias.extend(weights.floats(&format!("{name}.bias"), rows)?);
            }
            Ok(out)
        };
        let mut plan = Vec::new();
        for i in 0..shape.layers {
            let name = |part: &str| format!("layers.{i}.{part}");
            plan.push(UnpackedLayer {
                qkv: linear(&[name("q"), name("k"), name("v")], dims, dims)?,
                o: linear(&[name("o")], dims, dims)?,
                up: linear(&[name("up")], inner, dims)?,
                down: linear(&[name("down")], dims, inner)?,
                norm1: norm(&name("norm1"))?,
                norm2: norm(&name("norm2"))?,
            });
        }
        let mut position = weights.floats("position.weight", max_tokens * dims)?;
        let kind = weights.floats("kind", dims)?;
        for row in position.chunks_exact_mut(dims) {
            row.iter_mut().zip(&kind).for_each(|(value, kind)| *value += kind);
        }
        let word = weights.table("word.weight", shape.vocabulary, dims)?;
        let (norm, layers) = (norm("norm")?, OnceLock::new());
        let level = KernelLevel::detect();
        Ok(Self { shape, level, weights, word, position, norm, plan, layers })
    }

    /// What the last layer says of each token.
    pub(crate) fn run(&self, ids: &[u32]) -> Vec<f32> {
        let mut work = TransformerScratch::new(self.shape, ids.len());
        self.embed_tokens(ids, &mut work.x);
        for (plan, layer) in self.plan.iter().zip(self.layers()) {
            self.attend(plan, layer, &mut work);
            self.feed_forward(plan, layer, &mut work);
        }
        work.x
    }

    fn layers(&self) -> &[TransformerLayer] {
        self.layers.get_or_init(|| {
            let pack = |linear: &UnpackedLinear| {
                let (columns, mut rows) = (linear.parts[0].columns, 0);
                let (mut values, mut scales) = (Vec::new(), Vec::new());
                for part in &linear.parts {
                    let (bytes, sizes) = self.weights.quantised(*part);
                    values.extend_from_slice(&bytes);
                    scales.extend(sizes);
                    rows += part.rows;
                }
                let packed = PackedWeights::new(&values, rows, columns)
                    .expect("shapes were checked on opening");
                LinearLayer { packed, scales }
            };
            let layer = |plan: &UnpackedLayer| TransformerLayer {
                qkv: pack(&plan.qkv),
                o: pack(&plan.o),
                up: pack(&plan.up),
                down: pack(&plan.down),
            };
            self.plan.iter().map(layer).collect()
        })
    }

    fn embed_tokens(&self, ids: &[u32], x: &mut [f32]) {
        let dims = self.shape.dims;
        for ((&id, row), position) in
            ids.iter().zip(x.chunks_exact_mut(dims)).zip(self.position.chunks_exact(dims))
        {
            self.weights.row(self.word, (id as usize).min(self.shape.vocabulary - 1), row);
            row.iter_mut().zip(position).for_each(|(value, place)| *value += place);
            let LayerNorm { weight, bias } = &self.norm;
            floats::layer_norm(self.level, row, weight, bias, self.shape.norm_epsilon);
        }
    }

    fn attend(
        &self,
        plan: &UnpackedLayer,
        layer: &TransformerLayer,
        work: &mut TransformerScratch,
    ) {
        let TransformerShape { dims, heads, .. } = self.shape;
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

    fn feed_forward(
        &self,
        plan: &UnpackedLayer,
        layer: &TransformerLayer,
        work: &mut TransformerScratch,
    ) {
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

    fn add_and_norm(&self, x: &mut [f32], added: &[f32], norm: &LayerNorm) {
        let eps = self.shape.norm_epsilon;
        x.iter_mut().zip(added).for_each(|(value, added)| *value += added);
        for row in x.chunks_exact_mut(self.shape.dims) {
            floats::layer_norm(self.level, row, &norm.weight, &norm.bias, eps);
        }
    }
}

impl LinearLayer {
    /// `out` = `x` · weights + bias, with `x` rounded to bytes token by token.
    fn apply(
        &self,
        level: KernelLevel,
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
struct TransformerScratch {
    x: Vec<f32>,
    mixed: Vec<f32>,
    narrow: Vec<f32>,
    wide: Vec<f32>,
    room: Vec<f32>,
    bytes: Vec<i8>,
    sums: Vec<i32>,
}

impl TransformerScratch {
    fn new(shape: TransformerShape, tokens: usize) -> Self {
        let dims = shape.dims;
        let wide = (3 * dims).max(shape.intermediate);
        Self {
            x: vec![0.0; tokens * dims],
            mixed: vec![0.0; tokens * dims],
            narrow: Vec::with_capacity(tokens * dims),
            wide: Vec::with_capacity(tokens * wide),
            room: vec![0.0; tokens * (1 + 2 * dims / shape.heads)],
            bytes: Vec::with_capacity(tokens * wide),
            sums: Vec::with_capacity(tokens * wide),
        }
    }
}
