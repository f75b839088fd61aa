use std::net::SocketAddr;

use sinew_engine::{Engine, Options};
use sinew_server::mcp::http::{Access, serve_http};
use sinew_server::mcp::{Host, RESERVED_COMMANDS, serve_stdio};

use crate::environment;
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;

/// Serve skills to an agent over the Model Context Protocol
///
/// Without --http the client is whoever started the process: standard output carries protocol frames
/// and nothing else. With --http the address is printed, and clients need the token unless
/// mcp.require_token is false.
///
/// Examples:
///   sinew mcp
///   sinew mcp --workspace ~/project
///   sinew mcp --http 127.0.0.1:0
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct McpArgs {
    /// Listen here instead; port 0 takes any that is free
    #[arg(long, value_name = "ADDR")]
    http: Option<SocketAddr>,
}

pub(crate) fn run(args: &McpArgs, options: Options, out: &mut Printer) -> CommandResult {
    let reserved_commands = RESERVED_COMMANDS.map(str::to_owned).to_vec();
    let engine =
        Engine::open(environment::of_process()?, Options { reserved_commands, ..options })?;
    let Some(address) = args.http else {
        serve_stdio(&Host::new(engine)?)?;
        return Ok(Exit::Done);
    };
    let settings = engine.config().mcp.clone();
    let token = match settings.require_token || !address.ip().is_loopback() {
        true => Some(engine.access_token()?),
        false => None,
    };
    let access = Access { token, hosts: settings.allowed_hosts, origins: settings.allowed_origins };
    serve_http(&Host::new(engine)?, address, access, |address| {
        out.text(&format!("http://{address}/mcp\n"))
    })?;
    Ok(Exit::Done)
}
