//! Names, slips of the fingers, and what a message demands beside its task.

use sinew_route::{RouteContext, RouteDecision, RouteDocument, Router, UserMessage};

use crate::support::{ask, corpus_skills, has_models, names, router};

fn with(more: &[(&str, &str)]) -> Router {
    let mut skills = corpus_skills();
    let described =
        |(name, about): &(&str, &str)| RouteDocument::from_description(name, name, about);
    skills.extend(more.iter().map(described));
    router(&skills)
}

#[test]
fn a_product_that_the_message_names_beats_its_neighbours() {
    let shops = with(&[
        ("shopware-orders", "Look up orders, customers and refunds of a web shop and export them"),
        (
            "magento-orders",
            "Look up orders, customers and refunds of a web shop, export them, and more orders",
        ),
        ("shop-reports", "Reports about orders, customers, refunds and returns of any web shop"),
    ]);
    for text in [
        "export all refunds of last week from our shopware shop",
        "export all refunds of last week from our shopwaer shop",
        "can you look in shopwre which customers got refunds and export the orders",
    ] {
        let found = ask(&shops, text);
        assert_eq!(names(&found)[0], "shopware-orders", "{text}");
        assert!(found.matches[0].parts.rare.value() > 0.0, "{text}");
    }
}

#[test]
fn a_misspelt_word_is_the_word_of_the_catalog_and_an_ordinary_one_is_not() {
    let deploy = with(&[("kubernetes-rollback", "Roll a deployment in Kubernetes back")]);
    let term = |text: &str| {
        let message = UserMessage::from_user(text);
        let told = deploy.explain(&message, "kubernetes-rollback", &RouteContext::default());
        let told = told.expect("indexed").skill;
        told.terms.iter().any(|term| term.term == "kubernet")
    };
    assert!(term("the kubernetes thing is stuck"));
    if has_models() {
        assert!(term("the kuberentes thing is stuck"));
        assert!(term("the kubernets thing is stuck"));
    }
    let launch = with(&[("launch-plan", "Plan the launch of a product")]);
    let told = launch
        .explain(
            &UserMessage::from_user("where do we go for lunch"),
            "launch-plan",
            &RouteContext::default(),
        )
        .expect("indexed");
    assert!(told.skill.terms.is_empty(), "{:?}", told.skill.terms);
}

#[test]
fn an_online_service_is_never_a_match_for_a_user_without_network() {
    let speech = with(&[
        (
            "cloud-voice",
            "Transcribe speech and recordings with an online service; needs an API key",
        ),
        ("whisper-local", "Transcribe speech and recordings offline on this machine"),
    ]);
    for text in [
        "transcribe this recording, but offline",
        "transcribe this recording without internet",
        "transcribe the speech in here, no cloud please",
        "Transkribiere diese Aufnahme (recording), aber ohne Internet",
    ] {
        let found = ask(&speech, text);
        let place = |name: &str| names(&found).iter().position(|one| *one == name);
        assert!(
            place("whisper-local") < place("cloud-voice").or(Some(99)),
            "{text}: {:?}",
            names(&found)
        );
        let online = found.matches.iter().find(|one| one.name == "cloud-voice");
        assert!(online.is_none_or(|one| one.probability <= 0.5), "{text}");
    }
    let alone = with(&[(
        "cloud-voice",
        "Transcribe speech and recordings with an online service and an API key",
    )]);
    let found = ask(&alone, "transcribe this recording, but offline");
    assert_ne!(found.decision, RouteDecision::Match);
}

#[test]
fn what_the_message_refuses_comes_after_the_others() {
    let posts = with(&[
        ("slack-notify", "Post a message to a channel of the team in Slack"),
        ("mattermost-notify", "Post a message to a channel of the team in Mattermost"),
    ]);
    for text in [
        "post the release note to the team channel, not slack",
        "post the release note to the team channel without slack",
        "post the release note to the team channel, anything but Slack",
    ] {
        let found = ask(&posts, text);
        let place = |name: &str| names(&found).iter().position(|one| *one == name).unwrap_or(99);
        assert!(place("mattermost-notify") < place("slack-notify"), "{text}: {:?}", names(&found));
    }
    let found = ask(&posts, "post the release note to the team channel in slack");
    let place = |name: &str| names(&found).iter().position(|one| *one == name).unwrap_or(99);
    assert!(place("slack-notify") < place("mattermost-notify"), "{:?}", names(&found));
}

#[test]
fn a_short_list_is_as_long_as_its_mass_and_never_shows_nothing() {
    for text in [
        "shrink these photos so i can email them",
        "what should I do with this spreadsheet",
        "plan my trip and book it",
        "write something about the meeting",
    ] {
        let found = ask(crate::support::corpus_router(), text);
        let offered = &found.matches[..found.offered];
        assert!(offered.iter().all(|one| one.probability >= 0.01), "{text}");
        if found.decision == RouteDecision::Shortlist && found.offered > 2 {
            let held: f64 = offered[..found.offered - 1].iter().map(|one| one.probability).sum();
            let all: f64 = found.matches.iter().map(|one| one.probability).sum();
            assert!(held < all, "{text}");
            assert!(offered.iter().all(|one| one.probability >= 0.04), "{text}");
        }
    }
}
