//! Small helpers: scan a text, find the labelled data, build archives.

use std::io::Write as _;
use std::sync::OnceLock;

use sinew_guard::scan::{FindingSeverity, ScanReport, Scanner, SkillBundle, Verdict};

/// One scanner for all tests.
pub(crate) fn scanner() -> &'static Scanner {
    static SCANNER: OnceLock<Scanner> = OnceLock::new();
    SCANNER.get_or_init(Scanner::new)
}

/// A bundle of texts.
pub(crate) fn bundle(files: &[(&str, &str)]) -> SkillBundle {
    SkillBundle::from_files(
        files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())),
    )
}

/// The report on a skill whose body is `body`.
pub(crate) fn scan(body: &str) -> ScanReport {
    scan_files(&[("SKILL.md", &skill(body))])
}

pub(crate) fn scan_files(files: &[(&str, &str)]) -> ScanReport {
    scanner().scan_bundle(&bundle(files))
}

pub(crate) fn skill(body: &str) -> String {
    format!("---\nname: demo\ndescription: A demo\n---\n# Demo\n\n{body}\n")
}

/// The highest severity of a report.
pub(crate) fn worst(report: &ScanReport) -> Option<FindingSeverity> {
    report.findings.iter().map(|finding| finding.severity).max()
}

#[track_caller]
pub(crate) fn blocked_by(report: &ScanReport, rule: &str) {
    assert_eq!(report.verdict, Verdict::Block, "{}", summary(report));
    let found = report.at_least(FindingSeverity::Critical).any(|finding| finding.rule == rule);
    assert!(found, "no {rule}: {}", summary(report));
}

pub(crate) fn summary(report: &ScanReport) -> String {
    let line = |f: &sinew_guard::scan::Finding| {
        format!("{} {} {}:{} {}", f.severity.as_str(), f.rule, f.file, f.line, f.evidence)
    };
    report.findings.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Whether the long runs are enabled.
pub(crate) fn long() -> bool {
    std::env::var_os("SINEW_LONG").is_some_and(|value| value == "1")
}

/// A zip made by a library that is independent of ours.
pub(crate) fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated);
    for (name, bytes) in entries {
        writer.start_file(*name, options).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// A stored zip with arbitrary names, written by hand.
pub(crate) fn raw_zip(entries: &[(&[u8], &[u8], u32)]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes, mode) in entries {
        let mut crc = flate2::Crc::new();
        crc.update(bytes);
        let at = out.len() as u32;
        let common = |target: &mut Vec<u8>| {
            target.extend(20u16.to_le_bytes());
            target.extend(0u16.to_le_bytes());
            target.extend(0u16.to_le_bytes());
            target.extend([0; 4]);
            target.extend(crc.sum().to_le_bytes());
            target.extend((bytes.len() as u32).to_le_bytes());
            target.extend((bytes.len() as u32).to_le_bytes());
            target.extend((name.len() as u16).to_le_bytes());
            target.extend(0u16.to_le_bytes());
        };
        out.extend(b"PK\x03\x04");
        common(&mut out);
        out.extend(*name);
        out.extend(*bytes);
        directory.extend(b"PK\x01\x02");
        directory.extend([20, 3]);
        common(&mut directory);
        directory.extend([0; 6]);
        directory.extend((mode << 16).to_le_bytes());
        directory.extend(at.to_le_bytes());
        directory.extend(*name);
    }
    let start = out.len() as u32;
    let count = (entries.len() as u16).to_le_bytes();
    out.extend(&directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend(count);
    out.extend(count);
    out.extend((directory.len() as u32).to_le_bytes());
    out.extend(start.to_le_bytes());
    out.extend([0, 0]);
    out
}

/// A tar with arbitrary names and types.
pub(crate) fn tar(entries: &[(&[u8], tar::EntryType, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, kind, bytes) in entries {
        let mut header = tar::Header::new_ustar();
        header.set_entry_type(*kind);
        header.set_mode(0o644);
        header.set_size(bytes.len() as u64);
        let field = &mut header.as_old_mut().name;
        let length = name.len().min(field.len());
        field[..length].copy_from_slice(&name[..length]);
        if matches!(kind, tar::EntryType::Symlink | tar::EntryType::Link) {
            header.set_link_name("/etc/passwd").unwrap();
        }
        header.set_cksum();
        builder.append(&header, *bytes).unwrap();
    }
    builder.into_inner().unwrap()
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let value =
            chunk.iter().fold(0u32, |v, b| v << 8 | u32::from(*b)) << (8 * (3 - chunk.len()));
        for at in 0..4 {
            let letter = LETTERS[(value >> (18 - 6 * at) & 63) as usize] as char;
            out.push(if at <= chunk.len() { letter } else { '=' });
        }
    }
    out
}
