//! Which models a router has, and which it should have had.

use std::sync::Arc;

use sinew_models::{Embedder, StaticModel, TextEncoder};

use crate::result::{DegradedKind, DegradedSignal};

/// What helps where a program lacks its static table.
const BUILD: &str = "build the program with the feature `models`";

/// What helps where a program lacks its encoder, which no package holds.
const BRING: &str = "put the encoder.bin of this release beside the program, or build it from its \
                     repository with the feature `models`";

/// The models of a router.
#[derive(Debug, Clone, Default)]
pub struct RouterModels {
    /// The token table.
    pub table: Option<Arc<StaticModel>>,
    /// The second stage: our encoder, or a remote model in its place.
    pub encoder: Option<Arc<dyn Embedder>>,
    /// What is missing that should be there.
    pub missing: Vec<DegradedSignal>,
}

impl RouterModels {
    /// What is inside the binary.
    pub fn embedded() -> Self {
        let mut models = Self::embedded_table();
        match TextEncoder::embedded() {
            Some(Ok(encoder)) => models.encoder = Some(Arc::new(encoder)),
            Some(Err(error)) => models.add_missing("encoder", &error.to_string(), BRING),
            None => {
                models.add_missing("encoder", "this program was built without the encoder", BRING);
            }
        }
        models
    }

    /// The static table inside the binary, without an encoder because the user wants it so.
    pub fn embedded_table() -> Self {
        let mut models = Self::default();
        match StaticModel::embedded() {
            Some(Ok(table)) => models.table = Some(Arc::new(table)),
            Some(Err(error)) => models.add_missing("static", &error.to_string(), BUILD),
            None => {
                models.add_missing(
                    "static",
                    "this program was built without the static table",
                    BUILD,
                );
            }
        }
        models
    }

    /// No models at all: words only.
    pub fn none() -> Self {
        Self::default()
    }

    /// Without the encoder, because the user wants it so: nothing is missing.
    #[must_use]
    pub fn without_encoder(mut self) -> Self {
        self.encoder = None;
        self.missing.retain(|missing| missing.signal != "encoder");
        self
    }

    /// With another second stage.
    #[must_use]
    pub fn with_encoder(mut self, encoder: Arc<dyn Embedder>) -> Self {
        self = self.without_encoder();
        self.encoder = Some(encoder);
        self
    }

    /// Records that a model could not be loaded, and what to do about it.
    pub fn add_missing(&mut self, signal: &'static str, why: &str, remedy: &str) {
        self.missing.push(DegradedSignal {
            cause: None,
            kind: DegradedKind::ModelMissing,
            signal,
            message: why.to_owned(),
            remedy: remedy.to_owned(),
        });
    }

    /// The id of the static table, or nothing.
    pub(crate) fn table_id(&self) -> &str {
        self.table.as_ref().map_or("", |table| table.id())
    }

    /// The id of the second stage, or nothing.
    pub(crate) fn encoder_id(&self) -> &str {
        self.encoder.as_ref().map_or("", |encoder| encoder.id())
    }
}
