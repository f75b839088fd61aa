//! Skills that are in use in a session, and how they come back when the agent shortened its conversation:
//! what was brought or opened before is gone from it then.

use std::fmt::Write as _;

use sinew_catalog::{Catalog, CatalogEntry};
use sinew_guard::Untrusted;
use sinew_guard::own_frames::{SESSION_FRAME, framed};
use sinew_settings::config::BringMode;
use sinew_settings::path_text;

use super::context;
use super::event::HookEvent;
use super::journal_line::{JournalLine, JournalLines};
use super::kept;
use super::offer::{OfferKind, SkillOffer, body_of, may_come, offer_id};
use super::settlement;
use super::skill_text::SkillText;
use crate::{Engine, EngineError};

/// Skills that come back; the last ones used.
const MAX_IN_USE: usize = 3;
/// Characters of all their texts: they come back shortened, beside the index.
const MAX_TEXT: usize = 4_500;

/// Characters for a skill's name and location, and for the sentences around its text.
const HEADING_ROOM: usize = 400;

/// Bytes of a character in most of the scripts that take many.
const WIDEST_BYTES: usize = 3;

/// What a shortened conversation gets back.
#[derive(Debug, Default)]
pub(super) struct SkillsInUse {
    pub(super) text: String,
    pub(super) offers: Vec<SkillOffer>,
}

/// Why a session begins in the middle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SessionReturn {
    /// The agent has shortened its conversation: texts that were given are gone.
    Compacted,
    /// The agent goes on with a conversation that it kept.
    Resumed,
    /// The user began anew.
    Cleared,
}

impl HookEvent {
    /// The skills that were in use before the conversation was shortened, with the beginnings of their
    /// texts; only their names where the agent goes on with the conversation as it was.
    pub(super) fn skills_in_use(
        &self,
        engine: &Engine,
        catalog: &Catalog,
    ) -> Result<SkillsInUse, EngineError> {
        let Some(why) = self.input.session_return() else { return Ok(SkillsInUse::default()) };
        let journal = self.journal(&engine.env);
        let lines = journal.lines().map_err(kept)?;
        // An agent that shortened its conversation twice before it went on says so twice.
        if why == SessionReturn::Compacted && lines.has_just_been_shortened() {
            return Ok(SkillsInUse::default());
        }
        if why != SessionReturn::Resumed && !lines.0.is_empty() {
            journal.mark(&JournalLine::Compacted { owed: false }).map_err(kept)?;
        }
        let entries = || entries_in_use(engine, catalog, &lines, &[]);
        let back = match why {
            SessionReturn::Compacted => brought_back(engine, &entries(), self.room()),
            SessionReturn::Resumed if engine.config.hook.bring == BringMode::Off => {
                SkillsInUse::default()
            }
            SessionReturn::Resumed => by_name(&entries()),
            SessionReturn::Cleared => SkillsInUse::default(),
        };
        self.keep_offers(engine, back)
    }

    /// The same with the first message after the conversation was shortened, for agents that do not
    /// begin a session then. What the message itself brings is not brought twice.
    pub(super) fn skills_owed(
        &self,
        engine: &Engine,
        catalog: &Catalog,
        lines: &JournalLines,
        room: usize,
        brought: &[&str],
    ) -> Result<SkillsInUse, EngineError> {
        if !lines.owes_skills() {
            return Ok(SkillsInUse::default());
        }
        self.journal(&engine.env).mark(&JournalLine::Returned).map_err(kept)?;
        let entries = entries_in_use(engine, catalog, lines, brought);
        let mut back = brought_back(engine, &entries, room.min(self.room()));
        if !back.text.is_empty() {
            back.text = framed(SESSION_FRAME, back.text.trim());
        }
        self.keep_offers(engine, back)
    }

    /// Characters of all texts that come back; of an agent that counts bytes, so few that any script fits.
    fn room(&self) -> usize {
        self.host.most_bytes.map_or(MAX_TEXT, |bytes| MAX_TEXT.min(bytes / WIDEST_BYTES))
    }

    fn keep_offers(
        &self,
        engine: &Engine,
        mut back: SkillsInUse,
    ) -> Result<SkillsInUse, EngineError> {
        let journal = self.journal(&engine.env);
        let at = engine.env.clock.now_ms();
        let id = offer_id(self.host.name, &self.session, at, "in use");
        for offer in &mut back.offers {
            (offer.offer, offer.at) = (id.clone(), at);
            journal.mark(&JournalLine::Offer(offer.clone())).map_err(kept)?;
        }
        Ok(back)
    }
}

/// The skills that were brought or opened, the last ones first.
fn entries_in_use<'c>(
    engine: &Engine,
    catalog: &'c Catalog,
    lines: &JournalLines,
    but: &[&str],
) -> Vec<&'c CatalogEntry> {
    let mut entries: Vec<&CatalogEntry> = Vec::new();
    for line in lines.0.iter().rev() {
        let entry = match line {
            JournalLine::Offer(offer) if offer.how.brought_text() && offer.helper.is_none() => {
                catalog.unshadowed().find(|entry| entry.name == offer.skill)
            }
            JournalLine::Step { call, .. } if call.subagent.is_none() => call
                .used
                .as_ref()
                .and_then(|used| settlement::entry(catalog, used, engine.workspace())),
            _ => None,
        };
        let is_new = |entry: &&CatalogEntry| {
            !but.contains(&entry.name.as_str()) && !entries.iter().any(|one| one.name == entry.name)
        };
        let fits = entry.filter(|entry| may_come(entry)).filter(is_new);
        entries.extend(fits);
        if entries.len() == MAX_IN_USE {
            break;
        }
    }
    entries
}

/// As much of the skills as `hook.bring` lets come.
fn brought_back(engine: &Engine, entries: &[&CatalogEntry], room: usize) -> SkillsInUse {
    match engine.config.hook.bring {
        BringMode::Body => with_beginnings(entries, room),
        BringMode::Pointer => by_name(entries),
        BringMode::Off => SkillsInUse::default(),
    }
}

fn with_beginnings(entries: &[&CatalogEntry], room: usize) -> SkillsInUse {
    let mut back = SkillsInUse::default();
    let room = (room / entries.len().max(1)).saturating_sub(HEADING_ROOM);
    for entry in entries {
        let text = body_of(entry).ok().and_then(|body| SkillText::of(&body, room));
        let Some(text) = text else { continue };
        let how = if text.cut.is_some() { OfferKind::Head } else { OfferKind::Text };
        let before = back.text.chars().count();
        let _ = writeln!(back.text, "{}", heading(entry));
        context::write_text(&mut back.text, &text);
        back.offers.push(offer(entry, how, back.text.chars().count() - before));
    }
    if !back.text.is_empty() {
        back.text.insert_str(
            0,
            "Skills that were in use before this conversation was shortened come back here:\n",
        );
    }
    back
}

fn by_name(entries: &[&CatalogEntry]) -> SkillsInUse {
    let mut back = SkillsInUse::default();
    for entry in entries {
        let line = format!("{}\n", heading(entry));
        back.offers.push(offer(entry, OfferKind::Again, line.chars().count()));
        back.text.push_str(&line);
    }
    if !back.text.is_empty() {
        back.text.insert_str(0, "Skills that were in use in this session:\n");
    }
    back
}

fn heading(entry: &CatalogEntry) -> String {
    let field = |text: &str| Untrusted::new(text).for_prompt_xml().replace(['\n', '\t'], " ");
    format!(
        "<skill><name>{}</name> <location>{}</location></skill>",
        field(&entry.name),
        field(&path_text(&entry.file_path))
    )
}

fn offer(entry: &CatalogEntry, how: OfferKind, chars: usize) -> SkillOffer {
    SkillOffer {
        offer: String::new(),
        at: 0,
        skill: entry.name.clone(),
        digest: entry.content_hash.clone(),
        how,
        chars,
        helper: None,
    }
}
