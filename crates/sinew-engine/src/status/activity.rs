//! What was decided and done, by whom and why: one list from every log.
//!
//! The logs stay where they are: the workshop's events, the cortex's log, the audit trail of approvals,
//! settings and runs, and the findings that a person accepted. A file of accepted findings that cannot
//! be read counts as empty; any other log that cannot be read is an error.

use serde::Serialize;
use serde_json::Value;
use sinew_cortex::UtcInstant;
use sinew_cortex::record::{
    BlacklistOp, CortexRecord, ForgetScope, OutcomeReporter, ReadOnlyOp, RecordBody, SkillOutcome,
    UseResult,
};
use sinew_guard::scan_records::read_overrides;
use sinew_store::{RecordSeq, StreamTail};
use sinew_workshop::{Proposal, ProposalStep, WorkshopEvent};

use crate::cortex::lesson_sentence;
use crate::{EngineError, StatusHandle};

/// Entries read from each log; more is an export, not a page.
const MAX_READ: usize = 2_000;

/// One thing that was decided or done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ActivityEntry {
    /// When.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub at: UtcInstant,
    /// What: the log and its own kind, such as `proposal.applied` or `outcome`.
    pub kind: String,
    /// Who, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The skill it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    /// The proposal, approval, run or record, by its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// What happened and why, in a sentence.
    pub text: String,
}

/// What of it is wanted; what is absent does not matter.
#[derive(Debug, Clone, Default)]
pub struct ActivityFilter {
    /// A kind, or what it begins with: `proposal`.
    pub kind: Option<String>,
    /// Who.
    pub by: Option<String>,
    /// A skill.
    pub skill: Option<String>,
    /// Not before.
    pub since: Option<UtcInstant>,
}

impl ActivityFilter {
    fn takes(&self, activity: &ActivityEntry) -> bool {
        let same = |wanted: &Option<String>, found: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| found == Some(wanted))
        };
        let kind = self.kind.as_deref().is_none_or(|wanted| {
            let rest = activity.kind.strip_prefix(wanted);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        });
        kind && same(&self.by, activity.by.as_deref())
            && same(&self.skill, activity.skill.as_deref())
            && self.since.is_none_or(|since| activity.at >= since)
    }
}

impl StatusHandle<'_> {
    /// What was decided and done, newest first.
    pub fn activity(&self, filter: &ActivityFilter) -> Result<Vec<ActivityEntry>, EngineError> {
        let mut all = self.workshop_activity()?;
        all.extend(self.audited()?);
        all.extend(self.accepted_findings());
        if self.engine.config.cortex.enabled {
            let records = self.engine.cortex()?.latest_records(MAX_READ, |_| true)?;
            all.extend(records.iter().filter_map(of_record));
        }
        all.retain(|activity| filter.takes(activity));
        all.sort_by(|a, b| {
            b.at.cmp(&a.at).then_with(|| (&a.kind, &a.subject).cmp(&(&b.kind, &b.subject)))
        });
        Ok(all)
    }

    fn workshop_activity(&self) -> Result<Vec<ActivityEntry>, EngineError> {
        let (events, proposals) =
            self.engine.workshop().with(|shop| Ok((shop.events()?, shop.proposals()?)))?;
        let last = events.len().saturating_sub(MAX_READ);
        Ok(events[last..].iter().map(|event| of_event(event, &proposals)).collect())
    }

    /// Approvals and runs.
    fn audited(&self) -> Result<Vec<ActivityEntry>, EngineError> {
        let store = self.engine.store()?;
        let end = store.len("audit")?;
        let after = RecordSeq(end.saturating_sub(MAX_READ as u64));
        let mut all = Vec::new();
        for row in StreamTail::new(&*store, "audit", after) {
            let row = row?;
            let Ok(body) = row.body.read::<Value>() else { continue };
            all.extend(of_audit(&row.kind, UtcInstant::from_ms(row.ts), &body));
        }
        Ok(all)
    }

    fn accepted_findings(&self) -> Vec<ActivityEntry> {
        // An audit file that cannot be read accepts nothing, and shows nothing.
        let given = read_overrides(&self.engine.scan_files.audit).unwrap_or_default();
        let shown = given.into_iter().filter_map(|given| {
            Some(ActivityEntry {
                at: given.at.parse().ok()?,
                kind: "finding.accepted".to_owned(),
                by: Some(given.who),
                skill: None,
                subject: Some(given.digest),
                text: format!("{}: {}", given.rule, given.reason),
            })
        });
        shown.collect()
    }
}

fn of_event(event: &WorkshopEvent, proposals: &[Proposal]) -> ActivityEntry {
    let proposal = proposals.iter().find(|proposal| event.proposal.as_ref() == Some(&proposal.id));
    let kind = serde_json::to_value(event.kind).ok();
    let kind = kind.as_ref().and_then(Value::as_str).unwrap_or("changed");
    let then = |step: &&ProposalStep| step.at == event.at;
    let step = proposal.and_then(|found| {
        // Two steps may share a moment; the one of the same name is meant.
        let mut steps = found.history.iter().filter(then);
        steps.clone().find(|step| step.what == kind).or_else(|| steps.next_back())
    });
    let line = event.line();
    let line = line.strip_prefix("skill-workshop: ").unwrap_or(&line).to_owned();
    ActivityEntry {
        at: UtcInstant::from_clock(event.at),
        kind: format!("proposal.{kind}"),
        by: step.map(|step| step.by.clone()),
        skill: Some(event.skill.clone()).filter(|skill| !skill.is_empty()),
        subject: event.proposal.clone(),
        text: match &event.reason {
            Some(reason) if !line.contains(reason.as_str()) => format!("{line}: {reason}"),
            _ => line,
        },
    }
}

fn of_record(record: &CortexRecord) -> Option<ActivityEntry> {
    let (skill, text) = match &record.body {
        RecordBody::Outcome(outcome) => (Some(&outcome.slug), how_it_went(outcome)),
        RecordBody::Lesson { op, lesson, .. } => (None, lesson_sentence(*op, lesson)),
        RecordBody::VersionSeen { slug, stored, found } => {
            (Some(slug), format!("{slug} was learned as {stored} and is {found} now"))
        }
        RecordBody::Retained(place) => {
            (Some(&place.slug), format!("{} is kept for good", place.slug))
        }
        RecordBody::Released(place) => (Some(&place.slug), format!("{} was released", place.slug)),
        RecordBody::Blacklist { op, slug, reason } => {
            let why = reason.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
            let what = match op {
                BlacklistOp::Add => "is never offered any more",
                BlacklistOp::Remove => "may be offered again",
            };
            (Some(slug), format!("{slug} {what}{why}"))
        }
        RecordBody::Import { file, .. } => {
            (None, format!("a memory of {} regions came in", file.cortex.motor.len()))
        }
        RecordBody::Prune { removed } => {
            let things = if removed.len() == 1 { "thing was" } else { "things were" };
            (None, format!("{} {things} forgotten after long disuse", removed.len()))
        }
        RecordBody::ReadOnly(word) => {
            let said = match word.op {
                ReadOnlyOp::Declare => "only reads here",
                ReadOnlyOp::Revoke => "no longer counts as read-only",
            };
            (Some(&word.slug), format!("{} {said}, says {}", word.slug, word.who))
        }
        RecordBody::Vanished(place) => {
            (Some(&place.slug), format!("{} is gone from where it came from", place.slug))
        }
        RecordBody::Retract { target } => (None, format!("the record {target} was taken back")),
        RecordBody::Reset { scope } => {
            let what = match scope {
                ForgetScope::All => "everything".to_owned(),
                ForgetScope::Region(region) => format!("the region {region}"),
                ForgetScope::Slug(slug) => slug.clone(),
            };
            (None, format!("{what} was forgotten"))
        }
        // Counters, words and consents are parts of what is told already.
        _ => return None,
    };
    let by = match &record.body {
        RecordBody::Outcome(outcome) => Some(match (outcome.origin, &outcome.agent) {
            (_, Some(agent)) => agent.clone(),
            (OutcomeReporter::User, None) => "a person".to_owned(),
            (OutcomeReporter::Agent, None) => "an agent".to_owned(),
            (OutcomeReporter::Engine, None) => "sinew".to_owned(),
        }),
        _ => None,
    };
    Some(ActivityEntry {
        at: record.ts,
        kind: record.body.name().to_owned(),
        by,
        skill: skill.cloned(),
        subject: Some(record.id.to_string()),
        text,
    })
}

fn how_it_went(outcome: &SkillOutcome) -> String {
    let (slug, region) = (&outcome.slug, &outcome.region);
    let detail = outcome.detail.as_deref().map(|seen| format!(": {seen}")).unwrap_or_default();
    match outcome.result {
        UseResult::Success => format!("{slug} worked in {region}"),
        UseResult::Failure => {
            format!("{slug} failed in {region} ({}){detail}", outcome.failure_kind())
        }
        UseResult::Unknown => format!("{slug} was used in {region}; the outcome is unknown"),
    }
}

fn of_audit(kind: &str, at: UtcInstant, body: &Value) -> Option<ActivityEntry> {
    let text = |key: &str| body.get(key).and_then(Value::as_str).map(str::to_owned);
    let actor = |by: Option<&Value>| {
        let by = by.and_then(|by| serde_json::from_value::<sinew_settings::Actor>(by.clone()).ok());
        by.map(|by| by.to_string())
    };
    match kind {
        "setting" => {
            let skill = text("skill")?;
            let changes = body.get("set").and_then(Value::as_array).into_iter().flatten();
            let changes = changes.map(|change| {
                let shown = |key: &str| match change.get(key) {
                    Some(Value::String(text)) => text.clone(),
                    other => other.map(ToString::to_string).unwrap_or_default(),
                };
                format!("{} {} → {}", shown("key"), shown("before"), shown("after"))
            });
            let changes: Vec<String> = changes.collect();
            Some(ActivityEntry {
                at,
                kind: "setting".to_owned(),
                by: actor(body.get("by")),
                text: format!("{skill}: {}", changes.join(", ")),
                skill: Some(skill),
                subject: None,
            })
        }
        "approval" => {
            let (event, about) = (text("event")?, text("subject").unwrap_or_default());
            let by = body.get("decided_by").filter(|by| !by.is_null()).or(body.get("by"));
            let asked = text("kind").unwrap_or_default().replace('_', " ");
            Some(ActivityEntry {
                at,
                kind: format!("approval.{event}"),
                by: actor(by),
                skill: Some(about.clone()),
                subject: text("approval"),
                text: format!("{asked} of {about}: {event}"),
            })
        }
        "transition" => {
            let (from, to) = (text("from").unwrap_or_default(), text("to")?);
            let text_of = match from.as_str() {
                "" => format!("an acquisition began: {to}"),
                from => format!("an acquisition went from {from} to {to}"),
            };
            Some(ActivityEntry {
                at,
                kind: "run".to_owned(),
                by: None,
                skill: None,
                subject: text("run"),
                text: text_of,
            })
        }
        _ => None,
    }
}
