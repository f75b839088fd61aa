//! How many published skills only read, by what their text says and by what the scanner finds in them.
//! One line for each skill: its id, its name, its effects and the text behind each of them. For
//! `BENCHMARKS.md`, and for seeing what a changed row of the table does.
//!
//! `SINEW_SHARED=../shared cargo run -p sinew-guard --example read_only > after.tsv`
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

use std::io::{BufRead as _, BufReader};

use flate2::read::GzDecoder;
use sinew_guard::effects::{ScriptEffects, skill_text_effects};
use sinew_guard::scan::{Scanner, SkillBundle};

fn main() {
    let shared = std::env::var("SINEW_SHARED").expect("SINEW_SHARED names the folder of the data");
    let file = std::fs::File::open(format!("{shared}/data/skills.jsonl.gz")).unwrap();
    let scanner = Scanner::new();
    let (mut all, mut by_text, mut read_only) = (0, 0, 0);
    for line in BufReader::new(GzDecoder::new(file)).lines() {
        let row: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
        let field = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        let text = field("text");
        let fenced = text.strip_prefix("---").and_then(|rest| rest.split_once("\n---"));
        let found = skill_text_effects(fenced.map_or(&*text, |(_, body)| body));
        let files = [("SKILL.md".to_owned(), text.clone().into_bytes())];
        let can = scanner.scan_bundle(&SkillBundle::from_files(files)).capabilities;
        let reads = |bin: &String| {
            let used = found.programs.iter().find(|(known, _)| known == bin);
            used.map_or_else(|| ScriptEffects::of(bin).set(), |(_, set)| *set).is_read_only()
        };
        let changes = [&can.writes, &can.persistence, &can.agent_files, &can.packages, &can.exec];
        let is_quiet = changes.iter().all(|list| list.is_empty())
            && can.languages.is_empty()
            && can.binaries.iter().all(reads);
        all += 1;
        by_text += usize::from(found.effects.is_read_only());
        read_only += usize::from(found.effects.is_read_only() && is_quiet);
        let because: Vec<String> = found
            .because
            .iter()
            .map(|(effect, text)| {
                format!("{}: {}", effect.as_str(), text.replace(['\n', '\t'], " "))
            })
            .collect();
        println!("{}\t{}\t{}\t{}", field("id"), field("name"), found.effects, because.join(" | "));
    }
    eprintln!("{read_only} of {all} can qualify as read-only; {by_text} by their text alone");
}
