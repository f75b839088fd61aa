use std::fmt::Write as _;

use clap::Subcommand;
use sinew_engine::{Cortex, Engine};
use sinew_settings::config::UnattendedAct;

use crate::commands::approve::deciding_actor;
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// List, add or remove skills that are never offered
///
/// Examples:
///   sinew cortex blacklist
///   sinew cortex blacklist add shady-tool --reason "sends mail on its own"
///   sinew cortex blacklist remove shady-tool
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct CortexBlacklistArgs {
    #[command(subcommand)]
    action: Option<BlacklistCommand>,
}

impl CortexBlacklistArgs {
    /// Whether the list changes, and is not only shown.
    pub(super) fn changes(&self) -> bool {
        self.action.is_some()
    }
}

#[derive(Debug, Subcommand)]
enum BlacklistCommand {
    /// Never offer a skill again
    Add {
        /// The skill
        slug: String,
        /// Why
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Let a skill be offered again
    Remove {
        /// The skill
        slug: String,
    },
}

pub(super) fn run(
    args: &CortexBlacklistArgs,
    engine: &Engine,
    cortex: &Cortex<'_>,
    out: &mut Printer,
) -> CommandResult {
    let by = deciding_actor(engine, out, UnattendedAct::Uninstall);
    let changed = match &args.action {
        None => None,
        Some(BlacklistCommand::Add { slug, reason }) => {
            Some(cortex.blacklist_add(slug, reason.as_deref(), &by)?)
        }
        Some(BlacklistCommand::Remove { slug }) => Some(cortex.blacklist_remove(slug, &by)?),
    };
    let listed = cortex.blacklist()?;
    out.beginning(&listed, "sinew cortex blacklist", |text| {
        if listed.is_empty() {
            return writeln!(text, "no skill is blacklisted");
        }
        for entry in &listed {
            let reason = entry.reason.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
            let line = format!("{} since {}{reason}", entry.slug, entry.since.day());
            writeln!(text, "{}", render::safe(&line))?;
        }
        Ok(())
    })?;
    if changed == Some(false) {
        out.note("nothing changed: it was so already");
    }
    Ok(Exit::Done)
}
