//! The style sheet, the script and the icon, carried in the program.

use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::IntoResponse;

fn file(kind: &'static str, text: &'static str) -> impl IntoResponse {
    // They change with the program alone, which a browser cannot know: it asks again after a while.
    ([(CONTENT_TYPE, kind), (CACHE_CONTROL, "private, max-age=300")], text)
}

pub(super) async fn style() -> impl IntoResponse {
    file("text/css; charset=utf-8", include_str!("../../assets/style.css"))
}

pub(super) async fn script() -> impl IntoResponse {
    file("text/javascript; charset=utf-8", include_str!("../../assets/app.js"))
}

pub(super) async fn icon() -> impl IntoResponse {
    file("image/svg+xml", include_str!("../../assets/icon.svg"))
}
