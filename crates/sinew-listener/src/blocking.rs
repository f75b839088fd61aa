//! Work that waits for files and the database, away from the threads that serve sockets.

use tokio::sync::oneshot;

/// Does `work` on a thread that may block. `None` where it panicked; the panic is on standard error.
///
/// The runtime gets a boxed closure and the answer comes over a channel, so that the code of a task
/// is compiled once instead of once for each kind of request.
pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (answer, answered) = oneshot::channel();
    let boxed: Box<dyn FnOnce() + Send> = Box::new(move || {
        // The caller may no longer be waiting; the work is done all the same.
        let _ = answer.send(work());
    });
    tokio::task::spawn_blocking(boxed);
    answered.await.ok()
}
