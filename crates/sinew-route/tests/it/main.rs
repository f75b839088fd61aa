//! The router's tests, in one binary.

mod acceptance;
mod corpus;
mod evaluation;
mod index;
mod properties;
mod reference;
mod remote;
mod shared;
mod support;
