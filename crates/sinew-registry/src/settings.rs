//! How a registry is run: the `registry` section of the configuration.

use std::path::PathBuf;

use serde_json::Value;
use sinew_catalog::Config;
use sinew_hub::settings::GitHubEndpoints;
use sinew_settings::Environment;

use super::names;

/// Who may read without a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegistryMode {
    /// Nobody.
    Private,
    /// Everybody.
    PublicRead,
}

/// Where bundles lie.
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

/// Secrets never show themselves.
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
    /// Whether skills are fetched when somebody asks for them.
    pub on_demand: bool,
    /// What may be brought in: `owner`, `owner/slug`, `*/slug` or `*`, and of GitHub
    /// `github:owner` or `github:owner/repo`. Nothing else is.
    pub allow: Vec<String>,
    /// What may not, even so.
    pub deny: Vec<String>,
    /// How long what upstream said counts, in milliseconds.
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
    /// Where bundles lie.
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

/// A setting that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key} must be {expected}")]
pub struct RegistrySettingsError {
    /// The key.
    pub key: &'static str,
    /// What it must be.
    pub expected: &'static str,
}

impl RegistrySettings {
    /// Reads the settings. A server that would run otherwise than it was told does not start.
    pub fn read(config: &Config, env: &Environment) -> Result<Self, RegistrySettingsError> {
        let tree = &config.tree;
        let folder = env.sinew_home().join("registry");
        let mode = match text(tree, "/registry/mode", "registry.mode")? {
            None | Some("private") => RegistryMode::Private,
            Some("public-read") => RegistryMode::PublicRead,
            Some(_) => return wrong("registry.mode", "private or public-read"),
        };
        let blobs = match text(tree, "/registry/blobs", "registry.blobs")? {
            None => BlobLocation::Folder(folder.join("blobs")),
            Some(place) => match place.strip_prefix("s3://") {
                Some(bucket) => BlobLocation::Bucket(read_bucket(tree, env, bucket)?),
                None => BlobLocation::Folder(env.expand_home(place)),
            },
        };
        let limits_scale = match tree.pointer("/registry/limits/scale") {
            None => None,
            Some(value) => match value.as_u64().and_then(|scale| u32::try_from(scale).ok()) {
                Some(scale) if scale > 0 => Some(scale),
                _ => return wrong("registry.limits.scale", "a whole number above 0"),
            },
        };
        let listens_alone = text(tree, "/serve/registryListen", "serve.registryListen")?.is_some();
        let mirror = read_mirror(config, env)?;
        Ok(Self { mode, blobs, limits_scale, mirror, folder, listens_alone })
    }
}

fn read_bucket(
    tree: &Value,
    env: &Environment,
    place: &str,
) -> Result<BucketSettings, RegistrySettingsError> {
    let (name, prefix) = place.split_once('/').unwrap_or((place, ""));
    if name.is_empty() {
        return wrong("registry.blobs", "a folder, or s3://bucket/prefix");
    }
    let endpoint = text(tree, "/registry/s3/endpoint", "registry.s3.endpoint")?;
    let region = text(tree, "/registry/s3/region", "registry.s3.region")?;
    let path_style = match tree.pointer("/registry/s3/pathStyle") {
        None => endpoint.is_some(),
        Some(Value::Bool(choice)) => *choice,
        Some(_) => return wrong("registry.s3.pathStyle", "true or false"),
    };
    let credentials = env
        .var("AWS_ACCESS_KEY_ID")
        .zip(env.var("AWS_SECRET_ACCESS_KEY"))
        .map(|(key, secret)| (key.to_owned(), secret.to_owned()));
    Ok(BucketSettings {
        name: name.to_owned(),
        prefix: prefix.trim_matches('/').to_owned(),
        endpoint: endpoint.map(str::to_owned),
        region: region.or(env.var("AWS_REGION")).unwrap_or("us-east-1").to_owned(),
        path_style,
        credentials,
    })
}

fn read_mirror(
    config: &Config,
    env: &Environment,
) -> Result<Option<MirrorSettings>, RegistrySettingsError> {
    /// Ten minutes: a skill that upstream takes back is hidden here soon after.
    const INTERVAL_S: u64 = 600;
    let tree = &config.tree;
    let on_demand = match text(tree, "/registry/mirror/mode", "registry.mirror.mode")? {
        None | Some("off") => return Ok(None),
        Some("proxy") => true,
        Some("snapshot") => false,
        Some(_) => return wrong("registry.mirror.mode", "off, proxy or snapshot"),
    };
    let upstream = text(tree, "/registry/mirror/upstream", "registry.mirror.upstream")?;
    let upstream = upstream.unwrap_or("https://clawhub.ai").trim_end_matches('/').to_owned();
    let prefix = text(tree, "/registry/mirror/prefix", "registry.mirror.prefix")?.unwrap_or("");
    if !prefix.is_empty() && names::handle(&format!("{prefix}x")).is_none() {
        return wrong("registry.mirror.prefix", "the beginning of an owner's name");
    }
    let interval = match tree.pointer("/registry/mirror/intervalSeconds") {
        None => INTERVAL_S,
        Some(value) => match value.as_u64() {
            Some(seconds) => seconds,
            None => return wrong("registry.mirror.intervalSeconds", "a number of seconds"),
        },
    };
    Ok(Some(MirrorSettings {
        upstream,
        on_demand,
        allow: list(tree, "/registry/mirror/allow", "registry.mirror.allow")?,
        deny: list(tree, "/registry/mirror/deny", "registry.mirror.deny")?,
        interval_ms: interval.saturating_mul(1000),
        prefix: prefix.to_owned(),
        github: GitHubEndpoints::read(&config.hub, env).map_err(|_| RegistrySettingsError {
            key: "hub.github",
            expected: "the addresses of GitHub's API and of its archives",
        })?,
    }))
}

fn text<'a>(
    tree: &'a Value,
    pointer: &str,
    key: &'static str,
) -> Result<Option<&'a str>, RegistrySettingsError> {
    match tree.pointer(pointer) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.trim().is_empty() => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.trim())),
        Some(_) => wrong(key, "text"),
    }
}

fn list(
    tree: &Value,
    pointer: &str,
    key: &'static str,
) -> Result<Vec<String>, RegistrySettingsError> {
    match tree.pointer(pointer) {
        None => Ok(Vec::new()),
        Some(Value::Array(items)) => items
            .iter()
            .map(|item| item.as_str().map(|text| text.trim().to_ascii_lowercase()))
            .collect::<Option<_>>()
            .ok_or(RegistrySettingsError { key, expected: "a list of names" }),
        Some(_) => wrong(key, "a list of names"),
    }
}

fn wrong<T>(key: &'static str, expected: &'static str) -> Result<T, RegistrySettingsError> {
    Err(RegistrySettingsError { key, expected })
}
