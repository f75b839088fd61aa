//! What every command that listens reads from the configuration, and how it says that it cannot.

use sinew_engine::{Engine, EngineError};
use sinew_listener::{PER_SECOND, ServeError};
use sinew_settings::ErrorCode;
use url::Url;

/// The address by which others know this machine's server, where one is configured.
pub(crate) fn public_url_of(engine: &Engine) -> Result<Option<Url>, EngineError> {
    origin_of(engine, "publicUrl")
}

/// A configured origin below `serve`.
pub(crate) fn origin_of(engine: &Engine, key: &str) -> Result<Option<Url>, EngineError> {
    let configured = engine.config().tree.pointer(&format!("/serve/{key}"));
    match configured.and_then(|value| value.as_str()) {
        None | Some("") => Ok(None),
        Some(text) => public_url(key, text).map(Some),
    }
}

/// Requests that one client of another machine may send in a second.
pub(crate) fn per_second_of(engine: &Engine) -> Result<Option<u32>, EngineError> {
    let Some(set) = engine.config().tree.pointer("/serve/ratePerSecond") else {
        return Ok(Some(PER_SECOND));
    };
    match set.as_u64().and_then(|set| u32::try_from(set).ok()) {
        Some(0) => Ok(None),
        Some(set) => Ok(Some(set)),
        None => Err(EngineError::new(
            ErrorCode::BadSetting,
            "serve.ratePerSecond must be a whole number; 0 for any number",
        )),
    }
}

fn public_url(key: &str, text: &str) -> Result<Url, EngineError> {
    let url = Url::parse(text).ok().filter(|url| {
        matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && url.path() == "/"
            && url.query().is_none()
            && url.username().is_empty()
    });
    url.ok_or_else(|| {
        let text = format!("serve.{key} is no origin: {text}");
        EngineError::new(ErrorCode::BadPublicUrl, text)
            .hint("write scheme and host alone, such as https://skills.example.org")
    })
}

/// What a server that cannot start or go on means to a person.
pub(crate) fn serve_error(error: ServeError) -> EngineError {
    let message = error.to_string();
    let told = match &error {
        ServeError::Unguarded { .. } => EngineError::new(ErrorCode::Unguarded, message)
            .hint("make one with `sinew registry token create --role admin --name <you>`")
            .hint("or listen on 127.0.0.1"),
        ServeError::Bind { .. } => EngineError::new(ErrorCode::CannotListen, message)
            .hint("choose another address with --listen"),
        ServeError::Io(_) => EngineError::new(ErrorCode::ServerStopped, message),
    };
    told.caused_by(error)
}
