//! Real lures in other words. The payload stays; the text that leads to it is rewritten word by
//! word, because the next attacker writes in a different style.

use sinew_guard::eval::{ScanLabel, read_rows};
use sinew_guard::scan::{FindingSeverity, SkillBundle, Verdict};
use sinew_testkit::shared_data;

use crate::support::{scanner, worst};

/// Words and their replacements; each list is one writer.
const WRITERS: &[&[(&str, &str)]] = &[
    &[
        ("prerequisites", "what you need"),
        ("prerequisite", "first step"),
        ("before using", "ahead of using"),
        ("important", "please read"),
        ("requires", "depends on"),
        ("required", "needed"),
        ("must", "have to"),
        ("download", "grab"),
        ("extract", "unzip"),
        ("password", "passphrase"),
        ("pass", "code"),
        ("run", "start"),
        ("executable", "app"),
        ("visit", "head over to"),
        ("copy", "take"),
        ("paste", "put"),
        ("terminal", "console"),
        ("command", "line"),
        ("execute", "enter"),
        ("install", "set up"),
        ("utility", "helper"),
    ],
    &[
        ("prerequisites", "getting ready"),
        ("prerequisite", "preparation"),
        ("before using", "prior to"),
        ("important", "heads up"),
        ("requires", "relies on"),
        ("required", "mandatory"),
        ("must", "should"),
        ("download", "fetch"),
        ("extract", "unpack"),
        ("password", "key"),
        ("pass", "pw"),
        ("run", "launch"),
        ("executable", "binary"),
        ("visit", "open"),
        ("copy", "select"),
        ("paste", "insert"),
        ("terminal", "shell"),
        ("command", "snippet"),
        ("execute", "submit"),
        ("install", "add"),
        ("utility", "component"),
    ],
    &[
        ("prerequisites", "setup"),
        ("prerequisite", "setup step"),
        ("before using", "to enable"),
        ("important", "note"),
        ("requires", "needs"),
        ("required", "essential"),
        ("must", "need to"),
        ("download", "get"),
        ("extract", "decompress"),
        ("password", "pwd"),
        ("pass", "pin"),
        ("run", "open"),
        ("executable", "program"),
        ("visit", "go to"),
        ("copy", "grab"),
        ("paste", "drop"),
        ("terminal", "command prompt"),
        ("command", "script"),
        ("execute", "run"),
        ("install", "deploy"),
        ("utility", "tool"),
    ],
];

fn reworded(text: &str, writer: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    'next: while let Some(c) = rest.chars().next() {
        let starts = !out.ends_with(|c: char| c.is_alphanumeric() || "/._-".contains(c));
        if starts {
            for (word, other) in writer {
                let fits =
                    rest.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word));
                let after = rest.get(word.len()..).and_then(|rest| rest.chars().next());
                if fits && !after.is_some_and(|c| c.is_alphanumeric() || "/._-".contains(c)) {
                    out.push_str(other);
                    rest = &rest[word.len()..];
                    continue 'next;
                }
            }
        }
        out.push(c);
        rest = &rest[c.len_utf8()..];
    }
    out
}

#[test]
fn lures_in_other_words_are_still_seen() {
    let Some(path) = shared_data("data/guard/guard-dev.jsonl.gz") else { return };
    let rows = read_rows(std::fs::File::open(path).unwrap()).unwrap().map(|row| row.unwrap());
    let wild = |row: &sinew_guard::eval::LabelledSkill| {
        row.label == ScanLabel::Malicious && row.tier.starts_with("wild") && !row.noisy
    };
    let (mut blocked, mut flagged, mut total) = (0, 0, 0);
    let mut missed = Vec::new();
    for row in rows.filter(wild) {
        for (number, writer) in WRITERS.iter().enumerate() {
            let files = row.bundle.files().iter().map(|file| {
                let text = String::from_utf8_lossy(&file.bytes);
                (file.path.clone(), reworded(&text, writer).into_bytes())
            });
            let report = scanner().scan_bundle(&SkillBundle::from_files(files));
            total += 1;
            blocked += usize::from(report.verdict == Verdict::Block);
            flagged += usize::from(worst(&report) >= Some(FindingSeverity::Warn));
            if report.verdict != Verdict::Block {
                missed.push(format!("{} {number} {:?}", row.id, report.verdict));
            }
        }
    }
    eprintln!(
        "reworded: blocked {blocked}, flagged {flagged} of {total}; not blocked: {missed:#?}"
    );
    assert!(flagged * 100 >= total * 95 && blocked * 100 >= total * 85, "{missed:#?}");
}
