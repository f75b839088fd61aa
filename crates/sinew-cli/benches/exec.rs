//! What `sinew exec` adds to a command: goal ≤ 5 ms, beside `env -i` with the same command.
//!
//! `cargo bench -p sinew-cli --bench exec`

#![allow(clippy::print_stdout, reason = "a bench reports")]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sinew_testkit::TestMachine;

const ROUNDS: usize = 101;
const GOAL: Duration = Duration::from_millis(5);

fn main() {
    let machine = TestMachine::new().skill("work/skills/demo", "demo");
    let plain = || {
        let mut command = Command::new("env");
        command.args(["-i", "/bin/true"]);
        command
    };
    let exec = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
        command
            .args(["exec", "demo", "--region", "bench", "--", "/bin/true"])
            .env_clear()
            .env("HOME", machine.path("home"))
            .env("PATH", "/usr/bin:/bin")
            .env("SINEW_BUNDLED_SKILLS_DIR", machine.path("bundled"))
            .current_dir(machine.path("work"));
        command
    };
    time(exec());
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        without.push(time(plain()));
        with.push(time(exec()));
    }
    let (without, with) = (median(without), median(with));
    let added = with.saturating_sub(without);
    println!("env -i true      {without:.2?}");
    println!(
        "sinew exec true  {with:.2?}, {added:.2?} more (goal {GOAL:.0?}), {:.1} x",
        ratio(with, without)
    );
}

fn time(mut command: Command) -> Duration {
    let start = Instant::now();
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    assert!(status.is_ok_and(|status| status.success()));
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn ratio(a: Duration, b: Duration) -> f64 {
    a.as_secs_f64() / b.as_secs_f64()
}
