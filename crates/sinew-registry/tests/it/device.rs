//! Logins without a browser: a code, an approval on the registry's machine, and a token shown once.

use serde_json::{Value, json};
use sinew_registry::{LoginDecision, NewToken, TokenError, TokenRole};
use sinew_settings::Clock as _;

use super::support::{Reply, Team};

const GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";

fn begin(team: &Team) -> Value {
    // As the client does: at the origin, whatever the base is.
    let wanted = json!({ "scope": "read write", "site_url": "x", "label": "CI of alice" });
    team.post("!/api/cli/device/code", "", &wanted).json()
}

fn poll(team: &Team, begun: &Value) -> Reply {
    let asked = json!({ "device_code": begun["device_code"], "grant_type": GRANT });
    team.post("!/api/cli/device/token", "", &asked)
}

fn answer(team: &Team, code: &str, said: LoginDecision) -> Result<String, TokenError> {
    team.tokens().decide_login(code, said, team.clock.now_ms())
}

fn yes(role: TokenRole) -> LoginDecision {
    let (label, handle) = ("ci".to_owned(), "alice".to_owned());
    LoginDecision::Yes(NewToken { label, handle, owners: Vec::new(), role, expires_at: None })
}

#[track_caller]
fn refused(reply: &Reply, status: u16, word: &str) {
    assert_eq!((reply.status, reply.text()), (status, json!({ "error": word }).to_string()));
}

#[test]
fn a_client_waits_until_its_login_is_approved() {
    let team = Team::new();
    let begun = begin(&team);
    let code = begun["user_code"].as_str().expect("a code");
    assert_eq!((code.len(), begun["interval"].as_u64()), (9, Some(5)));
    let page = begun["verification_uri"].as_str().expect("a page");
    let page = page.strip_prefix(&team.url("!")).expect("a page of this server");
    assert!(team.get(&format!("!{page}"), "").text().contains("sinew registry token approve"));
    refused(&poll(&team, &begun), 428, "authorization_pending");
    // What was read out is typed as it comes.
    let who = answer(&team, &format!(" {} ", code.to_lowercase()), yes(TokenRole::Publish));
    assert_eq!(who.expect("a login"), "CI of alice from 127.0.0.1");
    let got = poll(&team, &begun).json();
    assert_eq!((&got["token_type"], &got["scope"]), (&json!("bearer"), &json!("read write")));
    let token = got["access_token"].as_str().expect("a token");
    assert_eq!(team.get("/api/v1/whoami", token).json()["user"]["handle"], "alice");
    team.publish_text(token, "demo-skill", "1.0.0", "hello").json();
    // The token is given out once.
    refused(&poll(&team, &begun), 400, "expired_token");
}

#[test]
fn there_is_no_other_way_to_log_in() {
    let team = Team::new();
    let begun = begin(&team);
    let code = begun["user_code"].as_str().expect("a code");
    refused(&poll(&team, &json!({ "device_code": "guessed" })), 400, "expired_token");
    let other = json!({ "device_code": begun["device_code"], "grant_type": "password" });
    let reply = team.post("!/api/cli/device/token", "", &other);
    refused(&reply, 400, "unsupported_grant_type");
    // The code that is read out is not the one that the token is for.
    refused(&poll(&team, &json!({ "device_code": code })), 400, "expired_token");
    let unknown = answer(&team, "XXXX-XXXX", yes(TokenRole::Read));
    assert!(matches!(unknown, Err(TokenError::NoLogin(_))));
    let strange = NewToken {
        label: String::new(),
        handle: "../x".to_owned(),
        owners: Vec::new(),
        role: TokenRole::Admin,
        expires_at: None,
    };
    let strange = answer(&team, code, LoginDecision::Yes(strange));
    assert!(matches!(strange, Err(TokenError::BadHandle(_))));
    // Neither code is in the database.
    let documents =
        team.store.list("registry.devices", sinew_store::KeyRange::ALL, 10).expect("a list");
    let device = begun["device_code"].as_str().expect("a code");
    for document in documents {
        let text = format!("{} {}", document.key, document.body.as_str());
        assert!(!text.contains(code) && !text.contains(device), "{text}");
    }
    answer(&team, code, LoginDecision::No).expect("a login");
    assert!(answer(&team, code, yes(TokenRole::Read)).is_err(), "no means no");
    refused(&poll(&team, &begun), 400, "access_denied");
}

#[test]
fn a_login_ends_by_itself() {
    let team = Team::new();
    let begun = begin(&team);
    let code = begun["user_code"].as_str().expect("a code");
    team.clock.pass(15 * 60 + 1);
    assert!(answer(&team, code, yes(TokenRole::Read)).is_err());
    refused(&poll(&team, &begun), 400, "expired_token");
    for _ in 0..200 {
        begin(&team);
    }
    let full = team.post("/api/cli/device/code", "", &json!({}));
    full.refused(503, "Too many logins");
    team.clock.pass(15 * 60 + 1);
    begin(&team);
    let busy = Team::with(|settings| settings.limits_scale = Some(1));
    let statuses: Vec<u16> = (0..301).map(|_| poll(&busy, &json!({})).status).collect();
    assert_eq!((statuses[0], statuses[300]), (400, 429));
}
