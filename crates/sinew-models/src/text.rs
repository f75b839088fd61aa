//! Pieces of text: what models read of one, and what its ASCII parts are.

/// A text as pairs of an ASCII run and the run of other characters behind it; either may be empty.
#[inline]
pub fn runs(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let other = rest.bytes().position(|byte| !byte.is_ascii()).unwrap_or(rest.len());
        let (ascii, behind) = rest.split_at(other);
        let end = behind.bytes().position(|byte| byte.is_ascii()).unwrap_or(behind.len());
        let (other, behind) = behind.split_at(end);
        rest = behind;
        Some((ascii, other))
    })
}

/// The part of a text before a length in bytes, cut where a character ends.
#[inline]
pub fn head(text: &str, bytes: usize) -> &str {
    if text.len() <= bytes {
        return text;
    }
    let mut end = bytes;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
