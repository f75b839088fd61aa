//! Searching: which sources are searched, and what each row says about itself.

use sinew_hub::{NameMatching, RegistryHits, RegistryQuery, SearchSources};
use sinew_testkit::{SiteAnswer, TestSite, skill_text};

use crate::support::{World, refused};

fn query(words: &str, sources: SearchSources) -> RegistryQuery {
    RegistryQuery {
        words: words.to_owned(),
        keywords: None,
        sources,
        matching: NameMatching::Words,
        limit: 10,
    }
}

fn references(found: &RegistryHits) -> Vec<(&str, bool)> {
    found.candidates.iter().map(|c| (c.reference.as_str(), c.reviewed)).collect()
}

fn world() -> World {
    let world = World::new();
    world.clawhub.publish_simple("ada", "tides", "1.0.0");
    world.clawhub.publish_simple("bob", "tides", "2.0.0");
    world.clawhub.publish_simple("ada", "winds", "1.0.0");
    let text = skill_text("winds", "Tells the winds");
    world.github.commit("eve/skills", "main", &[("skills/winds/SKILL.md", &text)]);
    world
}

#[test]
fn too_little_that_fits_is_filled_up_with_unreviewed_rows() {
    let world = world();
    // Two fit, so no other source is searched; one slug of two owners gives two rows.
    let found = world.hub().search(&query("tides", SearchSources::Usual), &|_| true).unwrap();
    assert_eq!(references(&found), [("@ada/tides", true), ("@bob/tides", true)]);
    assert!(!found.supplemented && world.github.requests().is_empty());
    // One fits: the rest is marked.
    let found = world.hub().search(&query("winds", SearchSources::Usual), &|_| true).unwrap();
    assert_eq!(references(&found), [("@ada/winds", true), ("skills-sh:eve/skills/winds", false)]);
    assert_eq!((found.relevant, found.supplemented), (1, true));
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!(json["candidates"][1]["reviewed"], false);
    // Two rows that do not fit do not count.
    let found = world.hub().search(&query("tides", SearchSources::Usual), &|_| false).unwrap();
    assert_eq!((found.relevant, found.supplemented), (0, true));
}

#[test]
fn github_itself_is_searched_where_a_token_is_allowed() {
    let world = world().var("GITHUB_TOKEN", "ghp_x").config("{hub: {github: {useToken: true}}}");
    let found = world.hub().search(&query("winds", SearchSources::GitHub), &|_| true).unwrap();
    assert_eq!(references(&found), [("github:eve/skills/skills/winds", false)]);
    assert_eq!(found.candidates[0].stars, Some(12));
    let all = world.hub().search(&query("winds", SearchSources::All), &|_| true).unwrap();
    assert_eq!(
        references(&all),
        [
            ("@ada/winds", true),
            ("github:eve/skills/skills/winds", false),
            ("skills-sh:eve/skills/winds", false)
        ]
    );
}

#[test]
fn exact_names_and_prefixes() {
    let world = world();
    let with =
        |words: &str, matching| RegistryQuery { matching, ..query(words, SearchSources::Usual) };
    let found = world.hub().search(&with("winds", NameMatching::Exact), &|_| true).unwrap();
    assert_eq!(references(&found), [("@ada/winds", true)]);
    let found = world.hub().search(&with("ti", NameMatching::Prefix), &|_| true).unwrap();
    assert_eq!(references(&found), [("@ada/tides", true), ("@bob/tides", true)]);
    assert!(world.github.requests().is_empty());
}

#[test]
fn one_source_that_fails_is_a_line_and_none_that_answers_is_an_error() {
    let world = world().var("SKILLS_API_URL", "http://127.0.0.1:1");
    let found = world.hub().search(&query("winds", SearchSources::Usual), &|_| true).unwrap();
    assert_eq!(references(&found), [("@ada/winds", true)]);
    assert!(
        found.diagnostics.iter().any(|line| line.contains("127.0.0.1:1")),
        "{:?}",
        found.diagnostics
    );
    assert_eq!(
        refused(world.hub().search(&query("winds", SearchSources::SkillsSh), &|_| true)).0,
        "network"
    );
    let unknown = world
        .hub()
        .search(&query("winds", SearchSources::Registry("unknown".to_owned())), &|_| true);
    assert_eq!(refused(unknown).0, "bad-reference");
}

#[test]
fn a_bad_row_is_named_and_the_others_are_taken() {
    let rows = serde_json::json!({"results": [
        {"score": 1, "slug": "good", "ownerHandle": "ada", "unknown": {"x": 1}},
        {"score": "high", "slug": "bad"},
        {"score": 1, "slug": "odd", "source": "somewhere"},
        {"score": 1, "slug": "odder", "install": {"kind": "pigeon"}},
        {"score": 1, "slug": "../up", "ownerHandle": "ada"},
        {"score": 1, "slug": "good", "ownerHandle": "bob", "summary": 7},
    ]});
    let site = TestSite::new(move |_| SiteAnswer::json(&rows));
    let world = World::new().var("SINEW_REGISTRY", site.address());
    let found = world
        .hub()
        .search(&query("x", SearchSources::Registry("clawhub".to_owned())), &|_| true)
        .unwrap();
    assert_eq!(references(&found), [("@ada/good", true)]);
    let diagnostics = found.diagnostics.join("\n");
    for part in ["results[1].score", "results[5].summary", "odd", "odder", "../up"] {
        assert!(diagnostics.contains(part), "{part}: {diagnostics}");
    }
}
