//! What happened in a session since its last turn was settled: one file of JSON lines per session.
//!
//! Each event adds a line in well under a millisecond, needs no database, and is written once however
//! often an agent sends it. The results of a turn are worked out when it is over, and where that fails
//! or takes too long the lines are still there.
//!
//! What must never happen here: a secret in a line, a file that grows without end, an event that is
//! counted twice.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use serde_json::Value;
use sha2::{Digest as _, Sha256};
use sinew_guard::atomic::FileLock;

use super::input::{MaskedText, ToolCall};
use super::journal_line::{JournalLine, JournalLines};
use super::json_lines;
use super::offer::SkillOffer;
use super::spool::TraceSpool;

/// A session that writes more than this between two settled turns is not recorded further.
const MAX_JOURNAL: u64 = 4 << 20;

/// A session that was silent for so long is over, whether or not its agent said so.
const FORGOTTEN: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// A record of the session's trace, and what the trace begins with.
#[derive(Debug)]
pub(super) struct SpoolRecord {
    pub(super) head: Value,
    pub(super) record: Value,
}

/// Whether an event was new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventNovelty {
    New,
    Again,
}

/// A session's file.
#[derive(Debug)]
pub(super) struct SessionJournal {
    path: PathBuf,
}

/// A finished turn.
#[derive(Debug, Clone)]
pub(super) struct JournalTurn {
    /// Its number in the session, counted from one.
    pub(super) number: usize,
    pub(super) prompts: Vec<MaskedText>,
    pub(super) steps: Vec<ToolCall>,
    /// The skills that were offered in the session up to its end.
    pub(super) offers: Vec<SkillOffer>,
    /// How many of these were made before it began.
    pub(super) earlier_offers: usize,
    pub(super) at: u64,
    pub(super) agent: String,
    pub(super) session: String,
    pub(super) workspace: PathBuf,
    pub(super) said: Option<String>,
    /// The turn before it, in the same session.
    pub(super) before: Option<Box<PriorTurn>>,
}

/// What a turn knows of the one before it: what was asked and done, which a correction is about.
#[derive(Debug, Clone, Default)]
pub(super) struct PriorTurn {
    pub(super) prompts: Vec<MaskedText>,
    pub(super) steps: Vec<ToolCall>,
    /// The skills whose texts came along with it.
    pub(super) offers: Vec<SkillOffer>,
    pub(super) said: Option<String>,
}

/// What is left to do for a session.
#[derive(Debug, Default)]
pub(super) struct PendingWork {
    /// Turns that were not settled.
    pub(super) turns: Vec<JournalTurn>,
    /// The turn that a model is to review.
    pub(super) review: Option<JournalTurn>,
    /// The turns of the session before that one, oldest first.
    pub(super) before_review: Vec<PriorTurn>,
    /// The last turn, where its run was not learned from.
    pub(super) learn: Option<JournalTurn>,
    /// Whether the session is over.
    pub(super) is_over: bool,
    /// All of its turns, settled or not. The last one of a session that broke off has no end.
    pub(super) session: Vec<JournalTurn>,
}

impl PendingWork {
    pub(super) fn is_empty(&self) -> bool {
        self.turns.is_empty() && self.review.is_none() && self.learn.is_none()
    }

    /// The session up to a turn, which is the last of them.
    pub(super) fn up_to(&self, turn: &JournalTurn) -> &[JournalTurn] {
        self.session.get(..turn.number).unwrap_or(&self.session)
    }
}

impl SessionJournal {
    /// The file of one session of one agent. Ids come from outside, so that only their hash is a name.
    pub(super) fn of(folder: &Path, agent: &str, session: &str) -> Self {
        let digest = Sha256::new().chain_update(agent).chain_update([0]).chain_update(session);
        let name: String = digest.finalize().iter().take(12).map(|b| format!("{b:02x}")).collect();
        Self { path: folder.join(format!("{name}.jsonl")) }
    }

    /// Whether anything was kept of the session.
    pub(super) fn exists(&self) -> bool {
        self.path.exists()
    }

    /// Every session that has a file.
    pub(super) fn all(folder: &Path) -> Vec<Self> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
        paths.sort();
        paths.into_iter().map(|path| Self { path }).collect()
    }

    /// Held by a process that reads before it writes.
    fn lock(&self) -> io::Result<FileLock> {
        FileLock::acquire(&self.path.with_extension("lock"))
    }

    /// Held while turns are settled, so that no two processes settle the same one.
    pub(super) fn settling(&self) -> io::Result<FileLock> {
        FileLock::acquire(&self.path.with_extension("settling"))
    }

    /// The session's trace.
    pub(super) fn spool(&self) -> TraceSpool {
        TraceSpool::beside(&self.path)
    }

    /// Writes an event, unless it was written before.
    pub(super) fn add(
        &self,
        line: &JournalLine,
        traced: Option<&SpoolRecord>,
    ) -> io::Result<EventNovelty> {
        let _lock = self.lock()?;
        let lines = json_lines::read::<JournalLine>(&self.path)?;
        let before = match line.key() {
            Some(key) => lines.iter().any(|known| known.key() == Some(key)),
            // Without an id, the same line twice in a row is one event; steps may repeat.
            None => {
                let mut events = lines.iter().rev().filter(|line| line.is_event());
                match line {
                    JournalLine::Prompt { .. } => events.next() == Some(line),
                    JournalLine::Stop { .. } => !matches!(
                        events.next(),
                        Some(JournalLine::Prompt { .. } | JournalLine::Step { .. })
                    ),
                    _ => false,
                }
            }
        };
        if before {
            return Ok(EventNovelty::Again);
        }
        self.append(line)?;
        if let Some(SpoolRecord { head, record }) = traced {
            self.spool().add(head, record)?;
        }
        Ok(EventNovelty::New)
    }

    fn append(&self, line: &JournalLine) -> io::Result<()> {
        let full = fs::metadata(&self.path).is_ok_and(|facts| facts.len() > MAX_JOURNAL);
        let grows = matches!(
            line,
            JournalLine::Prompt { .. } | JournalLine::Step { .. } | JournalLine::Delegation { .. }
        );
        if full && grows {
            return Err(io::Error::other("the session's file is full until its turn is over"));
        }
        json_lines::append(&self.path, line)
    }

    /// What is left to do.
    pub(super) fn pending(&self) -> io::Result<PendingWork> {
        let (mut turns, mut settled, mut review, mut reviewed, mut learned) =
            (Vec::new(), 0, 0, 0, 0);
        let (mut prompts, mut steps, mut offers) = (Vec::new(), Vec::new(), Vec::new());
        let (mut number, mut earlier_offers, mut is_over) = (0, 0, false);
        let mut before: Option<Box<PriorTurn>> = None;
        let mut all: Vec<PriorTurn> = Vec::new();
        for line in json_lines::read::<JournalLine>(&self.path)? {
            match line {
                JournalLine::Prompt { said, .. } => {
                    // A session that was over goes on.
                    is_over = false;
                    prompts.push(said);
                }
                JournalLine::Step { call, .. } => steps.push(call),
                JournalLine::Offer(offer) => offers.push(offer),
                JournalLine::Compacted { .. }
                | JournalLine::Returned
                | JournalLine::SearchHint
                | JournalLine::Delegation { .. }
                | JournalLine::Claim { .. } => {}
                JournalLine::Stop { at, agent, session, workspace, said, .. } => {
                    number += 1;
                    let (prompts, steps) =
                        (std::mem::take(&mut prompts), std::mem::take(&mut steps));
                    let prior = PriorTurn {
                        prompts: prompts.clone(),
                        steps: steps.clone(),
                        offers: offers.get(earlier_offers..).unwrap_or_default().to_vec(),
                        said: said.clone(),
                    };
                    all.push(prior.clone());
                    turns.push(JournalTurn {
                        before: before.replace(Box::new(prior)),
                        number,
                        prompts,
                        steps,
                        offers: offers.clone(),
                        earlier_offers,
                        at,
                        agent,
                        session,
                        workspace,
                        said,
                    });
                    earlier_offers = offers.len();
                }
                JournalLine::Settled { turns, review: due } => {
                    settled = settled.max(turns);
                    if due {
                        review = turns;
                    }
                }
                JournalLine::Reviewed { turns } => reviewed = reviewed.max(turns),
                JournalLine::Learned { turns } => learned = learned.max(turns),
                JournalLine::Ended => is_over = true,
            }
        }
        let review = turns.iter().find(|turn| turn.number == review && review > reviewed).cloned();
        all.truncate(review.as_ref().map_or(0, |turn| turn.number.saturating_sub(1)));
        let is_traced = self.spool().exists();
        let learn = turns.last().filter(|turn| is_traced && turn.number > learned).cloned();
        let unsettled = turns.iter().filter(|turn| turn.number > settled).cloned().collect();
        if !steps.is_empty() {
            // Nothing is known of where and by whom but what the turns before it told.
            let (agent, session, workspace) = turns.last().map_or_else(Default::default, |last| {
                (last.agent.clone(), last.session.clone(), last.workspace.clone())
            });
            turns.push(JournalTurn {
                number: number + 1,
                prompts,
                steps,
                offers,
                earlier_offers,
                at: u64::MAX,
                agent,
                session,
                workspace,
                said: None,
                before,
            });
        }
        let before_review = all;
        Ok(PendingWork { turns: unsettled, review, before_review, learn, is_over, session: turns })
    }

    /// Everything that is in it.
    pub(super) fn lines(&self) -> io::Result<JournalLines> {
        json_lines::read(&self.path).map(JournalLines)
    }

    /// The task of a helper that begins: the oldest one that no other helper began with, of its kind
    /// where kinds are known.
    pub(super) fn claim_delegation(
        &self,
        helper: &str,
        kind: Option<&str>,
    ) -> io::Result<Option<String>> {
        let _lock = self.lock()?;
        let lines = self.lines()?.0;
        let claimed: Vec<usize> = lines
            .iter()
            .filter_map(|line| match line {
                JournalLine::Claim { delegation, .. } => Some(*delegation),
                _ => None,
            })
            .collect();
        let delegations = lines.iter().filter_map(|line| match line {
            JournalLine::Delegation { helper_kind, task, .. } => Some((helper_kind, task)),
            _ => None,
        });
        let open = delegations.enumerate().filter(|(at, _)| !claimed.contains(at));
        let open: Vec<_> = open.collect();
        let same_kind = |wanted: &Option<String>| wanted.as_deref() == kind;
        let fitting = open.iter().find(|(_, (wanted, _))| same_kind(wanted));
        let Some((at, (_, task))) = fitting.or(open.first()) else { return Ok(None) };
        self.append(&JournalLine::Claim { helper: helper.to_owned(), delegation: *at })?;
        Ok(Some(task.text.clone()))
    }

    /// Notes how far turns were settled or reviewed.
    pub(super) fn mark(&self, line: &JournalLine) -> io::Result<()> {
        let _lock = self.lock()?;
        self.append(line)
    }

    /// Removes the runs of the trace before the one that began at `start`.
    pub(super) fn keep_run_from(&self, start: &str) -> io::Result<()> {
        let _lock = self.lock()?;
        self.spool().keep_from(start)
    }

    /// Removes the file of a session that is over and has nothing left to do.
    pub(super) fn close(&self) -> io::Result<()> {
        let _lock = self.lock()?;
        if self.pending()?.is_empty() {
            self.forget()?;
        }
        Ok(())
    }

    /// Removes the file, whatever it holds.
    pub(super) fn forget(&self) -> io::Result<()> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        for extension in ["lock", "settling", TraceSpool::EXTENSION] {
            // A lock that another process holds stays with that process.
            let _ = fs::remove_file(self.path.with_extension(extension));
        }
        Ok(())
    }

    /// Whether nothing was written for so long that the session must be over.
    pub(super) fn is_forgotten(&self, now_ms: u64) -> bool {
        let modified = fs::metadata(&self.path).and_then(|facts| facts.modified());
        let modified = modified.ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        modified.is_some_and(|at| Duration::from_millis(now_ms).saturating_sub(at) > FORGOTTEN)
    }
}
