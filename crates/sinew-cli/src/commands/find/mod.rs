mod text;

use clap::ValueEnum;
use sinew_engine::{CatalogRouteResult, CatalogRouter, Engine, ModelChoice};

use crate::environment;
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;

/// Find the right skills for a message, or say that none fits
///
/// The answer is a match (one skill, with confidence), a shortlist worth reading, or none. Exit 1
/// when nothing fits.
///
/// Examples:
///   sinew find "who changed this line, and why?"
///   sinew find --explain "make these pictures smaller"
///   sinew find --json --top 3 "open a pull request"
///   sinew find - < message.txt
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct FindArgs {
    /// What the user said; `-` reads it from standard input
    message: String,
    /// Show what each score is made of, and the words it shares with the message
    #[arg(long)]
    explain: bool,
    /// How many skills to show (5, or what route.top says)
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    top: Option<usize>,
    /// Which models rank
    #[arg(long, value_enum, default_value = "default")]
    model: ModelArg,
}

/// Which models rank, on the command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ModelArg {
    /// What route.model says: all that the program carries, unless it says otherwise
    Default,
    /// Words and static vectors
    Static,
    /// Words alone
    Words,
    /// With the model in the folder that route.file names
    File,
    /// With the model behind route.remote.url
    Remote,
}

impl From<ModelArg> for ModelChoice {
    fn from(arg: ModelArg) -> Self {
        match arg {
            ModelArg::Default => Self::Default,
            ModelArg::Static => Self::Static,
            ModelArg::Words => Self::Words,
            ModelArg::File => Self::File,
            ModelArg::Remote => Self::Remote,
        }
    }
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("at least 1".to_owned()),
        Ok(count) => Ok(count),
        Err(_) => Err("a number is needed".to_owned()),
    }
}

pub(crate) fn run(args: &FindArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let message = match args.message.as_str() {
        "-" => environment::standard_input()?,
        message => message.to_owned(),
    };
    let snapshot = engine.snapshot();
    super::tell_issues(engine, &snapshot.catalog, out);
    let mut router = engine.router(&snapshot.catalog, args.model.into());
    if let Some(notice) = &router.status.notice {
        out.warn(notice);
    }
    let CatalogRouteResult { result, held_back } = router.find(&message, args.top);
    let routed = engine.describe_route(&snapshot.catalog, &message, result);
    let result = &routed.result;
    out.data(&routed, |text| text::write(text, &message, result, args.explain))?;
    if let Some(held) = held_back {
        out.note(&format!("{} would fit, but cannot be used yet", held.name));
        out.hint(&format!("`sinew why {}` names what it lacks", held.name));
    }
    for degraded in &result.degraded {
        out.note(&format!("{} ({})", degraded.message, degraded.remedy));
    }
    fill_vectors(&mut router, out)?;
    Ok(if result.is_none() { Exit::No } else { Exit::Done })
}

/// The answer is out; a person at a terminal can wait for the next one to be better.
pub(crate) fn fill_vectors(
    router: &mut CatalogRouter,
    out: &Printer,
) -> Result<(), sinew_engine::EngineError> {
    let pending = router.pending_vectors();
    if pending == 0 || !out.can_ask() {
        return Ok(());
    }
    let bar = out.progress("learning the skills by heart", pending);
    let filled = router.fill_vectors(&|count| bar.add(count));
    bar.finish();
    filled
}
