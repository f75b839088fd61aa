//! `docs/security.md` says nothing that no test holds: its tables are the matrix of actors, and every
//! sentence names the test that would fail if it were false.

use std::path::{Path, PathBuf};

use sinew_settings::config::{UnattendedAct, keys};

const PAGE: &str = include_str!("../../../../docs/security.md");
const MATRIX: &str =
    include_str!("matrix/snapshots/it__matrix__every_operation_by_every_actor.snap");

/// The beginning of each sentence or row, and its test: a file below `crates/`, and a function in it.
const SENTENCES: &[(&str, &str, &str)] = &[
    (
        "The scanner reads what a skill does",
        "sinew-guard/tests/it/mutators.rs",
        "what_is_blocked_stays_blocked_in_disguise",
    ),
    (
        "Shell text is split into commands",
        "sinew-guard/tests/it/script_payloads.rs",
        "harmful_scripts_behind_harmless_steps_are_seen",
    ),
    (
        "Nothing that a skill says of itself lowers",
        "sinew-guard/tests/it/false_alarms.rs",
        "a_name_or_a_homepage_vouches_for_no_place",
    ),
    (
        "A skill is text by",
        "sinew-catalog/tests/it/scan.rs",
        "an_honest_skill_is_let_in_and_a_payload_beside_it_is_not",
    ),
    (
        "sinew treats all of it",
        "sinew-catalog/tests/it/scan.rs",
        "a_blocked_skill_reaches_neither_prompt_nor_commands",
    ),
    (
        "This is what becomes of each operation",
        "sinew-cli/tests/it/matrix/mod.rs",
        "every_operation_by_every_actor",
    ),
    ("*asked* means", "sinew-cli/tests/it/approve.rs", "a_decision_needs_a_terminal"),
    ("*asked* means", "sinew-web/tests/it/pages.rs", "an_install_waits_for_a_person"),
    (
        "The token of the API makes no person",
        "sinew-web/tests/it/pages.rs",
        "a_link_signs_in_once_and_the_token_never",
    ),
    (
        "A client that announces dialogues",
        "sinew-cli/tests/it/mcp/approvals.rs",
        "a_client_that_no_person_connected_passes_answers_on",
    ),
    (
        "A client that announces dialogues",
        "sinew-cli/tests/it/mcp/approvals.rs",
        "a_session_asks_its_person",
    ),
    (
        "A client that announces dialogues",
        "sinew-web/tests/it/forms.rs",
        "an_agent_is_connected_and_disconnected_after_a_look_at_the_change",
    ),
    (
        "Every other client passes answers on",
        "sinew-cli/tests/it/mcp/http.rs",
        "a_caller_over_http_cannot_answer_for_a_person",
    ),
    (
        "Every other client passes answers on",
        "sinew-cli/tests/it/mcp/http.rs",
        "a_session_over_http_cannot_answer_for_a_person_either",
    ),
    (
        "An agent takes back what it asked itself",
        "sinew-engine/tests/it/approval/rules.rs",
        "an_agent_ends_no_question_of_another",
    ),
    (
        "An agent takes back what it asked itself",
        "sinew-cli/tests/it/mcp/approvals.rs",
        "an_agent_takes_back_its_own_questions_alone",
    ),
    (
        "A finding is accepted at",
        "sinew-cli/tests/it/authority.rs",
        "a_finding_is_accepted_at_a_terminal_only",
    ),
    (
        "A finding is accepted at",
        "sinew-web/tests/it/pages.rs",
        "a_blocked_skill_shows_its_finding_first_and_two_ways_out",
    ),
    (
        "All of this keeps an agent from deciding",
        "sinew-cli/tests/it/matrix/mod.rs",
        "every_operation_by_every_actor",
    ),
    (
        "It is no wall between programs of one user",
        "sinew-cli/tests/it/scan.rs",
        "what_sinew_does_not_do",
    ),
    (
        "a project brings a skill under a name",
        "sinew-cli/tests/it/entry_owner.rs",
        "a_project_that_takes_a_name_does_not_take_its_key",
    ),
    (
        "a project brings a lock",
        "sinew-cli/tests/it/entry_owner.rs",
        "a_projects_own_lock_gives_neither_a_key_nor_a_name",
    ),
    (
        "an agent has a folder read",
        "sinew-cli/tests/it/hub.rs",
        "a_folder_is_linked_or_imported_by_a_person",
    ),
    (
        "What a value could grant",
        "sinew-cli/tests/it/verbs.rs",
        "what_forbids_is_changed_by_a_person_alone",
    ),
    (
        "a skill tells the agent to fetch",
        "sinew-catalog/tests/it/scan.rs",
        "a_support_file_that_turns_is_seen_at_the_next_look",
    ),
    (
        "the bytes that are installed",
        "sinew-cli/tests/it/hub.rs",
        "a_changed_file_takes_the_skill_out_of_the_catalog",
    ),
    ("the bytes that are read", "sinew-web/tests/it/api.rs", "what_is_served_is_what_was_scanned"),
    (
        "an update brings something new",
        "sinew-hub/tests/it/updates.rs",
        "a_newer_version_is_shown_asked_about_and_put_in_place",
    ),
    (
        "a folder takes the name",
        "sinew-cli/tests/it/authority.rs",
        "a_folder_that_takes_an_installed_skills_name_does_not_replace_it",
    ),
    (
        "an archive writes outside",
        "sinew-guard/tests/it/path_escape.rs",
        "hostile_names_are_refused_in_every_format_and_with_every_strip",
    ),
    (
        "an archive is a bomb",
        "sinew-guard/tests/it/bombs.rs",
        "a_header_that_lies_about_its_size_changes_nothing",
    ),
    (
        "a skill asks for another skill's key",
        "sinew-cli/tests/it/entry_owner.rs",
        "a_strangers_skill_key_gets_nothing_and_is_told_why",
    ),
    (
        "the configuration is damaged",
        "sinew-cli/tests/it/authority.rs",
        "a_broken_configuration_closes_the_gate",
    ),
    (
        "the database is damaged",
        "sinew-cli/tests/it/damage.rs",
        "a_damaged_database_stops_what_acts_and_is_never_replaced_in_silence",
    ),
    (
        "a skill's variables leak",
        "sinew-exec/tests/it/environment.rs",
        "a_key_is_there_during_the_run_and_gone_after_it",
    ),
    (
        "a skill steers loaders",
        "sinew-exec/tests/it/environment.rs",
        "variables_that_steer_programs_are_blocked",
    ),
    (
        "a secret ends up",
        "sinew-cli/tests/it/kept_secrets.rs",
        "no_secret_of_any_kind_is_left_in_a_byte",
    ),
    (
        "a report is lost",
        "sinew-engine/tests/it/cortex/outage.rs",
        "a_report_during_an_outage_is_kept_and_recorded_later",
    ),
    (
        "a skill lists every word",
        "sinew-route/tests/it/stuffing.rs",
        "a_stuffed_skill_wins_nothing_and_is_rarely_offered",
    ),
    (
        "another page in your browser",
        "sinew-web/tests/it/pages.rs",
        "a_write_with_a_cookie_needs_the_csrf_token_and_an_origin",
    ),
    (
        "text plays tricks in the terminal",
        "sinew-guard/tests/it/terminal.rs",
        "every_control_becomes_visible",
    ),
    (
        "text plays tricks in the prompt",
        "sinew-guard/tests/it/prompt_markup.rs",
        "the_prompts_own_markup_blocks_in_metadata",
    ),
    ("other users of the machine", "sinew-cli/tests/it/damage.rs", "the_home_is_closed_to_others"),
    (
        "A skill that is blocked says where",
        "sinew-cli/tests/it/docs.rs",
        "what_the_book_shows_is_what_is_said",
    ),
    (
        "You can overrule a finding",
        "sinew-cli/tests/it/scan.rs",
        "a_program_without_a_terminal_cannot_accept_a_finding",
    ),
    ("The [rules of the scanner]", "sinew-cli/tests/it/scan.rs", "rules_are_listed"),
    (
        "A script can install what",
        "sinew-cli/tests/it/authority.rs",
        "a_yes_in_a_pipe_counts_only_where_the_file_or_an_approval_covers_it",
    ),
    (
        "A machine without a person",
        "sinew-cli/tests/it/authority.rs",
        "a_yes_in_a_pipe_counts_only_where_the_file_or_an_approval_covers_it",
    ),
    ("The words are", "sinew-cli/tests/it/security_page.rs", "every_word_of_consent_is_named"),
    ("An [installation policy]", "sinew-cli/tests/it/deps.rs", "the_operators_policy_has_its_say"),
    ("Records name what agreed", "sinew-cli/tests/it/authority.rs", "a_record_names_the_channel"),
    ("Records name what agreed", "sinew-web/tests/it/pages.rs", "an_install_waits_for_a_person"),
    (
        "Records name what agreed",
        "sinew-cli/tests/it/mcp/acquire.rs",
        "a_person_who_agrees_gets_the_skill_and_its_plan",
    ),
    (
        "a program of a skill reaches more",
        "sinew-cli/tests/it/sandbox/mod.rs",
        "no_way_leads_out_of_a_box",
    ),
    (
        "On Linux, `sinew exec",
        "sinew-cli/tests/it/sandbox/mod.rs",
        "an_honest_skill_works_in_its_box_and_the_report_says_which",
    ),
    (
        "Everything else of the machine is out of reach",
        "sinew-cli/tests/it/sandbox/mod.rs",
        "no_way_leads_out_of_a_box",
    ),
    (
        "There is a network only where",
        "sinew-cli/tests/it/sandbox/mod.rs",
        "an_honest_skill_works_in_its_box_and_the_report_says_which",
    ),
    (
        "Skills that were acquired for one task",
        "sinew-cli/tests/it/sandbox/mod.rs",
        "a_skill_that_was_acquired_for_one_task_runs_in_a_box_unless_a_person_says_otherwise",
    ),
    (
        "`--no-sandbox` takes that back",
        "sinew-cli/tests/it/sandbox/mod.rs",
        "a_skill_that_was_acquired_for_one_task_runs_in_a_box_unless_a_person_says_otherwise",
    ),
    (
        "What a command needs beyond",
        "sinew-cli/tests/it/sandbox/mod.rs",
        "what_the_user_adds_is_there_under_both_homes",
    ),
    (
        "A folder that holds your whole home",
        "sinew-cli/tests/it/sandbox/mod.rs",
        "what_the_user_adds_is_there_under_both_homes",
    ),
    (
        "What lies in your home and is allowed",
        "sinew-cli/tests/it/sandbox/mod.rs",
        "what_the_user_adds_is_there_under_both_homes",
    ),
    (
        "The report (`--json`",
        "sinew-cli/tests/it/sandbox/mod.rs",
        "an_honest_skill_works_in_its_box_and_the_report_says_which",
    ),
    (
        "It takes Linux 6.2",
        "sinew-cli/tests/it/sandbox/mod.rs",
        "where_no_box_is_to_be_had_nothing_starts_that_needs_one",
    ),
    (
        "Where there is none, a command",
        "sinew-cli/tests/it/sandbox/mod.rs",
        "where_no_box_is_to_be_had_nothing_starts_that_needs_one",
    ),
    (
        "Some things stay possible in every box",
        "sinew-cli/tests/it/sandbox/mod.rs",
        "an_honest_skill_works_in_its_box_and_the_report_says_which",
    ),
    (
        "With a network, the kernel limits ports",
        "sinew-cli/tests/it/sandbox/mod.rs",
        "a_network_opens_the_network_alone",
    ),
    (
        "Files of the folder where the command runs",
        "sinew-cli/tests/it/sandbox/mod.rs",
        "the_configuration_says_what_is_in_every_box",
    ),
    (
        "a stranger publishes under",
        "sinew-hub/tests/it/signatures.rs",
        "an_install_needs_what_the_configuration_asks_for",
    ),
    (
        "A skill can carry",
        "sinew-hub/tests/it/signatures.rs",
        "a_key_of_the_configuration_proves_who_signed",
    ),
    (
        "It is checked offline when",
        "sinew-cli/tests/it/signatures.rs",
        "the_signer_is_in_the_question_the_lock_and_why",
    ),
    (
        "A file that was changed, added",
        "sinew-hub/tests/it/signatures.rs",
        "every_change_of_the_files_breaks_the_signature",
    ),
    (
        "An update by another signer",
        "sinew-cli/tests/it/signatures.rs",
        "another_signer_than_before_is_told",
    ),
    (
        "Keys and identities that count",
        "sinew-hub/tests/it/signatures.rs",
        "an_install_needs_what_the_configuration_asks_for",
    ),
    (
        "Certificates and log entries",
        "sinew-hub/tests/it/signatures.rs",
        "the_public_root_is_built_in",
    ),
    (
        "A key that cannot be read",
        "sinew-hub/tests/it/signatures.rs",
        "a_key_that_is_not_named_proves_nothing",
    ),
    (
        "`sinew verify --signature",
        "sinew-cli/tests/it/signatures.rs",
        "what_is_not_installed_can_be_asked_who_signed_it",
    ),
    (
        "`sinew registry publish --sign-key",
        "sinew-cli/tests/it/signatures.rs",
        "what_is_published_with_a_key_is_signed",
    ),
    (
        "`sinew sbom`",
        "sinew-cli/tests/it/signatures.rs",
        "the_bill_of_materials_names_skills_signers_and_programs",
    ),
    ("What sinew does not do", "sinew-cli/tests/it/scan.rs", "what_sinew_does_not_do"),
    ("A scan that finds nothing", "sinew-cli/tests/it/scan.rs", "what_sinew_does_not_do"),
];

/// The page without code and headings.
fn prose() -> Vec<String> {
    let mut fenced = false;
    let lines = PAGE.lines().filter(|line| {
        let fence = line.starts_with("```");
        fenced ^= fence;
        !fence && !fenced && !line.starts_with('#') && !line.trim().is_empty()
    });
    lines.map(str::to_owned).collect()
}

/// Rows of a table, without its head, by their cells.
fn rows() -> Vec<Vec<String>> {
    let cells = |line: &String| -> Vec<String> {
        line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let lines = prose();
    let is_row = |at: &usize| {
        lines[*at].starts_with('|')
            && !lines[*at].starts_with("|--")
            && !lines.get(at + 1).is_some_and(|next| next.starts_with("|--"))
    };
    (0..lines.len()).filter(is_row).map(|at| cells(&lines[at])).collect()
}

#[test]
fn the_tables_are_the_matrix() {
    let mut compared = 0;
    for row in rows().iter().filter(|row| row[0].starts_with('`')) {
        let operation = row[0].trim_matches('`');
        let line = MATRIX.lines().find(|line| {
            line.trim_start().strip_prefix(operation).is_some_and(|rest| rest.starts_with(' '))
        });
        let line = line.unwrap_or_else(|| panic!("the matrix has no {operation}"));
        let found: Vec<&str> = line
            .split(": ")
            .skip(1)
            .map(|tried| tried.split([' ', ',']).next().unwrap_or_default())
            .collect();
        assert_eq!(found, row[1..], "{operation}");
        compared += 1;
    }
    assert!(compared > 30, "{compared} rows");
}

#[test]
fn every_sentence_has_a_test() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crates").to_owned();
    let in_tables = rows().into_iter().map(|row| row[0].clone());
    let in_tables = in_tables.filter(|cell| !cell.starts_with('`'));
    let written = prose().into_iter().filter(|line| !line.starts_with('|'));
    let sentences = written.flat_map(|line| {
        let ends = line.split_inclusive(". ").map(|one| one.trim().to_owned());
        ends.collect::<Vec<_>>()
    });
    for sentence in sentences.chain(in_tables) {
        let known = SENTENCES.iter().filter(|(start, ..)| sentence.starts_with(start));
        let mut tests = known.map(|(_, file, test)| (file, test)).peekable();
        assert!(tests.peek().is_some(), "no test holds: {sentence}");
        for (file, test) in tests {
            let path: PathBuf = crates.join(file);
            let text = std::fs::read_to_string(&path);
            let text = text.unwrap_or_else(|_| panic!("there is no {file}"));
            assert!(text.contains(&format!("fn {test}(")), "{file} has no {test}");
        }
    }
    for (start, ..) in SENTENCES {
        assert!(PAGE.contains(start), "the page does not say: {start}");
    }
}

/// The words that a configuration can agree with, here and in the description of the key.
#[test]
fn every_word_of_consent_is_named() {
    let words = UnattendedAct::ALL.iter().map(|act| act.as_str());
    let (_, after) = PAGE.split_once("The words are").expect("a sentence of the words");
    let sentence = after.split(". ").next().unwrap_or_default();
    let named: Vec<&str> = sentence.split('`').skip(1).step_by(2).collect();
    let named: Vec<&str> = named.into_iter().filter(|word| !word.starts_with('-')).collect();
    assert_eq!(named, words.clone().collect::<Vec<_>>());
    let key = keys().iter().find(|key| key.path == "approvals.unattended").expect("the key");
    let mut from = 0;
    for word in words {
        let at = key.doc[from..].find(word);
        from += at.unwrap_or_else(|| panic!("{} does not name {word}", key.doc)) + word.len();
    }
}
