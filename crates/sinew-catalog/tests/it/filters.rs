//! Per-agent lists and a session's switches.

use insta::assert_snapshot;
use sinew_catalog::references::expand_references;
use sinew_testkit::TestMachine;

fn two(config: &str) -> TestMachine {
    TestMachine::new()
        .skill("work/skills/a", "a")
        .skill("work/skills/b", "b")
        .config(config)
        .agent("w")
}

#[test]
fn an_empty_list_means_none_and_an_absent_one_the_defaults() {
    let none = two("{agents: {entries: {w: {skills: []}}}}");
    let catalog = none.catalog();
    assert!(
        catalog.entries.iter().all(|entry| !entry.model_visible && entry.command_name.is_none())
    );
    assert!(catalog.commands.specs().is_empty());
    let answer = expand_references("use $a", &catalog.commands);
    assert!(answer.error.expect("it is hidden").contains("not available"), "{}", answer.body);
    let defaults = two("{agents: {defaults: {skills: ['b']}, entries: {w: {}}}}");
    assert_snapshot!(defaults.catalog_table(), @r"
    excluded a [openclaw-workspace]
      agent-filter: the agent's list of skills leaves it out
    ready b [openclaw-workspace]
    ");
    assert_snapshot!(two("{agents: {list: [{id: 'w', skills: ['a']}]}}").catalog_table(), @r"
    ready a [openclaw-workspace]
    excluded b [openclaw-workspace]
      agent-filter: the agent's list of skills leaves it out
    ");
}

#[test]
fn lists_take_wildcards_and_denials() {
    let machine = |list: &str| {
        let config = format!("{{agents: {{entries: {{w: {{skills: [{list}]}}}}}}}}");
        TestMachine::new()
            .skill("work/skills/g1", "github-a")
            .skill("work/skills/g2", "github-b")
            .config(&config)
            .agent("w")
    };
    let visible = |list: &str| -> Vec<String> {
        let catalog = machine(list).catalog();
        catalog.entries.iter().filter(|e| e.model_visible).map(|e| e.name.clone()).collect()
    };
    assert_eq!(visible("'github-*'"), ["github-a", "github-b"]);
    assert_eq!(visible("'github-*', '!github-b'"), ["github-a"]);
    assert_eq!(visible("'!github-a'"), ["github-b"]);
}

#[test]
fn a_name_that_matches_nothing_is_reported() {
    assert_snapshot!(two("{agents: {entries: {w: {skills: ['nope']}}}}").catalog_table(), @r"
    excluded a [openclaw-workspace]
      agent-filter: the agent's list of skills leaves it out
    excluded b [openclaw-workspace]
      agent-filter: the agent's list of skills leaves it out
    ! unknown-filter-name: no skill is called nope
    ");
}

#[test]
fn a_session_can_hide_and_show_but_never_lift_what_is_missing() {
    let machine = TestMachine::new()
        .skill("work/skills/a", "a")
        .workspace_skill("needy", "metadata: {openclaw: {requires: {bins: [nope]}}}")
        .workspace_skill("off", "")
        .config("{skills: {entries: {off: {enabled: false}}}, agents: {entries: {w: {skills: ['a', 'needy']}}}}")
        .agent("w")
        .switch("a", false)
        .switch("needy", true)
        .switch("off", true);
    assert_snapshot!(machine.catalog_table(), @r"
    excluded a [openclaw-workspace]
      session-override: this session hides it
    needs-setup needy [openclaw-workspace]
      missing-bin: nope is not installed
    ready off [openclaw-workspace]
    ");
}

#[test]
fn who_may_call_a_skill_decides_where_it_appears() {
    let machine = TestMachine::new()
        .workspace_skill("quiet", "user-invocable: Off")
        .workspace_skill("odd", "user-invocable: maybe")
        .workspace_skill("hidden", "disable-model-invocation: true");
    let catalog = machine.catalog();
    let shown: Vec<String> = catalog
        .entries
        .iter()
        .map(|e| format!("{} model={} command={:?}", e.name, e.model_visible, e.command_name))
        .collect();
    assert_snapshot!(shown.join("\n"), @r#"
    hidden model=false command=Some("hidden")
    odd model=true command=Some("odd")
    quiet model=true command=None
    "#);
    assert!(machine.catalog_table().contains("bad-boolean"));
}

#[test]
fn own_skills_get_the_plain_command() {
    let machine = TestMachine::new()
        .bundled("b")
        .skill("b/x", "Data Tools")
        .skill("work/skills/y", "data-tools")
        .skill("work/skills/help", "help")
        .reserve("help");
    let catalog = machine.catalog();
    let command = |name: &str| catalog.get(name).and_then(|entry| entry.command_name.clone());
    assert_eq!(command("data-tools").as_deref(), Some("data_tools"));
    assert_eq!(command("Data Tools").as_deref(), Some("data_tools_2"));
    assert_eq!(command("help").as_deref(), Some("help_2"));
}

#[test]
fn a_misspelt_agent_is_told() {
    let machine = TestMachine::new()
        .skill("work/skills/a", "a")
        .config("{agents: {entries: {writer: {skills: []}}}}")
        .agent("writr");
    assert_snapshot!(machine.catalog_table(), @r"
    ready a [openclaw-workspace]
    ! unknown-agent: the configuration has no agent writr; the defaults apply
    ");
}
