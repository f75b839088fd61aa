//! The weights inside the program, where it was built with them.

/// The bytes of the static table.
pub(crate) fn static_table() -> Option<&'static [u8]> {
    #[cfg(feature = "embedded")]
    return Some(sinew_weights::static_table());
    #[cfg(not(feature = "embedded"))]
    return None;
}

/// The bytes of the encoder.
pub(crate) fn encoder() -> Option<&'static [u8]> {
    #[cfg(feature = "embedded")]
    return sinew_weights::encoder();
    #[cfg(not(feature = "embedded"))]
    return None;
}
