//! Weights in the safetensors format: a JSON header and plain tensors behind it.
//!
//! ```text
//! 0  length of the header u64
//! 8  {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [start, end]}, …}
//! ```

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Deserialize;

use crate::file::ModelLoadError;
use crate::math::quantise;
use crate::weights::{LookupMatrix, WeightMatrix, WeightSource};

/// The headers of models with thousands of tensors have a megabyte; a longer one is not accepted.
const MAX_HEADER: usize = 32 << 20;

/// A file of BERT's weights. Floats are rounded to bytes when they are asked for.
pub(crate) struct SafetensorsFile {
    bytes: Vec<u8>,
    tensors: Vec<TensorLayout>,
    names: HashMap<String, usize>,
    /// The prefix of every name, such as `bert.`.
    prefix: &'static str,
}

struct TensorLayout {
    kind: TensorType,
    shape: Vec<usize>,
    /// Its place in the file.
    start: usize,
}

#[derive(Clone, Copy)]
enum TensorType {
    F32,
    F16,
    Bf16,
    Other,
}

impl TensorType {
    fn size(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F16 | Self::Bf16 => 2,
            Self::Other => 0,
        }
    }

    fn read(self, bytes: &[u8]) -> f32 {
        match (self, bytes) {
            (Self::F32, &[a, b, c, d]) => f32::from_le_bytes([a, b, c, d]),
            (Self::Bf16, &[a, b]) => f32::from_bits(u32::from(u16::from_le_bytes([a, b])) << 16),
            (Self::F16, &[a, b]) => half(u16::from_le_bytes([a, b])),
            _ => 0.0,
        }
    }
}

/// A float of sixteen bits: one sign, five of exponent, ten of fraction.
fn half(bits: u16) -> f32 {
    let sign = u32::from(bits >> 15) << 31;
    let (exponent, fraction) = (u32::from(bits >> 10) & 31, u32::from(bits) & 1023);
    let size = match exponent {
        0 => return f32::from_bits(sign | (fraction as f32 / 16_777_216.0).to_bits()),
        31 => 0x7f80_0000 | (fraction << 13),
        _ => ((exponent + 112) << 23) | (fraction << 13),
    };
    f32::from_bits(sign | size)
}

#[derive(Deserialize)]
struct SafetensorsRecord {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: [usize; 2],
}

impl SafetensorsFile {
    pub(crate) fn open(bytes: Vec<u8>) -> Result<Self, ModelLoadError> {
        let damaged = |what: String| ModelLoadError::Damaged(format!("model.safetensors: {what}"));
        let length = bytes.first_chunk().map(|eight| u64::from_le_bytes(*eight));
        let length = length.and_then(|length| usize::try_from(length).ok()).unwrap_or(usize::MAX);
        if length > MAX_HEADER || length > bytes.len() - 8 {
            return Err(damaged("header cut off".to_owned()));
        }
        let base = 8 + length;
        let header: HashMap<String, serde_json::Value> =
            serde_json::from_slice(&bytes[8..base]).map_err(|error| damaged(error.to_string()))?;
        let (mut tensors, mut names) = (Vec::new(), HashMap::new());
        for (name, value) in header.into_iter().filter(|(name, _)| name != "__metadata__") {
            let listed: SafetensorsRecord = serde_json::from_value(value)
                .map_err(|error| damaged(format!("{name}: {error}")))?;
            let kind = match listed.dtype.as_str() {
                "F32" => TensorType::F32,
                "F16" => TensorType::F16,
                "BF16" => TensorType::Bf16,
                _ => TensorType::Other,
            };
            let count = listed.shape.iter().try_fold(kind.size(), |all, &one| all.checked_mul(one));
            let [start, end] = listed.data_offsets;
            let inside = start <= end && end <= bytes.len() - base;
            if !inside || (kind.size() > 0 && count != Some(end - start)) {
                return Err(damaged(format!("{name} does not lie within the file")));
            }
            names.insert(name, tensors.len());
            tensors.push(TensorLayout { kind, shape: listed.shape, start: base + start });
        }
        let word = |prefix: &&str| names.contains_key(&bert_name("word.weight", prefix));
        let prefix = ["", "bert.", "model."].into_iter().find(word).unwrap_or("");
        Ok(Self { bytes, tensors, names, prefix })
    }

    fn find(&self, name: &str) -> Result<(usize, &TensorLayout), ModelLoadError> {
        let name = bert_name(name, self.prefix);
        // Old exports call the two numbers of a norm gamma and beta.
        let old = name.replace("Norm.weight", "Norm.gamma").replace("Norm.bias", "Norm.beta");
        let found = self.names.get(&name).or_else(|| self.names.get(&old));
        let &found = found.ok_or_else(|| {
            ModelLoadError::Damaged(format!("model.safetensors has no tensor {name}"))
        })?;
        let tensor = &self.tensors[found];
        if matches!(tensor.kind, TensorType::Other) {
            let message = format!("{name} holds neither F32, F16 nor BF16");
            return Err(ModelLoadError::Unsupported(message));
        }
        Ok((found, tensor))
    }

    /// `count` numbers of a tensor from a place on.
    fn read(&self, tensor: &TensorLayout, from: usize, count: usize) -> impl Iterator<Item = f32> {
        let (kind, size) = (tensor.kind, tensor.kind.size());
        let bytes = &self.bytes[tensor.start + size * from..][..size * count];
        bytes.chunks_exact(size).map(move |bytes| kind.read(bytes))
    }
}

impl WeightSource for SafetensorsFile {
    fn floats(&self, name: &str, count: usize) -> Result<Vec<f32>, ModelLoadError> {
        let (_, tensor) = self.find(name)?;
        let all: usize = tensor.shape.iter().product();
        // There may be more positions and kinds than are used; of a bias there is one.
        if all < count || (all > count && tensor.shape.len() == 1) {
            return Err(shape_of(name, &tensor.shape, &[count]));
        }
        finite(name, self.read(tensor, 0, count).collect())
    }

    fn matrix(
        &self,
        name: &str,
        rows: usize,
        columns: usize,
    ) -> Result<WeightMatrix, ModelLoadError> {
        let (found, tensor) = self.find(name)?;
        if tensor.shape != [rows, columns] {
            return Err(shape_of(name, &tensor.shape, &[rows, columns]));
        }
        Ok(WeightMatrix { rows, columns, tensor: found })
    }

    fn quantised(&self, matrix: WeightMatrix) -> (Cow<'_, [i8]>, Vec<f32>) {
        let mut bytes = vec![0; matrix.rows * matrix.columns];
        let mut row = vec![0.0; matrix.columns];
        let scales = bytes.chunks_exact_mut(matrix.columns).enumerate().map(|(at, bytes)| {
            self.row(LookupMatrix(matrix), at, &mut row);
            quantise(&row, bytes)
        });
        let scales = scales.collect();
        (Cow::Owned(bytes), scales)
    }

    fn table(
        &self,
        name: &str,
        rows: usize,
        columns: usize,
    ) -> Result<LookupMatrix, ModelLoadError> {
        self.matrix(name, rows, columns).map(LookupMatrix)
    }

    fn row(&self, LookupMatrix(matrix): LookupMatrix, row: usize, out: &mut [f32]) {
        let tensor = &self.tensors[matrix.tensor];
        let numbers = self.read(tensor, row * matrix.columns, matrix.columns);
        out.iter_mut().zip(numbers).for_each(|(out, number)| *out = number);
    }
}

fn finite(name: &str, numbers: Vec<f32>) -> Result<Vec<f32>, ModelLoadError> {
    if numbers.iter().all(|number| number.is_finite()) {
        return Ok(numbers);
    }
    Err(ModelLoadError::Damaged(format!(
        "model.safetensors: {name} has a value that is not a number"
    )))
}

fn shape_of(name: &str, found: &[usize], expected: &[usize]) -> ModelLoadError {
    ModelLoadError::Damaged(format!(
        "model.safetensors: {name} has the shape {found:?}, expected {expected:?}"
    ))
}

/// What BERT calls a tensor of ours.
fn bert_name(ours: &str, prefix: &str) -> String {
    const PARTS: [(&str, &str); 8] = [
        ("q", "attention.self.query"),
        ("k", "attention.self.key"),
        ("v", "attention.self.value"),
        ("o", "attention.output.dense"),
        ("norm1", "attention.output.LayerNorm"),
        ("up", "intermediate.dense"),
        ("down", "output.dense"),
        ("norm2", "output.LayerNorm"),
    ];
    let pieces: Vec<&str> = ours.split('.').collect();
    let name = match pieces.as_slice() {
        ["layers", layer, part, what] => {
            let part =
                PARTS.iter().find(|(short, _)| short == part).map_or(*part, |(_, long)| long);
            format!("encoder.layer.{layer}.{part}.{what}")
        }
        ["word", what] => format!("embeddings.word_embeddings.{what}"),
        ["position", what] => format!("embeddings.position_embeddings.{what}"),
        ["kind"] => "embeddings.token_type_embeddings.weight".to_owned(),
        ["norm", what] => format!("embeddings.LayerNorm.{what}"),
        _ => ours.to_owned(),
    };
    format!("{prefix}{name}")
}

#[cfg(test)]
mod tests {
    use super::{bert_name, half};

    #[test]
    fn halves_are_read() {
        for (bits, value) in [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x3555, 0.333_251_95),
            (0x7bff, 65_504.0),
            (0x0001, 5.960_464_5e-8),
            (0x8000, -0.0),
        ] {
            assert_eq!(half(bits), value, "{bits:#x}");
        }
        assert!(half(0x7c00).is_infinite() && half(0x7e00).is_nan());
    }

    #[test]
    fn names_are_berts() {
        assert_eq!(
            bert_name("layers.3.norm1.bias", "bert."),
            "bert.encoder.layer.3.attention.output.LayerNorm.bias"
        );
        assert_eq!(
            bert_name("layers.0.up.weight", ""),
            "encoder.layer.0.intermediate.dense.weight"
        );
    }
}
