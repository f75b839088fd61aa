//! MCP over standard input and output: one client, which started the process.

use std::sync::Arc;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::stdio_pipes;
use sinew_engine::EngineError;
use sinew_settings::ErrorCode;

use super::caller::ClientTrust;
use super::host::McpHost;
use super::server::McpServer;

/// Serves one client until it closes standard input.
pub fn serve_stdio(host: &Arc<McpHost>, trust: ClientTrust) -> Result<(), EngineError> {
    let runtime = super::http::runtime()?;
    host.watch();
    let served = runtime.block_on(async {
        match McpServer::with(host, trust).serve(stdio_pipes()).await {
            Ok(running) => running.waiting().await.map(drop).map_err(|error| error.to_string()),
            // A client that leaves before its first message is not an error.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    });
    // The client is gone, so blocking work that still runs has no one to answer.
    runtime.shutdown_background();
    served.map_err(|error| {
        EngineError::new(ErrorCode::McpFailed, format!("the connection broke: {error}")).hint(
            "an MCP client begins with `initialize` or with a request that carries its metadata",
        )
    })
}
