//! The tool `skill_workshop`: Skill Workshop's eight actions and three of ours, in its own shapes.

use serde_json::{Map, Value, json};
use sinew_settings::Actor;

use crate::apply::ApplyConsent;
use crate::error::{Result, WorkshopError};
use crate::event::WorkshopEvent;
use crate::proposal::{Proposal, ProposalChange, ProposalSource, TriggerQueries};
use crate::revise::ProposalRevision;
use crate::suggest::{ApplyMode, ProposalOrigin, ProposalRequest, ProposalUpdate};
use crate::tool_reply::{ToolProposal, ToolProposalUpdate, ToolSupportFile, WorkshopToolReply};
use crate::undo::{UndoForce, UndoTarget};
use crate::workshop::Workshop;

/// The tool's name.
pub const TOOL: &str = "skill_workshop";

/// The actions, in the order of the documentation.
const ACTIONS: [&str; 11] = [
    "status",
    "list_pending",
    "list_quarantine",
    "inspect",
    "suggest",
    "apply",
    "reject",
    "write_support_file",
    "revise",
    "history",
    "undo",
];

/// The statuses of proposals that can be listed.
const STATUSES: [&str; 5] = ["pending", "applied", "rejected", "quarantined", "stale"];

/// Parameters that are text, with what their names do not say.
const TEXTS: [(&str, &str); 12] = [
    ("id", ""),
    ("status", ""),
    ("skillName", ""),
    ("title", ""),
    ("reason", ""),
    ("description", "In a user's words"),
    ("body", "Imperative bullets"),
    ("section", "Append under it"),
    ("oldText", "Replace exactly this"),
    ("newText", ""),
    ("relativePath", "Below references/, templates/, scripts/ or assets/"),
    ("version", "For undo"),
];

/// The result of a call to the tool.
#[derive(Debug, Clone)]
pub struct WorkshopToolAnswer {
    /// The answer: a [`WorkshopToolReply`] as JSON.
    pub value: Value,
    /// What happened, for the log.
    pub events: Vec<WorkshopEvent>,
}

impl WorkshopToolAnswer {
    fn of(reply: &WorkshopToolReply, events: Vec<WorkshopEvent>) -> Self {
        Self { value: json!(reply), events }
    }
}

/// Who calls the tool.
#[derive(Debug, Clone)]
pub struct WorkshopCaller {
    /// Who.
    pub by: Actor,
    /// The agent, where known.
    pub agent_id: Option<String>,
    /// The session, where known.
    pub session_id: Option<String>,
}

/// The JSON schema of the tool's parameters.
pub fn schema() -> Value {
    let mut properties = Map::new();
    properties.insert("action".to_owned(), json!({"type": "string", "enum": ACTIONS}));
    for (name, description) in TEXTS {
        properties.insert(name.to_owned(), described("string", description));
    }
    properties.insert("apply".to_owned(), described("boolean", "false queues it"));
    properties.insert("redact".to_owned(), described("boolean", "Cut flagged lines"));
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

/// A parameter. The list of tools stands in every request, so what a name says is not said again.
fn described(kind: &str, description: &str) -> Value {
    match description {
        "" => json!({ "type": kind }),
        text => json!({ "type": kind, "description": text }),
    }
}

/// The guidance that goes before an agent's system context while the workshop is on.
pub fn guidance(policy: sinew_settings::config::ApprovalPolicy) -> String {
    let last = match policy {
        sinew_settings::config::ApprovalPolicy::Auto => {
            "Safe updates that are clearly reusable are applied; `apply: false` queues."
        }
        _ => "Proposals are queued; apply one only after the user's explicit approval.",
    };
    format!(
        "<skill_workshop>\nKeep procedures with `{TOOL}`, not facts or preferences. Capture \
         repeatable workflows, corrections, non-obvious successes and recurring pitfalls: when the \
         user says next time or from now on, asks to verify or save a way of working, or a task \
         took long to get right. Repair stale, thin or wrong skills with section (append) or \
         oldText and newText (replace). Write short imperative bullets; never retell the chat.\n\
         {last}\n</skill_workshop>"
    )
}

impl ProposalRequest {
    /// What the parameters of `suggest` propose, and how it is to be taken.
    pub fn from_parameters(
        parameters: &Value,
        caller: &WorkshopCaller,
    ) -> Result<(Self, ProposalOrigin)> {
        let call = WorkshopToolParameters::read(parameters)?;
        Ok((call.draft()?, call.origin(caller)))
    }
}

impl Workshop<'_> {
    /// Calls the tool.
    pub fn call_tool(
        &self,
        parameters: &Value,
        caller: &WorkshopCaller,
    ) -> Result<WorkshopToolAnswer> {
        let call = WorkshopToolParameters::read(parameters)?;
        let plain = |reply: WorkshopToolReply| Ok(WorkshopToolAnswer::of(&reply, Vec::new()));
        match call.text("action").unwrap_or("status") {
            "status" => plain(WorkshopToolReply::Counts(self.status()?)),
            "list_pending" => {
                let status = call.text("status").unwrap_or("pending");
                if !STATUSES.contains(&status) {
                    return Err(WorkshopError::BadParameter {
                        name: "status".to_owned(),
                        expected: "pending, applied, rejected, quarantined or stale",
                    });
                }
                plain(listed(self.list(status)?))
            }
            "list_quarantine" => plain(listed(self.list("quarantined")?)),
            "inspect" => {
                let proposal = ToolProposal(self.inspect(call.id()?)?);
                plain(WorkshopToolReply::Proposal(Box::new(proposal)))
            }
            "suggest" => {
                let (draft, origin) = (call.draft()?, call.origin(caller));
                Ok(decided(self.suggest(&draft, &origin)?))
            }
            "apply" => Ok(decided(self.apply(call.id()?, &caller.by, &ApplyConsent::default())?)),
            "reject" => {
                let done = self.reject(call.id()?, call.text("reason"), &caller.by)?;
                let reply = WorkshopToolReply::Proposal(Box::new(ToolProposal(done.proposal)));
                Ok(WorkshopToolAnswer::of(&reply, done.events))
            }
            "write_support_file" => {
                let all = (call.text("skillName"), call.text("relativePath"), call.text("body"));
                let (Some(skill), Some(path), Some(body)) = all else {
                    return Err(WorkshopError::Required("skillName, relativePath, and body"));
                };
                let done = self.write_support_file(skill, path, body, &caller.by)?;
                let file = ToolSupportFile { status: "written", file_path: done.file_path };
                Ok(WorkshopToolAnswer::of(&WorkshopToolReply::File(file), done.events))
            }
            "revise" => {
                let mut done = self.revise(call.id()?, &call.revision(), &caller.by)?;
                done.skill_path = None;
                Ok(decided(done))
            }
            "history" => plain(WorkshopToolReply::Versions(self.history(call.skill()?)?)),
            "undo" => {
                self.check_may_undo(&caller.by)?;
                let mut done = self.undo(&call.wish()?, UndoForce::No, &caller.by)?;
                let events = std::mem::take(&mut done.events);
                Ok(WorkshopToolAnswer::of(&WorkshopToolReply::Undo(done), events))
            }
            other => Err(WorkshopError::UnknownAction(sinew_skill::ecmascript::short(other, 40))),
        }
    }

    /// A write that needs a person's approval also needs it to be undone.
    pub(crate) fn check_may_undo(&self, by: &Actor) -> Result<()> {
        let auto = self.settings().approval_policy == sinew_settings::config::ApprovalPolicy::Auto;
        match by {
            Actor::Agent { .. } if !auto => Err(WorkshopError::NeedsPerson("undo a write")),
            _ => Ok(()),
        }
    }
}

/// A list of proposals.
fn listed(proposals: Vec<Proposal>) -> WorkshopToolReply {
    WorkshopToolReply::Proposals(proposals.into_iter().map(ToolProposal).collect())
}

/// What became of a proposal.
fn decided(mut done: ProposalUpdate) -> WorkshopToolAnswer {
    let events = std::mem::take(&mut done.events);
    let reply = WorkshopToolReply::Update(Box::new(ToolProposalUpdate::of(done)));
    WorkshopToolAnswer::of(&reply, events)
}

/// The parameters of a call, checked.
struct WorkshopToolParameters<'p> {
    parameters: &'p Map<String, Value>,
}

impl<'p> WorkshopToolParameters<'p> {
    fn read(parameters: &'p Value) -> Result<Self> {
        let wrong =
            |name: &str, expected| WorkshopError::BadParameter { name: name.to_owned(), expected };
        let Value::Object(parameters) = parameters else {
            return Err(wrong("the parameters", "an object"));
        };
        for (name, value) in parameters {
            let known = name == "action" || TEXTS.iter().any(|(text, _)| text == name);
            let fits = match name.as_str() {
                "apply" | "redact" => value.is_boolean() || value.is_null(),
                _ => value.is_string() || value.is_null(),
            };
            if !fits {
                let expected = if known { "text" } else { "true or false" };
                return Err(wrong(&sinew_skill::ecmascript::short(name, 40), expected));
            }
        }
        Ok(Self { parameters })
    }

    fn text(&self, name: &str) -> Option<&'p str> {
        self.parameters.get(name).and_then(Value::as_str)
    }

    fn filled(&self, name: &str) -> Option<&'p str> {
        self.text(name).filter(|text| !sinew_skill::ecmascript::trim(text).is_empty())
    }

    fn id(&self) -> Result<&'p str> {
        self.filled("id").ok_or(WorkshopError::Required("id"))
    }

    fn skill(&self) -> Result<&'p str> {
        self.filled("skillName").ok_or(WorkshopError::Required("skillName"))
    }

    /// What `suggest` proposes: both texts make a replacement, a section an addition.
    fn draft(&self) -> Result<ProposalRequest> {
        let skill_name = self.skill()?.to_owned();
        let owned = |name: &str| self.text(name).unwrap_or_default().to_owned();
        let (old_text, new_text) = (self.text("oldText"), self.text("newText"));
        let body = || self.filled("body").map(str::to_owned).ok_or(WorkshopError::Required("body"));
        let change = if old_text.is_some() || new_text.is_some() {
            match (old_text.filter(|old| !old.is_empty()), new_text) {
                (Some(old), Some(new)) => {
                    ProposalChange::Replace { old_text: old.to_owned(), new_text: new.to_owned() }
                }
                _ => return Err(WorkshopError::ReplaceNeedsBoth),
            }
        } else if let Some(section) = self.filled("section") {
            let (body, description) = (body()?, owned("description"));
            ProposalChange::Append { section: section.to_owned(), body, description }
        } else {
            ProposalChange::Create {
                description: owned("description"),
                body: body()?,
                files: Default::default(),
                generated: None,
            }
        };
        Ok(ProposalRequest {
            skill_name,
            title: owned("title"),
            reason: owned("reason"),
            change,
            evidence: Vec::new(),
            queries: TriggerQueries::default(),
        })
    }

    fn origin(&self, caller: &WorkshopCaller) -> ProposalOrigin {
        let queued = self.parameters.get("apply") == Some(&Value::Bool(false));
        ProposalOrigin {
            by: caller.by.clone(),
            source: ProposalSource::Tool,
            agent_id: caller.agent_id.clone(),
            session_id: caller.session_id.clone(),
            apply: if queued { ApplyMode::Never } else { ApplyMode::ByPolicy },
        }
    }

    fn revision(&self) -> ProposalRevision {
        let owned = |name: &str| self.text(name).map(str::to_owned);
        ProposalRevision {
            skill_name: owned("skillName"),
            title: owned("title"),
            description: owned("description"),
            body: owned("body"),
            section: owned("section"),
            old_text: owned("oldText"),
            new_text: owned("newText"),
            redact: self.parameters.get("redact") == Some(&Value::Bool(true)),
        }
    }

    fn wish(&self) -> Result<UndoTarget> {
        match (self.filled("id"), self.filled("skillName"), self.filled("version")) {
            (_, Some(skill), Some(version)) => {
                Ok(UndoTarget::BackTo { skill: skill.to_owned(), version: version.to_owned() })
            }
            (Some(id), ..) => Ok(UndoTarget::Id(id.to_owned())),
            (None, Some(skill), _) => Ok(UndoTarget::Skill(skill.to_owned())),
            (None, None, _) => Err(WorkshopError::Required("id or skillName")),
        }
    }
}
