//! German.

use super::CueFamily::{
    Ban, Blame, Condition, Consequence, Duty, Future, Order, Repeat, Scope, Standing, Worked,
};
use super::{CaptureCue, strong, weak};

pub(super) const GERMAN: &[CaptureCue] = &[
    strong(
        Future,
        r"\bin zukunft\b|\bzukünftig\b|\bkünftig\b|\bab (?:jetzt|sofort|heute|nun)\b|\bvon (?:jetzt|nun|heute) an\b|\bnächstes mal\b|\b(?:das|beim) nächste[n]? mal\b|\bfürs nächste mal\b",
        "",
    ),
    strong(
        Standing,
        r"\bmerk(?:e)? dir\b|\bdenk(?:e)? (?:bitte )?(?:immer |künftig )?(?:dran|daran)\b|\bvergiss nicht\b|\bacht(?:e)? (?:bitte )?(?:immer )?(?:darauf|drauf)\b|\bgrundsätzlich\b|\bjedes mal,? wenn\b|\bimmer wenn\b",
        "",
    ),
    strong(
        Standing,
        r"\b(?:bitte|sollst|musst|solltest|und) (?:[a-zäöüß]+ ){0,3}(?:immer|nie|niemals|stets)\b|\b(?:nie|niemals) (?:wieder|mehr|ohne|direkt|einfach|vor)\b|\bhör(?:e)? (?:bitte )?auf\b",
        r"\bnie mehr (?:so|ein)\b",
    ),
    strong(
        Worked,
        r"\bwas (?:am ende |schließlich |letztlich )?(?:geholfen|funktioniert|geklappt) hat\b|\bam ende (?:hat|half|war)\b|\bdie lösung war\b|\bgeklappt hat es (?:erst|nur)\b|\berst (?:als|nachdem|mit)\b.{2,60}\b(?:ging|lief|klappte|funktionierte)\b",
        "",
    ),
    weak(Standing, r"\b(?:immer|stets|nie|niemals|jedes mal|jeweils)\b", ""),
    weak(
        Blame,
        r"\bdu hast (?:[a-zäöüß]+ ){0,6}(?:vergessen|übersehen|ausgelassen|weggelassen|gelöscht|überschrieben|verwechselt|ignoriert)\b|\bweil du\b",
        "",
    ),
    weak(
        Repeat,
        r"\bschon wieder\b|\bzum (?:zweiten|dritten|x-ten) mal\b|\bwieder (?:falsch|vergessen)\b",
        "",
    ),
    weak(
        Consequence,
        r"\bsonst\b|\bansonsten\b|\bandernfalls\b|\b(?:abgelehnt|gesperrt|kaputt|zurückgewiesen|verloren|abgestürzt)\b|\bnicht (?:geklappt|funktioniert|gegangen)\b|\bging schief\b",
        "",
    ),
    weak(
        Duty,
        r"\b(?:muss|müssen|musst|soll|sollen|darf nicht|dürfen nicht|gehör(?:t|en))\b",
        r"\bich (?:muss|soll)\b",
    ),
    weak(
        Order,
        r"\bzuerst\b|\berst\b.{1,50}\bdann\b|\bbevor du\b|\bbevor\b|\bohne (?:zu|vorher|rückfrage)\b",
        "",
    ),
    weak(
        Ban,
        r"\bnicht mehr\b|\bkein(?:e|en|er)? [a-zäöüß]+ (?:mehr|in|an|auf|für|bei)\b|\bstatt(?:dessen)?\b|\bnicht .{2,40}, sondern\b",
        "",
    ),
    weak(
        Scope,
        r"\bbei uns\b|\bwir (?:schreiben|nutzen|verwenden|machen|nehmen|duzen|siezen)\b|\bunsere[mnrs]? [a-zäöüß]+\b|\bfür alle\b",
        "",
    ),
    weak(Condition, r"\bwenn (?:du|die|der|das|ein|eine|es|man|jemand|ich)\b", ""),
];
