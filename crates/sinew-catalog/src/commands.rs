//! Slash commands: their names, and what a message that starts with `/` asks for.
//!
//! The user's own skills are named first, so that they get the plain names and are kept in channels
//! that accept only a limited number of commands.
//!
//! **Invariant:** names are unique, at most 32 characters of `[a-z0-9_]`, never reserved, and the
//! same for the same set of skills in any order.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;
use sinew_skill::ToolDispatch;
use sinew_skill::names::{MAX_COMMAND, command_name, display_name};

use crate::collate;

/// Beyond this number a suffix tells users nothing; the name is marked instead.
const LAST_SUFFIX: usize = 999;

/// The length of a description that older chat channels show.
pub const CHANNEL_DESCRIPTION: usize = 100;

/// The marker in a plain command that stands for the arguments.
const ARGUMENTS: &str = "$ARGUMENTS";

/// Where a command's skill comes from, as hosts know it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, BorshDeserialize, BorshSerialize,
)]
#[serde(rename_all = "lowercase")]
pub enum CommandSource {
    /// Shipped with the program.
    Bundled,
    /// Found in the workspace.
    Workspace,
    /// Anywhere else.
    #[default]
    Unknown,
}

/// How far a command's skill is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, BorshDeserialize, BorshSerialize)]
pub enum CommandTrust {
    /// It is reviewed or otherwise vouched for.
    #[default]
    Full,
    /// It is not reviewed: the model may use it, but no tool is called directly.
    Unreviewed,
    /// The guard holds it back: its command only answers that.
    Held,
}

/// A skill that gets a command: eligible and open to users.
#[derive(Debug, Clone, Default)]
pub struct CommandSkill<'a> {
    /// The skill's name.
    pub name: &'a str,
    /// What it is for; the name is used if this is empty.
    pub description: &'a str,
    /// Its `SKILL.md`, or the command's own file.
    pub file: &'a str,
    /// The source's name, which breaks ties between equal names.
    pub source: &'a str,
    /// How hosts classify that source.
    pub skill_source: CommandSource,
    /// Whether it is the user's own rather than shipped.
    pub own: bool,
    /// Whether the model sees it in the prompt.
    pub model_visible: bool,
    /// Whether the agent's list excludes it: it gets no command, only an answer.
    pub filtered: bool,
    /// How far it is trusted: only a trusted command reaches a tool.
    pub trust: CommandTrust,
    /// The tool that receives the arguments without asking the model.
    pub dispatch: Option<ToolDispatch>,
    /// The text of a plain command (`commands/dir/file.md`, named `dir:file`).
    pub template: Option<&'a str>,
}

/// One slash command.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, BorshDeserialize, BorshSerialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandSpec {
    /// What a user types after `/`.
    pub name: String,
    /// The skill's display name.
    pub display_name: String,
    /// The skill.
    pub skill_name: String,
    /// Its file.
    pub skill_file: String,
    /// The full description.
    pub description: String,
    /// Whether the model sees the skill in the prompt.
    pub model_visible: bool,
    /// Where the skill comes from.
    pub skill_source: CommandSource,
    /// The tool that receives the arguments without asking the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dispatch: Option<ToolDispatch>,
    /// Whether that tool may be called.
    #[serde(skip)]
    pub trust: CommandTrust,
    /// The text of a plain command; hosts get it filled in, not as data.
    #[serde(skip)]
    pub template: Option<String>,
}

/// What a message that may start with `/` asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandInvocation<'c> {
    /// An ordinary message, or a slash word that is not a command.
    None,
    /// A command and its arguments.
    Run {
        /// The command.
        command: &'c CommandSpec,
        /// Everything after the first blanks, if there is anything.
        arguments: Option<String>,
    },
    /// A command that this agent's list excludes.
    Unavailable(&'c CommandSpec),
}

impl CommandInvocation<'_> {
    /// The answer to a command that is not available, as a sentence.
    pub fn refusal(&self) -> Option<String> {
        match self {
            Self::Unavailable(command) => Some(unavailable(&command.skill_name)),
            _ => None,
        }
    }
}

/// The sentence for a skill that this agent's list excludes.
pub(crate) fn unavailable(skill: &str) -> String {
    format!("the skill {skill} is not available for this agent")
}

/// All commands of a catalog, including those that only answer that they are not available.
#[derive(Debug, Clone, Default)]
pub struct SlashCommands {
    specs: Vec<CommandSpec>,
    filtered: Vec<CommandSpec>,
    /// Built when the first name is looked up: most catalogs never need it.
    index: OnceLock<CommandIndex>,
    filtered_index: OnceLock<CommandIndex>,
}

impl SlashCommands {
    /// Names the commands; `reserved` are the host's own.
    pub fn assign<'r>(
        skills: &[CommandSkill<'_>],
        reserved: impl IntoIterator<Item = &'r str>,
    ) -> Self {
        let mut names = TakenNames::reserving(reserved);
        names.taken.reserve(skills.len());
        let mut order: Vec<&CommandSkill<'_>> = skills.iter().collect();
        order.sort_by(|a, b| {
            // Excluded skills come last, so that they never take a usable command's name.
            (a.filtered.cmp(&b.filtered))
                .then(b.own.cmp(&a.own))
                .then_with(|| collate::compare(a.name, b.name))
                .then_with(|| (a.name, a.source, a.file).cmp(&(b.name, b.source, b.file)))
        });
        let (mut specs, mut filtered) = (Vec::new(), Vec::new());
        for skill in order {
            let spec = spec(skill, names.take(command_name(skill.name)));
            if skill.filtered { filtered.push(spec) } else { specs.push(spec) }
        }
        Self::from_specs(specs, filtered)
    }

    /// Commands that already have their names.
    pub fn from_specs(specs: Vec<CommandSpec>, filtered: Vec<CommandSpec>) -> Self {
        Self { specs, filtered, ..Self::default() }
    }

    /// The commands, and those that only answer that they are not available.
    pub(crate) fn parts(&self) -> (&Vec<CommandSpec>, &Vec<CommandSpec>) {
        (&self.specs, &self.filtered)
    }

    /// The commands, own skills first, then by name.
    pub fn specs(&self) -> &[CommandSpec] {
        &self.specs
    }

    /// What `message` asks for.
    pub fn invocation(&self, message: &str) -> CommandInvocation<'_> {
        let Some(typed) = message.trim_start().strip_prefix('/') else {
            return CommandInvocation::None;
        };
        if typed.starts_with(char::is_whitespace) {
            return CommandInvocation::None;
        }
        let (word, rest) = split_word(typed);
        if word.eq_ignore_ascii_case("skill") {
            let (wanted, arguments) = split_word(rest);
            let found = self.find(wanted, CommandIndex::find);
            if found != CommandLookup::Nothing {
                return invoke(found, arguments);
            }
        }
        invoke(self.find(word, CommandIndex::command), rest)
    }

    /// The command that `wanted` names, by command or skill name, in any case, with blanks and `_`
    /// treated as `-`.
    pub(crate) fn lookup(&self, wanted: &str) -> CommandLookup<'_> {
        self.find(wanted, CommandIndex::find)
    }

    fn find(
        &self,
        wanted: &str,
        by: fn(&CommandIndex, &str) -> Option<usize>,
    ) -> CommandLookup<'_> {
        let index = self.index.get_or_init(|| CommandIndex::of(&self.specs));
        let filtered = self.filtered_index.get_or_init(|| CommandIndex::of(&self.filtered));
        if let Some(at) = by(index, wanted) {
            CommandLookup::Usable(&self.specs[at])
        } else if let Some(at) = by(filtered, wanted) {
            CommandLookup::Filtered(&self.filtered[at])
        } else {
            CommandLookup::Nothing
        }
    }
}

/// What a look-up found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommandLookup<'c> {
    Nothing,
    Usable(&'c CommandSpec),
    Filtered(&'c CommandSpec),
}

/// A plain command's text with the arguments filled in, or appended if it has no placeholder.
pub fn fill_arguments(template: &str, arguments: Option<&str>) -> String {
    let arguments = arguments.unwrap_or_default().trim();
    if template.contains(ARGUMENTS) {
        return template.replace(ARGUMENTS, arguments);
    }
    if arguments.is_empty() {
        return template.to_owned();
    }
    format!("{}\n\nUser input:\n{arguments}", template.trim_end())
}

/// A description for a channel that shows at most `limit` UTF-16 units of it.
pub fn clamp_description(description: &str, limit: usize) -> String {
    let units = |text: &str| text.encode_utf16().count();
    if units(description) <= limit {
        return description.to_owned();
    }
    let mut room = limit.saturating_sub(1);
    let mut clamped = String::new();
    for c in description.chars() {
        match room.checked_sub(c.len_utf16()) {
            Some(left) => room = left,
            None => break,
        }
        clamped.push(c);
    }
    clamped.truncate(clamped.trim_end().len());
    if limit > 0 {
        clamped.push('…');
    }
    clamped
}

fn spec(skill: &CommandSkill<'_>, name: String) -> CommandSpec {
    let described = !skill.description.trim().is_empty();
    CommandSpec {
        name,
        display_name: display_name(skill.name),
        skill_name: skill.name.to_owned(),
        skill_file: skill.file.to_owned(),
        description: (if described { skill.description } else { skill.name }).to_owned(),
        model_visible: skill.model_visible,
        skill_source: skill.skill_source,
        dispatch: skill.dispatch.clone(),
        trust: skill.trust,
        template: skill.template.map(str::to_owned),
    }
}

fn invoke<'c>(found: CommandLookup<'c>, rest: &str) -> CommandInvocation<'c> {
    match found {
        CommandLookup::Nothing => CommandInvocation::None,
        CommandLookup::Filtered(command) => CommandInvocation::Unavailable(command),
        CommandLookup::Usable(command) => {
            let rest = rest.trim();
            let arguments = (!rest.is_empty()).then(|| rest.to_owned());
            CommandInvocation::Run { command, arguments }
        }
    }
}

fn split_word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    (&text[..end], &text[end..])
}

/// The names that are already taken.
struct TakenNames {
    taken: HashSet<String>,
    /// The next suffix worth trying, so that a thousand equal names take a thousand steps.
    next: HashMap<String, usize>,
}

impl TakenNames {
    fn reserving<'r>(reserved: impl IntoIterator<Item = &'r str>) -> Self {
        let bare = |name: &str| name.trim_start_matches('/').to_lowercase();
        Self { taken: reserved.into_iter().map(bare).collect(), next: HashMap::new() }
    }

    fn take(&mut self, base: String) -> String {
        if self.taken.insert(base.clone()) {
            return base;
        }
        let next = self.next.entry(base.clone()).or_insert(2);
        loop {
            let name = numbered(&base, *next);
            *next += 1;
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }
}

/// `base_2` … `base_999`, then `base_x`, then, to stay unique, `base_x2` and so on.
fn numbered(base: &str, number: usize) -> String {
    let suffix = match number {
        0..=LAST_SUFFIX => format!("_{number}"),
        n if n == LAST_SUFFIX + 1 => "_x".to_owned(),
        n => format!("_x{}", n - LAST_SUFFIX),
    };
    let length = base.len().min(MAX_COMMAND - suffix.len());
    format!("{}{suffix}", &base[..length])
}

/// Command and skill names in the three forms in which users type them.
#[derive(Debug, Clone, Default)]
struct CommandIndex {
    commands: HashMap<String, usize>,
    skills: HashMap<String, usize>,
    dashed: HashMap<String, usize>,
}

impl CommandIndex {
    fn of(specs: &[CommandSpec]) -> Self {
        let mut index = Self::default();
        for (at, spec) in specs.iter().enumerate() {
            index.commands.entry(spec.name.to_lowercase()).or_insert(at);
            index.skills.entry(spec.skill_name.to_lowercase()).or_insert(at);
        }
        for (at, spec) in specs.iter().enumerate() {
            index.dashed.entry(dashed(&spec.skill_name)).or_insert(at);
        }
        for (at, spec) in specs.iter().enumerate() {
            index.dashed.entry(dashed(&spec.name)).or_insert(at);
        }
        index
    }

    /// The command as it is, or with the hyphens that its skill's name has: `/gh-issues` is `/gh_issues`.
    fn command(&self, word: &str) -> Option<usize> {
        let lower = word.to_lowercase();
        let hyphened = || self.commands.get(&lower.replace('-', "_"));
        self.commands.get(&lower).or_else(hyphened).copied()
    }

    fn find(&self, wanted: &str) -> Option<usize> {
        if wanted.is_empty() {
            return None;
        }
        let lower = wanted.to_lowercase();
        let exact = self.commands.get(&lower).or_else(|| self.skills.get(&lower));
        exact.or_else(|| self.dashed.get(&dashed(wanted))).copied()
    }
}

/// Lower case, with each run of blanks, `_` and `-` as one `-`.
fn dashed(name: &str) -> String {
    let mut dashed = String::with_capacity(name.len());
    for c in name.trim().to_lowercase().chars() {
        if c != '_' && c != '-' && !c.is_whitespace() {
            dashed.push(c);
        } else if !dashed.ends_with('-') {
            dashed.push('-');
        }
    }
    dashed
}
