//! The one place that writes to the terminal.
//!
//! Data goes to standard output, everything else to standard error. With `--json` the data is one
//! JSON document; otherwise a closure renders it for people, and [`crate::layout`] fits it into
//! the terminal. Colours vanish where `NO_COLOR` is set or the output is not a terminal. A pipe that
//! closes early is not an error.

use std::fmt;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;

use owo_colors::{OwoColorize as _, Style};
use serde::ser::SerializeSeq as _;
use serde::{Serialize, Serializer};
use sinew_guard::Untrusted;
use sinew_settings::{Reason, ReasonSeverity};

use crate::layout::{MAX_ROWS, beginning, fitted, with_short_home};
use crate::reading_notice::ReadingNotice;
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
    /// The width to write for, whatever the streams are.
    told_width: Option<usize>,
    /// The folder that a terminal shows as `~`.
    home: Option<String>,
    /// The bar of the first look, until something else is written.
    notice: Option<ReadingNotice>,
    /// Takes what would go to the streams.
    #[cfg(test)]
    memory: Option<PrinterMemory>,
}

/// What a test reads: the text, on a machine whose folder has always the same name.
#[cfg(test)]
#[derive(Debug)]
struct PrinterMemory {
    root: String,
    text: String,
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
            told_width: None,
            home: None,
            notice: None,
            #[cfg(test)]
            memory: None,
        }
    }

    /// Writes for a terminal of this width, wherever the output goes: another program will show it.
    pub(crate) fn for_width(mut self, width: Option<usize>) -> Self {
        self.told_width = width.map(|width| width.max(MIN_WIDTH));
        self
    }

    /// Shows files of this folder with `~` on a terminal, as people write them.
    pub(crate) fn at_home(mut self, home: Option<PathBuf>) -> Self {
        self.home = home.and_then(|home| home.into_os_string().into_string().ok());
        self
    }

    /// Tells of a first look at the skills that takes long, where a person waits for it.
    pub(crate) fn tell_of_reading(&mut self) {
        if self.shows_progress() {
            self.notice = Some(ReadingNotice::start());
        }
    }

    fn end_notice(&self) {
        if let Some(notice) = &self.notice {
            notice.end();
        }
    }

    /// Whether a bar would be seen.
    fn shows_progress(&self) -> bool {
        !self.json && !self.quiet && self.told_width.is_none() && io::stderr().is_terminal()
    }

    /// Writes into memory, for a terminal of this width; `usize::MAX` for a pipe. The folder `root`
    /// is shown as `/machine`, so that lines break alike wherever it lies.
    #[cfg(test)]
    pub(crate) fn in_memory(width: usize, root: &std::path::Path) -> Self {
        let printer = Self::new(false, false, ColorChoice::Never).for_width(Some(width));
        let root = root.to_string_lossy().into_owned();
        Self { memory: Some(PrinterMemory { root, text: String::new() }), ..printer }
    }

    /// What was written into memory, without its colours.
    #[cfg(test)]
    pub(crate) fn written(self) -> String {
        let text = self.memory.map(|memory| memory.text).unwrap_or_default();
        anstream::adapter::strip_str(&text).to_string()
    }

    #[cfg(test)]
    fn fit(&self, text: &str, width: usize) -> String {
        match &self.memory {
            Some(memory) => self.laid_out(&text.replace(&memory.root, "/machine"), width),
            None => self.laid_out(text, width),
        }
    }

    #[cfg(not(test))]
    fn fit(&self, text: &str, width: usize) -> String {
        self.laid_out(text, width)
    }

    /// The text for a terminal of this width; a pipe gets it as it is.
    fn laid_out(&self, text: &str, width: usize) -> String {
        match &self.home {
            Some(home) if width != usize::MAX => fitted(&with_short_home(text, home), width),
            _ => fitted(text, width),
        }
    }

    #[cfg(test)]
    fn keep(&mut self, text: &str) -> bool {
        match &mut self.memory {
            Some(memory) => memory.text.push_str(text),
            None => return false,
        }
        true
    }

    #[cfg(not(test))]
    #[allow(clippy::unused_self, clippy::needless_pass_by_ref_mut, reason = "tests keep the text")]
    fn keep(&mut self, _text: &str) -> bool {
        false
    }

    /// Whether the caller asked for JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// A bar for downloads; hidden without a terminal.
    pub(crate) fn bytes(&self, doing: &'static str) -> ProgressBar {
        self.bar(doing, 0, "{msg} {bar:20} {bytes}/{total_bytes} {bytes_per_sec}")
    }

    /// A bar for work that may take longer than a second; hidden without a terminal.
    pub(crate) fn progress(&self, doing: &'static str, total: usize) -> ProgressBar {
        self.bar(doing, total, "{msg} {bar:20} {pos}/{len}")
    }

    /// The bar gets its looks before it is drawn for the first time.
    fn bar(&self, doing: &'static str, total: usize, looks: &str) -> ProgressBar {
        let hidden = indicatif::ProgressDrawTarget::hidden();
        let bar = indicatif::ProgressBar::with_draw_target(Some(total as u64), hidden);
        bar.set_message(doing);
        if let Ok(style) = indicatif::ProgressStyle::with_template(looks) {
            bar.set_style(style);
        }
        self.end_notice();
        if self.shows_progress() {
            bar.set_draw_target(indicatif::ProgressDrawTarget::stderr());
        }
        ProgressBar(bar)
    }

    /// Whether a person can be asked something.
    pub(crate) fn can_ask(&self) -> bool {
        !self.json && self.at_terminal()
    }

    /// Whether a person at a terminal can be asked, wherever standard output goes.
    pub(crate) fn at_terminal(&self) -> bool {
        self.end_notice();
        self.told_width.is_none() && io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// A question, beside the answer; its texts are safe already.
    pub(crate) fn ask(&mut self, text: &str) {
        let fitted = self.fit(text, self.message_width());
        self.say(&fitted);
    }

    /// How wide the terminal is; pipes get long lines.
    pub(crate) fn width(&self) -> usize {
        match self.told_width {
            Some(width) => width,
            None if io::stdout().is_terminal() => terminal_width(),
            None => usize::MAX,
        }
    }

    fn message_width(&self) -> usize {
        match self.told_width {
            Some(width) => width,
            None if io::stderr().is_terminal() => terminal_width(),
            None => usize::MAX,
        }
    }

    /// How many rows of a list are shown: what a screen holds, or all where they were asked for or
    /// a program reads them.
    pub(crate) fn rows(&self, all: bool) -> usize {
        match all || self.width() == usize::MAX {
            true => usize::MAX,
            false => MAX_ROWS,
        }
    }

    /// The command's answer: JSON when asked for, else what `render` writes, fitted to the terminal.
    pub(crate) fn data<T: Serialize>(
        &mut self,
        data: &T,
        render: impl FnOnce(&mut String) -> fmt::Result,
    ) -> io::Result<()> {
        let width = self.width();
        self.answer(data, render, width, None)
    }

    /// An answer whose text is another's, line for line: a skill, a prompt.
    pub(crate) fn document<T: Serialize>(
        &mut self,
        data: &T,
        render: impl FnOnce(&mut String) -> fmt::Result,
    ) -> io::Result<()> {
        self.answer(data, render, usize::MAX, None)
    }

    /// An answer that grows with what is remembered: a screen shows its beginning, and the command
    /// into a pager the rest.
    pub(crate) fn beginning<T: Serialize>(
        &mut self,
        data: &T,
        command: &str,
        render: impl FnOnce(&mut String) -> fmt::Result,
    ) -> io::Result<()> {
        let width = self.width();
        self.answer(data, render, width, Some(command))
    }

    fn answer<T: Serialize>(
        &mut self,
        data: &T,
        render: impl FnOnce(&mut String) -> fmt::Result,
        width: usize,
        pager: Option<&str>,
    ) -> io::Result<()> {
        if self.json {
            let text = serde_json::to_string_pretty(&readable(data)?).map_err(io::Error::other)?;
            return self.write(&format!("{text}\n"));
        }
        let mut text = String::new();
        render(&mut text).map_err(io::Error::other)?;
        let fitted = self.fit(&text, width);
        match pager {
            Some(command) => self.write(&beginning(&fitted, width, command)),
            None => self.write(&fitted),
        }
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
        self.end_notice();
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
        if self.keep(text) {
            return Ok(());
        }
        self.end_notice();
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }

    /// Text that is itself the answer, fitted to the terminal.
    pub(crate) fn passage(&mut self, text: &str) -> io::Result<()> {
        let fitted = self.fit(text, self.width());
        self.text(&fitted)
    }

    /// Help, or what is wrong with a command line, fitted to the terminal.
    pub(crate) fn help(&mut self, text: &str, is_fault: bool) {
        // A closed stream is ignored.
        let _ = match is_fault {
            true => {
                self.ask(text);
                Ok(())
            }
            false => self.passage(text),
        };
    }

    /// Text as it is, every byte of it, for a pipe.
    pub(crate) fn raw(&mut self, text: &str) -> io::Result<()> {
        if self.keep(text) {
            return Ok(());
        }
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
        if self.keep(text) {
            return Ok(());
        }
        self.end_notice();
        ignore_closed(self.out.write_all(text.as_bytes()))
    }

    /// Something worth knowing that is not the answer.
    pub(crate) fn note(&mut self, text: &str) {
        if !self.quiet && !self.json {
            self.message("", text);
        }
    }

    /// Something that is not as it should be.
    pub(crate) fn warn(&mut self, text: &str) {
        if !self.quiet {
            self.message(&format!("{} ", "warning:".style(Style::new().yellow().bold())), text);
        }
    }

    /// A next step.
    pub(crate) fn hint(&mut self, text: &str) {
        if !self.quiet {
            self.message(&format!("{} ", "hint:".style(Style::new().cyan().bold())), text);
        }
    }

    /// What went wrong.
    pub(crate) fn error(&mut self, text: &str) {
        self.message(&format!("{} ", "error:".style(Style::new().red().bold())), text);
    }

    /// A message behind its label; further lines of it stand below the first.
    fn message(&mut self, label: &str, text: &str) {
        let mut lines = text.trim().lines();
        let mut shown = format!("{label}{}\n", safe(lines.next().unwrap_or_default()));
        for line in lines {
            shown.push_str("  ");
            shown.push_str(&Untrusted::new(line.trim_end()).for_terminal());
            shown.push('\n');
        }
        let fitted = self.fit(&shown, self.message_width());
        self.say(&fitted);
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
        if self.keep(text) {
            return;
        }
        self.end_notice();
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

/// No bar stays behind, not even where the work failed.
impl Drop for ProgressBar {
    fn drop(&mut self) {
        self.finish();
    }
}

/// The reader closed the pipe early; that is not an error.
fn ignore_closed(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// A terminal narrower than this is not laid out for: nothing would be left of a row.
const MIN_WIDTH: usize = 40;
/// Where a terminal does not say how wide it is.
const USUAL_WIDTH: usize = 100;

fn terminal_width() -> usize {
    let size = terminal_size::terminal_size();
    size.map_or(USUAL_WIDTH, |(width, _)| usize::from(width.0)).max(MIN_WIDTH)
}
