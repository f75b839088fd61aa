//! Requests that change something: sent once, to one place.
//!
//! An answer that was lost may have been a yes, so nothing is sent again; and a redirect could lead
//! a publication to somebody else, so none is followed.

use url::Url;

use super::{Answer, Broken, Http, Network, Purpose, Token, origin};
use crate::error::{HubError, Word};

/// What a request does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Makes or does something.
    Post,
    /// Takes something back.
    Delete,
}

/// One change.
#[derive(Debug)]
pub struct Write<'a> {
    /// What it does.
    pub method: Method,
    /// Where to.
    pub url: Url,
    /// Who asks.
    pub token: &'a Token,
    /// What the body is.
    pub kind: &'a str,
    /// The body.
    pub body: &'a [u8],
}

impl Http {
    /// Sends a change, and gives what the server answered.
    pub fn write(&self, write: &Write<'_>) -> Result<Answer, HubError> {
        if self.options.network == Network::Off {
            let text = format!("{} was not asked: sinew is offline", origin(&write.url));
            return Err(HubError::new(Word::Offline, text));
        }
        self.send_once(write).map_err(|broken| broken.error)
    }

    fn send_once(&self, write: &Write<'_>) -> Result<Answer, Broken> {
        self.check(&write.url)?;
        let request = match write.method {
            Method::Post => self.agent.post(write.url.as_str()),
            Method::Delete => self.agent.delete(write.url.as_str()).force_send_body(),
        };
        let answer = request
            .header("accept", "application/json")
            .header("content-type", write.kind)
            .header("authorization", format!("Bearer {}", write.token.expose()))
            .config()
            .timeout_global(Some(self.options.times.download))
            .build()
            .send(write.body)
            .map_err(|error| Broken::from_ureq(&write.url, &error))?;
        if answer.status().is_redirection() {
            return Err(Broken::final_(&write.url, "sends changes elsewhere"));
        }
        self.take(answer, write.url.clone(), Purpose::Document, &mut |_, _| {})
    }
}
