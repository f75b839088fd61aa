//! Work that is shared between threads only if there is enough of it.

use std::num::NonZero;
use std::thread;

use rayon::prelude::*;

/// Fewer items than this are done before a second thread wakes up.
const WORTH_SHARING: usize = 64;

/// How many items a thread takes at once: if it has to wait for a core, only a few items wait with
/// it.
const SHARE: usize = 16;

/// Lets the current thread do its share of the work instead of waiting for others to do all of it:
/// a process that answers one question needs one thread less, with its memory. Do not call it on a
/// thread that is going to block on other things.
pub fn use_current_thread() {
    // With a single thread, no one would be left for work that other threads hand over.
    if thread::available_parallelism().map_or(1, NonZero::get) > 1 {
        // If a pool already exists, it is just as good.
        let _ = rayon::ThreadPoolBuilder::new().use_current_thread().build_global();
    }
}

/// Maps each item, keeping the order.
pub(crate) fn map<T: Sync, A: Send>(items: &[T], answer: impl Fn(&T) -> A + Sync + Send) -> Vec<A> {
    map_with_buffer(items, |item, _| answer(item))
}

/// Maps each item, keeping the order, with a reusable buffer.
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

/// Whether a predicate holds for every item.
pub(crate) fn all<T: Sync>(items: &[T], holds: impl Fn(&T) -> bool + Sync + Send) -> bool {
    if items.len() < WORTH_SHARING {
        return items.iter().all(holds);
    }
    items.par_iter().with_max_len(SHARE).all(holds)
}
