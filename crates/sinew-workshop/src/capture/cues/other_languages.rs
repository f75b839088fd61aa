//! Dutch, Russian, Korean and a few more: explicitly lasting instructions only.

use super::CueFamily::{Future, Standing};
use super::{CaptureCue, strong};

pub(super) const OTHERS: &[CaptureCue] = &[
    strong(Future, r"\bvoortaan\b|\bin het vervolg\b|\bvolgende keer\b|\bvanaf nu\b", ""),
    strong(
        Future,
        r"\bвпредь\b|\bв будущем\b|\bв следующий раз\b|\bс этого момента\b|\bотныне\b",
        "",
    ),
    strong(
        Standing,
        r"\bкаждый раз, когда\b|\bзапомни\b|\bне забывай\b|\bникогда не\b|\bвсегда [а-яё]+(?:й|ь|йте|ьте)\b|\bonthoud\b|\bvergeet niet\b|\baltijd eerst\b",
        "",
    ),
    strong(Future, r"앞으로(?:는)?|다음부터|다음번|이제부터", ""),
    strong(
        Standing,
        r"반드시|항상 .{1,20}(?:하세요|해줘|해 줘|해주세요)|매번|잊지 마|하지 마(?:세요)?",
        "",
    ),
    strong(
        Future,
        r"\bna przyszłość\b|\bnastępnym razem\b|\bod teraz\b|\bbundan sonra\b|\bbir dahaki sefere\b|\bi fortsättningen\b|\bnästa gång\b",
        "",
    ),
];
