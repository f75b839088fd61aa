//! The encoder's vectors of all wordings, computed once and carried: a message is compared with a
//! thousand of them, and there is time to encode only the message.
//!
//! The file begins with the encoder's id on a line of its own; then come the vectors as signed bytes,
//! wording by wording. `cargo run -p sinew-workshop --example wording_vectors` writes it anew.

use std::sync::LazyLock;

use sinew_route::{Embedder, TextSide, encoder_input};

use super::fit::dot;
use super::table::TABLE;

static FILE: &[u8] = include_bytes!("../../data/activity-vectors.bin");

/// A byte of 127 is 1/4: no component of an encoder's vector is larger than that by much.
const SCALE: f32 = 127.0 * 4.0;

pub(super) struct WordingVectors {
    id: &'static str,
    dims: usize,
    /// By activity, then by wording.
    vectors: Vec<Vec<Vec<f32>>>,
}

pub(super) static WORDING_VECTORS: LazyLock<WordingVectors> =
    LazyLock::new(|| WordingVectors::read(FILE).unwrap_or_else(WordingVectors::none));

impl WordingVectors {
    fn none() -> Self {
        Self { id: "", dims: 0, vectors: Vec::new() }
    }

    /// Reads the file; one that does not fit the table is as good as none.
    fn read(file: &'static [u8]) -> Option<Self> {
        let end = file.iter().position(|byte| *byte == b'\n')?;
        let id = std::str::from_utf8(file.get(..end)?).ok()?;
        let bytes = file.get(end + 1..)?;
        let count: usize = TABLE.activities.iter().map(|activity| activity.wordings.len()).sum();
        if count == 0 || bytes.is_empty() || bytes.len() % count != 0 {
            return None;
        }
        let dims = bytes.len() / count;
        let mut rows = bytes.chunks_exact(dims).map(|row| {
            row.iter().map(|byte| f32::from(byte.cast_signed()) / SCALE).collect::<Vec<f32>>()
        });
        let of = |activity: &super::table::TaskActivity| {
            rows.by_ref().take(activity.wordings.len()).collect()
        };
        Some(Self { id, dims, vectors: TABLE.activities.iter().map(of).collect() })
    }

    /// Whether an encoder made these vectors.
    pub(super) fn is_of(&self, encoder: &str) -> bool {
        !self.id.is_empty() && self.id == encoder
    }

    pub(super) fn cosine(&self, activity: usize, wording: usize, vector: &[f32]) -> f32 {
        let wording = self.vectors.get(activity).and_then(|wordings| wordings.get(wording));
        match wording.filter(|_| vector.len() == self.dims) {
            Some(wording) => dot(wording, vector),
            None => 0.0,
        }
    }
}

/// The encoder whose vectors are carried.
pub fn wording_vectors_id() -> &'static str {
    WORDING_VECTORS.id
}

/// The file anew, by an encoder.
pub fn write_wording_vectors(encoder: &dyn Embedder) -> Option<Vec<u8>> {
    let mut file = format!("{}\n", encoder.id()).into_bytes();
    for wording in TABLE.activities.iter().flat_map(|activity| &activity.wordings) {
        let input = encoder_input(wording);
        let vector = encoder.embed(&[input.as_str()], TextSide::Message).ok()?.pop()?;
        file.extend(
            vector.iter().map(|value| (value * SCALE).round().clamp(-127.0, 127.0) as i8 as u8),
        );
    }
    Some(file)
}

#[cfg(test)]
mod tests {
    use sinew_route::{Embedder as _, TextEncoder};

    #[test]
    fn the_carried_vectors_are_those_of_the_carried_encoder() {
        let Some(Ok(encoder)) = TextEncoder::embedded() else { return };
        let how = "run `cargo run -p sinew-workshop --example wording_vectors`";
        assert_eq!(super::wording_vectors_id(), encoder.id(), "{how}");
        assert_eq!(super::WORDING_VECTORS.vectors.len(), super::TABLE.activities.len(), "{how}");
    }
}
