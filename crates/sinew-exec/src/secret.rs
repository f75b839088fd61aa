//! Secrets stored elsewhere: in a variable, in a file, or behind a command.
//!
//! A command is split at blanks and started without a shell; for anything more, use a script. Error
//! messages contain neither the value nor the output of the command.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read as _;
use std::time::Duration;

use sinew_settings::Environment;
use sinew_settings::config::SecretSetting;

use crate::child::{
    self, ExitCause, ProcessControl, ProgramLimits, ProgramSpec, StdinMode, StdoutMode,
};
use crate::env_value::EnvValue;
use crate::lease::EnvLeases;

/// A longer secret is a file that was named by mistake.
const MAX_SECRET: u64 = 64 * 1024;
/// Password managers that wait for a touch are slow, but not this slow.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(30);

/// Whether commands are run to get a secret.
#[derive(Debug, Clone, Copy)]
pub enum SecretCommands<'a> {
    /// Yes, without the variables that are leased.
    Run(&'a EnvLeases),
    /// No: the caller cannot wait.
    Skip,
}

/// The value of a secret, or why there is none.
pub fn resolve(
    secret: &SecretSetting,
    env: &Environment,
    commands: SecretCommands<'_>,
) -> Result<EnvValue, String> {
    match secret {
        SecretSetting::Literal(value) => Ok(EnvValue::new(value.as_str())),
        SecretSetting::Reference { source, id } => match source.as_str() {
            "env" => env
                .var(id)
                .map(EnvValue::new)
                .ok_or_else(|| format!("the variable {id} is not set")),
            "file" => from_file(id, env),
            "exec" | "command" => match commands {
                SecretCommands::Run(leases) => from_command(id, env, leases),
                SecretCommands::Skip => {
                    Err("it comes from a command, which is not run here".into())
                }
            },
            other => Err(format!("{other} is not a source of secrets")),
        },
    }
}

fn from_file(id: &str, env: &Environment) -> Result<EnvValue, String> {
    let path = env.expand_home(id);
    let failed = |error: std::io::Error| format!("the file {id} cannot be read: {error}");
    let metadata = std::fs::metadata(&path).map_err(failed)?;
    if !metadata.is_file() {
        return Err(format!("{id} is not a regular file"));
    }
    let mut text = String::new();
    let file = File::open(&path).map_err(failed)?;
    file.take(MAX_SECRET + 1).read_to_string(&mut text).map_err(failed)?;
    if text.len() as u64 > MAX_SECRET {
        return Err(format!("the file {id} is larger than {MAX_SECRET} bytes"));
    }
    filled(&text).ok_or_else(|| format!("the file {id} is empty"))
}

fn from_command(id: &str, env: &Environment, leases: &EnvLeases) -> Result<EnvValue, String> {
    let mut words = id.split_whitespace().map(OsString::from);
    let name = words.next().ok_or("the command is empty")?;
    let command = name.to_string_lossy().into_owned();
    let vars = leases.bystander_env(&env.vars);
    let program = ProgramSpec {
        file: child::locate(&name, &vars, &env.home, env).map_err(|error| error.to_string())?,
        args: words.collect(),
        env: vars,
        cwd: env.home.clone(),
        stdin: StdinMode::Null,
        stdout: StdoutMode::Keep,
        limits: ProgramLimits {
            time: Some(COMMAND_TIMEOUT),
            silence: None,
            output: Some(MAX_SECRET),
        },
    };
    let ended = child::run(program, &ProcessControl::default(), &mut |_, _| {})
        .map_err(|error| error.to_string())?;
    match ended.how {
        ExitCause::Exit(0) => {}
        ExitCause::Exit(code) => {
            return Err(format!("the command {command} failed with code {code}"));
        }
        ExitCause::TimedOut => {
            return Err(format!("the command {command} took longer than {COMMAND_TIMEOUT:?}"));
        }
        _ => return Err(format!("the command {command} was stopped")),
    }
    let bytes = ended.stdout.complete_bytes().unwrap_or_default();
    let text =
        String::from_utf8(bytes).map_err(|_| format!("{command} did not print UTF-8 text"))?;
    filled(&text).ok_or_else(|| format!("the command {command} printed nothing"))
}

/// The text without the trailing line end that editors and commands add.
fn filled(text: &str) -> Option<EnvValue> {
    let value = text.trim_end_matches(['\r', '\n']);
    (!value.trim().is_empty()).then(|| EnvValue::new(value))
}
