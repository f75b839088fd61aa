//! Bytes by their digest: in a folder, or in a bucket that speaks S3.
//!
//! A blob is written once and never changed; what is read is hashed again, so that bytes which were
//! altered in storage are never served.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use futures_util::TryStreamExt as _;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path as Key;
use object_store::{ObjectStore as _, ObjectStoreExt as _, PutMode, PutPayload};
use sinew_guard::atomic::{self, FileAccess};
use sinew_skill::content_hash;
use tokio::runtime::Runtime;

use super::bucket::BucketConnector;
use super::settings::{BlobLocation, BucketSettings};

/// Why bytes could not be stored or found.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    /// There is no such blob.
    #[error("there is no blob {0}")]
    Missing(String),
    /// The stored bytes do not have this digest.
    #[error("the blob {0} does not have its digest")]
    Altered(String),
    /// The folder or bucket cannot be used.
    #[error("the blob store failed: {0}")]
    Failed(String),
}

impl From<io::Error> for BlobError {
    fn from(error: io::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Where blobs are stored. Calls block.
#[derive(Clone)]
pub(crate) enum BlobStore {
    Folder(PathBuf),
    Bucket(Arc<BucketStore>),
}

/// A bucket, and the runtime in which its requests run, so that it works on any thread that may block.
pub(crate) struct BucketStore {
    store: AmazonS3,
    prefix: String,
    runtime: Option<Runtime>,
}

impl BucketStore {
    fn run<T>(
        &self,
        work: impl Future<Output = object_store::Result<T>>,
    ) -> object_store::Result<T> {
        match &self.runtime {
            Some(runtime) => runtime.block_on(work),
            None => Err(object_store::Error::NotImplemented {
                operation: "a request".to_owned(),
                implementer: "a bucket that is being closed".to_owned(),
            }),
        }
    }

    fn key(&self, sha256: &str) -> Key {
        match self.prefix.is_empty() {
            true => Key::from(place(sha256)),
            false => Key::from(format!("{}/{}", self.prefix, place(sha256))),
        }
    }
}

impl Drop for BucketStore {
    fn drop(&mut self) {
        // Dropping a runtime waits for its threads, which an asynchronous caller must not.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl fmt::Debug for BlobStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => write!(f, "Blobs({})", folder.display()),
            Self::Bucket(bucket) => write!(f, "Blobs({}, {})", bucket.store, bucket.prefix),
        }
    }
}

/// A stored blob.
#[derive(Debug)]
pub(crate) struct StoredBlob {
    pub(crate) sha256: String,
    pub(crate) modified_ms: u64,
}

impl BlobStore {
    pub(crate) fn open(place: &BlobLocation) -> Result<Self, BlobError> {
        match place {
            BlobLocation::Folder(folder) => {
                sinew_guard::private_files::create_folder(folder)?;
                Ok(Self::Folder(folder.clone()))
            }
            BlobLocation::Bucket(bucket) => Ok(Self::Bucket(Arc::new(BucketStore {
                store: open_bucket(bucket).map_err(|error| failed(&error))?,
                prefix: bucket.prefix.clone(),
                runtime: Some(tokio::runtime::Builder::new_current_thread().enable_time().build()?),
            }))),
        }
    }

    /// Stores bytes under their digest, and returns it. Bytes that are stored already are left alone.
    pub(crate) fn put(&self, bytes: &[u8]) -> Result<String, BlobError> {
        let sha256 = content_hash(bytes);
        match self {
            Self::Folder(folder) => {
                let path = folder.join(place(&sha256));
                // A damaged file is repaired here, since the right bytes are at hand.
                if !fs::read(&path).is_ok_and(|found| found == bytes) {
                    atomic::write(&path, bytes, FileAccess::OwnerOnly)?;
                }
            }
            Self::Bucket(bucket) => {
                let payload = PutPayload::from(bytes.to_vec());
                let create = PutMode::Create.into();
                match bucket.run(bucket.store.put_opts(&bucket.key(&sha256), payload, create)) {
                    Ok(_) | Err(object_store::Error::AlreadyExists { .. }) => {}
                    Err(error) => return Err(failed(&error)),
                }
            }
        }
        Ok(sha256)
    }

    /// The bytes of a digest, after checking that they have it.
    pub(crate) fn get(&self, sha256: &str) -> Result<Vec<u8>, BlobError> {
        let missing = || BlobError::Missing(sha256.to_owned());
        if sinew_guard::digest::from_hex(sha256).is_none() {
            return Err(missing());
        }
        let bytes = match self {
            Self::Folder(folder) => match fs::read(folder.join(place(sha256))) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(missing()),
                read => read?,
            },
            Self::Bucket(bucket) => {
                let key = bucket.key(sha256);
                let fetched = bucket.run(async { bucket.store.get(&key).await?.bytes().await });
                match fetched {
                    Err(object_store::Error::NotFound { .. }) => return Err(missing()),
                    fetched => fetched.map_err(|error| failed(&error))?.to_vec(),
                }
            }
        };
        match content_hash(&bytes) == sha256 {
            true => Ok(bytes),
            false => Err(BlobError::Altered(sha256.to_owned())),
        }
    }

    /// Every blob there is.
    pub(crate) fn list(&self) -> Result<Vec<StoredBlob>, BlobError> {
        match self {
            Self::Folder(folder) => list_folder(&folder.join("sha256")),
            Self::Bucket(bucket) => {
                let root = match bucket.prefix.is_empty() {
                    true => Key::from("sha256"),
                    false => Key::from(format!("{}/sha256", bucket.prefix)),
                };
                let found = bucket.run(bucket.store.list(Some(&root)).try_collect::<Vec<_>>());
                let listed = |object: object_store::ObjectMeta| {
                    let mut parts = object.location.as_ref().rsplit('/');
                    let (rest, start) = (parts.next()?, parts.next()?);
                    let modified = u64::try_from(object.last_modified.timestamp_millis()).ok()?;
                    Some(StoredBlob { sha256: format!("{start}{rest}"), modified_ms: modified })
                };
                Ok(found.map_err(|error| failed(&error))?.into_iter().filter_map(listed).collect())
            }
        }
    }

    /// Deletes a blob that nothing refers to.
    pub(crate) fn remove(&self, sha256: &str) -> Result<(), BlobError> {
        match self {
            Self::Folder(folder) => Ok(fs::remove_file(folder.join(place(sha256)))?),
            Self::Bucket(bucket) => {
                bucket.run(bucket.store.delete(&bucket.key(sha256))).map_err(|error| failed(&error))
            }
        }
    }
}

fn list_folder(root: &Path) -> Result<Vec<StoredBlob>, BlobError> {
    let mut listed = Vec::new();
    let folders = match fs::read_dir(root) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(listed),
        folders => folders?,
    };
    for folder in folders {
        let folder = folder?;
        for file in fs::read_dir(folder.path())? {
            let file = file?;
            let (start, rest) = (folder.file_name(), file.file_name());
            let sha256 = format!("{}{}", start.to_string_lossy(), rest.to_string_lossy());
            // Files that are being written have other names.
            if sinew_guard::digest::from_hex(&sha256).is_none() {
                continue;
            }
            let modified = file.metadata()?.modified()?;
            let age = modified.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
            listed.push(StoredBlob { sha256, modified_ms: u64::try_from(age).unwrap_or(u64::MAX) });
        }
    }
    Ok(listed)
}

fn open_bucket(bucket: &BucketSettings) -> object_store::Result<AmazonS3> {
    let mut builder = AmazonS3Builder::new()
        .with_http_connector(BucketConnector)
        .with_bucket_name(&bucket.name)
        .with_region(&bucket.region)
        .with_virtual_hosted_style_request(!bucket.path_style);
    if let Some(endpoint) = &bucket.endpoint {
        // A service on loopback or in a cluster often has no certificate; the operator chose by
        // writing `http://`.
        builder = builder.with_endpoint(endpoint).with_allow_http(endpoint.starts_with("http://"));
    }
    match &bucket.credentials {
        Some((key, secret)) => {
            builder = builder.with_access_key_id(key).with_secret_access_key(secret);
        }
        None => builder = builder.with_skip_signature(true),
    }
    builder.build()
}

fn place(sha256: &str) -> String {
    let (start, rest) = sha256.split_at(2.min(sha256.len()));
    format!("sha256/{start}/{rest}")
}

fn failed(error: &object_store::Error) -> BlobError {
    BlobError::Failed(error.to_string())
}
