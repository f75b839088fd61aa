//! Assembles old and new documents into the bytes of an index.

use std::borrow::Cow;
use std::collections::HashMap;

use rayon::prelude::*;

use super::layout::{IndexBytes, IndexSection, SECTIONS};
use super::prepare::{ByteVector, DocumentBatch, PreparedDocument, TermCounts};
use super::view::{DocumentKey, IndexBuildCounts, RouteIndex, RouteIndexMeta, TextKind};
use crate::document::RouteDocument;
use crate::lexical::{Bm25fParams, FIELD_COUNT, TermRarity};
use crate::router_models::RouterModels;

/// Documents in a batch share a dictionary, so a batch should be large; but each thread should have
/// one, and the last should not keep the others waiting.
const BATCH: std::ops::RangeInclusive<usize> = 64..=4_096;

/// Where a document of the new index comes from.
enum DocumentOrigin<'a> {
    /// Number in the old index.
    Old(&'a RouteIndex, usize),
    New(&'a PreparedDocument),
}

/// The words that an index has for the documents that it reuses.
#[derive(Clone, Copy)]
pub(super) enum WordScope<'a> {
    /// Every word.
    All,
    /// Only these: enough for a message without other words.
    Only(&'a [&'a str]),
}

/// Builds an index of documents, reusing what is unchanged from `old`.
pub(super) fn assemble(
    documents: &[RouteDocument],
    models: &RouterModels,
    params: Bm25fParams,
    old: Option<&RouteIndex>,
    words: WordScope<'_>,
) -> (RouteIndex, IndexBuildCounts) {
    let same = |old: &&RouteIndex| {
        old.meta.table == models.table_id() && old.meta.template == sinew_models::TEMPLATE_VERSION
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
    let new: Vec<&RouteDocument> = documents
        .iter()
        .zip(&kept)
        .filter(|(_, kept)| kept.is_none())
        .map(|(one, _)| one)
        .collect();
    let table = models.table.as_deref();
    let batch =
        new.len().div_ceil(rayon::current_num_threads()).clamp(*BATCH.start(), *BATCH.end());
    let batches: Vec<DocumentBatch> = new
        .par_chunks(batch)
        .map(|documents| DocumentBatch::read(documents.iter().copied(), table))
        .collect();
    let mut read = batches.iter().flat_map(|batch| &batch.documents);
    let origins: Vec<DocumentOrigin<'_>> = kept
        .iter()
        .filter_map(|kept| match (old, kept) {
            (Some(old), Some(at)) => Some(DocumentOrigin::Old(old, *at)),
            _ => read.next().map(DocumentOrigin::New),
        })
        .collect();
    let built = IndexBuildCounts { kept: documents.len() - new.len(), read: new.len() };
    let terms = ForwardIndex::collect(&batches, &kept, old, words);
    (lay_out(documents, &origins, &terms, models, params), built)
}

/// All terms, and the terms of every document.
struct ForwardIndex<'a> {
    names: Vec<&'a str>,
    forward: Vec<Vec<TermCounts>>,
}

impl<'a> ForwardIndex<'a> {
    fn collect(
        batches: &'a [DocumentBatch],
        kept: &[Option<usize>],
        old: Option<&'a RouteIndex>,
        words: WordScope<'_>,
    ) -> Self {
        let mut forward: Vec<Vec<TermCounts>> = vec![Vec::new(); kept.len()];
        let mut names: Vec<&'a str> = Vec::new();
        if let Some(old) = old {
            // Sorted terms come first and stay sorted, so little is left to sort.
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

/// The terms of an old index that any reused document has; those documents' terms are added to
/// `forward`.
fn take_over<'a>(
    old: &'a RouteIndex,
    kept: &[Option<usize>],
    words: WordScope<'_>,
    forward: &mut [Vec<TermCounts>],
) -> Vec<&'a str> {
    // Old number → new numbers, side by side: two documents may have the same content.
    let mut pairs: Vec<(usize, usize)> =
        kept.iter().enumerate().filter_map(|(at, kept)| Some(((*kept)?, at))).collect();
    pairs.sort_unstable();
    let starts: Vec<usize> =
        (0..=old.len()).map(|before| pairs.partition_point(|pair| pair.0 < before)).collect();
    let terms: Vec<usize> = match words {
        WordScope::All => (0..old.term_count()).collect(),
        WordScope::Only(words) => {
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
    documents: &[RouteDocument],
    origins: &[DocumentOrigin<'_>],
    terms: &ForwardIndex<'_>,
    models: &RouterModels,
    params: Bm25fParams,
) -> RouteIndex {
    let count = documents.len();
    let mut parts: Vec<Vec<u8>> = vec![Vec::new(); SECTIONS];
    let mut put = |section: IndexSection, bytes: &[u8]| parts[section as usize] = bytes.to_vec();

    let (offsets, strings) = strings(documents, origins);
    put(IndexSection::StringOffsets, bytemuck::cast_slice(&offsets));
    put(IndexSection::Strings, &strings);

    let lengths: Vec<u32> = origins
        .iter()
        .flat_map(|origin| match origin {
            DocumentOrigin::Old(old, at) => {
                <[u32; FIELD_COUNT]>::try_from(old.lengths(*at)).unwrap_or_default()
            }
            DocumentOrigin::New(prepared) => prepared.lengths,
        })
        .collect();
    put(IndexSection::Lengths, bytemuck::cast_slice(&lengths));

    let lexical = PostingLists::invert(terms, &lengths, count, params);
    put(IndexSection::TermOffsets, bytemuck::cast_slice(&lexical.term_offsets));
    put(IndexSection::Terms, &lexical.terms);
    put(IndexSection::Idf, bytemuck::cast_slice(&lexical.idf));
    put(IndexSection::PostingOffsets, bytemuck::cast_slice(&lexical.offsets));
    put(IndexSection::PostingDocuments, bytemuck::cast_slice(&lexical.documents));
    put(IndexSection::PostingImpacts, bytemuck::cast_slice(&lexical.impacts));
    put(IndexSection::PostingCounts, bytemuck::cast_slice(&lexical.counts));

    let dims = models.table.as_ref().map_or(0, |table| table.dims());
    for (bytes, scales, is_head) in [
        (IndexSection::StaticHead, IndexSection::StaticHeadScales, true),
        (IndexSection::StaticBody, IndexSection::StaticBodyScales, false),
    ] {
        let (mut values, mut sizes) = (Vec::with_capacity(count * dims), Vec::with_capacity(count));
        for origin in origins {
            match origin {
                DocumentOrigin::Old(old, at) => {
                    let (row, scale) = old.static_row(is_head, *at);
                    values.extend_from_slice(row);
                    sizes.push(scale);
                }
                DocumentOrigin::New(prepared) => {
                    let ByteVector { bytes, scale } =
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
        if let DocumentOrigin::Old(old, before) = origin
            && old.meta.encoder == models.encoder_id()
            && let Some((row, scale)) = old.encoder_row(*before)
            && row.len() == encoder_dims
        {
            present[at] = 1;
            vectors[at * encoder_dims..(at + 1) * encoder_dims].copy_from_slice(row);
            scales[at] = scale;
        }
    }
    put(IndexSection::EncoderPresent, &present);
    put(IndexSection::Encoder, bytemuck::cast_slice(&vectors));
    put(IndexSection::EncoderScales, bytemuck::cast_slice(&scales));

    let order = |key: &dyn Fn(&RouteDocument) -> String| {
        let mut keyed: Vec<(String, u32)> =
            documents.iter().zip(0..).map(|(d, at)| (key(d), at)).collect();
        keyed.sort();
        keyed.into_iter().map(|(_, at)| at).collect::<Vec<u32>>()
    };
    put(IndexSection::ByName, bytemuck::cast_slice(&order(&|d| crate::mention::key(&d.name))));
    put(IndexSection::ById, bytemuck::cast_slice(&order(&|d| d.id.clone())));

    let meta = RouteIndexMeta {
        documents: count,
        terms: lexical.idf.len(),
        table: models.table_id().to_owned(),
        dims,
        encoder: models.encoder_id().to_owned(),
        encoder_dims,
        params,
        template: sinew_models::TEMPLATE_VERSION,
        keys: RouteIndex::digest_of(documents.iter().map(|document| DocumentKey {
            id: &document.id,
            name: &document.name,
            hash: &document.hash,
        })),
    };
    put(IndexSection::Meta, &serde_json::to_vec(&meta).expect("plain data"));
    let borrowed: [&[u8]; SECTIONS] = std::array::from_fn(|section| parts[section].as_slice());
    RouteIndex::from_parts(IndexBytes::lay_out(&borrowed), meta)
}

fn strings(documents: &[RouteDocument], origins: &[DocumentOrigin<'_>]) -> (Vec<u32>, Vec<u8>) {
    let (mut offsets, mut bytes) = (vec![0_u32], Vec::new());
    for (document, origin) in documents.iter().zip(origins) {
        let (triggers, encoder) = match origin {
            DocumentOrigin::Old(old, at) => {
                (Cow::Borrowed(old.text(*at, TextKind::Triggers)), old.text(*at, TextKind::Encoder))
            }
            DocumentOrigin::New(prepared) => {
                let triggers = crate::keyword::TriggerPhrases::of(document);
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
struct PostingLists {
    term_offsets: Vec<u32>,
    terms: Vec<u8>,
    idf: Vec<f32>,
    offsets: Vec<u32>,
    documents: Vec<u32>,
    impacts: Vec<f32>,
    counts: Vec<[u8; FIELD_COUNT]>,
}

impl PostingLists {
    fn invert(
        terms: &ForwardIndex<'_>,
        lengths: &[u32],
        count: usize,
        params: Bm25fParams,
    ) -> Self {
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
        let rarity = TermRarity::for_catalog(count);
        for (place, &id) in order.iter().enumerate() {
            let term = terms.names[id as usize];
            out.terms.extend_from_slice(term.as_bytes());
            out.term_offsets.push(out.terms.len() as u32);
            out.idf.push(rarity.of(term, out.offsets[place + 1] - out.offsets[place]));
        }
        out
    }
}
