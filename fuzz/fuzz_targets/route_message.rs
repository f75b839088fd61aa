//! Any bytes as a message: routing never panics, its parts add up, and it says the same twice.
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use sinew_route::{RouteContext, RouteDocument, Router, RouterConfig, RouterModels, UserMessage};

fn router() -> &'static Router {
    static ROUTER: OnceLock<Router> = OnceLock::new();
    ROUTER.get_or_init(|| {
        let skills = [
            RouteDocument::from_description("pdf", "pdf-tools", "Split, merge and rotate PDF files"),
            RouteDocument::from_description("img", "image-tools", "Resize pictures. Do not use for video."),
            RouteDocument::from_description("wx", "weather", "Forecasts: rain, wind, temperature"),
        ];
        Router::build(&skills, RouterModels::embedded().without_encoder(), RouterConfig::default()).0
    })
}

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let message = UserMessage::from_user(&text);
    let result = router().route(&message, &RouteContext::default());
    for one in &result.matches {
        assert!((one.parts.sum() - one.score).abs() < 1e-6);
        assert!((0.0..=1.0).contains(&one.probability));
    }
    let again = router().route(&message, &RouteContext::default());
    assert_eq!(result.matches, again.matches);
});
