//! Names as commands, as look-up keys and as folders.

use sinew_settings::nearest;
use sinew_skill::names::{command_name, display_name, index_name, is_slug, slug};

#[test]
fn commands_fit_chat_platforms() {
    assert_eq!(command_name("Data Tools"), "data_tools");
    assert_eq!(command_name("__a..b__"), "a_b");
    assert_eq!(command_name("日本語"), "skill");
    let long = format!("{}-{}", "a".repeat(31), "b".repeat(31));
    assert_eq!(command_name(&long), format!("{}_", "a".repeat(31)), "cut after trimming");
}

#[test]
fn look_up_keys_ignore_case_and_separators() {
    assert_eq!(index_name(" PDF_Tools / v2 "), "pdf-tools-v2");
    assert_eq!(index_name("a.b"), "ab");
    assert_eq!(index_name("☔"), "");
}

#[test]
fn slugs_are_folder_names() {
    assert_eq!(slug("Open Mail: fast!"), "open-mail-fast");
    assert!(is_slug("a") && is_slug("0-a") && is_slug(&"a".repeat(64)));
    for bad in ["", "-a", "A", "a_b", "é", &"a".repeat(65)] {
        assert!(!is_slug(bad), "{bad}");
    }
    assert!(is_slug(&slug(&format!("{} x", "a".repeat(63)))));
}

#[test]
fn people_see_words() {
    assert_eq!(display_name("data-tools_v2"), "Data Tools V2");
}

#[test]
fn near_names_are_offered() {
    assert_eq!(nearest("githb", ["github", "tmux", "git-history"])[0], "github");
    assert!(nearest("zzzz", ["github", "tmux"]).is_empty());
}
