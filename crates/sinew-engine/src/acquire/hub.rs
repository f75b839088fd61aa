//! The market of this machine: the hub's registries and the workspace's folder of skills.

use std::cell::RefCell;
use std::collections::BTreeMap;

use sinew_guard::scan::Verdict;
use sinew_hub::digest::{FileRecord, tree_sha256};
use sinew_hub::lock::{ApprovalMethod, LockEntry, SkillRetention};
use sinew_hub::reference::parse_slug;
use sinew_hub::settings::DEFAULT_NAME;
use sinew_hub::tree::records_of;
use sinew_settings::ErrorCode;

use super::market::{
    AcquireTarget, FetchedCandidate, InstallOrder, MarketInstall, MarketListing, MarketQuery,
    MarketSearchResult, SkillMarket,
};
use crate::approval::{
    ApprovalAnswer, ApprovalContent, ApprovalFileDigest, ApprovalQuestion, ApprovalScan, Approver,
    CandidateVerdict,
};
use crate::hub::{
    Hub, HubOverrides, InstallTarget, NameMatching, PolicyHub, PreparedInstall, RegistryCandidate,
    RegistryQuery, SearchSources, ShorthandMeaning, SkillInstallRequest, SkillReference,
    VettedInstall, Workdir,
};
use crate::{Engine, EngineError, HubHandle};

/// Rows asked for of each source: three are shown, and the router finds the right one further down than
/// a registry's own order has it.
pub(crate) const ROWS: usize = 40;

/// Registries, GitHub and the workspace.
pub struct HubMarket<'e> {
    engine: &'e Engine,
    hub: PolicyHub<'e>,
    workdir: Workdir,
    /// What was fetched and waits for a yes.
    prepared: RefCell<BTreeMap<String, VettedInstall>>,
    /// What was found, by reference.
    rows: RefCell<BTreeMap<String, RegistryCandidate>>,
}

impl<'e> HubHandle<'e> {
    /// The market of this machine, with what a command line says about registries.
    pub fn market(&self, overrides: &HubOverrides) -> Result<HubMarket<'e>, EngineError> {
        Ok(HubMarket {
            engine: self.engine,
            hub: self.open(overrides)?,
            workdir: self.workdir(InstallTarget::Workspace),
            prepared: RefCell::default(),
            rows: RefCell::default(),
        })
    }
}

impl HubMarket<'_> {
    /// Resolves, fetches, verifies and scans.
    fn prepare(
        &self,
        reference: SkillReference,
        version: Option<&str>,
    ) -> Result<VettedInstall, EngineError> {
        let reference = pinned_to(reference, version)?;
        let request = SkillInstallRequest {
            retained: SkillRetention::Task,
            ..SkillInstallRequest::new(reference, "sinew acquire")
        };
        Ok(self.hub.prepare(&request, &self.workdir, &mut AbsentApprover)?)
    }

    /// The lock's entries under a name, those of runs first.
    fn entries(&self, slug: &str) -> Result<Vec<(String, LockEntry)>, EngineError> {
        self.workdir.recover(&self.engine.env)?;
        let lock = self.workdir.lock(&self.engine.env)?;
        let named = |key: &str| key.rsplit('/').next() == Some(slug);
        let mut found: Vec<_> = lock.skills.into_iter().filter(|(key, _)| named(key)).collect();
        found.sort_by_key(|(_, entry)| entry.run.is_none());
        Ok(found)
    }

    /// The key of what a run installed under a name.
    fn of_run(&self, slug: &str, run: &str) -> Result<Option<String>, EngineError> {
        let found = self.entries(slug)?.into_iter();
        Ok(found.filter(|(_, entry)| entry.run.as_deref() == Some(run)).map(|(key, _)| key).next())
    }
}

impl SkillMarket for HubMarket<'_> {
    fn search(
        &self,
        query: &MarketQuery<'_>,
        relevant: &dyn Fn(&MarketListing) -> bool,
    ) -> Result<MarketSearchResult, EngineError> {
        let keywords = query.keywords.join(" ");
        let query = RegistryQuery {
            words: query.message.to_owned(),
            keywords: (!keywords.is_empty()).then_some(keywords),
            sources: SearchSources::Usual,
            matching: NameMatching::Words,
            limit: ROWS,
        };
        let fits = |row: &RegistryCandidate| listing(row).is_some_and(|row| relevant(&row));
        let found = self.hub.search(&query, &fits)?;
        let rows = found.candidates.iter().map(|row| (row.reference.clone(), row.clone()));
        self.rows.borrow_mut().extend(rows);
        Ok(MarketSearchResult {
            listings: found.candidates.iter().filter_map(listing).collect(),
            relevant: found.relevant,
            supplemented: found.supplemented,
            problems: found.diagnostics,
        })
    }

    fn text(&self, listing: &MarketListing) -> Option<String> {
        let row = self.rows.borrow().get(&listing.reference).cloned()?;
        self.hub.skill_text(&row)
    }

    fn source_address(&self, source: &str) -> String {
        self.hub.source_address(source)
    }

    fn lookup(&self, reference: &str, version: Option<&str>) -> Result<MarketListing, EngineError> {
        let mut reference = parsed(reference)?;
        let vetted = self.prepare(reference.clone(), version)?;
        let review = vetted.review().clone();
        let mut exact = version.is_some();
        let source = match &mut reference {
            SkillReference::Registry(at) => {
                // How it is named from now on, and which version is wanted now, are two things.
                exact |= std::mem::take(&mut at.wanted) != crate::hub::RequestedVersion::Latest;
                at.registry.clone().unwrap_or_else(|| DEFAULT_NAME.to_owned())
            }
            _ => review.source.kind.as_str().to_owned(),
        };
        Ok(MarketListing {
            slug: review.key.rsplit('/').next().unwrap_or_default().to_owned(),
            reference: reference.to_string(),
            source,
            reviewed: review.reviewed,
            name: Some(review.name),
            description: review.description,
            stars: None,
            downloads: None,
            version: exact.then_some(review.version),
        })
    }

    fn fetch(&self, wanted: &AcquireTarget<'_>) -> Result<FetchedCandidate, EngineError> {
        let vetted = self.prepare(reference_of(wanted)?, wanted.version)?;
        let fetched = fetched(vetted.prepared(), wanted);
        self.prepared.borrow_mut().insert(wanted.slug.to_owned(), vetted);
        Ok(fetched)
    }

    fn install(
        &self,
        wanted: &AcquireTarget<'_>,
        order: &InstallOrder<'_>,
    ) -> Result<MarketInstall, EngineError> {
        let known = self.prepared.borrow_mut().remove(wanted.slug);
        let vetted = match known.filter(|known| known.review().digest == order.digest) {
            Some(vetted) => vetted,
            None => self.prepare(reference_of(wanted)?, wanted.version)?,
        };
        if vetted.review().digest != order.digest {
            let message = "its files are not those that were agreed to";
            return Err(EngineError::new(ErrorCode::IntegrityMismatch, message));
        }
        let vetted = vetted.for_run(order.run);
        let (by, method) = match order.by {
            Some(by) => (by, ApprovalMethod::Prompt),
            None => ("a reflex, on an earlier yes", ApprovalMethod::Policy),
        };
        let reason = Some("acquired for one task".to_owned());
        let approval = self.hub.approval(vetted.prepared(), by.to_owned(), method, reason);
        self.engine.record_install_consent(vetted.review());
        let done = self.hub.commit(self.hub.permit_install(vetted, approval)?)?;
        Ok(MarketInstall {
            digest: done.digest,
            folder: done.path,
            run: Some(order.run.to_owned()),
        })
    }

    fn installed(&self, slug: &str) -> Result<Option<MarketInstall>, EngineError> {
        if let Some((key, entry)) = self.entries(slug)?.into_iter().next() {
            let folder = self.workdir.target(&key);
            // What lies there now, and not what the lock remembers.
            let digest = records_of(&folder).map(|files| tree_sha256(&files)).unwrap_or_default();
            return Ok(Some(MarketInstall { digest, folder, run: entry.run }));
        }
        let folder = self.workdir.target(slug);
        let is_there = std::fs::symlink_metadata(&folder).is_ok();
        Ok(is_there.then(|| MarketInstall { digest: String::new(), folder, run: None }))
    }

    fn uninstall(&self, slug: &str, run: &str) -> Result<bool, EngineError> {
        let Some(key) = self.of_run(slug, run)? else { return Ok(false) };
        let permit = self.hub.permit_change(&key);
        match Hub::uninstall(&self.hub, permit, &self.workdir) {
            // It was pinned meanwhile, so it is meant to stay.
            Err(error) if matches!(error.code, ErrorCode::Pinned | ErrorCode::NotFound) => {
                Ok(false)
            }
            done => Ok(done.map(|_| true)?),
        }
    }

    fn retain(&self, slug: &str, run: &str) -> Result<(), EngineError> {
        match self.of_run(slug, run)? {
            Some(key) => {
                let permit = self.hub.permit_change(&key);
                Ok(self.hub.retain(permit, &self.workdir).map(drop)?)
            }
            None => Ok(()),
        }
    }
}

/// No person is asked while candidates are gathered: one with a risk is not a candidate.
struct AbsentApprover;

impl Approver for AbsentApprover {
    fn ask(&mut self, _question: &ApprovalQuestion<'_>) -> ApprovalAnswer {
        ApprovalAnswer::ABSENT
    }
}

fn parsed(text: &str) -> Result<SkillReference, EngineError> {
    SkillReference::parse(text, ShorthandMeaning::GitHub).map_err(|error| {
        EngineError::new(ErrorCode::BadReference, error.to_string()).caused_by(error)
    })
}

/// How the source names what is wanted; the slug where that is enough.
fn reference_of(wanted: &AcquireTarget<'_>) -> Result<SkillReference, EngineError> {
    parsed(if wanted.reference.is_empty() { wanted.slug } else { wanted.reference })
}

/// The same skill in exactly this version, where its source has versions that can be named. What has
/// none is held to its bytes by the digest.
fn pinned_to(
    reference: SkillReference,
    version: Option<&str>,
) -> Result<SkillReference, EngineError> {
    let Some(version) = version else { return Ok(reference) };
    let mut pinned = reference;
    match &mut pinned {
        SkillReference::Registry(at) => {
            at.wanted = crate::hub::RequestedVersion::Version(version.to_owned());
        }
        SkillReference::GitHub(at) => at.at = Some(version.to_owned()),
        SkillReference::Git(at) => at.at = Some(version.to_owned()),
        SkillReference::SkillsSh(_) | SkillReference::WellKnown(_) | SkillReference::Local(_) => {}
    }
    // What could not stand in a reference never reaches a source.
    parsed(&pinned.to_string())?;
    Ok(pinned)
}

/// A row of a search, under the one word that records know it by.
pub(crate) fn listing(row: &RegistryCandidate) -> Option<MarketListing> {
    let slug = match SkillReference::parse(&row.reference, ShorthandMeaning::GitHub).ok()? {
        SkillReference::Registry(at) => at.slug,
        SkillReference::SkillsSh(at) => at.slug,
        _ => row.name.trim().to_ascii_lowercase().replace([' ', '_'], "-"),
    };
    Some(MarketListing {
        slug: parse_slug(&slug).ok()?,
        reference: row.reference.clone(),
        source: row.source.clone(),
        reviewed: row.reviewed,
        name: Some(row.name.clone()),
        description: row.summary.clone(),
        stars: row.stars,
        downloads: row.downloads,
        version: None,
    })
}

fn fetched(prepared: &PreparedInstall, wanted: &AcquireTarget<'_>) -> FetchedCandidate {
    let review = &prepared.review;
    let skill_md = prepared.tree.get(sinew_catalog::SKILL_FILE);
    let files = prepared.tree.records();
    let file = |file: FileRecord| ApprovalFileDigest {
        path: file.path,
        sha256: file.sha256,
        size: file.size,
    };
    let digest = Some(review.digest.clone());
    let listed = ApprovalContent::from_file_digests(files.into_iter().map(file));
    FetchedCandidate {
        version: review.version.clone(),
        // The hub's own digest: it is what the lock holds.
        content: ApprovalContent { digest, ..listed },
        scan: ApprovalScan {
            // What a person accepted of these bytes counts.
            verdict: match review.verdict {
                Verdict::Allow => CandidateVerdict::Allow,
                Verdict::Warn => CandidateVerdict::Warn,
                Verdict::Block => CandidateVerdict::Block,
            },
            ..ApprovalScan::of(&prepared.report)
        },
        capabilities: review.capabilities.clone(),
        skill_md: skill_md
            .map(|file| String::from_utf8_lossy(&file.bytes).into_owned())
            .unwrap_or_default(),
        reference: match wanted.reference.is_empty() {
            true => wanted.slug.to_owned(),
            false => wanted.reference.to_owned(),
        },
    }
}
