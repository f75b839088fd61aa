//! What was installed from registries, what is newer there, and what waits for approval.

use askama::Template;
use axum::extract::{Query, State};
use axum::response::Redirect;
use serde::Deserialize;
use sinew_catalog::CatalogEntry;
use sinew_engine::hub::{
    HubOverrides, InstallTarget, NameMatching, RegistryQuery as Wanted, SearchSources,
    UpdateResult, UpdateStatus, VersionDiff, WorkdirSkill as Installed,
};
use sinew_settings::Actor;

use super::approvals::ApprovalCard;
use super::diff;
use super::frame::{FormResult, HtmlPage, PageFrame, PageResult, PageVisitor, SignedForm};
use super::skills::verdict_chip;
use super::text::{block, line, path_segment, short};
use crate::api::{DeferredApprover, InstalledSkills, install_with_approval, update_with_approval};
use crate::app::{PendingInstall, WebApp, WebContext};

/// Rows of a search.
const ROWS: usize = 20;
/// Installed skills on a page.
const INSTALLED: usize = 50;
/// Skills whose updates are looked up at once; each is a request to a registry.
const MAX_LOOKED: usize = 40;
/// Lines of a change that are shown; the rest is what `sinew update --dry-run` prints.
const MAX_LINES: usize = 60;
/// Bytes of a lock file that are shown.
const MAX_LOCK: usize = 8_000;
/// Names of each kind that are shown for one change.
const MAX_NAMES: usize = 12;

#[derive(Debug, Default, Deserialize)]
pub(super) struct HubPageQuery {
    #[serde(default)]
    q: String,
    /// Whether registries are asked for newer versions.
    #[serde(default)]
    updates: String,
    /// Of what is installed.
    #[serde(default)]
    page: usize,
}

#[derive(Template)]
#[template(path = "hub.html")]
struct HubPage {
    frame: PageFrame,
    q: String,
    found: Option<HubSearchPanel>,
    rows: Vec<InstalledRow>,
    updates: Option<UpdatesPanel>,
    installed: usize,
    previous: Option<String>,
    next: Option<String>,
    waiting: Vec<ApprovalCard>,
    more_waiting: usize,
    locks: Vec<LockFileCard>,
}

/// A lock file, as it is written.
struct LockFileCard {
    place: &'static str,
    path: String,
    text: String,
    cut: bool,
}

/// The lock files that there are.
fn locks(look: &WebContext) -> Vec<LockFileCard> {
    let places = [InstallTarget::Workspace, InstallTarget::Managed];
    let found = places.into_iter().filter_map(|place| {
        let path = look.engine.hub().workdir(place).lock_path();
        let written = std::fs::read(&path).ok()?;
        let shown = String::from_utf8_lossy(&written[..written.len().min(MAX_LOCK)]);
        Some(LockFileCard {
            place: place_name(place),
            path: line(&path.to_string_lossy()),
            text: block(&shown),
            cut: written.len() > MAX_LOCK,
        })
    });
    found.collect()
}

/// The newer versions that registries have.
struct UpdatesPanel {
    found: Vec<UpdateRow>,
    current: usize,
    /// Skills whose updates could not be looked up, and why.
    problems: Vec<(String, String)>,
    left: usize,
}

struct UpdateRow {
    key: String,
    path: String,
    place: &'static str,
    from: String,
    to: String,
    /// What it can do now and could not before.
    gained: Vec<String>,
    lost: Vec<String>,
    steering: Vec<String>,
    findings: Vec<String>,
    files: String,
    diff: Vec<diff::DiffLine>,
    more_lines: usize,
}

struct HubSearchPanel {
    rows: Vec<HubCandidateRow>,
    notes: Vec<String>,
}

struct HubCandidateRow {
    reference: String,
    version: String,
    summary: String,
    reviewed: bool,
    verdict: String,
    class: &'static str,
    history: String,
}

struct InstalledRow {
    key: String,
    path: String,
    place: &'static str,
    status: &'static str,
    class: &'static str,
    version: String,
    from: String,
    digest: String,
    verdict: Option<(&'static str, &'static str)>,
    note: String,
    pinned: bool,
}

/// The catalog's entry for an installed skill, whose folder may have another name.
fn entry_of<'l>(look: &'l WebContext, found: &Installed) -> Option<&'l CatalogEntry> {
    let mut entries = look.snapshot.catalog.entries.iter();
    entries.find(|entry| entry.file_path.parent() == Some(found.path.as_path()))
}

/// The part of an address that leads to an installed skill.
fn address(look: &WebContext, found: &Installed) -> String {
    path_segment(entry_of(look, found).map_or(&found.key, |entry| &entry.name))
}

fn row(look: &WebContext, found: &Installed, place: &'static str) -> InstalledRow {
    let entry = entry_of(look, found);
    let note = found.note.as_deref().or(found.pin_reason.as_deref()).unwrap_or_default();
    InstalledRow {
        key: line(&found.key),
        path: address(look, found),
        place,
        status: found.status,
        class: match found.status {
            "ok" => "good",
            "pinned" => "info",
            "extraneous" | "upstream-gone" => "warn",
            _ => "bad",
        },
        version: line(found.version.as_deref().unwrap_or_default()),
        from: found.source.as_ref().map(|source| line(source.place())).unwrap_or_default(),
        digest: found.digest.as_deref().map(short).unwrap_or_default(),
        verdict: entry.and_then(|entry| entry.scan.as_ref()).map(|scan| verdict_chip(scan.verdict)),
        note: line(note),
        pinned: found.pinned,
    }
}

/// Asks the registries that skills came from for newer versions. Nothing is changed.
fn updates(look: &WebContext, listing: &InstalledSkills) -> UpdatesPanel {
    let mut asked = UpdatesPanel { found: Vec::new(), current: 0, problems: Vec::new(), left: 0 };
    let own = listing.workspace.iter().map(|row| (row, InstallTarget::Workspace));
    let all = own.chain(listing.managed.iter().map(|row| (row, InstallTarget::Managed)));
    let all: Vec<_> = all.filter(|(row, _)| row.version.is_some() && !row.pinned).collect();
    asked.left = all.len().saturating_sub(MAX_LOOKED);
    for (row, place) in all.into_iter().take(MAX_LOOKED) {
        let mut approver = DeferredApprover::new(&look.engine, Actor::on_page());
        match update_with_approval(look, &row.key, place, true, &mut approver) {
            Ok(updated) if updated.status == UpdateStatus::Available => {
                asked.found.push(newer(&updated, address(look, row), place));
            }
            Ok(_) => asked.current += 1,
            Err(error) => asked.problems.push((line(&row.key), line(&error.message))),
        }
    }
    asked
}

fn newer(updated: &UpdateResult, path: String, place: InstallTarget) -> UpdateRow {
    let none = VersionDiff::default();
    let diff = updated.diff.as_ref().unwrap_or(&none);
    let names = |all: &[String]| {
        let mut shown: Vec<String> = all.iter().take(MAX_NAMES).map(|name| line(name)).collect();
        if all.len() > MAX_NAMES {
            shown.push(format!("{} more", all.len() - MAX_NAMES));
        }
        shown
    };
    let findings = diff.findings.iter().take(MAX_NAMES).map(|found| {
        let weight = found.severity.as_str();
        line(&format!("{weight} {} at {}:{}", found.rule, found.file, found.line))
    });
    let mut lines = diff::lines(&diff.text);
    let more_lines = lines.len().saturating_sub(MAX_LINES);
    lines.truncate(MAX_LINES);
    UpdateRow {
        key: line(&updated.key),
        path,
        place: place_name(place),
        from: line(&updated.from),
        to: line(&updated.to),
        gained: names(&diff.gained),
        lost: names(&diff.lost),
        steering: names(&diff.front_matter),
        findings: findings.collect(),
        files: format!(
            "{} new, {} changed, {} gone",
            diff.added.len(),
            diff.changed.len(),
            diff.removed.len()
        ),
        diff: lines,
        more_lines,
    }
}

fn place_name(place: InstallTarget) -> &'static str {
    match place {
        InstallTarget::Workspace => "workspace",
        InstallTarget::Managed => "managed",
    }
}

/// The place that a form names.
fn place_of(form: &SignedForm) -> InstallTarget {
    match form.text("place").as_deref() {
        Some("managed") => InstallTarget::Managed,
        _ => InstallTarget::Workspace,
    }
}

/// Searches the configured registries. One that cannot be reached is a note, not a failure.
fn search(look: &WebContext, words: &str) -> HubSearchPanel {
    let found = look.engine.hub().open(&HubOverrides::default()).and_then(|hub| {
        let wanted = Wanted {
            words: words.to_owned(),
            keywords: None,
            sources: SearchSources::default(),
            matching: NameMatching::Words,
            limit: ROWS,
        };
        look.engine.hub().search(&hub, &wanted)
    });
    let report = match found {
        Ok(report) => report,
        Err(error) => {
            return HubSearchPanel { rows: Vec::new(), notes: vec![line(&error.message)] };
        }
    };
    let rows = report.candidates.iter().take(ROWS).map(|found| {
        let candidate = &found.candidate;
        HubCandidateRow {
            reference: line(&candidate.reference),
            version: line(candidate.version.as_deref().unwrap_or_default()),
            summary: line(&candidate.summary),
            reviewed: candidate.reviewed,
            class: match candidate.verdict.as_str() {
                "clean" => "good",
                "malicious" => "bad",
                _ => "warn",
            },
            verdict: line(&candidate.verdict),
            history: match &found.history {
                Some(history) if history.blacklisted => "never offered".to_owned(),
                Some(history) => format!("{} worked, {} failed", history.success, history.fail),
                None => String::new(),
            },
        }
    });
    HubSearchPanel {
        rows: rows.collect(),
        notes: report.diagnostics.iter().map(|note| line(note)).collect(),
    }
}

pub(super) async fn show(
    State(app): State<WebApp>,
    visitor: PageVisitor,
    Query(asked): Query<HubPageQuery>,
) -> PageResult {
    let page = app.ask(move |look| {
        let listing = InstalledSkills::of(look)?;
        // A skill without an install record is the user's own.
        let ours = |found: &&Installed| found.status != "extraneous";
        let managed =
            listing.managed.iter().filter(ours).map(|found| (found, InstallTarget::Managed));
        let own =
            listing.workspace.iter().filter(ours).map(|found| (found, InstallTarget::Workspace));
        let all: Vec<(&Installed, InstallTarget)> = own.chain(managed).collect();
        let begin = asked.page.saturating_mul(INSTALLED).min(all.len());
        let rows = all.iter().skip(begin).take(INSTALLED);
        let rows: Vec<InstalledRow> =
            rows.map(|(found, place)| row(look, found, place_name(*place))).collect();
        let page = |at: usize| format!("/hub?page={at}#installed");
        let words = asked.q.trim();
        let (waiting, more_waiting) = ApprovalCard::first(&look.engine.approvals().list(true)?);
        HtmlPage::of(&HubPage {
            frame: visitor.frame(look, "hub", "Registry"),
            found: (!words.is_empty()).then(|| search(look, words)),
            q: words.to_owned(),
            updates: (!asked.updates.is_empty()).then(|| updates(look, &listing)),
            installed: all.len(),
            previous: (asked.page > 0).then(|| page(asked.page - 1)),
            next: (begin + rows.len() < all.len()).then(|| page(asked.page + 1)),
            rows,
            waiting,
            more_waiting,
            locks: locks(look),
        })
    });
    Ok(page.await?)
}

/// Removes an installed skill.
pub(super) async fn uninstall(State(app): State<WebApp>, form: SignedForm) -> FormResult {
    let (key, place) = (form.text("key").unwrap_or_default(), place_of(&form));
    app.change(move |look| {
        let hub = look.engine.hub().open(&HubOverrides { registry: None, offline: true })?;
        let (workdir, actor) = (look.engine.hub().workdir(place), Actor::on_page());
        let removed = hub.uninstall(&key, &workdir, &actor)?;
        look.engine.snapshot();
        Ok(removed)
    })
    .await?;
    Ok(Redirect::to("/hub?done=removed"))
}

/// Keeps an installed skill at its version, or allows updates again.
pub(super) async fn pin(State(app): State<WebApp>, form: SignedForm) -> FormResult {
    let (key, place) = (form.text("key").unwrap_or_default(), place_of(&form));
    let hold = form.text("free").is_none();
    app.change(move |look| {
        let hub = look.engine.hub().open(&HubOverrides { registry: None, offline: true })?;
        let (workdir, actor) = (look.engine.hub().workdir(place), Actor::on_page());
        hub.pin(&key, hold.then_some(None), &workdir, &actor)?;
        Ok(())
    })
    .await?;
    Ok(Redirect::to(if hold { "/hub?done=held" } else { "/hub?done=freed" }))
}

/// Asks for an install: it is fetched, verified and scanned, and then waits for approval.
pub(super) async fn install(State(app): State<WebApp>, form: SignedForm) -> FormResult {
    let reference = form.text("reference").unwrap_or_default().trim().to_owned();
    let done = app
        .change(move |look| {
            let mut approver = DeferredApprover::new(&look.engine, Actor::on_page());
            let place = InstallTarget::Workspace;
            match (install_with_approval(look, &reference, place, &mut approver), approver.waits) {
                (Ok(_), _) => Ok("installed"),
                (Err(_), Some(approval)) => {
                    look.app.install_later(approval, PendingInstall::New { reference, place });
                    Ok("asked")
                }
                (Err(error), None) => Err(error),
            }
        })
        .await?;
    Ok(Redirect::to(&format!("/hub?done={done}")))
}

/// Asks for an update: the newer version is fetched, verified and scanned, and waits for approval.
pub(super) async fn update(State(app): State<WebApp>, form: SignedForm) -> FormResult {
    let (key, place) = (form.text("key").unwrap_or_default(), place_of(&form));
    let done = app
        .change(move |look| {
            let mut approver = DeferredApprover::new(&look.engine, Actor::on_page());
            match (update_with_approval(look, &key, place, false, &mut approver), approver.waits) {
                (Ok(_), _) => Ok("updated"),
                (Err(_), Some(approval)) => {
                    look.app.install_later(approval, PendingInstall::Update { key, place });
                    Ok("asked")
                }
                (Err(error), None) => Err(error),
            }
        })
        .await?;
    Ok(Redirect::to(&format!("/hub?done={done}")))
}
