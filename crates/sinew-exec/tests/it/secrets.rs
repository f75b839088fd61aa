//! Secrets stored elsewhere.

use sinew_exec::secret::{SecretCommands, resolve};
use sinew_exec::{EnvLeases, EnvValue};
use sinew_settings::config::SecretSetting;
use sinew_testkit::TestMachine;

fn machine() -> TestMachine {
    TestMachine::new()
        .var("KEPT", "from the variable")
        .var("BLANK", " ")
        .file("home/key.txt", "from the file\n")
        .file("home/empty.txt", "\n")
        .file("home/huge.txt", "x".repeat(70_000))
        .script("vault", "echo \"$1-$2\"; echo noise >&2")
        .script("broken", "echo canary; echo canary >&2; exit 3")
        .script("silent", ":")
        .script("shows", "echo \"${LEASED:-nothing}${LD_PRELOAD:-}\"")
        .var("LEASED", "leaked")
        .var("LD_PRELOAD", "leaked")
}

fn found(source: &str, id: &str) -> Result<EnvValue, String> {
    let machine = machine();
    let secret = SecretSetting::Reference { source: source.to_owned(), id: id.to_owned() };
    resolve(&secret, &machine.environment(), SecretCommands::Run(&EnvLeases::default()))
}

#[track_caller]
fn check(source: &str, id: &str, value: &str) {
    assert_eq!(found(source, id), Ok(EnvValue::new(value)), "{source} {id}");
}

#[track_caller]
fn check_missing(source: &str, id: &str, problem: &str) {
    let error = found(source, id).expect_err("there is no value");
    assert!(error.contains(problem), "{source} {id}: {error}");
    assert!(!error.contains("canary"), "{error}");
}

#[test]
fn variables_files_and_commands_give_values() {
    check("env", "KEPT", "from the variable");
    check("file", "~/key.txt", "from the file");
    check("exec", "vault read item", "read-item");
    check("command", "vault  read  item ", "read-item");
    // Only blanks separate arguments: there is no shell.
    check("exec", "vault $HOME;id `id`", "$HOME;id-`id`");
}

#[test]
fn what_is_missing_is_said_without_what_was_printed() {
    check_missing("env", "NOT_SET", "the variable NOT_SET is not set");
    check_missing("env", "BLANK", "is not set");
    check_missing("file", "~/none.txt", "cannot be read");
    check_missing("file", "~", "not a regular file");
    check_missing("file", "~/empty.txt", "is empty");
    check_missing("file", "~/huge.txt", "is larger than");
    check_missing("exec", "nosuchprogram x", "was not found");
    check_missing("exec", "broken", "failed with code 3");
    check_missing("exec", "silent", "printed nothing");
    check_missing("exec", " ", "is empty");
    check_missing("keychain", "x", "is not a source of secrets");
}

#[test]
fn a_command_gets_no_leased_variable_and_is_not_run_unasked() {
    let machine = machine();
    let leases = EnvLeases::default();
    let mut host = machine.environment();
    host.vars.remove("LEASED");
    let plan = sinew_exec::EnvPlan {
        vars: vec![sinew_exec::PlannedVar {
            name: "LEASED".to_owned(),
            value: EnvValue::new("x"),
            skill: "demo".to_owned(),
        }],
        records: Vec::new(),
    };
    let _lease = leases.acquire(plan, &host);
    let secret = SecretSetting::Reference { source: "exec".to_owned(), id: "shows".to_owned() };
    let env = machine.environment();
    assert_eq!(resolve(&secret, &env, SecretCommands::Run(&leases)), Ok(EnvValue::new("nothing")));
    assert!(resolve(&secret, &env, SecretCommands::Skip).is_err());
}
