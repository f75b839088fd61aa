//! The tests of the format, one module per part of it.

mod bundled;
mod fixes;
mod golden;
mod metadata;
mod names;
mod openpocket;
mod parsing;
mod properties;
mod real;
mod rules;
mod seeds;
mod support;
mod torture;
