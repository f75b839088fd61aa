//! Personal words in what a user said: names of people, addresses, numbers. A correction is kept for a
//! long time and in a file that is shared, so that they give way to a word for what they are.
//!
//! What must never happen here: a number, an e-mail address or a street that stays because a rule would
//! read better with it. Names are found by lists, titles and the words before them; one that looks like
//! an everyday word stays.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use sinew_cortex::signals::{is_known_word, is_person_name};
use sinew_guard::secrets::{self, SecretKind};

/// What stands for a name.
const NAME: &str = "<name>";

/// Names that are everyday words, too: they count only beside another sign of a name.
const EVERYDAY: &[&str] = &[
    "amber", "april", "art", "august", "aurora", "austin", "baker", "ben", "bill", "bob", "brown",
    "carol", "carter", "chase", "cliff", "crystal", "daisy", "dawn", "dean", "don", "drew",
    "faith", "florence", "frank", "gene", "grace", "grant", "green", "guy", "hall", "hill",
    "holly", "hope", "hunter", "ivy", "jack", "jean", "jordan", "josh", "joy", "july", "june",
    "king", "lee", "lily", "long", "love", "mark", "mason", "max", "may", "miles", "miller",
    "moore", "nick", "pat", "penny", "ray", "rob", "robin", "rose", "ruby", "sage", "silva", "sky",
    "smith", "stone", "sue", "summer", "taylor", "tony", "violet", "viola", "walker", "white",
    "will", "wright", "young", "alan", "sam", "jay", "ana", "ali", "mila", "costa", "santos",
    "wang", "russo",
];

struct PersonalPattern {
    pattern: Regex,
    stands: &'static str,
}

/// Streets with their numbers, as they are written in ten languages.
const STREETS: &[&str] = &[
    r"\b\d{1,5}[a-z]? (?:[NSEW]\.? )?(?:\p{Lu}[\p{L}'’-]+ ){1,3}(?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr|Way|Square|Sq|Court|Ct|Place|Terrace|Close|Crescent|Boulevard|Blvd)\b\.?(?:,? (?:Apt|Apartment|Flat|Unit|Suite)\.? \w{1,5})?",
    r"\b\p{Lu}[\p{L}-]*(?:straße|strasse|str\.|weg|platz|allee|gasse|ring|damm|ufer|steig)\s+\d{1,4}\s?[a-z]?\b",
    r"\b(?:Am|An der|Auf der|Im|Zum|Zur|Unter den) \p{Lu}[\p{L}-]+ \d{1,4}\s?[a-z]?\b",
    r"(?i)\b\d{1,4}(?: ?bis| ?ter)?,? (?:rue|avenue|boulevard|bd|place|impasse|chemin|allée|quai)(?: (?:de|du|des|de la|la|le|les))?(?: |')[\p{L}'’-]+(?: [\p{Lu}][\p{L}'’-]+){0,3}",
    r"(?i)\b(?:calle|avenida|avda\.?|plaza|paseo|via|viale|piazza|corso|rua|praça|travessa)(?: (?:de|del|da|do|dos|das|della|di))?(?: (?:la|los|las))? [\p{L}'’-]+(?: [\p{Lu}][\p{L}'’-]+){0,3},? (?:n[º°.]? ?)?\d{1,5}\b",
    r"(?i)\b(?:ул\.?|улица|улице|проспект|пр-т|переулок|пер\.|шоссе|наб\.) ?[\p{Cyrillic}-]+(?: [\p{Cyrillic}-]+){0,2},? (?:д\.? ?|дом )?\d{1,4}(?:,? ?(?:кв\.?|квартира) ?\d{1,4})?",
    r"[\p{Han}]{2,8}(?:路|街|大道|巷|弄)[\d０-９]{1,5}号?(?:[\d０-９]{1,4}(?:室|楼))?",
    r"[\p{Han}\p{Hiragana}\p{Katakana}]{1,8}(?:町|丁目|市|区)[\p{Han}\p{Hiragana}\p{Katakana}]{0,6}[\d０-９]{1,4}(?:[-－ー丁目番地号の]+[\d０-９]{1,4}){1,3}号?",
    r"[\p{Hangul}]{1,8}(?:로|길|대로)\s?\d{1,4}(?:-\d{1,4})?(?:번길 ?\d{1,4})?(?:,? ?\d{1,4}(?:동|호))*",
];

/// A person's name after a title, in the languages of the lexicon, and before one.
const TITLED: &[&str] = &[
    r"\b((?:Mr|Mrs|Ms|Miss|Dr|Prof|Professor|Sir|Herrn?|Frau|Mme|Madame|Monsieur|Mlle|Señora?|Señorita|Sra?|Doña|Signora?|Sig|Senhora?|Dona|Tante|Onkel|Oma|Opa|Aunt|Uncle|Grandma|Grandpa|[Гг]осподин[ау]?|[Гг]оспож[аеу])\.? )\p{Lu}[\p{L}'’-]+(?: \p{Lu}[\p{L}'’-]+)?",
    r"()[赵钱孙李周吴郑王冯陈卫蒋沈韩杨朱秦许何吕张孔曹严华金魏陶姜谢邹苏潘葛范彭鲁韦马方任袁柳唐罗薛贺倪汤郝安常于傅皮康伍余顾孟黄萧尹姚邵汪毛戴宋庞熊纪舒项祝董梁杜阮席季强贾江郭梅林钟徐邱骆高夏蔡田胡凌霍万柯管卢莫丁邓洪包石崔龚程裴陆翁刘][\p{Han}]{0,2}(?P<title>先生|女士|小姐|太太|经理|老师|医生|律师|主任|总监)",
    r"()(?:[\p{Han}]{1,4}|[\p{Katakana}ー]{2,8})(?P<title>さん|氏|くん|ちゃん)",
    r"()[\p{Hangul}]{2,4}(?P<title> ?씨)",
];

/// What people say before a name when it is one.
const ADDRESSED: &str = r"\b(?i:tell|ask|call|phone|ring|cc|bcc|e-?mail|text|message|ping|invite|remind|thank|meet|visit|dear|hi|hello|hey|named|called|sag|frag|ruf|schreib(?:e)?|liebe[r]?|hallo|demande à|dis à|appelle|chère?|bonjour|pregunta a|dile a|llama a|querid[oa]|chiedi a|chiama|car[oa]|pergunta a|liga para)(?-i:,? )(?P<who>\p{Lu}[\p{Ll}'’-]+(?: \p{Lu}[\p{Ll}'’-]+)?)";

/// What belongs to a person: "Rita's patch".
const OWNED: &str = r"(?P<who>\p{Lu}\p{Ll}{2,})['’]s\b";

/// Given names as they are written in Cyrillic, in every case.
const CYRILLIC: &str = r"\b(?:Ан[нт](?:а|ы|е|у|ой|он|она|ону)|Иван(?:а|у|ом|е)?|Мари(?:я|и|ю|ей)|Ольг(?:а|и|е|у|ой)|Серге(?:й|я|ю|ем)|Алекс(?:ей|ея|ею|андр\p{L}{0,2})|Дмитри(?:й|я|ю|ем)|Елен(?:а|ы|е|у|ой)|Наталь(?:я|и|ю|ей)|Наташ(?:а|и|е|у|ей)|Татьян(?:а|ы|е|у|ой)|Михаил(?:а|у|ом)?|Никола(?:й|я|ю|ем)|Пётр|Петр(?:а|у|ом)|Светлан(?:а|ы|е|у|ой)|Ирин(?:а|ы|е|у|ой)|Андре(?:й|я|ю|ем)|Павел|Павл(?:а|у|ом)|Маш(?:а|и|е|у|ей)|Саш(?:а|и|е|у|ей)|Кат(?:я|и|е|ю|ей))\b(?: \p{Lu}\p{L}+(?:ов|ев|ин|ская|ский|ова|ева|ина|овой|евой|иной|ову|еву|ину)\b)?";

static PATTERNS: LazyLock<Vec<PersonalPattern>> = LazyLock::new(|| {
    let of = |pattern: &str, stands| {
        Some(PersonalPattern { pattern: Regex::new(pattern).ok()?, stands })
    };
    let streets = STREETS.iter().filter_map(|pattern| of(pattern, "<address>"));
    let titled = TITLED.iter().filter_map(|pattern| of(pattern, "${1}<name>${title}"));
    streets.chain(titled).chain(of(CYRILLIC, NAME)).collect()
});
static ADDRESSEE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(ADDRESSED).ok());
static OWNER: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(OWNED).ok());
static WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\p{Lu}[\p{Ll}'’]+(?:-\p{Lu}\p{Ll}+)?(?: \p{Lu}[\p{Ll}'’-]+)*").ok()
});

/// A text without its personal words.
pub(crate) fn without_personal(text: &str) -> String {
    let mut kept = without_numbers(text);
    for personal in PATTERNS.iter() {
        kept = personal.pattern.replace_all(&kept, personal.stands).into_owned();
    }
    kept = unknown_names(&kept, &ADDRESSEE);
    kept = unknown_names(&kept, &OWNER);
    listed_names(&kept)
}

/// E-mail addresses, telephone numbers, accounts and the like, by the one table of them.
fn without_numbers(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut at = 0;
    for found in secrets::find_recorded(text) {
        let stands = match found.kind {
            SecretKind::Email => "<e-mail>",
            SecretKind::Phone => "<phone>",
            SecretKind::Iban => "<account>",
            SecretKind::NationalId => "<id>",
            SecretKind::Card => "<card>",
            _ => continue,
        };
        kept.push_str(&text[at..found.range.start]);
        kept.push_str(stands);
        at = found.range.end;
    }
    kept.push_str(&text[at..]);
    kept
}

/// Names that no list has, after words that a name follows.
fn unknown_names(text: &str, pattern: &Option<Regex>) -> String {
    let Some(pattern) = pattern else { return text.to_owned() };
    let replaced = pattern.replace_all(text, |found: &Captures<'_>| {
        let whole = found.get(0).map_or("", |whole| whole.as_str());
        let Some(who) = found.name("who").map(|who| who.as_str()) else { return whole.to_owned() };
        let who = who.trim_end_matches("'s").trim_end_matches("’s");
        let first = who.split([' ', '\'', '’']).next().unwrap_or(who).to_lowercase();
        match is_known_word(&first) && !is_person_name(&first) || COMMON.contains(&&*first) {
            true => whole.to_owned(),
            false => whole.replacen(who, NAME, 1),
        }
    });
    replaced.into_owned()
}

/// Words with a capital letter that are no names: days, months, and what sentences begin with.
const COMMON: &[&str] = &[
    "it",
    "that",
    "there",
    "here",
    "what",
    "let",
    "today",
    "everyone",
    "one",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "christmas",
    "easter",
    "english",
    "german",
    "french",
    "spanish",
    "italian",
    "russian",
    "chinese",
    "japanese",
    "korean",
    "portuguese",
    "sie",
    "ihn",
    "ihm",
    "mir",
    "mich",
    "uns",
    "bitte",
    "world",
    "god",
    "he",
    "she",
    "who",
    "team",
    "all",
    "children",
    "women",
    "men",
    "people",
    "mom",
    "mum",
    "dad",
    "yesterday",
    "tomorrow",
    "api",
    "google",
    "excel",
    "word",
    "mother",
    "father",
    "valentine",
    "new",
    "the",
    "please",
    "kunden",
    "kollegen",
    "freunde",
    "eltern",
];

/// Names of the lists, with a family name after them.
fn listed_names(text: &str) -> String {
    let Some(words) = WORDS.as_ref() else { return text.to_owned() };
    let replaced = words.replace_all(text, |found: &Captures<'_>| {
        let Some(whole) = found.get(0) else { return String::new() };
        let starts = text[..whole.start()].trim_end();
        let is_start = starts.is_empty() || starts.ends_with(['.', '!', '?', ':', '"', '\n', '(']);
        let parts: Vec<&str> = whole.as_str().split(' ').collect();
        let plain = |part: &str| {
            let lower = part.to_lowercase().replace('’', "'");
            lower.trim_end_matches("'s").split('-').next().unwrap_or_default().to_owned()
        };
        let at = parts.iter().enumerate().position(|(at, part)| {
            let word = plain(part);
            let beside = parts.get(at + 1).is_some_and(|next| is_person_name(&plain(next)));
            let doubtful = EVERYDAY.contains(&&*word) && (at == 0 && is_start || !beside);
            is_person_name(&word) && (!doubtful || beside)
        });
        let Some(at) = at else { return whole.as_str().to_owned() };
        let before = parts.get(..at).unwrap_or_default().join(" ");
        let gap = if before.is_empty() { "" } else { " " };
        let owns = parts.last().is_some_and(|last| last.ends_with("'s") || last.ends_with("’s"));
        format!("{before}{gap}{NAME}{}", if owns { "'s" } else { "" })
    });
    replaced.into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_is_one() {
        assert_eq!(PATTERNS.len(), STREETS.len() + TITLED.len() + 1);
        assert!(ADDRESSEE.is_some() && OWNER.is_some() && WORDS.is_some());
    }

    #[test]
    fn personal_words_give_way_to_what_they_are() {
        let check = |said: &str, kept: &str| assert_eq!(without_personal(said), kept, "{said}");
        check("always cc anna.k@praxis-nord.example on invoices", "always cc <e-mail> on invoices");
        check("deliver to 12 Rose Hill Lane, not the shop", "deliver to <address>, not the shop");
        check("pakete immer in den Lindenweg 4", "pakete immer in den <address>");
        check(
            "anything to parents goes past Ms. Duarte first",
            "anything to parents goes past Ms. <name> first",
        );
        check("ask Katarzyna before you merge", "ask <name> before you merge");
        check("let Thomas Weber sign it", "let <name> sign it");
        check("check Rita's patch", "check <name>'s patch");
        check("メールは必ず田中さんにも送って", "メールは必ず<name>さんにも送って");
        check("以后先给王经理看", "以后先给<name>经理看");
        check("сначала покажи Ольге Петровой", "сначала покажи <name>");
    }

    #[test]
    fn rules_without_personal_words_stay_as_they_are() {
        for rule in [
            "always run the tests before you commit",
            "Will you never learn? May I remind you: no pie charts",
            "Mark every change in the log and grant no rights",
            "use Python 3.12 and never push to GitHub on Fridays",
            "prices are from 30 to 60 euros, invoices are due in 14 days",
            "Use Excel's own formulas, ask Monday's team first",
            "Rechnungen immer mit Nummer und Datum im Betreff",
            "use port 8080 and node 20",
            "今後は見積書を送る前に金額をもう一度確認してください",
            "以后发邮件之前先让我看一遍",
        ] {
            assert_eq!(without_personal(rule), rule);
        }
    }
}
