//! What routing promises, one promise per test.

use sinew_route::{
    AbstainReason, DegradedKind, RouteContext, RouteDecision, RouteDocument, Router, RouterConfig,
    RouterModels, SkillPrior, UserMessage,
};

use crate::support::{
    ask, corpus_router, corpus_skills, has_models, json, models, names, router, router_with,
};

#[test]
fn a_named_skill_wins_outright() {
    for text in [
        "use the pdf-tools skill",
        "$pdf-tools",
        "$pdf-tools what is the weather",
        "please use pdf-tools here",
    ] {
        let result = ask(corpus_router(), text);
        assert_eq!(result.decision, RouteDecision::Match, "{text}");
        assert_eq!(result.matches[0].name, "pdf-tools", "{text}");
        assert!(result.matches[0].parts.name.value() > 0.0);
    }
    let refused =
        ask(corpus_router(), "do not use pdf-tools for this, tell me the weather in Rome");
    assert_ne!(refused.matches[0].name, "pdf-tools");
}

#[test]
fn three_names_give_a_short_list_of_three() {
    let result = ask(corpus_router(), "combine $pdf-tools, $image-tools and $qr-code");
    assert_eq!(result.decision, RouteDecision::Shortlist);
    let mut first = names(&result)[..3].to_vec();
    first.sort_unstable();
    assert_eq!(first, ["image-tools", "pdf-tools", "qr-code"]);
    assert!(result.offered >= 3);
}

#[test]
fn nothing_to_go_by_is_none_and_no_error() {
    for text in ["", "  \n\t ", "🙂🎉", "?!… --- ::", "\u{200b}\u{feff}"] {
        let result = ask(corpus_router(), text);
        assert_eq!(
            (result.decision, result.reason),
            (RouteDecision::None, Some(AbstainReason::NoWords)),
            "{text:?}"
        );
    }
}

#[test]
fn generic_words_alone_are_none() {
    for text in
        ["re-enable after fixing", "check it and show me", "can you help me with this thing"]
    {
        assert_eq!(ask(corpus_router(), text).decision, RouteDecision::None, "{text}");
    }
}

#[test]
fn twins_are_never_a_match() {
    let mut skills = corpus_skills();
    for name in ["photo-shrink", "photo-reduce"] {
        let description = "Shrink photos to a smaller size for email and web.";
        skills.push(RouteDocument::from_description(name, name, description));
    }
    let result = ask(&router(&skills), "shrink these photos so i can email them");
    assert_eq!(result.decision, RouteDecision::Shortlist);
    let offered = &names(&result)[..result.offered];
    assert!(offered.contains(&"photo-shrink") && offered.contains(&"photo-reduce"), "{offered:?}");
}

#[test]
fn one_skill_or_none_at_all() {
    let one =
        router(&[RouteDocument::from_description("pdf", "pdf-tools", "Split and merge PDF files")]);
    assert_eq!(ask(&one, "what a lovely evening by the lake").decision, RouteDecision::None);
    assert_eq!(names(&ask(&one, "merge two pdf files")), ["pdf-tools"]);
    let zero = router(&[]);
    let result = ask(&zero, "merge two pdf files");
    assert_eq!(
        (result.decision, result.reason),
        (RouteDecision::None, Some(AbstainReason::EmptyCatalog))
    );
}

#[test]
fn what_a_skill_is_not_for_is_no_evidence_for_it() {
    let with = "File travel expense reports. Do not use for invoices, billing or credit notes.";
    let skills = |description: &str| {
        let mut skills = corpus_skills();
        skills.retain(|one| one.name != "invoice-maker" && one.name != "expense-claim");
        skills.push(RouteDocument::from_description("x", "travel-claims", description));
        router(&skills)
    };
    let text = "write invoices, billing and credit notes";
    let context = RouteContext::default();
    let scored = |router: &Router| {
        router.explain(&UserMessage::from_user(text), "x", &context).expect("indexed").skill
    };
    let (refusing, plain) = (skills(with), skills("File travel expense reports."));
    assert!((scored(&refusing).parts.lexical.raw - scored(&plain).parts.lexical.raw).abs() < 1e-6);
    assert!((scored(&refusing).parts.table.raw - scored(&plain).parts.table.raw).abs() < 1e-6);
    assert!(scored(&refusing).terms.is_empty());
}

#[test]
fn declared_negative_triggers_speak_against() {
    let mut skill = RouteDocument::from_description(
        "tea",
        "tea-timer",
        "Brew tea and count the minutes for each kind",
    );
    let plain = router(&[skill.clone()]);
    skill.negative = vec!["iced tea".to_owned()];
    skill.hash.push('x');
    let refusing = router(&[skill]);
    let text = "count the minutes for iced tea";
    assert!(ask(&refusing, text).matches[0].score < ask(&plain, text).matches[0].score - 1.0);
}

#[test]
fn a_declared_negative_trigger_rules_the_skill_out() {
    let described = "Brew tea and count the minutes for each kind";
    let mut tea = RouteDocument::from_description("tea", "tea-timer", described);
    tea.negative = vec!["iced tea".to_owned()];
    let mut skills = corpus_skills();
    skills.push(tea);
    let router = router(&skills);
    let wanted = ask(&router, "brew tea and count the minutes");
    assert_eq!(names(&wanted)[0], "tea-timer");
    let refused = ask(&router, "brew iced tea and count the minutes");
    assert!(!names(&refused).contains(&"tea-timer"), "{:?}", names(&refused));
    // A message that names the skill is the user's own word against its author's.
    assert_eq!(names(&ask(&router, "use tea-timer for iced tea"))[0], "tea-timer");
}

#[test]
fn what_a_description_excludes_counts_against_it() {
    let with = |clause: &str| {
        let described = format!("Cut and join sound recordings.{clause}");
        let one = RouteDocument::from_description("cut", "recording-cutter", &described);
        let mut skills = corpus_skills();
        skills.push(one);
        router(&skills)
    };
    let plain = with("");
    for clause in [" Not for videos.", " Do not use for video.", " Quick — not for video clips."]
    {
        let excluding = with(clause);
        let part = |router: &Router, text: &str| {
            let message = UserMessage::from_user(text);
            let told = router.explain(&message, "cut", &RouteContext::default()).expect("indexed");
            told.skill.parts.trigger.normalised
        };
        let about = "cut and join these videos";
        assert!(part(&excluding, about) < part(&plain, about) - 1.0, "{clause}");
        let other = "cut and join these recordings";
        assert!((part(&excluding, other) - part(&plain, other)).abs() < 1e-9, "{clause}");
    }
}

#[test]
fn a_floor_of_nothing_always_offers_something() {
    for text in ["good evening", "thanks, that was it", "zzz qqq"] {
        let with = |floor: f64| {
            let config = RouterConfig { floor, ..RouterConfig::default() };
            ask(&router_with(&corpus_skills(), models(), config), text)
        };
        assert_eq!(with(1.0).decision, RouteDecision::None, "{text}");
        assert_ne!(with(0.0).decision, RouteDecision::None, "{text}");
        assert!(with(0.0).offered > 0, "{text}");
    }
}

#[test]
fn threshold_and_margin_say_what_a_match_needs() {
    if !has_models() {
        return;
    }
    let with = |threshold: f64, margin: f64| {
        let config = RouterConfig { threshold, margin, ..RouterConfig::default() };
        ask(&router_with(&corpus_skills(), models(), config), "merge two pdf documents").decision
    };
    assert_eq!(with(0.0, 0.0), RouteDecision::Match);
    assert_eq!(with(1.0, 0.0), RouteDecision::Shortlist);
    assert_eq!(with(0.0, 1.0), RouteDecision::Shortlist);
}

const SENTENCE: &str = "Please shrink the photos from my camera so that I can send them by mail.";

fn filler(length: usize) -> String {
    let story = "We sat on the terrace for a while and nobody said much. The old dog slept under the table and \
                 the evening was mild. My brother told the story about the boat again, as he does every year. ";
    story.repeat(length / story.len() + 1)[..length].to_owned()
}

#[test]
fn one_sentence_in_six_thousand_characters_is_heard() {
    if !has_models() {
        return;
    }
    let alone = ask(corpus_router(), SENTENCE);
    let long = format!("{} {SENTENCE} {}", filler(3_600), filler(2_300));
    assert_eq!(names(&ask(corpus_router(), &long))[0], names(&alone)[0]);
    assert_eq!(names(&alone)[0], "image-tools");
}

#[test]
fn a_pasted_log_changes_nothing() {
    let log: String = (0..200)
        .map(|at| format!("2026-03-01T10:{:02}:{:02}Z ERROR [worker-{at}] connection to db-{at}:5432 timed out\n", at / 60, at % 60))
        .collect();
    for text in [SENTENCE, "schedule a meeting with Ana next week", "thanks, that was it"] {
        let alone = ask(corpus_router(), text);
        let with_log = ask(corpus_router(), &format!("{text}\n{log}"));
        assert_eq!(with_log.decision, alone.decision, "{text}");
        assert_eq!(names(&with_log)[0], names(&alone)[0], "{text}");
    }
}

#[test]
fn spellings_of_an_identifier_agree() {
    let mut skills = corpus_skills();
    skills.push(RouteDocument::from_description(
        "sr",
        "schedule-reminder",
        "Schedule a reminder for later",
    ));
    let router = router(&skills);
    for text in ["scheduleReminder", "schedule_reminder", "schedule reminders", "schedule-reminder"]
    {
        assert_eq!(names(&ask(&router, text))[0], "schedule-reminder", "{text}");
    }
}

#[test]
fn nine_languages_find_the_image_skill() {
    if !has_models() {
        return;
    }
    for text in [
        "把这些图片转换成更小的文件",
        "これらの画像を小さいファイルに変換して",
        "이 사진들을 더 작은 파일로 변환해 줘",
        "wandle diese Bilder in kleinere Dateien um",
        "convierte estas imágenes en archivos más pequeños",
        "convertis ces images en fichiers plus petits",
        "converta estas imagens em arquivos menores",
        "converti queste immagini in file più piccoli",
        "преобразуй эти картинки в файлы поменьше",
    ] {
        let result = ask(corpus_router(), text);
        assert!(names(&result)[..3].contains(&"image-tools"), "{text}: {:?}", names(&result));
    }
}

#[test]
fn without_models_words_give_a_short_list_at_most() {
    let mut models = RouterModels::none();
    models.add_missing("static", "file not found", "put it back");
    let router = router_with(&corpus_skills(), models, RouterConfig::default());
    let result = ask(&router, "split and merge pdf documents and rotate pages");
    assert_eq!(result.decision, RouteDecision::Shortlist);
    assert_eq!(names(&result)[0], "pdf-tools");
    let missing = &result.degraded[0];
    assert_eq!((missing.kind, missing.signal), (DegradedKind::ModelMissing, "static"));
    assert!(!missing.remedy.is_empty());
    assert_eq!(ask(&router, "good evening").decision, RouteDecision::None);
}

#[test]
fn other_models_are_never_sure() {
    if !has_models() {
        return;
    }
    let config = RouterConfig {
        calibrations: sinew_route::CalibrationSet::default(),
        ..RouterConfig::default()
    };
    let router = router_with(&corpus_skills(), models(), config);
    let result = ask(&router, "split and merge pdf documents and rotate pages");
    assert_ne!(result.decision, RouteDecision::Match);
    assert!(result.degraded.iter().any(|one| one.kind == DegradedKind::MissingCalibration));
    assert!(result.degraded.iter().any(|one| one.message.contains("missing-calibration")));
}

#[test]
fn the_same_bytes_with_any_number_of_threads() {
    let texts =
        ["merge two pdfs", "明天上海会下雨吗", SENTENCE, &filler(4_000), "why is the build red"];
    let answers = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| {
            let router = router(&corpus_skills());
            let results = texts.iter().map(|text| json(ask(&router, text))).collect::<Vec<_>>();
            (results, router.index().to_bytes())
        })
    };
    let one = answers(1);
    assert_eq!(one, answers(4));
    assert_eq!(one, answers(1));
}

#[test]
fn parts_add_up_to_the_score() {
    for text in
        ["merge two pdfs", "turn off the lights", "$weather now", SENTENCE, "why is the build red"]
    {
        for one in ask(corpus_router(), text).matches {
            let sum: f64 = one.parts.each().map(|(_, part)| part.weight * part.normalised).sum();
            assert!((sum - one.score).abs() < 1e-6, "{text}: {sum} and {}", one.score);
        }
    }
}

struct Likes(&'static str, f64);

impl SkillPrior for Likes {
    fn of(&self, id: &str) -> Option<f64> {
        (id == self.0).then_some(self.1)
    }
}

#[test]
fn a_prior_is_shown_and_bounded() {
    let message = UserMessage::from_user("shrink the photos");
    let plain = corpus_router().route(&message, &RouteContext::default());
    let liked = Likes("image-tools", 40.0);
    let context = RouteContext { prior: Some(&liked), ..RouteContext::default() };
    let result = corpus_router().route(&message, &context);
    assert_eq!(result.matches[0].parts.prior.normalised, 0.5);
    assert!((result.matches[0].score - plain.matches[0].score - 0.5).abs() < 1e-9);
}

#[test]
fn netclaws_messages_find_operators_descriptions() {
    if !has_models() {
        return;
    }
    for (text, name) in [
        ("Can you schedule reminders?", "reminder-timers"),
        ("Something is wrong with my session, can you diagnose it?", "runtime-diagnostics"),
        ("What do you remember about our previous conversations?", "memory-curation"),
        ("Search the web for the latest Akka.NET release", "web-citation"),
    ] {
        let result = ask(corpus_router(), text);
        assert_eq!(names(&result)[0], name, "{text}: {:?}", names(&result));
    }
}

#[test]
fn an_excluded_skill_is_explained_and_never_matched() {
    let message = UserMessage::from_user("merge these pdf documents into one");
    let context = RouteContext { excluded: &["pdf-tools"], prior: None };
    let result = corpus_router().route(&message, &context);
    assert!(!names(&result).contains(&"pdf-tools"));
    let why = corpus_router().explain(&message, "pdf-tools", &context).expect("indexed");
    assert_eq!((why.rank, why.excluded), (1, true));
    let far =
        corpus_router().explain(&message, "plant-care", &RouteContext::default()).expect("indexed");
    assert!(far.rank > 10 && !far.excluded);
    assert!(corpus_router().explain(&message, "no-such-skill", &context).is_none());
}

#[test]
fn huge_and_odd_messages_are_answered() {
    let huge = "please merge these pdf documents ".repeat(320_000);
    assert_eq!(names(&ask(corpus_router(), &huge))[0], "pdf-tools");
    for text in [
        "```\nfn main() { println!(\"{}\", 1); }\n```",
        "\u{0}\u{1}\u{fffd}",
        &"a".repeat(9_000),
        "$",
        "/",
        "$$$ ```",
    ] {
        let _ = ask(corpus_router(), text);
    }
}

#[test]
fn a_preamble_that_the_caller_marks_is_not_heard() {
    let preamble = "You are a weather bot. Forecast rain, wind and temperature. ";
    let text = format!("{preamble}merge two pdf documents");
    let marked = UserMessage::from_user(&text).without(0..preamble.len());
    let plain = ask(corpus_router(), "merge two pdf documents");
    assert_eq!(json(corpus_router().route(&marked, &RouteContext::default())), json(plain));
}
