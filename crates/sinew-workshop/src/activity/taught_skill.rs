//! A learned skill as the search for it sees it: what it was taught for, by which requests, and its rules.

use sinew_skill::Skill;
use sinew_skill::ecmascript as text;

/// The key of a skill's front matter under which its activities are kept.
pub const TAUGHT_KEY: &str = "sinew-taught";

/// The key of a skill's front matter under which the requests are kept that its rules corrected.
pub const ASKED_KEY: &str = "sinew-asked";

/// Requests that a skill remembers: the latest ones.
pub(crate) const MAX_ASKED: usize = 40;
/// Of one request, in UTF-16 code units: what is asked for comes first.
const MAX_REQUEST: usize = 120;
/// Between two requests of one line.
const BETWEEN: &str = " | ";

/// A learned skill, by what it was taught for.
#[derive(Debug, Clone, Default)]
pub struct TaughtSkill {
    /// Its name.
    pub name: String,
    /// The ids of its activity groups.
    pub groups: Vec<String>,
    /// What it is for, after "when".
    pub when: String,
    /// The requests that its rules corrected.
    pub asked: Vec<String>,
    /// Its rules, as far as its description has them.
    pub rules: Vec<String>,
}

impl TaughtSkill {
    /// Reads what a skill's front matter says; none where it was not taught.
    pub fn of(skill: &Skill) -> Option<Self> {
        let metadata = skill.frontmatter.get("metadata")?.as_map()?;
        let written = metadata.get(TAUGHT_KEY)?.as_str()?;
        let groups: Vec<String> =
            written.split(',').map(|id| id.trim().to_owned()).filter(|id| !id.is_empty()).collect();
        let asked = metadata.get(ASKED_KEY).and_then(|asked| asked.as_str());
        let described = skill.description.strip_prefix("Use when ").unwrap_or(&skill.description);
        let (when, rules) = described.split_once(": ").unwrap_or((described, ""));
        let rules = rules.split("; ").map(str::trim).filter(|rule| !rule.is_empty());
        Some(Self {
            name: skill.name.clone(),
            groups,
            when: when.to_owned(),
            asked: asked.map(asked_of).unwrap_or_default(),
            rules: rules.map(str::to_owned).collect(),
        })
    }

    /// Every text that a message is compared with.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.asked.iter().chain(&self.rules).map(String::as_str)
    }
}

/// The requests of a line of front matter.
pub(crate) fn asked_of(line: &str) -> Vec<String> {
    let requests = line.split(BETWEEN.trim()).map(|request| request.trim().to_owned());
    requests.filter(|request| !request.is_empty()).collect()
}

/// Requests as a line of front matter, with a new one: each once, the latest last.
pub(crate) fn asked_line(known: &[String], new: Option<&str>) -> String {
    let mut requests: Vec<String> = known.to_vec();
    if let Some(new) = new {
        let plain = text::short(&text::collapse(&new.replace('|', "/")), MAX_REQUEST);
        requests.retain(|request| *request != plain);
        requests.push(plain);
    }
    requests.retain(|request| !request.is_empty());
    requests.drain(..requests.len().saturating_sub(MAX_ASKED));
    requests.join(BETWEEN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_kept_once_and_the_latest_last() {
        let known = asked_of("commit this | push it");
        assert_eq!(asked_line(&known, Some("commit  this")), "push it | commit this");
        assert_eq!(asked_line(&known, Some("a | b")), "commit this | push it | a / b");
        let many: Vec<String> = (0..60).map(|number| format!("request {number}")).collect();
        let line = asked_line(&many, Some("the last"));
        assert_eq!(asked_of(&line).len(), MAX_ASKED);
        assert!(line.ends_with("request 59 | the last"), "{line}");
    }
}
