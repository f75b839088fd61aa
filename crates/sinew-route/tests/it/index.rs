//! The index file: reused if nothing changed, refused if it is damaged.

use std::sync::Arc;

use sinew_route::{
    DegradedKind, DocumentKey, IndexBuildCounts, IndexError, RouteContext, RouteDocument,
    RouteIndex, Router, RouterConfig, RouterModels, UserMessage,
};

use crate::support::{ask, corpus_router, corpus_skills, has_models, json, models, names};

#[test]
fn only_an_edited_skill_is_read_again() {
    let mut skills = corpus_skills();
    let old = corpus_router().index();
    let (same, built) = old.update(&skills, &models());
    assert_eq!(built, IndexBuildCounts { kept: skills.len(), read: 0 });
    assert_eq!(same.to_bytes(), old.to_bytes());
    assert_eq!(same.pending(), old.pending());
    let edited = skills.iter_mut().find(|one| one.name == "qr-code").expect("in the corpus");
    edited.description = "Brew espresso and steam milk with the kitchen coffee machine.".to_owned();
    edited.hash = "edited".to_owned();
    let (router, built) = corpus_router().updated(&skills);
    assert_eq!(built, IndexBuildCounts { kept: skills.len() - 1, read: 1 });
    if models().encoder.is_some() {
        assert_eq!(router.index().pending().len(), 1);
    }
    assert_eq!(names(&ask(&router, "steam some milk for an espresso"))[0], "qr-code");
}

#[test]
fn what_is_imagined_is_what_an_updated_index_answers() {
    let mut skills = corpus_skills();
    let edited = skills.iter_mut().find(|one| one.name == "qr-code").expect("in the corpus");
    *edited =
        RouteDocument::from_description("qr-code", "qr-code", "Brew espresso and steam milk.");
    let (updated, _) = corpus_router().updated(&skills);
    let long = "We had a long day and nobody slept well. ".repeat(9) + "Merge two pdf documents.";
    for text in ["steam some milk", "merge two pdf documents", "wie wird das wetter?", "", &long] {
        let message = UserMessage::from_user(text);
        let imagined =
            corpus_router().route_with_documents(&skills, &message, &RouteContext::default());
        assert_eq!(json(imagined), json(ask(&updated, text)), "{text}");
    }
}

#[test]
fn damage_is_found_and_answers_stay_right() {
    let good = corpus_router().index().to_bytes();
    let loaded = RouteIndex::load(&good).expect("what was written");
    let router = corpus_router().with_index(Arc::new(loaded));
    let text = "merge two pdf documents";
    assert_eq!(json(ask(&router, text)), json(ask(corpus_router(), text)));
    let shared = RouteIndex::open(Arc::new(good.clone())).expect("what was written");
    assert_eq!(shared.to_bytes(), good);
    assert_eq!(
        json(ask(&corpus_router().with_index(Arc::new(shared)), text)),
        json(ask(&router, text))
    );
    for cut in [0, 1, 7, 31, 300, good.len() / 2, good.len() - 1] {
        assert!(RouteIndex::load(&good[..cut]).is_err(), "cut at {cut}");
        assert!(RouteIndex::open(Arc::new(good[..cut].to_vec())).is_err(), "cut at {cut}");
    }
    for at in [40, 1_000, good.len() / 2, good.len() - 9] {
        let mut changed = good.clone();
        changed[at] ^= 0x40;
        assert!(RouteIndex::load(&changed).is_err(), "changed at {at}");
    }
    let mut other = good;
    other[8] = 99;
    assert_eq!(RouteIndex::load(&other).err(), Some(IndexError::OtherVersion { found: 99 }));
}

#[test]
fn an_index_knows_whether_it_is_current() {
    let skills = corpus_skills();
    let index = corpus_router().index();
    let key = |at: usize| DocumentKey {
        id: &skills[at].id,
        name: &skills[at].name,
        hash: &skills[at].hash,
    };
    assert!(index.holds_exactly((0..skills.len()).map(key)));
    assert!(!index.holds_exactly((0..skills.len() - 1).map(key)));
    assert!(!index.holds_exactly((0..skills.len()).rev().map(key)));
    assert!(index.fits(&models()));
    assert!(index.fits(&models().without_encoder()) && index.fits(&RouterModels::none()));
    let words = RouteIndex::build(&skills, &RouterModels::none());
    assert!(!words.fits(&models()) || models().table.is_none());
}

#[test]
fn the_first_answer_does_not_wait_for_the_encoder() {
    if !has_models() {
        return;
    }
    let (router, notices) = Router::build(&corpus_skills(), models(), RouterConfig::default());
    assert!(notices.iter().any(|one| one.kind == DegradedKind::VectorsPending));
    let early = ask(&router, "merge two pdf documents");
    assert_eq!(names(&early)[0], "pdf-tools");
    assert!(early.degraded.iter().any(|one| one.kind == DegradedKind::VectorsPending));
    let mut index = (**router.index()).clone();
    let pending = index.pending();
    let encoder = models().encoder.expect("checked");
    index.fill(&*encoder, &pending[..10], &|_| ()).expect("a local model");
    assert_eq!(index.pending().len(), pending.len() - 10);
    index.fill(&*encoder, &pending, &|_| ()).expect("a local model");
    let late = ask(&router.with_index(Arc::new(index)), "merge two pdf documents");
    assert_eq!(late.degraded, []);
    assert!(late.matches[0].parts.encoder.raw > 0.0);
}
