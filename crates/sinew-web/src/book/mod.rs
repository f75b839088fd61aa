//! The book as web pages: the same files for a folder and for `/docs` of a server.
//!
//! The text is ours, so its links are live; raw HTML in it is shown as text all the same. Every address
//! inside the book is relative, so that it reads the same at any place.

mod contents;
mod markdown;

use askama::Template;

use self::contents::CONTENTS;

include!(concat!(env!("OUT_DIR"), "/book.rs"));

/// A file of the book as a browser gets it.
#[derive(Debug, Clone)]
pub struct BookFile {
    /// Its path below the book's first page.
    pub path: String,
    /// Its media type.
    pub media_type: &'static str,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// A page of the book as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BookPage {
    /// Its path in the book's folder, which ends in `.md`.
    pub path: &'static str,
    /// Its Markdown.
    pub text: &'static str,
}

/// The book that this build carries.
#[derive(Debug, Clone, Copy, Default)]
pub struct Book;

#[derive(Template)]
#[template(path = "book.html")]
struct BookPageTemplate<'a> {
    title: String,
    /// The way from this page to the first folder of the book.
    root: String,
    sections: Vec<(&'static str, Vec<BookLink>)>,
    html: String,
    next: Option<BookLink>,
    version: &'a str,
}

/// A link to a page, from another one.
struct BookLink {
    title: String,
    to: String,
    is_here: bool,
}

impl BookPage {
    /// Its first heading.
    pub fn title(&self) -> String {
        let heading = self.text.lines().find_map(|line| line.strip_prefix("# "));
        heading.unwrap_or(self.path).replace('`', "")
    }

    /// The path of the page that it becomes.
    fn html_path(&self) -> String {
        markdown::page_path(self.path)
    }

    fn root(&self) -> String {
        "../".repeat(self.path.matches('/').count())
    }
}

impl Book {
    /// Its pages in reading order. A build from a package carries none.
    pub fn pages(self) -> Vec<BookPage> {
        let page = |wanted: &str| {
            let found = PAGES.iter().find(|(path, _)| *path == wanted);
            found.map(|(path, text)| BookPage { path, text })
        };
        CONTENTS.iter().flat_map(|(_, pages)| pages.iter().filter_map(|path| page(path))).collect()
    }

    /// A page by what a person types for it: its path with or without the ending, or the last part of it.
    pub fn page(self, wanted: &str) -> Option<BookPage> {
        let wanted = wanted.trim_end_matches(".md").trim_end_matches(".html");
        let pages = self.pages();
        let stem = |page: &BookPage| page.path.trim_end_matches(".md").to_owned();
        let whole = pages.iter().find(|page| stem(page) == wanted);
        let last = || pages.iter().find(|page| stem(page).rsplit('/').next() == Some(wanted));
        whole.or_else(last).copied()
    }

    /// Every file of the site.
    pub fn files(self) -> Vec<BookFile> {
        let pages = self.pages().into_iter().map(|page| self.drawn(page));
        let pictures = PICTURES.iter().map(|(path, bytes)| picture(path, bytes));
        pages.chain(pictures).chain(dress()).collect()
    }

    /// One file of the site; the empty path is the first page.
    pub fn file(self, path: &str) -> Option<BookFile> {
        let path = if path.is_empty() { "index.html" } else { path };
        if let Some(file) = dress().into_iter().find(|file| file.path == path) {
            return Some(file);
        }
        if let Some((path, bytes)) = PICTURES.iter().find(|(known, _)| *known == path) {
            return Some(picture(path, bytes));
        }
        let page = self.pages().into_iter().find(|page| page.html_path() == path)?;
        Some(self.drawn(page))
    }

    fn drawn(self, page: BookPage) -> BookFile {
        let pages = self.pages();
        let link = |other: &BookPage| BookLink {
            title: other.title(),
            to: format!("{}{}", page.root(), other.html_path()),
            is_here: other.path == page.path,
        };
        let sections = CONTENTS.iter().map(|(name, paths)| {
            let own = pages.iter().filter(|known| paths.contains(&known.path));
            (*name, own.map(link).collect())
        });
        let at = pages.iter().position(|known| known.path == page.path);
        let template = BookPageTemplate {
            title: page.title(),
            root: page.root(),
            sections: sections.collect(),
            html: markdown::to_html(page.text),
            next: at.and_then(|at| pages.get(at + 1)).map(link),
            version: env!("CARGO_PKG_VERSION"),
        };
        // A template fails only where a part of it does, and these are strings.
        let html = template.render().unwrap_or_default();
        BookFile {
            path: page.html_path(),
            media_type: "text/html; charset=utf-8",
            bytes: html.into_bytes(),
        }
    }
}

/// What every page looks like.
fn dress() -> [BookFile; 2] {
    let file = |path: &str, media_type, text: &str| BookFile {
        path: path.to_owned(),
        media_type,
        bytes: text.into(),
    };
    [
        file("style.css", "text/css; charset=utf-8", include_str!("../../assets/style.css")),
        file("icon.svg", "image/svg+xml", include_str!("../../assets/icon.svg")),
    ]
}

fn picture(path: &str, bytes: &[u8]) -> BookFile {
    let media_type = if path.ends_with(".svg") { "image/svg+xml" } else { "image/png" };
    BookFile { path: path.to_owned(), media_type, bytes: bytes.to_vec() }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_page_is_in_the_contents_and_every_line_of_them_is_a_page() {
        let listed: BTreeSet<&str> =
            CONTENTS.iter().flat_map(|(_, pages)| pages.iter().copied()).collect();
        let there: BTreeSet<&str> = PAGES.iter().map(|(path, _)| *path).collect();
        assert_eq!(listed, there);
    }

    /// Whatever a page links to in the book is one of its files, and every named place is there.
    #[test]
    fn every_link_of_the_site_leads_somewhere() {
        let files = Book.files();
        let text = |file: &BookFile| String::from_utf8_lossy(&file.bytes).into_owned();
        let places = |file: &BookFile| -> BTreeSet<String> {
            let html = text(file);
            html.split(" id=\"")
                .skip(1)
                .filter_map(|rest| Some(rest.split_once('"')?.0.to_owned()))
                .collect()
        };
        let mut wrong = Vec::new();
        for file in files.iter().filter(|file| file.path.ends_with(".html")) {
            let html = text(file);
            let links = html.split("href=\"").chain(html.split("src=\"")).skip(1);
            for link in links.filter_map(|rest| Some(rest.split_once('"')?.0)) {
                if link.starts_with("http") || !link.is_ascii() || link.contains('<') {
                    continue;
                }
                let (path, place) = link.split_once('#').unwrap_or((link, ""));
                let target =
                    if path.is_empty() { file.path.clone() } else { resolved(&file.path, path) };
                match files.iter().find(|known| known.path == target) {
                    None => wrong.push(format!("{}: {link}", file.path)),
                    Some(found) if !place.is_empty() && !places(found).contains(place) => {
                        wrong.push(format!("{}: no place {link}", file.path));
                    }
                    Some(_) => {}
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    fn resolved(from: &str, link: &str) -> String {
        let mut parts: Vec<&str> = from.split('/').collect();
        parts.pop();
        for part in link.split('/') {
            match part {
                ".." => drop(parts.pop()),
                "." => {}
                part => parts.push(part),
            }
        }
        parts.join("/")
    }

    #[test]
    fn a_page_is_found_by_what_is_typed() {
        if PAGES.is_empty() {
            return;
        }
        for typed in ["agents/codex", "codex", "agents/codex.md", "codex.html"] {
            assert_eq!(Book.page(typed).map(|page| page.path), Some("agents/codex.md"), "{typed}");
        }
        assert!(Book.page("nothing-like-this").is_none());
        assert!(Book.file("../Cargo.toml").is_none());
        assert!(Book.file("").is_some_and(|page| page.path == "index.html"));
    }
}
