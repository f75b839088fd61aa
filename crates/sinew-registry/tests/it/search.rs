//! Searching and listing, and servers that share a database.

use serde_json::{Value, json};
use sinew_registry::TokenRole;

use super::support::Team;

fn slugs(rows: &Value) -> Vec<String> {
    let rows = rows.as_array().expect("rows");
    rows.iter().filter_map(|row| row["slug"].as_str().map(str::to_owned)).collect()
}

fn market() -> (Team, String) {
    let team = Team::new();
    let token = team.token(TokenRole::Publish, "alice");
    for (slug, about) in [
        ("pdf-merge", "Joins several documents into one file"),
        ("invoice-reader", "Reads totals and dates from PDF invoices"),
        ("weather", "Tells the forecast for a city"),
        ("weather-alerts", "Warns of storms before they come"),
    ] {
        let text = format!("---\nname: {slug}\ndescription: {about}\n---\n# Use\n\nDo it.\n");
        team.publish(&token, slug, "1.0.0", &[("SKILL.md", text.as_bytes())]).json();
        team.clock.pass(1);
    }
    (team, token)
}

#[test]
fn the_best_comes_first() {
    let (team, token) = market();
    let search = |query: &str| {
        slugs(&team.get(&format!("/api/v1/search?q={query}"), &token).json()["results"])
    };
    assert_eq!(search("weather"), ["weather", "weather-alerts"]);
    assert_eq!(search("Weather%20Alerts")[0], "weather-alerts");
    assert_eq!(search("pdf"), ["pdf-merge", "invoice-reader"]);
    assert_eq!(search("invoices")[0], "invoice-reader");
    assert_eq!(search("storm"), ["weather-alerts"]);
    assert_eq!(search("documen"), ["pdf-merge"]);
    assert_eq!(search("zzz"), Vec::<String>::new());
    assert_eq!(search(""), Vec::<String>::new());
    assert_eq!(search("%F0%9F%98%80"), Vec::<String>::new());
    assert_eq!(search("weather&mode=exact"), ["weather"]);
    assert_eq!(search("@alice/weather&mode=exact"), ["weather"]);
    assert_eq!(search("weather&limit=1"), ["weather"]);
    assert_eq!(search("weather&highlightedOnly=true"), Vec::<String>::new());
    team.get("/api/v1/search?q=x&mode=fuzzy", &token).refused(400, "Invalid search mode");
}

#[test]
fn other_words_find_it_too() {
    let (team, token) = market();
    let about =
        "---\nname: image-resizer\ndescription: Makes images smaller\n---\n# Use\n\nDo it.\n";
    team.publish(&token, "image-resizer", "1.0.0", &[("SKILL.md", about.as_bytes())]).json();
    let search = |query: &str| {
        slugs(&team.get(&format!("/api/v1/search?q={query}"), &token).json()["results"])
    };
    for query in ["shrink+pictures", "Bilder+verkleinern", "reduce+photo+size"] {
        assert_eq!(search(query), ["image-resizer"], "{query}");
    }
    assert_eq!(search("will+it+rain+tomorrow")[0], "weather");
    // An exact name comes before a similar meaning, and nonsense finds nothing.
    assert_eq!(search("image-resizer")[0], "image-resizer");
    for query in ["qwertyuiop", "hello+there", "12345"] {
        assert_eq!(search(query), Vec::<String>::new(), "{query}");
    }
    // What is taken back is not found by meaning either.
    team.send("DELETE", "/api/v1/skills/image-resizer", &token, &[], b"").json();
    assert_eq!(search("shrink+pictures"), Vec::<String>::new());
}

/// Every field of the upstream registry is there, in its order.
#[test]
fn a_row_says_what_the_upstream_registry_says() {
    let (team, token) = market();
    let mut found = team.get("/api/v1/search?q=storm", &token).json();
    found["results"][0]["id"] = "ID".into();
    let text = serde_json::to_string_pretty(&found).expect("JSON");
    insta::assert_snapshot!(text.replace(&team.url(""), "BASE"));
}

#[test]
fn a_score_can_be_explained() {
    let (team, token) = market();
    let found = team.get("/api/v1/search?q=weather&explain=1", &token).json();
    assert!(found["formula"].as_str().is_some_and(|text| text.contains("idf")));
    let row = &found["results"][0];
    assert!(row["explain"]["meaning"].as_f64().is_some_and(|meaning| meaning > 0.0));
    let sum: f64 = ["words", "meaning", "name", "popularity"]
        .iter()
        .filter_map(|part| row["explain"][part].as_f64())
        .sum();
    assert!((sum - row["score"].as_f64().expect("a score")).abs() < 1e-3);
}

#[test]
fn lists_come_in_pages() {
    let (team, token) = market();
    let list = |query: &str| team.get(&format!("/api/v1/skills?{query}"), &token).json();
    let newest = ["weather-alerts", "weather", "invoice-reader", "pdf-merge"];
    assert_eq!(slugs(&list("")["items"]), newest);
    let first = list("limit=3&sort=name");
    assert_eq!(slugs(&first["items"]), ["invoice-reader", "pdf-merge", "weather"]);
    let rest =
        list(&format!("limit=3&sort=name&cursor={}", first["nextCursor"].as_str().expect("more")));
    assert_eq!(
        (slugs(&rest["items"]), &rest["nextCursor"]),
        (vec!["weather-alerts".to_owned()], &Value::Null)
    );
    assert_eq!(slugs(&list("prefix=weather")["items"]), ["weather", "weather-alerts"]);
    team.post("/api/v1/stars/weather", &token, &json!({})).json();
    assert_eq!(slugs(&list("sort=stars")["items"])[0], "weather");
    for bad in ["sort=best", "cursor=x", "prefix=../x"] {
        assert_eq!(team.get(&format!("/api/v1/skills?{bad}"), &token).status, 400, "{bad}");
    }
    assert_eq!(
        team.get("/api/v1/trending?kind=skills&limit=2", &token).json()["items"][0]["slug"],
        "weather"
    );
}

#[test]
fn stars_are_counted_once_for_each_person() {
    let (team, alice) = market();
    let bob = team.token(TokenRole::Read, "bob");
    let star = |token: &str| team.post("/api/v1/stars/weather", token, &json!({})).json();
    assert_eq!(star(&alice)["alreadyStarred"], false);
    assert_eq!(star(&alice)["alreadyStarred"], true);
    star(&bob);
    let stars =
        || team.get("/api/v1/skills/weather", &bob).json()["skill"]["stats"]["stars"].clone();
    assert_eq!(stars(), 2);
    let unstar = || team.send("DELETE", "/api/v1/stars/weather", &bob, &[], b"").json();
    assert_eq!(unstar()["alreadyUnstarred"], false);
    assert_eq!(unstar()["alreadyUnstarred"], true);
    assert_eq!(stars(), 1);
}

#[test]
fn verdicts_on_many_at_once() {
    let (team, token) = market();
    let ask = |items: Value| {
        team.post("/api/v1/skills/-/security-verdicts", &token, &json!({ "items": items }))
    };
    let answer = ask(json!([
        { "slug": "weather", "version": "1.0.0" },
        { "slug": "weather", "version": "9.9.9" },
        { "slug": "unheard-of", "version": "1.0.0", "ownerHandle": "alice" },
    ]))
    .json();
    assert_eq!(answer["schema"], "clawhub.skill.security-verdicts.v1");
    let items = answer["items"].as_array().expect("items");
    let shown: Vec<(&Value, &Value)> = items.iter().map(|i| (&i["ok"], &i["reasons"])).collect();
    let missing = json!(["version.not_found"]);
    assert_eq!(shown[0], (&json!(true), &json!([])));
    assert_eq!(shown[1], (&json!(false), &missing));
    assert_eq!(shown[2], (&json!(false), &missing));
    ask(json!([])).refused(400, "1 to 100");
    let same = json!({ "slug": "weather", "version": "1.0.0" });
    ask(json!([same, same])).refused(400, "1 to 100");
    let verify = team.get("/api/v1/skills/weather/verify", &token).json();
    assert_eq!((&verify["ok"], &verify["decision"]), (&json!(true), &json!("pass")));
    let card = team.get("/api/v1/skills/weather/card", &token);
    assert_eq!(verify["card"]["sha256"], sinew_skill::content_hash(&card.body));
}

#[test]
fn servers_that_share_a_database_see_each_others_skills() {
    let (team, token) = market();
    let (_registry, other) = team.another();
    team.publish_text(&token, "late-comer", "1.0.0", "hello").json();
    let agent: ureq::Agent =
        ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let ask = |path: &str| -> Value {
        let url = format!("{}/registry{path}", other.origin());
        let request = agent.get(&url).header("authorization", format!("Bearer {token}"));
        let text = request.call().expect("an answer").body_mut().read_to_string().expect("text");
        serde_json::from_str(&text).expect("JSON")
    };
    assert_eq!(ask("/api/v1/skills/late-comer")["skill"]["slug"], "late-comer");
    // The index of the other server follows after a while, without a restart.
    let mut found = Vec::new();
    for _ in 0..100 {
        found = slugs(&ask("/api/v1/search?q=late-comer")["results"]);
        if !found.is_empty() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert_eq!(found, ["late-comer"]);
}
