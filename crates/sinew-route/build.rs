//! Turns word lists into sorted tables that are used in place, so that start-up costs nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use rust_stemmers::{Algorithm, Stemmer};

fn main() {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=data");
    lexicon(&here.join("data/lexicon"), &out.join("lexicon.bin"));
    background(&here.join("data/background.tsv"), &out.join("background.bin"));
}

/// Keys are `<language>=<term>` as written and `<language>~<stems>` stemmed; `<language>#` holds
/// the length of the longest term, in words or, where words are not spaced, in characters.
fn lexicon(folder: &Path, out: &Path) {
    let stemmers = BTreeMap::from([
        ("de", Algorithm::German),
        ("es", Algorithm::Spanish),
        ("fr", Algorithm::French),
        ("it", Algorithm::Italian),
        ("pt", Algorithm::Portuguese),
        ("ru", Algorithm::Russian),
    ]);
    let mut table: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .expect("data/lexicon is part of the crate")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "tsv"))
        .collect();
    files.sort();
    for file in files {
        let language = file.file_stem().and_then(|stem| stem.to_str()).expect("a language code");
        let stemmer = stemmers.get(language).map(|&algorithm| Stemmer::create(algorithm));
        let mut longest = 0_u32;
        for line in fs::read_to_string(&file).expect("UTF-8").lines() {
            let Some((term, english)) = line.split_once('\t') else { continue };
            let term = term.trim().to_lowercase();
            if term.is_empty() || english.trim().is_empty() {
                continue;
            }
            let words: Vec<&str> = term.split_whitespace().collect();
            let length = if stemmer.is_some() { words.len() } else { term.chars().count() };
            longest = longest.max(u32::try_from(length).expect("terms are short"));
            let english = english.split_whitespace().collect::<Vec<_>>().join(" ");
            table.insert(format!("{language}={term}").into_bytes(), english.clone().into_bytes());
            if let Some(stemmer) = &stemmer {
                let stems: Vec<_> = words.iter().map(|word| stemmer.stem(word)).collect();
                let key = format!("{language}~{}", stems.join(" ")).into_bytes();
                table.entry(key).or_insert_with(|| english.into_bytes());
            }
        }
        table.insert(format!("{language}#").into_bytes(), longest.to_le_bytes().to_vec());
    }
    fs::write(out, sorted_table(&table)).expect("OUT_DIR is writable");
}

/// `term` → document frequency; the key `#` holds the number of documents.
fn background(file: &Path, out: &Path) {
    let text = fs::read_to_string(file).expect("data/background.tsv is part of the crate");
    let mut table = BTreeMap::new();
    for line in text.lines() {
        let Some((term, count)) = line.split_once('\t') else { continue };
        let Ok(count) = count.trim().parse::<u32>() else { continue };
        let key = if term == "#documents" { "#" } else { term };
        table.insert(key.as_bytes().to_vec(), count.to_le_bytes().to_vec());
    }
    fs::write(out, sorted_table(&table)).expect("OUT_DIR is writable");
}

/// count, key offsets, value offsets (each one longer than the count), keys, values.
fn sorted_table(table: &BTreeMap<Vec<u8>, Vec<u8>>) -> Vec<u8> {
    let mut out = number(table.len()).to_vec();
    for side in [table.keys().collect::<Vec<_>>(), table.values().collect()] {
        let mut at = 0;
        out.extend(number(at));
        for bytes in side {
            at += bytes.len();
            out.extend(number(at));
        }
    }
    table.keys().for_each(|key| out.extend(key));
    table.values().for_each(|value| out.extend(value));
    out
}

fn number(value: usize) -> [u8; 4] {
    u32::try_from(value).expect("tables are small").to_le_bytes()
}
