//! Skills that need other skills.

use super::{Answers, Registries, Syncer};

fn text(name: &str, needs: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}\n{needs}\n---\nDo it.\n")
}

fn world() -> (Registries, Syncer) {
    let registries = Registries::new();
    let publish = |name: &str, needs: &str| {
        registries.clawhub.publish("ada", name, "1.0.0", &[("SKILL.md", &text(name, needs))]);
    };
    publish("report", "metadata: {sinew: {requires: {skills: [charts, \"words@^1\"]}}}");
    publish("charts", "dependencies: {skills: [colours]}");
    publish("words", "prerequisite-skills: [{slug: colours, reason: it reads them}]");
    publish("colours", "");
    let syncer = Syncer::new(&registries);
    syncer.write("work/skills.toml", "[skills]\nreport = \"1.0.0\"\n");
    (registries, syncer)
}

#[test]
fn what_a_skill_needs_comes_with_it_and_goes_with_it() {
    let (_registries, syncer) = world();
    let mut answers = Answers::yes();
    let told = syncer.sync_asking(|_| {}, &mut answers).unwrap();
    assert_eq!(
        told,
        ["report installed", "charts installed", "words@^1 installed", "colours installed"]
    );
    assert_eq!(answers.asked, ["report", "charts", "words", "colours"], "each has its question");
    assert_eq!(syncer.state("report"), "ready");
    assert_eq!(syncer.sync(), ["report current"]);
    syncer.write("work/skills.toml", "[skills]\nwords = \"1.0.0\"\n");
    let told = syncer.sync();
    assert_eq!(told, ["words updated", "charts removed", "report removed"], "colours is needed");
    assert_eq!(syncer.state("words"), "ready");
}

#[test]
fn a_skill_waits_for_what_it_needs() {
    let (_registries, syncer) = world();
    syncer.sync();
    std::fs::remove_dir_all(syncer.path("work/skills/colours")).unwrap();
    assert_eq!(syncer.state("charts"), "needs-setup missing-skill");
    assert_eq!(syncer.state("report"), "needs-setup missing-skill", "and what needs that");
    let snapshot = syncer.engine().snapshot();
    let report = snapshot.catalog.get("report").unwrap();
    assert_eq!(report.missing.skills, ["charts", "words@^1"]);
}

#[test]
fn a_circle_of_needs_is_ready_and_a_path_is_refused() {
    let registries = Registries::new();
    let publish = |name: &str, needs: &str| {
        registries.clawhub.publish("ada", name, "1.0.0", &[("SKILL.md", &text(name, needs))]);
    };
    publish("ping", "metadata: {sinew: {requires: {skills: [pong]}}}");
    publish("pong", "metadata: {sinew: {requires: {skills: [ping]}}}");
    publish("sly", "metadata: {sinew: {requires: {skills: [\"/etc\"]}}}");
    let syncer = Syncer::new(&registries);
    syncer.write("work/skills.toml", "[skills]\nping = \"1.0.0\"\nsly = \"1.0.0\"\n");
    let told = syncer.sync();
    assert_eq!(
        told,
        ["ping installed", "pong installed", "sly installed", "/etc failed (bad-reference)"]
    );
    assert_eq!(syncer.state("ping"), "ready");
    assert_eq!(syncer.state("sly"), "needs-setup missing-skill");
}

#[test]
fn a_needed_skill_comes_from_the_same_repository() {
    let registries = Registries::new();
    let needs = text("report", "metadata: {sinew: {requires: {skills: [charts]}}}");
    let charts = text("charts", "");
    let files = [("skills/report/SKILL.md", needs.as_str()), ("skills/charts/SKILL.md", &charts)];
    registries.github.commit("ada/skills", "main", &files);
    let syncer = Syncer::new(&registries);
    syncer.write("work/skills.toml", "[skills]\nreport = \"ada/skills@report\"\n");
    assert_eq!(syncer.sync(), ["report installed", "charts installed"]);
    assert!(syncer.read("work/.sinew/lock.json").contains("github:ada/skills@charts"));
}

/// A fresh checkout has the lock, and neither skills nor sinew's own record of syncs.
#[test]
fn frozen_brings_back_what_skills_need_as_well() {
    let (_registries, syncer) = world();
    syncer.sync();
    std::fs::remove_dir_all(syncer.path("work/skills")).unwrap();
    std::fs::remove_file(syncer.path("work/.sinew/sync.json")).unwrap();
    let frozen = |request: &mut sinew_engine::hub::SyncRequest| request.frozen = true;
    let told = syncer.sync_asking(frozen, &mut Answers::no()).unwrap();
    assert_eq!(told, ["report restored", "charts restored", "words restored", "colours restored"]);
    assert_eq!(syncer.state("report"), "ready");
    // What is needed and stands in no lock is said.
    let lock = syncer.read("work/.sinew/lock.json");
    let mut lock: serde_json::Value = serde_json::from_str(&lock).unwrap();
    lock["skills"].as_object_mut().unwrap().remove("colours");
    syncer.write("work/.sinew/lock.json", &lock.to_string());
    std::fs::remove_dir_all(syncer.path("work/skills/colours")).unwrap();
    let error = syncer.sync_with(frozen).unwrap_err();
    assert_eq!(error.code.as_str(), "lock-behind");
    assert!(error.message.contains("needs colours"), "{}", error.message);
}
