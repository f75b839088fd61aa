mod text;

use std::time::Duration;

use clap::ValueEnum;
use sinew_engine::{Engine, RouteRequest, SkillElsewhere};
use sinew_settings::Actor;
use sinew_settings::config::ModelChoice;

use crate::background;
use crate::environment;
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// How long an answer waits for the vectors of the skills that it is about: as long as a person who asks
/// does not wonder.
const WAIT_FOR_VECTORS: Duration = Duration::from_secs(1);

/// Find the right skills for a message, or say that none fits
///
/// The answer is a match (one skill, with confidence), a shortlist worth reading, or none. Exit 1
/// when nothing fits.
///
/// Examples:
///   sinew find who changed this line
///   sinew find "who changed this line, and why?"
///   sinew find --explain "make these pictures smaller"
///   sinew find --json --top 3 "open a pull request"
///   sinew find - < message.txt
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct FindArgs {
    /// What the user said, in quotes or without; `-` reads it from standard input
    #[arg(required = true, value_name = "MESSAGE")]
    words: Vec<String>,
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
    let message = match args.words.join(" ") {
        words if words == "-" => environment::standard_input()?,
        words => words,
    };
    let models = args.model.into();
    let request = RouteRequest {
        top: args.top,
        models,
        actor: Actor::Person { name: None, via: None },
        ..RouteRequest::new(message.as_str())
    };
    let snapshot = engine.snapshot_for(&request);
    super::tell_issues(engine, &snapshot.catalog, out);
    engine.routing().fill_candidates(&snapshot, &request, WAIT_FOR_VECTORS);
    let answer = engine.routing().route(&snapshot, &request);
    if let Some(notice) = &answer.notice {
        out.warn(notice);
    }
    let width = out.width();
    out.data(&answer, |text| text::write(text, &answer, args.explain, width))?;
    for skill in &answer.unavailable {
        out.note(&skill.sentence());
        out.hint(&format!("`{}` helps", skill.command));
    }
    match engine.skill_elsewhere(&snapshot, &message, &answer) {
        Some(SkillElsewhere::Remembered { slug, success, runs, .. }) => {
            out.note(&format!(
                "{} worked {success} of {runs} times for tasks like this one and is not installed",
                render::safe(&slug)
            ));
            out.hint(&format!("`sinew acquire {}` brings it back", shell_word(&message)));
        }
        Some(SkillElsewhere::Registries) => {
            out.hint(&format!("`sinew acquire {}` looks for one", shell_word(&message)));
        }
        None => {}
    }
    for degraded in &answer.degraded {
        out.note(&format!("{} ({})", degraded.sentence(), degraded.remedy));
    }
    // The answer is out; a process behind it makes the next one better.
    let routing = engine.routing();
    if routing.pending_vectors(&snapshot, models) > 0 || routing.work_is_due(&snapshot) {
        background::request_work(engine.environment(), engine.options());
    }
    Ok(if answer.is_none() { Exit::No } else { Exit::Done })
}

/// Characters of a message that a command repeats.
const REPEATED: usize = 120;

/// A message as one word of a command line; a long one is shortened to its beginning.
fn shell_word(message: &str) -> String {
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let line: String = render::safe(&line).chars().take(REPEATED).collect();
    format!("'{}'", line.replace('\'', "'\\''"))
}
