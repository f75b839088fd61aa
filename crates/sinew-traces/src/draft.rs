//! The draft of a skill: its page, its script, and what its front matter says of it.

use serde::Serialize;
use serde_json::{Value, json};
use sinew_guard::Untrusted;

use crate::confidence::DraftConfidence;
use crate::draft_page::DraftPage;
use crate::fingerprint::fingerprint;
use crate::names;
use crate::redact::CleanRun;
use crate::reference_page::ReferencePage;
use crate::replay::{self, ReplayScript};
use crate::risk::{self, ReplayRisk};
use crate::simhash::{format_simhash, simhash, tokens};
use sinew_skill::ecmascript as text;

/// What a draft is made from besides its run.
#[derive(Debug, Clone, Copy)]
pub struct DraftContext {
    /// How many runs it stands for.
    pub runs: usize,
    /// How far it is trusted.
    pub confidence: DraftConfidence,
    /// The current time, in milliseconds since 1970.
    pub now: u64,
    /// Whether it is written as OpenPocket writes it.
    pub exact: bool,
    /// Bytes that the replay script may have; `None` where there is to be none.
    pub max_script: Option<usize>,
}

/// A skill made from a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SkillDraft {
    /// The skill's name.
    pub name: String,
    /// What it is for, for routing.
    pub description: String,
    /// The text below the front matter.
    pub body: String,
    /// What its front matter holds under `metadata`.
    pub metadata: Value,
    /// The replay script, where anything can be replayed.
    pub script: Option<String>,
    /// How far it is trusted: `low`, `medium` or `high`, and why.
    #[cfg_attr(feature = "schema", schema(value_type = Object))]
    pub confidence: DraftConfidence,
    /// What is wrong with doing it this way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk: Option<ReplayRisk>,
    /// OpenPocket's hash of what was done.
    pub behavior_fingerprint: String,
    /// The hash by which similar runs are found.
    pub simhash: String,
    /// The names of the parameters.
    pub parameters: Vec<String>,
    /// How many runs it stands for.
    pub runs: usize,
    /// What was asked for, with parameters where its runs differ.
    #[serde(skip)]
    pub task: String,
    /// What its runs asked a person for before they went on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<String>,
}

/// Writes the draft of a run; `dangerous` says which commands the scanner would block.
pub fn draft(
    clean: &CleanRun,
    making: &DraftContext,
    dangerous: &dyn Fn(&str) -> bool,
) -> SkillDraft {
    let run = &clean.run;
    let behaviour = fingerprint(&run.steps);
    let near = format_simhash(simhash(&tokens(&run.steps)));
    let risk = risk::replay_risk(&run.steps);
    let name = names::strict_slug(&run.task, &behaviour);
    let description = match making.exact {
        true => format!("Auto-generated draft for: {}", line(&run.task, 300)),
        false => names::description(&line(&run.task, 2_000)),
    };
    let head = replay::ScriptHeader {
        agent: &run.agent,
        session: &run.session,
        generated: &names::moment(making.now),
        fingerprint: &behaviour,
        risk,
        asks: run.steps.iter().any(|step| crate::risk::is_consent(&step.action.kind)),
    };
    let script = match making.max_script {
        Some(most) => replay::script(clean, &head, most, dangerous),
        None => ReplayScript::Nothing,
    };
    let too_long = script == ReplayScript::TooLong;
    let asked = risk::asked_for(&run.steps);
    let body = match making.exact {
        true => ReferencePage { clean, making, behaviour: &behaviour, risk, too_long }.write(),
        false => DraftPage { clean, making, risk, asked: &asked, too_long }.write(),
    };
    let mut generated = json!({
        "kind": "auto_skill_draft",
        "source_session": run.session,
        "behavior_fingerprint": behaviour,
        "simhash": near,
        "agent": run.agent,
        "runs": making.runs,
    });
    if !asked.is_empty() {
        generated["consent"] = json!(asked);
    }
    if let Some(risk) = risk {
        generated["risk"] = json!(risk);
    }
    let metadata = json!({"openclaw": {
        "generated": generated,
        "triggers": {"any": [line(&run.task, 300)]},
    }});
    SkillDraft {
        body,
        script: script.text(),
        name,
        description,
        task: run.task.clone(),
        asked,
        metadata,
        confidence: making.confidence,
        risk,
        behavior_fingerprint: behaviour,
        simhash: near,
        parameters: clean.params.iter().map(|param| param.name.clone()).collect(),
        runs: making.runs,
    }
}

/// Text of a run on one line: nothing unprintable, nothing invisible, cut.
pub(crate) fn line(written: &str, units: usize) -> String {
    let seen: String = Untrusted::new(written).prompt_chars().collect();
    text::short(&seen, units)
}
