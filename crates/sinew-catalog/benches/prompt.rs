//! How long a prompt block for 1,000 eligible skills takes, compared with plain rendering of the
//! same entries in the same run. The budget is 5 ms on one core.

use sinew_catalog::Tier;
use sinew_catalog::prompt::{PromptLimits, PromptRequest, PromptSkill, build};
use sinew_guard::Untrusted;
use sinew_settings::config::PromptPlanner;

fn main() {
    divan::main();
}

const SKILLS: usize = 1_000;

const WORDS: [&str; 12] = [
    "read",
    "write",
    "files & folders",
    "the user's",
    "calendar",
    "search",
    "<tag>",
    "deploy",
    "when asked",
    "summarise",
    "über",
    "images",
];

/// A library with about 300 characters per description, with content like that of real ones.
struct Library {
    names: Vec<String>,
    descriptions: Vec<String>,
    locations: Vec<String>,
}

impl Library {
    fn new() -> Self {
        let name =
            |i: usize| format!("{}-{:03}", ["mail", "Git", "pdf", "notes"][i % 4], i * 7 % SKILLS);
        let description = |i: usize| {
            let words = (0..).map(|word| WORDS[(i * 5 + word * (i % 11 + 1)) % WORDS.len()]);
            let mut text = String::new();
            for word in words {
                if text.len() > 200 + i % 200 {
                    break;
                }
                text.push_str(word);
                text.push(' ');
            }
            text.trim_end().to_owned()
        };
        let names: Vec<String> = (0..SKILLS).map(name).collect();
        let locations = names.iter().map(|name| format!("~/.sinew/skills/{name}/SKILL.md"));
        Self {
            locations: locations.collect(),
            descriptions: (0..SKILLS).map(description).collect(),
            names,
        }
    }

    fn skills(&self) -> Vec<PromptSkill<'_>> {
        (0..SKILLS)
            .map(|i| PromptSkill {
                name: &self.names[i],
                description: &self.descriptions[i],
                location: &self.locations[i],
                path: &self.locations[i],
                source: "managed",
                tier: if i % 3 == 0 { Tier::Workspace } else { Tier::Bundled },
                score: (i % 5 == 0).then_some(i as f64 / SKILLS as f64),
                ..PromptSkill::default()
            })
            .collect()
    }
}

/// Limits that make a planner take each of its paths.
#[derive(Debug, Clone, Copy)]
enum Way {
    /// 150 skills, 30,000 characters.
    Defaults,
    /// All skills with full descriptions.
    Everything,
    /// All skills with shortened descriptions: the most counting.
    Shortened,
    /// All names, most without a description.
    Names,
    /// Most skills dropped.
    Dropped,
}

const WAYS: [Way; 5] = [Way::Defaults, Way::Everything, Way::Shortened, Way::Names, Way::Dropped];

impl Way {
    fn limits(self) -> PromptLimits {
        let all = |max_chars| PromptLimits { max_skills: SKILLS, max_chars };
        match self {
            Self::Defaults => PromptLimits::default(),
            Self::Everything => all(usize::MAX),
            Self::Shortened => all(250_000),
            Self::Names => all(120_000),
            Self::Dropped => all(30_000),
        }
    }
}

fn planner(bencher: divan::Bencher<'_, '_>, planner: PromptPlanner, way: Way) {
    let library = Library::new();
    let skills = library.skills();
    let mut request = PromptRequest::new(&skills);
    request.planner = planner;
    request.limits = way.limits();
    request.message_known = true;
    bencher.bench(|| build(&request));
}

#[divan::bench(args = WAYS)]
fn graded(bencher: divan::Bencher<'_, '_>, way: Way) {
    planner(bencher, PromptPlanner::Graded, way);
}

#[divan::bench(args = WAYS)]
fn openclaw(bencher: divan::Bencher<'_, '_>, way: Way) {
    planner(bencher, PromptPlanner::Openclaw, way);
}

#[divan::bench(args = WAYS)]
fn prefix(bencher: divan::Bencher<'_, '_>, way: Way) {
    planner(bencher, PromptPlanner::Prefix, way);
}

/// The minimum: every entry escaped and written in the given order, without planning.
#[divan::bench]
fn baseline_plain_rendering(bencher: divan::Bencher<'_, '_>) {
    let library = Library::new();
    let skills = library.skills();
    bencher.bench(|| {
        let mut text = String::new();
        for skill in &skills {
            for field in [skill.name, skill.description, skill.location] {
                text.push_str(&Untrusted::new(field).for_prompt_xml());
                text.push('\n');
            }
        }
        text
    });
}
