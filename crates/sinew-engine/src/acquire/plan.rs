//! What a skill would have done, step by step, read from its text without a model.

use sinew_skill::{first_text_line, sections, split_front_matter};

use crate::approval::{PlanStep, StepRisk};

/// Steps that are shown: what a person reads before a yes.
const MAX_STEPS: usize = 12;
/// Characters of a step.
const MAX_STEP: usize = 160;

/// Words that say what is at stake, the worst first.
const WORDS: &[(StepRisk, &[&str])] = &[
    (
        StepRisk::Destructive,
        &[
            "delete",
            "deletes",
            "destroy",
            "drop",
            "erase",
            "overwrite",
            "purge",
            "remove",
            "rm",
            "wipe",
        ],
    ),
    (
        StepRisk::Shell,
        &["bash", "command", "execute", "executes", "run", "runs", "script", "sh", "shell"],
    ),
    (
        StepRisk::Credentials,
        &["credential", "credentials", "key", "login", "password", "secret", "token"],
    ),
    (
        StepRisk::Write,
        &[
            "add", "append", "change", "commit", "create", "edit", "install", "move", "post",
            "publish", "push", "rename", "save", "send", "set", "update", "upload", "write",
        ],
    ),
];

/// The steps of a skill, with what each puts at stake.
pub(super) fn steps(skill_md: &str) -> Vec<PlanStep> {
    let body = split_front_matter(skill_md).map_or(skill_md, |fenced| fenced.body);
    let (mut numbered, mut bulleted, mut commands) = (Vec::new(), Vec::new(), Vec::new());
    let mut fence: Option<bool> = None;
    for line in body.lines() {
        let text = line.trim();
        if text.starts_with("```") || text.starts_with("~~~") {
            fence = match fence {
                None => Some(is_shell(text)),
                Some(_) => None,
            };
        } else if let Some(shell) = fence {
            if shell && !text.is_empty() && !text.starts_with('#') {
                let severity = match looks(text) {
                    true => StepRisk::ReadOnly,
                    false => risk(text).max(StepRisk::Shell),
                };
                commands.push(PlanStep { text: short(text), severity });
            }
        } else if let Some(item) = numbered_item(text) {
            numbered.push(PlanStep { text: short(item), severity: risk(item) });
        } else if let Some(item) = text.strip_prefix("- ").or_else(|| text.strip_prefix("* ")) {
            bulleted.push(PlanStep { text: short(item), severity: risk(item) });
        }
    }
    let headings = || -> Vec<PlanStep> {
        let titles = sections(body).into_iter().filter(|section| section.level > 1);
        titles
            .map(|section| PlanStep { text: short(section.title), severity: risk(section.text) })
            .collect()
    };
    let mut steps = match (numbered.is_empty(), bulleted.is_empty()) {
        (false, _) => numbered,
        (true, false) => bulleted,
        (true, true) => headings(),
    };
    steps.extend(commands);
    if steps.is_empty() {
        let text = first_text_line(body).unwrap_or("follow the skill");
        steps.push(PlanStep { text: short(text), severity: risk(body) });
    }
    cut(steps)
}

/// The first steps, and what the rest puts at stake.
fn cut(mut steps: Vec<PlanStep>) -> Vec<PlanStep> {
    if steps.len() > MAX_STEPS {
        let rest = steps.split_off(MAX_STEPS - 1);
        let severity = rest.iter().map(|step| step.severity).max().unwrap_or(StepRisk::Shell);
        steps.push(PlanStep { text: format!("and {} more steps", rest.len()), severity });
    }
    steps
}

/// Programs that look and change nothing, however they are called; `curl` with what is said below.
/// Every other program counts as a shell.
pub(super) const LOOKING: &[&str] = &[
    "cat", "curl", "cut", "date", "echo", "grep", "head", "jq", "ls", "rg", "tail", "wc", "which",
];

/// Letters that make curl send, save or be steered, among its short options. Its long ones are not
/// trusted at all.
const SENDING: &[char] = &['d', 'F', 'K', 'o', 'O', 'T', 'X'];

/// Whether a command line only looks: each program of it does, and nothing is redirected or made up on
/// the way.
fn looks(line: &str) -> bool {
    let made_up = ['>', '<', '`', '$', '(', '{', '\\'];
    let line = line.trim_start_matches("$ ");
    !line.contains(made_up)
        && line.split(['|', ';', '&']).filter(|part| !part.trim().is_empty()).all(|part| {
            let mut words = part.split_whitespace();
            let program = words.next().unwrap_or_default();
            let sends = |word: &str| {
                word.starts_with('-') && word.contains(SENDING) || word.starts_with("--")
            };
            LOOKING.contains(&program) && !(program == "curl" && words.any(sends))
        })
}

/// What a text puts at stake, by the worst word in it.
fn risk(text: &str) -> StepRisk {
    let text = text.to_lowercase();
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
    let found = WORDS.iter().find(|(_, list)| words.iter().any(|word| list.contains(word)));
    match found {
        Some((risk, _)) => *risk,
        None if text.contains('`') => StepRisk::Shell,
        None => StepRisk::ReadOnly,
    }
}

fn is_shell(fence: &str) -> bool {
    let language = fence.trim_start_matches(['`', '~']).trim().to_ascii_lowercase();
    matches!(language.as_str(), "" | "sh" | "bash" | "zsh" | "shell" | "console" | "powershell")
}

/// The text of `3. do this`.
fn numbered_item(text: &str) -> Option<&str> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if !(1..=3).contains(&digits) {
        return None;
    }
    text[digits..].strip_prefix(['.', ')'])?.strip_prefix(' ').map(str::trim)
}

fn short(text: &str) -> String {
    match text.char_indices().nth(MAX_STEP) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<(StepRisk, String)> {
        steps(text).into_iter().map(|step| (step.severity, step.text)).collect()
    }

    fn step(risk: StepRisk, text: &str) -> (StepRisk, String) {
        (risk, text.to_owned())
    }

    #[test]
    fn a_plan_says_what_each_step_puts_at_stake() {
        assert_eq!(
            shown(
                "---\nname: x\n---\n# X\n1. List the tasks\n2. Send the list\n3. Use your API token\n\
                 4. Run the importer\n5) Delete what is done\n- aside\n```sh\n# not this\ncurl x\nrm -r y\n```\n"
            ),
            [
                step(StepRisk::ReadOnly, "List the tasks"),
                step(StepRisk::Write, "Send the list"),
                step(StepRisk::Credentials, "Use your API token"),
                step(StepRisk::Shell, "Run the importer"),
                step(StepRisk::Destructive, "Delete what is done"),
                step(StepRisk::ReadOnly, "curl x"),
                step(StepRisk::Destructive, "rm -r y"),
            ]
        );
        for (line, looking) in [
            ("$ curl -s https://api.example.com/tasks | jq .", true),
            ("grep -r todo . && wc -l x", true),
            ("curl -d @x https://api.example.com", false),
            ("curl --data x https://api.example.com", false),
            ("curl -sOL https://api.example.com", false),
            ("cat x > y", false),
            ("echo $(rm x)", false),
            ("ls; rm x", false),
            ("todo add x", false),
        ] {
            assert_eq!(looks(line), looking, "{line}");
        }
        assert_eq!(shown("# X\n## Look\nread it\n## Store\nwrite it\n").len(), 2);
        assert_eq!(shown(""), [step(StepRisk::ReadOnly, "follow the skill")]);
        assert_eq!(shown(&"- run it\n".repeat(40)).len(), MAX_STEPS);
    }
}
