//! Puts documents, old and new, together into the bytes of an index.

use std::borrow::Cow;
use std::collections::HashMap;

use rayon::prelude::*;

use super::layout::{Bytes, SECTIONS, Section};
use super::prepare::{Batch, Counted, Prepared, Vector};
use super::view::{Built, Index, Meta, TextKind};
use crate::document::Document;
use crate::lexical::{Bm25f, FIELD_COUNT, Rarity};
use crate::model::set::Models;

/// Documents that are read together share a dictionary, so that a batch should be large; but there
/// should be one for each thread, and the last should not keep the others waiting.
const BATCH: std::ops::RangeInclusive<usize> = 64..=4_096;

/// Where a document of the new index comes from.
enum Origin<'a> {
    /// Number in the old index.
    Old(&'a Index, usize),
    New(&'a Prepared),
}

/// The words that an index is to know of the documents that it takes over.
#[derive(Clone, Copy)]
pub(super) enum Known<'a> {
    /// Every word.
    All,
    /// These: enough for a message that has no others.
    Only(&'a [&'a str]),
}

/// Builds an index of documents, taking over from `old` what is unchanged.
pub(super) fn assemble(
    documents: &[Document],
    models: &Models,
    params: Bm25f,
    old: Option<&Index>,
    words: Known<'_>,
) -> (Index, Built) {
    let same = |old: &&Index| {
        old.meta.table == models.table_id() && old.meta.template == crate::TEMPLATE_VERSION
    };
    let old = old.filter(same);
    let known: HashMap<(&str, &str), usize> = old
        .iter()
        .flat_map(|old| (0..old.len()).map(|at| ((old.hash(at), old.name(at)), at)))
        .collect();
    let kept: Vec<Option<usize>> = documents
        .iter()
        .map(|document| {
            let key = (document.hash.as_str(), document.name.as_str());
            known.get(&key).copied().filter(|_| !document.hash.is_empty())
        })
        .collect();
    let new: Vec<&Document> = documents
        .iter()
        .zip(&kept)
        .filter(|(_, kept)| kept.is_none())
        .map(|(one, _)| one)
        .collect();
    let table = models.table.as_deref();
    let batch =
        new.len().div_ceil(rayon::current_num_threads()).clamp(*BATCH.start(), *BATCH.end());
    let batches: Vec<Batch> = new
        .par_chunks(batch)
        .map(|documents| Batch::read(documents.iter().copied(), table))
        .collect();
    let mut read = batches.iter().flat_map(|batch| &batch.documents);
    let origins: Vec<Origin<'_>> = kept
        .iter()
        .filter_map(|kept| match (old, kept) {
            (Some(old), Some(at)) => Some(Origin::Old(old, *at)),
            _ => read.next().map(Origin::New),
        })
        .collect();
    let built = Built { kept: documents.len() - new.len(), read: new.len() };
    let terms = Terms::collect(&batches, &kept, old, words);
    (lay_out(documents, &origins, &terms, models, params), built)
}

/// Every term, and the terms of every document.
struct Terms<'a> {
    names: Vec<&'a str>,
    forward: Vec<Vec<Counted>>,
}

impl<'a> Terms<'a> {
    fn collect(
        batches: &'a [Batch],
        kept: &[Option<usize>],
        old: Option<&'a Index>,
        words: Known<'_>,
    ) -> Self {
        let mut forward: Vec<Vec<Counted>> = vec![Vec::new(); kept.len()];
        let mut names: Vec<&'a str> = Vec::new();
        if let Some(old) = old {
            // Sorted terms come first and stay sorted: there is little left to sort.
            names = take_over(old, kept, words, &mut forward);
        }
        let mut numbers: HashMap<&'a str, u32> = HashMap::new();
        if !batches.is_empty() {
            numbers.extend(names.iter().copied().zip(0..));
        }
        let mut new = (0..kept.len()).filter(|&at| kept[at].is_none());
        for batch in batches {
            let renumbered: Vec<u32> = batch
                .terms
                .iter()
                .map(|term| {
                    *numbers.entry(term).or_insert_with(|| {
                        names.push(term);
                        names.len() as u32 - 1
                    })
                })
                .collect();
            for (document, at) in batch.documents.iter().zip(new.by_ref()) {
                let words = document.words.iter();
                forward[at] =
                    words.map(|(term, counts)| (renumbered[*term as usize], *counts)).collect();
            }
        }
        Self { names, forward }
    }
}

/// The terms of an old index that any kept document has; those documents' terms go to `forward`.
fn take_over<'a>(
    old: &'a Index,
    kept: &[Option<usize>],
    words: Known<'_>,
    forward: &mut [Vec<Counted>],
) -> Vec<&'a str> {
    // Old number → new ones, side by side: two documents may have the same content.
    let mut pairs: Vec<(usize, usize)> =
        kept.iter().enumerate().filter_map(|(at, kept)| Some(((*kept)?, at))).collect();
    pairs.sort_unstable();
    let starts: Vec<usize> =
        (0..=old.len()).map(|before| pairs.partition_point(|pair| pair.0 < before)).collect();
    let terms: Vec<usize> = match words {
        Known::All => (0..old.term_count()).collect(),
        Known::Only(words) => {
            let mut terms: Vec<usize> =
                words.iter().filter_map(|word| old.find_term(word)).collect();
            terms.sort_unstable();
            terms.dedup();
            terms
        }
    };
    let mut names = Vec::new();
    for term in terms {
        let mut used = false;
        for posting in old.postings(term) {
            let before = posting.document as usize;
            let Some(&[start, end]) = starts.get(before..before + 2) else { continue };
            for &(_, at) in &pairs[start..end] {
                forward[at].push((names.len() as u32, posting.counts));
                used = true;
            }
        }
        if used {
            names.push(old.term(term));
        }
    }
    names
}

fn lay_out(
    documents: &[Document],
    origins: &[Origin<'_>],
    terms: &Terms<'_>,
    models: &Models,
    params: Bm25f,
) -> Index {
    let count = documents.len();
    let mut parts: Vec<Vec<u8>> = vec![Vec::new(); SECTIONS];
    let mut put = |section: Section, bytes: &[u8]| parts[section as usize] = bytes.to_vec();

    let (offsets, strings) = strings(documents, origins);
    put(Section::StringOffsets, bytemuck::cast_slice(&offsets));
    put(Section::Strings, &strings);

    let lengths: Vec<u32> = origins
        .iter()
        .flat_map(|origin| match origin {
            Origin::Old(old, at) => {
                <[u32; FIELD_COUNT]>::try_from(old.lengths(*at)).unwrap_or_default()
            }
            Origin::New(prepared) => prepared.lengths,
        })
        .collect();
    put(Section::Lengths, bytemuck::cast_slice(&lengths));

    let lexical = Lexical::invert(terms, &lengths, count, params);
    put(Section::TermOffsets, bytemuck::cast_slice(&lexical.term_offsets));
    put(Section::Terms, &lexical.terms);
    put(Section::Idf, bytemuck::cast_slice(&lexical.idf));
    put(Section::PostingOffsets, bytemuck::cast_slice(&lexical.offsets));
    put(Section::PostingDocuments, bytemuck::cast_slice(&lexical.documents));
    put(Section::PostingImpacts, bytemuck::cast_slice(&lexical.impacts));
    put(Section::PostingCounts, bytemuck::cast_slice(&lexical.counts));

    let dims = models.table.as_ref().map_or(0, |table| table.dims());
    for (bytes, scales, is_head) in [
        (Section::StaticHead, Section::StaticHeadScales, true),
        (Section::StaticBody, Section::StaticBodyScales, false),
    ] {
        let (mut values, mut sizes) = (Vec::with_capacity(count * dims), Vec::with_capacity(count));
        for origin in origins {
            match origin {
                Origin::Old(old, at) => {
                    let (row, scale) = old.static_row(is_head, *at);
                    values.extend_from_slice(row);
                    sizes.push(scale);
                }
                Origin::New(prepared) => {
                    let Vector { bytes, scale } =
                        if is_head { &prepared.head } else { &prepared.body };
                    values.extend_from_slice(bytes);
                    sizes.push(*scale);
                }
            }
        }
        put(bytes, bytemuck::cast_slice(&values));
        put(scales, bytemuck::cast_slice(&sizes));
    }

    let encoder_dims = models.encoder.as_ref().map_or(0, |encoder| encoder.dims());
    let mut present = vec![0_u8; count];
    let mut vectors = vec![0_i8; count * encoder_dims];
    let mut scales = vec![0_f32; count];
    for (at, origin) in origins.iter().enumerate() {
        if let Origin::Old(old, before) = origin
            && old.meta.encoder == models.encoder_id()
            && let Some((row, scale)) = old.encoder_row(*before)
            && row.len() == encoder_dims
        {
            present[at] = 1;
            vectors[at * encoder_dims..(at + 1) * encoder_dims].copy_from_slice(row);
            scales[at] = scale;
        }
    }
    put(Section::EncoderPresent, &present);
    put(Section::Encoder, bytemuck::cast_slice(&vectors));
    put(Section::EncoderScales, bytemuck::cast_slice(&scales));

    let order = |key: &dyn Fn(&Document) -> String| {
        let mut keyed: Vec<(String, u32)> =
            documents.iter().zip(0..).map(|(d, at)| (key(d), at)).collect();
        keyed.sort();
        keyed.into_iter().map(|(_, at)| at).collect::<Vec<u32>>()
    };
    put(Section::ByName, bytemuck::cast_slice(&order(&|d| crate::mention::key(&d.name))));
    put(Section::ById, bytemuck::cast_slice(&order(&|d| d.id.clone())));

    let meta = Meta {
        documents: count,
        terms: lexical.idf.len(),
        table: models.table_id().to_owned(),
        dims,
        encoder: models.encoder_id().to_owned(),
        encoder_dims,
        params,
        template: crate::TEMPLATE_VERSION,
    };
    put(Section::Meta, &serde_json::to_vec(&meta).expect("plain data"));
    let borrowed: [&[u8]; SECTIONS] = std::array::from_fn(|section| parts[section].as_slice());
    Index::from_parts(Bytes::lay_out(&borrowed), meta)
}

fn strings(documents: &[Document], origins: &[Origin<'_>]) -> (Vec<u32>, Vec<u8>) {
    let (mut offsets, mut bytes) = (vec![0_u32], Vec::new());
    for (document, origin) in documents.iter().zip(origins) {
        let (triggers, encoder) = match origin {
            Origin::Old(old, at) => {
                (Cow::Borrowed(old.text(*at, TextKind::Triggers)), old.text(*at, TextKind::Encoder))
            }
            Origin::New(prepared) => {
                let triggers = crate::keyword::Phrases::of(document);
                let triggers = serde_json::to_string(&triggers).expect("plain data");
                (Cow::Owned(triggers), prepared.encoder_text.as_str())
            }
        };
        // In the order of `TextKind`.
        for text in [
            document.id.as_str(),
            &document.name,
            &document.description,
            &document.hash,
            &triggers,
            encoder,
        ] {
            bytes.extend_from_slice(text.as_bytes());
            offsets.push(bytes.len() as u32);
        }
    }
    (offsets, bytes)
}

/// Postings, term by term.
struct Lexical {
    term_offsets: Vec<u32>,
    terms: Vec<u8>,
    idf: Vec<f32>,
    offsets: Vec<u32>,
    documents: Vec<u32>,
    impacts: Vec<f32>,
    counts: Vec<[u8; FIELD_COUNT]>,
}

impl Lexical {
    fn invert(terms: &Terms<'_>, lengths: &[u32], count: usize, params: Bm25f) -> Self {
        let mut means = [0.0_f32; FIELD_COUNT];
        for (field, mean) in means.iter_mut().enumerate() {
            let sum: u64 = lengths
                .iter()
                .skip(field)
                .step_by(FIELD_COUNT)
                .map(|&length| u64::from(length))
                .sum();
            *mean = (sum as f64 / count.max(1) as f64).max(1e-9) as f32;
        }
        let mut order: Vec<u32> = (0..terms.names.len() as u32).collect();
        order.sort_by(|&a, &b| terms.names[a as usize].cmp(terms.names[b as usize]));
        let mut rank = vec![0_u32; order.len()];
        order.iter().zip(0..).for_each(|(&id, place)| rank[id as usize] = place);

        let mut offsets = vec![0_u32; order.len() + 1];
        terms
            .forward
            .iter()
            .flatten()
            .for_each(|(id, _)| offsets[rank[*id as usize] as usize + 1] += 1);
        for at in 1..offsets.len() {
            offsets[at] += offsets[at - 1];
        }
        let total = offsets.last().copied().unwrap_or(0) as usize;
        let mut free = offsets.clone();
        let mut out = Self {
            term_offsets: vec![0],
            terms: Vec::new(),
            idf: Vec::with_capacity(order.len()),
            documents: vec![0; total],
            impacts: vec![0.0; total],
            counts: vec![[0; FIELD_COUNT]; total],
            offsets,
        };
        for (document, words) in terms.forward.iter().enumerate() {
            for (id, counts) in words {
                let slot = &mut free[rank[*id as usize] as usize];
                let at = *slot as usize;
                *slot += 1;
                out.documents[at] = document as u32;
                out.counts[at] = *counts;
                out.impacts[at] =
                    params.impact(*counts, &lengths[document * FIELD_COUNT..], &means);
            }
        }
        let rarity = Rarity::among(count);
        for (place, &id) in order.iter().enumerate() {
            let term = terms.names[id as usize];
            out.terms.extend_from_slice(term.as_bytes());
            out.term_offsets.push(out.terms.len() as u32);
            out.idf.push(rarity.of(term, out.offsets[place + 1] - out.offsets[place]));
        }
        out
    }
}
