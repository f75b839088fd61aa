//! Spans: which part of a file is prose, command, code, quotation or comment.
//!
//! Markdown is parsed with byte ranges; every line of a file ends up in exactly one [`Span`]. No
//! input makes a line disappear: what the parser does not explain stays what the file as a whole is.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// Markdown beyond this is no prose a person wrote; it is split at fences alone, in one pass.
const MAX_PARSED_MARKDOWN: usize = 512 * 1024;

/// What a stretch of text is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Role {
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

impl Role {
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
pub(crate) struct Span {
    /// Lines, from 0.
    pub(crate) lines: Range<usize>,
    pub(crate) role: Role,
    /// Paragraph, list item or fence, numbered within the file.
    pub(crate) block: u32,
    /// Heading section, numbered within the file.
    pub(crate) section: u32,
    /// Whether the text is code in the wide sense: commands, scripts, configuration.
    pub(crate) code: bool,
}

/// Where each line starts, and so which line a byte is on.
#[derive(Debug)]
pub(crate) struct LineIndex {
    starts: Vec<usize>,
}

impl LineIndex {
    pub(crate) fn new(text: &str) -> Self {
        let mut starts = Vec::with_capacity(text.len() / 40 + 1);
        starts.push(0);
        starts.extend(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i + 1));
        Self { starts }
    }

    pub(crate) fn line_of(&self, byte: usize) -> usize {
        self.starts.partition_point(|start| *start <= byte) - 1
    }

    pub(crate) fn len(&self) -> usize {
        self.starts.len()
    }

    pub(crate) fn range(&self, line: usize, text_len: usize) -> Range<usize> {
        let start = self.starts.get(line).copied().unwrap_or(text_len);
        let end = self.starts.get(line + 1).map_or(text_len, |next| next - 1);
        start..end.max(start)
    }
}

/// Splits Markdown; `front_lines` lines of front matter come first.
pub(crate) fn markdown(
    text: &str,
    index: &LineIndex,
    front_lines: usize,
    prose: Role,
) -> Vec<Span> {
    let mut marks = Marks::new(index.len(), prose);
    for line in 0..front_lines.min(index.len()) {
        marks.set(line, Role::Frontmatter, 0, true);
    }
    let body_at = index.range(front_lines, text.len()).start;
    if text.len() > MAX_PARSED_MARKDOWN {
        fences_only(text, index, front_lines, &mut marks);
    } else {
        parse(&text[body_at..], body_at, index, &mut marks);
    }
    marks.into_spans(front_lines)
}

/// One role for a whole file that is not Markdown.
pub(crate) fn uniform(index: &LineIndex, role: Role, code: bool) -> Vec<Span> {
    vec![Span { lines: 0..index.len(), role, block: 0, section: 0, code }]
}

struct Marks {
    lines: Vec<(Role, u32, u32, bool)>,
    block: u32,
    section: u32,
    prose: Role,
}

impl Marks {
    fn new(lines: usize, prose: Role) -> Self {
        Self { lines: vec![(prose, 0, 0, false); lines], block: 0, section: 0, prose }
    }

    fn set(&mut self, line: usize, role: Role, block: u32, code: bool) {
        let section = self.section;
        if let Some(mark) = self.lines.get_mut(line) {
            *mark = (role, block, section, code);
        }
    }

    fn fill(&mut self, lines: Range<usize>, role: Role, code: bool) {
        self.block += 1;
        let block = self.block;
        for line in lines {
            self.set(line, role, block, code);
        }
    }

    fn into_spans(self, front_lines: usize) -> Vec<Span> {
        let mut spans: Vec<Span> = Vec::new();
        let mut section = 0;
        for (line, (role, block, own_section, code)) in self.lines.into_iter().enumerate() {
            // Lines that no block covers (blank ones) belong to the section around them.
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
                _ => spans.push(Span {
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

fn parse(body: &str, offset: usize, index: &LineIndex, marks: &mut Marks) {
    let options = Options::ENABLE_TABLES;
    let mut quote_depth = 0usize;
    let mut item_depth = 0usize;
    let mut quoted_table = false;
    let mut in_head = false;
    for (event, range) in Parser::new_ext(body, options).into_offset_iter() {
        let lines = lines_of(index, offset, &range);
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
                    let role = if is_addressed(text) { marks.prose } else { Role::Quoted };
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
            Event::Start(Tag::TableRow) if quoted_table => marks.fill(lines, Role::Quoted, false),
            Event::Start(Tag::HtmlBlock) | Event::InlineHtml(_) => {
                let html = &body[range];
                if html.trim_start().starts_with("<!--") {
                    marks.fill(lines, Role::HiddenComment, false);
                }
            }
            _ => {}
        }
    }
}

fn lines_of(index: &LineIndex, offset: usize, range: &Range<usize>) -> Range<usize> {
    let first = index.line_of(offset + range.start);
    let last = index.line_of(offset + range.end.saturating_sub(1).max(range.start));
    first..last + 1
}

/// A block quote that orders its reader about is an instruction, whatever its markup.
fn is_addressed(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    ["run ", "execute", "download", "install", "paste", "copy", "you must", "always "]
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

fn code_role(lang: &str, text: &str) -> Role {
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
        return Role::Command;
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
            return Role::Command;
        }
    }
    Role::Code
}

fn fences_only(text: &str, index: &LineIndex, from: usize, marks: &mut Marks) {
    let mut fence: Option<(&str, Role)> = None;
    let prose = marks.prose;
    for line in from..index.len() {
        let content = text[index.range(line, text.len())].trim();
        let mark = ["```", "~~~"].into_iter().find(|mark| content.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => {
                let role = code_role(content.trim_start_matches(['`', '~']), "");
                fence = Some((mark, role));
                marks.block += 1;
            }
            (Some((open, _)), Some(mark)) if open == mark => {
                fence = None;
                marks.block += 1;
            }
            _ => {}
        }
        if content.starts_with('#') && fence.is_none() {
            marks.section += 1;
        }
        if content.is_empty() && fence.is_none() {
            marks.block += 1;
        }
        let (role, code) = fence.map_or((prose, false), |(_, role)| (role, true));
        let block = marks.block;
        marks.set(line, role, block, code);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roles(text: &str, front: usize) -> Vec<&'static str> {
        let index = LineIndex::new(text);
        let spans = markdown(text, &index, front, Role::Instruction);
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
    fn a_quote_that_gives_orders_is_an_instruction() {
        assert_eq!(roles("> Download it and run the installer\n", 0)[0], "instruction");
    }

    #[test]
    fn rows_under_a_heading_of_patterns_are_quotations() {
        let text = "| Pattern | Why |\n|---|---|\n| `curl x` | bad |\n";
        assert_eq!(roles(text, 0)[2], "quoted");
    }
}
