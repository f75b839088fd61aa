//! Everything that can stop the workshop, in Skill Workshop's own words where it has them.

use std::io;
use std::path::PathBuf;

/// Why the workshop did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum WorkshopError {
    /// A required parameter is missing.
    #[error("{0} required")]
    Required(&'static str),
    /// A replacement needs both texts.
    #[error("oldText and newText required for replace")]
    ReplaceNeedsBoth,
    /// The tool has no such action.
    #[error("unknown action: {0}")]
    UnknownAction(String),
    /// A parameter has the wrong kind of value.
    #[error("{name} must be {expected}")]
    BadParameter {
        /// The parameter.
        name: String,
        /// What it must be.
        expected: &'static str,
    },
    /// The name cannot be written.
    #[error("invalid skill name: {0}")]
    InvalidName(String),
    /// The section cannot be a heading.
    #[error("invalid section: {0}")]
    InvalidSection(String),
    /// The description is empty.
    #[error("description required")]
    EmptyDescription,
    /// A field holds a control character.
    #[error("{field} holds the control character U+{code:04X}")]
    ControlCharacter {
        /// The field.
        field: String,
        /// The character.
        code: u32,
    },
    /// A field is longer than a skill may be.
    #[error("{field} exceeds {limit} bytes")]
    FieldTooLong {
        /// The field.
        field: String,
        /// The limit.
        limit: usize,
    },
    /// The resulting file is too large.
    #[error("skill exceeds {0} bytes")]
    TooLarge(usize),
    /// A literal secret; nothing was stored.
    #[error(
        "proposal contains a literal secret in {file}:{line}; use a variable or a placeholder ({rule})"
    )]
    Secret {
        /// The field or file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The pattern's name, never the value.
        rule: String,
    },
    /// The skill to change is not there.
    #[error("skill does not exist: {0}")]
    NoSuchSkill(String),
    /// The target exists already.
    #[error("{0} already exists")]
    Exists(String),
    /// The text to replace is not there.
    #[error("oldText not found")]
    OldTextNotFound,
    /// The result would not be a skill any more.
    #[error("the change would leave a skill that cannot be read: {0}")]
    Unreadable(String),
    /// The result scans critical.
    #[error("unsafe skill content: {0}")]
    Unsafe(String),
    /// No record has this id.
    #[error("proposal not found: {0}")]
    NotFound(String),
    /// No run that is remembered has this id.
    #[error("run not found: {0}")]
    UnknownRun(String),
    /// What was done in a run is not kept: it failed, or is too long ago.
    #[error("the steps of the run {0} are not kept")]
    RunNotKept(String),
    /// A quarantined proposal was to be applied.
    #[error("quarantined proposal cannot be applied")]
    Quarantined,
    /// The proposal is in a state that does not allow it.
    #[error("proposal is {0}")]
    WrongStatus(&'static str),
    /// A retirement or a reshaping has no text of its own that could be revised.
    #[error("this can only be applied or rejected as it is")]
    OnlyAsItIs,
    /// The proposal has gone stale; it was marked so.
    #[error("proposal is stale: {0}")]
    Stale(String),
    /// What would be written is not what was shown.
    #[error("proposal changed since it was shown")]
    Changed,
    /// The owner of the target forbids it.
    #[error("{owner} skill cannot be edited: {name}")]
    NotOurs {
        /// Who owns it.
        owner: &'static str,
        /// The skill.
        name: String,
    },
    /// An identical skill exists.
    #[error("identical to the skill {0}")]
    Same(String),
    /// A near copy exists, and the gate blocks.
    #[error("too close to the skill {name} (likeness {likeness:.2}); append to it instead")]
    TooClose {
        /// The other skill.
        name: String,
        /// Cosine of the bodies.
        likeness: f64,
    },
    /// The new description takes queries from other skills, and the user has not accepted that.
    #[error("takes {} queries from other skills: {}", .0.len(), .0.join("; "))]
    Steals(Vec<String>),
    /// A rule of the configuration forbids it.
    #[error("approvalRules forbid changes to {0}")]
    Never(String),
    /// A person has to approve the result that was shown.
    #[error("a person has to approve this: sinew workshop apply {id}")]
    NeedsApproval {
        /// The proposal.
        id: String,
        /// What would be written.
        result_sha256: String,
    },
    /// A gate leaves the decision to a person.
    #[error("a person has to decide: {0}")]
    Held(String),
    /// Only a person may do this.
    #[error("only a person can {0}")]
    NeedsPerson(&'static str),
    /// There is no finding of this rule to acknowledge, or it cannot be acknowledged.
    #[error("{0}")]
    CannotAcknowledge(String),
    /// A support file's path.
    #[error("support file must lie below references/, templates/, scripts/ or assets/: {0}")]
    SupportPath(String),
    /// More support files than one proposal may bring.
    #[error("a proposal brings at most {0} support files")]
    TooManyFiles(usize),
    /// A path leads out of the workspace.
    #[error("{0} leads out of the workspace")]
    Escapes(String),
    /// The skill has no history.
    #[error("nothing to undo for {0}")]
    NothingToUndo(String),
    /// There is no such version.
    #[error("there is no version {0}")]
    NoSuchVersion(String),
    /// The file is not what the write left behind.
    #[error("{path} was changed after it was written; nothing was undone")]
    ChangedSince {
        /// The file.
        path: String,
        /// From what was written to what is there now.
        diff: String,
    },
    /// An OpenClaw store that cannot be read.
    #[error("{path} is not a workshop store: {detail}")]
    BadStore {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// A stored record that cannot be read.
    #[error("the stored record {key} cannot be read: {detail}")]
    BadRecord {
        /// Its key.
        key: String,
        /// What is wrong with it.
        detail: String,
    },
    /// A process on another machine changed the same records.
    #[error("the workshop's records changed meanwhile; nothing was done")]
    Busy,
    /// The store.
    #[error(transparent)]
    Store(#[from] sinew_store::StoreError),
    /// The system has no randomness for ids.
    #[error("the system provides no random numbers: {0}")]
    NoRandomness(String),
    /// The file system.
    #[error("{path}: {error}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
}

impl WorkshopError {
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |error| Self::Io { path, error }
    }
}

/// What operations of the workshop return.
pub type Result<T> = std::result::Result<T, WorkshopError>;

impl WorkshopError {
    /// Whether the store or the machine caused it, and not the proposal.
    pub(crate) fn is_of_machine(&self) -> bool {
        matches!(
            self,
            Self::Store(_)
                | Self::Io { .. }
                | Self::Busy
                | Self::NoRandomness(_)
                | Self::BadRecord { .. }
        )
    }
}
