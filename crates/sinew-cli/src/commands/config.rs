use std::fmt::Write as _;

use clap::Subcommand;
use serde::Serialize;
use sinew_catalog::config::KEYS;
use sinew_engine::{ConfigSource, Engine};
use sinew_skill::{Reason, Severity};

use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// Show the configuration, where it lies, or bring OpenClaw's over
///
/// Examples:
///   sinew config show
///   sinew config path
///   sinew config import openclaw --dry-run
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
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

#[derive(Serialize)]
struct Shown<'a> {
    source: &'a ConfigSource,
    values: Vec<Value>,
    issues: Vec<Reason>,
}

#[derive(Serialize)]
struct Value {
    key: String,
    value: serde_json::Value,
    set: bool,
    doc: &'static str,
}

pub(crate) fn run(args: &ConfigArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    match &args.action {
        Action::Show => show(engine, out),
        Action::Path => {
            let source = engine.config_source();
            out.data(source, |text| writeln!(text, "{}", source.path.display()))?;
            if !source.exists {
                out.note("the file does not exist; every default holds");
            }
            Ok(Exit::Done)
        }
        Action::Import { dry_run, .. } => {
            let import = engine.import_openclaw_config(!dry_run)?;
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
    let tree = &engine.config().tree;
    let snapshot = engine.snapshot();
    let issues: Vec<Reason> = engine
        .issues(&snapshot.catalog)
        .into_iter()
        .filter(|reason| reason.stage == sinew_skill::Stage::Config)
        .collect();
    let refused =
        |key: &str| issues.iter().any(|issue| issue.detail.split(' ').next() == Some(key));
    let mut values: Vec<Value> = Vec::new();
    for key in KEYS.iter().filter(|key| !key.path.contains('<')) {
        let found = key.path.split('.').try_fold(tree, |tree, part| tree.get(part));
        let found = found.filter(|_| !refused(key.path));
        values.push(Value {
            key: key.path.to_owned(),
            value: found
                .map(|found| masked(key.path, found))
                .unwrap_or_else(|| default_of(key.path, key.default, engine)),
            set: found.is_some(),
            doc: key.doc,
        });
    }
    for (name, entry) in &engine.config().entries {
        let mut shown = serde_json::Map::new();
        if let Some(enabled) = entry.enabled {
            shown.insert("enabled".to_owned(), enabled.into());
        }
        if entry.api_key.as_ref().is_some_and(|key| !key.is_blank()) {
            shown.insert("apiKey".to_owned(), "(set)".into());
        }
        let env: serde_json::Map<_, _> =
            entry.env.keys().map(|name| (name.clone(), "(set)".into())).collect();
        if !env.is_empty() {
            shown.insert("env".to_owned(), env.into());
        }
        values.push(Value {
            key: format!("skills.entries.{name}"),
            value: shown.into(),
            set: true,
            doc: "One skill's settings.",
        });
    }
    let shown = Shown { source: engine.config_source(), values, issues };
    for reason in shown.issues.iter().filter(|reason| reason.severity > Severity::Info) {
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

/// A value as it may be shown: keys and variables are secrets.
fn masked(path: &str, value: &serde_json::Value) -> serde_json::Value {
    match (path.rsplit('.').next(), value) {
        (Some("apiKey"), _) => "(set)".into(),
        (Some("env"), serde_json::Value::Object(env)) => {
            let set = |name: &String| (name.clone(), serde_json::Value::from("(set)"));
            env.keys().map(set).collect()
        }
        _ => value.clone(),
    }
}

/// What holds where nothing is set, as a value of its own kind.
fn default_of(path: &str, written: &str, engine: &Engine) -> serde_json::Value {
    match path {
        "skills.limits.maxCandidatesPerRoot" => engine.profile().max_candidates.into(),
        "skills.limits.maxSkillsLoadedPerSource" => engine.profile().max_loaded.into(),
        _ => serde_json::from_str(written).unwrap_or_else(|_| written.into()),
    }
}
