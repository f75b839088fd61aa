//! The tests of running and installing, in one binary.

mod classify;
