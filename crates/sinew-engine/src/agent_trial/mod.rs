//! Trying an agent: the program that the user has is started against a model on loopback, with copies
//! of its files, and what arrives there is compared with what `connect` promised.
//!
//! What must never happen here: a file of the user that changes, a byte that leaves the machine, a
//! question, a program that outlives the trial, an outcome or a lesson that is learned from it.

mod arrival;
mod message;
mod record;
mod report;

use std::path::Path;
use std::time::Duration;

use serde_json::json;
use sinew_connect::{AgentPromise, TrialLaunch};
use sinew_exec::SecretMasker;
use sinew_exec::child::{
    self, ExitCause, FinishedProgram, ProcessControl, ProgramLimits, ProgramSpec, StdinMode,
    StdoutMode,
};
use sinew_loopback::{LoopbackModel, ModelScript, SchemaRule};
use sinew_settings::{Environment, ErrorCode};

use crate::{Engine, EngineError, EngineOptions};
use arrival::TrialEvidence;
use message::TrialMessage;
pub(crate) use message::sample_message;
pub(crate) use record::{TrialFolder, is_trial};
pub use report::{AgentTrialReport, SkillArrival, ToolCallState, TrialHook, TrialTools};

/// How long an agent may take unless the caller says otherwise: one that starts slowly needs half a
/// minute on a busy machine.
pub const DEFAULT_TRIAL_TIME: Duration = Duration::from_secs(120);

/// Bytes of output after which an agent is stopped.
const MAX_OUTPUT: u64 = 16 << 20;

/// The tool that the model calls: it reads, and changes nothing.
const CALLED_TOOL: &str = "find_skill";

/// What the model says at the end.
const LAST_WORDS: &str = "All done.";

/// How an agent is to be tried.
#[derive(Debug, Clone)]
pub struct AgentTrialRequest {
    /// The agent.
    pub agent: String,
    /// What it is asked; one that fits a skill at hand where absent.
    pub message: Option<String>,
    /// How long it may take.
    pub time: Duration,
}

impl Engine {
    /// Starts an agent against a model on loopback, and says what arrived there.
    pub fn try_agent(&self, request: &AgentTrialRequest) -> Result<AgentTrialReport, EngineError> {
        let failed = |error: std::io::Error| {
            EngineError::new(ErrorCode::TrialFailed, format!("the trial cannot begin: {error}"))
                .caused_by(error)
        };
        let promise = self.connect().promise(&request.agent)?;
        if let Some(profile) = promise.profile
            && profile != self.profile.name
            && self.options.profile.is_none()
        {
            // Its hooks see what this profile sees.
            let options =
                EngineOptions { profile: Some(profile.to_owned()), ..self.options.clone() };
            return Self::open(self.env.clone(), options)?.try_agent(request);
        }
        let snapshot = self.snapshot();
        let message = TrialMessage::choose(self, &snapshot, request.message.as_deref());
        let mut script = ModelScript::text(LAST_WORDS);
        if promise.server {
            script = script.calling(CALLED_TOOL, json!({ "message": message.text }));
        }
        // A schema that providers refuse is reported; a refusal would hide everything after it.
        let model = LoopbackModel::start(script, SchemaRule::Lenient).map_err(failed)?;
        // Only its owner may look into it: copies of configuration files lie there.
        let folder = tempfile::Builder::new().prefix("sinew-trial-").tempdir().map_err(failed)?;
        let record = TrialFolder::below(folder.path());
        std::fs::create_dir_all(record.folder()).map_err(failed)?;
        let launch = self.connect().prepare_trial(
            &request.agent,
            folder.path(),
            &model.address(),
            &message.text,
        )?;
        let program = launch.program.clone();
        let finished = run(launch, self.workspace(), request.time)?;
        let evidence = TrialEvidence {
            requests: model.requests(),
            strays: model.strays(),
            hooks: record.read(),
        };
        Ok(self.judge(&snapshot, &promise, program, &message, &evidence, &finished))
    }

    fn judge(
        &self,
        snapshot: &sinew_catalog::Snapshot,
        promise: &AgentPromise,
        program: std::path::PathBuf,
        message: &TrialMessage,
        evidence: &TrialEvidence,
        finished: &FinishedProgram,
    ) -> AgentTrialReport {
        let body = message.skill.as_deref().and_then(|name| {
            let file = self.skills().read_file(&snapshot.catalog, name, None).ok()?;
            Some(file.text)
        });
        let mut report = AgentTrialReport::begin(promise, program, message);
        report.took_ms = u64::try_from(finished.took.as_millis()).unwrap_or(u64::MAX);
        report.note_end(finished.how, &finished.stderr.text(&SecretMasker::default()));
        evidence.fill(&mut report, promise, &snapshot.catalog, body.as_deref());
        report.conclude();
        report
    }
}

fn run(
    launch: TrialLaunch,
    workspace: &Path,
    time: Duration,
) -> Result<FinishedProgram, EngineError> {
    let spec = ProgramSpec {
        file: launch.program,
        args: launch.args.into_iter().map(Into::into).collect(),
        env: launch.vars,
        cwd: workspace.to_owned(),
        stdin: StdinMode::Null,
        stdout: StdoutMode::Keep,
        limits: ProgramLimits { time: Some(time), silence: None, output: Some(MAX_OUTPUT) },
    };
    child::run(spec, &ProcessControl::default(), &mut |_, _| {}).map_err(|error| {
        EngineError::new(ErrorCode::AgentNotInstalled, error.to_string()).caused_by(error)
    })
}

/// How a program ended, in a sentence; nothing where it ended well.
fn end_sentence(how: ExitCause) -> Option<String> {
    match how {
        ExitCause::Exit(0) => None,
        ExitCause::Exit(code) => Some(format!("it ended with exit code {code}")),
        ExitCause::Signal(signal) => Some(format!("it was ended by signal {signal}")),
        ExitCause::TimedOut | ExitCause::Silent => {
            Some("it took too long and was ended".to_owned())
        }
        ExitCause::TooMuchOutput => Some("it wrote too much and was ended".to_owned()),
    }
}

/// The machine as sinew's own processes below a tried agent see it: as it was before the trial.
pub fn environment_before_trial(mut env: Environment) -> Environment {
    sinew_connect::variables_before_trial(&mut env.vars);
    env
}
