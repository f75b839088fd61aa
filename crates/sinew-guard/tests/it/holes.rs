//! Ways past the scanner, by class, beside honest texts that look alike: templates of our own in
//! `tests/data/holes`, filled with the values of their slots. A third of the variants is kept aside:
//! no rule is tuned on them.

use std::collections::BTreeMap;
use std::path::Path;

use sinew_guard::scan::{SkillBundle, Verdict};

use crate::support::{scanner, skill, summary};

/// One skill of the table.
pub(crate) struct HoleVariant {
    pub(crate) id: String,
    pub(crate) class: String,
    pub(crate) is_malicious: bool,
    pub(crate) files: Vec<(String, String)>,
}

impl HoleVariant {
    /// Whether it is one of the third that is only looked at in the end.
    pub(crate) fn is_aside(&self) -> bool {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in self.id.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        (hash >> 17).is_multiple_of(3)
    }

    pub(crate) fn bundle(&self) -> SkillBundle {
        let file = |(path, text): &(String, String)| (path.clone(), text.clone().into_bytes());
        SkillBundle::from_files(self.files.iter().map(file))
    }
}

/// Every variant of every template.
pub(crate) fn variants() -> Vec<HoleVariant> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/holes");
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let texts: Vec<String> =
        paths.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let slots: BTreeMap<&str, Vec<&str>> = texts
        .iter()
        .flat_map(|text| text.lines())
        .filter_map(|line| line.strip_prefix('@')?.split_once(" = "))
        .map(|(name, values)| (name, values.split(" ¦ ").collect()))
        .collect();
    let mut all = Vec::new();
    let templates = texts.iter().flat_map(|text| text.split("=== ").skip(1));
    for (number, template) in templates.enumerate() {
        let (head, body) = template.split_once('\n').unwrap();
        let [class, label, count] = head.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{head}: a class, a label and a number of variants");
        };
        for variant in 0..count.parse::<usize>().unwrap() {
            all.push(HoleVariant {
                id: format!("{class}-{label}-{number}-{variant}"),
                class: class.to_owned(),
                is_malicious: label == "bad",
                files: files(&fill(body, &slots, variant)),
            });
        }
    }
    all
}

/// Fills every slot; the values of one slot are taken in turn, each slot at its own pace.
fn fill(text: &str, slots: &BTreeMap<&str, Vec<&str>>, variant: usize) -> String {
    let mut text = text.to_owned();
    for _ in 0..3 {
        for (pace, (name, values)) in slots.iter().enumerate() {
            let value = values[(variant * (1 + pace % 3) + variant / values.len()) % values.len()];
            text = text.replace(&format!("{{{{{name}}}}}"), value);
        }
    }
    text
}

fn files(text: &str) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = vec![("SKILL.md".to_owned(), String::new())];
    for line in text.lines() {
        match line.strip_prefix("--- ") {
            Some("SKILL.md") => {}
            Some(path) => files.push((path.to_owned(), String::new())),
            None => {
                let (_, last) = files.last_mut().unwrap();
                last.push_str(line);
                last.push('\n');
            }
        }
    }
    let text = &mut files[0].1;
    if !text.starts_with("---") {
        *text = skill(text);
    }
    files
}

/// How many were blocked, warned about and allowed.
type Verdicts = [usize; 3];

#[test]
fn every_class_of_holes_is_watched() {
    let mut counts: BTreeMap<(bool, String, bool), Verdicts> = BTreeMap::new();
    let tell = std::env::var_os("SINEW_HOLES").is_some();
    let all = variants();
    for variant in &all {
        let report = scanner().scan_bundle(&variant.bundle());
        let key = (variant.is_malicious, variant.class.clone(), variant.is_aside());
        let column = match report.verdict {
            Verdict::Block => 0,
            Verdict::Warn => 1,
            Verdict::Allow => 2,
        };
        counts.entry(key).or_default()[column] += 1;
        if tell && !variant.is_aside() && variant.is_malicious != (column == 0) {
            let text: String = variant.files.iter().map(|(_, text)| text.as_str()).collect();
            let body = text.rsplit("# Demo").next().unwrap_or("").trim();
            eprintln!("{} {:?} {:?}\n{}", variant.id, report.verdict, body, summary(&report));
        }
    }
    let mut sums: BTreeMap<(bool, bool), Verdicts> = BTreeMap::new();
    for ((malicious, class, aside), verdicts) in &counts {
        eprintln!(
            "{} {class:10} aside {aside:5} block/warn/allow {verdicts:?}",
            if *malicious { "malicious" } else { "honest   " }
        );
        let sum = sums.entry((*malicious, *aside)).or_default();
        for (total, count) in sum.iter_mut().zip(verdicts) {
            *total += count;
        }
    }
    eprintln!("{sums:?}");
    // The classes of programs and of several files wait for a flow of values; the rest stands.
    for aside in [false, true] {
        let [blocked, warned, allowed] = sums[&(true, aside)];
        let total = blocked + warned + allowed;
        assert!(blocked * 100 >= total * 84, "{blocked} of {total} blocked, aside: {aside}");
        assert!(
            (blocked + warned) * 100 >= total * 92,
            "{allowed} of {total} pass, aside: {aside}"
        );
        let [blocked, warned, allowed] = sums[&(false, aside)];
        let total = blocked + warned + allowed;
        assert!(blocked * 100 <= total * 4, "{blocked} of {total} honest ones blocked");
    }
    let malicious = all.iter().filter(|variant| variant.is_malicious).count();
    assert!(malicious >= 400 && all.len() - malicious >= 400, "{malicious} of {}", all.len());
}
