//! Work that is shared between threads only where there is enough of it.

use rayon::prelude::*;

/// Fewer files or folders than this are read sooner than a second thread wakes up.
const WORTH_SHARING: usize = 32;

/// The known answers, and those of `find` for the items that have none, in the items' order.
pub(crate) fn fill<T: Sync, A: Send>(
    items: &[T],
    known: Vec<Option<A>>,
    find: impl Fn(&T) -> A + Sync,
) -> Vec<A> {
    let answer = |(item, known): (&T, Option<A>)| known.unwrap_or_else(|| find(item));
    let open = known.iter().filter(|known| known.is_none()).count();
    if open < WORTH_SHARING {
        return items.iter().zip(known).map(answer).collect();
    }
    items.par_iter().zip(known).with_min_len(WORTH_SHARING).map(answer).collect()
}
