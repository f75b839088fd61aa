//! The four kinds of errors, and the exit code of each.

use serde::Serialize;

/// What kind of error it is, which decides the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
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

impl ErrorKind {
    /// Every kind, in the order of the exit codes.
    pub const ALL: &'static [Self] = &[Self::No, Self::Usage, Self::Refused, Self::Environment];

    /// How the program ends with an error of this kind.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::No => 1,
            Self::Usage => 2,
            Self::Refused => 3,
            Self::Environment => 4,
        }
    }

    /// What it means, in one line.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::No => "the answer is no",
            Self::Usage => "the request makes no sense as it stands",
            Self::Refused => "a policy or a person refused",
            Self::Environment => "the machine, a file or the network is in the way",
        }
    }

    /// The HTTP status of an error whose code has none of its own.
    pub(crate) fn http_status(self) -> u16 {
        match self {
            Self::No => 404,
            Self::Usage => 400,
            Self::Refused => 403,
            Self::Environment => 503,
        }
    }
}
