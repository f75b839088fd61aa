//! Completions: names of skills, proposals and task areas that begin with what the user typed.

use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo};
use sinew_engine::LiveView;

use super::host::workshop_is_on;

/// Values that one answer may hold; the protocol allows no more.
const MOST: usize = CompletionInfo::MAX_VALUES;

/// What begins with what was typed.
pub(super) fn complete(look: &LiveView, request: &CompleteRequestParams) -> CompleteResult {
    let typed = request.argument.value.to_lowercase();
    let all = match request.argument.name.as_str() {
        "skill" | "name" => {
            look.snapshot.catalog.unshadowed().map(|entry| entry.name.clone()).collect()
        }
        "id" | "proposal" => proposals(look),
        "region" => regions(look),
        _ => Vec::new(),
    };
    let mut fitting: Vec<String> =
        all.into_iter().filter(|value| value.to_lowercase().starts_with(&typed)).collect();
    fitting.sort();
    fitting.dedup();
    let total = u32::try_from(fitting.len()).unwrap_or(u32::MAX);
    let more = fitting.len() > MOST;
    fitting.truncate(MOST);
    let info = CompletionInfo::with_pagination(fitting, Some(total), more);
    CompleteResult::new(info.unwrap_or_default())
}

fn proposals(look: &LiveView) -> Vec<String> {
    if !workshop_is_on(look) {
        return Vec::new();
    }
    let known = look.engine.workshop().proposals().unwrap_or_default();
    known.into_iter().map(|proposal| proposal.id).collect()
}

fn regions(look: &LiveView) -> Vec<String> {
    let memory = look.engine.cortex().and_then(|cortex| cortex.memory());
    memory.map(|memory| memory.motor.keys().cloned().collect()).unwrap_or_default()
}
