//! Support files stay below their folders.

use proptest::prelude::*;
use sinew_guard::archive::{is_skill_name, support_file_components};

/// A second, simpler implementation of the same rules.
fn reference(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    path.chars().count() <= 500
        && (2..=16).contains(&parts.len())
        && ["references", "templates", "scripts", "assets"].contains(&parts[0])
        && parts.iter().all(|part| {
            let stem = part.split('.').next().unwrap_or("").trim_end().to_uppercase();
            let device = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"].contains(&stem.as_str())
                || ["COM", "LPT"].iter().any(|p| {
                    stem.strip_prefix(p)
                        .is_some_and(|n| n.chars().count() == 1 && "123456789¹²³".contains(n))
                });
            !part.is_empty()
                && part.len() <= 255
                && !part.ends_with(['.', ' '])
                && !part.contains(['\\', ':'])
                && !part.chars().any(char::is_control)
                && !device
        })
}

proptest! {
    #[test]
    fn the_check_agrees_with_the_reference(path in r"(references|scripts|assets|templates|x|\.\.|)(/(\.|\.\.|a|b c|C:|CON|x\.md|~|\\|é| |com1\.txt)){0,5}/?") {
        prop_assert_eq!(support_file_components(&path).is_some(), reference(&path), "{}", path);
    }

    #[test]
    fn anything_at_all_agrees(path in any::<String>()) {
        let path = format!("scripts/{path}");
        prop_assert_eq!(support_file_components(&path).is_some(), reference(&path), "{:?}", path);
    }
}

#[test]
fn names_for_writing_are_narrow() {
    for bad in ["", "a", "..", "a/b", "a b", "A", "é", "-a", "nul", "a\0"] {
        assert!(!is_skill_name(bad), "{bad:?}");
    }
    assert!(is_skill_name("good-name_2"));
}
