//! What a scan tells a build server: one SARIF log for everything, and a line per finding.
//!
//! On GitHub a line is an annotation; elsewhere it reads like a compiler's. A finding's text cannot
//! make a line of its own, and so no command of the build server.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use serde_json::Value;
use sinew_engine::{Engine, ScannedTarget};
use sinew_guard::scan::{FindingSeverity, Verdict, to_sarif};

use crate::environment;
use crate::printer::Printer;
use crate::render;

/// Which lines the server understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BuildServer {
    GitHub,
    Other,
}

/// One log with one run over all targets, with paths as they are seen from the current folder.
pub(super) fn sarif(scanned: &[ScannedTarget], engine: &Engine) -> Value {
    let rules = engine.quality().scan_rules();
    let cwd = &engine.environment().cwd;
    let mut whole = to_sarif(&engine.quality().scan_text("").report, &rules);
    let mut results = Vec::new();
    for target in scanned {
        let mut log = to_sarif(&target.report, &rules);
        let Some(found) = log["runs"][0]["results"].as_array_mut() else { continue };
        for mut result in std::mem::take(found) {
            let place = &mut result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
            let file = place.as_str().unwrap_or_default().to_owned();
            *place = path_of(target, &file, cwd).into();
            results.push(result);
        }
    }
    let verdict = scanned.iter().map(|one| one.verdict).max().unwrap_or(Verdict::Allow);
    let run = &mut whole["runs"][0];
    run["results"] = results.into();
    run["properties"] = serde_json::json!({ "verdict": verdict.as_str(), "skills": scanned.len() });
    whole
}

/// A line per finding of warn and above, and one that sums up.
pub(super) fn write(
    scanned: &[ScannedTarget],
    engine: &Engine,
    to_error: bool,
    out: &mut Printer,
) -> io::Result<()> {
    let server = match environment::variable("GITHUB_ACTIONS").as_deref() {
        Some("true") => BuildServer::GitHub,
        _ => BuildServer::Other,
    };
    let cwd = &engine.environment().cwd;
    let mut text = String::new();
    for target in scanned {
        for finding in &target.report.findings {
            if finding.severity < FindingSeverity::Warn {
                continue;
            }
            let file = path_of(target, &finding.file, cwd);
            let message = render::safe(&format!("{} {}", finding.message, finding.remedy));
            let line = finding.line.max(1);
            let rule = &finding.rule;
            let level = match finding.severity {
                FindingSeverity::Critical => "error",
                _ => "warning",
            };
            let _ = match server {
                BuildServer::GitHub => writeln!(
                    text,
                    "::{level} file={},line={line},title={}::{}",
                    escaped(&file, true),
                    escaped(&format!("sinew: {rule}"), true),
                    escaped(&message, false),
                ),
                BuildServer::Other => {
                    writeln!(text, "{}:{line}: {level}: {rule}: {message}", render::safe(&file))
                }
            };
        }
    }
    let count = |verdict| scanned.iter().filter(|one| one.verdict == verdict).count();
    let (blocked, warned) = (count(Verdict::Block), count(Verdict::Warn));
    let _ = writeln!(text, "{} scanned, {blocked} blocked, {warned} with warnings", scanned.len());
    match to_error {
        true => {
            out.pass_error(text.as_bytes());
            Ok(())
        }
        false => out.text(&text),
    }
}

/// Where a file of a target lies, seen from the current folder; within its repository where it was
/// fetched.
fn path_of(target: &ScannedTarget, file: &str, cwd: &Path) -> String {
    let mut folder = target.path.strip_prefix(cwd).unwrap_or(&target.path);
    if target.path.is_file() {
        folder = folder.parent().unwrap_or(Path::new(""));
    }
    let path = folder.join(file).to_string_lossy().replace('\\', "/");
    path.trim_start_matches("./").to_owned()
}

/// A text as GitHub's commands take it: nothing in it ends the line or the field.
fn escaped(text: &str, is_field: bool) -> String {
    let text = text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    match is_field {
        true => text.replace(':', "%3A").replace(',', "%2C"),
        false => text,
    }
}
