//! Archives of programs that a skill needs: larger, also packed with bzip2, unpacked into an
//! existing folder.

use std::fs;
use std::io::{self, Write as _};

use sinew_guard::archive::{
    ArchiveError, ArchiveFormat, ArchiveLimits, UnpackSummary, stream_files,
};
use sinew_guard::staging::{StagedFileMode, StagedTree, StagingError};

use crate::support::tar;

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn names(
    bytes: &[u8],
    format: ArchiveFormat,
    limits: &ArchiveLimits,
) -> Result<(UnpackSummary, String), ArchiveError> {
    let mut names = Vec::new();
    let unpacked = stream_files(bytes, bytes.len() as u64, format, limits, &mut |file| {
        let mut text = String::new();
        file.content.read_to_string(&mut text)?;
        names.push(format!("{}={text}", file.path));
        Ok(())
    })?;
    Ok((unpacked, names.join(" ")))
}

#[test]
fn tar_bz2_is_unpacked_and_what_vanishes_is_counted() {
    let inner = tar(&[
        (b"README", tar::EntryType::Regular, b"r"),
        (b"tool-1/", tar::EntryType::Directory, b""),
        (b"tool-1/bin/tool", tar::EntryType::Regular, b"t"),
    ]);
    let packed = bzip2(&inner);
    let (unpacked, listed) =
        names(&packed, ArchiveFormat::TarBz2, &ArchiveLimits::TOOL.with_strip(1)).unwrap();
    assert_eq!(unpacked, UnpackSummary { files: 1, vanished: 1 });
    assert_eq!(listed, "bin/tool=t");
    // The claimed format decides, and the content must match it.
    assert!(names(&packed, ArchiveFormat::TarGz, &ArchiveLimits::TOOL).is_err());
    assert!(names(&inner, ArchiveFormat::Zip, &ArchiveLimits::TOOL).is_err());
}

#[test]
fn a_reader_that_stops_early_still_meets_the_caps() {
    let bytes = tar(&[(b"a", tar::EntryType::Regular, &[0; 4096])]);
    let small = ArchiveLimits { entry: 1024, ..ArchiveLimits::TOOL };
    let result =
        stream_files(&*bytes, bytes.len() as u64, ArchiveFormat::Tar, &small, &mut |_| Ok(()));
    assert!(matches!(result, Err(ArchiveError::Cap { what: "bytes in one file", .. })));
    let failing = |_: sinew_guard::archive::ArchiveFileStream<'_>| Err(io::Error::other("full"));
    let result =
        stream_files(&*bytes, bytes.len() as u64, ArchiveFormat::Tar, &ArchiveLimits::TOOL, &mut {
            failing
        });
    assert!(matches!(result, Err(ArchiveError::Io(_))));
}

#[test]
fn a_commit_can_keep_what_was_there() {
    let home = tempfile::tempdir().unwrap();
    let target = home.path().join("demo");
    fs::create_dir_all(target.join("models")).unwrap();
    fs::write(target.join("models/m"), "model").unwrap();
    fs::write(target.join("tool"), "old").unwrap();
    let stage = StagedTree::begin(home.path()).unwrap();
    let mode =
        |path: &str, _| if path == "tool" { StagedFileMode::Script } else { StagedFileMode::Plain };
    let bytes = tar(&[
        (b"tool", tar::EntryType::Regular, b"new"),
        (b"other", tar::EntryType::Regular, b"x"),
    ]);
    stage
        .unpack_from(&*bytes, bytes.len() as u64, ArchiveFormat::Tar, &ArchiveLimits::TOOL, &mode)
        .unwrap();
    stage.carry_over_from(&target).unwrap();
    stage.carry_over_from(&home.path().join("nowhere")).unwrap();
    stage.commit("demo").unwrap();
    assert_eq!(fs::read_to_string(target.join("tool")).unwrap(), "new");
    assert_eq!(fs::read_to_string(target.join("models/m")).unwrap(), "model");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |name: &str| fs::metadata(target.join(name)).unwrap().permissions().mode();
        assert_eq!(mode("tool") & 0o777, 0o755);
        assert_eq!(mode("other") & 0o777, 0o644);
        std::os::unix::fs::symlink("/etc/passwd", target.join("link")).unwrap();
        let stage = StagedTree::begin(home.path()).unwrap();
        assert!(matches!(stage.carry_over_from(&target), Err(StagingError::Io(_))));
    }
}
