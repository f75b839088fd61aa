//! Static vectors at numbered positions, for callers with an index of their own.

use std::sync::Arc;

use super::cosines::{MessageVector, VectorRows, larger};
use super::prepare::ByteVector;
use crate::document::{DocumentTexts, RouteDocument};
use crate::message::{PreparedQuery, UserMessage};
use sinew_models::KernelLevel;
use sinew_models::StaticModel;

/// The meaning of documents, each at a position that the caller chose, and how close a message is
/// to them.
///
/// Positions can be set again and cleared at any time; only the whole set can be queried.
///
/// ```
/// use sinew_route::{MeaningVectors, RouteDocument, RouterModels, UserMessage};
///
/// let Some(table) = RouterModels::embedded_table().table else { return };
/// let mut meanings = MeaningVectors::new(table);
/// meanings.set(0, &RouteDocument::from_description("a", "weather", "Forecasts for a place"));
/// meanings.set(1, &RouteDocument::from_description("b", "image-resizer", "Makes images smaller"));
/// let cosines = meanings.cosines(&UserMessage::from_user("shrink these pictures"));
/// assert!(cosines[1] > cosines[0]);
/// ```
#[derive(Debug)]
pub struct MeaningVectors {
    table: Arc<StaticModel>,
    level: KernelLevel,
    rows: Vec<i8>,
    scales: Vec<f32>,
}

impl MeaningVectors {
    /// No documents yet.
    pub fn new(table: Arc<StaticModel>) -> Self {
        Self { table, level: KernelLevel::detect(), rows: Vec::new(), scales: Vec::new() }
    }

    /// Stores a document at a position, replacing what was there. Only its head counts: name,
    /// description and triggers.
    pub fn set(&mut self, place: usize, document: &RouteDocument) {
        let dims = self.table.dims();
        if self.scales.len() <= place {
            self.scales.resize(place + 1, 0.0);
            self.rows.resize((place + 1) * dims, 0);
        }
        let vector = ByteVector::of(&self.table.document(&DocumentTexts::of(document).static_head));
        self.rows[place * dims..(place + 1) * dims].copy_from_slice(&vector.bytes);
        self.scales[place] = vector.scale;
    }

    /// Clears a position.
    pub fn clear(&mut self, place: usize) {
        if let Some(scale) = self.scales.get_mut(place) {
            *scale = 0.0;
        }
    }

    /// The cosine of a message with each position; 0 for an empty one, and for all if the table
    /// knows no word of the message.
    pub fn cosines(&self, message: &UserMessage<'_>) -> Vec<f32> {
        let parts = PreparedQuery::new(message, true, false).whole;
        let parts = parts.static_parts();
        if !parts.iter().any(|(text, _)| self.table.knows_a_word(text)) {
            return vec![0.0; self.scales.len()];
        }
        let vector = ByteVector::of(&self.table.message(&parts));
        let message = MessageVector { bytes: &vector.bytes, scale: vector.scale };
        let rows = VectorRows { bytes: &self.rows, scales: &self.scales };
        larger(self.level, &[rows], message, self.scales.len())
    }
}
