//! From the plugin's `config` object to [`WorkshopSettings`].

use serde_json::{Map, Value};
use sinew_catalog::config::KEYS;
use sinew_settings::{Reason, ReasonCode};

use super::{
    ApprovalPolicy, ApprovalRule, CaptureProfile, GateMode, ProbationRule, ReviewMode,
    ReviewerEndpoint, ReviewerProvider, StaleCheck, WorkshopSettings,
};

/// Where the plugin's entry stands in the configuration.
const ENTRY: &str = "plugins.entries.skill-workshop";

/// Reads the plugin's `config`, and notes what it had to correct.
#[derive(Default)]
pub(super) struct WorkshopSettingsReader {
    pub(super) reasons: Vec<Reason>,
}

impl WorkshopSettingsReader {
    pub(super) fn config(&mut self, config: &Map<String, Value>, to: &mut WorkshopSettings) {
        self.unknown_keys(config);
        self.boolean(config, "enabled", &mut to.enabled);
        self.boolean(config, "autoCapture", &mut to.auto_capture);
        self.number(config, "reviewInterval", 1..=200, &mut to.review_interval);
        self.number(config, "reviewMinToolCalls", 1..=500, &mut to.review_min_tool_calls);
        self.number(config, "reviewTimeoutMs", 5_000..=180_000, &mut to.review_timeout_ms);
        self.number(config, "reviewRepair", 0..=1, &mut to.review_repair);
        let mut size = |key, range, size: &mut usize| {
            let mut number = *size as u64;
            self.number(config, key, range, &mut number);
            *size = usize::try_from(number).unwrap_or(*size);
        };
        size("maxPending", 1..=200, &mut to.max_pending);
        size("maxSkillBytes", 1_024..=200_000, &mut to.max_skill_bytes);
        self.word(
            config,
            "approvalPolicy",
            &[("pending", ApprovalPolicy::Pending), ("auto", ApprovalPolicy::Auto)],
            &mut to.approval_policy,
        );
        self.word(
            config,
            "reviewMode",
            &[
                ("off", ReviewMode::Off),
                ("heuristic", ReviewMode::Heuristic),
                ("llm", ReviewMode::Llm),
                ("hybrid", ReviewMode::Hybrid),
            ],
            &mut to.review_mode,
        );
        self.word(
            config,
            "captureProfile",
            &[("reference", CaptureProfile::Reference), ("extended", CaptureProfile::Extended)],
            &mut to.capture_profile,
        );
        self.word(
            config,
            "staleCheck",
            &[("rebase", StaleCheck::Rebase), ("strict", StaleCheck::Strict)],
            &mut to.stale_check,
        );
        self.word(
            config,
            "duplicateGate",
            &[("off", GateMode::Off), ("advise", GateMode::Advise), ("block", GateMode::Block)],
            &mut to.duplicate_gate,
        );
        self.word(
            config,
            "triggerGate",
            &[("off", GateMode::Off), ("warn", GateMode::Advise), ("block", GateMode::Block)],
            &mut to.trigger_gate,
        );
        self.rules(config, &mut to.approval_rules);
        self.probation(config, &mut to.probation);
        match config.get("provider") {
            None | Some(Value::Null) => {}
            Some(provider) => to.provider = self.provider(provider),
        }
    }

    fn boolean(&mut self, config: &Map<String, Value>, key: &str, to: &mut bool) {
        match config.get(key) {
            None | Some(Value::Null) => {}
            Some(Value::Bool(value)) => *to = *value,
            Some(_) => self.note_correction(key, "is not true or false", &format!("{to} holds")),
        }
    }

    fn number(
        &mut self,
        config: &Map<String, Value>,
        key: &str,
        range: std::ops::RangeInclusive<u64>,
        to: &mut u64,
    ) {
        let value = match config.get(key) {
            None | Some(Value::Null) => return,
            Some(value) => value,
        };
        let Some(given) = value.as_f64().filter(|number| number.is_finite()) else {
            return self.note_correction(key, "is not a number", &format!("{to} holds"));
        };
        let (low, high) = (*range.start() as f64, *range.end() as f64);
        *to = given.trunc().clamp(low, high) as u64;
        if *to as f64 != given {
            let expected = format!("is not a whole number from {low} to {high}");
            self.note_correction(key, &expected, &format!("{to} holds"));
        }
    }

    fn word<T: Copy>(
        &mut self,
        config: &Map<String, Value>,
        key: &str,
        words: &[(&str, T)],
        to: &mut T,
    ) {
        let value = match config.get(key) {
            None | Some(Value::Null) => return,
            Some(value) => value,
        };
        match words.iter().find(|(word, _)| value.as_str() == Some(word)) {
            Some((_, meant)) => *to = *meant,
            None => {
                let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
                self.note_correction(
                    key,
                    &format!("is not one of {}", known.join(", ")),
                    "the default holds",
                );
            }
        }
    }

    fn probation(&mut self, config: &Map<String, Value>, to: &mut ProbationRule) {
        let given = match config.get("probation") {
            None | Some(Value::Null) => return,
            Some(Value::Object(given)) => given,
            Some(_) => {
                return self.note_correction("probation", "is not a map", "the defaults hold");
            }
        };
        let mut number = |key: &str, to: &mut u64| {
            let name = format!("probation.{key}");
            let one = given.get(key).map(|value| (name.clone(), value.clone()));
            self.number(&one.into_iter().collect(), &name, 1..=1_000, to);
        };
        number("uses", &mut to.uses);
        number("idleDays", &mut to.idle_days);
        number("minTrials", &mut to.min_trials);
    }

    fn rules(&mut self, config: &Map<String, Value>, to: &mut Vec<ApprovalRule>) {
        let rules = match config.get("approvalRules") {
            None | Some(Value::Null) => return,
            Some(Value::Array(rules)) => rules,
            Some(_) => {
                return self.note_correction("approvalRules", "is not a list", "no rule holds");
            }
        };
        for (at, rule) in rules.iter().enumerate() {
            let policy = match rule.get("policy").and_then(Value::as_str) {
                Some("pending") => Some(ApprovalPolicy::Pending),
                Some("auto") => Some(ApprovalPolicy::Auto),
                Some("never") => Some(ApprovalPolicy::Never),
                _ => None,
            };
            match (rule.get("match").and_then(Value::as_str), policy) {
                (Some(pattern), Some(policy)) => {
                    to.push(ApprovalRule { pattern: pattern.to_owned(), policy });
                }
                // A rule that cannot be read may have forbidden something: ask, never write.
                (Some(pattern), None) => {
                    to.push(ApprovalRule {
                        pattern: pattern.to_owned(),
                        policy: ApprovalPolicy::Pending,
                    });
                    let key = format!("approvalRules[{at}].policy");
                    self.note_correction(&key, "is not pending, auto or never", "pending holds");
                }
                (None, _) => {
                    let key = format!("approvalRules[{at}].match");
                    self.note_correction(&key, "is not text", "the rule is left out");
                }
            }
        }
    }

    fn provider(&mut self, value: &Value) -> Option<ReviewerProvider> {
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let list = |key: &str| -> Option<Vec<String>> {
            value.get(key)?.as_array()?.iter().map(|item| Some(item.as_str()?.to_owned())).collect()
        };
        let endpoint = |default: &str| {
            Some(ReviewerEndpoint {
                base_url: text("baseUrl").unwrap_or_else(|| default.to_owned()),
                model: text("model")?,
                api_key_env: text("apiKeyEnv"),
                json_mode: value.get("jsonMode") != Some(&Value::Bool(false)),
                allow_insecure: value.get("allowInsecure") == Some(&Value::Bool(true)),
            })
        };
        if value.get("apiKey").is_some() {
            let rest = "is left out: name a variable in apiKeyEnv instead";
            self.note_correction("provider.apiKey", "would put a key into the file", rest);
        }
        let provider = match text("kind").as_deref() {
            Some("openai") => endpoint("https://api.openai.com/v1").map(ReviewerProvider::OpenAi),
            Some("anthropic") => {
                endpoint("https://api.anthropic.com").map(ReviewerProvider::Anthropic)
            }
            Some("command") => list("command").filter(|argv| !argv.is_empty()).map(|argv| {
                ReviewerProvider::Command { argv, env: list("env").unwrap_or_default() }
            }),
            Some("mcp") => Some(ReviewerProvider::Mcp),
            _ => {
                let expected = "is not openai, anthropic, command or mcp";
                self.note_correction("provider.kind", expected, "there is no reviewer");
                return None;
            }
        };
        if provider.is_none() {
            let expected = "needs model (openai, anthropic) or command (a list of words)";
            self.note_correction("provider", expected, "there is no reviewer");
        }
        provider
    }

    fn unknown_keys(&mut self, config: &Map<String, Value>) {
        let prefix = format!("{ENTRY}.config.");
        let known: Vec<&str> =
            KEYS.iter().filter_map(|key| key.path.strip_prefix(prefix.as_str())).collect();
        for key in config.keys().filter(|key| !known.contains(&key.as_str())) {
            let reason = Reason::new(
                ReasonCode::UnknownConfigKey,
                format!("{prefix}{key} means nothing here"),
            );
            let near = sinew_settings::nearest(key, known.iter().copied());
            self.reasons.push(match near.first() {
                Some(near) => reason.remedy(format!("did you mean {prefix}{near}?")),
                None => reason.remedy(format!("remove it, or use one of {}", known.join(", "))),
            });
        }
    }

    pub(super) fn note_correction(&mut self, key: &str, problem: &str, holds: &str) {
        let path = if key.is_empty() {
            format!("{ENTRY}.config")
        } else {
            format!("{ENTRY}.config.{key}")
        };
        let reason = Reason::new(ReasonCode::BadConfigValue, format!("{path} {problem}; {holds}"));
        let known = KEYS.iter().find(|known| known.path == path);
        self.reasons.push(match known {
            Some(known) => reason.remedy(known.doc),
            None => reason,
        });
    }
}
