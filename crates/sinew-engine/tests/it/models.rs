//! Models over real HTTP on loopback, and programs as models.

use std::time::{Duration, Instant};

use sinew_engine::model::{CompletionRequest, LanguageModelError, MAX_ANSWER, open_model};
use sinew_settings::Environment;
use sinew_settings::config::{ReviewerEndpoint, ReviewerProvider};
use sinew_testkit::{ModelManner, ModelServer, TestMachine};

const KEY: &str = "k3y-of-the-test";

fn machine() -> TestMachine {
    TestMachine::new().var("MODEL_KEY", KEY).var("PATH", "/usr/bin:/bin")
}

fn endpoint(base_url: &str) -> ReviewerEndpoint {
    ReviewerEndpoint {
        base_url: base_url.to_owned(),
        model: "m-1".to_owned(),
        api_key_env: Some("MODEL_KEY".to_owned()),
        json_mode: true,
        allow_insecure: false,
    }
}

fn request(deadline: Duration) -> CompletionRequest {
    CompletionRequest {
        system: "You answer.".to_owned(),
        prompt: "What now?".to_owned(),
        max_output_tokens: 2_000,
        deadline,
    }
}

fn ask_within(
    provider: &ReviewerProvider,
    env: &Environment,
    ms: u64,
) -> Result<String, LanguageModelError> {
    open_model(provider, env).expect("a model").complete(&request(Duration::from_millis(ms)))
}

fn ask(provider: &ReviewerProvider) -> Result<String, LanguageModelError> {
    ask_within(provider, &machine().environment(), 20_000)
}

fn openai(server: &ModelServer) -> ReviewerProvider {
    ReviewerProvider::OpenAi(endpoint(&format!("{}/v1", server.address())))
}

fn anthropic(server: &ModelServer) -> ReviewerProvider {
    ReviewerProvider::Anthropic(endpoint(server.address()))
}

#[test]
fn openai_is_spoken_as_it_is_on_the_wire() {
    let server = ModelServer::new([ModelManner::Says("{\"action\":\"none\"}".to_owned())]);
    assert_eq!(ask(&openai(&server)).as_deref(), Ok("{\"action\":\"none\"}"));
    let seen = &server.requests()[0];
    assert_eq!(seen.path, "/v1/chat/completions");
    assert_eq!(seen.header("authorization"), Some("Bearer k3y-of-the-test"));
    let body = seen.body.as_object().expect("a map");
    let keys: Vec<&str> = body.keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        ["model", "messages", "temperature", "max_tokens", "stream", "response_format"]
    );
    assert_eq!(body["messages"][0]["role"], "system");
    assert_eq!(body["messages"][1]["content"], "What now?");
    let plain = ReviewerEndpoint {
        json_mode: false,
        api_key_env: None,
        ..endpoint(&format!("{}/v1/", server.address()))
    };
    assert!(ask(&ReviewerProvider::OpenAi(plain)).is_ok());
    let seen = &server.requests()[1];
    assert_eq!((seen.header("authorization"), seen.body.get("response_format")), (None, None));
}

#[test]
fn anthropic_is_spoken_as_it_is_on_the_wire() {
    let server = ModelServer::new([ModelManner::Says("hello".to_owned())]);
    assert_eq!(
        ask(&anthropic(&server)).as_deref(),
        Ok("hello"),
        "text blocks alone are the answer"
    );
    let seen = &server.requests()[0];
    assert_eq!(seen.path, "/v1/messages");
    assert_eq!(seen.header("x-api-key"), Some(KEY));
    assert_eq!(seen.header("anthropic-version"), Some("2023-06-01"));
    let keys: Vec<&str> =
        seen.body.as_object().expect("a map").keys().map(String::as_str).collect();
    assert_eq!(keys, ["model", "system", "messages", "max_tokens"], "and no tools");
}

#[test]
fn servers_fail_in_ways_that_are_told_apart() {
    for of in [openai, anthropic] {
        let fails =
            |manner: ModelManner| ask(&of(&ModelServer::new([manner]))).expect_err("an error");
        for status in [401, 429, 500, 529] {
            let error = fails(ModelManner::Refuses(status));
            assert!(
                matches!(&error, LanguageModelError::Refused { status: s, .. } if *s == status),
                "{error}"
            );
            assert!(error.to_string().contains("try later"), "{error}");
        }
        assert!(matches!(fails(ModelManner::Rubbish), LanguageModelError::Unreadable(_)));
        let cut = fails(ModelManner::CutShort);
        assert!(
            matches!(
                cut,
                LanguageModelError::Unreachable { .. } | LanguageModelError::Unreadable(_)
            ),
            "{cut}"
        );
        assert_eq!(fails(ModelManner::Says("x".repeat(65 * 1024))), LanguageModelError::TooLong);
    }
    let unreachable = ReviewerProvider::OpenAi(endpoint("http://127.0.0.1:9/v1"));
    assert!(matches!(ask(&unreachable), Err(LanguageModelError::Unreachable { .. })));
}

#[test]
fn nothing_is_asked_twice_and_no_redirect_is_followed() {
    let server = ModelServer::new([ModelManner::Refuses(503)]);
    assert!(ask(&openai(&server)).is_err());
    assert_eq!(server.requests().len(), 1);
    let other = ModelServer::new([ModelManner::Says("caught".to_owned())]);
    let server = ModelServer::new([ModelManner::Redirects(format!(
        "{}/v1/chat/completions",
        other.address()
    ))]);
    assert!(matches!(ask(&openai(&server)), Err(LanguageModelError::Refused { status: 302, .. })));
    assert!(other.requests().is_empty(), "the key went nowhere else");
}

#[test]
fn the_deadline_covers_the_whole_answer() {
    let server = ModelServer::new([ModelManner::Hangs]);
    let asked = ask_within(&openai(&server), &machine().environment(), 300);
    assert_eq!(asked, Err(LanguageModelError::Timeout(Duration::from_millis(300))));
}

#[test]
fn keys_come_from_variables_and_are_in_no_error() {
    let server = ModelServer::new([ModelManner::Refuses(401)]);
    let error = ask(&openai(&server)).expect_err("refused");
    let shown =
        format!("{error} {error:?} {:?}", open_model(&openai(&server), &machine().environment()));
    assert!(!shown.contains(KEY), "{shown}");
    let unset = TestMachine::new().environment();
    let error = ask_within(&openai(&server), &unset, 1_000).expect_err("no key");
    assert_eq!(error.to_string(), "the variable MODEL_KEY of provider.apiKeyEnv is not set");
}

#[test]
fn plain_http_stays_on_this_machine() {
    let far = |base: &str, allow_insecure: bool| {
        let endpoint = ReviewerEndpoint { allow_insecure, ..endpoint(base) };
        ask_within(&ReviewerProvider::OpenAi(endpoint), &machine().environment(), 200)
            .expect_err("an error")
    };
    for base in ["http://192.0.2.1/v1", "http://model.example/v1", "http://127.0.0.1.example/v1"] {
        let error = far(base, false);
        assert!(
            matches!(&error, LanguageModelError::Config(why) if why.contains("allowInsecure")),
            "{error}"
        );
    }
    assert!(!matches!(far("http://192.0.2.1:9/v1", true), LanguageModelError::Config(_)));
    assert!(matches!(far("ftp://127.0.0.1/v1", false), LanguageModelError::Config(_)));
    assert!(matches!(far("not an address", false), LanguageModelError::Config(_)));
}

#[cfg(unix)]
mod programs {
    use super::*;

    fn shell(script: &str) -> ReviewerProvider {
        let argv = ["sh", "-c", script].map(str::to_owned).to_vec();
        ReviewerProvider::Command { argv, env: vec!["MODEL_KEY".to_owned()] }
    }

    #[test]
    fn the_prompt_goes_in_and_the_answer_comes_out() {
        let machine = machine().var("OTHER", "not for it");
        let env = machine.environment();
        let asked = |script: &str| ask_within(&shell(script), &env, 20_000);
        assert_eq!(asked("cat").as_deref(), Ok("You answer.\n\nWhat now?"));
        assert_eq!(asked("echo hello").as_deref(), Ok("hello\n"), "its input need not be read");
        assert_eq!(asked("ls -A | wc -l | tr -d ' '").as_deref(), Ok("0\n"), "in an empty folder");
        let given = asked(
            "env | cut -d= -f1 | grep -v -e PWD -e _ -e SHLVL | sort | tr '\\n' ' '; echo $MODEL_KEY $HOME $OTHER",
        );
        let home = env.home.to_string_lossy();
        assert_eq!(given, Ok(format!("HOME PATH {KEY} {home}\n")));
    }

    #[test]
    fn a_failure_is_told_with_its_complaint_and_without_secrets() {
        let error = ask(&shell("echo 'password: hunter22' >&2; exit 3")).expect_err("an error");
        let shown = error.to_string();
        assert!(shown.starts_with("sh ended with 3: ") && !shown.contains("hunter22"), "{shown}");
        let unreachable = ReviewerProvider::Command {
            argv: vec!["no-such-program-here".to_owned()],
            env: Vec::new(),
        };
        assert!(matches!(ask(&unreachable), Err(LanguageModelError::Unreachable { .. })));
        assert_eq!(
            ask(&shell("head -c 70000 /dev/zero | tr '\\0' x")),
            Err(LanguageModelError::TooLong)
        );
        assert_eq!(
            ask(&shell("yes")),
            Err(LanguageModelError::TooLong),
            "it is not read to its end"
        );
        assert!(matches!(ask(&shell("printf '\\377'")), Err(LanguageModelError::Unreadable(_))));
        let most = format!("head -c {MAX_ANSWER} /dev/zero | tr '\\0' x");
        assert_eq!(ask(&shell(&most)).map(|text| text.len()), Ok(MAX_ANSWER));
    }

    /// Whatever the program started is gone when its time is up, or when it has answered.
    #[test]
    fn children_do_not_outlive_the_answer() {
        let folder = tempfile::tempdir().expect("a folder");
        let pid_file = folder.path().join("pid");
        let script =
            |end: &str| format!("sleep 300 & echo $! > {}; {end}", pid_file.to_string_lossy());
        let gone = || {
            let pid = std::fs::read_to_string(&pid_file).expect("the child was started");
            let start = Instant::now();
            // A killed process may need a moment to leave the table.
            while start.elapsed() < Duration::from_secs(20) {
                let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
                if stat.map_or(true, |stat| stat.contains(") Z ")) {
                    return true;
                }
                std::thread::sleep(Duration::from_millis(10));
            }
            false
        };
        let hung = ask_within(&shell(&script("wait")), &machine().environment(), 500);
        assert_eq!(hung, Err(LanguageModelError::Timeout(Duration::from_millis(500))));
        assert!(gone());
        assert_eq!(ask(&shell(&script("echo done"))).as_deref(), Ok("done\n"));
        assert!(gone());
    }
}
