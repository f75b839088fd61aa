//! No secret of any kind stays behind: not in what is printed, and in no byte of any file that a run,
//! a hook or a correction leaves.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use sinew_testkit::{generic_trace, secret_samples};

use crate::hook::{hook, machine_with, prompt, settle, stop, tool};
use crate::support::sinew;

/// Every byte below a folder: the database with its log, drafts, scripts, spools, logs, the index.
fn bytes_below(root: &Path) -> Vec<u8> {
    let (mut bytes, mut folders) = (Vec::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path: PathBuf = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path);
            } else {
                bytes.extend(path.to_string_lossy().bytes());
                bytes.extend(fs::read(&path).unwrap_or_default());
            }
        }
    }
    bytes
}

/// Steps of one run: a secret that makes it refused keeps others of its run from being tried.
const RUN_STEPS: usize = 12;

#[test]
fn no_secret_of_any_kind_is_left_in_a_byte() {
    let config = "{hook: {deadlineMs: 10000}, plugins: {entries: {'skill-workshop': {enabled: true, config: {approvalPolicy: 'auto'}}}}}";
    let machine = machine_with(config);
    let samples = secret_samples();
    let (mut told, mut learned) = (String::new(), 0);
    for (number, samples) in samples.chunks(RUN_STEPS).enumerate() {
        let mut run = generic_trace(&format!("Look after server number {number}"));
        for (at, sample) in samples.iter().enumerate() {
            run = match at % 2 {
                0 => run.exec(&sample.text),
                _ => run.step_with(
                    json!({"type": "exec", "command": format!("./step-{number}-{at}")}),
                    &sample.text,
                    json!({}),
                ),
            };
        }
        let transcript = machine.path("run.jsonl");
        fs::write(&transcript, run.lines()).expect("a transcript");
        let path = transcript.to_string_lossy().into_owned();
        let answer = sinew(&machine, &["learn", &path]);
        // What still looks like a secret once it is cleaned is refused, and said to be.
        assert!(answer.ends_with("exit 0") || answer.contains("literal secret"), "{answer}");
        learned += usize::from(answer.ends_with("exit 0"));
        told.push_str(&answer);
        told.push_str(&sinew(&machine, &["learn", &path, "--json"]));
        fs::remove_file(&transcript).expect("the input goes");
    }
    assert!(learned * RUN_STEPS * 2 >= samples.len(), "most runs are learned from: {learned}");
    // A session: what users and tools say, live.
    for (at, sample) in samples.iter().enumerate().step_by(16) {
        let mut said = prompt(&format!("from now on, do it like this: {}", sample.text));
        said["prompt_id"] = json!(format!("p{at}"));
        let answer = hook(&machine, "claude-code", said);
        told.push_str(&answer.map(|answer| answer.to_string()).unwrap_or_default());
        let next = &samples[(at + 5) % samples.len()];
        hook(
            &machine,
            "claude-code",
            tool(&format!("t{at}"), "Bash", json!({"command": next.text})),
        );
    }
    let before = bytes_below(&machine.path(""));
    hook(&machine, "claude-code", stop());
    settle(&machine);
    told.push_str(&sinew(&machine, &["workshop", "list", "--json"]));
    told.push_str(&sinew(&machine, &["find", "look after the servers"]));
    let after = bytes_below(&machine.path(""));
    for (place, bytes) in [("the spool", before), ("a file", after), ("the output", told.into())] {
        let text = String::from_utf8_lossy(&bytes);
        let left: Vec<&String> = samples
            .iter()
            .flat_map(|sample| &sample.secrets)
            .filter(|secret| secret.len() > 4 && text.contains(secret.as_str()))
            .collect();
        assert!(left.is_empty(), "{} are left in {place}: {left:?}", left.len());
    }
}
