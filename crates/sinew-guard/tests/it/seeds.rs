//! Replays the starting inputs of the fuzz targets, and inputs that once broke them.

use std::path::Path;

use sinew_guard::Untrusted;
use sinew_guard::archive::{ArchiveLimits, components, unpack};
use sinew_guard::env::{SkillEnv, check_variable};
use sinew_guard::scan::SkillBundle;

use crate::support::scanner;

#[test]
fn every_seed_is_survived() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
    let mut count = 0;
    for target in std::fs::read_dir(&root).unwrap() {
        let target = target.unwrap();
        let name = target.file_name().to_string_lossy().into_owned();
        for seed in std::fs::read_dir(target.path()).unwrap() {
            let bytes = std::fs::read(seed.unwrap().path()).unwrap();
            let text = String::from_utf8_lossy(&bytes);
            match name.as_str() {
                "zip_extract" | "tar_extract" => drop(unpack(&bytes, &ArchiveLimits::SKILL)),
                "entry_name" => drop(components(&text).is_ok()),
                "terminal_text" => {
                    assert!(!Untrusted::new(&text).for_terminal().chars().any(char::is_control));
                }
                "prompt_xml" => assert!(!Untrusted::new(&text).for_prompt_xml().contains('<')),
                "scan_bundle" => {
                    let names = ["scripts/a.pyc", "scripts/a.py", "SKILL.md", "run.sh"];
                    let files = names.iter().map(|name| (*name).to_owned()).zip(parts(&bytes));
                    let bundle = SkillBundle::from_files(files);
                    assert_eq!(scanner().scan_bundle(&bundle), scanner().scan_bundle(&bundle));
                }
                "env_filter" => drop(check_variable(&SkillEnv::default(), &text, &text)),
                _ => {
                    let bundle = SkillBundle::from_files([
                        ("SKILL.md".to_owned(), bytes.clone()),
                        ("a.sh".to_owned(), bytes),
                    ]);
                    let first = serde_json::to_string(&scanner().scan_bundle(&bundle)).unwrap();
                    assert_eq!(
                        first,
                        serde_json::to_string(&scanner().scan_bundle(&bundle)).unwrap()
                    );
                }
            }
            count += 1;
        }
    }
    assert!(count >= 20, "{count} seeds");
}

/// The parts of a seed that contains several files.
fn parts(bytes: &[u8]) -> Vec<Vec<u8>> {
    const MARK: &[u8] = b"\n=====\n";
    let mut parts = Vec::new();
    let mut rest = bytes;
    while let Some(at) = rest.windows(MARK.len()).position(|window| window == MARK) {
        parts.push(rest[..at].to_vec());
        rest = &rest[at + MARK.len()..];
    }
    parts.push(rest.to_vec());
    parts
}
