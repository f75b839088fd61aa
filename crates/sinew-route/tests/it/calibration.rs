//! The calibrations that the crate carries.

use sinew_route::{RouteIndex, RouterModels};

use crate::support::has_models;

#[test]
fn the_embedded_calibration_is_for_the_embedded_models() {
    if !has_models() {
        return;
    }
    let router = crate::support::corpus_router();
    let result = crate::support::ask(router, "merge two pdf documents");
    assert_eq!(
        result.calibration, result.model,
        "run the example `calibrate` after changing a model"
    );
    let small = RouterModels::embedded().without_encoder();
    let index = RouteIndex::build(&crate::support::corpus_skills(), &small);
    let router = sinew_route::Router::from_index(
        std::sync::Arc::new(index),
        small,
        sinew_route::RouterConfig::default(),
    )
    .0;
    let result = crate::support::ask(&router, "merge two pdf documents");
    assert_eq!(result.calibration, result.model);
}
