use std::fmt::Write as _;

use clap::ValueEnum;
use serde::Serialize;
use sinew_engine::{Engine, EngineError};
use sinew_registry::{LoginDecision, NewToken, TokenInfo, TokenRole, handle_from};
use sinew_settings::ErrorCode;

use super::{token_error, tokens};
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// Milliseconds of a day.
const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// Create, list and revoke the tokens of this machine's registry
///
/// A token is shown once, when it is made. The database holds only a hash, which is useless without
/// a file beside it. A client that logs in from a machine without a browser (`clawhub login
/// --device`) shows a code; `approve` gives it a token of its own.
///
/// Examples:
///   sinew registry token create --role publish --name alice
///   sinew registry token create --role read --name ci --expires 90
///   sinew registry token list
///   sinew registry token revoke ci
///   sinew registry token approve BCDF-GHJK --role publish --name alice
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct RegistryTokenArgs {
    #[command(subcommand)]
    command: TokenCommand,
}

impl RegistryTokenArgs {
    /// Whether tokens change.
    pub(super) fn acts(&self) -> bool {
        !matches!(self.command, TokenCommand::List)
    }
}

#[derive(Debug, clap::Subcommand)]
enum TokenCommand {
    /// Create a token, and show it once
    Create(TokenCreateArgs),
    /// Approve a client that waits with a code
    Approve {
        /// The code that it shows
        code: String,
        #[command(flatten)]
        wanted: TokenCreateArgs,
    },
    /// Deny a client that waits with a code
    Deny {
        /// The code that it shows
        code: String,
    },
    /// List the tokens, without their secrets
    List,
    /// Revoke a token at once
    Revoke {
        /// Its id, or its label if that is unique
        token: String,
    },
}

#[derive(Debug, clap::Args)]
struct TokenCreateArgs {
    /// What it allows: read, publish (also under the holder's own names), admin (everything)
    #[arg(long, value_enum)]
    role: TokenRoleArg,
    /// What it is for
    #[arg(long, value_name = "LABEL")]
    name: String,
    /// The user it acts for, who owns what is published [default: the name]
    #[arg(long, value_name = "HANDLE")]
    user: Option<String>,
    /// Another owner that the holder may publish for
    #[arg(long = "owner", value_name = "HANDLE")]
    owners: Vec<String>,
    /// Days until it expires [default: never]
    #[arg(long, value_name = "DAYS")]
    expires: Option<u32>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum TokenRoleArg {
    Read,
    Publish,
    Admin,
}

/// The answer that holds a token: the only one.
#[derive(Serialize)]
struct IssuedToken<'a> {
    token: &'a str,
    #[serde(flatten)]
    info: &'a TokenInfo,
}

pub(crate) fn run(args: &RegistryTokenArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    match &args.command {
        TokenCommand::Create(args) => create(args, engine, out),
        TokenCommand::Approve { code, wanted } => {
            let wanted = LoginDecision::Yes(new_token(wanted, engine)?);
            answer(code, wanted, engine, out)
        }
        TokenCommand::Deny { code } => answer(code, LoginDecision::No, engine, out),
        TokenCommand::List => list(engine, out),
        TokenCommand::Revoke { token } => revoke(token, engine, out),
    }
}

fn new_token(args: &TokenCreateArgs, engine: &Engine) -> Result<NewToken, EngineError> {
    let label = args.name.trim();
    let handle = match &args.user {
        Some(user) => user.trim().trim_start_matches('@').to_ascii_lowercase(),
        None => handle_from(label).ok_or_else(|| {
            let text = format!("`{label}` cannot be the name of an owner");
            EngineError::new(ErrorCode::BadHandle, text).hint("name one with --user")
        })?,
    };
    let now = engine.environment().clock.now_ms();
    Ok(NewToken {
        label: label.to_owned(),
        handle,
        owners: args.owners.clone(),
        role: match args.role {
            TokenRoleArg::Read => TokenRole::Read,
            TokenRoleArg::Publish => TokenRole::Publish,
            TokenRoleArg::Admin => TokenRole::Admin,
        },
        expires_at: args.expires.map(|days| now + u64::from(days) * DAY_MS),
    })
}

fn answer(code: &str, said: LoginDecision, engine: &Engine, out: &mut Printer) -> CommandResult {
    let let_in = matches!(said, LoginDecision::Yes(_));
    let now = engine.environment().clock.now_ms();
    let who = tokens(engine)?.decide_login(code, said, now).map_err(token_error)?;
    out.data(&serde_json::json!({ "login": who, "approved": let_in }), |text| {
        let done = if let_in { "let in" } else { "sent away" };
        writeln!(text, "{done}: {}", render::safe(&who))
    })?;
    Ok(Exit::Done)
}

fn create(args: &TokenCreateArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let (wanted, now) = (new_token(args, engine)?, engine.environment().clock.now_ms());
    let tokens = tokens(engine)?;
    let (secret, info) = tokens.create(wanted, now).map_err(token_error)?;
    let created = IssuedToken { token: secret.reveal(), info: &info };
    out.data(&created, |text| writeln!(text, "{}", secret.reveal()))?;
    let about = format!(
        "{} for @{}, id {}; it is not shown again",
        info.role.as_str(),
        info.handle,
        info.id
    );
    out.note(&about);
    Ok(Exit::Done)
}

fn list(engine: &Engine, out: &mut Printer) -> CommandResult {
    let all = tokens(engine)?.list().map_err(token_error)?;
    let now = engine.environment().clock.now_ms();
    out.data(&serde_json::json!({ "tokens": all }), |text| {
        if all.is_empty() {
            return writeln!(text, "there is no token yet");
        }
        for token in &all {
            let state = match token.is_live(now) {
                true => "",
                false if token.revoked_at.is_some() => "  revoked",
                false => "  ended",
            };
            let label = render::safe(&token.label);
            let (id, role, handle) = (&token.id, token.role.as_str(), &token.handle);
            writeln!(text, "{id}  {role:<7}  @{handle}  {label}{state}")?;
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}

fn revoke(token: &str, engine: &Engine, out: &mut Printer) -> CommandResult {
    let now = engine.environment().clock.now_ms();
    let info = tokens(engine)?.revoke(token, now).map_err(token_error)?;
    out.data(&info, |text| writeln!(text, "revoked {} of @{}", info.id, info.handle))?;
    Ok(Exit::Done)
}
