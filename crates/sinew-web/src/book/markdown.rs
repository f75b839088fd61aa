//! A page of the book as HTML: headings that can be linked to, links to pages instead of files.

use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html};

/// The path of the page that a file becomes.
pub(super) fn page_path(file: &str) -> String {
    let stem = file.trim_end_matches(".md");
    match stem.strip_suffix("README") {
        Some(folder) => format!("{folder}index.html"),
        None => format!("{stem}.html"),
    }
}

/// The page. Raw HTML is shown as text.
pub(super) fn to_html(text: &str) -> String {
    let parser = Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH);
    let mut events: Vec<Event<'_>> = Vec::new();
    let mut heading: Option<usize> = None;
    let mut names: Vec<String> = Vec::new();
    for event in parser {
        let event = match event {
            Event::Html(raw) | Event::InlineHtml(raw) => Event::Text(raw),
            Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
                Event::Start(Tag::Link { link_type, dest_url: led(dest_url), title, id })
            }
            event => event,
        };
        match &event {
            Event::Start(Tag::Heading { .. }) => heading = Some(events.len()),
            Event::End(TagEnd::Heading(_)) => {
                if let Some(start) = heading.take() {
                    let name = unused(place_name(&events[start + 1..]), &mut names);
                    if let Event::Start(Tag::Heading { id, .. }) = &mut events[start] {
                        *id = Some(CowStr::from(name));
                    }
                }
            }
            // A table that is wider than a phone scrolls by itself.
            Event::Start(Tag::Table(_)) => {
                events.push(Event::Html(CowStr::Borrowed("<div class=\"scroll\" tabindex=\"0\">")));
            }
            _ => {}
        }
        let closes = matches!(event, Event::End(TagEnd::Table));
        events.push(event);
        if closes {
            events.push(Event::Html(CowStr::Borrowed("</div>")));
        }
    }
    let mut page = String::new();
    html::push_html(&mut page, events.into_iter());
    // What does not fit scrolls, and what scrolls can be reached by keyboard.
    page.replace("<pre>", "<pre tabindex=\"0\">").replace("<th>", "<th scope=\"col\">")
}

/// A link to a file of the book, as one to its page.
fn led(address: CowStr<'_>) -> CowStr<'_> {
    if address.contains(':') {
        return address;
    }
    let (path, place) = match address.split_once('#') {
        Some((path, place)) => (path, format!("#{place}")),
        None => (&*address, String::new()),
    };
    match path.ends_with(".md") {
        true => CowStr::from(format!("{}{place}", page_path(path))),
        false => address,
    }
}

/// The name of a heading's place, as GitHub makes it, so that links hold there too.
fn place_name(events: &[Event<'_>]) -> String {
    let mut name = String::new();
    for event in events {
        let (Event::Text(text) | Event::Code(text)) = event else { continue };
        for c in text.chars() {
            match c {
                ' ' => name.push('-'),
                c if c.is_alphanumeric() || c == '-' || c == '_' => name.extend(c.to_lowercase()),
                _ => {}
            }
        }
    }
    name
}

fn unused(name: String, names: &mut Vec<String>) -> String {
    let again = names.iter().filter(|known| **known == name).count();
    names.push(name.clone());
    if again == 0 { name } else { format!("{name}-{again}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_links_and_markup() {
        let page = to_html(
            "# A `b` c!\n\n[x](../tutorial.md#two-words) [y](README.md) [z](https://a.b/c.md) a <script> b\n\n## A b c\n",
        );
        assert!(page.contains("<h1 id=\"a-b-c\">"), "{page}");
        assert!(page.contains("<h2 id=\"a-b-c-1\">"), "{page}");
        assert!(page.contains("href=\"../tutorial.html#two-words\""), "{page}");
        assert!(page.contains("href=\"index.html\""), "{page}");
        assert!(page.contains("href=\"https://a.b/c.md\""), "{page}");
        assert!(!page.contains("<script"), "{page}");
    }
}
