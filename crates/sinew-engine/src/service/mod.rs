//! The server as a service of the user's own session: started at login, and again when it fails.
//!
//! One file is written, and the system's own manager is told about it. **Must never happen here:** a
//! service that another program installs, or one that needs more than the user's own rights.

mod definition;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::{env, fs, io};

use serde::Serialize;
use sinew_guard::atomic::{self, FileAccess};
use sinew_settings::{Actor, ErrorCode};

use self::definition::ServiceDefinition;
use crate::{Engine, EngineError};

/// The server as a service of the user's session.
#[derive(Debug, Clone, Copy)]
pub struct ServiceHandle<'a> {
    engine: &'a Engine,
}

/// What is known about the service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServiceStatus {
    /// What keeps it running: systemd, launchd or the Task Scheduler.
    pub manager: &'static str,
    /// The file that describes it.
    pub file: PathBuf,
    /// Whether that file is there.
    pub installed: bool,
    /// Whether it is what this program would write.
    pub current: bool,
    /// Whether the manager says that it runs; unknown where the manager cannot be asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub running: Option<bool>,
    /// Why the manager cannot be asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl Engine {
    /// The server as a service of the user's session.
    pub fn service(&self) -> ServiceHandle<'_> {
        ServiceHandle { engine: self }
    }
}

impl ServiceHandle<'_> {
    /// Whether it is installed, and whether it runs.
    pub fn status(&self) -> Result<ServiceStatus, EngineError> {
        let service = self.definition()?;
        let written = read(&service.file)?;
        let mut status = ServiceStatus {
            manager: service.manager.title(),
            installed: written.is_some(),
            current: written.as_deref() == Some(service.bytes().as_slice()),
            running: Some(false),
            problem: None,
            file: service.file.clone(),
        };
        if status.installed {
            match self.run(&service.ask) {
                Ok(output) => status.running = Some(output.status.success()),
                Err(error) => {
                    status.running = None;
                    status.problem = Some(error.to_string());
                }
            }
        }
        Ok(status)
    }

    /// Describes the service to the manager and starts it. Where the manager refuses, nothing stays.
    pub fn install(&self, actor: &Actor) -> Result<ServiceStatus, EngineError> {
        check_person(actor, "install a service")?;
        let service = self.definition()?;
        let before = read(&service.file)?;
        if let Some(folder) = service.file.parent() {
            fs::create_dir_all(folder).map_err(|error| EngineError::file("make", folder, error))?;
        }
        write(&service.file, &service.bytes())?;
        for command in &service.start {
            let told = self.run(command).and_then(|output| accepted(command, &output));
            if let Err(error) = told {
                match &before {
                    Some(bytes) => write(&service.file, bytes)?,
                    None => remove(&service.file)?,
                }
                return Err(error);
            }
        }
        self.status()
    }

    /// Stops the service and removes its description; gives what it was.
    pub fn remove(&self, actor: &Actor) -> Result<ServiceStatus, EngineError> {
        check_person(actor, "remove a service")?;
        let service = self.definition()?;
        let status = self.status()?;
        if !status.installed {
            return Ok(status);
        }
        // A manager that is gone, or that forgot the service, keeps no file in its place.
        for command in &service.stop {
            let _ = self.run(command);
        }
        remove(&service.file)?;
        for command in &service.after_removal {
            let _ = self.run(command);
        }
        Ok(status)
    }

    fn definition(&self) -> Result<ServiceDefinition, EngineError> {
        let env = &self.engine.env;
        let Some(program) = &env.exe else {
            let message = "the program cannot find itself";
            return Err(EngineError::new(ErrorCode::NoProgram, message));
        };
        ServiceDefinition::of(env, program).ok_or_else(|| {
            let message = format!("sinew does not know how services are run on {}", env.os);
            EngineError::new(ErrorCode::NoServiceManager, message)
                .hint("let your own manager run `sinew serve`")
        })
    }

    fn run(&self, command: &[String]) -> Result<Output, EngineError> {
        let (name, args) =
            command.split_first().map_or(("", command), |(name, args)| (name.as_str(), args));
        let failed = |why: String| {
            EngineError::new(
                ErrorCode::NoServiceManager,
                format!("`{name}` cannot be started: {why}"),
            )
            .hint("let another manager run `sinew serve`, or start it in a terminal")
        };
        let env = &self.engine.env;
        let program = program_on(env.var("PATH").unwrap_or_default(), name)
            .ok_or_else(|| failed("it is not on PATH".to_owned()))?;
        Command::new(program)
            .args(args)
            .env_clear()
            .envs(&env.vars)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| failed(error.to_string()))
    }
}

/// A service outlives the program that asked for it, so that a person has to.
fn check_person(actor: &Actor, what: &str) -> Result<(), EngineError> {
    match actor {
        Actor::Person { .. } => Ok(()),
        _ => Err(EngineError::new(ErrorCode::NeedsPerson, format!("only a person can {what}"))
            .hint("run the command yourself, in a terminal")),
    }
}

fn accepted(command: &[String], output: &Output) -> Result<(), EngineError> {
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.trim().lines().next().unwrap_or_default();
    let told = format!("`{}` ended with {}: {said}", command.join(" "), output.status);
    Err(EngineError::new(ErrorCode::ServiceRefused, told)
        .hint("nothing was left behind; `sinew serve` runs in any terminal"))
}

/// The program of a name in the folders of a search path.
fn program_on(path: &str, name: &str) -> Option<PathBuf> {
    let file = format!("{name}{}", env::consts::EXE_SUFFIX);
    env::split_paths(path).map(|folder| folder.join(&file)).find(|file| file.is_file())
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, EngineError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(EngineError::file("read", path, error)),
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), EngineError> {
    atomic::write(path, bytes, FileAccess::Shared)
        .map_err(|error| EngineError::file("write", path, error))
}

fn remove(path: &Path) -> Result<(), EngineError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(EngineError::file("remove", path, error))
        }
        _ => Ok(()),
    }
}
