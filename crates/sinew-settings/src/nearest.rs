//! "Did you mean": the known names that are closest to a mistyped one.

/// The form in which look-ups compare names: lower case, separators as `-`, nothing else.
///
/// ```
/// assert_eq!(sinew_settings::index_name("PDF Tools"), "pdf-tools");
/// ```
pub fn index_name(name: &str) -> String {
    let mut index = String::with_capacity(name.len());
    for c in name.to_lowercase().chars() {
        match c {
            'a'..='z' | '0'..='9' => index.push(c),
            '-' | '_' | '/' => push_once(&mut index, '-'),
            c if c.is_whitespace() => push_once(&mut index, '-'),
            _ => {}
        }
    }
    index.trim_matches('-').to_owned()
}

/// Up to three names nearest to `wanted`, for "did you mean".
pub fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = index_name(wanted);
    let mut scored: Vec<(f64, &str)> = names
        .into_iter()
        .map(|name| {
            let index = index_name(name);
            let contains =
                !wanted.is_empty() && (index.contains(&wanted) || wanted.contains(&index));
            let bonus = if contains && !index.is_empty() { 0.3 } else { 0.0 };
            (strsim::jaro_winkler(&wanted, &index) + bonus, name)
        })
        .filter(|&(score, _)| score >= 0.7)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    scored.dedup_by(|a, b| a.1 == b.1);
    scored.into_iter().take(3).map(|(_, name)| name).collect()
}

fn push_once(text: &mut String, c: char) {
    if !text.ends_with(c) {
        text.push(c);
    }
}
