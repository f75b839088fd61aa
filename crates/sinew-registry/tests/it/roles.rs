//! Who may change what at a registry: every route that writes, tried by every kind of caller, on one
//! page. The routes come from the table of the program itself; one without a row here fails.

use std::cell::Cell;
use std::fmt::Write as _;

use serde_json::json;
use sinew_registry::TokenRole;

use super::support::{Reply, Team, publication, skill};

const TABLE: &str = include_str!("../../src/routes.rs");

/// What is sent to each route. `$` words stand for things that exist.
const ROWS: &[(&str, &str)] = &[
    ("POST /api/v1/skills", "$PUBLICATION"),
    ("POST /api/v1/skills/-/upload-url", "$WISH"),
    ("POST /api/v1/skills/-/upload/{ticket}", "text"),
    ("POST /api/v1/skills/-/security-verdicts", r#"{"items":[]}"#),
    ("DELETE /api/v1/skills/{slug}", ""),
    ("POST /api/v1/skills/{slug}/undelete", ""),
    ("POST /api/v1/skills/{slug}/tags/{tag}", r#"{"version":"1.0.0"}"#),
    ("POST /api/v1/skills/{slug}/rename", r#"{"newSlug":"$NEW"}"#),
    ("POST /api/v1/skills/{slug}/merge", r#"{"targetSlug":"$OTHER"}"#),
    ("DELETE /api/v1/skills/{slug}/versions/{version}", ""),
    ("POST /api/v1/skills/{slug}/versions/{version}/restore", ""),
    ("POST /api/v1/stars/{slug}", ""),
    ("DELETE /api/v1/stars/{slug}", ""),
    ("POST /api/cli/telemetry/install", r#"{"slug":"$SLUG"}"#),
    ("POST /api/cli/device/code", r#"{"scope":"read","site_url":"x","label":"ci"}"#),
    ("POST /api/cli/device/token", "$GRANT"),
];

/// Routes that need no token: they are how a client gets one.
const OPEN: &[&str] = &["POST /api/cli/device/code", "POST /api/cli/device/token"];

/// The writing routes of the table, with their methods.
fn writing() -> Vec<String> {
    let code = TABLE.split("#[cfg(test)]").next().unwrap_or_default();
    let each = code.split(".route(").skip(1).flat_map(|route| {
        let route = route.split(".route(").next().unwrap_or_default();
        let path = route.split('"').nth(1).unwrap_or_default();
        let above = if path.starts_with("/api/") { "" } else { "/api/v1" };
        let methods = [("post(", "POST"), ("delete(", "DELETE")];
        let there = methods.into_iter().filter(|(call, _)| route.contains(call));
        there.map(move |(_, method)| format!("{method} {above}{path}")).collect::<Vec<_>>()
    });
    each.collect()
}

struct RegistryCallers {
    team: Team,
    owner: String,
    /// A name, a token, and further headers.
    callers: Vec<(&'static str, String, Vec<(&'static str, &'static str)>)>,
    made: Cell<u32>,
}

impl RegistryCallers {
    fn new() -> Self {
        let team = Team::new();
        let owner = team.token(TokenRole::Publish, "alice");
        let from_elsewhere = vec![("origin", "https://evil.example")];
        let callers = vec![
            ("nobody", String::new(), Vec::new()),
            ("another site", owner.clone(), from_elsewhere),
            ("reader", team.token(TokenRole::Read, "reader"), Vec::new()),
            ("another publisher", team.token(TokenRole::Publish, "bob"), Vec::new()),
            ("its owner", owner.clone(), Vec::new()),
            ("admin", team.token(TokenRole::Admin, "root"), Vec::new()),
        ];
        Self { team, owner, callers, made: Cell::new(0) }
    }

    fn name(&self) -> String {
        self.made.set(self.made.get() + 1);
        format!("skill-{}", self.made.get())
    }

    /// A skill of its owner with two versions.
    fn skill(&self) -> String {
        let name = self.name();
        for version in ["1.0.0", "1.1.0"] {
            let text = format!("{name} {version}");
            let reply = self.team.publish_text(&self.owner, &name, version, &text);
            assert_eq!(reply.status, 200, "{}", reply.text());
        }
        name
    }

    /// What one caller's try comes to, on things of its own.
    fn tried(&self, row: &str, body: &str, token: &str, headers: &[(&str, &str)]) -> Reply {
        let (method, template) = row.split_once(' ').expect("a method and a path");
        let slug = self.skill();
        let alice = |method: &str, path: &str| {
            let done = self.team.send(method, path, &self.owner, &[], b"");
            assert_eq!(done.status, 200, "{path}: {}", done.text());
        };
        if template.ends_with("/undelete") {
            alice("DELETE", &format!("/api/v1/skills/{slug}"));
        }
        if template.ends_with("/restore") {
            alice("DELETE", &format!("/api/v1/skills/{slug}/versions/1.0.0"));
        }
        let wish = json!({"path": "SKILL.md", "size": 4, "contentType": "text/markdown",
                          "sha256": sinew_skill::content_hash(b"text")});
        let mut path = template.replace("{slug}", &slug).replace("{version}", "1.0.0");
        path = path.replace("{tag}", "stable");
        if path.contains("{ticket}") {
            let ticket = self.team.post("/api/v1/skills/-/upload-url", &self.owner, &wish).json();
            let url = ticket["uploadUrl"].as_str().expect("an address").to_owned();
            path = url.strip_prefix(&self.team.url("")).expect("of this server").to_owned();
        }
        let mut body = body.replace("$SLUG", &slug).replace("$WISH", &wish.to_string());
        if body.contains("$NEW") {
            body = body.replace("$NEW", &self.name());
        }
        if body.contains("$OTHER") {
            body = body.replace("$OTHER", &self.skill());
        }
        if body.contains("$PUBLICATION") {
            // The next version of what is another's, or the owner's own.
            let text = skill(&slug, "the next version");
            let file = self.team.upload(&self.owner, "SKILL.md", text.as_bytes());
            let mut wanted = publication(&slug, "2.0.0", &[file]);
            wanted["ownerHandle"] = "@alice".into();
            body = wanted.to_string();
        }
        if body.contains("$GRANT") {
            let wanted = json!({"scope": "read", "site_url": "x", "label": "ci"});
            let begun = self.team.post("!/api/cli/device/code", "", &wanted).json();
            let grant = "urn:ietf:params:oauth:grant-type:device_code";
            body = json!({"device_code": begun["device_code"], "grant_type": grant}).to_string();
        }
        let kind = if body == "text" { "text/markdown" } else { "application/json" };
        let headers: Vec<(&str, &str)> =
            headers.iter().copied().chain([("content-type", kind)]).collect();
        self.team.send(method, &path, token, &headers, body.as_bytes())
    }
}

#[test]
fn every_route_that_writes_by_every_role() {
    let writing = writing();
    for route in &writing {
        assert!(ROWS.iter().any(|(row, _)| row == route), "{route} has no row");
    }
    let callers = RegistryCallers::new();
    let mut page = String::new();
    for (row, body) in ROWS {
        assert!(writing.iter().any(|route| route == row), "there is no route {row}");
        let tries = callers.callers.iter().map(|(name, token, headers)| {
            let reply = callers.tried(row, body, token, headers);
            let result = match reply.status {
                200..=299 => "allowed".to_owned(),
                // A login that waits for its approval.
                428 => "waits".to_owned(),
                401 | 403 => format!("refused ({})", reply.status),
                // What is refused for another reason never got to the question who may.
                other => panic!("{row} by {name}: {other} {}", reply.text()),
            };
            if !OPEN.contains(row) && *name == "nobody" {
                assert!(result.starts_with("refused"), "{row}: {result}");
            }
            format!("{name}: {result}")
        });
        let tries: Vec<String> = tries.collect();
        let _ = writeln!(page, "{row:<56} {}", tries.join(", "));
    }
    insta::assert_snapshot!(page);
}
