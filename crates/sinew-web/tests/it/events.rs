//! What happens, as it happens.

use std::time::Duration;

use axum::body::Body;
use axum::http::StatusCode;
use axum::response::Response;
use http_body_util::BodyExt as _;
use serde_json::json;
use tower::ServiceExt as _;

use crate::support::Server;

async fn listen(server: &Server, query: &str, last: Option<&str>) -> Response {
    let mut request = server.request("GET", &format!("/api/v1/events{query}"));
    if let Some(last) = last {
        request = request.header("last-event-id", last);
    }
    let request = request.body(Body::empty()).expect("a request");
    server.router.clone().oneshot(request).await.expect("an answer")
}

/// Reads until the text holds `wanted`.
async fn read_until(body: &mut Body, wanted: &str) -> String {
    let mut text = String::new();
    while !text.contains(wanted) {
        let frame = tokio::time::timeout(Duration::from_secs(20), body.frame());
        let frame = frame.await.unwrap_or_else(|_| panic!("waited for {wanted} in {text}"));
        let data = frame.expect("more to come").expect("a frame").into_data().expect("data");
        text.push_str(&String::from_utf8_lossy(&data));
    }
    text
}

#[tokio::test]
async fn open_streams_get_events() {
    let server = Server::new();
    server.app.watch();
    let mut body = listen(&server, "", None).await.into_body();
    server.post("/route", &json!({"message": "release notes"})).await;
    let heard = read_until(&mut body, "route.decided").await;
    assert!(heard.contains("id: 1") && !heard.contains("release notes\""), "{heard}");
    let text = "---\nname: fresh\ndescription: Something new\n---\n";
    server.machine.write("work/skills/fresh/SKILL.md", text);
    let heard = read_until(&mut body, "catalog.changed").await;
    assert!(heard.contains("\"added\":[\"fresh\"]"), "{heard}");
}

/// Changes by another process reach clients too, because the store is followed, not the requests.
#[tokio::test]
async fn open_streams_get_the_changes_of_other_processes() {
    let server = Server::new();
    server.app.watch();
    let mut body =
        listen(&server, "?kinds=proposal.created,outcome.recorded", None).await.into_body();
    // The follower finds its place with the first call.
    tokio::time::sleep(Duration::from_millis(300)).await;
    let other = Server::on_machine_of(&server);
    let draft = json!({"skillName": "standup", "description": "The standup", "body": "- Ask"});
    assert_eq!(other.post("/proposals", &draft).await.status, StatusCode::CREATED);
    let heard = read_until(&mut body, "proposal.created").await;
    assert!(heard.contains("standup"), "{heard}");
}

/// Nothing is replayed: a client that comes back is told to load again.
#[tokio::test]
async fn a_client_that_comes_back_is_told_to_load_again() {
    let server = Server::new();
    let mut body = listen(&server, "", Some("1")).await.into_body();
    assert!(read_until(&mut body, "reset").await.contains("event: reset"));
}

/// A listener of another machine.
async fn listen_from(server: &Server, last: u8) -> Response {
    let peer = sinew_listener::PeerAddress(([10, 0, 0, last], 4000).into());
    let request = server.request("GET", "/api/v1/events").extension(peer);
    let request = request.body(Body::empty()).expect("a request");
    server.router.clone().oneshot(request).await.expect("an answer")
}

#[tokio::test]
async fn a_client_has_its_share_of_streams_and_others_have_theirs() {
    let server = Server::new();
    let mut listeners = Vec::new();
    for _ in 0..16 {
        let response = listen_from(&server, 1).await;
        assert_eq!(response.status(), StatusCode::OK);
        listeners.push(response);
    }
    assert_eq!(listen_from(&server, 1).await.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(listen_from(&server, 2).await.status(), StatusCode::OK, "another client");
    listeners.pop();
    assert_eq!(listen_from(&server, 1).await.status(), StatusCode::OK);
    assert_eq!(listen(&server, "?kinds=odd", None).await.status(), StatusCode::BAD_REQUEST);
}
