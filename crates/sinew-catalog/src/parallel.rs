//! Work that is shared between threads only where there is enough of it.

use std::num::NonZero;
use std::thread;

use rayon::prelude::*;

/// Fewer files or folders than this are looked at sooner than a second thread wakes up.
const WORTH_SHARING: usize = 64;

/// What a thread takes on at once: where it has to wait for its core, little waits with it.
const SHARE: usize = 16;

/// Lets this thread do its share of the work instead of waiting for others to do all of it: a process
/// that answers one question needs a thread less, and the memory of that thread's own. Not for a
/// thread that is going to wait for other things.
pub fn use_current_thread() {
    // Alone, it would leave nobody for what other threads hand over.
    if thread::available_parallelism().map_or(1, NonZero::get) > 1 {
        // Where threads are there already, they are as good.
        let _ = rayon::ThreadPoolBuilder::new().use_current_thread().build_global();
    }
}

/// The answer to each item, in the items' order.
pub(crate) fn map<T: Sync, A: Send>(items: &[T], answer: impl Fn(&T) -> A + Sync + Send) -> Vec<A> {
    map_with_buffer(items, |item, _| answer(item))
}

/// The answer to each item, in the items' order, with a buffer that is used again and again.
pub(crate) fn map_with_buffer<T: Sync, A: Send>(
    items: &[T],
    answer: impl Fn(&T, &mut Vec<u8>) -> A + Sync + Send,
) -> Vec<A> {
    if items.len() < WORTH_SHARING {
        let mut buffer = Vec::new();
        return items.iter().map(|item| answer(item, &mut buffer)).collect();
    }
    let shares = items.par_iter().with_max_len(SHARE);
    shares.map_init(Vec::new, |buffer, item| answer(item, buffer)).collect()
}

/// Whether something holds for every item.
pub(crate) fn all<T: Sync>(items: &[T], holds: impl Fn(&T) -> bool + Sync + Send) -> bool {
    if items.len() < WORTH_SHARING {
        return items.iter().all(holds);
    }
    items.par_iter().with_max_len(SHARE).all(holds)
}
