//! Counter-cues: reasons not to keep a sentence, in all languages.

use super::CueFamily::{Now, Own, Question, Reported, SmallTalk};
use super::{CaptureCue, against};

pub(super) const AGAINST: &[CaptureCue] = &[
    against(Question, r"[?？]\s*$|^¿"),
    against(
        Question,
        r"^(?:so |and |but |hey,? |ok,? )?(?:what|how|why|where|who|which|when) ?(?:'s|is|are|was|were|do|does|did|can|could|should|would|will|am|many|much|long|often) (?:the|a|an|i|you|we|he|she|it|they|my|your|this|that|there|to|of)\b",
    ),
    against(Question, r"(?:吗|呢|么)\s*$|(?:ですか|ますか|でしょうか|ませんか)\s*。?$"),
    against(
        Now,
        r"\bfor now\b|\bright now\b|\bfor (?:the moment|today|tonight|once)\b|\bjust (?:this once|this time|today|for now|now)\b|\bthis (?:time|once)\b|\bonly (?:today|this time|this once)\b|\btoday\b|\btonight\b|\btomorrow\b|\byet\b|\bat the moment\b|\bfor this [a-z]+\b|\bon this (?:one|slide|page|ticket)\b|\bthis (?:morning|afternoon|evening|week|weekend|slide)\b|\buntil (?:i|monday|tuesday|wednesday|thursday|friday|saturday|sunday|then)\b|\bin (?:an?|\d+|five|ten|twenty) (?:hours?|minutes?|mins?)\b|\bat \d{1,2}(?::\d\d)?(?: ?[ap]m)?\b|\btemporarily\b",
    ),
    against(
        Now,
        r"\bfür (?:jetzt|heute|den moment)\b|\berst ?mal\b|\bvorerst\b|\bdiesmal\b|\bnur (?:dieses mal|heute|jetzt)\b|\bheute\b|\bmorgen\b|\bgerade\b",
    ),
    against(
        Now,
        r"\bpor (?:ahora|el momento)\b|\bde momento\b|\besta vez\b|\bsolo (?:por )?hoy\b|\bhoy\b|\bmañana\b|\bpour (?:l'instant|le moment)\b|\bcette fois\b|\baujourd'hui\b|\bdemain\b|\bce soir\b|\bper (?:ora|adesso)\b|\bstavolta\b|\bquesta volta\b|\boggi\b|\bdomani\b|\bal momento\b|\bpor (?:agora|enquanto)\b|\bd[ae]sta vez\b|\bdessa vez\b|\bhoje\b|\bamanhã\b",
    ),
    against(
        Now,
        r"暂时|这次|这一次|今天|明天|目前|就这一次|とりあえず|今回(?:だけ|のみ|は)|今日|明日|ひとまず|今だけ",
    ),
    against(
        Reported,
        r"\b(?:my|his|her|their|our|the|a|some|one) (?:[a-z]+ )?(?:sister|brother|mom|mum|mother|dad|father|wife|husband|boss|manager|friend|colleague|coworker|co-worker|neighbou?r|teacher|doctor|dentist|kids?|son|daughter|partner|flatmate|roommate|cousin|aunt|uncle|grandma|grandpa|landlord|teammate|coach|trainer|guy|girl|woman|man|therapist|professor|lawyer|barista|driver|girlfriend|boyfriend|ex)s? (?:always |never |often |just |once |also |still )?(?:says?|said|told|tells|keeps? (?:saying|telling)|thinks|thought|asked|asks|used to|reckons|insists|swears|claims|believes|always|never)\b",
    ),
    against(
        Reported,
        r"\b(?:he|she|they|people|everyone|somebody|someone) (?:always |never |often |just |also )?(?:says?|said|told|tells|keeps? saying|claims?|insists?)\b|\btold (?:his|her|their|the) (?:team|staff|kids|people|class)\b",
    ),
    against(
        Reported,
        r"\b(?:sign|article|book|docs?|documentation|readme|page|e-?mail|mail|manual|post|tweet|video|blog|notice|handbook|website|site|guide|label|recipe|song|letter|ticket|comment|banner|popup|app|wiki) (?:says?|said|states?|reads?|recommends?|claims?|tells|told|asks?)\b|\baccording to\b",
    ),
    against(
        Reported,
        r"\b(?:mein|meine|unser|unsere|der|die|sein|seine|ihr|ihre) [a-zäöüß]+ (?:sagt|sagte|meint|meinte|hat (?:immer )?gesagt)\b|\bmi [a-záéíóúñ]+ (?:siempre |nunca )?(?:dice|decía|dijo)\b|\bm(?:on|a) [a-zàâçéèêëîïôûùüÿœ]+ (?:dit|disait|a dit|me dit)\b|\b(?:mio|mia|il mio|la mia) [a-zàèéìòù]+ (?:dice|diceva|ha detto)\b|\b(?:meu|minha|o meu|a minha) [a-záâãàéêíóôõúç]+ (?:sempre )?(?:diz|disse|dizia)\b",
    ),
    against(
        Reported,
        r"(?:妈妈|爸爸|老板|朋友|同事|老师|经理|他|她|他们)(?:总是|老是|总|一直|跟我)?说|(?:母|父|上司|友達|先生|彼|彼女|妻|夫|部長)(?:は|が|も)?.{0,12}(?:と|って)(?:言っ|言い|いつも)",
    ),
    against(
        Own,
        r"\bi (?:always|never|usually|often|sometimes|mostly) (?:[a-z]+)|\bi(?:'ve| have) (?:always|never)\b|\bwe (?:always|never) (?:go|went|had|have|eat|ate|watch|visit|travel|laugh|forget)\b|\b(?:me too|same here)\b",
    ),
    against(
        Own,
        r"\bich (?:[a-zäöüß]+ )?(?:immer|nie)\b|\byo (?:siempre|nunca)\b|\bje (?:[a-zàâçéèêëîïôûùüÿœ']+ )?(?:toujours|jamais)\b|\bio [a-zàèéìòù]+ (?:sempre|mai)\b|\beu (?:sempre|nunca)\b|我(?:总是|从来|每次都)|私は(?:いつも|毎回)",
    ),
    against(
        SmallTalk,
        r"\b(?:lol|lmao|rofl|haha+|hehe+|hihi+|jaja+|kkk+|mdr|xd)\b|😂|🤣|😅|哈哈|笑$|ｗｗ|www$|\b(?:ugh|yay|omg)\b",
    ),
];
