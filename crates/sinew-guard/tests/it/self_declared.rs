//! What a skill says of itself: hosts that it calls its own and keys that it declares make no verdict
//! better.

use sinew_guard::scan::{SkillBundle, Verdict};

use crate::mutators::labelled;
use crate::own_skills::{AsideBy, OwnSkill, read};
use crate::support::{scanner, summary};

/// Hosts of a skill that its author declares to be his.
const MOST_HOSTS: usize = 6;

/// The hosts that a text names, each once.
fn hosts(text: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for (at, mark) in text.match_indices("://") {
        let rest = &text[at + mark.len()..];
        let host: String =
            rest.chars().take_while(|c| c.is_ascii_alphanumeric() || ".-".contains(*c)).collect();
        let host = host.trim_matches(['.', '-']).to_ascii_lowercase();
        if host.contains('.') && !all.contains(&host) {
            all.push(host);
        }
    }
    all
}

/// The same skill, whose front matter declares its hosts and keys named after them.
fn declaring(skill: &OwnSkill) -> Option<Vec<(String, String)>> {
    let whole: String = skill.files.iter().map(|(_, text)| text.as_str()).collect();
    let hosts = hosts(&whole);
    let mut files = skill.files.clone();
    let front = files[0].1.strip_prefix("---\n")?;
    if hosts.is_empty() || front.contains("homepage:") || front.contains("metadata:") {
        return None;
    }
    let label = |host: &String| host.rsplit('.').nth(1).unwrap_or("own").replace('-', "_");
    let keys: Vec<String> = hosts
        .iter()
        .take(MOST_HOSTS)
        .map(|host| format!("\"{}_API_KEY\"", label(host).to_ascii_uppercase()))
        .collect();
    let mut own = format!("homepage: https://{}\n", hosts[0]);
    for (number, host) in hosts.iter().take(MOST_HOSTS).enumerate() {
        own += &format!("site-{number}: https://{host}/\n");
    }
    let keys = keys.join(", ");
    own += &format!("metadata: {{\"openclaw\": {{\"requires\": {{\"env\": [{keys}]}}}}}}\n");
    files[0].1 = format!("---\n{own}{front}");
    Some(files)
}

#[test]
fn no_verdict_falls_by_what_a_skill_declares() {
    let mut samples = read("holes", AsideBy::Variant);
    samples.extend(read("tiers", AsideBy::Template));
    samples.extend(labelled());
    let (mut looked, mut fallen) = (0, Vec::new());
    for skill in samples.iter().filter(|skill| skill.is_malicious) {
        let Some(files) = declaring(skill) else { continue };
        let before = scanner().scan_bundle(&skill.bundle());
        let file = |(path, text): &(String, String)| (path.clone(), text.clone().into_bytes());
        let after = scanner().scan_bundle(&SkillBundle::from_files(files.iter().map(file)));
        looked += usize::from(before.verdict > Verdict::Allow);
        // A key that is declared, on its way to its own host, may be no more than a note.
        let is_own_key = before.verdict == Verdict::Warn
            && before
                .findings
                .iter()
                .all(|f| f.severity.as_str() == "info" || f.rule == "env-harvesting");
        if after.verdict < before.verdict && !is_own_key {
            fallen.push(format!("{}\n{}\n->\n{}", skill.id, summary(&before), summary(&after)));
        }
    }
    assert!(looked > 400, "{looked}");
    assert!(fallen.is_empty(), "{} verdicts fell: {}", fallen.len(), fallen.join("\n\n"));
}
