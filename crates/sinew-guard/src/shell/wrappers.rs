//! Wrappers: programs whose arguments are another command line.

use super::{ShellWord, base_name};

/// A program that runs what follows it.
struct Wrapper {
    name: &'static str,
    /// A word that must follow: `exec` for `docker`.
    verb: &'static str,
    /// Options that take the next word.
    with_value: &'static [&'static str],
    /// Words after the options that are not yet the command: a duration, a container.
    operands: usize,
}

const fn plain(
    name: &'static str,
    with_value: &'static [&'static str],
    operands: usize,
) -> Wrapper {
    Wrapper { name, verb: "", with_value, operands }
}

/// Options in lower case too, because folded text has no other.
const WRAPPERS: &[Wrapper] = &[
    plain(
        "sudo",
        &[
            "-u", "-g", "-h", "-p", "-C", "-c", "-T", "-t", "-r", "-U", "-D", "-R", "--user",
            "--group", "--chdir",
        ],
        0,
    ),
    plain("doas", &["-u", "-C", "-c"], 0),
    plain("pkexec", &["--user"], 0),
    plain("env", &["-u", "-C", "-c", "--unset", "--chdir"], 0),
    plain("timeout", &["-s", "-k", "--signal", "--kill-after"], 1),
    plain("gtimeout", &["-s", "-k"], 1),
    plain("nice", &["-n", "--adjustment"], 0),
    plain("ionice", &["-c", "-n", "--class", "--classdata"], 0),
    plain("chrt", &[], 1),
    plain("taskset", &["-c"], 1),
    plain("nohup", &[], 0),
    plain("setsid", &[], 0),
    plain("stdbuf", &["-i", "-o", "-e"], 0),
    plain("unbuffer", &[], 0),
    plain("time", &["-f", "-o"], 0),
    plain("command", &[], 0),
    plain("builtin", &[], 0),
    plain("exec", &["-a"], 0),
    plain("busybox", &[], 0),
    plain("toybox", &[], 0),
    plain(
        "xargs",
        &[
            "-I",
            "-i",
            "-n",
            "-P",
            "-p",
            "-L",
            "-l",
            "-d",
            "-a",
            "-E",
            "-e",
            "-s",
            "--max-args",
            "--max-procs",
            "--delimiter",
            "--arg-file",
        ],
        0,
    ),
    plain("parallel", &["-j", "--jobs", "-n"], 0),
    plain("chroot", &[], 1),
    plain("flock", &["-w", "-c"], 1),
    plain("gosu", &[], 1),
    plain("su-exec", &[], 1),
    plain("runuser", &["-u"], 0),
    plain("strace", &["-o", "-e", "-p", "-s"], 0),
    plain("watch", &["-n", "--interval"], 0),
    plain("unshare", &[], 0),
    plain("nsenter", &["-t"], 0),
    plain("fakeroot", &[], 0),
    plain("proxychains", &["-f"], 0),
    plain("proxychains4", &["-f"], 0),
    plain("torsocks", &[], 0),
    plain("caffeinate", &["-t", "-w"], 0),
    plain("arch", &[], 0),
    plain("dbus-run-session", &[], 0),
    plain("systemd-run", &["-p", "-u", "--unit", "--property"], 0),
    plain("rlwrap", &[], 0),
    plain("winpty", &[], 0),
    plain("setarch", &[], 1),
    Wrapper { name: "docker", verb: "exec", with_value: CONTAINER, operands: 1 },
    Wrapper { name: "docker", verb: "run", with_value: CONTAINER, operands: 1 },
    Wrapper { name: "podman", verb: "exec", with_value: CONTAINER, operands: 1 },
    Wrapper { name: "podman", verb: "run", with_value: CONTAINER, operands: 1 },
    Wrapper { name: "lxc", verb: "exec", with_value: &[], operands: 1 },
    Wrapper {
        name: "kubectl",
        verb: "exec",
        with_value: &["-n", "-c", "--namespace", "--container"],
        operands: 1,
    },
    Wrapper {
        name: "uv",
        verb: "run",
        with_value: &["--with", "--python", "-p", "--directory"],
        operands: 0,
    },
    Wrapper { name: "poetry", verb: "run", with_value: &[], operands: 0 },
    Wrapper { name: "pipenv", verb: "run", with_value: &[], operands: 0 },
    Wrapper { name: "bundle", verb: "exec", with_value: &[], operands: 0 },
    Wrapper { name: "conda", verb: "run", with_value: &["-n", "-p"], operands: 0 },
];

const CONTAINER: &[&str] = &[
    "-e",
    "-u",
    "-w",
    "-v",
    "-p",
    "-l",
    "-h",
    "-m",
    "--env",
    "--user",
    "--workdir",
    "--volume",
    "--name",
    "--network",
    "--entrypoint",
    "--mount",
    "--platform",
    "--env-file",
];

/// Wrappers around one command; more are not written by hand.
const MAX_WRAPPERS: usize = 16;

/// How many words stand before the program.
pub(super) fn count(words: &[ShellWord]) -> usize {
    let mut at = 0;
    for _ in 0..MAX_WRAPPERS {
        match after_wrapper(words, at) {
            Some(next) if next < words.len() => at = next,
            _ => break,
        }
    }
    at
}

/// Where the command that the wrapper at `at` runs begins.
fn after_wrapper(words: &[ShellWord], at: usize) -> Option<usize> {
    let name = base_name(&words.get(at)?.text);
    let verb = words.get(at + 1).map_or("", |word| word.text.as_str());
    let wrapper = WRAPPERS.iter().find(|wrapper| {
        wrapper.name == name && (wrapper.verb.is_empty() || wrapper.verb == verb)
    })?;
    let mut at = at + 1 + usize::from(!wrapper.verb.is_empty());
    while let Some(word) = words.get(at) {
        let text = word.text.as_str();
        if text == "--" {
            at += 1;
            break;
        }
        let is_assignment =
            matches!(name, "env" | "sudo" | "doas") && text.contains('=') && !text.starts_with('-');
        if wrapper.with_value.contains(&text) {
            at += 2;
        } else if word.is_flag() || is_assignment {
            at += 1;
        } else {
            break;
        }
    }
    at += wrapper.operands;
    // `kubectl exec pod -- sh`
    if words.get(at).is_some_and(|word| word.text == "--") {
        at += 1;
    }
    Some(at)
}
