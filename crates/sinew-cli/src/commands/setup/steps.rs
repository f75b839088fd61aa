//! The steps of setting up: each is asked for, done, and told.

use serde::Serialize;
use sinew_engine::connect::{ConnectParts, ConnectRequest, ConnectScope, FileChangeStatus};
use sinew_engine::{
    COMPARE_TIME, Engine, EngineError, HostComparison, ImportRequest, ImportStatus, SkillImportMode,
};
use sinew_settings::ErrorCode;
use sinew_settings::config::ModelChoice;

use super::record::SetupRecord;
use super::{SetupArgs, SetupStage, proof};
use crate::background;
use crate::commands::connect;
use crate::printer::Printer;
use crate::question;
use crate::render;

/// A step, and what became of it.
#[derive(Debug, Serialize)]
pub(super) struct SetupStep {
    pub(super) stage: SetupStage,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) agent: Option<&'static str>,
    pub(super) status: StepStatus,
    pub(super) detail: String,
    /// What the user has to do for it to work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) note: Option<&'static str>,
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

    /// Every step that was asked for.
    pub(super) fn take_steps(&mut self) -> Result<(), EngineError> {
        if self.args.wants(SetupStage::Connect) {
            self.connect()?;
        }
        if self.args.wants(SetupStage::Import) {
            self.import()?;
        }
        if self.args.wants(SetupStage::Index) {
            self.index()?;
        }
        if self.args.wants(SetupStage::Compare) {
            self.compare()?;
        }
        Ok(())
    }

    /// Connects the agents that are here, each after a question.
    fn connect(&mut self) -> Result<(), EngineError> {
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
                if error.code == ErrorCode::NotConfirmed {
                    return Err(error);
                }
                let detail = format!("{} could not be connected: {}", agent.title, error.message);
                self.note(SetupStage::Connect, Some(agent.agent), StepStatus::Failed, detail);
            }
        }
        Ok(())
    }

    fn connect_one(&mut self, agent: &'static str, title: &str) -> Result<(), EngineError> {
        let mut request = ConnectRequest {
            agent: agent.to_owned(),
            scope: ConnectScope::User,
            parts: ConnectParts::default(),
            http: None,
            allow_read: false,
            force: false,
        };
        let mut plan = self.engine.connect().plan(&request)?;
        let note = plan.note;
        let mut about = format!("{title}:");
        for file in plan.files.iter().filter(|file| file.status != FileChangeStatus::Unchanged) {
            let path = render::safe(&file.file.to_string_lossy());
            about.push_str(&format!("\n  {path}: {}", connect::changed_lines(&file.diff)));
        }
        let status = match self.ask(&about, &format!("Connect {title}?"))? {
            StepConsent::Yes => {
                // What an agent may do unasked is never widened by --yes.
                let reads =
                    format!("May {title} call sinew's tools that only read without asking?");
                if plan.offers_allow_read && !self.args.yes && question::confirmed(&reads, true)? {
                    request.allow_read = true;
                    plan = self.engine.connect().plan(&request)?;
                }
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
        if let (StepStatus::Done, Some(step)) = (status, self.steps.last_mut()) {
            step.note = note;
        }
        Ok(())
    }

    /// Reads the folders of agents that are not read yet, where they are.
    fn import(&mut self) -> Result<(), EngineError> {
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
        let new = if new == 1 { "1 skill".to_owned() } else { format!("{new} skills") };
        let about = format!("{new} that no agent shared so far:\n  {}", paths.join("\n  "));
        let (status, detail) = match self.ask(&about, "Read them where they are?")? {
            StepConsent::Yes => {
                request.write = true;
                self.engine.connect().import(&request)?;
                self.record.imported(roots.iter().map(|root| root.path.clone()));
                (StepStatus::Done, format!("{new} of other agents can be used, too"))
            }
            StepConsent::No => (StepStatus::Declined, format!("{new} of other agents left out")),
            StepConsent::DryRun => (StepStatus::Planned, format!("{new} would be read")),
        };
        self.note(SetupStage::Import, None, status, detail);
        Ok(())
    }

    /// Computes the vectors that are missing, with a bar. Without them skills are found by their words,
    /// and a process in the background computes them sooner or later.
    fn index(&mut self) -> Result<(), EngineError> {
        let (routing, snapshot) = (self.engine.routing(), self.engine.snapshot());
        let pending = routing.pending_vectors(&snapshot, ModelChoice::Default);
        if pending == 0 {
            let detail = "every skill has its vectors".to_owned();
            self.note(SetupStage::Index, None, StepStatus::Unchanged, detail);
            return Ok(());
        }
        let about =
            format!("{pending} skills cannot be found by meaning yet, only by their words.");
        let (status, detail) = match self.ask(&about, "Compute their vectors now?")? {
            StepConsent::DryRun => {
                (StepStatus::Planned, format!("the vectors of {pending} skills would be computed"))
            }
            StepConsent::No => {
                background::request_work(self.engine.environment(), self.engine.options());
                let detail = format!("the vectors of {pending} skills are left to the background");
                (StepStatus::Declined, detail)
            }
            StepConsent::Yes => {
                connect::warm_up(self.engine, self.out);
                match routing.pending_vectors(&snapshot, ModelChoice::Default) {
                    0 => {
                        (StepStatus::Done, format!("the vectors of {pending} skills are computed"))
                    }
                    left => (StepStatus::Failed, format!("{left} skills are without vectors")),
                }
            }
        };
        self.note(SetupStage::Index, None, status, detail);
        Ok(())
    }

    /// Asks each agent that is here for its own list of skills. One that cannot be asked, because it
    /// wants an account or is only a folder here, is no fault of this machine.
    fn compare(&mut self) -> Result<(), EngineError> {
        let agents = self.engine.comparable_agents();
        if agents.is_empty() {
            return Ok(());
        }
        let about = format!(
            "{} can say which skills they see; nothing leaves this machine:",
            agents.join(", ")
        );
        let consent = self.ask(&about, "Start each, and compare?")?;
        for agent in agents {
            let (status, detail) = match consent {
                StepConsent::Yes => match self.engine.compare_host(agent, COMPARE_TIME) {
                    Ok(found) => comparison_step(&found),
                    Err(error) => {
                        (StepStatus::Unchanged, format!("{agent} gave no list: {}", error.message))
                    }
                },
                StepConsent::No => {
                    (StepStatus::Declined, format!("{agent}'s own list was not asked for"))
                }
                StepConsent::DryRun => {
                    (StepStatus::Planned, format!("{agent} would be asked for its own list"))
                }
            };
            self.note(SetupStage::Compare, Some(agent), status, detail);
        }
        Ok(())
    }

    /// Whether a message is sent through a connected agent's hook at the end.
    pub(super) fn wants_proof(&mut self) -> Result<bool, EngineError> {
        if !self.args.wants(SetupStage::Prove) {
            return Ok(false);
        }
        let Some(title) = proof::agent_to_ask(self.engine)?.map(|agent| agent.title) else {
            return Ok(false);
        };
        let about = format!("A message that no model sees shows whether {title} gets its skill.");
        let (status, detail) = match self.ask(&about, "Send it through the hook?")? {
            StepConsent::Yes => return Ok(true),
            StepConsent::No => (StepStatus::Declined, format!("{title}'s hook was not tried")),
            StepConsent::DryRun => {
                (StepStatus::Planned, format!("a message would go through {title}'s hook"))
            }
        };
        self.note(SetupStage::Prove, None, status, detail);
        Ok(false)
    }

    /// What was done, kept for `--undo`; also where a person stopped half-way. With whether it is to be
    /// proved.
    pub(super) fn finish(
        self,
        taken: Result<bool, EngineError>,
    ) -> Result<(Vec<SetupStep>, bool), EngineError> {
        self.record.write(self.engine)?;
        taken.map(|proves| (self.steps, proves))
    }

    fn ask(&mut self, about: &str, question: &str) -> Result<StepConsent, EngineError> {
        if self.args.dry_run {
            // What would be asked about is what a person wants to see first.
            if !self.out.is_json() {
                self.out.ask(&format!("{about}\n"));
            }
            return Ok(StepConsent::DryRun);
        }
        if self.args.yes {
            return Ok(StepConsent::Yes);
        }
        self.out.ask(&format!("\n{about}\n"));
        Ok(match question::confirmed(question, true)? {
            true => StepConsent::Yes,
            false => StepConsent::No,
        })
    }

    fn note(
        &mut self,
        stage: SetupStage,
        agent: Option<&'static str>,
        status: StepStatus,
        detail: String,
    ) {
        self.steps.push(SetupStep { stage, agent, status, detail, note: None });
    }
}

fn comparison_step(found: &HostComparison) -> (StepStatus, String) {
    let HostComparison { title, agent, host_total, explained, unexplained, .. } = found;
    if found.is_explained() {
        let told = match explained {
            0 => String::new(),
            _ => format!(", {explained} with a reason to differ"),
        };
        return (
            StepStatus::Done,
            format!("{title} lists {host_total} skills, as sinew does{told}"),
        );
    }
    let detail = format!(
        "{title} and sinew differ in {unexplained} skills without a known reason: `sinew doctor --compare {agent}`"
    );
    (StepStatus::Failed, detail)
}
