//! Models from a folder in the encoder's place.

use std::path::PathBuf;
use std::sync::Arc;

use sinew_route::{DegradedKind, RouteDecision, RouterConfig, TextEncoder};

use crate::model_folder::ModelFolder;
use crate::support::{ask, corpus_skills, has_models, models, names, router_with, skipped};

#[test]
fn a_model_from_a_folder_ranks_and_is_never_sure() {
    let encoder = Arc::new(ModelFolder::new().open().expect("a good folder"));
    let router =
        router_with(&corpus_skills(), models().with_encoder(encoder), RouterConfig::default());
    let result = ask(&router, "merge and split pdf files");
    assert!(result.model.contains("file:small:"), "{}", result.model);
    assert!(result.matches[0].parts.encoder.raw != 0.0);
    assert_ne!(result.decision, RouteDecision::Match);
    if has_models() {
        let kinds: Vec<DegradedKind> = result.degraded.iter().map(|one| one.kind).collect();
        assert_eq!(kinds, [DegradedKind::MissingCalibration]);
    }
}

/// all-MiniLM-L6-v2 as published, if `SINEW_MINILM` names its folder.
#[test]
fn the_published_minilm_ranks() {
    let Some(folder) = std::env::var_os("SINEW_MINILM").map(PathBuf::from) else {
        skipped("SINEW_MINILM does not name the folder of all-MiniLM-L6-v2");
        return;
    };
    let encoder = TextEncoder::from_folder("minilm", &|path| std::fs::read(folder.join(path)).ok())
        .expect("a good folder");
    let router = router_with(
        &corpus_skills(),
        models().with_encoder(Arc::new(encoder)),
        RouterConfig::default(),
    );
    assert_eq!(names(&ask(&router, "please join these pdf documents"))[0], "pdf-tools");
}
