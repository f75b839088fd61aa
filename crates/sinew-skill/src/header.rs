//! How a skill may be called: by users, by the model, or directly through a tool.

use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;
use sinew_settings::{Reason, ReasonCode};

use crate::value::YamlValue;
use crate::{FrontMatter, SkillDialect};

/// Who may call the skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, BorshDeserialize, BorshSerialize)]
#[serde(rename_all = "camelCase")]
pub struct InvocationPolicy {
    /// Whether it appears as a slash command.
    pub user_invocable: bool,
    /// Whether it is left out of the prompt.
    pub disable_model_invocation: bool,
}

impl Default for InvocationPolicy {
    fn default() -> Self {
        Self { user_invocable: true, disable_model_invocation: false }
    }
}

/// A command that goes to a tool without involving the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, BorshDeserialize, BorshSerialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolDispatch {
    /// The tool that receives the arguments.
    pub tool: String,
    /// How arguments are passed; only `raw` exists.
    pub arg_mode: String,
}

pub(crate) fn invocation(
    front: &FrontMatter,
    dialect: SkillDialect,
    reasons: &mut Vec<Reason>,
) -> InvocationPolicy {
    let mut boolean = |key, default| boolean(front, dialect, key, default, reasons);
    let default = InvocationPolicy::default();
    InvocationPolicy {
        user_invocable: boolean("user-invocable", default.user_invocable),
        disable_model_invocation: boolean(
            "disable-model-invocation",
            default.disable_model_invocation,
        ),
    }
}

/// A field of the front matter, or of `metadata`: the Agent Skills specification allows no other fields, and
/// leaves `metadata` to everyone.
fn field<'a>(front: &'a FrontMatter, dialect: SkillDialect, key: &str) -> Option<&'a YamlValue> {
    let below_metadata = || match dialect.get(&front.fields, "metadata") {
        Some(YamlValue::Map(metadata)) => dialect.get(metadata, key),
        _ => None,
    };
    dialect.get(&front.fields, key).or_else(below_metadata)
}

fn boolean(
    front: &FrontMatter,
    dialect: SkillDialect,
    key: &str,
    default: bool,
    reasons: &mut Vec<Reason>,
) -> bool {
    let text = match field(front, dialect, key) {
        None | Some(YamlValue::Null) => return default,
        Some(value) => value.flattened().unwrap_or_default(),
    };
    match text.to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => true,
        "false" | "0" | "no" | "off" => false,
        _ => {
            reasons.push(
                Reason::new(
                    ReasonCode::BadBoolean,
                    format!("`{key}` is neither yes nor no, so it counts as {default}"),
                )
                .at_line(front.line_of(key))
                .remedy("write true or false"),
            );
            default
        }
    }
}

pub(crate) fn dispatch(
    front: &FrontMatter,
    dialect: SkillDialect,
    reasons: &mut Vec<Reason>,
) -> Option<ToolDispatch> {
    let text = |kebab: &str| {
        let value = field(front, dialect, kebab);
        let value = value.or_else(|| field(front, dialect, &kebab.replace('-', "_")))?;
        value.source_text().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
    };
    let kind = text("command-dispatch")?;
    let mut note = |code, key: &str, detail: &str, remedy: &str| {
        reasons.push(Reason::new(code, detail).at_line(front.line_of(key)).remedy(remedy));
    };
    if !kind.eq_ignore_ascii_case("tool") {
        note(
            ReasonCode::DispatchUnknownKind,
            "command-dispatch",
            "`command-dispatch` is not `tool`, so the command goes to the model",
            "write `command-dispatch: tool`, or remove it",
        );
        return None;
    }
    let Some(tool) = text("command-tool") else {
        note(
            ReasonCode::DispatchMissingTool,
            "command-dispatch",
            "there is no `command-tool`, so the command goes to the model",
            "name the tool in `command-tool`",
        );
        return None;
    };
    if text("command-arg-mode").is_some_and(|mode| !mode.eq_ignore_ascii_case(RAW)) {
        note(
            ReasonCode::DispatchBadArgMode,
            "command-arg-mode",
            "`command-arg-mode` is not `raw`; the arguments are passed as they were typed",
            "write `command-arg-mode: raw`, or remove it",
        );
    }
    Some(ToolDispatch { tool, arg_mode: RAW.to_owned() })
}

/// The only mode: everything after the command's name, as typed.
const RAW: &str = "raw";
