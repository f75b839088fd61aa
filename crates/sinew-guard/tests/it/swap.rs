//! Files that are swapped between check and use.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use sinew_guard::scan::SkillBundle;

/// While a thread swaps a file for a link to a secret, no read may follow the link, and the digest
/// must always be that of the scanned bytes.
#[cfg(unix)]
#[test]
fn a_thread_that_swaps_gains_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let skill = folder.path().join("skill");
    std::fs::create_dir(&skill).unwrap();
    std::fs::write(folder.path().join("secret"), "SECRET OUTSIDE").unwrap();
    let target = skill.join("SKILL.md");
    std::fs::write(&target, "plain").unwrap();
    let stop = AtomicBool::new(false);
    let time = Duration::from_secs(if crate::support::long() { 30 } else { 2 });
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let spare = folder.path().join("spare");
            while !stop.load(Ordering::Relaxed) {
                let _ = std::fs::remove_file(&spare);
                let _ = std::os::unix::fs::symlink(folder.path().join("secret"), &spare);
                let _ = std::fs::rename(&spare, &target);
                let _ = std::fs::write(&spare, "plain");
                let _ = std::fs::rename(&spare, &target);
            }
        });
        let start = Instant::now();
        let mut reads = 0;
        while start.elapsed() < time {
            let bundle = SkillBundle::from_dir(&skill).unwrap();
            for file in bundle.files() {
                assert_eq!(file.bytes, b"plain");
            }
            let again = SkillBundle::from_files(
                bundle.files().iter().map(|f| (f.path.clone(), f.bytes.clone())),
            );
            assert_eq!(bundle.digest(), again.digest());
            reads += 1;
        }
        stop.store(true, Ordering::Relaxed);
        assert!(reads > 10);
    });
}
