//! The operator's policy: a command that is run before something is installed.
//!
//! It gets one JSON object and answers with one. Anything but a clear answer counts as no.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use sinew_guard::env::is_blocked_everywhere;
use sinew_settings::config::{InstallPolicy, PolicySwitch};
use sinew_settings::{Environment, Reason, ReasonCode};

use crate::child::{
    self, ExitCause, ProcessControl, ProgramLimits, ProgramSpec, StdinMode, StdoutMode,
};
use crate::lease::EnvLeases;
use crate::output_excerpt::{KEPT_BYTES, plain_text};

/// The protocol version.
const PROTOCOL: u64 = 1;
/// The OpenClaw release that defines this protocol; policies may check it.
const OPENCLAW: &str = "2026.9.6";
/// Findings in one answer.
const MAX_FINDINGS: usize = 100;
/// Characters of one text.
const MAX_TEXT: usize = 1_000;
/// Characters of a whole warning: a person does not read more before agreeing.
const MAX_NOTICE: usize = 4_000;

/// What the policy is asked about.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicyRequest {
    /// `skill` or `plugin`.
    pub target_type: &'static str,
    /// Its name.
    pub target_name: String,
    /// Its path.
    pub source_path: PathBuf,
    /// `file` or `directory`.
    pub source_path_kind: &'static str,
    /// Where it came from, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// What kind of source that is.
    pub origin: Value,
    /// What is about to happen.
    pub request: Value,
    /// The installer, if one is to be run for a skill.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skill: Option<Value>,
}

/// The policy's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PolicyDecision {
    /// Continue.
    Allow,
    /// Continue once a person has acknowledged this.
    Warn(PolicyNotice),
    /// Stop.
    Block(PolicyNotice),
}

/// The policy's explanation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PolicyNotice {
    /// Why.
    pub reason: String,
    /// What it found.
    pub findings: Vec<PolicyFinding>,
}

/// One finding of the policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicyFinding {
    /// The policy's own name for it.
    pub rule_id: String,
    /// `info`, `warn` or `critical`.
    pub severity: String,
    /// What was found.
    pub message: String,
    /// The file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The text of the line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
}

impl PolicyNotice {
    /// The whole notice, as shown to a person.
    pub fn text(&self) -> String {
        let mut text = self.reason.clone();
        for finding in &self.findings {
            text.push_str(&format!(
                "\n{} {}: {}",
                finding.severity, finding.rule_id, finding.message
            ));
            if let Some(file) = &finding.file {
                let line = finding.line.map(|line| format!(":{line}")).unwrap_or_default();
                text.push_str(&format!(" ({file}{line})"));
            }
            if let Some(evidence) = &finding.evidence {
                text.push_str(&format!(" | {evidence}"));
            }
        }
        text
    }
}

/// Runs the policy command.
#[derive(Debug, Clone, Copy)]
pub struct PolicyCheck<'a> {
    /// The configuration.
    pub config: &'a InstallPolicy,
    /// The machine.
    pub env: &'a Environment,
    /// The current leases, whose variables the command does not get.
    pub leases: &'a EnvLeases,
}

impl PolicyCheck<'_> {
    /// Whether the policy applies to this kind of target.
    pub fn applies_to(&self, target: &str) -> bool {
        let listed = |targets: &Vec<String>| targets.iter().any(|t| t.eq_ignore_ascii_case(target));
        self.config.damaged
            || self.config.enabled == PolicySwitch::On
                && self.config.targets.as_ref().is_none_or(listed)
    }

    /// Asks the policy. An error means that there was no usable answer, so nothing may be started.
    pub fn ask(&self, request: &PolicyRequest) -> Result<PolicyDecision, Reason> {
        if !self.applies_to(request.target_type) {
            return Ok(PolicyDecision::Allow);
        }
        self.answer(request).map_err(|problem| {
            Reason::new(ReasonCode::PolicyUnavailable, format!("the installation policy {problem}"))
                .key(request.target_name.as_str())
                .remedy("correct security.installPolicy, or ask the operator of this machine")
        })
    }

    fn answer(&self, request: &PolicyRequest) -> Result<PolicyDecision, String> {
        if self.config.damaged {
            return Err("cannot be read, so nothing is installed".to_owned());
        }
        let exec = &self.config.exec;
        let file = trusted(&exec.command, &exec.trusted_dirs, self.env)?;
        let mut input = serde_json::json!({
            "protocolVersion": PROTOCOL,
            "openclawVersion": OPENCLAW,
            "sinewVersion": env!("CARGO_PKG_VERSION"),
        });
        let fields = serde_json::to_value(request).map_err(|error| error.to_string())?;
        if let (Value::Object(input), Value::Object(fields)) = (&mut input, fields) {
            input.extend(fields);
        }
        let time = Duration::from_millis(exec.timeout_ms);
        let program = ProgramSpec {
            file,
            args: exec.args.0.iter().map(Into::into).collect(),
            env: self.variables(),
            cwd: self.env.home.clone(),
            stdin: StdinMode::Bytes(input.to_string().into_bytes()),
            stdout: StdoutMode::Keep,
            limits: ProgramLimits {
                time: Some(time),
                silence: Some(exec.no_output_timeout_ms.map_or(time, Duration::from_millis)),
                // Output beyond what is captured could not be read.
                output: Some(exec.max_output_bytes.min(2 * KEPT_BYTES as u64)),
            },
        };
        let ended = child::run(program, &ProcessControl::default(), &mut |_, _| {})
            .map_err(|error| format!("cannot be run: {error}"))?;
        match ended.how {
            ExitCause::Exit(0) => {}
            ExitCause::Exit(code) => return Err(format!("failed with code {code}")),
            ExitCause::TimedOut | ExitCause::Silent => return Err("took too long".to_owned()),
            ExitCause::TooMuchOutput => return Err("wrote too much output".to_owned()),
            ExitCause::Signal(signal) => return Err(format!("was stopped by signal {signal}")),
        }
        decision(&ended.stdout.complete_bytes().unwrap_or_default())
    }

    fn variables(&self) -> BTreeMap<String, String> {
        let exec = &self.config.exec;
        let mut vars = self.leases.bystander_env(&self.env.vars);
        vars.retain(|name, _| exec.pass_env.contains(name));
        let own = exec.env.iter().filter(|(name, _)| !is_blocked_everywhere(name));
        vars.extend(own.map(|(name, value)| (name.clone(), value.clone())));
        vars
    }
}

/// The command, if only the operator can have put it there.
fn trusted(command: &str, folders: &[String], env: &Environment) -> Result<PathBuf, String> {
    let path = Path::new(command);
    if !path.is_absolute() {
        return Err("has no command with an absolute path".to_owned());
    }
    let metadata =
        fs::symlink_metadata(path).map_err(|error| format!("cannot be read: {error}"))?;
    if !metadata.is_file() {
        return Err("is a link or not a regular file".to_owned());
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let ours = rustix::process::geteuid().as_raw();
        if metadata.uid() != 0 && metadata.uid() != ours {
            return Err("belongs to another user".to_owned());
        }
        if metadata.mode() & 0o022 != 0 {
            return Err("can be changed by others".to_owned());
        }
        let folder = path.parent().and_then(|folder| fs::metadata(folder).ok());
        // In a sticky folder, users cannot replace files of others.
        if folder.is_none_or(|folder| folder.mode() & 0o1002 == 0o002) {
            return Err("is in a folder that any user can change".to_owned());
        }
    }
    let real = fs::canonicalize(path).map_err(|error| format!("cannot be read: {error}"))?;
    let inside = |folder: &String| {
        fs::canonicalize(env.expand_home(folder)).is_ok_and(|folder| real.starts_with(folder))
    };
    if !folders.is_empty() && !folders.iter().any(inside) {
        return Err("is not in a trusted folder".to_owned());
    }
    Ok(real)
}

fn decision(bytes: &[u8]) -> Result<PolicyDecision, String> {
    let answer: Value =
        serde_json::from_slice(bytes).map_err(|_| "did not answer with JSON".to_owned())?;
    if answer.get("protocolVersion").and_then(Value::as_u64) != Some(PROTOCOL) {
        return Err("speaks another protocol".to_owned());
    }
    let decision = answer.get("decision").and_then(Value::as_str).unwrap_or_default();
    let all = findings(&answer)?;
    let notice = || {
        let reason = text(&answer, "reason").filter(|reason| !reason.trim().is_empty());
        let reason = reason.ok_or_else(|| format!("answers {decision} without a reason"))?;
        let findings = all.iter().take(MAX_FINDINGS).cloned().collect();
        Ok::<PolicyNotice, String>(PolicyNotice { reason, findings })
    };
    match decision {
        "allow" => Ok(PolicyDecision::Allow),
        "block" => Ok(PolicyDecision::Block(notice()?)),
        "warn" => {
            let notice = notice()?;
            if all.len() > MAX_FINDINGS || notice.text().chars().count() > MAX_NOTICE {
                return Err("gives a warning that is too long".to_owned());
            }
            Ok(PolicyDecision::Warn(notice))
        }
        _ => Err("gave no decision".to_owned()),
    }
}

fn findings(answer: &Value) -> Result<Vec<PolicyFinding>, String> {
    let list = match answer.get("findings") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(list)) => list,
        Some(_) => return Err("gave findings that are not a list".to_owned()),
    };
    list.iter().map(|finding| one(finding).ok_or("gave an invalid finding".to_owned())).collect()
}

fn one(finding: &Value) -> Option<PolicyFinding> {
    let severity = text(finding, "severity")?;
    Some(PolicyFinding {
        rule_id: text(finding, "ruleId")?,
        severity: ["info", "warn", "critical"].contains(&severity.as_str()).then_some(severity)?,
        message: text(finding, "message")?,
        file: text(finding, "file"),
        line: finding.get("line").and_then(Value::as_u64),
        evidence: text(finding, "evidence"),
    })
}

fn text(value: &Value, key: &str) -> Option<String> {
    Some(plain_text(value.get(key)?.as_str()?).chars().take(MAX_TEXT).collect())
}
