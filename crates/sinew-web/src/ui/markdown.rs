//! A skill's text as a page shows it: Markdown, with all active content removed.

use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

/// A longer text is shown as it is: a page of that size would not be read.
const MAX_DRAWN: usize = 256 * 1024;

/// The text as HTML. Raw HTML is shown as text, unsafe links are disabled, and images are not loaded.
pub(super) fn to_html(text: &str) -> Option<String> {
    if text.len() > MAX_DRAWN {
        return None;
    }
    let text = super::text::block(text);
    let events = Parser::new_ext(&text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH);
    // The page has its own headings of level one and two; below them no level is left out, whatever the
    // author left out.
    let mut above = HeadingLevel::H2;
    let events = events.map(|event| match event {
        Event::Html(raw) | Event::InlineHtml(raw) => Event::Text(raw),
        Event::Start(Tag::Heading { level, .. }) => {
            above = lower(level).min(below(above));
            Event::Start(Tag::Heading {
                level: above,
                id: None,
                classes: Vec::new(),
                attrs: Vec::new(),
            })
        }
        Event::End(TagEnd::Heading(_)) => Event::End(TagEnd::Heading(above)),
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
            let dest_url = if may_lead(&dest_url) { dest_url } else { CowStr::Borrowed("#") };
            Event::Start(Tag::Link { link_type, dest_url, title, id })
        }
        Event::Start(Tag::Image { .. }) => Event::Start(Tag::Emphasis),
        Event::End(TagEnd::Image) => Event::End(TagEnd::Emphasis),
        event => event,
    });
    let mut page = String::new();
    html::push_html(&mut page, events);
    Some(page)
}

fn lower(level: HeadingLevel) -> HeadingLevel {
    match level {
        HeadingLevel::H1 => HeadingLevel::H3,
        HeadingLevel::H2 => HeadingLevel::H4,
        HeadingLevel::H3 => HeadingLevel::H5,
        _ => HeadingLevel::H6,
    }
}

fn below(level: HeadingLevel) -> HeadingLevel {
    match level {
        HeadingLevel::H1 => HeadingLevel::H2,
        HeadingLevel::H2 => HeadingLevel::H3,
        HeadingLevel::H3 => HeadingLevel::H4,
        HeadingLevel::H4 => HeadingLevel::H5,
        HeadingLevel::H5 | HeadingLevel::H6 => HeadingLevel::H6,
    }
}

/// Whether a link may be followed: elsewhere on the web, or a place in the same text.
fn may_lead(address: &str) -> bool {
    let address = address.trim().to_ascii_lowercase();
    ["https://", "http://", "mailto:"].iter().any(|scheme| address.starts_with(scheme))
        || address.starts_with('#')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        assert_eq!(to_html(text).expect("drawn").trim_end(), expect);
    }

    #[test]
    fn markdown_is_drawn() {
        check("# A\n\n- *b*", "<h3>A</h3>\n<ul>\n<li><em>b</em></li>\n</ul>");
        check("### A\n\n# B\n\n### C", "<h3>A</h3>\n<h3>B</h3>\n<h4>C</h4>");
        check("[x](https://a.example)", "<p><a href=\"https://a.example\">x</a></p>");
    }

    #[test]
    fn nothing_acts() {
        check("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;");
        check("a <img src=x onerror=alert(1)> b", "<p>a &lt;img src=x onerror=alert(1)&gt; b</p>");
        check("[x](javascript:alert(1))", "<p><a href=\"#\">x</a></p>");
        check("[x](/workshop/1/apply)", "<p><a href=\"#\">x</a></p>");
        check("![x](https://a.example/p.png)", "<p><em>x</em></p>");
        check("[x]: data:text/html,1\n\n[x]", "<p><a href=\"#\">x</a></p>");
        assert!(to_html(&"x".repeat(MAX_DRAWN + 1)).is_none());
    }
}
