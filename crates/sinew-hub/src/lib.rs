//! Registries of skills: finding, fetching, verifying and installing what an agent lacks.
//!
//! *Promises*: an install is all or nothing, and what is loaded is what was scanned and approved.
//! *Leaves out*: deciding to install (the engine asks a person for that).
