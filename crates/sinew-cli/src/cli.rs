//! The command line: what people type.

use std::path::PathBuf;

use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use sinew_engine::EngineOptions;

use crate::commands;
use crate::help_groups;
use crate::logging::LogArgs;
use crate::printer::ColorChoice;

/// The skills engine for AI agents: the right skill for each message, or none, and why
///
/// sinew sits between an agent and its skills, the SKILL.md folders. It reads them wherever agents
/// keep them, scans them before they are used, finds the one that fits a message, offline, and says
/// why each is in or out. It fetches what is missing once you agree, remembers what worked, and
/// turns corrections and finished runs into skills for you to review.
#[derive(Debug, Parser)]
#[command(name = "sinew", version, propagate_version = true, max_term_width = 100)]
#[command(after_help = "Examples:\n  \
    sinew setup                 connect the agents of this machine, with a proof\n  \
    sinew find \"who did this?\"  the right skill for a message, or none\n  \
    sinew list                  every skill, and whether it can be used\n  \
    sinew why github            why a skill is in or out, and what to do\n  \
    sinew ui                    look at it in a browser\n  \
    sinew demo                  a day with sinew, on a machine of its own\n\n\
    Exit codes: 0 done, 1 the answer is no, 2 usage, 3 refused, 4 environment.")]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    command: Option<CliCommand>,
}

/// What `sinew` without a command shows.
const STATUS: CliCommand = CliCommand::Status(commands::status::StatusArgs {});

impl Cli {
    /// What was typed, with the commands grouped in the help.
    pub(crate) fn of_process() -> Result<Self, clap::Error> {
        let matches = help_groups::grouped(Self::command()).try_get_matches()?;
        Self::from_arg_matches(&matches)
    }

    /// The command that was typed.
    pub(crate) fn typed(&self) -> &CliCommand {
        self.command.as_ref().unwrap_or(&STATUS)
    }
}

/// Options that every command takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct GlobalArgs {
    /// Answer in JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Whose folders and rules apply: sinew, openclaw, openpocket, claude-code, codex, cursor, goose, gemini, opencode, directory
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// The agent's workspace [default: the current folder]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// The agent whose list of skills applies
    #[arg(long, global = true, value_name = "ID")]
    pub(crate) agent: Option<String>,
    /// The configuration file
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Print only the answer and errors
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: ColorChoice,
    /// Lay the answer out for a terminal of so many columns, wherever it goes
    #[arg(long = "terminal-width", global = true, value_name = "COLUMNS", hide = true)]
    pub(crate) width: Option<usize>,
    #[command(flatten)]
    pub(crate) log: LogArgs,
}

impl GlobalArgs {
    /// What the engine needs of them.
    pub(crate) fn options(&self) -> EngineOptions {
        EngineOptions {
            profile: self.profile.clone(),
            workspace: self.workspace.clone(),
            agent: self.agent.clone(),
            config: self.config.clone(),
            sandbox_launcher: std::env::current_exe().ok(),
            ..EngineOptions::default()
        }
    }
}

/// The commands, in the order in which a newcomer needs them.
#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    Setup(commands::setup::SetupArgs),
    Status(commands::status::StatusArgs),
    Find(commands::find::FindArgs),
    List(commands::list::ListArgs),
    Info(commands::info::InfoArgs),
    Why(commands::why::WhyArgs),
    Check(commands::check::CheckArgs),
    Prompt(commands::prompt::PromptArgs),
    New(commands::new::NewArgs),
    Enable(commands::switch::EnableArgs),
    Disable(commands::switch::DisableArgs),
    Open(commands::open::OpenArgs),
    Bundled(commands::bundled::BundledArgs),
    Read(commands::read::ReadArgs),
    Validate(commands::validate::ValidateArgs),
    Scan(commands::scan::ScanArgs),
    Eval(commands::eval::EvalArgs),
    Dedupe(commands::dedupe::DedupeArgs),
    Index(commands::index::IndexArgs),
    Report(commands::report::ReportArgs),
    Usage(commands::usage::UsageArgs),
    Cortex(commands::cortex::CortexArgs),
    Workshop(commands::workshop::WorkshopArgs),
    Acquire(commands::acquire::AcquireArgs),
    Search(commands::search::SearchArgs),
    Install(commands::install::InstallArgs),
    Installed(commands::installed::InstalledArgs),
    Update(commands::update::UpdateArgs),
    Verify(commands::verify::VerifyArgs),
    Sbom(commands::sbom::SbomArgs),
    Pin(commands::pin::PinArgs),
    Restore(commands::restore::RestoreArgs),
    Sync(Box<commands::sync::SyncArgs>),
    #[command(visible_alias = "remove")]
    Uninstall(commands::uninstall::UninstallArgs),
    Approve(commands::approve::ApproveArgs),
    Learn(commands::learn::LearnArgs),
    Exec(commands::exec::ExecArgs),
    Deps(commands::deps::DepsArgs),
    Commands(commands::commands::CommandsArgs),
    Connect(commands::connect::ConnectArgs),
    Disconnect(commands::disconnect::DisconnectArgs),
    Context(commands::context::ContextArgs),
    Import(commands::import::ImportArgs),
    Hook(commands::hook::HookArgs),
    Mcp(commands::mcp::McpArgs),
    Watch(commands::watch::WatchArgs),
    #[cfg(feature = "web")]
    Serve(commands::serve::ServeArgs),
    #[cfg(feature = "web")]
    Ui(commands::serve::UiArgs),
    #[cfg(feature = "web")]
    Service(commands::service::ServiceArgs),
    #[cfg(feature = "registry")]
    Registry(commands::registry::RegistryArgs),
    Demo(commands::demo::DemoArgs),
    Doctor(commands::doctor::DoctorArgs),
    Backup(commands::backup::BackupArgs),
    Config(commands::config::ConfigArgs),
    Skills(commands::skills::SkillsArgs),
    Completions(commands::completions::CompletionsArgs),
    Man(commands::man::ManArgs),
    #[cfg(feature = "web")]
    Docs(commands::docs::DocsArgs),
}
