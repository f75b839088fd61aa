//! Signals that this process receives, handed on to the programs that it runs.

use sinew_exec::child::ProcessControl;

/// Hands signals on from now on. Until the program ends, they no longer end us: the command that runs
/// decides, and we tell how it went.
#[cfg(unix)]
pub(crate) fn forward(control: &ProcessControl) {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    use sinew_exec::ProcessSignal;

    // Without handlers a signal ends us, and the child with the terminal: as bad as it was.
    let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM])
    else {
        return;
    };
    let control = control.clone();
    std::thread::spawn(move || {
        for signal in signals.forever() {
            control.signal(match signal {
                SIGHUP => ProcessSignal::Hangup,
                SIGINT => ProcessSignal::Interrupt,
                SIGQUIT => ProcessSignal::Quit,
                _ => ProcessSignal::Terminate,
            });
        }
    });
}

/// The console tells every program that is attached to it.
#[cfg(not(unix))]
pub(crate) fn forward(_control: &ProcessControl) {}
