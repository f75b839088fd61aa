use std::fmt::Write as _;

use sinew_engine::{Cortex, Engine};
use sinew_settings::config::UnattendedAct;

use crate::commands::approve::deciding_actor;
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// List, declare or take back skills that only read on this machine
///
/// Your word counts for exactly these files: a skill that has proved itself may then skip the question
/// about its plan although its text cannot show that it only reads. Another version ends it, and so does
/// a use that was seen to change something. No agent can give it.
///
/// Examples:
///   sinew cortex read-only
///   sinew cortex read-only weather
///   sinew cortex read-only --revoke weather
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct CortexReadOnlyArgs {
    /// The skill; its files that were used last, or exactly those with this digest
    #[arg(value_name = "SLUG[@DIGEST]")]
    skill: Option<String>,
    /// Take it back
    #[arg(long, requires = "skill")]
    revoke: bool,
}

impl CortexReadOnlyArgs {
    /// Whether a word is given or taken back, and not only shown.
    pub(super) fn changes(&self) -> bool {
        self.skill.is_some()
    }
}

pub(super) fn run(
    args: &CortexReadOnlyArgs,
    engine: &Engine,
    cortex: &Cortex<'_>,
    out: &mut Printer,
) -> CommandResult {
    let by = deciding_actor(engine, out, UnattendedAct::Uninstall);
    let changed = match &args.skill {
        None => None,
        Some(named) => {
            let (slug, digest) = match named.split_once('@') {
                Some((slug, digest)) => (slug, Some(digest)),
                None => (named.as_str(), None),
            };
            Some(match args.revoke {
                true => cortex.revoke_read_only(slug, digest, &by)?,
                false => cortex.declare_read_only(slug, digest, &by)?,
            })
        }
    };
    let listed = cortex.read_only()?;
    out.beginning(&listed, "sinew cortex read-only", |text| {
        if listed.is_empty() {
            return writeln!(text, "no skill is declared read-only");
        }
        for row in &listed {
            let line =
                format!("{}@{} since {}, by {}", row.skill, row.digest, row.since.day(), row.who);
            writeln!(text, "{}", render::safe(&line))?;
            if !row.contradicted.is_empty() {
                let seen = format!(
                    "seen otherwise, so it does not count: {}",
                    row.contradicted.join(", ")
                );
                writeln!(text, "  {} {}", render::warning("!"), render::safe(&seen))?;
            }
        }
        Ok(())
    })?;
    if changed == Some(false) {
        out.note("nothing changed: it was so already");
    }
    Ok(Exit::Done)
}
