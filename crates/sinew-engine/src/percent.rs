//! Shares as people read them.

/// A probability in percent. Never 0 or 100: it is neither impossible nor certain.
pub fn percent(probability: f64) -> String {
    format!("{:.0} %", (100.0 * probability).round().clamp(1.0, 99.0))
}

#[cfg(test)]
mod tests {
    use super::percent;

    #[test]
    fn what_is_open_is_neither_0_nor_100_percent() {
        assert_eq!(percent(0.0), "1 %");
        assert_eq!(percent(0.004), "1 %");
        assert_eq!(percent(0.704), "70 %");
        assert_eq!(percent(0.9999), "99 %");
        assert_eq!(percent(1.0), "99 %");
    }
}
