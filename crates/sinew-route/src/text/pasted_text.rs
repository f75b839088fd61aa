//! Separates what a person wrote from what was pasted: fenced code and logs.

/// Consecutive lines that make a pasted log; fewer may be the user's own.
const LOG_RUN: usize = 3;

/// A message's own words, and the text pasted into it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct MessageSplit {
    pub(crate) prose: String,
    pub(crate) pasted: String,
}

/// Splits a text into prose and pasted code or logs.
pub(crate) fn split_pasted(text: &str) -> MessageSplit {
    if !text.contains('\n') {
        return inline(text);
    }
    let lines: Vec<&str> = text.lines().collect();
    let mut machine = vec![false; lines.len()];
    let mut fenced = false;
    for (at, line) in lines.iter().enumerate() {
        let fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        machine[at] = fenced || fence;
        fenced ^= fence;
    }
    mark_logs(&lines, &mut machine);
    let mut split = MessageSplit::default();
    for (line, &machine) in lines.iter().zip(&machine) {
        let target = if machine { &mut split.pasted } else { &mut split.prose };
        target.push_str(line);
        target.push('\n');
    }
    let prose = inline(&split.prose);
    split.prose = prose.prose;
    split.pasted.push_str(&prose.pasted);
    split
}

/// Fences within one line: "run ```cargo test``` please".
fn inline(text: &str) -> MessageSplit {
    let mut split = MessageSplit::default();
    for (at, part) in text.split("```").enumerate() {
        let target = if at % 2 == 1 { &mut split.pasted } else { &mut split.prose };
        target.push_str(part);
        target.push(' ');
    }
    split
}

/// Marks runs of lines that look like a program's output; a single odd line inside a run, such as a
/// wrapped message, belongs to it.
fn mark_logs(lines: &[&str], machine: &mut [bool]) {
    let looks: Vec<bool> = lines.iter().map(|line| is_log_line(line)).collect();
    let mut at = 0;
    while at < lines.len() {
        if !looks[at] || machine[at] {
            at += 1;
            continue;
        }
        let start = at;
        let (mut end, mut count) = (at + 1, 1);
        while end < lines.len() {
            if looks[end] {
                count += 1;
                end += 1;
            } else if looks.get(end + 1) == Some(&true) || looks.get(end + 2) == Some(&true) {
                end += 1;
            } else {
                break;
            }
        }
        if count >= LOG_RUN {
            machine[start..end].fill(true);
        }
        at = end;
    }
}

const LEVELS: [&str; 14] = [
    "ERROR",
    "WARN",
    "INFO",
    "DEBUG",
    "TRACE",
    "FATAL",
    "CRITICAL",
    "NOTICE",
    "error:",
    "warning:",
    "error[",
    "Traceback",
    "Caused by",
    "panicked at",
];

fn is_log_line(line: &str) -> bool {
    let line = super::head(line.trim(), 400);
    if line.is_empty() {
        return false;
    }
    let start = super::head(line, 48);
    starts_with_time(line)
        || LEVELS.iter().any(|level| start.contains(level))
        || (line.starts_with("at ") && line.contains([':', '(']))
        || (line.starts_with("File \"") && line.contains("line "))
        || line.starts_with("> ")
        || marks_share(line) >= 0.3
}

fn starts_with_time(line: &str) -> bool {
    let line = line.trim_start_matches(['[', '(']);
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    (1..=13).contains(&digits)
        && line[digits..].starts_with(['-', ':', '/', '.'])
        && line[digits + 1..].bytes().next().is_some_and(|byte| byte.is_ascii_digit())
}

/// The share of digits and punctuation; prose has little of it.
fn marks_share(line: &str) -> f32 {
    let (mut marks, mut all) = (0, 0);
    for c in line.chars().filter(|c| !c.is_whitespace()) {
        all += 1;
        marks += u32::from(
            c.is_ascii_digit()
                || (c.is_ascii_punctuation() && !matches!(c, ',' | '.' | '?' | '!' | '\'')),
        );
    }
    if all < 8 { 0.0 } else { marks as f32 / all as f32 }
}
