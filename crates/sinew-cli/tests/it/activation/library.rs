//! The skills and messages of the bench: our own for CI, other people's for the long run.

use std::collections::BTreeSet;

use serde_json::Value;
use sinew_testkit::{TestMachine, shared_rows};

/// How many skills are installed.
pub(super) const SKILLS: usize = 300;
/// Messages that have a skill, and messages that have none.
pub(super) const WITH_SKILL: usize = 30;
pub(super) const WITHOUT_SKILL: usize = 20;

/// A skill of the bench.
#[derive(Debug)]
pub(super) struct BenchSkill {
    pub(super) name: String,
    pub(super) text: String,
}

/// A message, and the skills that are right for it.
#[derive(Debug, Clone)]
pub(super) struct BenchMessage {
    pub(super) text: String,
    pub(super) skills: Vec<String>,
}

/// Skills with the messages that are sent.
#[derive(Debug)]
pub(super) struct BenchLibrary {
    pub(super) skills: Vec<BenchSkill>,
    pub(super) messages: Vec<BenchMessage>,
}

fn rows(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn words(value: &Value) -> Vec<String> {
    let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// So many of the items, at even distances.
fn spread<T: Clone>(items: &[T], count: usize) -> Vec<T> {
    assert!(items.len() >= count, "{} of {count}", items.len());
    (0..count).map(|at| items[at * items.len() / count].clone()).collect()
}

fn skill(name: &str, description: &str, first_step: &str) -> BenchSkill {
    let text = format!(
        "---\nname: {name}\ndescription: {description}\n---\n# {name}\n\n{description}\n\n## Steps\n\n\
         1. {first_step}\n\
         2. Say in one sentence what {name} is going to do, and wait where that is not what was meant.\n\
         3. Work in small steps, and check each result of {name} before the next one.\n\
         4. End with a short list of what {name} changed and what is left to do.\n"
    );
    BenchSkill { name: name.to_owned(), text }
}

/// Our own skills, with what people say who begin a conversation.
pub(super) fn own() -> BenchLibrary {
    const MESSAGES: &str = include_str!("../../../../../integrations/bench/messages.tsv");
    let message = |line: &str| {
        let (skill, text) = line.split_once('\t').unwrap_or_else(|| panic!("{line}"));
        BenchMessage { text: text.to_owned(), skills: vec![skill.to_owned()] }
    };
    let mut library = terse();
    library.messages.splice(..WITH_SKILL, MESSAGES.lines().map(message));
    library
}

/// The same skills, with the corpus's own messages: a few words without any context.
pub(super) fn terse() -> BenchLibrary {
    const CORPUS: &str = include_str!("../../../../sinew-route/tests/corpus/skills.jsonl");
    const MESSAGES: &str = include_str!("../../../../sinew-route/tests/corpus/messages.jsonl");
    const SUBJECTS: &str = include_str!("../../../../../integrations/bench/subjects.tsv");
    const KINDS: &str = include_str!("../../../../../integrations/bench/kinds.tsv");
    let mut skills: Vec<BenchSkill> = rows(CORPUS)
        .iter()
        .map(|row| {
            let name = row["name"].as_str().expect("a name");
            let step = format!("Read everything that the user gave you for {name}.");
            skill(name, row["description"].as_str().expect("a description"), &step)
        })
        .collect();
    for subject in SUBJECTS.lines() {
        let [id, thing, with] = subject.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{subject}")
        };
        for kind in KINDS.lines() {
            let [kind, description, step] = kind.split('\t').collect::<Vec<_>>()[..] else {
                panic!("{kind}")
            };
            let name = format!("{id}-{kind}");
            let fill = |text: &str| {
                text.replace("{thing}", thing).replace("{words}", with).replace("{name}", &name)
            };
            skills.push(skill(&name, &fill(description), &fill(step)));
        }
    }
    let messages: Vec<(String, BenchMessage)> = rows(MESSAGES)
        .iter()
        .map(|row| {
            let skills = [words(&row["expected"]), words(&row["also"])].concat();
            let text = row["query"].as_str().expect("a message").to_owned();
            (row["kind"].as_str().expect("a kind").to_owned(), BenchMessage { text, skills })
        })
        .collect();
    let of_kind = |wanted: &str| -> Vec<BenchMessage> {
        let of_kind = messages.iter().filter(|(kind, _)| kind == wanted);
        of_kind.map(|(_, message)| message.clone()).collect()
    };
    let mut chosen = spread(&of_kind("normal"), WITH_SKILL);
    chosen.extend(spread(&of_kind("none"), WITHOUT_SKILL));
    BenchLibrary { skills, messages: chosen }
}

/// Skills that other people published, with messages that were written for them.
pub(super) fn real() -> Option<BenchLibrary> {
    let all = shared_rows("data/skills.jsonl.gz")?;
    let queries = shared_rows("data/routing/queries-dev.jsonl")?;
    let message = |row: &Value| BenchMessage {
        text: row["query"].as_str().expect("a message").to_owned(),
        skills: [words(&row["expected"]), words(&row["also"])].concat(),
    };
    let normal: Vec<BenchMessage> =
        queries.iter().filter(|row| row["kind"] == "normal").map(message).collect();
    let none: Vec<BenchMessage> =
        queries.iter().filter(|row| row["kind"] == "none").map(message).collect();
    let mut chosen = spread(&normal, WITH_SKILL);
    let needed: BTreeSet<String> =
        chosen.iter().flat_map(|message| message.skills.clone()).collect();
    chosen.extend(spread(&none, WITHOUT_SKILL));
    // The right ones, then others at even distances, each name once.
    let (right, others): (Vec<&Value>, Vec<&Value>) =
        all.iter().partition(|row| row["id"].as_str().is_some_and(|id| needed.contains(id)));
    let mut names = BTreeSet::new();
    let mut skills = Vec::new();
    let mut ids = Vec::new();
    for row in right.into_iter().chain(spread(&others, SKILLS * 2)) {
        let name = row["name"].as_str().expect("a name").to_owned();
        if skills.len() < SKILLS && names.insert(name.clone()) {
            ids.push((row["id"].as_str().expect("an id").to_owned(), name.clone()));
            skills
                .push(BenchSkill { name, text: row["text"].as_str().expect("a text").to_owned() });
        }
    }
    for message in &mut chosen {
        let names = message.skills.iter().filter_map(|id| {
            ids.iter().find(|(known, _)| known == id).map(|(_, name)| name.clone())
        });
        message.skills = names.collect();
    }
    Some(BenchLibrary { skills, messages: chosen })
}

impl BenchLibrary {
    /// A machine with the skills in this folder, and time enough for a slow host.
    pub(super) fn machine(&self, folder: &str) -> TestMachine {
        let machine =
            TestMachine::new().file("home/.sinew/config.json5", "{hook: {deadlineMs: 10000}}");
        for (number, skill) in self.skills.iter().enumerate() {
            let safe = skill.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
            let name = if safe { skill.name.clone() } else { format!("skill-{number}") };
            machine.write(&format!("{folder}/{name}/SKILL.md"), &skill.text);
        }
        machine
    }

    /// Characters of the lines in which an agent lists these skills itself.
    pub(super) fn listed_chars(&self, texts: &[String]) -> usize {
        let is_entry = |line: &str| {
            let name = line.trim_start_matches("- ").split([':', ' ']).next().unwrap_or_default();
            line.starts_with("- ") && self.skills.iter().any(|skill| skill.name == name)
        };
        let lines = texts.iter().flat_map(|text| text.lines());
        lines.filter(|line| is_entry(line.trim())).map(|line| line.chars().count() + 1).sum()
    }

    /// Whether a text holds the body of one of these skills.
    pub(super) fn holds_text(&self, text: &str, skills: &[String]) -> bool {
        let text = squeezed(text);
        let right = self.skills.iter().filter(|skill| skills.contains(&skill.name));
        right.into_iter().any(|skill| {
            let body = skill.text.split_once("\n---").map_or("", |(_, body)| body);
            let telling: Vec<String> = body
                .lines()
                .map(squeezed)
                .filter(|line| line.chars().count() >= 16)
                .take(8)
                .collect();
            let there = telling.iter().filter(|line| text.contains(line.as_str())).count();
            !telling.is_empty() && there * 2 >= telling.len()
        })
    }
}

/// A text without white space and escapes, so that hosts may pass it on in their own way.
fn squeezed(text: &str) -> String {
    let plain = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    plain.chars().filter(|c| !c.is_whitespace()).collect()
}

#[test]
fn the_library_is_as_large_as_promised() {
    let library = own();
    assert_eq!(library.skills.len(), SKILLS);
    let names: BTreeSet<&str> = library.skills.iter().map(|skill| skill.name.as_str()).collect();
    assert_eq!(names.len(), SKILLS);
    assert_eq!(library.messages.len(), WITH_SKILL + WITHOUT_SKILL);
    for message in &library.messages[..WITH_SKILL] {
        assert!(message.skills.iter().all(|name| names.contains(name.as_str())), "{message:?}");
        // Some names are words of every day; the others would give the answer away.
        let name = &message.skills[0];
        assert!(!name.contains('-') || !message.text.contains(name.as_str()), "{message:?}");
    }
    assert!(library.messages[WITH_SKILL..].iter().all(|message| message.skills.is_empty()));
    let first = &library.skills[0];
    assert!(library.holds_text(&first.text, std::slice::from_ref(&first.name)));
    assert!(!library.holds_text(&first.text, &["another".to_owned()]));
    assert!(
        !library
            .holds_text(&format!("<name>{}</name>", first.name), std::slice::from_ref(&first.name))
    );
}
