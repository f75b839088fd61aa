//! Process groups: a program and everything it started end together.
//!
//! The leader is waited for without being reaped, so that its pid cannot be reused while the group
//! is still being signalled. A program that leaves the group (a daemon) cannot be reached.

use std::io;
use std::process::{Child, Command};

/// A signal that is forwarded to a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessSignal {
    /// Ctrl-C.
    Interrupt,
    /// A request to end.
    Terminate,
    /// The terminal went away.
    Hangup,
    /// Ctrl-\.
    Quit,
    /// A kill that the program cannot ignore.
    Kill,
}

/// What happened to a leader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeaderEvent {
    /// It ended and waits to be reaped.
    Ended,
    /// It was stopped, as by Ctrl-Z.
    Stopped,
    /// It was stopped because it used a terminal that was not yet lent to it.
    WantsTerminal,
}

pub(crate) use imp::{ProcessGroup, prepare};

#[cfg(unix)]
mod imp {
    use std::os::unix::process::CommandExt as _;

    use rustix::process::{self, Pid, WaitId, WaitIdOptions};

    use super::{Child, Command, LeaderEvent, ProcessSignal, io};

    /// A process group, identified by its leader.
    #[derive(Debug, Clone, Copy)]
    pub(crate) struct ProcessGroup(pub(crate) Pid);

    /// Makes the child the leader of its own group.
    pub(crate) fn prepare(command: &mut Command) {
        command.process_group(0);
    }

    impl ProcessGroup {
        pub(crate) fn of(child: &Child) -> Self {
            Self(Pid::from_child(child))
        }

        /// Signals every process of the group; processes that have already ended are ignored.
        pub(crate) fn signal(self, signal: ProcessSignal) {
            let signal = match signal {
                ProcessSignal::Interrupt => process::Signal::INT,
                ProcessSignal::Terminate => process::Signal::TERM,
                ProcessSignal::Hangup => process::Signal::HUP,
                ProcessSignal::Quit => process::Signal::QUIT,
                ProcessSignal::Kill => process::Signal::KILL,
            };
            let _ = process::kill_process_group(self.0, signal);
        }

        /// Waits until the leader ends or stops, without reaping it.
        pub(crate) fn wait_for_leader(self) -> io::Result<LeaderEvent> {
            let options = WaitIdOptions::EXITED | WaitIdOptions::STOPPED | WaitIdOptions::NOWAIT;
            loop {
                match process::waitid(WaitId::Pid(self.0), options) {
                    Ok(Some(status)) if status.stopped() => {
                        // Consume the event, or the same stop would be reported for ever.
                        process::waitid(WaitId::Pid(self.0), WaitIdOptions::STOPPED)?;
                        let terminal = [process::Signal::TTIN, process::Signal::TTOU];
                        let by = status.stopping_signal();
                        return Ok(match terminal.iter().any(|s| by == Some(s.as_raw())) {
                            true => LeaderEvent::WantsTerminal,
                            false => LeaderEvent::Stopped,
                        });
                    }
                    Ok(_) => return Ok(LeaderEvent::Ended),
                    Err(rustix::io::Errno::INTR) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
    }
}

/// Windows has no such groups; the system's own tool ends a program with its children.
#[cfg(not(unix))]
mod imp {
    use super::{Child, Command, LeaderEvent, ProcessSignal, io};

    /// A program and its children, identified by the pid.
    #[derive(Debug, Clone, Copy)]
    pub(crate) struct ProcessGroup(u32);

    pub(crate) fn prepare(_command: &mut Command) {}

    impl ProcessGroup {
        pub(crate) fn of(child: &Child) -> Self {
            Self(child.id())
        }

        pub(crate) fn signal(self, _signal: ProcessSignal) {
            let number = self.0.to_string();
            let _ = Command::new("taskkill").args(["/PID", &number, "/T", "/F"]).output();
        }

        /// Waiting by pid is not possible here; the supervisor polls the child instead.
        pub(crate) fn wait_for_leader(self) -> io::Result<LeaderEvent> {
            Err(io::ErrorKind::Unsupported.into())
        }
    }
}
