use std::fmt::Write as _;

use clap::Subcommand;
use sinew_engine::Engine;
use sinew_settings::ReasonSeverity;

use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// Show the configuration and its path, or import OpenClaw's
///
/// Examples:
///   sinew config show
///   sinew config path
///   sinew config import openclaw --dry-run
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    action: ConfigCommand,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Show each key with its value; secrets are shown as set or unset
    Show,
    /// Print the path of the file that is read
    Path,
    /// Copy what another program's configuration says about skills
    Import {
        /// The program
        #[arg(value_parser = ["openclaw"])]
        from: String,
        /// Show what would be written, and write nothing
        #[arg(long)]
        dry_run: bool,
    },
}

pub(crate) fn run(args: &ConfigArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    match &args.action {
        ConfigCommand::Show => show(engine, out),
        ConfigCommand::Path => {
            let source = engine.settings().config_source();
            out.data(source, |text| writeln!(text, "{}", source.path.display()))?;
            if !source.exists {
                out.note("the file does not exist; every default holds");
            }
            Ok(Exit::Done)
        }
        ConfigCommand::Import { dry_run, .. } => {
            let import = engine.settings().import_openclaw_config(!dry_run)?;
            out.data(&import, |text| {
                if *dry_run {
                    return writeln!(text, "{:#}", import.config);
                }
                writeln!(
                    text,
                    "wrote {} from {} to {}",
                    import.sections.join(", "),
                    import.from.display(),
                    import.to.display()
                )
            })?;
            if let Some(backup) = &import.backup {
                out.note(&format!("the file as it was: {}", backup.display()));
            }
            Ok(Exit::Done)
        }
    }
}

fn show(engine: &Engine, out: &mut Printer) -> CommandResult {
    let shown = engine.settings().config_view();
    for reason in shown.issues.iter().filter(|reason| reason.severity > ReasonSeverity::Info) {
        if !out.is_json() {
            out.reason(reason);
        }
    }
    out.data(&shown, |text| {
        let exists = if shown.source.exists { "" } else { " (none; every default holds)" };
        render::heading(text, &format!("{}{exists}", shown.source.path.display()))?;
        for value in &shown.values {
            let written = match &value.value {
                serde_json::Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            let line = format!("{} = {}", value.key, render::safe(&written));
            let line = if value.set { render::plain(&line) } else { render::dim(&line) };
            writeln!(text, "{line}")?;
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}
