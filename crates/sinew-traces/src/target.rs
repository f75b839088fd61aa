//! The element that was tapped, inferred from the result: session files keep no screen tree.

use std::sync::LazyLock;

use regex::Regex;

use crate::run::StepTarget;

/// `text="Sign in"`, `resourceId=com.example:id/x`, `contentDesc='Share'`.
static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"\b(text|resourceId|contentDesc|class)=("(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^\s,;)\]]+)"#,
    )
    .ok()
});

/// The element that a result names, as far as it does.
pub(super) fn from_result(result: &str) -> StepTarget {
    let mut target = StepTarget::default();
    if !result.contains('=') {
        return target;
    }
    let Some(named) = NAMED.as_ref() else { return target };
    for found in named.captures_iter(result).take(16) {
        let value = unquoted(&found[2]);
        let to = match &found[1] {
            "text" => &mut target.text,
            "resourceId" => &mut target.resource_id,
            "contentDesc" => &mut target.content_desc,
            _ => &mut target.class_name,
        };
        to.get_or_insert(value);
        target.inferred = true;
    }
    target
}

fn unquoted(written: &str) -> String {
    if let Ok(text) = serde_json::from_str::<String>(written) {
        return text;
    }
    let inner = ['"', '\'']
        .iter()
        .find_map(|&quote| written.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)));
    inner.unwrap_or(written).to_owned()
}
