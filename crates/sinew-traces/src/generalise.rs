//! Several runs that went nearly the same way become one, with parameters where they differ.

use crate::parameters::ParameterNames;
use crate::redact::CleanRun;
use crate::risk::is_consent;
use crate::run::RunStep;
use crate::simhash::{common_subsequence, token};

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
    // What one run asked a person for holds for all of them, and comes before what any of them did: where
    // its question would stand in the others is not known.
    let by_some = |column: &MergedStep| {
        is_consent(&column.step.action.kind) && column.seen.len() < runs.len()
    };
    let (asked, done): (Vec<_>, Vec<_>) = columns.into_iter().partition(by_some);
    let mut columns: Vec<MergedStep> = asked.into_iter().chain(done).collect();
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
    for (name, values) in &slots.found {
        let value = values.first().map(String::as_str).unwrap_or_default();
        merged.run.task = merged.run.task.replace(value, &format!("{{{{{name}}}}}"));
    }
    merged.params = slots.names.into_params();
    merged.run.steps = columns.into_iter().map(|column| column.step).collect();
    merged
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
        let default = values.first().cloned().filter(|_| is_of_task);
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
