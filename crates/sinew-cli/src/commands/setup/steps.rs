//! The steps of setting up: each is asked for, done, and told.

use serde::Serialize;
use sinew_engine::connect::{ConnectParts, ConnectRequest, ConnectScope, FileChangeStatus};
use sinew_engine::{Engine, EngineError, ImportRequest, ImportStatus, SkillImportMode};
use sinew_settings::ErrorCode;
use sinew_settings::config::ModelChoice;

use super::record::SetupRecord;
use super::{SetupArgs, SetupStage};
use crate::commands::connect;
use crate::printer::Printer;
use crate::render;

/// A step, and what became of it.
#[derive(Debug, Serialize)]
pub(super) struct SetupStep {
    pub(super) stage: SetupStage,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) agent: Option<&'static str>,
    pub(super) status: StepStatus,
    pub(super) detail: String,
}

/// What became of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum StepStatus {
    Done,
    /// There was nothing to do.
    Unchanged,
    /// The user said no.
    Declined,
    /// It would be done.
    Planned,
    Failed,
}

/// Whether a step is taken.
enum StepConsent {
    Yes,
    No,
    /// Only what would happen is told.
    DryRun,
}

/// Takes the steps, one by one.
pub(super) struct SetupWizard<'a> {
    args: &'a SetupArgs,
    engine: &'a Engine,
    out: &'a mut Printer,
    record: SetupRecord,
    steps: Vec<SetupStep>,
}

impl<'a> SetupWizard<'a> {
    /// Without a terminal nothing can be asked, and `--yes` has to say so.
    pub(super) fn begin(
        args: &'a SetupArgs,
        engine: &'a Engine,
        out: &'a mut Printer,
    ) -> Result<Self, EngineError> {
        if !args.yes && !args.dry_run && !out.can_ask() {
            let message = "setup asks before each step, and there is no terminal to ask on";
            return Err(EngineError::new(ErrorCode::NeedsATerminal, message)
                .hint("`sinew setup --yes` takes every step, `--dry-run` shows them"));
        }
        let record = SetupRecord::read(engine)?;
        Ok(Self { args, engine, out, record, steps: Vec::new() })
    }

    /// Connects the agents that are here, each after a question.
    pub(super) fn connect(&mut self) -> Result<(), EngineError> {
        for agent in self.engine.connect().connections()? {
            if !agent.found || !agent.files.is_empty() {
                if !agent.files.is_empty() {
                    let detail = format!("{} is connected already", agent.title);
                    self.note(
                        SetupStage::Connect,
                        Some(agent.agent),
                        StepStatus::Unchanged,
                        detail,
                    );
                }
                continue;
            }
            // One agent whose files are broken does not keep the others out.
            if let Err(error) = self.connect_one(agent.agent, agent.title) {
                let detail = format!("{} could not be connected: {}", agent.title, error.message);
                self.note(SetupStage::Connect, Some(agent.agent), StepStatus::Failed, detail);
            }
        }
        Ok(())
    }

    fn connect_one(&mut self, agent: &'static str, title: &str) -> Result<(), EngineError> {
        let request = ConnectRequest {
            agent: agent.to_owned(),
            scope: ConnectScope::User,
            parts: ConnectParts::default(),
            http: None,
            allow_read: false,
            force: false,
        };
        let plan = self.engine.connect().plan(&request)?;
        let mut about = format!("{title}:");
        for file in plan.files.iter().filter(|file| file.status != FileChangeStatus::Unchanged) {
            let (added, removed) = changed_lines(&file.diff);
            let path = render::safe(&file.file.to_string_lossy());
            about.push_str(&format!("\n  {path}: {added} lines added, {removed} removed"));
        }
        let status = match self.ask(&about, &format!("Connect {title}?")) {
            StepConsent::Yes => {
                self.engine.connect().connect(&request, plan)?;
                self.record.connected(agent);
                StepStatus::Done
            }
            StepConsent::No => StepStatus::Declined,
            StepConsent::DryRun => StepStatus::Planned,
        };
        let detail = match status {
            StepStatus::Done => format!("{title} is connected"),
            StepStatus::Declined => format!("{title} was left as it is"),
            _ => format!("{title} would be connected"),
        };
        self.note(SetupStage::Connect, Some(agent), status, detail);
        Ok(())
    }

    /// Reads the folders of agents that are not read yet, where they are.
    pub(super) fn import(&mut self) -> Result<(), EngineError> {
        let mut request = ImportRequest {
            agents: Vec::new(),
            mode: SkillImportMode::Register,
            commands: false,
            write: false,
        };
        let found = self.engine.connect().import(&request)?;
        let new = found.skills.iter().filter(|skill| matches!(skill.status, ImportStatus::Added));
        let new = new.count();
        let roots: Vec<_> = found.roots.iter().filter(|root| !root.known).collect();
        if roots.is_empty() || new == 0 {
            let detail = "every folder of skills is read already".to_owned();
            self.note(SetupStage::Import, None, StepStatus::Unchanged, detail);
            return Ok(());
        }
        let paths: Vec<String> =
            roots.iter().map(|root| render::safe(&root.path.to_string_lossy())).collect();
        let about = format!("{new} skills are not read yet:\n  {}", paths.join("\n  "));
        let (status, detail) = match self.ask(&about, "Read them where they are?") {
            StepConsent::Yes => {
                request.write = true;
                self.engine.connect().import(&request)?;
                self.record.imported(roots.iter().map(|root| root.path.clone()));
                (StepStatus::Done, format!("{new} skills of other agents are read, too"))
            }
            StepConsent::No => (StepStatus::Declined, format!("{new} skills are left out")),
            StepConsent::DryRun => (StepStatus::Planned, format!("{new} skills would be read")),
        };
        self.note(SetupStage::Import, None, status, detail);
        Ok(())
    }

    /// Computes the vectors that are missing, with a bar.
    pub(super) fn index(&mut self) {
        let (routing, snapshot) = (self.engine.routing(), self.engine.snapshot());
        let pending = routing.pending_vectors(&snapshot, ModelChoice::Default);
        let (status, detail) = if pending == 0 {
            (StepStatus::Unchanged, "every skill has its vectors".to_owned())
        } else if self.args.dry_run {
            (StepStatus::Planned, format!("the vectors of {pending} skills would be computed"))
        } else {
            connect::warm_up(self.engine, self.out);
            match routing.pending_vectors(&snapshot, ModelChoice::Default) {
                0 => (StepStatus::Done, format!("the vectors of {pending} skills are computed")),
                left => (StepStatus::Failed, format!("{left} skills are without vectors")),
            }
        };
        self.note(SetupStage::Index, None, status, detail);
    }

    /// What was done, kept for `--undo`.
    pub(super) fn finish(self) -> Result<Vec<SetupStep>, EngineError> {
        self.record.write(self.engine)?;
        Ok(self.steps)
    }

    fn ask(&mut self, about: &str, question: &str) -> StepConsent {
        if self.args.dry_run {
            return StepConsent::DryRun;
        }
        if self.args.yes {
            return StepConsent::Yes;
        }
        self.out.ask(&format!("{about}\n"));
        match inquire::Confirm::new(question).with_default(true).prompt() {
            Ok(true) => StepConsent::Yes,
            Ok(false) | Err(_) => StepConsent::No,
        }
    }

    fn note(
        &mut self,
        stage: SetupStage,
        agent: Option<&'static str>,
        status: StepStatus,
        detail: String,
    ) {
        self.steps.push(SetupStep { stage, agent, status, detail });
    }
}

/// How many lines a diff adds and removes.
fn changed_lines(diff: &str) -> (usize, usize) {
    let count = |sign: char, head: &str| {
        diff.lines().filter(|line| line.starts_with(sign) && !line.starts_with(head)).count()
    };
    (count('+', "+++"), count('-', "---"))
}
