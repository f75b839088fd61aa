//! What the tables of the code hold: keys, codes and rules.

use std::fmt::Write as _;

use sinew_guard::scan::Scanner;
use sinew_settings::config::keys;
use sinew_settings::{ErrorCode, ErrorKind, ReasonCode};

use super::cell;

/// The keys of the configuration file.
pub(super) fn configuration() -> String {
    let mut text = "# Configuration\n\nThe keys of `config.json5` in sinew's home (`~/.sinew`, or \
                    `SINEW_HOME`). `<…>` stands for any name. `sinew config show` lists them with \
                    the values that hold on your machine.\n"
        .to_owned();
    let mut group = "";
    for key in keys() {
        let first = key.path.split('.').next().unwrap_or(key.path);
        if first != group {
            let _ = write!(
                text,
                "\n## {first}\n\n| key | values | default | what it does |\n|---|---|---|---|\n"
            );
            group = first;
        }
        let older = key.alias.map(|alias| format!(" Also read as `{alias}`.")).unwrap_or_default();
        let _ = writeln!(
            text,
            "| `{}` | {} | `{}` | {}{older} |",
            key.path,
            cell(&key.values()),
            key.default,
            cell(key.doc)
        );
    }
    text
}

/// Why something was left out, shortened, repaired or overridden.
pub(super) fn reasons() -> String {
    let mut text = "# Reasons\n\nEach skill that is left out, and each text that is shortened, \
                    repaired or overridden, has a reason with one of these codes. They never change, \
                    so scripts may rely on them.\n"
        .to_owned();
    let mut group = None;
    for code in ReasonCode::ALL {
        if group.replace(code.stage()) != Some(code.stage()) {
            let stage = format!("{:?}", code.stage()).to_lowercase();
            let _ =
                write!(text, "\n## {stage}\n\n| code | weight | what it means |\n|---|---|---|\n");
        }
        let _ = writeln!(text, "| `{code}` | {} | {} |", code.severity(), cell(code.meaning()));
    }
    text
}

/// The rules of the scanner.
pub(super) fn rules() -> String {
    let mut text = "# Rules of the scanner\n\n`critical` keeps a skill out of the catalog, `warn` is \
                    shown, `info` is worth knowing. The weight is the highest that a rule can give; \
                    what surrounds a text may lower it, and `sinew scan <skill> --explain <rule>` says what did.\n\n\
                    | rule | weight | what was found, and why it matters | what to do |\n|---|---|---|---|\n"
        .to_owned();
    for rule in Scanner::new().rules() {
        let found = format!("{} {}", rule.message, rule.reason);
        let weight = rule.severity.as_str();
        let _ = writeln!(
            text,
            "| `{}` | {weight} | {} | {} |",
            rule.id,
            cell(&found),
            cell(&rule.remedy)
        );
    }
    text
}

/// The codes of errors, each with how the program ends and what the HTTP API answers.
pub(super) fn errors() -> String {
    let mut text = "# Errors\n\nAn error has a code that never changes: with `--json` it is \
                    `error.code`, over HTTP the problem's `code`, and for a single reference of an \
                    install or an update its `reason`. Each code is of one kind, which decides the \
                    exit code.\n\n| exit code | kind | what it means |\n|---|---|---|\n"
        .to_owned();
    for kind in ErrorKind::ALL {
        let name = format!("{kind:?}").to_lowercase();
        let _ = writeln!(text, "| {} | `{name}` | {} |", kind.exit_code(), kind.meaning());
    }
    let mut topic = "";
    for code in ErrorCode::ALL {
        if code.topic() != topic {
            topic = code.topic();
            let _ = write!(
                text,
                "\n## {topic}\n\n| code | exit code | HTTP status | what it means |\n|---|---|---|---|\n"
            );
        }
        let (exit, status) = (code.exit_code(), code.http_status());
        let _ = writeln!(text, "| `{code}` | {exit} | {status} | {} |", cell(code.meaning()));
    }
    text
}
