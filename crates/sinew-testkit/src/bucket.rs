//! A bucket on loopback that speaks as much of S3 as an object store needs: put once, get, list,
//! delete, with signed requests and nothing else.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use sinew_skill::content_hash as sha256_hex;

use crate::site::{SiteAnswer, SiteRequest, TestSite};

/// The access key.
const KEY: &str = "AKIATEST";
/// The secret behind the key.
const SECRET: &str = "a-secret-for-tests";

type BucketObjects = Arc<Mutex<BTreeMap<String, Vec<u8>>>>;

/// A bucket on loopback.
#[derive(Debug, Clone)]
pub struct S3Bucket {
    site: TestSite,
    objects: BucketObjects,
}

impl S3Bucket {
    /// An empty bucket.
    pub fn new() -> Self {
        let objects: BucketObjects = Arc::default();
        let kept = Arc::clone(&objects);
        Self { site: TestSite::new(move |request| answer(request, &kept)), objects }
    }

    /// The service's address.
    pub fn address(&self) -> &str {
        self.site.address()
    }

    /// Key and secret, as a client's environment names them.
    pub fn variables(&self) -> [(&'static str, &'static str); 2] {
        [("AWS_ACCESS_KEY_ID", KEY), ("AWS_SECRET_ACCESS_KEY", SECRET)]
    }

    /// The keys of its objects.
    pub fn keys(&self) -> Vec<String> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
    }

    /// Changes an object without the knowledge of any client.
    pub fn tamper(&self, key: &str, bytes: &[u8]) {
        let mut objects = self.objects.lock().unwrap_or_else(PoisonError::into_inner);
        objects.insert(key.to_owned(), bytes.to_vec());
    }
}

impl Default for S3Bucket {
    fn default() -> Self {
        Self::new()
    }
}

fn answer(request: &SiteRequest, objects: &BucketObjects) -> SiteAnswer {
    if let Some(problem) = unsigned(request) {
        return error(403, "AccessDenied", problem);
    }
    let mut objects = objects.lock().unwrap_or_else(PoisonError::into_inner);
    // Behind the bucket's name, which comes first.
    let key = request.path.trim_start_matches('/').split_once('/').map(|(_, key)| key.to_owned());
    match (request.method.as_str(), key) {
        ("GET", None) => list(&objects, request.query("prefix").unwrap_or_default()),
        ("GET", Some(key)) if key.is_empty() => {
            list(&objects, request.query("prefix").unwrap_or_default())
        }
        ("PUT", Some(key)) => {
            if request.header("if-none-match") == Some("*") && objects.contains_key(&key) {
                return error(412, "PreconditionFailed", "the object is there");
            }
            let tag = format!("\"{}\"", sha256_hex(&request.body));
            objects.insert(key, request.body.clone());
            SiteAnswer::text(200, "").header("etag", &tag)
        }
        ("GET", Some(key)) => match objects.get(&key) {
            Some(bytes) => SiteAnswer::new(200, "application/octet-stream", bytes.clone())
                .header("etag", &format!("\"{}\"", sha256_hex(bytes)))
                .header("last-modified", "Mon, 02 Jan 2023 03:04:05 GMT"),
            None => error(404, "NoSuchKey", "there is no such object"),
        },
        ("DELETE", Some(key)) => {
            objects.remove(&key);
            SiteAnswer::text(204, "")
        }
        _ => error(405, "MethodNotAllowed", "not in this double"),
    }
}

/// What is wrong with a request that the real service would refuse.
fn unsigned(request: &SiteRequest) -> Option<&'static str> {
    let start = format!("AWS4-HMAC-SHA256 Credential={KEY}/");
    let signed = request.header("authorization").unwrap_or_default();
    if !signed.starts_with(&start) || !signed.contains("/s3/aws4_request") {
        return Some("the request is not signed by the key");
    }
    let announced = request.header("x-amz-content-sha256").unwrap_or_default();
    if announced != "UNSIGNED-PAYLOAD" && announced != sha256_hex(&request.body) {
        return Some("the body is not the signed one");
    }
    None
}

fn list(objects: &BTreeMap<String, Vec<u8>>, prefix: &str) -> SiteAnswer {
    let mut xml =
        String::from("<?xml version=\"1.0\"?><ListBucketResult><IsTruncated>false</IsTruncated>");
    for (key, bytes) in objects.iter().filter(|(key, _)| key.starts_with(prefix)) {
        let _ = write!(
            xml,
            "<Contents><Key>{key}</Key><LastModified>2023-01-02T03:04:05.000Z</LastModified>\
             <ETag>\"{}\"</ETag><Size>{}</Size></Contents>",
            sha256_hex(bytes),
            bytes.len()
        );
    }
    xml.push_str("</ListBucketResult>");
    SiteAnswer::new(200, "application/xml", xml)
}

fn error(status: u16, code: &str, message: &str) -> SiteAnswer {
    let xml = format!("<Error><Code>{code}</Code><Message>{message}</Message></Error>");
    SiteAnswer::new(status, "application/xml", xml)
}
