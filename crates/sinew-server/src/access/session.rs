//! The token on disk, codes that work once, and the browsers that were signed in.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sinew_guard::atomic::{self, Access as FileAccess, Lock};

use super::secret::{Known, new_secret};

/// How long a link from the terminal can be used.
const CODE_LIVES: Duration = Duration::from_secs(10 * 60);
/// How long a browser stays signed in: a working day.
pub(crate) const SESSION_LIVES: Duration = Duration::from_secs(12 * 60 * 60);
/// Browsers at once; the oldest is signed out for the next. A person has few.
const MAX_SESSIONS: usize = 64;
/// Links at once. A link is made by whoever may use the terminal, so this only bounds memory.
const MAX_CODES: usize = 64;
/// A token file longer than this is none.
const MAX_TOKEN: u64 = 1024;

/// Who may call a server.
#[derive(Debug)]
pub struct Access {
    token: Known,
    file: PathBuf,
    codes: Mutex<HashMap<Known, Instant>>,
    sessions: Mutex<HashMap<Known, Arc<Session>>>,
}

/// A browser that was signed in.
#[derive(Debug)]
pub(crate) struct Session {
    since: Instant,
    /// What only pages of this server know.
    pub(crate) csrf: String,
    csrf_known: Known,
}

impl Session {
    /// Whether a page of this server sent it.
    pub(crate) fn knows(&self, word: &str) -> bool {
        self.csrf_known.is(word)
    }
}

impl Access {
    /// Reads the token from its file in a folder, or makes both.
    pub fn open(folder: &Path) -> io::Result<Self> {
        let file = folder.join("server-token");
        fs::create_dir_all(folder)?;
        // Two servers that start at once share one token.
        let _lock = Lock::acquire(&file.with_extension("lock"))?;
        let token = match read_token(&file)? {
            Some(token) => token,
            None => {
                let token = new_secret()?;
                atomic::write(&file, format!("{token}\n").as_bytes(), FileAccess::OwnerOnly)?;
                token
            }
        };
        Ok(Self {
            token: Known::of(&token),
            file,
            codes: Mutex::default(),
            sessions: Mutex::default(),
        })
    }

    /// Where the token is, for people.
    pub fn token_file(&self) -> &Path {
        &self.file
    }

    /// Whether this is the token.
    pub fn is_token(&self, given: &str) -> bool {
        self.token.is(given)
    }

    /// A code that signs one browser in.
    pub fn sign_in_code(&self) -> io::Result<String> {
        let code = new_secret()?;
        let mut codes = lock(&self.codes);
        codes.retain(|_, since| since.elapsed() < CODE_LIVES);
        if codes.len() >= MAX_CODES
            && let Some(oldest) = codes.iter().min_by_key(|(_, since)| **since).map(|(code, _)| *code)
        {
            codes.remove(&oldest);
        }
        codes.insert(Known::of(&code), Instant::now());
        Ok(code)
    }

    /// Signs a browser in for a code or the token, and gives what its cookie holds.
    pub(crate) fn sign_in(&self, given: &str) -> io::Result<Option<String>> {
        let code = lock(&self.codes).remove(&Known::of(given));
        let fresh = code.is_some_and(|since| since.elapsed() < CODE_LIVES);
        if !fresh && !self.is_token(given) {
            return Ok(None);
        }
        let (cookie, csrf) = (new_secret()?, new_secret()?);
        let mut sessions = lock(&self.sessions);
        sessions.retain(|_, session| session.since.elapsed() < SESSION_LIVES);
        if sessions.len() >= MAX_SESSIONS
            && let Some(oldest) =
                sessions.iter().min_by_key(|(_, session)| session.since).map(|(known, _)| *known)
        {
            sessions.remove(&oldest);
        }
        let session = Session { since: Instant::now(), csrf_known: Known::of(&csrf), csrf };
        sessions.insert(Known::of(&cookie), Arc::new(session));
        Ok(Some(cookie))
    }

    /// The browser that a cookie belongs to.
    pub(crate) fn session(&self, cookie: &str) -> Option<Arc<Session>> {
        let session = lock(&self.sessions).get(&Known::of(cookie)).cloned();
        session.filter(|session| session.since.elapsed() < SESSION_LIVES)
    }

    /// Signs a browser out.
    pub(crate) fn sign_out(&self, cookie: &str) {
        lock(&self.sessions).remove(&Known::of(cookie));
    }
}

/// The token in a file; `None` where there is none. A file that others can read is refused, because
/// what is in it is no secret any more.
fn read_token(file: &Path) -> io::Result<Option<String>> {
    let metadata = match fs::symlink_metadata(file) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let refused = |why: &str| {
        let name = file.display();
        Err(io::Error::other(format!("{name} {why}; remove it, and a new token is made")))
    };
    if !metadata.is_file() || metadata.len() > MAX_TOKEN {
        return refused("is no token file");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        if metadata.permissions().mode() & 0o077 != 0 {
            return refused("can be read by others");
        }
    }
    let token = fs::read_to_string(file)?.trim().to_owned();
    // Shorter ones can be guessed.
    if token.len() < 32 {
        return refused("holds no token");
    }
    Ok(Some(token))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access() -> (Access, tempfile::TempDir) {
        let folder = tempfile::tempdir().expect("a folder");
        (Access::open(folder.path()).expect("a token"), folder)
    }

    #[test]
    fn the_token_is_made_once_and_only_its_owner_reads_it() {
        let (access, folder) = access();
        let token = fs::read_to_string(access.token_file()).expect("a file");
        assert_eq!(token.trim().len(), 43, "32 bytes in base64url");
        assert!(access.is_token(token.trim()));
        assert!(!access.is_token("") && !access.is_token(&token));
        let again = Access::open(folder.path()).expect("the same");
        assert!(again.is_token(token.trim()));
        assert!(!format!("{access:?}").contains(token.trim()));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |file: &Path| fs::metadata(file).expect("metadata").permissions().mode();
            assert_eq!(mode(access.token_file()) & 0o777, 0o600);
            let open = fs::Permissions::from_mode(0o644);
            fs::set_permissions(access.token_file(), open).expect("a mode");
            assert!(Access::open(folder.path()).is_err(), "what others can read is no secret");
        }
    }

    #[test]
    fn a_code_works_once() {
        let (access, _folder) = access();
        let code = access.sign_in_code().expect("a code");
        let cookie = access.sign_in(&code).expect("chance").expect("a cookie");
        assert!(access.sign_in(&code).expect("chance").is_none());
        let session = access.session(&cookie).expect("signed in");
        assert!(session.knows(&session.csrf) && !session.knows(&cookie));
        access.sign_out(&cookie);
        assert!(access.session(&cookie).is_none());
    }

    #[test]
    fn the_oldest_browser_makes_room() {
        let (access, _folder) = access();
        let token = fs::read_to_string(access.token_file()).expect("a file");
        let sign_in = || access.sign_in(token.trim()).expect("chance").expect("a cookie");
        let first = sign_in();
        let rest: Vec<String> = (0..MAX_SESSIONS).map(|_| sign_in()).collect();
        assert!(access.session(&first).is_none());
        assert!(rest.iter().all(|cookie| access.session(cookie).is_some()));
    }
}
