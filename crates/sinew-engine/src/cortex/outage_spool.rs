//! Reports that could not reach the database: kept as files beside the configuration, and recorded with
//! their own time and id as soon as the database answers.
//!
//! A team's database is on another machine, which is away at times. What must never happen here: a
//! report that is told to be kept and is not on disk, or one that counts twice.

use std::fs;
use std::path::PathBuf;

use sinew_cortex::{Ulid, UtcInstant};
use sinew_guard::atomic::{self, FileAccess};
use sinew_guard::secrets;
use sinew_settings::ErrorCode;

use super::{NewOutcome, OutcomeEffect};
use crate::{Engine, EngineError};

/// Reports that wait at most: an outage of weeks. Further ones are refused, with the outage as the reason.
const MAX_WAITING: usize = 10_000;

/// What became of a report.
#[derive(Debug)]
pub enum OutcomeReport {
    /// It is in the database.
    Recorded(Box<OutcomeEffect>),
    /// It waits for the database.
    Waiting {
        /// Its id, under which it will be recorded.
        id: Ulid,
        /// Why it waits.
        outage: EngineError,
    },
}

impl OutcomeReport {
    /// What was learned; a report that waits is an error that says so.
    pub fn recorded(self) -> Result<OutcomeEffect, EngineError> {
        match self {
            Self::Recorded(effect) => Ok(*effect),
            Self::Waiting { id, outage } => Err(outage.hint(format!(
                "the report is kept as {id} and is recorded when the database answers"
            ))),
        }
    }
}

impl Engine {
    /// Records how a use of a skill went, or keeps it until the database answers. When this returns
    /// without an error, it is on disk.
    pub fn report_outcome(&self, new: &NewOutcome) -> Result<OutcomeReport, EngineError> {
        let recorded = self.cortex().and_then(|cortex| {
            self.record_waiting();
            cortex.record(new)
        });
        match recorded {
            Err(outage) if outage.code == ErrorCode::DatabaseUnreachable => {
                self.keep_report(new, outage)
            }
            recorded => Ok(OutcomeReport::Recorded(Box::new(recorded?))),
        }
    }

    /// Reports that wait for the database.
    pub fn waiting_reports(&self) -> usize {
        self.spooled_reports().len()
    }

    fn spool_folder(&self) -> PathBuf {
        self.env.sinew_home().join("waiting-reports")
    }

    /// The files of all reports that wait, oldest first: ids sort by time.
    fn spooled_reports(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.spool_folder()).into_iter().flatten().flatten();
        let is_report = |path: &PathBuf| path.extension().is_some_and(|end| end == "json");
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_report).collect();
        files.sort();
        files
    }

    fn keep_report(
        &self,
        new: &NewOutcome,
        outage: EngineError,
    ) -> Result<OutcomeReport, EngineError> {
        if self.waiting_reports() >= MAX_WAITING {
            let told = format!("{MAX_WAITING} reports wait already; this one is not kept");
            return Err(outage.hint(told));
        }
        let now = UtcInstant::from_clock(self.env.clock.now_ms());
        let id = match new.id {
            Some(id) => id,
            None => Ulid::new(new.at.unwrap_or(now), super::entropy()?),
        };
        let clean = |text: &Option<String>| text.as_deref().map(secrets::mask_strict);
        let kept = NewOutcome {
            id: Some(id),
            at: Some(new.at.unwrap_or(now)),
            task: clean(&new.task),
            detail: clean(&new.detail),
            point: clean(&new.point),
            ..new.clone()
        };
        let bytes = serde_json::to_vec(&kept).unwrap_or_default();
        let folder = self.spool_folder();
        let written = fs::create_dir_all(&folder).and_then(|()| {
            atomic::write(&folder.join(format!("{id}.json")), &bytes, FileAccess::OwnerOnly)
        });
        match written {
            Ok(()) => Ok(OutcomeReport::Waiting { id, outage }),
            Err(error) => Err(outage.hint(format!("the report could not be kept either: {error}"))),
        }
    }

    /// Records what waits. One that cannot be recorded stays, unless it makes no sense at all.
    fn record_waiting(&self) {
        for path in self.spooled_reports() {
            let Ok(cortex) = self.cortex() else { return };
            let bytes = fs::read(&path).unwrap_or_default();
            let Ok(kept) = serde_json::from_slice::<NewOutcome>(&bytes) else {
                tracing::warn!(file = %path.display(), "a report that waited cannot be read");
                let _ = fs::rename(&path, path.with_extension("unreadable"));
                continue;
            };
            match cortex.record(&kept) {
                Ok(_) => {
                    let _ = fs::remove_file(&path);
                }
                Err(error) if error.code == ErrorCode::DatabaseUnreachable => return,
                Err(error) => {
                    tracing::warn!(file = %path.display(), %error, "a report that waited is refused");
                    let _ = fs::rename(&path, path.with_extension("refused"));
                }
            }
        }
    }
}
