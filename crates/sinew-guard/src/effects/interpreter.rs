//! The interpreter of the table: one command, by its program, verb and options.

use super::table::{self, BaseEffect, OptionEffect, ProgramRow};
use super::{Effect, EffectSet, scripts};
use crate::shell::{RedirectionKind, ShellCommand, ShellScript, ShellWord, base_name};

/// Wrappers that do more than start another program: as another user, in another place.
const OPAQUE: &[&str] = &[
    "sudo",
    "doas",
    "pkexec",
    "runuser",
    "gosu",
    "su-exec",
    "chroot",
    "unshare",
    "nsenter",
    "systemd-run",
    "strace",
    "flock",
    "fakeroot",
    "docker",
    "podman",
    "lxc",
    "kubectl",
    "uv",
    "poetry",
    "pipenv",
    "bundle",
    "conda",
    "setarch",
    "proxychains",
    "proxychains4",
];

/// Folders whose programs are those of the system.
const SYSTEM: &[&str] =
    &["/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/opt/homebrew/bin"];

/// Variables that make another program of the one that is started.
const STEERING: &[&str] = &[
    "PATH",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "DYLD_INSERT_LIBRARIES",
    "BASH_ENV",
    "ENV",
    "IFS",
    "EDITOR",
    "VISUAL",
    "NODE_OPTIONS",
    "PYTHONSTARTUP",
    "PYTHONPATH",
    "PERL5OPT",
    "RUBYOPT",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_EXTERNAL_DIFF",
    "GIT_EDITOR",
    "LESSOPEN",
    "PROMPT_COMMAND",
];
/// Variables that name a pager; these pagers are harmless.
const PAGERS: &[&str] = &["PAGER", "GIT_PAGER", "GH_PAGER", "MANPAGER", "AWS_PAGER"];

/// Values that make an option harmless: the output, and nowhere.
const NOWHERE: &[&str] = &["-", "/dev/null", "/dev/stdout", "/dev/stderr", "NUL"];

/// Marks of a secret in an argument.
const SECRETS: &[&str] = &[
    "authorization:",
    "x-api-key",
    "api-key",
    "apikey",
    "api_key",
    "private-token",
    "bearer ",
    "token",
    "secret",
    "password",
    "passwd",
    "credential",
];

/// A command where it stands.
pub(super) struct CommandPlace<'a> {
    pub(super) script: &'a ShellScript,
    pub(super) command: &'a ShellCommand,
}

/// What a command does, and whether its program is known; `None` for what is no command.
pub(super) fn effects(place: &CommandPlace<'_>) -> Option<(EffectSet, bool)> {
    let command = place.command;
    let mut set = of_surroundings(command);
    let Some(program) = command.program_word() else {
        // Assignments and groups: only what is redirected counts, their commands stand for themselves.
        return (!set.is_read_only()).then_some((set, true));
    };
    if command.wrappers().iter().any(|word| OPAQUE.contains(&base_name(&word.text))) {
        set.add(Effect::Shell);
    }
    if command.words.iter().any(names_a_secret) {
        set.add(Effect::Credentials);
    }
    let asks = |word: &ShellWord| matches!(word.text.as_str(), "-v" | "-V");
    if command.words[0].text == "command" && command.wrappers().iter().any(asks) {
        return Some((set, true));
    }
    if place.script.called(command).is_some() {
        return Some((set, true));
    }
    let Some(name) = program_name(place, program) else {
        set.add(Effect::Shell);
        return Some((set, false));
    };
    let words = arguments(place);
    let (found, is_known) = of_program(&name, &words, command);
    Some((set.with(found), is_known))
}

/// Redirections and variables.
fn of_surroundings(command: &ShellCommand) -> EffectSet {
    let mut set = EffectSet::NONE;
    for file in command.written_files() {
        if !NOWHERE.contains(&file.text.as_str()) && file.text != "/dev/tty" {
            set.add(Effect::Write);
        }
    }
    for (name, value) in &command.assignments {
        let is_pager = PAGERS.contains(&name.as_str())
            && !matches!(
                base_name(value.text.split(' ').next().unwrap_or("")),
                "" | "cat" | "less" | "more"
            );
        // An assignment alone steers what comes later just as well.
        if STEERING.contains(&name.as_str()) || is_pager {
            set.add(Effect::Shell);
        }
    }
    if command.program() == Some("export") {
        let steers = |word: &&ShellWord| {
            word.text.split_once('=').is_some_and(|(name, _)| STEERING.contains(&name))
        };
        if command.arguments().iter().any(|word| steers(&word)) {
            set.add(Effect::Shell);
        }
    }
    set
}

/// Whether a word carries or names a secret.
fn names_a_secret(word: &ShellWord) -> bool {
    // A path, a name of a field or an address may say `token` too.
    let text = word.text.to_ascii_lowercase();
    let marked = SECRETS.iter().any(|mark| text.contains(mark));
    marked
        && (text.contains('$') || text.contains(':') || text.contains('=') && text.starts_with('-'))
}

/// The program's name, if it is one of the system's and not made up on the way.
fn program_name(place: &CommandPlace<'_>, word: &ShellWord) -> Option<String> {
    let text = match variable(&word.text) {
        Some(name) => assigned(place, name)?.to_owned(),
        None => word.text.clone(),
    };
    if word.has_substitution || text.contains('$') {
        return None;
    }
    match text.rsplit_once('/') {
        Some((folder, name)) => SYSTEM.contains(&folder).then(|| name.to_owned()),
        None => Some(text),
    }
}

/// The name of a variable that is all of a word.
fn variable(text: &str) -> Option<&str> {
    let name = text.strip_prefix('$')?;
    let name = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name);
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    (is_name || matches!(name, "@" | "*")).then_some(name)
}

/// The one value that the script gives a variable.
fn assigned<'a>(place: &CommandPlace<'a>, name: &str) -> Option<&'a str> {
    let given = place.script.commands.iter().flat_map(|command| &command.assignments);
    let mut values = given.filter(|(known, _)| known == name).map(|(_, value)| value);
    let value = values.next()?;
    let is_plain = values.next().is_none() && !value.has_substitution && !value.text.contains('$');
    is_plain.then_some(value.text.as_str())
}

/// The arguments, with variables that the script itself sets put in. One that may hold options and is
/// set elsewhere stays, and is found below.
fn arguments(place: &CommandPlace<'_>) -> Vec<String> {
    let mut words = Vec::new();
    for word in place.command.arguments() {
        match variable(&word.text).and_then(|name| assigned(place, name)) {
            Some(value) if !word.is_quoted => {
                words.extend(value.split_whitespace().map(str::to_owned));
            }
            Some(value) => words.push(value.to_owned()),
            None => words.push(word.text.clone()),
        }
    }
    words
}

/// Whether a word stands for options that are not seen.
fn hides_options(word: &str) -> bool {
    variable(word).is_some_and(|name| {
        let name = name.to_ascii_uppercase();
        matches!(name.as_str(), "@" | "*")
            || ["OPT", "FLAG", "ARGS", "CMD", "COMMAND", "EXTRA"]
                .iter()
                .any(|part| name.contains(part))
    })
}

/// The state while the arguments are read.
#[derive(Default)]
struct ArgumentReading {
    set: EffectSet,
    reads: bool,
    sends: bool,
    method: Option<String>,
    statements: Vec<String>,
    asked: bool,
}

fn of_program(name: &str, words: &[String], command: &ShellCommand) -> (EffectSet, bool) {
    let operands = operands(name, words);
    let Some(row) = table::row(name, &operands) else {
        return (EffectSet::of(Effect::Shell), table::is_known(name));
    };
    let mut reading = ArgumentReading::default();
    let mut at = 0;
    while at < words.len() {
        at += 1 + read_argument(row, words, at, &mut reading);
    }
    let mut base = of_base(row, &reading, &operands, command);
    if reading.reads {
        base = EffectSet::NONE;
    }
    let mut set = base.with(reading.set);
    let asks_only = words.iter().any(|word| word == "-G" || word == "--get")
        || words.iter().any(|word| is_cluster(word) && word.contains('G'));
    match &reading.method {
        Some(method) => set = set.with(scripts::method(method)),
        None if reading.sends && !asks_only => set.add(Effect::Write),
        None => {}
    }
    (set, true)
}

/// Arguments that are neither options nor their values.
fn operands<'a>(name: &str, words: &'a [String]) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut skip = false;
    for word in words {
        if std::mem::take(&mut skip) {
            continue;
        }
        match word.len() > 1 && word.starts_with('-') {
            true => skip = !word.contains('=') && table::takes_value(name, word),
            false => found.push(word.as_str()),
        }
    }
    found
}

fn is_cluster(word: &str) -> bool {
    word.len() > 2 && word.starts_with('-') && !word.starts_with("--")
}

/// Reads the argument at a place; how many further words belong to it.
fn read_argument(
    row: &ProgramRow,
    words: &[String],
    at: usize,
    reading: &mut ArgumentReading,
) -> usize {
    let word = words[at].as_str();
    if hides_options(word) {
        reading.set.add(Effect::Shell);
        return 0;
    }
    let next = words.get(at + 1).map(String::as_str);
    if let Some(effect) = row.option(word) {
        return apply(effect, None, next, reading);
    }
    if let Some(long) = word.strip_prefix("--") {
        let (name, value) = match long.split_once('=') {
            Some((name, value)) => (format!("--{name}"), Some(value)),
            None => (word.to_owned(), None),
        };
        match row.option(&name) {
            Some(effect) => return apply(effect, value, next, reading),
            None if row.is_strict && !long.is_empty() => reading.set.add(Effect::Shell),
            None => {}
        }
        return 0;
    }
    if !word.starts_with('-') || word.len() < 2 {
        return 0;
    }
    if let Some((name, value)) = word.split_once('=')
        && let Some(effect) = row.option(name)
    {
        return apply(effect, Some(value), next, reading);
    }
    // Letters one by one; one that takes a value takes the rest, or the next word.
    for (place, letter) in word.char_indices().skip(1) {
        let rest = &word[place + letter.len_utf8()..];
        let Some(effect) = row.option(&format!("-{letter}")) else { continue };
        let value = (!rest.is_empty()).then_some(rest);
        match effect {
            OptionEffect::TakesValue
            | OptionEffect::Method
            | OptionEffect::Sql
            | OptionEffect::Stdout => {
                return apply(effect, value, next, reading);
            }
            OptionEffect::Data => {
                reading.sends = true;
                return usize::from(value.is_none());
            }
            OptionEffect::Adds(_) if rest.is_empty() => return apply(effect, None, next, reading),
            other => {
                apply(other, value, None, reading);
            }
        }
    }
    0
}

/// What an option with its value does; how many further words belong to it.
fn apply(
    effect: OptionEffect,
    value: Option<&str>,
    next: Option<&str>,
    reading: &mut ArgumentReading,
) -> usize {
    let taken = usize::from(value.is_none());
    let value = value.or(next).unwrap_or_default();
    match effect {
        OptionEffect::Harmless => 0,
        OptionEffect::TakesValue => taken,
        OptionEffect::Reads => {
            reading.reads = true;
            0
        }
        OptionEffect::Method => {
            reading.method = Some(value.trim_matches(['"', '\'']).to_owned());
            taken
        }
        OptionEffect::Data => {
            reading.sends = true;
            taken
        }
        OptionEffect::Sql => {
            reading.statements.push(value.to_owned());
            reading.asked = true;
            taken
        }
        OptionEffect::Stdout => {
            reading.reads |= NOWHERE.contains(&value);
            taken
        }
        OptionEffect::Adds(Effect::Write) if NOWHERE.contains(&value) => taken,
        OptionEffect::Adds(effect) => {
            reading.set.add(effect);
            0
        }
    }
}

/// What the row says, after a look at the operands where it asks for one.
fn of_base(
    row: &ProgramRow,
    reading: &ArgumentReading,
    operands: &[&str],
    command: &ShellCommand,
) -> EffectSet {
    let is_fed = command.stage > 0 || command.input().is_some();
    match row.base {
        BaseEffect::Fixed(set) => set,
        BaseEffect::Sed => {
            let first = operands.first().copied().filter(|_| !reading.asked);
            let all = reading.statements.iter().map(String::as_str).chain(first);
            all.fold(EffectSet::NONE, |set, script| set.with(scripts::sed(script)))
        }
        BaseEffect::Awk => operands.first().map_or(EffectSet::NONE, |text| scripts::awk(text)),
        BaseEffect::Http => {
            let method = operands.first().filter(|word| scripts::is_method(word));
            let sends = operands.iter().any(|word| {
                word.contains(":=")
                    || word.contains('@') && !word.contains("://")
                    || word.contains('=') && !word.contains("==") && !word.contains("://")
            });
            match method {
                Some(method) => scripts::method(method),
                None if sends || is_fed => EffectSet::of(Effect::Write),
                None => EffectSet::NONE,
            }
        }
        BaseEffect::Listing => {
            let named = operands.len() > 1;
            let lists = command.flags().any(|flag| {
                matches!(
                    flag.text.split('=').next().unwrap_or_default(),
                    "--list"
                        | "-l"
                        | "--contains"
                        | "--merged"
                        | "--no-merged"
                        | "--points-at"
                        | "-a"
                        | "-r"
                )
            });
            if named && !lists { EffectSet::of(Effect::Write) } else { EffectSet::NONE }
        }
        BaseEffect::Sql => of_statements(reading, operands, command),
    }
}

/// A database's shell: its statements decide, wherever they stand; without any it is a shell.
fn of_statements(
    reading: &ArgumentReading,
    operands: &[&str],
    command: &ShellCommand,
) -> EffectSet {
    let mut set = EffectSet::NONE;
    let mut asked = reading.asked;
    for statement in &reading.statements {
        set = set.with(scripts::sql(statement));
    }
    let is_statement = |text: &&&str| text.contains(' ') || text.starts_with(['.', '\\']);
    for statement in operands.iter().filter(is_statement) {
        set = set.with(scripts::sql(statement));
        asked = true;
    }
    if let Some(input) = command.input() {
        match input.kind {
            RedirectionKind::Input => set.add(Effect::Shell),
            _ => set = set.with(scripts::sql(&input.target.text)),
        }
        asked = true;
    } else if command.stage > 0 {
        set.add(Effect::Shell);
    }
    if !asked {
        set.add(Effect::Shell);
    }
    set
}
