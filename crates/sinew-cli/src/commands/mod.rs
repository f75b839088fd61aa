//! One file per command: its arguments, whose doc comment is its help, and how it runs.

pub(crate) mod acquire;
pub(crate) mod approve;
pub(crate) mod backup;
pub(crate) mod bundled;
pub(crate) mod check;
#[allow(clippy::module_inception, reason = "`sinew commands` is a command like the others")]
pub(crate) mod commands;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod connect;
pub(crate) mod context;
pub(crate) mod cortex;
pub(crate) mod dedupe;
pub(crate) mod demo;
pub(crate) mod deps;
pub(crate) mod disconnect;
#[cfg(feature = "web")]
pub(crate) mod docs;
pub(crate) mod doctor;
mod effect;
pub(crate) mod eval;
pub(crate) mod exec;
pub(crate) mod find;
pub(crate) mod hook;
pub(crate) mod hub;
pub(crate) mod import;
pub(crate) mod index;
pub(crate) mod info;
pub(crate) mod install;
pub(crate) mod installed;
pub(crate) mod learn;
pub(crate) mod list;
mod listening;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod new;
pub(crate) mod open;
pub(crate) mod pin;
#[cfg(feature = "web")]
mod port_holder;
pub(crate) mod prompt;
pub(crate) mod read;
#[cfg(feature = "registry")]
pub(crate) mod registry;
pub(crate) mod report;
pub(crate) mod restore;
pub(crate) mod sbom;
pub(crate) mod scan;
pub(crate) mod search;
#[cfg(feature = "web")]
pub(crate) mod serve;
#[cfg(feature = "web")]
pub(crate) mod service;
pub(crate) mod setup;
pub(crate) mod skills;
pub(crate) mod status;
pub(crate) mod switch;
pub(crate) mod sync;
mod terminal_approver;
pub(crate) mod uninstall;
pub(crate) mod update;
pub(crate) mod usage;
pub(crate) mod validate;
pub(crate) mod verify;
pub(crate) mod watch;
pub(crate) mod why;
pub(crate) mod workshop;

use std::mem::ManuallyDrop;

use sinew_catalog::Catalog;
use sinew_engine::Engine;
use sinew_settings::ReasonSeverity;

use crate::cli::{Cli, CliCommand};
use crate::environment;
use crate::exit::CommandResult;
use crate::printer::Printer;

/// Runs the command that was typed, with sinew's home closed to other users before and after.
pub(crate) fn run(cli: &Cli, out: &mut Printer) -> CommandResult {
    let close = || {
        if let Ok(env) = environment::of_process() {
            sinew_engine::close_home(&env);
        }
    };
    close();
    let done = dispatch(cli, out);
    close();
    done
}

fn dispatch(cli: &Cli, out: &mut Printer) -> CommandResult {
    let command = cli.typed();
    if let CliCommand::Completions(args) = command {
        return completions::run(args, out);
    }
    if let CliCommand::Man(args) = command {
        return man::run(args, out);
    }
    #[cfg(feature = "web")]
    if let CliCommand::Docs(args) = command {
        return docs::run(args, out);
    }
    if let CliCommand::Demo(args) = command {
        return demo::run(args, out);
    }
    let mut options = cli.global.options();
    if let CliCommand::Hook(args) = command {
        // It says itself when it needs an engine, and fails in its own way: silently.
        return hook::run(args, &options, out);
    }
    if matches!(command, CliCommand::Skills(_)) {
        // These are OpenPocket's own commands; they mean its folders unless told otherwise.
        options.profile.get_or_insert_with(|| "openpocket".to_owned());
    }
    if let CliCommand::Workshop(args) = command
        && args.takes_profile()
    {
        options.profile = None;
    }
    if let CliCommand::Mcp(args) = command {
        return mcp::run(args, options, out);
    }
    #[cfg(feature = "web")]
    if let CliCommand::Serve(args) = command {
        return serve::run(args, options, out);
    }
    #[cfg(feature = "web")]
    if let CliCommand::Ui(args) = command {
        return serve::run_ui(args, options, out);
    }
    if matches!(command, CliCommand::Learn(args) if args.takes_agent()) {
        options.agent = None;
    }
    out.tell_of_reading();
    sinew_catalog::use_current_thread();
    // The process ends after one command: taking a catalog of thousands apart would be for nothing.
    let engine = ManuallyDrop::new(Engine::open(environment::of_process()?, options)?);
    if let CliCommand::Watch(args) = command {
        effect::check_gate(command, &engine, out)?;
        return watch::run(args, ManuallyDrop::into_inner(engine), out);
    }
    run_on(cli, &engine, out)
}

/// Runs a command that asks an engine.
pub(crate) fn run_on(cli: &Cli, engine: &Engine, out: &mut Printer) -> CommandResult {
    let command = cli.typed();
    effect::check_gate(command, engine, out)?;
    match command {
        CliCommand::Find(args) => find::run(args, engine, out),
        CliCommand::Setup(args) => setup::run(args, engine, out),
        CliCommand::Status(args) => status::run(args, engine, out),
        CliCommand::Dedupe(args) => dedupe::run(args, engine, out),
        CliCommand::Index(args) => index::run(args, engine, out),
        CliCommand::List(args) => list::run(args, cli.global.log.is_verbose(), engine, out),
        CliCommand::Info(args) => info::run(args, engine, out),
        CliCommand::Why(args) => why::run(args, engine, out),
        CliCommand::Usage(args) => usage::run(args, engine, out),
        CliCommand::Check(args) => check::run(args, engine, out),
        CliCommand::Prompt(args) => prompt::run(args, engine, out),
        CliCommand::Read(args) => read::run(args, engine, out),
        CliCommand::Validate(args) => validate::run(args, engine, out),
        CliCommand::Scan(args) => scan::run(args, engine, out),
        CliCommand::Eval(args) => eval::run(args, engine, out),
        CliCommand::Report(args) => report::run(args, engine, out),
        CliCommand::Cortex(args) => cortex::run(args, engine, out),
        CliCommand::Acquire(args) => acquire::run(args, engine, out),
        CliCommand::Search(args) => search::run(args, engine, out),
        CliCommand::Install(args) => {
            let exit = install::run(args, engine, out)?;
            connect::follow_library(engine, out);
            Ok(exit)
        }
        CliCommand::New(args) => {
            let exit = new::run(args, engine, out)?;
            connect::follow_library(engine, out);
            Ok(exit)
        }
        CliCommand::Bundled(args) => bundled::run(args, engine, out),
        CliCommand::Open(args) => open::run(args, engine, out),
        CliCommand::Enable(args) => switch::enable(args, engine, out),
        CliCommand::Disable(args) => switch::disable(args, engine, out),
        CliCommand::Installed(args) => installed::run(args, engine, out),
        CliCommand::Update(args) => update::run(args, engine, out),
        CliCommand::Verify(args) => verify::run(args, engine, out),
        CliCommand::Sbom(args) => sbom::run(args, engine, out),
        CliCommand::Pin(args) => pin::run(args, engine, out),
        CliCommand::Restore(args) => restore::run(args, engine, out),
        CliCommand::Sync(args) => sync::run(args, engine, out),
        CliCommand::Uninstall(args) => {
            let exit = uninstall::run(args, engine, out)?;
            connect::follow_library(engine, out);
            Ok(exit)
        }
        CliCommand::Approve(args) => approve::run(args, engine, out),
        CliCommand::Learn(args) => learn::run(args, engine, out),
        CliCommand::Exec(args) => exec::run(args, engine, out),
        CliCommand::Deps(args) => deps::run(args, engine, out),
        CliCommand::Commands(args) => commands::run(args, engine, out),
        CliCommand::Connect(args) => connect::run(args, engine, out),
        CliCommand::Disconnect(args) => disconnect::run(args, engine, out),
        CliCommand::Context(args) => context::run(args, engine, out),
        CliCommand::Import(args) => {
            let exit = import::run(args, engine, out)?;
            connect::follow_library(engine, out);
            Ok(exit)
        }
        #[cfg(feature = "registry")]
        CliCommand::Registry(args) => registry::run(args, engine, out),
        #[cfg(feature = "web")]
        CliCommand::Service(args) => service::run(args, engine, out),
        CliCommand::Backup(args) => backup::run(args, engine, out),
        CliCommand::Doctor(args) => doctor::run(args, engine, out),
        CliCommand::Config(args) => config::run(args, engine, out),
        CliCommand::Skills(args) => skills::run(args, engine, out),
        CliCommand::Workshop(args) => workshop::run(args, engine, out),
        CliCommand::Completions(_)
        | CliCommand::Demo(_)
        | CliCommand::Hook(_)
        | CliCommand::Man(_)
        | CliCommand::Mcp(_)
        | CliCommand::Watch(_) => unreachable!("answered above"),
        #[cfg(feature = "web")]
        CliCommand::Serve(_) | CliCommand::Ui(_) | CliCommand::Docs(_) => {
            unreachable!("answered above")
        }
    }
}

/// Tells what is worth knowing beside the answer; JSON answers carry it themselves.
fn tell_issues(engine: &Engine, catalog: &Catalog, out: &mut Printer) {
    if out.is_json() {
        return;
    }
    let faults = &engine.config().faults;
    for reason in engine.status().issues(catalog) {
        // What closes the gate was said before the answer.
        let told = faults.iter().any(|fault| fault.problem == reason.detail);
        if reason.severity > ReasonSeverity::Info && !told {
            out.reason(&reason);
        }
    }
}
