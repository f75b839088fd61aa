//! What others did: terminals, hooks and MCP servers write to the same books, so the books are
//! looked at rather than the requests.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sinew_engine::Engine;
use sinew_store::{Seq, Store};
use sinew_workshop::Proposal;

use super::bus::Kind;

/// Records told of at a time; after more than that, listeners look for themselves anyway.
const MAX_ROWS: usize = 100;

/// How far each book was read. The first look only finds the place.
#[derive(Debug, Default)]
pub(super) struct Follower {
    audit: Option<Seq>,
    outcomes: Option<Seq>,
    /// Status and last change of each proposal.
    proposals: Option<BTreeMap<String, (&'static str, u64)>>,
}

type Told = Vec<(Kind, Value)>;

impl Follower {
    /// What is new. A book that cannot be read now is read later.
    pub(super) fn look(&mut self, engine: &Engine) -> Told {
        let mut told = Vec::new();
        if let Ok(store) = engine.store() {
            for (row_kind, body) in rows(&*store, "audit", &mut self.audit) {
                told.extend(of_audit(&row_kind, &body));
            }
            let outcomes = rows(&*store, "outcomes", &mut self.outcomes);
            let learned = !outcomes.is_empty();
            for (row_kind, body) in outcomes {
                if row_kind == "outcome" {
                    let shown = json!({
                        "region": body["region"], "skill": body["slug"], "result": body["result"],
                    });
                    told.push((Kind::OutcomeRecorded, shown));
                }
            }
            if learned {
                told.push((Kind::CortexChanged, json!({})));
            }
        }
        if let Ok(proposals) = engine.workshop(|shop| shop.proposals()) {
            self.compare(&proposals, &mut told);
        }
        told
    }

    fn compare(&mut self, proposals: &[Proposal], told: &mut Told) {
        let now: BTreeMap<String, (&'static str, u64)> = proposals
            .iter()
            .map(|found| (found.id.clone(), (found.status.as_str(), found.updated_at)))
            .collect();
        if let Some(before) = &self.proposals {
            for found in proposals {
                let kind = match before.get(&found.id) {
                    None => Kind::ProposalCreated,
                    Some(old) if now.get(&found.id) != Some(old) => Kind::ProposalChanged,
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

/// The rows of a stream after a place, with their kinds; moves the place on.
fn rows(store: &dyn Store, stream: &str, place: &mut Option<Seq>) -> Vec<(String, Value)> {
    let Some(after) = *place else {
        *place = store.len(stream).ok().map(Seq);
        return Vec::new();
    };
    let Ok(rows) = store.read(stream, after, MAX_ROWS) else { return Vec::new() };
    if let Some(last) = rows.last() {
        *place = Some(last.seq);
    }
    rows.into_iter().filter_map(|row| Some((row.kind, row.body.read().ok()?))).collect()
}

fn of_audit(kind: &str, body: &Value) -> Option<(Kind, Value)> {
    if kind != "approval" {
        return None;
    }
    let event = body["event"].as_str()?;
    let kind = if event == "asked" { Kind::ApprovalOpened } else { Kind::ApprovalDecided };
    let shown = json!({
        "id": body["approval"], "kind": body["kind"], "subject": body["subject"], "event": event,
    });
    Some((kind, shown))
}
