//! The read access to an index.

use serde::{Deserialize, Serialize};

use super::assemble::{WordScope, assemble};
use super::layout::{IndexBytes, IndexError, IndexSection, SharedBytes};
use super::vectors::EncoderVectors;
use crate::document::RouteDocument;
use crate::lexical::{Bm25fParams, FIELD_COUNT};
use crate::router_models::RouterModels;

/// Everything about a catalog that routing needs.
#[derive(Debug, Clone)]
pub struct RouteIndex {
    bytes: IndexBytes,
    pub(super) meta: RouteIndexMeta,
    /// Encoder vectors that were filled in after the bytes were laid out.
    pub(super) filled: Option<EncoderVectors>,
}

/// What an index was made from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct RouteIndexMeta {
    pub(super) documents: usize,
    pub(super) terms: usize,
    pub(super) table: String,
    pub(super) dims: usize,
    pub(super) encoder: String,
    pub(super) encoder_dims: usize,
    pub(super) params: Bm25fParams,
    pub(super) template: u32,
    /// A digest of the documents' keys; empty in files of older programs.
    #[serde(default)]
    pub(super) keys: String,
}

/// The work done to build an index.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct IndexBuildCounts {
    /// Documents reused unchanged.
    pub kept: usize,
    /// Documents that were read and embedded.
    pub read: usize,
}

/// Identifies a document, to see whether an index already has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DocumentKey<'a> {
    /// Its id.
    pub id: &'a str,
    /// Its name.
    pub name: &'a str,
    /// The hash of its content.
    pub hash: &'a str,
}

/// The strings of a document.
#[derive(Debug, Clone, Copy)]
#[repr(usize)]
pub(crate) enum TextKind {
    Id,
    Name,
    Description,
    Hash,
    Triggers,
    Encoder,
}

/// No count of an index reaches this, so the product of two such counts does not overflow.
const MAX_SIZE: usize = 1 << 28;

const TEXTS: usize = TextKind::Encoder as usize + 1;

/// A term in a document.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Posting {
    pub(crate) document: u32,
    pub(crate) impact: f32,
    pub(crate) counts: [u8; FIELD_COUNT],
}

impl RouteIndex {
    /// An index of documents.
    pub fn build(documents: &[RouteDocument], models: &RouterModels) -> Self {
        assemble(documents, models, Bm25fParams::default(), None, WordScope::All).0
    }

    /// An index of documents that reuses what is unchanged from this one.
    pub fn update(
        &self,
        documents: &[RouteDocument],
        models: &RouterModels,
    ) -> (Self, IndexBuildCounts) {
        assemble(documents, models, Bm25fParams::default(), Some(self), WordScope::All)
    }

    /// The same for messages that contain only these words: for reused documents, the index knows
    /// no others. Most of an index is words.
    pub(crate) fn update_for(
        &self,
        documents: &[RouteDocument],
        models: &RouterModels,
        words: &[&str],
    ) -> Self {
        assemble(documents, models, Bm25fParams::default(), Some(self), WordScope::Only(words)).0
    }

    /// Every document with only its names: enough for [`RouteIndex::update`] to reuse it.
    pub fn document_outlines(&self) -> Vec<RouteDocument> {
        let outline = |at| RouteDocument {
            id: self.id(at).to_owned(),
            name: self.name(at).to_owned(),
            description: self.text(at, TextKind::Description).to_owned(),
            hash: self.hash(at).to_owned(),
            ..RouteDocument::default()
        };
        (0..self.len()).map(outline).collect()
    }

    /// The same documents with other parameters, without reading them again.
    pub fn with_params(
        &self,
        documents: &[RouteDocument],
        models: &RouterModels,
        params: Bm25fParams,
    ) -> Self {
        assemble(documents, models, params, Some(self), WordScope::All).0
    }

    /// An index from the bytes of a file.
    pub fn load(bytes: &[u8]) -> Result<Self, IndexError> {
        Self::of(IndexBytes::load(bytes)?)
    }

    /// An index over bytes that are used in place, such as those of a mapped file.
    pub fn open(bytes: SharedBytes) -> Result<Self, IndexError> {
        Self::of(IndexBytes::open(bytes)?)
    }

    fn of(bytes: IndexBytes) -> Result<Self, IndexError> {
        let meta: RouteIndexMeta = serde_json::from_slice(bytes.raw(IndexSection::Meta))
            .map_err(|_| IndexError::Damaged("description of the index"))?;
        let index = Self { bytes, meta, filled: None };
        if index.is_consistent() { Ok(index) } else { Err(IndexError::Damaged("sizes do not fit")) }
    }

    pub(super) fn from_parts(bytes: IndexBytes, meta: RouteIndexMeta) -> Self {
        Self { bytes, meta, filled: None }
    }

    /// The bytes of a file that [`RouteIndex::load`] can read, with all vectors filled in so far.
    pub fn to_bytes(&self) -> Vec<u8> {
        match &self.filled {
            None => self.bytes.as_bytes().to_vec(),
            Some(filled) => filled.laid_over(&self.bytes).as_bytes().to_vec(),
        }
    }

    /// Whether the index was made for these models and this program's parameters.
    pub fn fits(&self, models: &RouterModels) -> bool {
        (self.meta.table == models.table_id() || models.table.is_none())
            && (self.meta.encoder == models.encoder_id() || models.encoder.is_none())
            && self.meta.template == sinew_models::TEMPLATE_VERSION
            && self.meta.params == Bm25fParams::default()
    }

    /// A digest of the documents that an index has, in their order: two catalogs with the same one need
    /// no comparison of each document. Empty for an index of an older program.
    pub fn keys_digest(&self) -> &str {
        &self.meta.keys
    }

    /// What [`RouteIndex::keys_digest`] of an index with these documents is.
    pub fn digest_of<'a>(keys: impl Iterator<Item = DocumentKey<'a>>) -> String {
        let parts = keys.flat_map(|key| [key.id, "\0", key.name, "\0", key.hash, "\n"]);
        sinew_skill::content_hash_of(parts.map(str::as_bytes))
    }

    /// Whether the index has exactly these documents, in this order.
    pub fn holds_exactly<'a>(&self, mut keys: impl Iterator<Item = DocumentKey<'a>>) -> bool {
        let same = (0..self.len()).all(|at| {
            keys.next().is_some_and(|key| {
                key.id == self.id(at) && key.name == self.name(at) && key.hash == self.hash(at)
            })
        });
        same && keys.next().is_none()
    }

    /// Whether every look-up stays within its section. The checksum detects damage; a forged file
    /// must give wrong answers at worst.
    fn is_consistent(&self) -> bool {
        let (n, t) = (self.meta.documents, self.meta.terms);
        if [n, t, self.meta.dims, self.meta.encoder_dims].iter().any(|&size| size > MAX_SIZE) {
            return false;
        }
        let postings = self.slice::<u32>(IndexSection::PostingDocuments).len();
        let offsets = |section: IndexSection, count: usize, end: usize| {
            let offsets = self.slice::<u32>(section);
            offsets.len() == count + 1
                && offsets.is_sorted()
                && offsets.last().is_none_or(|&last| last as usize <= end)
        };
        offsets(IndexSection::StringOffsets, TEXTS * n, self.bytes.raw(IndexSection::Strings).len())
            && offsets(IndexSection::TermOffsets, t, self.bytes.raw(IndexSection::Terms).len())
            && offsets(IndexSection::PostingOffsets, t, postings)
            && self.slice::<f32>(IndexSection::Idf).len() == t
            && self.slice::<f32>(IndexSection::PostingImpacts).len() == postings
            && self.slice::<u8>(IndexSection::PostingCounts).len() == FIELD_COUNT * postings
            && self.slice::<u32>(IndexSection::Lengths).len() == FIELD_COUNT * n
            && self.slice::<i8>(IndexSection::StaticHead).len() == n * self.meta.dims
            && self.slice::<i8>(IndexSection::StaticBody).len() == n * self.meta.dims
            && self.slice::<f32>(IndexSection::StaticHeadScales).len() == n
            && self.slice::<f32>(IndexSection::StaticBodyScales).len() == n
            && self.slice::<i8>(IndexSection::Encoder).len() == n * self.meta.encoder_dims
            && self.slice::<f32>(IndexSection::EncoderScales).len() == n
            && self.slice::<u8>(IndexSection::EncoderPresent).len() == n
            && [IndexSection::ByName, IndexSection::ById].into_iter().all(|section| {
                let order = self.slice::<u32>(section);
                order.len() == n && order.iter().all(|&at| (at as usize) < n)
            })
    }

    /// The number of documents.
    pub fn len(&self) -> usize {
        self.meta.documents
    }

    /// Whether there are no documents.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn slice<T: bytemuck::AnyBitPattern>(&self, section: IndexSection) -> &[T] {
        self.bytes.slice(section)
    }

    fn string(&self, offsets: IndexSection, strings: IndexSection, at: usize) -> &str {
        let offsets = self.slice::<u32>(offsets);
        let (start, end) = (offsets[at] as usize, offsets[at + 1] as usize);
        // A forged file may contain anything; invalid text counts as empty.
        std::str::from_utf8(&self.bytes.raw(strings)[start..end]).unwrap_or("")
    }

    pub(crate) fn text(&self, at: usize, kind: TextKind) -> &str {
        self.string(IndexSection::StringOffsets, IndexSection::Strings, TEXTS * at + kind as usize)
    }

    /// The id of a document.
    pub fn id(&self, at: usize) -> &str {
        self.text(at, TextKind::Id)
    }

    /// The name of a document.
    pub fn name(&self, at: usize) -> &str {
        self.text(at, TextKind::Name)
    }

    /// The description of a document.
    pub fn description(&self, at: usize) -> &str {
        self.text(at, TextKind::Description)
    }

    /// The content hash of a document.
    pub fn hash(&self, at: usize) -> &str {
        self.text(at, TextKind::Hash)
    }

    /// The declared triggers of a document, as JSON.
    pub(crate) fn triggers(&self, at: usize) -> &str {
        self.text(at, TextKind::Triggers)
    }

    /// The number of the document with an id.
    pub fn position(&self, id: &str) -> Option<usize> {
        let order = self.slice::<u32>(IndexSection::ById);
        let found = order.binary_search_by(|&at| self.id(at as usize).cmp(id)).ok()?;
        Some(order[found] as usize)
    }

    /// The documents whose name has this key (see [`crate::mention::key`]).
    pub(crate) fn named(&self, key: &str) -> impl Iterator<Item = usize> {
        let order = self.slice::<u32>(IndexSection::ByName);
        let start =
            order.partition_point(|&at| crate::mention::key(self.name(at as usize)).as_str() < key);
        let key = key.to_owned();
        order[start..]
            .iter()
            .map(|&at| at as usize)
            .take_while(move |&at| crate::mention::key(self.name(at)) == key)
    }

    pub(super) fn lengths(&self, at: usize) -> &[u32] {
        &self.slice::<u32>(IndexSection::Lengths)[FIELD_COUNT * at..FIELD_COUNT * (at + 1)]
    }

    pub(super) fn term_count(&self) -> usize {
        self.meta.terms
    }

    pub(crate) fn term(&self, at: usize) -> &str {
        self.string(IndexSection::TermOffsets, IndexSection::Terms, at)
    }

    /// The terms that begin with a text, with their numbers, in order.
    pub(crate) fn terms_from(&self, start: &str) -> impl Iterator<Item = (usize, &str)> {
        let (mut low, mut high) = (0, self.term_count());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.term(middle) < start { low = middle + 1 } else { high = middle }
        }
        let terms = (low..self.term_count()).map(|at| (at, self.term(at)));
        terms.take_while(move |(_, term)| term.starts_with(start))
    }

    /// The number of a term.
    pub(crate) fn find_term(&self, term: &str) -> Option<usize> {
        let (mut low, mut high) = (0, self.term_count());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.term(middle).cmp(term) {
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// The rarity of a term.
    pub(crate) fn idf(&self, term: usize) -> f32 {
        self.slice::<f32>(IndexSection::Idf)[term]
    }

    fn posting_range(&self, term: usize) -> std::ops::Range<usize> {
        let offsets = self.slice::<u32>(IndexSection::PostingOffsets);
        offsets[term] as usize..offsets[term + 1] as usize
    }

    /// The documents of a term and their weights.
    pub(crate) fn impacts(&self, term: usize) -> (&[u32], &[f32]) {
        let range = self.posting_range(term);
        (
            &self.slice::<u32>(IndexSection::PostingDocuments)[range.clone()],
            &self.slice::<f32>(IndexSection::PostingImpacts)[range],
        )
    }

    /// The postings of a term.
    pub(crate) fn postings(&self, term: usize) -> impl Iterator<Item = Posting> {
        let range = self.posting_range(term);
        let (documents, impacts) = self.impacts(term);
        let counts = &self.slice::<u8>(IndexSection::PostingCounts)
            [FIELD_COUNT * range.start..FIELD_COUNT * range.end];
        documents.iter().zip(impacts).zip(counts.chunks_exact(FIELD_COUNT)).map(
            |((&document, &impact), counts)| Posting {
                document,
                impact,
                counts: counts.try_into().unwrap_or_default(),
            },
        )
    }

    /// The posting of a term in one document.
    pub(crate) fn posting(&self, term: usize, document: usize) -> Option<Posting> {
        let (documents, impacts) = self.impacts(term);
        let at = documents.binary_search(&(document as u32)).ok()?;
        let place = FIELD_COUNT * (self.posting_range(term).start + at);
        let counts = &self.slice::<u8>(IndexSection::PostingCounts)[place..place + FIELD_COUNT];
        Some(Posting {
            document: documents[at],
            impact: impacts[at],
            counts: counts.try_into().unwrap_or_default(),
        })
    }

    pub(super) fn static_row(&self, head: bool, at: usize) -> (&[i8], f32) {
        let (rows, scales) = self.static_sections(head);
        let dims = self.meta.dims;
        (&self.slice::<i8>(rows)[at * dims..(at + 1) * dims], self.slice::<f32>(scales)[at])
    }

    pub(super) fn static_sections(&self, head: bool) -> (IndexSection, IndexSection) {
        if head {
            (IndexSection::StaticHead, IndexSection::StaticHeadScales)
        } else {
            (IndexSection::StaticBody, IndexSection::StaticBodyScales)
        }
    }
}
