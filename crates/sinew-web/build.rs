//! Finds the pages of the book for the program to carry. They are in the repository and in no package: a
//! build from a package carries none, and says so.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

fn main() -> io::Result<()> {
    let here = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    let docs = here.join("../../docs");
    let (mut pages, mut pictures) = (Vec::new(), Vec::new());
    if docs.join("README.md").is_file() {
        collect(&docs, &docs, &mut pages, &mut pictures)?;
        println!("cargo:rerun-if-changed={}", docs.display());
    }
    println!("cargo:rerun-if-changed=build.rs");
    pages.sort();
    pictures.sort();
    let texts: Vec<String> =
        pages.iter().map(|page| fs::read_to_string(docs.join(page))).collect::<Result<_, _>>()?;
    pictures.retain(|picture| texts.iter().any(|text| text.contains(&format!("({picture})"))));
    let mut code = String::from("const PAGES: &[(&str, &str)] = &[\n");
    for page in &pages {
        let _ = writeln!(code, "({page:?}, include_str!({:?})),", docs.join(page));
    }
    code.push_str("];\nconst PICTURES: &[(&str, &[u8])] = &[\n");
    for picture in &pictures {
        let _ = writeln!(code, "({picture:?}, include_bytes!({:?})),", docs.join(picture));
    }
    code.push_str("];\n");
    fs::write(out.join("book.rs"), code)
}

/// The pages and pictures below a folder, by their paths in the book.
fn collect(
    docs: &Path,
    folder: &Path,
    pages: &mut Vec<String>,
    pictures: &mut Vec<String>,
) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(docs, &path, pages, pictures)?;
            continue;
        }
        let Ok(name) = path.strip_prefix(docs) else { continue };
        let name = name.to_string_lossy().replace('\\', "/");
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("md") => pages.push(name),
            Some("png" | "svg") => pictures.push(name),
            _ => {}
        }
    }
    Ok(())
}
