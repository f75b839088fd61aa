//! Whatever connects: the model refuses what it cannot understand, records it, and goes on.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use serde_json::json;
use sinew_loopback::SchemaRule;

use crate::{exchange, model, post};

/// What these bytes are answered, and what was recorded about them.
fn check(bytes: impl AsRef<[u8]>, status: &str, recorded: &str) {
    let model = model(SchemaRule::Strict);
    let shown =
        String::from_utf8_lossy(&bytes.as_ref()[..bytes.as_ref().len().min(80)]).into_owned();
    let answer = exchange(&model, bytes.as_ref());
    assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{shown}: {answer}");
    let strays = model.strays();
    assert!(strays.iter().any(|stray| stray.why.contains(recorded)), "{shown}: {strays:?}");
    assert!(model.requests().is_empty(), "{shown}");
    // It still answers.
    let next = post(&model, "/v1/messages", &json!({"messages": []}));
    assert!(next.starts_with("HTTP/1.1 200"), "{shown}: {next}");
}

#[test]
fn a_request_that_is_not_one_is_refused_and_recorded() {
    check("hello\r\n\r\n", "400", "not a request");
    check("GET / SPDY/3\r\n\r\n", "400", "not a request");
    check("GET / HTTP/1.1\r\nno colon\r\n\r\n", "400", "no colon");
    check("POST /v1/messages HTTP/1.1\r\ncontent-length: many\r\n\r\n", "400", "not a number");
    check("POST /v1/messages HTTP/1.1\r\ncontent-length: -1\r\n\r\n", "400", "not a number");
    check("POST /v1/messages HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n", "413", "too long");
    check(
        "POST /v1/messages HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        "400",
        "size of a chunk",
    );
    check(
        "POST /v1/messages HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n",
        "400",
        "longer than it says",
    );
    check(
        "POST /v1/messages HTTP/1.1\r\ncontent-encoding: zstd\r\ncontent-length: 2\r\n\r\n{}",
        "415",
        "encoding",
    );
    check(
        "POST /v1/messages HTTP/1.1\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\n{}",
        "400",
        "gzip",
    );
    check(format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(70_000)), "431", "too long");
    check(b"GET /\xff HTTP/1.1\r\n\r\n", "400", "not text");
}

#[test]
fn a_body_that_is_not_an_object_is_refused_in_the_providers_form() {
    for body in ["", "{", "[]", "null", "\"text\"", &"[".repeat(10_000)] {
        let request = |path: &str| {
            format!("POST {path} HTTP/1.1\r\ncontent-length: {}\r\n\r\n{body}", body.len())
        };
        for path in ["/v1/messages", "/v1/responses", "/v1/chat/completions", "/m:generateContent"]
        {
            check(request(path), "400", "not a JSON object");
        }
    }
    check("POST /elsewhere HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}", "404", "no model");
}

#[test]
fn another_host_is_not_reached() {
    check("CONNECT api.example.com:443 HTTP/1.1\r\n\r\n", "403", "another host");
    check("GET http://example.com/ HTTP/1.1\r\n\r\n", "403", "another host");
    let model = model(SchemaRule::Strict);
    exchange(&model, b"CONNECT api.example.com:443 HTTP/1.1\r\n\r\n");
    assert_eq!(model.strays()[0].target, "api.example.com:443");
}

#[test]
fn chunks_and_gzip_are_understood() {
    let model = model(SchemaRule::Strict);
    let chunked = "POST /v1/messages HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n\
                   d;x=1\r\n{\"messages\":[\r\n2\r\n]}\r\n0\r\ntrailer: 1\r\n\r\n";
    assert!(exchange(&model, chunked.as_bytes()).starts_with("HTTP/1.1 200"));
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(b"{\"messages\":[]}").expect("memory");
    let packed = encoder.finish().expect("memory");
    let mut request = format!(
        "POST /v1/messages HTTP/1.1\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
        packed.len()
    )
    .into_bytes();
    request.extend(packed);
    assert!(exchange(&model, &request).starts_with("HTTP/1.1 200"));
    let waits = "POST /v1/messages HTTP/1.1\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n{}";
    assert!(exchange(&model, waits.as_bytes()).starts_with("HTTP/1.1 100"));
    assert_eq!(model.requests().len(), 3);
}

/// JSON of any shape, in the places where a request has lists and texts.
fn shapes() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|value| json!(value)),
        any::<i64>().prop_map(|value| json!(value)),
        "[a-z_]{0,12}".prop_map(|value| json!(value)),
    ];
    let keys = prop::sample::select(vec![
        "tools",
        "name",
        "messages",
        "content",
        "type",
        "text",
        "role",
        "input",
        "output",
        "parts",
        "contents",
        "function",
        "parameters",
        "input_schema",
        "functionDeclarations",
        "system",
        "functionResponse",
        "response",
        "namespace",
        "stream",
        "tool_result",
        "systemInstruction",
    ]);
    leaf.prop_recursive(5, 64, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(|items| json!(items)),
            prop::collection::vec((keys.clone(), inner), 0..6).prop_map(|fields| {
                let fields = fields.into_iter().map(|(key, value)| (key.to_owned(), value));
                serde_json::Value::Object(fields.collect())
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_leave_it_standing(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let model = model(SchemaRule::Strict);
        exchange(&model, &bytes);
        let next = post(&model, "/v1/responses", &json!({}));
        prop_assert!(next.starts_with("HTTP/1.1 200"));
    }

    #[test]
    fn any_json_is_answered(body in shapes(), path in prop::sample::select(vec![
        "/v1/messages", "/v1/responses", "/v1/chat/completions", "/m:streamGenerateContent?alt=sse",
    ])) {
        let model = model(SchemaRule::Strict);
        let answer = post(&model, path, &body);
        prop_assert!(answer.starts_with("HTTP/1.1 200") || answer.starts_with("HTTP/1.1 400"));
        for request in model.requests() {
            // Reading it cannot fail either.
            let _ = (request.tools(), request.texts(), request.chars());
        }
    }
}
