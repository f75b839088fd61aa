//! Requests that change something: sent once, to one place.
//!
//! An answer that was lost may have been a yes, so nothing is sent again; and a redirect could lead
//! a publication to somebody else, so none is followed.

use url::Url;

use super::{
    AccessToken, FailedAttempt, HttpClient, HttpResponse, NetworkAccess, RequestPurpose, origin,
};
use crate::error::{HubError, HubErrorCode};

/// What a request does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpWriteMethod {
    /// Makes or does something.
    Post,
    /// Takes something back.
    Delete,
}

/// One change.
#[derive(Debug)]
pub struct HttpWrite<'a> {
    /// What it does.
    pub method: HttpWriteMethod,
    /// Where to.
    pub url: Url,
    /// Who asks.
    pub token: &'a AccessToken,
    /// What the body is.
    pub kind: &'a str,
    /// The body.
    pub body: &'a [u8],
}

impl HttpClient {
    /// Sends a change, and gives what the server answered.
    pub fn write(&self, write: &HttpWrite<'_>) -> Result<HttpResponse, HubError> {
        if self.options.network == NetworkAccess::Off {
            let text = format!("{} was not asked: sinew is offline", origin(&write.url));
            return Err(HubError::new(HubErrorCode::Offline, text));
        }
        self.send_once(write).map_err(|broken| broken.error)
    }

    fn send_once(&self, write: &HttpWrite<'_>) -> Result<HttpResponse, FailedAttempt> {
        self.check(&write.url)?;
        let request = match write.method {
            HttpWriteMethod::Post => self.agent.post(write.url.as_str()),
            HttpWriteMethod::Delete => self.agent.delete(write.url.as_str()).force_send_body(),
        };
        let answer = request
            .header("accept", "application/json")
            .header("content-type", write.kind)
            .header("authorization", format!("Bearer {}", write.token.expose()))
            .config()
            .timeout_global(Some(self.options.times.download))
            .build()
            .send(write.body)
            .map_err(|error| FailedAttempt::from_ureq(&write.url, &error))?;
        if answer.status().is_redirection() {
            return Err(FailedAttempt::final_(&write.url, "sends changes elsewhere"));
        }
        self.take(answer, write.url.clone(), RequestPurpose::Document, &mut |_, _| {})
    }
}
