//! From what files can do to side effects as the memory names them, and to words for people.

use sinew_cortex::reflex::is_forbidden;
use sinew_guard::effects::{Effect, EffectSet, ScriptEffects};
use sinew_guard::scan::SkillCapabilities;

use super::plan;

/// Side effects that are kept of one skill, as many as a record holds.
const MAX_TAGS: usize = 32;
/// The longest tag.
const MAX_TAG: usize = 128;
/// What stands for a side effect that cannot be written down: the strict side is the safe one.
const UNKNOWN: &str = "shell:unknown";
/// The side effects of a skill, those that forbid reflexes first. What its text tells the reader to do
/// counts like what the scanner found: nothing is read-only that a plan would not call so.
pub(super) fn tags(capabilities: &SkillCapabilities, skill_md: &str) -> Vec<String> {
    let of = |prefix: &str, names: &[String]| -> Vec<String> {
        names.iter().map(|name| format!("{prefix}{name}")).collect()
    };
    let text = plan::text_effects(skill_md);
    let mut tags = Vec::new();
    for (program, effects) in &text.programs {
        tags.extend(effects.iter().filter_map(|effect| tag(effect, program)));
    }
    // What a command does is named after its program, what is only said after that.
    let commanded = text.programs.iter().fold(EffectSet::NONE, |set, (_, one)| set.with(*one));
    let stated =
        text.effects.iter().filter(|effect| text.stated.has(*effect) || !commanded.has(*effect));
    tags.extend(stated.filter_map(|effect| tag(effect, "stated")));
    if text.effects.has(Effect::Credentials) {
        tags.push("read:credentials".to_owned());
    }
    tags.extend(of("write:", &capabilities.writes));
    // Scripts do what they do, whatever is found in them.
    tags.extend(of("shell:script:", &capabilities.languages));
    tags.extend(of("write:", &capabilities.persistence));
    tags.extend(of("write:", &capabilities.agent_files));
    tags.extend(of("write:package:", &capabilities.packages));
    tags.extend(of("shell:", &capabilities.exec));
    // A program that is needed does what its commands do; one without any that are seen is a shell.
    for program in &capabilities.binaries {
        let used = text.programs.iter().find(|(known, _)| known == program);
        let alone = || ScriptEffects::of(program).set();
        let reads = used.map_or_else(alone, |(_, effects)| *effects).is_read_only();
        tags.push(format!("{}{program}", if reads { "read:bin:" } else { "shell:" }));
    }
    let asked = capabilities.hosts.iter().filter(|host| host.purpose != "mention");
    tags.extend(asked.map(|host| format!("network:{}", host.host)));
    tags.extend(capabilities.env.iter().map(|env| format!("read:env:{}", env.name)));
    tags.extend(of("read:", &capabilities.reads));
    for tag in &mut tags {
        if tag.len() > MAX_TAG || tag.chars().any(|c| c.is_whitespace() || c.is_control()) {
            UNKNOWN.clone_into(tag);
        }
    }
    tags.sort_by(|a, b| is_forbidden(b).cmp(&is_forbidden(a)).then_with(|| a.cmp(b)));
    tags.dedup();
    tags.truncate(MAX_TAGS);
    tags
}

/// An effect as a tag; that a secret is used is one tag for all.
fn tag(effect: Effect, what: &str) -> Option<String> {
    let prefix = match effect {
        Effect::Write => "write:",
        Effect::Shell => "shell:",
        Effect::Delete => "delete:",
        Effect::Credentials => return None,
    };
    Some(format!("{prefix}{what}"))
}

/// What a skill can do, in lines that a person reads.
pub(super) fn lines(capabilities: &SkillCapabilities) -> Vec<String> {
    let mut lines = Vec::new();
    let mut add = |what: &str, names: Vec<&str>| {
        if !names.is_empty() {
            lines.push(format!("{what} {}", names.join(", ")));
        }
    };
    fn texts(names: &[String]) -> Vec<&str> {
        names.iter().map(String::as_str).collect()
    }
    let asked = capabilities.hosts.iter().filter(|host| host.purpose != "mention");
    add("reaches", asked.map(|host| host.host.as_str()).collect());
    add("reads env", capabilities.env.iter().map(|env| env.name.as_str()).collect());
    add("reads", texts(&capabilities.reads));
    add("runs", texts(&capabilities.binaries));
    add("starts programs by", texts(&capabilities.exec));
    add("installs", texts(&capabilities.packages));
    add("writes", texts(&capabilities.writes));
    add("stays by", texts(&capabilities.persistence));
    add("changes", texts(&capabilities.agent_files));
    lines
}
