//! What other processes did: terminals, hooks and MCP servers write to the same store, so changes are
//! read from the store rather than noted by request. The catalog gets another version with each
//! change, whether the watcher or the workshop made it.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sinew_catalog::{Catalog, Snapshot};
use sinew_cortex::record::RecordBody;
use sinew_cortex::stored_body::from_stored;
use sinew_engine::Engine;
use sinew_store::{RecordSeq, Store, StreamRecord};
use sinew_workshop::Proposal;

use super::event_bus::ServerEventKind;

/// Records announced at a time; after more than that, clients load the page again anyway.
const MAX_ROWS: usize = 100;

/// How far each stream was read. The first call only finds the place to start from.
#[derive(Debug, Default)]
pub(super) struct ChangeFollower {
    /// The version of the catalog, with what each skill was.
    catalog: Option<(u64, BTreeMap<String, String>)>,
    audit: Option<RecordSeq>,
    outcomes: Option<RecordSeq>,
    /// Status and last change of each proposal.
    proposals: Option<BTreeMap<String, (&'static str, u64)>>,
}

type EventBatch = Vec<(ServerEventKind, Value)>;

impl ChangeFollower {
    /// What is new. A stream that cannot be read now is read at the next call.
    pub(super) fn new_events(&mut self, engine: &Engine) -> EventBatch {
        let mut told = Vec::new();
        self.compare_skills(&engine.current(), &mut told);
        if let Ok(store) = engine.store() {
            for row in new_rows(&*store, "audit", &mut self.audit) {
                if let Ok(body) = row.body.read() {
                    told.extend(of_audit(&row.kind, &body));
                }
            }
            let outcomes = new_rows(&*store, "outcomes", &mut self.outcomes);
            let learned = !outcomes.is_empty();
            for row in outcomes {
                if let Ok(RecordBody::Outcome(found)) = from_stored(&row.kind, row.body.as_str()) {
                    let shown = json!({
                        "region": found.region, "skill": found.slug, "result": found.result,
                    });
                    told.push((ServerEventKind::OutcomeRecorded, shown));
                }
            }
            if learned {
                told.push((ServerEventKind::CortexChanged, json!({})));
            }
        }
        if let Ok(proposals) = engine.workshop().proposals() {
            self.compare(&proposals, &mut told);
        }
        told
    }

    fn compare_skills(&mut self, snapshot: &Snapshot, told: &mut EventBatch) {
        if self.catalog.as_ref().is_some_and(|(version, _)| *version == snapshot.version) {
            return;
        }
        let now = skills(&snapshot.catalog);
        if let Some((_, before)) = &self.catalog {
            let new = now.keys().filter(|name| !before.contains_key(*name));
            let gone = before.keys().filter(|name| !now.contains_key(*name));
            let other =
                now.iter().filter(|(name, is)| before.get(*name).is_some_and(|was| was != *is));
            let shown = json!({
                "version": snapshot.version,
                "added": new.collect::<Vec<_>>(),
                "removed": gone.collect::<Vec<_>>(),
                "changed": other.map(|(name, _)| name).collect::<Vec<_>>(),
            });
            told.push((ServerEventKind::CatalogChanged, shown));
        }
        self.catalog = Some((snapshot.version, now));
    }

    fn compare(&mut self, proposals: &[Proposal], told: &mut EventBatch) {
        let now: BTreeMap<String, (&'static str, u64)> = proposals
            .iter()
            .map(|found| (found.id.clone(), (found.status.as_str(), found.updated_at)))
            .collect();
        if let Some(before) = &self.proposals {
            for found in proposals {
                let kind = match before.get(&found.id) {
                    None => ServerEventKind::ProposalCreated,
                    Some(old) if now.get(&found.id) != Some(old) => {
                        ServerEventKind::ProposalChanged
                    }
                    Some(_) => continue,
                };
                let status = found.status.as_str();
                told.push((
                    kind,
                    json!({"id": found.id, "skill": found.skill_name, "status": status}),
                ));
            }
        }
        self.proposals = Some(now);
    }
}

/// What each skill is: a word that changes with its state and its files.
fn skills(catalog: &Catalog) -> BTreeMap<String, String> {
    let each = catalog.unshadowed().map(|entry| {
        let files = entry.scan.as_ref().map_or(&entry.content_hash, |scan| &scan.digest);
        (entry.name.clone(), format!("{} {files}", entry.state.as_str()))
    });
    each.collect()
}

/// The rows of a stream after a place; moves the place on.
fn new_rows(store: &dyn Store, stream: &str, place: &mut Option<RecordSeq>) -> Vec<StreamRecord> {
    let Some(after) = *place else {
        *place = store.len(stream).ok().map(RecordSeq);
        return Vec::new();
    };
    let rows = store.read(stream, after, MAX_ROWS).unwrap_or_else(|error| {
        tracing::warn!(stream, %error, "listeners are not told of new records");
        Vec::new()
    });
    if let Some(last) = rows.last() {
        *place = Some(last.seq);
    }
    rows
}

fn of_audit(kind: &str, body: &Value) -> Option<(ServerEventKind, Value)> {
    if kind != "approval" {
        return None;
    }
    let event = body["event"].as_str()?;
    let kind = if event == "asked" {
        ServerEventKind::ApprovalOpened
    } else {
        ServerEventKind::ApprovalDecided
    };
    let shown = json!({
        "id": body["approval"], "kind": body["kind"], "subject": body["subject"], "event": event,
    });
    Some((kind, shown))
}
