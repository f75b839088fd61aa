//! Spans: which part of a file is prose, command, code, quotation or comment.
//!
//! Markdown is parsed with byte ranges; every line of a file ends up in exactly one [`RoleSpan`].
//! No input makes a line disappear: lines that the parser does not cover get the role of the file
//! as a whole.

use std::ops::Range;

use memchr::{memchr, memchr3_iter};
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::lines::{LineIndex, TextLines, count_ends};

/// Larger Markdown was not written by a person; it is split only at fences, in one pass.
const MAX_PARSED_MARKDOWN: usize = 512 * 1024;
/// Quote and list markers that one line may start with: real text does not nest deeper, and depth
/// costs time.
const MAX_MARKERS: usize = 64;
/// Spans of a file that is split only at fences; everything after the last one is one span.
const MAX_FENCE_SPANS: usize = 50_000;

/// What a stretch of text is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum TextRole {
    Frontmatter,
    Instruction,
    Command,
    Code,
    Comment,
    HiddenComment,
    Quoted,
    Pattern,
    Reference,
    Test,
    Data,
    Structure,
}

impl TextRole {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Frontmatter => "frontmatter",
            Self::Instruction => "instruction",
            Self::Command => "command",
            Self::Code => "code",
            Self::Comment => "comment",
            Self::HiddenComment => "hidden-comment",
            Self::Quoted => "quoted",
            Self::Pattern => "pattern",
            Self::Reference => "reference",
            Self::Test => "test",
            Self::Data => "data",
            Self::Structure => "structure",
        }
    }
}

/// A run of lines with one role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RoleSpan {
    /// Lines, from 0.
    pub(crate) lines: Range<usize>,
    pub(crate) role: TextRole,
    /// Paragraph, list item or fence, numbered within the file.
    pub(crate) block: u32,
    /// Heading section, numbered within the file.
    pub(crate) section: u32,
    /// Whether the text is code in the wide sense: commands, scripts, configuration.
    pub(crate) code: bool,
}

/// Splits Markdown; the first `front_lines` lines are front matter. `left` is how many more bytes
/// of this skill may be parsed.
pub(crate) fn markdown_spans(
    text: &str,
    index: &LineIndex,
    front_lines: usize,
    prose: TextRole,
    left: &mut usize,
) -> Vec<RoleSpan> {
    if text.len() > MAX_PARSED_MARKDOWN.min(*left) {
        return fences_only(text, index, front_lines, prose);
    }
    *left -= text.len();
    let mut marks = LineRoles::new(index.len(), prose);
    for line in 0..front_lines.min(index.len()) {
        marks.set(line, TextRole::Frontmatter, 0, true);
    }
    let body_at = index.start(text, front_lines);
    parse(&MarkdownBody { text, index, offset: body_at }, &mut marks);
    marks.into_spans(front_lines)
}

/// One role for a whole file that is not Markdown.
pub(crate) fn uniform_spans(index: &LineIndex, role: TextRole, code: bool) -> Vec<RoleSpan> {
    vec![RoleSpan { lines: 0..index.len(), role, block: 0, section: 0, code }]
}

struct LineRoles {
    lines: Vec<(TextRole, u32, u32, bool)>,
    block: u32,
    section: u32,
    prose: TextRole,
}

impl LineRoles {
    fn new(lines: usize, prose: TextRole) -> Self {
        Self { lines: vec![(prose, 0, 0, false); lines], block: 0, section: 0, prose }
    }

    fn set(&mut self, line: usize, role: TextRole, block: u32, code: bool) {
        let section = self.section;
        if let Some(mark) = self.lines.get_mut(line) {
            *mark = (role, block, section, code);
        }
    }

    fn fill(&mut self, lines: Range<usize>, role: TextRole, code: bool) {
        self.block += 1;
        let block = self.block;
        for line in lines {
            self.set(line, role, block, code);
        }
    }

    fn into_spans(self, front_lines: usize) -> Vec<RoleSpan> {
        let mut spans: Vec<RoleSpan> = Vec::new();
        let mut section = 0;
        for (line, (role, block, own_section, code)) in self.lines.into_iter().enumerate() {
            // Lines that no block covers (blank ones) belong to the surrounding section.
            section = section.max(own_section);
            let own_section = if line < front_lines { 0 } else { section };
            match spans.last_mut() {
                Some(last)
                    if last.role == role
                        && last.block == block
                        && last.section == own_section
                        && last.code == code =>
                {
                    last.lines.end = line + 1;
                }
                _ => spans.push(RoleSpan {
                    lines: line..line + 1,
                    role,
                    block,
                    section: own_section,
                    code,
                }),
            }
        }
        spans
    }
}

/// The same bytes without inline markup: links, emphasis, tags, entities. Only blocks are needed,
/// and unmatched inline markup is what makes a parser slow.
fn without_inline(body: &str) -> String {
    let mut out = String::with_capacity(body.len());
    for (number, line) in TextLines::new(body).enumerate() {
        if number > 0 {
            out.push('\n');
        }
        let start = out.len();
        let marker = |b: &u8| b.is_ascii_digit() || b" \t>-+*.)#".contains(b);
        let lead = line.bytes().take(MAX_MARKERS).take_while(|b| marker(b)).count();
        // A tag at the start of a line may start a block.
        let tag = if line[lead..].starts_with("<!--") { 4 } else { 1 };
        let lead = if line[lead..].starts_with('<') { lead + tag } else { lead };
        let (lead, content) = line.split_at(lead);
        out.push_str(lead);
        if content.trim_matches(['_', ' ', '\t', '\r']).is_empty() {
            out.push_str(content);
            continue;
        }
        let mut rest = content;
        while let Some(at) = rest.find(['[', ']', '*', '_', '!', '<', '>', '&', '\\']) {
            out.push_str(&rest[..at]);
            rest = &rest[at..];
            let length = if rest.starts_with("<!--") {
                4
            } else {
                usize::from(out.ends_with("--") && rest.starts_with('>'))
            };
            out.push_str(if length > 0 { &rest[..length] } else { "x" });
            rest = &rest[length.max(1)..];
        }
        out.push_str(rest);
        debug_assert_eq!(out.len() - start, line.len());
    }
    out
}

/// A body and its position in the file.
struct MarkdownBody<'a> {
    text: &'a str,
    index: &'a LineIndex,
    offset: usize,
}

impl MarkdownBody<'_> {
    fn lines_of(&self, range: &Range<usize>) -> Range<usize> {
        let line_of = |byte: usize| self.index.line_of(self.text, self.offset + byte);
        let first = line_of(range.start);
        first..line_of(range.end.saturating_sub(1).max(range.start)) + 1
    }
}

fn parse(source: &MarkdownBody<'_>, marks: &mut LineRoles) {
    let body = &source.text[source.offset..];
    let blocks = without_inline(body);
    let options = Options::ENABLE_TABLES;
    let mut quote_depth = 0usize;
    let mut item_depth = 0usize;
    let mut quoted_table = false;
    let mut in_head = false;
    let mostly_quoted = is_mostly_quoted(body);
    for (event, range) in Parser::new_ext(&blocks, options).into_offset_iter() {
        let lines = source.lines_of(&range);
        match event {
            Event::Start(Tag::Heading { .. }) => {
                marks.section += 1;
                let prose = marks.prose;
                marks.fill(lines, prose, false);
            }
            Event::Start(Tag::BlockQuote(_)) => {
                quote_depth += 1;
                if quote_depth == 1 {
                    let text = &body[range];
                    let is_order = mostly_quoted || is_addressed(text);
                    let role = if is_order { marks.prose } else { TextRole::Quoted };
                    marks.fill(lines, role, false);
                }
            }
            Event::End(TagEnd::BlockQuote(_)) => quote_depth = quote_depth.saturating_sub(1),
            Event::Start(Tag::Item) => {
                item_depth += 1;
                if quote_depth == 0 {
                    let prose = marks.prose;
                    marks.fill(lines, prose, false);
                }
            }
            Event::End(TagEnd::Item) => item_depth = item_depth.saturating_sub(1),
            Event::Start(Tag::Paragraph) if item_depth == 0 && quote_depth == 0 => {
                let prose = marks.prose;
                marks.fill(lines, prose, false);
            }
            Event::Start(Tag::CodeBlock(kind)) => {
                let lang = match &kind {
                    CodeBlockKind::Fenced(info) => info.split_whitespace().next().unwrap_or(""),
                    CodeBlockKind::Indented => "",
                };
                let role = code_role(lang, &body[range]);
                marks.fill(lines, role, true);
            }
            Event::Start(Tag::Table(_)) => {
                quoted_table = false;
                let prose = marks.prose;
                marks.fill(lines, prose, false);
            }
            Event::Start(Tag::TableHead) => in_head = true,
            Event::End(TagEnd::TableHead) => in_head = false,
            Event::Text(text) | Event::Code(text) if in_head => {
                quoted_table |= is_example_heading(&text);
            }
            Event::Start(Tag::TableRow) if quoted_table => {
                marks.fill(lines, TextRole::Quoted, false);
            }
            Event::Start(Tag::HtmlBlock) | Event::InlineHtml(_) => {
                let html = &body[range];
                if html.trim_start().starts_with("<!--") {
                    marks.fill(lines, TextRole::HiddenComment, false);
                }
            }
            _ => {}
        }
    }
}

/// How many quoted lines come with one that is not, where quotation marks are only the style of a text.
const QUOTED_PER_LINE: usize = 4;

/// Whether hardly anything stands outside block quotes: then they quote nothing.
fn is_mostly_quoted(body: &str) -> bool {
    if !body.contains("\n>") && !body.starts_with('>') {
        return false;
    }
    let (mut quoted, mut plain, mut fence) = (0, 0, false);
    for line in body.lines().map(str::trim_start) {
        if line.starts_with("```") || line.starts_with("~~~") {
            fence = !fence;
        } else if line.starts_with('>') {
            quoted += 1;
        } else if !fence && !line.is_empty() && !line.starts_with('#') {
            plain += 1;
        }
    }
    quoted > plain * QUOTED_PER_LINE
}

/// A block quote that gives the reader orders is an instruction, whatever its markup.
fn is_addressed(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    [
        "run ", "execute", "download", "install", "paste", "copy", "you must", "always ", "launch",
        "extract", "unpack", "unzip", "get [", "send ", "upload",
    ]
    .iter()
    .any(|word| text.contains(word))
}

fn is_example_heading(cell: &str) -> bool {
    let cell = cell.to_ascii_lowercase();
    [
        "pattern",
        "example",
        "indicator",
        "payload",
        "attack",
        "signature",
        "rationaliz",
        "excuse",
        "red flag",
    ]
    .iter()
    .any(|word| cell.contains(word))
}

fn code_role(lang: &str, text: &str) -> TextRole {
    const SHELLS: &[&str] = &[
        "bash",
        "sh",
        "shell",
        "zsh",
        "console",
        "terminal",
        "shell-session",
        "powershell",
        "ps1",
        "pwsh",
        "cmd",
        "bat",
        "fish",
    ];
    let lang = lang.trim_matches(['{', '}', '.']).to_ascii_lowercase();
    if SHELLS.contains(&lang.as_str()) {
        return TextRole::Command;
    }
    if lang.is_empty() {
        let starts = |line: &str| {
            let line = line.trim_start();
            let line = line.strip_prefix("$ ").or_else(|| line.strip_prefix("# ")).unwrap_or(line);
            let word = line.split_whitespace().next().unwrap_or("");
            matches!(
                word,
                "curl"
                    | "wget"
                    | "bash"
                    | "sh"
                    | "sudo"
                    | "npm"
                    | "npx"
                    | "pip"
                    | "pip3"
                    | "brew"
                    | "git"
                    | "python"
                    | "python3"
                    | "node"
                    | "echo"
                    | "cat"
                    | "chmod"
                    | "rm"
                    | "export"
                    | "powershell"
                    | "iwr"
                    | "uv"
                    | "apt"
                    | "apt-get"
                    | "cd"
            )
        };
        if text.lines().any(starts) {
            return TextRole::Command;
        }
    }
    TextRole::Code
}

/// Fences and headings only: one pass, and no entry per line. Prose gets no role that would exempt
/// it.
fn fences_only(
    text: &str,
    index: &LineIndex,
    front_lines: usize,
    prose: TextRole,
) -> Vec<RoleSpan> {
    let span = |from, role, code, block, section| RoleSpan {
        lines: from..from,
        role,
        block,
        section,
        code,
    };
    let mut spans: Vec<RoleSpan> = Vec::new();
    let mut open = span(0, TextRole::Frontmatter, true, 0, 0);
    let mut next = |from: usize, span: RoleSpan| {
        let mut closed = std::mem::replace(&mut open, span);
        closed.lines.end = from;
        if !closed.lines.is_empty() {
            spans.push(closed);
        }
        spans.len() < MAX_FENCE_SPANS
    };
    next(front_lines, span(front_lines, prose, false, 0, 0));
    let body = index.start(text, front_lines);
    let (mut number, mut counted) = (front_lines, body);
    let (mut fence, mut blocks, mut section) = (None, 0, 0);
    for at in memchr3_iter(b'#', b'`', b'~', &text.as_bytes()[body..]).map(|at| body + at) {
        if at < counted || !starts_line(text, at) {
            continue;
        }
        number += count_ends(&text.as_bytes()[counted..at]);
        let end = memchr(b'\n', &text.as_bytes()[at..]).map_or(text.len(), |length| at + length);
        counted = end;
        let content = text[at..end].trim_end();
        let mark = ["```", "~~~"].into_iter().find(|mark| content.starts_with(mark));
        let goes_on = match (fence, mark) {
            (None, Some(mark)) => {
                fence = Some(mark);
                blocks += 1;
                let role = code_role(content.trim_start_matches(['`', '~']), "");
                next(number, span(number, role, true, blocks, section))
            }
            (Some(closes), Some(mark)) if closes == mark => {
                // The closing line still belongs to what it closes.
                fence = None;
                next(number + 1, span(number + 1, prose, false, 0, section))
            }
            (None, None) if content.starts_with('#') => {
                section += 1;
                next(number, span(number, prose, false, 0, section))
            }
            _ => true,
        };
        if !goes_on {
            break;
        }
    }
    next(index.len(), span(index.len(), prose, false, 0, section));
    spans
}

/// Whether only blanks precede `at` on its line.
fn starts_line(text: &str, at: usize) -> bool {
    let before = text.as_bytes()[..at].iter().rev().find(|b| !matches!(b, b' ' | b'\t' | b'\r'));
    before.is_none_or(|b| *b == b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roles(text: &str, front: usize) -> Vec<&'static str> {
        let index = LineIndex::new(text);
        let mut left = usize::MAX;
        let spans = markdown_spans(text, &index, front, TextRole::Instruction, &mut left);
        let mut roles = vec![""; index.len()];
        for span in spans {
            for line in span.lines {
                roles[line] = span.role.as_str();
            }
        }
        roles
    }

    #[test]
    fn every_line_has_the_role_its_markup_gives_it() {
        let text = "---\nname: a\n---\n# T\n\ntext\n\n> said\n\n```bash\nls\n```\n\n```py\nx\n```\n<!-- a\nb -->\n";
        assert_eq!(
            roles(text, 3),
            [
                "frontmatter",
                "frontmatter",
                "frontmatter",
                "instruction",
                "instruction",
                "instruction",
                "instruction",
                "quoted",
                "instruction",
                "command",
                "command",
                "command",
                "instruction",
                "code",
                "code",
                "code",
                "hidden-comment",
                "hidden-comment",
                "instruction"
            ]
        );
    }

    #[test]
    fn a_text_too_large_to_parse_is_split_at_fences() {
        let text = "---\nname: a\n---\n# T\ntext\n```bash\nls\n```\nmore\n## U\n~~~\nx";
        let spans = fences_only(text, &LineIndex::new(text), 3, TextRole::Instruction);
        let seen: Vec<_> = spans
            .iter()
            .map(|span| (span.lines.clone(), span.role.as_str(), span.section))
            .collect();
        assert_eq!(
            seen,
            [
                (0..3, "frontmatter", 0),
                (3..5, "instruction", 1),
                (5..8, "command", 1),
                (8..9, "instruction", 1),
                (9..10, "instruction", 2),
                (10..12, "code", 2)
            ]
        );
        assert_eq!(fences_only("", &LineIndex::new(""), 0, TextRole::Instruction).len(), 1);
    }

    #[test]
    fn a_quote_that_gives_orders_is_an_instruction() {
        assert_eq!(roles("> Download it and run the installer\n", 0)[0], "instruction");
    }

    #[test]
    fn rows_under_a_heading_of_patterns_are_quotations() {
        let text = "| Pattern | Why |\n|---|---|\n| `curl x` | bad |\n";
        assert_eq!(roles(text, 0)[2], "quoted");
    }
}
