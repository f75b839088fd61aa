//! Inventory: each file is typed, decoded, split into spans, and checked for links from
//! instructions.

use std::cell::OnceCell;

use super::bundle::{SkillBundle, is_skill_md};
use super::context::{LineContext, LineContextMap};
use super::decode::DecodeBudget;
use super::filetype::{self, FileContent, ScannedFileKind};
use super::layers::{self, FileLayers};
use super::lines::{LineIndex, TextLines, floor_char_boundary};
use super::role::{self, RoleSpan, TextRole};

/// A file's path, its kind and, if its name says otherwise, what contradicts the name.
pub(crate) type TypedPath = (String, ScannedFileKind, Option<&'static str>);

/// One file that is scanned as text.
#[derive(Debug)]
pub(crate) struct ScannedFile {
    pub(crate) path: String,
    pub(crate) kind: ScannedFileKind,
    pub(crate) text: String,
    pub(crate) index: LineIndex,
    pub(crate) spans: Vec<RoleSpan>,
    pub(crate) layers: FileLayers,
    /// Whether a skill file directs the reader here.
    pub(crate) linked: bool,
    // Only facts need this, and most files have none.
    contexts: OnceCell<LineContextMap>,
}

impl ScannedFile {
    /// Types, splits and decodes one text.
    pub(crate) fn new(
        path: &str,
        kind: ScannedFileKind,
        text: String,
        number: usize,
        linked: bool,
        budget: &mut DecodeBudget,
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

    /// The folded text that rules match.
    pub(crate) fn plain(&self) -> &str {
        &self.layers.list[0].text
    }

    /// The context of a line.
    pub(crate) fn context(&self, line: usize) -> LineContext {
        self.contexts.get_or_init(|| LineContextMap::new(self.plain(), &self.spans)).at(line)
    }

    pub(crate) fn span_at(&self, line: usize) -> &RoleSpan {
        let at = self.spans.partition_point(|span| span.lines.end <= line);
        &self.spans[at.min(self.spans.len() - 1)]
    }

    /// The original line, without its line end.
    pub(crate) fn line(&self, line: usize) -> &str {
        &self.text[self.index.range(&self.text, line)]
    }

    /// At most `length` bytes of the original line, without its line end.
    pub(crate) fn line_up_to(&self, line: usize, length: usize) -> &str {
        let rest = &self.text[self.index.start(&self.text, line)..];
        let cut = floor_char_boundary(rest, length);
        &rest[..memchr::memchr(b'\n', &rest.as_bytes()[..cut]).unwrap_or(cut)]
    }

    pub(crate) fn is_skill_md(&self) -> bool {
        self.kind == ScannedFileKind::SkillMd
    }
}

fn spans_of(
    path: &str,
    kind: ScannedFileKind,
    text: &str,
    index: &LineIndex,
    linked: bool,
    budget: &mut DecodeBudget,
) -> Vec<RoleSpan> {
    let place = place_of(path);
    let mut markdown =
        |prose| role::markdown_spans(text, index, front_lines(text), prose, &mut budget.markdown);
    match kind {
        ScannedFileKind::SkillMd => markdown(TextRole::Instruction),
        ScannedFileKind::Markdown | ScannedFileKind::Text => {
            let prose = match place {
                Some(role) if !(linked && role == TextRole::Reference) => role,
                _ => TextRole::Instruction,
            };
            markdown(prose)
        }
        ScannedFileKind::Data => role::uniform_spans(index, TextRole::Data, true),
        _ => role::uniform_spans(
            index,
            place.filter(|role| *role == TextRole::Test).unwrap_or(TextRole::Code),
            true,
        ),
    }
}

/// Lines from the top of a file within which a front matter must end; anything later is text.
const MAX_FRONT_LINES: usize = 4_000;

/// Lines of the front matter, fences included; 0 if there is none.
pub(crate) fn front_lines(text: &str) -> usize {
    // Skills may open with comments before their front matter.
    let mut lines = TextLines::new(text).take(MAX_FRONT_LINES).enumerate();
    let opened =
        lines.find(|(_, line)| !line.trim().is_empty() && !line.trim().starts_with("<!--"));
    if opened.is_none_or(|(_, line)| line.trim_end() != "---") {
        return 0;
    }
    lines.find(|(_, line)| line.trim_end() == "---").map_or(0, |(number, _)| number + 1)
}

/// The role that a path implies for its text.
fn place_of(path: &str) -> Option<TextRole> {
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
        return Some(TextRole::Test);
    }
    let reference = in_folder(&["references", "reference", "docs", "doc", "resources", "examples"])
        || ["readme", "changelog", "license", "licence", "notice", "contributing", "security"]
            .iter()
            .any(|word| name.starts_with(word));
    reference.then_some(TextRole::Reference)
}

/// All text files of a bundle, and the kind of every file.
pub(crate) fn read(
    bundle: &SkillBundle,
    budget: &mut DecodeBudget,
) -> (Vec<ScannedFile>, Vec<TypedPath>) {
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
                ScannedFileKind::Executable
                    | ScannedFileKind::Library
                    | ScannedFileKind::Bytecode
                    | ScannedFileKind::Archive
                    | ScannedFileKind::Document
                    | ScannedFileKind::FinderData
                    | ScannedFileKind::UnknownBinary
                    | ScannedFileKind::LfsPointer
            );
        if readable && let FileContent::Text(text) = filetype::decode(&file.bytes) {
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

/// Which texts a skill file, or a text linked from it, tells the reader to run, read or follow.
fn links(texts: &[(String, ScannedFileKind, String)]) -> Vec<bool> {
    let mut linked: Vec<bool> = texts.iter().map(|(path, ..)| is_skill_md(path)).collect();
    let mut waiting: Vec<usize> = (0..texts.len()).filter(|at| linked[*at]).collect();
    let mut looked = 0u64;
    while let Some(at) = waiting.pop() {
        let text = &texts[at].2;
        // A text this large links nothing a person would follow, and skipping it keeps the work
        // linear.
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
