//! What the tables of the code hold: keys, codes and rules.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use regex::Regex;
use sinew_catalog::config::KEYS;
use sinew_guard::scan::Scanner;
use sinew_settings::ReasonCode;

use super::{cell, repository};

/// The keys of the configuration file.
pub(super) fn configuration() -> String {
    let mut text = "# Configuration\n\nThe keys of `config.json5` in sinew's home (`~/.sinew`, or \
                    `SINEW_HOME`). `<…>` stands for any name. `sinew config show` lists them with \
                    the values that hold on your machine.\n"
        .to_owned();
    let mut group = "";
    for key in KEYS {
        let first = key.path.split('.').next().unwrap_or(key.path);
        if first != group {
            let _ =
                write!(text, "\n## {first}\n\n| key | default | what it does |\n|---|---|---|\n");
            group = first;
        }
        let _ = writeln!(text, "| `{}` | `{}` | {} |", key.path, key.default, cell(key.doc));
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

/// The codes of errors, as they stand where errors are made.
pub(super) fn errors() -> String {
    let made = Regex::new(r#"ErrorKind::(No|Usage|Refused|Environment),\s*"([a-z0-9-]+)""#)
        .expect("an expression");
    let mut codes: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    each_source(&repository("crates"), &mut |source| {
        for found in made.captures_iter(source) {
            let kind = KINDS.iter().find(|(name, ..)| *name == &found[1]).expect("a known kind").0;
            codes.entry(kind).or_default().insert(found[2].to_owned());
        }
    });
    let mut text = "# Errors\n\nAn error has a kind, which decides the exit code, and a code that \
                    never changes: with `--json` it is `error.code`, over HTTP the problem's \
                    `code`.\n"
        .to_owned();
    for (kind, exit, meaning) in KINDS {
        let names = codes.get(kind).into_iter().flatten().map(|code| format!("`{code}`"));
        let names = names.collect::<Vec<_>>().join(", ");
        let _ = writeln!(text, "\n## Exit code {exit}: {meaning}\n\n{names}");
    }
    let words = Regex::new(r#"Self::\w+ => "([a-z-]+)""#).expect("an expression");
    let source = fs::read_to_string(repository("crates/sinew-hub/src/error.rs")).expect("a source");
    let words: Vec<String> =
        words.captures_iter(&source).map(|found| format!("`{}`", &found[1])).collect();
    let _ = writeln!(
        text,
        "\n## Registries\n\nWhat can become of a search, an install or an update; each is of one of \
         the kinds above.\n\n{}",
        words.join(", ")
    );
    text
}

/// The kinds, their exit codes, and what they mean.
const KINDS: &[(&str, u8, &str)] = &[
    ("No", 1, "the answer is no"),
    ("Usage", 2, "the request makes no sense as it stands"),
    ("Refused", 3, "a policy or a person refused"),
    ("Environment", 4, "the machine, a file or the network is in the way"),
];

/// Shows every source file of the program to somebody.
fn each_source(folder: &Path, show: &mut impl FnMut(&str)) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let skipped = ["tests", "benches", "data", "target", "reference", "sinew-testkit"];
        if path.is_dir() && !skipped.contains(&name.as_str()) {
            each_source(&path, show);
        } else if name.ends_with(".rs") {
            show(&fs::read_to_string(&path).expect("a source"));
        }
    }
}
