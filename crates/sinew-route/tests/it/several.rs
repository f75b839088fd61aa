//! Messages that need several skills in turn, and messages that only sound like it.

use serde::Deserialize;
use sinew_route::RouteContext;

use crate::support::{corpus_router, has_models};

#[derive(Deserialize)]
struct SeveralRow {
    id: String,
    query: String,
    parts: Vec<SeveralPart>,
    kind: String,
}

#[derive(Deserialize)]
struct SeveralPart {
    text: String,
    expected: Vec<String>,
}

fn rows() -> Vec<SeveralRow> {
    let rows = include_str!("../corpus/several.jsonl").lines();
    rows.map(|row| serde_json::from_str(row).expect("our own rows are JSON")).collect()
}

/// Rows with an odd number may be looked at; the others measure.
#[test]
#[allow(clippy::print_stderr, reason = "figures that fell should say what they were")]
fn several_skills_are_an_ordered_set_and_plain_messages_have_none() {
    if !has_models() {
        return;
    }
    for (name, odd) in [("looked at", true), ("for measuring", false)] {
        let (mut exact, mut all, mut served, mut asked) = (0, 0, 0, 0);
        let (mut disturbed, mut plain) = (0, 0);
        for row in rows() {
            let number: usize = row.id.trim_start_matches('s').parse().expect("a number");
            if (number % 2 == 1) != odd {
                continue;
            }
            let steps = corpus_router().steps(&row.query, &RouteContext::default());
            let found: Vec<&str> = steps.iter().map(|step| step.skill.id.as_str()).collect();
            if row.kind == "single" {
                plain += 1;
                disturbed += usize::from(!steps.is_empty());
                if odd && !steps.is_empty() && std::env::var_os("SHOW_MISSES").is_some() {
                    eprintln!("single {found:?}: {}", row.query);
                }
                continue;
            }
            asked += 1;
            let right = |part: &SeveralPart, id: &str| part.expected.iter().any(|one| one == id);
            let is_exact = found.len() == row.parts.len()
                && row.parts.iter().zip(&found).all(|(part, id)| right(part, id));
            exact += usize::from(is_exact);
            all += usize::from(row.parts.iter().all(|part| found.iter().any(|id| right(part, id))));
            served += usize::from(
                is_exact
                    && row
                        .parts
                        .iter()
                        .zip(&steps)
                        .all(|(part, step)| step.text.contains(&part.text)),
            );
            if odd && !is_exact && std::env::var_os("SHOW_MISSES").is_some() {
                let wanted: Vec<&str> =
                    row.parts.iter().map(|part| part.expected[0].as_str()).collect();
                eprintln!("several {found:?} instead of {wanted:?}: {}", row.query);
            }
        }
        eprintln!(
            "{name}: exact {exact}, all found {all}, parts right {served} of {asked}; disturbed {disturbed} of {plain}"
        );
        if !odd {
            assert!(10 * exact >= 6 * asked, "{exact} of {asked}");
            assert!(20 * disturbed <= plain, "{disturbed} of {plain}");
        }
    }
}
