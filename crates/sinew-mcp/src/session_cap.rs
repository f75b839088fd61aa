//! How many sessions of MCP over HTTP there are, and whose.
//!
//! A session costs some 60 KB for as long as it lasts, and any caller can begin one with a single
//! request. So a client has a bounded number, all clients together have one, and beyond it the one
//! that was not used for the longest time ends: a client whose session ended is told so, and begins
//! another, as the protocol wants it.
//!
//! **Must never happen here:** a session that is in the memory of the transport and not in the ledger.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::Stream;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::WorkerTransport;
use rmcp::transport::common::server_side_http::{ServerSseMessage, SessionId};
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError, LocalSessionWorker,
};

tokio::task_local! {
    /// The address that the request in progress came from.
    pub(super) static CLIENT: IpAddr;
}

/// How many sessions there may be, and for how long.
#[derive(Debug, Clone, Copy)]
pub(super) struct SessionCaps {
    /// A session that is not used for so long ends.
    pub(super) idle: Duration,
    /// Sessions of one address. All agents of a machine share one; each has a few.
    pub(super) per_client: usize,
    /// Sessions of all addresses: 60 MB of them.
    pub(super) in_all: usize,
}

impl Default for SessionCaps {
    fn default() -> Self {
        Self { idle: Duration::from_secs(5 * 60), per_client: 128, in_all: 1_024 }
    }
}

/// Sessions in memory, no more than the caps allow.
#[derive(Debug)]
pub(super) struct CappedSessions {
    local: LocalSessionManager,
    caps: SessionCaps,
    ledger: Mutex<SessionLedger>,
}

/// Which sessions there are.
#[derive(Debug, Default)]
struct SessionLedger {
    sessions: HashMap<SessionId, SessionUse>,
    /// Counts uses; the smallest number is the oldest use.
    uses: u64,
    /// Sessions that ended for others.
    ended: u64,
}

#[derive(Debug, Clone, Copy)]
struct SessionUse {
    client: IpAddr,
    last: u64,
}

impl SessionLedger {
    fn add(&mut self, id: SessionId, client: IpAddr) {
        self.uses += 1;
        self.sessions.insert(id, SessionUse { client, last: self.uses });
    }

    fn touch(&mut self, id: &SessionId) {
        self.uses += 1;
        if let Some(session) = self.sessions.get_mut(id) {
            session.last = self.uses;
        }
    }

    /// Takes out what has to end so that a client can begin one more.
    fn make_room(&mut self, client: IpAddr, caps: SessionCaps) -> Vec<SessionId> {
        let mut ended = Vec::new();
        while self.of(client) >= caps.per_client.max(1) {
            ended.extend(self.take_oldest(client));
        }
        while self.sessions.len() >= caps.in_all.max(1) {
            // A crowd pays for itself before anyone else does.
            let mut counts: HashMap<IpAddr, usize> = HashMap::new();
            self.sessions.values().for_each(|one| *counts.entry(one.client).or_default() += 1);
            let most = counts.into_iter().max_by_key(|&(client, count)| (count, client));
            ended.extend(most.and_then(|(client, _)| self.take_oldest(client)));
        }
        self.ended += ended.len() as u64;
        ended
    }

    fn of(&self, client: IpAddr) -> usize {
        self.sessions.values().filter(|one| one.client == client).count()
    }

    fn take_oldest(&mut self, client: IpAddr) -> Option<SessionId> {
        let own = self.sessions.iter().filter(|(_, one)| one.client == client);
        let oldest = own.min_by_key(|(_, one)| one.last).map(|(id, _)| id.clone())?;
        self.sessions.remove(&oldest);
        Some(oldest)
    }
}

impl CappedSessions {
    pub(super) fn new(caps: SessionCaps) -> Self {
        let mut local = LocalSessionManager::default();
        local.session_config.keep_alive = Some(caps.idle);
        Self { local, caps, ledger: Mutex::default() }
    }

    fn ledger(&self) -> MutexGuard<'_, SessionLedger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends what has to end for one more session of a client.
    async fn make_room(&self, client: IpAddr) {
        let (ended, so_far) = {
            let mut ledger = self.ledger();
            (ledger.make_room(client, self.caps), ledger.ended)
        };
        for id in &ended {
            if let Err(error) = self.local.close_session(id).await {
                tracing::warn!(%error, "an MCP session did not end");
            }
        }
        // A flood of sessions must not become a flood of lines: the powers of two are enough.
        if !ended.is_empty() && so_far.is_power_of_two() {
            tracing::warn!(
                %client, so_far, per_client = self.caps.per_client, in_all = self.caps.in_all,
                "too many MCP sessions: the one that was idle for longest was ended"
            );
        }
    }
}

impl SessionManager for CappedSessions {
    type Error = LocalSessionManagerError;
    type Transport = WorkerTransport<LocalSessionWorker>;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        let client = CLIENT.try_with(|client| *client).unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
        self.make_room(client).await;
        let (id, transport) = self.local.create_session().await?;
        self.ledger().add(id.clone(), client);
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.local.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.local.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.ledger().sessions.remove(id);
        self.local.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.ledger().touch(id);
        self.local.create_stream(id, message).await
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Self::Error> {
        self.ledger().touch(id);
        self.local.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.ledger().touch(id);
        self.local.create_standalone_stream(id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.ledger().touch(id);
        self.local.resume(id, last_event_id).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
    const OTHER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2));

    fn begin(
        ledger: &mut SessionLedger,
        id: &str,
        client: IpAddr,
        caps: SessionCaps,
    ) -> Vec<String> {
        let ended = ledger.make_room(client, caps);
        ledger.add(id.into(), client);
        ended.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_client_beyond_its_share_loses_the_session_it_did_not_use() {
        let caps = SessionCaps { per_client: 2, in_all: 10, ..SessionCaps::default() };
        let mut ledger = SessionLedger::default();
        assert!(begin(&mut ledger, "a", ONE, caps).is_empty());
        assert!(begin(&mut ledger, "b", ONE, caps).is_empty());
        assert!(begin(&mut ledger, "c", OTHER, caps).is_empty());
        ledger.touch(&"a".into());
        assert_eq!(begin(&mut ledger, "d", ONE, caps), ["b"]);
        assert_eq!(ledger.sessions.len(), 3, "the other client has its own");
    }

    #[test]
    fn a_crowd_pays_for_itself_first() {
        let caps = SessionCaps { per_client: 3, in_all: 4, ..SessionCaps::default() };
        let mut ledger = SessionLedger::default();
        begin(&mut ledger, "mine", OTHER, caps);
        for id in ["a", "b", "c"] {
            begin(&mut ledger, id, ONE, caps);
        }
        assert_eq!(begin(&mut ledger, "more", OTHER, caps), ["a"]);
        assert_eq!(ledger.sessions.len(), 4);
    }
}
