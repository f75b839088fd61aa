//! The router's tests, in one binary.

mod acceptance;
mod corpus;
mod evaluation;
mod folder;
mod index;
mod properties;
mod reference;
mod remote;
mod shared;
mod support;
