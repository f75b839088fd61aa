//! Acquisitions over HTTP: the same runs, states and questions as everywhere. A question waits as an
//! approval; only a person answers it.

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use sinew_cortex::acquire::{AcquireRun, ChosenSkill};
use sinew_engine::acquire::{
    AcquireHost, AcquireProgress, AcquireRequest, AcquireStatus, AcquireWait, CandidateSummary,
};
use sinew_engine::approval::{ApprovalAnswer, ApprovalQuestion, Approver, ConsentChannel};
use sinew_engine::hub::{HubOverrides, ShorthandMeaning, SkillReference};
use sinew_settings::{Actor, ErrorCode};
use utoipa::ToSchema;

use super::Problem;
use super::extract::{JsonBody, JsonReply, UrlPath};
use super::openapi::ProblemResponses;
use crate::access::WebCaller;
use crate::app::WebApp;

/// What is to be done
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct AcquireBody {
    /// The task
    #[schema(min_length = 1, max_length = 2000)]
    task: String,
    /// Its area, where it is known
    #[schema(max_length = 64)]
    region: Option<String>,
    /// English words to search with: three to five
    #[schema(max_items = 5)]
    keywords: Option<Vec<String>>,
    /// Look for a skill even if an installed one seems to fit
    #[serde(default)]
    anyway: bool,
    /// The one skill that is wanted, by its reference
    #[schema(max_length = 300)]
    reference: Option<String>,
    /// Its version
    #[schema(max_length = 128)]
    version: Option<String>,
    /// The task changes nothing
    #[serde(default)]
    read_only: bool,
}

/// What becomes of a run
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AcquireStepBody {
    /// What to do
    action: AcquireAction,
    /// The candidate, to pick it
    #[schema(max_length = 128)]
    skill: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum AcquireAction {
    /// Go on, after an answer or a wait
    Continue,
    /// Ask about another one of the candidates
    Pick,
    /// Stop, and take away what was installed
    Cancel,
}

/// Where a run stands
#[derive(Serialize, ToSchema)]
struct AcquireReply {
    /// The run
    run: String,
    /// Its state
    state: &'static str,
    /// The words of the task
    signals: Vec<String>,
    /// The area of the task
    region: Option<String>,
    /// The skill that it is about now
    skill: Option<String>,
    /// What it waits for
    #[serde(skip_serializing_if = "Option::is_none")]
    waits: Option<AcquireWait>,
    /// The candidates, where they were shown
    #[serde(skip_serializing_if = "Vec::is_empty")]
    candidates: Vec<CandidateSummary>,
    /// The notice of a reflex
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

impl AcquireReply {
    fn of(run: &AcquireRun) -> Self {
        Self {
            run: run.id.clone(),
            state: run.state.name(),
            signals: run.signals.clone(),
            region: run.region.clone(),
            skill: run.current().map(|offer| offer.slug.clone()),
            waits: None,
            candidates: Vec::new(),
            notice: None,
        }
    }

    fn standing(standing: AcquireStatus, heard: AcquisitionCaller) -> Self {
        Self {
            waits: Some(standing.waits),
            candidates: heard.candidates,
            notice: heard.notice,
            ..Self::of(&standing.run)
        }
    }
}

/// Runs that are not over
#[derive(Serialize, ToSchema)]
struct AcquireRunList {
    /// Each of them, oldest first
    runs: Vec<AcquireReply>,
}

/// The caller of a run: it hears what happens, and every question waits.
struct AcquisitionCaller {
    actor: Actor,
    channel: ConsentChannel,
    candidates: Vec<CandidateSummary>,
    notice: Option<String>,
}

impl AcquisitionCaller {
    fn of(caller: &WebCaller) -> Self {
        let channel = match caller.is_person() {
            true => ConsentChannel::Dashboard,
            false => ConsentChannel::Relay,
        };
        Self { actor: caller.actor(), channel, candidates: Vec::new(), notice: None }
    }
}

impl Approver for AcquisitionCaller {
    fn ask(&mut self, _question: &ApprovalQuestion<'_>) -> ApprovalAnswer {
        ApprovalAnswer::ABSENT
    }
}

impl AcquireHost for AcquisitionCaller {
    fn on_progress(&mut self, told: &AcquireProgress<'_>) {
        match told {
            AcquireProgress::Candidates { candidates, .. } => {
                self.candidates = candidates.to_vec();
            }
            AcquireProgress::Notice { text, .. } => self.notice = Some((*text).to_owned()),
            _ => {}
        }
    }

    fn respondent(&self) -> (Actor, ConsentChannel) {
        (self.actor.clone(), self.channel)
    }
}

/// Runs that are not over
#[utoipa::path(
    get, path = "/acquire", tag = "acquire", operation_id = "acquisitions",
    responses((status = 200, body = AcquireRunList), ProblemResponses)
)]
pub(crate) async fn list(
    State(app): State<WebApp>,
    _caller: WebCaller,
) -> Result<JsonReply, Problem> {
    app.ask(|look| {
        let open = look.engine.cortex()?.open_runs()?;
        JsonReply::of(&AcquireRunList { runs: open.iter().map(AcquireReply::of).collect() })
    })
    .await
}

/// One run
#[utoipa::path(
    get, path = "/acquire/{run}", tag = "acquire", operation_id = "acquisition",
    params(("run" = String, Path, description = "The run")),
    responses((status = 200, body = AcquireReply), ProblemResponses)
)]
pub(crate) async fn show(
    State(app): State<WebApp>,
    _caller: WebCaller,
    UrlPath(run): UrlPath<String>,
) -> Result<JsonReply, Problem> {
    app.ask(move |look| JsonReply::of(&AcquireReply::of(&look.engine.cortex()?.run(&run)?))).await
}

/// Find a skill for a task; what needs a person waits as an approval
#[utoipa::path(
    post, path = "/acquire", tag = "acquire", operation_id = "acquire", request_body = AcquireBody,
    responses((status = 201, body = AcquireReply), ProblemResponses)
)]
pub(crate) async fn begin(
    State(app): State<WebApp>,
    caller: WebCaller,
    JsonBody(wish): JsonBody<AcquireBody>,
) -> Result<(StatusCode, JsonReply), Problem> {
    let chosen = chosen(&wish)?;
    app.change(move |look| {
        let request = AcquireRequest {
            task: wish.task,
            region: wish.region,
            keywords: wish.keywords.unwrap_or_default(),
            anyway: wish.anyway,
            chosen,
            read_only: wish.read_only,
        };
        let market = look.engine.hub().market(&HubOverrides::default())?;
        let mut host = AcquisitionCaller::of(&caller);
        let standing = look.engine.hub().acquisition(&market).begin(&request, &mut host)?;
        let reply = AcquireReply::standing(standing, host);
        Ok((StatusCode::CREATED, JsonReply::of(&reply)?))
    })
    .await
}

/// Continue a run, choose another candidate, or stop it
#[utoipa::path(
    post, path = "/acquire/{run}", tag = "acquire", operation_id = "acquire_step",
    params(("run" = String, Path, description = "The run")), request_body = AcquireStepBody,
    responses((status = 200, body = AcquireReply), ProblemResponses)
)]
pub(crate) async fn step(
    State(app): State<WebApp>,
    caller: WebCaller,
    UrlPath(run): UrlPath<String>,
    JsonBody(wish): JsonBody<AcquireStepBody>,
) -> Result<JsonReply, Problem> {
    if (wish.action == AcquireAction::Pick) != wish.skill.is_some() {
        let said = "`skill` belongs to the action `pick`, and to no other";
        return Err(Problem::new(ErrorCode::BadBody, said));
    }
    app.change(move |look| {
        let market = look.engine.hub().market(&HubOverrides::default())?;
        let flow = look.engine.hub().acquisition(&market);
        let mut host = AcquisitionCaller::of(&caller);
        let standing = match (wish.action, &wish.skill) {
            (AcquireAction::Pick, Some(skill)) => flow.pick(&run, skill, &mut host)?,
            (AcquireAction::Cancel, _) => flow.cancel(&run, &mut host)?,
            _ => flow.resume_after_notice(&run, &mut host)?,
        };
        JsonReply::of(&AcquireReply::standing(standing, host))
    })
    .await
}

/// The one skill that is named. A folder on this machine is installed, and not acquired.
fn chosen(wish: &AcquireBody) -> Result<Option<ChosenSkill>, Problem> {
    let Some(text) = &wish.reference else {
        return match &wish.version {
            Some(_) => {
                Err(Problem::new(ErrorCode::BadBody, "`version` needs the `reference` it is of"))
            }
            None => Ok(None),
        };
    };
    match SkillReference::parse(text, ShorthandMeaning::GitHub) {
        Ok(SkillReference::Local(_)) => {
            Err(Problem::new(ErrorCode::BadBody, "`reference` names a folder on this machine"))
        }
        Ok(_) => Ok(Some(ChosenSkill { reference: text.clone(), version: wish.version.clone() })),
        Err(error) => Err(Problem::new(ErrorCode::BadBody, format!("`reference`: {error}"))),
    }
}
