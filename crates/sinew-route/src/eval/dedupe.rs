//! Pairs of skills that the router can hardly tell apart.

use rayon::prelude::*;
use serde::Serialize;

use crate::message::UserMessage;
use crate::router::{RouteContext, Router, RouterConfig};

/// Two skills whose descriptions match each other.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConfusablePair {
    /// One, by name.
    pub a: String,
    /// Its id.
    pub a_id: String,
    /// The other, by name.
    pub b: String,
    /// Its id.
    pub b_id: String,
    /// How similar they are: 1 if each matches the other as well as itself.
    pub likeness: f64,
    /// Words they share, best first.
    pub shared: Vec<String>,
}

/// Neighbours examined per skill.
const NEIGHBOURS: usize = 6;

/// Pairs of skills with at least this similarity (0.8 is a good start), most similar first.
///
/// Each skill's description is routed as if a user had typed it; the similarity of a pair is the
/// weaker of the two directions, relative to what each skill scores for itself.
pub fn confusable_pairs(router: &Router, at_least: f64) -> Vec<ConfusablePair> {
    let wide = Router {
        config: RouterConfig { top: NEIGHBOURS, ..router.config.clone() },
        ..router.clone()
    };
    let index = &*router.index;
    let found: Vec<Vec<(usize, f64, Vec<String>)>> = (0..index.len())
        .into_par_iter()
        .map(|at| {
            let text = index.description(at);
            let result = wide.route(&UserMessage::from_user(text), &RouteContext::default());
            // Names do not count here: a description that names its own skill is not evidence.
            let score = |one: &crate::result::SkillMatch| one.score - one.parts.name.value();
            let Some(own) = result.matches.iter().find(|one| one.id == index.id(at)).map(score)
            else {
                return Vec::new();
            };
            let others = result.matches.iter().filter(|one| one.id != index.id(at));
            others
                .filter_map(|one| {
                    let terms = one.terms.iter().take(6).map(|term| term.term.clone()).collect();
                    Some((
                        index.position(&one.id)?,
                        (score(one) / own.max(1e-9)).clamp(0.0, 1.0),
                        terms,
                    ))
                })
                .collect()
        })
        .collect();
    let mut pairs = Vec::new();
    for (a, neighbours) in found.iter().enumerate() {
        for (b, there, shared) in neighbours.iter().filter(|(b, ..)| *b > a) {
            let Some((_, back, _)) = found[*b].iter().find(|(other, ..)| *other == a) else {
                continue;
            };
            let likeness = there.min(*back);
            if likeness >= at_least {
                pairs.push(ConfusablePair {
                    a: index.name(a).to_owned(),
                    a_id: index.id(a).to_owned(),
                    b: index.name(*b).to_owned(),
                    b_id: index.id(*b).to_owned(),
                    likeness,
                    shared: shared.clone(),
                });
            }
        }
    }
    pairs.sort_by(|x, y| {
        y.likeness.total_cmp(&x.likeness).then_with(|| (&x.a, &x.b).cmp(&(&y.a, &y.b)))
    });
    pairs
}
