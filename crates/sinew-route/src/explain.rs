//! Why a skill has its rank, even if it is far from the top or excluded.

use serde::Serialize;

use crate::message::UserMessage;
use crate::result::{RouteResult, SkillMatch};
use crate::router::{RouteContext, Router, RouterConfig};

/// The rank of a skill for a message, and what its score consists of.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RankExplanation {
    /// The skill, with every part of its score.
    pub skill: SkillMatch,
    /// Its rank among all skills, from 1, as if it were not excluded.
    pub rank: usize,
    /// Whether this call must not match it.
    pub excluded: bool,
    /// The answer to the message, for comparison.
    pub result: RouteResult,
}

impl Router {
    /// Why a document has its rank; `None` if there is no such document, or nothing to rank by.
    pub fn explain(
        &self,
        message: &UserMessage<'_>,
        id: &str,
        context: &RouteContext<'_>,
    ) -> Option<RankExplanation> {
        let at = self.index.position(id)?;
        let excluded = context.excluded.contains(&id);
        let heard = self.score(message);
        let result = self.route_scored(&heard, context);
        // All documents in order, including this one even if the gate excludes it.
        let others: Vec<&str> =
            context.excluded.iter().copied().filter(|other| *other != id).collect();
        let wide = Self {
            config: RouterConfig { top: self.index.len(), ..self.config.clone() },
            ..self.clone()
        };
        let all =
            wide.route_scored(&heard, &RouteContext { excluded: &others, prior: context.prior });
        let rank = all.matches.iter().position(|one| one.id == self.index.id(at))?;
        let skill = all.matches.into_iter().nth(rank)?;
        Some(RankExplanation { skill, rank: rank + 1, excluded, result })
    }
}
