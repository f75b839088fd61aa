//! Skills that list what users may say are not offered for everything.

use sinew_route::{RouteDecision, RouteDocument, StuffingReason};
use sinew_skill::{ReadOptions, read};

use crate::support::{models, router_with};

/// What users say, and the skill that it is for.
const MESSAGES: &[(&str, &str)] = &[
    ("merge these two pdf files into one", "pdf-tools"),
    ("what is the weather in Porto tomorrow", "weather"),
    ("book a table for two at eight tonight", "restaurants"),
    ("translate this letter into French", "translator"),
    ("resize my holiday photos to 800 pixels", "image-tools"),
    ("write release notes for the new version", "release-notes"),
    ("when does the next train to Basel leave", "trains"),
    ("transcribe the recording of the meeting", "transcriber"),
    ("plot sales per month as a bar chart", "charts"),
    ("remind me to call the dentist on Monday", "reminders"),
    ("back up the postgres database every night", "backups"),
    ("find cheap flights from Oslo to Rome", "flights"),
];

const HONEST: &[(&str, &str)] = &[
    ("pdf-tools", "Split, merge, rotate and compress PDF files."),
    ("weather", "Current weather and forecasts for a place and a day."),
    ("restaurants", "Find restaurants and book a table for a time and a number of guests."),
    ("translator", "Translate letters and documents between languages."),
    ("image-tools", "Resize, crop and convert photos and pictures."),
    ("release-notes", "Write release notes and changelogs for a new version from commits."),
    ("trains", "Train timetables: departures, connections and platforms."),
    ("transcriber", "Transcribe recordings of meetings and interviews to text."),
    ("charts", "Plot data as bar, line and pie charts."),
    ("reminders", "Reminders and alarms on a day and time."),
    ("backups", "Back up and restore databases such as Postgres on a schedule."),
    ("flights", "Search flights and compare fares between airports."),
    ("soup", "Recipes for soups and stews."),
    ("chess", "Analyse chess games and suggest moves."),
    ("guitar", "Chords and tabs for the guitar."),
    ("gardening", "When to sow, plant and prune in the garden."),
];

fn skill(name: &str, head: &str, body: &str) -> String {
    format!("---\nname: {name}\n{head}\n---\n# {name}\n\n{body}\n")
}

/// Words of every message, and of much else.
fn keywords() -> Vec<String> {
    let words = MESSAGES.iter().flat_map(|(message, _)| message.split(' '));
    let mut words: Vec<String> =
        words.filter(|word| word.len() > 2).map(str::to_lowercase).collect();
    words.sort();
    words.dedup();
    words
}

/// Ways to put the users' words where they are found.
fn attacks() -> Vec<(&'static str, String, StuffingReason)> {
    let words = keywords();
    let commas = words.join(", ");
    let long = words.iter().map(String::as_str).filter(|word| word.len() > 3);
    let plain = long.collect::<Vec<_>>().join(" ");
    let said: Vec<&str> = MESSAGES.iter().map(|(message, _)| *message).collect();
    let sentences = said.join(". ");
    let quoted: Vec<String> = said.iter().map(|message| format!("  - \"{message}\"")).collect();
    let tags: Vec<String> = words.iter().map(|word| format!("  - {word}")).collect();
    let about = "description: Does things.";
    let comment = format!("<!-- {} -->", plain.repeat(20));
    let blanks = format!("Text.{}{}", "\n".repeat(300), plain.repeat(20));
    let aside = format!("Text.{}{}", " ".repeat(300), plain.repeat(20));
    let hidden = format!("<div style=\"display:none\">{}</div>", plain.repeat(20));
    let list = |with: &str| format!("{about}\n{with}:\n");
    use StuffingReason::{Breadth, EndlessList, HiddenText, Repetition};
    vec![
        ("comment", skill("helper", about, &comment), HiddenText),
        ("blanks", skill("helper", about, &blanks), HiddenText),
        ("aside", skill("helper", about, &aside), HiddenText),
        ("element", skill("helper", about, &hidden), HiddenText),
        ("body list", skill("helper", about, &commas), EndlessList),
        ("body words", skill("helper", about, &plain), EndlessList),
        ("body lines", skill("helper", about, &words.join("\n\n")), EndlessList),
        ("body repeated", skill("helper", about, &format!("{plain} ").repeat(40)), Repetition),
        (
            "lines repeated",
            skill("helper", about, &format!("{sentences}\n").repeat(40)),
            Repetition,
        ),
        (
            "description list",
            skill("helper", &format!("description: Does {commas}."), "Text."),
            EndlessList,
        ),
        (
            "messages described",
            skill("helper", &format!("description: Does it. {sentences}."), "Text."),
            Breadth,
        ),
        ("triggers", skill("helper", &(list("triggers") + &quoted.join("\n")), "Text."), Breadth),
        (
            "trigger words",
            skill("helper", &(list("triggers") + &tags.join("\n")), "Text."),
            EndlessList,
        ),
    ]
}

fn catalog(more: &str) -> Vec<RouteDocument> {
    let honest = HONEST.iter().map(|(name, about)| {
        let text = skill(name, &format!("description: {about}"), about);
        RouteDocument::from_text(name, name, &text)
    });
    honest.chain([RouteDocument::from_text("helper", "helper", more)]).collect()
}

#[test]
fn a_stuffed_skill_wins_nothing_and_is_rarely_offered() {
    for (attack, text, _) in attacks() {
        let router = router_with(&catalog(&text), models(), Default::default());
        let mut offered = 0;
        for (message, right) in MESSAGES {
            let message = sinew_route::UserMessage::from_user(message);
            let answer = router.route(&message, &Default::default());
            let names: Vec<&str> = answer.matches.iter().map(|found| found.name.as_str()).collect();
            assert_eq!(names.first(), Some(right), "{attack}: {names:?}");
            let place = names[..answer.offered].iter().position(|name| *name == "helper");
            offered += usize::from(place.is_some());
            assert!(
                answer.decision != RouteDecision::Match || names[0] != "helper",
                "{attack} won"
            );
        }
        assert!(offered <= 2, "{attack}: offered for {offered} of {} messages", MESSAGES.len());
    }
}

#[test]
fn the_reason_is_told() {
    for (attack, text, reason) in attacks() {
        let outcome = read(text.as_bytes(), &ReadOptions::openpocket("helper"));
        let skill = outcome.skill.expect("a skill");
        let reasons = RouteDocument::discounts(&skill, &outcome.body);
        assert!(reasons.contains(&reason), "{attack}: {reasons:?}");
        assert!(!reason.sentence().is_empty());
    }
}

#[test]
fn honest_skills_are_read_as_they_are() {
    for (name, about) in HONEST {
        let lists = "- one, two, three\n- four\n\n```sh\n<!-- code -->\n```\n";
        let text = skill(name, &format!("description: {about}\ntags: [a, b, c]"), lists);
        let outcome = read(text.as_bytes(), &ReadOptions::openpocket(name));
        let skill = outcome.skill.expect("a skill");
        assert_eq!(RouteDocument::discounts(&skill, &outcome.body), [], "{name}");
    }
}
