//! What each command does to the machine: a command without a row here does not compile.

use sinew_engine::Engine;
use sinew_settings::ErrorCode;

use super::cortex::CortexArgs;
use crate::cli::CliCommand;
use crate::printer::Printer;

/// Whether a command changes anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommandEffect {
    /// It shows something.
    Reads,
    /// It changes something, runs a program, or decides.
    Acts,
}

impl CommandEffect {
    fn acts_if(acts: bool) -> Self {
        if acts { Self::Acts } else { Self::Reads }
    }

    /// What a command as it was typed does.
    pub(crate) fn of(command: &CliCommand) -> Self {
        match command {
            CliCommand::Find(_)
            | CliCommand::List(_)
            | CliCommand::Info(_)
            | CliCommand::Why(_)
            | CliCommand::Check(_)
            | CliCommand::Prompt(_)
            | CliCommand::Read(_)
            | CliCommand::Dedupe(_)
            | CliCommand::Index(_)
            | CliCommand::Usage(_)
            | CliCommand::Context(_)
            | CliCommand::Search(_)
            | CliCommand::Installed(_)
            | CliCommand::Verify(_)
            | CliCommand::Sbom(_)
            | CliCommand::Commands(_)
            | CliCommand::Hook(_)
            | CliCommand::Mcp(_)
            | CliCommand::Watch(_)
            | CliCommand::Demo(_)
            | CliCommand::Doctor(_)
            | CliCommand::Status(_)
            | CliCommand::Completions(_)
            | CliCommand::Open(_)
            | CliCommand::Man(_) => Self::Reads,
            // Changing the file is how a fault in it is mended; it says itself who may.
            CliCommand::Config(_) => Self::Reads,
            #[cfg(feature = "web")]
            CliCommand::Serve(_) | CliCommand::Ui(_) | CliCommand::Docs(_) => Self::Reads,
            CliCommand::Report(_)
            | CliCommand::New(_)
            | CliCommand::Enable(_)
            | CliCommand::Disable(_)
            | CliCommand::Acquire(_)
            | CliCommand::Install(_)
            | CliCommand::Update(_)
            | CliCommand::Pin(_)
            | CliCommand::Restore(_)
            | CliCommand::Sync(_)
            | CliCommand::Uninstall(_)
            | CliCommand::Learn(_)
            | CliCommand::Exec(_)
            | CliCommand::Disconnect(_)
            | CliCommand::Import(_) => Self::Acts,
            #[cfg(feature = "registry")]
            CliCommand::Registry(args) => Self::acts_if(args.acts()),
            CliCommand::Bundled(args) => Self::acts_if(args.acts()),
            // They are the way out of what closes the gate over the database.
            CliCommand::Backup(_) => Self::Reads,
            CliCommand::Approve(args) => Self::acts_if(args.decides()),
            CliCommand::Connect(args) => Self::acts_if(args.acts()),
            CliCommand::Cortex(args) => Self::acts_if(CortexArgs::acts(args)),
            CliCommand::Eval(args) => Self::acts_if(args.acts()),
            CliCommand::Deps(args) => Self::acts_if(args.acts()),
            CliCommand::Scan(args) => Self::acts_if(args.acts()),
            #[cfg(feature = "web")]
            CliCommand::Service(args) => Self::acts_if(args.acts()),
            CliCommand::Setup(args) => Self::acts_if(args.acts()),
            CliCommand::Skills(args) => Self::acts_if(args.acts()),
            CliCommand::Validate(args) => Self::acts_if(args.acts()),
            CliCommand::Workshop(args) => Self::acts_if(args.acts()),
        }
    }
}

/// Refuses a command that acts while the gate is closed, and warns before one that reads.
pub(crate) fn check_gate(
    command: &CliCommand,
    engine: &Engine,
    out: &mut Printer,
) -> Result<(), sinew_engine::EngineError> {
    match CommandEffect::of(command) {
        CommandEffect::Acts => {
            engine.check_gate()?;
            // A copy from before today's first change. What cannot be copied now is copied later,
            // and damage that the copy found closes the gate.
            sinew_engine::sweep_leftovers(engine.environment());
            match engine.database().back_up_daily() {
                Err(error) if error.code == ErrorCode::DatabaseDamaged => Err(error),
                _ => Ok(()),
            }
        }
        CommandEffect::Reads => {
            if let Err(closed) = engine.check_config() {
                out.warn(&closed.message);
            }
            if let Some(damage) = engine.database().visible_damage() {
                out.warn(&format!("{damage}; `sinew doctor` says what to do"));
            }
            Ok(())
        }
    }
}
