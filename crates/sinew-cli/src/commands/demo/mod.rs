//! `sinew demo`: a day with sinew, on a machine that is thrown away.

mod machine;
mod scenes;

use std::io::Read as _;
use std::path::PathBuf;

use sinew_engine::EngineError;
use sinew_settings::ErrorCode;

use self::machine::DemoMachine;
use self::scenes::{DAY, DemoScene};
use crate::environment;
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// Show a day with sinew: sample skills, a registry of its own, and what is learned on the way
///
/// Everything happens in a folder that is made for it and removed at the end; no network is used,
/// and nothing of yours is read or changed. In a terminal the server stays up until you press
/// Enter, so that you can look around.
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

pub(crate) fn run(args: &DemoArgs, out: &mut Printer) -> CommandResult {
    let env = environment::of_process()?;
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
    let serving = stage.serve()?;
    for scene in DAY {
        play(&stage, scene, out)?;
    }
    if out.can_ask() {
        look_around(&stage, &serving, out)?;
    }
    let work = render::safe(&stage.work().display().to_string());
    drop(stage);
    match &args.keep {
        Some(_) => {
            out.note(&format!("kept in {}", render::safe(&root.display().to_string())));
            out.hint(&format!("`cd '{work}'` to go on with its skills"));
        }
        None => out.note("the demo's machine was removed"),
    }
    Ok(Exit::Done)
}

/// Shows a command and what it answers.
fn play(
    stage: &DemoMachine,
    scene: &DemoScene,
    out: &mut Printer,
) -> Result<(), crate::exit::CommandError> {
    let mut args: Vec<String> = scene.args.iter().map(|arg| (*arg).to_owned()).collect();
    out.text(&format!("\n# {}\n$ sinew {}\n", scene.thought, typed(&args)))?;
    if out.at_terminal() {
        args.push("--color=always".to_owned());
    }
    let output = stage.run(&args)?;
    out.text(&String::from_utf8_lossy(&output.stdout))?;
    out.pass_error(&output.stderr);
    if output.status.code() == Some(scene.exit) {
        return Ok(());
    }
    let told = format!("`sinew {}` ended otherwise than expected: {}", typed(&args), output.status);
    Err(EngineError::new(ErrorCode::DemoFailed, told).into())
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
) -> Result<(), crate::exit::CommandError> {
    let page = serving["dashboard"].as_str().or(serving["listening"].as_str()).unwrap_or_default();
    let home = render::safe(&stage.home().display().to_string());
    let work = render::safe(&stage.work().display().to_string());
    out.text(&format!(
        "\nLook around: the server is at {page}\nIn another terminal:\n  export HOME='{home}'; cd '{work}'\n"
    ))?;
    out.ask("Press Enter to end the demo and remove its machine. ");
    let mut answer = [0];
    // Any line, or the end of input, ends the demo.
    let _ = std::io::stdin().read(&mut answer);
    Ok(())
}
