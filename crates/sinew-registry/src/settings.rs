//! How a registry is run: the `registry` section of the configuration.

use std::path::PathBuf;

use sinew_hub::settings::GitHubEndpoints;
use sinew_settings::config::{
    CLAWHUB, DEFAULT_S3_REGION, MirrorMode, RegistryMode, RegistrySection, UnusableValue,
};
use sinew_settings::{Config, Environment};

use super::names;

/// Where bundles are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlobLocation {
    /// A folder.
    Folder(PathBuf),
    /// A bucket that speaks S3.
    Bucket(BucketSettings),
}

/// A bucket and how it is reached.
#[derive(Clone, PartialEq, Eq)]
pub struct BucketSettings {
    /// Its name.
    pub name: String,
    /// What keys start with.
    pub prefix: String,
    /// The service, where it is not Amazon's.
    pub endpoint: Option<String>,
    /// The region.
    pub region: String,
    /// Whether the bucket is a part of the path, not of the host.
    pub path_style: bool,
    /// The key and its secret; absent for a bucket that needs none.
    pub credentials: Option<(String, String)>,
}

/// Without the secrets.
impl std::fmt::Debug for BucketSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Bucket(s3://{}/{} at {:?})", self.name, self.prefix, self.endpoint)
    }
}

/// How other registries are brought in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MirrorSettings {
    /// The other registry's base.
    pub upstream: String,
    /// Whether skills are fetched when a client asks for them.
    pub on_demand: bool,
    /// What may be brought in: `owner`, `owner/slug`, `*/slug` or `*`, and of GitHub
    /// `github:owner` or `github:owner/repo`. Nothing else is.
    pub allow: Vec<String>,
    /// What may not, even if allowed above.
    pub deny: Vec<String>,
    /// How long an answer of upstream is valid, in milliseconds.
    pub interval_ms: u64,
    /// Put before the names of upstream's owners.
    pub prefix: String,
    /// Where GitHub is.
    pub github: GitHubEndpoints,
}

/// How a registry is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistrySettings {
    /// Who may read without a token.
    pub mode: RegistryMode,
    /// Where bundles are stored.
    pub blobs: BlobLocation,
    /// Multiplies the limits on requests; absent for the usual ones.
    pub limits_scale: Option<u32>,
    /// Other registries.
    pub mirror: Option<MirrorSettings>,
    /// The folder of the registry's own files.
    pub folder: PathBuf,
    /// Whether the registry has an address of its own, and so no path in front of its routes.
    pub listens_alone: bool,
}

impl RegistrySettings {
    /// Reads the settings. A server does not start with a setting that it cannot follow.
    pub fn read(config: &Config, env: &Environment) -> Result<Self, UnusableValue> {
        config.check("registry")?;
        config.check("serve.registryListen")?;
        let registry = &config.registry;
        let folder = env.sinew_home().join("registry");
        let blobs = match filled(registry.blobs.as_deref()) {
            None => BlobLocation::Folder(folder.join("blobs")),
            Some(place) => match place.strip_prefix("s3://") {
                Some(bucket) => BlobLocation::Bucket(read_bucket(registry, env, bucket)?),
                None => BlobLocation::Folder(env.expand_home(place)),
            },
        };
        let listens_alone = filled(config.serve.registry_listen.as_deref()).is_some();
        let mirror = read_mirror(config, env)?;
        Ok(Self {
            mode: registry.mode,
            blobs,
            limits_scale: registry.limits_scale,
            mirror,
            folder,
            listens_alone,
        })
    }
}

fn read_bucket(
    registry: &RegistrySection,
    env: &Environment,
    place: &str,
) -> Result<BucketSettings, UnusableValue> {
    let (name, prefix) = place.split_once('/').unwrap_or((place, ""));
    if name.is_empty() {
        return wrong("registry.blobs", "a folder, or s3://bucket/prefix");
    }
    let endpoint = filled(registry.s3_endpoint.as_deref());
    let region = filled(registry.s3_region.as_deref()).or(env.var("AWS_REGION"));
    let credentials = env
        .var("AWS_ACCESS_KEY_ID")
        .zip(env.var("AWS_SECRET_ACCESS_KEY"))
        .map(|(key, secret)| (key.to_owned(), secret.to_owned()));
    Ok(BucketSettings {
        name: name.to_owned(),
        prefix: prefix.trim_matches('/').to_owned(),
        endpoint: endpoint.map(str::to_owned),
        region: region.unwrap_or(DEFAULT_S3_REGION).to_owned(),
        path_style: registry.s3_path_style.unwrap_or(endpoint.is_some()),
        credentials,
    })
}

fn read_mirror(
    config: &Config,
    env: &Environment,
) -> Result<Option<MirrorSettings>, UnusableValue> {
    let mirror = &config.registry.mirror;
    let on_demand = match mirror.mode {
        MirrorMode::Off => return Ok(None),
        MirrorMode::Proxy => true,
        MirrorMode::Snapshot => false,
    };
    let upstream = filled(Some(&mirror.upstream)).unwrap_or(CLAWHUB).trim_end_matches('/');
    let prefix = mirror.prefix.trim();
    if !prefix.is_empty() && names::handle(&format!("{prefix}x")).is_none() {
        return wrong("registry.mirror.prefix", "the beginning of an owner's name");
    }
    let lower = |names: &[String]| names.iter().map(|name| name.to_ascii_lowercase()).collect();
    let Ok(github) = GitHubEndpoints::read(&config.hub, env) else {
        return wrong("hub.github", "the addresses of GitHub's API and of its archives");
    };
    Ok(Some(MirrorSettings {
        upstream: upstream.to_owned(),
        on_demand,
        allow: lower(&mirror.allow),
        deny: lower(&mirror.deny),
        interval_ms: mirror.interval_seconds.saturating_mul(1000),
        prefix: prefix.to_owned(),
        github,
    }))
}

/// A text without the blanks around it, unless it is blank.
fn filled(text: Option<&str>) -> Option<&str> {
    text.map(str::trim).filter(|text| !text.is_empty())
}

fn wrong<T>(path: &str, expected: &str) -> Result<T, UnusableValue> {
    Err(UnusableValue { path: path.to_owned(), expected: expected.to_owned() })
}
