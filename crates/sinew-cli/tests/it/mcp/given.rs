//! What clients and their models are given: schemas that every provider accepts, errors that a model can
//! read, and answers that cost little.

use serde_json::{Value, json};
use sinew_testkit::TestMachine;

use super::client::Client;
use super::tools::{machine, with_workshop};

/// The whole list of tools, in bytes: it stands in every request of a session.
const LIST_BYTES: usize = 8 * 1024;

/// What providers refuse at the top of an input schema. Claude Code drops such a tool, and with others
/// every request fails while the server is connected.
const REFUSED_AT_ROOT: [&str; 8] =
    ["oneOf", "anyOf", "allOf", "not", "enum", "if", "$ref", "const"];

/// Tools that change nothing: hosts let a model call them without asking.
const READ_ONLY: [&str; 9] = [
    "find_skill",
    "list_skills",
    "read_skill",
    "explain",
    "search_registry",
    "acquire_status",
    "list_approvals",
    "workshop_status",
    "scan_skill",
];

fn tools(client: &mut Client) -> (Vec<Value>, usize) {
    let result = client.ask("tools/list", json!({}));
    let bytes = result.to_string().len();
    (result["tools"].as_array().expect("a list").clone(), bytes)
}

#[test]
fn every_provider_accepts_every_tool_in_every_configuration() {
    for machine in [machine(), with_workshop(machine())] {
        for mut client in
            [Client::session(&machine, json!({})), Client::stateless(&machine, json!({}))]
        {
            let (tools, bytes) = tools(&mut client);
            assert!(bytes <= LIST_BYTES, "{bytes} bytes for {} tools", tools.len());
            for tool in &tools {
                let schema = &tool["inputSchema"];
                assert_eq!(schema["type"], "object", "{tool}");
                assert!(schema["properties"].is_object(), "{tool}");
                for keyword in REFUSED_AT_ROOT {
                    assert!(schema.get(keyword).is_none(), "{keyword} at the root of {tool}");
                }
                let described = tool["description"].as_str().expect("a description");
                assert!((20..=260).contains(&described.chars().count()), "{described}");
            }
        }
    }
}

#[test]
fn what_only_looks_says_so_and_what_changes_does_not() {
    let machine = with_workshop(machine());
    let mut client = Client::session(&machine, json!({}));
    for tool in tools(&mut client).0 {
        let name = tool["name"].as_str().expect("a name");
        let hints = &tool["annotations"];
        let looks = READ_ONLY.contains(&name);
        assert_eq!(hints["readOnlyHint"], looks, "{name}");
        // Codex refuses what may destroy when there is no person to ask.
        let destroys = ["acquire_skill", "approve", "skill_workshop"].contains(&name);
        assert_eq!(hints["destructiveHint"], destroys, "{name}");
        let open = ["search_registry", "acquire_skill"].contains(&name);
        assert_eq!(hints["openWorldHint"], open, "{name}");
    }
}

#[test]
fn lists_and_states_have_tools_of_their_own() {
    let machine = with_workshop(machine());
    let mut client = Client::session(&machine, json!({}));
    let made = client.data(
        "skill_workshop",
        json!({"action": "suggest", "skillName": "standup", "title": "t", "reason": "r",
               "description": "The standup", "body": "- Ask for blockers"}),
    );
    let id = made["proposal"]["id"].clone();
    client.data("skill_workshop", json!({"action": "apply", "id": id}));
    for (looking, arguments, changing) in [
        ("list_approvals", json!({}), ("approve", json!({"action": "list"}))),
        ("acquire_status", json!({}), ("acquire_skill", json!({"action": "status"}))),
        ("workshop_status", json!({}), ("skill_workshop", json!({"action": "status"}))),
        (
            "workshop_status",
            json!({"action": "list_pending"}),
            ("skill_workshop", json!({"action": "list_pending"})),
        ),
        (
            "workshop_status",
            json!({"action": "inspect", "id": id}),
            ("skill_workshop", json!({"action": "inspect", "id": id})),
        ),
    ] {
        let looked = client.data(looking, arguments);
        let mut whole = client.data(changing.0, changing.1);
        if looking == "acquire_status" {
            whole = json!({"runs": whole["runs"]});
        }
        assert_eq!(looked, whole, "{looking}");
    }
    assert_eq!(client.data("list_approvals", json!({}))["approvals"][0]["state"], "pending");
    let refused = client.error("workshop_status", json!({"action": "apply", "id": id}));
    assert_eq!(refused["code"], "bad-parameter", "{refused}");
    assert!(!machine.path("work/skills/standup/SKILL.md").exists());
}

/// An error of the protocol stays in the host; a model can only learn from what it is told.
#[test]
fn a_wrong_argument_is_told_to_the_model() {
    let machine = with_workshop(machine());
    let mut client = Client::session(&machine, json!({}));
    for (tool, arguments, said) in [
        ("find_skill", json!({}), "`message` is required"),
        ("find_skill", json!({"message": ""}), "`message` must have 1 to 20000 characters, not 0"),
        ("find_skill", json!({"message": "a", "limit": 21}), "`limit` must be 1 to 20, not 21"),
        ("find_skill", json!({"message": "a", "limit": "3"}), "`limit` must be a whole number"),
        ("find_skill", json!({"message": "a", "mode": "best"}), "`mode` must be one of auto, "),
        ("find_skill", json!({"message": "a", "trusted": true}), "there is no argument `trusted`"),
        ("read_skill", json!({}), "exactly one of `name`, `uri` is required, not 0"),
        ("explain", json!({"skill": "a", "message": "b"}), "exactly one of `skill`, `message`"),
        ("scan_skill", json!({"text": "a", "path": "b"}), "exactly one of `skill`, `path`, `text`"),
        ("report_outcome", json!({"outcome": "success"}), "one of `run` and `skill` is required"),
        ("report_outcome", json!({"skill": "a", "outcome": "perhaps"}), "one of success, failure"),
        (
            "report_outcome",
            json!({"skill": "a", "outcome": "failure"}),
            "`failure`, one of task_mismatch, runtime_error",
        ),
        ("acquire_skill", json!({"action": "propose"}), "`task` or `need` is required"),
        ("acquire_skill", json!({"action": "search", "keywords": ["a", "b"]}), "`keywords` must"),
        ("search_registry", json!({}), "`need` or `keywords` is required"),
        ("approve", json!({"action": "decide"}), "`id` is required"),
        ("list_skills", json!({"cursor": "0:9"}), "`cursor` belongs to another version"),
        ("skill_workshop", json!({"action": "burn"}), "`action` must be one of status, "),
    ] {
        let result = client.call(tool, arguments.clone());
        assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
        let text = result["content"][0]["text"].as_str().expect("a text");
        assert!(text.contains(said), "{tool} {arguments}: {text}");
        assert!(text.chars().count() <= 400, "{text}");
        assert_eq!(result["structuredContent"]["error"]["kind"], "usage", "{tool} {arguments}");
    }
}

/// Three skills that all fit, with descriptions as long as the format allows.
fn wordy() -> TestMachine {
    let mut machine =
        TestMachine::new().file("home/.sinew/config.json5", "{route: {model: 'static'}}");
    for name in ["pdf-merge", "pdf-split", "pdf-rotate"] {
        let about =
            format!("Merge, split and rotate PDF files with {name}. Use it for PDF files. ");
        let description: String = about.repeat(20).chars().take(1_000).collect();
        let text = format!("---\nname: {name}\ndescription: {description}\n---\n# {name}\n");
        machine = machine.file(&format!("work/skills/{name}/SKILL.md"), text);
    }
    machine
}

/// Characters that hosts hand to their model, at worst: data and text.
fn cost(result: &Value) -> usize {
    let blocks = result["content"].as_array().expect("content");
    let text: usize =
        blocks.iter().map(|block| block["text"].as_str().unwrap_or_default().chars().count()).sum();
    let data = result.get("structuredContent").map_or(0, |data| data.to_string().chars().count());
    text + data
}

#[test]
fn finding_a_skill_costs_little_however_much_skills_say_of_themselves() {
    let machine = wordy();
    let mut client = Client::session(&machine, json!({}));
    let result = client.call("find_skill", json!({"message": "work on my pdf files"}));
    let data = &result["structuredContent"];
    assert_eq!(data["decision"], "shortlist", "{result}");
    let matches = data["matches"].as_array().expect("matches");
    assert_eq!(matches.len(), 3, "{result}");
    assert!(cost(&result) <= 1_200, "{} characters: {result}", cost(&result));
    for found in matches {
        let fields: Vec<&String> = found.as_object().expect("an object").keys().collect();
        assert_eq!(fields, ["name", "description", "why", "location"]);
        let name = found["name"].as_str().expect("a name");
        assert!(found["why"].as_str().is_some_and(|why| why.contains("% sure")), "{found}");
        assert!(found["location"].as_str().is_some_and(|at| at.ends_with("SKILL.md")), "{found}");
        let text = result["content"][0]["text"].as_str().expect("a text");
        assert!(text.contains(&format!("- {name}: Merge")), "the text is enough: {text}");
    }
    let none = client.call("find_skill", json!({"message": "zxqv wmpf"}));
    assert_eq!(none["structuredContent"], json!({"decision": "none", "matches": []}));
    let explained = client.data("explain", json!({"message": "work on my pdf files"}));
    let scores = &explained["route"]["matches"][0];
    assert!(scores["score"].is_number() && scores["parts"]["lexical"].is_object(), "{scores}");
}

#[test]
fn no_answer_costs_more_than_its_worth() {
    let machine = with_workshop(machine());
    let mut client = Client::session(&machine, json!({}));
    for (tool, arguments, most) in [
        ("find_skill", json!({"message": "merge two pdf files"}), 700),
        ("find_skill", json!({"message": "$forge for this"}), 700),
        ("list_skills", json!({"state": "all"}), 1_600),
        ("explain", json!({"skill": "mail"}), 3_000),
        ("explain", json!({"message": "merge two pdf files"}), 6_000),
        (
            "report_outcome",
            json!({"skill": "mail", "task": "send a mail", "outcome": "success"}),
            400,
        ),
        ("acquire_status", json!({}), 60),
        ("list_approvals", json!({}), 60),
        ("workshop_status", json!({}), 400),
        ("skill_workshop", json!({"action": "list_pending"}), 60),
        ("scan_skill", json!({"skill": "mail"}), 400),
    ] {
        let result = client.call(tool, arguments.clone());
        let cost = cost(&result);
        assert!(cost <= most, "{tool} {arguments} costs {cost} of {most}: {result}");
    }
}

/// Claude Code and Codex hand data to their model and drop the text beside it.
#[test]
fn a_skills_text_comes_once_and_as_text() {
    let machine = machine()
        .file("work/skills/run-doctor/references/log.md", "What a log is.\n")
        .file("work/skills/run-doctor/logo.bin", [0xff_u8, 0x00, 0xfe]);
    let mut client = Client::session(&machine, json!({}));
    let read = client.call("read_skill", json!({"name": "run-doctor"}));
    assert!(read.get("structuredContent").is_none(), "{read}");
    let text = read["content"][0]["text"].as_str().expect("a text");
    assert!(text.ends_with("Read the logs.\n"), "{text}");
    assert_eq!(read.to_string().matches("Read the logs.").count(), 1, "{read}");
    let about = read["content"][1]["text"].as_str().expect("a text");
    assert!(about.contains("references/log.md") && about.contains("location: "), "{about}");
    let cut = client.call("read_skill", json!({"name": "run-doctor", "max_bytes": 10}));
    assert_eq!(cut["content"][0]["text"].as_str().map(str::len), Some(10));
    assert!(cut["content"][1]["text"].as_str().is_some_and(|about| about.contains("cut: 10 of")));
    let bytes = client.call("read_skill", json!({"name": "run-doctor", "file": "logo.bin"}));
    assert_eq!(bytes["content"][0]["resource"]["blob"], "/wD+", "{bytes}");
}

/// The revisions before 2025-06-18 have no place for data, so it is text.
#[test]
fn an_older_client_gets_the_data_as_text() {
    let machine = machine();
    let mut client = Client::session_as(&machine, "tester", "2024-11-05");
    let found = client.call("find_skill", json!({"message": "merge two pdf files"}));
    assert!(found.get("structuredContent").is_none(), "{found}");
    let data = found["content"][1]["text"].as_str().expect("a text");
    let data: Value = serde_json::from_str(data).expect("JSON");
    assert_eq!(data["matches"][0]["name"], "PDF Tools");
}

fn prompts(client: &mut Client) -> Vec<String> {
    let listed = client.ask("prompts/list", json!({}))["prompts"].clone();
    let each = listed.as_array().into_iter().flatten();
    each.filter_map(|prompt| prompt["name"].as_str()).map(str::to_owned).collect()
}

/// Claude Code makes a slash command of each of its own skills; a prompt of the same name would be a
/// second one.
#[test]
fn a_skill_that_the_host_lists_itself_is_not_listed_twice() {
    let machine = || {
        TestMachine::new()
            .file(
                "home/.claude/skills/theirs/SKILL.md",
                "---\nname: theirs\ndescription: Known to Claude Code\n---\n# T\n",
            )
            .workspace_skill("ours", "")
    };
    let seen = |machine: &TestMachine, client: &str| {
        prompts(&mut Client::session_as(machine, client, super::client::SESSION))
    };
    let own = ["sinew_find", "sinew_review"];
    assert_eq!(seen(&machine(), "claude-code"), [own[0], own[1], "ours"]);
    assert_eq!(seen(&machine(), "tester"), [own[0], own[1], "ours", "theirs"]);
    let all = machine().file("home/.sinew/config.json5", "{mcp: {prompts: 'all'}}");
    assert_eq!(seen(&all, "claude-code"), [own[0], own[1], "ours", "theirs"]);
    let none = machine().file("home/.sinew/config.json5", "{mcp: {prompts: 'none'}}");
    assert_eq!(seen(&none, "tester"), own);
}

/// What an agent finds, reads and reports over MCP is counted with what hooks offered, and a hook that
/// sees the same call does not count it again.
#[test]
fn what_agents_do_with_these_tools_is_counted() {
    let machine = crate::hook::machine_with("{hook: {deadlineMs: 10000}}");
    let mut client = Client::session_as(&machine, "claude-code", super::client::SESSION);
    let message = "please resize this photo for the web";
    let found = client.call("find_skill", json!({"message": message}));
    assert_eq!(found["structuredContent"]["matches"][0]["name"], "photo-resizer", "{found}");
    client.call("read_skill", json!({"name": "photo-resizer"}));
    client.call("read_skill", json!({"name": "photo-resizer"}));
    client.call("find_skill", json!({"message": "zxqv wmpf"}));
    crate::hook::hook(&machine, "claude-code", crate::hook::prompt("thank you, go on"));
    let input = json!({"name": "photo-resizer"});
    let seen = crate::hook::tool("t1", "mcp__sinew__read_skill", input);
    crate::hook::hook(&machine, "claude-code", seen);
    crate::hook::hook(&machine, "claude-code", crate::hook::stop());
    crate::hook::settle(&machine);
    let report = json!({"skill": "photo-resizer", "task": message, "outcome": "success"});
    client.data("report_outcome", report);
    let usage = crate::support::json(&machine, &["usage"]);
    let row = &usage["rows"][0];
    let counts = ["offered", "brought", "read", "invoked", "worked", "failed", "from_offers"];
    let counts: Vec<u64> =
        counts.iter().map(|field| row[*field].as_u64().expect("a number")).collect();
    assert_eq!(
        (&row["name"], counts),
        (&json!("photo-resizer"), vec![1, 0, 1, 0, 1, 0, 1]),
        "{usage}"
    );
    assert!(row["characters"].as_u64() > Some(50), "{usage}");
    let by_agent = crate::support::json(&machine, &["usage", "--by", "agent"]);
    assert_eq!(by_agent["rows"][0]["name"], "claude-code", "{by_agent}");
    assert_eq!(by_agent["rows"].as_array().map(Vec::len), Some(1), "{by_agent}");
}

/// The server's instructions, as the first answer of a conversation has them.
fn instructions(machine: &TestMachine) -> String {
    use std::io::Write as _;

    let mut child = crate::support::command(machine, &["mcp"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("sinew runs");
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "tester", "version": "1"},
    }});
    let mut input = child.stdin.take().expect("its input");
    writeln!(input, "{hello}").expect("the server reads");
    drop(input);
    let output = child.wait_with_output().expect("sinew ends");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let first: Value = serde_json::from_str(text.lines().next().expect("a line")).expect("JSON");
    first["result"]["instructions"].as_str().expect("instructions").to_owned()
}

/// Instructions, the tool's description, what `find_skill` notes and the carried skill name one way to a
/// missing skill: `acquire_skill`, with the user's yes.
#[test]
fn every_text_names_the_same_way_to_a_missing_skill() {
    const CARRIED: &str = include_str!("../../../../sinew-engine/skills/sinew/SKILL.md");
    let machine = machine();
    let told = instructions(&machine);
    assert!(told.contains("On `none`"), "{told}");
    assert!(told.contains("acquire_skill, with one yes of the user"), "{told}");
    let mut client = Client::session(&machine, json!({}));
    let (tools, _) = tools(&mut client);
    let acquire = tools.iter().find(|tool| tool["name"] == "acquire_skill").expect("the tool");
    let about = acquire["description"].as_str().expect("a description");
    assert!(
        about.starts_with("When find_skill says none: propose a skill for approval"),
        "{about}"
    );
    // On a machine without any skill.
    let bare = TestMachine::new();
    let mut client = Client::session(&bare, json!({}));
    let message = "convert the invoices to a spreadsheet";
    let found = client.data("find_skill", json!({"message": message}));
    assert_eq!(found["decision"], "none", "{found}");
    assert!(found["notes"].to_string().contains("acquire_skill can look for one"), "{found}");
    let carried = CARRIED.split_once("Nothing fits").expect("what to do then").1;
    let carried = carried.split("\n\n").next().expect("a paragraph");
    assert!(carried.contains("`sinew acquire") && carried.contains("`acquire_skill`"), "{carried}");
}
