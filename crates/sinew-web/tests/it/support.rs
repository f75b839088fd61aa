//! A server over a machine of its own, asked without a network.

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use axum::response::Response;
use http_body_util::BodyExt as _;
use serde_json::Value;
use sinew_engine::{Engine, EngineOptions, LiveEngine};
use sinew_testkit::TestMachine;
use sinew_web::WebApp;
use tower::ServiceExt as _;

/// Markup that a hostile author would like to have run.
pub(crate) const SCRIPT: &str = "<script>alert(1)</script>";

/// A server, and the machine it looks at.
pub(crate) struct Server {
    pub(crate) machine: TestMachine,
    pub(crate) app: WebApp,
    pub(crate) router: Router,
    pub(crate) token: String,
}

/// An answer, read to its end.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("JSON: {}", self.text))
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(|value| value.to_str().expect("text")).unwrap_or_default()
    }

    pub(crate) async fn of(response: Response) -> Self {
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.expect("a body").to_bytes();
        let text = String::from_utf8(bytes.to_vec()).expect("text");
        Self { status: parts.status, headers: parts.headers, text }
    }
}

/// A machine with a skill of each state, and the workshop on.
pub(crate) fn machine() -> TestMachine {
    TestMachine::new()
        .file(
            "home/.sinew/config.json5",
            r#"{
                skills: {entries: {off: {enabled: false}}},
                route: {model: "static"},
                plugins: {entries: {"skill-workshop": {enabled: true}}},
            }"#,
        )
        .file(
            "work/skills/release-notes/SKILL.md",
            "---\nname: release-notes\ndescription: Write release notes from merged pull requests\n\
             tags: [git, writing]\n---\n\n# Release notes\n\nGroup the changes by kind.\n",
        )
        .file("work/skills/release-notes/references/style.md", "Short sentences.\n")
        .workspace_skill("weather", "")
        .workspace_skill("off", "")
        .workspace_skill(
            "needs-gh",
            "metadata: {openclaw: {requires: {bins: [gh], env: [GH_TOKEN]}}}",
        )
        .file("work/skills/broken/SKILL.md", "---\nname: broken\n---\nno description\n")
}

fn app(machine: &TestMachine) -> (WebApp, String) {
    let engine = Engine::open(machine.environment(), EngineOptions::default()).expect("an engine");
    let token = engine.settings().access_token().expect("a token");
    (WebApp::new(LiveEngine::new(engine)).expect("an app"), token)
}

impl Server {
    pub(crate) fn new() -> Self {
        Self::on(machine())
    }

    pub(crate) fn on(machine: TestMachine) -> Self {
        let (app, token) = app(&machine);
        let router = sinew_web::router(&app);
        Self { machine, app, router, token }
    }

    /// Another server over the same machine, as another process would be.
    pub(crate) fn on_machine_of(server: &Self) -> Self {
        let (app, token) = app(&server.machine);
        let router = sinew_web::router(&app);
        Self { machine: TestMachine::new(), app, router, token }
    }

    /// A request of a program that has the token.
    pub(crate) fn request(&self, method: &str, path: &str) -> axum::http::request::Builder {
        Request::builder()
            .method(method)
            .uri(path)
            .header("host", "127.0.0.1:7411")
            .header("authorization", format!("Bearer {}", self.token))
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        Answer::of(self.router.clone().oneshot(request).await.expect("an answer")).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        let path = format!("/api/v1{path}");
        self.send(self.request("GET", &path).body(Body::empty()).expect("a request")).await
    }

    pub(crate) async fn write(&self, method: &str, path: &str, body: &Value) -> Answer {
        let path = format!("/api/v1{path}");
        let request = self.request(method, &path).header("content-type", "application/json");
        self.send(request.body(Body::from(body.to_string())).expect("a request")).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.write("POST", path, body).await
    }

    /// Signs a browser in with a link from the terminal.
    pub(crate) async fn browser(&self) -> Browser<'_> {
        let code = self.app.access().sign_in_code().expect("a code");
        let request = Request::get(format!("/auth?once={code}")).body(Body::empty());
        let answer = self.send(request.expect("a request")).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
        let cookie = answer.header("set-cookie").split(';').next().expect("a cookie").to_owned();
        let mut browser = Browser { server: self, cookie, csrf: String::new() };
        let page = browser.get("/").await.text;
        let (_, rest) = page.split_once("name=\"csrf\" value=\"").expect("a word in the page");
        rest.split('"').next().expect("the word").clone_into(&mut browser.csrf);
        browser
    }

    /// All the items of a list, page by page.
    pub(crate) async fn all(&self, path: &str) -> Vec<Value> {
        let (mut items, mut cursor) = (Vec::new(), String::new());
        loop {
            let sign = if path.contains('?') { '&' } else { '?' };
            let page = self.get(&format!("{path}{sign}limit=2{cursor}")).await;
            assert_eq!(page.status, StatusCode::OK, "{}", page.text);
            let page = page.json();
            items.extend(page["items"].as_array().expect("items").iter().cloned());
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return items,
            }
        }
    }
}

/// A browser that was signed in.
pub(crate) struct Browser<'s> {
    server: &'s Server,
    pub(crate) cookie: String,
    pub(crate) csrf: String,
}

impl Browser<'_> {
    pub(crate) async fn get(&self, path: &str) -> Answer {
        let request = Request::get(path).header("cookie", &self.cookie).body(Body::empty());
        self.server.send(request.expect("a request")).await
    }

    /// Calls the API as a script of a page of ours does.
    pub(crate) async fn call(&self, method: &str, path: &str, body: &Value) -> Answer {
        let request = Request::builder()
            .method(method)
            .uri(format!("/api/v1{path}"))
            .header("host", "127.0.0.1:7411")
            .header("cookie", &self.cookie)
            .header("origin", "http://127.0.0.1:7411")
            .header("x-sinew-csrf", &self.csrf)
            .header("content-type", "application/json");
        self.server.send(request.body(Body::from(body.to_string())).expect("a request")).await
    }

    /// Sends a form as a page of ours does.
    pub(crate) async fn submit(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let mut form = url::form_urlencoded::Serializer::new(String::new());
        form.append_pair("csrf", &self.csrf).extend_pairs(fields);
        let request = Request::post(path)
            .header("cookie", &self.cookie)
            .header("origin", "http://127.0.0.1:7411")
            .header("content-type", "application/x-www-form-urlencoded");
        self.server.send(request.body(Body::from(form.finish())).expect("a request")).await
    }
}
