//! How many connections there may be, and how many of one address.
//!
//! A connection that says nothing costs its client nothing. It ends at a deadline; until then it
//! has a place, and without a share per address one client could take all of them.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The bounds of connections.
#[derive(Debug, Clone, Copy)]
pub struct ConnectionLimits {
    /// Connections at once; more wait in the system's own queue. Each may hold a request's body.
    pub in_all: usize,
    /// Connections of one address: far more than a browser and some agents open.
    pub per_address: usize,
    /// Connections of this machine itself, where a proxy may stand for all the others.
    pub from_loopback: usize,
    /// How long a client may take to send the head of a request, or to begin the next one.
    pub head: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self { in_all: 1_024, per_address: 128, from_loopback: 896, head: Duration::from_secs(20) }
    }
}

/// The places of a server.
#[derive(Debug)]
pub(crate) struct ConnectionPlaces {
    limits: ConnectionLimits,
    free: Arc<Semaphore>,
    taken: Mutex<PlaceCounts>,
}

#[derive(Debug, Default)]
struct PlaceCounts {
    by_address: HashMap<IpAddr, usize>,
    refused: u64,
}

/// A connection's place, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionPlace {
    places: Arc<ConnectionPlaces>,
    address: IpAddr,
    _free: OwnedSemaphorePermit,
}

impl ConnectionPlaces {
    pub(crate) fn new(limits: ConnectionLimits) -> Arc<Self> {
        let free = Arc::new(Semaphore::new(limits.in_all.max(1)));
        Arc::new(Self { limits, free, taken: Mutex::default() })
    }

    /// Waits until there is a place at all.
    pub(crate) async fn any(&self) -> Option<OwnedSemaphorePermit> {
        // The semaphore is never closed, so a permit always comes.
        Arc::clone(&self.free).acquire_owned().await.ok()
    }

    /// The place of a connection, unless its address has too many.
    pub(crate) fn of(
        self: &Arc<Self>,
        address: IpAddr,
        free: OwnedSemaphorePermit,
    ) -> Option<ConnectionPlace> {
        let address = address.to_canonical();
        let most = match address.is_loopback() {
            true => self.limits.from_loopback,
            false => self.limits.per_address,
        };
        let mut taken = self.taken();
        let count = taken.by_address.entry(address).or_default();
        if *count >= most.max(1) {
            taken.refused += 1;
            // A flood of connections must not become a flood of lines.
            if taken.refused.is_power_of_two() {
                let refused = taken.refused;
                tracing::warn!(%address, most, refused, "an address has too many connections");
            }
            return None;
        }
        *count += 1;
        Some(ConnectionPlace { places: Arc::clone(self), address, _free: free })
    }

    fn taken(&self) -> MutexGuard<'_, PlaceCounts> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ConnectionPlace {
    fn drop(&mut self) {
        let mut taken = self.places.taken();
        if let Some(count) = taken.by_address.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                taken.by_address.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_address_has_its_share_and_gives_it_back() {
        let limits = ConnectionLimits { in_all: 4, per_address: 2, ..ConnectionLimits::default() };
        let places = ConnectionPlaces::new(limits);
        let (one, other) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        let mut open = Vec::new();
        for _ in 0..2 {
            let free = places.any().await.expect("a place");
            open.push(places.of(one, free).expect("its share"));
        }
        let free = places.any().await.expect("a place");
        assert!(places.of(one, free).is_none(), "one too many");
        let free = places.any().await.expect("the refused one gave its place back");
        open.push(places.of(other, free).expect("another address"));
        open.clear();
        assert!(places.taken().by_address.is_empty(), "nothing is left of them");
        let free = places.any().await.expect("a place");
        assert!(places.of(one, free).is_some());
    }
}
