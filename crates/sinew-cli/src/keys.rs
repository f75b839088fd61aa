//! One key at a time from a terminal, without Enter.

use std::io;
use std::time::{Duration, Instant};

use crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers, poll, read};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};

/// The next key, in lower case; `None` at the end of input.
pub(crate) fn next() -> io::Result<Option<char>> {
    let _raw = RawTerminal::on()?;
    loop {
        let Event::Key(key) = read()? else { continue };
        if key.kind == KeyEventKind::Release {
            continue;
        }
        match key.code {
            KeyCode::Char('c' | 'd') if key.modifiers.contains(KeyModifiers::CONTROL) => {
                return Ok(None);
            }
            KeyCode::Esc => return Ok(None),
            KeyCode::Char(c) => return Ok(c.to_lowercase().next()),
            _ => {}
        }
    }
}

/// The next key of any kind, in lower case where it is a letter and a space where it is none; `None`
/// for Ctrl-C, Escape, and as soon as `stop` says so.
pub(crate) fn any(stop: impl Fn() -> bool) -> io::Result<Option<char>> {
    let _raw = RawTerminal::on()?;
    loop {
        if stop() {
            return Ok(None);
        }
        if !poll(GLANCE)? {
            continue;
        }
        let Event::Key(key) = read()? else { continue };
        if key.kind == KeyEventKind::Release {
            continue;
        }
        return Ok(match key.code {
            KeyCode::Char('c' | 'd') if key.modifiers.contains(KeyModifiers::CONTROL) => None,
            KeyCode::Esc => None,
            KeyCode::Char(c) => c.to_lowercase().next(),
            _ => Some(' '),
        });
    }
}

/// How often is looked whether to go on waiting.
const GLANCE: Duration = Duration::from_millis(100);

/// The first of these keys that is pressed within a time; `None` when none is. Ctrl-C counts as one.
pub(crate) fn within(time: Duration, wanted: &[char]) -> io::Result<Option<char>> {
    let _raw = RawTerminal::on()?;
    let start = Instant::now();
    loop {
        let left = time.saturating_sub(start.elapsed());
        if left.is_zero() || !poll(left)? {
            return Ok(None);
        }
        let Event::Key(key) = read()? else { continue };
        if key.kind == KeyEventKind::Release {
            continue;
        }
        match key.code {
            KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => {
                return Ok(Some('c'));
            }
            KeyCode::Char(c) if wanted.contains(&c.to_ascii_lowercase()) => {
                return Ok(Some(c.to_ascii_lowercase()));
            }
            _ => {}
        }
    }
}

/// A terminal that hands over keys as they are pressed, and is as it was afterwards.
struct RawTerminal;

impl RawTerminal {
    fn on() -> io::Result<Self> {
        enable_raw_mode().map(|()| Self)
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        let _ = disable_raw_mode();
    }
}
