//! Software that we did not write against `sinew serve --registry`: npm's `clawhub` and `skills`.
//!
//! Each test has a team: a server on a machine of its own, and people with their own homes who use
//! the real clients. Without Node or npm's registry the tests say `SKIPPED`.

mod both;
mod clawhub;
mod skills;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use sinew_testkit::{NpmPackages, TestMachine};

use crate::support::command;

/// The clients, exactly these: what they send is what the registry was made for.
const PACKAGES: [&str; 2] = ["clawhub@0.23.3", "skills@1.5.18"];

/// The clients, or a loud `SKIPPED`.
fn clients() -> Option<NpmPackages> {
    NpmPackages::get(env!("CARGO_TARGET_TMPDIR"), "registry-clients", &PACKAGES)
}

/// A machine with a registry on it, and the clients that people have.
struct Team {
    machine: TestMachine,
    clients: NpmPackages,
    server: Child,
    origin: String,
    registry: String,
    vars: Vec<(String, String)>,
}

impl Team {
    /// Starts the server with a configuration and further variables.
    fn start(config: &str, vars: &[(&str, &str)]) -> Option<Self> {
        let clients = clients()?;
        let machine = TestMachine::new().file("home/.sinew/config.json5", config);
        let mut serve = command(&machine, &["serve", "--listen", "127.0.0.1:0", "--registry"]);
        serve.arg("--json").envs(vars.iter().copied()).stdout(Stdio::piped());
        let mut server = serve.spawn().expect("sinew runs");
        let mut line = String::new();
        let out = server.stdout.take().expect("a pipe");
        BufReader::new(out).read_line(&mut line).expect("the server says where it is");
        let said: serde_json::Value = serde_json::from_str(&line).expect("one line of JSON");
        let origin = said["listening"].as_str().expect("an origin").to_owned();
        let registry = said["registry"].as_str().expect("a registry").to_owned();
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let vars = vars.iter().map(owned).collect();
        Some(Self { machine, clients, server, origin, registry, vars })
    }

    fn registry(&self) -> String {
        self.registry.clone()
    }

    /// What `sinew` says on the server's machine.
    fn sinew(&self, args: &[&str]) -> serde_json::Value {
        let mut sinew = command(&self.machine, args);
        let vars = self.vars.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let output = sinew.arg("--json").envs(vars).output().expect("sinew runs");
        serde_json::from_slice(&output.stdout).expect("one JSON document")
    }

    /// A client with a token, logged in.
    fn person(&self, name: &str, role: &str) -> Person<'_> {
        let made = self.sinew(&["registry", "token", "create", "--role", role, "--name", name]);
        let token = made["token"].as_str().expect("a token").to_owned();
        let person = self.stranger(name);
        person.clawhub(&["login", "--token", &token]).ok("Logged in");
        person
    }

    /// A client without a token.
    fn stranger(&self, name: &str) -> Person<'_> {
        for folder in ["home", "work"] {
            fs::create_dir_all(self.machine.path(&format!("people/{name}/{folder}")))
                .expect("folders");
        }
        Person { team: self, name: name.to_owned() }
    }

    /// A skill's folder on the machine.
    fn skill(&self, folder: &str, name: &str, body: &str) -> String {
        let text = format!(
            "---\nname: {name}\ndescription: Shows how a demo works\n---\n# Demo\n\n{body}\n"
        );
        self.machine.write(&format!("{folder}/SKILL.md"), text);
        self.machine.path(folder).to_string_lossy().into_owned()
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// A client with a home folder of its own.
struct Person<'a> {
    team: &'a Team,
    name: String,
}

impl Person<'_> {
    fn path(&self, path: &str) -> PathBuf {
        self.team.machine.path(&format!("people/{}/{path}", self.name))
    }

    fn clawhub(&self, args: &[&str]) -> Ran {
        self.clawhub_at(Some(&self.team.registry()), args)
    }

    /// The upstream client, told of a registry or left to find it by the site.
    fn clawhub_at(&self, registry: Option<&str>, args: &[&str]) -> Ran {
        let mut node = self.node("clawhub/bin/clawdhub.js", args);
        node.env("CLAWHUB_SITE", &self.team.origin).env("CLAWHUB_WORKDIR", self.path("work"));
        node.env("CLAWHUB_CONFIG_PATH", self.path("home/config.json"));
        if let Some(registry) = registry {
            node.env("CLAWHUB_REGISTRY", registry);
        }
        Ran::of(&mut node)
    }

    fn skills(&self, args: &[&str]) -> Ran {
        let mut node = self.node("skills/bin/cli.mjs", args);
        node.env("SKILLS_API_URL", self.team.registry())
            .env("DO_NOT_TRACK", "1")
            .env("DISABLE_TELEMETRY", "1")
            .env("CI", "1");
        Ran::of(&mut node)
    }

    fn node(&self, program: &str, args: &[&str]) -> Command {
        let mut node = self.team.clients.node(program);
        node.args(args)
            .env("HOME", self.path("home"))
            .env("NO_COLOR", "1")
            .current_dir(self.path("work"))
            .stdin(Stdio::null());
        node
    }

    fn read(&self, path: &str) -> Vec<u8> {
        fs::read(self.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }
}

/// What a client said, and how it ended.
#[derive(Debug)]
struct Ran {
    shown: String,
    code: Option<i32>,
}

impl Ran {
    fn of(command: &mut Command) -> Self {
        let output = command.output().expect("node runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let shown = format!("{}{}", text(&output.stdout), text(&output.stderr));
        Self { shown, code: output.status.code() }
    }

    /// It worked, and said this.
    #[track_caller]
    fn ok(&self, says: &str) -> &Self {
        assert_eq!(self.code, Some(0), "{}", self.shown);
        self.says(says)
    }

    /// It failed, and said this.
    #[track_caller]
    fn fails(&self, says: &str) -> &Self {
        assert_ne!(self.code, Some(0), "{}", self.shown);
        self.says(says)
    }

    #[track_caller]
    fn says(&self, says: &str) -> &Self {
        assert!(self.shown.contains(says), "{says:?} is not in:\n{}", self.shown);
        self
    }
}
