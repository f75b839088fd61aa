//! What must not be kept is nowhere: not in a draft, not in a record, not in the database's bytes.

use std::fs;

use serde_json::{Value, json};
use sinew_testkit::{generic_trace, secret_look_alikes, secret_samples};

use super::samples::samples;
use super::{learn, learn_under};
use crate::bench::Bench;

/// A text in base64, in its three alignments, without what depends on its neighbours.
fn base64_forms(text: &str) -> Vec<String> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let encode = |bytes: &[u8]| -> String {
        let whole = bytes.len() / 3 * 3;
        bytes[..whole]
            .chunks(3)
            .flat_map(|three| {
                let bits = three.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte));
                (0..4).map(move |at| char::from(DIGITS[(bits >> (18 - 6 * at) & 63) as usize]))
            })
            .collect()
    };
    (0..3).map(|skip| encode(&text.as_bytes()[skip..])).collect()
}

fn percent_forms(text: &str) -> [String; 2] {
    let encode = |upper: bool| -> String {
        text.bytes()
            .map(|byte| match byte {
                byte if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) => {
                    char::from(byte).to_string()
                }
                byte if upper => format!("%{byte:02X}"),
                byte => format!("%{byte:02x}"),
            })
            .collect()
    };
    [encode(true), encode(false)]
}

/// Asserts that a value is nowhere in these bytes, in any form.
pub(crate) fn assert_absent(bytes: &[u8], value: &str, place: &str) {
    let mut forms = vec![value.to_owned()];
    forms.extend(base64_forms(value));
    forms.extend(percent_forms(value));
    for form in forms.iter().filter(|form| form.len() >= 5) {
        let found = bytes.windows(form.len()).any(|part| part == form.as_bytes());
        assert!(!found, "{value} as {form} in {place}");
    }
}

fn assert_bench_is_clean(bench: &Bench, secret: &str) {
    let mut folders = vec![bench.folder.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path => {
                    let bytes = fs::read(&path).expect("a file");
                    assert_absent(&bytes, secret, &path.display().to_string());
                }
            }
        }
    }
}

#[test]
fn no_secret_of_a_sample_is_in_any_answer_or_file() {
    for config in [json!({}), json!({"traces": {"publish": "auto"}})] {
        let bench = Bench::new();
        let mut answers = String::new();
        let mut secrets = Vec::new();
        for (_, text, answer) in samples() {
            let learned = learn_under(&bench, config.clone(), &text);
            answers.push_str(&serde_json::to_string(&learned).expect("JSON"));
            answers.push_str(&format!("{learned:?}"));
            let listed = answer["secrets"].as_array().cloned().unwrap_or_default();
            secrets.extend(listed.iter().filter_map(Value::as_str).map(str::to_owned));
        }
        // Applied, a proposal's files and their history are there too.
        for proposal in bench.shop(|shop| shop.list("pending")).expect("proposals") {
            bench.apply(&proposal.id).expect("applied");
        }
        for secret in secrets {
            assert_absent(answers.as_bytes(), &secret, "an answer");
            assert_bench_is_clean(&bench, &secret);
        }
    }
}

#[test]
fn typed_text_that_may_stay_stays() {
    for (name, text, answer) in samples() {
        for kept in answer["typed_text_kept"].as_array().into_iter().flatten() {
            let draft = learn(&Bench::new(), &text).remove(0).draft.expect("a draft");
            let kept = kept.as_str().unwrap_or_default();
            assert!(draft.script.unwrap_or_default().contains(kept), "{name}: {kept}");
        }
    }
}

/// A secret that one field names and others repeat, as it is and as it is sent.
#[test]
fn what_is_found_once_is_taken_out_everywhere() {
    let secret = "Tr0ub4dor-und-3-Esel";
    let sent = "Tr0ub4dor%2Dund";
    let in_base64 = "VHIwdWI0ZG9yLXVuZC0zLUVzZWw";
    let run = generic_trace("Sign in")
        .step_with(json!({"type": "type", "text": secret}), "typed into password field", json!({}))
        .step_with(
            json!({"type": "exec", "command": format!("curl -u me:{secret} https://x.example")}),
            &format!("sent {in_base64} for {secret}"),
            json!({}),
        )
        .saying(&format!("Signed in with {secret}."));
    let learned = learn(&Bench::new(), &run.lines()).remove(0);
    let all = serde_json::to_string(&learned).expect("JSON");
    for form in [secret, sent, in_base64] {
        assert!(!all.contains(form), "{form} in {all}");
    }
    assert!(learned.draft.expect("a draft").body.contains("[REDACTED:"));
}

#[test]
fn homes_and_their_owners_are_not_told() {
    let run = generic_trace("Build /home/robin/src/x for robin")
        .exec("make -C /home/robin/src/x install")
        .exec("ls '/home/robin/my files'");
    let draft = learn(&Bench::new(), &run.lines()).remove(0).draft.expect("a draft");
    let script = draft.script.expect("a script");
    assert!(!draft.body.contains("robin") && !script.contains("robin"), "{}", draft.body);
    assert!(script.contains(r#"make -C "${HOME}"/src/x install"#), "{script}");
    assert!(draft.body.contains("~/src/x"));
}

#[test]
fn an_address_of_the_task_is_a_parameter() {
    let run = generic_trace("Write to robin.doe@example.com about the bill")
        .exec("mail -s bill robin.doe@example.com");
    let draft = learn(&Bench::new(), &run.lines()).remove(0).draft.expect("a draft");
    assert!(draft.body.contains("Write to {{email}} about"), "{}", draft.body);
    assert!(draft.script.expect("a script").contains("\"${SINEW_P_EMAIL}\""));
}

/// Every kind of secret, as a command, as what came back, as a task and as a last message.
#[test]
fn no_kind_of_secret_survives_learning() {
    let bench = Bench::new();
    let mut answers = String::new();
    let samples = secret_samples();
    for (number, group) in samples.chunks(12).enumerate() {
        let mut run = generic_trace(&format!("Tidy up number {number}: {}", group[0].text))
            .session(&format!("session-{number}"))
            .saying(&format!("Done. {}", group[group.len() - 1].text));
        for (at, sample) in group.iter().enumerate() {
            run = match at % 3 {
                0 => run.exec(&sample.text),
                1 => run.step_with(
                    json!({"type": "exec", "command": format!("./step {at}")}),
                    &sample.text,
                    json!({}),
                ),
                _ => run.step_with(json!({"type": "note", "text": sample.text}), "", json!({})),
            };
        }
        let learned = learn(&bench, &run.lines());
        answers.push_str(&serde_json::to_string(&learned).expect("JSON"));
        answers.push_str(&format!("{learned:?}"));
    }
    for proposal in bench.shop(|shop| shop.list("pending")).expect("proposals") {
        // What a gate holds back is not written, and its record was cleaned like any other.
        let _ = bench.apply(&proposal.id);
    }
    let mut bytes = answers.into_bytes();
    let mut folders = vec![bench.folder.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path => bytes.extend(fs::read(path).expect("a file")),
            }
        }
    }
    let everything = String::from_utf8_lossy(&bytes);
    let left: Vec<&String> = samples
        .iter()
        .flat_map(|sample| &sample.secrets)
        .filter(|secret| secret.len() > 4 && everything.contains(secret.as_str()))
        .collect();
    assert!(left.is_empty(), "{} are left: {left:?}", left.len());
}

/// Commands without a secret are learned as they were run.
#[test]
fn honest_commands_are_learned_unharmed() {
    let mut run = generic_trace("Look after the server");
    for text in secret_look_alikes().iter().take(20) {
        run = run.exec(text);
    }
    let learned = learn(&Bench::new(), &run.lines()).remove(0);
    assert!(!learned.redactions.contains_key("assignment"), "{:?}", learned.redactions);
}

/// A process that is killed behind the proposal, and before it has remembered the run.
#[test]
fn a_killed_learner_makes_no_duplicate() {
    let bench = Bench::new();
    let run = generic_trace("Publish the ledger").exec("git tag v1").exec("git push --tags");
    let first = learn(&bench, &run.lines()).remove(0);
    for collection in ["workshop.runs", "workshop.run-steps"] {
        for found in
            bench.store.list(collection, sinew_store::KeyRange::ALL, 100).expect("documents")
        {
            bench
                .store
                .delete(collection, &found.key, sinew_store::ExpectedVersion::Any)
                .expect("deleted");
        }
    }
    let again = learn(&bench, &run.lines()).remove(0);
    let id = |learned: &sinew_workshop::LearnResult| {
        learned.proposal.as_ref().map(|proposal| proposal.id.clone())
    };
    assert_eq!(id(&again), id(&first));
    assert_eq!(bench.shop(|shop| shop.list("pending")).expect("proposals").len(), 1);
    // And from then on it is known.
    let third = learn(&bench, &run.lines()).remove(0);
    assert_eq!(third.became, sinew_workshop::LearnStatus::Known);
    assert_eq!(id(&third), id(&first));
}
