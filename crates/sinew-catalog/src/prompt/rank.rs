//! Ranking: the order of display and the order of importance.
//!
//! **Invariant:** both are total and depend only on the request, so the same skills always give the
//! same bytes.

use sinew_settings::config::{PromptOrder, PromptPlanner};

use super::request::{PromptRequest, PromptSkill};
use crate::collate;

/// Two orders over the positions of a request's skills.
pub(super) struct PromptRanks {
    /// As displayed.
    pub(super) display: Vec<usize>,
    /// Best first.
    pub(super) best: Vec<usize>,
    /// For each position, its rank in `best`, counted from 1.
    pub(super) rank: Vec<usize>,
}

impl PromptRanks {
    pub(super) fn of(request: &PromptRequest<'_>) -> Self {
        let skills = request.skills;
        let mut by_name: Vec<usize> = (0..skills.len()).collect();
        by_name.sort_by(|&a, &b| {
            let (a, b) = (&skills[a], &skills[b]);
            collate::compare(a.name, b.name)
                .then_with(|| a.source.cmp(b.source))
                .then_with(|| a.path.cmp(b.path))
        });
        // The sort is stable, so equal entries stay ordered by name.
        let mut best = by_name.clone();
        best.sort_by(|&a, &b| {
            let (a, b) = (&skills[a], &skills[b]);
            let score = |skill: &PromptSkill<'_>| match skill.score {
                Some(score) if request.message_known && !score.is_nan() => score,
                _ => f64::NEG_INFINITY,
            };
            (b.referenced.cmp(&a.referenced))
                .then(b.pinned.cmp(&a.pinned))
                .then(score(b).total_cmp(&score(a)))
                .then(b.last_success.cmp(&a.last_success))
                .then(b.tier.cmp(&a.tier))
        });
        let mut rank = vec![0; skills.len()];
        for (place, &position) in best.iter().enumerate() {
            rank[position] = place + 1;
        }
        let by_rank =
            request.order == PromptOrder::Rank && request.planner != PromptPlanner::Openclaw;
        let display = if by_rank { best.clone() } else { by_name };
        Self { display, best, rank }
    }

    /// The positions within the limit on the number of skills, in display order.
    pub(super) fn within_skill_limit(&self, request: &PromptRequest<'_>) -> Vec<usize> {
        let limit = request.limits.max_skills;
        match request.planner {
            PromptPlanner::Graded => {
                self.display.iter().copied().filter(|&at| self.rank[at] <= limit).collect()
            }
            PromptPlanner::Openclaw | PromptPlanner::Prefix => {
                self.display.iter().copied().take(limit).collect()
            }
        }
    }
}
