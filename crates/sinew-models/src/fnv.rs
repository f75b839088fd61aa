//! FNV-1a, shared with the build script so that its tables are read the same way here.

/// The hash of no bytes.
pub(crate) const START: u64 = 0xcbf2_9ce4_8422_2325;

/// Adds bytes to a hash.
pub(crate) fn extend(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
