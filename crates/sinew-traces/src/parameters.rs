//! Typed text becomes a parameter, because it differs from one run to the next.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sinew_guard::secrets;
use sinew_settings::config::TypedTextMode;

use crate::program::base;
use crate::redact::RunRedactor;
use crate::run::{AgentRun, RunStep};
use crate::task_words::is_cjk;

/// Something that has to be filled in to do a run again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunParameter {
    /// Its name: small letters, digits and `_`.
    pub name: String,
    /// What it is for.
    pub meaning: String,
    /// Its value in the run, where that may be shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// Whether it must not be shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub secret: bool,
    /// Different values that were seen.
    pub distinct: usize,
}

/// The longest name of a parameter.
const MAX_NAME: usize = 32;

/// Shorter typed text is in every task.
const MIN_IN_TASK: usize = 3;

/// The same where words are written without spaces: most of them have two characters.
const MIN_CJK_IN_TASK: usize = 2;

/// Nouns by which a field is named when its step says what it is for.
const NOUNS: &[&str] = &[
    "password",
    "passcode",
    "destination",
    "account",
    "username",
    "email",
    "title",
    "caption",
    "message",
    "code",
    "query",
    "search",
    "address",
    "date",
    "amount",
    "city",
    "subject",
    "comment",
    "phone",
    "url",
    "link",
    "number",
    "version",
    "file",
    "name",
    "text",
];

/// Parameters with distinct names.
#[derive(Debug, Default)]
pub(crate) struct ParameterNames {
    params: Vec<RunParameter>,
}

impl ParameterNames {
    pub(crate) fn new(params: Vec<RunParameter>) -> Self {
        Self { params }
    }

    /// Adds a parameter and returns its name.
    pub(crate) fn add(
        &mut self,
        wanted: &str,
        meaning: &str,
        default: Option<String>,
        secret: bool,
    ) -> String {
        let same = self
            .params
            .iter()
            .find(|param| default.is_some() && param.default == default && param.secret == secret);
        if let Some(same) = same {
            return same.name.clone();
        }
        let name = self.unique(&name_of(wanted));
        let meaning = sinew_skill::ecmascript::short(meaning, 120).trim_end_matches('.').to_owned();
        self.params.push(RunParameter {
            name: name.clone(),
            meaning,
            default,
            secret,
            distinct: 1,
        });
        name
    }

    /// Adds a parameter of another run, unless there is one of its name.
    pub(crate) fn keep(&mut self, param: &RunParameter) {
        if !self.params.iter().any(|own| own.name == param.name) {
            self.params.push(param.clone());
        }
    }

    /// Sets how many values a parameter had.
    pub(crate) fn set_distinct(&mut self, name: &str, distinct: usize) {
        if let Some(param) = self.params.iter_mut().find(|param| param.name == name) {
            param.distinct = distinct;
        }
    }

    /// Leaves a parameter without a value to fall back on.
    pub(crate) fn drop_default(&mut self, name: &str) {
        if let Some(param) = self.params.iter_mut().find(|param| param.name == name) {
            param.default = None;
        }
    }

    fn unique(&self, wanted: &str) -> String {
        let taken = |name: &str| self.params.iter().any(|param| param.name == name);
        let numbered = |number: usize| match number {
            1 => wanted.to_owned(),
            n => format!("{wanted}_{n}"),
        };
        (1..).map(numbered).find(|name| !taken(name)).unwrap_or_default()
    }

    pub(crate) fn into_params(self) -> Vec<RunParameter> {
        self.params
    }
}

/// A name for a parameter: anything but letters and digits becomes `_`.
pub(crate) fn name_of(wanted: &str) -> String {
    let mut name = String::new();
    for c in wanted.to_lowercase().chars() {
        match c {
            'a'..='z' | '0'..='9' => name.push(c),
            _ if !name.is_empty() && !name.ends_with('_') => name.push('_'),
            _ => {}
        }
    }
    // Leaves space for a number at the end.
    name.truncate(MAX_NAME - 4);
    let name = name.trim_end_matches('_');
    match name.chars().next() {
        Some('a'..='z') => name.to_owned(),
        _ => format!("value_{name}").trim_end_matches('_').to_owned(),
    }
}

/// Takes typed text out of a run; `{{name}}` stands for it.
pub(crate) fn extract_parameters(
    run: &mut AgentRun,
    typed: TypedTextMode,
    redactor: &mut RunRedactor,
) -> Vec<RunParameter> {
    let mut names = ParameterNames::default();
    let task = run.task.to_lowercase();
    for step in run.steps.iter_mut().filter(|step| step.action.kind == "type") {
        let text = step.action.text("text").to_owned();
        if text.is_empty() {
            continue;
        }
        let found = secrets::find_recorded(&text);
        let holds_secret = found.iter().any(|secret| secret.kind <= secrets::SecretKind::Otp);
        let is_secret = step.secret_field || holds_secret;
        for secret in found.iter().filter(|_| holds_secret) {
            let stands = crate::redact::placeholder(secret.kind);
            redactor.remember(&text[secret.range.clone()], &stands, true);
            redactor.count(secret.kind.as_str());
        }
        if typed == TypedTextMode::Verbatim && !step.secret_field {
            // Anything the patterns find is still redacted.
            continue;
        }
        let least = match text.chars().any(is_cjk) {
            true => MIN_CJK_IN_TASK,
            false => MIN_IN_TASK,
        };
        let in_task = text.chars().count() >= least && task.contains(&text.to_lowercase());
        let default = (in_task && !is_secret && found.is_empty()).then(|| text.clone());
        let name = names.add(&wanted_name(step), &step.thought, default.clone(), is_secret);
        if default.is_none() {
            let stands = match is_secret {
                true => "[REDACTED:typed]".to_owned(),
                false => format!("{{{{{name}}}}}"),
            };
            redactor.remember(&text, &stands, is_secret);
            redactor.count("typed");
        }
        let stands = Value::String(format!("{{{{{name}}}}}"));
        step.action.fields.insert("text".to_owned(), stands);
    }
    names.into_params()
}

/// What the field is called, by its element or by what the agent thought.
fn wanted_name(step: &RunStep) -> String {
    if step.secret_field {
        return "password".to_owned();
    }
    let resource = step.target.resource_id.as_deref().map(base).filter(|id| !id.is_empty());
    if let Some(resource) = resource {
        return resource.to_owned();
    }
    let thought = step.thought.to_lowercase();
    let words: Vec<&str> = thought.split(|c: char| !c.is_alphanumeric()).collect();
    let noun = NOUNS.iter().find(|noun| words.contains(noun));
    noun.map_or_else(|| "text".to_owned(), |noun| (*noun).to_owned())
}
