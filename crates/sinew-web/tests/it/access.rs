//! Who may call.

use axum::body::Body;
use axum::http::{Request, StatusCode};

use crate::support::{Server, machine};

#[tokio::test]
async fn nothing_is_told_without_the_token() {
    let server = Server::new();
    for path in ["/api/v1/skills", "/api/v1/events", "/metrics", "/api/v1/x"] {
        let bare = Request::builder().uri(path).body(Body::empty()).expect("a request");
        let answer = server.send(bare).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{path}");
        assert_eq!(answer.header("content-type"), "application/problem+json");
        assert!(answer.header("www-authenticate").starts_with("Bearer"));
    }
    let half = server.token.get(..20).expect("a part").to_owned();
    let longer = format!("{}x", server.token);
    for given in ["", "x", half.as_str(), longer.as_str()] {
        let request = Request::builder()
            .uri("/api/v1/version")
            .header("authorization", format!("Bearer {given}"))
            .body(Body::empty());
        let answer = server.send(request.expect("a request")).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{given}");
        assert!(!answer.text.contains(&server.token));
    }
    assert_eq!(server.get("/version").await.status, StatusCode::OK);
}

/// Generators of clients fetch it, and it says nothing of this machine.
#[tokio::test]
async fn the_description_of_the_api_is_open_to_read() {
    let server = Server::new();
    let bare = Request::builder().uri("/api/v1/openapi.json").body(Body::empty());
    let answer = server.send(bare.expect("a request")).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert!(!answer.text.contains(&server.token));
    let home = server.machine.path("home").display().to_string();
    assert!(!answer.text.contains(&home), "nothing of the machine is in it");
    let write = Request::builder().method("POST").uri("/api/v1/openapi.json").body(Body::empty());
    let answer = server.send(write.expect("a request")).await;
    assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test]
async fn numbers_can_be_made_public_and_nothing_else_with_them() {
    let machine = machine().file("home/.sinew/config.json5", "{metrics: {public: true}}");
    let server = Server::on(machine);
    let status = async |path: &str| {
        let bare = Request::builder().uri(path).body(Body::empty()).expect("a request");
        server.send(bare).await.status
    };
    assert_eq!(status("/metrics").await, StatusCode::OK);
    assert_eq!(status("/api/v1/skills").await, StatusCode::UNAUTHORIZED);
}
