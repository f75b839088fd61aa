//! `sinew registry`: a team's registry, from both ends.

mod token;

use std::sync::Arc;

use sinew_engine::{Engine, Error, ErrorKind};
use sinew_server::registry::{
    Reach, Registry, RegistryError, Settings, SettingsError, TokenError, Tokens,
};

use crate::exit::CommandResult;
use crate::printer::Printer;

/// Run a team's registry, and publish to one
///
/// Examples:
///   sinew registry token create --role publish --name alice
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct RegistryArgs {
    #[command(subcommand)]
    command: RegistryCommand,
}

#[derive(Debug, clap::Subcommand)]
enum RegistryCommand {
    Token(token::TokenArgs),
}

pub(crate) fn run(args: &RegistryArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    match &args.command {
        RegistryCommand::Token(args) => token::run(args, engine, out),
    }
}

/// The registry of this machine.
pub(crate) fn open(engine: &Engine, reach: Reach) -> Result<Arc<Registry>, Error> {
    let settings = settings(engine)?;
    let env = engine.environment();
    Registry::open(env, engine.store()?, settings, reach).map_err(|error| match error {
        RegistryError::Tokens(error) => token_error(&error),
        RegistryError::Store(error) => error.into(),
        RegistryError::Blobs(_) => {
            Error::new(ErrorKind::Environment, "no-blobs", error.to_string())
                .hint("registry.blobs names a folder, or a bucket as s3://bucket/prefix")
        }
    })
}

/// The tokens of this machine's registry.
fn tokens(engine: &Engine) -> Result<Tokens, Error> {
    let folder = settings(engine)?.folder;
    Tokens::open(engine.store()?, &folder).map_err(|error| token_error(&error))
}

fn settings(engine: &Engine) -> Result<Settings, Error> {
    let read = Settings::read(&engine.config().tree, engine.environment());
    read.map_err(|error: SettingsError| {
        Error::new(ErrorKind::Usage, "bad-setting", error.to_string())
            .hint("`sinew config` shows every key and what it means")
    })
}

pub(crate) fn token_error(error: &TokenError) -> Error {
    let message = error.to_string();
    match error {
        TokenError::BadHandle(_) => Error::new(ErrorKind::Usage, "bad-handle", message)
            .hint("name an owner with --user: letters, digits, dots, hyphens"),
        TokenError::Unknown(_) => Error::new(ErrorKind::No, "unknown-token", message)
            .hint("`sinew registry token list` shows the ids"),
        TokenError::Store(error) => error.clone().into(),
        _ => Error::new(ErrorKind::Environment, "no-tokens", message),
    }
}
