//! Texts that a program puts together or decodes.

use std::rc::Rc;

use super::super::decode;
use super::calls::CallInput;
use super::flow::ProgramFlow;
use super::library::Codec;
use super::value::{FlowValue, UNKNOWN, ValueOrigin, concat};

impl ProgramFlow<'_> {
    pub(super) fn decode(&mut self, codec: Codec, input: &CallInput) -> FlowValue {
        let first = input.first();
        let mut value = first.derived();
        if codec == Codec::Chars {
            let numbers: Option<String> = input
                .plain
                .iter()
                .map(|value| {
                    value.number.and_then(|n| u32::try_from(n).ok()).and_then(char::from_u32)
                })
                .collect();
            value.text = numbers.filter(|text| !text.is_empty()).map(Rc::from);
            value.origin = value.origin | ValueOrigin::DECODED;
            return value;
        }
        let option = input.plain.get(1).and_then(|value| value.text.clone());
        let text = first.text.as_deref().filter(|text| !text.contains(UNKNOWN));
        let codec = match (codec, option.as_deref()) {
            (Codec::Buffer, Some("base64" | "base64url")) => Codec::Base64,
            (Codec::Buffer, Some("hex")) => Codec::Hex,
            (Codec::Buffer, _) => return first,
            (Codec::Codecs, Some(name)) if name.contains("13") => {
                value.text = text.map(|text| Rc::from(decode::rot13(text)));
                value.origin = value.origin | ValueOrigin::DECODED;
                if let Some(text) = value.text.clone() {
                    self.reveal(input.line, &text, true);
                }
                return value;
            }
            (Codec::Codecs, Some(name)) if name.contains("hex") => Codec::Hex,
            (Codec::Codecs, Some(name)) if name.contains("base64") => Codec::Base64,
            (Codec::Codecs, _) => return first,
            (codec, _) => codec,
        };
        let bytes = text.and_then(|text| match codec {
            Codec::Base64 => decode::base64(text.trim().as_bytes()),
            Codec::Hex => unhex(text),
            Codec::Base85 => base85(text.as_bytes()),
            Codec::Percent => Some(unpercent(text)),
            _ => None,
        });
        if codec == Codec::Percent && bytes.as_deref() == text.map(str::as_bytes) {
            return first;
        }
        value.origin = value.origin | ValueOrigin::DECODED;
        value.head = value.head | ValueOrigin::DECODED;
        if let Some(bytes) = bytes
            && decode::is_text(&bytes)
        {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            self.reveal(input.line, &text, true);
            value.text = Some(Rc::from(text));
        }
        value
    }

    /// Methods of texts, where the text is known.
    pub(super) fn text_method(&mut self, method: &str, input: &CallInput) -> Option<FlowValue> {
        let receiver = &input.receiver;
        let keep = |text: String| {
            Some(FlowValue {
                text: Some(Rc::from(text)),
                number: None,
                file: None,
                path: None,
                ..receiver.clone()
            })
        };
        match method {
            "join" => {
                let separator = receiver.text.clone();
                // Python's separator is the object, JavaScript's the argument.
                let (list, separator) = match separator {
                    Some(separator) if receiver.items.is_none() => (input.first(), separator),
                    _ => (receiver.clone(), input.first().text.unwrap_or_else(|| Rc::from(","))),
                };
                let mut joined = match &list.items {
                    Some(items) => concat(items.iter(), &separator),
                    None => list.derived(),
                };
                if joined.origin.has(ValueOrigin::DECODED)
                    && let Some(text) = joined.text.clone()
                {
                    self.reveal(input.line, &text, true);
                }
                joined.tainted_by(&list);
                Some(joined)
            }
            "split" if receiver.text.is_some() && input.first().text.as_deref() == Some("") => {
                let items = receiver.spelled().chars().map(|c| FlowValue::of_text(c.to_string()));
                Some(FlowValue { items: Some(Rc::new(items.collect())), ..receiver.derived() })
            }
            "reverse" if receiver.items.is_some() => {
                let items = receiver.items.as_ref()?.iter().rev().cloned().collect();
                let mut value = FlowValue { items: Some(Rc::new(items)), ..receiver.derived() };
                value.origin = value.origin | ValueOrigin::DECODED;
                Some(value)
            }
            "lower" | "toLowerCase" => keep(receiver.text.as_ref()?.to_lowercase()),
            "upper" | "toUpperCase" => keep(receiver.text.as_ref()?.to_uppercase()),
            "strip" | "trim" | "rstrip" | "lstrip" if input.plain.is_empty() => {
                keep(receiver.text.as_ref()?.trim().to_owned())
            }
            "encode" | "decode" | "toString" | "expanduser" | "resolve" | "absolute"
            | "as_posix" | "to_string" | "valueOf"
                if receiver.text.is_some() =>
            {
                Some(receiver.clone())
            }
            "replace" | "replaceAll" => {
                let (from, to) = (input.first().text?, input.plain.get(1)?.text.clone()?);
                if from.is_empty() {
                    return None;
                }
                keep(receiver.text.as_ref()?.replace(&*from, &to))
            }
            "joinpath" if receiver.text.is_some() => {
                Some(concat(std::iter::once(receiver).chain(&input.plain), "/"))
            }
            "format" if receiver.text.is_some() => {
                let mut text = receiver.spelled().to_owned();
                let mut value = receiver.derived();
                for argument in &input.plain {
                    if let Some(at) = text.find("{}") {
                        text.replace_range(at..at + 2, argument.spelled());
                    }
                    value.tainted_by(argument);
                }
                for (number, argument) in input.plain.iter().enumerate() {
                    text = text.replace(&format!("{{{number}}}"), argument.spelled());
                }
                for (name, argument) in &input.named {
                    text = text.replace(&format!("{{{name}}}"), argument.spelled());
                    value.tainted_by(argument);
                }
                value.text = Some(Rc::from(text));
                Some(value)
            }
            "concat" if receiver.text.is_some() => {
                Some(concat(std::iter::once(receiver).chain(&input.plain), ""))
            }
            _ => None,
        }
    }
}

/// `bytes([99, 117, …])`
pub(super) fn spelled_numbers(items: &[FlowValue]) -> Option<String> {
    if items.is_empty() {
        return None;
    }
    let letter = |item: &FlowValue| {
        item.number.and_then(|number| u32::try_from(number).ok()).and_then(char::from_u32)
    };
    items.iter().map(letter).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let text: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let pair = |pair: &[u8]| {
        let pair = std::str::from_utf8(pair).ok()?;
        u8::from_str_radix(pair, 16).ok()
    };
    (text.len().is_multiple_of(2)).then(|| text.chunks(2).map(pair).collect()).flatten()
}

fn unpercent(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = text.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    out
}

/// Git's base 85, as `b85decode` reads it.
fn base85(text: &[u8]) -> Option<Vec<u8>> {
    const ALPHABET: &[u8; 85] =
        b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
    let mut out = Vec::with_capacity(text.len() * 4 / 5 + 4);
    for chunk in text.chunks(5) {
        let mut value: u64 = 0;
        for number in 0..5 {
            let digit = match chunk.get(number) {
                Some(byte) => ALPHABET.iter().position(|letter| letter == byte)?,
                None => 84,
            };
            value = value * 85 + digit as u64;
        }
        let bytes = u32::try_from(value).ok()?.to_be_bytes();
        out.extend_from_slice(&bytes[..chunk.len().saturating_sub(1).min(4)]);
    }
    Some(out)
}
