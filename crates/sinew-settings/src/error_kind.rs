//! What kind of trouble an error is: what decides exit codes and HTTP statuses.

use serde::Serialize;

/// What kind of trouble it is; surfaces map it to their own codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorKind {
    /// The answer is no: nothing of that name, nothing fits.
    No,
    /// The request makes no sense as it stands.
    Usage,
    /// A policy or a person refused.
    Refused,
    /// The machine, the file system or the network is in the way.
    Environment,
}
