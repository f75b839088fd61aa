//! The team registry: real requests on loopback, to machines of their own.

mod device;
mod discovery;
mod download;
mod export;
mod github;
mod listener;
mod mirror;
mod names;
mod publish;
mod rename;
mod search;
mod support;
mod tokens;
mod upkeep;
