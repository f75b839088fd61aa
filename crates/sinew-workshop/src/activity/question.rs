//! Whether a message only wants to know something: a lookup, not a task.

use std::sync::LazyLock;

use regex::Regex;

/// Questions for a fact, by how they begin, and lookups in the form of an order.
const LOOKUPS: &[&str] = &[
    r"^(?:so |and |but |ok,? |hey,? )?(?:what|what's|how|how's|who|who's|whose|which|when|where|why|is|are|was|were|does|did|has|am)\b",
    r"^(?:do|have|had) (?:i|you|we|they|he|she)\b",
    r"^(?:can|could|may|should|must) (?:i|we|he|she|they|it)\b",
    r"^(?:list|show me|count|explain|tell me (?:about|how|what|why)|give me (?:some )?(?:context|background)|name)\b",
    r"^¿?(?:qué|cuánt[oa]s?|cuándo|quién|cuál|de qué|cómo|dónde|por qué)\b",
    r"^(?:welche[rsn]?|wer|wann|wie viele?|wie|was|wo|warum|wieso)\b",
    r"^(?:combien|quel(?:le)?s?|à quelle|qui|quand|où|pourquoi|est-ce)\b",
    r"^(?:quant[oiae]|quando|chi|quale|dove|perché|come|che cosa)\b",
    r"^(?:quant[oa]s?|quem|qual|onde|quando|o que|por que)\b",
    r"^(?:сколько|кто|когда|где|какой|какая|какие|почему|зачем|на как)",
    r"吗\s*[?？]?$|多少|哪里|在哪|几点|是哪|什么时候|为什么",
    r"いつまで|いつです|ですか|ますか|方法は|どこ|なぜ",
    r"얼마나|몇 시|언제|어디|왜 ",
];

/// Questions for a plain fact: no rule is about answering them.
const FACTS: &str = r"^(?:so |and |but )?(?:how (?:long|much|old|far|big|high|warm)|who|who's|whose|which|when|where|what time|what's the|what is the)\b|^(?:wer|wann|welche[rsn]?|wo)\b|^(?:quand|qui|où|quel(?:le)?s?|à quelle)\b|^¿?(?:cuándo|quién|dónde|cuál)\b|^(?:quando|chi|dove|quale|quem|onde|qual)\b|^(?:кто|когда|где|какой)|谁|在哪|几点|いつ|どこ|몇 시|언제|어디";

/// A question in form that asks for something to be done.
const REQUESTS: &str = r"\b(?:can|could|would|will) you\b|\bplease\b|\bkannst du\b|\bkönntest du\b|\bpeux-tu\b|\btu peux\b|\bpourrais-tu\b|\bpuedes\b|\bpodrías\b|\bpodes\b|\bpode\b|\bpoderia\b|\bpuoi\b|\bpotresti\b|можешь|можно|帮我|能不能|てくれ|ほしい|欲しい|해 ?줘|해 ?줄|on passe|was jetzt|what now|what should we do|what do you think|\bcan we\b";

static LOOKUP: LazyLock<Vec<Regex>> =
    LazyLock::new(|| LOOKUPS.iter().filter_map(|pattern| Regex::new(pattern).ok()).collect());
static REQUEST: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(REQUESTS).ok());

static FACT: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(FACTS).ok());

/// Whether a message asks for a plain fact.
pub(super) fn is_fact_question(message: &str) -> bool {
    let plain = message.trim().to_lowercase().replace(['’', '‘', '`'], "'");
    is_lookup(message) && FACT.as_ref().is_some_and(|fact| fact.is_match(&plain))
}

/// Whether a message only wants to know something.
pub fn is_lookup(message: &str) -> bool {
    let plain = message.trim().to_lowercase().replace(['’', '‘', '`'], "'");
    let asks = REQUEST.as_ref().is_some_and(|request| request.is_match(&plain));
    let ends = plain.ends_with(['?', '？']);
    !asks && (ends || LOOKUP.iter().any(|pattern| pattern.is_match(&plain)))
}

#[cfg(test)]
mod tests {
    use super::is_lookup;

    #[test]
    fn questions_for_a_fact_are_told_from_tasks() {
        for lookup in [
            "which branch is it on?",
            "how many commits are there",
            "list the open tickets",
            "can I take a bike on the tram?",
            "wer hat das geschrieben?",
            "combien de places reste-t-il ?",
            "сколько стоит билет",
            "地铁站在哪",
            "電気代の支払いはいつまで?",
        ] {
            assert!(is_lookup(lookup), "{lookup}");
        }
        for task in [
            "commit this",
            "can you fix it and push?",
            "could you book a room",
            "kannst du das einchecken?",
            "帮我写一封邮件",
            "テストを書いてくれる?",
        ] {
            assert!(!is_lookup(task), "{task}");
        }
    }
}
