//! The throw-away machine: a folder with a home and a workspace, and a server beside it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::{fs, io};

use sinew_engine::EngineError;
use sinew_settings::{Environment, ErrorCode};

/// Variables of the real machine that the demo sees: where programs lie, and how to draw.
const KEPT: &[&str] = &["PATH", "TERM", "NO_COLOR", "COLUMNS", "LANG", "SYSTEMROOT"];

/// A machine of its own.
pub(super) struct DemoMachine {
    root: PathBuf,
    exe: PathBuf,
    vars: Vec<(String, String)>,
    server: Option<Child>,
}

impl DemoMachine {
    /// A machine below `root`, with the files of the demo.
    pub(super) fn new(root: &Path, env: &Environment) -> Result<Self, EngineError> {
        let exe = env.exe.clone().ok_or_else(|| {
            EngineError::new(ErrorCode::NoProgram, "the program cannot find itself")
        })?;
        let vars = env.vars.iter().filter(|(name, _)| KEPT.contains(&name.to_uppercase().as_str()));
        let vars = vars.map(|(name, value)| (name.clone(), value.clone())).collect();
        let stage = Self { root: root.to_owned(), exe, vars, server: None };
        stage.set().map_err(|error| failed("be prepared", error))?;
        Ok(stage)
    }

    fn set(&self) -> io::Result<()> {
        fs::create_dir_all(self.home())?;
        for (path, text) in super::scenes::FILES {
            let path = self.root.join(path);
            fs::create_dir_all(path.parent().unwrap_or(&self.root))?;
            fs::write(path, text)?;
        }
        Ok(())
    }

    /// The home of the demo.
    pub(super) fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// Its workspace.
    pub(super) fn work(&self) -> PathBuf {
        self.root.join("work")
    }

    fn command(&self, args: &[String]) -> Command {
        let mut command = Command::new(&self.exe);
        command.args(args).env_clear().envs(self.vars.iter().map(|(name, value)| (name, value)));
        // On Windows the home has another name.
        command.env("HOME", self.home()).env("USERPROFILE", self.home());
        command.current_dir(self.work()).stdin(Stdio::null());
        command
    }

    /// Runs `sinew` on this machine.
    pub(super) fn run(&self, args: &[String]) -> Result<Output, EngineError> {
        self.command(args).output().map_err(|error| failed("go on", error))
    }

    /// Starts the server with the team's registry, and a person who may publish to it. Gives what the
    /// server says about itself.
    pub(super) fn serve(&mut self) -> Result<serde_json::Value, EngineError> {
        let token =
            ["registry", "token", "create", "--role", "publish", "--name", "demo", "--json"];
        let token = self.run(&token.map(str::to_owned))?;
        let token: serde_json::Value = read(&token.stdout)?;
        let serve = ["serve", "--registry", "--listen", "127.0.0.1:0", "--json"].map(str::to_owned);
        let mut server = self.command(&serve);
        let mut server = server
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| failed("serve", error))?;
        let mut line = String::new();
        if let Some(stdout) = server.stdout.take() {
            BufReader::new(stdout).read_line(&mut line).map_err(|error| failed("serve", error))?;
        }
        self.server = Some(server);
        let serving: serde_json::Value = read(line.as_bytes())?;
        let registry = serving["registry"].as_str().unwrap_or_default();
        let config = serde_json::json!({
            "hub": { "registry": registry },
            // The scenes run without a terminal of their own; the person who watches started them.
            "approvals": { "unattended": ["install", "proposal"] },
        });
        fs::create_dir_all(self.home().join(".sinew"))
            .and_then(|()| fs::write(self.home().join(".sinew/config.json5"), config.to_string()))
            .map_err(|error| failed("be configured", error))?;
        self.log_in(token["token"].as_str().unwrap_or_default())?;
        Ok(serving)
    }

    fn log_in(&self, token: &str) -> Result<(), EngineError> {
        let login = ["registry", "login"].map(str::to_owned);
        let mut login = self.command(&login);
        let mut login = login
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| failed("log in", error))?;
        if let Some(mut stdin) = login.stdin.take() {
            stdin.write_all(token.as_bytes()).map_err(|error| failed("log in", error))?;
        }
        match login.wait() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(failed("log in", io::Error::other(status.to_string()))),
            Err(error) => Err(failed("log in", error)),
        }
    }
}

impl Drop for DemoMachine {
    fn drop(&mut self) {
        if let Some(server) = &mut self.server {
            // It may have ended by itself.
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}

fn read(json: &[u8]) -> Result<serde_json::Value, EngineError> {
    serde_json::from_slice(json).map_err(|error| failed("understand itself", error.into()))
}

fn failed(doing: &str, error: io::Error) -> EngineError {
    EngineError::new(ErrorCode::DemoFailed, format!("the demo could not {doing}: {error}"))
        .caused_by(error)
}
