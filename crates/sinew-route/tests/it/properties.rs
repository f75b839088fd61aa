//! Properties that hold for any input.

use proptest::prelude::*;
use sinew_route::{
    RouteContext, RouteDecision, RouteDocument, RouteIndex, Router, RouterModels, UserMessage,
};

use crate::support::json;

fn small() -> &'static Router {
    static ROUTER: std::sync::OnceLock<Router> = std::sync::OnceLock::new();
    ROUTER.get_or_init(|| {
        let models = RouterModels::embedded().without_encoder();
        Router::build(
            &crate::support::corpus_skills(),
            models,
            sinew_route::RouterConfig::default(),
        )
        .0
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_message_gets_an_answer_that_adds_up(text in ".{0,400}") {
        let result = small().route(&UserMessage::from_user(&text), &RouteContext::default());
        for pair in result.matches.windows(2) {
            prop_assert!(pair[0].score >= pair[1].score);
            prop_assert!(pair[0].probability >= pair[1].probability);
        }
        for one in &result.matches {
            prop_assert!((0.0..=1.0).contains(&one.probability));
            prop_assert!((one.parts.sum() - one.score).abs() < 1e-6);
        }
        prop_assert!(result.offered <= result.matches.len());
        prop_assert_eq!(result.decision == RouteDecision::None, result.offered == 0);
        let again = small().route(&UserMessage::from_user(&text), &RouteContext::default());
        prop_assert_eq!(json(result), json(again));
    }

    #[test]
    fn any_document_is_indexed_and_saved(name in ".{0,40}", description in ".{0,200}", body in "(.|\n){0,400}") {
        let mut document = RouteDocument::from_description("x", &name, &description);
        document.body = body;
        let index = RouteIndex::build(&[document], &RouterModels::none());
        let loaded = RouteIndex::load(&index.to_bytes()).expect("what was written");
        prop_assert_eq!(loaded.name(0), name);
        prop_assert_eq!(loaded.to_bytes(), index.to_bytes());
    }

    #[test]
    fn any_bytes_are_refused_or_read(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        let _ = RouteIndex::load(&bytes);
        let mut with_magic = b"SNWINDEX\x02\0\0\0\0\0\0\0".to_vec();
        with_magic.extend(bytes);
        prop_assert!(RouteIndex::load(&with_magic).is_err());
    }
}

/// Replays the starting inputs of the fuzz target, and inputs that once broke it.
#[test]
fn every_seed_is_answered() {
    let seeds = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds/route_message");
    let mut count = 0;
    for seed in std::fs::read_dir(seeds).expect("seeds") {
        let bytes = std::fs::read(seed.expect("a file").path()).expect("readable");
        let text = String::from_utf8_lossy(&bytes);
        let ask = || small().route(&UserMessage::from_user(&text), &RouteContext::default());
        let result = ask();
        assert!(result.matches.iter().all(|one| (one.parts.sum() - one.score).abs() < 1e-6));
        assert_eq!(json(result), json(ask()));
        count += 1;
    }
    assert!(count >= 9, "{count} seeds");
}
