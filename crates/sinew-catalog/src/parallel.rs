//! Work that is shared between threads only where there is enough of it.

use rayon::prelude::*;

/// Fewer files or folders than this are looked at sooner than a second thread wakes up.
const WORTH_SHARING: usize = 64;

/// The answer to each item, in the items' order.
pub(crate) fn map<T: Sync, A: Send>(items: &[T], answer: impl Fn(&T) -> A + Sync + Send) -> Vec<A> {
    if items.len() < WORTH_SHARING {
        return items.iter().map(answer).collect();
    }
    items.par_iter().with_min_len(WORTH_SHARING / 2).map(answer).collect()
}

/// Whether something holds for every item.
pub(crate) fn all<T: Sync>(items: &[T], holds: impl Fn(&T) -> bool + Sync + Send) -> bool {
    if items.len() < WORTH_SHARING {
        return items.iter().all(holds);
    }
    items.par_iter().with_min_len(WORTH_SHARING / 2).all(holds)
}
