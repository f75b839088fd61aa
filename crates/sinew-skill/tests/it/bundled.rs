//! The skills that ship with sinew are examples: they must have no issues.

use std::path::Path;

use sinew_settings::ReasonSeverity;
use sinew_skill::validate::{RuleSet, ValidationFile, validate};

const BUNDLED: [&str; 6] =
    ["git-history", "github", "session-logs", "sinew", "skill-creator", "tmux"];

#[test]
fn bundled_skills_pass_without_warnings() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sinew-engine/skills");
    for name in BUNDLED {
        let bytes = std::fs::read(folder.join(name).join("SKILL.md")).expect(name);
        let target = ValidationFile { directory: name, file_name: "SKILL.md", bytes: &bytes };
        for rules in [RuleSet::STRICT, RuleSet::OpenClaw, RuleSet::OpenPocketStrict] {
            let found = validate(&target, rules);
            let loud: Vec<_> = found
                .issues
                .iter()
                .filter(|issue| issue.severity >= ReasonSeverity::Warn)
                .collect();
            assert!(loud.is_empty(), "{name} by {rules}: {loud:?}");
        }
        let lines = bytes.iter().filter(|&&byte| byte == b'\n').count();
        assert!((40..=120).contains(&lines), "{name} has {lines} lines");
    }
}
