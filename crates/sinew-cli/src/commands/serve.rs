use std::fmt::Write as _;
use std::io::ErrorKind;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::sync::Arc;
use std::thread;

use serde::Serialize;
use sinew_engine::{Engine, EngineError, LiveEngine};
use sinew_listener::{HttpServer, ServeError, ServerOptions, ServerPart};
use sinew_mcp::{McpHost, RESERVED_COMMANDS, http};
use sinew_registry::{ListenerReach, PREFIX, TeamRegistry};
use sinew_settings::ErrorCode;
use sinew_web::WebApp;
use url::Url;

use super::listening::{origin, per_second_of, public_url_of, serve_error};
use super::port_holder::PortHolder;
use super::registry as registry_command;
use crate::environment;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::printer::{ColorChoice, Printer};

/// Serve the dashboard, the HTTP API and MCP, and a team's registry on request
///
/// In a terminal, the printed link signs one browser in, and Enter gives another; programs send the
/// token from sinew's home, which signs no browser in. Only this
/// machine can reach the server unless another address is named; with --registry that needs an
/// admin token. It runs until it is interrupted, and lets running requests finish.
///
/// Examples:
///   sinew serve --open
///   sinew registry token create --role admin --name me
///   sinew serve --registry
///   sinew serve --registry --listen 127.0.0.1:0 --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    how: ListenArgs,
    /// Open the dashboard in a browser
    #[arg(long)]
    open: bool,
}

/// Open the dashboard in a browser
///
/// Starts a server, as `sinew serve --open` does, or joins the one that is running already. Where
/// another program has the port, it is named.
///
/// Examples:
///   sinew ui
///   sinew ui --listen 127.0.0.1:0
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct UiArgs {
    #[command(flatten)]
    how: ListenArgs,
}

/// Where a server answers, and as what.
#[derive(Debug, clap::Args)]
struct ListenArgs {
    /// The address to listen on; port 0 picks a free port [default: serve.listen, else
    /// 127.0.0.1:7411]
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
    /// Also serve a team registry below /registry
    #[arg(long)]
    registry: bool,
}

/// Where the server answers.
#[derive(Serialize)]
struct ServeAddresses<'a> {
    listening: &'a str,
    address: String,
    registry: Option<String>,
    /// The dashboard; in a terminal a link that signs one browser in, once.
    dashboard: String,
    mcp: String,
}

/// Whether a browser is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BrowserLaunch {
    Open,
    Leave,
}

pub(crate) fn run(
    args: &ServeArgs,
    options: sinew_engine::EngineOptions,
    out: &mut Printer,
) -> CommandResult {
    serve(
        &args.how,
        if args.open { BrowserLaunch::Open } else { BrowserLaunch::Leave },
        options,
        out,
    )
}

pub(crate) fn run_ui(
    args: &UiArgs,
    options: sinew_engine::EngineOptions,
    out: &mut Printer,
) -> CommandResult {
    serve(&args.how, BrowserLaunch::Open, options, out)
}

fn serve(
    how: &ListenArgs,
    browser: BrowserLaunch,
    options: sinew_engine::EngineOptions,
    out: &mut Printer,
) -> CommandResult {
    let reserved_commands = RESERVED_COMMANDS.map(str::to_owned).to_vec();
    let options = sinew_engine::EngineOptions { reserved_commands, ..options };
    let live = LiveEngine::new(Engine::open(environment::of_process()?, options)?);
    let host = McpHost::new(Arc::clone(&live))?;
    let engine = &*live.engine();
    // A server answers for what it remembers; a damaged memory is mended first.
    engine.database().check_whole()?;
    let configured = &engine.config().serve;
    let listen = address(how.listen.as_deref().unwrap_or(&configured.listen))?;
    let public_url = public_url_of(engine)?;
    let reach = reach_of(listen, public_url.as_ref());
    let own = configured.registry_listen.as_deref().filter(|own| !own.trim().is_empty());
    let own = own.map(address).transpose()?;
    let registry_url = configured.registry_url.as_deref();
    let registry_reach = match own {
        Some(own) => reach_of(own, origin("registryUrl", registry_url)?.as_ref()),
        None => reach,
    };
    let registry = match how.registry {
        true => Some(registry_command::open(engine, registry_reach)?),
        false => None,
    };
    let has_admin = match &registry {
        Some(registry) => {
            let now = engine.environment().clock.now_ms();
            registry.tokens().has_admin(now).map_err(registry_command::token_error)?
        }
        None => false,
    };
    // The engine's own token guards everything but a registry.
    let has_token = has_admin || registry.is_none() || own.is_some();
    let app = WebApp::new(live)?;
    let mcp = mcp(&host, engine, reach, public_url.clone())?;
    let per_second = per_second_of(engine)?;
    let options = ServerOptions { listen, public_url, has_token, per_second };
    let mut server = match HttpServer::bind(options) {
        Ok(server) => server,
        Err(ServeError::Bind { address, error }) if error.kind() == ErrorKind::AddrInUse => {
            let holder = PortHolder::of(address);
            if browser == BrowserLaunch::Open && holder.is_sinew {
                return join(address, out);
            }
            let busy = serve_error(ServeError::Bind { address, error });
            return Err(busy.hint(holder.sentence(address)).into());
        }
        Err(error) => return Err(serve_error(error).into()),
    };
    server = server.mount(sinew_web::part(&app)).mount(mcp);
    let mut alone = None;
    let registry_at = match &registry {
        None => None,
        Some(registry) => match own {
            None => {
                server = server.mount(registry.part());
                Some(format!("{}{PREFIX}", server.origin()))
            }
            Some(listen) => {
                let own = listener(engine, listen, has_admin)?.mount(registry.part());
                let running = own.start().map_err(serve_error)?;
                let origin = running.origin().to_owned();
                alone = Some(running);
                Some(origin)
            }
        },
    };
    let serving = ServeAddresses {
        listening: server.origin(),
        address: server.address().to_string(),
        registry: registry_at,
        dashboard: sign_in_link(&app, server.origin(), out)?,
        mcp: format!("{}{}", server.origin(), http::PATH),
    };
    if reach == ListenerReach::Others
        || registry.is_some() && registry_reach == ListenerReach::Others
    {
        out.warn("other machines can reach this server; its token gives access to it");
    }
    match out.is_json() {
        true => out.json_line(&serving)?,
        false => out.text(&shown(&serving))?,
    }
    if out.at_terminal() {
        offer_links(&app, server.origin());
    }
    app.watch();
    host.watch();
    if browser == BrowserLaunch::Open && !environment::open_with_system(&serving.dashboard) {
        out.hint("no browser could be started; open the link yourself");
    }
    let keeping = registry
        .as_ref()
        .map(Arc::clone)
        .map(|registry: Arc<TeamRegistry>| registry.start_upkeep());
    let keeping = keeping.transpose()?;
    server.run().map_err(serve_error)?;
    drop((keeping, alone));
    Ok(Exit::Done)
}

/// Shows the dashboard of a server that runs already. It signs no browser in: only its own terminal can.
fn join(address: SocketAddr, out: &mut Printer) -> CommandResult {
    let dashboard = format!("http://{address}/");
    let joined = serde_json::json!({"joined": true, "dashboard": dashboard});
    out.data(&joined, |text| {
        writeln!(text, "a server is running already: dashboard at {dashboard}")
    })?;
    out.note("not signed in yet? Press Enter in the terminal of that server for a link");
    if !environment::open_with_system(&dashboard) {
        out.hint("no browser could be started; open the address yourself");
    }
    Ok(Exit::Done)
}

/// A link that signs a browser in. Only a terminal gets one: what reads a pipe may be a program,
/// and the link makes a person.
fn sign_in_link(app: &WebApp, origin: &str, out: &mut Printer) -> Result<String, CommandError> {
    if !out.at_terminal() {
        out.note("no terminal: start it in one for a link that signs you in to the dashboard");
        return Ok(format!("{origin}/auth"));
    }
    Ok(format!("{origin}/auth?once={}", app.access().sign_in_code()?))
}

/// Another link for each line that is typed at the server's terminal.
fn offer_links(app: &WebApp, origin: &str) {
    let (app, origin) = (app.clone(), origin.to_owned());
    thread::spawn(move || {
        let mut out = Printer::new(false, false, ColorChoice::Auto);
        for _ in std::io::stdin().lines().map_while(Result::ok) {
            if let Ok(code) = app.access().sign_in_code() {
                out.ask(&format!(
                    "dashboard at {origin}/auth?once={code} (this link works once)\n"
                ));
            }
        }
    });
}

/// The registry's own address.
fn listener(
    engine: &Engine,
    listen: SocketAddr,
    has_token: bool,
) -> Result<HttpServer, EngineError> {
    let public_url = origin("registryUrl", engine.config().serve.registry_url.as_deref())?;
    let options = ServerOptions { listen, public_url, has_token, per_second: None };
    HttpServer::bind(options).map_err(serve_error)
}

/// Who can reach an address that may be known under another name.
fn reach_of(listen: SocketAddr, public_url: Option<&Url>) -> ListenerReach {
    match listen.ip().is_loopback() && public_url.is_none() {
        true => ListenerReach::Loopback,
        false => ListenerReach::Others,
    }
}

/// MCP beside the other parts, with the token that they share.
fn mcp(
    host: &Arc<McpHost>,
    engine: &Engine,
    reach: ListenerReach,
    public_url: Option<Url>,
) -> Result<ServerPart, EngineError> {
    let token = match engine.config().mcp.require_token || reach == ListenerReach::Others {
        true => Some(engine.settings().access_token()?),
        false => None,
    };
    Ok(http::part(host, http::McpAccess { token, public_url }))
}

fn shown(serving: &ServeAddresses<'_>) -> String {
    let mut text = format!("listening on {}\n", serving.listening);
    let once = if serving.dashboard.contains("once=") {
        " (this link works once; press Enter for another)"
    } else {
        ""
    };
    let _ = writeln!(text, "dashboard at {}{once}", serving.dashboard);
    let _ = writeln!(text, "MCP at {}", serving.mcp);
    if let Some(registry) = &serving.registry {
        let _ = writeln!(text, "registry at {registry}");
    }
    text
}

fn address(text: &str) -> Result<SocketAddr, EngineError> {
    let found = text.to_socket_addrs().ok().and_then(|mut all| all.next());
    found.ok_or_else(|| {
        EngineError::new(ErrorCode::BadAddress, format!("`{text}` is not a valid listen address"))
            .hint("write a host and a port, such as 127.0.0.1:7411")
    })
}
