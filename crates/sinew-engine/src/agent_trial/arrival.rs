//! What arrived: requests are read in every dialect, and compared with what was promised.

use std::collections::BTreeSet;

use sinew_catalog::{Catalog, EntryState};
use sinew_connect::AgentPromise;
use sinew_loopback::{AgentRequest, ModelReply, RequestRole, SchemaRule, StrayRequest};
use sinew_settings::path_text;

use super::record::added_text;
use super::report::{AgentTrialReport, SkillArrival, ToolCallState, TrialHook, short};
use crate::hook::TrialHookLine;

/// Characters of a line below which it proves nothing about where it came from.
const TELLING: usize = 12;
/// The share of a skill's telling lines that must be there for its text to have come: long ones are cut.
const MOST_LINES: f64 = 0.25;
/// Telling lines from a skill's beginning that must all but be there.
const FIRST_LINES: usize = 8;
/// Characters of a description by which a list is recognised.
const DESCRIPTION_START: usize = 40;

/// What a trial left behind.
#[derive(Debug)]
pub(super) struct TrialEvidence {
    pub(super) requests: Vec<AgentRequest>,
    pub(super) strays: Vec<StrayRequest>,
    pub(super) hooks: Vec<TrialHookLine>,
}

/// A text without white space, with the characters that hosts escape as they were: two texts are then
/// the same if a reader would say so.
fn squeezed(text: &str) -> String {
    let plain = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    let plain = plain.replace("&apos;", "'").replace("&#39;", "'").replace("&amp;", "&");
    plain.chars().filter(|c| !c.is_whitespace()).collect()
}

impl TrialEvidence {
    /// Puts what was found into the report.
    pub(super) fn fill(
        &self,
        report: &mut AgentTrialReport,
        promise: &AgentPromise,
        catalog: &Catalog,
        body: Option<&str>,
    ) {
        report.requests = self.requests.len();
        report.strays.clone_from(&self.strays);
        let Some(request) = self.with_message(&report.message) else {
            let detail = "no request with the message reached the model".to_owned();
            report.warn("request", "message", detail, None);
            return;
        };
        report.request_chars = request.chars();
        let detail = format!("{} characters of text", report.request_chars);
        report.good("request", "message", detail);
        Self::judge_tools(report, promise, request);
        self.judge_hooks(report, promise, request);
        self.judge_list(report, catalog, request);
        self.judge_skill(report, promise, catalog, request, body);
        self.judge_call(report);
        self.judge_strays(report);
    }

    /// The first request of the turn: the message is in it, and tools are.
    fn with_message(&self, message: &str) -> Option<&AgentRequest> {
        let message = squeezed(message);
        let has_message = |request: &&AgentRequest| {
            let texts = request.texts();
            let mut asked = texts.iter().filter(|text| text.role == RequestRole::User);
            asked.any(|text| squeezed(&text.text).contains(&message))
        };
        let mut having = self.requests.iter().filter(has_message);
        let first = having.next()?;
        // Titles of sessions are asked for without tools, and sometimes first.
        Some(std::iter::once(first).chain(having).find(|r| !r.tools().is_empty()).unwrap_or(first))
    }

    fn judge_tools(report: &mut AgentTrialReport, promise: &AgentPromise, request: &AgentRequest) {
        if !promise.server {
            let remedy = Some(format!("sinew connect {}", promise.agent));
            let detail = "not connected".to_owned();
            match promise.hooks {
                true => report.absent("tools", "server", detail, remedy),
                false => report.warn("tools", "server", detail, remedy),
            }
            return;
        }
        if let Some(why) = &promise.server_trouble {
            let remedy = format!("sinew connect {} --force", promise.agent);
            report.warn("tools", "server", why.clone(), Some(remedy));
            return;
        }
        let offered = request.tools();
        let mut refused: Vec<String> = Vec::new();
        for name in &promise.tools {
            let ours = |tool: &&sinew_loopback::OfferedTool| {
                tool.name.ends_with(name.as_str()) && is_ours(&tool.full_name(), name)
            };
            match offered.iter().find(ours) {
                Some(tool) => {
                    report.tools.chars += tool.chars();
                    report.tools.arrived.push(tool.full_name());
                    refused.extend(
                        SchemaRule::violation(&tool.schema).map(|why| format!("{name}: {why}")),
                    );
                }
                None => report.tools.dropped.push(name.clone()),
            }
        }
        if !refused.is_empty() {
            let detail = format!("providers refuse the request for them: {}", refused.join("; "));
            report.warn("tools", "schemas", detail, None);
        }
        let (arrived, all) = (report.tools.arrived.len(), promise.tools.len());
        let detail = format!("{arrived} of {all}, {} characters", report.tools.chars);
        if offered.iter().any(|tool| is_search(&tool.name)) {
            report.tools.hidden = std::mem::take(&mut report.tools.dropped);
        }
        let dropped = report.tools.dropped.join(", ");
        match (arrived, dropped.as_str()) {
            (0, "") => {}
            (_, "") => report.good("tools", "arrived", detail),
            _ => report.warn("tools", "dropped", format!("{dropped} ({detail})"), None),
        }
        if !report.tools.hidden.is_empty() {
            let detail = format!("{}: its model searches for them", report.tools.hidden.len());
            report.absent("tools", "hidden", detail, None);
        }
    }

    fn judge_hooks(
        &self,
        report: &mut AgentTrialReport,
        promise: &AgentPromise,
        request: &AgentRequest,
    ) {
        let texts: Vec<String> = request.texts().iter().map(|text| squeezed(&text.text)).collect();
        for line in &self.hooks {
            let added = line.answer.as_ref().and_then(added_text).unwrap_or_default();
            let arrived =
                !added.is_empty() && texts.iter().any(|text| text.contains(&squeezed(added)));
            let chars = added.chars().count();
            report.hook_chars += if arrived { chars } else { 0 };
            report.hooks.push(TrialHook {
                event: line.event.clone(),
                ms: line.ms,
                chars,
                arrived,
                failure: line.failure.clone(),
            });
        }
        if !promise.hooks {
            return;
        }
        if report.hooks.is_empty() {
            let detail = "none was called".to_owned();
            report.warn("hooks", "called", detail, promise.note.map(str::to_owned));
            return;
        }
        let lost: Vec<String> = report
            .hooks
            .iter()
            .filter(|hook| hook.chars > 0 && !hook.arrived)
            .map(|hook| format!("{} ({} characters)", hook.event, hook.chars))
            .collect();
        if !lost.is_empty() {
            let detail = format!("not in the request: {}", lost.join(", "));
            report.warn("hooks", "lost", detail, None);
        }
        let failed = report
            .hooks
            .iter()
            .find_map(|hook| Some(format!("{}: {}", hook.event, hook.failure.as_ref()?)));
        if let Some(detail) = failed {
            report.warn("hooks", "failed", detail, Some("sinew why --last".to_owned()));
        }
        let times: Vec<String> = report
            .hooks
            .iter()
            .filter_map(|hook| Some(format!("{} {} ms", hook.event, hook.ms?)))
            .collect();
        let detail = format!("{}; {} characters added", times.join(", "), report.hook_chars);
        report.good("hooks", "called", detail);
    }

    /// Which skills the agent lists by itself, outside of what hooks added.
    fn judge_list(&self, report: &mut AgentTrialReport, catalog: &Catalog, request: &AgentRequest) {
        let lines = self.host_lines(request);
        let squeezed_lines: Vec<String> = lines.iter().map(|line| squeezed(line)).collect();
        let mut costing: BTreeSet<usize> = BTreeSet::new();
        for entry in catalog.unshadowed().filter(|entry| entry.state == EntryState::Ready) {
            let start: String =
                squeezed(&entry.description).chars().take(DESCRIPTION_START).collect();
            if start.chars().count() < TELLING {
                continue;
            }
            let (name, path) = (squeezed(&entry.name), squeezed(&path_text(&entry.file_path)));
            let has = |text: &str| squeezed_lines.iter().any(|line| line.contains(text));
            if !has(&start) {
                continue;
            }
            report.host_listed += 1;
            let of_entry = |line: &String| {
                line.contains(&start)
                    || line.contains(&path)
                    || *line == format!("<name>{name}</name>")
            };
            let at = squeezed_lines.iter().enumerate().filter(|(_, line)| of_entry(line));
            costing.extend(at.map(|(number, _)| number));
        }
        report.host_list_chars =
            costing.iter().filter_map(|at| lines.get(*at)).map(|line| line.chars().count()).sum();
        if report.host_listed > 0 {
            let detail = format!(
                "{} skills in about {} characters",
                report.host_listed, report.host_list_chars
            );
            report.good("skills", "listed by the agent", detail);
        }
    }

    /// The lines of a request that no hook of ours added, with those of its tools.
    fn host_lines(&self, request: &AgentRequest) -> Vec<String> {
        let ours: BTreeSet<String> = self
            .hooks
            .iter()
            .filter_map(|line| added_text(line.answer.as_ref()?))
            .flat_map(str::lines)
            .map(squeezed)
            .collect();
        let texts = request.texts().into_iter().filter(|text| text.role != RequestRole::Tool);
        let texts = texts.map(|text| text.text);
        let tools = request.tools().into_iter().map(|tool| tool.description);
        let lines =
            texts.chain(tools).flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>());
        lines.filter(|line| !ours.contains(&squeezed(line))).collect()
    }

    fn judge_skill(
        &self,
        report: &mut AgentTrialReport,
        promise: &AgentPromise,
        catalog: &Catalog,
        request: &AgentRequest,
        body: Option<&str>,
    ) {
        let Some(name) = report.skill.clone() else {
            report.good("skills", "for the message", "none fits, and none was expected".to_owned());
            return;
        };
        let Some(entry) = catalog.get(&name) else { return };
        let added: Vec<String> = self
            .hooks
            .iter()
            .filter(|line| line.is_about_a_message())
            .filter_map(|line| added_text(line.answer.as_ref()?))
            .map(squeezed)
            .collect();
        let arrived: Vec<String> =
            request.texts().iter().map(|text| squeezed(&text.text)).collect();
        let arrived = arrived.join("\n");
        let pointed = added
            .iter()
            .any(|text| text.contains(&squeezed(&name)) && arrived.contains(text.as_str()));
        let start: String = squeezed(&entry.description).chars().take(DESCRIPTION_START).collect();
        report.arrival = if body.is_some_and(|body| holds_body(&arrived, body)) {
            SkillArrival::Text
        } else if pointed {
            SkillArrival::Pointer
        } else if arrived.contains(&start) {
            SkillArrival::Listed
        } else {
            SkillArrival::Absent
        };
        let how = match report.arrival {
            SkillArrival::Text => "its text is in the request",
            SkillArrival::Pointer => "a hook pointed at it",
            SkillArrival::Listed => "only a list names it",
            SkillArrival::Absent => "it is not in the request",
        };
        let detail = format!("{name} ({}): {how}", report.decision);
        let came = matches!(report.arrival, SkillArrival::Text | SkillArrival::Pointer);
        if came || !promise.hooks {
            report.good("skills", "for the message", detail);
        } else {
            report.warn("skills", "for the message", detail, Some("sinew why --last".to_owned()));
        }
    }

    fn judge_call(&self, report: &mut AgentTrialReport) {
        let called = self
            .requests
            .iter()
            .position(|request| matches!(request.reply, ModelReply::ToolCall { .. }));
        let Some(called) = called else { return };
        let answered = self.requests[called + 1..].iter().find_map(|r| r.tool_results().pop());
        report.call = match answered {
            None => ToolCallState::Failed { words: "no result came back".to_owned() },
            Some(text) if is_answer(&text, report.skill.as_deref()) => {
                ToolCallState::Worked { chars: text.chars().count() }
            }
            Some(text) => {
                let words = short(&text);
                let lower = words.to_lowercase();
                let asks = ["permission", "denied", "approv", "not allowed", "cancel", "reject"];
                match asks.iter().any(|word| lower.contains(word)) {
                    true => ToolCallState::NeedsPermission { words },
                    false => ToolCallState::Failed { words },
                }
            }
        };
        match report.call.clone() {
            ToolCallState::NotMade => {}
            ToolCallState::Worked { chars } => {
                report.good("tools", "find_skill", format!("answered with {chars} characters"));
            }
            ToolCallState::NeedsPermission { words } => {
                let detail = format!("the agent asks its user first: {words}");
                report.absent("tools", "find_skill", detail, None);
            }
            ToolCallState::Failed { words } => {
                report.warn("tools", "find_skill", words, None);
            }
        }
    }

    fn judge_strays(&self, report: &mut AgentTrialReport) {
        let hosts: BTreeSet<&str> = self
            .strays
            .iter()
            .filter(|stray| !stray.target.starts_with('/') && !stray.target.is_empty())
            .map(|stray| stray.target.as_str())
            .collect();
        if !hosts.is_empty() {
            let hosts: Vec<&str> = hosts.into_iter().collect();
            let detail = format!("it wanted to reach {}, and was refused", hosts.join(", "));
            report.absent("agent", "network", detail, None);
        }
    }
}

/// Whether a result is the answer of `find_skill`: some agents pass its text on, others its fields.
fn is_answer(text: &str, skill: Option<&str>) -> bool {
    let begins = ["match", "shortlist", "none"].iter().any(|word| text.starts_with(word));
    begins || text.contains("decision") || skill.is_some_and(|name| text.contains(name))
}

/// Whether a tool of this name is ours: agents put the server's name before it, or nothing at all.
fn is_ours(full: &str, name: &str) -> bool {
    full == name || full.to_lowercase().contains("sinew")
}

/// The tools of agents that hide others until their model asks for them.
fn is_search(name: &str) -> bool {
    matches!(name, "ToolSearch" | "tool_search" | "tool_search_tool" | "search_tools")
}

/// Whether a text holds a skill's body: its first telling lines, and a share of all of them.
fn holds_body(text: &str, file: &str) -> bool {
    let body = match file.strip_prefix("---").and_then(|rest| rest.split_once("\n---")) {
        Some((_, body)) => body,
        None => file,
    };
    let telling: Vec<String> =
        body.lines().map(squeezed).filter(|line| line.chars().count() >= TELLING).collect();
    if telling.is_empty() {
        let whole = squeezed(body);
        return whole.chars().count() >= 3 && text.contains(&whole);
    }
    let share = |lines: &[String]| {
        let there = lines.iter().filter(|line| text.contains(line.as_str())).count();
        there as f64 / lines.len() as f64
    };
    share(&telling[..telling.len().min(FIRST_LINES)]) >= 0.5 && share(&telling) >= MOST_LINES
}

#[cfg(test)]
mod tests {
    use super::*;

    const SKILL: &str = "---\nname: a\ndescription: b\n---\n# Shrink a picture\n\n\
                         Run the resizer with a width of 1200.\nNever enlarge a picture.\n";

    #[test]
    fn a_body_is_recognised_however_a_host_passes_it_on() {
        let body = SKILL.split("---\n").last().unwrap_or_default();
        assert!(holds_body(&squeezed(body), SKILL));
        let escaped = body.replace('\n', "\r\n    ").replace("1200", "1200 ");
        assert!(holds_body(&squeezed(&escaped), SKILL));
        assert!(!holds_body(&squeezed("name: a, description: b, at /s/a/SKILL.md"), SKILL));
        assert!(!holds_body(&squeezed("# Shrink a picture"), SKILL));
        assert!(!holds_body("", "---\nname: a\n---\n"));
    }

    #[test]
    fn escapes_of_hosts_do_not_hide_a_text() {
        assert_eq!(squeezed("a &lt;b&gt;\n &amp;amp; c"), "a<b>&amp;c");
    }
}
