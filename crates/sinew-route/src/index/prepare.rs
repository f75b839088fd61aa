//! Reads documents for the index: words per field, static vectors, the encoder's text.

use std::collections::HashMap;

use crate::document::{DocumentTexts, RouteDocument};
use crate::lexical::FIELD_COUNT;
use crate::text::language::Language;
use crate::text::words::{WordExtractor, raw_words};
use sinew_models::StaticModel;
use sinew_models::quantise;

/// How often a term occurs in each field of a document.
pub(super) type TermCounts = (u32, [u8; FIELD_COUNT]);

/// What the index stores of one document.
pub(super) struct PreparedDocument {
    pub(super) lengths: [u32; FIELD_COUNT],
    /// Terms by their numbers in the batch, each once.
    pub(super) words: Vec<TermCounts>,
    pub(super) head: ByteVector,
    pub(super) body: ByteVector,
    pub(super) encoder_text: String,
}

/// Documents that were read together, with all their terms.
#[derive(Default)]
pub(super) struct DocumentBatch {
    pub(super) terms: Vec<Box<str>>,
    pub(super) documents: Vec<PreparedDocument>,
}

impl DocumentBatch {
    /// Reads documents one after another.
    pub(super) fn read<'a>(
        documents: impl Iterator<Item = &'a RouteDocument>,
        table: Option<&StaticModel>,
    ) -> Self {
        let mut reader =
            DocumentReader { table, dictionary: TermDictionary::default(), place: Vec::new() };
        let documents = documents.map(|document| reader.read(document)).collect();
        Self { documents, terms: reader.dictionary.names }
    }
}

/// A vector in signed bytes.
pub(super) struct ByteVector {
    pub(super) bytes: Vec<i8>,
    pub(super) scale: f32,
}

impl ByteVector {
    pub(super) fn of(values: &[f32]) -> Self {
        let mut bytes = vec![0; values.len()];
        let scale = quantise(values, &mut bytes);
        Self { bytes, scale }
    }
}

/// Terms and their numbers; raw words that were seen before are not split and stemmed again.
#[derive(Default)]
struct TermDictionary {
    languages: HashMap<Language, LanguageWords>,
    split: Vec<u32>,
    numbers: HashMap<Box<str>, u32>,
    names: Vec<Box<str>>,
}

/// The words of a language seen so far.
struct LanguageWords {
    words: WordExtractor,
    /// Raw words → the position of their terms' numbers in `split`.
    known: HashMap<Box<str>, (u32, u32)>,
}

impl TermDictionary {
    /// Calls `found` with the numbers of the terms of each raw word of a text.
    fn each(&mut self, text: &str, language: Language, mut found: impl FnMut(&[u32])) {
        let LanguageWords { words, known } = self.languages.entry(language).or_insert_with(|| {
            LanguageWords { words: WordExtractor::new(language), known: HashMap::new() }
        });
        for raw in raw_words(text) {
            let (start, end) = match known.get(raw) {
                Some(range) => *range,
                None => {
                    let start = self.split.len() as u32;
                    words.of_raw(raw, &mut |term| {
                        self.split.push(number(&mut self.numbers, &mut self.names, term));
                    });
                    let range = (start, self.split.len() as u32);
                    known.insert(raw.into(), range);
                    range
                }
            };
            found(&self.split[start as usize..end as usize]);
        }
    }
}

fn number(numbers: &mut HashMap<Box<str>, u32>, names: &mut Vec<Box<str>>, term: &str) -> u32 {
    if let Some(&number) = numbers.get(term) {
        return number;
    }
    let number = names.len() as u32;
    names.push(term.into());
    numbers.insert(term.into(), number);
    number
}

struct DocumentReader<'a> {
    table: Option<&'a StaticModel>,
    dictionary: TermDictionary,
    /// Term → its position among the words of the current document.
    place: Vec<u32>,
}

/// The position of a term that the current document does not have yet.
const NOWHERE: u32 = u32::MAX;

impl DocumentReader<'_> {
    fn read(&mut self, document: &RouteDocument) -> PreparedDocument {
        let texts = DocumentTexts::of(document);
        let mut words: Vec<TermCounts> = Vec::new();
        let mut lengths = [0_u32; FIELD_COUNT];
        for (field, text) in texts.fields.iter().enumerate() {
            self.dictionary.each(text, texts.language, |numbers| {
                lengths[field] += numbers.len() as u32;
                for &number in numbers {
                    if self.place.len() <= number as usize {
                        self.place.resize(number as usize + 1, NOWHERE);
                    }
                    let place = &mut self.place[number as usize];
                    if *place == NOWHERE {
                        *place = words.len() as u32;
                        words.push((number, [0; FIELD_COUNT]));
                    }
                    let count = &mut words[*place as usize].1[field];
                    *count = count.saturating_add(1);
                }
            });
        }
        words.iter().for_each(|(number, _)| self.place[*number as usize] = NOWHERE);
        let embed = |text: &str| match self.table {
            Some(table) => ByteVector::of(&table.document(text)),
            None => ByteVector { bytes: Vec::new(), scale: 0.0 },
        };
        PreparedDocument {
            lengths,
            words,
            head: embed(&texts.static_head),
            body: embed(&texts.static_body),
            encoder_text: texts.encoder,
        }
    }
}
