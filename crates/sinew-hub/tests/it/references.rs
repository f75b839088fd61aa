//! References: every form is read, rendered and read again as the same thing.

use proptest::prelude::*;
use sinew_hub::reference::{ShorthandMeaning, SkillReference};

fn shown(text: &str) -> String {
    match SkillReference::parse(text, ShorthandMeaning::GitHub) {
        Ok(reference) => format!("{reference:?}"),
        Err(error) => format!("no: {}", error.what),
    }
}

fn rendered(text: &str) -> String {
    SkillReference::parse(text, ShorthandMeaning::GitHub)
        .map_or_else(|error| error.to_string(), |r| r.to_string())
}

#[test]
fn every_form_of_the_table_is_read() {
    for (text, expected) in [
        ("todoist-cli", "todoist-cli"),
        ("Todoist-CLI", "todoist-cli"),
        ("@steipete/todoist-cli", "@steipete/todoist-cli"),
        ("@Steipete/todoist-cli@1.2.0", "@steipete/todoist-cli@1.2.0"),
        ("slug@latest", "slug"),
        ("slug@beta", "slug@beta"),
        ("slug@^1.2", "slug@^1.2"),
        ("team:@owner/slug@1.2.0", "team:@owner/slug@1.2.0"),
        ("owner/repo", "github:owner/repo"),
        ("owner/repo/sub/path", "github:owner/repo/sub/path"),
        ("owner/repo@skill", "github:owner/repo@skill"),
        ("owner/repo#main", "github:owner/repo#main"),
        ("owner/repo/sub@skill#v1.0", "github:owner/repo/sub@skill#v1.0"),
        ("owner/repo/sub#v1.0@skill", "github:owner/repo/sub@skill#v1.0"),
        ("github:owner/repo", "github:owner/repo"),
        ("https://github.com/owner/repo/tree/main/skills/a", "github:owner/repo/skills/a#main"),
        ("https://github.com/owner/repo", "github:owner/repo"),
        ("git@example.org:group/repo.git", "git@example.org:group/repo.git"),
        ("ssh://git@example.org/group/repo.git#v2", "ssh://git@example.org/group/repo.git#v2"),
        ("https://example.org/group/repo.git@name", "https://example.org/group/repo.git@name"),
        ("git:owner/repo@v1", "https://github.com/owner/repo.git#v1"),
        ("skills-sh:owner/repo/slug", "skills-sh:owner/repo/slug"),
        ("https://example.org/skills/", "https://example.org/skills"),
        ("https://example.org#one", "https://example.org#one"),
        ("./dir", "./dir"),
        ("../dir", "../dir"),
        ("~/dir", "~/dir"),
        ("/srv/skills/a", "/srv/skills/a"),
    ] {
        assert_eq!(rendered(text), expected, "{text}");
        assert_eq!(rendered(expected), expected, "{text} again");
        assert_eq!(shown(expected), shown(&rendered(text)), "{text}");
    }
    let owned = SkillReference::parse("steipete/todoist-cli", ShorthandMeaning::Registry).unwrap();
    assert_eq!(owned.to_string(), "@steipete/todoist-cli");
}

#[test]
fn what_could_become_a_path_is_refused() {
    for text in [
        "",
        "   ",
        "a\0b",
        "a\nb",
        "..\\x",
        "owner\\repo",
        "owner/..",
        "owner/../repo",
        "owner/repo/../../x",
        "@owner/../slug",
        "@../slug",
        "owner/repo/a%2fb",
        "owner/repo/a%2Fb",
        "slug%2f..",
        "owner/repo/%2e%2e/x",
        "owner/repo#../main",
        "owner/repo#-x",
        "owner/repo@a/b",
        "owner/repo#a#b",
        "team:@owner/a/b",
        "@owner/slug/x",
        "@owner",
        "-slug",
        "slug-",
        "sl_ug",
        "slug@",
        "slug@^x",
        "file:///etc/passwd",
        "ftp://example.org/x",
        "https://user:pass@example.org/x",
        "https://example.org/x?token=1",
        "-oProxyCommand=x",
        "git@-host:repo.git",
        "ext::sh -c x",
        "gitlab:group/repo",
    ] {
        assert!(
            SkillReference::parse(text, ShorthandMeaning::GitHub).is_err(),
            "{text:?}: {}",
            shown(text)
        );
        assert!(SkillReference::parse(text, ShorthandMeaning::Registry).is_err(), "{text:?}");
    }
    assert!(SkillReference::parse(&"a".repeat(2000), ShorthandMeaning::GitHub).is_err());
}

proptest! {
    #[test]
    fn reading_what_was_rendered_gives_the_same(text in any::<String>()) {
        if let Ok(reference) = SkillReference::parse(&text, ShorthandMeaning::GitHub) {
            prop_assert_eq!(SkillReference::parse(&reference.to_string(), ShorthandMeaning::GitHub), Ok(reference));
        }
    }

    #[test]
    fn reading_what_was_rendered_gives_the_same_for_likely_texts(
        text in "(team:|github:|git:|skills-sh:|git@h.org:|https://h.org/|https://github.com/|ssh://h/|@)?\
                 [a-zA-Z0-9._-]{1,8}(/[a-zA-Z0-9._-]{1,8}){0,3}(\\.git)?(@[a-z0-9.^~-]{1,8})?(#[a-z0-9/.]{1,8})?"
    ) {
        for reading in [ShorthandMeaning::GitHub, ShorthandMeaning::Registry] {
            if let Ok(reference) = SkillReference::parse(&text, reading) {
                prop_assert_eq!(SkillReference::parse(&reference.to_string(), reading), Ok(reference));
            }
        }
    }
}
