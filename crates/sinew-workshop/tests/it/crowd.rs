//! Many processes on one workspace: no proposal is lost, no file is torn, the history adds up.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Stdio;

use sinew_settings::config::GateMode;
use sinew_skill::content_hash;
use sinew_workshop::{
    ProposalState, SkillVersion, UndoForce, UndoTarget, VersionCause, WorkshopError,
};

use crate::bench::{Bench, PERSON, append, create};

const PROCESSES: usize = 8;
const ROUNDS: usize = 12;

/// What each process does: adds to a skill that all share, makes skills of its own, takes some of it
/// back, and leaves some of it to others. It says what it did.
#[test]
#[ignore = "started by the test below"]
fn member() {
    let Some(mut bench) = Bench::of_parent() else { return };
    bench.settings.trigger_gate = GateMode::Off;
    bench.settings.duplicate_gate = GateMode::Off;
    let name = std::env::var("SINEW_CHILD_NAME").expect("a name");
    for round in 0..ROUNDS {
        let bullet = format!("- Member {name} says {round}.");
        let draft = match round % 3 {
            0 => create(&format!("own-{name}-{round}"), &bullet),
            _ => append("shared", &bullet),
        };
        let made = bench.suggest(&draft, PERSON).expect("a proposal").proposal;
        if round % 6 == 5 {
            tell("left", &made.id, &bullet);
            continue;
        }
        bench.apply(&made.id).expect("written");
        let undo = |shop: &sinew_workshop::Workshop<'_>| {
            shop.undo(&UndoTarget::Id(made.id.clone()), UndoForce::No, &PERSON)
        };
        let undone = round % 2 == 1 || round % 6 == 0;
        match undone.then(|| bench.shop(undo)) {
            Some(Ok(_)) => tell("undone", &made.id, &bullet),
            // Another process wrote after this one: its change must not be undone with ours.
            None | Some(Err(WorkshopError::ChangedSince { .. })) => {
                tell("applied", &made.id, &bullet);
            }
            Some(Err(error)) => panic!("{error}"),
        }
    }
}

#[allow(clippy::print_stdout, reason = "what a child tells its parent")]
fn tell(what: &str, id: &str, bullet: &str) {
    println!("\n{what} {id} {bullet}");
}

#[test]
fn eight_processes_propose_apply_and_undo_at_once() {
    let bench = Bench::new();
    // The shared skill exists before any process adds to it: otherwise the first addition would create
    // it, and undoing that would rightly make all other additions stale.
    let first = bench.suggest(&append("shared", "- All add here."), PERSON).expect("a proposal");
    bench.apply(&first.proposal.id).expect("written");
    let children: Vec<_> = (0..PROCESSES)
        .map(|name| {
            let mut child = bench.child("crowd::member");
            child.env("SINEW_CHILD_NAME", name.to_string());
            child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a process")
        })
        .collect();
    let mut said = BTreeMap::new();
    for child in children {
        let output = child.wait_with_output().expect("an end");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let mut words = line.splitn(3, ' ');
            if let (Some(what @ ("left" | "applied" | "undone")), Some(id), Some(bullet)) =
                (words.next(), words.next(), words.next())
            {
                said.insert(id.to_owned(), (what.to_owned(), bullet.to_owned()));
            }
        }
    }
    assert_eq!(said.len(), PROCESSES * ROUNDS, "every process reported every round");
    assert_consistent(&bench);
    let mut proposals = bench.shop(|shop| shop.proposals()).expect("proposals");
    proposals.retain(|proposal| proposal.id != first.proposal.id);
    assert_eq!(proposals.len(), said.len(), "none is lost and none is made up");
    let mut told = BTreeSet::new();
    for proposal in &proposals {
        let (what, bullet) = &said[&proposal.id];
        let expected = match what.as_str() {
            "left" => ProposalState::Pending,
            "applied" => ProposalState::Applied,
            _ => ProposalState::Rejected { undone: true },
        };
        assert_eq!(proposal.status, expected, "{bullet}");
        let text = bench.skill(&proposal.skill_name);
        let count = text.lines().filter(|line| line == bullet).count();
        assert_eq!(count, usize::from(what == "applied"), "{what} {bullet}\n{text}");
        told.insert(what.clone());
    }
    assert_eq!(told.len(), 3, "all three happened: {told:?}");
}

/// Files, versions and proposals agree. Returns how many versions there are.
pub(crate) fn assert_consistent(bench: &Bench) -> usize {
    let proposals = bench.shop(|shop| shop.proposals()).expect("proposals");
    let skills: BTreeSet<&str> = proposals.iter().map(|p| p.skill_name.as_str()).collect();
    let mut versions: Vec<SkillVersion> = Vec::new();
    for skill in skills {
        versions.extend(bench.shop(|shop| shop.history(skill)).expect("versions"));
    }
    versions.sort_by_key(|version| version.number);
    let numbers: BTreeSet<u64> = versions.iter().map(|version| version.number).collect();
    assert_eq!(numbers.len(), versions.len(), "every write has a number of its own");

    // Each write began where the one before it ended, and the file is as the last one left it.
    let mut left: BTreeMap<String, Option<String>> = BTreeMap::new();
    let mut standing: BTreeMap<String, bool> = BTreeMap::new();
    for version in &versions {
        for written in &version.files {
            let before = left.insert(written.path.clone(), written.after.clone()).flatten();
            assert_eq!(before, written.before, "{} version {}", written.path, version.number);
            for hash in [&written.before, &written.after].into_iter().flatten() {
                let kept = bench.shop(|shop| shop.content(hash)).expect("a content");
                assert_eq!(content_hash(kept.as_bytes()), *hash);
            }
        }
        let id = version.proposal_id.clone().expect("a proposal");
        standing.insert(id, version.action == VersionCause::Apply);
    }
    for (path, hash) in &left {
        let now = std::fs::read(bench.path(path)).ok().map(|bytes| content_hash(&bytes));
        assert_eq!(now, *hash, "{path} is as its last version left it");
    }
    let files = bench.files();
    let known: Vec<&String> =
        left.iter().filter(|(_, hash)| hash.is_some()).map(|(path, _)| path).collect();
    assert_eq!(files.iter().collect::<Vec<_>>(), known, "no file without a version, no litter");

    for proposal in &proposals {
        let expected = match &proposal.status {
            ProposalState::Applied => Some(true),
            ProposalState::Rejected { undone: true } => Some(false),
            _ => None,
        };
        assert_eq!(standing.get(&proposal.id).copied(), expected, "{}", proposal.id);
    }
    versions.len()
}
