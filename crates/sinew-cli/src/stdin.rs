//! Standard input of a command that may have to be run twice.
//!
//! A command gets our own standard input, untouched. Before it is run again, what it read must be
//! there again: a second request with an empty body is worse than none.

use std::io::{self, IsTerminal as _};

use sinew_exec::child::StdinMode;

pub(crate) use imp::RewindableStdin;

/// What a command reads: the terminal is lent to it.
pub(crate) fn stdin() -> StdinMode {
    if io::stdin().is_terminal() { StdinMode::Terminal } else { StdinMode::Inherit }
}

#[cfg(unix)]
mod imp {
    use std::fs::File;
    use std::io::{self, Seek as _, SeekFrom};
    use std::os::fd::AsFd as _;
    use std::os::unix::fs::FileTypeExt as _;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    /// Standard input as it was before the command.
    #[derive(Debug)]
    pub(crate) enum RewindableStdin {
        /// A terminal, a device such as `/dev/null`, or nothing.
        Free,
        /// A file, and where in it we stood.
        File(File, u64),
        /// A pipe or a socket.
        Pipe,
        /// A pipe that had ended before the command began.
        Ended,
    }

    impl RewindableStdin {
        pub(crate) fn of_process() -> Self {
            let Ok(handle) = io::stdin().as_fd().try_clone_to_owned() else { return Self::Free };
            let mut file = File::from(handle);
            let Ok(kind) = file.metadata().map(|metadata| metadata.file_type()) else {
                return Self::Free;
            };
            if kind.is_char_device() {
                return Self::Free;
            }
            match file.stream_position() {
                Ok(position) if kind.is_file() => Self::File(file, position),
                _ if state().is_empty_and_closed() => Self::Ended,
                _ => Self::Pipe,
            }
        }

        /// Puts the input back; `false` where that cannot be done.
        pub(crate) fn rewind(&mut self) -> bool {
            match self {
                Self::Free | Self::Ended => true,
                Self::File(file, position) => file.seek(SeekFrom::Start(*position)).is_ok(),
                // While its writer is open the end cannot have been read, so a command that needs
                // the whole input has not read it.
                Self::Pipe => !state().closed,
            }
        }
    }

    struct StdinState {
        readable: bool,
        closed: bool,
    }

    impl StdinState {
        fn is_empty_and_closed(&self) -> bool {
            self.closed && !self.readable
        }
    }

    fn state() -> StdinState {
        let stdin = io::stdin();
        let mut asked = [PollFd::new(&stdin, PollFlags::IN)];
        if poll(&mut asked, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_err() {
            return StdinState { readable: true, closed: true };
        }
        let found = asked[0].revents();
        StdinState {
            readable: found.contains(PollFlags::IN),
            closed: found.intersects(PollFlags::HUP | PollFlags::ERR),
        }
    }
}

#[cfg(not(unix))]
mod imp {
    use std::io::{self, IsTerminal as _};

    /// Standard input as it was before the command.
    #[derive(Debug)]
    pub(crate) struct RewindableStdin;

    impl RewindableStdin {
        pub(crate) fn of_process() -> Self {
            Self
        }

        /// Only a terminal can be asked again.
        pub(crate) fn rewind(&mut self) -> bool {
            io::stdin().is_terminal()
        }
    }
}
