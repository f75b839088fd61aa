//! SimHash: runs with nearly the same steps have nearly the same hash.

use sha2::{Digest as _, Sha256};

use crate::program::{base, program, words};
use crate::run::{RunStep, StepAction, StepTarget};

/// Steps that say nothing about what was done.
const IDLE: &[&str] = &["wait", "finish", "runtime_info", "todo_write"];

/// Hashes that differ in more bits belong to different runs.
pub(crate) const NEAR_BITS: u32 = 16;

/// The share of the longer token list that two runs must have in common, in order.
const COMMON_SHARE: f64 = 0.75;

/// Tokens that are compared: the table for more would be large, and no draft shows so many steps.
const COMPARED: usize = 500;

/// One token per step that counts.
pub fn tokens(steps: &[RunStep]) -> Vec<String> {
    steps.iter().filter_map(token).collect()
}

/// The token of a step; none for steps that do nothing.
pub(crate) fn token(step: &RunStep) -> Option<String> {
    let kind = step.action.kind.as_str();
    if IDLE.contains(&kind) || kind.starts_with("journal_") {
        return None;
    }
    Some(format!("{}:{kind}:{}", step.app, shape(&step.action, &step.target)))
}

fn shape(action: &StepAction, target: &StepTarget) -> String {
    match action.kind.as_str() {
        "exec" => command_shape(action.text("command")),
        "read" | "write" | "edit" | "apply_patch" => extension(action.text("path")),
        "launch_app" => action.text("packageName").to_owned(),
        "request_human_auth" => action.text("capability").to_owned(),
        "tap" | "tap_element" if target.inferred => "-".to_owned(),
        "tap" | "tap_element" => {
            let resource = target.resource_id.as_deref().map(base).filter(|id| !id.is_empty());
            let class = target.class_name.as_deref().filter(|class| !class.is_empty());
            resource.or(class).unwrap_or("-").to_owned()
        }
        _ => "-".to_owned(),
    }
}

/// The word after the program's name, and the flags without their values.
fn command_shape(command: &str) -> String {
    let name = program(command);
    let words = words(command);
    let at = words.iter().position(|word| *word == name || base(word) == name);
    let sub = at.and_then(|at| words.get(at + 1)).filter(|word| is_subcommand(word));
    let mut flags: Vec<&str> = words.iter().filter_map(|word| flag(word)).collect();
    flags.sort_unstable();
    flags.dedup();
    format!("{},{}", sub.map(String::as_str).unwrap_or_default(), flags.join(","))
}

fn is_subcommand(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

fn flag(word: &str) -> Option<&str> {
    let bare = word.strip_prefix("--").or_else(|| word.strip_prefix('-'))?;
    bare.starts_with(|c: char| c.is_ascii_alphabetic())
        .then(|| word.split('=').next().unwrap_or(word))
}

fn extension(path: &str) -> String {
    let name = base(path).trim_start_matches('.');
    match name.rsplit_once('.') {
        Some((_, ending)) => format!(".{}", ending.to_lowercase()),
        None => "-".to_owned(),
    }
}

/// The SimHash of a token list.
pub fn simhash(tokens: &[String]) -> u64 {
    let mut sums = [0i64; 64];
    let mut add = |feature: &str, weight: i64| {
        let digest = Sha256::digest(feature.as_bytes());
        let bits = digest.iter().take(8).fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
        for (at, sum) in sums.iter_mut().enumerate() {
            *sum += if bits >> (63 - at) & 1 == 1 { weight } else { -weight };
        }
    };
    for token in tokens {
        add(token, 2);
    }
    for pair in tokens.windows(2) {
        add(&pair.join("\n"), 1);
    }
    sums.iter().fold(0, |hash, sum| hash << 1 | u64::from(*sum > 0))
}

/// A SimHash as hexadecimal text.
pub fn format_simhash(hash: u64) -> String {
    format!("{hash:016x}")
}

/// Whether two token lists are of nearly the same run.
pub fn are_near(a: &[String], b: &[String]) -> bool {
    (simhash(a) ^ simhash(b)).count_ones() <= NEAR_BITS && is_confirmed(a, b)
}

/// Whether enough of the longer list occurs in both, in order.
pub(crate) fn is_confirmed(a: &[String], b: &[String]) -> bool {
    let (a, b) = (&a[..a.len().min(COMPARED)], &b[..b.len().min(COMPARED)]);
    let longer = a.len().max(b.len());
    longer == 0 || common_subsequence(a, b).len() as f64 >= COMMON_SHARE * longer as f64
}

/// A longest common subsequence, as pairs of indices.
pub(crate) fn common_subsequence<T: PartialEq>(a: &[T], b: &[T]) -> Vec<(usize, usize)> {
    let width = b.len() + 1;
    let mut lengths = vec![0u32; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            lengths[i * width + j] = if a[i] == b[j] {
                lengths[(i + 1) * width + j + 1] + 1
            } else {
                lengths[(i + 1) * width + j].max(lengths[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j, mut pairs) = (0, 0, Vec::new());
    while i < a.len() && j < b.len() {
        if a[i] == b[j] {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if lengths[(i + 1) * width + j] >= lengths[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}
