//! Questions to the other side: to its person about an approval, to its model about a review.
//!
//! A session can be asked while its call waits. A request that stands alone is answered with the
//! question instead, and comes again with the answer and a sealed note of what was asked: a note that
//! this server did not make, or that belongs to another call, opens nothing.

#![allow(deprecated, reason = "sampling is deprecated, and clients still use it")]

use std::collections::BTreeMap;
use std::time::Duration;

use rmcp::model::{
    CreateMessageRequest, CreateMessageRequestParams, CreateMessageResult, ElicitRequest,
    ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema, InputRequest,
    InputRequiredResult, InputResponses, JsonObject, RequestStateCodec, SamplingMessage,
    SealOptions,
};
use rmcp::{ErrorData, Peer, RoleServer};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sinew_engine::EngineError;
use sinew_engine::approval::{Approval, CandidateVerdict, ConsentAct};
use sinew_settings::ErrorCode;

use super::caller::McpCaller;
use super::tool_answer::{McpToolAnswer, one_line};

/// How long a session waits for its person; then the question stays open and can be answered elsewhere.
const PERSON_WAITS: Duration = Duration::from_secs(10 * 60);
/// How long a sealed note is valid: as long as an approval waits.
const NOTE_LASTS: Duration = Duration::from_secs(24 * 60 * 60);
/// Tokens of a review: one proposal.
const REVIEW_TOKENS: u32 = 2_000;
/// The longest comment of a person.
const MAX_COMMENT: u32 = 300;

/// The result of a tool.
#[derive(Debug)]
pub(super) enum McpToolResponse {
    /// An answer.
    Done(McpToolAnswer),
    /// A question first.
    Ask(ClientQuestion),
}

impl From<McpToolAnswer> for McpToolResponse {
    fn from(answer: McpToolAnswer) -> Self {
        Self::Done(answer)
    }
}

/// A question to the other side.
#[derive(Debug)]
pub(super) enum ClientQuestion {
    /// To the person: an approval.
    Approval(Box<Approval>),
    /// To the model: a review that waits.
    Review {
        /// Who it is.
        system: String,
        /// What it is shown.
        prompt: String,
        /// How long it may take.
        within: Duration,
    },
}

/// What came back.
#[derive(Debug)]
pub(super) enum ClientReply {
    /// The person said yes.
    Yes {
        /// Their comment.
        comment: Option<String>,
        /// Whether they do not want to be asked again about exactly this content.
        remember: bool,
    },
    /// The person said no.
    No(Option<String>),
    /// No answer came; the question stays open.
    Nothing,
    /// What the model said, or why it said nothing.
    Said(Result<String, String>),
}

/// What a question was about: sealed into the note that comes back with its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum QuestionSubject {
    /// An approval, by its id.
    Approval(String),
    /// The review that waits.
    Review,
}

impl ClientQuestion {
    pub(super) fn about(&self) -> QuestionSubject {
        match self {
            Self::Approval(approval) => QuestionSubject::Approval(approval.id.clone()),
            Self::Review { .. } => QuestionSubject::Review,
        }
    }

    /// Asks in the middle of a session's call.
    pub(super) async fn ask(self, peer: &Peer<RoleServer>) -> Result<ClientReply, ErrorData> {
        match self {
            Self::Approval(approval) => {
                let form = form(&approval)?;
                let asked = peer.create_elicitation_with_timeout(form, Some(PERSON_WAITS)).await;
                // A client that turns out unable to ask leaves the question open.
                Ok(asked.map_or(ClientReply::Nothing, |said| person_said(&said)))
            }
            Self::Review { system, prompt, within } => {
                let asked = peer.create_message(review(system, prompt));
                Ok(ClientReply::Said(match tokio::time::timeout(within, asked).await {
                    Err(_) => Err(format!("no answer within {} ms", within.as_millis())),
                    Ok(Err(error)) => Err(error.to_string()),
                    Ok(Ok(result)) => model_said(&result),
                }))
            }
        }
    }

    /// The question as an answer, for a request that stands alone.
    pub(super) fn into_input_required(
        self,
        seal: &QuestionSeal,
        bound: &[u8],
    ) -> Result<InputRequiredResult, ErrorData> {
        let note = seal.note(&self.about(), bound)?;
        let (key, request) = match self {
            Self::Approval(approval) => {
                ("approval", InputRequest::Elicitation(ElicitRequest::new(form(&approval)?)))
            }
            Self::Review { system, prompt, .. } => {
                let request = CreateMessageRequest::new(review(system, prompt));
                ("review", InputRequest::CreateMessage(request))
            }
        };
        let requests = BTreeMap::from([(key.to_owned(), request)]);
        Ok(InputRequiredResult::new(Some(requests), Some(note)))
    }
}

/// Seals notes with a key that only this process has.
pub(super) struct QuestionSeal(RequestStateCodec);

impl std::fmt::Debug for QuestionSeal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seal")
    }
}

impl QuestionSeal {
    pub(super) fn new() -> Result<Self, EngineError> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(|error| {
            EngineError::new(ErrorCode::NoEntropy, format!("no random numbers: {error}"))
        })?;
        Ok(Self(RequestStateCodec::new_unchecked(key)))
    }

    fn note(&self, about: &QuestionSubject, bound: &[u8]) -> Result<String, ErrorData> {
        let options = SealOptions::new().associated_data(bound).ttl(NOTE_LASTS);
        let body = serde_json::to_vec(about)
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        Ok(self.0.seal_with(&body, &options))
    }

    /// What a note says, if it is ours and belongs to this call.
    pub(super) fn open(&self, note: &str, bound: &[u8]) -> Result<QuestionSubject, ErrorData> {
        let refuse = || {
            let hint = json!({"hint": "call again without requestState"});
            ErrorData::invalid_params(
                "requestState is not one that this call was given",
                Some(hint),
            )
        };
        let body = self.0.open_with(note, bound).map_err(|_| refuse())?;
        serde_json::from_slice(&body).map_err(|_| refuse())
    }
}

/// What a note is bound to: who calls which tool with which arguments.
pub(super) fn call_binding(
    caller: &McpCaller,
    tool: &str,
    arguments: Option<&JsonObject>,
) -> Vec<u8> {
    json!([caller.name, tool, arguments]).to_string().into_bytes()
}

/// The answer among those that came with a repeated request; `None` where it is missing.
pub(super) fn find_reply(
    about: &QuestionSubject,
    responses: Option<&InputResponses>,
) -> Option<ClientReply> {
    match about {
        QuestionSubject::Approval(_) => {
            let value = responses?.get("approval")?;
            let said: ElicitResult = serde_json::from_value(value.clone()).ok()?;
            Some(person_said(&said))
        }
        QuestionSubject::Review => {
            let value = responses?.get("review")?;
            let said = serde_json::from_value::<CreateMessageResult>(value.clone());
            Some(ClientReply::Said(match said {
                Ok(result) => model_said(&result),
                Err(error) => Err(error.to_string()),
            }))
        }
    }
}

/// Accepting a form is not approval: the values in it count.
fn person_said(said: &ElicitResult) -> ClientReply {
    let field = |name: &str| said.content.as_ref()?.get(name)?.as_str().map(str::to_owned);
    let comment = field("comment").filter(|comment| !comment.trim().is_empty());
    match (&said.action, field("decision").as_deref()) {
        (ElicitationAction::Accept, Some("approve")) => {
            let ticked = said.content.as_ref().and_then(|content| content.get("remember"));
            ClientReply::Yes { comment, remember: ticked.and_then(Value::as_bool).unwrap_or(false) }
        }
        (ElicitationAction::Accept, Some("reject")) | (ElicitationAction::Decline, _) => {
            ClientReply::No(comment)
        }
        _ => ClientReply::Nothing,
    }
}

fn model_said(result: &CreateMessageResult) -> Result<String, String> {
    let texts = result.message.content.iter().filter_map(|block| block.as_text());
    let text: Vec<&str> = texts.map(|text| text.text.as_str()).collect();
    if text.is_empty() { Err("the answer holds no text".to_owned()) } else { Ok(text.join("\n")) }
}

fn review(system: String, prompt: String) -> CreateMessageRequestParams {
    let message = SamplingMessage::user_text(prompt);
    CreateMessageRequestParams::new(vec![message], REVIEW_TOKENS).with_system_prompt(system)
}

fn form(approval: &Approval) -> Result<ElicitRequestParams, ErrorData> {
    let schema = json!({
        "type": "object",
        "properties": {
            "decision": {"type": "string", "enum": ["approve", "reject"], "title": "Decision"},
            "remember": {
                "type": "boolean", "default": false,
                "title": "Do not ask again for this exact content",
            },
            "comment": {"type": "string", "maxLength": MAX_COMMENT, "title": "Comment"},
        },
        "required": ["decision"],
    });
    let Value::Object(schema) = schema else { return Err(ErrorData::default()) };
    let requested_schema = ElicitationSchema::from_json_schema(schema)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    Ok(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: approval_question(approval),
        requested_schema,
    })
}

/// An approval in one paragraph: what a person should know before they answer.
pub(super) fn approval_question(approval: &Approval) -> String {
    let (subject, evidence) = (&approval.subject, &approval.evidence);
    let name = one_line(evidence.name.as_deref().unwrap_or(&subject.name));
    let version = subject.version.as_deref().map(|version| format!(" {}", one_line(version)));
    let what = format!("{name}{}", version.unwrap_or_default());
    let mut text = match approval.kind {
        ConsentAct::Install => format!("Install {what}?"),
        ConsentAct::Plan => format!("Carry out this plan with {what}?"),
        ConsentAct::Dependency => format!("Install the program {what}?"),
        ConsentAct::SwitchCandidate => format!("Try {what} instead?"),
        ConsentAct::Retain => format!("Keep {what} installed?"),
        ConsentAct::ProposalApply => format!("Write this change to the skill {what}?"),
        ConsentAct::QuarantineRestore => format!("Take {what} out of quarantine?"),
        ConsentAct::ConfigWrite => format!("Change the configuration {what}?"),
    };
    let mut add = |part: String| {
        text.push(' ');
        text.push_str(&part);
    };
    if let Some(source) = &evidence.source {
        let review = if evidence.reviewed == Some(false) { ", unreviewed" } else { "" };
        add(format!("From {}{review}.", one_line(source)));
    }
    if let Some(description) = &evidence.description {
        add(format!("{}.", one_line(description).trim_end_matches('.')));
    }
    if let Some(scan) = evidence.scan {
        let verdict = match scan.verdict {
            CandidateVerdict::Allow => "allow",
            CandidateVerdict::Warn => "warn",
            CandidateVerdict::Block => "block",
        };
        add(format!("Scan: {verdict}, {} critical, {} warnings.", scan.critical, scan.warn));
    }
    if !subject.content.files.is_empty() {
        let bytes: u64 = subject.content.files.iter().map(|file| file.size).sum();
        add(format!("{} files, {bytes} bytes.", subject.content.files.len()));
    }
    for capability in &evidence.capabilities {
        add(format!("{}.", one_line(capability)));
    }
    if !evidence.missing.is_empty() {
        add(format!("It needs what is not here: {}.", one_line(&evidence.missing.join(", "))));
    }
    if let Some(command) = &evidence.command {
        add(format!("Command: {}", one_line(command)));
    }
    for step in &evidence.steps {
        text.push_str(&format!("\n{} {}", step.symbols(), one_line(&step.text)));
    }
    for lesson in &evidence.lessons {
        text.push_str(&format!("\nLesson: {}", one_line(lesson)));
    }
    if let Some(diff) = &evidence.diff {
        let lines: Vec<String> = diff.lines().map(one_line).collect();
        text.push_str(&format!("\n\n{}", lines.join("\n")));
    }
    text
}
