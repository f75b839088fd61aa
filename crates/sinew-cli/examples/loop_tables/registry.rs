//! A team registry on loopback, filled over its own API.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::json;
use sinew_listener::{HttpServer, RunningServer, ServerOptions};
use sinew_registry::{ListenerReach, NewToken, RegistrySettings, TeamRegistry, TokenRole};
use sinew_settings::config::RegistryMode;
use sinew_settings::{Clock as _, Config, Environment};

use super::Wall;

/// A running registry.
pub(super) struct LoopbackRegistry {
    server: RunningServer,
    token: String,
    stream: Mutex<Option<TcpStream>>,
}

impl LoopbackRegistry {
    pub(super) fn start(folder: &Path) -> Self {
        let env = Environment {
            home: folder.to_owned(),
            cwd: folder.to_owned(),
            vars: Default::default(),
            os: "linux".to_owned(),
            exe: None,
            clock: Arc::new(Wall),
        };
        let database = folder.join("registry.db");
        let options = sinew_store::StoreOptions::default();
        let store = sinew_store::open(database.to_str().expect("text"), &options).expect("a store");
        let mut config = Config::default();
        config.registry.mode = RegistryMode::PublicRead;
        let settings = RegistrySettings::read(&config, &env).expect("settings");
        let registry =
            TeamRegistry::open(&env, store, settings, ListenerReach::Loopback).expect("a registry");
        let wanted = NewToken {
            label: "bench".to_owned(),
            handle: "bench".to_owned(),
            owners: Vec::new(),
            role: TokenRole::Admin,
            expires_at: None,
        };
        let (secret, _) = registry.tokens().create(wanted, Wall.now_ms()).expect("a token");
        let server =
            HttpServer::bind(ServerOptions::loopback(0)).expect("a port").mount(registry.part());
        let server = server.start().expect("a server");
        Self { server, token: secret.reveal().to_owned(), stream: Mutex::default() }
    }

    pub(super) fn address(&self) -> String {
        format!("http://{}/registry", self.socket())
    }

    fn socket(&self) -> SocketAddr {
        self.server.address()
    }

    /// Publishes one skill of one file.
    pub(super) fn publish(&self, slug: &str, name: &str, text: &str) {
        let payload = json!({
            "slug": slug, "displayName": name, "version": "1.0.0", "changelog": "",
            "acceptLicenseTerms": true, "tags": ["latest"], "files": [],
        });
        let body = format!(
            "--XxLoopXx\r\ncontent-disposition: form-data; name=\"payload\"\r\n\r\n{payload}\r\n--XxLoopXx\r\n\
             content-disposition: form-data; name=\"files\"; filename=\"SKILL.md\"\r\n\r\n{text}\r\n--XxLoopXx--\r\n"
        );
        let head = format!(
            "POST /registry/api/v1/skills HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\n\
             content-type: multipart/form-data; boundary=XxLoopXx\r\ncontent-length: {}\r\n\r\n",
            self.socket(),
            self.token,
            body.len()
        );
        let mut kept = self.stream.lock().expect("one thread");
        let mut stream =
            kept.take().unwrap_or_else(|| TcpStream::connect(self.socket()).expect("a registry"));
        stream.write_all(head.as_bytes()).expect("a request");
        stream.write_all(body.as_bytes()).expect("a request");
        let (status, answer) = answer(&mut stream);
        if !status.contains(" 200") {
            println!("{slug}: {status} {answer}");
        }
        *kept = Some(stream);
    }
}

fn answer(stream: &mut TcpStream) -> (String, String) {
    let mut reader = BufReader::new(stream);
    let (mut status, mut length) = (String::new(), 0);
    reader.read_line(&mut status).expect("a status");
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a header");
        if line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("a body");
    (status.trim().to_owned(), String::from_utf8_lossy(&body).into_owned())
}
