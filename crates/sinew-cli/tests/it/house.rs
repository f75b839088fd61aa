//! The house rules that a compiler does not check: the map is true, crates depend one way and state
//! their promise, and a type's name leads to one place.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace")
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn crates() -> Vec<String> {
    let listed = fs::read_dir(workspace().join("crates")).expect("crates/");
    let mut names: Vec<String> = listed
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn source(krate: &str) -> PathBuf {
    workspace().join("crates").join(krate).join("src")
}

/// Every `.rs` file below a folder.
fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// The crates in the order of the table in ARCHITECTURE.md.
fn table(architecture: &str) -> Vec<String> {
    let row = Regex::new(r"(?m)^\| `(sinew-[a-z]+)` \|").expect("a pattern");
    row.captures_iter(architecture).map(|found| found[1].to_owned()).collect()
}

/// The part of the map that speaks about a crate.
fn section<'a>(architecture: &'a str, krate: &str) -> &'a str {
    let heading = format!("### `{krate}`\n");
    let Some(start) = architecture.find(&heading) else {
        panic!("ARCHITECTURE.md has no heading for {krate}");
    };
    let body = &architecture[start + heading.len()..];
    &body[..body.find("\n#").unwrap_or(body.len())]
}

#[test]
fn every_crate_and_module_is_on_the_map() {
    let architecture = text(&workspace().join("ARCHITECTURE.md"));
    let table = table(&architecture);
    assert_eq!(table.iter().cloned().collect::<BTreeSet<_>>(), crates().into_iter().collect());
    let mut missing = Vec::new();
    for krate in crates() {
        let section = section(&architecture, &krate);
        for entry in fs::read_dir(source(&krate)).expect("src/") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            let module = path.is_dir() || name.ends_with(".rs") && name != "lib.rs";
            // A folder stands for the file beside it that opens it.
            let folder = path.is_dir() || path.with_extension("").is_dir();
            let stem = name.trim_end_matches(".rs");
            let on_map = section.contains(&format!("`{stem}.rs`"))
                || folder && section.contains(&format!("`{stem}/`"));
            if module && !on_map {
                missing.push(format!("{krate}: {name}"));
            }
        }
    }
    assert!(missing.is_empty(), "not in ARCHITECTURE.md:\n{}", missing.join("\n"));
}

#[test]
fn the_map_names_nothing_that_is_gone() {
    let architecture = text(&workspace().join("ARCHITECTURE.md"));
    let named = Regex::new(r"`([a-z0-9_/]+\.rs)`").expect("a pattern");
    let mut gone = Vec::new();
    for krate in crates() {
        let mut files = Vec::new();
        rust_files(&source(&krate), &mut files);
        for found in named.captures_iter(section(&architecture, &krate)) {
            if !files.iter().any(|file| file.ends_with(&found[1])) {
                gone.push(format!("{krate}: {}", &found[1]));
            }
        }
    }
    assert!(gone.is_empty(), "named in ARCHITECTURE.md, and not there:\n{}", gone.join("\n"));
}

#[test]
fn crates_depend_only_on_those_above_them() {
    let order = table(&text(&workspace().join("ARCHITECTURE.md")));
    let place: BTreeMap<&str, usize> =
        order.iter().enumerate().map(|(place, name)| (name.as_str(), place)).collect();
    let dependency = Regex::new(r"(?m)^(sinew-[a-z]+)[ .=]").expect("a pattern");
    for krate in crates() {
        let manifest = text(&workspace().join("crates").join(&krate).join("Cargo.toml"));
        let shipped = manifest.split("[dev-dependencies]").next().unwrap_or_default();
        for found in dependency.captures_iter(shipped) {
            let below = place[krate.as_str()] > place[&found[1]];
            assert!(below && &found[1] != "sinew-testkit", "{krate} depends on {}", &found[1]);
        }
    }
}

#[test]
fn every_crate_states_what_it_promises_and_leaves_out() {
    for krate in crates().into_iter().filter(|krate| krate != "sinew-cli") {
        let head: String = text(&source(&krate).join("lib.rs"))
            .lines()
            .take_while(|line| line.starts_with("//!"))
            .collect::<Vec<_>>()
            .join("\n");
        let promises = head.contains("**Promise") || head.contains("**Invariant");
        assert!(promises, "the head of {krate} promises nothing");
        assert!(
            head.contains("**Left out on purpose:**"),
            "the head of {krate} leaves nothing out"
        );
    }
}

#[test]
fn every_file_says_what_it_is_for() {
    let mut silent = Vec::new();
    for krate in crates() {
        let mut files = Vec::new();
        rust_files(&source(&krate), &mut files);
        let commands = source("sinew-cli").join("commands");
        for file in files {
            // The help text of a command is its doc comment.
            if !text(&file).starts_with("//!") && !file.starts_with(&commands) {
                silent.push(file.strip_prefix(workspace()).expect("inside").display().to_string());
            }
        }
    }
    assert!(silent.is_empty(), "without a module comment:\n{}", silent.join("\n"));
}

#[test]
fn a_type_name_leads_to_one_place() {
    let definition =
        Regex::new(r"(?m)^(?:pub(?:\([^)]*\))? )?(?:struct|enum|trait|type|union) ([A-Z]\w*)")
            .expect("a pattern");
    let mut places: BTreeMap<String, BTreeSet<PathBuf>> = BTreeMap::new();
    for krate in crates() {
        let mut files = Vec::new();
        rust_files(&source(&krate), &mut files);
        for file in files {
            for found in definition.captures_iter(&text(&file)) {
                places.entry(found[1].to_owned()).or_default().insert(file.clone());
            }
        }
    }
    let shared: Vec<_> = places.into_iter().filter(|(_, files)| files.len() > 1).collect();
    assert!(shared.is_empty(), "defined more than once: {shared:#?}");
}

#[test]
fn no_room_is_named_after_a_participle_or_a_pronoun() {
    const RIDDLES: [&str; 14] = [
        "found", "asked", "kept", "keep", "said", "told", "shown", "around", "by", "seek", "shelf",
        "place", "looked", "known",
    ];
    for krate in crates() {
        let mut files = Vec::new();
        rust_files(&source(&krate), &mut files);
        for file in files {
            let stem = file.file_stem().unwrap_or_default().to_string_lossy();
            assert!(!RIDDLES.contains(&stem.as_ref()), "{}", file.display());
        }
    }
}

/// The hub hands its authority to the crate that opens it. Only the engine's policy check does, so no
/// surface can permit a change.
#[test]
fn only_the_policy_check_holds_the_authority_over_the_hub() {
    let policy = source("sinew-engine").join("hub/policy.rs");
    let opens = Regex::new(r"\bHubAuthority\b|\bHub::(open|with_limits)\(").expect("a pattern");
    let mut opened = Vec::new();
    for krate in crates().into_iter().filter(|krate| krate != "sinew-hub") {
        let mut files = Vec::new();
        rust_files(&source(&krate), &mut files);
        opened.extend(files.into_iter().filter(|file| opens.is_match(&text(file))));
    }
    assert_eq!(opened, [policy]);
}
