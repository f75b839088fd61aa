//! Candidates on their way: fetched where no catalog sees them, shown, put in place, taken away.

use std::path::PathBuf;

use sinew_catalog::{CatalogEntry, RefreshCause};
use sinew_cortex::acquire::{
    AcquireCandidate, AcquireEvent, AcquireRun, AcquireState, ConsentAct, GONE, StagedCandidate,
};
use sinew_cortex::explain::PlanMode;
use sinew_cortex::reflex::is_forbidden;
use sinew_settings::ErrorCode;

use super::candidate_summary::{self, CandidateSummary};
use super::effects;
use super::flow::{AcquireDriver, EffectFollowUp};
use super::host::AcquireProgress;
use super::market::{AcquireTarget, FetchedCandidate, InstallOrder};
use crate::EngineError;

impl AcquireDriver<'_> {
    /// Fetches and scans candidates. One that cannot be had is told of where it is shown.
    pub(super) fn fetch(&mut self, run: &AcquireRun, slugs: &[String]) -> AcquireEvent {
        self.shown = false;
        let mut results = Vec::new();
        for slug in slugs {
            let Some(offer) = run.candidates.iter().find(|offer| offer.slug == *slug) else {
                continue;
            };
            let told = |error: EngineError| match error.code {
                ErrorCode::NotFound | ErrorCode::Gone => GONE.to_owned(),
                _ => error.to_string(),
            };
            let fetched = self.fetch_one(run, offer).map_err(told);
            results.push((slug.clone(), fetched));
        }
        AcquireEvent::Fetched(results)
    }

    fn fetch_one(
        &mut self,
        run: &AcquireRun,
        offer: &AcquireCandidate,
    ) -> Result<StagedCandidate, EngineError> {
        if let Some(placed) = self.market.installed(&offer.slug)?
            && placed.run.as_deref() != Some(run.id.as_str())
        {
            let message = "a skill of that name is installed already";
            return Err(EngineError::new(ErrorCode::Exists, message));
        }
        let reference = match offer.reference.is_empty() {
            true => self.remembered_reference(offer)?.unwrap_or_default(),
            false => offer.reference.clone(),
        };
        let fetched = self.market.fetch(&AcquireTarget {
            slug: &offer.slug,
            reference: &reference,
            source: &offer.source,
            version: offer.wanted.as_deref(),
        })?;
        self.remember_reference(offer, &fetched.reference)?;
        let digest = fetched.content.digest.clone().unwrap_or_default();
        let side_effects = effects::tags(&fetched.capabilities, &fetched.skill_md);
        if run.read_only && side_effects.iter().any(|tag| is_forbidden(tag)) {
            let message = "it changes things, and the task only reads";
            return Err(EngineError::new(ErrorCode::NotReadOnly, message));
        }
        let staged = StagedCandidate {
            version: fetched.version.clone(),
            digest,
            verdict: fetched.scan.verdict,
            side_effects,
            skill_md_chars: fetched.skill_md.chars().count() as u64,
            skill_md_bytes: fetched.skill_md.len() as u64,
            shown: candidate_summary::staged_summary(&fetched),
        };
        self.fetched.insert(offer.slug.clone(), fetched);
        Ok(staged)
    }

    /// What was fetched of a candidate: in this process, or again with the version that was shown.
    pub(super) fn ensure_fetched(
        &mut self,
        offer: &AcquireCandidate,
    ) -> Result<FetchedCandidate, EngineError> {
        if let Some(fetched) = self.fetched.get(&offer.slug) {
            return Ok(fetched.clone());
        }
        let reference = self.remembered_reference(offer)?.unwrap_or_default();
        let fetched = self.market.fetch(&AcquireTarget {
            slug: &offer.slug,
            reference: &reference,
            source: &offer.source,
            version: offer.staged.as_ref().map(|staged| staged.version.as_str()),
        })?;
        self.fetched.insert(offer.slug.clone(), fetched.clone());
        Ok(fetched)
    }

    /// Shows the candidates, once for each time that they were fetched.
    pub(super) fn present(&mut self, run: &AcquireRun) -> Result<(), EngineError> {
        if std::mem::replace(&mut self.shown, true) {
            return Ok(());
        }
        let shown = self.shown_candidates(run)?;
        let mode = match run.mode {
            PlanMode::Standard => "standard",
            PlanMode::Reflex => "reflex",
        };
        self.host.on_progress(&AcquireProgress::Candidates { candidates: &shown, mode });
        Ok(())
    }

    pub(super) fn shown_candidates(
        &self,
        run: &AcquireRun,
    ) -> Result<Vec<CandidateSummary>, EngineError> {
        let known = candidate_summary::known_candidates(&self.cortex, run)?;
        let shown = run.candidates.iter().map(|offer| {
            let known = known.iter().find(|view| view.slug == offer.slug);
            CandidateSummary::of(
                offer,
                self.market.source_address(&offer.source),
                self.listings.get(&offer.slug),
                known,
                &self.engine.env,
            )
        });
        Ok(shown.collect())
    }

    /// Puts the approved bytes in place, or says why they are not.
    pub(super) fn install(
        &mut self,
        run: &AcquireRun,
        slug: &str,
        digest: &str,
    ) -> Result<AcquireEvent, EngineError> {
        match self.try_install(run, slug, digest) {
            Ok(folder) => {
                self.engine.refresh(RefreshCause::Files);
                let version = run.current().map(AcquireCandidate::version).unwrap_or_default();
                let folder = folder.display().to_string();
                self.host.on_progress(&AcquireProgress::Installed {
                    slug,
                    version,
                    digest,
                    folder,
                });
                Ok(AcquireEvent::Installed(digest.to_owned()))
            }
            Err(error) => {
                // Nothing of it stays, whatever went wrong on the way.
                self.market.uninstall(slug, &run.id)?;
                self.host
                    .on_progress(&AcquireProgress::InstallFailed { slug, detail: &error.message });
                Ok(AcquireEvent::InstallFailed(error.to_string()))
            }
        }
    }

    fn try_install(
        &mut self,
        run: &AcquireRun,
        slug: &str,
        digest: &str,
    ) -> Result<PathBuf, EngineError> {
        let Some(offer) = run.current().filter(|offer| offer.slug == slug).cloned() else {
            return Err(EngineError::new(ErrorCode::NotNow, format!("{slug} is not the next one")));
        };
        if let Some(placed) = self.market.installed(slug)?
            && placed.run.as_deref() == Some(run.id.as_str())
            && placed.digest == digest
        {
            return Ok(placed.folder);
        }
        let fetched = self.ensure_fetched(&offer)?;
        // A reflex stands on a yes to these very bytes that was given before.
        if run.covers(&offer) {
            self.use_install_approval(run, slug, &fetched)?;
        }
        let wanted = AcquireTarget {
            slug,
            reference: &fetched.reference,
            source: &offer.source,
            version: Some(&fetched.version),
        };
        let agreed = |consent: &&sinew_cortex::record::ConsentRecord| {
            consent.act == ConsentAct::Install && consent.digest.as_deref() == Some(digest)
        };
        let by = run.consents.iter().rfind(agreed).map(|consent| consent.who.as_str());
        let placed = self.market.install(&wanted, &InstallOrder { digest, run: &run.id, by })?;
        if placed.digest != digest {
            let message = "the installed bytes are not those that were approved";
            return Err(EngineError::new(ErrorCode::IntegrityMismatch, message));
        }
        // What it says of itself decides later which tasks it is recalled for.
        self.cortex.keep_text(&offer.source, slug, &fetched.skill_md)?;
        Ok(placed.folder)
    }

    /// Takes away what the run installed. When it ends, whatever of its candidates is there goes: a run
    /// that was cut short while it installed does not know how far it came.
    pub(super) fn uninstall(
        &mut self,
        run: &AcquireRun,
        slug: Option<&str>,
    ) -> Result<EffectFollowUp, EngineError> {
        let ends = matches!(run.state, AcquireState::Release { .. });
        let all = run.candidates.iter().map(|offer| offer.slug.as_str());
        let slugs: Vec<&str> = if ends { all.collect() } else { slug.into_iter().collect() };
        for slug in slugs {
            if self.market.uninstall(slug, &run.id)? {
                self.engine.refresh(RefreshCause::Files);
                self.host.on_progress(&AcquireProgress::Released { slug });
            }
        }
        Ok(if ends {
            EffectFollowUp::Event(AcquireEvent::Uninstalled)
        } else {
            EffectFollowUp::Nothing
        })
    }

    /// The catalog's entry for what a run installed.
    pub(super) fn with_entry<T>(
        &self,
        slug: &str,
        act: impl FnOnce(&sinew_catalog::Catalog, &CatalogEntry) -> T,
    ) -> Result<Option<T>, EngineError> {
        let Some(placed) = self.market.installed(slug)? else { return Ok(None) };
        let snapshot = self.engine.snapshot();
        let entry = snapshot.catalog.entries.iter().find(|entry| entry.base_dir == placed.folder);
        Ok(entry.map(|entry| act(&snapshot.catalog, entry)))
    }
}
