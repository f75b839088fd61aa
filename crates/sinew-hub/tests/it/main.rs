//! One binary for all integration tests: linking many would take longer than running them.
mod attacks;
mod digests;
mod installs;
mod kill;
mod locks;
mod manifest;
mod network;
mod references;
mod searches;
mod signatures;
mod sources;
mod support;
mod updates;
