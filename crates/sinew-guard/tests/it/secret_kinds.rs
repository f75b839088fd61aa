//! Secrets of every kind are seen by both searches of text that is kept, and honest text is not.

use sinew_guard::secrets::{SecretMatch, find_recorded, find_strict, mask_strict};
use sinew_testkit::{secret_look_alikes, secret_samples};

/// The text with every match blanked.
fn blanked(text: &str, found: &[SecretMatch]) -> String {
    let mut text = text.to_owned();
    for secret in found.iter().rev() {
        text.replace_range(secret.range.clone(), "*");
    }
    text
}

#[test]
fn no_secret_survives_in_any_surrounding() {
    let mut missed = Vec::new();
    for sample in secret_samples() {
        let surroundings = [
            sample.text.clone(),
            format!("From now on do it like this: {}", sample.text),
            format!("It's done.\n{}\nThat's all, isn't it?\n", sample.text),
            format!("```sh\n{}\n```\n", sample.text),
        ];
        for text in surroundings {
            for (search, found) in
                [("strict", find_strict(&text)), ("recorded", find_recorded(&text))]
            {
                let left = blanked(&text, &found);
                for secret in &sample.secrets {
                    let words = secret.split_whitespace().filter(|word| word.len() > 3);
                    let is_left = left.contains(secret.as_str())
                        || secret.len() > 8 && words.clone().any(|word| left.contains(word));
                    if is_left {
                        missed.push(format!("{search}: {secret} in {left:?}"));
                    }
                }
            }
        }
    }
    assert!(missed.is_empty(), "{} missed:\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn honest_text_stays_as_it_is() {
    let mut harmed = Vec::new();
    for text in secret_look_alikes() {
        for found in [find_strict(text), find_recorded(text)] {
            for secret in found {
                harmed.push(format!("{} {:?} in {text:?}", secret.id, &text[secret.range.clone()]));
            }
        }
    }
    assert!(harmed.is_empty(), "{} harmed:\n{}", harmed.len(), harmed.join("\n"));
}

/// What is masked once is not masked again: records are masked where they are written, and again
/// where they are shown.
#[test]
fn masked_text_is_steady() {
    for sample in secret_samples() {
        let once = mask_strict(&sample.text);
        assert_eq!(mask_strict(&once), once, "{}", sample.text);
    }
}

/// Names of programs, quotation marks and words of secrecy by the thousand.
#[test]
fn hostile_text_costs_time_in_its_length() {
    let parts = ["mysql -p", "curl -u '", "\"sshpass\",", "echo \"", " password is ", "seed "];
    for part in parts {
        let text = part.repeat(40_000 / part.len());
        let _ = (find_strict(&text), find_recorded(&text));
    }
}
