//! The person at the terminal, or the script that runs us.

use std::ffi::OsString;
use std::time::Duration;

use sinew_cortex::acquire::UseReport;
use sinew_cortex::failure::FailureKind;
use sinew_cortex::record::OutcomeReporter;
use sinew_engine::acquire::{AcquireHost, AcquireProgress, PauseEnd, ReadySkill};
use sinew_engine::approval::{ApprovalAnswer, ApprovalQuestion, Approver, ConsentChannel};
use sinew_engine::{Engine, ExecRequest};
use sinew_exec::child::{OutputStream, ProcessControl, StdoutMode};
use sinew_exec::run::RetryPolicy;
use sinew_settings::Actor;

use super::progress;
use crate::commands::approve;
use crate::commands::terminal_approver::{GivenAnswers, TerminalApprover};
use crate::printer::Printer;
use crate::{keys, signals, stdin};

/// The user who typed the command.
pub(crate) struct TerminalHost<'a> {
    approver: TerminalApprover<'a>,
    /// The command that uses the skill.
    command: &'a [OsString],
    /// No events are wanted, or their reader is gone.
    quiet: bool,
}

impl<'a> TerminalHost<'a> {
    pub(crate) fn new(
        engine: &'a Engine,
        out: &'a mut Printer,
        candidates: &'a [String],
        command: &'a [OsString],
    ) -> Self {
        let given = GivenAnswers { candidates, ..GivenAnswers::default() };
        Self { approver: TerminalApprover::new(engine, out, given), command, quiet: false }
    }

    /// A caller that reports an outcome: the answer is one document, without the events on the way.
    pub(crate) fn reporting(engine: &'a Engine, out: &'a mut Printer) -> Self {
        let quiet = out.is_json();
        let approver = TerminalApprover::new(engine, out, GivenAnswers::default());
        Self { approver, command: &[], quiet }
    }
}

impl Approver for TerminalHost<'_> {
    fn ask(&mut self, question: &ApprovalQuestion<'_>) -> ApprovalAnswer {
        self.approver.ask(question)
    }
}

impl AcquireHost for TerminalHost<'_> {
    fn on_progress(&mut self, told: &AcquireProgress<'_>) {
        if self.quiet {
            return;
        }
        match self.approver.out.is_json() {
            // A run goes on without a reader: it is in the database.
            true => self.quiet = self.approver.out.json_line(told).is_err(),
            false => progress::print_progress(told, self.approver.out),
        }
    }

    fn respondent(&self) -> (Actor, ConsentChannel) {
        (approve::terminal_person(self.approver.engine), ConsentChannel::Cli)
    }

    fn offer_cancel(&mut self, ms: u64) -> PauseEnd {
        if !self.approver.out.can_ask() {
            std::thread::sleep(Duration::from_millis(ms));
            return PauseEnd::Passed;
        }
        self.approver.out.ask(&format!("   c cancels within {} seconds\n", ms.div_ceil(1000)));
        match keys::within(Duration::from_millis(ms), &['c', 'q', 'n']) {
            Ok(Some(_)) | Err(_) => PauseEnd::Cancelled,
            Ok(None) => PauseEnd::Passed,
        }
    }

    fn use_skill(&mut self, ready: &ReadySkill<'_>) -> Option<UseReport> {
        if self.command.is_empty() {
            return None;
        }
        let control = ProcessControl::default();
        signals::forward(&control);
        let json = self.approver.out.is_json();
        let request = ExecRequest {
            argv: self.command,
            region: None,
            timeout: None,
            stdin: stdin::stdin(),
            // Standard output is the stream of events where there is one.
            stdout: if json { StdoutMode::Keep } else { StdoutMode::Inherit },
            // The run itself tries again.
            retry: RetryPolicy::Never,
        };
        let out = &mut *self.approver.out;
        let mut pass = |stream: OutputStream, bytes: &[u8]| {
            if stream == OutputStream::Err || json {
                out.pass_error(bytes);
            }
        };
        match self.approver.engine.exec().run_in_acquisition(
            ready.folder,
            request,
            &control,
            &mut pass,
        ) {
            Ok(finish) => Some(finish),
            Err(error) => Some(UseReport {
                detail: Some(error.message),
                ..UseReport::failure(FailureKind::RuntimeError)
            }),
        }
    }

    fn ask_outcome(&mut self, slug: &str) -> Option<UseReport> {
        let question =
            format!("{slug} was cut short. How did it go? [o]k [f]ailed [u]nknown [q]uit ");
        let finish = match self.approver.key(&question, "ofuq")? {
            'o' => UseReport::success(),
            'u' => UseReport::unknown(),
            'f' => UseReport::failure(self.kind()?),
            _ => return None,
        };
        Some(UseReport { origin: OutcomeReporter::User, ..finish })
    }

    fn confirm_credentials(&mut self, slug: &str, names: &[String]) -> Option<bool> {
        let names =
            if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
        let question =
            format!("{slug} was refused{names}. Are the credentials right now? [y]es [n]o [q]uit ");
        match self.approver.key(&question, "ynq")? {
            'y' => Some(true),
            'n' => Some(false),
            _ => None,
        }
    }
}

impl TerminalHost<'_> {
    /// How a use failed, by one key.
    fn kind(&mut self) -> Option<FailureKind> {
        let question = "Why? [m] not what it says [e]rror [a]ccess refused [p] program missing [s]ervice failed ";
        match self.approver.key(question, "meaps")? {
            'm' => Some(FailureKind::TaskMismatch),
            'e' => Some(FailureKind::RuntimeError),
            'a' => Some(FailureKind::AuthError),
            'p' => Some(FailureKind::DependencyMissing),
            _ => Some(FailureKind::ApiError),
        }
    }
}
