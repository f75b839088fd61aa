//! What a value looks like: a placeholder, a word of a sentence, a number with a check digit,
//! something random.

use serde::Deserialize;

use super::command_options::OPTION_NOUNS;
use super::national_ids::NationalIdCheck;

/// What the value of a pattern must pass besides not being a placeholder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ValueCheck {
    /// The check digit of cards.
    Luhn,
    /// The remainder of account numbers.
    Remainder,
    /// Letters that look random.
    Random,
    /// The same, of a shorter text beside a word of secrecy.
    RandomBesideWord,
    /// Not a word of a sentence: "the token is expired".
    Sentence,
    /// Not the words of a sentence in quotation marks.
    Phrase,
    /// Letters with digits or signs, as passwords are typed.
    Typed,
    /// Random or typed.
    RandomOrTyped,
    /// At least one digit.
    Digit,
    /// Something besides lower-case letters.
    Mixed,
    /// Not what a sentence says about an option.
    Option,
    /// The rule of a state.
    #[serde(untagged)]
    National(NationalIdCheck),
}

impl ValueCheck {
    /// Whether a value passes; `before` and `after` are the text around it.
    pub(super) fn accepts(self, value: &str, before: &str, after: &str) -> bool {
        match self {
            Self::Luhn => has_check_digit(value),
            Self::Remainder => has_remainder(value),
            Self::Random => looks_random(value),
            Self::RandomBesideWord => looks_random_beside_word(value),
            Self::Sentence => {
                let quoted = before.ends_with(['"', '\'', '`', '«', '„', '“', '”', '「', '『']);
                !is_prose(value, after, quoted)
            }
            Self::Phrase => !is_sentence(value),
            Self::Typed => looks_typed(value),
            Self::RandomOrTyped => looks_typed(value) || looks_random_beside_word(value),
            Self::Digit => value.chars().any(|c| c.is_ascii_digit()),
            Self::Mixed => !value.chars().all(|c| c.is_lowercase() || c == '-'),
            Self::Option => {
                let word = value.trim_end_matches(['.', ',', ';', ':', ')', ']']);
                // OpenSSL's names of places where a secret is.
                let is_place = ["env:", "file:", "fd:"].iter().any(|kind| word.starts_with(kind));
                let is_sign = word.starts_with(['-', '<', '|', '>']);
                !OPTION_NOUNS.contains(&word) && !is_place && !is_sign && word != "stdin"
            }
            Self::National(check) => check.accepts(value),
        }
    }
}

/// Keys that are marked as examples.
pub(super) fn is_example(secret: &str) -> bool {
    let lower = secret.to_ascii_lowercase();
    ["example", "your", "xxxx", "placeholder", "redacted", "...", "dummy", "<"]
        .iter()
        .any(|word| lower.contains(word))
}

/// Values that are placeholders as a whole: `<TOKEN>`, `$TOKEN`, `${TOKEN}`, `your-token`, `xxxx`.
pub(super) fn is_placeholder(value: &str) -> bool {
    let value = value.trim_end_matches(['.', '!', '?', ')', '*', ':']);
    let inside = |open: &str, close: &str| {
        value.strip_prefix(open).is_some_and(|rest| rest.ends_with(close))
    };
    let variable = value.strip_prefix('$').is_some_and(|name| {
        let name = name.strip_prefix("env:").unwrap_or(name);
        let name = name.trim_start_matches(['{', '(']).trim_end_matches(['}', ')']);
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    });
    // A key's prefix is not part of the placeholder.
    let bare = ["sk-ant-", "sk-proj-", "sk-", "ghp_"]
        .iter()
        .find_map(|prefix| value.strip_prefix(prefix))
        .unwrap_or(value)
        .to_ascii_lowercase();
    let masked = bare.chars().all(|c| matches!(c, 'x' | '*' | '.' | '-' | '_' | '•' | '…'));
    variable
        || masked
        || inside("<", ">")
        || inside("{{", "}}")
        || inside("[", "]")
        || inside("%", "%")
        // The two words of the mask, where a command is split at blanks.
        || value.starts_with("[REDACTED")
        || value == "CREDENTIAL]"
        || value.starts_with("$(")
        || value.starts_with("${")
        || bare.starts_with("your-")
        || bare.starts_with("your_")
        || ["process.env.", "os.environ", "env."].iter().any(|start| bare.starts_with(start))
}

/// Endings of words that describe a state: "expired", "missing", "readable".
const STATE_ENDINGS: &[&str] = &[
    "ed", "en", "ing", "able", "ible", "ary", "ent", "id", "ty", "ect", "al", "ive", "ous", "ful",
    "less", "ly", // English
    "ich", "ig", "bar", "ert", "elt", "cht", // German
    "oria", "orio", "ada", "ado", "ida", "ido", "ato", "ata", "uto", "uta", "toire", "is", "ise",
    "ée", "é", "aria", "ario", "ória", "ório",
];

/// Words that stand behind "the password is" in a sentence about passwords.
const SENTENCE_WORDS: &[&str] = &[
    // English
    "a",
    "about",
    "above",
    "absent",
    "after",
    "again",
    "all",
    "already",
    "also",
    "always",
    "an",
    "and",
    "another",
    "any",
    "as",
    "at",
    "back",
    "bad",
    "based",
    "because",
    "before",
    "below",
    "between",
    "blank",
    "both",
    "but",
    "by",
    "case",
    "clear",
    "different",
    "down",
    "due",
    "during",
    "each",
    "easy",
    "either",
    "empty",
    "enough",
    "even",
    "every",
    "exact",
    "false",
    "fine",
    "for",
    "found",
    "free",
    "fresh",
    "from",
    "good",
    "gone",
    "hard",
    "here",
    "how",
    "if",
    "in",
    "inside",
    "into",
    "it",
    "its",
    "just",
    "kept",
    "later",
    "left",
    "like",
    "long",
    "longer",
    "lost",
    "made",
    "meant",
    "mine",
    "more",
    "most",
    "much",
    "my",
    "never",
    "new",
    "next",
    "nil",
    "no",
    "none",
    "not",
    "nothing",
    "now",
    "null",
    "of",
    "off",
    "often",
    "ok",
    "okay",
    "old",
    "on",
    "once",
    "one",
    "only",
    "open",
    "or",
    "our",
    "out",
    "over",
    "part",
    "per",
    "plain",
    "plus",
    "public",
    "quite",
    "read",
    "ready",
    "really",
    "right",
    "safe",
    "same",
    "secure",
    "secret",
    "seen",
    "sent",
    "set",
    "short",
    "shorter",
    "shown",
    "simple",
    "so",
    "some",
    "something",
    "still",
    "strong",
    "stuck",
    "such",
    "sure",
    "that",
    "the",
    "their",
    "then",
    "there",
    "this",
    "three",
    "through",
    "to",
    "too",
    "true",
    "twelve",
    "two",
    "under",
    "undefined",
    "unique",
    "unknown",
    "unless",
    "until",
    "up",
    "usually",
    "valid",
    "very",
    "visible",
    "weak",
    "what",
    "when",
    "where",
    "whether",
    "which",
    "why",
    "with",
    "within",
    "without",
    "wrong",
    "yet",
    "your",
    "yours",
    "string",
    "text",
    "boolean",
    "bearer",
    "Bearer",
    "basic",
    "Basic",
    "token",
    "Token",
    "integer",
    "number",
    "header",
    "worse",
    "better",
    "best",
    "worth",
    "random",
    // German
    "abgelaufen",
    "falsch",
    "richtig",
    "leer",
    "nicht",
    "noch",
    "schon",
    "zu",
    "im",
    "auf",
    "der",
    "die",
    "das",
    "ein",
    "eine",
    "sicher",
    "schwach",
    "lang",
    "kurz",
    "immer",
    "nur",
    "bekannt",
    "Pflicht",
    "weg",
    "jetzt",
    "hier",
    "dort",
    "wieder",
    "mein",
    "meine",
    "dein",
    "unser",
    // Spanish, Portuguese, Italian, French
    "correcta",
    "incorrecta",
    "correcto",
    "incorrecto",
    "muy",
    "demasiado",
    "la",
    "el",
    "un",
    "una",
    "en",
    "mi",
    "su",
    "errada",
    "correta",
    "incorreta",
    "muito",
    "uma",
    "um",
    "na",
    "na",
    "minha",
    "sua",
    "errata",
    "corretta",
    "troppo",
    "il",
    "nel",
    "nella",
    "mia",
    "sua",
    "sicura",
    "forte",
    "debole",
    "fraca",
    "segura",
    "nueva",
    "nova",
    "nuova",
    "nouveau",
    "requis",
    "trop",
    "dans",
    "le",
    "une",
    "pas",
    "mon",
    "votre",
    "vide",
    "faux",
    "bon",
    "toujours",
    "siempre",
    "sempre",
    "optional",
    "obligatoire",
    "invalide",
    "valide",
    "expiré",
    "incorrect",
    "correct",
];

/// Whether a value where prose may stand is only a word of the sentence: it has nothing but lower-case
/// letters, and is a word that describes a state or leads on. `quoted`: a quotation mark opens it.
pub(super) fn is_prose(value: &str, after: &str, quoted: bool) -> bool {
    let word = value.trim_end_matches(['.', '!', '?', ')', ':', '…', '。', '！', '？', '*']);
    if is_passphrase(value, after) {
        return false;
    }
    if word.is_empty() || SENTENCE_WORDS.contains(&word) {
        return true;
    }
    let is_word = word.chars().all(|c| c.is_lowercase() || matches!(c, '-' | '\'' | '’'));
    if quoted || !is_word {
        // An acronym: "the token is JSON".
        return !quoted && word.len() <= 5 && word.chars().all(|c| c.is_ascii_uppercase());
    }
    // Passwords are typed on a keyboard; a whole word in another script is a word.
    let is_latin = word.chars().all(|c| c < '\u{250}' || c == '’');
    !is_latin || STATE_ENDINGS.iter().any(|end| word.ends_with(end))
}

/// Whether a value and the words behind it are words without a sentence: "correct horse battery
/// staple".
fn is_passphrase(value: &str, after: &str) -> bool {
    let rest = after.split(['.', ',', ';', '\n', '"', '\'', '`', '(', ':']).next().unwrap_or("");
    let words: Vec<&str> = rest.split_whitespace().take(8).collect();
    let is_plain = |word: &&str| {
        word.len() >= 3
            && word.chars().all(|c| c.is_ascii_lowercase())
            && !SENTENCE_WORDS.contains(word)
            && !["using", "and", "has", "was", "are", "you", "they", "must", "use"].contains(word)
    };
    let is_state = ["ed", "ing", "en"].iter().any(|end| value.ends_with(end));
    let opens = is_plain(&value) || value == "correct";
    opens && !is_state && words.len() >= 3 && words.iter().all(is_plain)
}

/// Words of labels and messages that stand where a value would.
const ABOUT_SECRETS: &[&str] = &[
    "password", "passwort", "token", "key", "required", "optional", "must", "your", "invalid",
    "wrong", "expired", "missing", "enter", "forgot", "empty", "please", "here",
];

/// Whether a quoted value is a sentence or a word about secrets: "must have eight characters".
fn is_sentence(value: &str) -> bool {
    let words: Vec<&str> = value.split_whitespace().collect();
    match words.as_slice() {
        [] => true,
        [word] => SENTENCE_WORDS.contains(word),
        // An address, a list, a sentence in another language: text of more words than a phrase has
        // is masked only where it is random, which other rows see.
        words if words.len() > 12 => true,
        words => words.iter().any(|word| {
            let word = word.trim_end_matches([',', '.', ':', '!', '?']).to_lowercase();
            let is_about = ABOUT_SECRETS.contains(&word.as_str());
            let leads_on = SENTENCE_WORDS.contains(&word.as_str())
                && !["correct", "secret", "strong", "random"].contains(&word.as_str());
            // Two or three words may be a phrase with "and" in it.
            is_about || leads_on && words.len() > 3
        }),
    }
}

/// The bytes behind a value that belong to it, where it is the first word of a passphrase.
pub(super) fn passphrase_tail(value: &str, after: &str) -> usize {
    if !is_passphrase(value, after) {
        return 0;
    }
    after.find(['.', ',', ';', '\n', '"', '\'', '`', '(', ':']).unwrap_or(after.len())
}

/// Names of algorithms, formats and versions: letters with digits that are not typed as a password.
const TECHNICAL: &[&str] = &[
    "sha", "md5", "base", "utf", "aes", "rsa", "oauth", "http", "argon", "bcrypt", "ed25519",
    "x509", "pkcs", "ipv", "utf-", "v", "version", "python", "node", "es20", "rfc", "iso", "p12",
    "ec2", "s3", "k8s", "i18n", "l10n", "a11y", "b64", "hs", "rs", "gpt", "step", "line", "page",
    "issue", "port", "win", "mp3", "mp4", "h264", "token", "password", "secret", "key", "pin",
    "api", "user", "2fa", "tls", "ssl", "x86", "arm", "amd", "q1", "q2", "q3", "q4", "log4",
    "auth0",
];

/// Whether a value looks like a typed password: letters with digits or signs, not a name, a path, a
/// version or an address.
pub(super) fn looks_typed(value: &str) -> bool {
    let word = value.trim_end_matches(['.', '!', '?', ')', ':', ',', ';', '。']);
    let lower = word.to_ascii_lowercase();
    let letters = word.chars().filter(|c| c.is_alphabetic()).count();
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let signs = word.chars().filter(|c| "!@#$%^&*+=?~|".contains(*c)).count();
    let is_technical = TECHNICAL.iter().any(|name| {
        lower.strip_prefix(name).is_some_and(|rest| {
            rest.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '-' | '_' | '/'))
        })
    });
    let is_address = lower.contains("://") || lower.starts_with(['/', '~', '.', '-']);
    let is_call = word.contains(['(', '{', '[', '<', '`']);
    let parts: Vec<&str> = lower.split(['-', '_', '.', '/']).collect();
    let is_dated = parts.len() > 1
        && parts.iter().all(|part| {
            part.chars().all(|c| c.is_ascii_digit())
                || part.chars().all(|c| c.is_ascii_alphabetic())
        })
        && signs == 0;
    letters >= 2
        && digits + signs >= 1
        && word.chars().count() >= 6
        && !is_technical
        && !is_address
        && !is_call
        && !is_dated
}

/// The check digit of a card number (Luhn).
pub(super) fn has_check_digit(value: &str) -> bool {
    let digits: Vec<u32> = value.chars().filter_map(|c| c.to_digit(10)).collect();
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(at, &digit)| match at % 2 {
            0 => digit,
            _ if digit > 4 => digit * 2 - 9,
            _ => digit * 2,
        })
        .sum();
    // Issuers' numbers start with 3 to 6, or with 2 if there are sixteen digits; times and ids do
    // not.
    let is_issued = match digits.first() {
        Some(3..=6) => true,
        Some(2) => digits.len() == 16,
        _ => false,
    };
    is_issued && sum.is_multiple_of(10) && digits.iter().any(|&digit| digit != digits[0])
}

/// The remainder of an account number (ISO 13616).
pub(super) fn has_remainder(value: &str) -> bool {
    let symbols: Vec<u32> = value.chars().filter_map(|c| c.to_digit(36)).collect();
    if !(15..=34).contains(&symbols.len()) {
        return false;
    }
    let (country, rest) = symbols.split_at(4);
    let turned = rest.iter().chain(country);
    1 == turned.fold(0, |sum, &symbol| (sum * if symbol < 10 { 10 } else { 100 } + symbol) % 97)
}

/// Bits per character above which a text of 24 or more characters is not natural language.
const RANDOM_BITS: f64 = 4.0;
/// The same beside a word of secrecy, where shorter texts count.
const RANDOM_BITS_BESIDE: f64 = 3.2;

/// Shannon's entropy, in bits per byte.
fn entropy(value: &str) -> f64 {
    let mut counts = [0u32; 256];
    for byte in value.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let length = value.len() as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / length)
        .map(|share| -share * share.log2())
        .sum()
}

/// Whether letters and digits look random: not a name, path, UUID or digest.
pub(super) fn looks_random(value: &str) -> bool {
    entropy(value) > RANDOM_BITS && !is_named(value)
}

/// Whether they look random enough where a word of secrecy stands beside them.
pub(super) fn looks_random_beside_word(value: &str) -> bool {
    let has = |test: fn(&char) -> bool| value.chars().any(|c| test(&c));
    let is_mixed = has(char::is_ascii_digit) && has(char::is_ascii_alphabetic);
    // A commit, which every log prints; keys of services have 32 or 64.
    let is_commit = value.len() == 40 && value.bytes().all(|byte| byte.is_ascii_hexdigit());
    entropy(value) > RANDOM_BITS_BESIDE && is_mixed && !is_commit && !is_named(value)
}

fn is_named(value: &str) -> bool {
    let is_digest = ["sha256-", "sha384-", "sha512-"].iter().any(|start| value.starts_with(start));
    let mut parts = value.split(['/', '-', '_', '=', '+', '.']).filter(|part| !part.is_empty());
    is_digest || parts.all(is_wordlike)
}

/// Whether a part of a name is a word, a number, or several words joined.
fn is_wordlike(part: &str) -> bool {
    let letters = part.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = part.len() - letters.len();
    let capitals = letters.chars().filter(char::is_ascii_uppercase).count();
    let is_plain = letters.chars().all(|c| c.is_ascii_alphabetic());
    let all_capitals = capitals == letters.len() && letters.len() <= 16;
    let few_capitals = capitals * 3 <= letters.len() && part.len() <= 40;
    is_plain && (letters.is_empty() || digits <= 4) && (all_capitals || few_capitals)
}
