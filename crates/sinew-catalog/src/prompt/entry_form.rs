//! The two forms of an entry. The usual one has a line for each field and a whole location. Where
//! descriptions would not survive that, entries take one line each, with the name as an attribute and the
//! description as their text, and locations start from the base
//! paths that are listed once.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::request::{PromptEscapes, PromptSkill};
use super::text::{escaped_units, units};
use crate::SKILL_FILE;

/// What explains the short form to the model, before the block.
pub(super) const SHORT_FORM_NOTE: &str = "`@1`, `@2` … stand for the bases listed first. A skill without `<at>` is at `@1/<name>/SKILL.md`.\n";

/// A base that serves one skill alone would cost more than it saves.
const WORTHWHILE: usize = 2;

/// The markup of an entry, in the order in which it is written.
pub(super) struct EntryMarkup {
    pub(super) open: &'static str,
    pub(super) name_close: &'static str,
    pub(super) description_open: &'static str,
    pub(super) description_close: &'static str,
    pub(super) location_open: &'static str,
    pub(super) location_close: &'static str,
    pub(super) note_open: &'static str,
    pub(super) note_close: &'static str,
    pub(super) close: &'static str,
}

const LINES: EntryMarkup = EntryMarkup {
    open: "  <skill>\n    <name>",
    name_close: "</name>\n",
    description_open: "    <description>",
    description_close: "</description>\n",
    location_open: "    <location>",
    location_close: "</location>\n",
    note_open: "    <location_note>",
    note_close: "</location_note>\n",
    close: "  </skill>\n",
};

const ONE_LINE: EntryMarkup = EntryMarkup {
    open: "<skill name=\"",
    name_close: "\">",
    description_open: "",
    description_close: "",
    location_open: "<at>",
    location_close: "</at>",
    note_open: "<note>",
    note_close: "</note>",
    close: "</skill>\n",
};

/// How entries are written.
pub(super) enum EntryForm<'a> {
    /// A line for each field.
    Lines,
    /// A line for each skill, with the bases of its location.
    OneLine(LocationBases<'a>),
}

impl<'a> EntryForm<'a> {
    /// The short form for these skills; `None` where they share no folder.
    pub(super) fn one_line(skills: &'a [PromptSkill<'a>]) -> Option<Self> {
        let bases = LocationBases::of(skills);
        (!bases.paths.is_empty()).then_some(Self::OneLine(bases))
    }

    pub(super) fn markup(&self) -> &'static EntryMarkup {
        match self {
            Self::Lines => &LINES,
            Self::OneLine(_) => &ONE_LINE,
        }
    }

    /// What the entry says about its location; `None` where it follows from the name.
    pub(super) fn location(&self, skill: &PromptSkill<'a>) -> Option<Cow<'a, str>> {
        match self {
            Self::Lines => Some(Cow::Borrowed(skill.location)),
            Self::OneLine(bases) => bases.relative(skill),
        }
    }

    /// The base paths, each with its word.
    pub(super) fn bases(&self) -> impl Iterator<Item = (usize, &'a str)> + '_ {
        let paths: &[&'a str] = match self {
            Self::Lines => &[],
            Self::OneLine(bases) => &bases.paths,
        };
        paths.iter().enumerate().map(|(at, path)| (at + 1, *path))
    }

    /// The cost of what stands before the entries because of this form.
    pub(super) fn preamble_units(&self, escapes: PromptEscapes) -> usize {
        match self {
            Self::Lines => 0,
            Self::OneLine(_) => {
                let lines = self.bases().map(|(number, path)| {
                    units(&base_open(number)) + escaped_units(path, escapes) + BASE_CLOSE.len()
                });
                units(SHORT_FORM_NOTE) + lines.sum::<usize>()
            }
        }
    }
}

/// The start of a base's line.
pub(super) fn base_open(number: usize) -> String {
    format!("<base id=\"@{number}\">")
}

/// The end of a base's line.
pub(super) const BASE_CLOSE: &str = "</base>\n";

/// The folders that several skills lie in, the most common first.
pub(super) struct LocationBases<'a> {
    paths: Vec<&'a str>,
}

impl<'a> LocationBases<'a> {
    fn of(skills: &'a [PromptSkill<'a>]) -> Self {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for (base, _) in skills.iter().filter_map(|skill| split(skill.location)) {
            *counts.entry(base).or_default() += 1;
        }
        let mut paths: Vec<(&str, usize)> =
            counts.into_iter().filter(|(_, count)| *count >= WORTHWHILE).collect();
        paths.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        Self { paths: paths.into_iter().map(|(path, _)| path).collect() }
    }

    fn relative(&self, skill: &PromptSkill<'a>) -> Option<Cow<'a, str>> {
        let known = split(skill.location).and_then(|(base, rest)| {
            Some((self.paths.iter().position(|path| *path == base)?, rest))
        });
        let Some((at, rest)) = known else { return Some(Cow::Borrowed(skill.location)) };
        let usual = rest.strip_suffix(SKILL_FILE).and_then(|folder| folder.strip_suffix('/'));
        match at == 0 && usual == Some(skill.name) {
            true => None,
            false => Some(Cow::Owned(format!("@{}/{rest}", at + 1))),
        }
    }
}

/// The folder of skills that a location lies in, and the rest of it.
fn split(location: &str) -> Option<(&str, &str)> {
    let file = location.rfind('/')?;
    let end = match &location[file + 1..] == SKILL_FILE {
        true => location[..file].rfind('/')?,
        false => file,
    };
    (end > 0).then(|| (&location[..end], &location[end + 1..]))
}
