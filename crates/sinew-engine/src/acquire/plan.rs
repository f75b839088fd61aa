//! What a skill would have done, step by step, read from its text without a model.
//!
//! Every command is shown as it is; of the sentences the first, and what the others put at stake.

use sinew_guard::effects::{Effect, EffectSet, SkillStep, SkillTextEffects, skill_text_effects};
use sinew_skill::{first_text_line, split_front_matter};

use crate::approval::PlanStep;

/// Sentences that are shown: what a person reads before a yes.
const MAX_SENTENCES: usize = 12;
/// Characters of a sentence.
const MAX_SENTENCE: usize = 160;

/// What the text of a SKILL.md asks for.
pub(super) fn text_effects(skill_md: &str) -> SkillTextEffects {
    let fenced = split_front_matter(skill_md);
    skill_text_effects(fenced.map_or(skill_md, |fenced| fenced.body))
}

/// The steps of a skill, with everything that each puts at stake.
pub(super) fn steps(skill_md: &str) -> Vec<PlanStep> {
    let found = text_effects(skill_md);
    let mut sentences = found.steps.clone();
    let rest = sentences.split_off(sentences.len().min(MAX_SENTENCES));
    let mut steps: Vec<PlanStep> =
        sentences.iter().map(|step| PlanStep::new(short(&step.text), step.effects)).collect();
    if !rest.is_empty() {
        let text = format!("and {} more steps", rest.len());
        steps.push(PlanStep::new(text, union(&rest)));
    }
    steps.extend(found.commands.iter().map(|step| PlanStep::new(step.text.clone(), step.effects)));
    // What stands between the steps counts too.
    let shown = union(&found.steps).with(union(&found.commands));
    let mut unshown: Vec<&str> = Vec::new();
    for (effect, text) in &found.because {
        if !shown.has(*effect) && !unshown.contains(&text.as_str()) {
            unshown.push(text);
            let effects = found.because.iter().filter(|(_, other)| other == text);
            let effects = effects.map(|(effect, _)| *effect).filter(|effect| !shown.has(*effect));
            steps.push(PlanStep::new(short(text), effects.fold(EffectSet::NONE, with)));
        }
    }
    if steps.is_empty() {
        let body = split_front_matter(skill_md).map_or(skill_md, |fenced| fenced.body);
        let text = first_text_line(body).unwrap_or("follow the skill");
        steps.push(PlanStep::new(short(text), found.effects));
    }
    steps
}

fn union(steps: &[SkillStep]) -> EffectSet {
    steps.iter().fold(EffectSet::NONE, |set, step| set.with(step.effects))
}

fn with(set: EffectSet, effect: Effect) -> EffectSet {
    set.with(EffectSet::of(effect))
}

fn short(text: &str) -> String {
    // A sentence with a command is a command.
    match text.char_indices().nth(MAX_SENTENCE).filter(|_| !text.contains('`')) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approval::StepRisk;

    fn shown(text: &str) -> Vec<(String, String)> {
        steps(text).into_iter().map(|step| (step.stakes(), step.text)).collect()
    }

    fn step(stakes: &str, text: &str) -> (String, String) {
        (stakes.to_owned(), text.to_owned())
    }

    #[test]
    fn a_plan_says_everything_that_each_step_puts_at_stake() {
        assert_eq!(
            shown(
                "---\nname: x\n---\n# X\n1. List the tasks\n2. Send the list\n3. Use your API token\n\
                 4. Run the importer\n5) Delete what is done\n- aside\n```sh\n# not this\ncurl x\nrm -r y\n```\n"
            ),
            [
                step("read-only", "List the tasks"),
                step("write", "Send the list"),
                step("credentials", "Use your API token"),
                step("shell", "Run the importer"),
                step("destructive", "Delete what is done"),
                step("read-only", "curl x"),
                step("destructive", "rm -r y"),
            ]
        );
        let both = "1. Update the ticket with the API token: `desk-cli ticket close --all`\n";
        let text = "Update the ticket with the API token: `desk-cli ticket close --all`";
        assert_eq!(shown(both), [step("shell, credentials, write", text)]);
        assert_eq!(steps(both)[0].severity, StepRisk::Shell);
        assert_eq!(shown(""), [step("read-only", "follow the skill")]);
        assert_eq!(
            shown("1. List\n\nAfterwards it writes a file.\n"),
            [step("read-only", "List"), step("write", "Afterwards it writes a file.")]
        );
    }

    #[test]
    fn every_command_is_shown_however_many_there_are() {
        let commands: String =
            (0..60).map(|at| format!("curl -s https://a.example/{at}\n")).collect();
        let shown = steps(&format!("{}```sh\n{commands}```\n", "- look at it\n".repeat(40)));
        assert_eq!(shown.len(), MAX_SENTENCES + 1 + 60);
        let long = format!("echo {} && rm -r x", "y".repeat(300));
        let shown = steps(&format!("```sh\n{long}\n```\n"));
        assert_eq!(shown.last().map(|step| step.text.as_str()), Some("rm -r x"));
    }
}
