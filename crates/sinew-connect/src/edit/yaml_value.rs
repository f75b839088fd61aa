//! A YAML text as a value, for comparing what a file says with what was written into it.
//!
//! Read leniently: an anchor or a tag is ignored, an alias has no value. Nothing is decided by this but
//! whether an entry still says the same.

use granit_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Number, Value};

/// Deeper nesting is not an entry of an agent: theirs have three levels.
const MAX_DEPTH: usize = 32;

/// The value of a text; `None` where it is not YAML or nested too deeply.
pub(super) fn read(text: &str) -> Option<Value> {
    let mut parser = Parser::new_from_str(text);
    loop {
        match parser.next_event()?.ok()?.0 {
            Event::StreamStart | Event::DocumentStart(..) => {}
            Event::StreamEnd | Event::DocumentEnd => return Some(Value::Null),
            event => return node(&mut parser, event, 0),
        }
    }
}

fn node<'a>(
    parser: &mut Parser<'a, granit_parser::StrInput<'a>>,
    event: Event<'a>,
    depth: usize,
) -> Option<Value> {
    if depth > MAX_DEPTH {
        return None;
    }
    match event {
        Event::Scalar(text, ScalarStyle::Plain, ..) => Some(plain(&text)),
        Event::Scalar(text, ..) => Some(Value::String(text.into_owned())),
        Event::SequenceStart(..) => {
            let mut items = Vec::new();
            loop {
                match parser.next_event()?.ok()?.0 {
                    Event::SequenceEnd => return Some(Value::Array(items)),
                    event => items.push(node(parser, event, depth + 1)?),
                }
            }
        }
        Event::MappingStart(..) => {
            let mut fields = Map::new();
            loop {
                let name = match parser.next_event()?.ok()?.0 {
                    Event::MappingEnd => return Some(Value::Object(fields)),
                    Event::Scalar(name, ..) => name.into_owned(),
                    _ => return None,
                };
                let event = parser.next_event()?.ok()?.0;
                fields.insert(name, node(parser, event, depth + 1)?);
            }
        }
        Event::Alias(_) => Some(Value::Null),
        _ => None,
    }
}

/// A scalar without quotes, by YAML's core schema.
fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        text => {
            let whole = text.parse::<i64>().ok().map(Number::from);
            let is_decimal = text.starts_with(|c: char| c.is_ascii_digit() || c == '-');
            let decimal = || text.parse().ok().filter(|_| is_decimal).and_then(Number::from_f64);
            whole.or_else(decimal).map_or_else(|| Value::String(text.to_owned()), Value::Number)
        }
    }
}
