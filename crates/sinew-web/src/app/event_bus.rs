//! What happened, for the streams that are open now.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::broadcast;

/// Streams of one client: a few browser tabs, or a few programs of one machine.
pub(crate) const MAX_CLIENT_STREAMS: usize = 16;
/// Streams of all clients. Each holds a connection, and some must be left for requests.
pub(crate) const MAX_STREAMS: usize = 256;
/// Events kept for a slow client; one that falls further behind is told to load again.
const BACKLOG: usize = 256;

/// The kind of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServerEventKind {
    CatalogChanged,
    RouteDecided,
    ApprovalOpened,
    ApprovalDecided,
    ProposalCreated,
    ProposalChanged,
    ScanFinished,
    OutcomeRecorded,
    CortexChanged,
    ConfigChanged,
}

impl ServerEventKind {
    /// Every kind there is.
    pub(crate) const ALL: [Self; 10] = [
        Self::CatalogChanged,
        Self::RouteDecided,
        Self::ApprovalOpened,
        Self::ApprovalDecided,
        Self::ProposalCreated,
        Self::ProposalChanged,
        Self::ScanFinished,
        Self::OutcomeRecorded,
        Self::CortexChanged,
        Self::ConfigChanged,
    ];

    /// Its name on the wire.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::CatalogChanged => "catalog.changed",
            Self::RouteDecided => "route.decided",
            Self::ApprovalOpened => "approval.opened",
            Self::ApprovalDecided => "approval.decided",
            Self::ProposalCreated => "proposal.created",
            Self::ProposalChanged => "proposal.changed",
            Self::ScanFinished => "scan.finished",
            Self::OutcomeRecorded => "outcome.recorded",
            Self::CortexChanged => "cortex.changed",
            Self::ConfigChanged => "config.changed",
        }
    }
}

/// One event.
#[derive(Debug)]
pub(crate) struct ServerEvent {
    pub(crate) id: u64,
    pub(crate) kind: ServerEventKind,
    pub(crate) data: Value,
}

/// Whose a stream is: a browser that was signed in, or the programs of an address.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum StreamClient {
    /// A browser, by the word that only its pages have.
    Browser(String),
    /// Programs, which all have the same token.
    Programs(Option<IpAddr>),
}

/// Why there is no stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamRefusal {
    /// This client has its share.
    ClientFull,
    /// All clients together have too many.
    ServerFull,
}

/// The streams that are open, by client.
type StreamCounts = Arc<Mutex<HashMap<StreamClient, usize>>>;

/// A stream's place, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct StreamPlace {
    counts: StreamCounts,
    client: StreamClient,
}

impl Drop for StreamPlace {
    fn drop(&mut self) {
        let mut counts = lock(&self.counts);
        if let Some(count) = counts.get_mut(&self.client) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.client);
            }
        }
    }
}

fn lock(counts: &StreamCounts) -> MutexGuard<'_, HashMap<StreamClient, usize>> {
    counts.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sends events to the open streams.
#[derive(Debug)]
pub(crate) struct EventBus {
    sender: broadcast::Sender<Arc<ServerEvent>>,
    last: AtomicU64,
    places: StreamCounts,
}

impl Default for EventBus {
    fn default() -> Self {
        let (sender, _) = broadcast::channel(BACKLOG);
        Self { sender, last: AtomicU64::new(0), places: Arc::default() }
    }
}

impl EventBus {
    pub(crate) fn publish(&self, kind: ServerEventKind, data: Value) {
        let id = self.last.fetch_add(1, Ordering::AcqRel) + 1;
        // An error means that no stream is open, so there is nothing to deliver to.
        let _ = self.sender.send(Arc::new(ServerEvent { id, kind, data }));
    }

    pub(crate) fn listeners(&self) -> usize {
        self.sender.receiver_count()
    }

    /// Opens a stream, unless its client or the server has too many.
    pub(crate) fn listen(
        &self,
        client: StreamClient,
    ) -> Result<(StreamPlace, broadcast::Receiver<Arc<ServerEvent>>), StreamRefusal> {
        let mut counts = lock(&self.places);
        if counts.get(&client).is_some_and(|&open| open >= MAX_CLIENT_STREAMS) {
            return Err(StreamRefusal::ClientFull);
        }
        if counts.values().sum::<usize>() >= MAX_STREAMS {
            return Err(StreamRefusal::ServerFull);
        }
        *counts.entry(client.clone()).or_default() += 1;
        let place = StreamPlace { counts: Arc::clone(&self.places), client };
        Ok((place, self.sender.subscribe()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_has_its_share_leaves_room_for_others_until_there_is_none() {
        let bus = EventBus::default();
        let programs = |last: u8| StreamClient::Programs(Some(IpAddr::from([10, 0, 0, last])));
        let mut open = Vec::new();
        for client in 0..(MAX_STREAMS / MAX_CLIENT_STREAMS) as u8 {
            for _ in 0..MAX_CLIENT_STREAMS {
                open.push(bus.listen(programs(client)).expect("its share"));
            }
            assert_eq!(bus.listen(programs(client)).err(), Some(StreamRefusal::ClientFull));
        }
        assert_eq!(bus.listen(programs(200)).err(), Some(StreamRefusal::ServerFull));
        open.pop();
        assert!(bus.listen(programs(200)).is_ok());
        open.clear();
        assert!(lock(&bus.places).is_empty(), "nothing is left of them");
    }
}
