//! Unique names: ids of records, and delimiters that a text cannot guess.

use std::fmt::Write as _;

use crate::error::{Result, WorkshopError};

/// A random UUID (version 4).
pub(crate) fn uuid() -> Result<String> {
    let mut bytes = random()?;
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let mut id = String::with_capacity(36);
    for (at, byte) in bytes.iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            id.push('-');
        }
        let _ = write!(id, "{byte:02x}");
    }
    Ok(id)
}

/// A delimiter of 32 hexadecimal digits.
pub(crate) fn mark() -> Result<String> {
    Ok(uuid()?.replace('-', ""))
}

fn random() -> Result<[u8; 16]> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| WorkshopError::NoRandomness(error.to_string()))?;
    Ok(bytes)
}
