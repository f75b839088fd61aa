//! Tokens: roles, expiry, and that none is stored in clear.

use std::fs;

use sinew_registry::{NewToken, TokenError, TokenRole, TokenStore};
use sinew_settings::Clock as _;
use sinew_testkit::TestMachine;

use super::support::Team;

#[test]
fn a_revoked_or_ended_token_opens_nothing() {
    let team = Team::new();
    let token = team.token(TokenRole::Read, "alice");
    assert_eq!(team.get("/api/v1/whoami", &token).json()["user"]["handle"], "alice");
    team.tokens().revoke("alice", 5).expect("it is there");
    let revoked = team.get("/api/v1/whoami", &token);
    revoked
        .refused(401, "Unauthorized: API token is invalid or revoked. Run `clawhub login` again.");
    assert!(matches!(team.tokens().revoke("alice", 6), Err(TokenError::Unknown(_))));

    let soon = NewToken {
        label: "soon".to_owned(),
        handle: "bob".to_owned(),
        owners: Vec::new(),
        role: TokenRole::Read,
        expires_at: Some(1_750_000_060_000),
    };
    let (secret, _) = team.tokens().create(soon, 1_750_000_000_000).expect("a token");
    assert_eq!(team.get("/api/v1/whoami", secret.reveal()).status, 200);
    team.clock.pass(61);
    assert_eq!(team.get("/api/v1/whoami", secret.reveal()).status, 401);
}

/// `sinew registry token revoke` is another process than the server; nothing tells the server of it.
#[test]
fn a_token_that_another_process_revokes_ends_with_the_next_request() {
    let team = Team::new();
    let token = team.token(TokenRole::Read, "alice");
    let database = team.machine.path("registry.db");
    let store = sinew_store::open(database.to_str().expect("text"), &Default::default());
    let other = TokenStore::open(store.expect("a store"), &team.settings.folder).expect("tokens");
    for _ in 0..20 {
        assert_eq!(team.get("/api/v1/search?q=x", &token).status, 200);
    }
    other.revoke("alice", 5).expect("it is there");
    team.get("/api/v1/search?q=x", &token).refused(401, "invalid or revoked");
}

/// Not every request writes to the database.
#[test]
fn the_last_use_of_a_token_is_noted_once_an_hour() {
    let team = Team::new();
    let token = team.token(TokenRole::Read, "alice");
    let noted = || team.tokens().list().expect("tokens")[0].last_used_at;
    let begin = team.clock.now_ms();
    assert_eq!(noted(), None);
    team.get("/api/v1/whoami", &token).json();
    assert_eq!(noted(), Some(begin));
    team.clock.pass(60 * 60);
    team.get("/api/v1/whoami", &token).json();
    assert_eq!(noted(), Some(begin));
    team.clock.pass(1);
    team.get("/api/v1/whoami", &token).json();
    assert_eq!(noted(), Some(begin + 3_601_000));
}

#[test]
fn without_a_token_a_private_registry_says_where_it_is_and_nothing_else() {
    let team = Team::new();
    let missing = "Unauthorized: API token is missing. Run `clawhub login` to authenticate.";
    for path in [
        "/api/v1/search?q=x",
        "/api/v1/skills",
        "/api/v1/skills/x",
        "/api/v1/download?slug=x",
        "/api/v1/whoami",
        "/.well-known/agent-skills/index.json",
        "/api/search?q=x",
        "!/.well-known/agent-skills/index.json",
        "!/alice/skills/x/.well-known/agent-skills/index.json",
    ] {
        team.get(path, "").refused(401, missing);
    }
    for path in ["/.well-known/clawhub.json", "!/.well-known/clawhub.json"] {
        assert_eq!(team.get(path, "").json()["apiBase"], team.url(""));
    }
    for wrong in ["x", "clh_", "clh_0123456789012345678901234567890123456789012"] {
        team.get("/api/v1/whoami", wrong).refused(401, "invalid or revoked");
    }
}

#[test]
fn each_role_may_do_what_it_says() {
    let team = Team::new();
    let read = team.token(TokenRole::Read, "reader");
    let publish = team.token(TokenRole::Publish, "alice");
    let admin = team.token(TokenRole::Admin, "root");
    team.ticket(&read, "SKILL.md", b"x").refused(403, "may read, not publish");
    assert_eq!(team.publish_text(&publish, "demo-skill", "1.0.0", "hello").status, 200);
    for (token, role) in [(&read, "user"), (&publish, "user"), (&admin, "admin")] {
        assert_eq!(team.get("/api/v1/whoami", token).json()["user"]["role"], role);
        assert_eq!(team.get("/api/v1/skills/demo-skill", token).status, 200);
    }
    let delete = |token: &str| team.send("DELETE", "/api/v1/skills/demo-skill", token, &[], b"");
    delete(&read).refused(403, "may read");
    delete(&team.token(TokenRole::Publish, "bob")).refused(403, "not yours");
    assert_eq!(delete(&admin).json()["ok"], true);
}

#[test]
fn a_publisher_may_act_for_further_owners() {
    let team = Team::new();
    let wanted = NewToken {
        label: "alice".to_owned(),
        handle: "alice".to_owned(),
        owners: vec!["team".to_owned()],
        role: TokenRole::Publish,
        expires_at: None,
    };
    let (secret, _) = team.tokens().create(wanted, 1).expect("a token");
    let token = secret.reveal();
    let file = team.upload(token, "SKILL.md", super::support::skill("a-skill", "x").as_bytes());
    let mut body = super::support::publication("a-skill", "1.0.0", &[file]);
    body["ownerHandle"] = "@other".into();
    team.post("/api/v1/skills", token, &body).refused(403, "@other is not yours");
    body["ownerHandle"] = "@Team".into();
    assert_eq!(team.post("/api/v1/skills", token, &body).status, 200);
    let detail = team.get("/api/v1/skills/a-skill?ownerHandle=team", token).json();
    assert_eq!(detail["owner"]["handle"], "team");
}

/// Neither the database nor any other file holds a token; the pepper is its owner's alone.
#[test]
fn no_file_holds_a_token() {
    let team = Team::new();
    let token = team.token(TokenRole::Publish, "alice");
    assert_eq!(team.publish_text(&token, "demo-skill", "1.0.0", "hello").status, 200);
    let mut looked = 0;
    each_file(team.machine.root(), &mut |path| {
        let bytes = fs::read(path).expect("a file");
        let found = bytes.windows(token.len()).any(|window| window == token.as_bytes());
        assert!(!found, "{}", path.display());
        looked += 1;
    });
    assert!(looked > 5);
    let shown = format!("{:?}", team.tokens().list());
    assert!(!shown.contains(&token[4..20]), "{shown}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let pepper = team.machine.path("home/.sinew/registry/pepper");
        let mode = fs::metadata(&pepper).expect("a pepper").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        // One that others can read is not used.
        team.machine.chmod("home/.sinew/registry/pepper", 0o644);
        let folder = pepper.parent().expect("a folder");
        let opened = TokenStore::open(team.store.clone(), folder);
        assert!(matches!(opened, Err(TokenError::Pepper(_))));
    }
}

#[test]
fn a_caller_who_guesses_tokens_is_stopped() {
    let team = Team::with(|settings| settings.limits_scale = Some(1));
    let statuses: Vec<u16> =
        (0..301).map(|_| team.get("/api/v1/whoami", "clh_wrong").status).collect();
    assert_eq!(statuses[0], 401);
    assert_eq!(statuses[300], 429);
    let limited = team.get("/api/v1/whoami", "clh_wrong");
    limited.refused(429, "Rate limit exceeded");
    assert!(limited.header("retry-after").is_some());
    team.clock.pass(60);
    assert_eq!(team.get("/api/v1/whoami", "clh_wrong").status, 401);
}

fn each_file(folder: &std::path::Path, with: &mut impl FnMut(&std::path::Path)) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => each_file(&path, with),
            false => with(&path),
        }
    }
}

#[test]
fn a_pepper_is_made_once() {
    let machine = TestMachine::new();
    let open = || {
        let path = machine.path("a.db");
        let store =
            sinew_store::open(path.to_str().expect("text"), &sinew_store::StoreOptions::default());
        let folder = machine.path("registry");
        TokenStore::open(store.expect("a store"), &folder).expect("tokens")
    };
    open();
    let first = fs::read(machine.path("registry/pepper")).expect("a pepper");
    open();
    assert_eq!(fs::read(machine.path("registry/pepper")).expect("a pepper"), first);
    assert_eq!(first.len(), 32);
}

/// With an empty pepper, a hash could be made by anyone who has a copy of the database.
#[test]
fn an_empty_or_short_pepper_is_refused() {
    for weak in ["", "short"] {
        let machine = TestMachine::new().file("registry/pepper", weak);
        machine.chmod("registry/pepper", 0o600);
        machine.chmod("registry", 0o700);
        let path = machine.path("a.db");
        let store =
            sinew_store::open(path.to_str().expect("text"), &sinew_store::StoreOptions::default());
        let opened = TokenStore::open(store.expect("a store"), &machine.path("registry"));
        let error = opened.expect_err("a weak pepper").to_string();
        assert!(error.contains("bytes of 32"), "{error}");
        assert_eq!(fs::read_to_string(machine.path("registry/pepper")).expect("it"), weak);
    }
}
