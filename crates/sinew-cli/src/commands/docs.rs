use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::json;
use sinew_engine::EngineError;
use sinew_guard::atomic::{self, FileAccess};
use sinew_settings::{ErrorCode, nearest};
use sinew_web::{Book, BookPage};

use crate::environment;
use crate::exit::{CommandResult, Exit};
use crate::layout::{TableColumn, TextTable};
use crate::printer::Printer;
use crate::render;

/// Read the book, or write it as web pages
///
/// `sinew serve` shows the same pages at /docs.
///
/// Examples:
///   sinew docs                     what there is to read
///   sinew docs troubleshooting     one page
///   sinew docs --out site          the whole book, for any web server
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct DocsArgs {
    /// A page, as the list names it
    #[arg(conflicts_with = "out")]
    page: Option<String>,
    /// Write the book as web pages into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(crate) fn run(args: &DocsArgs, out: &mut Printer) -> CommandResult {
    if Book.pages().is_empty() {
        let said = "this build carries no book: it was made from a package";
        return Err(EngineError::new(ErrorCode::MissingData, said)
            .hint("`sinew help <command>` says what each command does")
            .into());
    }
    match (&args.out, &args.page) {
        (Some(folder), _) => write_site(folder, out),
        (None, Some(page)) => show(page, out),
        (None, None) => list(out),
    }
}

fn name(page: &BookPage) -> String {
    page.path.trim_end_matches(".md").to_owned()
}

fn list(out: &mut Printer) -> CommandResult {
    let pages = Book.pages();
    let rows = pages.iter().map(|page| json!({"page": name(page), "title": page.title()}));
    let told = json!({"pages": rows.collect::<Vec<_>>()});
    let width = out.width();
    out.data(&told, |text| {
        let mut table =
            TextTable::new(vec![TableColumn::fixed("PAGE"), TableColumn::flexible("TITLE")]);
        for page in &pages {
            table.row(vec![render::plain(&name(page)), render::plain(&page.title())]);
        }
        table.write(text, width)
    })?;
    out.note("`sinew docs <page>` shows one; `sinew docs --out <folder>` writes all as web pages");
    Ok(Exit::Done)
}

fn show(wanted: &str, out: &mut Printer) -> CommandResult {
    let Some(page) = Book.page(wanted) else {
        let said = format!("the book has no page `{}`", wanted.escape_debug());
        let error = EngineError::new(ErrorCode::NoSuchFile, said);
        let pages: Vec<String> = Book.pages().iter().map(name).collect();
        let near = nearest(wanted, pages.iter().map(String::as_str))
            .first()
            .map(|near| format!("did you mean `{near}`?"));
        return Err(error
            .hint(near.unwrap_or_else(|| "`sinew docs` lists the pages".to_owned()))
            .into());
    };
    let told = json!({"page": name(&page), "title": page.title(), "text": page.text});
    out.data(&told, |text| {
        text.push_str(page.text);
        Ok(())
    })?;
    Ok(Exit::Done)
}

fn write_site(folder: &std::path::Path, out: &mut Printer) -> CommandResult {
    let folder = environment::of_process()?.cwd.join(folder);
    let files = Book.files();
    for file in &files {
        let path = folder.join(&file.path);
        atomic::write(&path, &file.bytes, FileAccess::Shared)
            .map_err(|error| EngineError::file("write", &path, error))?;
    }
    let first = folder.join("index.html");
    let told = json!({"folder": folder, "files": files.len(), "first": first});
    out.data(&told, |text| {
        let first = render::safe(&first.to_string_lossy());
        writeln!(text, "wrote {} files; the first page is {first}", files.len())
    })?;
    Ok(Exit::Done)
}
