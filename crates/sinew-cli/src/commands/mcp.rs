use std::net::SocketAddr;

use sinew_engine::{Engine, EngineError, EngineOptions, LiveEngine};
use sinew_listener::{HttpServer, ServerOptions};
use sinew_mcp::http::{McpAccess, PATH, part};
use sinew_mcp::{ClientTrust, McpHost, RESERVED_COMMANDS, serve_stdio};

use super::listening;
use crate::environment;
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;

/// Serve skills to an agent over the Model Context Protocol
///
/// Without --http the client is the process that started this one: standard output carries protocol
/// frames and nothing else. With --http the address is printed, and clients need the token in the
/// file `token` in sinew's home, unless mcp.requireToken is false.
///
/// Examples:
///   sinew mcp
///   sinew mcp --workspace ~/project
///   sinew mcp --http 127.0.0.1:0
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct McpArgs {
    /// Listen on this address instead; port 0 picks a free port
    #[arg(long, value_name = "ADDR")]
    http: Option<SocketAddr>,
    /// The word that `sinew connect` wrote into the entry of the client that starts this
    #[arg(long, value_name = "WORD", conflicts_with = "http")]
    client: Option<String>,
}

pub(crate) fn run(args: &McpArgs, options: EngineOptions, out: &mut Printer) -> CommandResult {
    let reserved_commands = RESERVED_COMMANDS.map(str::to_owned).to_vec();
    let options = EngineOptions { reserved_commands, ..options };
    let engine = Engine::open(environment::of_process()?, options)?;
    match args.http {
        None => {
            let known =
                args.client.as_deref().and_then(|word| engine.connect().connected_client(word));
            let trust = known.map_or(ClientTrust::Unknown, |_| ClientTrust::Connected);
            serve_stdio(&McpHost::new(LiveEngine::new(engine))?, trust)?;
        }
        Some(listen) => {
            // A server answers for what it remembers; a damaged memory is mended first.
            engine.database().check_whole()?;
            serve_http(engine, listen, out)?;
        }
    }
    Ok(Exit::Done)
}

fn serve_http(engine: Engine, listen: SocketAddr, out: &mut Printer) -> Result<(), EngineError> {
    let public_url = listening::public_url_of(&engine)?;
    let alone = listen.ip().is_loopback() && public_url.is_none();
    let token = match engine.config().mcp.require_token || !alone {
        true => Some(engine.settings().access_token()?),
        false => None,
    };
    let per_second = listening::per_second_of(&engine)?;
    let has_token = token.is_some();
    let options = ServerOptions { listen, public_url: public_url.clone(), has_token, per_second };
    let server = HttpServer::bind(options).map_err(listening::serve_error)?;
    let host = McpHost::new(LiveEngine::new(engine))?;
    host.watch();
    let server = server.mount(part(&host, McpAccess { token, public_url }));
    out.text(&format!("{}{PATH}\n", server.origin()))
        .map_err(|error| EngineError::file("write to", "standard output".as_ref(), error))?;
    server.run().map_err(listening::serve_error)
}
