//! Sections 15.1 and 15.2: slash commands.

use proptest::prelude::*;
use sinew_catalog::commands::{
    CHANNEL_DESCRIPTION, CommandInvocation, CommandSkill, CommandSource, SlashCommands,
    clamp_description, fill_arguments,
};

fn own(name: &str) -> CommandSkill<'_> {
    CommandSkill {
        name,
        own: true,
        model_visible: true,
        skill_source: CommandSource::Workspace,
        ..CommandSkill::default()
    }
}

fn shipped(name: &str) -> CommandSkill<'_> {
    CommandSkill { own: false, skill_source: CommandSource::Bundled, ..own(name) }
}

fn check(skills: &[CommandSkill<'_>], reserved: &[&str], expected: &str) {
    let commands = SlashCommands::assign(skills, reserved.iter().copied());
    let named: Vec<String> =
        commands.specs().iter().map(|spec| format!("{}=/{}", spec.skill_name, spec.name)).collect();
    assert_eq!(named.join(" "), expected);
}

#[test]
fn a_workspace_skill_gets_the_plain_name() {
    check(
        &[shipped("Data Tools"), own("data-tools")],
        &[],
        "data-tools=/data_tools Data Tools=/data_tools_2",
    );
    check(&[shipped("b"), shipped("a"), own("z")], &[], "z=/z a=/a b=/b");
}

#[test]
fn reserved_names_stay_the_hosts() {
    check(&[own("help")], &["help"], "help=/help_2");
    check(&[own("help")], &["/HELP", "help_2"], "help=/help_3");
    check(&[own("☔")], &[], "☔=/skill");
}

#[test]
fn long_names_make_room_for_their_number() {
    let long = "x".repeat(40);
    let cut = "x".repeat(30);
    let expected = format!("{long}=/{} {long}=/{cut}_2", "x".repeat(32));
    check(&[own(&long), own(&long)], &[], &expected);
}

#[test]
fn a_thousand_equal_names_all_get_a_command() {
    let skills: Vec<CommandSkill<'_>> = (0..1_010).map(|_| own("same")).collect();
    let commands = SlashCommands::assign(&skills, []);
    let names: Vec<&str> = commands.specs().iter().map(|spec| spec.name.as_str()).collect();
    assert_eq!((names[0], names[1], names[998]), ("same", "same_2", "same_999"));
    assert_eq!((names[999], names[1000]), ("same_x", "same_x2"));
}

#[test]
fn a_spec_has_the_fields_that_hosts_know() {
    let skill = CommandSkill { file: "/w/mail/SKILL.md", ..own("mail-box") };
    let commands = SlashCommands::assign(&[skill], []);
    let json = serde_json::to_string(&commands.specs()[0]).expect("a spec is JSON");
    assert_eq!(
        json,
        r#"{"name":"mail_box","displayName":"Mail Box","skillName":"mail-box","skillFile":"/w/mail/SKILL.md","description":"mail-box","modelVisible":true,"skillSource":"workspace"}"#
    );
}

fn check_invocation(message: &str, expected: &str) {
    let skills = [
        own("Data Tools"),
        shipped("notes"),
        CommandSkill { filtered: true, ..own("secret") },
        CommandSkill { template: Some("Deploy $ARGUMENTS now"), ..own("ops:deploy") },
    ];
    let commands = SlashCommands::assign(&skills, ["help"]);
    let answer = match commands.invocation(message) {
        CommandInvocation::None => "none".to_owned(),
        CommandInvocation::Run { command, arguments } => {
            format!("{} {:?}", command.skill_name, arguments)
        }
        refused => refused.refusal().expect("only refusals are left"),
    };
    assert_eq!(answer, expected, "{message}");
}

#[test]
fn a_slash_word_runs_its_skill() {
    check_invocation("/notes", "notes None");
    check_invocation("/NOTES  buy  milk ", r#"notes Some("buy  milk")"#);
    check_invocation("/data_tools a\nb", r#"Data Tools Some("a\nb")"#);
    check_invocation("/skill notes x", r#"notes Some("x")"#);
    check_invocation("/skill data-tools", "Data Tools None");
    check_invocation("/skill DATA_tools x", r#"Data Tools Some("x")"#);
    check_invocation("/skill ops:deploy x", r#"ops:deploy Some("x")"#);
    check_invocation("/ops_deploy", "ops:deploy None");
}

#[test]
fn unknown_slash_words_are_left_alone() {
    for message in ["/unknown x", "/help", "/skill", "/skill nope", "/", "/ notes", "notes", ""] {
        check_invocation(message, "none");
    }
}

#[test]
fn a_skill_outside_the_agents_list_says_so() {
    check_invocation("/secret", "the skill secret is not available for this agent");
    check_invocation("/skill Secret x", "the skill secret is not available for this agent");
}

#[test]
fn plain_commands_take_their_arguments() {
    assert_eq!(fill_arguments("Deploy $ARGUMENTS now", Some(" eu ")), "Deploy eu now");
    assert_eq!(fill_arguments("Deploy $ARGUMENTS now", None), "Deploy  now");
    assert_eq!(fill_arguments("Deploy.\n", Some("eu")), "Deploy.\n\nUser input:\neu");
    assert_eq!(fill_arguments("Deploy.", Some("  ")), "Deploy.");
}

#[test]
fn channels_get_a_description_that_fits() {
    assert_eq!(clamp_description("short", CHANNEL_DESCRIPTION), "short");
    assert_eq!(clamp_description("one two three", 8), "one two…");
    assert_eq!(clamp_description("ab🙂cd", 4), "ab…");
    assert_eq!(clamp_description("ab", 0), "");
}

proptest! {
    #[test]
    fn names_are_unique_short_and_stable(
        skills in prop::collection::vec(("[aA_ 🙂.x]{0,40}", any::<bool>()), 0..40),
        reserved in prop::collection::vec("[ax_]{1,3}", 0..4),
    ) {
        let paths: Vec<String> = (0..skills.len()).map(|at| format!("/{at:03}")).collect();
        let mut skills: Vec<CommandSkill<'_>> = skills
            .iter()
            .zip(&paths)
            .map(|((name, own), file)| CommandSkill { name, file, own: *own, ..CommandSkill::default() })
            .collect();
        let commands = SlashCommands::assign(&skills, reserved.iter().map(String::as_str));
        let mut names: Vec<String> = commands.specs().iter().map(|spec| spec.name.clone()).collect();
        for name in &names {
            prop_assert!((1..=32).contains(&name.len()), "{name}");
            prop_assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_'));
            prop_assert!(!reserved.contains(name));
        }
        skills.reverse();
        let again = SlashCommands::assign(&skills, reserved.iter().map(String::as_str));
        prop_assert_eq!(again.specs(), commands.specs());
        names.sort();
        names.dedup();
        prop_assert_eq!(names.len(), skills.len());
    }
}
