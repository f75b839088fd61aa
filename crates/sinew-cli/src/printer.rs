//! The one place that writes to the terminal.
//!
//! Data goes to standard output, everything else to standard error. With `--json` the data is one
//! JSON document; otherwise a closure renders it for people. Colours vanish where `NO_COLOR` is
//! set or the output is not a terminal. A pipe that closes early is not an error.

use std::fmt;
use std::io::{self, IsTerminal as _, Write as _};

use owo_colors::{OwoColorize as _, Style};
use serde::ser::SerializeSeq as _;
use serde::{Serialize, Serializer};
use sinew_guard::Untrusted;
use sinew_settings::{Reason, ReasonSeverity};

use crate::render::safe;

/// Bytes of a large answer that are written at once.
const BUFFER: usize = 64 << 10;

/// Writes what commands have to say.
#[derive(Debug)]
pub(crate) struct Printer {
    json: bool,
    quiet: bool,
    out: anstream::AutoStream<io::Stdout>,
    err: anstream::AutoStream<io::Stderr>,
}

/// When output is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Printer {
    pub(crate) fn new(json: bool, quiet: bool, color: ColorChoice) -> Self {
        let choice = match color {
            ColorChoice::Auto => anstream::ColorChoice::Auto,
            ColorChoice::Always => anstream::ColorChoice::Always,
            ColorChoice::Never => anstream::ColorChoice::Never,
        };
        Self {
            json,
            quiet,
            out: anstream::AutoStream::new(io::stdout(), choice),
            err: anstream::AutoStream::new(io::stderr(), choice),
        }
    }

    /// Whether the caller asked for JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// A bar for downloads; hidden without a terminal.
    pub(crate) fn bytes(&self, doing: &'static str) -> ProgressBar {
        let ProgressBar(bar) = self.progress(doing, 0);
        if let Ok(style) = indicatif::ProgressStyle::with_template(
            "{msg} {bar:30} {bytes}/{total_bytes} {bytes_per_sec}",
        ) {
            bar.set_style(style);
        }
        ProgressBar(bar)
    }

    /// A bar for work that may take longer than a second; hidden without a terminal.
    pub(crate) fn progress(&self, doing: &'static str, total: usize) -> ProgressBar {
        let shown = !self.json && !self.quiet && io::stderr().is_terminal();
        let target = match shown {
            true => indicatif::ProgressDrawTarget::stderr(),
            false => indicatif::ProgressDrawTarget::hidden(),
        };
        let bar = indicatif::ProgressBar::with_draw_target(Some(total as u64), target);
        bar.set_message(doing);
        if let Ok(style) = indicatif::ProgressStyle::with_template("{msg} {bar:30} {pos}/{len}") {
            bar.set_style(style);
        }
        ProgressBar(bar)
    }

    /// Whether a person can be asked something.
    pub(crate) fn can_ask(&self) -> bool {
        !self.json && io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// Whether a person at a terminal can be asked, wherever standard output goes.
    pub(crate) fn at_terminal(&self) -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// A question, beside the answer; its texts are safe already.
    pub(crate) fn ask(&mut self, text: &str) {
        self.say(text);
    }

    /// How wide the terminal is; pipes get long lines.
    pub(crate) fn width(&self) -> usize {
        match io::stdout().is_terminal() {
            true => terminal_width().unwrap_or(100),
            false => usize::MAX,
        }
    }

    /// The command's answer: JSON when asked for, else what `render` writes.
    pub(crate) fn data<T: Serialize>(
        &mut self,
        data: &T,
        render: impl FnOnce(&mut String) -> fmt::Result,
    ) -> io::Result<()> {
        if self.json {
            let text = serde_json::to_string_pretty(&readable(data)?).map_err(io::Error::other)?;
            return self.write(&format!("{text}\n"));
        }
        let mut text = String::new();
        render(&mut text).map_err(io::Error::other)?;
        self.write(&text)
    }

    /// The same for an answer that is too much to be held a second time: it is written as it is made,
    /// and its fields take control characters out themselves, with [`cleaned`] and [`cleaned_each`].
    pub(crate) fn large_data<T: Serialize>(
        &mut self,
        data: &T,
        render: impl FnOnce(&mut String) -> fmt::Result,
    ) -> io::Result<()> {
        if !self.json {
            return self.data(data, render);
        }
        let mut out = io::BufWriter::with_capacity(BUFFER, &mut self.out);
        let written = serde_json::to_writer_pretty(&mut out, data).map_err(io::Error::from);
        ignore_closed(written.and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush()))
    }

    /// A JSON document whose texts are as they are, escaped and not cleaned: for answers that a
    /// program hands on.
    pub(crate) fn exact_json<T: Serialize>(&mut self, data: &T) -> io::Result<()> {
        let text = serde_json::to_string_pretty(data).map_err(io::Error::other)?;
        self.write(&format!("{text}\n"))
    }

    /// One JSON document on one line, for streams of records.
    pub(crate) fn json_line<T: Serialize>(&mut self, data: &T) -> io::Result<()> {
        let text = serde_json::to_string(&readable(data)?).map_err(io::Error::other)?;
        self.text(&format!("{text}\n"))
    }

    /// Text that is itself the answer. A closed pipe is an error here, so that the writer of a
    /// stream stops.
    pub(crate) fn text(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }

    /// Text as it is, every byte of it, for a pipe.
    pub(crate) fn raw(&mut self, text: &str) -> io::Result<()> {
        ignore_closed(io::stdout().write_all(text.as_bytes()))
    }

    /// What a program that we run writes to standard error, byte for byte.
    pub(crate) fn pass_error(&mut self, bytes: &[u8]) {
        // A closed standard error is ignored.
        let _ = io::stderr().write_all(bytes);
    }

    /// One JSON document on one line of standard error, where standard output belongs to a program
    /// that we run.
    pub(crate) fn json_note<T: Serialize>(&mut self, data: &T) -> io::Result<()> {
        let text = serde_json::to_string(&readable(data)?).map_err(io::Error::other)?;
        self.say(&format!("{text}\n"));
        Ok(())
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        ignore_closed(self.out.write_all(text.as_bytes()))
    }

    /// Something worth knowing that is not the answer.
    pub(crate) fn note(&mut self, text: &str) {
        if !self.quiet && !self.json {
            self.say(&format!("{}\n", safe(text)));
        }
    }

    /// Something that is not as it should be.
    pub(crate) fn warn(&mut self, text: &str) {
        if !self.quiet {
            let label = "warning:".style(Style::new().yellow().bold());
            self.say(&format!("{label} {}\n", safe(text)));
        }
    }

    /// A next step.
    pub(crate) fn hint(&mut self, text: &str) {
        if !self.quiet {
            let label = "hint:".style(Style::new().cyan().bold());
            self.say(&format!("{label} {}\n", safe(text)));
        }
    }

    /// What went wrong.
    pub(crate) fn error(&mut self, text: &str) {
        self.say(&format!("{} {}\n", "error:".style(Style::new().red().bold()), safe(text)));
    }

    /// A reason that belongs to no answer, with its next step.
    pub(crate) fn reason(&mut self, reason: &Reason) {
        let place = reason.path.as_deref().map(|path| format!(" ({path})")).unwrap_or_default();
        let text = format!("{}{place}", reason.detail);
        match reason.severity {
            ReasonSeverity::Info => self.note(&text),
            ReasonSeverity::Warn | ReasonSeverity::Error => self.warn(&text),
        }
        if let Some(remedy) = &reason.remedy
            && reason.severity > ReasonSeverity::Info
        {
            self.hint(remedy);
        }
    }

    fn say(&mut self, text: &str) {
        // Standard error may be closed; there is nowhere else to report it.
        let _ = self.err.write_all(text.as_bytes());
    }
}

/// The data with control characters taken out of its texts: JSON is read on terminals too.
fn readable<T: Serialize>(data: &T) -> io::Result<serde_json::Value> {
    let mut value = serde_json::to_value(data).map_err(io::Error::other)?;
    clean(&mut value);
    Ok(value)
}

/// A field of a large answer.
pub(crate) fn cleaned<T: Serialize, S: Serializer>(field: &T, to: S) -> Result<S::Ok, S::Error> {
    readable(field).map_err(serde::ser::Error::custom)?.serialize(to)
}

/// A list of a large answer, one item after the other.
pub(crate) fn cleaned_each<T: Serialize, S: Serializer>(
    items: &[T],
    to: S,
) -> Result<S::Ok, S::Error> {
    let mut list = to.serialize_seq(Some(items.len()))?;
    for item in items {
        list.serialize_element(&readable(item).map_err(serde::ser::Error::custom)?)?;
    }
    list.end()
}

fn clean(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::String(text) if text.chars().any(char::is_control) => {
            *text = Untrusted::new(text).for_json();
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(clean),
        serde_json::Value::Object(fields) => fields.values_mut().for_each(clean),
        _ => {}
    }
}

/// How far a piece of work has come.
#[derive(Debug)]
pub(crate) struct ProgressBar(indicatif::ProgressBar);

impl ProgressBar {
    pub(crate) fn set(&self, done: usize) {
        self.0.set_position(done as u64);
    }

    pub(crate) fn set_of(&self, done: usize, total: usize) {
        self.0.set_length(total as u64);
        self.set(done);
    }

    pub(crate) fn add(&self, more: usize) {
        self.0.inc(more as u64);
    }

    pub(crate) fn finish(&self) {
        self.0.finish_and_clear();
    }
}

/// The reader closed the pipe early; that is not an error.
fn ignore_closed(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

fn terminal_width() -> Option<usize> {
    terminal_size::terminal_size().map(|(width, _)| usize::from(width.0))
}
