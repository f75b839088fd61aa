//! What commands and sentences do to the world, as sets of effects.
//!
//! A command line is split by [`crate::shell`] and each command is looked up in a table of well-known
//! programs (`data/effects.tsv`), by verb and option; a program that is in no row is a shell, because
//! what it does is not known. A pipe and a script take the union. Sentences are read by the words that
//! say what is done (`prose.rs`); `skill_text.rs` reads a whole SKILL.md both ways.
//!
//! ```
//! use sinew_guard::effects::{Effect, ScriptEffects};
//!
//! let looked = ScriptEffects::of("curl -s https://example.com/a | jq .name");
//! assert!(looked.set().is_read_only());
//! let sent = ScriptEffects::of("curl -d @x https://example.com && git push && desk-cli close");
//! assert_eq!(sent.set().to_string(), "write+shell");
//! assert!(sent.commands[2].effects.has(Effect::Shell));
//! ```
//!
//! **Must never happen here:** a command that changes something and comes out as one that only reads.
//! What is not understood is a shell.

mod code_block;
mod code_span;
mod command;
mod interpreter;
mod masking;
mod prose;
mod scripts;
mod skill_text;
mod table;

use std::fmt;

pub use command::{CommandEffects, ScriptEffects};
pub use masking::mask_step;
pub use prose::prose_effects;
pub use skill_text::{
    SkillStep, SkillStepKind, SkillTextEffects, skill_text_effects, text_effects,
};

/// Whether a program is in the table of well-known programs.
pub fn is_known_program(name: &str) -> bool {
    table::is_known(name)
}

/// One thing that a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// It changes something.
    Write,
    /// It uses a secret.
    Credentials,
    /// It runs a program of which no more is known.
    Shell,
    /// What it does cannot be undone.
    Delete,
}

impl Effect {
    /// All of them, least first.
    pub const ALL: [Self; 4] = [Self::Write, Self::Credentials, Self::Shell, Self::Delete];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Credentials => "credentials",
            Self::Shell => "shell",
            Self::Delete => "delete",
        }
    }
}

/// Any number of effects; none means that it only reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct EffectSet(u8);

impl EffectSet {
    /// Only reading.
    pub const NONE: Self = Self(0);

    /// One effect.
    pub const fn of(effect: Effect) -> Self {
        Self(1 << effect as u8)
    }

    /// Whether an effect is in it.
    pub fn has(self, effect: Effect) -> bool {
        self.0 & Self::of(effect).0 != 0
    }

    /// Adds an effect.
    pub fn add(&mut self, effect: Effect) {
        self.0 |= Self::of(effect).0;
    }

    /// Both.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Without one of them.
    #[must_use]
    pub fn without(self, effect: Effect) -> Self {
        Self(self.0 & !Self::of(effect).0)
    }

    /// Whether nothing is changed, removed or run; a secret may be used for reading.
    pub fn is_read_only(self) -> bool {
        self.without(Effect::Credentials).0 == 0
    }

    /// Its effects, least first.
    pub fn iter(self) -> impl Iterator<Item = Effect> {
        Effect::ALL.into_iter().filter(move |effect| self.has(*effect))
    }
}

impl fmt::Display for EffectSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.iter().map(Effect::as_str).collect();
        f.write_str(if names.is_empty() { "read-only" } else { "" })?;
        f.write_str(&names.join("+"))
    }
}
