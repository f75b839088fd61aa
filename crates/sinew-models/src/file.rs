//! Model files: eight bytes of magic, the length of a JSON header, the header, tensors.
//!
//! Tensors start at multiples of 64 after the header. An `i8` matrix has one `f32` scale per row. A
//! table whose rows are only looked up may be `i4`: then each group of columns has a share of its row's scale.

use std::borrow::Cow;

use serde::Deserialize;

use crate::weights::{LookupMatrix, WeightMatrix, WeightSource};

/// Columns of an `i4` table that have a scale of their own: more would lose small values beside large
/// ones, fewer would store more scales than values.
const GROUP: usize = 16;

/// The type of a matrix of signed bytes.
const BYTES: &str = "i8";

/// Why a model cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelLoadError {
    /// The file is of another kind.
    #[error("not a {expected} file")]
    WrongKind {
        /// The magic that was looked for.
        expected: &'static str,
    },
    /// The file ends early, or its header does not describe it.
    #[error("damaged model file: {0}")]
    Damaged(String),
    /// The digest in the header is not that of the tensors.
    #[error("model file does not match its digest")]
    DigestMismatch,
    /// A file that a model consists of is not there.
    #[error("{0} is missing")]
    Missing(String),
    /// A kind of model that this program cannot run.
    #[error("not supported: {0}")]
    Unsupported(String),
    /// The model was made for other document texts.
    #[error("model uses document template {found}, this program {expected}")]
    OtherTemplate {
        /// The template this program fills.
        expected: u32,
        /// The template the model was trained on.
        found: u32,
    },
}

/// The header of a model file.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ModelHeader {
    pub(crate) id: String,
    pub(crate) dims: usize,
    pub(crate) vocab: usize,
    pub(crate) template_version: u32,
    sha256: String,
    tensors: Vec<ModelTensorRecord>,
    #[serde(default)]
    pub(crate) layers: usize,
    #[serde(default)]
    pub(crate) heads: usize,
    #[serde(default)]
    pub(crate) intermediate: usize,
    #[serde(default)]
    pub(crate) max_message_tokens: usize,
    #[serde(default)]
    pub(crate) max_document_tokens: usize,
    #[serde(default)]
    pub(crate) max_tokens: usize,
    #[serde(default)]
    pub(crate) layer_norm_eps: f32,
}

#[derive(Debug, Clone, Deserialize)]
struct ModelTensorRecord {
    name: String,
    dtype: String,
    shape: Vec<usize>,
    offset: usize,
    bytes: usize,
    #[serde(default)]
    scale_offset: usize,
    #[serde(default)]
    scale_bytes: usize,
    #[serde(default)]
    share_offset: usize,
    #[serde(default)]
    share_bytes: usize,
}

/// A model file whose tensors are used where they lie.
pub(crate) struct ModelFile {
    bytes: Cow<'static, [u8]>,
    base: usize,
    pub(crate) header: ModelHeader,
}

impl ModelFile {
    /// Reads the header. `verify` also hashes the tensors, for files that came from elsewhere.
    pub(crate) fn open(
        bytes: Cow<'static, [u8]>,
        magic: &'static str,
        verify: bool,
    ) -> Result<Self, ModelLoadError> {
        let damaged = |what: &str| ModelLoadError::Damaged(what.to_owned());
        if !bytes.starts_with(magic.as_bytes()) {
            return Err(ModelLoadError::WrongKind { expected: magic });
        }
        let length = bytes.get(8..12).and_then(|four| four.try_into().ok()).map(u32::from_le_bytes);
        let length = length.ok_or_else(|| damaged("no header"))? as usize;
        let base = 12_usize.checked_add(length).ok_or_else(|| damaged("header length"))?;
        let text = bytes.get(12..base).ok_or_else(|| damaged("header cut off"))?;
        let header: ModelHeader = serde_json::from_slice(text)
            .map_err(|error| ModelLoadError::Damaged(error.to_string()))?;
        if verify && sinew_skill::content_hash(&bytes[base..]) != header.sha256 {
            return Err(ModelLoadError::DigestMismatch);
        }
        Ok(Self { bytes, base, header })
    }

    fn find(&self, name: &str) -> Result<usize, ModelLoadError> {
        let found = self.header.tensors.iter().position(|tensor| tensor.name == name);
        found.ok_or_else(|| ModelLoadError::Damaged(format!("no tensor {name}")))
    }

    fn raw(&self, offset: usize, length: usize) -> Result<&[u8], ModelLoadError> {
        let start = self.base.checked_add(offset);
        start
            .and_then(|start| self.bytes.get(start..start.checked_add(length)?))
            .ok_or_else(|| ModelLoadError::Damaged("tensor outside the file".to_owned()))
    }

    /// The values of a matrix, where they lie.
    pub(crate) fn values(&self, matrix: WeightMatrix) -> &[i8] {
        let tensor = &self.header.tensors[matrix.tensor];
        bytemuck::cast_slice(&self.bytes[self.base + tensor.offset..][..tensor.bytes])
    }

    /// The scales of its rows.
    pub(crate) fn scales(&self, matrix: WeightMatrix) -> Vec<f32> {
        floats(self.scale_bytes(matrix))
    }

    fn scale_bytes(&self, matrix: WeightMatrix) -> &[u8] {
        let tensor = &self.header.tensors[matrix.tensor];
        &self.bytes[self.base + tensor.scale_offset..][..tensor.scale_bytes]
    }
}

impl WeightSource for ModelFile {
    fn floats(&self, name: &str, count: usize) -> Result<Vec<f32>, ModelLoadError> {
        let tensor = &self.header.tensors[self.find(name)?];
        if tensor.dtype != "f32"
            || tensor.shape.iter().product::<usize>() != count
            || tensor.bytes != 4 * count
        {
            return Err(ModelLoadError::Damaged(format!("shape of {name}")));
        }
        Ok(floats(self.raw(tensor.offset, tensor.bytes)?))
    }

    fn matrix(
        &self,
        name: &str,
        rows: usize,
        columns: usize,
    ) -> Result<WeightMatrix, ModelLoadError> {
        let found = self.find(name)?;
        let tensor = &self.header.tensors[found];
        if tensor.dtype != BYTES
            || tensor.shape != [rows, columns]
            || tensor.bytes != rows * columns
        {
            return Err(ModelLoadError::Damaged(format!("shape of {name}")));
        }
        if tensor.scale_bytes != 4 * rows {
            return Err(ModelLoadError::Damaged(format!("scales of {name}")));
        }
        self.raw(tensor.offset, tensor.bytes)?;
        self.raw(tensor.scale_offset, tensor.scale_bytes)?;
        Ok(WeightMatrix { rows, columns, tensor: found })
    }

    fn quantised(&self, matrix: WeightMatrix) -> (Cow<'_, [i8]>, Vec<f32>) {
        (Cow::Borrowed(self.values(matrix)), self.scales(matrix))
    }

    fn table(
        &self,
        name: &str,
        rows: usize,
        columns: usize,
    ) -> Result<LookupMatrix, ModelLoadError> {
        let found = self.find(name)?;
        let tensor = &self.header.tensors[found];
        if tensor.dtype == BYTES {
            return self.matrix(name, rows, columns).map(LookupMatrix);
        }
        let fits = columns.is_multiple_of(GROUP)
            && tensor.dtype == "i4"
            && tensor.shape == [rows, columns]
            && tensor.bytes == rows * columns / 2
            && tensor.scale_bytes == 4 * rows
            && tensor.share_bytes == rows * columns / GROUP;
        if !fits {
            return Err(ModelLoadError::Damaged(format!("shape of {name}")));
        }
        self.raw(tensor.offset, tensor.bytes)?;
        self.raw(tensor.scale_offset, tensor.scale_bytes)?;
        self.raw(tensor.share_offset, tensor.share_bytes)?;
        Ok(LookupMatrix(WeightMatrix { rows, columns, tensor: found }))
    }

    fn row(&self, LookupMatrix(matrix): LookupMatrix, row: usize, out: &mut [f32]) {
        let tensor = &self.header.tensors[matrix.tensor];
        let part = |offset: usize, length: usize| {
            &self.bytes[self.base + offset + row * length..][..length]
        };
        let scale = floats(part(tensor.scale_offset, 4))[0];
        if tensor.dtype == BYTES {
            let values = part(tensor.offset, matrix.columns);
            out.iter_mut()
                .zip(values)
                .for_each(|(out, &value)| *out = f32::from(value as i8) * scale);
            return;
        }
        let shares = part(tensor.share_offset, matrix.columns / GROUP);
        let pairs = part(tensor.offset, matrix.columns / 2);
        let groups = out.chunks_exact_mut(GROUP).zip(pairs.chunks_exact(GROUP / 2));
        for ((out, pairs), &share) in groups.zip(shares) {
            let scale = f32::from(share) / 255.0 * scale;
            for (two, &pair) in out.chunks_exact_mut(2).zip(pairs) {
                // The sign is the highest of four bits: shifted up and back, it fills the byte.
                two[0] = f32::from((pair << 4) as i8 >> 4) * scale;
                two[1] = f32::from(pair as i8 >> 4) * scale;
            }
        }
    }
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes
        .chunks_exact(4)
        .map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]]))
        .collect()
}
