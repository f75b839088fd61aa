//! Several runs that went nearly the same way become one, with parameters where they differ.

use serde_json::Value;

use crate::parameters::ParameterNames;
use crate::redact::CleanRun;
use crate::risk::is_consent;
use crate::run::{AgentRun, RunStep};
use crate::simhash::{common_subsequence, token};
use crate::task_words::{replace_word, task_holes};

/// Runs that are merged: more add nothing new.
pub const MAX_RUNS: usize = 20;

/// Coordinates that differ by less than this share of the screen are the same place.
const SAME_PLACE: f64 = 0.05;

/// The longer side of a screen, where no larger coordinate says otherwise.
const SCREEN: f64 = 1_000.0;

/// Characters that belong to a value in a command.
fn is_value_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '/')
}

/// A step of the merged run, with the steps of the runs that it stands for.
struct MergedStep {
    step: RunStep,
    token: Option<String>,
    /// The run and the step in it.
    seen: Vec<(usize, RunStep)>,
}

/// Merges a run with those before it, newest first, into one.
pub fn merge(newest: &CleanRun, older: &[CleanRun]) -> CleanRun {
    let mut merged = newest.clone();
    let runs: Vec<&CleanRun> = [newest].into_iter().chain(older).collect();
    let column = |run: usize, step: &RunStep| MergedStep {
        step: step.clone(),
        token: token(step),
        seen: vec![(run, step.clone())],
    };
    let mut columns: Vec<MergedStep> =
        newest.run.steps.iter().map(|step| column(0, step)).collect();
    for (at, other) in older.iter().enumerate() {
        align(&mut columns, at + 1, &other.run.steps, &column);
        for (kind, count) in &other.redactions {
            let most = merged.redactions.entry(kind.clone()).or_default();
            *most = (*most).max(*count);
        }
    }
    let mut columns = consent_first(columns, runs.len());
    let mut names = ParameterNames::new(merged.params.clone());
    for param in older.iter().flat_map(|other| &other.params) {
        names.keep(param);
    }
    let mut slots = MergeParameters { runs: &runs, names, found: Vec::new() };
    for column in &mut columns {
        slots.column(column);
        let seen = column.seen.len();
        column.step.seen_in =
            (seen < runs.len() && column.token.is_some()).then_some((seen, runs.len()));
    }
    let values = slots.values_of_task();
    merged.params = slots.names.into_params();
    merged.run.steps = columns.into_iter().map(|column| column.step).collect();
    for (value, name) in &values {
        tell_by_name(&mut merged.run, value, name);
    }
    merged
}

/// What one run asked a person for holds for all of them, and comes before what any of them did: where its
/// question would stand in the others is not known. A question that all of them asked stays at its place as
/// long as all of them did what comes before it.
fn consent_first(columns: Vec<MergedStep>, runs: usize) -> Vec<MergedStep> {
    let mut only_shared = true;
    let mut asked = Vec::new();
    let mut done = Vec::new();
    for column in columns {
        let by_all = column.seen.len() == runs;
        if is_consent(&column.step.action.kind) && !(by_all && only_shared) {
            asked.push(column);
            continue;
        }
        only_shared &= by_all || column.token.is_none();
        done.push(column);
    }
    asked.into_iter().chain(done).collect()
}

/// Puts a parameter's name where a run's words hold one run's value.
fn tell_by_name(run: &mut AgentRun, value: &str, name: &str) {
    let by = format!("{{{{{name}}}}}");
    let told = |text: &mut String| *text = replace_word(text, value, &by);
    told(&mut run.task);
    told(&mut run.final_message);
    for step in &mut run.steps {
        told(&mut step.thought);
        told(&mut step.result);
        for field in ["capability", "question", "message"] {
            if let Some(Value::String(text)) = step.action.fields.get_mut(field) {
                told(text);
            }
        }
    }
}

/// Aligns the steps of a run with the merged ones; a step without a counterpart gets its own row.
fn align(
    columns: &mut Vec<MergedStep>,
    run: usize,
    steps: &[RunStep],
    new: &dyn Fn(usize, &RunStep) -> MergedStep,
) {
    let there: Vec<Option<String>> = columns.iter().map(|column| column.token.clone()).collect();
    let here: Vec<Option<String>> = steps.iter().map(token).collect();
    let mut pairs = common_subsequence(&there, &here).into_iter().peekable();
    let mut aligned = Vec::with_capacity(columns.len().max(steps.len()));
    let mut next = 0;
    for (at, mut column) in columns.drain(..).enumerate() {
        if let Some((_, with)) = pairs.next_if(|(place, _)| *place == at) {
            aligned.extend(steps[next..with].iter().map(|step| new(run, step)));
            column.seen.push((run, steps[with].clone()));
            next = with + 1;
        }
        aligned.push(column);
    }
    aligned.extend(steps[next..].iter().map(|step| new(run, step)));
    // A wait that only an older run has is dropped.
    aligned.retain(|column| column.token.is_some() || column.seen.iter().any(|(run, _)| *run == 0));
    *columns = aligned;
}

struct MergeParameters<'s> {
    runs: &'s [&'s CleanRun],
    names: ParameterNames,
    /// Parameters that were found, with the value of each run that has one, newest first.
    found: Vec<(String, Vec<String>)>,
}

impl MergeParameters<'_> {
    fn column(&mut self, column: &mut MergedStep) {
        for field in ["command", "path"] {
            let texts: Vec<(usize, &str)> =
                column.seen.iter().map(|(run, step)| (*run, step.action.text(field))).collect();
            let first = texts.first().map(|(_, text)| *text).unwrap_or_default();
            if first.is_empty() || texts.iter().all(|(_, text)| *text == first) {
                continue;
            }
            if let Some(told) = self.text(&column.step, &texts) {
                column.step.action.fields.insert(field.to_owned(), told.into());
            }
        }
        self.target(column);
        for field in ["x", "y", "x1", "y1", "x2", "y2"] {
            let mut numbers: Vec<f64> =
                column.seen.iter().filter_map(|(_, step)| step.action.number(field)).collect();
            numbers.sort_by(f64::total_cmp);
            let (Some(least), Some(most)) = (numbers.first(), numbers.last()) else { continue };
            if least < most && most - least < SAME_PLACE * most.max(SCREEN) {
                let median = numbers[numbers.len() / 2];
                column.step.action.fields.insert(field.to_owned(), median.into());
                if !column.step.thought.ends_with("(fragile place)") {
                    column.step.thought.push_str(" (fragile place)");
                }
            }
        }
    }

    /// Words on an element that differ between runs: a parameter where each run's task holds its own, and
    /// else nothing, because one run's words would find the wrong element.
    fn target(&mut self, column: &mut MergedStep) {
        let words: [fn(&RunStep) -> Option<&str>; 2] =
            [|step| step.target.text.as_deref(), |step| step.target.content_desc.as_deref()];
        for (at, words) in words.into_iter().enumerate() {
            let seen: Vec<(usize, Option<&str>)> =
                column.seen.iter().map(|(run, step)| (*run, words(step))).collect();
            let first = seen.first().and_then(|(_, text)| *text);
            if first.is_none() || seen.iter().all(|(_, text)| *text == first) {
                continue;
            }
            let own = |(run, text): &(usize, Option<&str>)| {
                let text = text.filter(|text| !text.trim().is_empty())?;
                let task = self.runs.get(*run)?.run.task.to_lowercase();
                task.contains(&text.to_lowercase()).then(|| text.to_owned())
            };
            let values: Option<Vec<String>> = seen.iter().map(own).collect();
            let told =
                values.map(|values| format!("{{{{{}}}}}", self.param(&column.step, &values, true)));
            match at {
                0 => column.step.target.text = told,
                _ => column.step.target.content_desc = told,
            }
        }
    }

    /// The newest run's values that its words hold, each with the parameter that stands for it.
    fn values_of_task(&mut self) -> Vec<(String, String)> {
        let [newest, others @ ..] = self.runs else { return Vec::new() };
        let task = newest.run.task.as_str();
        let tasks: Vec<&str> = others.iter().map(|other| other.run.task.as_str()).collect();
        let mut values: Vec<(String, String)> = Vec::new();
        for (name, seen) in &self.found {
            values.extend(seen.first().map(|value| (value.clone(), name.clone())));
        }
        for param in &newest.params {
            let Some(value) = &param.default else { continue };
            let mut all: Vec<&str> = vec![value];
            for other in others {
                let same = other.params.iter().find(|own| own.name == param.name);
                all.extend(same.and_then(|own| own.default.as_deref()));
            }
            all.sort_unstable();
            all.dedup();
            if all.len() > 1 {
                self.names.set_distinct(&param.name, all.len());
                if word_class(value) == "name" {
                    // One run's person is not who the next run is about.
                    self.names.drop_default(&param.name);
                }
                values.push((value.clone(), param.name.clone()));
            }
        }
        for hole in task_holes(task, &tasks) {
            let value = task[hole.start..hole.end].to_owned();
            let is_told =
                |(known, _): &(String, String)| known.contains(&value) || value.contains(known);
            if value.starts_with("{{") || values.iter().any(is_told) {
                continue;
            }
            let meaning = "differs between runs of this task";
            let name = self.names.add(word_class(&value), meaning, None, false);
            self.names.set_distinct(&name, 2);
            values.push((value, name));
        }
        // The longest first: a name is not told by a part of it.
        values.retain(|(value, _)| value.chars().count() >= 2 && !value.contains("{{"));
        values.sort_by_key(|(value, _)| std::cmp::Reverse(value.len()));
        values
    }

    /// The text of several runs with parameters where they differ; none where they have no words in
    /// common.
    fn text(&mut self, step: &RunStep, texts: &[(usize, &str)]) -> Option<String> {
        let words: Vec<Vec<&str>> =
            texts.iter().map(|(_, text)| text.split(' ').collect()).collect();
        let first = words.first()?;
        if words.iter().any(|other| other.len() != first.len()) {
            return None;
        }
        let mut told = Vec::with_capacity(first.len());
        for at in 0..first.len() {
            let here: Vec<(usize, &str)> =
                texts.iter().zip(&words).map(|((run, _), words)| (*run, words[at])).collect();
            told.push(match here.iter().all(|(_, word)| *word == here[0].1) {
                true => here[0].1.to_owned(),
                false => self.word(step, &here),
            });
        }
        Some(told.join(" "))
    }

    /// A word that differs between runs.
    fn word(&mut self, step: &RunStep, words: &[(usize, &str)]) -> String {
        let (before, after) = common_ends(words);
        let of_task: Option<Vec<(usize, usize)>> = words
            .iter()
            .map(|(run, word)| self.in_task(*run, word, before, word.len() - after))
            .collect();
        let same_ends = |ranges: &[(usize, usize)]| {
            let ends = |(range, (_, word)): (&(usize, usize), &(usize, &str))| {
                (word[..range.0].to_owned(), word[range.1..].to_owned())
            };
            let mut all = ranges.iter().zip(words).map(ends);
            let first = all.next();
            all.all(|ends| Some(&ends) == first.as_ref())
        };
        let (ranges, is_of_task) = match of_task.filter(|ranges| same_ends(ranges)) {
            Some(ranges) => (ranges, true),
            None => (words.iter().map(|(_, word)| (0, word.len())).collect(), false),
        };
        let values: Vec<String> = ranges
            .iter()
            .zip(words)
            .map(|((start, end), (_, word))| word[*start..*end].to_owned())
            .collect();
        let name = self.param(step, &values, is_of_task);
        let ((start, end), (_, word)) = (ranges[0], words[0]);
        format!("{}{{{{{name}}}}}{}", &word[..start], &word[end..])
    }

    /// The largest part around a difference that the run's own task contains.
    fn in_task(&self, run: usize, word: &str, start: usize, end: usize) -> Option<(usize, usize)> {
        let task = self.runs.get(run)?.run.task.to_lowercase();
        let speaks = |start: usize, end: usize| {
            word.get(start..end).is_some_and(|part| task.contains(&part.to_lowercase()))
        };
        let (mut start, mut end) = (start, end);
        loop {
            let wider_start = word[..start].char_indices().next_back();
            let wider_end = word[end..].chars().next();
            if let Some((at, c)) = wider_start
                && is_value_char(c)
                && speaks(at, end)
            {
                start = at;
            } else if let Some(c) = wider_end
                && is_value_char(c)
                && speaks(start, end + c.len_utf8())
            {
                end += c.len_utf8();
            } else {
                break;
            }
        }
        (start < end && speaks(start, end)).then_some((start, end))
    }

    fn param(&mut self, step: &RunStep, values: &[String], is_of_task: bool) -> String {
        let known = self.found.iter().find(|(_, known)| known.as_slice() == values);
        if let Some((name, _)) = known {
            return name.clone();
        }
        let wanted = match is_of_task {
            true => word_class(values.first().map(String::as_str).unwrap_or_default()).to_owned(),
            false => format!("{}_1", step.action.kind),
        };
        let mut distinct: Vec<&String> = values.iter().collect();
        distinct.sort();
        distinct.dedup();
        // One run's person is not who the next run is about.
        let is_name = distinct.len() > 1 && wanted == "name";
        let default = values.first().cloned().filter(|_| is_of_task && !is_name);
        let meaning = match step.thought.trim() {
            "" => format!("differs between runs of {}", step.app),
            thought => thought.to_owned(),
        };
        let name = self.names.add(&wanted, &meaning, default, false);
        self.names.set_distinct(&name, distinct.len());
        self.found.push((name.clone(), values.to_vec()));
        name
    }
}

/// How many bytes all words share at their start and at their end, at characters.
fn common_ends(words: &[(usize, &str)]) -> (usize, usize) {
    let Some(((_, first), rest)) = words.split_first() else { return (0, 0) };
    let shortest = words.iter().map(|(_, word)| word.len()).min().unwrap_or(0);
    let mut before = 0;
    for (at, c) in first.char_indices() {
        let end = at + c.len_utf8();
        if end > shortest || !rest.iter().all(|(_, word)| word.get(at..end) == first.get(at..end)) {
            break;
        }
        before = end;
    }
    let mut after = 0;
    for c in first.chars().rev() {
        let length = after + c.len_utf8();
        let tail = |word: &str| {
            word.len().checked_sub(length).and_then(|at| word.get(at..)).map(str::to_owned)
        };
        let fits = length + before <= shortest;
        if !fits || !rest.iter().all(|(_, word)| tail(word) == tail(first)) {
            break;
        }
        after = length;
    }
    (before, after)
}

/// The class of a value, by its shape.
fn word_class(value: &str) -> &'static str {
    let digits = value.chars().filter(char::is_ascii_digit).count();
    let is_version = digits > 0 && value.chars().all(|c| c.is_ascii_digit() || c == '.');
    let has_ending = value
        .rsplit_once('.')
        .is_some_and(|(stem, ending)| !stem.is_empty() && (1..=5).contains(&ending.len()));
    match () {
        () if is_version && value.contains('.') => "version",
        () if is_version => "number",
        () if has_ending || value.contains('/') => "file",
        () => "name",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters::RunParameter;
    use crate::run::{AgentRun, StepAction};

    fn run(task: &str, commands: &[&str]) -> CleanRun {
        let steps = commands.iter().map(|command| RunStep {
            action: StepAction::new("exec").with("command", *command),
            app: crate::program::program(command),
            ..RunStep::default()
        });
        let run = AgentRun { task: task.to_owned(), steps: steps.collect(), ..AgentRun::default() };
        CleanRun { run, ..CleanRun::default() }
    }

    fn told(runs: &[CleanRun]) -> (Vec<String>, Vec<RunParameter>) {
        let merged = merge(&runs[0], &runs[1..]);
        let commands = merged.run.steps.iter().map(|step| {
            let optional = step.seen_in.map(|(k, n)| format!(" {k}/{n}")).unwrap_or_default();
            format!("{}{optional}", step.action.text("command"))
        });
        (commands.collect(), merged.params)
    }

    #[test]
    fn values_of_the_task_become_parameters_of_their_class() {
        let made = |version: &str, file: &str| {
            run(
                &format!("Release {version} with notes from {file}"),
                &[
                    &format!("git tag v{version}"),
                    &format!("gh release create v{version} -F docs/{file}"),
                ],
            )
        };
        let (commands, params) =
            told(&[made("1.9.0", "notes.md"), made("1.8.0", "log.md"), made("1.7.0", "list.md")]);
        assert_eq!(
            commands,
            ["git tag v{{version}}", "gh release create v{{version}} -F docs/{{file}}"]
        );
        let names: Vec<(&str, usize)> =
            params.iter().map(|param| (param.name.as_str(), param.distinct)).collect();
        assert_eq!(names, [("version", 3), ("file", 3)]);
    }

    #[test]
    fn what_only_some_runs_did_is_optional() {
        let plain = || run("t", &["make -k", "make test -q"]);
        let more = run("t", &["make -k", "brew install -v x", "make test -q"]);
        let (commands, _) = told(&[plain(), more, plain()]);
        assert_eq!(commands, ["make -k", "brew install -v x 1/3", "make test -q"]);
    }

    /// A photo is sent by four runs, each in its own way; one of them asked first. In whatever order they
    /// are merged, the question comes before every sending.
    #[test]
    fn consent_of_one_run_comes_before_what_any_run_did() {
        let step = |kind: &str, text: &str| RunStep {
            action: StepAction::new(kind).with("command", text).with("capability", text),
            app: "photos".to_owned(),
            ..RunStep::default()
        };
        let one = |steps: &[(&str, &str)]| {
            let steps = steps.iter().map(|(kind, text)| step(kind, text)).collect();
            let run = AgentRun { task: "send".to_owned(), steps, ..AgentRun::default() };
            CleanRun { run, ..CleanRun::default() }
        };
        let runs = [
            one(&[("exec", "open album"), ("exec", "send-photo --to ann")]),
            one(&[("exec", "open album"), ("exec", "pick 1"), ("exec", "mail photo")]),
            one(&[
                ("exec", "open album"),
                ("request_human_auth", "share photos"),
                ("exec", "upload photo"),
            ]),
            one(&[("exec", "share photo -a"), ("exec", "close")]),
        ];
        for order in 0..24 {
            let mut left: Vec<usize> = (0..4).collect();
            let mut at = order;
            let mut ordered = Vec::new();
            for size in (1..=4).rev() {
                ordered.push(runs[left.remove(at % size)].clone());
                at /= size;
            }
            let merged = merge(&ordered[0], &ordered[1..]);
            let kinds: Vec<&str> =
                merged.run.steps.iter().map(|step| step.action.kind.as_str()).collect();
            let asked = kinds.iter().position(|kind| *kind == "request_human_auth");
            let sends = |step: &RunStep| step.action.text("command").contains("photo");
            let sent =
                merged.run.steps.iter().position(|step| sends(step) && step.action.kind == "exec");
            assert!(asked.is_some() && asked < sent, "{order}: {kinds:?}");
        }
    }

    #[test]
    fn other_differences_are_parameters_without_a_value() {
        let (commands, params) = told(&[run("t", &["sleep 5"]), run("t", &["sleep 7"])]);
        assert_eq!(commands, ["sleep {{exec_1}}"]);
        assert_eq!(params[0].default, None);
    }
}
