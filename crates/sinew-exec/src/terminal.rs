//! Lending the terminal to a child, as a shell does.
//!
//! A child in its own process group can neither read from the terminal nor be reached by Ctrl-C
//! unless its group is the terminal's foreground group. The lender takes the terminal back, even if
//! the child is only stopped.

#[cfg(unix)]
pub(crate) use unix::TerminalLoan;

#[cfg(unix)]
mod unix {
    use std::io;

    use nix::sys::signal::{SigSet, Signal};
    use rustix::process::{self, Pid};
    use rustix::termios::{tcgetpgrp, tcsetpgrp};

    use crate::process_group::ProcessGroup;

    /// The terminal, lent to a child until this is dropped.
    #[derive(Debug)]
    pub(crate) struct TerminalLoan {
        owner: Pid,
        to: Pid,
    }

    impl TerminalLoan {
        /// Lends the terminal of standard input, if this process holds it.
        pub(crate) fn lend(group: ProcessGroup) -> Option<Self> {
            let owner = tcgetpgrp(io::stdin()).ok()?;
            if owner != process::getpgrp() {
                return None;
            }
            let lent = Self { owner, to: group.0 };
            lent.hand_over();
            Some(lent)
        }

        /// Makes the child's group the foreground group, and resumes it if it was stopped while
        /// waiting for that.
        pub(crate) fn hand_over(&self) {
            set_foreground(self.to);
            let _ = process::kill_process_group(self.to, process::Signal::CONT);
        }

        /// The child was stopped: stop as well, so that the shell takes over, and resume together
        /// with it.
        pub(crate) fn stop_together(&self) {
            set_foreground(self.owner);
            let _ = process::kill_process(process::getpid(), process::Signal::STOP);
            self.hand_over();
        }
    }

    impl Drop for TerminalLoan {
        fn drop(&mut self) {
            set_foreground(self.owner);
        }
    }

    /// A background process that does this is stopped, unless it blocks the signal meanwhile.
    fn set_foreground(group: Pid) {
        let mut ours = SigSet::empty();
        ours.add(Signal::SIGTTOU);
        let blocked = ours.thread_block();
        let _ = tcsetpgrp(io::stdin(), group);
        if blocked.is_ok() {
            let _ = ours.thread_unblock();
        }
    }
}
