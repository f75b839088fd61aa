//! Locations of skills, written short: `~/…` instead of the home folder.
//!
//! **Invariant:** a short location expands back to the same file for the reader of the prompt; if
//! that is not certain, the path stays absolute. Nothing here touches the disk: real paths are
//! passed in as [`HomeFolders`].

use std::borrow::Cow;

/// A container mounts its data here as its home; a reader outside has no such folder.
const CONTAINER_HOME: &str = "/data";

/// How paths are written on the machine that holds the skills.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PathStyle {
    /// `/` separates, case matters.
    #[default]
    Unix,
    /// `\` separates too, ASCII case does not matter; prompts show `/`.
    Windows,
}

/// A home folder and its real path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HomeFolder {
    /// The folder as it is configured.
    pub path: String,
    /// The same folder with links resolved, if the caller knows it.
    pub real: Option<String>,
}

/// The home folders that a path may be in, and the one that `~` means to the reader.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HomeFolders {
    /// The home folder according to the environment.
    pub effective: Option<HomeFolder>,
    /// The home folder according to the operating system.
    pub native: Option<HomeFolder>,
    /// What `~` means to the agent that reads the prompt; without it nothing is shortened.
    pub reader: Option<HomeFolder>,
    /// How paths are written.
    pub style: PathStyle,
}

impl HomeFolders {
    /// One home folder for everything.
    pub fn single(path: impl Into<String>) -> Self {
        let home = HomeFolder { path: path.into(), real: None };
        Self { effective: Some(home.clone()), reader: Some(home), ..Self::default() }
    }

    /// The shortest location that still leads the reader to `path`.
    pub fn compact<'p>(&self, path: &'p str) -> Cow<'p, str> {
        let slashed = self.slashed(path);
        match self.below_reader_home(&slashed) {
            Some(rest) if rest.is_empty() => Cow::Borrowed("~"),
            Some(rest) => Cow::Owned(format!("~/{rest}")),
            None => slashed,
        }
    }

    /// The path that a location from a prompt stands for; `None` for a relative one.
    pub fn expand<'p>(&self, location: &'p str) -> Option<Cow<'p, str>> {
        let slashed = self.slashed(location);
        if slashed == "~" || slashed.starts_with("~/") {
            let home = self.slashed(&self.reader.as_ref()?.path).into_owned();
            let rest = &slashed[1..];
            return Some(Cow::Owned(format!("{}{rest}", home.trim_end_matches('/'))));
        }
        self.is_absolute(&slashed).then_some(slashed)
    }

    /// Like [`Self::expand`], for profiles that leave out the `~` (`.openpocket/skills/…`).
    pub fn expand_home_relative<'p>(&self, location: &'p str) -> Option<Cow<'p, str>> {
        self.expand(location).or_else(|| {
            let home = self.slashed(&self.reader.as_ref()?.path).into_owned();
            let rest = self.slashed(location);
            Some(Cow::Owned(format!("{}/{rest}", home.trim_end_matches('/'))))
        })
    }

    /// Whether `path` is inside one of `roots`, judged by its text: a path with `..` is never
    /// inside.
    pub fn is_inside<'r>(&self, path: &str, roots: impl IntoIterator<Item = &'r str>) -> bool {
        let path = self.slashed(path);
        !has_parent_segment(&path)
            && roots.into_iter().any(|root| self.below(&path, &self.slashed(root)).is_some())
    }

    fn below_reader_home(&self, path: &str) -> Option<String> {
        let reader = self.reader.as_ref()?;
        if reader.path.trim_end_matches('/') == CONTAINER_HOME || has_parent_segment(path) {
            return None;
        }
        let mut prefixes: Vec<&str> = [&self.effective, &self.native, &self.reader]
            .into_iter()
            .flatten()
            .filter(|home| self.is_same(home, reader))
            .flat_map(|home| [Some(home.path.as_str()), home.real.as_deref()])
            .flatten()
            .collect();
        prefixes.sort_by_key(|prefix| std::cmp::Reverse(prefix.len()));
        prefixes.iter().find_map(|prefix| {
            let prefix = self.slashed(prefix);
            self.below(path, &prefix).map(str::to_owned)
        })
    }

    /// Two home folders are the same if any of their paths are equal.
    fn is_same(&self, a: &HomeFolder, b: &HomeFolder) -> bool {
        let real = |home: &HomeFolder| home.real.clone().unwrap_or_else(|| home.path.clone());
        let (a, b) = (real(a), real(b));
        self.equal(self.slashed(&a).trim_end_matches('/'), self.slashed(&b).trim_end_matches('/'))
    }

    /// The rest of `path` after `prefix`, if the prefix ends at a segment.
    fn below<'p>(&self, path: &'p str, prefix: &str) -> Option<&'p str> {
        let prefix = prefix.trim_end_matches('/');
        if prefix.is_empty() || !self.equal(path.get(..prefix.len())?, prefix) {
            return None;
        }
        let rest = &path[prefix.len()..];
        if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
    }

    fn equal(&self, a: &str, b: &str) -> bool {
        match self.style {
            PathStyle::Unix => a == b,
            PathStyle::Windows => a.eq_ignore_ascii_case(b),
        }
    }

    fn slashed<'p>(&self, path: &'p str) -> Cow<'p, str> {
        match self.style {
            PathStyle::Windows if path.contains('\\') => Cow::Owned(path.replace('\\', "/")),
            _ => Cow::Borrowed(path),
        }
    }

    fn is_absolute(&self, path: &str) -> bool {
        let drive = || {
            let bytes = path.as_bytes();
            bytes.len() > 2
                && bytes[0].is_ascii_alphabetic()
                && bytes[1] == b':'
                && bytes[2] == b'/'
        };
        path.starts_with('/') || (self.style == PathStyle::Windows && drive())
    }
}

/// After a link, `..` is not the folder that the text suggests.
fn has_parent_segment(path: &str) -> bool {
    path.split('/').any(|segment| segment == "..")
}
