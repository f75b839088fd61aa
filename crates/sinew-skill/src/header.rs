//! How a skill may be called: by people, by the model, or straight into a tool.

use serde::Serialize;

use crate::value::{Mapping, Value};
use crate::{Code, Reason};

/// Who may call the skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Dispatch {
    /// The tool that receives the arguments.
    pub tool: String,
    /// How arguments are passed; `raw` is the only way there is.
    pub arg_mode: String,
}

pub(crate) fn invocation(fields: &Mapping, reasons: &mut Vec<Reason>) -> Invocation {
    let default = Invocation::default();
    Invocation {
        user_invocable: boolean(fields, "user-invocable", default.user_invocable, reasons),
        disable_model_invocation: boolean(
            fields,
            "disable-model-invocation",
            default.disable_model_invocation,
            reasons,
        ),
    }
}

fn boolean(fields: &Mapping, key: &str, default: bool, reasons: &mut Vec<Reason>) -> bool {
    let text = match fields.get(key) {
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
                .remedy("write true or false"),
            );
            default
        }
    }
}

pub(crate) fn dispatch(fields: &Mapping) -> Option<Dispatch> {
    let text = |kebab: &str| {
        let value = fields.get(kebab).or_else(|| fields.get(&kebab.replace('-', "_")))?;
        value.source_text().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
    };
    if !text("command-dispatch")?.eq_ignore_ascii_case("tool") {
        return None;
    }
    Some(Dispatch {
        tool: text("command-tool")?,
        arg_mode: text("command-arg-mode").unwrap_or_else(|| "raw".to_owned()),
    })
}
