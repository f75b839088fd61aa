//! Secrets: one table of patterns for refusal, masking and redaction.
//!
//! There are three searches. [`find`] is for published text: it knows the shapes of keys and skips
//! keys that are marked as examples. [`find_strict`] is for text that a user typed or a model wrote
//! and that is about to be stored or sent: it also knows cards, passwords and tokens that are named
//! as such, and skips only values that are placeholders as a whole. [`find_recorded`] is for
//! recorded sessions, which may contain anything: it also knows one-time codes, addresses,
//! telephone numbers and text that looks random.
//!
//! The last two also know what no pattern can: secrets by their position in a command
//! (`command_secrets.rs`, over the table in `command_options.rs`) and seed phrases.

mod command_options;
mod command_secrets;
mod national_ids;
mod seed_phrases;
mod value_checks;

use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, MatchKind};
use regex::Regex;
use serde::Deserialize;

use value_checks::{ValueCheck, is_example, is_placeholder, passphrase_tail};

const TABLE: &str = include_str!("../../data/secrets.json");
/// The text that replaces a secret.
pub const REDACTED: &str = "[REDACTED CREDENTIAL]";

#[derive(Deserialize)]
struct SecretPattern {
    id: String,
    /// If there is a group, the first one is the value; otherwise the whole match is.
    re: String,
    /// Every matching text contains one of these, in any case unless the text is published; empty
    /// if there is no such word.
    #[serde(default)]
    needs: Vec<String>,
    /// Used only in strict searches.
    #[serde(default)]
    strict: bool,
    /// Used only for recorded sessions.
    #[serde(default)]
    recorded: bool,
    /// The kind of secret; a key by default.
    #[serde(default)]
    kind: SecretKind,
    /// What the value must pass.
    #[serde(default)]
    check: Option<ValueCheck>,
}

impl SecretPattern {
    /// Whether it is also used for published text.
    fn is_published(&self) -> bool {
        !self.strict && !self.recorded
    }
}

/// The kind of a secret. Where two matches overlap, the earlier kind wins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SecretKind {
    /// A private key in PEM armour.
    Pem,
    /// A key that is known by its prefix.
    #[default]
    Token,
    /// A JSON web token.
    Jwt,
    /// Credentials in a header.
    Auth,
    /// The value of something named like a secret.
    Assignment,
    /// The words that open a wallet.
    Seed,
    /// Credentials in a URL.
    Url,
    /// A one-time code.
    Otp,
    /// The number or code of a card.
    Card,
    /// The number that a state gave to a person.
    NationalId,
    /// An account number.
    Iban,
    /// A telephone number.
    Phone,
    /// An e-mail address.
    Email,
    /// Text that looks random.
    Entropy,
}

impl SecretKind {
    /// The name that records use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pem => "pem",
            Self::Token => "token",
            Self::Jwt => "jwt",
            Self::Auth => "auth",
            Self::Assignment => "assignment",
            Self::Seed => "seed",
            Self::Url => "url",
            Self::Otp => "otp",
            Self::Card => "card",
            Self::NationalId => "national-id",
            Self::Iban => "iban",
            Self::Phone => "phone",
            Self::Email => "email",
            Self::Entropy => "entropy",
        }
    }
}

/// The table. Most processes search a few short texts, and most texts match nothing, so each row is
/// compiled only when a text first needs it: compiling all of them takes milliseconds.
struct SecretTable {
    rows: Vec<SecretPattern>,
    compiled: Vec<OnceLock<Option<Regex>>>,
}

/// Texts up to this length, such as names, are searched for each needle in turn: that is cheaper
/// than building the automaton.
const SHORT: usize = 128;

/// The needles of all rows, and the row of each.
static NEEDLES: LazyLock<Option<(AhoCorasick, Vec<usize>)>> = LazyLock::new(|| {
    let secrets = SECRETS.as_ref()?;
    let (of, needles): (Vec<usize>, Vec<&str>) = secrets.needles().unzip();
    Some((AhoCorasick::builder().ascii_case_insensitive(true).build(needles).ok()?, of))
});

/// The needles of the rows for published text, which may be ten megabytes of addresses and names.
static PUBLISHED: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let secrets = SECRETS.as_ref()?;
    let needles = secrets.rows.iter().filter(|row| row.is_published()).flat_map(|row| &row.needs);
    // This match kind allows the automaton to skip many bytes at once.
    AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(needles).ok()
});

static SECRETS: LazyLock<Option<SecretTable>> = LazyLock::new(|| {
    let rows: Vec<SecretPattern> = serde_json::from_str(TABLE).ok()?;
    let compiled = rows.iter().map(|_| OnceLock::new()).collect();
    Some(SecretTable { rows, compiled })
});

impl SecretTable {
    /// All needles, each with the number of its row.
    fn needles(&self) -> impl Iterator<Item = (usize, &str)> {
        let rows = self.rows.iter().enumerate();
        rows.flat_map(|(at, row)| row.needs.iter().map(move |needle| (at, needle.as_str())))
    }

    /// The rows that `wanted` selects and that may match, with their patterns.
    fn for_text(
        &self,
        text: &str,
        wanted: impl Fn(&SecretPattern) -> bool,
    ) -> impl Iterator<Item = (&SecretPattern, &Regex)> {
        let mut may: Vec<bool> = self.rows.iter().map(|row| row.needs.is_empty()).collect();
        if text.len() <= SHORT {
            let text = text.to_ascii_lowercase();
            for (row, needle) in self.needles() {
                may[row] |= text.contains(&needle.to_ascii_lowercase());
            }
        } else if let Some((needles, of)) = NEEDLES.as_ref() {
            for hit in needles.find_overlapping_iter(text) {
                may[of[hit.pattern().as_usize()]] = true;
            }
        }
        let may = may.into_iter().enumerate().filter_map(|(at, may)| may.then_some(at));
        let may = may.filter(move |at| wanted(&self.rows[*at]));
        may.filter_map(|at| Some((&self.rows[at], self.pattern(at)?)))
    }

    fn pattern(&self, row: usize) -> Option<&Regex> {
        // Keys are ASCII, and Unicode word boundaries would make text in other scripts slow.
        let compile = || Regex::new(&self.rows[row].re.replace(r"\b", r"(?-u:\b)")).ok();
        self.compiled[row].get_or_init(compile).as_ref()
    }
}

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretMatch {
    /// Which pattern: `openai-key`, `private-key` and so on.
    pub id: String,
    /// What kind of thing it is.
    pub kind: SecretKind,
    /// Where it is, in bytes.
    pub range: std::ops::Range<usize>,
}

/// All secrets in published `text`, in order; keys that are marked as examples are skipped.
pub fn find(text: &str) -> Vec<SecretMatch> {
    find_first(text, usize::MAX)
}

/// The first `most` secrets in `text`, in order.
pub(crate) fn find_first(text: &str, most: usize) -> Vec<SecretMatch> {
    if PUBLISHED.as_ref().is_none_or(|published| !published.is_match(text)) {
        return Vec::new();
    }
    matches(text, most, SecretPattern::is_published, |_, value, _, _| !is_example(value))
}

/// All secrets in `text`, in order, for text that is about to be stored or sent.
pub fn find_strict(text: &str) -> Vec<SecretMatch> {
    let mut found = matches(text, usize::MAX, |row| !row.recorded, counts);
    found.extend(by_position(text));
    without_overlaps(text, found)
}

/// Everything in a recorded `text` that must not be stored, in order. Where two overlap, both are
/// one of the more certain kind.
pub fn find_recorded(text: &str) -> Vec<SecretMatch> {
    let counts = |row: &SecretPattern, value: &str, before: &str, after: &str| {
        counts(row, value, before, after)
            && !(row.kind == SecretKind::Email && value.starts_with("git@"))
    };
    let mut found = matches(text, usize::MAX, |_| true, counts);
    found.extend(by_position(text));
    without_overlaps(text, found)
}

/// Whether a value of a row is a secret, in this text.
fn counts(row: &SecretPattern, value: &str, before: &str, after: &str) -> bool {
    !is_placeholder(value) && row.check.is_none_or(|check| check.accepts(value, before, after))
}

/// What is known by where it stands, and not by what it looks like.
fn by_position(text: &str) -> impl Iterator<Item = SecretMatch> {
    let of = |id: &str, kind: SecretKind, range| SecretMatch { id: id.to_owned(), kind, range };
    let commands = command_secrets::find(text).into_iter();
    let phrases = seed_phrases::find(text).into_iter();
    commands
        .map(move |range| of("command-secret", SecretKind::Assignment, range))
        .chain(phrases.map(move |range| of("seed-phrase", SecretKind::Seed, range)))
}

/// Matches that touch become one, of the most certain kind, so that no part of any is left. The name of
/// a variable before the more certain one is no part of the secret.
fn without_overlaps(text: &str, mut found: Vec<SecretMatch>) -> Vec<SecretMatch> {
    found.sort_by_key(|secret| (secret.range.start, secret.range.end));
    let mut matches: Vec<SecretMatch> = Vec::with_capacity(found.len());
    for secret in found {
        match matches.last_mut().filter(|last| secret.range.start < last.range.end) {
            Some(last) => {
                last.range.end = last.range.end.max(secret.range.end);
                if secret.kind < last.kind {
                    if is_assigned_name(&text[last.range.start..secret.range.start]) {
                        last.range.start = secret.range.start;
                    }
                    (last.kind, last.id) = (secret.kind, secret.id);
                }
            }
            None => matches.push(secret),
        }
    }
    matches
}

/// Whether this is `NAME=`.
fn is_assigned_name(text: &str) -> bool {
    text.strip_suffix('=').is_some_and(|name| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// `text` with each secret replaced by [`REDACTED`].
pub fn mask(text: &str) -> String {
    replaced(text, &find(text))
}

/// `text` with each secret of [`find_strict`] replaced by [`REDACTED`].
pub fn mask_strict(text: &str) -> String {
    replaced(text, &find_strict(text))
}

/// The first matches of the selected rows that `counts` accepts; it is given the row, the value,
/// and the text before and after it.
fn matches(
    text: &str,
    most: usize,
    wanted: impl Fn(&SecretPattern) -> bool,
    counts: impl Fn(&SecretPattern, &str, &str, &str) -> bool,
) -> Vec<SecretMatch> {
    let Some(secrets) = SECRETS.as_ref() else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (row, pattern) in secrets.for_text(text, wanted) {
        let values = pattern.captures_iter(text);
        // The first group that took part, or the whole.
        let values = values.filter_map(|hit| hit.iter().skip(1).flatten().next().or(hit.get(0)));
        let counted = values.filter(|value| {
            let (before, after) = (&text[..value.start()], &text[value.end()..]);
            counts(row, value.as_str(), before, after)
        });
        let secret = |value: regex::Match<'_>| {
            let tail = match row.check {
                Some(ValueCheck::Sentence) => passphrase_tail(value.as_str(), &text[value.end()..]),
                _ => 0,
            };
            let range = value.start()..value.end() + tail;
            SecretMatch { id: row.id.clone(), kind: row.kind, range }
        };
        found.extend(counted.take(most).map(secret));
    }
    found.sort_by_key(|secret| (secret.range.start, secret.range.end));
    found.truncate(most);
    found
}

fn replaced(text: &str, secrets: &[SecretMatch]) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut last = 0;
    for secret in secrets {
        if secret.range.start >= last {
            masked.push_str(&text[last..secret.range.start]);
            masked.push_str(REDACTED);
        }
        last = last.max(secret.range.end);
    }
    masked.push_str(&text[last..]);
    masked
}

/// Whether the table could be read; a scanner without it must not start.
pub(crate) fn is_ready() -> bool {
    SECRETS.is_some()
        && NEEDLES.is_some()
        && PUBLISHED.is_some()
        && command_secrets::is_ready()
        && seed_phrases::is_ready()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_compiles() {
        let secrets = SECRETS.as_ref().expect("the table is read");
        for (at, row) in secrets.rows.iter().enumerate() {
            assert!(secrets.pattern(at).is_some(), "{}", row.id);
            assert!(!row.is_published() || !row.needs.is_empty(), "{}", row.id);
        }
    }

    #[test]
    fn known_shapes_are_masked_and_words_are_not() {
        let key = format!("sk-proj-{}", "a".repeat(40));
        assert_eq!(mask(&format!("key {key} end")), "key [REDACTED CREDENTIAL] end");
        assert_eq!(mask(&format!("ghp_{}", "a1".repeat(18))), REDACTED);
        assert_eq!(mask(&format!("AIza{}", "b".repeat(35))), REDACTED);
        let body = "A".repeat(64);
        let pem = format!("-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----");
        assert_eq!(find(&pem).first().map(|s| s.id.as_str()), Some("private-key"));
        for plain in
            ["sk-learn is a library", "xoxb", "-----BEGIN PRIVATE KEY----- is how one starts"]
        {
            assert_eq!(mask(plain), plain);
        }
    }

    #[test]
    fn what_is_about_to_be_kept_is_looked_at_strictly() {
        let check = |text: &str, id: &str| {
            let ids: Vec<String> = find_strict(text).into_iter().map(|secret| secret.id).collect();
            assert!(ids.iter().any(|found| found == id), "{text}: {ids:?}");
        };
        check("use sk-live-EXAMPLE0000000000000000 for calls", "live-key");
        check("sk-ant-EXAMPLE-abcdef123456", "anthropic-key");
        check("card 4111 1111 1111 1111 exp 09/28", "card-number");
        check("cvv 123", "card-code");
        check("CVV: 9876", "card-code");
        check("password: hunter22", "assigned-secret");
        check("export API_KEY=abcdef123", "assigned-secret");
        check("{\"access_token\": \"abc123def\"}", "assigned-secret");
        check("**Password:** correct-horse", "assigned-secret");
        check("my password is hunter22", "spoken-secret");
        check("the passphrase is correcthorse", "spoken-secret");
        check("postgres://me:s3cret@db/x", "url-password");
        check("Authorization: Bearer abcdef.ghijkl", "bearer-token");
    }

    #[test]
    fn placeholders_and_prose_pass() {
        for text in [
            "token: <TOKEN>",
            "TOKEN=$TOKEN",
            "api key: ${API_KEY}",
            "password: your-password",
            "token=xxxxxxxx",
            "password is required for this page",
            "make sure the token is refreshed before each call",
            "the secret is stored in the vault",
            "the token is expired",
            "order 1234 5678 9012 3456",
            "0000 0000 0000 0000",
            "see https://example.com:8080/path@x",
        ] {
            assert_eq!(find_strict(text), [], "{text}");
        }
        assert_eq!(mask_strict("pw: a, token=abcdef12!"), "pw: a, token=[REDACTED CREDENTIAL]");
    }

    #[test]
    fn what_was_recorded_is_looked_at_by_kind() {
        let check = |text: &str, kinds: &[&str]| {
            let found: Vec<&str> =
                find_recorded(text).iter().map(|secret| secret.kind.as_str()).collect();
            assert_eq!(found, kinds, "{text}");
        };
        let body = "A".repeat(64);
        let pem = "-----BEGIN PRIVATE KEY-----";
        check(&format!("{pem}\n{body}\n-----END PRIVATE KEY-----"), &["pem"]);
        check("GITHUB_TOKEN=ghp_FAKEfakeFAKEfakeFAKEfake git push", &["token"]);
        check("sk-FAKEfakeFAKEfakeFAKEfake xoxb-0123456789", &["token", "token"]);
        check("npm_0123456789abcdef0123456789abcdef0123", &["token"]);
        check("eyJhbGciOiJI.eyJmYWtlIjoi.FAKEsignature", &["jwt"]);
        check("-H 'Authorization: Basic dXNlcjpwYXNz' x", &["auth"]);
        check("Cookie: sid=abc; lang=en", &["auth"]);
        check("AWS_SECRET_ACCESS_KEY=fakeFAKE+secret/key aws", &["assignment"]);
        check("deploy --api-key hunter2 now", &["assignment"]);
        check("curl https://someuser1@host.example/x?sig=abcdef", &["url", "url"]);
        check("your code is 418207", &["otp"]);
        check("418207 is your verification code", &["otp"]);
        check("card 4111 1111 1111 1111", &["card"]);
        check("to DE89 3704 0044 0532 0130 00 today", &["iban"]);
        check("call +351 912 345 678", &["phone"]);
        check("mail robin@example.com", &["email"]);
        check("id Zx8Qm2Lp0Vt7Rk4Wn1Yb6Hc3Jd5F end", &["entropy"]);
    }

    #[test]
    fn names_paths_and_digests_were_recorded_too_and_stay() {
        for text in [
            "Authorization: Bearer $CHAT_TOKEN",
            "GITHUB_TOKEN=$GITHUB_TOKEN git push",
            "git show 3fa1c2242b1f0e9d8c7b6a5f4e3d2c1b0a9f8e7d",
            "open-youtube-and-search-latest-openai-videos-today",
            "src/components/NavigationBarButton/index-page-layout",
            "5d0c7b1e-3f64-4a5b-9d1f-2c8e7a60b911",
            "session 20260721-170500",
            "exit code 0 after 14 files",
            "git@github.com:example/x.git",
            "GB00WEST12345698765432",
        ] {
            assert_eq!(find_recorded(text), [], "{text}");
        }
    }
}
