//! Sixteen processes report to one memory, and every report counts.

use std::process::Stdio;

use crate::cortex::support::{World, long, parents_engine, used};

const PROCESSES: usize = 16;
const OUTCOMES: usize = 500;
/// On a server each report is several round trips; the full count is for long runs.
const QUICK: usize = 100;
const REGIONS: usize = 4;

/// Where a process reports to: four of them share each skill.
fn place(process: usize) -> (String, String) {
    (format!("region-{}", process % REGIONS), format!("skill-{}", process % (2 * REGIONS)))
}

#[test]
#[ignore = "started by the tests below"]
fn reporter() {
    let Some(engine) = parents_engine() else { return };
    let process = std::env::var("SINEW_CHILD_NAME").expect("a name").parse().expect("a number");
    let (region, slug) = place(process);
    let cortex = engine.cortex().expect("a cortex");
    let outcomes: usize =
        std::env::var("SINEW_CHILD_COUNT").expect("a count").parse().expect("a number");
    for _ in 0..outcomes {
        cortex.record(&used(&region, &slug)).expect("a record");
    }
}

on_both! {
    fn sixteen_processes_count_every_outcome(world) {
        world.follow_real_time();
        let outcomes = if world.is_file() || long() { OUTCOMES } else { QUICK };
        // The database does not exist yet, so they also race to make it.
        let children: Vec<_> = (0..PROCESSES)
            .map(|process| {
                let mut child = world.child("cortex::processes::reporter");
                child.env("SINEW_CHILD_NAME", process.to_string());
                child.env("SINEW_CHILD_COUNT", outcomes.to_string());
                child.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("a process")
            })
            .collect();
        for child in children {
            let output = child.wait_with_output().expect("its end");
            let told = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && !told.contains("locked"), "{told}");
        }
        check(world, outcomes);
    }
}

fn check(world: &World, outcomes: usize) {
    let engine = world.engine();
    let cortex = engine.cortex().expect("a cortex");
    let memory = cortex.memory().expect("a memory");
    assert_eq!(memory.records, (PROCESSES * outcomes) as u64);
    assert_eq!(memory.outcomes(), (PROCESSES * outcomes) as u64);
    for process in 0..2 * REGIONS {
        let (region, slug) = place(process);
        let candidate = memory.candidate(&region, &slug).expect("a record");
        assert_eq!(candidate.success, (PROCESSES / (2 * REGIONS) * outcomes) as u64, "{slug}");
        assert_eq!(u64::from(candidate.streak), candidate.success);
    }
    assert!(cortex.rebuild().expect("a fold").agreed);
    assert_eq!(cortex.notices(), [] as [&str; 0]);
}
