//! Compiled Python next to its source: whether every name in it occurs in the source.
//!
//! A `.pyc` is Python's own dump of a module: a header, then objects. Opcodes are not interpreted;
//! the names and words of every object must occur in the source, so that nothing is loaded, called,
//! opened or sent that a reader of the source could not see. Bytecode that matches its source is
//! still a program that people cannot read, so a match lowers the finding and does not remove it.
//!
//! **Must never happen here:** a file that cannot be parsed counts as a match.

use std::collections::HashSet;

use super::bundle::SkillBundle;

/// Objects per file; a module of ten thousand lines has fewer.
const MAX_OBJECTS: usize = 200_000;
/// Nesting depth of objects.
const MAX_DEPTH: usize = 64;
/// The first magic number whose code objects have the layout of Python 3.11.
const NEW_LAYOUT: u16 = 3450;
/// Shorter words prove nothing.
const MIN_WORD: usize = 3;
/// Names that the compiler adds by itself.
const IMPLICIT: &[&str] = &[
    "module",
    "lambda",
    "listcomp",
    "dictcomp",
    "setcomp",
    "genexpr",
    "locals",
    "return",
    "name",
    "__name__",
    "__module__",
    "__qualname__",
    "__doc__",
    "__annotations__",
    "__class__",
    "__classcell__",
    "__file__",
    "__build_class__",
    "__firstlineno__",
    "__static_attributes__",
    "__classdict__",
    "__conditional_annotations__",
    "__annotate__",
    "__type_params__",
    "AssertionError",
    "format",
];

/// The result of comparing bytecode with its source.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum BytecodeComparison {
    /// There is no source beside it.
    NoSource,
    /// Every name in it occurs in the source.
    Same,
    /// It cannot be parsed, or it contains this name, which the source does not.
    Different(String),
}

/// Compares a `.pyc` of a skill with its source.
pub(crate) fn compare(bundle: &SkillBundle, path: &str, bytes: &[u8]) -> BytecodeComparison {
    let Some(source) = source_of(bundle, path) else { return BytecodeComparison::NoSource };
    let known = words_of(source);
    let mut reader = BytecodeReader { bytes, at: 16, magic: 0, left: MAX_OBJECTS, known };
    reader.magic = bytes.get(..2).map_or(0, |magic| u16::from_le_bytes([magic[0], magic[1]]));
    match reader.object(0) {
        Ok(()) => BytecodeComparison::Same,
        Err(what) => BytecodeComparison::Different(what),
    }
}

/// `pkg/__pycache__/a.cpython-312.pyc` and `pkg/a.pyc` come from `pkg/a.py`.
fn source_of<'a>(bundle: &'a SkillBundle, path: &str) -> Option<&'a str> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let module = name.split('.').next()?;
    let folder = folder.strip_suffix("__pycache__").unwrap_or(folder).trim_end_matches('/');
    let wanted =
        if folder.is_empty() { format!("{module}.py") } else { format!("{folder}/{module}.py") };
    let file = bundle.files().iter().find(|file| file.path == wanted)?;
    std::str::from_utf8(&file.bytes).ok()
}

struct BytecodeReader<'a> {
    bytes: &'a [u8],
    at: usize,
    magic: u16,
    left: usize,
    /// The words of the source.
    known: HashSet<&'a str>,
}

impl BytecodeReader<'_> {
    fn take(&mut self, length: usize) -> Result<&[u8], String> {
        let end = self.at.checked_add(length).ok_or("a length that overflows")?;
        let taken = self.bytes.get(self.at..end).ok_or("it ends in the middle of an object")?;
        self.at = end;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<usize, String> {
        Ok(usize::from(self.take(1)?[0]))
    }

    fn long(&mut self) -> Result<usize, String> {
        let bytes: [u8; 4] = self.take(4)?.try_into().map_err(|_| "it ends early")?;
        usize::try_from(i32::from_le_bytes(bytes)).map_err(|_| "a negative length".to_owned())
    }

    /// Reads one object; its words must occur in the source.
    fn object(&mut self, depth: usize) -> Result<(), String> {
        self.left = self.left.checked_sub(1).ok_or("more objects than are read")?;
        if depth > MAX_DEPTH {
            return Err("objects nested too deep".to_owned());
        }
        let kind = (self.byte()? & 0x7f) as u8;
        match kind {
            b'0' | b'N' | b'F' | b'T' | b'S' | b'.' => Ok(()),
            b'i' | b'r' => self.take(4).map(|_| ()),
            b'I' | b'g' => self.take(8).map(|_| ()),
            b'y' => self.take(16).map(|_| ()),
            b'l' => {
                let bytes: [u8; 4] = self.take(4)?.try_into().map_err(|_| "it ends early")?;
                let digits = i32::from_le_bytes(bytes).unsigned_abs() as usize;
                self.take(digits.saturating_mul(2)).map(|_| ())
            }
            b'f' => self.byte().and_then(|length| self.take(length).map(|_| ())),
            b's' | b't' | b'u' | b'a' | b'A' => self.long().and_then(|length| self.words(length)),
            b'z' | b'Z' => self.byte().and_then(|length| self.words(length)),
            b')' => self.byte().and_then(|count| self.objects(count, depth)),
            b'(' | b'[' | b'<' | b'>' => self.long().and_then(|count| self.objects(count, depth)),
            b'{' => {
                while self.bytes.get(self.at).is_some_and(|kind| kind & 0x7f != b'0') {
                    self.objects(2, depth)?;
                }
                self.byte().map(|_| ())
            }
            b'c' => self.code(depth),
            _ => Err(format!("an object of the unknown kind {kind}")),
        }
    }

    fn objects(&mut self, count: usize, depth: usize) -> Result<(), String> {
        (0..count).try_for_each(|_| self.object(depth + 1))
    }

    /// A code object: numbers, opcodes, then objects, some of which are tables and not words.
    fn code(&mut self, depth: usize) -> Result<(), String> {
        let is_new = self.magic >= NEW_LAYOUT;
        self.take(if is_new { 20 } else { 24 })?;
        self.skip_table()?;
        // Constants, names, and the variables they are bound to.
        self.objects(if is_new { 3 } else { 5 }, depth)?;
        if is_new {
            self.skip_table()?;
        }
        // The path of the source file, which is from another machine.
        self.skip_table()?;
        self.objects(if is_new { 2 } else { 1 }, depth)?;
        self.take(4)?;
        self.skip_table()?;
        if is_new {
            self.skip_table()?;
        }
        Ok(())
    }

    /// Skips a string whose bytes are a table.
    fn skip_table(&mut self) -> Result<(), String> {
        let length = match (self.byte()? & 0x7f) as u8 {
            b's' | b't' | b'u' | b'a' | b'A' => self.long()?,
            b'z' | b'Z' => self.byte()?,
            b'r' => 4,
            kind => return Err(format!("a table of the unknown kind {kind}")),
        };
        self.take(length).map(|_| ())
    }

    fn words(&mut self, length: usize) -> Result<(), String> {
        let text = String::from_utf8_lossy(self.take(length)?).into_owned();
        let words = text.split(|c: char| !is_letter(c));
        let unknown = words
            .filter(|word| word.len() >= MIN_WORD && !IMPLICIT.contains(word))
            .find(|word| !self.known.contains(word) && !self.is_mangled(word));
        unknown.map_or(Ok(()), |word| Err(format!("`{word}` is not in the source")))
    }

    /// `_Box__size` is the mangled form of `__size` in the class `Box`.
    fn is_mangled(&self, word: &str) -> bool {
        let parts =
            word.strip_prefix('_').and_then(|rest| rest.find("__").map(|at| rest.split_at(at)));
        parts.is_some_and(|(class, name)| {
            let classes = [class.to_owned(), format!("_{class}"), format!("__{class}")];
            classes.iter().any(|class| self.known.contains(class.as_str()))
                && self.known.contains(name)
        })
    }
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The words of a source; after a backslash also without the first letter, which belongs to the
/// escape.
fn words_of(source: &str) -> HashSet<&str> {
    let mut words = HashSet::new();
    let mut behind_backslash = false;
    for part in source.split_inclusive(|c: char| !is_letter(c)) {
        let word = part.trim_end_matches(|c: char| !is_letter(c));
        words.insert(word);
        if behind_backslash {
            words.extend(word.char_indices().nth(1).map(|(at, _)| &word[at..]));
        }
        behind_backslash = part.ends_with('\\');
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `print("hello there")` as Python 3.12 dumps it, with a chosen word instead of `hello`.
    fn compiled(word: &str) -> Vec<u8> {
        let mut out = 3531u16.to_le_bytes().to_vec();
        out.extend(b"\r\n");
        out.extend([0; 12]);
        out.push(b'c' | 0x80);
        out.extend([0; 20]);
        let string = |kind: u8, text: &[u8]| {
            let mut object = vec![kind];
            object.extend(u32::try_from(text.len()).expect("short").to_le_bytes());
            object.extend(text);
            object
        };
        out.extend(string(b's', b"\x97\0opcodes"));
        out.extend([b')', 2]);
        out.extend(string(b'a', format!("{word} there").as_bytes()));
        out.push(b'N');
        out.extend([b')', 1, b'z', 5]);
        out.extend(b"print");
        out.extend([b')', 0]);
        out.extend(string(b's', b""));
        out.extend(string(b'a', b"/elsewhere/on/another/machine.py"));
        out.extend([b'z', 8]);
        out.extend(b"<module>");
        out.extend([b'z', 8]);
        out.extend(b"<module>");
        out.extend(1u32.to_le_bytes());
        out.extend(string(b's', b"table"));
        out.extend(string(b's', b""));
        out
    }

    fn check(path: &str, bytes: &[u8]) -> BytecodeComparison {
        let source = ("scripts/a.py".to_owned(), b"print(\"hello there\")\n".to_vec());
        compare(&SkillBundle::from_files([source]), path, bytes)
    }

    #[test]
    fn what_the_source_says_agrees_and_nothing_else() {
        let cached = "scripts/__pycache__/a.cpython-312.pyc";
        assert_eq!(check(cached, &compiled("hello")), BytecodeComparison::Same);
        assert_eq!(check("scripts/a.pyc", &compiled("hello")), BytecodeComparison::Same);
        assert_eq!(check("a.pyc", &compiled("hello")), BytecodeComparison::NoSource);
        assert_eq!(
            check(cached, &compiled("system")),
            BytecodeComparison::Different("`system` is not in the source".to_owned())
        );
    }

    #[test]
    fn what_cannot_be_followed_does_not_agree() {
        let whole = compiled("hello");
        for length in 0..whole.len() {
            let cut = check("scripts/a.pyc", &whole[..length]);
            assert!(matches!(cut, BytecodeComparison::Different(_)), "{length}: {cut:?}");
        }
    }
}
