//! Skills that people published: what is blocked or warned about among them is next to always a false
//! alarm, so its share may only fall.

use sinew_guard::scan::{Bundle, Verdict};
use sinew_testkit::shared_rows;

use crate::support::{scanner, summary};

/// Blocked of the published skills, in ten thousandths. A handful of them are malware indeed.
const BLOCKED: usize = 69;
/// Warned about, in ten thousandths.
const WARNED: usize = 696;

#[test]
fn published_skills_are_rarely_blocked_or_warned_about() {
    let sets = ["data/skills.jsonl.gz", "data/routing/train-skills.jsonl.gz"];
    let Some(sets) = sets.iter().map(|path| shared_rows(path)).collect::<Option<Vec<_>>>() else {
        return;
    };
    let rows: Vec<_> = sets.into_iter().flatten().collect();
    let (mut blocked, mut warned) = (Vec::new(), 0);
    for row in &rows {
        let text = row["text"].as_str().unwrap();
        let files = [("SKILL.md".to_owned(), text.as_bytes().to_vec())];
        let report = scanner().scan_bundle(&Bundle::from_files(files));
        match report.verdict {
            Verdict::Allow => {}
            Verdict::Warn => warned += 1,
            Verdict::Block => {
                let first = summary(&report).lines().next().unwrap_or("").to_owned();
                blocked.push(format!("{} {}: {first}", row["repo"], row["path"]));
            }
        }
    }
    let share = |count: usize| count * 10_000 / rows.len();
    assert!(share(blocked.len()) <= BLOCKED, "{} blocked: {blocked:#?}", blocked.len());
    assert!(share(warned) <= WARNED, "{warned} of {} warned about", rows.len());
}
