//! A sorted table of bytes, made by the build script and searched in place.

/// Keys with values, in one block of bytes.
#[derive(Clone, Copy)]
pub(crate) struct SortedTable {
    bytes: &'static [u8],
    count: usize,
}

impl SortedTable {
    /// A view of a table; only its length is read.
    pub(crate) fn new(bytes: &'static [u8]) -> Self {
        let count = number(bytes, 0).unwrap_or(0) as usize;
        Self { bytes, count }
    }

    /// The value of a key.
    pub(crate) fn get(&self, key: &[u8]) -> Option<&'static [u8]> {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.key(middle)?.cmp(key) {
                std::cmp::Ordering::Equal => return self.value(middle),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// The value of a key as a number.
    pub(crate) fn get_number(&self, key: &[u8]) -> Option<u32> {
        number(self.get(key)?, 0)
    }

    fn key(&self, at: usize) -> Option<&'static [u8]> {
        self.slice(1, at, 4 * (1 + 2 * (self.count + 1)))
    }

    fn value(&self, at: usize) -> Option<&'static [u8]> {
        let keys = number(self.bytes, 1 + self.count)? as usize;
        self.slice(2 + self.count, at, 4 * (1 + 2 * (self.count + 1)) + keys)
    }

    fn slice(&self, offsets: usize, at: usize, base: usize) -> Option<&'static [u8]> {
        let start = number(self.bytes, offsets + at)? as usize;
        let end = number(self.bytes, offsets + at + 1)? as usize;
        self.bytes.get(base + start..base + end)
    }
}

/// The little-endian number at an index, counted in numbers.
pub(crate) fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(4 * at..4 * at + 4)?;
    Some(u32::from_le_bytes(four.try_into().ok()?))
}
