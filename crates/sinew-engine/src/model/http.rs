//! One request to a model's server: JSON there, JSON back, under a deadline and a cap.

use std::fmt;
use std::time::Duration;

use serde_json::Value;
use sinew_settings::Environment;
use sinew_settings::config::ReviewerEndpoint;
use ureq::http::Uri;

use super::{LanguageModelError, MAX_ANSWER, told};

/// Knows an address and, where it needs one, its key.
pub(super) struct ModelHttpClient {
    pub(super) endpoint: ReviewerEndpoint,
    key: Result<Option<String>, String>,
    proxy: Option<String>,
}

/// A key never shows itself.
impl fmt::Debug for ModelHttpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Caller({})", self.endpoint.base_url)
    }
}

impl ModelHttpClient {
    pub(super) fn new(endpoint: &ReviewerEndpoint, env: &Environment) -> Self {
        let key = match &endpoint.api_key_env {
            None => Ok(None),
            Some(name) => match env.var(name) {
                Some(key) => Ok(Some(key.trim().to_owned())),
                None => Err(format!("the variable {name} of provider.apiKeyEnv is not set")),
            },
        };
        let proxy = env.var("HTTPS_PROXY").or_else(|| env.var("https_proxy"));
        Self { endpoint: endpoint.clone(), key, proxy: proxy.map(str::to_owned) }
    }

    /// The key, where one is configured.
    pub(super) fn key(&self) -> Result<Option<&str>, LanguageModelError> {
        match &self.key {
            Ok(key) => Ok(key.as_deref()),
            Err(detail) => Err(LanguageModelError::Config(detail.clone())),
        }
    }

    /// Posts JSON to a path below the base address.
    pub(super) fn post(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        body: &Value,
        deadline: Duration,
    ) -> Result<Value, LanguageModelError> {
        let base = self.endpoint.base_url.trim_end_matches('/');
        let address = format!("{base}{path}");
        let is_near = self.check(&address)?;
        let proxy = self.proxy.as_ref().filter(|_| !is_near);
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .timeout_global(Some(deadline))
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(proxy.and_then(|proxy| ureq::Proxy::new(proxy).ok()))
            .build()
            .into();
        let failed = |error: ureq::Error| match error {
            ureq::Error::Timeout(_) => LanguageModelError::Timeout(deadline),
            ureq::Error::BodyExceedsLimit(_) => LanguageModelError::TooLong,
            other => LanguageModelError::Unreachable {
                address: base.to_owned(),
                detail: told(&other.to_string(), self.key.as_ref().ok().and_then(Option::as_deref)),
            },
        };
        let mut request = agent.post(&address).header("content-type", "application/json");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut answer = request.send(body.to_string()).map_err(failed)?;
        let status = answer.status().as_u16();
        let read = answer.body_mut().with_config().limit(MAX_ANSWER as u64).read_to_vec();
        if !(200..300).contains(&status) {
            let said = String::from_utf8_lossy(&read.unwrap_or_default()).into_owned();
            let key = self.key.as_ref().ok().and_then(Option::as_deref);
            let detail = told(&said, key);
            return Err(LanguageModelError::Refused { address: base.to_owned(), status, detail });
        }
        let bytes = read.map_err(failed)?;
        serde_json::from_slice(&bytes)
            .map_err(|error| LanguageModelError::Unreadable(error.to_string()))
    }

    /// Whether the address is on this machine. Plain HTTP to anywhere else is refused: it would
    /// carry the conversation and the key in the clear.
    fn check(&self, address: &str) -> Result<bool, LanguageModelError> {
        let bad = |detail: &str| {
            Err(LanguageModelError::Config(format!(
                "provider.baseUrl {}: {detail}",
                self.endpoint.base_url
            )))
        };
        let Ok(uri) = address.parse::<Uri>() else { return bad("it is no address") };
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']).to_ascii_lowercase();
        let is_near = host == "localhost"
            || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
        match uri.scheme_str() {
            Some("https") => Ok(is_near),
            Some("http") if is_near || self.endpoint.allow_insecure => Ok(is_near),
            Some("http") => bad("plain http leaves this machine; use https, or set allowInsecure"),
            _ => bad("it is neither http nor https"),
        }
    }
}
