//! Puts documents, old and new, together into the bytes of an index.

use std::collections::HashMap;
use std::sync::Arc;

use rayon::prelude::*;

use super::layout::{Bytes, SECTIONS, Section};
use super::prepare::{Prepared, Reader, Vector};
use super::view::{Built, Index, Meta, TextKind};
use crate::document::Document;
use crate::lexical::{Bm25f, FIELD_COUNT, idf};
use crate::model::set::Models;

/// Where a document of the new index comes from.
enum Origin<'a> {
    /// Number in the old index.
    Old(&'a Index, usize),
    New(Box<Prepared>),
}

type Forward = Vec<(u32, [u8; FIELD_COUNT])>;

/// Builds an index of documents, taking over from `old` what is unchanged.
pub(super) fn assemble(
    documents: &[Document],
    models: &Models,
    params: Bm25f,
    old: Option<&Index>,
) -> (Index, Built) {
    let same_table = |old: &&Index| old.meta.table == models.table_id();
    let old = old.filter(same_table);
    let known: HashMap<(&str, &str), usize> = old
        .iter()
        .flat_map(|old| (0..old.len()).map(|at| ((old.hash(at), old.name(at)), at)))
        .collect();
    let table = models.table.as_deref();
    let mut built = Built::default();
    let origins: Vec<Origin<'_>> = documents
        .par_iter()
        .map_init(
            || Reader::new(table),
            |reader, document| match (
                old,
                known.get(&(document.hash.as_str(), document.name.as_str())),
            ) {
                (Some(old), Some(&at)) if !document.hash.is_empty() => Origin::Old(old, at),
                _ => Origin::New(Box::new(reader.read(document))),
            },
        )
        .collect();
    built.kept = origins.iter().filter(|origin| matches!(origin, Origin::Old(..))).count();
    built.read = origins.len() - built.kept;
    let terms = Terms::collect(&origins, old);
    let index = lay_out(documents, &origins, &terms, models, params);
    (index, built)
}

/// Every term with the documents that hold it.
struct Terms {
    names: Vec<Arc<str>>,
    forward: Vec<Forward>,
}

impl Terms {
    fn collect(origins: &[Origin<'_>], old: Option<&Index>) -> Self {
        let mut ids: HashMap<Arc<str>, u32> = HashMap::new();
        let mut names: Vec<Arc<str>> = Vec::new();
        let mut id_of = |term: &Arc<str>| match ids.get(term) {
            Some(&id) => id,
            None => {
                let id = names.len() as u32;
                names.push(Arc::clone(term));
                ids.insert(Arc::clone(term), id);
                id
            }
        };
        let mut forward: Vec<Forward> = Vec::with_capacity(origins.len());
        let mut taken: HashMap<usize, Vec<usize>> = HashMap::new();
        for (at, origin) in origins.iter().enumerate() {
            match origin {
                Origin::New(prepared) => {
                    forward.push(
                        prepared
                            .words
                            .iter()
                            .map(|(word, counts)| (id_of(word), *counts))
                            .collect(),
                    );
                }
                Origin::Old(_, before) => {
                    taken.entry(*before).or_default().push(at);
                    forward.push(Vec::new());
                }
            }
        }
        if let Some(old) = old.filter(|_| !taken.is_empty()) {
            for term in 0..old.term_count() {
                let mut id = None;
                for posting in old.postings(term) {
                    for &at in taken.get(&(posting.document as usize)).into_iter().flatten() {
                        let id = *id.get_or_insert_with(|| id_of(&Arc::from(old.term(term))));
                        forward[at].push((id, posting.counts));
                    }
                }
            }
        }
        Self { names, forward }
    }
}

fn lay_out(
    documents: &[Document],
    origins: &[Origin<'_>],
    terms: &Terms,
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
        let triggers = crate::keyword::Phrases::of(document);
        let triggers = serde_json::to_string(&triggers).expect("plain data");
        let encoder = match origin {
            Origin::Old(old, at) => old.text(*at, TextKind::Encoder),
            Origin::New(prepared) => &prepared.encoder_text,
        };
        // In the order of `TextKind`.
        for text in [
            &document.id,
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
    fn invert(terms: &Terms, lengths: &[u32], count: usize, params: Bm25f) -> Self {
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
        order.par_sort_unstable_by(|&a, &b| terms.names[a as usize].cmp(&terms.names[b as usize]));
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
        for (place, &id) in order.iter().enumerate() {
            let term = &terms.names[id as usize];
            out.terms.extend_from_slice(term.as_bytes());
            out.term_offsets.push(out.terms.len() as u32);
            out.idf.push(idf(term, out.offsets[place + 1] - out.offsets[place], count));
        }
        out
    }
}
