//! Skills that known vendors publish in repositories of their own: the rules let them pass, and no
//! list of names does.

use sinew_guard::scan::{SkillBundle, Verdict};
use sinew_testkit::shared_rows;

use crate::support::{scanner, summary};

/// Repositories in which vendors publish skills for what they make.
const VENDORS: &[&str] = &[
    "anthropics/claude-plugins-official",
    "anthropics/knowledge-work-plugins",
    "anthropics/skills",
    "dotnet/skills",
    "expo/skills",
    "getsentry/skills",
    "google-gemini/gemini-cli",
    "google-gemini/gemini-skills",
    "googleworkspace/cli",
    "microsoft/agent-skills",
    "microsoft/cat-agent-skills",
    "openai/codex",
    "openai/skills",
    "openclaw/openclaw",
    "stripe/ai",
    "supabase/agent-skills",
    "vercel-labs/agent-skills",
];
/// A vendor's skill that pipes the install script of a repository that is not its own into a shell. That a vendor
/// recommends it makes the stranger no first party: a person decides.
const STRANGERS: &[&str] = &["google-gemini/gemini-cli .gemini/skills/agent-tui/SKILL.md"];
/// Fewer rows than this would say nothing.
const AT_LEAST: usize = 600;
/// Per cent that may be warned about: a warning is read, and these are read by many.
const WARNED: usize = 8;

#[test]
fn skills_of_known_vendors_are_never_blocked() {
    let sets = ["data/skills.jsonl.gz", "data/routing/train-skills.jsonl.gz"];
    let Some(sets) = sets.iter().map(|path| shared_rows(path)).collect::<Option<Vec<_>>>() else {
        return;
    };
    let (mut total, mut warned, mut blocked) = (0, 0, Vec::new());
    for row in sets.into_iter().flatten() {
        let repo = row["repo"].as_str().unwrap();
        if !VENDORS.contains(&repo) {
            continue;
        }
        total += 1;
        let text = row["text"].as_str().unwrap().as_bytes().to_vec();
        let report =
            scanner().scan_bundle(&SkillBundle::from_files([("SKILL.md".to_owned(), text)]));
        warned += usize::from(report.verdict == Verdict::Warn);
        if report.verdict == Verdict::Block {
            let place = format!("{repo} {}", row["path"].as_str().unwrap());
            if !STRANGERS.contains(&place.as_str()) {
                blocked.push(format!("{place}: {}", summary(&report)));
            }
        }
    }
    assert!(total >= AT_LEAST, "{total} rows of vendors");
    assert!(blocked.is_empty(), "{} of {total} blocked: {blocked:#?}", blocked.len());
    assert!(warned * 100 <= total * WARNED, "{warned} of {total} warned about");
}
