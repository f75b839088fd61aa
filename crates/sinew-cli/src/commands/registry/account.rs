use std::fmt::Write as _;

use serde_json::json;
use sinew_engine::{Engine, Error, ErrorKind};
use sinew_hub::net::Token;

use super::remote::{Remote, RemoteArgs};
use crate::environment;
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// Keep a token for a registry, once the registry knows it
///
/// The token is read from standard input unless --token names it, and kept in sinew's home where only
/// you can read it.
///
/// Examples:
///   sinew registry login --registry http://127.0.0.1:7411/registry < token.txt
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct LoginArgs {
    #[command(flatten)]
    remote: RemoteArgs,
    /// The token; others on this machine can see it in the list of processes
    #[arg(long)]
    token: Option<String>,
}

pub(crate) fn login(args: &LoginArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let remote = Remote::open(&args.remote, engine)?;
    let text = match &args.token {
        Some(token) => token.clone(),
        None => environment::standard_input()?,
    };
    let token = Token::new(&text).ok_or_else(|| {
        Error::new(ErrorKind::Usage, "no-token", "there is no token on standard input")
            .hint("pipe it in, or name it with --token")
    })?;
    let account = remote.publisher_with(token.clone())?.whoami().map_err(Error::from)?;
    remote.credentials().save(&remote.base, &token).map_err(Error::from)?;
    let handle = account.handle.as_deref().unwrap_or("nobody");
    let shown = json!({ "registry": remote.shown(), "handle": handle, "role": account.role });
    out.data(&shown, |text| {
        writeln!(text, "logged in to {} as @{}", remote.shown(), render::safe(handle))
    })?;
    Ok(Exit::Done)
}

/// Forget the token of a registry
///
/// Examples:
///   sinew registry logout --registry http://127.0.0.1:7411/registry
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct LogoutArgs {
    #[command(flatten)]
    remote: RemoteArgs,
}

pub(crate) fn logout(args: &LogoutArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let remote = Remote::open(&args.remote, engine)?;
    remote.credentials().remove(&remote.base).map_err(Error::from)?;
    let shown = json!({ "registry": remote.shown() });
    out.data(&shown, |text| writeln!(text, "logged out of {}", remote.shown()))?;
    Ok(Exit::Done)
}

/// Show whom the token of a registry acts for
///
/// Examples:
///   sinew registry whoami
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct WhoamiArgs {
    #[command(flatten)]
    remote: RemoteArgs,
}

pub(crate) fn whoami(args: &WhoamiArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let remote = Remote::open(&args.remote, engine)?;
    let account = remote.publisher()?.whoami().map_err(Error::from)?;
    let handle = account.handle.as_deref().unwrap_or("nobody");
    let shown = json!({ "registry": remote.shown(), "handle": handle, "role": account.role });
    out.data(&shown, |text| writeln!(text, "@{} at {}", render::safe(handle), remote.shown()))?;
    Ok(Exit::Done)
}
