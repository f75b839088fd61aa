//! YAML: one block of ours between two marks, every other line as it was.
//!
//! No YAML editor keeps what it does not understand, so this one handles one case only: a map at the
//! top level, written as a block, into which a block is put. Anything else is left alone and reported.

use granit_parser::{Event, Parser};
use serde_json::Value;

use super::{ConfigEditError, shape, yaml_value};

const BEGIN: &str = "# >>> sinew (written by `sinew connect`)";
const END: &str = "# <<< sinew";

pub(crate) struct YamlConfig {
    text: String,
}

impl YamlConfig {
    pub(super) fn read(text: &str) -> Result<Self, ConfigEditError> {
        check(text)?;
        Ok(Self { text: text.to_owned() })
    }

    fn newline(&self) -> &'static str {
        if self.text.contains("\r\n") { "\r\n" } else { "\n" }
    }

    /// Whole lines with their ends.
    fn lines(&self) -> Vec<&str> {
        self.text.split_inclusive('\n').collect()
    }

    /// The entry between our marks, or the one under our name without them: the agent drops comments
    /// when it writes its file anew. One that cannot be read is given as its lines, which equal nothing.
    pub(super) fn get(&self, at: &[&str]) -> Option<Value> {
        let [parent, name] = at else { return None };
        let lines = self.lines();
        let lines = match self.block() {
            Some((first, last)) => &lines[first + 1..last],
            None => {
                let (first, end) = self.foreign(parent, name)?;
                &lines[first..end]
            }
        };
        let text = normal(&lines.concat());
        Some(entry_of_lines(&text).unwrap_or(Value::String(text)))
    }

    pub(super) fn has(&self, at: &[&str]) -> bool {
        match at {
            [key] => self.key(key).is_some(),
            at => self.get(at).is_some(),
        }
    }

    /// Whether nothing but blank lines stands below a top-level key.
    pub(super) fn is_empty(&self, at: &[&str]) -> bool {
        let [key] = at else { return false };
        self.key(key).is_some_and(|start| self.end_of(start) == start + 1)
    }

    /// The lines of an entry that is not between our marks.
    fn foreign(&self, parent: &str, name: &str) -> Option<(usize, usize)> {
        let lines = self.lines();
        let start = self.key(parent)?;
        let mut places = start + 1..self.end_of(start);
        let depth = places.clone().find(|at| !is_blank(lines[*at])).map(|at| indent(lines[at]))?;
        // An entry of the map itself; the name may occur deeper in another one.
        let is_entry = |at: &usize| indent(lines[*at]) == depth && key_of(lines[*at]) == Some(name);
        let first = places.find(is_entry)?;
        let inside = |at: &usize| is_blank(lines[*at]) || indent(lines[*at]) > indent(lines[first]);
        Some((first, first + 1 + places.take_while(inside).count()))
    }

    pub(super) fn put(&mut self, at: &[&str], value: &Value) -> Result<(), ConfigEditError> {
        let [parent, name] = at else { return Err(shape(at)) };
        self.remove(at);
        let newline = self.newline();
        let mut text = std::mem::take(&mut self.text);
        let fenced = |depth: &str| {
            let inside = block(name, value, depth, newline);
            format!("{depth}{BEGIN}{newline}{inside}{depth}{END}{newline}")
        };
        self.text.clone_from(&text);
        match self.key(parent) {
            None => {
                if !text.is_empty() && !text.ends_with('\n') {
                    text.push_str(newline);
                }
                text.push_str(&format!("{parent}:{newline}{}", fenced("  ")));
            }
            Some(start) => {
                let lines = self.lines();
                let rest = lines[start].split_once(':').map_or("", |(_, rest)| rest.trim());
                if !rest.is_empty() && !rest.starts_with('#') {
                    return Err(shape(&at[..1]));
                }
                let children = &lines[start + 1..self.end_of(start)];
                let depth = children.iter().find(|line| !is_blank(line)).map_or(2, |l| indent(l));
                let open = if lines[start].ends_with('\n') { "" } else { newline };
                let (before, after) = (lines[..=start].concat(), lines[start + 1..].concat());
                text = format!("{before}{open}{}{after}", fenced(&" ".repeat(depth)));
            }
        }
        check(&text)?;
        self.text = text;
        Ok(())
    }

    pub(super) fn remove(&mut self, at: &[&str]) {
        if let Some((first, last)) = self.block() {
            let lines = self.lines();
            self.text = [&lines[..first], &lines[last + 1..]].concat().concat();
            return;
        }
        let range = match at {
            [parent, name] => self.foreign(parent, name),
            // A map that we made and that is empty again.
            [key] => {
                self.key(key).map(|at| (at, at + 1)).filter(|(at, end)| self.end_of(*at) == *end)
            }
            _ => None,
        };
        if let Some((first, end)) = range {
            let lines = self.lines();
            self.text = [&lines[..first], &lines[end..]].concat().concat();
        }
    }

    pub(super) fn text(&self) -> String {
        self.text.clone()
    }

    /// Our marks, as line numbers.
    fn block(&self) -> Option<(usize, usize)> {
        let lines = self.lines();
        let first = lines.iter().position(|line| line.trim() == BEGIN)?;
        let last = lines.iter().skip(first).position(|line| line.trim() == END)?;
        Some((first, first + last))
    }

    /// The line of a key at the top level.
    fn key(&self, key: &str) -> Option<usize> {
        self.lines().iter().position(|line| indent(line) == 0 && key_of(line) == Some(key))
    }

    /// Where the lines below a top-level key end.
    fn end_of(&self, start: usize) -> usize {
        let lines = self.lines();
        let below =
            lines.iter().skip(start + 1).take_while(|line| is_blank(line) || indent(line) > 0);
        let mut end = start + 1 + below.count();
        while end > start + 1 && is_blank(lines[end - 1]) {
            end -= 1;
        }
        end
    }
}

/// The entry as lines, `depth` to the right.
fn block(name: &str, value: &Value, depth: &str, newline: &str) -> String {
    let mut text = format!("{depth}{name}:{newline}");
    if let Value::Object(fields) = value {
        for (field, value) in fields {
            // JSON is YAML, and quotes whatever a text may hold.
            text.push_str(&format!("{depth}  {field}: {value}{newline}"));
        }
    }
    text
}

/// The value of an entry that is given as its lines: its name, and its fields below.
pub(super) fn entry_of_lines(lines: &str) -> Option<Value> {
    match yaml_value::read(lines)? {
        Value::Object(fields) if fields.len() == 1 => {
            fields.into_iter().next().map(|(_, entry)| entry)
        }
        _ => None,
    }
}

/// The lines without what they are indented by, for reading them alone.
fn normal(text: &str) -> String {
    let least = text.lines().filter(|line| !is_blank(line)).map(indent).min().unwrap_or(0);
    let lines = text.lines().map(|line| line.get(least..).unwrap_or_default().trim_end());
    lines.collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// A comment counts as nothing: it belongs to whatever is around it.
fn is_blank(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}

fn key_of(line: &str) -> Option<&str> {
    let line = line.trim();
    let (key, rest) = line.split_once(':')?;
    let plain = rest.is_empty() || rest.starts_with([' ', '\t']);
    plain.then(|| key.trim_matches(['"', '\'']))
}

/// Whether it is YAML at all.
fn check(text: &str) -> Result<(), ConfigEditError> {
    let mut parser = Parser::new_from_str(text);
    let mut depth = 0_usize;
    loop {
        match parser.next_event() {
            None | Some(Ok((Event::StreamEnd, _))) => return Ok(()),
            Some(Ok((event, _))) => match event {
                // A file of comments is an empty value, for which the parser says `~`.
                Event::Scalar(text, ..) if depth == 0 && matches!(&*text, "" | "~") => {}
                Event::Scalar(..) | Event::SequenceStart(..) if depth == 0 => {
                    return Err(shape(&["the top level"]));
                }
                Event::MappingStart(..) => depth += 1,
                Event::MappingEnd => depth = depth.saturating_sub(1),
                _ => {}
            },
            Some(Err(error)) => {
                return Err(ConfigEditError::Syntax {
                    line: error.marker().line(),
                    column: error.marker().col() + 1,
                    what: error.info(),
                });
            }
        }
    }
}
