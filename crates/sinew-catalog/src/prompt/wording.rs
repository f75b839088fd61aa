//! The sentences around the block, and their lengths.
//!
//! Planners never see sentences: they see a [`PromptOverhead`], so that a plan can be tested with
//! any wording, even that of another program.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::cost_sheet::block_units;
use super::render::{BLOCK_CLOSE, BLOCK_OPEN};
use super::text::units;

/// How the descriptions are shown, which decides the introduction and the notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DescriptionForm {
    /// All in full.
    Full,
    /// Some are shortened or left out.
    Shortened,
    /// None is shown.
    NamesOnly,
}

/// The templates of the introduction and of the notice (`skills.prompt.template`).
///
/// `{basis}` in the introduction says what the model scans. In the notices `{included}` and
/// `{total}` are numbers, `{descriptions}` says what happened to them, `{audit}` is the command that
/// shows more, and `{search}` a sentence on the host's search tool. What happened to descriptions is one
/// of two phrases of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PromptWording {
    /// Before the block; ends where the block begins.
    pub introduction: Cow<'static, str>,
    /// The notice when skills are missing from the block.
    pub some_listed: Cow<'static, str>,
    /// The notice when all skills are listed but their descriptions are not complete.
    pub all_listed: Cow<'static, str>,
    /// The phrase of a notice for descriptions that are shortened.
    pub shortened: Cow<'static, str>,
    /// The phrase of a notice for descriptions that are missing.
    pub names_only: Cow<'static, str>,
}

const INTRODUCTION: &str = "\
## Skills: look here before you answer
Every entry below is a skill, a proven way to do one kind of task. Scan every {basis} before replying.
- One clearly applies: open its file with `read` at the location given, then do as it says.
- Several could apply: choose the most specific of them.
- None applies: read none.
Open no more than one up front, and never invent a location. A relative path in a skill starts from the directory of its SKILL.md.

";

const SOME_LISTED: &str =
    "({included} of {total} skills are listed{descriptions}. `{audit}` shows the rest.{search})";

const ALL_LISTED: &str =
    "(All {total} skills are listed{descriptions}. `{audit}` shows them whole.{search})";

/// How OpenClaw and OpenPocket begin the notice, which hosts and their users look for.
const TRUNCATED: &str = "⚠️ Skills truncated: included {included} of {total}{descriptions}. Run `{audit}` to audit.{search}";

impl Default for PromptWording {
    fn default() -> Self {
        Self {
            introduction: INTRODUCTION.into(),
            some_listed: SOME_LISTED.into(),
            all_listed: ALL_LISTED.into(),
            shortened: ", with descriptions cut short".into(),
            names_only: ", without descriptions".into(),
        }
    }
}

impl PromptWording {
    /// The default notices after another introduction.
    pub fn with_introduction(introduction: impl Into<String>) -> Self {
        let introduction = introduction.into();
        let gap = if introduction.ends_with('\n') { "" } else { "\n" };
        Self { introduction: format!("{introduction}{gap}").into(), ..Self::default() }
    }

    /// The same with the notice that OpenClaw and OpenPocket give where skills are missing.
    #[must_use]
    pub fn with_reference_notice(self) -> Self {
        Self {
            some_listed: TRUNCATED.into(),
            shortened: " (compact format, descriptions shortened)".into(),
            names_only: " (compact format, descriptions omitted)".into(),
            ..self
        }
    }

    pub(super) fn introduction(&self, form: DescriptionForm) -> String {
        let basis = match form {
            DescriptionForm::Full => "description",
            DescriptionForm::Shortened => "name and description",
            DescriptionForm::NamesOnly => "name",
        };
        self.introduction.replace("{basis}", basis)
    }

    /// The notice, as a separate line.
    pub(super) fn notice(
        &self,
        form: DescriptionForm,
        counts: (&str, &str),
        complete: bool,
        audit: &str,
        search: Option<&str>,
    ) -> String {
        let search = search
            .map(|tool| format!(" The tool `{tool}` finds a skill by what it does."))
            .unwrap_or_default();
        let descriptions = match form {
            DescriptionForm::Full => "",
            DescriptionForm::Shortened => &*self.shortened,
            DescriptionForm::NamesOnly => &*self.names_only,
        };
        let template = if complete { &self.all_listed } else { &self.some_listed };
        let notice = template
            .replace("{included}", counts.0)
            .replace("{total}", counts.1)
            .replace("{descriptions}", descriptions)
            .replace("{audit}", audit)
            .replace("{search}", &search);
        format!("{notice}\n")
    }

    /// The lengths of these sentences.
    pub fn overhead(&self, audit: &str, search: Option<&str>) -> PromptOverhead {
        let introduction = |form| units(&self.introduction(form));
        let notice = |form, complete: bool| {
            let template = if complete { &self.all_listed } else { &self.some_listed };
            NoticeLength {
                fixed: units(&self.notice(form, ("", ""), complete, audit, search)),
                included: template.matches("{included}").count(),
                total: template.matches("{total}").count(),
            }
        };
        PromptOverhead {
            intro_full: introduction(DescriptionForm::Full),
            intro_shortened: introduction(DescriptionForm::Shortened),
            intro_names_only: introduction(DescriptionForm::NamesOnly),
            block: block_units(BLOCK_OPEN, BLOCK_CLOSE),
            some_full: notice(DescriptionForm::Full, false),
            some_shortened: notice(DescriptionForm::Shortened, false),
            some_names_only: notice(DescriptionForm::NamesOnly, false),
            all_shortened: notice(DescriptionForm::Shortened, true),
            all_names_only: notice(DescriptionForm::NamesOnly, true),
        }
    }
}

/// The length of a notice line with its line end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NoticeLength {
    /// Everything except the numbers.
    pub fixed: usize,
    /// How often the number of listed skills occurs.
    pub included: usize,
    /// How often the number of all skills occurs.
    pub total: usize,
}

/// The lengths of everything that is not an entry, in UTF-16 code units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PromptOverhead {
    /// The introduction to full descriptions.
    pub intro_full: usize,
    /// The introduction to shortened descriptions.
    pub intro_shortened: usize,
    /// The introduction to names only.
    pub intro_names_only: usize,
    /// The first and the last line of the block.
    pub block: usize,
    /// Some skills are missing; descriptions are complete.
    pub some_full: NoticeLength,
    /// Some skills are missing; descriptions are shortened.
    pub some_shortened: NoticeLength,
    /// Some skills and all descriptions are missing.
    pub some_names_only: NoticeLength,
    /// All skills are listed; descriptions are shortened.
    pub all_shortened: NoticeLength,
    /// All skills are listed; descriptions are missing.
    pub all_names_only: NoticeLength,
}

impl PromptOverhead {
    pub(super) fn introduction(&self, form: DescriptionForm) -> usize {
        match form {
            DescriptionForm::Full => self.intro_full,
            DescriptionForm::Shortened => self.intro_shortened,
            DescriptionForm::NamesOnly => self.intro_names_only,
        }
    }

    pub(super) fn notice(&self, form: DescriptionForm, included: usize, total: usize) -> usize {
        let length = match (form, included < total) {
            (DescriptionForm::Full, true) => self.some_full,
            (DescriptionForm::Shortened, true) => self.some_shortened,
            (DescriptionForm::NamesOnly, true) => self.some_names_only,
            (DescriptionForm::Full, false) => NoticeLength::default(),
            (DescriptionForm::Shortened, false) => self.all_shortened,
            (DescriptionForm::NamesOnly, false) => self.all_names_only,
        };
        length.fixed + length.included * digits(included) + length.total * digits(total)
    }
}

fn digits(number: usize) -> usize {
    number.checked_ilog10().map_or(1, |log| log as usize + 1)
}
