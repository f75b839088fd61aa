//! Spanish, French, Italian and Portuguese.

use super::CueFamily::{
    Ban, Blame, Condition, Consequence, Duty, Future, Order, Scope, Standing, Worked,
};
use super::{CaptureCue, strong, weak};

pub(super) const SPANISH: &[CaptureCue] = &[
    strong(
        Future,
        r"\ba partir de (?:ahora|hoy|este momento)\b|\bde ahora en adelante\b|\ben (?:el |lo )?(?:futuro|sucesivo)\b|\bla próxima(?: vez)?\b|\bpara la próxima\b|\bdesde ahora\b|\ben adelante\b",
        "",
    ),
    strong(
        Standing,
        r"\bcada vez que\b|\bsiempre que\b|\bacuérdate (?:siempre )?de\b|\brecuerda(?: siempre| que|:)|\bno (?:te )?olvides\b|\basegúrate (?:siempre )?de\b|\bnunca (?:más|[a-záéíóúñ]+(?:es|as))\b|\bno vuelvas a\b|\bdeja de [a-záéíóúñ]+r\b|\bten en cuenta\b|\bpor norma\b",
        "",
    ),
    strong(
        Worked,
        r"\blo que (?:al final |finalmente )?(?:funcionó|lo arregló|lo solucionó|sirvió)\b|\bal final (?:funcionó|lo que)\b|\bla solución (?:fue|era|es)\b|\bsolo funcionó (?:cuando|después|con)\b",
        "",
    ),
    weak(Standing, r"\b(?:siempre|nunca|jamás)\b", ""),
    weak(
        Blame,
        r"\b(?:te )?olvidaste\b|\bse te (?:olvidó|pasó)\b|\bporque (?:tú )?(?:no )?(?:has|usaste|pusiste|borraste|enviaste|hiciste)\b|\bte saltaste\b|\bresultó que\b",
        "",
    ),
    weak(
        Consequence,
        r"\bsi no,|\bde lo contrario\b|\bporque si no\b|\bno funcionó\b|\bfalló\b|\bsalió mal\b|\b(?:rechaz(?:an|aron|ado)|bloque(?:an|aron|ado)|se (?:pierde|rompe|cae|corta)[n]?)\b",
        "",
    ),
    weak(Duty, r"\bhay que\b|\btiene[ns]? que\b|\bdeben?\b|\bdebes\b|\bhace falta\b", ""),
    weak(
        Order,
        r"\bantes de\b|\bprimero\b|\bsin (?:preguntar|consultar|avisar|revisar)\b|\ben (?:vez|lugar) de\b",
        "",
    ),
    weak(
        Scope,
        r"\b(?:en|para|con) (?:nuestr[oa]s?|tod[oa]s|producción|los clientes|la oficina)\b|\bnosotros (?:usamos|escribimos)\b",
        "",
    ),
    weak(
        Condition,
        r"\bcuando (?:[a-záéíóúñ]+(?:es|as)|haya|te|el|la|los|las|un|una)\b|\bsi (?:el|la|los|las|hay|un|una)\b",
        "",
    ),
    weak(
        Ban,
        r"(?:^|, |; |: )no (?:uses|pongas|envíes|hagas|mandes|borres|toques|escribas|[a-záéíóúñ]+(?:es|as))\b",
        "",
    ),
];

pub(super) const FRENCH: &[CaptureCue] = &[
    strong(
        Future,
        r"\bà l'avenir\b|\bdorénavant\b|\bdésormais\b|\bà partir de maintenant\b|\bla prochaine fois\b|\bles prochaines fois\b|\bpour la suite\b",
        "",
    ),
    strong(
        Standing,
        r"\b(?:à )?chaque fois (?:que|qu')|\bpense(?:z)? (?:toujours |bien |d'abord )?à\b|\bn'oublie(?:z)? (?:pas|jamais)\b|\bassure-toi\b|\bveille(?:z)? à\b|\b(?:ne|n')\s?[a-zàâçéèêëîïôûùüÿœ]+(?:-[a-z]+)? (?:jamais|plus)\b|\bretiens (?:que|bien)\b|\bsouviens-toi (?:de|que)\b|\barrête(?:z)? d(?:e |')|\bévite(?:z)? (?:de|toujours)\b",
        r"\bje n[e']",
    ),
    strong(
        Worked,
        r"\bce qui a (?:finalement |fini par )?(?:marché|fonctionné|marcher|résolu)\b|\bça (?:n')?a (?:marché|fonctionné) (?:quand|après|qu')|\bla solution (?:était|c'était|a été|est)\b",
        "",
    ),
    weak(Standing, r"\b(?:toujours|jamais|systématiquement)\b", ""),
    weak(
        Blame,
        r"\btu as (?:encore |de nouveau )?(?:oublié|effacé|écrasé|ignoré|sauté|mélangé|supprimé)\b|\bparce que tu\b|\bfinalement c'était\b",
        "",
    ),
    weak(
        Consequence,
        r"\bsinon\b|\bautrement\b|\bn'a pas (?:marché|fonctionné)\b|\ba échoué\b|\b(?:refusé|bloqué|rejeté|perdu|planté|coupé)(?:e|s|es)?\b",
        "",
    ),
    weak(Duty, r"\bil faut\b|\bdoi(?:s|t|vent)\b|\bdevez\b", r"\bje dois\b"),
    weak(
        Order,
        r"\bavant (?:de|d'|que|chaque)\b|\bd'abord\b|\bsans (?:demander|vérifier|prévenir|me|relire)\b|\bplutôt que\b|\bau lieu de\b",
        "",
    ),
    weak(
        Scope,
        r"\b(?:chez nous|nos [a-zàâçéèêëîïôûùüÿœ]+|tous les|toutes les|en prod(?:uction)?|nos clients)\b|\bon (?:écrit|utilise|met|tutoie|vouvoie)\b",
        "",
    ),
    weak(Condition, r"\bquand tu\b|\blorsque tu\b|\bsi (?:le|la|les|un|une|c'est|il)\b", ""),
    weak(
        Ban,
        r"(?:^|, |; |: )(?:ne|n')\s?[a-zàâçéèêëîïôûùüÿœ]+ pas\b|\bpas de [a-zàâçéèêëîïôûùüÿœ]+ (?:dans|sur|pour)\b",
        r"\bje n[e']",
    ),
];

pub(super) const ITALIAN: &[CaptureCue] = &[
    strong(
        Future,
        r"\bin futuro\b|\bd'ora in (?:poi|avanti)\b|\bda ora in (?:poi|avanti)\b|\b(?:la|per la|alla) prossima(?: volta)?\b|\bdalla prossima\b",
        "",
    ),
    strong(
        Standing,
        r"\bogni volta che\b|\btutte le volte che\b|\bricorda(?:ti)? (?:sempre )?(?:di|che)\b|\bnon (?:ti )?dimenticare\b|\bassicurati\b|\bmai più\b|\bnon [a-zàèéìòù]+(?:lo|la|li|le)? mai\b|\bsmetti(?:la)? di\b|\btieni (?:a mente|presente)\b|\bdi (?:regola|norma)\b",
        "",
    ),
    strong(
        Worked,
        r"\b(?:quello|ciò) che (?:alla fine )?ha (?:funzionato|risolto)\b|\balla fine ha funzionato\b|\bla soluzione (?:è|era|è stata)\b|\bha funzionato (?:solo )?(?:quando|dopo|con)\b",
        "",
    ),
    weak(Standing, r"\b(?:sempre|mai)\b", ""),
    weak(
        Blame,
        r"\bhai (?:di nuovo |ancora )?(?:dimenticato|saltato|cancellato|ignorato|sovrascritto|confuso|sbagliato)\b|\bti sei dimenticat[oa]\b|\bperché hai\b|\bl'altra volta\b|\bun'altra volta\b|\bè venuto fuori che\b",
        "",
    ),
    weak(
        Consequence,
        r"\baltrimenti\b|\bse no\b|\bsennò\b|\bnon ha funzionato\b|\bè andat[oa] (?:storto|male)\b|\b(?:rifiutat|bloccat|respint|pers|tagliat)[oaie]\b|\bdisastro\b",
        "",
    ),
    weak(
        Duty,
        r"\bbisogna\b|\bdev(?:i|e|ono)\b|\bva(?:nno)? (?:sempre |prima |tutt[ie] )?[a-zàèéìòù]+(?:at|ut|it|tt|st|rt|nt)[oiae]\b|\bservono?\b",
        "",
    ),
    weak(
        Order,
        r"\bprima di\b|\bprima che\b|\bsenza (?:chiedere|controllare|avvisare)\b|\binvece (?:di|che)\b|\bper prima cosa\b",
        "",
    ),
    weak(
        Scope,
        r"\b(?:da noi|i nostri|le nostre|in produzione|tutti i|tutte le|per i clienti)\b",
        "",
    ),
    weak(Condition, r"\bquando [a-zàèéìòù]+i\b|\bse (?:il|la|i|le|un|una|c'è)\b", ""),
    weak(Ban, r"(?:^|, |; |: )non [a-zàèéìòù]+(?:are|ere|ire)\b|\bevita (?:di|sempre)\b", ""),
];

pub(super) const PORTUGUESE: &[CaptureCue] = &[
    strong(
        Future,
        r"\b(?:no|de) futuro\b|\bdaqui (?:para|pra|em) (?:a )?(?:frente|diante)\b|\bde agora em diante\b|\ba partir de (?:agora|hoje)\b|\b(?:da|na|para a|pra) próxima(?: vez)?\b|\bdoravante\b",
        "",
    ),
    strong(
        Standing,
        r"\bsempre que\b|\btoda vez que\b|\b(?:todas as|cada) vez(?:es)? que\b|\blembr[ae](?:-te|-se)?(?: sempre)? de\b|\bnão (?:te |se )?esque(?:ças|ça|ce)\b|\bcertifi(?:ca-te|que-se)\b|\bnunca mais\b|\bpar[ae] de [a-záâãàéêíóôõúç]+r\b|\btenha em mente\b",
        "",
    ),
    strong(
        Worked,
        r"\bo que (?:no fim |no final |finalmente )?(?:funcionou|resolveu|deu certo)\b|\bno fim(?: das contas)?,? (?:funcionou|o que)\b|\ba solução (?:foi|era|é)\b|\bsó funcionou (?:quando|depois|com)\b",
        "",
    ),
    weak(Standing, r"\b(?:sempre|nunca|jamais)\b", ""),
    weak(
        Blame,
        r"\b(?:você|tu|vc) (?:esqueceu|esqueceste|apagou|apagaste|pulou|ignorou|trocou|sobrescreveu)\b|\besqueceste\b|\bporque (?:você|tu|vc)\b",
        "",
    ),
    weak(
        Consequence,
        r"\bsenão\b|\bcaso contrário\b|\bnão funcionou\b|\bdeu errado\b|\bfalhou\b|\b(?:rejeitad|bloquead|recusad|perdid|cortad)[oa]s?\b|\bquebr(?:a|ou)\b",
        "",
    ),
    weak(
        Duty,
        r"\btem (?:que|de)\b|\btens de\b|\btêm (?:que|de)\b|\bdevem?\b|\bprecisam?\b|\bé preciso\b",
        r"\beu preciso\b",
    ),
    weak(
        Order,
        r"\bantes de\b|\bprimeiro\b|\bsem (?:perguntar|avisar|verificar|conferir)\b|\bem vez de\b|\bao invés de\b",
        "",
    ),
    weak(
        Scope,
        r"\b(?:noss[oa]s?|em produção|todos os|todas as|para (?:os )?clientes|no escritório)\b",
        "",
    ),
    weak(
        Condition,
        r"\bquando (?:você|for|fizer|o|a|os|as|tu|houver)\b|\bse (?:o|a|os|as|houver|um|uma)\b",
        "",
    ),
    weak(
        Ban,
        r"(?:^|, |; |: )não (?:use|uses|mande|envie|faça|faças|coloque|apague|mexa|[a-záâãàéêíóôõúç]+(?:es|as))\b",
        "",
    ),
];
