//! The starting inputs of the fuzz targets, replayed on every run of the tests.

use std::fs;
use std::io::Cursor;
use std::path::Path;

use sinew_settings::config::TypedTextMode;
use sinew_traces::{PrivateNames, TraceAgent, TranscriptOptions, clean, judge_run};

/// Each target, its agent, and what it puts before an input.
const TARGETS: &[(&str, TraceAgent, &str)] = &[
    ("trace_claude_code", TraceAgent::ClaudeCode, ""),
    ("trace_codex", TraceAgent::Codex, ""),
    ("trace_tree", TraceAgent::Openclaw, "{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n"),
    ("trace_pocket", TraceAgent::Openpocket, ""),
    ("trace_markdown", TraceAgent::Openpocket, "# OpenPocket Session\n"),
    ("trace_generic", TraceAgent::Generic, "{\"type\":\"trace\",\"task\":\"t\",\"id\":\"s\"}\n"),
    ("trace_object", TraceAgent::Generic, "{\"task\":\"t\",\"ok\":true,\"traces\":["),
];

#[test]
fn fuzz_seeds_are_read_by_the_reader_they_are_for() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
    for (target, agent, start) in TARGETS {
        let mut runs = 0;
        for entry in fs::read_dir(seeds.join(target)).expect("seeds are in the repo") {
            let seed = fs::read(entry.expect("listable").path()).expect("readable");
            let transcript = [start.as_bytes(), &seed].concat();
            let reading =
                TranscriptOptions { agent: Some(*agent), name: "seed", progress: &|_| {} };
            let read = sinew_traces::read(&mut Cursor::new(transcript), &reading, &mut |run| {
                let _ = judge_run(&run);
                let _ = clean(run, &PrivateNames::default(), TypedTextMode::Parameter);
                runs += 1;
            });
            read.unwrap_or_else(|error| panic!("{target}: {error}"));
        }
        assert!(runs > 0, "{target}");
    }
}
