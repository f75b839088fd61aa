//! The listener as its clients see it.

mod server;
