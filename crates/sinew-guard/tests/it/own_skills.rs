//! Skills of our own, malicious and honest: templates in `tests/data`, filled with the values of
//! their slots. A third is kept aside: no rule is tuned on it.

use std::collections::BTreeMap;
use std::path::Path;

use sinew_guard::scan::SkillBundle;

/// What decides whether a skill is kept aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AsideBy {
    /// Each variant for itself: its template is known, its values are not.
    Variant,
    /// The template with all its variants: nothing of it is known.
    Template,
}

/// One skill of a table.
pub(crate) struct OwnSkill {
    pub(crate) id: String,
    pub(crate) class: String,
    pub(crate) is_malicious: bool,
    /// Whether it is one of the third that is only looked at in the end.
    pub(crate) is_aside: bool,
    pub(crate) files: Vec<(String, String)>,
}

impl OwnSkill {
    pub(crate) fn bundle(&self) -> SkillBundle {
        let file = |(path, text): &(String, String)| (path.clone(), text.clone().into_bytes());
        SkillBundle::from_files(self.files.iter().map(file))
    }
}

/// Every variant of every template of a folder in `tests/data`.
pub(crate) fn read(folder: &str, aside: AsideBy) -> Vec<OwnSkill> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(folder);
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
            let id = format!("{class}-{label}-{number}-{variant}");
            let known = match aside {
                AsideBy::Variant => &id,
                AsideBy::Template => body,
            };
            all.push(OwnSkill {
                class: class.to_owned(),
                is_malicious: label == "bad",
                is_aside: (hash(known) >> 17).is_multiple_of(3),
                files: files(&fill(body, &slots, variant)),
                id,
            });
        }
    }
    all
}

fn hash(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
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
        *text = format!("---\nname: demo\ndescription: A demo\n---\n# Demo\n\n{text}\n");
    }
    files
}
