//! What an install costs, compared with the least that any install must do: unpack the same archive
//! and flush every file. Run with `cargo bench -p sinew-hub --bench hub`.

use std::path::Path;
use std::time::{Duration, Instant};

use sinew_guard::archive::{ArchiveLimits, unpack};
use sinew_hub::install::{PreparationStep, SkillInstallRequest};
use sinew_hub::lock::ApprovalMethod;
use sinew_hub::reference::{ShorthandMeaning, SkillReference};
use sinew_hub::settings::HubOverrides;
use sinew_hub::{Hub, HubAuthority, Workdir};
use sinew_settings::Config;
use sinew_testkit::clawhub::zip_files;
use sinew_testkit::{ClawHubDouble, TestMachine, skill_text};

const FILES: usize = 200;
const ROUNDS: usize = 15;

#[allow(clippy::print_stdout, reason = "a bench tells its figures")]
fn main() {
    let mut files = vec![("SKILL.md".to_owned(), skill_text("tides", "Tells the tides"))];
    for number in 1..FILES {
        let text =
            format!("# Note {number}\n\n{}", "Some words about tides and winds.\n".repeat(60));
        files.push((format!("references/part-{}/note-{number}.md", number % 10), text));
    }
    let clawhub = ClawHubDouble::new();
    let entries: Vec<(&str, &str)> = files.iter().map(|(p, t)| (p.as_str(), t.as_str())).collect();
    clawhub.publish("ada", "tides", "1.0.0", &entries);
    let bytes: Vec<(String, Vec<u8>)> =
        files.iter().map(|(path, text)| (path.clone(), text.clone().into_bytes())).collect();
    let archive = zip_files(&bytes, "");
    let machine = TestMachine::new();
    let mut env = machine.environment();
    env.vars.insert("SINEW_REGISTRY".to_owned(), clawhub.address().to_owned());
    let opened = Hub::open(env, &Config::default(), &HubOverrides::default()).expect("a hub");
    let (mut plain, mut whole, mut cached) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        plain.push(timed(|| unzip_and_flush(&archive, &machine.path(&format!("plain-{round}")))));
        whole.push(timed(|| install(&opened, &machine.path(&format!("work-{round}")))));
        cached.push(timed(|| install(&opened, &machine.path(&format!("again-{round}")))));
        let _ = std::fs::remove_dir_all(machine.path("home/.sinew/cache"));
    }
    let (plain, whole, cached) = (median(plain), median(whole), median(cached));
    let ratio = |time: Duration| time.as_secs_f64() / plain.as_secs_f64();
    println!("unzip and flush {FILES} files   {plain:?}");
    println!("install from a registry      {whole:?}  {:.2}x", ratio(whole));
    println!("install from the cache       {cached:?}  {:.2}x", ratio(cached));
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn install((hub, authority): &(Hub, HubAuthority), folder: &Path) {
    let reference = SkillReference::parse("tides", ShorthandMeaning::GitHub).expect("a reference");
    let request = SkillInstallRequest::new(reference, "bench");
    let preparation = hub.prepare_install(request, &Workdir::workspace(folder)).expect("a workdir");
    let PreparationStep::Ready(prepared) = preparation.advance(&mut |_, _| {}).expect("a skill")
    else {
        panic!("the skill has a risk");
    };
    let approval = hub.approval(&prepared, "bench".to_owned(), ApprovalMethod::Flag, None);
    let permit = authority.permit_install(*prepared, approval).expect("a permit");
    hub.commit(permit).expect("installed");
}

fn unzip_and_flush(archive: &[u8], folder: &Path) {
    for entry in unpack(archive, &ArchiveLimits::SKILL).expect("a sound archive") {
        let path = folder.join(&entry.path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        std::fs::write(&path, &entry.bytes).expect("written");
        std::fs::File::open(&path).and_then(|file| file.sync_all()).expect("flushed");
    }
}
