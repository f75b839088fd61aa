//! The gates: copies, stolen messages, the prompt's budget, and the shape of a text.

use serde_json::json;
use sinew_settings::Actor;
use sinew_workshop::{
    ApplyConsent, DuplicateVerdict, ProposalUpdate, StoredQuery, TriggerQueries, TriggerVerdict,
};

use crate::bench::{Bench, PERSON, agent, append, create, draft, replace};
use sinew_workshop::{ProposalChange, ProposalRequest};

const GIF: &str = "Verify the source of an animated GIF, count its frames, and record attribution before it is posted to the channel.";
const NEAR: &str =
    "Before an animated GIF is posted, count its frames and record attribution for the source.";

fn bench_with_gif(config: serde_json::Value) -> Bench {
    let bench = Bench::with(config);
    let skill = |name: &str, body: &str| {
        format!("---\nname: {name}\ndescription: About {name}\n---\n\n{body}\n")
    };
    bench.write("skills/gif-checks/SKILL.md", &skill("gif-checks", GIF));
    bench.write("skills/ledger/SKILL.md", &skill("ledger", "Book invoices and close the month."));
    bench.write("skills/soup/SKILL.md", &skill("soup", "Chop onions and simmer the stock."));
    bench
}

#[test]
fn a_copy_is_refused_and_a_near_copy_waits() {
    let bench = bench_with_gif(json!({"approvalPolicy": "auto"}));
    let error = bench.suggest(&create("gif-two", GIF), agent()).unwrap_err().to_string();
    assert_eq!(error, "identical to the skill gif-checks");
    let made = bench.suggest(&create("gif-two", NEAR), agent()).expect("queued").proposal;
    assert_eq!(made.status.as_str(), "pending", "the policy would write it");
    let duplicate = made.gates.duplicate.expect("a verdict");
    assert_eq!(duplicate.verdict, DuplicateVerdict::AppendTo);
    assert_eq!(duplicate.near[0].skill, "gif-checks");
    assert_eq!(duplicate.near[0].name_words, ["gif"]);
}

#[test]
fn not_a_duplicate_is_remembered() {
    let bench = bench_with_gif(json!({}));
    let made = bench.suggest(&create("gif-two", NEAR), agent()).expect("queued").proposal;
    let told = ApplyConsent { not_a_duplicate: true, ..ApplyConsent::default() };
    bench.shop(|shop| shop.apply(&made.id, &PERSON, &told)).expect("written");
    bench
        .shop(|shop| {
            shop.undo(&sinew_workshop::UndoTarget::Id(made.id), Default::default(), &PERSON)
        })
        .expect("undone");
    let made = bench.suggest(&create("gif-two", NEAR), agent()).expect("queued").proposal;
    assert_eq!(made.gates.duplicate.expect("a verdict").verdict, DuplicateVerdict::New);
}

#[test]
fn the_duplicate_gate_blocks_or_stays_quiet_as_configured() {
    let bench = bench_with_gif(json!({"duplicateGate": "block"}));
    let error = bench.suggest(&create("gif-two", NEAR), agent()).unwrap_err().to_string();
    assert!(error.starts_with("too close to the skill gif-checks"), "{error}");
    let bench = bench_with_gif(json!({"duplicateGate": "off", "approvalPolicy": "auto"}));
    let made = bench.suggest(&create("gif-two", NEAR), agent()).expect("written").proposal;
    assert_eq!((made.status.as_str(), made.gates.duplicate), ("applied", None));
    // An addition to a skill that exists is no duplicate of another.
    let bench = bench_with_gif(json!({}));
    let made = bench.suggest(&append("soup", GIF), agent()).expect("queued").proposal;
    assert_eq!(made.gates.duplicate, None);
}

fn stored(query: &str, skill: &str, should_trigger: bool) -> StoredQuery {
    StoredQuery { query: query.to_owned(), skill: skill.to_owned(), should_trigger }
}

/// Two skills with messages of their own.
fn bench_with_queries(config: serde_json::Value) -> Bench {
    let mut bench = Bench::with(config);
    for (name, description) in [
        (
            "photo-shrinker",
            "Resize and compress photos and other pictures that are too large to send.",
        ),
        ("meeting-mover", "Move meetings in the calendar and tell the people who are invited."),
    ] {
        bench.write(
            &format!("skills/{name}/SKILL.md"),
            &format!("---\nname: {name}\ndescription: {description}\n---\n\n# {name}\n"),
        );
    }
    bench.queries = vec![
        stored("these photos are too large to send, compress them", "photo-shrinker", true),
        stored("resize the pictures so that I can send them", "photo-shrinker", true),
        stored("move my meeting to friday", "meeting-mover", true),
    ];
    bench
}

fn described(name: &str, description: &str, queries: TriggerQueries) -> ProposalRequest {
    let change = ProposalChange::Create {
        description: description.to_owned(),
        body: format!("- Ask first what is wanted of {name}."),
        files: Default::default(),
        generated: None,
    };
    ProposalRequest { queries, ..draft(name, change) }
}

#[test]
fn a_copied_description_steals_and_is_not_written_unasked() {
    let bench = bench_with_queries(json!({"approvalPolicy": "auto"}));
    let copied = described(
        "photos-resize-compress-pictures",
        "Resize and compress photos and other pictures that are too large to send. Resize pictures, compress photos.",
        TriggerQueries::default(),
    );
    let made = bench.suggest(&copied, agent()).expect("queued").proposal;
    let trigger = made.gates.trigger.clone().expect("a verdict");
    assert_eq!(trigger.verdict, TriggerVerdict::Steals, "{trigger:?}");
    assert!(trigger.stolen.iter().all(|stolen| stolen.from == "photo-shrinker"));
    assert_eq!(made.status.as_str(), "pending");
    let apply =
        |by: &Actor, consent: &ApplyConsent| bench.shop(|shop| shop.apply(&made.id, by, consent));
    assert!(apply(&agent(), &ApplyConsent::default()).is_err());
    let error = apply(&PERSON, &ApplyConsent::default()).unwrap_err().to_string();
    assert!(error.contains("photo-shrinker") && error.contains("photos"), "{error}");
    let seen = ApplyConsent { accept_stolen: true, ..ApplyConsent::default() };
    apply(&PERSON, &seen).expect("a person may, once they have seen it");
}

#[test]
fn a_description_of_its_own_takes_nothing() {
    let bench = bench_with_queries(json!({"approvalPolicy": "auto"}));
    let own = TriggerQueries {
        positive: vec![
            "translate this contract into Spanish".to_owned(),
            "I need the contract in Spanish".to_owned(),
            "Spanish version of the contract please".to_owned(),
        ],
        near_miss: vec![
            "move my meeting with the Spanish team".to_owned(),
            "shrink the photos of Spain".to_owned(),
        ],
    };
    let made = described(
        "contract-translation",
        "Translate contracts into Spanish and other languages.",
        own.clone(),
    );
    let made = bench.suggest(&made, agent()).expect("written").proposal;
    let trigger = made.gates.trigger.expect("a verdict");
    assert_eq!(trigger.verdict, TriggerVerdict::Ok, "{trigger:?}");
    assert_eq!(trigger.gained.len(), 3);
    assert_eq!(made.status.as_str(), "applied");
    // Its messages count from now on: a copy of it would take them.
    let thief = described(
        "spanish-contracts",
        "Translate contracts into Spanish and other languages. Spanish contract translation.",
        TriggerQueries::default(),
    );
    let made = bench.suggest(&thief, agent()).expect("queued").proposal;
    assert_eq!(made.gates.trigger.expect("a verdict").verdict, TriggerVerdict::Steals);
}

#[test]
fn too_few_messages_do_not_block_and_an_unchanged_description_is_not_asked_about() {
    let bench = bench_with_queries(json!({"approvalPolicy": "auto"}));
    let few =
        described("tax-letters", "Answer letters of the tax office.", TriggerQueries::default());
    let made = bench.suggest(&few, agent()).expect("written").proposal;
    assert_eq!(made.gates.trigger.expect("a verdict").verdict, TriggerVerdict::Insufficient);
    assert_eq!(made.status.as_str(), "applied");
    let made =
        bench.suggest(&append("tax-letters", "- Keep copies."), agent()).expect("written").proposal;
    assert_eq!(made.gates.trigger, None);
    let changed = replace(
        "tax-letters",
        "Answer letters of the tax office.",
        "Resize photos too large to send, compress pictures.",
    );
    let made = bench.suggest(&changed, agent()).expect("queued").proposal;
    assert!(made.gates.trigger.is_some(), "a changed description is");
}

#[test]
fn messages_that_no_skill_should_match_are_noise() {
    let mut bench = bench_with_queries(json!({}));
    bench.queries.push(stored("how old is the universe", "photo-shrinker", false));
    let made = described(
        "universe-age",
        "How old is the universe? Answers about the age of the universe.",
        TriggerQueries::default(),
    );
    let made = bench.suggest(&made, agent()).expect("queued").proposal;
    let trigger = made.gates.trigger.expect("a verdict");
    assert_eq!((trigger.verdict, trigger.noise.len()), (TriggerVerdict::Steals, 1));
}

#[test]
fn a_skill_that_costs_another_its_place_is_not_written_unasked() {
    let mut bench = Bench::with(json!({"approvalPolicy": "auto"}));
    bench.pushed_out = vec!["weather".to_owned()];
    let ProposalUpdate { proposal, .. } =
        bench.suggest(&create("notes", "- a"), agent()).expect("queued");
    assert_eq!(proposal.status.as_str(), "pending");
    assert_eq!(proposal.gates.prompt_budget, ["weather"]);
    bench.apply(&proposal.id).expect("a person may");
}

#[test]
fn a_retelling_is_remarked_upon() {
    let bench = Bench::new();
    let told = "The user asked for a GIF. I searched the web and it was broken. Then we tried another one.";
    let made = bench.suggest(&create("notes", told), agent()).expect("queued").proposal;
    assert_eq!(made.gates.shape, ["shape-transcript"]);
    let made =
        bench.suggest(&create("notes", "- Check the GIF."), agent()).expect("queued").proposal;
    assert!(made.gates.shape.is_empty());
}
