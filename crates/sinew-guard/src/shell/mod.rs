//! Shell text, split into commands: who runs what, on which input, into which file.
//!
//! [`ShellScript::parse`] reads any text and never fails: what is not shell comes out as commands
//! with odd names. Words are unquoted; every word, command and redirection keeps its bytes in the
//! text, so that a caller can point at it or cover it up.
//!
//! ```
//! use sinew_guard::shell::ShellScript;
//!
//! let script = ShellScript::parse("curl -s https://a.b/x | sudo -u root timeout 9 bash 2>/dev/null");
//! let programs: Vec<&str> = script.commands.iter().filter_map(|c| c.program()).collect();
//! assert_eq!(programs, ["curl", "bash"]);
//! assert_eq!(script.commands[1].stage, 1);
//! ```
//!
//! **Invariant:** each byte is read a bounded number of times, and nesting is bounded, so hostile
//! text costs time in its length. **Left out on purpose:** expansion. A variable stays a variable;
//! what its value may be is asked elsewhere.

mod lexer;
mod parser;
mod wrappers;

use std::ops::Range;

/// A word of a command, without its quotes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ShellWord {
    /// Its value; a substitution in it reads `$()`.
    pub text: String,
    /// Its bytes in the text, quotes included.
    pub span: Range<usize>,
    /// Whether any part of it was quoted.
    pub is_quoted: bool,
    /// Whether it holds a command or process substitution: commands whose
    /// [`parent`](ShellCommand::parent) is the command of this word.
    pub has_substitution: bool,
}

impl ShellWord {
    /// Whether it is an option: `-x`, `--long`.
    pub fn is_flag(&self) -> bool {
        self.text.len() > 1 && self.text.starts_with('-')
    }
}

/// Where a redirection goes to or comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedirectionKind {
    /// `<file`
    Input,
    /// `>file`, `>|file`, `&>file`
    Output,
    /// `>>file`, `&>>file`
    Append,
    /// `2>&1`, `<&3`: another descriptor.
    Descriptor,
    /// `<<END`: the target is the body.
    HereDocument,
    /// `<<<word`
    HereString,
}

/// A redirection of a command or group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellRedirection {
    /// What it does.
    pub kind: RedirectionKind,
    /// The file, the descriptor, or the text that becomes the input.
    pub target: ShellWord,
}

/// What holds a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShellPlace {
    /// The script itself.
    Script,
    /// A subshell, a group, a loop or a condition.
    Group,
    /// `$(…)`, backticks, `<(…)`: a word, redirection or here-document of its parent.
    Substitution,
    /// The body of a function, which is its parent.
    Function,
}

/// One simple command, or the head of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellCommand {
    /// Its bytes in the text.
    pub span: Range<usize>,
    /// All words, wrappers such as `sudo` included, assignments excluded; none for a group.
    pub words: Vec<ShellWord>,
    /// Assignments before the first word: name and value.
    pub assignments: Vec<(String, ShellWord)>,
    /// Its redirections.
    pub redirections: Vec<ShellRedirection>,
    /// Commands with the same number are one pipeline.
    pub pipeline: usize,
    /// Its place in that pipeline.
    pub stage: usize,
    /// The command that holds it, and how.
    pub parent: Option<usize>,
    /// What kind of place it is in.
    pub place: ShellPlace,
    /// Whether other commands are its body: a group, a loop, a function.
    pub is_group: bool,
    /// Words before the program: `sudo -u root`.
    pub wrapped: usize,
}

impl ShellCommand {
    /// The program's word, behind all wrappers.
    pub fn program_word(&self) -> Option<&ShellWord> {
        self.words.get(self.wrapped)
    }

    /// The program's name without its folder.
    pub fn program(&self) -> Option<&str> {
        self.program_word().map(|word| base_name(&word.text))
    }

    /// What stands before the program: `sudo`, `timeout 5`.
    pub fn wrappers(&self) -> &[ShellWord] {
        self.words.get(..self.wrapped).unwrap_or(&[])
    }

    /// What stands behind the program.
    pub fn arguments(&self) -> &[ShellWord] {
        self.words.get(self.wrapped + 1..).unwrap_or(&[])
    }

    /// The first argument that is not an option: `set` in `npm -g set x`.
    pub fn verb(&self) -> Option<&str> {
        self.operands().next().map(|word| word.text.as_str())
    }

    /// Arguments that are not options.
    pub fn operands(&self) -> impl Iterator<Item = &ShellWord> {
        self.arguments().iter().filter(|word| !word.is_flag())
    }

    /// Options.
    pub fn flags(&self) -> impl Iterator<Item = &ShellWord> {
        self.arguments().iter().filter(|word| word.is_flag())
    }

    /// Files that it writes by redirection.
    pub fn written_files(&self) -> impl Iterator<Item = &ShellWord> {
        let writes = |kind| matches!(kind, RedirectionKind::Output | RedirectionKind::Append);
        self.redirections.iter().filter(move |r| writes(r.kind)).map(|r| &r.target)
    }

    /// The text or file that it reads as its input, if it is redirected.
    pub fn input(&self) -> Option<&ShellRedirection> {
        self.redirections.iter().rev().find(|r| {
            use RedirectionKind::{HereDocument, HereString, Input};
            matches!(r.kind, Input | HereDocument | HereString)
        })
    }
}

/// The last part of a path.
pub fn base_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// A function that a script defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellFunction {
    /// Its name.
    pub name: String,
    /// The group that is its body.
    pub body: usize,
}

/// The commands of a text, in the order in which they start: a command comes before those inside
/// it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ShellScript {
    /// All of them, at any depth.
    pub commands: Vec<ShellCommand>,
    /// The functions it defines.
    pub functions: Vec<ShellFunction>,
    /// Whether the text had more commands than are kept.
    pub is_cut: bool,
}

impl ShellScript {
    /// Splits a text.
    pub fn parse(text: &str) -> Self {
        parser::parse(text)
    }

    /// The commands that a command holds, in order.
    pub fn children(&self, of: usize) -> impl Iterator<Item = (usize, &ShellCommand)> {
        let inside = move |(_, command): &(usize, &ShellCommand)| command.parent == Some(of);
        self.commands.iter().enumerate().filter(inside)
    }

    /// The function that a command calls.
    pub fn called(&self, command: &ShellCommand) -> Option<&ShellFunction> {
        let name = command.program_word().filter(|word| !word.is_quoted)?;
        self.functions.iter().find(|function| function.name == name.text)
    }
}
