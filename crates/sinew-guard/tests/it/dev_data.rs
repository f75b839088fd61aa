//! The targets on labelled data, and on mutants of its malicious part.

use std::time::Duration;

use sinew_guard::eval::{LabelledSkill, ScanLabel, evaluate, read_rows};
use sinew_guard::scan::{FindingSeverity, SkillBundle};
use sinew_testkit::shared_data;

use crate::support::{base64, gzip, scanner, worst, zip};

fn rows() -> Vec<LabelledSkill> {
    let Some(path) = shared_data("data/guard/guard-dev.jsonl.gz") else { return Vec::new() };
    read_rows(std::fs::File::open(path).unwrap()).unwrap().map(|row| row.unwrap()).collect()
}

#[test]
fn the_goals_hold_on_the_dev_split() {
    let rows = rows();
    if rows.is_empty() {
        return;
    }
    let report = evaluate(scanner(), rows.into_iter().map(Ok), &|| Duration::ZERO).unwrap();
    assert!(report.wild_payload.rate >= 0.96, "{:?}", report.wild_payload);
    assert!(report.ordinary_blocked.rate <= 0.008, "{:?}", report.false_positives);
    // Skills of well-known publishers pass by the rules, never by a list of names.
    assert!(report.tiers["benign/popular"].blocked.rate <= 0.0, "{:?}", report.false_positives);
    assert!(report.ordinary_warned.rate <= 0.12, "{:?}", report.ordinary_warned);
    assert!(report.hard_blocked.rate <= 0.04, "{:?}", report.false_positives);
    let synthetic = &report.tiers["malicious/synthetic"];
    assert!(
        synthetic.blocked.rate >= 0.75 && synthetic.block_or_warn.rate >= 0.88,
        "{synthetic:?}"
    );
    assert!(report.tiers["malicious/inject-obvious"].block_or_warn.rate >= 0.5);
    assert!(report.youden >= 0.94);
}

/// Twelve ways to disguise a file, each close to something a person could still be made to run.
fn mutate(kind: usize, path: &str, text: &str) -> (String, Vec<u8>) {
    let keep = |text: String| (path.to_owned(), text.into_bytes());
    let zero_width = |text: &str, mark: char| {
        let mut out = String::new();
        for (at, c) in text.chars().enumerate() {
            out.push(c);
            if at % 7 == 3 && c.is_ascii_lowercase() {
                out.push(mark);
            }
        }
        out
    };
    let commands = |wrap: &dyn Fn(&str) -> String| {
        text.lines()
            .map(|line| {
                let runs = ["curl", "wget", "base64", "bash", "python"]
                    .iter()
                    .any(|word| line.contains(word));
                if runs && line.len() < 600 { wrap(line) } else { line.to_owned() }
            })
            .collect::<Vec<_>>()
            .join("\n")
    };
    let hex = |line: &str| line.bytes().map(|b| format!("{b:02x}")).collect::<String>();
    let rot13 = |line: &str| {
        line.chars()
            .map(|c| match c {
                'a'..='z' => ((c as u8 - b'a' + 13) % 26 + b'a') as char,
                'A'..='Z' => ((c as u8 - b'A' + 13) % 26 + b'A') as char,
                c => c,
            })
            .collect::<String>()
    };
    match kind {
        0 => keep(commands(&|line| format!("echo {} | base64 -d | bash", base64(line.as_bytes())))),
        1 => keep(commands(&|line| format!("echo {} | xxd -r -p | bash", hex(line)))),
        2 => keep(commands(&|line| format!("exec(codecs.decode({:?}, 'rot13'))", rot13(line)))),
        3 => keep(commands(&|line| {
            format!("echo {} | base64 -d | gunzip | bash", base64(&gzip(line.as_bytes())))
        })),
        4 => keep(
            text.replace("curl", "cu\"\"rl").replace("bash", "ba''sh").replace("wget", "wg\\et"),
        ),
        5 => keep(text.replacen("\n\n", &"\n".repeat(100_000), 1)),
        6 => keep(zero_width(text, '\u{200b}')),
        7 => keep(text.replace('a', "а").replace('o', "о")),
        8 => keep(
            text.chars()
                .enumerate()
                .map(|(at, c)| if at % 2 == 0 { c.to_ascii_uppercase() } else { c })
                .collect(),
        ),
        9 => keep(text.replace(" | ", " \\\n  | ").replace(" -", " \\\n  -")),
        10 => (format!(".hidden/{path}"), text.as_bytes().to_vec()),
        _ => (
            format!("assets/{}.docx", path.replace('/', "_")),
            zip(&[("word/document.xml", b"<w/>"), (path, text.as_bytes())]),
        ),
    }
}

#[test]
fn mutants_are_still_flagged() {
    let rows = rows();
    let (mut flagged, mut total) = (0, 0);
    let mut by_kind = [(0, 0); 12];
    for row in rows.iter().filter(|row| {
        row.label == ScanLabel::Malicious && row.tier.starts_with("wild") && !row.noisy
    }) {
        for (kind, counts) in by_kind.iter_mut().enumerate() {
            let files =
                row.bundle.files().iter().map(|file| match std::str::from_utf8(&file.bytes) {
                    Ok(text) => mutate(kind, &file.path, text),
                    Err(_) => (file.path.clone(), file.bytes.clone()),
                });
            let report = scanner().scan_bundle(&SkillBundle::from_files(files));
            let hit = worst(&report) >= Some(FindingSeverity::Warn);
            flagged += usize::from(hit);
            total += 1;
            counts.0 += usize::from(hit);
            counts.1 += 1;
        }
    }
    if total > 0 {
        eprintln!("mutants flagged: {flagged} of {total}, by mutator {by_kind:?}");
        assert!(flagged * 100 >= total * 85, "{by_kind:?}");
    }
}
