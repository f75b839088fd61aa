//! One message, one answer: the terminal, hooks, HTTP and MCP say the same.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};
use sinew_testkit::TestMachine;

use crate::hook::{hook, prompt};
use crate::mcp::client::Client;
use crate::serving::ServingProgram;
use crate::support::json as cli_json;

/// A hundred messages with a match, a short list, a skill that is named, one that cannot be used, or
/// none; in nine languages.
const MESSAGES: [&str; 100] = [
    "use the ledger skill",
    "these photos are too big to email, shrink them",
    "move my meeting to friday",
    "a soup for ten people",
    "invoice for the plumber",
    "write a complaint to the railway",
    "$weather for tomorrow in Bergen",
    "rain and wind in Bergen",
    "what is on today, and do I need an umbrella?",
    "thanks, that was great",
    "🙂🙂",
    "zxqv wmpf",
    "crop the faces out of this picture",
    "compress all jpegs in this folder",
    "resize the banner to 1200 pixels",
    "my holiday pictures do not fit into the mail",
    "what appointments do I have next week?",
    "book an hour with Anna on Tuesday",
    "cancel the dentist",
    "is my calendar free on the 3rd?",
    "how much did I spend on trains this year?",
    "enter the electricity bill into the books",
    "yearly accounts for the tax office",
    "who has not paid their invoice yet?",
    "a formal letter to my landlord about the heating",
    "print a letter of resignation",
    "complain to the airline about the lost suitcase",
    "what can I cook from leeks and potatoes?",
    "shopping list for a lentil stew",
    "a warm dish for a cold evening",
    "will it rain on Sunday?",
    "storm warning for the coast",
    "$ledger please",
    "/soup with tomatoes",
    "$pictures and $letters",
    "please use the calendar skill to look at Monday",
    "run the letters skill",
    "$weather and $soup",
    "ok",
    "yes, go on",
    "no, not like that",
    "explain how a hash map works",
    "rename this variable to total",
    "why does my test fail with a segmentation fault?",
    "translate this sentence into Latin",
    "what is the capital of Peru?",
    "write a poem about the sea",
    "1 2 3",
    "???",
    "refactor the parser into two modules",
    "Verkleinere diese Fotos, sie sind zu groß für die Mail",
    "Verschiebe meinen Termin auf Freitag",
    "Schreib eine Beschwerde an die Bahn",
    "Rechnung für den Klempner",
    "Ein Eintopf für zehn Leute",
    "Regnet es morgen in Bergen?",
    "Danke, das war gut",
    "Réduis la taille de ces photos pour le courriel",
    "Déplace ma réunion à vendredi",
    "Une lettre de réclamation à la SNCF",
    "Une facture pour le plombier",
    "Une soupe pour dix personnes",
    "Va-t-il pleuvoir demain ?",
    "Merci beaucoup",
    "Haz más pequeñas estas fotos para enviarlas",
    "Mueve mi reunión al viernes",
    "Escribe una queja a la compañía de trenes",
    "Factura para el fontanero",
    "Una sopa para diez personas",
    "¿Lloverá mañana?",
    "Riduci queste foto, sono troppo grandi",
    "Sposta la riunione a venerdì",
    "Scrivi un reclamo alle ferrovie",
    "Fattura per l'idraulico",
    "Una zuppa per dieci persone",
    "Pioverà domani?",
    "Reduz estas fotos para enviar por email",
    "Muda a minha reunião para sexta-feira",
    "Escreve uma reclamação aos comboios",
    "Fatura para o canalizador",
    "Uma sopa para dez pessoas",
    "Maak deze foto's kleiner voor de mail",
    "Verzet mijn afspraak naar vrijdag",
    "Schrijf een klacht aan het spoor",
    "Factuur voor de loodgieter",
    "Soep voor tien personen",
    "把这些照片缩小一点再发邮件",
    "把我的会议改到星期五",
    "给铁路公司写一封投诉信",
    "给水管工开发票",
    "十个人喝的汤",
    "明天会下雨吗？",
    "この写真を小さくしてメールで送れるように",
    "会議を金曜日に移して",
    "鉄道会社への苦情の手紙を書いて",
    "配管工への請求書",
    "十人分のスープ",
    "明日は雨が降りますか",
    "ありがとう",
    "谢谢",
];

/// Words and static vectors rank, so that no surface waits for vectors that another one has; and a slow
/// machine answers hooks, too.
const CONFIG: &str = "{route: {model: 'static'}, hook: {deadlineMs: 10000}}";

/// Skills of a short list that a hook shows.
const SHOWN: usize = 3;

/// The models that the program comes with; vectors are computed before the first question.
const DEFAULT_MODELS: &str = "{hook: {deadlineMs: 10000}}";

/// Every how many of the messages are asked with the default models, where time is short.
const STRIDE: usize = 4;

/// Skills of different trades; the one about the weather lacks its program.
fn machine(config: &str) -> TestMachine {
    let mut machine = TestMachine::new().file("home/.sinew/config.json5", config);
    for (name, description, more) in [
        ("pictures", "Resize, crop and compress photos. Use when files are too large to send.", ""),
        ("calendar", "Read and change appointments and meetings.", ""),
        ("soup", "Recipes for soups and stews, with shopping lists.", ""),
        ("ledger", "Keep the books in plain text: invoices, expenses and yearly accounts.", ""),
        ("letters", "Write formal letters and complaints, ready to print.", ""),
        (
            "weather",
            "Forecasts for any place, rain and wind warnings",
            "metadata: {openclaw: {requires: {bins: [wx]}}}\n",
        ),
    ] {
        let text = format!("---\nname: {name}\ndescription: {description}\n{more}---\n# {name}\n");
        machine = machine.file(&format!("work/skills/{name}/SKILL.md"), text);
    }
    machine
}

/// What the API answers to a message.
fn route(served: &ServingProgram, message: &str) -> Value {
    let body = json!({"message": message, "limit": 5});
    let (status, answer) = served.request("POST", "/api/v1/route", "", &body);
    assert_eq!(status, 200, "{answer}");
    serde_json::from_str(&answer).unwrap_or_else(|_| panic!("JSON: {answer}"))
}

/// What every surface has to agree on: the decision, what is offered, and what cannot be used.
fn essence(answer: &Value) -> Value {
    let names = |list: &Value, most: usize| -> Vec<Value> {
        let items = list.as_array().into_iter().flatten().take(most);
        items.map(|item| item["name"].clone()).collect()
    };
    // An answer for programs also holds what came close.
    let offered = answer["offered"].as_u64().and_then(|count| usize::try_from(count).ok());
    json!({
        "decision": answer["decision"],
        "matches": names(&answer["matches"], offered.unwrap_or(usize::MAX)),
        "unavailable": names(&answer["unavailable"], usize::MAX),
    })
}

/// What a hook adds to a message in a session of its own, and what it noted about it.
fn hooked(machine: &TestMachine, number: usize, message: &str) -> (String, Value) {
    let mut event = prompt(message);
    event["session_id"] = json!(format!("s{number}"));
    let answer = hook(machine, "claude-code", event).unwrap_or_default();
    let added = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default();
    let log = fs::read_to_string(machine.path("home/.sinew/hooks/log.jsonl")).expect("a log");
    let last = log.lines().last().expect("a line");
    (added.to_owned(), serde_json::from_str(last).expect("JSON"))
}

/// The names that stand in a text as elements of this kind, in order.
fn elements(text: &str, kind: &str) -> Vec<String> {
    let (begin, end) = (format!("<{kind}>"), format!("</{kind}>"));
    let blocks = text.split(&begin).skip(1).map(|rest| rest.split(&end).next().unwrap_or(rest));
    let name =
        |block: &str| Some(block.split_once("<name>")?.1.split_once("</name>")?.0.to_owned());
    blocks.filter_map(name).collect()
}

/// The hook noted the same decision, and the skills that it added are those that `find` offers.
/// Where none is, it says at most where one is to be had, as MCP does.
fn check_hook(
    machine: &TestMachine,
    number: usize,
    message: &str,
    found: &Value,
    over_mcp: &Value,
) {
    let (added, noted) = hooked(machine, number, message);
    assert_eq!(noted["what"], "routed", "hook: {message}: {noted}");
    assert_eq!(noted["decision"], found["decision"], "hook: {message}: {noted}");
    let names = |list: &Value, most: u64| -> Vec<String> {
        let most = usize::try_from(most).unwrap_or(SHOWN).min(SHOWN);
        let items = list.as_array().into_iter().flatten().take(most);
        items.map(|item| item["name"].as_str().expect("a name").to_owned()).collect()
    };
    let offered = found["offered"].as_u64().expect("a count");
    let expected = match found["named"].as_array() {
        Some(named) if !named.is_empty() => names(&found["named"], u64::MAX),
        _ => names(&found["matches"], offered),
    };
    assert_eq!(elements(&added, "skill"), expected, "hook: {message}: {added}");
    let lacking = names(&found["unavailable"], u64::MAX);
    assert_eq!(elements(&added, "unavailable_skill"), lacking, "hook: {message}: {added}");
    let elsewhere = added.contains("acquire_skill");
    let has_none = expected.is_empty() && lacking.is_empty();
    assert_eq!(added.is_empty(), has_none && !elsewhere, "{message}: {added}");
    let noted = over_mcp["notes"].to_string().contains("acquire_skill");
    assert!(!elsewhere || has_none && noted, "{message}: {added} {over_mcp}");
}

/// Asks every surface, and counts the decisions.
fn ask_everywhere(
    machine: &TestMachine,
    client: &mut Client,
    messages: &[(usize, &str)],
) -> BTreeMap<String, usize> {
    let served = ServingProgram::start(machine);
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for (number, message) in messages.iter().copied() {
        let terminal = cli_json(machine, &["find", message, "--top", "5"]);
        let over_mcp = client.data("find_skill", json!({"message": message, "limit": 5}));
        let over_http = route(&served, message);
        assert_eq!(over_http["matches"], terminal["matches"], "HTTP: {message}");
        assert_eq!(over_http["model"], terminal["model"], "HTTP: {message}");
        assert_eq!(essence(&over_http), essence(&terminal), "HTTP: {message}");
        assert_eq!(essence(&over_mcp), essence(&terminal), "MCP: {message}");
        check_hook(machine, number, message, &terminal, &over_mcp);
        let decision = terminal["decision"].as_str().expect("a decision");
        *seen.entry(decision.to_owned()).or_default() += 1;
        if terminal["unavailable"].as_array().is_some_and(|lacking| !lacking.is_empty()) {
            *seen.entry("unavailable".to_owned()).or_default() += 1;
        }
    }
    seen
}

/// The same with the models that the program comes with: all messages with `SINEW_LONG`, else a part.
#[test]
fn every_surface_decides_with_the_default_models() {
    let machine = machine(DEFAULT_MODELS);
    cli_json(&machine, &["index", "rebuild"]);
    let mut client = Client::session(&machine, json!({}));
    let stride = if std::env::var_os("SINEW_LONG").is_some() { 1 } else { STRIDE };
    let messages: Vec<(usize, &str)> = MESSAGES.into_iter().enumerate().step_by(stride).collect();
    let seen = ask_everywhere(&machine, &mut client, &messages);
    assert!(seen.get("match").is_some_and(|count| *count > 0), "{seen:?}");
    assert!(seen.get("none").is_some_and(|count| *count > 0), "{seen:?}");
    let found = cli_json(&machine, &["find", MESSAGES[0]]);
    assert!(found["model"].as_str().is_some_and(|model| model.contains("encoder")), "{found}");
}

#[test]
fn terminal_hook_http_and_mcp_give_the_same_answer() {
    let machine = machine(CONFIG);
    let mut client = Client::session(&machine, json!({}));
    let messages: Vec<(usize, &str)> = MESSAGES.into_iter().enumerate().collect();
    let seen = ask_everywhere(&machine, &mut client, &messages);
    for kind in ["match", "shortlist", "none", "unavailable"] {
        assert!(seen.get(kind).is_some_and(|count| *count >= 3), "{kind}: {seen:?}");
    }
    let text = client.text("find_skill", json!({"message": "$weather for tomorrow in Bergen"}));
    assert!(text.contains("weather would fit, but cannot be used yet"), "{text}");
    assert!(
        text.contains("sinew why weather") && !text.contains("no installed skill fits"),
        "{text}"
    );
}
