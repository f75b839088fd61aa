//! Golden vectors: what other tools compute over the same files.

use proptest::prelude::*;
use sinew_hub::digest::{
    FileRecord, FingerprintOrder, META_FILE, content_hash, fingerprint, openclaw_tree, tree_sha256,
};
use sinew_hub::tree::{SkillTree, TreeError, TreeFile, records_of};
use sinew_hub::version_archive::{ArchiveMeta, pack};

/// In collation order.
const PATHS: &[&str] = &[
    "_x.md", "10.md", "9.md", "a b.md", "a_b.md", "a-b.md", "a.md", "A.md", "a/b.md", "ab.md",
    "B.md", "é.md", "SKILL.md", "Z.md",
];

fn records(paths: &[&str]) -> Vec<FileRecord> {
    paths.iter().map(|path| FileRecord::of(*path, format!("{path}\n").as_bytes())).collect()
}

#[test]
fn the_golden_vectors_hold() {
    let check = |files: &[FileRecord], expected: [&str; 4]| {
        assert_eq!(fingerprint(files, FingerprintOrder::Collation), expected[0]);
        assert_eq!(content_hash(files), expected[1]);
        assert_eq!(fingerprint(files, FingerprintOrder::Bytes), expected[2]);
        assert_eq!(tree_sha256(files), format!("sha256:{}", expected[3]));
    };
    let mut all = records(PATHS);
    all.reverse();
    check(
        &all,
        [
            "2cc9b324ed6be5c1f34dea9cd80a4439770077dc9b629c695501da69f9d13a01",
            "1fc12a09ff936d81ac409462723d3648329f92502a0d98bd3020e29d538e0095",
            "84eada18e01a94deb1ec0a155085d1611cd3a6f9178b18feed383479259002c7",
            "7a93c50aa8f6d5139676aa6ea9868baba29f9d500a5a9398b3e05a1a220c0ba2",
        ],
    );
    all.retain(|file| file.path != "é.md");
    check(
        &all,
        [
            "51aa4bb3461b4ee2e5a8e56d155a389756653164ccd2efa4b20cf8cba701fe06",
            "8454f99cbc8cac746fe1f072d0ca8ab1b6d23abcc407d6161715dba54af23cd8",
            "2422ffaebfb51b0dfaaebd91e2dcf6ac7a48081a0d88bdf8b4b22b6736f1b1fe",
            "760a2d03110af6121a2da6cac6ddaabab133a592e371b3f6f5cdde9578bca3b2",
        ],
    );
}

#[test]
fn paths_stand_in_the_clients_order() {
    let mut sorted = PATHS.to_vec();
    sorted.sort_unstable();
    sorted.sort_by(|a, b| FingerprintOrder::Collation.compare(a, b));
    assert_eq!(sorted, PATHS);
}

/// The rule for ASCII in plain words, beside the collator that is used.
fn by_the_rule(a: &str, b: &str) -> std::cmp::Ordering {
    const SINGLE: &str = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789abcdefghijklmnopqrstuvwxyz";
    let primary = |text: &str| -> Vec<usize> {
        text.chars().filter_map(|c| SINGLE.find(c.to_ascii_lowercase())).collect()
    };
    let case = |text: &str| -> Vec<bool> { text.chars().map(|c| c.is_ascii_uppercase()).collect() };
    primary(a).cmp(&primary(b)).then_with(|| case(a).cmp(&case(b)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]
    #[test]
    fn random_ascii_pairs_sort_by_the_rule(a in "[ -~]{0,12}", b in "[ -~]{0,12}") {
        prop_assert_eq!(FingerprintOrder::Collation.compare(&a, &b), by_the_rule(&a, &b));
    }
}

#[test]
fn records_of_tools_are_no_part_of_a_tree_and_an_execute_bit_is() {
    let plain = records(&["SKILL.md"]);
    let with_origin = records(&["SKILL.md", ".clawhub/origin.json", ".sinew/note"]);
    assert_eq!(tree_sha256(&plain), tree_sha256(&with_origin));
    assert_ne!(tree_sha256(&plain), tree_sha256(&records(&["SKILL.md", "a/.clawhub/x"])));
    let runnable = vec![FileRecord { executable: true, ..plain[0].clone() }];
    assert_ne!(tree_sha256(&plain), tree_sha256(&runnable));
    assert_eq!(openclaw_tree(&plain), openclaw_tree(&records(&["SKILL.md", ".clawhub/o.json"])));
    assert_ne!(openclaw_tree(&plain), openclaw_tree(&records(&["SKILL.md", ".openclaw/o.json"])));
}

#[test]
fn the_publishable_set_leaves_out_dots_modules_and_what_is_ignored() {
    let tree = SkillTree::new(
        [
            ("SKILL.md", "x"),
            (META_FILE, "{}"),
            (".gitignore", "*.log\n/build/\n!keep.log\n"),
            (".clawhubignore", "notes.md\n"),
            (".env", "A=1"),
            ("a/.hidden/b.md", "x"),
            ("node_modules/x/index.js", "x"),
            ("debug.log", "x"),
            ("keep.log", "x"),
            ("build/out.md", "x"),
            ("docs/build/out.md", "x"),
            ("notes.md", "x"),
        ]
        .map(|(path, text)| TreeFile::new(path, text))
        .to_vec(),
    )
    .unwrap();
    let paths: Vec<String> = tree.publishable().files().iter().map(|f| f.path.clone()).collect();
    assert_eq!(paths, ["SKILL.md", META_FILE, "docs/build/out.md", "keep.log"]);
    let prints = tree.fingerprints();
    assert_ne!(prints.published, prints.with_meta);
    assert_eq!(prints.published, tree.without(|path| path == META_FILE).fingerprints().published);
}

#[test]
fn a_tree_has_no_twins_links_or_ways_out() {
    let tree = |paths: &[&str]| {
        SkillTree::new(paths.iter().map(|path| TreeFile::new(*path, "x")).collect()).map(|_| ())
    };
    assert!(matches!(tree(&["a.md", "A.md"]), Err(TreeError::Twins { .. })));
    assert!(matches!(tree(&["e\u{301}.md", "é.md"]), Err(TreeError::Twins { .. })));
    assert!(matches!(tree(&["../a.md"]), Err(TreeError::Name { .. })));
    #[cfg(unix)]
    {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("SKILL.md"), "x").unwrap();
        assert_eq!(records_of(folder.path()).unwrap().len(), 1);
        std::fs::hard_link(folder.path().join("SKILL.md"), folder.path().join("b.md")).unwrap();
        assert!(matches!(records_of(folder.path()), Err(TreeError::Kind { .. })));
        std::fs::remove_file(folder.path().join("b.md")).unwrap();
        std::os::unix::fs::symlink("SKILL.md", folder.path().join("b.md")).unwrap();
        assert!(matches!(records_of(folder.path()), Err(TreeError::Kind { .. })));
    }
}

#[test]
fn a_packed_version_is_the_same_bytes_every_time() {
    let meta = ArchiveMeta {
        owner_id: "u1".into(),
        slug: "demo".into(),
        version: "1.0.0".into(),
        published_at: 7,
    };
    let files = [("a.md", b"one".as_slice()), ("SKILL.md", b"two"), ("B.md", b"three")];
    let once = pack(files, Some(&meta)).unwrap();
    let mut turned = files;
    turned.reverse();
    assert_eq!(once, pack(turned, Some(&meta)).unwrap());
    let tree = SkillTree::from_archive(&once, 0).unwrap();
    assert_eq!(tree.get(META_FILE).unwrap().bytes, meta.to_bytes());
    let names: Vec<String> =
        sinew_guard::archive::unpack(&once, &sinew_guard::archive::ArchiveLimits::SKILL)
            .unwrap()
            .into_iter()
            .map(|entry| entry.path)
            .collect();
    assert_eq!(names, ["a.md", "B.md", "SKILL.md", META_FILE]);
    assert_eq!(
        String::from_utf8(meta.to_bytes()).unwrap(),
        "{\n  \"ownerId\": \"u1\",\n  \"slug\": \"demo\",\n  \"version\": \"1.0.0\",\n  \"publishedAt\": 7\n}"
    );
}
