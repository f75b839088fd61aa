//! The person at the terminal, or the script that runs us.

use std::ffi::OsString;
use std::time::Duration;

use sinew_cortex::acquire::{AcquireRun, UseReport};
use sinew_cortex::failure::FailureKind;
use sinew_cortex::record::OutcomeReporter;
use sinew_engine::acquire::{AcquireHost, AcquireProgress, AcquireReply, PauseEnd, ReadySkill};
use sinew_engine::approval::{
    Approval, ApprovalResponse, ConsentAct, ConsentChannel, ConsentScope,
};
use sinew_engine::{Engine, ExecRequest};
use sinew_exec::child::{OutputStream, ProcessControl, StdoutMode};
use sinew_exec::run::RetryPolicy;
use sinew_settings::Actor;

use super::progress;
use crate::commands::approve;
use crate::printer::Printer;
use crate::{keys, signals, stdin};

/// The user who typed the command.
pub(crate) struct TerminalHost<'a> {
    engine: &'a Engine,
    out: &'a mut Printer,
    /// Skills that were agreed to beforehand, as `slug@digest`.
    yes_to: &'a [String],
    /// The command that uses the skill.
    command: &'a [OsString],
    /// No events are wanted, or their reader is gone.
    quiet: bool,
}

impl<'a> TerminalHost<'a> {
    pub(crate) fn new(
        engine: &'a Engine,
        out: &'a mut Printer,
        yes_to: &'a [String],
        command: &'a [OsString],
    ) -> Self {
        Self { engine, out, yes_to, command, quiet: false }
    }

    /// A caller that reports an outcome: the answer is one document, without the events on the way.
    pub(crate) fn reporting(engine: &'a Engine, out: &'a mut Printer) -> Self {
        let quiet = out.is_json();
        Self { engine, out, yes_to: &[], command: &[], quiet }
    }

    /// A key from the user at the terminal; `None` without a terminal or at the end of input.
    fn key(&mut self, question: &str, allowed: &str) -> Option<char> {
        if !self.out.can_ask() {
            return None;
        }
        self.out.ask(question);
        loop {
            match keys::next(true).ok()? {
                Some(key) if allowed.contains(key) => {
                    self.out.ask(&format!("{key}\n"));
                    return Some(key);
                }
                Some(_) => {}
                None => {
                    self.out.ask("\n");
                    return None;
                }
            }
        }
    }

    /// Whether the question is about a skill that was agreed to on the command line.
    fn was_agreed_to(&self, approval: &Approval) -> bool {
        let covered = matches!(
            approval.kind,
            ConsentAct::Install | ConsentAct::Plan | ConsentAct::SwitchCandidate
        );
        let digest = approval.subject.content.digest.as_deref().unwrap_or_default();
        let named = format!("{}@{digest}", approval.subject.name);
        covered && self.yes_to.contains(&named)
    }
}

impl AcquireHost for TerminalHost<'_> {
    fn on_progress(&mut self, told: &AcquireProgress<'_>) {
        if self.quiet {
            return;
        }
        match self.out.is_json() {
            // A run goes on without a reader: it is in the database.
            true => self.quiet = self.out.json_line(told).is_err(),
            false => progress::print_progress(told, self.out),
        }
    }

    fn respondent(&self) -> (Actor, ConsentChannel) {
        (approve::terminal_person(self.engine), ConsentChannel::Cli)
    }

    fn answer(&mut self, approval: &Approval, run: &AcquireRun) -> AcquireReply {
        if self.was_agreed_to(approval) {
            return AcquireReply::Said(ApprovalResponse::Yes(ConsentScope::OnlyThis));
        }
        if !self.out.can_ask() {
            return AcquireReply::Later;
        }
        let mut text = String::new();
        if approve::show(&mut text, approval).is_ok() {
            self.out.ask(&text);
        }
        let is_install = approval.kind == ConsentAct::Install;
        let only = is_install && !approval.also.is_empty();
        let others = is_install && !run.others;
        let mut question = "[y]es".to_owned();
        let mut allowed = "ynqc".to_owned();
        if only {
            question += " [o]nly the first";
            allowed.push('o');
        }
        if others {
            question += " [m]ore like these";
            allowed.push('m');
        }
        question += " [n]o [c]ancel [q]uit ";
        match self.key(&question, &allowed) {
            Some('y') => AcquireReply::YES,
            Some('o') => AcquireReply::Said(ApprovalResponse::Yes(ConsentScope::OnlyThis)),
            Some('m') => AcquireReply::Others,
            Some('n') => AcquireReply::NO,
            Some('c') => AcquireReply::Cancel,
            _ => AcquireReply::Later,
        }
    }

    fn offer_cancel(&mut self, ms: u64) -> PauseEnd {
        if !self.out.can_ask() {
            std::thread::sleep(Duration::from_millis(ms));
            return PauseEnd::Passed;
        }
        self.out.ask(&format!("   c cancels within {} seconds\n", ms.div_ceil(1000)));
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
        let json = self.out.is_json();
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
        let out = &mut *self.out;
        let mut pass = |stream: OutputStream, bytes: &[u8]| {
            if stream == OutputStream::Err || json {
                out.pass_error(bytes);
            }
        };
        match self.engine.exec().run_in_acquisition(ready.folder, request, &control, &mut pass) {
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
        let finish = match self.key(&question, "ofuq")? {
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
        match self.key(&question, "ynq")? {
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
        match self.key(question, "meaps")? {
            'm' => Some(FailureKind::TaskMismatch),
            'e' => Some(FailureKind::RuntimeError),
            'a' => Some(FailureKind::AuthError),
            'p' => Some(FailureKind::DependencyMissing),
            _ => Some(FailureKind::ApiError),
        }
    }
}
