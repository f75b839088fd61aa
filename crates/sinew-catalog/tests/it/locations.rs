//! Section 13.7: shortening and expanding locations.

use sinew_catalog::locations::{HomeFolder, HomeFolders, PathStyle};

fn check(homes: &HomeFolders, path: &str, location: &str) {
    assert_eq!(homes.compact(path), location);
    if location.starts_with('~') {
        let back = homes.expand(location).expect("a short location expands");
        assert!(homes.compact(&back) == location, "{back} is another place than {path}");
    }
}

fn home(path: &str, real: &str) -> Option<HomeFolder> {
    Some(HomeFolder { path: path.to_owned(), real: Some(real.to_owned()) })
}

#[test]
fn a_home_ends_at_a_segment() {
    let homes = HomeFolders::single("/u/ann");
    check(&homes, "/u/ann/x/SKILL.md", "~/x/SKILL.md");
    check(&homes, "/u/annex/y/SKILL.md", "/u/annex/y/SKILL.md");
    check(&homes, "/u/ann", "~");
    check(&homes, "/v/u/ann/x", "/v/u/ann/x");
    check(&HomeFolders::single("/u/ann/"), "/u/ann/x", "~/x");
    check(&HomeFolders::single("/"), "/etc/x", "/etc/x");
    check(&HomeFolders::default(), "/u/ann/x", "/u/ann/x");
}

#[test]
fn a_short_location_expands_to_the_same_file() {
    let homes = HomeFolders::single("/u/ann");
    for path in ["/u/ann/x/SKILL.md", "/u/annex/y/SKILL.md", "/u/ann"] {
        assert_eq!(homes.expand(&homes.compact(path)).expect("absolute or short"), path);
    }
    assert_eq!(homes.expand("x/SKILL.md"), None);
    check(&homes, "/u/ann/../bob/x", "/u/ann/../bob/x");
}

#[test]
fn a_home_behind_a_link_is_the_same_home() {
    let homes = HomeFolders {
        effective: home("/home/ann", "/mnt/disk/ann"),
        reader: home("/home/ann", "/mnt/disk/ann"),
        ..HomeFolders::default()
    };
    check(&homes, "/mnt/disk/ann/x", "~/x");
    check(&homes, "/home/ann/x", "~/x");
}

#[test]
fn a_moved_home_stays_absolute() {
    let homes = HomeFolders {
        effective: home("/srv/state", "/srv/state"),
        native: home("/home/ann", "/home/ann"),
        reader: home("/home/ann", "/home/ann"),
        ..HomeFolders::default()
    };
    check(&homes, "/srv/state/skills/x", "/srv/state/skills/x");
    check(&homes, "/home/ann/skills/x", "~/skills/x");
    check(&HomeFolders::single("/data"), "/data/skills/x", "/data/skills/x");
}

#[test]
fn windows_paths_show_slashes() {
    let homes = HomeFolders { style: PathStyle::Windows, ..HomeFolders::single(r"C:\Users\Ann") };
    check(&homes, r"C:\Users\Ann\x\SKILL.md", "~/x/SKILL.md");
    check(&homes, r"c:\users\ann\x\SKILL.md", "~/x/SKILL.md");
    check(&homes, r"D:\skills\x\SKILL.md", "D:/skills/x/SKILL.md");
    assert_eq!(homes.expand("~/x").expect("short"), "C:/Users/Ann/x");
}

#[test]
fn readers_stay_inside_the_roots() {
    let homes = HomeFolders::single("/u/ann");
    let open = |location: &str| {
        let path = homes.expand_home_relative(location).expect("a location");
        homes.is_inside(&path, ["/u/ann/.openpocket/skills"])
    };
    assert!(open(".openpocket/skills/mail/SKILL.md"));
    assert!(open("~/.openpocket/skills/mail/SKILL.md"));
    assert!(!open("~/.ssh/id_ed25519"));
    assert!(!open("~/.openpocket/skills/../../.ssh/id_ed25519"));
    assert!(!open("/etc/passwd"));
}
