//! BM25F: words in fields, with frequencies that a small catalog borrows from a large one.

use crate::sorted_table::SortedTable;

static BACKGROUND: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/background.bin"));

/// How many fields a document has.
pub(crate) const FIELD_COUNT: usize = 5;

/// The part of a document that contains a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum DocumentField {
    /// The name.
    Name,
    /// Triggers, tags and keywords.
    Triggers,
    /// The description.
    Description,
    /// The headings.
    Headings,
    /// The body.
    Body,
}

impl DocumentField {
    /// All fields, in the order of their counts.
    pub(crate) const ALL: [Self; FIELD_COUNT] =
        [Self::Name, Self::Triggers, Self::Description, Self::Headings, Self::Body];
}

/// The parameters of BM25F. The defaults were tuned on dev and validation (see BENCHMARKS.md).
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Bm25fParams {
    /// How fast a word's weight saturates.
    pub k1: f32,
    /// The weight of a word in each field.
    pub weights: [f32; FIELD_COUNT],
    /// How much a field's length reduces the score.
    pub b: [f32; FIELD_COUNT],
}

impl Default for Bm25fParams {
    fn default() -> Self {
        Self { k1: 3.0, weights: [3.0, 2.5, 2.5, 0.8, 0.5], b: [0.3, 0.5, 0.5, 0.6, 0.9] }
    }
}

/// A document with a shorter body counts as a bare description.
const BARE_BODY: u32 = 40;

/// A skill without a body has fewer words to be found by, so among skills with a body its words
/// count more. Measured on validation with every second skill bare, on the root of the sum: hence
/// the square.
const BARE_BOOST: f32 = 1.3 * 1.3;

impl Bm25fParams {
    /// The saturated weight of a word with these counts in a document of these lengths.
    pub(crate) fn impact(
        &self,
        counts: [u8; FIELD_COUNT],
        lengths: &[u32],
        means: &[f32; FIELD_COUNT],
    ) -> f32 {
        let mut weight = 0.0;
        for field in 0..FIELD_COUNT {
            if counts[field] > 0 {
                let norm =
                    1.0 - self.b[field] + self.b[field] * lengths[field] as f32 / means[field];
                weight += self.weights[field] * f32::from(counts[field]) / norm;
            }
        }
        let boost =
            if lengths[DocumentField::Body as usize] < BARE_BODY { BARE_BOOST } else { 1.0 };
        boost * weight / (self.k1 + weight)
    }
}

/// Whether a stem is common enough in skills to be in the background table.
pub(crate) fn is_background(stem: &str) -> bool {
    SortedTable::new(BACKGROUND).get(stem.as_bytes()).is_some()
}

/// The rarity of words in a catalog, including the background.
pub(crate) struct TermRarity {
    background: SortedTable,
    total: f32,
}

impl TermRarity {
    /// For a catalog of this many documents.
    pub(crate) fn for_catalog(documents: usize) -> Self {
        let background = SortedTable::new(BACKGROUND);
        let total = documents as f32 + background.get_number(b"#").unwrap_or(0) as f32;
        Self { background, total }
    }

    /// The rarity of a word that occurs in `df` of them.
    pub(crate) fn of(&self, term: &str, df: u32) -> f32 {
        let known = self.background.get_number(term.as_bytes()).unwrap_or(0);
        let df = df as f32 + known as f32;
        // In double precision: the last bit of a single-precision logarithm depends on the
        // platform.
        f64::from(1.0 + (self.total - df + 0.5).max(0.0) / (df + 0.5)).ln() as f32
    }
}
