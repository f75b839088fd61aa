//! One binary for all integration tests: linking many would take longer than running them.
mod digests;
mod installs;
mod references;
mod support;
