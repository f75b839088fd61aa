//! What a person decides about a skill that is held back: to remove it, or to accept what was found.

use axum::extract::{Path, State};
use axum::response::Redirect;
use sinew_cortex::UtcInstant;
use sinew_engine::ScanAcceptance;
use sinew_settings::Actor;

use super::frame::{FormResult, SignedForm};
use super::text::path_segment;
use crate::app::WebApp;

/// Takes a skill out of every agent's reach.
pub(super) async fn remove(
    State(app): State<WebApp>,
    Path(name): Path<String>,
    _: SignedForm,
) -> FormResult {
    let removed = app.change(move |look| {
        let entry = look.engine.find(&look.snapshot.catalog, &name)?;
        let removed = look.engine.skills().remove(entry, &Actor::on_page())?;
        look.engine.snapshot();
        Ok(removed)
    });
    let kept = removed.await?.kept_at.is_some();
    Ok(Redirect::to(if kept { "/skills?done=set-aside" } else { "/skills?done=removed" }))
}

/// Accepts the findings that the page showed, for exactly the bytes that were scanned.
pub(super) async fn accept(
    State(app): State<WebApp>,
    Path(name): Path<String>,
    form: SignedForm,
) -> FormResult {
    let to = format!("/skills/{}?done=accepted", path_segment(&name));
    let (digest, rules) = (form.text("digest").unwrap_or_default(), form.all("rule"));
    let reason = form.text("reason").unwrap_or_default();
    app.change(move |look| {
        let quality = look.engine.quality();
        let scanned = quality.scan_skill(&look.snapshot.catalog, &name)?;
        let at = UtcInstant::from_clock(look.engine.environment().clock.now_ms()).to_string();
        for rule in rules {
            let acceptance =
                ScanAcceptance { rule, digest: digest.clone(), reason: reason.clone() };
            quality.accept_finding(&scanned, &acceptance, &Actor::on_page(), &at)?;
        }
        look.engine.snapshot();
        Ok(())
    })
    .await?;
    Ok(Redirect::to(&to))
}
