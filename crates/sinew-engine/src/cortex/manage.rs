//! Inspecting and correcting the memory: overview, lessons, blacklist, reset, prune, rebuild, retract.

use serde::Serialize;
use sinew_cortex::explain::{CandidateView, LessonView, candidate_views};
use sinew_cortex::lesson::Lesson;
use sinew_cortex::memory::{BlacklistedSkill, CortexMemory, CortexStats};
use sinew_cortex::prune::{self, PruneRemoval};
use sinew_cortex::record::{
    BlacklistOp, ForgetScope, LessonOp, ReadOnlyDeclaration, ReadOnlyOp, RecordBody,
};
use sinew_cortex::signals::clean_detail;
use sinew_cortex::{Ulid, UtcDay, UtcInstant};
use sinew_settings::{Actor, ErrorCode};

use super::Cortex;
use crate::EngineError;

/// Everything that is remembered, for display.
#[derive(Debug, Clone, Serialize)]
pub struct CortexOverview {
    /// The regions, latest use first.
    pub regions: Vec<RegionRow>,
    /// How many lessons there are.
    pub lessons: usize,
    /// Skills that are never offered.
    pub blacklist: Vec<String>,
    /// Skills that a person kept.
    pub retained: Vec<String>,
    /// The counters.
    pub stats: CortexStats,
    /// Records in the log.
    pub records: u64,
}

/// One region.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RegionRow {
    /// The region.
    pub region: String,
    /// Its signals.
    pub signals: Vec<String>,
    /// When any of its skills was last used.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub last_used: UtcDay,
    /// Its candidates in the policy's order.
    pub candidates: Vec<CandidateView>,
}

/// One lesson with its number, by which it is named.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct LessonRow {
    /// Its number, counted from 1.
    pub number: usize,
    /// The lesson.
    #[serde(flatten)]
    pub lesson: LessonView,
    /// How often it was wrong.
    pub contradicted: u32,
}

/// A person's word that a skill only reads on this machine.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ReadOnlyRow {
    /// The skill.
    pub skill: String,
    /// The digest of exactly these files; any other ends it.
    pub digest: String,
    /// Who said so.
    pub who: String,
    /// Since when.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub since: UtcInstant,
    /// What its uses were seen to change. Where there is anything, that counts instead.
    pub contradicted: Vec<String>,
}

/// What pruning removes, or would.
#[derive(Debug, Clone, Serialize)]
pub struct PruneReport {
    /// What is removed, and why.
    pub removed: Vec<PruneRemoval>,
    /// Whether it was removed.
    pub done: bool,
}

/// What folding the log anew gave.
#[derive(Debug, Clone, Serialize)]
pub struct RebuildReport {
    /// Records in the log.
    pub records: u64,
    /// Regions that came out.
    pub regions: usize,
    /// Whether the memory that was in use said the same.
    pub agreed: bool,
}

impl Cortex<'_> {
    /// Everything that is remembered, or one region.
    pub fn overview(&self, region: Option<&str>) -> Result<CortexOverview, EngineError> {
        let overview = self.with_memory(|memory| self.overview_of(memory, region))?;
        match region {
            Some(name) if overview.regions.is_empty() => Err(self.unknown_region(name)?),
            _ => Ok(overview),
        }
    }

    fn overview_of(&self, memory: &CortexMemory, wanted: Option<&str>) -> CortexOverview {
        let today = self.now().day();
        let found =
            memory.motor.iter().filter(|(name, _)| wanted.is_none_or(|wanted| wanted == *name));
        let mut regions: Vec<RegionRow> = found
            .map(|(name, region)| RegionRow {
                region: name.clone(),
                signals: match memory.pattern(name) {
                    Some(pattern) => pattern.signals.iter().map(|s| s.word.clone()).collect(),
                    None => Vec::new(),
                },
                last_used: region.last_used,
                candidates: candidate_views(memory, name, today, self.policy()),
            })
            .collect();
        regions.sort_by(|a, b| b.last_used.cmp(&a.last_used).then_with(|| a.region.cmp(&b.region)));
        let retained = memory.retained.iter().map(|kept| kept.slug.clone());
        CortexOverview {
            regions,
            lessons: memory.lessons.len(),
            blacklist: memory.blacklist.iter().map(|listed| listed.slug.clone()).collect(),
            retained: retained.collect(),
            stats: memory.stats,
            records: memory.records,
        }
    }

    fn unknown_region(&self, name: &str) -> Result<EngineError, EngineError> {
        let known: Vec<String> =
            self.with_memory(|memory| memory.motor.keys().cloned().collect())?;
        let error =
            EngineError::new(ErrorCode::UnknownRegion, format!("there is no region `{name}`"));
        let near = sinew_settings::nearest(name, known.iter().map(String::as_str));
        Ok(match near.first() {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None => error.hint("`sinew cortex show` lists the regions there are"),
        })
    }

    /// The lessons, oldest first.
    pub fn lessons(&self) -> Result<Vec<LessonRow>, EngineError> {
        let today = self.now().day();
        self.with_memory(|memory| {
            let numbered = memory.lessons.iter().enumerate();
            let rows = numbered.map(|(at, held)| LessonRow {
                number: at + 1,
                lesson: LessonView::of(held, today, self.policy()),
                contradicted: held.contradicted,
            });
            rows.collect()
        })
    }

    /// Forgets a lesson, or says that it was right or wrong. An agent cannot: it would rid itself of
    /// what warns the others.
    pub fn judge_lesson(
        &self,
        number: usize,
        op: LessonOp,
        by: &Actor,
    ) -> Result<LessonRow, EngineError> {
        check_judge(by)?;
        let rows = self.lessons()?;
        let row = number.checked_sub(1).and_then(|at| rows.get(at)).cloned().ok_or_else(|| {
            EngineError::new(ErrorCode::UnknownLesson, format!("there is no lesson {number}"))
                .hint("`sinew cortex lessons` shows their numbers")
        })?;
        let lesson: Lesson = row.lesson.lesson.clone();
        self.append(self.now(), vec![RecordBody::Lesson { op, lesson, evidence: Vec::new() }])?;
        self.mirror();
        Ok(row)
    }

    /// Skills that are never offered.
    pub fn blacklist(&self) -> Result<Vec<BlacklistedSkill>, EngineError> {
        self.with_memory(|memory| memory.blacklist.clone())
    }

    /// Never offers a skill again; `false` when that was so already. An agent cannot.
    pub fn blacklist_add(
        &self,
        slug: &str,
        reason: Option<&str>,
        by: &Actor,
    ) -> Result<bool, EngineError> {
        check_hider(by)?;
        let slug = super::record::checked_name("skill", slug)?;
        if self.with_memory(|memory| memory.is_blacklisted(&slug))? {
            return Ok(false);
        }
        let reason = reason.map(|reason| clean_detail(reason, self.engine.vocabulary()));
        let reason = reason.filter(|reason| !reason.is_empty());
        self.append(
            self.now(),
            vec![RecordBody::Blacklist { op: BlacklistOp::Add, slug, reason }],
        )?;
        self.mirror();
        Ok(true)
    }

    /// Lets a skill be offered again; `false` when it was not blacklisted. An agent cannot.
    pub fn blacklist_remove(&self, slug: &str, by: &Actor) -> Result<bool, EngineError> {
        check_hider(by)?;
        if !self.with_memory(|memory| memory.is_blacklisted(slug))? {
            return Ok(false);
        }
        let op = BlacklistOp::Remove;
        let body = RecordBody::Blacklist { op, slug: slug.to_owned(), reason: None };
        self.append(self.now(), vec![body])?;
        self.mirror();
        Ok(true)
    }

    /// What people declared read-only on this machine, oldest first.
    pub fn read_only(&self) -> Result<Vec<ReadOnlyRow>, EngineError> {
        let mut rows: Vec<ReadOnlyRow> = self.with_memory(|memory| {
            let declared = memory.read_only.iter();
            let row = declared.map(|(digest, declared)| ReadOnlyRow {
                skill: declared.slug.clone(),
                digest: digest.clone(),
                who: declared.who.clone(),
                since: declared.since,
                contradicted: memory.contradictions(digest).to_vec(),
            });
            row.collect()
        })?;
        rows.sort_by(|a, b| a.since.cmp(&b.since).then_with(|| a.digest.cmp(&b.digest)));
        Ok(rows)
    }

    /// A person says that exactly these files only read on this machine; `false` when that was said
    /// already. Without a digest it is the files of the skill that were used last. An agent cannot.
    pub fn declare_read_only(
        &self,
        slug: &str,
        digest: Option<&str>,
        by: &Actor,
    ) -> Result<bool, EngineError> {
        check_declarer(by)?;
        let slug = super::record::checked_name("skill", slug)?;
        let known = self.with_memory(|memory| {
            let live = memory.motor.values().flat_map(|region| &region.candidates);
            let kept = memory.retained.iter().map(|kept| &kept.candidate);
            let mut used: Vec<_> = live.chain(kept).filter(|used| used.slug == slug).collect();
            used.sort_by_key(|used| used.last_used);
            (!used.is_empty(), used.iter().rev().find_map(|used| used.digest.clone()))
        })?;
        let digest = match (digest, known) {
            (Some(digest), _) => super::record::checked_name("digest", digest)?,
            (None, (true, Some(digest))) => digest,
            (None, (true, None)) => {
                let message = format!("which files of {slug} were used is not known");
                return Err(EngineError::new(ErrorCode::BadDigest, message)
                    .hint("name them: slug@sha256:…, as `sinew info` shows them"));
            }
            (None, (false, _)) => return Err(unknown_skill(&slug)),
        };
        if self.with_memory(|memory| memory.read_only.contains_key(&digest))? {
            return Ok(false);
        }
        let (op, who) = (ReadOnlyOp::Declare, by.to_string());
        let declared = ReadOnlyDeclaration { op, slug, digest, who };
        self.append(self.now(), vec![RecordBody::ReadOnly(declared)])?;
        Ok(true)
    }

    /// Takes such a word back, for one digest or for all of a skill; `false` when there was none. An
    /// agent cannot.
    pub fn revoke_read_only(
        &self,
        slug: &str,
        digest: Option<&str>,
        by: &Actor,
    ) -> Result<bool, EngineError> {
        check_declarer(by)?;
        let declared = self
            .read_only()?
            .into_iter()
            .filter(|row| row.skill == slug && digest.is_none_or(|digest| row.digest == digest));
        let bodies: Vec<RecordBody> = declared
            .map(|row| {
                RecordBody::ReadOnly(ReadOnlyDeclaration {
                    op: ReadOnlyOp::Revoke,
                    slug: row.skill,
                    digest: row.digest,
                    who: by.to_string(),
                })
            })
            .collect();
        let any = !bodies.is_empty();
        if any {
            self.append(self.now(), bodies)?;
        }
        Ok(any)
    }

    /// Forgets what came before, in a scope. The log keeps it.
    pub fn reset(&self, scope: ForgetScope) -> Result<(), EngineError> {
        match &scope {
            ForgetScope::All => {}
            ForgetScope::Region(name) => {
                let known = self.with_memory(|memory| {
                    memory.motor.contains_key(name) || memory.pattern(name).is_some()
                })?;
                if !known {
                    return Err(self.unknown_region(name)?);
                }
            }
            ForgetScope::Slug(slug) => {
                let known = self.with_memory(|memory| {
                    let live = memory.motor.values().flat_map(|region| &region.candidates);
                    let kept = memory.retained.iter().map(|kept| &kept.candidate);
                    live.chain(kept).any(|candidate| candidate.slug == *slug)
                })?;
                if !known {
                    return Err(unknown_skill(slug));
                }
            }
        }
        self.append(self.now(), vec![RecordBody::Reset { scope }])?;
        self.mirror();
        Ok(())
    }

    /// Prunes now, or reports what pruning would remove.
    pub fn prune(&self, dry_run: bool) -> Result<PruneReport, EngineError> {
        let today = self.now().day();
        let removed =
            self.with_memory(|memory| prune::due_removals(memory, today, self.policy(), None))?;
        let done = !dry_run && !removed.is_empty();
        if done {
            self.append(self.now(), vec![RecordBody::Prune { removed: removed.clone() }])?;
            self.mirror();
        }
        Ok(PruneReport { removed, done })
    }

    /// Folds the whole log anew.
    pub fn rebuild(&self) -> Result<RebuildReport, EngineError> {
        let (memory, agreed) = self.refold()?;
        self.mirror();
        Ok(RebuildReport { records: memory.records, regions: memory.motor.len(), agreed })
    }

    /// Takes a record back: a person says that it was wrong.
    pub fn retract(&self, target: Ulid) -> Result<(), EngineError> {
        self.append(self.now(), vec![RecordBody::Retract { target }])?;
        self.mirror();
        Ok(())
    }
}

pub(super) fn unknown_skill(slug: &str) -> EngineError {
    EngineError::new(ErrorCode::UnknownSkill, format!("nothing is remembered of `{slug}`"))
        .hint("`sinew cortex show` lists what is remembered")
}

/// What is remembered decides what goes ahead unasked, so no agent brings a memory of its own.
pub(super) fn check_importer(by: &Actor) -> Result<(), EngineError> {
    match by {
        Actor::Agent { .. } => {
            let message = "only a person can import a memory";
            Err(EngineError::new(ErrorCode::NeedsPerson, message)
                .hint("run `sinew cortex import` in a terminal"))
        }
        Actor::Person { .. } | Actor::System => Ok(()),
    }
}

/// What skips the question about its plan is a person's choice.
fn check_declarer(by: &Actor) -> Result<(), EngineError> {
    match by {
        Actor::Agent { .. } => {
            let message = "only a person can say that a skill only reads, or take it back";
            Err(EngineError::new(ErrorCode::NeedsPerson, message)
                .hint("do it on the dashboard, or with `sinew cortex read-only` in a terminal"))
        }
        Actor::Person { .. } | Actor::System => Ok(()),
    }
}

/// Agents learn lessons by what they report; which of them hold is a person's choice.
fn check_judge(by: &Actor) -> Result<(), EngineError> {
    match by {
        Actor::Agent { .. } => {
            let message = "only a person can say that a lesson is right or wrong, or forget it";
            Err(EngineError::new(ErrorCode::NeedsPerson, message)
                .hint("run `sinew cortex lessons` in a terminal"))
        }
        Actor::Person { .. } | Actor::System => Ok(()),
    }
}

/// What is never offered is a person's choice.
fn check_hider(by: &Actor) -> Result<(), EngineError> {
    match by {
        Actor::Agent { .. } => {
            let message = "only a person can hide a skill, or show it again";
            Err(EngineError::new(ErrorCode::NeedsPerson, message)
                .hint("do it on the dashboard, or with `sinew cortex blacklist` in a terminal"))
        }
        Actor::Person { .. } | Actor::System => Ok(()),
    }
}
