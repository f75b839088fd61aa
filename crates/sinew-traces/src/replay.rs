//! The replay script: a recorded run as a shell script that a person may read and run.
//!
//! Everything recorded is data. Every value is quoted or checked to be a number or a name; a step
//! that cannot be written safely becomes a comment that says why. sinew itself never runs a script.

use std::fmt::Write as _;

use sinew_guard::Untrusted;
use sinew_skill::content_hash;

use crate::judge::pitfalls;
use crate::names;
use crate::parameters::RunParameter;
use crate::placeholders::{self, ScriptVariables};
use crate::quote;
use crate::redact::CleanRun;
use crate::risk::{ReplayRisk, is_consent};
use crate::run::{CUT, RunStep, StepAction};
use crate::step_sentence::consent_words;

/// The header of a script: what it came from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScriptHeader<'h> {
    pub(crate) agent: &'h str,
    pub(crate) session: &'h str,
    pub(crate) generated: &'h str,
    pub(crate) fingerprint: &'h str,
    pub(crate) risk: Option<ReplayRisk>,
    /// Whether a person is asked on the way.
    pub(crate) asks: bool,
}

/// The parts that only some scripts need.
const COMMON: &str = include_str!("replay/common.sh");
const DEVICE: &str = include_str!("replay/device.sh");
const TYPING: &str = include_str!("replay/typing.sh");
const COMMAND: &str = include_str!("replay/command.sh");
const PARAMETERS: &str = include_str!("replay/parameters.sh");
const EMBEDDED: &str = include_str!("replay/embedded.sh");
const CONSENT: &str = include_str!("replay/consent.sh");
const ELEMENT: &str = include_str!("replay/element.sh");

/// The longest duration that is waited for: a day.
const MAX_MS: f64 = 86_400_000.0;

/// What there is to replay.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ReplayScript {
    /// A script.
    Text(String),
    /// A script that is longer than a file of a skill may be.
    TooLong,
    /// No step can be replayed.
    Nothing,
}

impl ReplayScript {
    pub(crate) fn text(self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text),
            Self::TooLong | Self::Nothing => None,
        }
    }
}

/// The script of a run, of less than `most` bytes.
pub(crate) fn script(
    clean: &CleanRun,
    head: &ScriptHeader<'_>,
    most: usize,
    dangerous: &dyn Fn(&str) -> bool,
) -> ReplayScript {
    let steps = &clean.run.steps;
    let fixed: Vec<usize> =
        pitfalls(steps).into_iter().filter_map(|(at, fix)| fix.map(|_| at)).collect();
    let mut slots = ScriptVariables::new(&clean.params);
    let mut body = String::new();
    let mut needs = ScriptNeeds::default();
    for (at, step) in steps.iter().enumerate() {
        let number = at + 1;
        // What cannot be written is not scanned either.
        if body.len() >= most {
            return ReplayScript::TooLong;
        }
        let _ = writeln!(body, "\n# step {number}: {}", comment(&step.action.kind));
        if fixed.contains(&at) && !is_consent(&step.action.kind) {
            body.push_str("# not replayed: it failed, and a later step put it right\n");
            continue;
        }
        match write_step(number, step, &mut slots, dangerous) {
            StepScript::Lines(lines, kind) => {
                needs.add(kind);
                body.push_str(&lines);
            }
            StepScript::Comment(why) => {
                let why = comment(&why);
                let told = quote::single(&format!("not replayed: {why}"));
                let _ = writeln!(body, "# not replayed: {why}\nskip {number} {told}");
            }
        }
    }
    if !needs.anything {
        return ReplayScript::Nothing;
    }
    let mut script = header(head);
    script.push_str(COMMON);
    let workdir = clean.run.cwd.as_deref().filter(|_| needs.commands);
    let params = slots.used(&clean.params);
    if !params.is_empty() || workdir.is_some() {
        script.push_str(PARAMETERS);
    }
    for (part, wanted) in [
        (DEVICE, needs.device),
        (TYPING, needs.typing),
        (COMMAND, needs.commands),
        (EMBEDDED, needs.embedded),
        (CONSENT, needs.consent),
        (ELEMENT, needs.elements),
    ] {
        if wanted {
            script.push_str(part);
        }
    }
    if head.risk.is_some() {
        script.push_str(
            "\nif [ \"$dry_run\" = 0 ] && [ \"${SINEW_ACK_HUMAN_AUTH:-}\" != 1 ]; then\n  \
             fail 'personal data was reached without consent; set SINEW_ACK_HUMAN_AUTH=1 to go on'\nfi\n",
        );
    }
    script.push('\n');
    for param in &params {
        script.push_str(&need(param));
    }
    if needs.commands {
        match workdir {
            Some(workdir) => {
                let value = placeholders::home_as_variable(workdir);
                let _ = writeln!(script, "need WORKDIR plain {value}");
            }
            None => script.push_str("SINEW_P_WORKDIR=${SINEW_P_WORKDIR:-.}\n"),
        }
    }
    if needs.device {
        script.push_str("find_device\n");
    }
    script.push_str(&body);
    if script.len() < most { ReplayScript::Text(script) } else { ReplayScript::TooLong }
}

#[derive(Debug, Default)]
struct ScriptNeeds {
    anything: bool,
    device: bool,
    typing: bool,
    commands: bool,
    embedded: bool,
    consent: bool,
    elements: bool,
}

/// What the lines of a step use.
#[derive(Debug, Clone, Copy)]
enum StepNeeds {
    Nothing,
    Device,
    Typing,
    DeviceShell,
    Command,
    Embedded,
    Consent,
    Element,
}

impl ScriptNeeds {
    fn add(&mut self, uses: StepNeeds) {
        // A question alone is nothing to replay.
        self.anything |= !matches!(uses, StepNeeds::Consent);
        match uses {
            StepNeeds::Consent => self.consent = true,
            StepNeeds::Element => (self.device, self.elements) = (true, true),
            StepNeeds::Nothing => {}
            StepNeeds::Device | StepNeeds::DeviceShell => self.device = true,
            StepNeeds::Typing => (self.device, self.typing) = (true, true),
            StepNeeds::Command => self.commands = true,
            StepNeeds::Embedded => (self.commands, self.embedded) = (true, true),
        }
    }
}

enum StepScript {
    Lines(String, StepNeeds),
    Comment(String),
}

fn header(head: &ScriptHeader<'_>) -> String {
    let risk = match (head.risk, head.asks) {
        (Some(risk), _) => risk.as_str(),
        (None, true) => "asks a person for consent",
        (None, false) => "none known",
    };
    format!(
        "#!/usr/bin/env bash\n\
         # Replays a recorded run. Read it before you run it.\n\
         # source: {} session {}\n\
         # generated: {}\n\
         # behavior_fingerprint: {}\n\
         # risk: {risk}\n\
         # usage: [--dry-run] [--yes] [device]; values come from SINEW_P_<NAME> or are asked for\n\
         # shellcheck disable=SC1003,SC1110,SC1111,SC1112,SC2016,SC2088  # what was recorded is quoted whole\n",
        comment(head.agent),
        comment(head.session),
        comment(head.generated),
        comment(head.fingerprint),
    )
}

/// A text for a comment: one line of plain letters.
fn comment(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_graphic() || c == ' ' { c } else { '_' };
    text.chars().take(200).map(plain).collect()
}

fn need(param: &RunParameter) -> String {
    let name = param.name.to_uppercase();
    match (&param.default, param.secret) {
        (_, true) => format!("need {name} secret\n"),
        (Some(value), _) => format!("need {name} plain {}\n", quote::single(value)),
        (None, _) => format!("need {name} plain\n"),
    }
}

fn write_step(
    number: usize,
    step: &RunStep,
    slots: &mut ScriptVariables<'_>,
    dangerous: &dyn Fn(&str) -> bool,
) -> StepScript {
    let action = &step.action;
    let gesture = |line: String| {
        let lines = format!(
            "if show {number} {}; then\n  adb -s \"$device\" shell {line}\nfi\n",
            quote::single(&line)
        );
        StepScript::Lines(lines, StepNeeds::Device)
    };
    let missing = || StepScript::Comment("a number is missing or is none".to_owned());
    match action.kind.as_str() {
        "tap" => match (number_of(action, "x"), number_of(action, "y")) {
            (Some(x), Some(y)) => gesture(format!("input tap {x} {y}")),
            _ => missing(),
        },
        "swipe" | "drag" | "long_press_drag" => {
            let ends = ["x1", "y1", "x2", "y2"].map(|field| number_of(action, field));
            let [Some(x1), Some(y1), Some(x2), Some(y2)] = ends else { return missing() };
            let ms = duration(action);
            gesture(format!("input swipe {x1} {y1} {x2} {y2} {ms}"))
        }
        "keyevent" => {
            let code = match action.fields.get("keycode") {
                Some(serde_json::Value::Number(code)) => code.to_string(),
                _ => action.text("keycode").to_owned(),
            };
            let known = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
            match !code.is_empty() && code.len() <= 60 && code.chars().all(known) {
                true => gesture(format!("input keyevent {code}")),
                false => StepScript::Comment("the key code is none".to_owned()),
            }
        }
        "launch_app" => {
            let package = action.text("packageName");
            let known = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
            match !package.is_empty() && package.len() <= 200 && package.chars().all(known) {
                true => {
                    gesture(format!("monkey -p {package} -c android.intent.category.LAUNCHER 1"))
                }
                false => StepScript::Comment("the package name is none".to_owned()),
            }
        }
        "wait" => {
            let ms = action.number("durationMs").unwrap_or(0.0).clamp(100.0, MAX_MS);
            let seconds = ms / 1000.0;
            let line = format!("sleep {seconds}");
            let lines = format!("if show {number} {}; then\n  {line}\nfi\n", quote::single(&line));
            StepScript::Lines(lines, StepNeeds::Nothing)
        }
        "type" => type_text(number, action, slots),
        "shell" => device_command(number, action, slots, dangerous),
        "exec" => command(number, action, slots, dangerous),
        "run_script" => embedded(number, action, dangerous),
        // A question to the user stops the replay where the run stopped, whatever was asked.
        kind if is_consent(kind) || kind.starts_with("request_user_") => {
            let what = one_line(&consent_words(action));
            let lines = format!("human_auth {number} {}\n", quote::single(&what));
            StepScript::Lines(lines, StepNeeds::Consent)
        }
        "tap_element" => tap_element(number, step, slots),
        _ => StepScript::Comment("nothing to run".to_owned()),
    }
}

/// A tap on an element is looked up on the screen again, by everything that is known of it. One that cannot
/// be looked up stops the replay: what follows it was meant for another screen.
fn tap_element(number: usize, step: &RunStep, slots: &mut ScriptVariables<'_>) -> StepScript {
    let target = &step.target;
    let known = [
        ("resource-id", &target.resource_id),
        ("text", &target.text),
        ("content-desc", &target.content_desc),
    ];
    let mut words = String::new();
    let mut is_known = true;
    for (attribute, value) in known {
        let Some(value) = value.as_deref().filter(|value| !value.trim().is_empty()) else {
            continue;
        };
        let written = match slots.variable_for(value) {
            Some(variable) => format!("\"${variable}\""),
            None if unsafe_text(value).is_none()
                && !placeholders::has_any(value)
                && !value.contains('\n') =>
            {
                quote::single(value)
            }
            None => {
                is_known = false;
                continue;
            }
        };
        let _ = write!(words, " {attribute} {written}");
    }
    let lines = match is_known && !words.is_empty() {
        true => format!("tap_element {number}{words}\n"),
        false => format!(
            "[ \"$dry_run\" = 1 ] || fail 'step {number}: the element that was tapped is not known; tap it \
             by hand and go on from there'\n"
        ),
    };
    StepScript::Lines(lines, StepNeeds::Element)
}

/// A text on one line, in its own letters: what a person is asked must be readable.
fn one_line(text: &str) -> String {
    Untrusted::new(text).prompt_chars().filter(|c| !c.is_control()).take(200).collect()
}

fn type_text(number: usize, action: &StepAction, slots: &mut ScriptVariables<'_>) -> StepScript {
    let text = action.text("text");
    if let Some(why) = unsafe_text(text) {
        return StepScript::Comment(why);
    }
    let (value, shown) = match slots.variable_for(text) {
        Some(variable) => (format!("\"${variable}\""), text.to_owned()),
        None if placeholders::has_any(text) => {
            return StepScript::Comment("the text holds something that was redacted".to_owned());
        }
        None => (quote::single(text), text.to_owned()),
    };
    let shown = quote::single(&format!("type {shown}"));
    let lines = format!("if show {number} {shown}; then\n  type_text {value}\nfi\n");
    StepScript::Lines(lines, StepNeeds::Typing)
}

fn device_command(
    number: usize,
    action: &StepAction,
    slots: &mut ScriptVariables<'_>,
    dangerous: &dyn Fn(&str) -> bool,
) -> StepScript {
    let command = action.text("command");
    if let Some(why) = unsafe_text(command) {
        return StepScript::Comment(why);
    }
    // Variables of this machine do not exist on the device.
    if placeholders::has_any(command) || slots.variable_for(command).is_some() {
        return StepScript::Comment("the command holds something that was redacted".to_owned());
    }
    let level = if dangerous(command) { "danger" } else { "ask" };
    let quoted = quote::single(command);
    let lines = format!(
        "if ask {number} {level} {quoted}; then\n  adb -s \"$device\" shell {quoted}\nfi\n"
    );
    StepScript::Lines(lines, StepNeeds::DeviceShell)
}

fn command(
    number: usize,
    action: &StepAction,
    slots: &mut ScriptVariables<'_>,
    dangerous: &dyn Fn(&str) -> bool,
) -> StepScript {
    let command = action.text("command");
    if command.trim().is_empty() {
        return StepScript::Comment("the command was not kept".to_owned());
    }
    if let Some(why) = unsafe_text(command) {
        return StepScript::Comment(why);
    }
    let Some(expanded) = slots.in_command(command) else {
        return StepScript::Comment(
            "something was redacted where no variable can stand; put it in by hand".to_owned(),
        );
    };
    let level = if dangerous(command) { "danger" } else { "ask" };
    let lines = format!("run_command {number} {level} {}\n", quote::single(&expanded));
    StepScript::Lines(lines, StepNeeds::Command)
}

fn embedded(number: usize, action: &StepAction, dangerous: &dyn Fn(&str) -> bool) -> StepScript {
    let script = action.text("script");
    if script.is_empty() {
        return StepScript::Comment("the script was not kept".to_owned());
    }
    if let Some(why) = unsafe_text(script) {
        return StepScript::Comment(why);
    }
    if placeholders::has_any(script) {
        return StepScript::Comment(
            "the script holds something that was redacted; put it in by hand".to_owned(),
        );
    }
    let level = if dangerous(script) { "danger" } else { "ask" };
    let mark = delimiter(script);
    let end = if script.ends_with('\n') { "" } else { "\n" };
    // As many bytes as were recorded: a script that ends without a line end stays so.
    let lines = format!(
        "new_file\nhead -c {} >\"$file\" <<'{mark}'\n{script}{end}{mark}\nrun_file {number} {level}\n",
        script.len()
    );
    StepScript::Lines(lines, StepNeeds::Embedded)
}

/// A here-document delimiter that does not occur in the script.
fn delimiter(script: &str) -> String {
    let mark = |round: u32| {
        format!("SINEW_{}", &content_hash(format!("{round}{script}").as_bytes())[..16])
    };
    (0..).map(mark).find(|mark| script.lines().all(|line| line != mark)).unwrap_or_default()
}

/// Why a text cannot stand in a script, if it cannot.
fn unsafe_text(text: &str) -> Option<String> {
    if text.ends_with(CUT) {
        return Some("it was too long to be kept whole".to_owned());
    }
    if text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
        return Some("it holds control characters".to_owned());
    }
    let seen = Untrusted::new(text).prompt_chars().count();
    (seen != text.chars().count()).then(|| "it holds invisible characters".to_owned())
}

/// A number of an action as a script writes it.
pub(crate) fn number(action: &StepAction, field: &str) -> Option<String> {
    number_of(action, field)
}

fn number_of(action: &StepAction, field: &str) -> Option<String> {
    let number = action.number(field)?;
    let whole = number.round();
    // No screen is larger, so a larger number is not a coordinate.
    (whole.abs() <= 1_000_000_000.0).then(|| format!("{whole:.0}"))
}

/// How long a gesture takes, by OpenPocket's defaults and minimums.
fn duration(action: &StepAction) -> String {
    let part = |field: &str, default: f64, least: f64| {
        action.number(field).unwrap_or(default).clamp(least, MAX_MS)
    };
    let ms = match action.kind.as_str() {
        "swipe" => part("durationMs", 300.0, 100.0),
        "drag" => part("durationMs", 360.0, 100.0),
        _ => part("holdMs", 450.0, 120.0) + part("durationMs", 300.0, 100.0),
    };
    format!("{ms:.0}")
}

/// The script's name beside a skill.
pub const FILE: &str = "scripts/replay.sh";

/// The stem of a draft's files in OpenPocket's folders.
pub fn stem(task: &str, fingerprint: &str, strict: bool, now: u64) -> String {
    let slug = if strict { names::strict_slug(task, fingerprint) } else { names::slug(task) };
    format!("{}-{slug}", names::stamp(now))
}
