//! Downloads from a server on this machine.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::sync::Arc;

use sinew_catalog::install::check_spec;
use sinew_exec::install::{
    FileFetcher, InstallResult, MAX_DOWNLOAD, NameResolution, ToolDownload, download,
};
use sinew_settings::ReasonCode;
use sinew_skill::InstallSpec;
use sinew_testkit::TestMachine;

use crate::server::{Answer, Server};

/// A server, a machine, and a fetcher that trusts the server and may reach it.
struct Place {
    server: Server,
    machine: TestMachine,
    fetcher: FileFetcher,
}

impl Place {
    fn new(server: Server) -> Self {
        let authorities = (!server.authority.is_empty()).then(|| server.authority.clone());
        let fetcher = FileFetcher {
            allow: vec!["localhost".to_owned()],
            authorities,
            ..FileFetcher::default()
        };
        Self { server, machine: TestMachine::new(), fetcher }
    }

    fn url(&self, path: &str) -> String {
        let scheme = if self.server.authority.is_empty() { "http" } else { "https" };
        format!("{scheme}://localhost:{}{path}", self.server.port)
    }

    /// Installs what `fields` says for the skill `demo`.
    fn install(&self, url: &str, fields: &[(&str, &str)]) -> InstallResult {
        let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let spec = InstallSpec {
            id: "download-0".to_owned(),
            kind: "download".to_owned(),
            bins: vec!["tool".to_owned()],
            fields: fields.chain([("url".to_owned(), url.to_owned())]).collect(),
            ..InstallSpec::default()
        };
        let installer = check_spec(&spec).expect("a good declaration");
        let argv = ["sinew".to_owned(), "download".to_owned(), url.to_owned()];
        let tool = ToolDownload {
            id: "download-0",
            key: "demo",
            download: installer.download.as_ref().expect("a download"),
            bins: &spec.bins,
            argv: &argv,
        };
        download(&tool, &self.fetcher, &self.machine.environment(), &mut |_, _| {})
    }

    fn tools(&self) -> PathBuf {
        self.machine.path("home/.sinew/tools")
    }

    /// Everything below the folder of tools that is not sinew's own.
    fn files(&self) -> Vec<String> {
        let mut files = Vec::new();
        let mut waiting = vec![self.tools()];
        while let Some(folder) = waiting.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                let name = entry.file_name().to_string_lossy().into_owned();
                if name.starts_with('.') {
                    // Staged files are gone afterwards.
                    let left = std::fs::read_dir(&path).into_iter().flatten().flatten();
                    let left: Vec<_> = left.filter(|entry| entry.file_name() != "lock").collect();
                    assert!(left.is_empty(), "{left:?}");
                } else if path.is_dir() {
                    waiting.push(path);
                } else {
                    let below = path.strip_prefix(self.tools()).expect("below");
                    files.push(below.to_string_lossy().into_owned());
                }
            }
        }
        files.sort();
        files
    }
}

fn sha256(bytes: &[u8]) -> String {
    sinew_skill::content_hash(bytes)
}

type File<'a> = (&'a str, tar::EntryType, &'a [u8]);

fn tar(files: &[File<'_>]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, kind, bytes) in files {
        let mut header = tar::Header::new_gnu();
        // Written by hand: the builder refuses what an attacker would write.
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(*kind);
        header.set_size(bytes.len() as u64);
        header.set_mode(0o4777);
        if kind.is_symlink() || kind.is_hard_link() {
            header.set_link_name("/etc/passwd").expect("a target");
        }
        header.set_cksum();
        builder.append(&header, *bytes).expect("an entry");
    }
    builder.into_inner().expect("a tar")
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).expect("gzip");
    encoder.finish().expect("gzip")
}

fn bundle() -> Vec<u8> {
    gzip(&tar(&[
        ("top/", tar::EntryType::Directory, b""),
        ("top/bin/tool", tar::EntryType::Regular, b"#!/bin/sh\necho it works\n"),
        ("top/doc/readme", tar::EntryType::Regular, b"read me"),
        ("LICENSE", tar::EntryType::Regular, b"x"),
    ]))
}

#[track_caller]
fn check_code(result: &InstallResult, code: &str) {
    assert_eq!(result.code.map(ReasonCode::as_str), Some(code), "{result:?}");
    assert!(!result.ok);
}

#[test]
fn a_good_digest_installs_and_a_bad_one_leaves_nothing() {
    let place = Place::new(Server::https());
    let bytes = bundle();
    place.server.answer_with("/t.tar.gz", Answer::Body(bytes.clone()));
    let url = place.url("/t.tar.gz");
    let bad = place.install(&url, &[("sha256", &"0".repeat(64)), ("stripComponents", "1")]);
    check_code(&bad, "download-digest-mismatch");
    assert!(bad.message.contains(&sha256(&bytes)) && bad.message.contains(&"0".repeat(64)));
    assert!(place.files().is_empty(), "{:?}", place.files());
    let good = place
        .install(&url, &[("sha256", &sha256(&bytes).to_uppercase()), ("stripComponents", "1")]);
    assert!(good.ok, "{good:?}");
    assert_eq!(place.files(), ["demo/bin/tool", "demo/doc/readme"]);
    assert_eq!(good.warnings, ["1 files were skipped: stripping left no name"]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |file: &str| {
            std::fs::metadata(place.tools().join(file)).expect("a file").permissions().mode()
                & 0o7777
        };
        // Only declared programs are executable, and nothing is set-id.
        assert_eq!((mode("demo/bin/tool"), mode("demo/doc/readme")), (0o755, 0o644));
    }
}

#[test]
fn other_archives_and_plain_files_work_and_nothing_is_lost() {
    let place = Place::new(Server::https());
    let files = tar(&[("tool", tar::EntryType::Regular, b"b")]);
    let mut packed = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    packed.write_all(&files).expect("bzip2");
    place.server.answer_with("/t.tbz2", Answer::Body(packed.finish().expect("bzip2")));
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    zip.start_file("z/tool", zip::write::SimpleFileOptions::default()).expect("zip");
    zip.write_all(b"z").expect("zip");
    place.server.answer_with("/t.zip", Answer::Body(zip.finish().expect("zip").into_inner()));
    place.server.answer_with("/tool", Answer::Body(b"plain".to_vec()));
    place.server.answer_with("/odd", Answer::Body(bundle()));
    let zipped = place.install(&place.url("/t.zip"), &[("targetDir", "zipped")]);
    assert!(zipped.ok && zipped.warnings[0].contains("cannot be verified"), "{zipped:?}");
    let absolute = place.tools().join("demo/b");
    assert!(place.install(&place.url("/t.tbz2"), &[("targetDir", &absolute.to_string_lossy())]).ok);
    assert!(place.install(&place.url("/tool"), &[]).ok);
    assert_eq!(place.files(), ["demo/b/tool", "demo/tool", "demo/zipped/z/tool"]);
    assert!(place.install(&place.url("/odd"), &[("archive", "tar.gz"), ("targetDir", "./a/b")]).ok);
    assert!(place.files().contains(&"demo/a/b/top/bin/tool".to_owned()));
    // It should be unpacked, but the format is unknown.
    for fields in [&[("extract", "true")][..], &[("archive", "rar")]] {
        check_code(&place.install(&place.url("/tool"), fields), "archive-unknown");
    }
    // It is declared as another format.
    check_code(&place.install(&place.url("/tool"), &[("archive", "zip")]), "archive-unknown");
    assert!(place.install(&place.url("/t.zip"), &[("extract", "false"), ("targetDir", "raw")]).ok);
    assert!(place.files().contains(&"demo/raw/t.zip".to_owned()));
}

#[test]
fn an_archive_that_leads_elsewhere_changes_nothing() {
    let place = Place::new(Server::https());
    place.server.answer_with("/tool", Answer::Body(b"old".to_vec()));
    assert!(place.install(&place.url("/tool"), &[]).ok);
    let before = place.files();
    let regular = tar::EntryType::Regular;
    for (at, bad) in [
        ("../x", regular),
        ("/etc/x", regular),
        ("a/../../x", regular),
        ("link", tar::EntryType::Symlink),
        ("hard", tar::EntryType::Link),
        ("device", tar::EntryType::Char),
    ]
    .iter()
    .enumerate()
    {
        let bytes = gzip(&tar(&[("tool", regular, b"new"), (bad.0, bad.1, b"")]));
        let path = format!("/{at}.tgz");
        place.server.answer_with(&path, Answer::Body(bytes));
        check_code(&place.install(&place.url(&path), &[]), "archive-unsafe-entry");
        assert_eq!(place.files(), before, "{bad:?}");
        assert_eq!(std::fs::read(place.tools().join("demo/tool")).expect("a file"), b"old");
    }
    assert!(
        !place.machine.path("home/.sinew/x").exists() && !place.machine.path("home/x").exists()
    );
}

#[test]
fn an_archive_that_grows_too_much_is_refused() {
    let place = Place::new(Server::https());
    let zeros = vec![0_u8; 8 * 1024 * 1024];
    let bomb = gzip(&tar(&[("a", tar::EntryType::Regular, &zeros)]));
    place.server.answer_with("/bomb.tgz", Answer::Body(bomb));
    check_code(&place.install(&place.url("/bomb.tgz"), &[]), "archive-too-large");
    assert!(place.files().is_empty());
}

#[test]
fn a_target_outside_the_skills_tools_is_refused() {
    let place = Place::new(Server::https());
    place.server.answer_with("/tool", Answer::Body(b"x".to_vec()));
    let url = place.url("/tool");
    for target in ["../../x", "/tmp/x", "a/../../x", "..", "/", "a\\b", "c:x", "a/\u{7}"] {
        check_code(&place.install(&url, &[("targetDir", target)]), "target-escape");
    }
    assert_eq!(place.server.requests(), 0, "nothing is fetched for a target that is refused");
    #[cfg(unix)]
    {
        let outside = place.machine.path("outside");
        std::fs::create_dir_all(&outside).expect("a folder");
        std::fs::create_dir_all(place.tools().join("demo")).expect("a folder");
        std::os::unix::fs::symlink(&outside, place.tools().join("demo/link")).expect("a link");
        for target in ["link", "link/below", "link/a/b"] {
            check_code(&place.install(&url, &[("targetDir", target)]), "target-escape");
        }
        std::fs::remove_dir_all(place.tools().join("demo")).expect("removed");
        std::os::unix::fs::symlink(&outside, place.tools().join("demo")).expect("a link");
        check_code(&place.install(&url, &[]), "target-escape");
        check_code(&place.install(&url, &[("targetDir", "a")]), "target-escape");
        assert_eq!(std::fs::read_dir(outside).expect("a folder").count(), 0);
    }
}

#[test]
fn private_addresses_are_refused_also_after_a_redirect() {
    let place = Place::new(Server::https());
    let port = place.server.port;
    for (path, to) in [
        ("/metadata", "http://169.254.169.254/latest/meta-data".to_owned()),
        ("/six", format!("https://[::1]:{port}/tool")),
        ("/four", format!("https://127.0.0.1:{port}/tool")),
        ("/number", format!("https://2130706433:{port}/tool")),
        ("/mapped", format!("https://[::ffff:127.0.0.1]:{port}/tool")),
        ("/any", format!("https://0.0.0.0:{port}/tool")),
        ("/intranet", "https://10.0.0.1/tool".to_owned()),
    ] {
        place.server.answer_with(path, Answer::Redirect(to));
        let result = place.install(&place.url(path), &[("sha256", &"0".repeat(64))]);
        check_code(&result, "download-refused-address");
        assert!(place.files().is_empty());
    }
    // A direct request, without permission for the host.
    let strict =
        Place { fetcher: FileFetcher { allow: Vec::new(), ..place.fetcher.clone() }, ..place };
    for url in [
        strict.url("/tool"),
        format!("https://127.0.0.1:{port}/tool"),
        "https://169.254.169.254/x".to_owned(),
    ] {
        check_code(&strict.install(&url, &[]), "download-refused-address");
    }
}

#[test]
fn a_public_name_that_resolves_to_this_machine_is_refused() {
    let mut place = Place::new(Server::https());
    place.server.answer_with("/tool", Answer::Body(b"x".to_vec()));
    let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let table = BTreeMap::from([
        ("files.example.org".to_owned(), loopback),
        ("localhost".to_owned(), loopback),
    ]);
    place.fetcher.names = NameResolution::Fixed(Arc::new(table));
    let url = format!("https://files.example.org:{}/tool", place.server.port);
    check_code(&place.install(&url, &[]), "download-refused-address");
    assert_eq!(place.server.requests(), 0);
    // A redirect from an allowed host to one that is not.
    place.server.answer_with("/there", Answer::Redirect(url.clone()));
    check_code(&place.install(&place.url("/there"), &[]), "download-refused-address");
    // With permission for exactly this host and port.
    place.fetcher.allow = vec![format!("FILES.example.org:{}", place.server.port)];
    assert!(place.install(&url, &[]).ok);
}

#[test]
fn a_body_that_does_not_end_is_stopped() {
    let mut place = Place::new(Server::https());
    place.fetcher.max = 100_000;
    place.server.answer_with("/announced", Answer::Promise(MAX_DOWNLOAD + 1));
    place.server.answer_with("/unannounced", Answer::Unannounced(vec![b'x'; 200_000]));
    place.server.answer_with("/exactly", Answer::Unannounced(vec![b'x'; 100_000]));
    for path in ["/announced", "/unannounced"] {
        check_code(&place.install(&place.url(path), &[]), "download-too-large");
        assert!(place.files().is_empty());
    }
    assert!(place.install(&place.url("/exactly"), &[]).ok);
    let usual =
        Place { fetcher: FileFetcher { max: MAX_DOWNLOAD, ..place.fetcher.clone() }, ..place };
    check_code(&usual.install(&usual.url("/announced"), &[]), "download-too-large");
}

#[test]
fn servers_that_misbehave_are_named() {
    let place = Place::new(Server::https());
    place.server.answer_with("/gone", Answer::Status(404));
    place.server.answer_with("/loop", Answer::Redirect("/loop".to_owned()));
    place.server.answer_with("/nowhere", Answer::Redirect("ftp://h/x".to_owned()));
    place.server.answer_with("/user", Answer::Redirect("https://u:p@localhost/x".to_owned()));
    place.server.answer_with("/short", Answer::Promise(1000));
    place.server.answer_with(
        "/plain",
        Answer::Redirect(format!("http://localhost:{}/x", place.server.port)),
    );
    for path in ["/gone", "/loop", "/nowhere", "/user"] {
        check_code(&place.install(&place.url(path), &[]), "download-http-status");
    }
    check_code(&place.install(&place.url("/short"), &[]), "install-failed");
    // Without a digest, a redirect from https to http is not followed.
    check_code(&place.install(&place.url("/plain"), &[]), "install-spec-invalid");
    place.server.answer_with("/near", Answer::Redirect("tool?x=1".to_owned()));
    place.server.answer_with("/tool?x=1", Answer::Body(b"x".to_vec()));
    assert!(place.install(&place.url("/near"), &[]).ok);
    assert_eq!(place.files(), ["demo/near"]);
}

#[test]
fn a_server_without_a_trusted_certificate_is_refused() {
    let mut place = Place::new(Server::https());
    place.server.answer_with("/tool", Answer::Body(b"x".to_vec()));
    place.fetcher.authorities = None;
    check_code(&place.install(&place.url("/tool"), &[]), "install-failed");
    place.fetcher.authorities = Some(b"not a certificate".to_vec());
    check_code(&place.install(&place.url("/tool"), &[]), "install-failed");
    assert_eq!(place.server.requests(), 0);
}

#[test]
fn plain_http_needs_a_digest() {
    let place = Place::new(Server::http());
    place.server.answer_with("/tool", Answer::Body(b"x".to_vec()));
    check_code(&place.install(&place.url("/tool"), &[]), "install-spec-invalid");
    assert_eq!(place.server.requests(), 0);
    assert!(place.install(&place.url("/tool"), &[("sha256", &sha256(b"x"))]).ok);
}
