//! Where a model's numbers come from.

use std::borrow::Cow;

use crate::file::ModelLoadError;

/// The named tensors of a model.
pub(crate) trait WeightSource: Send + Sync {
    /// The first `count` numbers of a tensor, in floats.
    fn floats(&self, name: &str, count: usize) -> Result<Vec<f32>, ModelLoadError>;

    /// A matrix that is there and has this shape.
    fn matrix(
        &self,
        name: &str,
        rows: usize,
        columns: usize,
    ) -> Result<WeightMatrix, ModelLoadError>;

    /// A matrix in signed bytes, and the scale of each row.
    fn quantised(&self, matrix: WeightMatrix) -> (Cow<'_, [i8]>, Vec<f32>);

    /// A table that is there and has this shape.
    fn table(
        &self,
        name: &str,
        rows: usize,
        columns: usize,
    ) -> Result<LookupMatrix, ModelLoadError>;

    /// One row of a table, in floats.
    fn row(&self, table: LookupMatrix, row: usize, out: &mut [f32]);
}

/// A matrix whose rows are looked up and never multiplied.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LookupMatrix(pub(crate) WeightMatrix);

/// A matrix that was found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WeightMatrix {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// Its number in the list of tensors.
    pub(crate) tensor: usize,
}
