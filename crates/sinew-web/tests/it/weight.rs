//! Pages stay light however many skills there are. How long each took is printed, not judged.

use std::time::Instant;

use serde_json::json;

use crate::support::Server;

/// What a page may weigh.
const MOST: usize = 100_000;

/// Words for descriptions, so that skills differ.
const WORDS: [&str; 16] = [
    "picture", "mail", "invoice", "report", "harbour", "tide", "meeting", "commit", "review",
    "ticket", "customer", "price", "chart", "photo", "travel", "budget",
];

fn word(at: usize) -> &'static str {
    WORDS[at % WORDS.len()]
}

#[allow(clippy::print_stdout, reason = "how long a page takes is told, not asserted")]
#[tokio::test]
async fn pages_stay_light_with_a_thousand_skills() {
    let server = Server::new();
    for at in 0..150 {
        let report = json!({
            "skill": format!("skill-{at:04}"), "region": format!("region-{}", at / 6),
            "version": "1.0", "outcome": "success",
        });
        assert_eq!(server.post("/outcomes", &report).await.status, 201);
    }
    for at in 0..20 {
        let draft = json!({
            "skillName": format!("note-{at}"), "description": format!("Write note {at}"),
            "body": "- First\n- Second",
        });
        server.post("/proposals", &draft).await;
    }
    // The skills come last: everything before is asked with few of them, and so quickly.
    for at in 0..1_000 {
        let description: Vec<&str> = (0..30).map(|by| word(at * 7 + by * by + at / 16)).collect();
        // Some cannot be used, as on a real machine, and their reasons are long.
        let needs = match at % 10 {
            0 => {
                "metadata: {openclaw: {requires: {bins: [a-program-that-is-missing], env: [SOME_TOKEN]}}}"
            }
            _ => "tags: [sample]",
        };
        let text = format!(
            "---\nname: skill-{at:04}\ndescription: {}\n{needs}\n---\n\n# Skill {at}\n\n1. Do it\n",
            description.join(" ")
        );
        server.machine.write(&format!("work/skills/skill-{at:04}/SKILL.md"), text);
    }
    // A single skill can be long, too.
    let long = "<b>&amp;\"'</b> and so on\n".repeat(8_000);
    let text = format!("---\nname: long\ndescription: Very long\n---\n\n{long}");
    server.machine.write("work/skills/long/SKILL.md", text);
    let browser = server.browser().await;
    let compare = "/route?message=the+pictures+are+too+heavy&skill=skill-0007&first=Bake+bread&second=Make+pictures+small";
    let mut heavy = Vec::new();
    for path in [
        "/",
        "/skills",
        "/skills?page=9",
        "/skills?q=photo",
        "/skills?state=needs-setup",
        "/skills/skill-0007",
        "/skills/long",
        "/route",
        "/route?message=the+pictures+are+too+heavy+for+a+mail",
        compare,
        "/cortex",
        "/workshop",
        "/traces",
        "/hub",
        "/activity",
        "/health",
        "/agents/claude-code",
    ] {
        browser.get(path).await;
        let began = Instant::now();
        let page = browser.get(path).await;
        let took = began.elapsed();
        assert_eq!(page.status, 200, "{path}: {}", page.text);
        println!("{path}: {} bytes, {:.1} ms", page.text.len(), took.as_secs_f64() * 1000.0);
        if page.text.len() > MOST {
            heavy.push(format!("{path}: {} bytes", page.text.len()));
        }
    }
    assert!(heavy.is_empty(), "{heavy:?}");
}
