//! The type of a file: by its first bytes, then by its content, and last by its name.

/// The kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScannedFileKind {
    SkillMd,
    Markdown,
    Text,
    Script(&'static str),
    Config(&'static str),
    Data,
    Bytecode,
    Executable,
    Library,
    Archive,
    Document,
    Image,
    Font,
    Media,
    Pdf,
    LfsPointer,
    /// What macOS keeps beside a file on other file systems, and the Finder in a folder.
    FinderData,
    UnknownBinary,
}

impl ScannedFileKind {
    pub(crate) fn is_code(self) -> bool {
        matches!(self, Self::Script(_) | Self::Bytecode | Self::Executable | Self::Library)
    }

    /// Binary kinds whose content is never read as instructions.
    pub(crate) fn is_inert(self) -> bool {
        matches!(self, Self::Image | Self::Font | Self::Media | Self::Pdf)
    }
}

/// The decoded text of a file, or its binary kind.
#[derive(Debug)]
pub(crate) enum FileContent {
    Text(String),
    Binary,
}

/// NUL within this many bytes, without a byte order mark, means binary.
const SNIFF: usize = 8 * 1024;

/// UTF-8, UTF-16 with a byte order mark, or Latin-1.
pub(crate) fn decode(bytes: &[u8]) -> FileContent {
    if let Some(rest) = bytes.strip_prefix(&[0xff, 0xfe]) {
        return FileContent::Text(utf16(rest, u16::from_le_bytes));
    }
    if let Some(rest) = bytes.strip_prefix(&[0xfe, 0xff]) {
        return FileContent::Text(utf16(rest, u16::from_be_bytes));
    }
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    if bytes[..bytes.len().min(SNIFF)].contains(&0) {
        return FileContent::Binary;
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => FileContent::Text(text.to_owned()),
        Err(_) => FileContent::Text(bytes.iter().map(|b| *b as char).collect()),
    }
}

fn utf16(bytes: &[u8], read: fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks_exact(2).map(|pair| read([pair[0], pair[1]]));
    char::decode_utf16(units).map(|c| c.unwrap_or('\u{fffd}')).collect()
}

/// The kind of a file, and, if its name says otherwise, what contradicts the name.
pub(crate) fn kind_of(path: &str, bytes: &[u8]) -> (ScannedFileKind, Option<&'static str>) {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let by_name = kind_by_name(&name);
    if let Some(kind) = kind_by_magic(&name, bytes) {
        let disagrees = match (kind, by_name) {
            (
                ScannedFileKind::Archive | ScannedFileKind::Document,
                ScannedFileKind::Archive | ScannedFileKind::Document,
            ) => false,
            (
                ScannedFileKind::Executable | ScannedFileKind::Library | ScannedFileKind::Bytecode,
                _,
            ) => !matches!(
                by_name,
                ScannedFileKind::Executable
                    | ScannedFileKind::Library
                    | ScannedFileKind::Bytecode
                    | ScannedFileKind::UnknownBinary
            ),
            (ScannedFileKind::Data, _) => false,
            (ScannedFileKind::FinderData, _) => !name.starts_with("._") && name != ".ds_store",
            (kind, ScannedFileKind::UnknownBinary) => {
                !kind.is_inert()
                    && kind != ScannedFileKind::Archive
                    && kind != ScannedFileKind::Document
                    && kind != ScannedFileKind::LfsPointer
            }
            (kind, other) => kind != other && kind != ScannedFileKind::LfsPointer,
        };
        return (kind, disagrees.then_some("its first bytes"));
    }
    if matches!(decode(&bytes[..bytes.len().min(SNIFF)]), FileContent::Binary) {
        let disagrees = !matches!(by_name, ScannedFileKind::UnknownBinary | ScannedFileKind::Data)
            && !by_name.is_inert();
        return (ScannedFileKind::UnknownBinary, disagrees.then_some("NUL bytes"));
    }
    // From here on the content is text.
    let shebang = bytes.starts_with(b"#!").then(|| shebang_language(bytes)).flatten();
    match (by_name, shebang) {
        (ScannedFileKind::SkillMd, _) => (ScannedFileKind::SkillMd, None),
        (ScannedFileKind::Script(lang), _) => (ScannedFileKind::Script(lang), None),
        (
            ScannedFileKind::Text | ScannedFileKind::UnknownBinary | ScannedFileKind::Data,
            Some(lang),
        ) => (ScannedFileKind::Script(lang), None),
        (kind, Some(lang)) if kind.is_inert() => {
            (ScannedFileKind::Script(lang), Some("a script's first line"))
        }
        (ScannedFileKind::Markdown | ScannedFileKind::Config(_), _) => (by_name, None),
        (
            ScannedFileKind::Executable
            | ScannedFileKind::Library
            | ScannedFileKind::Bytecode
            | ScannedFileKind::Archive
            | ScannedFileKind::Document,
            _,
        ) => (ScannedFileKind::Text, Some("plain text")),
        (kind, None) if kind.is_inert() => (ScannedFileKind::Text, Some("plain text")),
        // A picture with a script in it is a program, wherever it lies.
        (ScannedFileKind::Data, None) if name.ends_with(".svg") && runs_in_browser(bytes) => {
            (ScannedFileKind::Config("xml"), None)
        }
        (ScannedFileKind::Data, None) => (ScannedFileKind::Data, None),
        _ => (ScannedFileKind::Text, None),
    }
}

fn runs_in_browser(bytes: &[u8]) -> bool {
    let text = bytes.to_ascii_lowercase();
    [&b"<script"[..], b"onload=", b"onerror=", b"onbegin=", b"javascript:", b"<foreignobject"]
        .iter()
        .any(|mark| memchr::memmem::find(&text, mark).is_some())
}

fn shebang_language(bytes: &[u8]) -> Option<&'static str> {
    let line = bytes.split(|b| *b == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?;
    [
        ("python", "python"),
        ("node", "javascript"),
        ("bun", "javascript"),
        ("deno", "javascript"),
        ("perl", "perl"),
        ("ruby", "ruby"),
        ("php", "php"),
        ("osascript", "applescript"),
        ("sh", "shell"),
    ]
    .into_iter()
    .find_map(|(word, lang)| line.contains(word).then_some(lang))
}

fn kind_by_magic(name: &str, bytes: &[u8]) -> Option<ScannedFileKind> {
    let starts = |magic: &[u8]| bytes.starts_with(magic);
    let at = |offset: usize, magic: &[u8]| {
        bytes.get(offset..).is_some_and(|rest| rest.starts_with(magic))
    };
    if starts(b"\x7fELF") {
        let shared = bytes.get(16) == Some(&3) && (name.contains(".so") || name.ends_with(".node"));
        return Some(if shared { ScannedFileKind::Library } else { ScannedFileKind::Executable });
    }
    if starts(b"MZ")
        && bytes.len() > 64
        && !bytes[..64].iter().all(|b| (b' '..=b'~').contains(b) || *b == b'\n')
    {
        return Some(if name.ends_with(".dll") || name.ends_with(".pyd") {
            ScannedFileKind::Library
        } else {
            ScannedFileKind::Executable
        });
    }
    if starts(b"\xca\xfe\xba\xbe") {
        let many =
            bytes.get(4..8).is_some_and(|n| n[0] == 0 && n[1] == 0 && n[2] == 0 && n[3] < 30);
        return Some(if many { ScannedFileKind::Executable } else { ScannedFileKind::Bytecode });
    }
    if starts(b"\xcf\xfa\xed\xfe") || starts(b"\xce\xfa\xed\xfe") || starts(b"\xfe\xed\xfa") {
        return Some(if name.ends_with(".dylib") {
            ScannedFileKind::Library
        } else {
            ScannedFileKind::Executable
        });
    }
    if bytes.len() >= 16
        && bytes[2..4] == [0x0d, 0x0a]
        && (name.ends_with(".pyc") || bytes[1] >= 0x0c && bytes[1] <= 0x10)
        && bytes[..SNIFF.min(bytes.len())].contains(&0)
    {
        return Some(ScannedFileKind::Bytecode);
    }
    if starts(b"PK\x03\x04") || starts(b"PK\x05\x06") {
        let document = [
            ".docx", ".xlsx", ".pptx", ".odt", ".ods", ".odp", ".jar", ".apk", ".docm", ".xlsm",
            ".pptm", ".epub",
        ];
        return Some(if document.iter().any(|end| name.ends_with(end)) {
            ScannedFileKind::Document
        } else {
            ScannedFileKind::Archive
        });
    }
    if starts(&[0x1f, 0x8b])
        || starts(b"7z\xbc\xaf\x27\x1c")
        || starts(b"Rar!\x1a\x07")
        || starts(b"\xfd7zXZ\0")
        || starts(b"BZh")
            && bytes.len() > 10
            && bytes[4..10] == [0x31, 0x41, 0x59, 0x26, 0x53, 0x59]
        || at(257, b"ustar")
        || starts(b"\x28\xb5\x2f\xfd")
        || starts(b"MSCF")
        || starts(b"xar!")
    {
        return Some(ScannedFileKind::Archive);
    }
    if starts(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1") {
        return Some(ScannedFileKind::Document);
    }
    if starts(b"\x89PNG\r\n\x1a\n")
        || starts(b"\xff\xd8\xff")
        || starts(b"GIF87a")
        || starts(b"GIF89a")
        || starts(b"RIFF") && at(8, b"WEBP")
        || starts(b"\0\0\x01\0")
        || starts(b"II*\0")
        || starts(b"MM\0*")
        || starts(b"BM") && name.ends_with(".bmp")
    {
        return Some(ScannedFileKind::Image);
    }
    if starts(b"%PDF-") {
        return Some(ScannedFileKind::Pdf);
    }
    if starts(b"wOFF")
        || starts(b"wOF2")
        || starts(b"OTTO\0")
        || starts(b"\0\x01\0\0\0")
        || starts(b"ttcf")
    {
        return Some(ScannedFileKind::Font);
    }
    if starts(b"ID3")
        || starts(b"OggS")
        || starts(b"fLaC")
        || starts(b"RIFF")
        || at(4, b"ftyp")
        || starts(b"\x1aE\xdf\xa3")
    {
        return Some(ScannedFileKind::Media);
    }
    if starts(b"\0\x05\x16\x07\0\x02\0\0") || starts(b"\0\0\0\x01Bud1") {
        return Some(ScannedFileKind::FinderData);
    }
    if starts(b"SQLite format 3\0") {
        return Some(ScannedFileKind::Data);
    }
    if starts(b"version https://git-lfs.github.com/spec/") {
        return Some(ScannedFileKind::LfsPointer);
    }
    None
}

fn kind_by_name(name: &str) -> ScannedFileKind {
    if name == "skill.md" {
        return ScannedFileKind::SkillMd;
    }
    let end = name.rsplit_once('.').map_or("", |(_, end)| end);
    match end {
        "md" | "mdx" | "markdown" | "mdc" => ScannedFileKind::Markdown,
        "txt" | "rst" | "adoc" | "org" | "text" | "log" => ScannedFileKind::Text,
        "sh" | "bash" | "zsh" | "fish" | "ksh" | "command" => ScannedFileKind::Script("shell"),
        "ps1" | "psm1" | "psd1" => ScannedFileKind::Script("powershell"),
        "bat" | "cmd" | "vbs" | "wsf" | "hta" => ScannedFileKind::Script("batch"),
        "py" | "pyw" | "pyi" => ScannedFileKind::Script("python"),
        "js" | "mjs" | "cjs" | "jsx" | "ts" | "tsx" | "mts" | "cts" | "vue" | "svelte" => {
            ScannedFileKind::Script("javascript")
        }
        "rb" | "gemspec" => ScannedFileKind::Script("ruby"),
        "pl" | "pm" => ScannedFileKind::Script("perl"),
        "php" => ScannedFileKind::Script("php"),
        "lua" => ScannedFileKind::Script("lua"),
        "go" | "rs" | "c" | "h" | "cc" | "cpp" | "hpp" | "cs" | "java" | "kt" | "swift"
        | "scala" | "r" | "jl" => ScannedFileKind::Script("compiled"),
        "applescript" | "scpt" => ScannedFileKind::Script("applescript"),
        // What these name is run.
        "json"
            if matches!(
                name,
                "package.json"
                    | "hooks.json"
                    | "settings.json"
                    | "settings.local.json"
                    | "plugin.json"
                    | "mcp.json"
                    | ".mcp.json"
            ) =>
        {
            ScannedFileKind::Config("json")
        }
        "json" | "jsonc" | "json5" | "csv" | "tsv" | "jsonl" | "ndjson" | "lock" | "xsd"
        | "svg" | "css" | "sql" | "parquet" | "npy" | "pkl" | "db" | "sqlite" | "bin" | "dat"
        | "map" | "ipynb" => ScannedFileKind::Data,
        "yaml" | "yml" => ScannedFileKind::Config("yaml"),
        "toml" => ScannedFileKind::Config("toml"),
        "ini" | "cfg" | "conf" | "env" | "properties" | "plist" | "service" => {
            ScannedFileKind::Config("ini")
        }
        "xml" | "html" | "htm" | "xhtml" => ScannedFileKind::Config("xml"),
        "pyc" | "pyo" | "class" => ScannedFileKind::Bytecode,
        "exe" | "msi" | "com" | "scr" | "appimage" | "dmg" | "pkg" | "deb" | "rpm" => {
            ScannedFileKind::Executable
        }
        "so" | "dll" | "dylib" | "pyd" | "node" | "wasm" => ScannedFileKind::Library,
        "zip" | "tar" | "gz" | "tgz" | "bz2" | "xz" | "7z" | "rar" | "skill" | "whl" => {
            ScannedFileKind::Archive
        }
        "docx" | "xlsx" | "pptx" | "odt" | "jar" | "apk" | "docm" | "xlsm" | "pptm" | "doc"
        | "xls" | "ppt" => ScannedFileKind::Document,
        "png" | "jpg" | "jpeg" | "gif" | "webp" | "ico" | "bmp" | "tiff" | "tif" => {
            ScannedFileKind::Image
        }
        "pdf" => ScannedFileKind::Pdf,
        "ttf" | "otf" | "woff" | "woff2" | "ttc" => ScannedFileKind::Font,
        "mp3" | "wav" | "ogg" | "flac" | "mp4" | "mov" | "webm" | "m4a" => ScannedFileKind::Media,
        _ if matches!(name, "makefile" | "dockerfile" | "justfile" | "rakefile" | "procfile") => {
            ScannedFileKind::Script("shell")
        }
        _ if name.starts_with(".env") => ScannedFileKind::Config("ini"),
        _ if matches!(
            name,
            "license" | "licence" | "readme" | "notice" | "authors" | "changelog"
        ) =>
        {
            ScannedFileKind::Text
        }
        _ if name.starts_with('.') => ScannedFileKind::Text,
        _ => ScannedFileKind::UnknownBinary,
    }
}

/// Where an image ends according to its own format, if that can be told.
pub(crate) fn image_end(bytes: &[u8]) -> Option<usize> {
    if bytes.starts_with(b"\x89PNG") {
        let mut at = 8usize;
        loop {
            let length = u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize;
            let kind = bytes.get(at + 4..at + 8)?;
            at = at.checked_add(12)?.checked_add(length)?;
            if kind == b"IEND" {
                return Some(at.min(bytes.len()));
            }
        }
    }
    if bytes.starts_with(b"\xff\xd8\xff") {
        // Thumbnails have end markers of their own, so only the last one counts.
        return bytes.windows(2).rposition(|pair| pair == [0xff, 0xd9]).map(|at| at + 2);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_speak_before_names() {
        assert_eq!(
            kind_of("notes.txt", b"\x7fELF\x02\x01\x01\0aaaaaaaaaaaaaaa").0,
            ScannedFileKind::Executable
        );
        assert!(kind_of("notes.txt", b"\x7fELF\x02\x01\x01\0aaaaaaaaaaaaaaa").1.is_some());
        assert_eq!(kind_of("a/Skill.MD", b"# x").0, ScannedFileKind::SkillMd);
        assert_eq!(kind_of("run", b"#!/bin/sh\nls").0, ScannedFileKind::Script("shell"));
        assert_eq!(kind_of("a.png", b"just text").1, Some("plain text"));
        assert_eq!(kind_of("x.docx", b"PK\x03\x04....").0, ScannedFileKind::Document);
        assert_eq!(kind_of("README", b"Mozilla").0, ScannedFileKind::Text);
    }
}
