//! Where programs are: in files, in fenced code, in markup that runs, and in what a shell hands to
//! an interpreter.

use super::super::filetype::ScannedFileKind;
use super::super::inventory::ScannedFile;
use super::super::role::TextRole;
use super::tree::ProgramLanguage;
use crate::shell::{RedirectionKind, ShellScript};

/// Larger programs are libraries or data.
const MAX_PROGRAM: usize = 512 * 1024;
/// Programs of one file.
pub(super) const MAX_PIECES: usize = 256;

/// One program.
pub(crate) struct ProgramSource {
    pub(crate) language: ProgramLanguage,
    pub(crate) text: String,
    /// The line of its file that it starts on, from 0.
    pub(crate) line: usize,
    /// What other programs import it as.
    pub(crate) name: String,
}

/// Whether a file is a program that is too large to be read as one.
pub(crate) fn is_too_large(file: &ScannedFile) -> bool {
    let is_program = matches!(file.kind, ScannedFileKind::Script("python" | "javascript"));
    is_program && file.text.len() > MAX_PROGRAM
}

/// The programs in a file.
pub(crate) fn programs(file: &ScannedFile) -> Vec<ProgramSource> {
    if file.text.len() > MAX_PROGRAM {
        return Vec::new();
    }
    let whole = |language| {
        let name = file.path.rsplit('/').next().unwrap_or(&file.path);
        let name = name.split('.').next().unwrap_or(name);
        let folder = file.path.rsplit('/').nth(1).unwrap_or("");
        let name = if matches!(name, "__init__" | "index") { folder } else { name };
        vec![ProgramSource { language, text: file.text.clone(), line: 0, name: name.to_owned() }]
    };
    match file.kind {
        ScannedFileKind::Script("python") => whole(ProgramLanguage::Python),
        ScannedFileKind::Script("javascript") if !file.text.trim_start().starts_with('<') => {
            whole(ProgramLanguage::JavaScript)
        }
        ScannedFileKind::Script("javascript") | ScannedFileKind::Config("xml") => markup(file),
        ScannedFileKind::Script("shell") => embedded(&file.text, 0),
        ScannedFileKind::SkillMd | ScannedFileKind::Markdown | ScannedFileKind::Text => {
            fenced(file)
        }
        _ => Vec::new(),
    }
}

fn language(info: &str) -> Option<ProgramLanguage> {
    match info {
        "python" | "py" | "python3" | "pycon" => Some(ProgramLanguage::Python),
        "javascript" | "js" | "typescript" | "ts" | "jsx" | "tsx" | "mjs" | "node" => {
            Some(ProgramLanguage::JavaScript)
        }
        _ => None,
    }
}

/// Code blocks of Markdown whose language is known, and programs in its shell blocks.
fn fenced(file: &ScannedFile) -> Vec<ProgramSource> {
    let mut found = Vec::new();
    for span in file.spans.iter().filter(|span| span.code && span.role != TextRole::Frontmatter) {
        if found.len() >= MAX_PIECES {
            break;
        }
        let first = span.lines.start;
        let start = file.index.start(&file.text, first);
        let end = file.index.start(&file.text, span.lines.end.min(file.index.len()));
        let end = if span.lines.end >= file.index.len() { file.text.len() } else { end };
        let Some(text) = file.text.get(start..end) else { continue };
        let head = text.lines().next().unwrap_or("").trim_start_matches([' ', '\t', '>', '-']);
        let info = head.trim_start_matches(['`', '~']).trim().to_ascii_lowercase();
        let info = info.split([' ', ',', '{', ':']).next().unwrap_or("");
        let is_fence = head.starts_with("```") || head.starts_with("~~~");
        let body = || {
            let body = text.split_once('\n').map_or("", |(_, body)| body);
            body.rsplit_once("```").map_or(body, |(body, _)| body).to_owned()
        };
        if let (true, Some(language)) = (is_fence, language(info)) {
            let text = dedented(&body());
            found.push(ProgramSource { language, text, line: first + 1, name: String::new() });
        } else if span.role == TextRole::Command {
            found.extend(embedded(text, first));
        }
    }
    found
}

/// Code blocks in lists are indented as a whole.
fn dedented(text: &str) -> String {
    let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let filled = || text.lines().filter(|line| !line.trim().is_empty());
    let least = filled().map(indent).min().unwrap_or(0);
    if least == 0 {
        return text.to_owned();
    }
    let lines: Vec<&str> = text.lines().map(|line| line.get(least..).unwrap_or("")).collect();
    lines.join("\n")
}

/// Programs that a shell hands to an interpreter: `python3 -c '…'`, `node - <<EOF`.
fn embedded(text: &str, first: usize) -> Vec<ProgramSource> {
    let mut found = Vec::new();
    if !["python", "node", "bun ", "deno "].iter().any(|name| text.contains(name)) {
        return found;
    }
    let script = ShellScript::parse(text);
    for command in &script.commands {
        let name = command.program().unwrap_or("");
        let language = match name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') {
            "python" => ProgramLanguage::Python,
            "node" | "bun" | "deno" | "nodejs" => ProgramLanguage::JavaScript,
            _ => continue,
        };
        let arguments = command.arguments();
        let inline = arguments.iter().position(|word| {
            matches!(word.text.as_str(), "-c" | "-e" | "--eval" | "-p" | "--print")
        });
        let text_of = inline.and_then(|at| arguments.get(at + 1)).map(|word| &word.text);
        let here = command.redirections.iter().find(|redirection| {
            matches!(redirection.kind, RedirectionKind::HereDocument | RedirectionKind::HereString)
        });
        let Some(program) = text_of.or(here.map(|here| &here.target.text)) else { continue };
        let before = text.get(..command.span.start).unwrap_or("");
        let line = first + before.bytes().filter(|byte| *byte == b'\n').count();
        found.push(ProgramSource { language, text: program.clone(), line, name: String::new() });
        if found.len() >= MAX_PIECES {
            break;
        }
    }
    found
}

/// Scripts and handlers of markup.
fn markup(file: &ScannedFile) -> Vec<ProgramSource> {
    let lower = file.text.to_ascii_lowercase();
    let mut found = Vec::new();
    let mut at = 0;
    let line_of = |at: usize| lower.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count();
    while let Some(open) = lower[at..].find("<script").map(|length| at + length) {
        let Some(start) = lower[open..].find('>').map(|length| open + length + 1) else { break };
        let end = lower[start..].find("</script").map_or(lower.len(), |length| start + length);
        found.push(ProgramSource {
            language: ProgramLanguage::JavaScript,
            text: file.text[start..end].replace("<![CDATA[", "").replace("]]>", ""),
            line: line_of(start),
            name: String::new(),
        });
        at = end;
        if found.len() >= MAX_PIECES {
            break;
        }
    }
    for handler in
        ["onload=", "onerror=", "onclick=", "onbegin=", "onmouseover=", "href=\"javascript:"]
    {
        let mut at = 0;
        while let Some(open) = lower[at..].find(handler).map(|length| at + length) {
            let start = open + handler.len();
            let quote = lower.as_bytes().get(start).copied().unwrap_or(b' ');
            let (start, close) = match quote {
                b'"' => (start + 1, '"'),
                b'\'' => (start + 1, '\''),
                _ => (start, '"'),
            };
            let end = lower[start..].find(close).map_or(lower.len(), |length| start + length);
            found.push(ProgramSource {
                language: ProgramLanguage::JavaScript,
                text: file.text[start..end].replace("&quot;", "\"").replace("&#39;", "'"),
                line: line_of(start),
                name: String::new(),
            });
            at = end;
            if found.len() >= 2 * MAX_PIECES {
                return found;
            }
        }
    }
    found
}
