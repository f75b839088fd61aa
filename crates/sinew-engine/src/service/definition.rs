//! What each system's manager reads, and the commands by which it is told.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use sinew_settings::{Environment, path_text};

/// Variables that say where sinew's own files are; a service does not inherit them from a shell.
const KEPT: &[&str] = &["SINEW_HOME", "SINEW_CONFIG"];

/// The name by which systemd knows it.
const UNIT: &str = "sinew.service";
/// The name by which launchd knows it.
const LABEL: &str = "dev.sinew.serve";
/// The name by which the Task Scheduler knows it.
const TASK: &str = "sinew";

/// What keeps services running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ServiceManager {
    /// systemd's user sessions, on Linux.
    Systemd,
    /// launchd's agents, on macOS.
    Launchd,
    /// Tasks at log-on, on Windows.
    TaskScheduler,
}

impl ServiceManager {
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Systemd => "systemd",
            Self::Launchd => "launchd",
            Self::TaskScheduler => "Task Scheduler",
        }
    }
}

/// The service as a manager reads it.
#[derive(Debug)]
pub(super) struct ServiceDefinition {
    pub(super) manager: ServiceManager,
    /// The file that describes it.
    pub(super) file: PathBuf,
    text: String,
    /// What makes the manager read the file and start the service, anew where it runs.
    pub(super) start: Vec<Vec<String>>,
    /// What ends it.
    pub(super) stop: Vec<Vec<String>>,
    /// What makes the manager forget it once the file is gone.
    pub(super) after_removal: Vec<Vec<String>>,
    /// Succeeds while it runs.
    pub(super) ask: Vec<String>,
}

impl ServiceDefinition {
    /// The service for a machine; `None` on a system whose manager is not known.
    pub(super) fn of(env: &Environment, program: &Path) -> Option<Self> {
        let program = path_text(program);
        let vars: Vec<(&str, &str)> =
            KEPT.iter().filter_map(|name| Some((*name, env.var(name)?))).collect();
        match env.os.as_str() {
            "linux" => Some(systemd(env, &program, &vars)),
            "darwin" => Some(launchd(env, &program, &vars)),
            "win32" => Some(task(env, &program)),
            _ => None,
        }
    }

    /// The file's bytes, in the encoding that the manager reads.
    pub(super) fn bytes(&self) -> Vec<u8> {
        match self.manager {
            // The Task Scheduler reads what it exports: UTF-16 behind a byte order mark.
            ServiceManager::TaskScheduler => std::iter::once(0xfeff)
                .chain(self.text.encode_utf16())
                .flat_map(u16::to_le_bytes)
                .collect(),
            _ => self.text.clone().into_bytes(),
        }
    }
}

fn words(line: &[&str]) -> Vec<String> {
    line.iter().map(|word| (*word).to_owned()).collect()
}

fn systemd(env: &Environment, program: &str, vars: &[(&str, &str)]) -> ServiceDefinition {
    let config = env.var_path("XDG_CONFIG_HOME").unwrap_or_else(|| env.home.join(".config"));
    let quoted = |text: &str| {
        let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%");
        format!("\"{text}\"")
    };
    let mut text = "[Unit]\n\
        Description=sinew: the dashboard, the HTTP API and MCP on this machine\n\
        \n\
        [Service]\n"
        .to_owned();
    // A dollar sign would name a variable, in the command alone.
    let _ = writeln!(text, "ExecStart={} serve", quoted(program).replace('$', "$$"));
    for (name, value) in vars {
        let _ = writeln!(text, "Environment={}", quoted(&format!("{name}={value}")));
    }
    text.push_str(
        "Restart=on-failure\n\
        RestartSec=5\n\
        NoNewPrivileges=true\n\
        \n\
        [Install]\n\
        WantedBy=default.target\n",
    );
    let systemctl = |rest: &[&str]| words(&[&["systemctl", "--user"], rest].concat());
    ServiceDefinition {
        manager: ServiceManager::Systemd,
        file: config.join("systemd/user").join(UNIT),
        text,
        start: vec![
            systemctl(&["daemon-reload"]),
            systemctl(&["enable", UNIT]),
            systemctl(&["restart", UNIT]),
        ],
        stop: vec![systemctl(&["disable", "--now", UNIT])],
        after_removal: vec![systemctl(&["daemon-reload"])],
        ask: systemctl(&["is-active", "--quiet", UNIT]),
    }
}

fn launchd(env: &Environment, program: &str, vars: &[(&str, &str)]) -> ServiceDefinition {
    let file = env.home.join("Library/LaunchAgents").join(format!("{LABEL}.plist"));
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
         <plist version=\"1.0\">\n<dict>\n\
         \x20 <key>Label</key>\n  <string>{LABEL}</string>\n\
         \x20 <key>ProgramArguments</key>\n  <array>\n    <string>{}</string>\n    <string>serve</string>\n  </array>\n",
        escaped(program)
    );
    if !vars.is_empty() {
        text.push_str("  <key>EnvironmentVariables</key>\n  <dict>\n");
        for (name, value) in vars {
            let _ =
                writeln!(text, "    <key>{name}</key>\n    <string>{}</string>", escaped(value));
        }
        text.push_str("  </dict>\n");
    }
    text.push_str(
        "  <key>RunAtLoad</key>\n  <true/>\n\
         \x20 <key>KeepAlive</key>\n  <dict>\n    <key>SuccessfulExit</key>\n    <false/>\n  </dict>\n\
         </dict>\n</plist>\n",
    );
    let path = path_text(&file);
    ServiceDefinition {
        manager: ServiceManager::Launchd,
        start: vec![words(&["launchctl", "load", "-w", &path])],
        stop: vec![words(&["launchctl", "unload", "-w", &path])],
        after_removal: Vec::new(),
        ask: words(&["launchctl", "list", LABEL]),
        file,
        text,
    }
}

fn task(env: &Environment, program: &str) -> ServiceDefinition {
    let file = env.sinew_home().join("service.xml");
    let user = env.var("USERNAME").map(|user| match env.var("USERDOMAIN") {
        Some(domain) => format!("{domain}\\{user}"),
        None => user.to_owned(),
    });
    let user = user.map(|user| format!("<UserId>{}</UserId>", escaped(&user))).unwrap_or_default();
    let text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-16\"?>\n\
         <Task version=\"1.2\" xmlns=\"http://schemas.microsoft.com/windows/2004/02/mit/task\">\n\
         \x20 <Triggers><LogonTrigger><Enabled>true</Enabled>{user}</LogonTrigger></Triggers>\n\
         \x20 <Principals><Principal id=\"Author\">{user}<LogonType>InteractiveToken</LogonType>\
         <RunLevel>LeastPrivilege</RunLevel></Principal></Principals>\n\
         \x20 <Settings><MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>\
         <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>\
         <RestartOnFailure><Interval>PT1M</Interval><Count>3</Count></RestartOnFailure></Settings>\n\
         \x20 <Actions Context=\"Author\"><Exec><Command>{}</Command>\
         <Arguments>serve</Arguments></Exec></Actions>\n\
         </Task>\n",
        escaped(program)
    );
    let path = path_text(&file);
    ServiceDefinition {
        manager: ServiceManager::TaskScheduler,
        start: vec![
            words(&["schtasks", "/Create", "/TN", TASK, "/XML", &path, "/F"]),
            words(&["schtasks", "/Run", "/TN", TASK]),
        ],
        stop: vec![
            words(&["schtasks", "/End", "/TN", TASK]),
            words(&["schtasks", "/Delete", "/TN", TASK, "/F"]),
        ],
        after_removal: Vec::new(),
        ask: words(&["schtasks", "/Query", "/TN", TASK]),
        file,
        text,
    }
}

/// A text inside an element of XML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::{Path, PathBuf};
    use std::sync::Arc;

    use sinew_settings::{Environment, FixedClock};

    use super::{ServiceDefinition, ServiceManager};

    fn definition(os: &str, program: &str, vars: &[(&str, &str)]) -> ServiceDefinition {
        let vars = vars.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let env = Environment {
            home: PathBuf::from("/home/ann"),
            cwd: PathBuf::from("/"),
            vars: vars.collect::<BTreeMap<_, _>>(),
            os: os.to_owned(),
            exe: None,
            clock: Arc::new(FixedClock(0)),
        };
        ServiceDefinition::of(&env, Path::new(program)).expect("a manager")
    }

    #[test]
    fn systemd_reads_odd_paths_and_variables() {
        let unit = definition("linux", "/opt/100% \"ours\" $x/sinew", &[("SINEW_HOME", "/a b")]);
        assert_eq!(unit.file, Path::new("/home/ann/.config/systemd/user/sinew.service"));
        let start = r#"ExecStart="/opt/100%% \"ours\" $$x/sinew" serve"#;
        assert!(unit.text.contains(start), "{}", unit.text);
        assert!(unit.text.contains("Environment=\"SINEW_HOME=/a b\"\n"), "{}", unit.text);
        let moved = definition("linux", "/sinew", &[("XDG_CONFIG_HOME", "/cfg")]);
        assert_eq!(moved.file, Path::new("/cfg/systemd/user/sinew.service"));
    }

    #[test]
    fn launchd_reads_a_property_list() {
        let agent = definition("darwin", "/opt/a&b/sinew", &[("SINEW_HOME", "/a")]);
        assert!(agent.text.contains("<string>/opt/a&amp;b/sinew</string>"), "{}", agent.text);
        assert!(agent.text.contains("<key>SINEW_HOME</key>"), "{}", agent.text);
        let opened = agent.text.matches("<dict>").count();
        assert_eq!(opened, agent.text.matches("</dict>").count(), "{}", agent.text);
        assert_eq!(agent.start[0][..3], ["launchctl", "load", "-w"]);
    }

    #[test]
    fn the_task_scheduler_reads_what_it_would_export() {
        let task = definition("win32", "C:\\sinew.exe", &[("USERNAME", "ann")]);
        assert_eq!(task.manager, ServiceManager::TaskScheduler);
        assert_eq!(task.bytes()[..4], [0xff, 0xfe, b'<', 0]);
        assert!(task.text.contains("<UserId>ann</UserId>"), "{}", task.text);
        assert!(task.text.contains("<Command>C:\\sinew.exe</Command>"), "{}", task.text);
    }
}
