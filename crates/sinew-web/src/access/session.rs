//! The token, codes that work once, and the browsers that were signed in.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::secret::{SecretDigest, new_secret};

/// How long a link from the terminal can be used.
const CODE_LIVES: Duration = Duration::from_secs(10 * 60);
/// How long a browser stays signed in: a working day.
pub(crate) const SESSION_LIVES: Duration = Duration::from_secs(12 * 60 * 60);
/// Browsers at once; the oldest is signed out for the next. A person has few.
const MAX_SESSIONS: usize = 64;
/// Sign-in links at once. Only a user of the terminal can make one, so this only bounds memory.
const MAX_CODES: usize = 64;

/// Who may call a server.
#[derive(Debug)]
pub struct WebAccess {
    token: SecretDigest,
    codes: Mutex<HashMap<SecretDigest, Instant>>,
    sessions: Mutex<HashMap<SecretDigest, Arc<BrowserSession>>>,
}

/// A browser that was signed in.
#[derive(Debug)]
pub(crate) struct BrowserSession {
    since: Instant,
    /// The CSRF token, which only pages of this server have.
    pub(crate) csrf: String,
    csrf_known: SecretDigest,
}

impl BrowserSession {
    /// Whether a page of this server sent it.
    pub(crate) fn matches_csrf(&self, word: &str) -> bool {
        self.csrf_known.is(word)
    }
}

impl WebAccess {
    /// Access for callers with this token, and for browsers that were signed in.
    pub fn new(token: &str) -> Self {
        Self { token: SecretDigest::of(token), codes: Mutex::default(), sessions: Mutex::default() }
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
            && let Some(oldest) =
                codes.iter().min_by_key(|(_, since)| **since).map(|(code, _)| *code)
        {
            codes.remove(&oldest);
        }
        codes.insert(SecretDigest::of(&code), Instant::now());
        Ok(code)
    }

    /// Signs a browser in for a code, and returns the value of its cookie. The token is no code: every
    /// client has it, and a client is no person.
    pub(crate) fn sign_in(&self, given: &str) -> io::Result<Option<String>> {
        let code = lock(&self.codes).remove(&SecretDigest::of(given));
        let fresh = code.is_some_and(|since| since.elapsed() < CODE_LIVES);
        if !fresh {
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
        let session =
            BrowserSession { since: Instant::now(), csrf_known: SecretDigest::of(&csrf), csrf };
        sessions.insert(SecretDigest::of(&cookie), Arc::new(session));
        Ok(Some(cookie))
    }

    /// The browser that a cookie belongs to.
    pub(crate) fn session(&self, cookie: &str) -> Option<Arc<BrowserSession>> {
        let session = lock(&self.sessions).get(&SecretDigest::of(cookie)).cloned();
        session.filter(|session| session.since.elapsed() < SESSION_LIVES)
    }

    /// Signs a browser out.
    pub(crate) fn sign_out(&self, cookie: &str) {
        lock(&self.sessions).remove(&SecretDigest::of(cookie));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "a-token-that-is-not-guessed";

    #[test]
    fn only_the_token_is_the_token() {
        let access = WebAccess::new(TOKEN);
        assert!(access.is_token(TOKEN));
        assert!(!access.is_token("") && !access.is_token("a-token") && !access.is_token("x"));
        assert!(!format!("{access:?}").contains("guessed"));
    }

    #[test]
    fn a_code_works_once() {
        let access = WebAccess::new(TOKEN);
        let code = access.sign_in_code().expect("a code");
        let cookie = access.sign_in(&code).expect("chance").expect("a cookie");
        assert!(access.sign_in(&code).expect("chance").is_none());
        let session = access.session(&cookie).expect("signed in");
        assert!(session.matches_csrf(&session.csrf) && !session.matches_csrf(&cookie));
        access.sign_out(&cookie);
        assert!(access.session(&cookie).is_none());
    }

    #[test]
    fn the_token_makes_no_person() {
        let access = WebAccess::new(TOKEN);
        assert!(access.sign_in(TOKEN).expect("chance").is_none());
    }

    #[test]
    fn the_oldest_browser_makes_room() {
        let access = WebAccess::new(TOKEN);
        let sign_in = || {
            let code = access.sign_in_code().expect("chance");
            access.sign_in(&code).expect("chance").expect("a cookie")
        };
        let first = sign_in();
        let rest: Vec<String> = (0..MAX_SESSIONS).map(|_| sign_in()).collect();
        assert!(access.session(&first).is_none());
        assert!(rest.iter().all(|cookie| access.session(cookie).is_some()));
    }
}
