//! `sinew demo`: a day with sinew, on a machine that is thrown away.

mod interruption;
mod machine;
mod scenes;

use std::path::PathBuf;

use sinew_engine::EngineError;
use sinew_settings::ErrorCode;

use self::interruption::Interruption;
use self::machine::DemoMachine;
use self::scenes::{DAY, DemoScene, DemoStep};
use crate::environment;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::keys;
use crate::printer::Printer;
use crate::render;

/// Show a day with sinew: sample skills, a registry of its own, and what is learned on the way
///
/// In a terminal, seven screens with a key to go on; in a pipe, a plain transcript. Everything
/// happens in a folder that is made for it and removed at the end, or when you press q or Ctrl-C; no
/// network is used, and nothing of yours is read or changed.
///
/// Examples:
///   sinew demo
///   sinew demo --keep ./sinew-demo
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct DemoArgs {
    /// Keep the demo's machine in this folder, which must not exist yet
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

/// How wide a transcript is laid out where there is no terminal to ask.
const TRANSCRIPT_WIDTH: usize = 100;

/// What a shell says of a program that was interrupted.
const INTERRUPTED: Exit = Exit::Of(130);

/// Whether the day goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DemoPace {
    GoOn,
    Stop,
}

pub(crate) fn run(args: &DemoArgs, out: &mut Printer) -> CommandResult {
    let env = environment::of_process()?;
    // From here on a signal ends the demo and not the program, which has a machine to remove.
    let interruption = Interruption::watch();
    let thrown_away = tempfile::Builder::new().prefix("sinew-demo-").tempdir()?;
    let root = match &args.keep {
        None => thrown_away.path().to_owned(),
        Some(folder) if folder.exists() => {
            let told = format!("{} is there already", folder.display());
            return Err(EngineError::new(ErrorCode::TargetExists, told)
                .hint("name a folder that is not there yet")
                .into());
        }
        Some(folder) => env.cwd.join(folder),
    };
    let mut stage = DemoMachine::new(&root, &env)?;
    let played = play_day(&mut stage, &interruption, out);
    let work = render::safe(&stage.work().display().to_string());
    drop(stage);
    let was_interrupted = interruption.came();
    match &args.keep {
        Some(_) => {
            out.note(&format!("kept in {}", render::safe(&root.display().to_string())));
            out.hint(&format!("`cd '{work}'` to go on with its skills"));
        }
        None => {
            thrown_away.close()?;
            out.note("the demo's machine was removed");
        }
    }
    match was_interrupted {
        // What failed while everything was being stopped is no news.
        true => Ok(INTERRUPTED),
        false => played.map(|()| Exit::Done),
    }
}

fn play_day(
    stage: &mut DemoMachine,
    interruption: &Interruption,
    out: &mut Printer,
) -> Result<(), CommandError> {
    out.note("making a machine for the demo …");
    let serving = stage.serve()?;
    stage.run(&["index", "rebuild"].map(str::to_owned))?;
    for (at, step) in DAY.iter().enumerate() {
        play_step(stage, step, at, interruption, out)?;
        if interruption.came() {
            return Ok(());
        }
        let is_last = at + 1 == DAY.len();
        if is_last && out.can_ask() {
            look_around(stage, &serving, out)?;
        }
        if wait(is_last, interruption, out)? == DemoPace::Stop {
            return Ok(());
        }
    }
    Ok(())
}

/// One screen: its title, and its commands with what they answer.
fn play_step(
    stage: &DemoMachine,
    step: &DemoStep,
    at: usize,
    interruption: &Interruption,
    out: &mut Printer,
) -> Result<(), CommandError> {
    let title = format!("{} of {} · {}", at + 1, DAY.len(), step.title);
    let mut text = "\n".to_owned();
    render::heading(&mut text, &title).map_err(std::io::Error::other)?;
    out.passage(&text)?;
    for scene in step.scenes {
        play(stage, scene, out)?;
        if interruption.came() {
            break;
        }
    }
    Ok(())
}

/// Shows a command and what it answers.
fn play(stage: &DemoMachine, scene: &DemoScene, out: &mut Printer) -> Result<(), CommandError> {
    let mut args: Vec<String> = scene.args.iter().map(|arg| (*arg).to_owned()).collect();
    let shown = typed(&args);
    out.passage(&format!("\n# {}\n$ sinew {shown}\n", scene.thought))?;
    let (width, color) = match out.width() {
        usize::MAX => (TRANSCRIPT_WIDTH, "never"),
        width => (width, "always"),
    };
    args.extend([format!("--terminal-width={width}"), format!("--color={color}")]);
    let output = stage.run(&args)?;
    // Both streams, as a terminal shows them.
    out.text(&String::from_utf8_lossy(&output.stdout))?;
    out.text(&String::from_utf8_lossy(&output.stderr))?;
    match output.status.code() {
        Some(code) if code == scene.exit => Ok(()),
        // It was interrupted together with us.
        None => Ok(()),
        Some(_) => {
            let told = format!("`sinew {shown}` ended otherwise than expected: {}", output.status);
            Err(EngineError::new(ErrorCode::DemoFailed, told).into())
        }
    }
}

/// Waits for a key where there is a person; a transcript goes on by itself.
fn wait(
    is_last: bool,
    interruption: &Interruption,
    out: &mut Printer,
) -> Result<DemoPace, CommandError> {
    if !out.can_ask() {
        return Ok(DemoPace::GoOn);
    }
    let next = if is_last { "ends the demo and removes its machine" } else { "goes on, q ends" };
    out.ask(&format!("\n[any key {next}] "));
    let key = keys::any(|| interruption.came())?;
    out.ask("\n");
    Ok(match key {
        None | Some('q') => DemoPace::Stop,
        Some(_) => DemoPace::GoOn,
    })
}

/// The words as one would type them.
fn typed(args: &[String]) -> String {
    let quoted = args.iter().map(|arg| match arg.contains([' ', '?', '\'']) {
        true => format!("\"{arg}\""),
        false => arg.clone(),
    });
    quoted.collect::<Vec<_>>().join(" ")
}

/// Leaves the machine to the person until they have seen enough.
fn look_around(
    stage: &DemoMachine,
    serving: &serde_json::Value,
    out: &mut Printer,
) -> Result<(), CommandError> {
    let page = serving["dashboard"].as_str().or(serving["listening"].as_str()).unwrap_or_default();
    let home = render::safe(&stage.home().display().to_string());
    let work = render::safe(&stage.work().display().to_string());
    out.text(&format!(
        "\nLook around: the server is at {page}\nIn another terminal:\n  export HOME='{home}'\n  cd '{work}'\n"
    ))?;
    Ok(())
}
