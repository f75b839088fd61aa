//! A SKILL.md as steps: what each asks for, by its sentences and by its commands.
//!
//! Every line counts, whether it is shown as a step or not. Where sentence and command disagree, both
//! count, so the riskier one decides. Text that is in no language read here counts as a shell.

use super::code_block::{self, CodeBlock};
use super::code_span::{self, CodeSpan};
use super::command::ScriptEffects;
use super::prose::prose_effects;
use super::{Effect, EffectSet};

/// Sections that say where something comes from or what is not done, by a part of their title.
const ASIDE: &[&str] = &[
    "license",
    "credits",
    "acknowledg",
    "changelog",
    "version history",
    "references",
    "see also",
    "further reading",
    "when not to",
    "do not use",
    "don't use",
    "out of scope",
    "non-goals",
    "not for",
    "related skills",
];

/// Words that English text is full of.
const ENGLISH: &[&str] = &[
    "the", "a", "an", "to", "of", "and", "or", "in", "for", "is", "are", "with", "if", "on",
    "this", "that", "be", "it", "as", "not", "use", "when", "from", "by", "you", "your", "at",
    "each", "no",
];
/// With fewer words a text is too short to tell its language; it is read as English.
const ENOUGH_WORDS: usize = 40;
/// Of a hundred words so many are among [`ENGLISH`], even in text that is mostly lists.
const ENGLISH_PERCENT: usize = 6;
/// Of a hundred letters so many may be of another script.
const FOREIGN_PERCENT: usize = 15;

/// What kind of step it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkillStepKind {
    /// A sentence.
    Prose,
    /// A command, as it stands in the text.
    Command,
}

/// One step of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillStep {
    /// What the text says.
    pub text: String,
    /// What kind of step it is.
    pub kind: SkillStepKind,
    /// What it does.
    pub effects: EffectSet,
    /// Programs and verbs in it: they stay readable whatever else is hidden.
    pub names: Vec<String>,
}

/// What a skill's text asks for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SkillTextEffects {
    /// Its steps in prose: numbered ones, else listed ones, else its sections.
    pub steps: Vec<SkillStep>,
    /// Every command of its code blocks.
    pub commands: Vec<SkillStep>,
    /// Each program that it names as a command, and what its commands do.
    pub programs: Vec<(String, EffectSet)>,
    /// What all of it does.
    pub effects: EffectSet,
    /// For each effect the first text that has it.
    pub because: Vec<(Effect, String)>,
    /// Effects that its sentences have, whatever its commands do.
    pub stated: EffectSet,
    /// Whether its sentences are in a language that is read here.
    pub is_read: bool,
}

impl SkillTextEffects {
    fn note(&mut self, effects: EffectSet, text: &str) {
        for effect in effects.iter().filter(|effect| !self.effects.has(*effect)) {
            self.because.push((effect, text.trim().to_owned()));
        }
        self.effects = self.effects.with(effects);
    }

    fn note_programs(&mut self, script: &ScriptEffects) {
        for command in script.commands.iter().filter(|command| !command.program.is_empty()) {
            match self.programs.iter_mut().find(|(known, _)| *known == command.program) {
                Some((_, set)) => *set = set.with(command.effects),
                None => self.programs.push((command.program.clone(), command.effects)),
            }
        }
    }
}

/// What one text does: its words and the commands in its code spans.
pub fn text_effects(text: &str) -> EffectSet {
    read_text(text, false).effects
}

/// Programs and verbs in the code spans of a line.
pub(super) fn names_in(text: &str) -> Vec<String> {
    read_text(text, false).names
}

/// What a line does.
pub(super) struct LineEffects {
    pub(super) effects: EffectSet,
    pub(super) stated: EffectSet,
    pub(super) scripts: Vec<ScriptEffects>,
    pub(super) names: Vec<String>,
}

/// Reads a line of prose; `before_code` says that a block of commands follows it.
fn read_text(text: &str, before_code: bool) -> LineEffects {
    let mut line = LineEffects {
        effects: EffectSet::NONE,
        stated: EffectSet::NONE,
        scripts: Vec::new(),
        names: Vec::new(),
    };
    let mut prose = String::new();
    for part in code_span::split(text) {
        match part {
            CodeSpan::Prose(words) => prose.push_str(&without_addresses(words)),
            CodeSpan::Code(code) => match code_span::read(code, &prose) {
                Some(read) => {
                    line.effects = line.effects.with(read.effects);
                    line.names.extend(read.names);
                    line.scripts.extend(read.script);
                    prose.push_str(" \u{0} ");
                }
                // It names a thing: a word of the sentence, and never its verb.
                None => prose.push_str(" the thing "),
            },
        }
    }
    if before_code {
        prose.push_str(" \u{0}");
    }
    line.stated = prose_effects(&prose);
    line.effects = line.effects.with(line.stated);
    line
}

/// Prose without addresses and targets of links.
fn without_addresses(text: &str) -> String {
    let text = text.replace("](", "] (http");
    let words = text.split_inclusive(char::is_whitespace);
    words.filter(|word| !word.contains("://") && !word.starts_with("(http")).collect()
}

/// Reads the text of a SKILL.md below its front matter.
pub fn skill_text_effects(body: &str) -> SkillTextEffects {
    let mut found = SkillTextEffects::default();
    let (mut numbered, mut bulleted) = (Vec::new(), Vec::new());
    let mut sections: Vec<SkillStep> = Vec::new();
    let mut prose_of_all = String::new();
    let mut aside = false;
    let lines: Vec<&str> = body.lines().collect();
    let mut at = 0;
    while at < lines.len() {
        let text = lines[at].trim();
        if let Some((block, next)) = code_block::at(&lines, at) {
            add_block(&mut found, &block);
            at = next;
            continue;
        }
        at += 1;
        if text.is_empty() {
            continue;
        }
        let title = text.starts_with('#').then(|| text.trim_start_matches('#').trim());
        if let Some(title) = title {
            let title = title.to_lowercase();
            aside = ASIDE.iter().any(|known| title.contains(known));
        }
        for part in code_span::split(text) {
            if let CodeSpan::Prose(words) = part {
                prose_of_all.push_str(&without_addresses(words));
            }
        }
        prose_of_all.push('\n');
        if aside {
            continue;
        }
        let before_code = code_block::follows(&lines, at);
        let read = read_text(text, before_code);
        found.note(read.effects, text);
        found.stated = found.stated.with(read.stated);
        read.scripts.iter().for_each(|script| found.note_programs(script));
        let step = |text: &str| SkillStep {
            text: text.to_owned(),
            kind: SkillStepKind::Prose,
            effects: read.effects,
            names: read.names.clone(),
        };
        if let Some(title) = title {
            if text.starts_with("##") {
                sections.push(step(title));
            }
        } else if let Some(item) = numbered_item(text) {
            numbered.push(step(item));
        } else if let Some(item) = text.strip_prefix("- ").or_else(|| text.strip_prefix("* ")) {
            bulleted.push(step(item));
        } else if let Some(section) = sections.last_mut() {
            section.effects = section.effects.with(read.effects);
            section.names.extend(read.names);
        }
    }
    found.is_read = is_english(&prose_of_all);
    if !found.is_read {
        found.note(EffectSet::of(Effect::Shell), "its text is in a language that is not read here");
    }
    found.steps = match (numbered.is_empty(), bulleted.is_empty()) {
        (false, _) => numbered,
        (true, false) => bulleted,
        (true, true) => sections,
    };
    found
}

/// Adds what a block of code does, its commands one by one.
fn add_block(found: &mut SkillTextEffects, block: &CodeBlock<'_>) {
    for step in block.steps() {
        found.note(step.0.effects, &step.0.text);
        if let Some(script) = &step.1 {
            found.note_programs(script);
        }
        found.commands.push(step.0);
    }
}

/// The text of `3. do this`.
fn numbered_item(text: &str) -> Option<&str> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if !(1..=3).contains(&digits) {
        return None;
    }
    text[digits..].strip_prefix(['.', ')'])?.strip_prefix(' ').map(str::trim)
}

/// Whether sentences are English, as far as can be told.
fn is_english(text: &str) -> bool {
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    let foreign = text.chars().filter(|c| c.is_alphabetic() && !c.is_ascii()).count();
    if foreign * 100 > letters * FOREIGN_PERCENT {
        return false;
    }
    let lower = text.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()).collect();
    let english = words.iter().filter(|word| ENGLISH.contains(word)).count();
    words.len() < ENOUGH_WORDS || english * 100 >= words.len() * ENGLISH_PERCENT
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(text: &str) -> String {
        skill_text_effects(text).effects.to_string()
    }

    #[test]
    fn a_step_has_all_its_effects() {
        assert_eq!(
            text_effects("Update the ticket with the API token: `desk-cli ticket close --all`")
                .to_string(),
            "write+credentials+shell"
        );
        assert_eq!(text_effects("Run `git log --oneline` and read it").to_string(), "read-only");
        assert_eq!(text_effects("Delete it: `ls`").to_string(), "delete");
        assert_eq!(
            text_effects("Look at `SKILL.md` and the field `api.name`").to_string(),
            "read-only"
        );
        assert_eq!(text_effects("Use `desk-cli` to list tickets").to_string(), "shell");
        assert_eq!(text_effects("Ask `GET /v1/tasks`").to_string(), "read-only");
        assert_eq!(text_effects("Ask `POST /v1/tasks`").to_string(), "write");
        assert_eq!(text_effects("Call `create_issue`").to_string(), "write");
        assert_eq!(text_effects("Call `list_issues`").to_string(), "read-only");
    }

    #[test]
    fn every_line_counts_and_the_original_example_only_reads() {
        let weather = "# Weather\nAsk the service.\n\n```bash\ncurl -s \"https://wttr.example/Bergen?format=j1\" | jq '.current_condition[0]'\n```\n";
        assert_eq!(set(weather), "read-only");
        assert_eq!(set(&format!("{weather}\nThen delete the cache.\n")), "delete");
        assert_eq!(set("1. List\n\nAfterwards it writes a file.\n"), "write");
        assert_eq!(set("```python\nprint(1)\n```\n"), "shell");
        assert_eq!(set("```json\n{\"delete\": true}\n```\n"), "read-only");
        assert_eq!(set("```\ndesk-cli ticket close --all\n```\n"), "shell");
        assert_eq!(set("```\nName: x\nState: open\n```\n"), "read-only");
        assert_eq!(set("读取文件，然后删除所有内容。\n"), "shell");
        assert_eq!(set("## License\nYou may change it.\n"), "read-only");
        assert_eq!(set("Run:\n\n```sh\ngit status\n```\n"), "read-only");
        assert_eq!(set("    desk-cli close --all\n"), "shell");
    }

    #[test]
    fn commands_are_kept_as_they_are() {
        let text = "```console\n$ git log | head -3\ncommit 1\n$ rm -r x \\\n    y\n```\n```sh\ncat > a <<'EOF'\nhello\nEOF\nls # all\n```\n";
        let found = skill_text_effects(text);
        let shown: Vec<(&str, String)> = found
            .commands
            .iter()
            .map(|step| (step.text.as_str(), step.effects.to_string()))
            .collect();
        assert_eq!(
            shown,
            [
                ("git log | head -3", "read-only".to_owned()),
                ("rm -r x \\\n    y", "delete".to_owned()),
                ("cat > a <<'EOF'\nhello", "write".to_owned()),
                ("ls # all", "read-only".to_owned()),
            ]
        );
    }
}
