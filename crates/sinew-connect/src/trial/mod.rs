//! Trying an agent: a folder with copies of its files, and the command that starts it there against a
//! model on loopback. The user's own files are read and never written; credentials are not copied.

mod recipes;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sinew_settings::{CodedError, ErrorCode, path_text};

use crate::Connector;
use crate::config_file::unreadable_error;
use crate::connect::find_agent;
use crate::edit::{ConfigDocument, ConfigEditError};
use crate::ledger::WrittenValue;
use recipes::{CopyEdit, RECIPES, TrialRecipe};

/// The variable that says that an agent is being tried: sinew's own processes below it then keep
/// their records in the folder that it names, and learn nothing.
pub const TRIAL_VARIABLE: &str = "SINEW_TRIAL";

/// Where the trial keeps the variables as they were before, for sinew's own processes.
const VARIABLES: &str = "variables.json";

/// Caches and state of agents that follow the usual variables go to the trial's folder, too.
const SCRATCH: &[(&str, &str)] = &[
    ("XDG_CACHE_HOME", "$FOLDER/agent/cache"),
    ("XDG_STATE_HOME", "$FOLDER/agent/state"),
    // What is not for the model is for another machine, and is refused by the model's address.
    ("HTTP_PROXY", "$ADDRESS"),
    ("HTTPS_PROXY", "$ADDRESS"),
    ("http_proxy", "$ADDRESS"),
    ("https_proxy", "$ADDRESS"),
    ("NO_PROXY", "127.0.0.1,localhost,::1"),
    ("no_proxy", "127.0.0.1,localhost,::1"),
];

/// Variables that would lead around the address above.
const DROPPED: &[&str] = &["ALL_PROXY", "all_proxy"];

/// An agent, ready to be started for a trial.
#[derive(Debug)]
pub struct TrialLaunch {
    /// Its program.
    pub program: PathBuf,
    /// What it is started with.
    pub args: Vec<String>,
    /// All of its variables.
    pub vars: BTreeMap<String, String>,
}

/// What connecting promised for an agent.
#[derive(Debug)]
pub struct AgentPromise {
    /// Its name on the command line.
    pub agent: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// Whether its file names our server, as a program that it starts or at an address.
    pub server: bool,
    /// The tools of the server, where it could be asked.
    pub tools: Vec<String>,
    /// Why it could not be asked.
    pub server_trouble: Option<String>,
    /// Whether our hooks are in its files.
    pub hooks: bool,
    /// What a user has to agree to before hooks run.
    pub note: Option<&'static str>,
    /// The profile that its server and its hooks work with, where that is not sinew's own.
    pub profile: Option<&'static str>,
}

impl Connector<'_> {
    /// What connecting promised for an agent.
    pub fn promise(&self, name: &str) -> Result<AgentPromise, CodedError> {
        let agent = find_agent(name)?;
        let changes = self.ledger().changes().map_err(|error| self.ledger_failed(error))?;
        let of_agent = changes.iter().filter(|change| change.agent == agent.id);
        let written: Vec<&WrittenValue> = of_agent.flat_map(|change| &change.written).collect();
        // The file of a plugin is ours as a whole.
        let is_hook = |written: &WrittenValue| {
            *written == WrittenValue::File || written.at().first() == Some(&"hooks")
        };
        let hooks = written.iter().any(|written| is_hook(written));
        let (server, tools, server_trouble) = match self.listed_tools(agent.id)? {
            None => (false, Vec::new(), None),
            Some(Ok(tools)) => (true, tools, None),
            Some(Err(why)) => (true, Vec::new(), Some(why)),
        };
        Ok(AgentPromise {
            agent: agent.id,
            title: agent.title,
            server,
            tools,
            server_trouble,
            hooks,
            note: agent.note.filter(|_| hooks),
            profile: agent.profile,
        })
    }

    /// Prepares a trial in an empty folder: copies the agent's files, and says how it is started.
    pub fn prepare_trial(
        &self,
        name: &str,
        folder: &Path,
        address: &str,
        message: &str,
    ) -> Result<TrialLaunch, CodedError> {
        let agent = find_agent(name)?;
        let recipe = recipe(agent.id).ok_or_else(|| {
            let known: Vec<&str> = RECIPES.iter().map(|recipe| recipe.agent).collect();
            let message = format!("{} cannot be started for a trial", agent.title);
            CodedError::new(ErrorCode::NoTrial, message)
                .hint(format!("agents that can be tried: {}", known.join(", ")))
                .hint("`sinew doctor` starts what is configured for the others")
        })?;
        let program = sinew_catalog::find_program(self.env, agent.program).ok_or_else(|| {
            let message =
                format!("{} is not installed: `{}` is not on PATH", agent.title, agent.program);
            CodedError::new(ErrorCode::AgentNotInstalled, message)
                .hint("install it, or put its program on PATH")
        })?;
        let fill = |text: &str| {
            let text = text.replace("$FOLDER", &path_text(folder)).replace("$ADDRESS", address);
            text.replace("$MESSAGE", message)
        };
        self.copy_files(recipe, folder, &fill)?;
        let mut vars = self.env.vars.clone();
        let mut before: BTreeMap<&str, Option<String>> = BTreeMap::new();
        let settings = SCRATCH.iter().chain(recipe.vars);
        let settings = settings.map(|(name, value)| (*name, Some(fill(value))));
        let dropped = DROPPED.iter().chain(recipe.without).map(|name| (*name, None));
        for (name, value) in settings.chain(dropped) {
            before.insert(name, vars.remove(name));
            vars.extend(value.map(|value| (name.to_owned(), value)));
        }
        let file = folder.join(VARIABLES);
        let text = serde_json::to_vec(&before).unwrap_or_default();
        fs::write(&file, text).map_err(|error| CodedError::file("write", &file, error))?;
        vars.insert(TRIAL_VARIABLE.to_owned(), path_text(folder));
        Ok(TrialLaunch { program, args: recipe.args.iter().map(|arg| fill(arg)).collect(), vars })
    }

    fn copy_files(
        &self,
        recipe: &TrialRecipe,
        folder: &Path,
        fill: &dyn Fn(&str) -> String,
    ) -> Result<(), CodedError> {
        let agent_folder = folder.join("agent");
        fs::create_dir_all(&agent_folder)
            .map_err(|error| CodedError::file("create", &agent_folder, error))?;
        for (place, name) in recipe.copies {
            let from = place.path(self.env, self.workspace);
            let failed = |error: io::Error| CodedError::file("copy", &from, error);
            let mut text = match fs::read_to_string(&from) {
                Ok(text) => text,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(failed(error)),
            };
            for (place, moved) in recipe.moved {
                let old = path_text(&place.path(self.env, self.workspace));
                text = text.replace(&old, &path_text(&folder.join(moved)));
            }
            let to = folder.join(name);
            create_parent(&to).and_then(|()| fs::write(&to, text)).map_err(failed)?;
        }
        for edit in recipe.edits {
            edit.apply(folder, fill)?;
        }
        for (place, name) in recipe.links {
            let from = place.path(self.env, self.workspace);
            if from.is_dir() {
                let to = folder.join(name);
                create_parent(&to)
                    .and_then(|()| link(&from, &to))
                    .map_err(|error| CodedError::file("link", &from, error))?;
            }
        }
        Ok(())
    }
}

fn recipe(agent: &str) -> Option<&'static TrialRecipe> {
    RECIPES.iter().find(|recipe| recipe.agent == agent)
}

fn create_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)
}

#[cfg(unix)]
fn link(from: &Path, to: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(from, to)
}

#[cfg(windows)]
fn link(from: &Path, to: &Path) -> io::Result<()> {
    std::os::windows::fs::symlink_dir(from, to)
}

impl CopyEdit {
    fn apply(&self, folder: &Path, fill: &dyn Fn(&str) -> String) -> Result<(), CodedError> {
        let file = folder.join(self.file);
        let text = match fs::read_to_string(&file) {
            Ok(text) => text,
            // There is nothing to remove from a file that the user does not have.
            Err(_) if self.value.is_none() => return Ok(()),
            Err(_) => String::new(),
        };
        let unreadable = |trouble: ConfigEditError| unreadable_error(&file, &trouble);
        let mut document = ConfigDocument::read(self.format, &text).map_err(unreadable)?;
        if self.beside.is_some_and(|entry| document.get(entry).is_none()) {
            return Ok(());
        }
        match self.value.and_then(|value| serde_json::from_str(&fill(value)).ok()) {
            Some(value) => document.put(self.at, &value).map_err(unreadable)?,
            None => document.remove(self.at),
        }
        create_parent(&file)
            .and_then(|()| fs::write(&file, document.text()))
            .map_err(|error| CodedError::file("write", &file, error))
    }
}

/// The variables as they were before a trial began, for sinew's own processes below the agent: they
/// look where the user's own agent would have them look.
pub fn variables_before_trial(vars: &mut BTreeMap<String, String>) {
    let Some(folder) = vars.get(TRIAL_VARIABLE) else { return };
    let Ok(text) = fs::read_to_string(Path::new(folder).join(VARIABLES)) else { return };
    let before: BTreeMap<String, Option<String>> = serde_json::from_str(&text).unwrap_or_default();
    for (name, value) in before {
        match value {
            Some(value) => vars.insert(name, value),
            None => vars.remove(&name),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_edit_is_of_a_copy_and_valid() {
        for recipe in RECIPES {
            assert!(find_agent(recipe.agent).is_ok(), "{}", recipe.agent);
            assert!(recipe.args.contains(&"$MESSAGE"), "{}", recipe.agent);
            for edit in recipe.edits {
                assert!(recipe.copies.iter().any(|(_, name)| *name == edit.file), "{edit:?}");
                let read = |text| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
                let value = edit.value.map(read);
                // A file of TOML takes tables only.
                let is_table = value.as_ref().is_none_or(serde_json::Value::is_object);
                let is_toml = matches!(edit.format, crate::edit::ConfigFormat::Toml);
                assert!(is_table || !is_toml, "{edit:?}");
            }
        }
    }

    #[test]
    fn credentials_are_not_lent() {
        for recipe in RECIPES {
            let names = recipe.copies.iter().chain(recipe.links).map(|(_, name)| *name);
            for name in names {
                let secret = ["auth", "cred", "token", "oauth"];
                assert!(!secret.iter().any(|word| name.contains(word)), "{name}");
            }
        }
    }
}
