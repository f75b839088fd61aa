//! The person at the terminal, and what they answered on the command line.

use sinew_engine::approval::{
    Approval, ApprovalAnswer, ApprovalQuestion, Approver, ConsentAct, ConsentScope, InstallProgress,
};
use sinew_engine::hub::{ApprovalMethod, InstallConcern, InstallReview, ReviewOccasion};
use sinew_engine::{DependencyQuestion, Engine, InstallStep};
use sinew_exec::install::PolicyNotice;
use sinew_exec::plain_text;
use sinew_settings::Actor;
use sinew_settings::config::{PolicySwitch, UnattendedAct};

use super::approve::{self, terminal_person};
use super::deps::command_line;
use super::hub::write_review;
use crate::keys;
use crate::printer::{Printer, ProgressBar};
use crate::render;

/// What the command line answers beforehand. A flag answers one kind of question and no other.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct GivenAnswers<'a> {
    /// Yes to installs of skills.
    pub(crate) install: bool,
    /// Yes to programs that a skill needs.
    pub(crate) dependency: bool,
    /// Yes to a missing package manager.
    pub(crate) manager: bool,
    /// Yes to a tap.
    pub(crate) tap: bool,
    /// Go on although the operator's policy warns about a program.
    pub(crate) policy: bool,
    /// Yes to these candidates, as `slug@digest`.
    pub(crate) candidates: &'a [String],
}

/// Asks at the terminal. Without one, questions about installs wait as approvals.
pub(crate) struct TerminalApprover<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) out: &'a mut Printer,
    given: GivenAnswers<'a>,
    bar: Option<ProgressBar>,
    /// Candidates of an acquisition that can be chosen by their number.
    among: Vec<String>,
}

impl<'a> TerminalApprover<'a> {
    pub(crate) fn new(engine: &'a Engine, out: &'a mut Printer, given: GivenAnswers<'a>) -> Self {
        Self { engine, out, given, bar: None, among: Vec::new() }
    }

    /// Asks about one of several candidates, which can be chosen by their number instead.
    pub(crate) fn ask_among(
        &mut self,
        question: &ApprovalQuestion<'_>,
        among: Vec<String>,
    ) -> ApprovalAnswer {
        self.among = among;
        let answer = self.ask(question);
        self.among.clear();
        answer
    }

    /// A key of the person at the terminal; `None` where there is no terminal or they leave.
    pub(crate) fn key(&mut self, question: &str, allowed: &str) -> Option<char> {
        if !self.out.can_ask() {
            return None;
        }
        self.out.ask(question);
        loop {
            match keys::next().ok()? {
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

    fn yes(&self, method: ApprovalMethod, scope: ConsentScope) -> ApprovalAnswer {
        let by = terminal_person(self.engine).to_string();
        ApprovalAnswer::Yes { by, method, reason: None, scope }
    }

    /// What a flag says: a person typed it, or the configuration lets commands without a terminal
    /// agree to this. Otherwise it says nothing, since a program may have written the command.
    fn flag(
        &mut self,
        given: bool,
        act: UnattendedAct,
        scope: ConsentScope,
    ) -> Option<ApprovalAnswer> {
        if !given {
            return None;
        }
        if self.out.at_terminal() {
            return Some(self.yes(ApprovalMethod::Flag, scope));
        }
        let word = act.as_str();
        if !covers(self.engine, act) {
            self.out.warn(&format!(
                "without a terminal a flag agrees only to what approvals.unattended lists; `{word}` is not there"
            ));
            return None;
        }
        let by = format!("approvals.unattended ({word})");
        Some(ApprovalAnswer::Yes { by, method: ApprovalMethod::Policy, reason: None, scope })
    }

    fn confirm(&mut self, question: &str) -> ApprovalAnswer {
        if !self.out.can_ask() {
            return ApprovalAnswer::ABSENT;
        }
        match inquire::Confirm::new(question).with_default(false).prompt() {
            Ok(true) => self.yes(ApprovalMethod::Prompt, ConsentScope::Listed),
            _ => ApprovalAnswer::No,
        }
    }

    /// `--yes` answers the ordinary question; each risk has a flag of its own.
    fn ask_risk(&mut self, concern: &InstallConcern) -> ApprovalAnswer {
        self.out.warn(&concern.to_string());
        self.confirm("Go on all the same?")
    }

    fn ask_install(&mut self, review: &InstallReview) -> ApprovalAnswer {
        let given = self.given.install;
        if let Some(yes) = self.flag(given, UnattendedAct::Install, ConsentScope::Listed) {
            return yes;
        }
        if !self.out.can_ask() {
            // An answer to exactly these files counts; without one, the question waits for a person.
            let asking = Actor::Agent { name: "sinew install".to_owned() };
            let answer = self.engine.hub().answer_from_approvals(review, &asking);
            return answer.unwrap_or_else(|error| {
                self.out.warn(&format!("the question was not kept: {}", error.message));
                ApprovalAnswer::ABSENT
            });
        }
        show_review(review, self.out);
        self.confirm(match review.occasion {
            ReviewOccasion::Update => "Update it?",
            ReviewOccasion::Install | ReviewOccasion::Restore => "Install it?",
        })
    }

    fn ask_dependency(&mut self, question: &DependencyQuestion<'_>) -> ApprovalAnswer {
        self.out.note(&format!("{} for {} ({})", question.label, question.skill, question.source));
        self.out.note(&format!("runs {}", command_line(question.argv)));
        self.out.note(&format!("touches {}", question.touches));
        for warning in &question.warnings {
            self.out.warn(warning);
        }
        let given = match question.step {
            InstallStep::Need => self.given.dependency,
            InstallStep::Manager => self.given.manager,
            InstallStep::Tap => self.given.tap,
        };
        self.flag(given, UnattendedAct::Dependency, ConsentScope::Listed)
            .unwrap_or_else(|| self.confirm("Go on?"))
    }

    fn ask_policy_warning(&mut self, skill: &str, notice: &PolicyNotice) -> ApprovalAnswer {
        for line in notice.text().lines() {
            self.out.warn(line);
        }
        let given = self.given.policy;
        if let Some(yes) = self.flag(given, UnattendedAct::Risk, ConsentScope::Listed) {
            return yes;
        }
        if !self.out.can_ask() {
            return ApprovalAnswer::ABSENT;
        }
        match inquire::Text::new(&format!("Type {} to go on:", render::safe(skill))).prompt() {
            Ok(typed) if typed.trim() == skill => {
                self.yes(ApprovalMethod::Prompt, ConsentScope::Listed)
            }
            _ => ApprovalAnswer::No,
        }
    }

    fn ask_stored(&mut self, approval: &Approval, others: bool) -> ApprovalAnswer {
        let given = self.was_given(approval);
        if let Some(yes) = self.flag(given, UnattendedAct::Install, ConsentScope::OnlyThis) {
            return yes;
        }
        if !self.out.can_ask() {
            return ApprovalAnswer::ABSENT;
        }
        let mut text = String::new();
        if approve::show(&mut text, approval).is_ok() {
            self.out.ask(&text);
        }
        let mut question = "[y]es".to_owned();
        let mut allowed = "ynqc".to_owned();
        if approval.kind == ConsentAct::Install && !approval.also.is_empty() {
            question += " [o]nly the first";
            allowed.push('o');
        }
        let number = |slug: &String| *slug != approval.subject.name;
        let numbers: Vec<(char, String)> =
            ('1'..='9').zip(self.among.iter().cloned()).filter(|(_, slug)| number(slug)).collect();
        if let (Some((first, _)), Some((last, _))) = (numbers.first(), numbers.last()) {
            question += &match first == last {
                true => format!(" [{first}] the other"),
                false => format!(" [{first}-{last}] another one"),
            };
            allowed.extend(numbers.iter().map(|(key, _)| *key));
        }
        if others {
            question += " [m]ore like these";
            allowed.push('m');
        }
        question += " [n]o [c]ancel [q]uit ";
        match self.key(&question, &allowed) {
            Some('y') => self.yes(ApprovalMethod::Prompt, ConsentScope::Listed),
            Some('o') => self.yes(ApprovalMethod::Prompt, ConsentScope::OnlyThis),
            Some('m') => ApprovalAnswer::Others,
            Some('n') => ApprovalAnswer::No,
            Some('c') => ApprovalAnswer::Cancel,
            Some(key) => match numbers.into_iter().find(|(number, _)| *number == key) {
                Some((_, slug)) => ApprovalAnswer::Pick(slug),
                None => ApprovalAnswer::ABSENT,
            },
            None => ApprovalAnswer::ABSENT,
        }
    }

    /// Whether the question is about a candidate that was agreed to on the command line.
    fn was_given(&self, approval: &Approval) -> bool {
        let covered = matches!(
            approval.kind,
            ConsentAct::Install | ConsentAct::Plan | ConsentAct::SwitchCandidate
        );
        let digest = approval.subject.content.digest.as_deref().unwrap_or_default();
        let named = format!("{}@{digest}", approval.subject.name);
        covered && self.given.candidates.contains(&named)
    }
}

impl Approver for TerminalApprover<'_> {
    fn ask(&mut self, question: &ApprovalQuestion<'_>) -> ApprovalAnswer {
        match *question {
            ApprovalQuestion::Risk(concern) => self.ask_risk(concern),
            ApprovalQuestion::Install(review) => self.ask_install(review),
            ApprovalQuestion::Dependency(question) => self.ask_dependency(question),
            ApprovalQuestion::PolicyWarning { skill, notice } => {
                self.ask_policy_warning(skill, notice)
            }
            ApprovalQuestion::Stored { approval, others } => self.ask_stored(approval, others),
        }
    }

    fn progress(&mut self, progress: &InstallProgress<'_>) {
        match *progress {
            InstallProgress::Downloaded { bytes, of } => {
                let bar = self.bar.get_or_insert_with(|| self.out.bytes("downloading"));
                let size = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
                bar.set_of(size(bytes), size(of.unwrap_or(bytes)));
                if of == Some(bytes) {
                    bar.finish();
                    self.bar = None;
                }
            }
            InstallProgress::Output { bytes, .. } => {
                let text = plain_text(&String::from_utf8_lossy(bytes));
                for line in text.lines().filter(|line| !line.trim().is_empty()) {
                    self.out.note(&format!("| {line}"));
                }
            }
        }
    }
}

/// Whether the configuration lets commands without a terminal agree to this: it lists the act, or has
/// a policy command, which has said yes before anything is asked.
pub(crate) fn covers(engine: &Engine, act: UnattendedAct) -> bool {
    let vetted = engine.config().install_policy.enabled == PolicySwitch::On
        && matches!(act, UnattendedAct::Install | UnattendedAct::Dependency);
    vetted || engine.config().approvals.covers(act)
}

/// Shows what would be installed.
pub(crate) fn show_review(review: &InstallReview, out: &mut Printer) {
    let mut text = String::new();
    // Writing to a text cannot fail.
    let _ = write_review(&mut text, review);
    out.ask(&text);
}
