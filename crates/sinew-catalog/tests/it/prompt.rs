//! Section 13: the prompt block.

use proptest::prelude::*;
use sinew_catalog::Tier;
use sinew_catalog::prompt::{
    OPENPOCKET_MAX_CHARS, PromptBlock, PromptEscapes, PromptLimits, PromptMode, PromptRequest,
    PromptSkill, PromptWording, build, trigger_hints,
};
use sinew_settings::ReasonCode;
use sinew_settings::config::{PromptOrder, PromptPlanner};

const PLANNERS: [PromptPlanner; 3] =
    [PromptPlanner::Graded, PromptPlanner::Openclaw, PromptPlanner::Prefix];

fn skill<'a>(name: &'a str, description: &'a str) -> PromptSkill<'a> {
    PromptSkill { name, description, location: "~/s/SKILL.md", ..PromptSkill::default() }
}

/// The entries of a block: name and, if it is shown, the description.
fn entries(block: &PromptBlock) -> Vec<(String, Option<String>)> {
    let Some(at) = block.text.find("<available_skills>") else { return Vec::new() };
    let document = roxmltree::Document::parse(&block.text[at..]).expect("the block is XML");
    let field = |skill: roxmltree::Node<'_, '_>, name: &str| {
        let node = skill.children().find(|node| node.has_tag_name(name))?;
        Some(node.text().unwrap_or_default().to_owned())
    };
    let entry = |skill: roxmltree::Node<'_, '_>| match skill.attribute("name") {
        Some(name) => {
            let text = skill.text().unwrap_or_default().to_owned();
            (name.to_owned(), Some(text).filter(|text| !text.is_empty()))
        }
        None => (field(skill, "name").expect("a name"), field(skill, "description")),
    };
    let skills = document.root_element().children().filter(|node| node.has_tag_name("skill"));
    skills.map(entry).collect()
}

fn names(block: &PromptBlock) -> Vec<String> {
    entries(block).into_iter().map(|(name, _)| name).collect()
}

fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

fn chars(max_chars: usize) -> PromptLimits {
    PromptLimits { max_chars, ..PromptLimits::default() }
}

/// Forty skills with descriptions of 300 characters, and room for the names and about half of the
/// text.
struct Forty {
    names: Vec<String>,
    descriptions: Vec<String>,
}

impl Forty {
    const BUDGET: usize = 10_000;

    fn new() -> Self {
        let mut names: Vec<String> = (0..39).map(|i| format!("skill-{i:02}")).collect();
        names.push("zz".to_owned());
        Self { names, descriptions: vec!["d".repeat(300); 40] }
    }

    fn skills(&self) -> Vec<PromptSkill<'_>> {
        self.names.iter().zip(&self.descriptions).map(|(name, text)| skill(name, text)).collect()
    }
}

#[test]
fn hostile_fields_stay_text() {
    let skills = [skill("</skill><x>", "a & b 'c' \"d\"")];
    let block = build(&PromptRequest::new(&skills));
    assert!(block.text.contains("<name>&lt;/skill&gt;&lt;x&gt;</name>"));
    assert!(block.text.contains("a &amp; b &apos;c&apos; &quot;d&quot;"));
    assert_eq!(block.text.matches("</available_skills>").count(), 1);
    let mut pocket = PromptRequest::new(&skills);
    pocket.escapes = PromptEscapes::KeepApostrophe;
    assert!(build(&pocket).text.contains("a &amp; b 'c' &quot;d&quot;"));
}

#[test]
fn the_block_has_its_form() {
    let noted = PromptSkill { location_note: Some("on <mac>"), ..skill("a", "Does a") };
    let block = build(&PromptRequest::new(std::slice::from_ref(&noted)));
    assert!(
        block.text.ends_with(
            "\n\n<available_skills>
  <skill>
    <name>a</name>
    <description>Does a</description>
    <location>~/s/SKILL.md</location>
    <location_note>on &lt;mac&gt;</location_note>
  </skill>
</available_skills>"
        ),
        "{}",
        block.text
    );
    assert_eq!(block.report.used, units(&block.text));
}

#[test]
fn descriptions_share_the_room_evenly() {
    let forty = Forty::new();
    let skills = forty.skills();
    let mut request = PromptRequest::new(&skills);
    request.limits = chars(Forty::BUDGET);
    let block = build(&request);
    let lengths: Vec<usize> = entries(&block)
        .into_iter()
        .map(|(_, text)| text.expect("every text is there"))
        .inspect(|text| assert!(text.ends_with("...")))
        .map(|text| units(&text))
        .collect();
    assert_eq!(lengths.len(), 40);
    let (least, most) = (lengths.iter().min(), lengths.iter().max());
    assert!(most.expect("some") - least.expect("some") <= 1, "{lengths:?}");
    assert_eq!(block.report.shortened.len(), 40);
    assert_eq!(block.report.used, Forty::BUDGET, "not a unit is wasted");
    assert_eq!(units(&block.text), Forty::BUDGET);
    assert!(block.text.contains("All 40 skills are listed, with descriptions cut short"));
    assert_eq!(block.report.warning(), None);
}

#[test]
fn a_short_description_is_untouched() {
    let mut forty = Forty::new();
    forty.descriptions[7] = "ten chars.".to_owned();
    let skills = forty.skills();
    let mut request = PromptRequest::new(&skills);
    request.limits = chars(Forty::BUDGET);
    let block = build(&request);
    assert_eq!(entries(&block)[7].1.as_deref(), Some("ten chars."));
    assert_eq!(block.report.shortened.len(), 39);
}

#[test]
fn the_skill_that_fits_the_message_keeps_its_text() {
    let forty = Forty::new();
    let mut skills = forty.skills();
    skills[39].score = Some(0.9);
    let mut request = PromptRequest::new(&skills);
    request.limits = chars(Forty::BUDGET);
    request.message_known = true;
    let block = build(&request);
    assert_eq!(entries(&block)[39].1.as_deref(), Some(&*"d".repeat(300)));
    assert_eq!(names(&block).len(), 40);
    // Without a message the score is ignored.
    request.message_known = false;
    assert_eq!(build(&request).report.shortened.len(), 40);
}

#[test]
fn own_skills_are_not_cut_for_their_first_letter() {
    let bundled: Vec<String> = (0..200).map(|i| format!("bundled-{i:03}")).collect();
    let mut skills: Vec<PromptSkill<'_>> = bundled.iter().map(|name| skill(name, "d")).collect();
    skills.push(PromptSkill { tier: Tier::Personal, ..skill("zzz-mine", "d") });
    let block = build(&PromptRequest::new(&skills));
    assert_eq!(block.report.included, 150);
    assert_eq!(names(&block).last().map(String::as_str), Some("zzz-mine"));
    assert_eq!(block.report.omitted.len(), 51);
    for omitted in &block.report.omitted {
        assert_eq!(omitted.reason, ReasonCode::PromptCount);
        assert!(omitted.name.starts_with("bundled-"));
    }
    assert_eq!(block.reasons.len(), 51);
    let warning = block.report.warning().expect("the user is told");
    assert!(warning.contains("150 of 201"), "{warning}");
    assert!(block.text.contains("150 of 201 skills are listed."), "{}", &block.text[..800]);
}

#[test]
fn nothing_fits_is_an_empty_string() {
    let skills = [skill("a", "Does a"), skill("b", "Does b")];
    for planner in PLANNERS {
        let mut request = PromptRequest::new(&skills);
        request.planner = planner;
        request.limits = chars(20);
        request.remote_note = Some("n");
        let block = build(&request);
        assert_eq!(block.text, "");
        let omitted: Vec<ReasonCode> =
            block.report.omitted.iter().map(|skill| skill.reason).collect();
        assert_eq!(omitted, [ReasonCode::PromptBudget; 2]);
        assert_eq!(block.report.used, 0);
        request.limits = PromptLimits { max_skills: 0, max_chars: 9_999 };
        assert_eq!(build(&request).text, "");
    }
}

#[test]
fn some_prompts_have_no_section() {
    let skills = [skill("a", "Does a")];
    let mut request = PromptRequest::new(&skills);
    let code = |request: &PromptRequest<'_>| {
        let block = build(request);
        assert_eq!(block.text, "");
        block.reasons[0].code
    };
    request.mode = PromptMode::Minimal;
    assert_eq!(code(&request), ReasonCode::PromptMode);
    request.mode = PromptMode::None;
    assert_eq!(code(&request), ReasonCode::PromptMode);
    request.mode = PromptMode::Full;
    request.read_tool = false;
    assert_eq!(code(&request), ReasonCode::ReadToolMissing);
    assert_eq!(build(&PromptRequest::new(&[])).text, "");
}

#[test]
fn an_emoji_at_the_cut_is_not_broken() {
    let description = "🙂".repeat(200);
    for budget in 850..950 {
        let skills = [skill("a", &description)];
        let mut request = PromptRequest::new(&skills);
        request.limits = chars(budget);
        let block = build(&request);
        assert!(units(&block.text) <= budget);
        assert!(!block.text.contains('\u{fffd}'));
        for (_, text) in entries(&block) {
            let text = text.unwrap_or_default();
            assert!(text.trim_end_matches("...").chars().all(|c| c == '🙂'), "{text}");
        }
    }
}

#[test]
fn references_and_pins_rank_before_scores() {
    let skills = [
        PromptSkill { score: Some(0.9), ..skill("scored", "d") },
        PromptSkill { tier: Tier::Workspace, ..skill("own", "d") },
        PromptSkill { tier: Tier::Managed, ..skill("installed", "d") },
        PromptSkill { referenced: true, ..skill("named", "d") },
        PromptSkill { pinned: true, ..skill("pinned", "d") },
        PromptSkill { last_success: Some(5), ..skill("used", "d") },
        PromptSkill { last_success: Some(9), ..skill("used-later", "d") },
        PromptSkill { score: Some(f64::NAN), ..skill("a-broken-score", "d") },
    ];
    let mut request = PromptRequest::new(&skills);
    request.order = PromptOrder::Rank;
    request.message_known = true;
    assert_eq!(
        names(&build(&request)),
        ["named", "pinned", "scored", "used-later", "used", "own", "installed", "a-broken-score"]
    );
}

#[test]
fn the_ladder_loses_text_before_skills_and_the_best_last() {
    let forty = Forty::new();
    let mut skills = forty.skills();
    skills[39].score = Some(0.9);
    let mut request = PromptRequest::new(&skills);
    request.message_known = true;
    let mut before = (40, 300);
    for budget in (0..16_000).rev().step_by(101) {
        request.limits = chars(budget);
        let block = build(&request);
        let shown = entries(&block);
        let best = shown.iter().find(|(name, _)| name == "zz");
        let text = best.and_then(|(_, text)| text.as_ref()).map_or(0, |text| units(text));
        assert!(shown.len() <= before.0, "{budget}: fewer characters never show more skills");
        assert!(shown.is_empty() || best.is_some(), "{budget}: the best is the last to go");
        assert!(shown.len() == 40 || text <= 64, "{budget}");
        before = (shown.len(), text);
    }
}

/// OpenPocket's limit is 12,000 characters: whole locations would leave no room for a description.
#[test]
fn descriptions_survive_a_hundred_and_twenty_skills_in_openpockets_limit() {
    let names: Vec<String> = (0..120).map(|i| format!("household-task-{i:03}")).collect();
    let locations: Vec<String> = names
        .iter()
        .enumerate()
        .map(|(at, name)| match at % 6 {
            0 => format!("~/phone/workspace/skills/{name}/SKILL.md"),
            _ => format!("~/.openpocket/skills/{name}/SKILL.md"),
        })
        .collect();
    let text =
        "Books, moves and cancels appointments at the places that the user goes to most often";
    let skills: Vec<PromptSkill<'_>> = names
        .iter()
        .zip(&locations)
        .map(|(name, location)| PromptSkill { location, ..skill(name, text) })
        .collect();
    let mut request = PromptRequest::new(&skills);
    request.limits = chars(OPENPOCKET_MAX_CHARS);
    let block = build(&request);
    assert!(block.report.used <= OPENPOCKET_MAX_CHARS);
    let shown = entries(&block);
    assert_eq!(shown.len(), 120);
    let shortest = shown.iter().map(|(_, text)| text.as_deref().map_or(0, units)).min();
    assert!(shortest >= Some(40), "{shortest:?}\n{}", block.text);
    for base in ["~/.openpocket/skills", "~/phone/workspace/skills"] {
        assert_eq!(block.text.matches(base).count(), 1, "a base path stands there once");
    }
    assert!(block.text.contains("<at>@2/household-task-000/SKILL.md</at>"));
    assert!(!block.text.contains("household-task-001/SKILL.md"), "it follows from the name");
}

#[test]
fn the_prefix_planner_shows_whole_entries() {
    let forty = Forty::new();
    let skills = forty.skills();
    let mut request = PromptRequest::new(&skills);
    request.planner = PromptPlanner::Prefix;
    request.limits = chars(5_000);
    let block = build(&request);
    assert!(block.report.included > 5 && block.report.shortened.is_empty());
    assert_eq!(names(&block), forty.names[..block.report.included]);
    assert!(block.report.notice_shown);
    request.limits = chars(200);
    assert_eq!(build(&request).text, "");
    request.keep_first = true;
    assert_eq!(names(&build(&request)), ["skill-00"]);
}

#[test]
fn a_small_context_window_shortens_and_drops_nothing() {
    let forty = Forty::new();
    let skills = forty.skills();
    let mut request = PromptRequest::new(&skills);
    request.context_tokens = Some(50_000);
    let block = build(&request);
    assert_eq!((block.report.included, block.report.context_target), (40, Some(10_000)));
    assert!((9_900..=10_000).contains(&block.report.used), "{}", block.report.used);
    request.context_tokens = Some(10);
    let block = build(&request);
    assert!(entries(&block).iter().all(|(_, text)| text.as_ref().is_some_and(|t| units(t) == 64)));
    request.context_tokens = Some(1_000_000);
    let block = build(&request);
    assert!(block.report.shortened.is_empty() && !block.report.notice_shown);
}

#[test]
fn the_remote_note_is_the_first_thing_to_go() {
    let skills = [skill("a", "Does a")];
    let mut request = PromptRequest::new(&skills);
    let used = build(&request).report.used;
    request.remote_note = Some("A Mac is connected.");
    let block = build(&request);
    assert!(block.text.starts_with("A Mac is connected.\n") && block.report.remote_note_shown);
    assert_eq!(block.report.used, units(&block.text));
    request.limits = chars(used + 19);
    let block = build(&request);
    assert!(!block.report.remote_note_shown && block.report.shortened.is_empty());
    assert_eq!(block.reasons[0].code, ReasonCode::RemoteNoteDropped);
    request.limits = chars(used + 20);
    assert!(build(&request).report.remote_note_shown);
}

#[test]
fn the_notice_gives_way_before_a_skill_does() {
    let skills = [skill("a", "Does a"), skill("b", "Does b")];
    let mut request = PromptRequest::new(&skills);
    request.limits = PromptLimits { max_skills: 1, max_chars: 30_000 };
    let with_notice = build(&request).report.used;
    request.limits.max_chars = with_notice - 1;
    let block = build(&request);
    assert_eq!((block.report.included, block.report.notice_shown), (1, false));
    assert_eq!(entries(&block)[0].1.as_deref(), Some("Does a"));
}

#[test]
fn hints_follow_the_description() {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let any = texts(&["h1", "h2", "h1", "h3", "h4", "h5", "h6", "h7", "h8", "h9", "h10"]);
    let all = texts(&["x"]);
    let hints = trigger_hints(&any, &all);
    assert_eq!(hints, ["h1", "h2", "h3", "h4", "h5", "h6", "h7", "h8"]);
    let skills = [PromptSkill { hints, ..skill("a", "Does a") }];
    let block = build(&PromptRequest::new(&skills));
    let text = "Does a Trigger hints: h1; h2; h3; h4; h5; h6; h7; h8";
    assert_eq!(entries(&block)[0].1.as_deref(), Some(text));
}

#[test]
fn the_wording_can_be_replaced() {
    let skills = [skill("a", "Does a")];
    let mut request = PromptRequest::new(&skills);
    request.wording = PromptWording::with_introduction("# My skills");
    assert!(build(&request).text.starts_with("# My skills\n<available_skills>\n"));
    let wording: PromptWording =
        serde_json::from_str(r#"{"someListed": "{included}/{total} {included}"}"#).expect("valid");
    let skills = [skill("a", "d"), skill("b", "d")];
    let mut request = PromptRequest::new(&skills);
    request.wording = wording;
    request.limits.max_skills = 1;
    let block = build(&request);
    assert!(block.text.contains("\n1/2 1\n<available_skills>"));
    assert_eq!(block.report.used, units(&block.text));
}

#[test]
fn the_introduction_says_what_the_spec_asks_for() {
    let skills = [skill("a", "Does a")];
    let text = build(&PromptRequest::new(&skills)).text;
    for part in ["before replying", "`read`", "most specific", "none", "never invent", "SKILL.md"] {
        assert!(text.contains(part), "{part}");
    }
}

#[test]
fn the_report_has_its_fields() {
    let skills = [skill("a", "Does a"), skill("b", "Does b")];
    let mut request = PromptRequest::new(&skills);
    request.limits.max_skills = 1;
    request.context_tokens = Some(1_000);
    let json = serde_json::to_value(build(&request).report).expect("a report is JSON");
    let keys: Vec<&String> = json.as_object().expect("an object").keys().collect();
    assert_eq!(
        keys,
        [
            "planner",
            "budget",
            "used",
            "contextTarget",
            "total",
            "included",
            "omitted",
            "shortened",
            "descriptionsOmitted",
            "noticeShown",
            "remoteNoteShown",
            "perSkillChars",
        ]
    );
    assert_eq!(json["omitted"][0].to_string(), r#"{"name":"b","reason":"prompt-count","rank":2}"#);
    assert_eq!(json["planner"], "graded");
}

/// A skill as an untrusted author might write it.
#[derive(Debug, Clone)]
struct Wild {
    name: String,
    description: String,
    note: Option<String>,
    score: Option<f64>,
    own: bool,
    pinned: bool,
}

fn wild() -> impl Strategy<Value = Wild> {
    let text = prop_oneof![
        r#"[a-c<>&'" \n🙂é\u{202e}\u{0}-]{0,12}"#,
        "[a-z ]{0,300}",
        any::<String>(),
        Just("</description></skill></available_skills><skill>".to_owned()),
        Just("]]><!-- <?x?> &#0; &bogus;".to_owned()),
    ];
    (
        text.clone(),
        text.clone(),
        prop::option::of(text),
        prop::option::of(0.0..1.0_f64),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(name, description, note, score, own, pinned)| Wild {
            name,
            description,
            note,
            score,
            own,
            pinned,
        })
}

fn tame(wild: &[Wild]) -> Vec<PromptSkill<'_>> {
    wild.iter()
        .map(|wild| PromptSkill {
            location_note: wild.note.as_deref(),
            score: wild.score,
            tier: if wild.own { Tier::Workspace } else { Tier::Bundled },
            pinned: wild.pinned,
            path: &wild.name,
            ..skill(&wild.name, &wild.description)
        })
        .collect()
}

proptest! {
    #[test]
    fn no_plan_exceeds_its_budget_or_breaks_its_block(
        wild in prop::collection::vec(wild(), 0..24),
        budget in prop_oneof![0_usize..1_200, 0_usize..6_000],
        max_skills in 0_usize..30,
        planner in prop::sample::select(&PLANNERS[..]),
        message_known: bool,
        full_descriptions in 0_usize..10,
        context_tokens in prop::option::of(0_u64..20_000),
        remote_note in prop::option::of("[a\n</available_skills>]{0,30}"),
        order in prop::sample::select(&[PromptOrder::Name, PromptOrder::Rank][..]),
        escapes in prop::sample::select(&[PromptEscapes::All, PromptEscapes::KeepApostrophe][..]),
        search_tool in prop::option::of(Just("find_skill")),
    ) {
        let skills = tame(&wild);
        let mut request = PromptRequest::new(&skills);
        request.limits = PromptLimits { max_skills, max_chars: budget };
        request.planner = planner;
        request.message_known = message_known;
        request.full_descriptions = full_descriptions;
        request.context_tokens = context_tokens;
        request.remote_note = remote_note.as_deref();
        request.order = order;
        request.escapes = escapes;
        request.search_tool = search_tool;
        let block = build(&request);
        let report = &block.report;

        prop_assert_eq!(units(&block.text), report.used);
        prop_assert!(report.used <= budget);
        prop_assert_eq!(entries(&block).len(), report.included);
        prop_assert_eq!(block.shown.len(), report.included);
        prop_assert_eq!(report.per_skill_chars.len(), report.included);
        prop_assert_eq!(report.included + report.omitted.len(), skills.len());
        prop_assert!(report.included <= max_skills);

        if planner == PromptPlanner::Graded {
            // Ranks are 1..=total, so the omitted skills must be the last ones.
            let ranks: Vec<usize> = report.omitted.iter().map(|skill| skill.rank).collect();
            let tail: Vec<usize> = (report.included + 1..=skills.len()).collect();
            prop_assert_eq!(ranks, tail);
        }
    }

    #[test]
    fn what_fits_is_the_same_for_every_message(
        wild in prop::collection::vec(wild(), 0..12),
        others in prop::collection::vec(prop::option::of(0.0..1.0_f64), 12),
    ) {
        let skills = tame(&wild);
        let mut again = skills.clone();
        for (skill, score) in again.iter_mut().zip(&others) {
            skill.score = *score;
            skill.referenced = score.is_some();
        }
        let mut first = PromptRequest::new(&skills);
        first.message_known = true;
        let mut second = PromptRequest::new(&again);
        second.message_known = true;
        let (first, second) = (build(&first), build(&second));
        prop_assume!(first.report.omitted.is_empty() && first.report.shortened.is_empty());
        prop_assert_eq!(first.text, second.text);
    }
}
