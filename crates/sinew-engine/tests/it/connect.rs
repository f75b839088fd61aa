//! Connecting and disconnecting leaves any configuration as it was, and what the user or another
//! program changes in between stays.

use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use serde_json::Value;
use sinew_engine::connect::ConnectRequest;
use sinew_engine::{Engine, EngineOptions};
use sinew_testkit::TestMachine;

/// How an agent writes its configuration.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Style {
    Json,
    Json5,
    Toml,
    Yaml,
}

const AGENTS: &[(&str, &str, Style, &str)] = &[
    ("claude-code", ".claude.json", Style::Json, "mcpServers"),
    ("codex", ".codex/config.toml", Style::Toml, "mcp_servers"),
    ("openclaw", ".openclaw/openclaw.json", Style::Json5, "mcp"),
    ("cursor", ".cursor/mcp.json", Style::Json, "mcpServers"),
    ("gemini", ".gemini/settings.json", Style::Json, "mcpServers"),
    ("vscode", ".config/Code/User/mcp.json", Style::Json, "servers"),
    ("goose", ".config/goose/config.yaml", Style::Yaml, "extensions"),
    ("opencode", ".config/opencode/opencode.json", Style::Json, "mcp"),
];

/// A configuration in a style: a few fields, servers of others, comments, odd indentation.
fn config(style: Style, servers: &'static str) -> BoxedStrategy<String> {
    let field = ("[a-z]{3,8}x", 0..1000_u32, "[a-z ]{0,12}");
    let fields = prop::collection::btree_map(field.0, (field.1, field.2), 0..5);
    let others = prop::collection::btree_map("[a-z]{3,8}y", "[a-z/]{1,10}", 0..3);
    (fields, others, any::<bool>(), any::<bool>(), 1..5_usize, any::<bool>())
        .prop_map(move |(fields, others, has_servers, comments, indent, crlf)| {
            let pad = " ".repeat(indent);
            let mut text = String::new();
            let note = |mark: &str| if comments { format!(" {mark} said so") } else { String::new() };
            match style {
                Style::Json | Style::Json5 => {
                    let quote = if style == Style::Json5 { "" } else { "\"" };
                    let mut parts: Vec<String> = fields
                        .iter()
                        .map(|(name, (number, said))| {
                            format!("{pad}{quote}{name}{quote}: {{ {quote}n{quote}: {number}, {quote}t{quote}: \"{said}\" }}")
                        })
                        .collect();
                    if has_servers {
                        let inner: Vec<String> = others
                            .iter()
                            .map(|(name, command)| format!("{pad}{pad}{quote}{name}{quote}: {{ {quote}command{quote}: \"{command}\" }}"))
                            .collect();
                        let inner = if inner.is_empty() { String::new() } else { format!("\n{}\n{pad}", inner.join(",\n")) };
                        parts.push(format!("{pad}{quote}{servers}{quote}: {{{inner}}}"));
                    }
                    let body = parts.join(&format!(",{}\n", note("//")));
                    text = format!("{{{}\n{body}\n}}\n", note("//"));
                }
                Style::Toml => {
                    for (name, (number, said)) in &fields {
                        text.push_str(&format!("{name} = {number}{}\n{name}t = \"{said}\"\n", note("#")));
                    }
                    if has_servers {
                        for (name, command) in &others {
                            text.push_str(&format!("\n[{servers}.{name}]{}\ncommand = \"{command}\"\n", note("#")));
                        }
                    }
                    text.push_str("\n[zz]\nlast = true\n");
                }
                Style::Yaml => {
                    for (name, (number, said)) in &fields {
                        text.push_str(&format!("{name}: {number}{}\n{name}t: \"{said}\"\n", note("#")));
                    }
                    if has_servers && !others.is_empty() {
                        text.push_str(&format!("{servers}:{}\n", note("#")));
                        for (name, command) in &others {
                            text.push_str(&format!("{pad}{name}:\n{pad}{pad}cmd: \"{command}\"\n"));
                        }
                    }
                    text.push_str("zz: true\n");
                }
            }
            if crlf { text.replace('\n', "\r\n") } else { text }
        })
        .boxed()
}

fn any_case() -> impl Strategy<Value = (&'static str, &'static str, String)> {
    (0..AGENTS.len()).prop_flat_map(|at| {
        let (agent, path, style, servers) = AGENTS[at];
        config(style, servers).prop_map(move |text| (agent, path, text))
    })
}

struct Connected {
    _machine: TestMachine,
    engine: Engine,
    file: PathBuf,
}

fn connected(agent: &str, path: &str, before: &str) -> Connected {
    let machine = TestMachine::new().file(&format!("home/{path}"), before);
    let engine = Engine::open(machine.environment(), EngineOptions::default()).expect("an engine");
    let request =
        ConnectRequest { client_word: Some("0badc0de".to_owned()), ..ConnectRequest::new(agent) };
    let plan = engine.connect().plan(&request).expect("a plan");
    assert!(!plan.is_unchanged());
    engine.connect().connect(&request, plan).expect("connected");
    // The word that is there stays: a program that connects again, without one, does not lose it.
    for client_word in [None, Some("another".to_owned())] {
        let again = ConnectRequest { client_word, ..request.clone() };
        let again = engine.connect().plan(&again).expect("a plan");
        assert!(again.is_unchanged(), "a second run changes nothing");
    }
    assert_eq!(engine.connect().connected_client("0badc0de"), Some(agent));
    let file = machine.path("home").join(path);
    Connected { _machine: machine, engine, file }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if std::env::var_os("SINEW_LONG").is_some() { 2_000 } else { 64 }))]

    #[test]
    fn disconnecting_undoes_connecting((agent, path, before) in any_case()) {
        let home = connected(agent, path, &before);
        let there = fs::read_to_string(&home.file).expect("the file");
        prop_assert!(there.contains("sinew"));
        let done = home.engine.connect().disconnect(agent, true).expect("disconnected");
        prop_assert!(done.files.iter().all(|file| file.restored));
        prop_assert_eq!(fs::read_to_string(&home.file).expect("the file"), before);
        prop_assert_eq!(home.engine.connect().connected_client("0badc0de"), None);
    }

    /// Without a backup, and after a change by another program, the entry is removed from the text.
    #[test]
    fn what_others_wrote_stays((agent, path, before) in any_case()) {
        let home = connected(agent, path, &before);
        let there = fs::read_to_string(&home.file).expect("the file");
        let newline = if before.contains("\r\n") { "\r\n" } else { "\n" };
        let comment = if matches!(agent, "codex" | "goose") { "# later" } else { "// later" };
        fs::write(&home.file, format!("{there}{comment}{newline}")).expect("written");
        let done = home.engine.connect().disconnect(agent, true).expect("disconnected");
        prop_assert!(done.files.iter().all(|file| file.changed_by_user.is_empty()));
        let after = fs::read_to_string(&home.file).expect("the file");
        prop_assert!(!after.contains("sinew"), "{}", after);
        let plain = |text: &str| text.split_whitespace().collect::<String>().replace(',', "");
        prop_assert_eq!(plain(&after), plain(&format!("{before}{comment}")));
        if agent == "cursor" && !before.contains("//") {
            let value = |text: &str| serde_json::from_str::<Value>(&text.replace(comment, "")).expect("JSON");
            prop_assert_eq!(value(&after), value(&before));
        }
    }
}
