//! Why a skill ranks where it ranks, also when it is far from the top or excluded.

use serde::Serialize;

use crate::message::Message;
use crate::result::{Match, RouteResult};
use crate::router::{Config, Context, Router};

/// Where a skill stands for a message, and what its score is made of.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The skill, with every part of its score.
    pub skill: Match,
    /// Its place among all skills, from 1, as if it were not excluded.
    pub rank: usize,
    /// Whether this call may not match it.
    pub excluded: bool,
    /// The answer to the message, for comparison.
    pub result: RouteResult,
}

impl Router {
    /// Why a document ranks where it ranks; `None` when there is no such document, or nothing to
    /// rank by.
    pub fn explain(
        &self,
        message: &Message<'_>,
        id: &str,
        context: &Context<'_>,
    ) -> Option<Explanation> {
        let at = self.index.position(id)?;
        let excluded = context.excluded.contains(&id);
        let heard = self.hear(message);
        let result = self.answer(&heard, context);
        // Every document in order, and this one among them even if the gate holds it back.
        let others: Vec<&str> =
            context.excluded.iter().copied().filter(|other| *other != id).collect();
        let wide = Self {
            config: Config { top: self.index.len(), ..self.config.clone() },
            ..self.clone()
        };
        let all = wide.answer(&heard, &Context { excluded: &others, prior: context.prior });
        let rank = all.matches.iter().position(|one| one.id == self.index.id(at))?;
        let skill = all.matches.into_iter().nth(rank)?;
        Some(Explanation { skill, rank: rank + 1, excluded, result })
    }
}
