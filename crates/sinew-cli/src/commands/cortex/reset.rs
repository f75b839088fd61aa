use std::fmt::Write as _;

use sinew_cortex::record::ForgetScope;
use sinew_engine::{Cortex, EngineError};
use sinew_settings::ErrorCode;

use crate::commands::backup::check_person;
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::question;
use crate::render;

/// Forget what was learned: a region, a skill, or everything
///
/// The log keeps the old records; from now on they do not count.
///
/// Examples:
///   sinew cortex reset --region task-management
///   sinew cortex reset --skill todoist --yes
///   sinew cortex reset --all --yes
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
#[command(group = clap::ArgGroup::new("scope").required(true).args(["region", "skill", "all"]))]
pub(crate) struct CortexResetArgs {
    /// One region, with its words and lessons
    #[arg(long, value_name = "NAME")]
    region: Option<String>,
    /// One skill, wherever it was used
    #[arg(long, value_name = "SLUG")]
    skill: Option<String>,
    /// Everything
    #[arg(long)]
    all: bool,
    /// Do not ask
    #[arg(long)]
    yes: bool,
}

pub(super) fn run(args: &CortexResetArgs, cortex: &Cortex<'_>, out: &mut Printer) -> CommandResult {
    let (scope, what) = match (&args.region, &args.skill) {
        (Some(region), _) => (ForgetScope::Region(region.clone()), format!("the region {region}")),
        (None, Some(skill)) => (ForgetScope::Slug(skill.clone()), format!("the skill {skill}")),
        (None, None) => (ForgetScope::All, "everything that was learned".to_owned()),
    };
    let what = render::safe(&what);
    check_person(out, "lets sinew forget")?;
    let agreed = args.yes || out.can_ask() && confirmed(&what)?;
    if !agreed {
        return Err(EngineError::new(ErrorCode::NotConfirmed, format!("{what} was not forgotten"))
            .hint("add --yes to forget it without a question")
            .into());
    }
    cortex.reset(scope)?;
    let shown = serde_json::json!({ "forgotten": what });
    out.data(&shown, |text| writeln!(text, "forgot {what}"))?;
    Ok(Exit::Done)
}

fn confirmed(what: &str) -> Result<bool, EngineError> {
    question::confirmed(&format!("Forget {what}?"), false)
}
