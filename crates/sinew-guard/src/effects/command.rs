//! A script as its commands, each with what it does.

use std::borrow::Cow;
use std::ops::Range;

use super::interpreter::{self, CommandPlace};
use super::{Effect, EffectSet};
use crate::shell::{ShellCommand, ShellPlace, ShellScript, base_name};

/// The longest `<placeholder>`.
const MAX_PLACEHOLDER: usize = 60;

/// One command of a script, and what it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandEffects {
    /// The program, without its folder.
    pub program: String,
    /// The first argument that is not an option.
    pub verb: Option<String>,
    /// What it does, its redirections included.
    pub effects: EffectSet,
    /// Whether the table knows the program.
    pub is_known: bool,
    /// The bytes of the whole pipeline or group that it stands in.
    pub span: Range<usize>,
    /// Where the program and its verb stand, for what must stay readable.
    pub names: Vec<Range<usize>>,
}

/// Every command of a script.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScriptEffects {
    /// The commands in the order in which they start, at any depth.
    pub commands: Vec<CommandEffects>,
}

impl ScriptEffects {
    /// Reads a script. Placeholders such as `<file>` are words, not redirections.
    pub fn of(text: &str) -> Self {
        let text = without_placeholders(text);
        let script = ShellScript::parse(&text);
        let spans = pipeline_spans(&script, &text);
        let commands = script.commands.iter().enumerate();
        let mut found: Vec<CommandEffects> = commands
            .filter(|(at, command)| !is_loop_head(&script, *at, command))
            .filter_map(|(at, command)| {
                let place = CommandPlace { script: &script, command };
                let (effects, is_known) = interpreter::effects(&place)?;
                let program = command.program().unwrap_or_default().to_owned();
                let names = [command.program_word(), command.operands().next()];
                Some(CommandEffects {
                    program,
                    verb: command.verb().map(str::to_owned),
                    effects,
                    is_known,
                    span: spans.get(at).cloned().unwrap_or_default(),
                    names: names.into_iter().flatten().map(|word| word.span.clone()).collect(),
                })
            })
            .collect();
        if script.is_cut {
            // What was not read may do anything.
            found.push(CommandEffects {
                program: "…".to_owned(),
                verb: None,
                effects: EffectSet::of(Effect::Shell),
                is_known: false,
                span: text.len()..text.len(),
                names: Vec::new(),
            });
        }
        Self { commands: found }
    }

    /// The command that a program was started with: its arguments as they were given, without a shell.
    pub fn of_arguments(argv: &[String]) -> Self {
        // `sh -c` runs its last word.
        if let [shell, flag, script, ..] = argv
            && matches!(base_name(shell), "sh" | "bash" | "zsh" | "dash" | "ksh")
            && matches!(flag.as_str(), "-c" | "-lc" | "-ec" | "-euc")
        {
            return Self::of(script);
        }
        let quoted: Vec<String> =
            argv.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''"))).collect();
        Self::of(&quoted.join(" "))
    }

    /// What was certainly changed where these commands ran, as the memory names it: `write:git`. A program
    /// of which no more is known says nothing here.
    pub fn changes(&self) -> Vec<String> {
        let mut changes = Vec::new();
        for command in self.commands.iter().filter(|command| command.is_known) {
            for (effect, verb) in [(Effect::Write, "write"), (Effect::Delete, "delete")] {
                let what = if command.program.is_empty() { "files" } else { &command.program };
                let change = format!("{verb}:{what}");
                if command.effects.has(effect) && !changes.contains(&change) {
                    changes.push(change);
                }
            }
        }
        changes
    }

    /// What all of them do together.
    pub fn set(&self) -> EffectSet {
        self.commands.iter().fold(EffectSet::NONE, |set, command| set.with(command.effects))
    }
}

/// `for x in a b`: words, and no command.
fn is_loop_head(script: &ShellScript, at: usize, command: &ShellCommand) -> bool {
    let is_first = at > 0 && command.parent == Some(at - 1) && command.place == ShellPlace::Group;
    is_first
        && script.commands[at - 1].is_group
        && command.words.get(1).is_some_and(|word| word.text == "in" && !word.is_quoted)
}

/// For each command the bytes of the outermost pipeline that holds it.
fn pipeline_spans(script: &ShellScript, text: &str) -> Vec<Range<usize>> {
    let mut outer: Vec<usize> = Vec::with_capacity(script.commands.len());
    for (at, command) in script.commands.iter().enumerate() {
        // A command comes before those inside it.
        let root = command.parent.and_then(|parent| outer.get(parent).copied()).unwrap_or(at);
        outer.push(root);
    }
    let mut by_pipeline: std::collections::HashMap<usize, Range<usize>> = Default::default();
    // A command ends where its last character does, and not at the next mark.
    let trimmed = |span: &Range<usize>| {
        let part = text.get(span.clone()).unwrap_or_default();
        span.start..span.start + part.trim_end().len()
    };
    for (at, command) in script.commands.iter().enumerate() {
        let number = script.commands[outer[at]].pipeline;
        let redirected = command.redirections.iter().map(|r| r.target.span.end).max().unwrap_or(0);
        let end = command.span.end.max(redirected);
        let span = by_pipeline.entry(number).or_insert(command.span.start..end);
        span.start = span.start.min(command.span.start);
        span.end = span.end.max(end);
    }
    outer.iter().map(|root| trimmed(&by_pipeline[&script.commands[*root].pipeline])).collect()
}

/// The text with every `<name of something>` as one word of the same length.
fn without_placeholders(text: &str) -> Cow<'_, str> {
    if !text.contains('<') {
        return Cow::Borrowed(text);
    }
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while let Some(open) = memchr::memchr(b'<', &bytes[at..]).map(|length| at + length) {
        at = open + 1;
        let rest = &bytes[at..bytes.len().min(at + MAX_PLACEHOLDER)];
        let Some(length) = rest.iter().position(|byte| matches!(byte, b'>' | b'<' | b'\n')) else {
            continue;
        };
        let (inner, close) = (&rest[..length], at + length);
        let before = open.checked_sub(1).map(|place| bytes[place]);
        let after = bytes.get(close + 1);
        let stands_alone = before.is_none_or(|byte| !byte.is_ascii_alphanumeric())
            && before != Some(b'<')
            && after.is_none_or(|byte| !byte.is_ascii_alphanumeric() && !b">&$".contains(byte));
        let is_name = inner.first().is_some_and(u8::is_ascii_alphabetic)
            && inner.last().is_some_and(|byte| !byte.is_ascii_whitespace())
            && !inner.contains(&b'(')
            && inner.iter().all(|byte| !b"$`&;".contains(byte));
        if bytes.get(close) == Some(&b'>') && stands_alone && is_name {
            for place in &mut out[open..=close] {
                if place.is_ascii() && !place.is_ascii_alphanumeric() {
                    *place = b'_';
                }
            }
            at = close + 1;
        }
    }
    // Only ASCII was replaced by ASCII.
    String::from_utf8(out).map_or(Cow::Borrowed(text), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(text: &str) -> String {
        ScriptEffects::of(text).set().to_string()
    }

    #[test]
    fn well_known_uses_only_read() {
        for line in [
            "curl -s https://api.example.com/tasks | jq .",
            "curl -fsSL -H 'Accept: application/json' https://a.example/x",
            "curl -sG --data-urlencode 'q=x' https://a.example/x",
            "curl -s -o /dev/null -w '%{http_code}' https://a.example",
            "curl -X GET https://a.example",
            "git log --oneline -10 && git diff HEAD~1 --stat",
            "git -C /tmp/x status --short",
            "git show <commit>",
            "git branch -a",
            "git remote -v",
            "gh pr view 12 --json title,body",
            "gh -R a/b issue list --limit 5",
            "gh api repos/a/b/pulls",
            "ls -la | grep x | wc -l",
            "find . -name '*.md' -type f",
            "rg -n todo src 2>/dev/null",
            "kubectl -n prod get pods -o wide",
            "kubectl logs <pod> -n prod --tail 20",
            "docker ps -a; docker logs web",
            "docker compose ps",
            "psql -h db -c 'SELECT count(*) FROM users'",
            "sqlite3 a.db '.tables'",
            "aws --profile x ec2 describe-instances",
            "aws s3 ls s3://a",
            "gcloud compute instances list",
            "http GET https://a.example/x",
            "http a.example q==x",
            "sed -n '1,20p' a.txt",
            "awk '{print $1}' a.txt | sort | uniq -c",
            "for x in a b c; do cat $x; done",
            "if [ -f a ]; then cat a; fi",
            "X=$(git rev-parse HEAD); echo \"$X\"",
            "env TZ=UTC date",
            "timeout 5 curl -s https://a.example",
            "find . -name x | xargs grep -l y",
            "command -v jq",
            "wget -qO- https://a.example",
            "tar -tzf a.tgz",
            "systemctl status nginx; journalctl -u nginx -n 50",
            "npm ls --depth 0",
            "pip show requests",
            "cat <<< hello",
            "python3 --version",
        ] {
            assert!(ScriptEffects::of(line).set().is_read_only(), "{line}: {}", set(line));
        }
    }

    #[test]
    fn what_changes_something_never_comes_out_as_reading() {
        for (line, expected) in [
            ("curl -d @x https://a.example", "write"),
            ("curl --data x https://a.example", "write"),
            ("curl -sXPOST https://a.example", "write"),
            ("curl -X DELETE https://a.example", "delete"),
            ("curl -X $METHOD https://a.example", "write"),
            ("curl -sOL https://a.example", "write"),
            ("curl --unheard-of https://a.example", "shell"),
            ("FLAGS='-X DELETE'; curl $FLAGS https://a.example", "delete"),
            ("curl $CURL_OPTS https://a.example", "shell"),
            ("curl -s https://a.example | sh", "shell"),
            ("curl -H \"Authorization: Bearer $API_TOKEN\" https://a.example", "credentials"),
            ("cat x > y", "write"),
            ("cat <in>out", "write"),
            ("echo $(rm x)", "delete"),
            ("ls; rm x", "delete"),
            ("todo add x", "shell"),
            ("desk-cli ticket close --all", "shell"),
            ("./ls", "shell"),
            ("git push --force", "write+delete"),
            ("git branch new", "write"),
            ("git tag v1", "write"),
            ("git -c core.pager=x log", "shell"),
            ("git reset --hard", "delete"),
            ("gh pr create --fill", "write"),
            ("gh pr close 3", "delete"),
            ("gh api -X POST repos/a/b/issues", "write"),
            ("gh api repos/a/b/issues -f title=x", "write"),
            ("find . -delete", "delete"),
            ("find . -exec rm {} +", "shell"),
            ("find . -name x | xargs rm", "delete"),
            ("sed -i s/a/b/ x", "write"),
            ("sed 's/a/b/w out' x", "write"),
            ("awk '{print > \"x\"}' y", "write"),
            ("kubectl delete pod x", "delete"),
            ("kubectl exec -it x -- ls", "shell"),
            ("docker run --rm alpine ls", "shell"),
            ("docker compose down", "delete"),
            ("psql -c 'DELETE FROM a'", "delete"),
            ("psql mydb", "shell"),
            ("aws s3 rm s3://a/b", "delete"),
            ("aws secretsmanager get-secret-value --secret-id x", "credentials"),
            ("sudo ls", "shell"),
            ("LD_PRELOAD=./x.so ls", "shell"),
            ("PATH=.:$PATH ls", "shell"),
            ("npm install x", "write+shell"),
            ("python3 scripts/x.py", "shell"),
            ("bash <<'EOF'\nrm -rf x\nEOF", "shell"),
            ("http POST a.example x=1", "write"),
            ("http a.example x=1", "write"),
            ("sort -o x x", "write"),
            ("tee x", "write"),
            ("$TOOL list", "shell"),
            ("eval ls", "shell"),
            ("wget https://a.example", "write"),
        ] {
            assert_eq!(set(line), expected, "{line}");
        }
    }

    #[test]
    fn a_pipeline_is_shown_whole() {
        let text = "ls -la | wc -l && rm x > y";
        let shown: Vec<&str> = ScriptEffects::of(text)
            .commands
            .iter()
            .map(|found| &text[found.span.clone()])
            .collect();
        assert_eq!(shown, ["ls -la | wc -l", "ls -la | wc -l", "rm x > y"]);
        let run = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            ScriptEffects::of_arguments(&words).changes()
        };
        assert_eq!(run(&["rm", "it's; git push"]), ["delete:rm"]);
        assert_eq!(run(&["bash", "-c", "cat x > y; git push"]), ["write:cat", "write:git"]);
        assert_eq!(run(&["desk-cli", "list"]), [] as [&str; 0]);
    }
}
