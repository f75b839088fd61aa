//! Exit codes, and how an error becomes one.

use std::io;
use std::process::ExitCode;

use sinew_engine::EngineError;
use sinew_settings::{CodedError, ErrorKind};

use crate::printer::Printer;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Done,
    /// The answer is no: nothing fits, invalid, findings.
    No,
    /// It could not be done.
    Failed(ErrorKind),
    /// As the command that was run ended.
    Of(u8),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Of(code) => code,
            Exit::Done => 0,
            Exit::No => ErrorKind::No.exit_code(),
            Exit::Failed(kind) => kind.exit_code(),
        })
    }
}

/// What a command may fail with.
#[derive(Debug)]
pub(crate) enum CommandError {
    /// The engine said so.
    Engine(EngineError),
    /// The answer could not be written.
    Output(io::Error),
}

impl From<EngineError> for CommandError {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

impl From<CodedError> for CommandError {
    fn from(error: CodedError) -> Self {
        Self::Engine(error.into())
    }
}

impl From<io::Error> for CommandError {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// The result of a command.
pub(crate) type CommandResult = Result<Exit, CommandError>;

/// Says what went wrong and what to do, and gives the exit code for it.
pub(crate) fn report(error: &CommandError, out: &mut Printer) -> Exit {
    match error {
        CommandError::Output(error) => {
            out.error(&format!("cannot write the answer: {error}"));
            Exit::Failed(ErrorKind::Environment)
        }
        CommandError::Engine(error) => {
            if out.is_json() {
                // Scripts that asked for JSON get the error in it too; people read the lines below.
                let _ = out.json_line(&serde_json::json!({ "error": error }));
            }
            out.error(&error.message);
            for hint in &error.hints {
                out.hint(hint);
            }
            Exit::Failed(error.kind())
        }
    }
}
