//! The machine as the running process sees it, for programs that embed the engine. Behind the feature
//! `process`, so that no library below a program looks at the process by mistake.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::{Clock, Environment, platform_name};

/// The system's clock.
#[derive(Debug)]
struct SystemClock;

impl Clock for SystemClock {
    fn now_ms(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }
}

impl Environment {
    /// The machine as this process sees it; `None` where it has no home folder.
    pub fn of_process() -> Option<Self> {
        let home = std::env::home_dir().filter(|home| home.is_absolute())?;
        let cwd = std::env::current_dir().unwrap_or_else(|_| home.clone());
        Some(Self {
            home,
            cwd,
            // A variable that is not Unicode cannot be one that sinew reads.
            vars: std::env::vars_os()
                .filter_map(|(name, value)| {
                    Some((name.into_string().ok()?, value.into_string().ok()?))
                })
                .collect(),
            os: platform_name(std::env::consts::OS).to_owned(),
            exe: std::env::current_exe().ok().and_then(|exe| std::fs::canonicalize(exe).ok()),
            clock: Arc::new(SystemClock),
        })
    }
}
