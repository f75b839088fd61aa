//! Work that waits for files and the database, away from the threads that serve sockets.

use tokio::sync::oneshot;

/// Does `work` on a thread that may wait. `None` where it panicked; the process says why.
///
/// What is handed to the runtime is a box, and the answer takes a way of its own: the machinery of
/// a task is then compiled once instead of once for every request that there is.
pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (answer, answered) = oneshot::channel();
    let boxed: Box<dyn FnOnce() + Send> = Box::new(move || {
        // The caller may no longer be waiting; the work is done all the same.
        let _ = answer.send(work());
    });
    tokio::task::spawn_blocking(boxed);
    answered.await.ok()
}
