//! Several learned skills change together: an old one is divided, and the curator joins, rewrites and retires.

use std::collections::BTreeMap;

use sinew_workshop::{
    ApplyConsent, Proposal, ProposalChange, TrialRecord, UndoForce, UndoTarget, WorkshopError,
};

use crate::bench::{Bench, PERSON, agent, draft};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

fn rule(name: &str, rule: &str, groups: &[&str]) -> sinew_workshop::ProposalRequest {
    let groups: Vec<String> = groups.iter().map(|group| (*group).to_owned()).collect();
    draft(
        name,
        ProposalChange::Rule {
            rule: rule.to_owned(),
            when: "doing this".to_owned(),
            description: format!("Use when doing this: {rule}"),
            groups,
            day: "2026-11-12".to_owned(),
            asked: String::new(),
        },
    )
}

/// Teaches rules that a person agrees to at once.
fn taught(bench: &Bench, name: &str, groups: &[&str], rules: &[&str]) {
    for said in rules {
        let made = bench.suggest(&rule(name, said, groups), PERSON).expect("a proposal");
        let consent = ApplyConsent { accept_stolen: true, ..ApplyConsent::default() };
        bench.shop(|shop| shop.apply(&made.proposal.id, &PERSON, &consent)).expect("applied");
    }
}

fn tend(bench: &Bench) -> Vec<Proposal> {
    bench.shop(|shop| shop.tend(&PERSON)).expect("a report").proposals
}

/// What captures of before left: a title in a title, the same reminders under every correction.
fn old_file() -> String {
    let one = |said: &str| {
        format!("# Learned Workflows\n\n## Workflow\n\n- {said}\n- Verify it.\n- Keep it short.\n")
    };
    format!(
        "---\nname: learned-workflows\ndescription: Reusable workflow notes for repeatable tasks.\n---\n\n{}\n{}\n{}",
        one("never push to main, open a pull request"),
        one("commit messages start with the ticket number"),
        one("two hashtags at most when you post on instagram"),
    )
}

#[test]
fn an_old_home_of_everything_becomes_skills_in_one_proposal() {
    let bench = Bench::new();
    bench.write("skills/learned-workflows/SKILL.md", &old_file());
    let made = bench.shop(|shop| shop.split("learned-workflows", &PERSON)).expect("a split");
    let made = made.expect("a proposal").proposal;
    assert_eq!((made.change.kind(), made.status.as_str()), ("reshape", "pending"));
    assert_eq!(bench.files(), ["skills/learned-workflows/SKILL.md"], "nothing moved yet");
    assert!(made.evidence.iter().any(|line| line.contains("hashtags")), "{made:?}");

    let again = bench.shop(|shop| shop.split("learned-workflows", &PERSON)).expect("a split");
    assert!(again.is_none(), "the same question is asked once");
    let refused = bench.shop(|shop| shop.apply(&made.id, &agent(), &ApplyConsent::default()));
    assert!(matches!(refused, Err(WorkshopError::NeedsApproval { .. })));

    bench.apply(&made.id).expect("applied");
    assert_eq!(bench.skill("learned-workflows"), "");
    let git = bench.skill("our-git");
    assert!(git.contains("\n## Rules\n"), "{git}");
    // Oldest first, each once, and no reminder.
    let bullets: Vec<&str> = git.lines().filter(|line| line.starts_with("- ")).collect();
    assert_eq!(
        bullets,
        [
            "- commit messages start with the ticket number",
            "- never push to main, open a pull request"
        ]
    );
    assert_eq!(git.lines().filter(|line| line.starts_with("# ")).count(), 1);
    assert!(git.contains("\"sinew-taught\":\"git\""), "{git}");
    assert!(bench.skill("our-social-media").contains("two hashtags at most"));

    // What was divided is the workshop's own: the next rule may go there.
    taught(&bench, "our-git", &["git"], &["sign every tag"]);
    assert!(bench.skill("our-git").contains("- sign every tag"));
    let last = bench.shop(|shop| shop.history("our-git")).expect("versions");
    assert_eq!(last.len(), 2, "the split is part of its history");
    bench
        .shop(|shop| shop.undo(&UndoTarget::Skill("our-git".into()), UndoForce::No, &PERSON))
        .expect("undone");
    bench.shop(|shop| shop.undo(&UndoTarget::Id(made.id), UndoForce::No, &PERSON)).expect("undone");
    assert_eq!(bench.skill("learned-workflows"), old_file());
    assert_eq!(bench.files(), ["skills/learned-workflows/SKILL.md"]);
}

#[test]
fn a_file_that_changed_after_the_question_is_left_alone() {
    let bench = Bench::new();
    bench.write("skills/learned-workflows/SKILL.md", &old_file());
    let made = bench.shop(|shop| shop.split("learned-workflows", &PERSON)).expect("a split");
    let made = made.expect("a proposal").proposal;
    let changed = old_file().replace("ticket number", "ticket's number");
    bench.write("skills/learned-workflows/SKILL.md", &changed);
    let refused = bench.apply(&made.id);
    assert!(matches!(refused, Err(WorkshopError::Stale(_))), "{refused:?}");
    assert_eq!(bench.skill("learned-workflows"), changed);
    assert_eq!(bench.status_of(&made.id), "stale");
}

/// At sixty rules the workshop asks whether to divide; the sixty-first still finds its home.
#[test]
fn a_skill_that_is_full_is_proposed_to_be_divided() {
    let bench = Bench::with(serde_json::json!({"captureProfile": "extended"}));
    let mails = (0..31).map(|n| format!("reply to the mail of client K{n} within {n} hours"));
    let tickets =
        (0..29).map(|n| format!("close the support ticket of customer C{n} after {n} days"));
    let rules: Vec<String> = mails.chain(tickets).collect();
    let bullets: String = rules.iter().map(|rule| format!("- {rule}\n")).collect();
    taught(&bench, "our-mail", &["mail"], &["always answer in the user's language"]);
    let file = format!("{}{bullets}", bench.skill("our-mail"));
    bench.write("skills/our-mail/SKILL.md", &file);
    let made = bench.shop(|shop| shop.split("our-mail", &PERSON)).expect("a split");
    let made = made.expect("a proposal").proposal;
    let ProposalChange::Reshape { skills, .. } = &made.change else { panic!("{made:?}") };
    assert_eq!(skills.len(), 2, "{:?}", skills.keys());
    bench.apply(&made.id).expect("applied");
    let all: usize = skills
        .keys()
        .map(|name| bench.skill(name).lines().filter(|line| line.starts_with("- ")).count())
        .sum();
    assert_eq!(all, 61, "no rule is lost");
}

#[test]
fn the_curator_asks_and_applies_nothing() {
    let mut bench = Bench::new();
    taught(&bench, "our-git", &["git"], &["sign every tag", "never push to main"]);
    taught(&bench, "our-commits", &["git"], &["sign every tag", "ticket number first"]);
    taught(
        &bench,
        "our-deploys",
        &["operations"],
        &["run `./scripts/ship.sh all` to deploy", "tell #ops"],
    );
    taught(&bench, "our-lights", &["lights"], &["only dimmed light after ten"]);
    taught(&bench, "our-pets", &["pets"], &["the dog eats at six"]);
    taught(&bench, "our-music", &["music"], &["no radio before nine"]);
    let used = TrialRecord { used: true, success: 4, ..TrialRecord::default() };
    for name in ["our-git", "our-commits", "our-deploys", "our-music"] {
        bench.trials.insert(name.to_owned(), used);
    }
    let failing = TrialRecord { used: true, success: 1, failure: 4, ..TrialRecord::default() };
    bench.trials.insert("our-lights".to_owned(), failing);
    bench.trials.insert("our-pets".to_owned(), TrialRecord::default());
    bench.clock.pass(45 * DAY_MS);

    let before = bench.files();
    let made = tend(&bench);
    let told: BTreeMap<&str, &Proposal> =
        made.iter().map(|proposal| (proposal.title.as_str(), proposal)).collect();
    let titles: Vec<&str> = told.keys().copied().collect();
    assert_eq!(
        titles,
        [
            "Merge our-commits into our-git",
            "Retire our-lights, which does not help",
            "Retire our-pets, which was never used",
            "Take 1 out of date rules out of our-deploys",
        ]
    );
    assert_eq!(bench.files(), before, "nothing is applied");
    let merge = told["Merge our-commits into our-git"];
    assert_eq!(merge.evidence, ["in both: sign every tag"]);
    let stale = told["Take 1 out of date rules out of our-deploys"];
    assert!(stale.evidence[0].starts_with("`./scripts/ship.sh all` is not there any more"));
    assert!(told["Retire our-lights, which does not help"].reason.contains("5 times"));
    assert!(told["Retire our-pets, which was never used"].reason.contains("45 days"));

    assert_eq!(tend(&bench), Vec::<Proposal>::new(), "the same is not asked twice");
    let lights = told["Retire our-lights, which does not help"].id.clone();
    bench.shop(|shop| shop.reject(&lights, None, &PERSON)).expect("turned down");
    assert_eq!(tend(&bench), Vec::<Proposal>::new(), "and not again after a no");

    for proposal in made.iter().filter(|proposal| proposal.id != lights) {
        bench.apply(&proposal.id).expect("applied");
    }
    assert_eq!(bench.skill("our-commits"), "");
    let git = bench.skill("our-git");
    assert_eq!(git.matches("sign every tag (said 2 times").count(), 1, "{git}");
    assert!(git.contains("- ticket number first") && git.contains("- never push to main"));
    let deploys = bench.skill("our-deploys");
    assert!(!deploys.contains("ship.sh") && deploys.contains("- tell #ops"), "{deploys}");
    assert_eq!(bench.skill("our-pets"), "");
    assert!(bench.skill("our-lights").contains("dimmed"), "what was turned down stays");
}

#[test]
fn of_two_rules_that_contradict_the_later_one_stays() {
    let bench = Bench::new();
    taught(
        &bench,
        "our-invoices",
        &["money"],
        &["invoices are due in 30 days", "add the order number"],
    );
    taught(&bench, "our-clients", &["sales"], &["invoices are due in 14 days"]);
    let made = tend(&bench);
    assert_eq!(made.len(), 1, "{made:?}");
    assert_eq!(made[0].title, "Take 1 contradicted rules out of our-invoices");
    bench.apply(&made[0].id).expect("applied");
    assert!(!bench.skill("our-invoices").contains("30 days"));
    assert!(bench.skill("our-invoices").contains("add the order number"));
    assert!(bench.skill("our-clients").contains("14 days"));
}

#[test]
fn skills_are_looked_through_once_a_week() {
    let mut bench = Bench::new();
    taught(&bench, "our-pets", &["pets"], &["the dog eats at six"]);
    bench.trials.insert("our-pets".to_owned(), TrialRecord::default());
    let weekly = |bench: &Bench| bench.shop(|shop| shop.tend_weekly()).expect("a report");
    assert_eq!(weekly(&bench).skills, 1);
    assert_eq!(weekly(&bench).skills, 0, "it was done today");
    bench.clock.pass(31 * DAY_MS);
    assert_eq!(weekly(&bench).proposals.len(), 1);
}
