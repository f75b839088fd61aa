//! How a bucket is reached: `ureq` under `object_store`, so that one HTTP client and one TLS serve
//! the whole program.

use std::time::Duration;

use async_trait::async_trait;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
};

/// How long a bucket may take for one request: enough for the largest bundle over a slow line.
const DEADLINE: Duration = Duration::from_secs(120);
/// The largest answer: an archive, or a page of a listing.
const MAX_ANSWER: u64 = 128 << 20;

/// Makes clients.
#[derive(Debug)]
pub(super) struct BucketConnector;

impl HttpConnector for BucketConnector {
    fn connect(&self, _options: &ClientOptions) -> object_store::Result<HttpClient> {
        let agent = ureq::Agent::config_builder()
            .timeout_global(Some(DEADLINE))
            .http_status_as_error(false)
            .max_redirects(0)
            .allow_non_standard_methods(true)
            .build();
        Ok(HttpClient::new(BucketClient(agent.into())))
    }
}

#[derive(Debug)]
struct BucketClient(ureq::Agent);

#[async_trait]
impl HttpService for BucketClient {
    /// Blocks: blobs are only ever requested from threads that may.
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        use http_body_util::BodyExt as _;
        let (head, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        let outgoing = axum::http::Request::from_parts(head, body.to_vec());
        let mut answer = self.0.run(outgoing).map_err(told)?;
        let bytes =
            answer.body_mut().with_config().limit(MAX_ANSWER).read_to_vec().map_err(told)?;
        let (head, _) = answer.into_parts();
        Ok(HttpResponse::from_parts(head, bytes.into()))
    }
}

fn told(error: ureq::Error) -> HttpError {
    let kind = match &error {
        ureq::Error::Timeout(_) => HttpErrorKind::Timeout,
        ureq::Error::ConnectionFailed | ureq::Error::HostNotFound => HttpErrorKind::Connect,
        ureq::Error::Io(_) => HttpErrorKind::Interrupted,
        _ => HttpErrorKind::Unknown,
    };
    HttpError::new(kind, error)
}
