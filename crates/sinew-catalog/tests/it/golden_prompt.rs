//! Recorded outputs of the real OpenClaw, compared as the golden README says.

use serde_json::Value;
use sinew_catalog::commands::{CommandSpec, SlashCommands};
use sinew_catalog::prompt::{
    NoticeLength, PromptBlock, PromptLimits, PromptOverhead, PromptRequest, PromptSkill,
    PromptWording, build,
};
use sinew_catalog::references;
use sinew_settings::config::PromptPlanner;
use sinew_skill::names;

fn golden() -> Option<Value> {
    let text = crate::shared("data/golden/openclaw-skills.json")?;
    Some(serde_json::from_str(&text).expect("the golden file is JSON"))
}

fn cases<'g>(golden: &'g Value, section: &str) -> &'g [Value] {
    golden[section].as_array().expect("a section is a list")
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

fn number(value: &Value, key: &str) -> Option<usize> {
    value[key].as_u64().map(|number| number as usize)
}

struct Skill {
    name: String,
    description: String,
    path: String,
}

fn skills(case: &Value) -> Vec<Skill> {
    if let Some(listed) = case["skills"].as_array() {
        return listed
            .iter()
            .map(|skill| Skill {
                name: text(skill, "name").to_owned(),
                description: text(skill, "description").to_owned(),
                path: text(skill, "filePath").to_owned(),
            })
            .collect();
    }
    let generate = &case["skills"]["generate"];
    let fill = |key: &str, i: usize| text(generate, key).replace("{i}", &i.to_string());
    let count = number(generate, "count").expect("a generated list has a count");
    (0..count)
        .map(|i| Skill {
            name: fill("name", i),
            description: fill("description", i),
            path: fill("filePath", i),
        })
        .collect()
}

fn overhead(golden: &Value) -> PromptOverhead {
    let wording = &golden["setup"]["prompt"]["wording"];
    let length = |key: &str| number(wording, key).expect("a length");
    let fixed = |key: &str, field: &str| number(&wording[key], field).expect("a length");
    let constant = |fixed| NoticeLength { fixed, included: 0, total: 0 };
    let counted = |fixed| NoticeLength { fixed, included: 1, total: 1 };
    let (all_shortened, all_names_only) =
        (fixed("noticeShortened", "length"), fixed("noticeNamesOnly", "length"));
    let some_names_only = fixed("noticeNamesOnlyTruncated", "withoutDigits");
    PromptOverhead {
        intro_full: length("introFull"),
        intro_shortened: length("introShortened"),
        intro_names_only: length("introNamesOnly"),
        block: length("blockOpen") + length("blockClose"),
        // The only notice that was recorded without its line end.
        some_full: counted(fixed("noticeCountTruncated", "withoutDigits") + 1),
        // Not recorded: computed from the other notices, which differ in the same words.
        some_shortened: counted(some_names_only + all_shortened - all_names_only),
        some_names_only: counted(some_names_only),
        all_shortened: constant(all_shortened),
        all_names_only: constant(all_names_only),
    }
}

fn openclaw(
    golden: &Value,
    skills: &[Skill],
    limits: PromptLimits,
    remote_note: Option<&str>,
    context_tokens: Option<u64>,
) -> PromptBlock {
    let skills: Vec<PromptSkill<'_>> = skills
        .iter()
        .map(|skill| PromptSkill {
            name: &skill.name,
            description: &skill.description,
            location: &skill.path,
            path: &skill.path,
            ..PromptSkill::default()
        })
        .collect();
    let mut request = PromptRequest::new(&skills);
    request.planner = PromptPlanner::Openclaw;
    request.limits = limits;
    request.overhead = Some(overhead(golden));
    request.remote_note = remote_note;
    request.context_tokens = context_tokens;
    request.audit_command = "openclaw skills check";
    request.wording = PromptWording::default().with_reference_notice();
    build(&request)
}

fn limits(golden: &Value, case: &Value) -> PromptLimits {
    let defaults = &golden["setup"]["prompt"]["defaults"];
    let limit = |key| number(case, key).or_else(|| number(defaults, key)).expect("a limit");
    PromptLimits {
        max_skills: limit("maxSkillsInPrompt"),
        max_chars: limit("maxSkillsPromptChars"),
    }
}

fn block(text: &str) -> &str {
    text.find("<available_skills>").map_or("", |at| &text[at..])
}

/// The line that says that skills are missing.
fn notice(text: &str) -> Option<&str> {
    text.lines().find(|line| line.contains("Skills truncated: "))
}

#[test]
fn the_openclaw_planner_gives_the_recorded_blocks() {
    let Some(golden) = golden() else { return };
    for case in cases(&golden, "prompt") {
        let note = case["remoteNote"].as_str();
        let skills = skills(case);
        let built = openclaw(&golden, &skills, limits(&golden, case), note, None);
        let name = text(case, "case");
        assert_eq!(Some(built.report.included), number(case, "included"), "{name} included");
        assert_eq!(Some(built.report.used), number(case, "len"), "{name} len");
        assert_eq!(block(&built.text), block(text(case, "output")), "{name} block");
        assert_eq!(notice(&built.text), notice(text(case, "output")), "{name} notice");
    }
}

#[test]
fn small_context_windows_give_the_recorded_lengths() {
    let Some(golden) = golden() else { return };
    let skills: Vec<Skill> = (0..60)
        .map(|i| Skill {
            name: format!("skill-{i}"),
            description: vec!["word"; 60].join(" "),
            path: format!("/skills/skill-{i}/SKILL.md"),
        })
        .collect();
    let limits = PromptLimits { max_skills: 150, max_chars: 18_000 };
    for case in cases(&golden, "contextCompaction") {
        let name = text(case, "case");
        let before = openclaw(&golden, &skills, limits, None, None);
        assert_eq!(Some(before.report.used), number(case, "inLen"), "{name} before");
        let tokens = case["contextTokenBudget"].as_u64();
        let after = openclaw(&golden, &skills, limits, None, tokens);
        assert_eq!(Some(after.report.used), number(case, "outLen"), "{name} after");
    }
}

#[test]
fn names_become_the_recorded_commands() {
    let Some(golden) = golden() else { return };
    for case in cases(&golden, "names") {
        let input = text(case, "input");
        assert_eq!(names::command_name(input), text(case, "commandName"), "{input}");
        assert_eq!(names::index_name(input), text(case, "indexName"), "{input}");
    }
}

#[test]
fn references_choose_the_recorded_skills() {
    let Some(golden) = golden() else { return };
    let recorded = golden["setup"]["references"]["commands"].as_array().expect("commands");
    let specs = recorded.iter().map(|command| CommandSpec {
        name: text(command, "name").to_owned(),
        skill_name: text(command, "skillName").to_owned(),
        skill_file: text(command, "skillFile").to_owned(),
        model_visible: command["modelVisible"].as_bool().unwrap_or(true),
        ..CommandSpec::default()
    });
    let commands = SlashCommands::from_specs(specs.collect(), Vec::new());
    for case in cases(&golden, "references") {
        let (name, message) = (text(case, "case"), text(case, "text"));
        let expanded = references::expand_references(message, &commands);
        let chosen: Vec<&str> = expanded.skills.iter().map(String::as_str).collect();
        let wanted: Vec<&str> =
            case["skills"].as_array().expect("skills").iter().filter_map(Value::as_str).collect();
        assert_eq!(chosen, wanted, "{name}");
        assert_eq!(expanded.body == message, text(case, "body") == message, "{name} body");
        assert!(expanded.body.ends_with(message), "{name}: the message itself is kept");
        let path = "/x/SKILL.md";
        assert_eq!(expanded.body.contains(path), text(case, "body").contains(path), "{name}");
    }
}
