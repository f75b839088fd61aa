//! Who may say yes, and how a client's person is asked in each era.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use sinew_engine::approval::{
    ApprovalContent, ApprovalEvidence, ApprovalScan, ApprovalSubject, CandidateVerdict, ConsentAct,
    NewApproval,
};
use sinew_engine::{Engine, EngineOptions};
use sinew_settings::{Actor, Environment, FixedClock};
use sinew_testkit::TestMachine;

use super::client::{Client, SESSION, connected};
use super::tools::with_workshop;
use crate::support::sinew;

/// The machine's engine, with the time of now: other processes look at the same approvals.
fn engine(machine: &TestMachine) -> Engine {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_millis();
    let clock = Arc::new(FixedClock(u64::try_from(now).expect("this age")));
    let env = Environment { clock, ..machine.environment() };
    Engine::open(env, EngineOptions::default()).expect("an engine")
}

/// Something that waits, as another part of sinew would ask for it.
pub(crate) fn waiting(machine: &TestMachine, kind: ConsentAct, critical: usize) -> String {
    let verdict = if critical > 0 { CandidateVerdict::Block } else { CandidateVerdict::Allow };
    let evidence = ApprovalEvidence {
        scan: Some(ApprovalScan { verdict, critical, warn: 0, info: 0 }),
        ..ApprovalEvidence::default()
    };
    let content = ApprovalContent::from_files([("SKILL.md", b"text".as_slice())]);
    let name = if critical > 0 { "danger" } else { "todo" };
    let subject = ApprovalSubject { name: name.to_owned(), version: Some("1".to_owned()), content };
    let asked = NewApproval::new(kind, subject, evidence);
    engine(machine).approvals().open(asked, &Actor::System).expect("a question").id
}

fn decide(id: &str, quote: Option<&str>) -> Value {
    let mut decide = json!({"action": "decide", "id": id, "decision": "approve"});
    if let Some(quote) = quote {
        decide["quote"] = json!(quote);
    }
    decide
}

#[test]
fn an_answer_is_passed_on_only_as_far_as_it_may() {
    let machine = TestMachine::new();
    let (plan, install) =
        (waiting(&machine, ConsentAct::Plan, 0), waiting(&machine, ConsentAct::Install, 0));
    let mut client = Client::session(&machine, json!({}));
    assert_eq!(client.error("approve", decide(&plan, None))["code"], "quote-missing");
    let said = client.data("approve", decide(&plan, Some("yes, go ahead")));
    assert_eq!(said["approval"]["state"], "approved");
    assert_eq!(said["approval"]["channel"], "relay");
    let refused = client.error("approve", decide(&install, Some("yes, install it")));
    assert_eq!(refused["code"], "not-approved");
}

#[test]
fn relaying_can_be_allowed_but_not_for_a_critical_finding() {
    let machine =
        TestMachine::new().file("home/.sinew/config.json5", "{approvals: {relay: 'allow'}}");
    let (clean, critical) =
        (waiting(&machine, ConsentAct::Install, 0), waiting(&machine, ConsentAct::Install, 1));
    let mut client = Client::session(&machine, json!({}));
    let said = client.data("approve", decide(&clean, Some("yes")));
    assert_eq!(said["approval"]["state"], "approved");
    client.error("approve", decide(&critical, Some("yes, I know what it does")));
    let explained = client.data("explain", json!({"approval": critical}));
    assert_eq!(
        (&explained["usable"], &explained["approval"]["state"]),
        (&json!(false), &json!("pending"))
    );
}

/// A form, answered.
fn form(action: &str, decision: Option<&str>) -> Value {
    match decision {
        Some(decision) => json!({"action": action, "content": {"decision": decision}}),
        None => json!({"action": action}),
    }
}

/// A question that another asked is not ended by an agent: neither taken back, nor answered with a no
/// that it says it heard. A name that sinew's own commands ask under does not help.
#[test]
fn an_agent_takes_back_its_own_questions_alone() {
    let machine = TestMachine::new();
    let asked_by = |name: &str| {
        let content = ApprovalContent::from_files([("SKILL.md", name.as_bytes())]);
        let subject = ApprovalSubject { name: "todo".to_owned(), version: None, content };
        let asked = NewApproval::new(ConsentAct::Install, subject, ApprovalEvidence::default());
        let by = Actor::Agent { name: name.to_owned() };
        engine(&machine).approvals().open(asked, &by).expect("a question").id
    };
    let no = |id: &str| json!({"action": "decide", "id": id, "decision": "reject", "quote": "no"});
    let back = |id: &str| json!({"action": "withdraw", "id": id});
    for name in ["sinew install", "http", "another agent", "a program without a terminal"] {
        let id = asked_by(name);
        let mut client = Client::session_as(&machine, name, SESSION);
        let mut other = Client::session(&machine, json!({}));
        let is_its_own = name == "another agent";
        for arguments in [no(&id), back(&id)] {
            assert_eq!(other.error("approve", arguments.clone())["code"], "not-approved", "{name}");
            if !is_its_own {
                assert_eq!(client.error("approve", arguments)["code"], "not-approved", "{name}");
            }
        }
        if is_its_own {
            let said = client.data("approve", back(&id));
            assert_eq!(said["approval"]["state"], "withdrawn");
        } else {
            let state = engine(&machine).approvals().get(&id).expect("it").state;
            assert_eq!(state.as_str(), "pending", "{name}");
        }
    }
}

/// Any program can start the server in a pipe, say that it has dialogues, and answer them itself.
#[test]
fn a_client_that_no_person_connected_passes_answers_on() {
    let machine = TestMachine::new();
    let id = waiting(&machine, ConsentAct::Install, 0);
    let passes_on = |args: &[&str]| {
        let mut client = Client::session_of(&machine, args, json!({"elicitation": {}}))
            .answering(|_, _| form("accept", Some("approve")));
        let refused = client.error("approve", decide(&id, Some("yes, install it")));
        assert_eq!(refused["code"], "not-approved", "{args:?}");
        assert!(client.asked.is_empty(), "{args:?} is asked: {:?}", client.asked);
    };
    passes_on(&["mcp"]);
    passes_on(&["mcp", "--client", "guessed"]);
    // A program that connects an agent gets no word, so it is no way around.
    let made = sinew(&machine, &["connect", "gemini"]);
    assert!(made.ends_with("exit 0"), "{made}");
    let entry = std::fs::read_to_string(machine.path("home/.gemini/settings.json")).expect("it");
    assert!(entry.contains("mcp") && !entry.contains("--client"), "{entry}");
    // What was connected and is no longer is unknown again.
    let args = connected(&machine, &[]);
    assert_eq!((args[0].as_str(), args[1].as_str(), args.len()), ("mcp", "--client", 3));
    let gone = sinew(&machine, &["disconnect", "cursor"]);
    assert!(gone.ends_with("exit 0"), "{gone}");
    passes_on(&args.iter().map(String::as_str).collect::<Vec<_>>());
    let state = engine(&machine).approvals().get(&id).expect("it").state;
    assert_eq!(state.as_str(), "pending");
}

#[test]
fn a_session_asks_its_person() {
    for (answer, state) in [
        (form("accept", Some("approve")), "approved"),
        (form("accept", Some("reject")), "rejected"),
        (form("decline", None), "rejected"),
        (form("cancel", None), "pending"),
        (form("accept", None), "pending"),
    ] {
        let machine = TestMachine::new();
        let id = waiting(&machine, ConsentAct::Install, 0);
        let said = answer.clone();
        let mut client = Client::connected(&machine, json!({"elicitation": {}}), &[])
            .answering(move |_, _| said.clone());
        let decided = client.data("approve", decide(&id, Some("they said yes, trust me")));
        assert_eq!(decided["approval"]["state"], state, "{answer}");
        assert_eq!(client.asked.len(), 1, "one question");
        let asked = &client.asked[0];
        assert_eq!(asked["method"], "elicitation/create");
        let message = asked["params"]["message"].as_str().unwrap_or_default();
        assert!(message.starts_with("Install todo 1?"), "{message}");
        assert!(message.contains("Scan: allow"), "{message}");
        let schema = &asked["params"]["requestedSchema"]["properties"]["decision"];
        assert_eq!(schema["enum"], json!(["approve", "reject"]));
    }
}

#[test]
fn a_request_that_stands_alone_is_answered_with_the_question() {
    let machine = TestMachine::new();
    let id = waiting(&machine, ConsentAct::Install, 0);
    let mut client =
        Client::connected_stateless(&machine, json!({"elicitation": {"form": {}}}), &[]);
    let call = json!({"name": "approve", "arguments": {"action": "decide", "id": id}});
    let asked = client.ask("tools/call", call.clone());
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    assert_eq!(asked["inputRequests"]["approval"]["method"], "elicitation/create");
    let note = asked["requestState"].as_str().expect("a note").to_owned();
    let answered = |note: &str, answer: Value| {
        let mut again = call.clone();
        again["requestState"] = json!(note);
        again["inputResponses"] = json!({"approval": answer});
        again
    };
    let yes = form("accept", Some("approve"));
    let changed = format!("{}x", &note[..note.len() - 1]);
    for forged in [changed.as_str(), "", "rs1.e30.AAAA"] {
        assert_eq!(client.refused("tools/call", answered(forged, yes.clone())), -32602, "{forged}");
    }
    // The note of one question does not answer another.
    let other = waiting(&machine, ConsentAct::Plan, 0);
    let mut crossed = answered(&note, yes.clone());
    crossed["arguments"]["id"] = json!(other);
    assert_eq!(client.refused("tools/call", crossed), -32602);
    assert_eq!(engine(&machine).approvals().get(&id).expect("it").state.as_str(), "pending");
    // Without the answer, it is asked for again.
    let mut empty = answered(&note, yes.clone());
    empty["inputResponses"] = json!({});
    assert_eq!(client.ask("tools/call", empty)["resultType"], "input_required");
    let done = client.ask("tools/call", answered(&note, yes));
    assert_eq!(done["structuredContent"]["approval"]["state"], "approved", "{done}");
    assert_eq!(done["resultType"], "complete");
}

fn proposal(client: &mut Client) -> String {
    let made = client.data(
        "skill_workshop",
        json!({
            "action": "suggest", "skillName": "notes", "title": "Notes", "reason": "asked for",
            "description": "Takes notes in meetings", "body": "- Write down who decides",
        }),
    );
    assert_eq!(made["status"], "pending", "{made}");
    made["proposal"]["id"].as_str().expect("an id").to_owned()
}

#[test]
fn a_proposal_is_written_when_its_person_agrees() {
    let machine = with_workshop(TestMachine::new());
    let written = machine.path("work/skills/notes/SKILL.md");
    let mut client = Client::connected(&machine, json!({"elicitation": {}}), &[])
        .answering(|_, _| form("decline", None));
    let id = proposal(&mut client);
    let apply = json!({"action": "apply", "id": id});
    let said = client.data("skill_workshop", apply.clone());
    assert_eq!(said["status"], "rejected", "{said}");
    assert!(!written.exists());
    let mut client = client.answering(|_, _| form("accept", Some("approve")));
    let said = client.data("skill_workshop", apply);
    assert_eq!(said["status"], "applied", "{said}");
    assert!(written.is_file());
    let diff = client.asked[1]["params"]["message"].as_str().unwrap_or_default();
    assert!(diff.contains("+- Write down who decides"), "the person saw the change: {diff}");
}

#[test]
fn a_waiting_review_is_done_by_the_clients_model() {
    let config = "{plugins: {entries: {'skill-workshop': {enabled: true, config: {reviewMode: 'llm', reviewInterval: 1, provider: {kind: 'mcp'}}}}}}";
    let machine = TestMachine::new().file("home/.sinew/config.json5", config);
    let turn = |machine: &TestMachine| {
        let engine = engine(machine);
        let messages = [
            json!({"role": "user", "content": "The release failed. My key is sk-ant-REDACTED"}),
            json!({"role": "assistant", "content": "I tagged it again and it worked."}),
        ];
        let turn = sinew_workshop::FinishedTurn {
            messages: &messages,
            succeeded: true,
            agent_id: Some("a"),
            session_id: None,
        };
        let report = engine.workshop().turn(&turn).expect("a turn");
        assert!(report.review_due, "{report:?}");
        engine.workshop().review_turn(&turn).expect("a review that waits");
    };
    let reply = json!({
        "action": "create", "skillName": "release-tagging", "title": "Tag releases", "reason": "seen",
        "description": "How releases are tagged", "body": "- Tag again when the release fails",
    });
    let said = json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": reply.to_string()}});
    turn(&machine);
    let text = said.clone();
    let mut session =
        Client::session(&machine, json!({"sampling": {}})).answering(move |_, _| text.clone());
    let status = session.data("skill_workshop", json!({"action": "status"}));
    assert_eq!(status["pending"], 1, "{status}");
    let asked = &session.asked[0];
    assert_eq!(asked["method"], "sampling/createMessage");
    assert_eq!(asked["params"]["maxTokens"], 2000);
    assert!(asked["params"].get("tools").is_none(), "a request without tools");
    assert!(!asked.to_string().contains("sk-ant-api03"), "secrets stay here: {asked}");
    let again = session.data("skill_workshop", json!({"action": "status"}));
    assert_eq!((&again["pending"], session.asked.len()), (&json!(1), 1), "it is done once");
    drop(session);

    turn(&machine);
    let mut alone = Client::stateless(&machine, json!({"sampling": {}}));
    let call = json!({"name": "skill_workshop", "arguments": {"action": "status"}});
    let asked = alone.ask("tools/call", call.clone());
    assert_eq!(asked["inputRequests"]["review"]["method"], "sampling/createMessage", "{asked}");
    let mut answered = call;
    answered["requestState"] = asked["requestState"].clone();
    answered["inputResponses"] = json!({"review": {"role": "assistant", "model": "m", "content": {"type": "text", "text": "no JSON"}}});
    let status = alone.ask("tools/call", answered)["structuredContent"].clone();
    assert_eq!(status["pending"], 1, "an answer that is none is skipped: {status}");
}
