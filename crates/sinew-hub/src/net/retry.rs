//! When to send a request again, and after which wait.

use std::time::Duration;

use super::HttpResponse;

/// A longer wait than this is not slept through: the error tells the caller when to try again.
const MAX_WAIT: Duration = Duration::from_secs(60);
/// A larger number of seconds is a point in time since 1970, not a wait.
const LARGEST_WAIT: u64 = 31_536_000;
/// The longest wait when the server does not name one.
const MAX_BACKOFF_MS: u64 = 5_000;
/// The first wait when the server does not name one; it doubles with each attempt.
const FIRST_BACKOFF_MS: u64 = 300;
/// Random spread, so that many clients do not come back at once.
const JITTER_MS: u64 = 250;

/// How long a request may take, and how often it is tried.
#[derive(Debug, Clone, Copy)]
pub struct RequestLimits {
    /// Until a connection is established.
    pub connect: Duration,
    /// Until an answer begins.
    pub answer: Duration,
    /// For a whole download.
    pub download: Duration,
    /// Without receiving a byte.
    pub stall: Duration,
    /// How often a request is tried at most.
    pub attempts: u32,
}

impl Default for RequestLimits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            answer: Duration::from_secs(15),
            download: Duration::from_secs(120),
            stall: Duration::from_secs(15),
            attempts: 3,
        }
    }
}

/// What to do before the next attempt.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RetryPause {
    /// No further attempt: the answer is final.
    None,
    /// Wait.
    For {
        wait: Duration,
        /// The host wants no requests from any client meanwhile.
        everyone: bool,
    },
    /// The host wants a longer wait than [`MAX_WAIT`].
    TooLong { until_ms: u64 },
}

impl RetryPause {
    pub(super) fn backoff(attempt: u32) -> Self {
        let doubled = FIRST_BACKOFF_MS.saturating_mul(1 << (attempt - 1).min(10));
        let wait = Duration::from_millis(doubled.min(MAX_BACKOFF_MS) + jitter());
        Self::For { wait, everyone: false }
    }
}

/// What an answer means for the next attempt.
pub(super) fn pause(answer: &HttpResponse, attempt: u32, now_ms: u64) -> RetryPause {
    let exhausted = answer.status == 403 && answer.header("x-ratelimit-remaining") == Some("0");
    if !(answer.status == 429 || exhausted || answer.status >= 500) {
        return RetryPause::None;
    }
    let requested = answer
        .header("retry-after")
        .and_then(|text| retry_after(text, now_ms))
        .or_else(|| reset(answer, now_ms));
    match requested {
        None => RetryPause::backoff(attempt),
        Some(wait) if wait > MAX_WAIT => {
            let wait = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
            RetryPause::TooLong { until_ms: now_ms.saturating_add(wait) }
        }
        Some(wait) => RetryPause::For {
            wait: wait + Duration::from_millis(jitter()),
            everyone: answer.status != 503,
        },
    }
}

/// `Retry-After`: seconds, a moment in seconds since 1970, or a date.
fn retry_after(text: &str, now_ms: u64) -> Option<Duration> {
    let until = |at_ms: u64| Duration::from_millis(at_ms.saturating_sub(now_ms));
    match text.trim().parse::<u64>() {
        Ok(seconds) if seconds > LARGEST_WAIT => Some(until(seconds.saturating_mul(1000))),
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => {
            let date = jiff::fmt::rfc2822::parse(text.trim()).ok()?;
            Some(until(u64::try_from(date.timestamp().as_millisecond()).ok()?))
        }
    }
}

/// When GitHub's rate limit resets.
fn reset(answer: &HttpResponse, now_ms: u64) -> Option<Duration> {
    if answer.header("x-ratelimit-remaining") != Some("0") {
        return None;
    }
    let at: u64 = answer.header("x-ratelimit-reset")?.trim().parse().ok()?;
    Some(Duration::from_millis(at.saturating_mul(1000).saturating_sub(now_ms)))
}

fn jitter() -> u64 {
    // Without randomness every client waits equally long, which is still a wait.
    u64::from(getrandom::u32().unwrap_or(0)) % JITTER_MS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pause_after(status: u16, headers: &[(&str, &str)], now_ms: u64) -> RetryPause {
        let mut answer = HttpResponse {
            status,
            headers: ureq::http::HeaderMap::new(),
            body: Vec::new(),
            url: "https://example.org".parse().unwrap(),
        };
        for (name, value) in headers {
            let name: ureq::http::HeaderName = name.parse().unwrap();
            answer.headers.insert(name, value.parse().unwrap());
        }
        match pause(&answer, 1, now_ms) {
            RetryPause::For { wait, everyone } => {
                RetryPause::For { wait: Duration::from_secs(wait.as_secs()), everyone }
            }
            other => other,
        }
    }

    #[test]
    fn every_form_of_asking_for_a_wait_is_understood() {
        let wait =
            |seconds, everyone| RetryPause::For { wait: Duration::from_secs(seconds), everyone };
        assert_eq!(pause_after(200, &[], 0), RetryPause::None);
        assert_eq!(pause_after(404, &[("retry-after", "5")], 0), RetryPause::None);
        assert_eq!(pause_after(429, &[("retry-after", "5")], 0), wait(5, true));
        assert_eq!(pause_after(503, &[("retry-after", "1")], 0), wait(1, false));
        assert_eq!(
            pause_after(429, &[("retry-after", "2000000007")], 2_000_000_000_000),
            wait(7, true)
        );
        let date = [("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")];
        assert_eq!(pause_after(429, &date, 784_111_774_000), wait(3, true));
        assert_eq!(
            pause_after(429, &[("retry-after", "3600")], 1000),
            RetryPause::TooLong { until_ms: 3_601_000 }
        );
        let github = [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "20")];
        assert_eq!(pause_after(403, &github, 10_000), wait(10, true));
        assert_eq!(pause_after(403, &[], 0), RetryPause::None);
        assert_eq!(pause_after(500, &[], 0), wait(0, false));
    }
}
