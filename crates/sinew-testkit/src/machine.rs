//! A hermetic machine: home, workspace, programs, variables and configuration, all in a
//! temporary folder. Nothing of the real machine shows through.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sinew_catalog::{
    CallerFolders, Catalog, CatalogBuilder, CatalogRequest, Profile, RemoteMachine, RemoteMachines,
    ScanGate, SessionOverrides,
};
use sinew_settings::{Config, Environment, FixedClock};
use tempfile::TempDir;

/// A hermetic machine. Paths are relative to its own root: `home/…`, `work/…`, `bin/…`.
#[derive(Debug)]
pub struct TestMachine {
    folder: TempDir,
    vars: BTreeMap<String, String>,
    os: String,
    config: Config,
    profile: &'static Profile,
    agent: Option<String>,
    workspace: String,
    overrides: SessionOverrides,
    bundled: Option<PathBuf>,
    reserved: Vec<String>,
    remote: RemoteMachines,
    builder: CatalogBuilder,
    clock: FixedClock,
    scan: Option<ScanGate>,
}

impl TestMachine {
    /// An empty Linux machine whose PATH is its own `bin`.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for name in ["home", "work", "bin"] {
            fs::create_dir(folder.path().join(name)).expect("a fresh folder");
        }
        let path = folder.path().join("bin").to_string_lossy().into_owned();
        Self {
            vars: BTreeMap::from([("PATH".to_owned(), path)]),
            folder,
            os: "linux".to_owned(),
            config: Config::default(),
            profile: Profile::default_profile(),
            agent: None,
            workspace: "work".to_owned(),
            overrides: SessionOverrides::new(),
            bundled: None,
            reserved: Vec::new(),
            remote: RemoteMachines::default(),
            builder: CatalogBuilder::default(),
            clock: FixedClock(1_000),
            scan: None,
        }
    }

    /// The absolute path of something on this machine.
    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// Writes a file.
    #[must_use]
    pub fn file(self, path: &str, bytes: impl AsRef<[u8]>) -> Self {
        self.write(path, bytes);
        self
    }

    /// Writes a file on a machine that is in use.
    pub fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("folders");
        fs::write(path, bytes).expect("the file can be written");
    }

    /// Writes `<folder>/SKILL.md` with that name and description.
    #[must_use]
    pub fn skill(self, folder: &str, name: &str) -> Self {
        let text = format!("---\nname: {name}\ndescription: About {name}\n---\n");
        self.file(&format!("{folder}/SKILL.md"), text)
    }

    /// Writes a skill of the workspace with further front matter lines.
    #[must_use]
    pub fn workspace_skill(self, name: &str, more: &str) -> Self {
        let text = format!("---\nname: {name}\ndescription: About {name}\n{more}\n---\n");
        self.file(&format!("work/skills/{name}/SKILL.md"), text)
    }

    /// Puts a program on PATH.
    #[must_use]
    pub fn bin(self, name: &str) -> Self {
        let machine = self.file(&format!("bin/{name}"), "#!/bin/sh\n");
        machine.chmod(&format!("bin/{name}"), 0o755);
        machine
    }

    /// Changes a file's mode.
    pub fn chmod(&self, path: &str, mode: u32) {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let permissions = fs::Permissions::from_mode(mode);
            fs::set_permissions(self.path(path), permissions).expect("the file's mode");
        }
        #[cfg(not(unix))]
        let _ = (path, mode);
    }

    /// Makes `link` point to `target`.
    #[cfg(unix)]
    #[must_use]
    pub fn link(self, link: &str, target: &str) -> Self {
        let link = self.path(link);
        fs::create_dir_all(link.parent().expect("a link lies in a folder")).expect("folders");
        std::os::unix::fs::symlink(self.path(target), link).expect("a link");
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn var(mut self, name: &str, value: &str) -> Self {
        self.vars.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Makes it another system: `darwin`, `win32`.
    #[must_use]
    pub fn os(mut self, os: &str) -> Self {
        os.clone_into(&mut self.os);
        self
    }

    /// Sets the configuration from JSON5; `$ROOT` stands for the machine's own folder.
    #[must_use]
    pub fn config(mut self, json5: &str) -> Self {
        let text = json5.replace("$ROOT", &self.folder.path().to_string_lossy());
        self.config = Config::from_text(&text).0;
        self
    }

    /// The configuration, as it was read.
    pub fn configuration(&self) -> &Config {
        &self.config
    }

    /// Puts a shell script on PATH.
    #[must_use]
    pub fn script(self, name: &str, body: &str) -> Self {
        let machine = self.file(&format!("bin/{name}"), format!("#!/bin/sh\n{body}\n"));
        machine.chmod(&format!("bin/{name}"), 0o755);
        machine
    }

    /// Chooses a profile.
    #[must_use]
    pub fn profile(mut self, name: &str) -> Self {
        self.profile = Profile::find(name).expect("a known profile");
        self
    }

    /// Chooses an agent.
    #[must_use]
    pub fn agent(mut self, id: &str) -> Self {
        self.agent = Some(id.to_owned());
        self
    }

    /// Sets a session's switch.
    #[must_use]
    pub fn switch(mut self, key: &str, on: bool) -> Self {
        self.overrides.insert(key.to_owned(), on);
        self
    }

    /// Says where the bundled skills are.
    #[must_use]
    pub fn bundled(mut self, path: &str) -> Self {
        self.bundled = Some(self.path(path));
        self
    }

    /// Reserves a command.
    #[must_use]
    pub fn reserve(mut self, command: &str) -> Self {
        self.reserved.push(command.to_owned());
        self
    }

    /// Stands in another folder.
    #[must_use]
    pub fn workspace(mut self, path: &str) -> Self {
        fs::create_dir_all(self.path(path)).expect("the folder");
        path.clone_into(&mut self.workspace);
        self
    }

    /// Connects a machine that has a name.
    #[must_use]
    pub fn connected(mut self, id: &str, platform: &str, bins: &[&str]) -> Self {
        self.remote.named.push(RemoteMachine {
            id: id.to_owned(),
            platform: platform.to_owned(),
            bins: bins.iter().map(|name| (*name).to_owned()).collect(),
        });
        self
    }

    /// Connects other machines with these platforms and programs.
    #[must_use]
    pub fn remote(mut self, platforms: &[&str], bins: &[&str]) -> Self {
        let owned = |name: &&str| (*name).to_owned();
        self.remote.platforms = platforms.iter().map(owned).collect();
        self.remote.bins = bins.iter().map(owned).collect();
        self
    }

    /// Has the guard scan every skill.
    #[must_use]
    pub fn with_scanner(mut self) -> Self {
        self.scan = Some(ScanGate::with_empty_cache());
        self
    }

    /// Lets a long time pass, so that every file on the machine is old.
    #[must_use]
    pub fn after_long_time(mut self) -> Self {
        self.clock = FixedClock(u64::MAX / 2);
        self
    }

    /// The machine as a library sees it.
    pub fn environment(&self) -> Environment {
        Environment {
            home: self.path("home"),
            cwd: self.path("work"),
            vars: self.vars.clone(),
            os: self.os.clone(),
            exe: None,
            clock: Arc::new(self.clock),
        }
    }

    /// Calls `with` with a request for this machine's catalog.
    pub fn request<T>(&self, with: impl FnOnce(&CatalogRequest<'_>) -> T) -> T {
        let env = self.environment();
        with(&CatalogRequest {
            profile: self.profile,
            places: CallerFolders {
                look_below: self.profile.name != "sinew",
                workspace: self.path(&self.workspace),
                bundled: self.bundled.clone(),
                ..CallerFolders::default()
            },
            config: &self.config,
            env: &env,
            agent: self.agent.as_deref(),
            overrides: self.overrides.clone(),
            remote: self.remote.clone(),
            reserved_commands: self.reserved.clone(),
            scan: self.scan.as_ref(),
            vouch: None,
        })
    }

    /// Builds the catalog; a second call trusts what the first one read.
    pub fn catalog(&self) -> Arc<Catalog> {
        self.request(|request| self.builder.build(request))
    }

    /// The catalog as a table of small lines: state, name, source, then each reason's code. Missing
    /// roots and where things lie are left out.
    pub fn catalog_table(&self) -> String {
        let catalog = self.catalog();
        let mut text = String::new();
        for entry in &catalog.entries {
            let _ = writeln!(text, "{} {} [{}]", entry.state.as_str(), entry.name, entry.source);
            for reason in &entry.reasons {
                let _ = writeln!(text, "  {}: {}", reason.code, self.without_root(&reason.detail));
            }
        }
        for issue in catalog.issues.iter().filter(|issue| issue.code.as_str() != "root-missing") {
            let _ = writeln!(text, "! {}: {}", issue.code, self.without_root(&issue.detail));
        }
        text
    }

    /// Text with the machine's own folder shown as `$ROOT`.
    pub fn without_root(&self, text: &str) -> String {
        let real = fs::canonicalize(self.folder.path()).unwrap_or_default();
        let text = text.replace(&*self.folder.path().to_string_lossy(), "$ROOT");
        text.replace(&*real.to_string_lossy(), "$ROOT")
    }

    /// Where the machine lies, for programs that run on it.
    pub fn root(&self) -> &Path {
        self.folder.path()
    }
}

impl Default for TestMachine {
    fn default() -> Self {
        Self::new()
    }
}
