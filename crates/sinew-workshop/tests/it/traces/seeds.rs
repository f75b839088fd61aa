//! The starting inputs of the fuzz targets, replayed on every run of the tests.

use std::fs;
use std::io::Cursor;
use std::path::Path;

use sinew_workshop::traces::{self, Agent, Private, Reading, Typed, clean, judge};

/// Each target, its agent, and what it puts before an input.
const TARGETS: &[(&str, Agent, &str)] = &[
    ("trace_claude_code", Agent::ClaudeCode, ""),
    ("trace_codex", Agent::Codex, ""),
    ("trace_tree", Agent::Openclaw, "{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n"),
    ("trace_pocket", Agent::Openpocket, ""),
    ("trace_markdown", Agent::Openpocket, "# OpenPocket Session\n"),
    ("trace_generic", Agent::Generic, "{\"type\":\"trace\",\"task\":\"t\",\"id\":\"s\"}\n"),
    ("trace_object", Agent::Generic, "{\"task\":\"t\",\"ok\":true,\"traces\":["),
];

#[test]
fn fuzz_seeds_are_read_by_the_reader_they_are_for() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
    for (target, agent, start) in TARGETS {
        let mut runs = 0;
        for entry in fs::read_dir(seeds.join(target)).expect("seeds are in the repo") {
            let seed = fs::read(entry.expect("listable").path()).expect("readable");
            let transcript = [start.as_bytes(), &seed].concat();
            let reading = Reading { agent: Some(*agent), name: "seed", progress: &|_| {} };
            let read = traces::read(&mut Cursor::new(transcript), &reading, &mut |run| {
                let _ = judge(&run);
                let _ = clean(run, &Private::default(), Typed::Parameter);
                runs += 1;
            });
            read.unwrap_or_else(|error| panic!("{target}: {error}"));
        }
        assert!(runs > 0, "{target}");
    }
}
