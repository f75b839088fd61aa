//! Real, published skills.

use sinew_settings::ReasonSeverity;
use sinew_testkit::shared_rows;

use crate::support::{codes, openclaw};

#[test]
fn real_skills_load() {
    let Some(rows) = shared_rows("data/skills.jsonl.gz") else { return };
    let mut unexplained = Vec::new();
    let mut loaded = 0;
    for row in &rows {
        let text = row["text"].as_str().expect("a text");
        let outcome = openclaw(text.as_bytes());
        if outcome.skill.is_some() {
            loaded += 1;
        } else if !outcome.reasons.iter().any(|reason| reason.severity == ReasonSeverity::Error) {
            unexplained.push(format!("{} {}", row["path"], codes(&outcome.reasons)));
        }
    }
    assert_eq!(unexplained, Vec::<String>::new());
    // README.md says that all of them do.
    assert_eq!(loaded, rows.len());
}
