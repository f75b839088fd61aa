//! The person at the terminal, or the script that runs us.

use std::ffi::OsString;
use std::time::Duration;

use sinew_cortex::acquire::UseReport;
use sinew_cortex::failure::FailureKind;
use sinew_cortex::record::OutcomeReporter;
use sinew_engine::acquire::{AcquireHost, AcquireProgress, CandidateSummary, PauseEnd, ReadySkill};
use sinew_engine::approval::{
    ApprovalAnswer, ApprovalQuestion, Approver, ConsentAct, ConsentChannel,
};
use sinew_engine::{Engine, EngineError, ExecRequest, SandboxChoice, SandboxGrants};
use sinew_exec::child::{OutputStream, ProcessControl, StdoutMode};
use sinew_exec::run::RetryPolicy;
use sinew_settings::{Actor, ErrorCode};

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
    /// The candidates that were shown, with their digests.
    shown: Vec<(String, String)>,
    /// The candidate that was named on the command line, until it was asked about.
    pick: Option<&'a str>,
    /// What it named, where that is none of those that were shown.
    missed: Option<&'a str>,
    /// The candidates that were agreed to on the command line, as `slug@digest`.
    agreed: &'a [String],
}

impl<'a> TerminalHost<'a> {
    pub(crate) fn new(
        engine: &'a Engine,
        out: &'a mut Printer,
        candidates: &'a [String],
        command: &'a [OsString],
    ) -> Self {
        let given = GivenAnswers { candidates, ..GivenAnswers::default() };
        let approver = TerminalApprover::new(engine, out, given);
        let shown = Vec::new();
        Self {
            approver,
            command,
            quiet: false,
            shown,
            pick: None,
            missed: None,
            agreed: candidates,
        }
    }

    /// With a candidate that was named on the command line.
    pub(super) fn picking(self, pick: Option<&'a str>) -> Self {
        Self { pick, ..self }
    }

    /// Why the candidate that was named on the command line was not asked about.
    pub(super) fn check_pick(&self, run: &str) -> Result<(), EngineError> {
        let Some(missed) = self.missed else { return Ok(()) };
        let names: Vec<&str> = self.shown.iter().map(|(slug, _)| slug.as_str()).collect();
        let message = format!("`{missed}` is none of the candidates that were shown");
        let hint = match names.as_slice() {
            [] => "nothing was shown".to_owned(),
            names => {
                let numbered =
                    names.iter().zip(1..).map(|(name, number)| format!("{number} {name}"));
                let numbered: Vec<String> = numbered.collect();
                format!("shown were {}", numbered.join(", "))
            }
        };
        Err(EngineError::new(ErrorCode::BadParameter, message)
            .hint(hint)
            .hint(format!("`sinew acquire --resume {run} --pick <number>` asks about one")))
    }

    /// The candidate that the command line wants instead of the one that is asked about.
    fn wanted(&mut self, subject: &str) -> Option<String> {
        let given = self.pick.take();
        let named = given.and_then(|named| match named.parse::<usize>() {
            Ok(number) => number.checked_sub(1).and_then(|at| self.shown.get(at)),
            Err(_) => self.shown.iter().find(|(slug, _)| slug == named),
        });
        self.missed = given.filter(|_| named.is_none());
        let is_agreed =
            |(slug, digest): &&(String, String)| self.agreed.contains(&format!("{slug}@{digest}"));
        let agreed = || self.shown.iter().find(is_agreed);
        let first_is_agreed =
            self.shown.iter().any(|shown| shown.0 == subject && is_agreed(&shown));
        let wanted = named.or_else(|| agreed().filter(|_| !first_is_agreed))?;
        (wanted.0 != subject).then(|| wanted.0.clone())
    }

    /// A caller that reports an outcome: the answer is one document, without the events on the way.
    pub(crate) fn reporting(engine: &'a Engine, out: &'a mut Printer) -> Self {
        let quiet = out.is_json();
        let approver = TerminalApprover::new(engine, out, GivenAnswers::default());
        let shown = Vec::new();
        Self { approver, command: &[], quiet, shown, pick: None, missed: None, agreed: &[] }
    }
}

impl Approver for TerminalHost<'_> {
    fn ask(&mut self, question: &ApprovalQuestion<'_>) -> ApprovalAnswer {
        if let ApprovalQuestion::Stored { approval, .. } = question
            && approval.kind == ConsentAct::Install
        {
            if let Some(slug) = self.wanted(&approval.subject.name) {
                return ApprovalAnswer::Pick(slug);
            }
            if self.missed.is_some() {
                return ApprovalAnswer::ABSENT;
            }
            let shown = self.shown.iter().map(|(slug, _)| slug.clone()).collect();
            return self.approver.ask_among(question, shown);
        }
        self.approver.ask(question)
    }
}

impl AcquireHost for TerminalHost<'_> {
    fn on_progress(&mut self, told: &AcquireProgress<'_>) {
        if let AcquireProgress::Candidates { candidates, .. } = told {
            let usable = |shown: &CandidateSummary| {
                (shown.slug.clone(), shown.digest.clone().unwrap_or_default())
            };
            self.shown = candidates.iter().map(usable).collect();
        }
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
            sandbox: SandboxChoice::Configured,
            grants: SandboxGrants::default(),
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
                detail: Some(error.to_string()),
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
