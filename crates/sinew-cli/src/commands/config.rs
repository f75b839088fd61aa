use std::fmt::Write as _;

use clap::Subcommand;
use serde_json::Value;
use sinew_engine::{ConfigValueChange, ConfigValueView, Engine, EngineError};
use sinew_settings::config::UnattendedAct;
use sinew_settings::{Actor, ErrorCode, ReasonSeverity};

use super::approve::{current_actor, deciding_actor, terminal_person};
use crate::exit::{CommandResult, Exit};
use crate::layout::WholeListArgs;
use crate::printer::Printer;
use crate::question;
use crate::render;

/// Show and change the configuration, or import OpenClaw's
///
/// Changes keep the comments of the file, and the file as it was stays beside it. Only a person
/// can make them, or what approvals.unattended lists as settings; approvals, security, hub and
/// agents say what is forbidden, and need a terminal always.
///
/// Examples:
///   sinew config show
///   sinew config get route.top
///   sinew config set route.top 8
///   sinew config set skills.allowBundled "['github', 'weather']"
///   sinew config unset route.top
///   sinew config edit
///   sinew config import openclaw --dry-run
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    action: ConfigCommand,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Show what is set, and with --all every key; secrets are shown as set or unset
    Show {
        #[command(flatten)]
        whole: WholeListArgs,
    },
    /// Print the path of the file that is read
    Path,
    /// Print one value
    Get {
        /// The dotted path, as `sinew config show` has it
        key: String,
    },
    /// Set one value
    Set {
        /// The dotted path, as `sinew config show` has it
        key: String,
        /// The value: JSON5, or plain text
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Take a value out of the file, so that its default holds
    Unset {
        /// The dotted path
        key: String,
    },
    /// Edit the file with $VISUAL or $EDITOR; it is checked before it is written
    Edit,
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
        ConfigCommand::Show { whole } => show(*whole, engine, out),
        ConfigCommand::Path => {
            let source = engine.settings().config_source();
            out.data(source, |text| writeln!(text, "{}", source.path.display()))?;
            if !source.exists {
                out.note("the file does not exist; every default holds");
            }
            Ok(Exit::Done)
        }
        ConfigCommand::Get { key } => {
            let value = engine.settings().config_value(key)?;
            out.data(&value, |text| writeln!(text, "{}", written(&value.value)))?;
            if let Some(file) = &value.written {
                out.warn(&format!("the file says {}, which is out of range", written(file)));
            } else if !value.set {
                out.note("the file does not set it; this is the default");
            }
            Ok(Exit::Done)
        }
        ConfigCommand::Set { key, value } => {
            let actor = changing_actor(key, engine, out);
            tell_change(&engine.settings().set_value(key, value, &actor)?, out)
        }
        ConfigCommand::Unset { key } => {
            let actor = changing_actor(key, engine, out);
            tell_change(&engine.settings().unset_value(key, &actor)?, out)
        }
        ConfigCommand::Edit => edit(engine, out),
        ConfigCommand::Import { dry_run, .. } => {
            let by = current_actor(engine, out);
            let import = engine.settings().import_openclaw_config(!dry_run, &by)?;
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

/// A key and what holds; where the file says something that cannot hold, that as well.
fn write_value(text: &mut String, value: &ConfigValueView) -> std::fmt::Result {
    let line = format!("{} = {}", value.key, written(&value.value));
    let line = if value.set { render::plain(&line) } else { render::dim(&line) };
    match &value.written {
        None => writeln!(text, "{line}"),
        Some(file) => {
            let said = format!("(the file says {}, which is out of range)", written(file));
            writeln!(text, "{line} {}", render::warning(&said))
        }
    }
}

/// A value in one line.
fn written(value: &Value) -> String {
    render::safe(&match value {
        Value::String(text) => text.clone(),
        Value::Null => "(none)".to_owned(),
        other => other.to_string(),
    })
}

/// Who changes a key: what says what is forbidden is changed at a terminal alone, or a file that
/// lets programs change settings would let them lift every other bar.
fn changing_actor(key: &str, engine: &Engine, out: &Printer) -> Actor {
    match engine.settings().is_guarded(key) {
        true => current_actor(engine, out),
        false => deciding_actor(engine, out, UnattendedAct::Settings),
    }
}

fn tell_change(change: &ConfigValueChange, out: &mut Printer) -> CommandResult {
    out.data(change, |text| match &change.after {
        Some(after) => writeln!(text, "{} = {}", render::safe(&change.key), written(after)),
        None => writeln!(text, "{} is not set any more", render::safe(&change.key)),
    })?;
    Ok(Exit::Done)
}

/// Lets a person edit a copy, and takes it over once nothing in it is wrong.
fn edit(engine: &Engine, out: &mut Printer) -> CommandResult {
    if !out.can_ask() {
        return Err(EngineError::new(ErrorCode::NeedsATerminal, "editing needs a terminal")
            .hint("`sinew config set route.top 8` sets one value")
            .into());
    }
    let settings = engine.settings();
    let before = settings.config_text()?;
    let start = if before.is_empty() { "{\n}\n" } else { &before };
    let mut text = start.to_owned();
    loop {
        text = edited(engine, &text)?;
        if text == start || text == before {
            out.note("nothing was changed");
            return Ok(Exit::Done);
        }
        let faults = settings.config_faults(&text);
        if faults.is_empty() {
            break;
        }
        for fault in &faults {
            out.error(fault);
        }
        if !question::confirmed("Edit it again?", true)? {
            let said = "the edited text was not taken over; the configuration is as it was";
            return Err(EngineError::new(ErrorCode::NotConfirmed, said).into());
        }
    }
    settings.replace_config(&before, &text, &terminal_person(engine))?;
    out.note(&format!("wrote {}", settings.config_source().path.display()));
    Ok(Exit::Done)
}

/// The text as the person's editor leaves it.
fn edited(engine: &Engine, text: &str) -> Result<String, EngineError> {
    let env = engine.environment();
    let editor = ["VISUAL", "EDITOR"].iter().find_map(|name| env.var(name));
    let editor = editor.filter(|editor| !editor.trim().is_empty()).unwrap_or("vi").to_owned();
    let failed = |error: std::io::Error| {
        EngineError::new(ErrorCode::FileError, format!("`{editor}` cannot be used: {error}"))
            .hint("set EDITOR to the program that you edit with")
    };
    // Private to its owner: the file may hold keys.
    let copy = tempfile::Builder::new()
        .prefix("sinew-config-")
        .suffix(".json5")
        .tempfile()
        .map_err(failed)?;
    std::fs::write(copy.path(), text).map_err(failed)?;
    let mut words = editor.split_whitespace();
    let mut command = std::process::Command::new(words.next().unwrap_or("vi"));
    let status = command.args(words).arg(copy.path()).status().map_err(failed)?;
    if !status.success() {
        let said = format!("`{editor}` ended with {status}; nothing was written");
        return Err(EngineError::new(ErrorCode::NotConfirmed, said));
    }
    std::fs::read_to_string(copy.path()).map_err(failed)
}

fn show(whole: WholeListArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let shown = engine.settings().config_view();
    for reason in shown.issues.iter().filter(|reason| reason.severity > ReasonSeverity::Info) {
        if !out.is_json() {
            out.reason(reason);
        }
    }
    let everything = out.rows(whole.all) == usize::MAX;
    out.data(&shown, |text| {
        let exists = if shown.source.exists { "" } else { " (none; every default holds)" };
        render::heading(text, &format!("{}{exists}", shown.source.path.display()))?;
        let (values, defaults): (Vec<&ConfigValueView>, Vec<&ConfigValueView>) = shown
            .values
            .iter()
            .partition(|value| everything || value.set || value.written.is_some());
        for value in values {
            write_value(text, value)?;
        }
        match defaults.len() {
            0 => Ok(()),
            count => {
                let said = format!("and {count} defaults: `sinew config show --all`");
                writeln!(text, "{}", render::dim(&said))
            }
        }
    })?;
    Ok(Exit::Done)
}
