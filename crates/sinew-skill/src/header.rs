//! How a skill may be called: by people, by the model, or straight into a tool.

use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;

use crate::value::{Mapping, Value};
use crate::{Code, Dialect, FrontMatter, Reason};

/// Who may call the skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, BorshDeserialize, BorshSerialize)]
#[serde(rename_all = "camelCase")]
pub struct Invocation {
    /// It appears as a slash command.
    pub user_invocable: bool,
    /// It is left out of the prompt.
    pub disable_model_invocation: bool,
}

impl Default for Invocation {
    fn default() -> Self {
        Self { user_invocable: true, disable_model_invocation: false }
    }
}

/// A command that goes to a tool without asking the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, BorshDeserialize, BorshSerialize)]
#[serde(rename_all = "camelCase")]
pub struct Dispatch {
    /// The tool that receives the arguments.
    pub tool: String,
    /// How arguments are passed; `raw` is the only way there is.
    pub arg_mode: String,
}

pub(crate) fn invocation(
    front: &FrontMatter,
    dialect: Dialect,
    reasons: &mut Vec<Reason>,
) -> Invocation {
    let mut boolean = |key, default| boolean(front, dialect, key, default, reasons);
    let default = Invocation::default();
    Invocation {
        user_invocable: boolean("user-invocable", default.user_invocable),
        disable_model_invocation: boolean(
            "disable-model-invocation",
            default.disable_model_invocation,
        ),
    }
}

fn boolean(
    front: &FrontMatter,
    dialect: Dialect,
    key: &str,
    default: bool,
    reasons: &mut Vec<Reason>,
) -> bool {
    let text = match dialect.get(&front.fields, key) {
        None | Some(Value::Null) => return default,
        Some(value) => value.flattened().unwrap_or_default(),
    };
    match text.to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => true,
        "false" | "0" | "no" | "off" => false,
        _ => {
            reasons.push(
                Reason::new(
                    Code::BadBoolean,
                    format!("`{key}` is neither yes nor no, so it counts as {default}"),
                )
                .at(front.line_of(key))
                .remedy("write true or false"),
            );
            default
        }
    }
}

pub(crate) fn dispatch(fields: &Mapping, dialect: Dialect) -> Option<Dispatch> {
    let text = |kebab: &str| {
        let value = dialect.get(fields, kebab);
        let value = value.or_else(|| dialect.get(fields, &kebab.replace('-', "_")))?;
        value.source_text().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
    };
    if !text("command-dispatch")?.eq_ignore_ascii_case("tool") {
        return None;
    }
    // `raw` is the only mode there is; another word in `command-arg-mode` means raw as well.
    Some(Dispatch { tool: text("command-tool")?, arg_mode: "raw".to_owned() })
}
