//! `registry`: how a team registry is run.

use super::hub::CLAWHUB;
use super::section::{choices, section};

section! {
    /// `registry`: how a team registry is run.
    pub struct RegistrySection at "registry" {
        /// Who reads without a token.
        "mode" => mode: RegistryMode = RegistryMode::Private;
        /// Where bundles lie: a folder, or s3://bucket/prefix with the keys in AWS_ACCESS_KEY_ID and
        /// AWS_SECRET_ACCESS_KEY.
        "blobs" => blobs: Option<String> = None, shown "<home>/registry/blobs";
        /// The S3 service, where it is not Amazon's.
        "s3.endpoint" => s3_endpoint: Option<String> = None;
        /// Its region; AWS_REGION where absent.
        "s3.region" => s3_region: Option<String> = None, shown DEFAULT_S3_REGION;
        /// Whether the bucket is a part of the path, not of the host.
        "s3.pathStyle" => s3_path_style: Option<bool> = None, shown "with an endpoint";
        /// Multiplies how many requests a caller may send in a minute.
        "limits.scale" => limits_scale: Option<u32> = None, in 1 to u32::MAX, shown "1, on loopback 1000";
        also {
            /// `registry.mirror`.
            mirror: MirrorSection = MirrorSection::default();
        }
    }
}

/// The region of a bucket, where neither the configuration nor the machine names one.
pub const DEFAULT_S3_REGION: &str = "us-east-1";

choices! {
    /// Who may read a registry without a token.
    #[derive(Default)]
    pub enum RegistryMode {
        /// No one.
        #[default]
        Private = "private",
        /// Every caller.
        PublicRead = "public-read",
    }
}

section! {
    /// `registry.mirror`: how other registries are brought in.
    pub struct MirrorSection at "registry.mirror" {
        /// Bring skills of another registry in: proxy when asked for, snapshot by `registry mirror`.
        "mode" => mode: MirrorMode = MirrorMode::Off;
        /// The other registry's base.
        "upstream" => upstream: String = CLAWHUB.to_owned();
        /// What may be brought in: owner, owner/slug, */slug or *, and github:account or
        /// github:account/repo; nothing else is.
        "allow" => allow: Vec<String> = Vec::new();
        /// What may not, even so.
        "deny" => deny: Vec<String> = Vec::new();
        /// Put before the names of the other registry's owners.
        "prefix" => prefix: String = String::new();
        /// How long what the other registry said counts.
        "intervalSeconds" => interval_seconds: u64 = 600;
    }
}

choices! {
    /// When skills of another registry are brought in.
    #[derive(Default)]
    pub enum MirrorMode {
        /// Never.
        #[default]
        Off = "off",
        /// When they are asked for.
        Proxy = "proxy",
        /// When `registry mirror` runs.
        Snapshot = "snapshot",
    }
}
