//! Runs that were learned from, and how a new one relates to them.

use serde::{Deserialize, Serialize};
use sinew_cortex::UtcInstant;
use sinew_skill::content_hash;

use crate::judge::RunJudgement;
use crate::names;
use crate::redact::CleanRun;
use crate::risk::is_consent;
use crate::run::{AgentRun, RunStep};
use crate::simhash::{NEAR_BITS, is_confirmed, simhash, tokens};

/// Tokens that are kept of a run: as many as are compared.
const KEPT_TOKENS: usize = 500;

/// Steps that are kept of a run: many more than a draft shows.
const KEPT_STEPS: usize = 300;

/// Bytes of a field that are kept of a run; a longer command is not merged with others.
const KEPT_FIELD: usize = 4 * 1024;

/// How far the first times of a run may be apart that was seen live and in a transcript: a hook sees
/// a message when its process has started, the transcript when the agent's program writes it. Two
/// tasks of one session that involved work cannot be so close together.
const SAME_START_MS: i64 = 5_000;

/// The stored summary of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LearnedRun {
    /// The hash of agent, session and start: the same run has the same key.
    pub key: String,
    /// The hash of agent and session, and when it began: the same run, seen in another way, has the
    /// same session and nearly the same time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began: Option<(String, i64)>,
    /// Its sequence number; later runs have higher ones.
    pub number: u64,
    /// How it went.
    pub judgement: RunJudgement,
    /// OpenPocket's hash of what was done.
    pub fingerprint: String,
    /// The tokens by which similar runs are compared.
    pub tokens: Vec<String>,
    /// The task's slug.
    pub slug: String,
    /// The skill that it was drafted as.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    /// The proposal that it led to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposal: Option<String>,
}

/// How a new run relates to a known one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunRelation {
    /// The same way through the same applications.
    SameBehaviour,
    /// Nearly the same way.
    Near,
    /// The same task done another way.
    SameTask,
    /// The coarse hash is the same, what was done is not.
    Collision,
    /// Nothing.
    Other,
}

impl LearnedRun {
    /// The summary of a run that was cleaned.
    pub fn of(key: RunKey, clean: &CleanRun, fingerprint: &str, judgement: RunJudgement) -> Self {
        let mut tokens = tokens(&clean.run.steps);
        tokens.truncate(KEPT_TOKENS);
        Self {
            key: key.whole,
            began: key.began,
            number: 0,
            judgement,
            fingerprint: fingerprint.to_owned(),
            tokens,
            slug: names::strict_slug(&clean.run.task, fingerprint),
            skill: None,
            proposal: None,
        }
    }

    /// The same run among those that are known: by its key, or as it was seen in another way.
    pub fn find_same_run<'k>(&self, known: &'k [Self]) -> Option<&'k Self> {
        let apart = |other: &&Self| match (&self.began, &other.began) {
            (Some((session, at)), Some((of, then))) if session == of => Some((at - then).abs()),
            _ => None,
        };
        known.iter().find(|other| other.key == self.key).or_else(|| {
            let near = known.iter().filter_map(|other| Some((apart(&other)?, other)));
            let near = near.filter(|(apart, _)| *apart <= SAME_START_MS);
            near.min_by_key(|(apart, _)| *apart).map(|(_, other)| other)
        })
    }

    /// What it asked a person for.
    pub fn asked(&self) -> Vec<String> {
        let asked = self.tokens.iter().filter_map(|token| {
            let (kind, shape) = kind_of(token)?;
            let words = match shape {
                "" | "-" => kind.replace('_', " "),
                shape => shape.to_owned(),
            };
            is_consent(kind).then_some(words)
        });
        asked.collect()
    }

    /// Its tokens without questions to a person; all of them where it did nothing else.
    fn done(&self) -> Vec<String> {
        let is_question =
            |token: &&String| kind_of(token).is_some_and(|(kind, _)| is_consent(kind));
        let done: Vec<String> =
            self.tokens.iter().filter(|token| !is_question(token)).cloned().collect();
        if done.is_empty() { self.tokens.clone() } else { done }
    }

    /// How this run relates to an earlier one.
    pub fn relation(&self, earlier: &Self) -> RunRelation {
        let same_hash = self.fingerprint == earlier.fingerprint;
        // One run asked a person and the other did not: that makes no other task of it, and the one that
        // did not ask is the one to worry about.
        let (own, theirs) = (self.done(), earlier.done());
        let is_alike = is_confirmed(&own, &theirs);
        let bits = (simhash(&own) ^ simhash(&theirs)).count_ones();
        match () {
            () if same_hash && is_alike => RunRelation::SameBehaviour,
            () if bits <= NEAR_BITS && is_alike => RunRelation::Near,
            () if self.slug == earlier.slug => RunRelation::SameTask,
            () if same_hash => RunRelation::Collision,
            () => RunRelation::Other,
        }
    }
}

/// The kind and the shape in a token.
fn kind_of(token: &str) -> Option<(&str, &str)> {
    let (_, rest) = token.split_once(':')?;
    Some(rest.split_once(':').unwrap_or((rest, "")))
}

/// What identifies a run: its agent, its session and when it began.
#[derive(Debug)]
pub struct RunKey {
    whole: String,
    began: Option<(String, i64)>,
}

/// The key of a run.
pub fn run_key(run: &AgentRun) -> RunKey {
    let hash = |parts: &[&str]| content_hash(parts.join("\n").as_bytes())[..32].to_owned();
    let at = run.started_at.parse::<UtcInstant>().ok();
    RunKey {
        whole: hash(&[&run.agent, &run.session, &run.started_at]),
        began: at.map(|at| (hash(&[&run.agent, &run.session]), at.ms())),
    }
}

/// What is kept of a cleaned run for merging it with others.
pub fn trim_for_merging(clean: &CleanRun) -> CleanRun {
    let run = &clean.run;
    let steps = run
        .steps
        .iter()
        .take(KEPT_STEPS)
        .map(|step| RunStep { result: String::new(), ..step.clone() });
    let mut kept = CleanRun {
        run: AgentRun {
            steps: steps.collect(),
            left_out: run.left_out + run.steps.len().saturating_sub(KEPT_STEPS),
            agent: run.agent.clone(),
            session: run.session.clone(),
            task: run.task.clone(),
            ..AgentRun::default()
        },
        params: clean.params.clone(),
        redactions: clean.redactions.clone(),
    };
    for step in &mut kept.run.steps {
        for value in step.action.fields.values_mut() {
            if let serde_json::Value::String(text) = value {
                crate::run::clip(text, KEPT_FIELD);
            }
        }
    }
    kept
}
