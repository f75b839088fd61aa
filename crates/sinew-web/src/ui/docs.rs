//! The book below `/docs`: the same files as `sinew docs --out` writes. It is no secret, so it needs no
//! visitor.

use axum::extract::Path;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use sinew_settings::ErrorCode;

use super::frame::PageError;
use crate::api::Problem;
use crate::book::Book;

/// The first page.
pub(super) async fn first() -> Result<Response, PageError> {
    answer("")
}

/// One of its files.
pub(super) async fn file(Path(path): Path<String>) -> Result<Response, PageError> {
    answer(&path)
}

fn answer(path: &str) -> Result<Response, PageError> {
    match Book.file(path) {
        Some(file) => Ok(([(CONTENT_TYPE, file.media_type)], file.bytes).into_response()),
        None if Book.pages().is_empty() => {
            let said = "this build carries no book: it was made from a package";
            Err(PageError(
                Problem::new(ErrorCode::UnknownRoute, said)
                    .hint("`sinew help <command>` and `sinew man` say what each command does"),
            ))
        }
        None => Err(PageError(
            Problem::new(ErrorCode::UnknownRoute, "the book has no such page")
                .hint("/docs/ lists every page"),
        )),
    }
}
