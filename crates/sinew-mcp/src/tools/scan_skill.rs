//! `scan_skill`: the guard's verdict. The findings are for people: the caller may have written the text
//! under test, and would learn from them how to pass.

use serde::Deserialize;
use serde_json::{Value, json};
use sinew_engine::ScanSubject;

use super::{
    LOOK, McpToolAnswer, McpToolCall, McpToolRefusal, McpToolResponse, ToolSpec, always, text,
};

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "scan_skill",
    title: "Scan a skill",
    description: "Check a skill, a path in the workspace or a text for malware, leaks and tricks. You \
                  get the verdict and counts; the user sees what was found.",
    input,
    output,
    hints: LOOK,
    offered: always,
    call,
    resume: None,
};

fn input() -> Value {
    json!({
        "type": "object", "additionalProperties": false,
        "oneOf": [{"required": ["skill"]}, {"required": ["path"]}, {"required": ["text"]}],
        "properties": {
            "skill": {"type": "string", "minLength": 1, "maxLength": 1_000},
            "path": {"type": "string", "minLength": 1, "maxLength": 4_000},
            "text": {"type": "string", "maxLength": 1_000_000},
            "profile": {
                "type": "string", "enum": ["reference", "full"], "default": "full",
                "description": "reference counts the seven documented rules alone",
            },
        },
    })
}

fn output() -> (Value, &'static [&'static str]) {
    let count = json!({"type": "integer"});
    let properties = json!({
        "verdict": {"type": "string", "enum": ["allow", "warn", "block"]},
        "counts": {
            "type": "object", "properties": {"critical": count, "warn": count, "info": count},
        },
        "next": text(),
        "scanned": {"type": "object", "properties": {"files": count, "bytes": count}},
        "sha256": text(),
    });
    (properties, &["verdict", "counts", "next", "scanned", "sha256"])
}

#[derive(Deserialize)]
struct ScanSkillInput {
    skill: Option<String>,
    path: Option<String>,
    text: Option<String>,
    profile: Option<String>,
}

fn call(call: &McpToolCall<'_>) -> Result<McpToolResponse, McpToolRefusal> {
    let input: ScanSkillInput = call.read()?;
    let subject = match (&input.skill, &input.path, &input.text) {
        (Some(skill), ..) => ScanSubject::Skill(skill),
        (_, Some(path), _) => ScanSubject::Path(path),
        (.., text) => ScanSubject::Text(text.as_deref().unwrap_or_default()),
    };
    let reference_only = input.profile.as_deref() == Some("reference");
    let catalog = &call.look.snapshot.catalog;
    let said = call.look.engine.skills().scan_verdict(catalog, subject, reference_only)?;
    let lines = format!(
        "{}: {} critical, {} warn, {} info\n{}",
        said.verdict.as_str(),
        said.counts.critical,
        said.counts.warn,
        said.counts.info,
        said.next
    );
    Ok(McpToolAnswer::new(&said, lines).into())
}
