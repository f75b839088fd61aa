//! What every command that listens reads from the configuration, and how it says that it cannot.

use sinew_engine::{Engine, EngineError};
use sinew_listener::ServeError;
use sinew_settings::ErrorCode;
use url::Url;

/// The address by which others know this machine's server, where one is configured.
pub(crate) fn public_url_of(engine: &Engine) -> Result<Option<Url>, EngineError> {
    origin("publicUrl", engine.config().serve.public_url.as_deref())
}

/// A configured origin below `serve`.
pub(crate) fn origin(key: &str, configured: Option<&str>) -> Result<Option<Url>, EngineError> {
    let configured = configured.filter(|text| !text.is_empty());
    configured.map(|text| public_url(key, text)).transpose()
}

/// Requests that one client of another machine may send in a second.
pub(crate) fn per_second_of(engine: &Engine) -> Result<Option<u32>, EngineError> {
    engine.config().check("serve.ratePerSecond").map_err(|error| {
        EngineError::new(ErrorCode::BadSetting, format!("{error}; 0 for any number"))
    })?;
    Ok(Some(engine.config().serve.rate_per_second).filter(|rate| *rate > 0))
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
        let text = format!("serve.{key} is not a valid origin: {text}");
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
