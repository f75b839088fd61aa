//! What the two hashes see, and what they do not.

use serde_json::{Value, json};
use sinew_testkit::{GenericTrace, generic_trace};
use sinew_traces::{RunStep, are_near, fingerprint, simhash, tokens};

use crate::read;

fn steps(run: &GenericTrace) -> Vec<RunStep> {
    read(run.lines().as_bytes()).0.remove(0).steps
}

fn phone(x: i64, text: &str, package: &str, capability: &str) -> GenericTrace {
    generic_trace("t")
        .step(json!({"type": "launch_app", "packageName": package}))
        .step(json!({"type": "request_human_auth", "capability": capability}))
        .step(json!({"type": "tap", "x": x, "y": 2 * x}))
        .step_with(json!({"type": "type", "text": text}), text, Value::Null)
}

#[test]
fn coordinates_text_and_results_do_not_count_packages_and_capabilities_do() {
    let of = |run: GenericTrace| fingerprint(&steps(&run));
    let first = of(phone(1, "a", "com.a", "camera"));
    assert_eq!(first, of(phone(700, "something else", "com.a", "camera")));
    assert_ne!(first, of(phone(1, "a", "com.b", "camera")));
    assert_ne!(first, of(phone(1, "a", "com.a", "contacts")));
    let many = |count: usize| {
        let run = generic_trace("t");
        of((0..count).fold(run, |run, _| run.step(json!({"type": "tap", "x": 1, "y": 1}))))
    };
    assert_eq!(many(25), many(26), "a 26th step does not count");
    assert_ne!(many(24), many(25));
}

/// Tokens are drawn by a generator of our own, so that a failure can be seen again.
struct Drawn(u64);

impl Drawn {
    fn next(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }

    fn token(&mut self) -> String {
        format!("app{}:exec:sub{},-f{}", self.next(40), self.next(40), self.next(20))
    }

    fn tokens(&mut self, count: usize) -> Vec<String> {
        (0..count).map(|_| self.token()).collect()
    }
}

#[test]
fn waits_and_values_leave_the_hash_alone() {
    let hash = |run: GenericTrace| simhash(&tokens(&steps(&run)));
    let plain = generic_trace("t").exec("cwebp -q 82 a.png -o a.webp").exec("ls -l");
    let waiting = generic_trace("t")
        .exec("cwebp -q 82 a.png -o a.webp")
        .step(json!({"type": "wait", "durationMs": 5}))
        .exec("ls -l")
        .step(json!({"type": "wait", "durationMs": 9}));
    let other = generic_trace("t").exec("cwebp -q 90 b.png -o b.webp").exec("ls -l");
    let plain = hash(plain);
    assert_eq!(plain, hash(waiting));
    assert_eq!(plain, hash(other));
}

#[test]
fn one_step_of_ten_stays_near_and_other_runs_are_far() {
    const TRIALS: usize = 1_000;
    let mut drawn = Drawn(0x5eed_1e57);
    let (mut near, mut far) = (0, 0);
    for _ in 0..TRIALS {
        let run = drawn.tokens(10);
        let mut changed = run.clone();
        let at = drawn.next(10) as usize;
        changed[at] = drawn.token();
        near += usize::from((simhash(&run) ^ simhash(&changed)).count_ones() <= 16);
        let other = drawn.tokens(10);
        far += usize::from((simhash(&run) ^ simhash(&other)).count_ones() > 16);
        assert!(!are_near(&run, &other));
    }
    assert!(near * 100 >= TRIALS * 90, "{near} of {TRIALS} are near");
    assert!(far * 100 >= TRIALS * 99, "{far} of {TRIALS} are far");
}
