//! Inventory: each file typed, decoded, split into spans and linked to what tells people to use it.

use std::cell::OnceCell;

use super::bundle::{Bundle, is_skill_md};
use super::context::{Context, Contexts};
use super::decode::Budget;
use super::filetype::{self, Content, Kind};
use super::layers::{self, Layers};
use super::lines::{LineIndex, Lines, floor};
use super::role::{self, Role, Span};

/// A file's path, its kind and, where its name says something else, what speaks against it.
pub(crate) type Typed = (String, Kind, Option<&'static str>);

/// One file that is read as text.
#[derive(Debug)]
pub(crate) struct ScannedFile {
    pub(crate) path: String,
    pub(crate) kind: Kind,
    pub(crate) text: String,
    pub(crate) index: LineIndex,
    pub(crate) spans: Vec<Span>,
    pub(crate) layers: Layers,
    /// Whether a skill file sends the reader here.
    pub(crate) linked: bool,
    // Asked for by facts alone, and most files have none.
    contexts: OnceCell<Contexts>,
}

impl ScannedFile {
    /// Types, splits and decodes one text.
    pub(crate) fn new(
        path: &str,
        kind: Kind,
        text: String,
        number: usize,
        linked: bool,
        budget: &mut Budget,
    ) -> Self {
        let index = LineIndex::new(&text);
        let spans = spans_of(path, kind, &text, &index, linked, budget);
        let layers = layers::build(&text, &index, &spans, number, budget);
        Self {
            path: path.to_owned(),
            kind,
            text,
            index,
            spans,
            layers,
            linked,
            contexts: OnceCell::new(),
        }
    }

    /// The text as rules read it.
    pub(crate) fn plain(&self) -> &str {
        &self.layers.list[0].text
    }

    /// What surrounds a line.
    pub(crate) fn context(&self, line: usize) -> Context {
        self.contexts.get_or_init(|| Contexts::new(self.plain(), &self.spans)).at(line)
    }

    pub(crate) fn span_at(&self, line: usize) -> &Span {
        let at = self.spans.partition_point(|span| span.lines.end <= line);
        &self.spans[at.min(self.spans.len() - 1)]
    }

    /// The original line, without its end.
    pub(crate) fn line(&self, line: usize) -> &str {
        &self.text[self.index.range(&self.text, line)]
    }

    /// The original line, without its end, or so much of it.
    pub(crate) fn line_up_to(&self, line: usize, length: usize) -> &str {
        let rest = &self.text[self.index.start(&self.text, line)..];
        let cut = floor(rest, length);
        &rest[..memchr::memchr(b'\n', &rest.as_bytes()[..cut]).unwrap_or(cut)]
    }

    pub(crate) fn is_skill_md(&self) -> bool {
        self.kind == Kind::SkillMd
    }
}

fn spans_of(
    path: &str,
    kind: Kind,
    text: &str,
    index: &LineIndex,
    linked: bool,
    budget: &mut Budget,
) -> Vec<Span> {
    let place = place_of(path);
    let mut markdown =
        |prose| role::markdown(text, index, front_lines(text), prose, &mut budget.markdown);
    match kind {
        Kind::SkillMd => markdown(Role::Instruction),
        Kind::Markdown | Kind::Text => {
            let prose = match place {
                Some(role) if !(linked && role == Role::Reference) => role,
                _ => Role::Instruction,
            };
            markdown(prose)
        }
        Kind::Data => role::uniform(index, Role::Data, true),
        _ => role::uniform(
            index,
            place.filter(|role| *role == Role::Test).unwrap_or(Role::Code),
            true,
        ),
    }
}

/// Lines from the top of a file within which a front matter ends; what comes later is text.
const MAX_FRONT_LINES: usize = 4_000;

/// Lines of the front matter, fences included; 0 where there is none.
pub(crate) fn front_lines(text: &str) -> usize {
    // Skills may open with comments before their front matter.
    let mut lines = Lines::new(text).take(MAX_FRONT_LINES).enumerate();
    let opened =
        lines.find(|(_, line)| !line.trim().is_empty() && !line.trim().starts_with("<!--"));
    if opened.is_none_or(|(_, line)| line.trim_end() != "---") {
        return 0;
    }
    lines.find(|(_, line)| line.trim_end() == "---").map_or(0, |(number, _)| number + 1)
}

/// The role a path gives to what lies there.
fn place_of(path: &str) -> Option<Role> {
    let path = path.to_ascii_lowercase();
    let name = path.rsplit('/').next().unwrap_or(&path);
    let in_folder =
        |folders: &[&str]| path.split('/').rev().skip(1).any(|part| folders.contains(&part));
    if in_folder(&["tests", "test", "fixtures", "__tests__", "testdata"])
        || name.contains("_test.")
        || name.contains(".spec.")
        || name.contains(".test.")
        || name.starts_with("test_")
    {
        return Some(Role::Test);
    }
    let reference = in_folder(&["references", "reference", "docs", "doc", "resources", "examples"])
        || ["readme", "changelog", "license", "licence", "notice", "contributing", "security"]
            .iter()
            .any(|word| name.starts_with(word));
    reference.then_some(Role::Reference)
}

/// All text files of a bundle, and the kind of every file.
pub(crate) fn read(bundle: &Bundle, budget: &mut Budget) -> (Vec<ScannedFile>, Vec<Typed>) {
    let kinds: Vec<_> = bundle
        .files()
        .iter()
        .map(|file| {
            let (kind, mismatch) = filetype::kind_of(&file.path, &file.bytes);
            (file.path.clone(), kind, mismatch)
        })
        .collect();
    let mut texts = Vec::new();
    for (file, (path, kind, _)) in bundle.files().iter().zip(&kinds) {
        let readable = !kind.is_inert()
            && !matches!(
                kind,
                Kind::Executable
                    | Kind::Library
                    | Kind::Bytecode
                    | Kind::Archive
                    | Kind::Document
                    | Kind::UnknownBinary
                    | Kind::LfsPointer
            );
        if readable && let Content::Text(text) = filetype::decode(&file.bytes) {
            texts.push((path.clone(), *kind, text));
        }
    }
    let linked = links(&texts);
    let files = texts
        .into_iter()
        .zip(linked)
        .enumerate()
        .map(|(number, ((path, kind, text), linked))| {
            ScannedFile::new(&path, kind, text, number, linked, budget)
        })
        .collect();
    (files, kinds)
}

/// Which texts a skill file, or a text that it links, tells people to run, read or follow.
fn links(texts: &[(String, Kind, String)]) -> Vec<bool> {
    let mut linked: Vec<bool> = texts.iter().map(|(path, ..)| is_skill_md(path)).collect();
    let mut waiting: Vec<usize> = (0..texts.len()).filter(|at| linked[*at]).collect();
    let mut looked = 0u64;
    while let Some(at) = waiting.pop() {
        let text = &texts[at].2;
        // A text this large links nothing a person would follow; and the work stays linear.
        if text.len() > 1_000_000 {
            continue;
        }
        for (other, (path, ..)) in texts.iter().enumerate() {
            looked += text.len() as u64 / 64;
            if linked[other] || looked > 10_000_000 {
                continue;
            }
            let name = path.rsplit('/').next().unwrap_or(path);
            if name.len() > 3 && text.contains(name) {
                linked[other] = true;
                waiting.push(other);
            }
        }
    }
    linked
}
