//! The weights of the routing models, as bytes: what they mean is written in `model/README.md` of the
//! repository, and `sinew-models` reads them.
//!
//! **Promise:** nothing is read, changed or copied: what comes back lies in the program file.
//! **Left out on purpose:** the encoder in packages of a registry, whose limit it exceeds.

static STATIC_TABLE: &[u8] = include_bytes!("../static.bin");

#[cfg(has_encoder)]
static ENCODER: Option<&[u8]> = Some(include_bytes!("../encoder.bin"));
#[cfg(not(has_encoder))]
static ENCODER: Option<&[u8]> = None;

/// The token table of the static model.
pub fn static_table() -> &'static [u8] {
    STATIC_TABLE
}

/// The encoder; `None` where its file was missing when this crate was built.
pub fn encoder() -> Option<&'static [u8]> {
    ENCODER
}
