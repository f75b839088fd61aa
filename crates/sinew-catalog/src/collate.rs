//! The order in which people expect names: the collation of CLDR's `en`.
//!
//! `_` before `-` before `.` before digits before letters; letters by base letter, then accent,
//! then lower before upper case; digits as characters, so that `skill-10` precedes `skill-2`.
//!
//! **Invariant:** there is one order. Plain ASCII names take a short cut through a table, and that
//! table is derived from the collator itself, so the two cannot disagree.

use std::cmp::Ordering;
use std::sync::OnceLock;

use icu_collator::options::CollatorOptions;
use icu_collator::{Collator, CollatorBorrowed};
use icu_locale_core::locale;

/// Compares two names; `Equal` means canonically equivalent, not the same bytes.
pub fn compare(a: &str, b: &str) -> Ordering {
    NameCollation::shared().compare(a, b)
}

struct NameCollation {
    collator: CollatorBorrowed<'static>,
    ascii: [AsciiWeight; 128],
}

/// The weight of an ASCII character. A primary weight of zero marks one that the table does not
/// cover.
#[derive(Clone, Copy, Default)]
struct AsciiWeight {
    primary: u8,
    upper: bool,
}

impl NameCollation {
    fn shared() -> &'static Self {
        static SHARED: OnceLock<NameCollation> = OnceLock::new();
        SHARED.get_or_init(Self::new)
    }

    fn new() -> Self {
        let collator = Collator::try_new(locale!("en").into(), CollatorOptions::default())
            .expect("the collation data is compiled in");
        let mut printable: Vec<u8> = (b' '..=b'~').collect();
        printable.sort_by(|a, b| compare_bytes(&collator, *a, *b));
        let mut ascii = [AsciiWeight::default(); 128];
        let mut primary = 0;
        for (at, &byte) in printable.iter().enumerate() {
            let previous = at.checked_sub(1).map(|before| printable[before]);
            let same_letter = previous.is_some_and(|before| before.eq_ignore_ascii_case(&byte));
            primary += u8::from(!same_letter);
            ascii[usize::from(byte)] = AsciiWeight { primary, upper: byte.is_ascii_uppercase() };
        }
        Self { collator, ascii }
    }

    fn compare(&self, a: &str, b: &str) -> Ordering {
        self.compare_ascii(a.as_bytes(), b.as_bytes())
            .unwrap_or_else(|| self.collator.compare(a, b))
    }

    /// `None` if either name has a character that the table does not cover.
    fn compare_ascii(&self, a: &[u8], b: &[u8]) -> Option<Ordering> {
        let mut by_case = Ordering::Equal;
        for (at, (first, second)) in a.iter().zip(b).enumerate() {
            let (first, second) = (self.weight(*first)?, self.weight(*second)?);
            if first.primary != second.primary {
                // The characters covered so far do not decide: a later accent can combine
                // backwards.
                let covered = is_printable(&a[at..]) && is_printable(&b[at..]);
                return covered.then(|| first.primary.cmp(&second.primary));
            }
            by_case = by_case.then(first.upper.cmp(&second.upper));
        }
        let common = a.len().min(b.len());
        let covered = is_printable(&a[common..]) && is_printable(&b[common..]);
        covered.then(|| a.len().cmp(&b.len()).then(by_case))
    }

    fn weight(&self, byte: u8) -> Option<AsciiWeight> {
        self.ascii.get(usize::from(byte)).copied().filter(|weight| weight.primary != 0)
    }
}

/// Whether the table covers every character.
fn is_printable(name: &[u8]) -> bool {
    name.iter().all(|byte| matches!(byte, b' '..=b'~'))
}

fn compare_bytes(collator: &CollatorBorrowed<'_>, a: u8, b: u8) -> Ordering {
    let (mut first, mut second) = ([0; 4], [0; 4]);
    let a = char::from(a).encode_utf8(&mut first);
    let b = char::from(b).encode_utf8(&mut second);
    collator.compare(a, b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(names: &str) {
        let expected: Vec<&str> = names.split(' ').collect();
        let mut sorted = expected.clone();
        sorted.reverse();
        sorted.sort_by(|a, b| compare(a, b));
        assert_eq!(sorted, expected);
    }

    #[test]
    fn names_stand_where_people_look_for_them() {
        check("_a -a .a 1a a A b B é z");
        check("a_b a-b a.b a1 ab");
        check("skill-1 skill-10 skill-2");
        check("cafe Cafe café cafes");
        check("ab aB Ab AB abc");
    }

    proptest! {
        #[test]
        fn the_short_cut_agrees_with_the_collator(a in "[ -~]{0,8}", b in "[ -~]{0,8}") {
            prop_assert_eq!(compare(&a, &b), NameCollation::shared().collator.compare(&a, &b));
        }

        #[test]
        fn every_pair_has_one_order(a in any::<String>(), b in any::<String>()) {
            prop_assert_eq!(compare(&a, &b), NameCollation::shared().collator.compare(&a, &b));
            prop_assert_eq!(compare(&a, &b), compare(&b, &a).reverse());
        }
    }
}
