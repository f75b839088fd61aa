//! One conversation: every request of the protocol, and which file answers it.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult,
    CustomRequest, CustomResult, ErrorCode, GetPromptRequestParams, GetPromptResponse,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ServerConfig,
    SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::json;
use sinew_engine::LiveView;

use super::caller::{ClientTrust, McpCaller, ProtocolEra, era};
use super::host::{McpHost, UriSubscriptions};
use super::questions::{self, McpToolResponse};
use super::resources::CACHE_MS;
use super::skills::SkillsMethod;
use super::tool_answer::refusal;
use super::{changes, completions, info, prompts, resources, skills, tools};

/// Addresses that one conversation may follow; each is checked every second.
const MAX_FOLLOWED: usize = 200;

/// One conversation with a client.
#[derive(Debug, Clone)]
pub struct McpServer {
    host: Arc<McpHost>,
    subscribed: Arc<UriSubscriptions>,
    trust: ClientTrust,
}

impl McpServer {
    /// A conversation over the engine of a host, with any program.
    pub fn new(host: &Arc<McpHost>) -> Self {
        Self::with(host, ClientTrust::Unknown)
    }

    /// A conversation with a client of which this is known.
    pub(super) fn with(host: &Arc<McpHost>, trust: ClientTrust) -> Self {
        let subscribed = Arc::new(Mutex::new(HashSet::new()));
        host.add_subscriptions(&subscribed);
        Self { host: Arc::clone(host), subscribed, trust }
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&LiveView) -> Result<T, ErrorData> + Send + 'static,
    ) -> Result<T, ErrorData> {
        self.host.run(work).await?
    }
}

/// How long and for whom an answer may be cached, which only the newer revision defines.
fn keep(era: ProtocolEra, ttl_ms: &mut Option<u64>, scope: &mut Option<CacheScope>) {
    if era == ProtocolEra::Stateless {
        *ttl_ms = Some(CACHE_MS);
        *scope = Some(CacheScope::Private);
    }
}

fn cursor(request: Option<PaginatedRequestParams>) -> Option<String> {
    request.and_then(|request| request.cursor)
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        info::config(self.host.engine().workshop().guidance().as_deref())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.run(|look| Ok(tools::list(look))).await?;
        let mut result = ListToolsResult::with_all_items(tools);
        keep(era(&context), &mut result.ttl_ms, &mut result.cache_scope);
        Ok(result)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let caller = McpCaller::of(&context, self.trust);
        let bound = questions::call_binding(&caller, &request.name, request.arguments.as_ref());
        let mut answered = None;
        if let Some(note) = &request.request_state {
            let about = self.host.seal.open(note, &bound)?;
            // Where the answer is missing, the question is asked again.
            answered = questions::find_reply(&about, request.input_responses.as_ref())
                .map(|reply| (about, reply));
        }
        loop {
            let (request, who) = (request.clone(), caller.clone());
            let step = self
                .run(move |look| {
                    let Some(spec) = tools::find(look, &request.name) else {
                        let said = json!({"name": request.name});
                        return Err(ErrorData::invalid_params("there is no such tool", Some(said)));
                    };
                    Ok(tools::call(spec, look, &who, request.arguments, answered))
                })
                .await?;
            let question = match step {
                Ok(McpToolResponse::Done(answer)) => {
                    return Ok(answer.into_result(caller.data).into());
                }
                Err(error) => return Ok(refusal(&error).into()),
                Ok(McpToolResponse::Ask(question)) => question,
            };
            if caller.era == ProtocolEra::Stateless {
                return Ok(question.into_input_required(&self.host.seal, &bound)?.into());
            }
            let about = question.about();
            answered = Some((about, question.ask(&context.peer).await?));
        }
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let caller = McpCaller::of(&context, self.trust);
        let work = move |look: &LiveView| prompts::list(look, &caller, cursor(request).as_deref());
        let mut result = self.run(work).await?;
        keep(era(&context), &mut result.ttl_ms, &mut result.cache_scope);
        Ok(result)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let caller = McpCaller::of(&context, self.trust);
        let work = move |look: &LiveView| {
            prompts::get(look, &caller, &request.name, request.arguments.as_ref())
        };
        self.run(work).await.map(Into::into)
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let work = move |look: &LiveView| resources::list(look, cursor(request).as_deref());
        let mut result = self.run(work).await?;
        keep(era(&context), &mut result.ttl_ms, &mut result.cache_scope);
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut result = resources::templates();
        keep(era(&context), &mut result.ttl_ms, &mut result.cache_scope);
        Ok(result)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let caller = McpCaller::of(&context, self.trust);
        let mut read = self.run(move |look| resources::read(look, &caller, &request.uri)).await?;
        keep(era(&context), &mut read.ttl_ms, &mut read.cache_scope);
        Ok(read.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        self.run(move |look| Ok(completions::complete(look, &request))).await
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let Some(method) = SkillsMethod::named(&request.method) else {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None));
        };
        let era = era(&context);
        self.run(move |look| skills::answer(method, &request, era, look)).await
    }

    #[allow(deprecated, reason = "sessions of older revisions follow resources this way")]
    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let mut subscribed = self.subscribed.lock().unwrap_or_else(PoisonError::into_inner);
        if subscribed.len() >= MAX_FOLLOWED && !subscribed.contains(&request.uri) {
            let said = format!("more than {MAX_FOLLOWED} resources cannot be followed");
            return Err(ErrorData::invalid_params(said, None));
        }
        subscribed.insert(request.uri);
        Ok(())
    }

    #[allow(deprecated, reason = "sessions of older revisions follow resources this way")]
    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscribed.lock().unwrap_or_else(PoisonError::into_inner).remove(&request.uri);
        Ok(())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let notices = self.host.notices.subscribe();
        let subscribed = Arc::clone(&self.subscribed);
        tokio::spawn(changes::notify_session(context.peer, notices, subscribed));
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        // The subscription is acknowledged at once, and changes from then on are sent.
        tokio::task::block_in_place(|| self.host.ensure_baseline());
        let mut accepted = requested.clone();
        if let Some(followed) = &mut accepted.resource_subscriptions {
            followed.truncate(MAX_FOLLOWED);
        }
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let followed = context.accepted().resource_subscriptions.clone().unwrap_or_default();
        let followed = Arc::new(Mutex::new(followed.into_iter().collect::<HashSet<String>>()));
        self.host.add_subscriptions(&followed);
        changes::notify_stream(&context, self.host.notices.subscribe()).await;
        Ok(())
    }
}
