//! What no correction is, however much it sounds like one: a text that is wanted, a story, another
//! person's rule, a fact that is put right, an order for this once.

use std::sync::LazyLock;

use regex::Regex;

/// Why a message that the classifier takes for a correction is not one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CaptureVeto {
    /// The user wants a text that holds a rule.
    TextWanted,
    /// The user tells a story, or what others say.
    Story,
    /// A fact of this answer is put right.
    Fact,
    /// It holds for this once.
    Once,
    /// The user wants to know something about a rule.
    Question,
}

impl CaptureVeto {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::TextWanted => "text-wanted",
            Self::Story => "story",
            Self::Fact => "fact",
            Self::Once => "once",
            Self::Question => "question",
        }
    }
}

const VETOES: &[(CaptureVeto, &str)] = &[
    (
        CaptureVeto::TextWanted,
        r"^(?:please |can you |could you )?(?:write|draft|compose|generate|create|invent|design|draw) (?:me )?(?:(?:a|an|some|this|five|three|ten|our|my)\b|(?:in|into|for) [a-z]+|:)|^(?:please |can you |could you )?(?:translate|rephrase|paraphrase)\b|^(?:please )?rewrite (?:this|it|the sentence)\b|^(?:please )?make (?:me )?(?:a|an) (?:sign|poster|list|checklist|card|flyer|text|policy|rule)\b|^(?:please )?make the (?:bot|assistant|script|form|page|app|function)\b|^help me (?:write|tell|say|phrase)\b",
    ),
    (
        CaptureVeto::TextWanted,
        r"^(?:schreib|schreibe|formuliere|übersetze?|erstelle) (?:[a-zäöüß]+ ){0,4}[a-zäöüß]+ ?:|^(?:écris|rédige|traduis)\b.{0,40} ?:|^(?:escribe|redacta|traduce|cambia)\b.{0,40}[:«]|^(?:escreve|traduz)\b.{0,40}:|^(?:scrivi|traduci)\b.{0,40}:|^(?:напиши|переведи)[^.]{0,40}:|^写[^。]{0,12}[:：]|^[^。]{0,12}(?:書いて|써 줘)\s*[:：]",
    ),
    (
        CaptureVeto::TextWanted,
        r"\b(?:write|draw|make) (?:a|an|the) (?:funny |short )?(?:poem|caption|scene|song|story|joke|comic|stegosaurus|sign)\b|[.!] (?:draw|write|estimate|translate|summari[sz]e) (?:a |an |it|this|the readme)",
    ),
    (
        CaptureVeto::Story,
        r"\bin my (?:old|last|first|previous) (?:job|company|flat|school|team)\b|\bat my (?:old|last|first) [a-z]+\b|^i told my\b|\b(?:lol|haha+)\b.{0,3}$",
    ),
    (
        CaptureVeto::Question,
        r"^(?:check|look up|find out|see|prüf mal|verifica) (?:if|whether|ob|se|si)\b|^(?:what|which|how|who)\b[^?]{3,}\?.{0,160}$|\bwas i (?:rude|wrong|mean)\b",
    ),
    (
        CaptureVeto::Once,
        r"\bthis (?:once|one (?:mail|letter|time|order)|time only)\b|\b(?:on|for) this (?:run|branch|build|one|letter|mail|trip|presentation)\b|\bjust (?:this once|for today|today)\b|\bfor today\b|\besta vez\b|\bcette fois(?:-ci)?\b|\bdiesmal\b|\bausnahmsweise\b|\bstavolta\b|\bdesta vez\b|на этот раз|这次|今回(?:だけ|は)|이번(?:에는|만)",
    ),
    (
        CaptureVeto::Fact,
        r"^(?:no[ ,]|nee,|nein,|non,|não,|нет,|nope )?\s?[^.!?]{3,60}\b(?:is|was|are|it's|isn't|c'est|ist|es|è|é)\b[^.!?]{1,40}, ?(?:not|nicht|pas|no|non|não) (?:am |in |on |at )?[\p{Lu}\d]",
    ),
];

/// A lasting word keeps a message from being taken for an order for this once.
const LASTS: &str = r"\bfrom now on\b|\balways\b|\bnever\b|\bevery\b|\bwhenever\b|\bin future\b|\bgoing forward\b|\bour\b|\bwe\b|\bin general\b|künftig|immer|toujours|siempre|sempre|всегда|впредь|以后|今後|앞으로";
/// A question that tells off is a correction.
const TELLS_OFF: &str = r"\bwhat's with\b|\bhow (?:often|many times|come)\b|\bwho told you\b|\bagain\b|\bstill\b|\bwhy (?:do|are|did|on earth|would) you\b";

static TABLE: LazyLock<Vec<(CaptureVeto, Regex)>> = LazyLock::new(|| {
    let rows = VETOES.iter();
    rows.filter_map(|(veto, pattern)| Some((*veto, Regex::new(pattern).ok()?))).collect()
});
static LASTING: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(LASTS).ok());
static TELLING_OFF: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(TELLS_OFF).ok());

/// Why a message is not a correction, if it is none.
pub(super) fn veto(message: &str) -> Option<CaptureVeto> {
    let trimmed = message.trim().replace(['’', '‘', '`'], "'");
    let plain = trimmed.to_lowercase();
    let has = |pattern: &Option<Regex>| pattern.as_ref().is_some_and(|p| p.is_match(&plain));
    let (lasts, tells_off) = (has(&LASTING), has(&TELLING_OFF));
    let found = TABLE.iter().find(|(veto, pattern)| {
        let text = if *veto == CaptureVeto::Fact { &trimmed } else { &plain };
        let outweighed = match veto {
            CaptureVeto::Once | CaptureVeto::Fact => lasts,
            CaptureVeto::Question => tells_off,
            CaptureVeto::TextWanted | CaptureVeto::Story => false,
        };
        !outweighed && pattern.is_match(text)
    });
    found.map(|(veto, _)| *veto)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_correction_is_told_why() {
        assert_eq!(TABLE.len(), VETOES.len());
        let check = |message: &str, why: Option<CaptureVeto>| {
            assert_eq!(veto(message), why, "{message}");
        };
        check("Write a style guide: always sign your texts.", Some(CaptureVeto::TextWanted));
        check("In my old job we never had to sign, lol", Some(CaptureVeto::Story));
        check("Oslo is in Norway, not Sweden.", Some(CaptureVeto::Fact));
        check("skip the checks on this run", Some(CaptureVeto::Once));
        check("Check if the wiki says that guests must sign in", Some(CaptureVeto::Question));
        check("no, always run the tests before you commit", None);
        check("why do you keep closing my tabs? leave them open", None);
    }
}
