use std::fmt::Write as _;

use serde_json::json;
use sinew_engine::{Engine, EngineError};
use sinew_hub::net::AccessToken;
use sinew_settings::ErrorCode;

use super::remote::{RegistryRemoteArgs, RemoteRegistry};
use crate::environment;
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// Store a token for a registry, once the registry accepts it
///
/// The token is read from standard input unless --token gives it, and stored in sinew's home where
/// only you can read it.
///
/// Examples:
///   sinew registry login --registry http://127.0.0.1:7411/registry < token.txt
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct RegistryLoginArgs {
    #[command(flatten)]
    remote: RegistryRemoteArgs,
    /// The token; others on this machine can see it in the list of processes
    #[arg(long)]
    token: Option<String>,
}

pub(crate) fn login(args: &RegistryLoginArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let remote = RemoteRegistry::open(&args.remote, engine)?;
    let text = match &args.token {
        Some(token) => token.clone(),
        None => environment::standard_input()?,
    };
    let token = AccessToken::new(&text).ok_or_else(|| {
        EngineError::new(ErrorCode::NoToken, "there is no token on standard input")
            .hint("pipe it in, or name it with --token")
    })?;
    let account = remote.publisher_with(token.clone())?.whoami().map_err(EngineError::from)?;
    remote.credentials().save(&remote.base, &token).map_err(EngineError::from)?;
    let handle = account.handle.as_deref().unwrap_or("nobody");
    let shown =
        json!({ "registry": remote.display_base(), "handle": handle, "role": account.role });
    out.data(&shown, |text| {
        writeln!(text, "logged in to {} as @{}", remote.display_base(), render::safe(handle))
    })?;
    Ok(Exit::Done)
}

/// Forget the token of a registry
///
/// Examples:
///   sinew registry logout --registry http://127.0.0.1:7411/registry
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct RegistryLogoutArgs {
    #[command(flatten)]
    remote: RegistryRemoteArgs,
}

pub(crate) fn logout(
    args: &RegistryLogoutArgs,
    engine: &Engine,
    out: &mut Printer,
) -> CommandResult {
    let remote = RemoteRegistry::open(&args.remote, engine)?;
    remote.credentials().remove(&remote.base).map_err(EngineError::from)?;
    let shown = json!({ "registry": remote.display_base() });
    out.data(&shown, |text| writeln!(text, "logged out of {}", remote.display_base()))?;
    Ok(Exit::Done)
}

/// Show the user that a registry's token acts for
///
/// Examples:
///   sinew registry whoami
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct RegistryWhoamiArgs {
    #[command(flatten)]
    remote: RegistryRemoteArgs,
}

pub(crate) fn whoami(
    args: &RegistryWhoamiArgs,
    engine: &Engine,
    out: &mut Printer,
) -> CommandResult {
    let remote = RemoteRegistry::open(&args.remote, engine)?;
    let account = remote.publisher()?.whoami().map_err(EngineError::from)?;
    let handle = account.handle.as_deref().unwrap_or("nobody");
    let shown =
        json!({ "registry": remote.display_base(), "handle": handle, "role": account.role });
    out.data(&shown, |text| {
        writeln!(text, "@{} at {}", render::safe(handle), remote.display_base())
    })?;
    Ok(Exit::Done)
}
