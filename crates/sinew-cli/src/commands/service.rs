use std::fmt::Write as _;

use clap::Subcommand;
use sinew_engine::{Engine, ServiceStatus};

use super::approve::current_actor;
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// Keep the server running: start it at login, and again when it fails
///
/// It runs as `sinew serve` in your own session, with your own rights: a systemd user unit on Linux,
/// a launchd agent on macOS, a task at log-on on Windows. serve.listen and the other keys of the
/// configuration say where it listens. Only a person at a terminal can install or remove it.
///
/// Examples:
///   sinew service install
///   sinew service status
///   sinew service remove
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ServiceArgs {
    #[command(subcommand)]
    action: ServiceCommand,
}

#[derive(Debug, Subcommand)]
enum ServiceCommand {
    /// Describe the server to the system's service manager, and start it
    Install,
    /// Say whether it is installed, and whether it runs
    Status,
    /// Stop it, and take its description away
    Remove,
}

impl ServiceArgs {
    /// Whether a service is changed.
    pub(crate) fn acts(&self) -> bool {
        !matches!(self.action, ServiceCommand::Status)
    }
}

pub(crate) fn run(args: &ServiceArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let service = engine.service();
    match args.action {
        ServiceCommand::Install => {
            let status = service.install(&current_actor(engine, out))?;
            out.data(&status, |text| write_status(text, &status))?;
            out.hint("`sinew ui` opens the dashboard");
            Ok(Exit::Done)
        }
        ServiceCommand::Status => {
            let status = service.status()?;
            out.data(&status, |text| write_status(text, &status))?;
            if !status.installed {
                out.hint("`sinew service install` keeps the server running");
            } else if !status.current {
                out.hint("`sinew service install` brings it up to date");
            }
            Ok(if status.running == Some(true) { Exit::Done } else { Exit::No })
        }
        ServiceCommand::Remove => {
            let status = service.remove(&current_actor(engine, out))?;
            out.data(&status, |text| match status.installed {
                true => {
                    let file = render::safe(&status.file.to_string_lossy());
                    writeln!(text, "the service is stopped, and {file} is removed")
                }
                false => writeln!(text, "no service of sinew is installed"),
            })?;
            Ok(Exit::Done)
        }
    }
}

fn write_status(text: &mut String, status: &ServiceStatus) -> std::fmt::Result {
    if !status.installed {
        return writeln!(text, "the server is not a service of this system yet");
    }
    let said = match status.running {
        Some(true) => "the server runs as a service",
        Some(false) => "the service is installed, and does not run",
        None => "the service is installed; whether it runs is not known",
    };
    render::heading(text, said)?;
    writeln!(text, "  manager  {}", status.manager)?;
    writeln!(text, "  file     {}", render::safe(&status.file.to_string_lossy()))?;
    if !status.current {
        let said = "the file is not what this version of sinew would write";
        writeln!(text, "  {} {said}", render::warning("!"))?;
    }
    if let Some(problem) = &status.problem {
        writeln!(text, "  {} {}", render::warning("!"), render::safe(problem))?;
    }
    Ok(())
}
