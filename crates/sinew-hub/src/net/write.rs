//! Requests that change something: sent once, to one place.
//!
//! A lost answer may have been a yes, so nothing is sent twice. A redirect could deliver a
//! publication to another server, so none is followed.

use sinew_settings::ErrorCode;
use url::Url;

use super::{
    AccessToken, FailedAttempt, HttpClient, HttpResponse, NetworkAccess, RequestPurpose, origin,
};
use crate::error::HubError;

/// What a request does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpWriteMethod {
    /// Creates something, or triggers an action.
    Post,
    /// Removes something.
    Delete,
}

/// One request that changes something.
#[derive(Debug)]
pub struct HttpWrite<'a> {
    /// What it does.
    pub method: HttpWriteMethod,
    /// The address.
    pub url: Url,
    /// The token that authorises it.
    pub token: &'a AccessToken,
    /// The body's content type.
    pub kind: &'a str,
    /// The body.
    pub body: &'a [u8],
}

impl HttpClient {
    /// Sends a change and returns the server's answer.
    pub fn write(&self, write: &HttpWrite<'_>) -> Result<HttpResponse, HubError> {
        if self.options.network == NetworkAccess::Off {
            let text = format!("{} was not contacted: sinew is offline", origin(&write.url));
            return Err(HubError::new(ErrorCode::Offline, text));
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
            return Err(FailedAttempt::final_(&write.url, "redirects a change to another address"));
        }
        self.take(answer, write.url.clone(), RequestPurpose::Document, &mut |_, _| {})
    }
}
