//! Remote models: requests, answers, and failures.

use std::sync::Arc;
use std::time::{Duration, Instant};

use sinew_route::{
    DegradedKind, EmbedDialect, EmbedError, EmbedTransport, Embedder, RemoteEmbedder,
    RouteDecision, RouterConfig, TextSide,
};

use crate::support::{ask, corpus_skills, models, names, router_with};

/// Answers like a server, from a hash of each text, or fails.
#[derive(Debug)]
struct Fake {
    dialect: EmbedDialect,
    dims: usize,
    fails: Option<EmbedError>,
}

impl EmbedTransport for Fake {
    fn post(&self, path: &str, body: &[u8], deadline: Duration) -> Result<Vec<u8>, EmbedError> {
        assert_eq!(path, self.dialect.path());
        if let (Some(error), true) = (&self.fails, deadline < Duration::from_secs(1)) {
            return Err(error.clone());
        }
        let request: serde_json::Value = serde_json::from_slice(body).expect("JSON");
        assert_eq!(request["model"], "nomic");
        let vectors = request["input"].as_array().expect("texts").iter().map(|text| {
            let text = text.as_str().expect("a text");
            let mut vector = vec![0.01; self.dims];
            text.to_lowercase().split(|c: char| !c.is_alphanumeric()).for_each(|word| {
                let hash =
                    word.bytes().fold(7_usize, |hash, byte| hash * 31 % 10_007 + usize::from(byte));
                vector[hash % self.dims] += 1.0;
            });
            vector
        });
        let vectors: Vec<Vec<f64>> = vectors.collect();
        let answer = match self.dialect {
            EmbedDialect::Ollama => serde_json::json!({ "embeddings": vectors }),
            EmbedDialect::OpenAi => {
                // Servers may answer out of order; `index` says which is which.
                let data = vectors.iter().enumerate().rev();
                let data: Vec<_> = data
                    .map(|(at, one)| serde_json::json!({ "index": at, "embedding": one }))
                    .collect();
                serde_json::json!({ "object": "list", "data": data })
            }
        };
        Ok(answer.to_string().into_bytes())
    }
}

fn remote(dialect: EmbedDialect, fails: Option<EmbedError>) -> Arc<dyn Embedder> {
    Arc::new(RemoteEmbedder::new("nomic", 64, dialect, Box::new(Fake { dialect, dims: 64, fails })))
}

#[test]
fn both_dialects_rank_and_are_never_sure_without_a_calibration() {
    for dialect in [EmbedDialect::OpenAi, EmbedDialect::Ollama] {
        let models = models().with_encoder(remote(dialect, None));
        let router = router_with(&corpus_skills(), models, RouterConfig::default());
        let result = ask(&router, "split, merge and rotate pages of PDF documents");
        assert_eq!(names(&result)[0], "pdf-tools");
        assert_ne!(result.decision, RouteDecision::Match);
        if router.config().calibrations.sets.is_empty() {
            continue;
        }
        assert!(
            result.degraded.iter().any(|one| one.kind == DegradedKind::MissingCalibration),
            "{:?}",
            result.degraded
        );
        assert!(result.model.ends_with("remote:nomic:64"));
    }
}

#[test]
fn a_remote_model_that_is_down_does_not_stop_the_answer() {
    let errors = [
        EmbedError::Timeout(Duration::from_millis(300)),
        EmbedError::Unreachable("connection refused".to_owned()),
        EmbedError::Refused { status: 500, message: "oops".to_owned() },
    ];
    for error in errors {
        let models = models().with_encoder(remote(EmbedDialect::OpenAi, Some(error.clone())));
        let router = router_with(&corpus_skills(), models, RouterConfig::default());
        let start = Instant::now();
        let result = ask(&router, "split, merge and rotate pages of PDF documents");
        assert!(start.elapsed() < Duration::from_secs(2));
        assert_eq!(names(&result)[0], "pdf-tools");
        let failed = result
            .degraded
            .iter()
            .find(|one| one.kind == DegradedKind::ModelFailed)
            .expect("a notice");
        assert!(failed.message.contains(&error.to_string()), "{}", failed.message);
        assert_eq!(result.matches[0].parts.encoder.raw, 0.0);
    }
}

#[test]
fn answers_of_another_shape_are_errors() {
    let decode = |body: &str| EmbedDialect::OpenAi.decode(body.as_bytes(), 1, Some(2));
    assert!(matches!(decode("{}"), Err(EmbedError::BadAnswer(_))));
    assert!(matches!(decode("<html>"), Err(EmbedError::BadAnswer(_))));
    assert!(matches!(decode(r#"{"data":[]}"#), Err(EmbedError::BadAnswer(_))));
    let three = decode(r#"{"data":[{"index":0,"embedding":[1,2,3]}]}"#);
    assert_eq!(three, Err(EmbedError::Dimensions { expected: 2, found: 3 }));
    let good = decode(r#"{"data":[{"index":0,"embedding":[3,4]}]}"#).expect("good");
    assert!((good[0][0] - 0.6).abs() < 1e-6);
    assert!(matches!(
        EmbedDialect::Ollama.decode(br#"{"error":"model not found"}"#, 1, None),
        Err(EmbedError::BadAnswer(_))
    ));
}

#[test]
fn a_message_is_sent_once() {
    let remote = remote(EmbedDialect::OpenAi, None);
    let first = remote.embed(&["hello"], TextSide::Message).expect("an answer");
    assert_eq!(remote.embed(&["hello"], TextSide::Message).expect("kept"), first);
}
