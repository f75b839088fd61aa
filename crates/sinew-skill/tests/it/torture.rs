//! Front matters that break parsers. The snapshot holds labels and codes, none of their text.

use std::fmt::Write as _;

use sinew_testkit::shared_data;

use crate::support::{codes, openclaw};

#[test]
fn each_file_has_a_known_result() {
    let Some(folder) = shared_data("data/frontmatter-torture") else { return };
    let manifest = std::fs::read_to_string(folder.join("manifest.json")).expect("readable");
    let manifest: Vec<serde_json::Value> = serde_json::from_str(&manifest).expect("JSON");
    let (mut story, mut rejected, mut rescued) = (String::new(), 0, 0);
    for row in &manifest {
        let name = row["file"].as_str().expect("a file");
        let bytes = std::fs::read(folder.join(name)).expect("readable");
        let outcome = openclaw(&bytes);
        let health = outcome.skill.as_ref().map(|skill| skill.metadata_health);
        if !row["strict_fail"].is_null() {
            rejected += 1;
            rescued += usize::from(health.is_some());
            assert!(!outcome.reasons.is_empty(), "{name} has no reason");
        }
        let state = health.map_or("not loaded".to_owned(), |health| format!("loaded, {health:?}"));
        let _ = writeln!(
            story,
            "{}: {state}: {}",
            name.trim_end_matches(".md"),
            codes(&outcome.reasons)
        );
    }
    let _ = writeln!(story, "{rescued} of {rejected} that a strict parser rejects load");
    assert!(rescued * 2 >= rejected, "{story}");
    insta::assert_snapshot!(story);
}
