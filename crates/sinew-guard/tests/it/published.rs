//! Published skills: a block or warning among them is almost always a false alarm, so their number
//! may only fall.

use sinew_guard::scan::{SkillBundle, Verdict};
use sinew_testkit::shared_rows;

use crate::support::{long, scanner, summary};

/// How many are scanned, and how many were blocked and warned about at the last measurement.
struct Ratchet {
    every: usize,
    blocked: usize,
    warned: usize,
}

/// All of them, a handful of which are real malware. Since nothing is vouched for by the skill
/// itself, installers that are piped into a shell from a skill's own or a stranger's host block, and
/// what a skill sends to hosts of its own is warned about like what goes elsewhere.
const ALL: Ratchet = Ratchet { every: 1, blocked: 78, warned: 528 };
/// Every fourth, for daily runs.
const SOME: Ratchet = Ratchet { every: 4, blocked: 19, warned: 125 };

#[test]
fn published_skills_are_rarely_blocked_or_warned_about() {
    let sets = ["data/skills.jsonl.gz", "data/routing/train-skills.jsonl.gz"];
    let Some(sets) = sets.iter().map(|path| shared_rows(path)).collect::<Option<Vec<_>>>() else {
        return;
    };
    let ratchet = if long() { ALL } else { SOME };
    let rows: Vec<_> = sets.into_iter().flatten().step_by(ratchet.every).collect();
    let (mut blocked, mut warned) = (Vec::new(), 0);
    for row in &rows {
        let text = row["text"].as_str().unwrap();
        let files = [("SKILL.md".to_owned(), text.as_bytes().to_vec())];
        let report = scanner().scan_bundle(&SkillBundle::from_files(files));
        match report.verdict {
            Verdict::Allow => {}
            Verdict::Warn => warned += 1,
            Verdict::Block => {
                let first = summary(&report).lines().next().unwrap_or("").to_owned();
                blocked.push(format!("{} {}: {first}", row["repo"], row["path"]));
            }
        }
    }
    assert!(blocked.len() <= ratchet.blocked, "{} blocked: {blocked:#?}", blocked.len());
    assert!(warned <= ratchet.warned, "{warned} of {} warned about", rows.len());
}
