//! What the requests and rules of learned skills mean, computed once: a message is compared with all of
//! them, and there is time to encode only the message.
//!
//! A cache, as a file: its first line names the encoder and the table that it was made with, then come
//! entries of one length each. What is damaged, or was made with others, is as good as empty.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use sha2::{Digest as _, Sha256};
use sinew_route::Embedder;

use super::fit::{ActivityFit, MessageMeaning};
use super::table::table_digest;
use super::taught_skill::TaughtSkill;

/// Numbers are kept as whole ones, this many to one.
const SCALE: f32 = 8_192.0;
/// How much of a text's hash is its key.
const KEY: usize = 16;

type TextKey = [u8; KEY];

/// A text of a learned skill.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TextMeaning {
    pub(super) vector: Vec<f32>,
    pub(super) fit: Vec<f32>,
}

/// The meanings of the texts of learned skills.
#[derive(Debug, Clone, Default)]
pub struct TaughtMemory {
    head: String,
    known: BTreeMap<TextKey, TextMeaning>,
    is_changed: bool,
}

static TABLE_DIGEST: LazyLock<String> = LazyLock::new(table_digest);

fn key(text: &str) -> TextKey {
    let mut key = [0; KEY];
    for (to, from) in key.iter_mut().zip(Sha256::digest(text)) {
        *to = from;
    }
    key
}

impl TaughtMemory {
    /// An empty one for an encoder.
    pub fn for_encoder(encoder: &dyn Embedder) -> Self {
        let head = format!("sinew-taught-1 {} {}\n", encoder.id(), *TABLE_DIGEST);
        Self { head, ..Self::default() }
    }

    /// What a file holds, where it was made with the same encoder and table.
    pub fn read(bytes: &[u8], encoder: &dyn Embedder) -> Self {
        let mut memory = Self::for_encoder(encoder);
        if let Some(known) = memory.entries(bytes, encoder.dims()) {
            memory.known = known;
        }
        memory
    }

    fn entries(&self, bytes: &[u8], dims: usize) -> Option<BTreeMap<TextKey, TextMeaning>> {
        let entries = bytes.strip_prefix(self.head.as_bytes())?;
        let numbers = dims + ActivityFit::count();
        let whole = entries.chunks_exact(KEY + 2 * numbers);
        if !whole.remainder().is_empty() {
            return None;
        }
        let read = whole.map(|entry| {
            let (key, rest) = entry.split_first_chunk::<KEY>()?;
            let mut numbers = rest.chunks_exact(2).map(|pair| {
                let number = pair.try_into().map(i16::from_le_bytes).unwrap_or_default();
                f32::from(number) / SCALE
            });
            let vector = numbers.by_ref().take(dims).collect();
            Some((*key, TextMeaning { vector, fit: numbers.collect() }))
        });
        read.collect()
    }

    /// The file for what it holds now.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut file = self.head.clone().into_bytes();
        for (key, meaning) in &self.known {
            file.extend(key);
            for number in meaning.vector.iter().chain(&meaning.fit) {
                let whole = (number * SCALE).round().clamp(-32_767.0, 32_767.0) as i16;
                file.extend(whole.to_le_bytes());
            }
        }
        file
    }

    /// Whether it holds more or less than the file that it was read from.
    pub fn is_changed(&self) -> bool {
        self.is_changed
    }

    /// Learns what the texts of these skills mean, for as long as `goes_on`, and forgets all others.
    pub fn follow(
        &mut self,
        skills: &[TaughtSkill],
        encoder: &dyn Embedder,
        goes_on: &dyn Fn() -> bool,
    ) {
        let wanted: BTreeMap<TextKey, &str> =
            skills.iter().flat_map(TaughtSkill::texts).map(|text| (key(text), text)).collect();
        let before = self.known.len();
        self.known.retain(|key, _| wanted.contains_key(key));
        self.is_changed |= self.known.len() != before;
        for (key, text) in wanted {
            if self.known.contains_key(&key) {
                continue;
            }
            if !goes_on() {
                return;
            }
            let meaning = MessageMeaning::of(text, Some(encoder));
            let Some(vector) = meaning.vector() else { continue };
            let vector = vector.to_vec();
            let fit = ActivityFit::of(&meaning).scores().to_vec();
            self.known.insert(key, TextMeaning { vector, fit });
            self.is_changed = true;
        }
    }

    pub(super) fn meaning(&self, text: &str) -> Option<&TextMeaning> {
        self.known.get(&key(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_route::TextEncoder;

    fn skill(asked: &str) -> TaughtSkill {
        TaughtSkill { asked: vec![asked.to_owned()], ..TaughtSkill::default() }
    }

    #[test]
    fn what_was_computed_is_read_again_and_what_is_damaged_is_not() {
        let Some(Ok(encoder)) = TextEncoder::embedded() else { return };
        let mut memory = TaughtMemory::for_encoder(&encoder);
        memory.follow(&[skill("commit this")], &encoder, &|| true);
        assert!(memory.is_changed());
        let bytes = memory.to_bytes();
        let again = TaughtMemory::read(&bytes, &encoder);
        assert!(!again.is_changed());
        let (old, new) = (memory.meaning("commit this"), again.meaning("commit this"));
        let near = |a: &TextMeaning, b: &TextMeaning| {
            a.vector.iter().zip(&b.vector).all(|(a, b)| (a - b).abs() < 0.001)
                && a.fit.iter().zip(&b.fit).all(|(a, b)| (a - b).abs() < 0.001)
        };
        assert!(near(old.expect("known"), new.expect("known")));
        for damaged in [&bytes[..bytes.len() - 1], &bytes[1..], b"".as_slice()] {
            assert!(TaughtMemory::read(damaged, &encoder).meaning("commit this").is_none());
        }
    }

    #[test]
    fn texts_that_are_gone_are_forgotten_and_no_time_means_no_work() {
        let Some(Ok(encoder)) = TextEncoder::embedded() else { return };
        let mut memory = TaughtMemory::for_encoder(&encoder);
        memory.follow(&[skill("commit this")], &encoder, &|| false);
        assert!(memory.meaning("commit this").is_none() && !memory.is_changed());
        memory.follow(&[skill("commit this")], &encoder, &|| true);
        memory.follow(&[skill("push it")], &encoder, &|| true);
        assert!(memory.meaning("commit this").is_none());
        assert!(memory.meaning("push it").is_some());
    }
}
