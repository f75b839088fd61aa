//! The structure of a Markdown body: headings and the text below them.

/// A heading and what follows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodySection<'a> {
    /// 1 for `#`, 2 for `##` …
    pub level: usize,
    /// The heading without its markers.
    pub title: &'a str,
    /// The text up to the next heading.
    pub text: &'a str,
    /// The line of the heading within the body, from 1.
    pub line: usize,
}

/// The sections of a body, in order. Text before the first heading belongs to none.
pub fn sections(body: &str) -> Vec<BodySection<'_>> {
    let headings: Vec<_> = prose_lines(body)
        .filter_map(|line| heading(line.text).map(|(level, title)| (line, level, title)))
        .collect();
    let ends = headings.iter().skip(1).map(|(line, ..)| line.start).chain([body.len()]);
    let ends: Vec<usize> = ends.collect();
    headings
        .into_iter()
        .zip(ends)
        .map(|((line, level, title), end)| BodySection {
            level,
            title,
            text: &body[line.end..end],
            line: line.number,
        })
        .collect()
}

/// The first level-1 heading.
pub fn first_heading(body: &str) -> Option<&str> {
    prose_lines(body)
        .filter_map(|line| heading(line.text))
        .find(|&(level, title)| level == 1 && !title.is_empty())
        .map(|(_, title)| title)
}

/// The first line that is neither blank nor a heading.
pub fn first_text_line(body: &str) -> Option<&str> {
    body.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'))
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.bytes().take_while(|&byte| byte == b'#').count();
    let rest = &line[level..];
    if !(1..=6).contains(&level) || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    let title = rest.trim();
    // Closing markers follow a blank: `## Title ##` loses them, `# C#` does not.
    let open = title.trim_end_matches('#');
    let closed = open.is_empty() || open.ends_with([' ', '\t']);
    Some((level, if closed { open.trim_end() } else { title }))
}

struct ProseLine<'a> {
    text: &'a str,
    start: usize,
    end: usize,
    number: usize,
}

/// The lines outside code fences.
fn prose_lines(body: &str) -> impl Iterator<Item = ProseLine<'_>> {
    let mut fence: Option<&str> = None;
    let mut start = 0;
    // Every body is scanned when its skill is loaded, and the standard library searches for line
    // ends slowly.
    let breaks = memchr::memchr_iter(b'\n', body.as_bytes()).map(|at| (at, at + 1));
    let last = (!body.is_empty() && !body.ends_with('\n')).then_some((body.len(), body.len()));
    breaks.chain(last).enumerate().filter_map(move |(index, (stop, end))| {
        let line = ProseLine { text: &body[start..stop], start, end, number: index + 1 };
        start = end;
        let trimmed = line.text.trim_start();
        match fence {
            Some(mark) => {
                if trimmed.starts_with(mark) {
                    fence = None;
                }
                None
            }
            None => {
                fence = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
                fence.is_none().then_some(line)
            }
        }
    })
}
