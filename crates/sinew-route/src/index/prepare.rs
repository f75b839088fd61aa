//! Reads one document for the index: words per field, static vectors, the encoder's text.

use std::collections::HashMap;
use std::sync::Arc;

use crate::document::{Document, Texts};
use crate::lexical::FIELD_COUNT;
use crate::model::math::quantise;
use crate::model::static_table::StaticModel;
use crate::text::language::Language;
use crate::text::words::{Words, raw_words};

/// What the index keeps of one document.
pub(super) struct Prepared {
    pub(super) lengths: [u32; FIELD_COUNT],
    pub(super) words: Vec<(Arc<str>, [u8; FIELD_COUNT])>,
    pub(super) head: Vector,
    pub(super) body: Vector,
    pub(super) encoder_text: String,
}

/// A vector in signed bytes.
pub(super) struct Vector {
    pub(super) bytes: Vec<i8>,
    pub(super) scale: f32,
}

impl Vector {
    pub(super) fn of(values: &[f32]) -> Self {
        let mut bytes = vec![0; values.len()];
        let scale = quantise(values, &mut bytes);
        Self { bytes, scale }
    }
}

/// Reads documents one after another; words met before are not stemmed again.
pub(super) struct Reader<'a> {
    table: Option<&'a StaticModel>,
    english: Words,
    known: HashMap<String, Arc<[Arc<str>]>>,
}

/// More distinct words than this are forgotten, so that a hostile catalog cannot fill memory.
const MAX_KNOWN: usize = 400_000;

impl<'a> Reader<'a> {
    pub(super) fn new(table: Option<&'a StaticModel>) -> Self {
        Self { table, english: Words::new(Language::En), known: HashMap::new() }
    }

    pub(super) fn read(&mut self, document: &Document) -> Prepared {
        let texts = Texts::of(document);
        let mut counts: HashMap<Arc<str>, [u8; FIELD_COUNT]> = HashMap::new();
        let mut lengths = [0_u32; FIELD_COUNT];
        let other = (texts.language != Language::En).then(|| Words::new(texts.language));
        for (field, text) in texts.fields.iter().enumerate() {
            for raw in raw_words(text) {
                let words = match &other {
                    None => self.known(raw),
                    Some(words) => split(words, raw),
                };
                for word in words.iter() {
                    lengths[field] += 1;
                    let count = &mut counts.entry(Arc::clone(word)).or_default()[field];
                    *count = count.saturating_add(1);
                }
            }
        }
        let embed = |text: &str| match self.table {
            Some(table) => Vector::of(&table.document(text)),
            None => Vector { bytes: Vec::new(), scale: 0.0 },
        };
        Prepared {
            lengths,
            words: counts.into_iter().collect(),
            head: embed(&texts.static_head),
            body: embed(&texts.static_body),
            encoder_text: texts.encoder,
        }
    }

    fn known(&mut self, raw: &str) -> Arc<[Arc<str>]> {
        if let Some(words) = self.known.get(raw) {
            return Arc::clone(words);
        }
        let words = split(&self.english, raw);
        if self.known.len() < MAX_KNOWN && raw.len() <= 40 {
            self.known.insert(raw.to_owned(), Arc::clone(&words));
        }
        words
    }
}

fn split(words: &Words, raw: &str) -> Arc<[Arc<str>]> {
    let mut out: Vec<Arc<str>> = Vec::new();
    words.of_raw(raw, &mut |word| out.push(Arc::from(word)));
    out.into()
}
