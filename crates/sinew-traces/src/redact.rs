//! Cleaning a run: nothing that must not be kept is left in it.
//!
//! A value that is found once is searched for everywhere, verbatim and in its encoded forms: a
//! password that a command names may be echoed by a result that does not name it.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use sinew_guard::secrets::{self, SecretKind};
use sinew_settings::config::TypedTextMode;

use crate::parameters::{self, RunParameter};
use crate::run::{AgentRun, RunStep};

/// Characters that a URL may hold only percent-encoded (RFC 3986, `unreserved`).
const NOT_IN_ADDRESSES: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Names of the machine and its users that must not be shown.
#[derive(Debug, Clone, Default)]
pub struct PrivateNames {
    /// Home folders.
    pub homes: Vec<String>,
    /// Names of the machine.
    pub hosts: Vec<String>,
}

/// A run that may be kept and shown.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CleanRun {
    /// The run.
    pub run: AgentRun,
    /// What has to be filled in to do it again.
    pub params: Vec<RunParameter>,
    /// How many values of each kind were redacted; never the values.
    pub redactions: BTreeMap<String, u64>,
}
/// Shorter values are not searched for elsewhere: they would match everywhere.
const MIN_KNOWN: usize = 6;

/// The same for what was typed into a field for secrets.
const MIN_SECRET: usize = 4;

/// Values that are searched for elsewhere; a run that holds more is a dump of secrets anyway.
const MAX_KNOWN: usize = 2_000;

/// User names that identify no person.
const GENERIC_USERS: &[&str] =
    &["user", "root", "home", "admin", "runner", "ubuntu", "shared", "public"];

/// Cleans a run.
pub fn clean(mut run: AgentRun, private: &PrivateNames, typed: TypedTextMode) -> CleanRun {
    let mut redactor = RunRedactor::default();
    redactor.people(&run, private);
    let params = parameters::extract_parameters(&mut run, typed, &mut redactor);
    // E-mail and telephone numbers of the task itself become parameters of it.
    let mut fields = parameters::ParameterNames::new(params);
    redactor.task_entities(&run.task, &mut fields);
    each_text(&mut run, &mut |text| redactor.patterns(text, SecretKind::Entropy));
    // A session id resembles several kinds of secrets, and is none.
    redactor.patterns(&mut run.session, SecretKind::Url);
    if !redactor.known.is_empty() {
        let known = SensitiveForms::new(&redactor.known);
        each_text(&mut run, &mut |text| known.replace(text, &mut redactor.counts));
        known.replace(&mut run.session, &mut redactor.counts);
    }
    each_text(&mut run, &mut |text| redactor.places(text));
    redactor.places(&mut run.session);
    CleanRun { run, params: fields.into_params(), redactions: redactor.counts }
}

/// What was found so far.
#[derive(Debug, Default)]
pub(crate) struct RunRedactor {
    /// Values and what stands for them.
    known: BTreeMap<String, String>,
    counts: BTreeMap<String, u64>,
    homes: Vec<String>,
    users: BTreeSet<String>,
    hosts: Vec<String>,
}

impl RunRedactor {
    /// Remembers a value that must not be shown anywhere.
    pub(crate) fn remember(&mut self, value: &str, stands: &str, is_secret: bool) {
        let enough = if is_secret { MIN_SECRET } else { MIN_KNOWN };
        if value.len() >= enough && self.known.len() < MAX_KNOWN {
            self.known.entry(value.to_owned()).or_insert_with(|| stands.to_owned());
        }
    }

    pub(crate) fn count(&mut self, kind: &str) {
        *self.counts.entry(kind.to_owned()).or_default() += 1;
    }

    /// Whether any value of a kind was redacted.
    pub(crate) fn has_redacted(&self, kind: SecretKind) -> bool {
        self.counts.contains_key(kind.as_str())
    }

    /// Replaces what the table of secrets finds, up to a kind.
    pub(crate) fn patterns(&mut self, text: &mut String, last: SecretKind) {
        let mut found = secrets::find_recorded(text);
        found.retain(|secret| secret.kind <= last);
        if found.is_empty() {
            return;
        }
        let mut cleaned = String::with_capacity(text.len());
        let mut at = 0;
        for secret in found {
            let value = &text[secret.range.clone()];
            let stands = match self.known.get(value) {
                Some(known) => known.clone(),
                None => placeholder(secret.kind),
            };
            self.remember(value, &stands, false);
            self.count(secret.kind.as_str());
            cleaned.push_str(&text[at..secret.range.start]);
            cleaned.push_str(&stands);
            at = secret.range.end;
        }
        cleaned.push_str(&text[at..]);
        *text = cleaned;
    }

    /// E-mail addresses and telephone numbers that the task is about.
    fn task_entities(&mut self, task: &str, names: &mut parameters::ParameterNames) {
        for secret in secrets::find_recorded(task) {
            if matches!(secret.kind, SecretKind::Email | SecretKind::Phone) {
                let value = &task[secret.range];
                let name = names.add(secret.kind.as_str(), "an entity of the task", None, false);
                self.known.insert(value.to_owned(), format!("{{{{{name}}}}}"));
            }
        }
    }

    /// Collects users and home folders from the paths of the run.
    fn people(&mut self, run: &AgentRun, private: &PrivateNames) {
        self.homes = private.homes.iter().filter(|home| home.len() > 1).cloned().collect();
        self.hosts = private.hosts.iter().filter(|host| host.len() > 2).cloned().collect();
        let mut look = |text: &str| {
            for start in ["/home/", "/Users/", "C:\\Users\\"] {
                for (at, _) in text.match_indices(start).take(50) {
                    let rest = &text[at + start.len()..];
                    let end = rest.find(|c: char| !(c.is_alphanumeric() || "._-".contains(c)));
                    let user = &rest[..end.unwrap_or(rest.len())];
                    if !user.is_empty() {
                        self.homes.push(format!("{start}{user}"));
                        self.users.insert(user.to_owned());
                    }
                }
                self.homes.sort_by_key(|home| std::cmp::Reverse(home.len()));
                self.homes.dedup();
            }
        };
        look(run.cwd.as_deref().unwrap_or_default());
        for step in &run.steps {
            look(&step.result);
            look(step.action.text("path"));
            look(step.action.text("command"));
        }
        for home in &private.homes {
            self.users.extend(home.rsplit(['/', '\\']).next().map(str::to_owned));
        }
        self.users.retain(|user| user.len() > 2 && !GENERIC_USERS.contains(&user.as_str()));
    }

    /// Replaces home, user and host.
    fn places(&mut self, text: &mut String) {
        let mut hits = 0;
        for home in &self.homes {
            hits += replace_words(text, home, "~");
        }
        for user in &self.users {
            hits += replace_words(text, user, "{{user}}");
        }
        for host in &self.hosts {
            hits += replace_words(text, host, "{{host}}");
        }
        if hits > 0 {
            *self.counts.entry("path".to_owned()).or_default() += hits;
        }
    }
}

/// The placeholder for a value of this kind.
pub(crate) fn placeholder(kind: SecretKind) -> String {
    format!("[REDACTED:{}]", kind.as_str())
}

/// Replaces a word where no letter or digit touches it; how often.
fn replace_words(text: &mut String, word: &str, by: &str) -> u64 {
    if !text.contains(word) {
        return 0;
    }
    let mut cleaned = String::with_capacity(text.len());
    let (mut last, mut hits) = (0, 0);
    for (at, _) in text.match_indices(word) {
        let touches = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let end = at + word.len();
        if touches(text[..at].chars().next_back()) || touches(text[end..].chars().next()) {
            continue;
        }
        cleaned.push_str(&text[last..at]);
        cleaned.push_str(by);
        last = end;
        hits += 1;
    }
    cleaned.push_str(&text[last..]);
    *text = cleaned;
    hits
}

/// Values that are searched for verbatim and in their encoded forms.
struct SensitiveForms {
    forms: Vec<(String, String)>,
}

impl SensitiveForms {
    fn new(known: &BTreeMap<String, String>) -> Self {
        let mut forms = Vec::with_capacity(known.len() * 4);
        for (value, stands) in known {
            for form in [value.clone(), percent(value), base64(value, false), base64(value, true)] {
                if !forms.iter().any(|(other, _)| *other == form) {
                    forms.push((form, stands.clone()));
                }
            }
        }
        // A value that holds another one goes first.
        forms.sort_by_key(|(form, _)| std::cmp::Reverse(form.len()));
        Self { forms }
    }

    fn replace(&self, text: &mut String, counts: &mut BTreeMap<String, u64>) {
        for (form, stands) in &self.forms {
            if text.contains(form.as_str()) {
                let hits = text.matches(form.as_str()).count() as u64;
                let kind = stands.trim_matches(['[', ']', '{', '}']);
                let kind = kind.strip_prefix("REDACTED:").unwrap_or("typed");
                *counts.entry(kind.to_owned()).or_default() += hits;
                *text = text.replace(form.as_str(), stands);
            }
        }
    }
}

/// A text, percent-encoded as in a URL.
fn percent(text: &str) -> String {
    utf8_percent_encode(text, NOT_IN_ADDRESSES).to_string()
}

/// A text in base64, without padding.
fn base64(text: &str, for_urls: bool) -> String {
    if for_urls { URL_SAFE_NO_PAD.encode(text) } else { STANDARD_NO_PAD.encode(text) }
}

/// Calls `with` for every text of a run that may be shown, except the session's name.
fn each_text(run: &mut AgentRun, with: &mut dyn FnMut(&mut String)) {
    for text in [&mut run.task, &mut run.final_message] {
        with(text);
    }
    let options = [&mut run.cwd, &mut run.next_message, &mut run.parent];
    options.into_iter().flatten().for_each(&mut *with);
    for step in &mut run.steps {
        each_text_of(step, with);
    }
}

fn each_text_of(step: &mut RunStep, with: &mut dyn FnMut(&mut String)) {
    for text in [&mut step.result, &mut step.thought, &mut step.app] {
        with(text);
    }
    for value in step.action.fields.values_mut() {
        if let serde_json::Value::String(text) = value {
            with(text);
        }
    }
    let target = &mut step.target;
    let texts = [
        &mut target.text,
        &mut target.resource_id,
        &mut target.content_desc,
        &mut target.class_name,
    ];
    texts.into_iter().flatten().for_each(with);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_are_the_usual_ones() {
        assert_eq!(base64("correct-Horse-FAKE-77!", false), "Y29ycmVjdC1Ib3JzZS1GQUtFLTc3IQ");
        assert_eq!(base64("a?>", true), "YT8-");
        assert_eq!(percent("a b/ã"), "a%20b%2F%C3%A3");
    }

    #[test]
    fn words_are_whole() {
        let mut text = "robin and robins at /home/robin/x".to_owned();
        assert_eq!(replace_words(&mut text, "/home/robin", "~"), 1);
        assert_eq!(replace_words(&mut text, "robin", "{{user}}"), 1);
        assert_eq!(text, "{{user}} and robins at ~/x");
    }
}
