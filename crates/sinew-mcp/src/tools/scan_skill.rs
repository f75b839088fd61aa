//! `scan_skill`: the guard's verdict. The findings are for people: the caller may have written the text
//! under test, and would learn from them how to pass.

use serde::Deserialize;
use sinew_engine::{EngineError, ScanSubject};
use utoipa::ToSchema;

use super::{LOOK, McpToolAnswer, McpToolCall, McpToolResponse, ToolSpec, always};
use crate::tool_schema;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "scan_skill",
    description: "The scanner's verdict on a skill, a path in the workspace or a text.",
    input: tool_schema::input::<ScanSkillInput>,
    output: Some(tool_schema::any_object),
    hints: LOOK,
    offered: always,
    call,
    resume: None,
};

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ScanSkillInput {
    skill: Option<String>,
    path: Option<String>,
    #[schema(max_length = 1000000)]
    text: Option<String>,
    #[serde(default)]
    profile: ScanSkillRules,
}

#[derive(Deserialize, ToSchema, Clone, Copy, Default, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum ScanSkillRules {
    Reference,
    #[default]
    Full,
}

fn call(call: &McpToolCall<'_>) -> Result<McpToolResponse, EngineError> {
    call.check_one_of(&["skill", "path", "text"])?;
    let input: ScanSkillInput = call.read()?;
    let subject = match (&input.skill, &input.path, &input.text) {
        (Some(skill), ..) => ScanSubject::Skill(skill),
        (_, Some(path), _) => ScanSubject::Path(path),
        (.., text) => ScanSubject::Text(text.as_deref().unwrap_or_default()),
    };
    let reference_only = input.profile == ScanSkillRules::Reference;
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
