//! `sinew usage`: what was offered, what came of it, what it cost, and what was never used.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use sinew_settings::path_text;

use super::usage_log::{UsageEvent, UsageLog, UsageRecord};
use super::{Hooks, home, kept};
use crate::EngineError;

/// What rows are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum UsageGrouping {
    /// One row per skill.
    Skill,
    /// One row per agent.
    Agent,
    /// One row per project.
    Project,
}

/// What is counted for one skill, agent or project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct UsageRow {
    /// The skill, agent or project.
    pub name: String,
    /// Offers.
    pub offered: usize,
    /// Offers with which the skill's text came along.
    pub brought: usize,
    /// Turns in which an agent read the skill's file.
    pub read: usize,
    /// Turns in which an agent called the skill by name.
    pub invoked: usize,
    /// Turns in which an agent did what the text that came along says, without opening the file.
    pub followed: usize,
    /// Turns that went well after the skill came into use.
    pub worked: usize,
    /// Turns that did not.
    pub failed: usize,
    /// Corrections by the user.
    pub corrected: usize,
    /// Characters that were added to messages.
    pub characters: usize,
    /// Uses that go back to an offer.
    pub from_offers: usize,
}

/// What `sinew usage` says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UsageReport {
    /// What rows are made of.
    pub by: UsageGrouping,
    /// The rows, by characters spent and name.
    pub rows: Vec<UsageRow>,
    /// All rows together.
    pub total: UsageRow,
    /// Skills that agents may use and none did, by name.
    #[serde(rename = "neverUsed")]
    pub never_used: Vec<String>,
}

impl UsageRow {
    fn count(&mut self, record: &UsageRecord) {
        let is_use = match record.event {
            UsageEvent::Offered => {
                self.offered += 1;
                self.characters += record.chars;
                false
            }
            UsageEvent::Brought => {
                self.brought += 1;
                false
            }
            UsageEvent::Read => {
                self.read += 1;
                true
            }
            UsageEvent::Invoked => {
                self.invoked += 1;
                true
            }
            UsageEvent::Followed => {
                self.followed += 1;
                true
            }
            UsageEvent::Worked => {
                self.worked += 1;
                false
            }
            UsageEvent::Failed => {
                self.failed += 1;
                false
            }
            UsageEvent::Corrected => {
                self.corrected += 1;
                false
            }
        };
        self.from_offers += usize::from(is_use && record.offer.is_some());
    }
}

impl Hooks<'_> {
    /// What became of the skills that were offered since a moment, in milliseconds since 1970.
    pub fn usage(&self, since: u64, by: UsageGrouping) -> Result<UsageReport, EngineError> {
        let records = UsageLog::below(&home(&self.engine.env)).since(since).map_err(kept)?;
        let mut rows: BTreeMap<String, UsageRow> = BTreeMap::new();
        let mut total = UsageRow { name: "total".to_owned(), ..UsageRow::default() };
        let mut used = BTreeSet::new();
        for record in &records {
            let name = match by {
                UsageGrouping::Skill => record.skill.clone(),
                UsageGrouping::Agent => record.agent.clone(),
                UsageGrouping::Project => path_text(&record.project),
            };
            let row = rows.entry(name.clone()).or_default();
            row.name = name;
            row.count(record);
            total.count(record);
            if matches!(record.event, UsageEvent::Read | UsageEvent::Invoked | UsageEvent::Followed)
            {
                used.insert(record.skill.as_str());
            }
        }
        let mut rows: Vec<UsageRow> = rows.into_values().collect();
        rows.sort_by(|a, b| b.characters.cmp(&a.characters).then_with(|| a.name.cmp(&b.name)));
        let snapshot = self.engine.snapshot();
        let visible = snapshot.catalog.unshadowed().filter(|entry| entry.model_visible);
        let unused = visible.filter(|entry| !used.contains(entry.name.as_str()));
        let mut never_used: Vec<String> = unused.map(|entry| entry.name.clone()).collect();
        never_used.sort();
        Ok(UsageReport { by, rows, total, never_used })
    }
}
