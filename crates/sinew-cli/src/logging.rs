//! Where the program's events go: to standard error as text for a person, as JSON lines for the servers
//! and for files.
//!
//! Commands are silent unless asked: what a user must know is an answer, a reason or an error, never a
//! log line. Servers report warnings, because nothing else tells of what fails behind an answer.
//! Secrets and the text of messages are in no event.

use std::fs::OpenOptions;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use clap::Args;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer, fmt};

use sinew_engine::EngineError;
use sinew_settings::ErrorCode;

use crate::cli::{Cli, CliCommand};
use crate::environment;

/// The variable with a filter such as `info` or `warn,sinew_hub=debug`.
const LOG_VARIABLE: &str = "SINEW_LOG";

/// What of the program's own doings is shown, and where.
#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// Log what happens behind the answer; repeat for more detail
    #[arg(long, short, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
    /// Write log events to a file, as JSON lines
    #[arg(long, global = true, value_name = "FILE")]
    log_file: Option<PathBuf>,
}

impl LogArgs {
    /// Whether `-v` was given; `sinew list` shows more then, too.
    pub(crate) fn is_verbose(&self) -> bool {
        self.verbose > 0
    }
}

/// How the program was started, as far as its events are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LogStyle {
    /// A command that ends by itself, for a person or a script.
    Command,
    /// A server, whose standard error is collected by another program.
    Server,
}

/// Sends events where the options and [`LOG_VARIABLE`] say.
pub(crate) fn start(cli: &Cli) -> Result<(), EngineError> {
    let args = &cli.global.log;
    let (style, verbose) = match cli.typed() {
        #[cfg(feature = "web")]
        CliCommand::Serve(_) | CliCommand::Ui(_) => (LogStyle::Server, args.verbose),
        CliCommand::Mcp(_) => (LogStyle::Server, args.verbose),
        // Its first `-v` asks for more columns.
        CliCommand::List(_) => (LogStyle::Command, args.verbose.saturating_sub(1)),
        _ => (LogStyle::Command, args.verbose),
    };
    let variable = environment::variable(LOG_VARIABLE);
    let variable = variable.as_deref();
    let filter = filter(verbose, variable, style)?;
    if verbose == 0 && variable.is_none() && args.log_file.is_none() && style == LogStyle::Command {
        return Ok(());
    }
    let file = args.log_file.as_deref().map(open).transpose()?;
    let to_file = file.map(|file| {
        // A file that was asked for has something in it even where the terminal stays quiet.
        let level =
            variable.map_or_else(|| at_least(&filter, LevelFilter::INFO), |_| filter.clone());
        fmt::layer()
            .json()
            .flatten_event(true)
            .with_ansi(false)
            .with_writer(file)
            .with_filter(level)
    });
    let plain = style == LogStyle::Command || std::io::stderr().is_terminal();
    let (text, json) = if plain {
        (Some(fmt::layer().compact().with_ansi(false).with_writer(std::io::stderr)), None)
    } else {
        (None, Some(fmt::layer().json().flatten_event(true).with_writer(std::io::stderr)))
    };
    tracing_subscriber::registry()
        .with(text.with_filter(filter.clone()))
        .with(json.with_filter(filter))
        .with(to_file)
        .try_init()
        .map_err(|error| log_error(format!("events cannot be recorded: {error}")))
}

/// The level for this program's own crates; other crates speak only when they are named.
fn filter(verbose: u8, variable: Option<&str>, style: LogStyle) -> Result<Targets, EngineError> {
    if let Some(text) = variable.filter(|text| !text.trim().is_empty() && verbose == 0) {
        return text.parse().map_err(|error| {
            log_error(format!("`{text}` in {LOG_VARIABLE} is not a valid filter: {error}"))
                .hint("write a level (error, warn, info, debug, trace), or `warn,sinew_hub=debug`")
        });
    }
    let level = match (verbose, style) {
        (0, LogStyle::Command) => LevelFilter::OFF,
        (0, LogStyle::Server) => LevelFilter::WARN,
        (1, _) => LevelFilter::INFO,
        _ => LevelFilter::DEBUG,
    };
    Ok(Targets::new().with_target("sinew", level))
}

fn at_least(filter: &Targets, level: LevelFilter) -> Targets {
    if filter.would_enable("sinew", &tracing::Level::INFO) {
        filter.clone()
    } else {
        Targets::new().with_target("sinew", level)
    }
}

fn open(path: &Path) -> Result<std::fs::File, EngineError> {
    OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .map_err(|error| log_error(format!("cannot write {}: {error}", path.display())))
}

fn log_error(message: String) -> EngineError {
    EngineError::new(ErrorCode::NoLog, message)
}
