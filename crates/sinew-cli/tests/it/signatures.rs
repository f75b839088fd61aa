//! Who signed a skill, as people see it: at the question, in the lock, in `why`, in the bill of materials.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use serde_json::Value;
use sinew_hub::signature::{SigningKey, sign};
use sinew_hub::tree::SkillTree;
use sinew_testkit::TestMachine;

use crate::support::{UNATTENDED, command, json, sinew};

/// A private key and its public one, in PEM.
fn new_key() -> (String, String) {
    let key = rcgen::KeyPair::generate().expect("a key").serialize_pem();
    let public = SigningKey::from_pem(&key).expect("a key").public_pem();
    (key, public)
}

/// Signs a skill's folder where it lies.
fn sign_folder(machine: &TestMachine, folder: &str, key: &str) {
    let tree = SkillTree::from_folder(&machine.path(folder)).expect("a skill");
    let key = SigningKey::from_pem(key).expect("a key");
    let signed = sign(&tree, "tides", &key).expect("signed");
    for file in signed.files() {
        machine.write(&format!("{folder}/{}", file.path), &file.bytes);
    }
}

/// A machine that knows a key by the name of ada, and a skill that it signed.
fn machine(more: &str) -> (TestMachine, String) {
    let (key, public) = new_key();
    let config = UNATTENDED.strip_suffix('}').expect("an object");
    let config =
        format!("{config}, security: {{signatures: {{keys: {{ada: '~/ada.pub'}}, {more}}}}}}}");
    let machine = TestMachine::new()
        .skill("offered/tides", "tides")
        .file("home/ada.pub", public)
        .file("home/.sinew/config.json5", config);
    sign_folder(&machine, "offered/tides", &key);
    (machine, key)
}

fn install(machine: &TestMachine, more: &[&str]) -> String {
    let source = machine.path("offered/tides").display().to_string();
    sinew(machine, &[&["install", &source], more].concat())
}

/// What a person is asked after a command without one, as it is stored.
fn question(machine: &TestMachine, args: &[&str]) -> String {
    assert!(sinew(machine, args).ends_with("exit 3"));
    json(machine, &["approve"]).to_string()
}

#[test]
fn the_signer_is_in_the_question_the_lock_and_why() {
    let (machine, _) = machine("");
    let source = machine.path("offered/tides").display().to_string();
    let shown = question(&machine, &["install", &source]);
    assert!(shown.contains("signed by ada"), "{shown}");
    let shown = install(&machine, &["--yes"]);
    assert!(shown.ends_with("exit 0"), "{shown}");
    let lock = std::fs::read_to_string(machine.path("work/.sinew/lock.json")).expect("a lock");
    let lock: Value = serde_json::from_str(&lock).expect("JSON");
    let signature = &lock["skills"]["tides"]["signature"];
    assert_eq!(signature["signer"]["name"], "ada", "{lock:#}");
    assert_eq!(signature["state"], "proved");
    let why = sinew(&machine, &["why", "tides"]);
    assert!(why.contains("signed by ada"), "{why}");
}

#[test]
fn another_signer_than_before_is_told() {
    let (machine, _) = machine("");
    assert!(install(&machine, &["--yes"]).ends_with("exit 0"));
    let (eve, _) = new_key();
    machine.write("offered/tides/more.md", "more");
    sign_folder(&machine, "offered/tides", &eve);
    // The signer's key is another one, which is not named: the question says so.
    let shown = question(&machine, &["update", "tides"]);
    assert!(shown.contains("its signer is not proved"), "{shown}");
}

#[test]
fn a_broken_signature_is_never_installed_and_a_missing_one_where_none_is_asked_for() {
    let (machine, _) = machine("require: 'trusted'");
    assert!(install(&machine, &["--yes"]).ends_with("exit 0"));
    let source = |name: &str| machine.path(&format!("offered/{name}")).display().to_string();
    machine.write("offered/plain/SKILL.md", "---\nname: plain\ndescription: d\n---\nText.\n");
    let shown = sinew(&machine, &["install", &source("plain"), "--yes"]);
    assert!(shown.contains("not signed") && shown.ends_with("exit 3"), "{shown}");
    machine.write("home/.sinew/config.json5", UNATTENDED);
    assert!(sinew(&machine, &["install", &source("plain"), "--yes"]).ends_with("exit 0"));
    machine.write("offered/tides/SKILL.md", "---\nname: tides\ndescription: e\n---\nText.\n");
    let shown = install(&machine, &["--yes", "--overwrite"]);
    assert!(shown.contains("its signature is broken: SKILL.md is not as it was signed"), "{shown}");
    assert!(shown.ends_with("exit 3"), "{shown}");
}

#[test]
fn what_is_not_installed_can_be_asked_who_signed_it() {
    let (machine, _) = machine("");
    let ask = || {
        let folder = machine.path("offered/tides").display().to_string();
        sinew(&machine, &["verify", "--signature", &folder])
    };
    assert_eq!(ask(), "signed by ada\nexit 0");
    machine.write("offered/tides/new.sh", "true");
    assert_eq!(ask(), "its signature is broken: new.sh was not signed\nexit 1");
    let bundle = machine.path("offered/tides/skill.oms.sig").display().to_string();
    machine.write("tides.zip", "an archive");
    let archive = machine.path("tides.zip").display().to_string();
    let asked = ["verify", "--signature", &archive, "--attestation", &bundle];
    let shown = sinew(&machine, &asked);
    assert!(shown.starts_with("its signer is not proved") && shown.ends_with("exit 1"), "{shown}");
}

#[test]
fn the_bill_of_materials_names_skills_signers_and_programs() {
    let (machine, _) = machine("");
    let needs = "metadata: {openclaw: {requires: {bins: [sh]}}}";
    let machine = machine.workspace_skill("notes", needs);
    assert!(install(&machine, &["--yes"]).ends_with("exit 0"));
    let bill = json(&machine, &["sbom"]);
    assert_eq!((&bill["bomFormat"], &bill["specVersion"]), (&"CycloneDX".into(), &"1.6".into()));
    let component = |name: &str| {
        let all = bill["components"].as_array().expect("a list");
        all.iter().find(|one| one["name"] == name).unwrap_or_else(|| panic!("{bill:#}")).clone()
    };
    let tides = component("tides");
    assert!(tides["version"].is_string() && tides["hashes"][0]["content"].is_string(), "{tides:#}");
    assert!(tides.to_string().contains("signed by ada"), "{tides:#}");
    assert_eq!(component("sh")["bom-ref"], "program:sh");
    let all = bill["dependencies"].as_array().expect("a list");
    let notes = component("notes")["bom-ref"].clone();
    let needs = all.iter().find(|one| one["ref"] == notes).expect("its needs");
    assert_eq!(needs["dependsOn"], serde_json::json!(["program:sh"]));
    let written = sinew(&machine, &["sbom", "--output", "skills.json"]);
    assert_eq!(written, "exit 0");
    let text = std::fs::read(machine.path("work/skills.json")).expect("a file");
    assert_eq!(serde_json::from_slice::<Value>(&text).expect("JSON"), bill);
}

/// A registry on a machine of its own, which ends with the test.
struct RegistryServer(Child);

impl Drop for RegistryServer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn what_is_published_with_a_key_is_signed() {
    let (machine, _) = machine("");
    let (key, public) = new_key();
    machine.write("home/ada.pub", public);
    machine.write("home/ada.pem", key);
    let server = TestMachine::new();
    let mut child = command(&server, &["--json", "serve", "--listen", "127.0.0.1:0", "--registry"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("sinew runs");
    let mut line = String::new();
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe"));
    lines.read_line(&mut line).expect("a line");
    let _server = RegistryServer(child);
    let said: Value = serde_json::from_str(&line).expect("JSON");
    let registry = said["registry"].as_str().expect("an address").to_owned();
    let make = ["registry", "token", "create", "--role", "publish", "--name", "ada"];
    let token = json(&server, &make)["token"].as_str().expect("a token").to_owned();
    std::fs::remove_file(machine.path("offered/tides/skill.oms.sig")).expect("it was there");
    let run = |args: &[&str]| {
        let output = command(&machine, args)
            .env("SINEW_REGISTRY", &registry)
            .env("CLAWHUB_TOKEN", &token)
            .output()
            .expect("sinew runs");
        crate::support::shown(&machine, &output)
    };
    let login = run(&["registry", "login", "--token", &token]);
    assert!(login.ends_with("exit 0"), "{login}");
    let folder = machine.path("offered/tides").display().to_string();
    let key = machine.path("home/ada.pem").display().to_string();
    let publish = ["registry", "publish", &folder, "--version", "1.0.0", "--sign-key", &key];
    let shown = run(&publish);
    assert!(shown.ends_with("exit 0"), "{shown}");
    assert!(!machine.path("offered/tides/skill.oms.sig").exists(), "the folder stays as it is");
    let shown = run(&["install", "tides", "--yes", "--accept-pending", "--accept-suspicious"]);
    assert!(shown.ends_with("exit 0"), "{shown}");
    let why = run(&["why", "tides"]);
    assert!(why.contains("signed by ada"), "{why}");
}
