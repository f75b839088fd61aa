//! What a builder saves for the next process: parsed files and listings, each with the stamps that
//! show whether it is still current.
//!
//! Reading and parsing a thousand files costs more than everything else a short command does. A
//! saved record is used only if the file, its folder and everything scanned with it have exactly
//! the same stamps; otherwise the file is read as if nothing had been saved. The bytes start with a
//! tag of the program, whose rules they follow, and of the findings a person accepted, so that no
//! other build uses them. They must be stored where only their owner can write: a forged record
//! would let a blocked skill through.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use borsh::{BorshDeserialize, BorshSerialize};
use sinew_guard::containment::FileStamp;
use sinew_guard::scan::Verdict;
use sinew_settings::Reason;
use sinew_skill::Skill;

use crate::discover::DiscoveredSkill;
use crate::listing::{FolderEntry, FolderEntryKind, FolderListing, ReadAnchor};
use crate::load::{InstallOrigin, LoadRules, LoadedSkillFile};
use crate::scan::{FolderSurvey, ScanJudgement, ScanSummary};

/// The number of records saved, so that places that are no longer looked at do not add up without
/// end. A record has some 700 bytes.
const MAX_KEPT: usize = 500_000;

/// Changed when the format of the records changes.
const MAGIC: &[u8; 8] = b"sinewkp2";

/// Records of an earlier process by path, each left as bytes until it is needed.
#[derive(Debug, Default)]
pub(crate) struct CachedRecords(Mutex<Option<RecordIndex>>);

struct RecordIndex {
    bytes: Arc<dyn AsRef<[u8]> + Send + Sync>,
    /// The position of each path and its record, in the order of the paths.
    places: Vec<(Range<usize>, Range<usize>)>,
}

impl fmt::Debug for RecordIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordIndex").field("count", &self.places.len()).finish_non_exhaustive()
    }
}

impl RecordIndex {
    fn bytes(&self, place: &Range<usize>) -> &[u8] {
        (*self.bytes).as_ref().get(place.clone()).unwrap_or_default()
    }

    fn path(&self, place: &Range<usize>) -> &str {
        std::str::from_utf8(self.bytes(place)).unwrap_or_default()
    }

    fn find(&self, path: &str) -> Option<Range<usize>> {
        let at = |(place, _): &(Range<usize>, _)| self.bytes(place).cmp(path.as_bytes());
        let found = self.places.binary_search_by(at).ok()?;
        Some(self.places[found].1.clone())
    }
}

impl CachedRecords {
    /// Calls `wake` with the saved record of a path.
    pub(crate) fn with_record<T>(
        &self,
        path: &Path,
        wake: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Option<T> {
        let index = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let records = index.as_ref()?;
        let place = records.find(path.to_str()?)?;
        let bytes = Arc::clone(&records.bytes);
        drop(index);
        wake((*bytes).as_ref().get(place)?)
    }

    pub(crate) fn forget_below(&self, folder: &Path) {
        let mut index = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(records) = index.as_mut() else { return };
        let mut places = std::mem::take(&mut records.places);
        places.retain(|(path, _)| !Path::new(records.path(path)).starts_with(folder));
        records.places = places;
    }

    /// What to save: the current records, then saved ones that were not used.
    pub(crate) fn merged_records(&self, now: HashMap<PathBuf, Vec<u8>>) -> Vec<CacheRecord> {
        let index = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let earlier = index.iter().flat_map(|records| {
            let named = records.places.iter().map(|(path, place)| (records.path(path), place));
            let unused = named.filter(|(path, _)| !now.contains_key(Path::new(path)));
            unused.map(|(path, place)| CacheRecord {
                path: path.to_owned(),
                bytes: records.bytes(place).to_vec(),
            })
        });
        let earlier: Vec<CacheRecord> = earlier.collect();
        let known = now.into_iter().filter_map(|(path, bytes)| {
            Some(CacheRecord { path: path.to_str()?.to_owned(), bytes })
        });
        let mut records: Vec<CacheRecord> = known.chain(earlier).take(MAX_KEPT).collect();
        records.sort_by(|a, b| a.path.cmp(&b.path));
        records
    }
}

/// One record and its path.
#[derive(Debug)]
pub(crate) struct CacheRecord {
    path: String,
    bytes: Vec<u8>,
}

/// The bytes to save.
pub(crate) fn to_bytes(tag: &str, files: &[CacheRecord], listings: &[CacheRecord]) -> Vec<u8> {
    let mut body = Vec::new();
    put(&mut body, tag.as_bytes());
    for records in [files, listings] {
        body.extend((records.len() as u64).to_le_bytes());
        for record in records {
            put(&mut body, record.path.as_bytes());
            put(&mut body, &record.bytes);
        }
    }
    let mut bytes = MAGIC.to_vec();
    bytes.extend(crc32fast::hash(&body).to_le_bytes());
    bytes.extend(body);
    bytes
}

fn put(body: &mut Vec<u8>, bytes: &[u8]) {
    body.extend((bytes.len() as u64).to_le_bytes());
    body.extend(bytes);
}

/// Loads saved records; none if the bytes are damaged or from another build.
pub(crate) fn load_records(
    bytes: impl AsRef<[u8]> + Send + Sync + 'static,
    tag: &str,
    files: &CachedRecords,
    listings: &CachedRecords,
) -> Option<()> {
    let shared = Arc::new(bytes);
    let bytes = (*shared).as_ref();
    let start = MAGIC.len() + 4;
    let checksum = bytes.strip_prefix(MAGIC)?.first_chunk::<4>()?;
    if crc32fast::hash(bytes.get(start..)?) != u32::from_le_bytes(*checksum) {
        return None;
    }
    let mut reader = RangeReader { bytes, at: start };
    if bytes.get(reader.range()?)? != tag.as_bytes() {
        return None;
    }
    let (file_places, listing_places) = (reader.places()?, reader.places()?);
    for (saved, places) in [(files, file_places), (listings, listing_places)] {
        let records = RecordIndex { bytes: shared.clone(), places };
        *saved.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(records);
    }
    Some(())
}

/// Reads ranges without copying them.
struct RangeReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl RangeReader<'_> {
    fn number(&mut self) -> Option<usize> {
        let number = u64::from_le_bytes(*self.bytes.get(self.at..)?.first_chunk()?);
        self.at += 8;
        usize::try_from(number).ok()
    }

    fn range(&mut self) -> Option<Range<usize>> {
        let len = self.number()?;
        let end = self.at.checked_add(len).filter(|end| *end <= self.bytes.len())?;
        Some(std::mem::replace(&mut self.at, end)..end)
    }

    fn places(&mut self) -> Option<Vec<(Range<usize>, Range<usize>)>> {
        let count = self.number()?;
        let mut places = Vec::with_capacity(count.min(MAX_KEPT));
        for _ in 0..count {
            places.push((self.range()?, self.range()?));
        }
        Some(places)
    }
}

#[derive(BorshDeserialize, BorshSerialize)]
pub(crate) struct StampRecord {
    size: u64,
    modified: Option<(u64, u32)>,
    changed: Option<(u64, u32)>,
    id: (u64, u64),
    is_link: bool,
}

impl StampRecord {
    pub(crate) fn of(stamp: &FileStamp) -> Self {
        let since = |time: Option<SystemTime>| {
            let since = time?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
            Some((since.as_secs(), since.subsec_nanos()))
        };
        Self {
            size: stamp.size,
            modified: since(stamp.modified),
            changed: since(stamp.changed),
            id: stamp.id,
            is_link: stamp.is_link,
        }
    }

    pub(crate) fn stamp(&self) -> FileStamp {
        let time = |since: Option<(u64, u32)>| {
            let (seconds, nanos) = since?;
            SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, nanos.min(999_999_999)))
        };
        FileStamp {
            size: self.size,
            modified: time(self.modified),
            changed: time(self.changed),
            id: self.id,
            is_link: self.is_link,
        }
    }
}

/// A count, which has the same width on every machine.
pub(crate) fn write_count<W: borsh::io::Write>(
    count: &usize,
    writer: &mut W,
) -> borsh::io::Result<()> {
    BorshSerialize::serialize(&(*count as u64), writer)
}

/// The count that [`write_count`] wrote.
pub(crate) fn read_count<R: borsh::io::Read>(reader: &mut R) -> borsh::io::Result<usize> {
    Ok(usize::try_from(u64::deserialize_reader(reader)?).unwrap_or(usize::MAX))
}

#[derive(BorshDeserialize, BorshSerialize)]
struct ListingRecord {
    stamp: StampRecord,
    at_ms: u64,
    children: Vec<(String, u8)>,
}

const KINDS: [FolderEntryKind; 3] =
    [FolderEntryKind::File, FolderEntryKind::Folder, FolderEntryKind::Link];

impl FolderListing {
    /// The record of a listing; `None` if a name cannot be stored.
    pub(crate) fn to_record(&self) -> Option<Vec<u8>> {
        let children = self.children.iter().map(|child| {
            let kind = KINDS.iter().position(|kind| *kind == child.kind)?;
            Some((child.name.to_str()?.to_owned(), u8::try_from(kind).ok()?))
        });
        borsh::to_vec(&ListingRecord {
            stamp: StampRecord::of(&self.stamp),
            at_ms: self.at_ms,
            children: children.collect::<Option<_>>()?,
        })
        .ok()
    }

    /// The saved listing, if the folder is unchanged.
    pub(crate) fn from_record(
        record: &[u8],
        anchor: &ReadAnchor,
        inside: &Path,
        shown: &Path,
    ) -> Option<Self> {
        let record: ListingRecord = borsh::from_slice(record).ok()?;
        let kind = |at: u8| KINDS.get(usize::from(at)).copied();
        let children = record.children.into_iter();
        let children =
            children.map(|(name, at)| Some(FolderEntry { name: name.into(), kind: kind(at)? }));
        let listed = Self {
            anchor: anchor.clone(),
            inside: inside.to_path_buf(),
            stamp: record.stamp.stamp(),
            at_ms: record.at_ms,
            shown: shown.to_path_buf(),
            children: children.collect::<Option<_>>()?,
        };
        listed.is_unchanged().then_some(listed)
    }
}

#[derive(BorshDeserialize, BorshSerialize)]
struct SkillFileRecord {
    rules: (u8, u64, bool),
    stamp: StampRecord,
    read_at_ms: u64,
    folder: Option<(StampRecord, u64)>,
    skill: Option<Skill>,
    hash: String,
    reasons: Vec<Reason>,
    origin: Option<InstallOrigin>,
    judgement: Option<JudgementRecord>,
}

#[derive(BorshDeserialize, BorshSerialize)]
struct JudgementRecord {
    verdict: Verdict,
    digest: String,
    findings: u64,
    blocked: Option<Reason>,
    folders: Vec<(String, StampRecord, u64)>,
    files: Vec<(String, StampRecord)>,
    is_lone: bool,
    at_ms: u64,
}

impl LoadedSkillFile {
    /// The record of a file; `None` if it was not opened, or if a path cannot be stored.
    pub(crate) fn to_record(&self) -> Option<Vec<u8>> {
        let judgement = match &self.judgement {
            Some(judgement) => Some(judgement.keep()?),
            None => None,
        };
        let folder = self.folder.as_ref();
        borsh::to_vec(&SkillFileRecord {
            rules: (self.dialect as u8, self.max_bytes, self.strict),
            stamp: StampRecord::of(self.stamp.as_ref()?),
            read_at_ms: self.read_at_ms,
            folder: folder.map(|folder| (StampRecord::of(&folder.stamp), folder.at_ms)),
            skill: self.skill.as_deref().cloned(),
            hash: self.hash.clone(),
            reasons: self.reasons.clone(),
            origin: self.origin.clone(),
            judgement,
        })
        .ok()
    }

    /// The saved file, if nothing about it has changed.
    pub(crate) fn from_record(
        record: &[u8],
        candidate: &DiscoveredSkill,
        rules: LoadRules<'_>,
    ) -> Option<Self> {
        let record: SkillFileRecord = borsh::from_slice(record).ok()?;
        if record.rules != (rules.dialect as u8, rules.max_bytes, rules.strict)
            || record.judgement.is_some() != (rules.scan.is_some() && record.skill.is_some())
        {
            return None;
        }
        let folder = record.folder.map(|(stamp, at_ms)| {
            let (anchor, inside) = (candidate.anchor.clone(), candidate.inside.clone());
            let (shown, children) = (candidate.dir.clone(), Vec::new());
            Arc::new(FolderListing { anchor, inside, stamp: stamp.stamp(), at_ms, shown, children })
        });
        let file = Self {
            stamp: Some(record.stamp.stamp()),
            dialect: rules.dialect,
            max_bytes: rules.max_bytes,
            strict: rules.strict,
            skill: record.skill.map(Arc::new),
            hash: record.hash,
            reasons: record.reasons,
            origin: record.origin,
            judgement: record.judgement.map(|judgement| judgement.wake(&candidate.anchor)),
            place: Some((candidate.anchor.clone(), candidate.file_inside())),
            folder,
            read_at_ms: record.read_at_ms,
        };
        file.is_fresh(candidate, rules).then_some(file)
    }
}

impl ScanJudgement {
    fn keep(&self) -> Option<JudgementRecord> {
        let survey = &self.survey;
        let folders = survey.folders.iter().map(|folder| {
            let path = folder.inside.to_str()?.to_owned();
            Some((path, StampRecord::of(&folder.stamp), folder.at_ms))
        });
        let files = survey.files.iter().map(|(path, stamp)| {
            Some((path.to_str()?.to_owned(), StampRecord::of(stamp.as_ref()?)))
        });
        Some(JudgementRecord {
            verdict: self.summary.verdict,
            digest: self.summary.digest.clone(),
            findings: u64::try_from(self.summary.findings).ok()?,
            blocked: self.blocked.clone(),
            folders: folders.collect::<Option<_>>()?,
            files: files.collect::<Option<_>>()?,
            is_lone: survey.is_lone,
            at_ms: survey.at_ms,
        })
    }
}

impl JudgementRecord {
    fn wake(self, anchor: &ReadAnchor) -> ScanJudgement {
        let folder = |(inside, stamp, at_ms): (String, StampRecord, u64)| FolderListing {
            anchor: anchor.clone(),
            inside: inside.into(),
            stamp: stamp.stamp(),
            at_ms,
            shown: PathBuf::new(),
            children: Vec::new(),
        };
        let file = |(path, stamp): (String, StampRecord)| (path.into(), Some(stamp.stamp()));
        ScanJudgement {
            summary: ScanSummary {
                verdict: self.verdict,
                digest: self.digest,
                findings: usize::try_from(self.findings).unwrap_or(usize::MAX),
            },
            blocked: self.blocked,
            survey: FolderSurvey {
                folders: self.folders.into_iter().map(folder).collect(),
                files: self.files.into_iter().map(file).collect(),
                is_lone: self.is_lone,
                at_ms: self.at_ms,
            },
        }
    }
}
