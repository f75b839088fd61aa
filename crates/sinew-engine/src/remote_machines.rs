//! The machines that a host is connected to: those of the configuration, and those that a host told of
//! for a while.
//!
//! What a host tells is kept in a file of sinew's own folder, so that the command line, MCP and the
//! server answer alike. A record counts until its time is over; it is never learned from. A process that
//! follows the skills watches that file, and looks again when the next record's time is over.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sinew_catalog::{RefreshCause, RemoteMachine, RemoteMachines};
use sinew_guard::atomic::{self, FileAccess, FileLock};
use sinew_settings::{Environment, ErrorCode};

use crate::{Engine, EngineError};

/// The longest time for which a host can vouch for a machine: a day.
pub const MAX_REMOTE_TTL_SECONDS: u64 = 86_400;

/// Machines that can be told of at once; a host has a handful.
const MAX_REMOTES: usize = 64;

/// Programs of one machine that are kept.
const MAX_REMOTE_BINS: usize = 2_000;

/// The longest file that is read.
const MAX_FILE: u64 = 4 << 20;

/// A machine as a host tells of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RemoteRecord {
    /// Its platform: `darwin`, `linux`, `win32`.
    pub platform: String,
    /// Its programs, as far as skills need them.
    #[serde(default)]
    pub bins: Vec<String>,
    /// When it stops to count, in milliseconds since 1970.
    pub expires_at: u64,
}

impl Engine {
    /// Every machine that counts now, those of the caller and of the configuration first.
    pub(crate) fn remote_machines(&self) -> RemoteMachines {
        let mut machines = self.options.remote.clone();
        for (id, remote) in &self.config.remotes {
            machines.named.push(RemoteMachine {
                id: id.clone(),
                platform: remote.platform.clone(),
                bins: remote.bins.iter().cloned().collect(),
            });
        }
        let configured: BTreeSet<String> =
            machines.named.iter().map(|machine| machine.id.clone()).collect();
        for (id, record) in self.told_remotes() {
            if !configured.contains(&id) {
                let bins = record.bins.into_iter().collect();
                machines.named.push(RemoteMachine { id, platform: record.platform, bins });
            }
        }
        machines
    }

    /// The machines that hosts told of and that still count.
    pub fn told_remotes(&self) -> BTreeMap<String, RemoteRecord> {
        let now = self.env.clock.now_ms();
        let mut all = read(&file(&self.env));
        all.retain(|_, record| record.expires_at > now);
        all
    }

    /// In which file the machines are that hosts told of.
    pub(crate) fn told_remotes_file(&self) -> PathBuf {
        file(&self.env)
    }

    /// How long it takes until the next of the machines stops to count.
    pub(crate) fn next_remote_expiry(&self) -> Option<Duration> {
        let now = self.env.clock.now_ms();
        let ends = self.told_remotes().into_values().map(|record| record.expires_at).min()?;
        Some(Duration::from_millis(ends.saturating_sub(now)))
    }

    /// Keeps a machine for some seconds; none forgets it. What this process shows of the skills follows
    /// at once.
    pub fn tell_remote(
        &self,
        id: &str,
        machine: Option<(&str, Vec<String>, u64)>,
    ) -> Result<BTreeMap<String, RemoteRecord>, EngineError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if id.is_empty() || id.len() > 64 || !id.chars().all(plain) {
            return Err(EngineError::new(
                ErrorCode::BadParameter,
                "a machine's id has at most 64 letters, digits, `-`, `_` or `.`",
            ));
        }
        let path = file(&self.env);
        let failed = |error: std::io::Error| EngineError::file("write", &path, error);
        let lock = FileLock::acquire(&path.with_extension("lock")).map_err(failed)?;
        let mut all = self.told_remotes();
        match machine {
            None => drop(all.remove(id)),
            Some((platform, mut bins, seconds)) => {
                if !all.contains_key(id) && all.len() >= MAX_REMOTES {
                    return Err(EngineError::new(
                        ErrorCode::BadParameter,
                        format!("there are {MAX_REMOTES} machines already"),
                    ));
                }
                bins.truncate(MAX_REMOTE_BINS);
                let seconds = seconds.clamp(1, MAX_REMOTE_TTL_SECONDS);
                let expires_at = self.env.clock.now_ms().saturating_add(seconds * 1_000);
                let platform = platform.to_owned();
                all.insert(id.to_owned(), RemoteRecord { platform, bins, expires_at });
            }
        }
        let text = serde_json::to_vec_pretty(&all).unwrap_or_default();
        atomic::write(&path, &text, FileAccess::OwnerOnly).map_err(failed)?;
        drop(lock);
        if self.has_snapshot() {
            self.refresh(RefreshCause::Files);
        }
        Ok(all)
    }
}

fn file(env: &Environment) -> PathBuf {
    env.sinew_home().join("remotes.json")
}

fn read(path: &std::path::Path) -> BTreeMap<String, RemoteRecord> {
    let small =
        std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() <= MAX_FILE);
    if !small {
        return BTreeMap::new();
    }
    // A file that cannot be read says of no machine.
    std::fs::read(path)
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or_default()
}
