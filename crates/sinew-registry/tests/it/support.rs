//! A team with a registry, and requests to it.

use std::io::{Cursor, Read as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
use sinew_hub::settings::GitHubEndpoints;
use sinew_listener::{HttpServer, RunningServer, ServerOptions};
use sinew_registry::{
    ListenerReach, MirrorSettings, NewToken, RegistrySettings, TeamRegistry, TokenRole, TokenStore,
};
use sinew_settings::config::RegistryMode;
use sinew_settings::{Clock, Config, Environment};
use sinew_skill::content_hash;
use sinew_store::Store;
use sinew_testkit::TestMachine;
use url::Url;

/// A clock that tests move.
#[derive(Debug)]
pub(crate) struct Hand(AtomicU64);

impl Clock for Hand {
    fn now_ms(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Hand {
    pub(crate) fn pass(&self, seconds: u64) {
        self.0.fetch_add(seconds * 1000, Ordering::Relaxed);
    }
}

/// A registry at work.
pub(crate) struct Team {
    pub(crate) machine: TestMachine,
    pub(crate) clock: Arc<Hand>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) registry: Arc<TeamRegistry>,
    pub(crate) settings: RegistrySettings,
    pub(crate) running: RunningServer,
    agent: ureq::Agent,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
    headers: ureq::http::HeaderMap,
}

impl Reply {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text());
        serde_json::from_slice(&self.body).expect("JSON")
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Status and words, for refusals.
    #[track_caller]
    pub(crate) fn refused(&self, status: u16, says: &str) {
        assert_eq!(self.status, status, "{}", self.text());
        assert!(self.text().contains(says), "{says:?} is not in {:?}", self.text());
        assert_eq!(self.header("content-type"), Some("text/plain; charset=utf-8"));
    }
}

impl Team {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    pub(crate) fn public() -> Self {
        Self::with(|settings| settings.mode = RegistryMode::PublicRead)
    }

    pub(crate) fn mirroring(upstream: &str, allow: &[&str], prefix: &str) -> Self {
        Self::mirroring_github(upstream, upstream, allow, prefix)
    }

    /// The same with a GitHub.
    pub(crate) fn mirroring_github(
        upstream: &str,
        github: &str,
        allow: &[&str],
        prefix: &str,
    ) -> Self {
        let github = Url::parse(github).expect("an address");
        Self::with(|settings| {
            settings.mirror = Some(MirrorSettings {
                upstream: upstream.to_owned(),
                on_demand: true,
                allow: allow.iter().map(|name| (*name).to_owned()).collect(),
                deny: vec!["denied".to_owned()],
                interval_ms: 600_000,
                prefix: prefix.to_owned(),
                github: GitHubEndpoints { api: github.clone(), codeload: github, token: None },
            });
        })
    }

    pub(crate) fn with(change: impl FnOnce(&mut RegistrySettings)) -> Self {
        Self::over(change, |store| store)
    }

    /// With something between the registry and its store.
    pub(crate) fn over(
        change: impl FnOnce(&mut RegistrySettings),
        between: impl FnOnce(Arc<dyn Store>) -> Arc<dyn Store>,
    ) -> Self {
        let machine = TestMachine::new();
        let clock = Arc::new(Hand(AtomicU64::new(1_750_000_000_000)));
        let env = Environment { clock: clock.clone(), ..machine.environment() };
        let mut settings = RegistrySettings::read(&Config::default(), &env).expect("settings");
        change(&mut settings);
        let database = machine.path("registry.db");
        let store = sinew_store::open(
            database.to_str().expect("a path of text"),
            &sinew_store::StoreOptions::default(),
        )
        .expect("a store");
        let store = between(store);
        let (registry, running) = serve(&env, &store, &settings);
        // A server that refuses early hangs up; a connection that is used again would find that out
        // too late.
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_idle_connections(0)
            .build()
            .into();
        Self { machine, clock, store, registry, settings, running, agent }
    }

    /// Another server on the same store.
    pub(crate) fn another(&self) -> (Arc<TeamRegistry>, RunningServer) {
        let env = Environment { clock: self.clock.clone(), ..self.machine.environment() };
        serve(&env, &self.store, &self.settings)
    }

    pub(crate) fn tokens(&self) -> &TokenStore {
        self.registry.tokens()
    }

    pub(crate) fn token(&self, role: TokenRole, name: &str) -> String {
        let wanted = NewToken {
            label: name.to_owned(),
            handle: name.to_owned(),
            owners: Vec::new(),
            role,
            expires_at: None,
        };
        let (secret, _) = self.tokens().create(wanted, self.clock.now_ms()).expect("a token");
        secret.reveal().to_owned()
    }

    pub(crate) fn url(&self, path: &str) -> String {
        match path.strip_prefix("!") {
            Some(path) => format!("{}{path}", self.running.origin()),
            None => format!("{}/registry{path}", self.running.origin()),
        }
    }

    /// A request: method, path below the registry (`!` for the origin), token, headers, body.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        token: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Reply {
        let url = self.url(path);
        let request = match method {
            "GET" => self.agent.get(&url).force_send_body(),
            "DELETE" => self.agent.delete(&url).force_send_body(),
            "POST" => self.agent.post(&url),
            other => panic!("no test sends {other}"),
        };
        let bearer = (!token.is_empty()).then(|| format!("Bearer {token}"));
        let bearer = bearer.as_deref().map(|bearer| ("authorization", bearer));
        let all = headers.iter().copied().chain(bearer);
        let request = all.fold(request, |request, (name, value)| request.header(name, value));
        let mut answer = request.send(body).expect("the server answers");
        let body = answer.body_mut().with_config().limit(200 << 20).read_to_vec().expect("a body");
        Reply { status: answer.status().as_u16(), headers: answer.headers().clone(), body }
    }

    pub(crate) fn get(&self, path: &str, token: &str) -> Reply {
        self.send("GET", path, token, &[], b"")
    }

    pub(crate) fn post(&self, path: &str, token: &str, body: &Value) -> Reply {
        let json = [("content-type", "application/json")];
        self.send("POST", path, token, &json, body.to_string().as_bytes())
    }

    /// A ticket for a file.
    pub(crate) fn ticket(&self, token: &str, path: &str, bytes: &[u8]) -> Reply {
        let wanted = json!({
            "path": path, "size": bytes.len(), "sha256": content_hash(bytes),
            "contentType": "text/markdown",
        });
        self.post("/api/v1/skills/-/upload-url", token, &wanted)
    }

    /// Uploads a file; the entry that a publication needs.
    pub(crate) fn upload(&self, token: &str, path: &str, bytes: &[u8]) -> Value {
        let ticket = self.ticket(token, path, bytes).json();
        let url = ticket["uploadUrl"].as_str().expect("an address");
        let below = url.strip_prefix(&self.url("")).expect("an address of this server");
        let stored = self.send("POST", below, token, &[], bytes).json();
        json!({
            "path": path, "size": bytes.len(), "sha256": content_hash(bytes),
            "contentType": "text/markdown",
            "storageId": stored["storageId"], "uploadTicket": ticket["uploadTicket"],
        })
    }

    /// A publication of files that are uploaded first.
    pub(crate) fn publish(
        &self,
        token: &str,
        slug: &str,
        version: &str,
        files: &[(&str, &[u8])],
    ) -> Reply {
        let files: Vec<Value> =
            files.iter().map(|(path, bytes)| self.upload(token, path, bytes)).collect();
        self.post("/api/v1/skills", token, &publication(slug, version, &files))
    }

    /// The same of one `SKILL.md`.
    pub(crate) fn publish_text(&self, token: &str, slug: &str, version: &str, body: &str) -> Reply {
        self.publish(token, slug, version, &[("SKILL.md", skill(slug, body).as_bytes())])
    }
}

fn serve(
    env: &Environment,
    store: &Arc<dyn Store>,
    settings: &RegistrySettings,
) -> (Arc<TeamRegistry>, RunningServer) {
    let opened =
        TeamRegistry::open(env, Arc::clone(store), settings.clone(), ListenerReach::Loopback);
    let registry = opened.expect("a registry");
    let server =
        HttpServer::bind(ServerOptions::loopback(0)).expect("a free port").mount(registry.part());
    let running = server.start().expect("a server");
    (registry, running)
}

/// The body of a publication.
pub(crate) fn publication(slug: &str, version: &str, files: &[Value]) -> Value {
    json!({
        "slug": slug, "displayName": slug, "version": version, "changelog": "new",
        "acceptLicenseTerms": true, "tags": ["latest"], "files": files,
    })
}

/// A skill's file.
pub(crate) fn skill(name: &str, body: &str) -> String {
    format!(
        "---\nname: {name}\ndescription: About {name} and what it does\n---\n# {name}\n\n{body}\n"
    )
}

/// The files of an archive, in its order.
pub(crate) fn unpacked(zip: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut archive = zip::ZipArchive::new(Cursor::new(zip)).expect("an archive");
    (0..archive.len())
        .map(|at| {
            let mut file = archive.by_index(at).expect("a file");
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).expect("bytes");
            (file.name().expect("a name").into_owned(), bytes)
        })
        .collect()
}
