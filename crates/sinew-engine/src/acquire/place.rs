//! Candidates on their way: fetched where nobody sees them, shown, put in place, taken away.

use std::path::PathBuf;

use sinew_catalog::{Cause, Entry};
use sinew_cortex::acquire::{Act, Event, Offer, Run, Staged, State};
use sinew_cortex::explain::Mode;
use sinew_cortex::reflex::is_forbidden;

use super::effects;
use super::flow::{Drive, Next};
use super::host::Told;
use super::market::{Fetched, Order, Wanted};
use super::show::{self, Shown};
use crate::{Error, ErrorKind};

impl Drive<'_> {
    /// Fetches and scans candidates. One that cannot be had is told of where it is shown.
    pub(super) fn fetch(&mut self, run: &Run, slugs: &[String]) -> Event {
        self.shown = false;
        let mut results = Vec::new();
        for slug in slugs {
            let Some(offer) = run.candidates.iter().find(|offer| offer.slug == *slug) else {
                continue;
            };
            let fetched = self.fetch_one(run, offer).map_err(|error| error.message);
            results.push((slug.clone(), fetched));
        }
        Event::Fetched(results)
    }

    fn fetch_one(&mut self, run: &Run, offer: &Offer) -> Result<Staged, Error> {
        if let Some(placed) = self.market.installed(&offer.slug)?
            && placed.run.as_deref() != Some(run.id.as_str())
        {
            let message = "a skill of that name is installed already";
            return Err(Error::new(ErrorKind::Refused, "exists", message));
        }
        let reference = match offer.reference.is_empty() {
            true => self.remembered_reference(offer)?.unwrap_or_default(),
            false => offer.reference.clone(),
        };
        let fetched = self.market.fetch(&Wanted {
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
            return Err(Error::new(ErrorKind::Refused, "not-read-only", message));
        }
        let staged = Staged {
            version: fetched.version.clone(),
            digest,
            verdict: fetched.scan.verdict,
            side_effects,
            skill_md_chars: fetched.skill_md.chars().count() as u64,
            skill_md_bytes: fetched.skill_md.len() as u64,
        };
        self.fetched.insert(offer.slug.clone(), fetched);
        Ok(staged)
    }

    /// What was fetched of a candidate: in this process, or again with the version that was shown.
    pub(super) fn ensure_fetched(&mut self, offer: &Offer) -> Result<Fetched, Error> {
        if let Some(fetched) = self.fetched.get(&offer.slug) {
            return Ok(fetched.clone());
        }
        let reference = self.remembered_reference(offer)?.unwrap_or_default();
        let fetched = self.market.fetch(&Wanted {
            slug: &offer.slug,
            reference: &reference,
            source: &offer.source,
            version: offer.staged.as_ref().map(|staged| staged.version.as_str()),
        })?;
        self.fetched.insert(offer.slug.clone(), fetched.clone());
        Ok(fetched)
    }

    /// Shows the candidates, once for each time that they were fetched.
    pub(super) fn present(&mut self, run: &Run) -> Result<(), Error> {
        if std::mem::replace(&mut self.shown, true) {
            return Ok(());
        }
        let shown = self.shown_candidates(run)?;
        let mode = match run.mode {
            Mode::Standard => "standard",
            Mode::Reflex => "reflex",
        };
        self.host.told(&Told::Candidates { candidates: &shown, mode });
        Ok(())
    }

    pub(super) fn shown_candidates(&self, run: &Run) -> Result<Vec<Shown>, Error> {
        let known = show::known(&self.cortex, run)?;
        let shown = run.candidates.iter().map(|offer| {
            let known = known.iter().find(|view| view.slug == offer.slug);
            Shown::of(offer, self.listings.get(&offer.slug), self.fetched.get(&offer.slug), known)
        });
        Ok(shown.collect())
    }

    /// Puts the approved bytes in place, or says why they are not.
    pub(super) fn install(&mut self, run: &Run, slug: &str, digest: &str) -> Result<Event, Error> {
        match self.try_install(run, slug, digest) {
            Ok(folder) => {
                self.engine.refresh(Cause::Files);
                let version = run.current().map(Offer::version).unwrap_or_default();
                let folder = folder.display().to_string();
                self.host.told(&Told::Installed { slug, version, digest, folder });
                Ok(Event::Installed(digest.to_owned()))
            }
            Err(error) => {
                // Nothing of it stays, whatever went wrong on the way.
                self.market.uninstall(slug, &run.id)?;
                self.host.told(&Told::InstallFailed { slug, detail: &error.message });
                Ok(Event::InstallFailed(error.message))
            }
        }
    }

    fn try_install(&mut self, run: &Run, slug: &str, digest: &str) -> Result<PathBuf, Error> {
        let Some(offer) = run.current().filter(|offer| offer.slug == slug).cloned() else {
            return Err(Error::new(
                ErrorKind::No,
                "not-now",
                format!("{slug} is not the next one"),
            ));
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
        let wanted = Wanted {
            slug,
            reference: &fetched.reference,
            source: &offer.source,
            version: Some(&fetched.version),
        };
        let agreed = |consent: &&sinew_cortex::record::Consent| {
            consent.act == Act::Install && consent.digest.as_deref() == Some(digest)
        };
        let by = run.consents.iter().rfind(agreed).map(|consent| consent.who.as_str());
        let placed = self.market.install(&wanted, &Order { digest, run: &run.id, by })?;
        if placed.digest != digest {
            let message = "the installed bytes are not those that were approved";
            return Err(Error::new(ErrorKind::Refused, "integrity-mismatch", message));
        }
        Ok(placed.folder)
    }

    /// Takes away what the run installed. When it ends, whatever of its candidates is there goes: a run
    /// that was cut short while it installed does not know how far it came.
    pub(super) fn uninstall(&mut self, run: &Run, slug: Option<&str>) -> Result<Next, Error> {
        let ends = matches!(run.state, State::Release { .. });
        let all = run.candidates.iter().map(|offer| offer.slug.as_str());
        let slugs: Vec<&str> = if ends { all.collect() } else { slug.into_iter().collect() };
        for slug in slugs {
            if self.market.uninstall(slug, &run.id)? {
                self.engine.refresh(Cause::Files);
                self.host.told(&Told::Released { slug });
            }
        }
        Ok(if ends { Next::Event(Event::Uninstalled) } else { Next::Nothing })
    }

    /// The catalog's entry for what a run installed.
    pub(super) fn with_entry<T>(
        &self,
        slug: &str,
        act: impl FnOnce(&sinew_catalog::Catalog, &Entry) -> T,
    ) -> Result<Option<T>, Error> {
        let Some(placed) = self.market.installed(slug)? else { return Ok(None) };
        let snapshot = self.engine.snapshot();
        let entry = snapshot.catalog.entries.iter().find(|entry| entry.base_dir == placed.folder);
        Ok(entry.map(|entry| act(&snapshot.catalog, entry)))
    }
}
