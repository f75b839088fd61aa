//! The official tools of the protocol, from npm.

use std::process::Output;

use sinew_testkit::NpmPackages;

/// Exact versions: what a suite checks changes with it.
const PACKAGES: [&str; 2] =
    ["@modelcontextprotocol/conformance@0.2.0-alpha.12", "@modelcontextprotocol/inspector@2.12.0"];

/// The tools, or a loud word about why not.
pub(super) fn protocol_tools() -> Option<NpmPackages> {
    NpmPackages::get(env!("CARGO_TARGET_TMPDIR"), "mcp", &PACKAGES)
}

/// Everything a program said.
pub(super) fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}{}", text(&output.stdout), text(&output.stderr))
}
