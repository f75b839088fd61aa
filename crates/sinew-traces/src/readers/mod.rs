//! Transcripts, as the agents write them: one reader per format, recognised by content.
//!
//! Formats of other programs change. A record of an unknown type is counted and skipped, a missing
//! field is empty, and no line in a transcript stops a reader.

mod claude_code;
mod codex;
mod generic;
mod markdown;
mod model_turn;
mod openpocket;
mod tree;

pub(crate) use claude_code::snake_case;

use std::io::{self, BufRead, Read, Seek, SeekFrom};

use serde::Serialize;
use serde_json::Value;

use crate::lines::{self, LineCounts, LineRead};
use crate::run::{AgentRun, StepAction};
use crate::segment::{RunSegmenter, TraceSession};

/// A larger transcript is not read: no real session is that long.
pub const MAX_FILE: u64 = 64 * 1024 * 1024;

/// Lines that are read to recognise a format.
const LOOKED_AT: usize = 50;

/// Whose transcript it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum TraceAgent {
    /// Claude Code's session files.
    ClaudeCode,
    /// Codex's rollouts.
    Codex,
    /// OpenClaw's session trees, and pi's.
    Openclaw,
    /// OpenPocket's sessions: tree, lines or Markdown.
    Openpocket,
    /// sinew's own step traces.
    Generic,
}

impl TraceAgent {
    /// Every agent, with its name.
    pub const ALL: &'static [(&'static str, Self)] = &[
        ("claude-code", Self::ClaudeCode),
        ("codex", Self::Codex),
        ("openclaw", Self::Openclaw),
        ("openpocket", Self::Openpocket),
        ("generic", Self::Generic),
    ];

    /// The agent of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, agent)| *agent)
    }

    /// Its name.
    pub fn as_str(self) -> &'static str {
        let named = Self::ALL.iter().find(|(_, agent)| *agent == self);
        named.map_or("generic", |(name, _)| name)
    }
}

/// A file that can be read twice: a tree is walked from its end.
pub trait TranscriptSource: BufRead + Seek {}

impl<T: BufRead + Seek> TranscriptSource for T {}

/// What a transcript is read with.
#[derive(Clone, Copy)]
pub struct TranscriptOptions<'r> {
    /// Whose it is; recognised by content where absent.
    pub agent: Option<TraceAgent>,
    /// A name for its session, where the transcript has none.
    pub name: &'r str,
    /// Called with the number of bytes read.
    pub progress: &'r dyn Fn(u64),
}

/// Why a transcript was not read.
#[derive(Debug, thiserror::Error)]
pub enum TraceReadError {
    /// Nothing in it looks like a transcript.
    #[error(
        "no known transcript format; expected one of claude-code, codex, openclaw, openpocket or a generic trace"
    )]
    Unknown,
    /// It is larger than [`MAX_FILE`].
    #[error("it is larger than {} MiB, the limit for a transcript", MAX_FILE / 1024 / 1024)]
    TooLarge,
    /// The system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// How a transcript is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TranscriptFormat {
    Lines(LineFormat),
    Tree,
    Markdown,
    /// One JSON object over any number of lines.
    Object,
}

impl TranscriptFormat {
    /// Whether the agent that the caller named may have written it; without a name, any format fits.
    fn fits(self, wanted: Option<TraceAgent>) -> bool {
        match (wanted, self) {
            (None, _)
            | (Some(TraceAgent::ClaudeCode), Self::Lines(LineFormat::ClaudeCode))
            | (Some(TraceAgent::Codex), Self::Lines(LineFormat::Codex))
            | (Some(TraceAgent::Openclaw), Self::Tree)
            | (
                Some(TraceAgent::Openpocket),
                Self::Tree | Self::Markdown | Self::Lines(LineFormat::Pocket),
            )
            | (Some(TraceAgent::Generic), Self::Object | Self::Lines(LineFormat::Generic)) => true,
            (Some(_), _) => false,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineFormat {
    ClaudeCode,
    Codex,
    Pocket,
    Generic,
}

/// Reads a transcript; `sink` gets each run as soon as it is complete. Returns the agent and counts.
pub fn read(
    from: &mut dyn TranscriptSource,
    reading: &TranscriptOptions<'_>,
    sink: &mut dyn FnMut(AgentRun),
) -> Result<(TraceAgent, LineCounts), TraceReadError> {
    if from.seek(SeekFrom::End(0))? > MAX_FILE {
        return Err(TraceReadError::TooLarge);
    }
    from.seek(SeekFrom::Start(0))?;
    let format = recognise(from, reading.agent)?;
    from.seek(SeekFrom::Start(0))?;
    let mut counts = LineCounts::default();
    let session = TraceSession { id: reading.name.to_owned(), ..TraceSession::default() };
    let agent = match format {
        TranscriptFormat::Tree => tree::read(from, reading, session, &mut counts, sink)?,
        TranscriptFormat::Markdown => {
            markdown::read(from, session, &mut counts, sink)?;
            TraceAgent::Openpocket
        }
        TranscriptFormat::Object => {
            generic::read_object(from, session, &mut counts, sink)?;
            TraceAgent::Generic
        }
        TranscriptFormat::Lines(reader) => {
            by_lines(from, reader, reading, session, &mut counts, sink)?
        }
    };
    Ok((agent, counts))
}

/// A reader of records: what it makes of them is in its segments.
trait RecordReader {
    /// Reads one record; returns whether its type is known.
    fn record(&mut self, record: Value) -> bool;
    /// The session, and those of its delegates.
    fn segments(&mut self) -> Vec<&mut RunSegmenter>;
}

fn by_lines(
    from: &mut dyn TranscriptSource,
    reader: LineFormat,
    reading: &TranscriptOptions<'_>,
    session: TraceSession,
    counts: &mut LineCounts,
    sink: &mut dyn FnMut(AgentRun),
) -> io::Result<TraceAgent> {
    let segments = RunSegmenter::new(session);
    let (agent, mut records): (TraceAgent, Box<dyn RecordReader>) = match reader {
        LineFormat::ClaudeCode => {
            (TraceAgent::ClaudeCode, Box::new(claude_code::ClaudeCodeReader::new(segments)))
        }
        LineFormat::Codex => (TraceAgent::Codex, Box::new(codex::CodexReader::new(segments))),
        LineFormat::Pocket => {
            (TraceAgent::Openpocket, Box::new(openpocket::PocketEventReader::new(segments)))
        }
        LineFormat::Generic => {
            (TraceAgent::Generic, Box::new(generic::GenericTraceReader::new(segments)))
        }
    };
    each_record(from, counts, reading.progress, |record, counts| {
        counts.unknown += u64::from(!records.record(record));
        records.segments().into_iter().for_each(|segments| segments.emit_ready(sink));
    })?;
    for segments in records.segments() {
        segments.finish();
        segments.emit_ready(sink);
        counts.steps_left_out += segments.left_out;
    }
    Ok(agent)
}

/// Calls `each` with every record of a file of JSON lines.
fn each_record(
    from: &mut dyn TranscriptSource,
    counts: &mut LineCounts,
    progress: &dyn Fn(u64),
    mut each: impl FnMut(Value, &mut LineCounts),
) -> io::Result<()> {
    let mut line = Vec::new();
    let mut done = 0;
    loop {
        match lines::next(from, &mut line)? {
            LineRead::End => return Ok(()),
            LineRead::TooLong => {
                counts.lines += 1;
                counts.oversize += 1;
            }
            LineRead::Here => {
                done += line.len() as u64 + 1;
                if line.trim_ascii().is_empty() {
                    continue;
                }
                counts.lines += 1;
                progress(done);
                match serde_json::from_slice::<Value>(&line) {
                    Ok(record @ Value::Object(_)) => each(record, counts),
                    _ => counts.malformed += 1,
                }
            }
        }
    }
}

/// A tool of an MCP server; its input only matters where it is the agent's report.
fn of_server(server: &str, tool: &str, input: &Value) -> StepAction {
    let action = StepAction::new(format!("mcp.{server}.{tool}"));
    match tool {
        "report_outcome" => action.with("outcome", text(input, "outcome")),
        _ => action,
    }
}

/// Gemini's tools, with Claude Code's name for each.
const GEMINI: &[(&str, &str)] = &[
    ("run_shell_command", "Bash"),
    ("read_file", "Read"),
    ("write_file", "Write"),
    ("replace", "Edit"),
    ("glob", "Glob"),
    ("search_file_content", "Grep"),
    ("list_directory", "LS"),
    ("web_fetch", "WebFetch"),
    ("google_web_search", "WebSearch"),
    ("write_todos", "TodoWrite"),
];

/// The action for a call of an agent's tool.
pub(super) fn action_of(agent: &str, tool: &str, input: Value) -> StepAction {
    if agent == "codex" {
        return codex::action(tool, &input);
    }
    let known = GEMINI.iter().find(|(name, _)| *name == tool && agent == "gemini");
    claude_code::action(known.map_or(tool, |(_, name)| name), input)
}

/// How a transcript is written, by its first lines.
fn recognise(
    from: &mut dyn TranscriptSource,
    wanted: Option<TraceAgent>,
) -> Result<TranscriptFormat, TraceReadError> {
    let mut line = Vec::new();
    let mut read = 0;
    let mut starts_object = false;
    while read < LOOKED_AT {
        match lines::next(from, &mut line)? {
            LineRead::End => break,
            LineRead::TooLong => read += 1,
            LineRead::Here => {
                let text = line.trim_ascii();
                let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
                if text.is_empty() {
                    continue;
                }
                read += 1;
                if text.starts_with(b"# OpenPocket Session")
                    && TranscriptFormat::Markdown.fits(wanted)
                {
                    return Ok(TranscriptFormat::Markdown);
                }
                if read == 1 && text.starts_with(b"{") {
                    starts_object = true;
                }
                if let Ok(record) = serde_json::from_slice::<Value>(text)
                    && let Some(format) = format_of(&record).filter(|it| it.fits(wanted))
                {
                    return Ok(format);
                }
            }
        }
    }
    // A trace in one object may span many lines; a named agent may use a format that is new.
    match wanted {
        Some(TraceAgent::ClaudeCode) => Ok(TranscriptFormat::Lines(LineFormat::ClaudeCode)),
        Some(TraceAgent::Codex) => Ok(TranscriptFormat::Lines(LineFormat::Codex)),
        Some(TraceAgent::Openclaw) => Ok(TranscriptFormat::Tree),
        Some(TraceAgent::Openpocket) => Ok(TranscriptFormat::Lines(LineFormat::Pocket)),
        Some(TraceAgent::Generic) | None if starts_object => {
            from.seek(SeekFrom::Start(0))?;
            match generic::is_object(from) {
                true => Ok(TranscriptFormat::Object),
                false => Err(TraceReadError::Unknown),
            }
        }
        _ => Err(TraceReadError::Unknown),
    }
}

fn format_of(record: &Value) -> Option<TranscriptFormat> {
    let kind = record.get("type").and_then(Value::as_str);
    match kind {
        Some("trace") if record.get("task").is_some() || record.get("version").is_some() => {
            Some(TranscriptFormat::Lines(LineFormat::Generic))
        }
        Some("session") if record.get("id").is_some() => Some(TranscriptFormat::Tree),
        Some("session_meta" | "response_item" | "event_msg" | "turn_context" | "compacted")
            if record.get("payload").is_some() =>
        {
            Some(TranscriptFormat::Lines(LineFormat::Codex))
        }
        Some("user" | "assistant")
            if record.get("message").is_some() && record.get("uuid").is_some() =>
        {
            Some(TranscriptFormat::Lines(LineFormat::ClaudeCode))
        }
        Some("summary") if record.get("leafUuid").is_some() => {
            Some(TranscriptFormat::Lines(LineFormat::ClaudeCode))
        }
        _ if record.get("traces").is_some_and(Value::is_array) => Some(TranscriptFormat::Object),
        _ if record.get("event").and_then(Value::as_str).is_some_and(openpocket::is_event) => {
            Some(TranscriptFormat::Lines(LineFormat::Pocket))
        }
        _ => None,
    }
}

/// The whole source, for formats that are not line-based; it is never larger than [`MAX_FILE`].
fn whole(from: &mut dyn TranscriptSource) -> io::Result<String> {
    let mut bytes = Vec::new();
    from.take(MAX_FILE).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A text field of a record; empty where there is none.
fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// Takes a text out of a record.
fn take_text(value: &mut Value, field: &str) -> String {
    match value.get_mut(field).map(Value::take) {
        Some(Value::String(text)) => text,
        _ => String::new(),
    }
}

/// The texts of a content that is a string, or a list of blocks with `text`.
fn take_content(content: &mut Value) -> String {
    match content.take() {
        Value::String(text) => text,
        Value::Array(mut blocks) => {
            let texts = blocks.iter_mut().filter_map(|block| match block {
                Value::String(text) => Some(std::mem::take(text)),
                block => match block.get_mut("text").map(Value::take) {
                    Some(Value::String(text)) => Some(text),
                    _ => None,
                },
            });
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}
