//! One binary for all integration tests: linking many would take longer than running them.
mod attacks;
mod digests;
mod installs;
mod kill;
mod locks;
mod network;
mod references;
mod searches;
mod sources;
mod support;
mod updates;
