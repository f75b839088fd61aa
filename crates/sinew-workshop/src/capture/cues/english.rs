//! English.

use super::CueFamily::{
    Ban, Blame, Condition, Consequence, Duty, Fix, Future, Order, Repeat, Scope, Standing, Wish,
    Worked,
};
use super::{CaptureCue, strong, weak};

pub(super) const ENGLISH: &[CaptureCue] = &[
    strong(
        Future,
        r"\bnext time\b|\bfrom (?:now|here|today|this point) on(?:wards?)?\b",
        r"\bnext time (?:is|would be|works|maybe|we (?:meet|see)|i see|you see|i'm|you're|around)\b",
    ),
    strong(
        Future,
        r"\bin (?:the )?future\b|\bfor (?:the )?future(?:[,.:;!]|$| reference| runs| ones)",
        r"\bin the (?:near|distant|far) future\b|\bfuture (?:plans|job|career)\b",
    ),
    strong(
        Future,
        r"\b(?:going|moving) forward\b|\bhenceforth\b|\bas of (?:now|today)\b|\bevery time from\b",
        "",
    ),
    strong(
        Standing,
        r"(?:^|\b(?:please|pls|kindly|should|must|and please) |[,;:–—-] ?)(?:always|never) (?:ever )?[a-z]+|\b(?:and|but|so|also) always [a-z]+",
        r"\bnever ?mind\b|\balways (?:says?|said|thought|wanted|been|a|the|so)\b|\bnever (?:[a-z]+[^e]ed|been|seen|done|had|made|knew|saw|heard|forgot|thought)\b",
    ),
    strong(
        Standing,
        r"\bremember to\b|^remember[:,]|\bremember that\b|\b(?:keep|bear) in mind\b|\bmake a (?:mental )?note\b|\bnote for (?:later|next)\b",
        r"\bremember that (?:time|day|night|one|guy|song|movie)\b",
    ),
    strong(
        Standing,
        r"\bmake sure to\b|\bwhen asked\b|\bas a (?:general )?rule\b|\brule of thumb\b|\bthat(?:'s| is) (?:our|the|a|company) (?:policy|rule|convention|standard|house style)\b",
        "",
    ),
    strong(
        Standing,
        r"\bwhen(?:ever)? (?:i|we) (?:say|write|ask|type|send you|give you|tell you)\b|\bwhenever you\b|\bwhenever (?:the|a|an|there|someone|it|something)\b.{3,80}, ?(?:please |just )?(?:use|do|run|send|ask|check|skip|stop|tell|put|take|try|add|make|wait|switch|open|write|keep|leave|don't|never|always|call|go|answer|reply)\b",
        r"\bwhenever (?:you|it)(?:'re| are| can| want| like| have| feel| suits| is fine)\b",
    ),
    strong(
        Standing,
        r"(?:^|\b(?:please|pls|kindly|and|just|so|but) |[,;:–—-] ?)(?:stop|quit|no more) [a-z]+ing\b|\byou keep [a-z]+ing\b",
        r"\bstop (?:being|worrying|laughing|kidding|joking)\b|\byou keep (?:making me|going|smiling|surprising)\b",
    ),
    strong(
        Standing,
        r"\b(?:if|when) (?:a|an|any|someone|anyone|somebody|customers?|clients?|users?|the (?:customer|client|user|caller|guest)s?) [a-z]+\b.{2,90}, ?(?:please |just )?(?:use|do|run|send|ask|check|skip|stop|tell|put|take|try|add|make|wait|switch|open|write|keep|leave|don't|never|always|call|go|answer|reply|translate|quote|forward)\b",
        "",
    ),
    strong(
        Standing,
        r"(?:^|\b(?:please|pls|so|and|but|just) |[,;:–—-] ?)(?:don't|do not|dont|never)\b.{0,60}\b(?:again|any ?more|ever)\b|\b(?:don't|do not|dont) ever\b",
        "",
    ),
    strong(
        Standing,
        r"\b(?:the|our) (?:rule|convention|policy|standard|house style|process|naming scheme|agreement) (?:is|here is|for|says)\b|\bhouse rules?\b",
        "",
    ),
    strong(
        Standing,
        r"\bwe (?:always|never|only) (?:use|write|do|put|call|keep|name|send|ship|deploy|merge|push|release|run|ask|check|test|book|pay|store|commit|publish|post|answer|reply|sign|file|log|round|tag|quote|cite)\b",
        "",
    ),
    strong(
        Standing,
        r"\bi (?:always|never|only ever) (?:want|need|expect|prefer)\b|\bi (?:don't|do not|dont) (?:ever )?want you to\b",
        "",
    ),
    strong(
        Standing,
        r"\b(?:every|each|any) ?time (?:you|i ask|we ask|there)\b",
        r"\bany ?time (?:you|works)(?:'re| are| want| like)?\b",
    ),
    strong(
        Standing,
        r"\bprefer\b.{0,120}\b(?:when|for|instead|over|use)\b",
        r"\b(?:do|would|which|what) (?:you|do you) prefer\b",
    ),
    strong(
        Worked,
        r"\bwhat (?:finally|actually|eventually|really) (?:worked|helped|fixed|solved|did)\b|\bwhat (?:worked|helped|fixed it|solved it|did it|did the trick|got it working) (?:was|is|in the end|for (?:me|us)|then|instead)\b",
        "",
    ),
    strong(
        Worked,
        r"\bthe (?:real |actual |only )?(?:fix|trick|solution|workaround|culprit|cure) (?:was|is|turned out|that worked)\b",
        "",
    ),
    strong(
        Worked,
        r"\b(?:it |that |this |which )?(?:finally|only|eventually) (?:[a-z]+ed|works|went through|ran) (?:after|once|when|if|with|by|because)\b",
        "",
    ),
    strong(
        Worked,
        r"\bgot it (?:working|to work|running|fixed|going) (?:by|after|with|when|once)\b|\bthat(?:'s| is) how (?:i|we) (?:got|fixed|solved)\b",
        "",
    ),
    weak(
        Worked,
        r"\bturn(?:s|ed) out\b|\bin the end (?:it|the|we|i)\b|\bit (?:works|worked) (?:after|once|when|if|with|by)\b",
        "",
    ),
    weak(
        Blame,
        r"\byou (?:just |also |again |still |once again |completely )?(?:forgot|missed|skipped|left (?:out|off)|ignored|broke|overwrote|deleted|hammered|messed|mixed|lost|dropped|misread|misspelled|hard-?coded|assumed|guessed|invented|made up|duplicated|swapped)\b",
        "",
    ),
    weak(
        Blame,
        r"\byou (?:just |again |still )?(?:didn't|did not|didnt|haven't|failed to|should(?:n't| not)? have|were supposed to|weren't supposed to|had to)\b",
        "",
    ),
    weak(Blame, r"\blike you (?:just )?(?:did|do)\b", ""),
    weak(
        Consequence,
        r"\bbecause you\b|\bsince you (?:just |again )?[a-z]+ed\b",
        r"\bbecause you (?:know|are|can|want|asked|never know)\b",
    ),
    weak(
        Blame,
        r"\byou (?:always|never|constantly) [a-z]+|\byou were (?:off|wrong|late|too)\b",
        r"\byou never know\b|\byou always (?:make me|know|find|help)\b",
    ),
    weak(
        Blame,
        r"\bi(?:'ve| have)? (?:already |just )?(?:told|asked|said|mentioned)\b.{0,20}\b(?:you|before|already|times|twice)\b|\bi keep (?:having|asking|telling|fixing)\b|\bnot what i (?:asked|meant|wanted)\b",
        "",
    ),
    weak(
        Repeat,
        r"\b(?:second|third|fourth|fifth|2nd|3rd|4th|\d+th|hundredth|umpteenth) time\b|\b(?:wrong|missing|broken|backwards|too (?:long|short|many|big|small|late|early)) again\b|\bagain (?:the|with|you|in)\b|\bagain\.?$|\b(?:like|as) last time\b",
        "",
    ),
    weak(
        Blame,
        r"\b(?:you|it|that|this) .{0,40}\bthe wrong (?:one|way|file|list|format|branch|folder|address|account|order|place|unit|currency|version|template|channel|date|name)\b",
        "",
    ),
    weak(
        Consequence,
        r"\b(?:get|gets|got|are|is|was|were|been) (?:banned|blocked|rejected|refused|rate.?limited|flagged|locked out|bounced|lost|truncated|garbled|cut off|overwritten|throttled|stripped|ignored by|unreadable|returned|marked as spam)\b",
        "",
    ),
    weak(
        Consequence,
        r"\b(?:took|brought|knocked)\b.{1,30}\b(?:down|offline|out)\b|\bwent (?:down|offline|to spam|to everyone)\b|\bc(?:o|a)mes? out (?:as|all|wrong|blurry|empty|garbled|broken)\b|\b(?:didn't|did not|doesn't) work\b|\bwent wrong\b",
        "",
    ),
    weak(
        Consequence,
        r"\b(?:it|they|that|this|everything|the [a-z]+) (?:then |just |always )?(?:breaks?|broke|fails?|failed|crash(?:es|ed)?|hangs?|hung|times? out|timed out|stalls?|chokes?|falls? over|corrupts?|did not open|doesn't open|won't open|can't open)\b",
        "",
    ),
    weak(
        Consequence,
        r"\b(?:breaks?|broke|crash(?:es|ed)?|confuses?|confused|tripped|trips) (?:our|my|their|the) [a-z]+\b|\botherwise\b|\bor else\b|\bor (?:it|they|he|she|we|you|the [a-z]+|nobody|everyone) (?:gets?|will|won't|can't|cannot|loses?|breaks?|fails?|ends?|has|have|complains?|sees?)\b|\bor (?:it|they)'ll\b",
        "",
    ),
    weak(
        Consequence,
        r"\b(?:you|we|i) (?:lose|lost|wasted|end up|ended up|had to (?:redo|undo|fix|resend|start over|apologi[sz]e))\b|\btook (?:us|me) (?:an?|hours?|ages|forever|half|all|\d+|two|three)\b|\bcost us\b",
        "",
    ),
    weak(
        Scope,
        r"\b(?:for|with|in|on) (?:everything|anything|all of (?:our|the|my)|every single)\b|\ball (?:our|my|the) [a-z]+s (?:must|have|need|go|should|are|use)\b|\bi mean\b|\bthat(?:'s| is) (?:how|why|the way) (?:we|i|it)\b",
        "",
    ),
    weak(
        Scope,
        r"\b(?:in|for|to|on|with|at|from|against) (?:prod|production|staging|customers?|clients?|guests|suppliers|(?:our|the) (?:blog|repo|office|teams?|clients?|customers?|site|website|servers?|newsletter|channel|codebase|docs|wiki|company|house|shop|press|board|main branch)|this (?:repo|project|codebase|workspace|team|company|client|customer|channel|house))\b",
        "",
    ),
    weak(
        Scope,
        r"\b(?:is|are|that's) what (?:that|the|this|our|they|we|it)\b|\bthe (?:right|correct|proper) (?:way|order|place|format)\b|\bour [a-z]+ (?:go|goes|are|is|have|has|needs?|must|uses?|runs?|lives?|[a-z]{3,}s) (?:in|on|at|from|by|through|to|with|the|a|only|no|up)\b",
        "",
    ),
    weak(
        Scope,
        r"\b(?:the )?(?:api|parser|server|bank|printer|tool|form|portal|system|linter|ci|compiler|importer|accounting|accountants?|legal|finance|hr|tax office|school|landlord|shop system|mail server) (?:only )?(?:needs?|wants?|expects?|requires?|accepts?|takes?|reads?|allows?|rejects?|can't (?:open|read|handle)|cannot (?:open|read|handle)|doesn't (?:accept|open|read|support|like))\b|\bin every (?:answer|message|mail|e-?mail|reply|response)\b|\bfor (?:the |our |my )?(?:weekly|daily|monthly|quarterly|yearly|annual|nightly)\b",
        "",
    ),
    weak(
        Condition,
        r"\bif (?:the|a|an|any|there|it|you|they|someone|something|anyone|one|this|that|we|no)\b.{3,120}\b(?:use|do|run|split|send|ask|check|skip|stop|tell|put|take|try|add|make|wait|switch|open|write|keep|leave|don't|never|always|call|go|fall back|retry|restart|kill|drop|give)\b",
        r"\bif you (?:want|like|have time|can|could|need|see fit|don't mind)\b",
    ),
    weak(
        Condition,
        r"\b(?:when|once|after|while) (?:you|the|a|an|there|someone|it|they|[a-z]+ing)\b.{2,120}\b(?:use|do|run|split|send|ask|check|skip|stop|tell|put|take|try|add|make|wait|switch|open|write|keep|leave|don't|never|always|call|go|include|attach|quote|round|cc|give)\b",
        r"\bwhen you (?:can|have time|get a chance|are done|'re done|get to it)\b",
    ),
    weak(
        Condition,
        r"\b(?:on|in|for|at) [a-z]+(?: [a-z]+)? you (?:add|use|run|need|have|put|write|send|go|do|set|leave|start|take|ask|check|call|open|wait)\b|\bonly (?:if|when|after|then)\b|\bunless\b",
        "",
    ),
    weak(
        Duty,
        r"\b(?:has|have|needs?|had) to (?:be|have|go|include|use|come|contain|start|end|stay|match|say|look|fit|follow|pass|run|get|come|carry|show)\b|\byou (?:have|need) to\b",
        r"\b(?:i|i'll|we|he|she|i've|i'd) (?:just |really |still |also |will |might )?(?:have|has|had|need|needs) to\b",
    ),
    weak(
        Duty,
        r"\bmust (?:be|have|not|go|use|include|come|contain|start|end|stay|match|never|always|carry|show)\b|\b(?:is|are) (?:supposed|meant|required) to\b|\b(?:you|it|they|these|those|that|which) should (?:be|have|go|use|not|always|never|come|start|end)\b|\bmake sure\b|\b(?:max|at most|no more than|at least)\b",
        r"\bmust be (?:nice|fun|hard|tired|kidding|joking|great)\b|\bmust have been\b",
    ),
    weak(
        Ban,
        r"(?:^|\b(?:please|pls|so|and|but|just) |[,;:–—-] ?)(?:(?:don't|do not|dont|avoid) [a-z]+|no [a-z]+(?: [a-z]+)? (?:in|on|for|before|after|without|to|at)\b|no (?:[a-z]+ )?[a-z]+s[,.;])|\b(?:mustn't|must not|may not|shouldn't) (?:be|have|go|use|contain|include|leave|touch)\b|\bnot allowed\b",
        r"\b(?:don't|do not|dont) (?:worry|know|think|mind|care|forget about me|bother|get me wrong)\b|\bno (?:problems?|worries|thanks|idea|way|doubt|rush|wonder|need)\b",
    ),
    weak(
        Order,
        r"\bfirst\b.{1,80}\b(?:then|before|and only then)\b|\b[a-z]+ (?:it |them |that |this )?first(?:,|\.| and| then| before|$)|\bbefore (?:you|anything|doing|sending|posting|running|publishing|merging|deploying|committing|replying|touching|deleting)\b|\bwithout (?:asking|showing|checking|telling|my|a|an|first)\b",
        r"\b(?:first of all|at first)\b",
    ),
    weak(
        Wish,
        r"\bi (?:want|need|prefer|expect|would like|'d like|would rather|'d rather)\b.{1,90}\b(?:first|before|instead|rather than|not|without|only|always|then)\b|\b(?:use|take|write|put|send|give me|do)\b.{1,60}\b(?:instead|rather than|not the|and not)\b|\b(?:plain|short|simple|sentence case|day first|metric|english|german)(?: [a-z]+)? (?:please|only)\b|, (?:and )?not (?:the |a |in |on |at |by |to |from |as |for |with )?[a-z0-9]+",
        "",
    ),
    weak(
        Fix,
        r"(?:^|[,;:–—-] ?|\b(?:please|just|and|so) )(?:take|use|put|write|send|keep|leave|add|check|ask|run|make|filter|set|export|convert|crop|name|save|open|answer|quote|round|split|sign|cc|start|wait|include|attach|give|show|format|link|call|do|go|try|read|skip|tell)\b",
        "",
    ),
];
