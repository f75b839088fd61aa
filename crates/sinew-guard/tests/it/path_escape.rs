//! The names in an archive must not lead out of the target.

use sinew_guard::archive::{ArchiveLimits, unpack};
use sinew_guard::staging::{StagedFileMode, StagedTree};

use crate::support::{gzip, raw_zip, tar};

const NAMES: &[&str] = &[
    "../x",
    "../../x",
    "a/../../x",
    "a/../x",
    "./../x",
    "..",
    ".",
    "a/..",
    "a/.",
    "a/./b",
    "...//x",
    "a//b",
    "/x",
    "/etc/passwd",
    "//x",
    "///x",
    "\\x",
    "\\\\server\\share\\x",
    "..\\x",
    "a\\..\\x",
    "a\\b",
    "C:\\x",
    "C:/x",
    "C:x",
    "c:..\\x",
    "\\\\?\\C:\\x",
    "\\\\.\\pipe\\x",
    "//server/share/x",
    "x:stream",
    "x.txt:$DATA",
    "a:b/c",
    "~/x",
    "~root/x",
    "x\0",
    "\0x",
    "a\0/../x",
    "a\n",
    "a\rb",
    "a\tb",
    "\u{1b}[2J",
    "\u{7f}",
    "a\u{85}b",
    "a.",
    "a ",
    "a./b",
    "a /b",
    "...",
    "CON",
    "con",
    "con.txt",
    "PRN",
    "AUX.md",
    "NUL",
    "nul.tar.gz",
    "COM1",
    "com9.txt",
    "LPT1",
    "lpt9",
    "a/CON/b",
    "CONIN$",
    "",
    "/",
    "a/",
    "COM¹",
];

#[test]
fn hostile_names_are_refused_in_every_format_and_with_every_strip() {
    let outside = tempfile::tempdir().unwrap();
    let long = "a".repeat(256);
    let deep = vec!["d"; 17].join("/");
    let whole = "abcdefghi/".repeat(51) + "x";
    let names: Vec<&str> =
        NAMES.iter().copied().chain([long.as_str(), deep.as_str(), whole.as_str()]).collect();
    assert!(names.len() >= 60);
    for name in names {
        for strip in [0, 1] {
            let stripped = format!("top/{name}");
            let name = if strip == 0 { name } else { &stripped };
            let limits = ArchiveLimits::SKILL.with_strip(strip);
            let mut archives = vec![raw_zip(&[(name.as_bytes(), b"x", 0o100_644)])];
            // Tar's field ends at a NUL and at 100 bytes, and an empty name cannot be written.
            if name.len() < 100 && !name.contains('\0') && !name.is_empty() {
                let plain = tar(&[(name.as_bytes(), tar::EntryType::Regular, b"x")]);
                archives.push(gzip(&plain));
                archives.push(plain);
            }
            for bytes in archives {
                let parent = outside.path().join("parent");
                std::fs::create_dir_all(&parent).unwrap();
                let stage = StagedTree::begin(&parent).unwrap();
                let result = stage.unpack(&bytes, &limits, StagedFileMode::Plain);
                let is_folder = name.ends_with('/') && !name.starts_with('/');
                assert!(result.is_err() || is_folder, "{name:?} with strip {strip}");
                drop(stage);
                assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1, "{name:?}");
                assert_eq!(std::fs::read_dir(&parent).unwrap().count(), 1, "{name:?}");
            }
        }
    }
}

#[test]
fn a_name_is_checked_before_and_after_strip() {
    let bytes = raw_zip(&[(b"../top/x", b"x", 0o100_644)]);
    assert!(unpack(&bytes, &ArchiveLimits::SKILL.with_strip(1)).is_err());
    let bytes = raw_zip(&[(b"top/x", b"x", 0o100_644)]);
    assert_eq!(unpack(&bytes, &ArchiveLimits::SKILL.with_strip(1)).unwrap()[0].path, "x");
}
