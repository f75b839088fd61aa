//! The reference pages below `docs/reference/`, made from the code: the commands from clap, the keys
//! and codes from their tables, the rules from the scanner, the endpoints from the API's description.
//!
//! A page that differs from what the code says fails its test; `SINEW_UPDATE=1` rewrites it.
//! **Must never happen here:** a fact that the code does not hold.

mod commands;
mod http;
mod tables;

use sinew_settings::ErrorCode;
use std::path::PathBuf;
use std::{env, fs};

/// What makes a page.
type PageRenderer = fn() -> String;

/// Every page, and what makes it.
const PAGES: &[(&str, PageRenderer)] = &[
    ("commands.md", commands::page),
    ("configuration.md", tables::configuration),
    ("errors.md", tables::errors),
    ("http.md", http::page),
    ("reasons.md", tables::reasons),
    ("rules.md", tables::rules),
];

/// Said at the end of each page.
const MADE: &str = "\n---\n\nMade from the code by `SINEW_UPDATE=1 cargo nextest run -p sinew-cli reference`; \
                    edits here are lost.\n";

/// A folder of the repository.
fn repository(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// A text in a cell of a table, or in a paragraph: what stands in backticks stays, and nothing else
/// is markup.
fn cell(text: &str) -> String {
    let mut shown = String::new();
    for (at, part) in text.split('`').enumerate() {
        if at > 0 {
            shown.push('`');
        }
        match at % 2 {
            0 => shown.push_str(&part.replace('<', "&lt;").replace('|', "\\|").replace('*', "\\*")),
            _ => shown.push_str(&part.replace('|', "\\|")),
        }
    }
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_reference_is_what_the_code_says() {
    let folder = repository("docs/reference");
    let update = env::var_os("SINEW_UPDATE").is_some();
    let mut old = Vec::new();
    for (name, make) in PAGES {
        let path = folder.join(name);
        let text = make() + MADE;
        if fs::read_to_string(&path).is_ok_and(|there| there == text) {
            continue;
        }
        match update {
            true => {
                fs::create_dir_all(&folder).expect("a folder");
                fs::write(&path, text).expect("a page");
            }
            false => old.push(*name),
        }
    }
    for entry in fs::read_dir(&folder).expect("the folder of the reference") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        let known = PAGES.iter().any(|(page, _)| *page == name);
        assert!(known, "docs/reference/{name} is made by nothing; remove it");
    }
    assert!(
        old.is_empty(),
        "docs/reference is older than the code: {}\nrewrite it with `SINEW_UPDATE=1 cargo nextest run -p sinew-cli reference`",
        old.join(", ")
    );
}

#[test]
fn every_error_code_is_in_the_reference() {
    let page = fs::read_to_string(repository("docs/reference/errors.md")).expect("the page");
    // An error cannot be made without a code, so these are all that the program can emit.
    for code in ErrorCode::ALL {
        let row = format!(
            "| `{code}` | {} | {} | {} |",
            code.exit_code(),
            code.http_status(),
            cell(code.meaning())
        );
        let rows = page.lines().filter(|line| line.starts_with(&format!("| `{code}` |")));
        assert_eq!(rows.collect::<Vec<_>>(), [row]);
    }
}
