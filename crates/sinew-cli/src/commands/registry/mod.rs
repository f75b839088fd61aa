//! `sinew registry`: a team's registry, from both ends.

mod account;
mod change;
mod mirror;
mod publish;
mod remote;
mod token;

use std::sync::Arc;

use sinew_engine::{Engine, EngineError};
use sinew_registry::{
    ListenerReach, RegistryError, RegistrySettings, TeamRegistry, TokenError, TokenStore,
};
use sinew_settings::ErrorCode;

use self::change::RegistrySkillChange;
use crate::exit::CommandResult;
use crate::printer::Printer;

/// Run a team's registry, and publish to one
///
/// `token` and `mirror` are about the registry that `sinew serve --registry` serves from this
/// machine; the other commands use the configured registry, or the one named with --registry.
///
/// Examples:
///   sinew registry token create --role publish --name alice
///   sinew registry login --registry http://127.0.0.1:7411/registry
///   sinew registry publish ./my-skill --version 1.0.0
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct RegistryArgs {
    #[command(subcommand)]
    command: RegistryCommand,
}

#[derive(Debug, clap::Subcommand)]
enum RegistryCommand {
    Token(token::RegistryTokenArgs),
    Login(account::RegistryLoginArgs),
    Logout(account::RegistryLogoutArgs),
    Whoami(account::RegistryWhoamiArgs),
    Publish(publish::RegistryPublishArgs),
    Delete(change::RegistryDeleteArgs),
    /// Restore a deleted skill
    ///
    /// Examples:
    ///   sinew registry undelete my-skill
    #[command(verbatim_doc_comment)]
    Undelete(change::RegistrySkillArgs),
    /// Give a skill a star
    ///
    /// Examples:
    ///   sinew registry star @alice/my-skill
    #[command(verbatim_doc_comment)]
    Star(change::RegistrySkillArgs),
    /// Remove a star
    ///
    /// Examples:
    ///   sinew registry unstar @alice/my-skill
    #[command(verbatim_doc_comment)]
    Unstar(change::RegistrySkillArgs),
    Mirror(mirror::RegistryMirrorArgs),
}

impl RegistryArgs {
    /// Whether something changes, here or at the registry.
    pub(crate) fn acts(&self) -> bool {
        match &self.command {
            RegistryCommand::Whoami(_) => false,
            RegistryCommand::Token(args) => args.acts(),
            _ => true,
        }
    }
}

pub(crate) fn run(args: &RegistryArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    match &args.command {
        RegistryCommand::Token(args) => token::run(args, engine, out),
        RegistryCommand::Login(args) => account::login(args, engine, out),
        RegistryCommand::Logout(args) => account::logout(args, engine, out),
        RegistryCommand::Whoami(args) => account::whoami(args, engine, out),
        RegistryCommand::Publish(args) => publish::run(args, engine, out),
        RegistryCommand::Delete(args) => change::delete(args, engine, out),
        RegistryCommand::Undelete(args) => {
            change::run(RegistrySkillChange::Undelete, args, engine, out)
        }
        RegistryCommand::Star(args) => change::run(RegistrySkillChange::Star, args, engine, out),
        RegistryCommand::Unstar(args) => {
            change::run(RegistrySkillChange::Unstar, args, engine, out)
        }
        RegistryCommand::Mirror(args) => mirror::run(args, engine, out),
    }
}

/// The registry of this machine.
pub(crate) fn open(
    engine: &Engine,
    reach: ListenerReach,
) -> Result<Arc<TeamRegistry>, EngineError> {
    let settings = settings(engine)?;
    let env = engine.environment();
    TeamRegistry::open(env, engine.store()?, settings, reach).map_err(|error| match error {
        RegistryError::Tokens(error) => token_error(error),
        RegistryError::Store(error) => error.into(),
        RegistryError::Mirror(_) => EngineError::new(ErrorCode::BadSetting, error.to_string())
            .caused_by(error)
            .hint("registry.mirror.upstream is the base of another registry"),
        RegistryError::Blobs(_) => EngineError::new(ErrorCode::NoBlobs, error.to_string())
            .caused_by(error)
            .hint("registry.blobs names a folder, or a bucket as s3://bucket/prefix"),
    })
}

/// The tokens of this machine's registry.
fn tokens(engine: &Engine) -> Result<TokenStore, EngineError> {
    let folder = settings(engine)?.folder;
    TokenStore::open(engine.store()?, &folder).map_err(token_error)
}

fn settings(engine: &Engine) -> Result<RegistrySettings, EngineError> {
    let read = RegistrySettings::read(engine.config(), engine.environment());
    read.map_err(|error| {
        EngineError::new(ErrorCode::BadSetting, error.to_string())
            .caused_by(error)
            .hint("`sinew config` shows every key and what it means")
    })
}

pub(crate) fn token_error(error: TokenError) -> EngineError {
    let message = error.to_string();
    let told = match &error {
        TokenError::BadHandle(_) => EngineError::new(ErrorCode::BadHandle, message)
            .hint("name an owner with --user: letters, digits, dots, hyphens"),
        TokenError::NoLogin(_) => EngineError::new(ErrorCode::NoLogin, message)
            .hint("codes end after 15 minutes; log in again for a new one"),
        TokenError::Unknown(_) => EngineError::new(ErrorCode::UnknownToken, message)
            .hint("`sinew registry token list` shows the ids"),
        TokenError::Store(error) => return error.clone().into(),
        _ => EngineError::new(ErrorCode::NoTokens, message),
    };
    told.caused_by(error)
}
