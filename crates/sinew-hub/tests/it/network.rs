//! The network: retries, tokens, and no access to private addresses.

use std::time::{Duration, Instant};

use sinew_hub::settings::HubOverrides;
use sinew_hub::{NameMatching, RegistryQuery, SearchSources};
use sinew_testkit::{ClawHubDouble, ClawHubManner, SiteAnswer, TestSite, skill_text};

use crate::support::{Person, World, ask, refused};

#[test]
fn a_wait_that_was_asked_for_is_waited() {
    let world = World::new();
    world.clawhub.publish_simple("ada", "tides", "1.0.0");
    world.clawhub.set_manner(ClawHubManner::RateLimited { times: 1, retry_after: "2".to_owned() });
    world.hub().resolve(&ask("tides").reference).unwrap();
    let requests = world.clawhub.requests();
    assert_eq!(requests.len(), 2);
    assert!(requests[1].at - requests[0].at >= Duration::from_secs(2));
    // Rate limited for ever: three requests and no more.
    world.clawhub.set_manner(ClawHubManner::RateLimited { times: 99, retry_after: "0".to_owned() });
    let before = world.clawhub.requests().len();
    let error = world.hub().resolve(&ask("tides").reference).unwrap_err();
    assert_eq!(error.code.as_str(), "rate-limited");
    assert_eq!(world.clawhub.requests().len() - before, 3);
    // A wait that is too long fails at once, and the error names the time.
    world
        .clawhub
        .set_manner(ClawHubManner::RateLimited { times: 99, retry_after: "3600".to_owned() });
    let before = world.clawhub.requests().len();
    let error = world.hub().resolve(&ask("tides").reference).unwrap_err();
    assert_eq!(world.clawhub.requests().len() - before, 1);
    assert_eq!(error.retry_at_ms, Some(world.environment().clock.now_ms() + 3_600_000));
}

#[test]
fn many_who_ask_wait_together() {
    let world = World::new();
    world.clawhub.publish_simple("ada", "tides", "1.0.0");
    world.clawhub.set_manner(ClawHubManner::RateLimited { times: 1, retry_after: "1".to_owned() });
    let hub = world.hub();
    let first = Instant::now();
    std::thread::scope(|scope| {
        for number in 0..10 {
            let hub = &hub;
            scope.spawn(move || {
                std::thread::sleep(Duration::from_millis(50 * number));
                let query = RegistryQuery {
                    words: format!("tides {number}"),
                    keywords: None,
                    sources: SearchSources::Registry("clawhub".to_owned()),
                    matching: NameMatching::Words,
                    limit: 5,
                };
                hub.search(&query, &|_| true).unwrap();
            });
        }
    });
    let early = world.clawhub.requests();
    let early = early.iter().filter(|r| r.at - first < Duration::from_millis(900)).count();
    // Only requests that were under way before the answer came; none after it.
    assert!(early <= 3, "{early} requests while the registry wanted none");
}

#[test]
fn a_token_stays_with_its_registry() {
    let other = ClawHubDouble::new();
    other.publish_simple("ada", "winds", "1.0.0");
    let elsewhere = TestSite::new(|_| SiteAnswer::text(404, "Not found"));
    let config = format!(
        "{{hub: {{registries: {{team: '{}'}}}}, skills: {{install: {{allowPrivateHosts: ['127.0.0.1']}}}}}}",
        other.address()
    );
    let world = World::new().config(&config).var("SINEW_TOKEN", "clh_secret");
    world.clawhub.publish_simple("ada", "tides", "1.0.0");
    world.install("tides").unwrap();
    world.install("team:winds").unwrap();
    assert!(
        world
            .clawhub
            .requests()
            .iter()
            .all(|r| r.header("authorization") == Some("Bearer clh_secret"))
    );
    assert!(other.requests().iter().all(|r| r.header("authorization").is_none()));
    // The registry redirects to another origin: the token is not sent along.
    world.clawhub.set_manner(ClawHubManner::Redirects(elsewhere.address().to_owned()));
    assert!(world.install_with("tides", &mut Person::yes(), |ask| ask.overwrite = true).is_err());
    assert!(!elsewhere.requests().is_empty());
    assert!(elsewhere.requests().iter().all(|r| r.header("authorization").is_none()));
}

#[test]
fn tokens_of_the_credential_file_and_of_clawhub_are_for_their_origin() {
    let world = World::new();
    world.clawhub.publish_simple("ada", "tides", "1.0.0");
    world.clawhub.set_manner(ClawHubManner::Wants("clh_mine".to_owned()));
    assert_eq!(refused(world.install("tides")).0, "auth");
    let config = format!("{{\"registry\":\"{}\",\"token\":\"clh_mine\"}}", world.clawhub.address());
    world.machine.write("home/.config/clawhub/config.json", config);
    world.hub().resolve(&ask("tides").reference).unwrap();
    world.machine.write(
        "home/.config/clawhub/config.json",
        r#"{"registry":"https://elsewhere.example.org","token":"clh_mine"}"#,
    );
    assert_eq!(refused(world.hub().resolve(&ask("tides").reference)).0, "auth");
    // sinew's own file is written for its owner alone, and refused if others can read it.
    let env = world.environment();
    let credentials = sinew_hub::credentials::RegistryCredentials::new(&env);
    let base: url::Url = world.clawhub.address().parse().unwrap();
    let token = sinew_hub::net::AccessToken::new("clh_mine").unwrap();
    credentials.save(&base, &token).unwrap();
    world.hub().resolve(&ask("tides").reference).unwrap();
    assert_eq!(format!("{token:?}"), "Token(set)");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(credentials.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        world.machine.chmod("home/.sinew/credentials.json", 0o644);
        assert_eq!(refused(world.hub().resolve(&ask("tides").reference)).0, "auth");
        world.machine.chmod("home/.sinew/credentials.json", 0o600);
    }
    credentials.remove(&base).unwrap();
    assert_eq!(refused(world.hub().resolve(&ask("tides").reference)).0, "auth");
}

#[test]
fn no_answer_leads_into_this_network() {
    let inside = TestSite::new(|_| SiteAnswer::text(200, "{}"));
    let port = inside.address().rsplit(':').next().unwrap().to_owned();
    for host in
        ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0x7f.1", "2130706433", "0177.0.0.1"]
    {
        let world = World::new();
        world.clawhub.publish_simple("ada", "tides", "1.0.0");
        world.clawhub.set_manner(ClawHubManner::Redirects(format!("http://{host}:{port}")));
        assert_eq!(refused(world.install("tides")).0, "network", "{host}");
        world.clawhub.set_manner(ClawHubManner::Redirects(format!("https://{host}:{port}")));
        assert_eq!(refused(world.install("tides")).0, "network", "{host}");
    }
    // Neither does a reference that the user typed, unless the host was configured.
    let world = World::new();
    assert_eq!(refused(world.install(&format!("http://127.0.0.1:{port}"))).0, "network");
    assert_eq!(refused(world.install(&format!("https://169.254.169.254:{port}"))).0, "network");
    assert!(inside.requests().is_empty());
}

#[test]
fn a_name_that_leads_into_this_network_is_not_followed() {
    use sinew_hub::net::{HttpClient, HttpOptions, HttpRequest, NetworkAccess, RequestLimits};
    let names = std::collections::BTreeMap::from([
        ("rebind.example.org".to_owned(), "127.0.0.1".parse().unwrap()),
        ("meta.example.org".to_owned(), "169.254.169.254".parse().unwrap()),
    ]);
    let options = HttpOptions {
        network: NetworkAccess::On,
        trusted: Vec::new(),
        authorities: None,
        names: sinew_exec::install::NameResolution::Fixed(std::sync::Arc::new(names)),
        times: RequestLimits::default(),
    };
    let world = World::new();
    let http = HttpClient::new(options, world.environment().clock).unwrap();
    for host in ["rebind.example.org", "meta.example.org"] {
        let call = HttpRequest::get(format!("https://{host}/x").parse().unwrap());
        let (word, message) = refused(http.call(&call, &mut |_, _| {}));
        assert_eq!((word, message.contains(host)), ("network", true), "{message}");
    }
}

#[test]
fn an_altered_archive_in_the_cache_is_fetched_again() {
    let world = World::new();
    world.clawhub.publish_simple("ada", "tides", "1.0.0");
    world.install("tides").unwrap();
    let downloads =
        || world.clawhub.paths().iter().filter(|path| path.ends_with("/download")).count();
    let again = || {
        world.install_with("tides@1.0.0", &mut Person::yes(), |ask| ask.overwrite = true).unwrap();
    };
    again();
    assert_eq!(downloads(), 1);
    let blobs = world.machine.path("home/.sinew/cache/hub/sha256");
    let folder = std::fs::read_dir(&blobs).unwrap().next().unwrap().unwrap().path();
    let blob = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    let mut bytes = std::fs::read(&blob).unwrap();
    bytes[40] ^= 1;
    std::fs::write(&blob, bytes).unwrap();
    again();
    assert_eq!(downloads(), 2);
}

#[test]
fn offline_makes_no_request_and_uses_the_cache() {
    let world = World::new();
    world.clawhub.publish_simple("ada", "tides", "1.0.0");
    world.clawhub.publish_simple("ada", "winds", "1.0.0");
    let text = skill_text("clouds", "Tells the clouds");
    let commit = world.github.commit("ada/clouds", "main", &[("SKILL.md", &text)]);
    world.install("tides").unwrap();
    world.install("ada/clouds").unwrap();
    let query = RegistryQuery {
        words: "tides".to_owned(),
        keywords: None,
        sources: SearchSources::Usual,
        matching: NameMatching::Words,
        limit: 5,
    };
    world.hub().search(&query, &|_| true).unwrap();
    let asked = world.clawhub.requests().len() + world.github.requests().len();
    let world = world.var("SINEW_OFFLINE", "1");
    for key in ["tides", "clouds"] {
        world.uninstall(key).unwrap();
    }
    // An exact version or commit that was fetched before.
    world.install("@ada/tides@1.0.0").unwrap();
    world.install(&format!("ada/clouds#{commit}")).unwrap();
    assert!(
        world
            .hub()
            .verify(&[], &world.workdir())
            .unwrap()
            .iter()
            .all(sinew_hub::SkillVerification::is_ok)
    );
    world.hub().installed(&world.workdir()).unwrap();
    let found = world.hub().search(&query, &|_| true).unwrap();
    assert!(found.age_ms.is_some() && !found.candidates.is_empty());
    assert_eq!(refused(world.install("winds")).0, "offline");
    assert_eq!(refused(world.install("@ada/winds@1.0.0")).0, "offline");
    assert_eq!(refused(world.install("ada/clouds")).0, "offline");
    let offline = world.hub_with(&HubOverrides { offline: true, registry: None });
    assert_eq!(refused(offline.resolve(&ask("winds").reference)).0, "offline");
    assert_eq!(world.clawhub.requests().len() + world.github.requests().len(), asked);
}

#[test]
fn a_site_announces_its_registry() {
    let registry = ClawHubDouble::new();
    registry.publish_simple("ada", "tides", "1.0.0");
    let announced = format!("{{\"apiBase\": \"{}\"}}", registry.address());
    let site =
        TestSite::of_files([("/.well-known/clawhub.json".to_owned(), announced.into_bytes())]);
    let world = World::new()
        .var("SINEW_REGISTRY", "")
        .var("CLAWHUB_SITE", site.address())
        .config("{skills: {install: {allowPrivateHosts: ['127.0.0.1']}}}");
    world.install("tides").unwrap();
    assert_eq!(world.lock()["skills"]["tides"]["source"]["registry"], registry.address());
}

#[test]
fn what_a_server_says_is_short_and_safe() {
    let site = TestSite::new(|_| {
        SiteAnswer::text(400, &format!("\u{1b}]52;c;x\u{7}{}", "long ".repeat(400)))
    });
    let world = World::new().var("SINEW_REGISTRY", site.address());
    let (_, message) = refused(world.install("tides"));
    assert!(!message.contains('\u{1b}') && !message.contains('\u{7}'), "{message}");
    assert!(message.chars().count() < 700);
}
