//! Real processes: groups, limits, signals, output.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::{Duration, Instant};

use sinew_exec::ProcessSignal;
use sinew_exec::child::{
    ExitCause, FinishedProgram, OutputStream, ProcessControl, ProgramLimits, ProgramSpec,
    ProgramStartError, StdinMode, StdoutMode, locate, run,
};
use sinew_testkit::TestMachine;

use crate::support::no_secrets;

fn shell(script: &str, limits: ProgramLimits) -> ProgramSpec {
    ProgramSpec {
        file: "/bin/sh".into(),
        args: vec!["-c".into(), script.into()],
        env: BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]),
        cwd: "/".into(),
        stdin: StdinMode::Null,
        stdout: StdoutMode::Keep,
        limits,
    }
}

fn ended(script: &str, limits: ProgramLimits) -> FinishedProgram {
    run(shell(script, limits), &ProcessControl::default(), &mut |_, _| {}).expect("sh starts")
}

fn within(time: Duration) -> ProgramLimits {
    ProgramLimits { time: Some(time), ..ProgramLimits::default() }
}

fn is_alive(pid: &str) -> bool {
    // A process that is not reaped yet is dead all the same.
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or_default().trim().starts_with('Z'))
}

fn wait_until(what: &str, done: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(10);
    while !done() {
        assert!(Instant::now() < until, "waited too long until {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn output_and_exit_come_back() {
    let ended = ended("echo out; echo err >&2; exit 3", ProgramLimits::default());
    assert_eq!(ended.how, ExitCause::Exit(3));
    assert_eq!(ended.stdout.text(&no_secrets()), "out\n");
    assert_eq!(ended.stderr.text(&no_secrets()), "err\n");
    assert_eq!(ended.forwarded, None);
}

#[test]
fn the_environment_is_exactly_what_was_given() {
    let ended = ended("/usr/bin/env | /usr/bin/sort", ProgramLimits::default());
    let text = ended.stdout.text(&no_secrets());
    let names: Vec<&str> = text.lines().filter_map(|line| line.split('=').next()).collect();
    // The shell adds some variables of its own.
    let ours: Vec<&&str> =
        names.iter().filter(|name| !["PWD", "OLDPWD", "SHLVL", "_"].contains(name)).collect();
    assert_eq!(ours, [&"PATH"]);
}

#[test]
fn a_program_that_takes_too_long_ends_with_its_children() {
    let machine = TestMachine::new();
    let file = machine.path("pid");
    let script = format!("sleep 600 & echo $! > {}; sleep 600", file.display());
    let ended = ended(&script, within(Duration::from_millis(400)));
    assert_eq!(ended.how, ExitCause::TimedOut);
    let child = std::fs::read_to_string(&file).expect("the child was started");
    wait_until("the child is gone", || !is_alive(child.trim()));
}

#[test]
fn a_program_that_ignores_the_request_is_made_to_end() {
    let ended =
        ended("trap '' TERM; while :; do sleep 0.1; done", within(Duration::from_millis(200)));
    assert_eq!(ended.how, ExitCause::TimedOut);
    assert!(ended.took >= Duration::from_secs(2), "it is given time to end by itself");
}

#[test]
fn silence_and_noise_have_limits() {
    let quiet =
        ProgramLimits { silence: Some(Duration::from_millis(300)), ..ProgramLimits::default() };
    assert_eq!(ended("echo one; sleep 600", quiet).how, ExitCause::Silent);
    assert_eq!(
        ended("for i in 1 2 3 4 5 6; do echo $i; sleep 0.1; done", quiet).how,
        ExitCause::Exit(0)
    );
    let loud = ProgramLimits { output: Some(10_000), ..ProgramLimits::default() };
    assert_eq!(ended("yes", loud).how, ExitCause::TooMuchOutput);
}

#[test]
fn much_output_is_streamed_and_bounded() {
    let mut seen = 0_u64;
    let program =
        shell("head -c 3000000 /dev/zero; head -c 100 /dev/zero >&2", ProgramLimits::default());
    let ended = run(program, &ProcessControl::default(), &mut |stream, bytes| {
        seen += if stream == OutputStream::Out { bytes.len() as u64 } else { 0 };
    })
    .expect("sh starts");
    assert_eq!((seen, ended.stdout.total(), ended.stderr.total()), (3_000_000, 3_000_000, 100));
}

#[test]
fn a_daemon_that_keeps_the_output_open_does_not_keep_us() {
    let machine = TestMachine::new();
    let file = machine.path("pid");
    let script = format!("sleep 5 & echo $! > {}; echo done", file.display());
    let ended = ended(&script, ProgramLimits::default());
    assert_eq!(ended.how, ExitCause::Exit(0));
    assert_eq!(ended.stdout.text(&no_secrets()), "done\n");
    // It was started in the background on purpose, so it lives on.
    let child = std::fs::read_to_string(&file).expect("the child was started");
    assert!(is_alive(child.trim()));
}

#[test]
fn signals_reach_the_whole_group() {
    let control = ProcessControl::default();
    let script = "trap 'echo got it; exit 7' TERM; echo ready; while :; do sleep 0.05; done";
    let other = control.clone();
    let ended = run(shell(script, ProgramLimits::default()), &control, &mut |_, bytes| {
        if bytes.starts_with(b"ready") {
            other.signal(ProcessSignal::Terminate);
        }
    })
    .expect("sh starts");
    assert_eq!(ended.how, ExitCause::Exit(7));
    assert_eq!(ended.forwarded, Some(ProcessSignal::Terminate));
    assert!(ended.stdout.text(&no_secrets()).contains("got it"));
    assert_eq!(control.last_signal(), Some(ProcessSignal::Terminate));
}

#[test]
fn a_program_that_is_killed_says_so() {
    let ended = ended("kill -KILL $$", ProgramLimits::default());
    assert_eq!(ended.how, ExitCause::Signal(9));
}

#[test]
fn a_panic_of_the_observer_leaves_no_process_behind() {
    let machine = TestMachine::new();
    let file = machine.path("pid");
    let script = format!("echo $$ > {}; echo ready; sleep 600", file.display());
    let result = catch_unwind(AssertUnwindSafe(|| {
        run(shell(&script, ProgramLimits::default()), &ProcessControl::default(), &mut |_, _| {
            panic!("observer")
        })
    }));
    assert!(result.is_err());
    let child = std::fs::read_to_string(&file).expect("it ran");
    assert!(!is_alive(child.trim()));
}

#[test]
fn bytes_can_be_given_and_need_not_be_read() {
    let with = |script: &str, bytes: usize| {
        let stdin = StdinMode::Bytes(vec![b'x'; bytes]);
        let program = ProgramSpec { stdin, ..shell(script, ProgramLimits::default()) };
        run(program, &ProcessControl::default(), &mut |_, _| {}).expect("sh starts")
    };
    assert_eq!(with("wc -c", 300_000).stdout.text(&no_secrets()).trim(), "300000");
    assert_eq!(with("exit 0", 300_000).how, ExitCause::Exit(0));
}

#[test]
fn programs_are_found_on_the_childs_own_path() {
    let machine = TestMachine::new().script("tool", "echo tool").file("bin/data", "x");
    let env = machine.environment();
    let find = |word: &str, vars: &BTreeMap<String, String>| {
        locate(word.as_ref(), vars, &machine.path("work"), &env).ok()
    };
    assert_eq!(find("tool", &env.vars), Some(machine.path("bin/tool")));
    assert_eq!(find("data", &env.vars), None);
    assert_eq!(find("tool", &BTreeMap::new()), None);
    assert_eq!(find("../bin/tool", &BTreeMap::new()), Some(machine.path("work/../bin/tool")));
    assert_eq!(find("./tool", &env.vars), None);
    assert!(matches!(
        locate("nosuch".as_ref(), &env.vars, &machine.path("work"), &env),
        Err(ProgramStartError::NotFound(name)) if name == "nosuch"
    ));
}

#[test]
fn a_file_that_is_no_program_cannot_be_started() {
    let machine = TestMachine::new().file("bin/data", "x");
    let program =
        ProgramSpec { file: machine.path("bin/data"), ..shell("", ProgramLimits::default()) };
    let error = run(program, &ProcessControl::default(), &mut |_, _| {}).expect_err("no program");
    assert!(matches!(error, ProgramStartError::Refused { .. }), "{error}");
}
