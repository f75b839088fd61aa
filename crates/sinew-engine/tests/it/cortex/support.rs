//! A machine with a database of its own, on either back end, and a clock that is told.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use sinew_cortex::UtcInstant;
use sinew_cortex::failure::FailureKind;
use sinew_engine::{Engine, EngineOptions, NewOutcome};
use sinew_settings::{Clock, Environment};
use sinew_testkit::{PostgresSchema, TestMachine};

/// Writes each test once and runs it on every back end.
macro_rules! on_both {
    ($($(#[doc = $doc:literal])* fn $name:ident($world:ident) $body:block)*) => {
        $($(#[doc = $doc])* fn $name($world: &crate::cortex::support::World) $body)*

        mod sqlite {
            $(#[test] fn $name() { super::$name(&crate::cortex::support::World::new()); })*
        }

        mod postgres {
            $(#[test] fn $name() {
                if let Some(world) = crate::cortex::support::World::postgres() {
                    super::$name(&world);
                }
            })*
        }
    };
}

pub(crate) const HOUR: u64 = 3_600_000;
pub(crate) const DAY: u64 = 24 * HOUR;

/// A clock that is told, or that of the machine.
#[derive(Debug)]
pub(crate) struct TestClock(AtomicU64);

/// What the clock reads when it follows the machine's.
const REAL: u64 = 0;

impl Clock for TestClock {
    fn now_ms(&self) -> u64 {
        match self.0.load(Ordering::Relaxed) {
            REAL => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
                u64::try_from(since.as_millis()).expect("a time")
            }
            told => told,
        }
    }
}

/// A machine, its database and its clock.
pub(crate) struct World {
    machine: TestMachine,
    url: Option<String>,
    clock: Arc<TestClock>,
    _schema: Option<PostgresSchema>,
}

impl World {
    /// With the database in the machine's home.
    pub(crate) fn new() -> Self {
        let start: UtcInstant = "2026-03-02T09:00:00Z".parse().expect("a time");
        let start = u64::try_from(start.ms()).expect("a time");
        let clock = Arc::new(TestClock(AtomicU64::new(start)));
        Self { machine: TestMachine::new(), url: None, clock, _schema: None }
    }

    /// With a schema on the test server; `None` where there is none, which was said loudly then.
    pub(crate) fn postgres() -> Option<Self> {
        let schema = sinew_testkit::postgres()?;
        Some(Self { url: Some(schema.url()), _schema: Some(schema), ..Self::new() })
    }

    pub(crate) fn is_file(&self) -> bool {
        self.url.is_none()
    }

    pub(crate) fn config(self, json5: &str) -> Self {
        let text = json5.replace("$ROOT", &self.machine.root().to_string_lossy());
        self.machine.write("home/.sinew/config.json5", text);
        self
    }

    pub(crate) fn with_bin(mut self, name: &str) -> Self {
        self.machine = self.machine.bin(name);
        self
    }

    pub(crate) fn with_var(mut self, name: &str, value: &str) -> Self {
        self.machine = self.machine.var(name, value);
        self
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.machine.path(path)
    }

    pub(crate) fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        self.machine.write(path, bytes);
    }

    /// Lets time pass, or turns it back.
    pub(crate) fn pass(&self, ms: i64) {
        let now = i64::try_from(self.clock.now_ms()).expect("a time") + ms;
        self.clock.0.store(u64::try_from(now).expect("a time"), Ordering::Relaxed);
    }

    pub(crate) fn follow_real_time(&self) {
        self.clock.0.store(REAL, Ordering::Relaxed);
    }

    pub(crate) fn environment(&self) -> Environment {
        let mut env = self.machine.environment();
        env.clock = Arc::clone(&self.clock) as Arc<dyn Clock>;
        let bundled = self.machine.path("bundled");
        std::fs::create_dir_all(&bundled).expect("a folder");
        let bundled = bundled.to_string_lossy().into_owned();
        env.vars.insert("SINEW_BUNDLED_SKILLS_DIR".to_owned(), bundled);
        if let Some(url) = &self.url {
            env.vars.insert("SINEW_DATABASE_URL".to_owned(), url.clone());
        }
        env
    }

    /// A new process, as far as the engine can tell.
    pub(crate) fn engine(&self) -> Engine {
        Engine::open(self.environment(), EngineOptions::default()).expect("an engine")
    }

    /// Another process that runs one test of this binary that is otherwise ignored.
    pub(crate) fn child(&self, test: &str) -> Command {
        let mut command = Command::new(std::env::current_exe().expect("this binary"));
        command.args([test, "--exact", "--ignored", "--quiet", "--nocapture"]);
        command.env("SINEW_CHILD_ROOT", self.machine.root());
        if let Some(url) = &self.url {
            command.env("SINEW_CHILD_URL", url);
        }
        command
    }
}

/// The engine that a child was started for; `None` when ignored tests are run by hand.
pub(crate) fn parents_engine() -> Option<Engine> {
    let root = PathBuf::from(std::env::var_os("SINEW_CHILD_ROOT")?);
    let mut vars = BTreeMap::new();
    let bundled = root.join("bundled").to_string_lossy().into_owned();
    vars.insert("SINEW_BUNDLED_SKILLS_DIR".to_owned(), bundled);
    if let Ok(url) = std::env::var("SINEW_CHILD_URL") {
        vars.insert("SINEW_DATABASE_URL".to_owned(), url);
    }
    let env = Environment {
        home: root.join("home"),
        cwd: root.join("work"),
        vars,
        os: "linux".to_owned(),
        exe: None,
        clock: Arc::new(TestClock(AtomicU64::new(REAL))),
    };
    Some(Engine::open(env, EngineOptions::default()).expect("an engine"))
}

/// Full counts instead of those of a quick run.
pub(crate) fn long() -> bool {
    std::env::var_os("SINEW_LONG").is_some_and(|value| value == "1")
}

pub(crate) const R: &str = "task-management";
pub(crate) const S: &str = "todoist";

/// A success of the skill that most stories are about.
pub(crate) fn ok() -> NewOutcome {
    used(R, S)
}

pub(crate) fn used(region: &str, slug: &str) -> NewOutcome {
    NewOutcome {
        region: Some(region.to_owned()),
        slug: slug.to_owned(),
        version: "1.0.0".to_owned(),
        worked: Some(true),
        side_effects: Some(Vec::new()),
        ..NewOutcome::default()
    }
}

pub(crate) fn failed(kind: FailureKind) -> NewOutcome {
    NewOutcome { worked: Some(false), kind: Some(kind), ..ok() }
}
