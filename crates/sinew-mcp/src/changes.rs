//! Change notices: what clients have listed or subscribed to has changed.
//!
//! A change is noticed by the watcher, or by a call that reads the catalog first. Both call
//! `McpHost::notify_skill_changes`, which compares with what was last announced, so that each change
//! is announced once.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::ControlFlow;
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::Duration;

use rmcp::model::{ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::SubscriptionContext;
use rmcp::{Peer, RoleServer};
use sinew_catalog::Snapshot;
use sinew_engine::{Engine, WatchEvent};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Instant, sleep_until};

use super::host::{McpHost, UriSubscriptions};
use super::resources;

/// Notices of one session are gathered for this long: many files change together.
const GATHER: Duration = Duration::from_secs(1);
/// How often a quiet session is checked for its end.
const LOOK_FOR_CLOSED: Duration = Duration::from_secs(30);
/// How often the configuration and the subscribed addresses are checked.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// A change that clients may want to know of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ChangeNotice {
    /// Skills came, went or changed: lists of resources and prompts are out of date.
    Skills,
    /// Tools came or went.
    Tools,
    /// The content of an address changed.
    Updated(String),
}

/// What was last announced.
#[derive(Debug, Default)]
pub(super) struct NoticeBaseline {
    version: u64,
    skills: Option<u64>,
    workshop: Option<bool>,
}

/// Notices gathered for one client.
#[derive(Debug, Default)]
struct NoticeBatch {
    skills: bool,
    tools: bool,
    updated: HashSet<String>,
}

impl NoticeBatch {
    fn add(&mut self, notice: ChangeNotice) {
        match notice {
            ChangeNotice::Skills => self.skills = true,
            ChangeNotice::Tools => self.tools = true,
            ChangeNotice::Updated(uri) => drop(self.updated.insert(uri)),
        }
    }

    /// A client that missed notices is told that everything may have changed.
    fn everything(&mut self) {
        self.skills = true;
        self.tools = true;
    }
}

impl McpHost {
    /// Tells clients what differs from what was last announced.
    pub(super) fn notify_skill_changes(&self, snapshot: &Snapshot) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        // What the watcher saw before a call's newer look may be told after it.
        if snapshot.version > seen.version || seen.skills.is_none() {
            seen.version = snapshot.version;
            let skills = fingerprint(snapshot);
            let before = seen.skills.replace(skills);
            if before.is_some_and(|before| before != skills) {
                let _ = self.notices.send(ChangeNotice::Skills);
            }
        }
    }

    /// Makes sure that there is something to compare with, before a client is promised notices of
    /// changes.
    pub(super) fn ensure_baseline(self: &Arc<Self>) {
        let begun = self.seen.lock().unwrap_or_else(PoisonError::into_inner).skills.is_some();
        if !begun {
            self.view();
        }
    }

    /// Tells clients when the tools differ: the workshop was switched on or off.
    fn note_tools(&self, engine: &Engine) {
        let is_on = engine.workshop().settings().0.is_on();
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.workshop.replace(is_on).is_some_and(|before| before != is_on) {
            let _ = self.notices.send(ChangeNotice::Tools);
        }
    }

    /// Follows files and configuration for as long as the process lives.
    pub fn watch(self: &Arc<Self>) {
        let host = Arc::downgrade(self);
        self.live.follow(move |event| {
            let Some(host) = host.upgrade() else { return ControlFlow::Break(()) };
            match event {
                WatchEvent::Changed(change) => host.notify_skill_changes(&change.snapshot),
                // Changes that happened before watching began, or whose events were lost, are seen now.
                WatchEvent::Started { .. } | WatchEvent::Notice(_) => drop(host.view()),
            }
            ControlFlow::Continue(())
        });
        let host = Arc::downgrade(self);
        thread::spawn(move || {
            let mut known = HashMap::new();
            while let Some(host) = host.upgrade() {
                host.note_tools(&host.engine());
                host.look_at_followed(&mut known);
                drop(host);
                thread::sleep(LOOK_EVERY);
            }
        });
    }

    /// Checks every address that a client follows.
    fn look_at_followed(self: &Arc<Self>, known: &mut HashMap<String, Option<String>>) {
        let followed = self.followed();
        known.retain(|uri, _| followed.contains(uri));
        if followed.is_empty() {
            return;
        }
        let look = self.view();
        for uri in followed {
            let now = resources::digest(&look, &uri);
            let before = known.insert(uri.clone(), now.clone());
            if before.is_some_and(|before| before != now) {
                let _ = self.notices.send(ChangeNotice::Updated(uri));
            }
        }
    }

    /// Every address that some conversation follows; conversations that ended are forgotten.
    fn followed(&self) -> HashSet<String> {
        let mut all = self.subscribed.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|one| one.strong_count() > 0);
        let each = all.iter().filter_map(std::sync::Weak::upgrade);
        each.flat_map(|one| one.lock().unwrap_or_else(PoisonError::into_inner).clone()).collect()
    }

    /// Remembers what a conversation follows for as long as it lasts.
    pub(super) fn add_subscriptions(&self, subscribed: &Arc<UriSubscriptions>) {
        let mut all = self.subscribed.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(Arc::downgrade(subscribed));
    }
}

/// Collects notices until it is time to send them; `None` when there will be no more.
async fn gather(notices: &mut Receiver<ChangeNotice>, not_before: Instant) -> Option<NoticeBatch> {
    let mut gathered = NoticeBatch::default();
    match notices.recv().await {
        Ok(notice) => gathered.add(notice),
        Err(RecvError::Lagged(_)) => gathered.everything(),
        Err(RecvError::Closed) => return None,
    }
    sleep_until(not_before).await;
    loop {
        match notices.try_recv() {
            Ok(notice) => gathered.add(notice),
            Err(tokio::sync::broadcast::error::TryRecvError::Lagged(_)) => gathered.everything(),
            Err(_) => return Some(gathered),
        }
    }
}

/// Sends notices to a session of the older kind, until it ends.
pub(super) async fn notify_session(
    peer: Peer<RoleServer>,
    mut notices: Receiver<ChangeNotice>,
    subscribed: Arc<UriSubscriptions>,
) {
    let mut not_before = Instant::now();
    loop {
        let gathered = tokio::select! {
            () = closed(&peer) => return,
            gathered = gather(&mut notices, not_before) => gathered,
        };
        let Some(gathered) = gathered else { return };
        not_before = Instant::now() + GATHER;
        let mut sent = Ok(());
        if gathered.skills {
            sent = sent.and(peer.notify_resource_list_changed().await);
            sent = sent.and(peer.notify_prompt_list_changed().await);
        }
        if gathered.tools {
            sent = sent.and(peer.notify_tool_list_changed().await);
        }
        let mine: Vec<String> = {
            let subscribed = subscribed.lock().unwrap_or_else(PoisonError::into_inner);
            gathered.updated.into_iter().filter(|uri| subscribed.contains(uri)).collect()
        };
        for uri in mine {
            let changed = ResourceUpdatedNotificationParam::new(uri);
            sent = sent.and(peer.notify_resource_updated(changed).await);
        }
        if sent.is_err() {
            return;
        }
    }
}

/// Ends when the session does; one that closed silently is noticed after a while.
async fn closed(peer: &Peer<RoleServer>) {
    while !peer.is_transport_closed() {
        tokio::time::sleep(LOOK_FOR_CLOSED).await;
    }
}

/// Sends notices to a stream that asked for them, until it is closed.
pub(super) async fn notify_stream(
    context: &SubscriptionContext,
    mut notices: Receiver<ChangeNotice>,
) {
    let (sink, wants) = (context.sink(), context.accepted());
    let wants_list = |list: fn(&SubscriptionFilter) -> Option<bool>| list(wants) == Some(true);
    let mut not_before = Instant::now();
    loop {
        let gathered = tokio::select! {
            () = context.cancelled() => return,
            gathered = gather(&mut notices, not_before) => gathered,
        };
        let Some(gathered) = gathered else { return };
        not_before = Instant::now() + GATHER;
        let mut sent = Ok(());
        if gathered.skills && wants_list(|wants| wants.resources_list_changed) {
            sent = sent.and(sink.notify_resource_list_changed().await);
        }
        if gathered.skills && wants_list(|wants| wants.prompts_list_changed) {
            sent = sent.and(sink.notify_prompt_list_changed().await);
        }
        if gathered.tools && wants_list(|wants| wants.tools_list_changed) {
            sent = sent.and(sink.notify_tool_list_changed().await);
        }
        let followed = wants.resource_subscriptions.as_deref().unwrap_or_default();
        for uri in gathered.updated.into_iter().filter(|uri| followed.contains(uri)) {
            sent = sent.and(sink.notify_resource_updated(uri).await);
        }
        if sent.is_err() {
            return;
        }
    }
}

/// What clients can see of the skills: names, ranks, places, contents, states and commands.
fn fingerprint(snapshot: &Snapshot) -> u64 {
    let mut hasher = DefaultHasher::new();
    for entry in &snapshot.catalog.entries {
        entry.name.hash(&mut hasher);
        entry.tier.as_str().hash(&mut hasher);
        entry.file_path.hash(&mut hasher);
        entry.content_hash.hash(&mut hasher);
        entry.state.hash(&mut hasher);
        entry.command_name.hash(&mut hasher);
    }
    hasher.finish()
}
