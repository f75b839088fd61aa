//! How far this process has come with reading skills: the first look at thousands of them, each scanned,
//! takes seconds, and the user who waits for it can be told.

use std::sync::atomic::{AtomicUsize, Ordering};

static WANTED: AtomicUsize = AtomicUsize::new(0);
static READ: AtomicUsize = AtomicUsize::new(0);

/// How many skills were read of those that are being read now; nothing between two looks.
pub fn reading_progress() -> Option<(usize, usize)> {
    let (read, wanted) = (READ.load(Ordering::Relaxed), WANTED.load(Ordering::Relaxed));
    (read < wanted).then_some((read, wanted))
}

/// A look that is under way. When it ends, all its skills count as read, whatever became of them.
#[derive(Debug)]
pub(crate) struct ReadingLook {
    wanted: usize,
    read: AtomicUsize,
}

/// A look at so many skills begins.
pub(crate) fn begin(wanted: usize) -> ReadingLook {
    WANTED.fetch_add(wanted, Ordering::Relaxed);
    ReadingLook { wanted, read: AtomicUsize::new(0) }
}

impl ReadingLook {
    pub(crate) fn add_one(&self) {
        self.read.fetch_add(1, Ordering::Relaxed);
        READ.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for ReadingLook {
    fn drop(&mut self) {
        READ.fetch_sub(self.read.load(Ordering::Relaxed), Ordering::Relaxed);
        WANTED.fetch_sub(self.wanted, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::{begin, reading_progress};

    #[test]
    fn a_look_is_told_of_until_it_ends() {
        let look = begin(1000);
        look.add_one();
        let (read, wanted) = reading_progress().expect("a look is under way");
        assert!(read >= 1 && wanted >= 1000, "{read} of {wanted}");
        drop(look);
        assert!(reading_progress().is_none_or(|(_, wanted)| wanted < 1000));
    }
}
