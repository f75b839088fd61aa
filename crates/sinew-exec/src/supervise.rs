//! Supervising a program until it has ended: one loop over its output, its state, signals and time.

use std::process::{Child, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::child::{ExitCause, FinishedProgram, OutputStream, ProgramLimits};
use crate::output_excerpt::OutputExcerpt;
use crate::process_group::{LeaderEvent, ProcessGroup, ProcessSignal};
#[cfg(unix)]
use crate::terminal::TerminalLoan;

/// How long a program may take to end by itself before it is killed.
const GRACE: Duration = Duration::from_secs(2);
/// How long output is still read from children that outlive their leader.
const LINGER: Duration = Duration::from_millis(250);
/// How long to wait if nothing is due; where the system cannot wait for a child, it is polled this
/// often.
const IDLE: Duration =
    if cfg!(unix) { Duration::from_secs(3600) } else { Duration::from_millis(20) };

/// What can happen while a program runs.
#[derive(Debug)]
pub(crate) enum ChildEvent {
    Chunk(OutputStream, Vec<u8>),
    Closed,
    Seen(LeaderEvent),
    Signal(ProcessSignal),
}

/// A running program. If this is dropped before the program has ended, by a panic or an error, the
/// program is killed.
#[derive(Debug)]
pub(crate) struct RunningProgram {
    child: Child,
    group: ProcessGroup,
    reaped: bool,
    #[cfg(unix)]
    lent: Option<TerminalLoan>,
}

impl RunningProgram {
    pub(crate) fn new(child: Child, group: ProcessGroup, terminal: bool) -> Self {
        #[cfg(not(unix))]
        let _ = terminal;
        Self {
            child,
            group,
            reaped: false,
            #[cfg(unix)]
            lent: terminal.then(|| TerminalLoan::lend(group)).flatten(),
        }
    }

    fn stopped(&self) {
        #[cfg(unix)]
        if let Some(lent) = &self.lent {
            lent.stop_together();
        }
    }

    /// It used the terminal just before it was lent; now it may use it.
    fn wants_terminal(&self) {
        #[cfg(unix)]
        if let Some(lent) = &self.lent {
            lent.hand_over();
        }
    }

    /// Whether it has ended, where the system cannot wait for it.
    fn has_ended(&mut self) -> bool {
        !cfg!(unix) && self.child.try_wait().is_ok_and(|status| status.is_some())
    }

    fn reap(mut self) -> Option<ExitStatus> {
        self.reaped = true;
        self.child.wait().ok()
    }
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        if !self.reaped {
            self.group.signal(ProcessSignal::Kill);
            let _ = self.child.wait();
        }
    }
}

/// Why and since when a program is being stopped.
struct ProgramEnding {
    how: ExitCause,
    kill_at: Instant,
    killed: bool,
}

pub(crate) fn supervise(
    mut running: RunningProgram,
    events: &Receiver<ChildEvent>,
    limits: ProgramLimits,
    mut open: usize,
    observe: &mut dyn FnMut(OutputStream, &[u8]),
) -> FinishedProgram {
    let started = Instant::now();
    let mut heard = started;
    let mut ended: Option<Instant> = None;
    let mut ending: Option<ProgramEnding> = None;
    let mut forwarded = None;
    let (mut stdout, mut stderr) = (OutputExcerpt::default(), OutputExcerpt::default());
    while ended.is_none() || open > 0 {
        let now = Instant::now();
        if ended.is_some_and(|at| at + LINGER <= now) {
            break;
        }
        let loudest = stdout.total().max(stderr.total());
        if ended.is_none()
            && ending.is_none()
            && let Some(how) = exceeded(&limits, now - started, now - heard, loudest)
        {
            running.group.signal(ProcessSignal::Terminate);
            ending = Some(ProgramEnding { how, kill_at: now + GRACE, killed: false });
        }
        if let Some(ending) =
            ending.as_mut().filter(|ending| !ending.killed && ending.kill_at <= now)
        {
            running.group.signal(ProcessSignal::Kill);
            ending.killed = true;
        }
        let due = [
            ended.map(|at| at + LINGER),
            ending.as_ref().filter(|ending| !ending.killed).map(|ending| ending.kill_at),
            limits.time.filter(|_| ending.is_none()).map(|limit| started + limit),
            limits.silence.filter(|_| ending.is_none()).map(|limit| heard + limit),
        ];
        let due = due.into_iter().flatten().min();
        let wait = due.map_or(IDLE, |due| due.saturating_duration_since(now).min(IDLE));
        match events.recv_timeout(wait) {
            Ok(ChildEvent::Chunk(stream, bytes)) => {
                heard = Instant::now();
                let excerpt = if stream == OutputStream::Out { &mut stdout } else { &mut stderr };
                excerpt.push(&bytes);
                observe(stream, &bytes);
            }
            Ok(ChildEvent::Closed) => open -= 1,
            Ok(ChildEvent::Seen(LeaderEvent::Ended)) => ended = Some(Instant::now()),
            Ok(ChildEvent::Seen(LeaderEvent::Stopped)) => running.stopped(),
            Ok(ChildEvent::Seen(LeaderEvent::WantsTerminal)) => running.wants_terminal(),
            Ok(ChildEvent::Signal(signal)) => {
                running.group.signal(signal);
                forwarded = Some(signal);
            }
            Err(RecvTimeoutError::Timeout) => {
                if ended.is_none() && running.has_ended() {
                    ended = Some(Instant::now());
                }
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    if ending.is_some() {
        // Kills children that ignored the first request, before the leader's pid is released.
        running.group.signal(ProcessSignal::Kill);
    }
    let took = started.elapsed();
    let status = running.reap();
    let how = ending.map_or_else(|| how(status), |ending| ending.how);
    FinishedProgram { how, forwarded, stdout, stderr, took }
}

fn exceeded(
    limits: &ProgramLimits,
    ran: Duration,
    silent: Duration,
    bytes: u64,
) -> Option<ExitCause> {
    if limits.time.is_some_and(|limit| ran >= limit) {
        Some(ExitCause::TimedOut)
    } else if limits.silence.is_some_and(|limit| silent >= limit) {
        Some(ExitCause::Silent)
    } else if limits.output.is_some_and(|limit| bytes > limit) {
        Some(ExitCause::TooMuchOutput)
    } else {
        None
    }
}

/// The exit code used where the system does not report how the program ended.
const UNKNOWN: i32 = 255;

fn how(status: Option<ExitStatus>) -> ExitCause {
    let Some(status) = status else { return ExitCause::Exit(UNKNOWN) };
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt as _;
        if let Some(signal) = status.signal() {
            return ExitCause::Signal(signal);
        }
    }
    ExitCause::Exit(status.code().unwrap_or(UNKNOWN))
}
