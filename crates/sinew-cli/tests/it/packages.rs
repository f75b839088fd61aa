//! What `scripts/dist` makes, installed from its files into homes that hold nothing else.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use sinew_testkit::{PythonPackages, TestMachine, report_skip};

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Something that a skill without requirements answers: there is no `git` either.
const QUESTION: [&str; 2] = ["find", "create a SKILL.md that teaches my agent our release steps"];
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// The packages of the program under test, in a folder that goes with the machine.
fn packages(machine: &TestMachine) -> PathBuf {
    let program = machine.path("sinew");
    fs::copy(env!("CARGO_BIN_EXE_sinew"), &program).expect("a copy");
    // Symbols of a test build would be most of every package.
    drop(Command::new("strip").arg(&program).status());
    let out = machine.path("dist");
    let made = Command::new(workspace().join("scripts/dist"))
        .arg("--binary")
        .arg(&program)
        .arg("--out")
        .arg(&out)
        .args(["--compression", "1"])
        .output()
        .expect("scripts/dist runs");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    out
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A program where nothing else is: a home of its own, and only `path` to find programs in.
fn alone(machine: &TestMachine, program: &Path, path: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("HOME", machine.path("home"))
        .env("PATH", path)
        .current_dir(machine.path("work"))
        .stdin(Stdio::null());
    command
}

fn answers(machine: &TestMachine, program: &Path, path: &Path) {
    let output = alone(machine, program, path).args(QUESTION).output().expect("it starts");
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    let first = out.lines().nth(1).unwrap_or_default();
    assert!(first.ends_with("skill-creator"), "{}: {out}{err}", program.display());
    let setup = alone(machine, program, path).args(["setup", "--yes"]).output().expect("it starts");
    let said = text(&setup.stdout) + &text(&setup.stderr);
    assert!(setup.status.success(), "{}: {said}", program.display());
    assert!(
        said.contains("every skill has its vectors") || said.contains("are computed"),
        "{said}"
    );
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A tool that a test needs, or a loud word about why it cannot be used.
fn tool(name: &str, args: &[&str]) -> Option<Output> {
    match Command::new(name).args(args).stdin(Stdio::null()).output() {
        Ok(output) if output.status.success() => Some(output),
        Ok(output) => {
            report_skip(&format!("{name} does not do this here: {}", text(&output.stderr)));
            None
        }
        Err(error) => {
            report_skip(&format!("{name} cannot be run: {error}"));
            None
        }
    }
}

fn shown(path: &Path) -> &str {
    path.to_str().expect("a path of a test")
}

#[test]
fn every_package_answers_where_nothing_else_is_installed() {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu")) {
        report_skip("packages of this system are not tried");
        return;
    }
    let machine = TestMachine::new();
    let out = packages(&machine);
    archive(&machine, &out);
    npm(&machine, &out);
    openclaw_plugin(&machine, &out);
    wheel(&machine, &out);
    debian(&machine, &out);
    install_script(&machine, &out);
    templates(&out);
    checksums_cover_every_file(&out);
}

/// A compiler of the system is used for static programs only where it can build the program, and what was
/// linked against an old C library asks for no newer one.
#[test]
fn an_older_compiler_and_a_newer_c_library_are_refused() {
    let script = "import sys; sys.path.insert(0, 'packaging'); sys.dont_write_bytecode = True
import build, targets, pathlib, tempfile
wanted = build.least_compiler(pathlib.Path('.'))
assert build.is_at_least(f'rustc {wanted}.0 (built from a source tarball)', wanted), wanted
assert build.is_at_least('rustc 2.1.0', wanted) and not build.is_at_least('rustc 1.85.0 (4d91de4e4)', wanted)
assert not build.is_at_least('', wanted)
target = targets.find('x86_64-unknown-linux-gnu')
with tempfile.TemporaryDirectory() as folder:
    program = pathlib.Path(folder) / 'sinew'
    for version, fits in (('2.2.5', True), ('2.17', True), ('2.18', False), ('2.34', False)):
        program.write_bytes(b'\\0GLIBC_' + version.encode() + b'\\0')
        try:
            build.check_needs(program, target)
            assert fits, version
        except build.CannotBuild as cause:
            assert not fits and version in str(cause), cause
print('ok')
";
    let told = Command::new("python3")
        .args(["-c", script])
        .current_dir(workspace())
        .stdin(Stdio::null())
        .output();
    match told {
        Ok(output) => assert_eq!(text(&output.stdout), "ok\n", "{}", text(&output.stderr)),
        Err(error) => report_skip(&format!("python3 cannot be run: {error}")),
    }
}

fn archive(machine: &TestMachine, out: &Path) {
    let folder = machine.path("archive");
    fs::create_dir_all(&folder).expect("a folder");
    let name = format!("sinew-{VERSION}-{TARGET}");
    let file = out.join(format!("{name}.tar.gz"));
    tool("tar", &["-xzf", shown(&file), "-C", shown(&folder)]).expect("tar unpacks it");
    let folder = folder.join(name);
    answers(machine, &folder.join("sinew"), &folder);
    for file in ["LICENSE-MIT", "LICENSE-APACHE", "completions/_sinew", "man/sinew-find.1"] {
        assert!(folder.join(file).is_file(), "{file}");
    }
    let bill = fs::read(folder.join("sinew.cdx.json")).expect("a bill of materials");
    let bill: Value = serde_json::from_slice(&bill).expect("JSON");
    assert_eq!((&bill["bomFormat"], &bill["specVersion"]), (&"CycloneDX".into(), &"1.5".into()));
    let components = bill["components"].as_array().expect("components");
    let named = |name: &str| components.iter().find(|row| row["name"] == name);
    let parser = named("granit-parser").expect("a crate that the program is made of");
    assert!(parser["hashes"][0]["content"].as_str().is_some_and(|digest| digest.len() == 64));
    assert!(named("insta").is_none(), "what only tests need is not in the program");
    for row in components {
        assert!(row["licenses"][0]["expression"].is_string(), "{row}");
    }
}

fn npm(machine: &TestMachine, out: &Path) {
    let prefix = machine.path("npm");
    let files = ["sinew-cli-linux-x64", "sinew-cli"]
        .map(|name| shown(&out.join(format!("{name}-{VERSION}.tgz"))).to_owned());
    let cache = machine.path("npm-cache");
    let install =
        ["install", "-g", "--offline", "--no-audit", "--no-fund", "--prefix", shown(&prefix)];
    let more = ["--cache", shown(&cache), &files[0], &files[1]];
    if tool("npm", &[&install[..], &more[..]].concat()).is_none() {
        return;
    }
    // The launcher is a script for Node; npm is not needed any more.
    let node = tool("node", &["-p", "process.execPath"]).expect("npm is there, so Node is");
    let bin = prefix.join("bin");
    std::os::unix::fs::symlink(text(&node.stdout).trim(), bin.join("node")).expect("a link");
    answers(machine, &bin.join("sinew"), &bin);
    answers(machine, &bin.join("sinew-cli"), &bin);
    npx(machine, &files, &cache);
    // Exit codes and arguments pass through.
    let refused = alone(machine, &bin.join("sinew"), &bin).args(["why", "no-such-skill"]).output();
    let direct = alone(machine, Path::new(env!("CARGO_BIN_EXE_sinew")), &bin)
        .args(["why", "no-such-skill"])
        .output()
        .expect("it starts");
    let refused = refused.expect("it starts");
    assert_eq!(
        (refused.status.code(), text(&refused.stderr)),
        (direct.status.code(), text(&direct.stderr))
    );
    // Without the package of the platform, the launcher says which one is missing.
    fs::remove_dir_all(prefix.join("lib/node_modules/sinew-cli-linux-x64")).expect("removed");
    let lost =
        alone(machine, &bin.join("sinew"), &bin).arg("--version").output().expect("it starts");
    assert_eq!(lost.status.code(), Some(4));
    assert!(text(&lost.stderr).contains("sinew-cli-linux-x64 is not installed"));
}

/// The plugin is packed as npm would pack it, with the release's version.
fn openclaw_plugin(machine: &TestMachine, out: &Path) {
    let folder = machine.path("openclaw-plugin");
    fs::create_dir_all(&folder).expect("a folder");
    let file = out.join(format!("sinew-openclaw-{VERSION}.tgz"));
    tool("tar", &["-xzf", shown(&file), "-C", shown(&folder)]).expect("tar unpacks it");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../integrations/openclaw");
    for name in ["index.js", "openclaw.plugin.json", "README.md"] {
        let read = |path: &Path| fs::read(path).unwrap_or_default();
        assert_eq!(read(&folder.join("package").join(name)), read(&source.join(name)), "{name}");
    }
    let manifest = fs::read(folder.join("package/package.json")).expect("a manifest");
    let manifest: Value = serde_json::from_slice(&manifest).expect("JSON");
    assert_eq!(manifest["version"], VERSION);
    assert_eq!(manifest["openclaw"]["extensions"][0], "./index.js");
}

/// `npx sinew-cli find …`, from the files: nothing is installed, and nothing is asked of a registry.
fn npx(machine: &TestMachine, files: &[String; 2], cache: &Path) {
    let packages = files.each_ref().map(|file| format!("--package={file}"));
    let mut npx = Command::new("npx");
    npx.args(["--yes", "--offline", "--cache", shown(cache)])
        .args(&packages)
        .arg("sinew-cli")
        .args(QUESTION)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", machine.path("home"))
        .current_dir(machine.path("work"))
        .stdin(Stdio::null());
    said_the_right_skill("npx", &npx.output().expect("npx comes with npm"));
}

/// `uvx sinew-cli find …`, from the wheel.
fn uvx(machine: &TestMachine, wheel: &Path) {
    let Some(python) =
        PythonPackages::get(env!("CARGO_TARGET_TMPDIR"), "packages-uv", &["uv==0.13.8"])
    else {
        return;
    };
    let mut uvx = python.command("uvx");
    uvx.args(["--offline", "--no-python-downloads", "--from", shown(wheel), "sinew-cli"])
        .args(QUESTION)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", machine.path("home"))
        .env("UV_CACHE_DIR", machine.path("uv-cache"))
        .current_dir(machine.path("work"))
        .stdin(Stdio::null());
    said_the_right_skill("uvx", &uvx.output().expect("uvx comes with uv"));
}

fn said_the_right_skill(by: &str, output: &Output) {
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{by}: {out}{err}");
    assert!(
        out.lines().nth(1).is_some_and(|line| line.ends_with("skill-creator")),
        "{by}: {out}{err}"
    );
}

fn wheel(machine: &TestMachine, out: &Path) {
    let folder = machine.path("venv");
    if tool("python3", &["-m", "venv", shown(&folder)]).is_none() {
        return;
    }
    let wheel = files(out).into_iter().find(|name| name.ends_with(".whl")).expect("a wheel");
    let bin = folder.join("bin");
    let pip = bin.join("pip");
    let installed =
        tool(shown(&pip), &["install", "--quiet", "--no-index", shown(&out.join(&wheel))]);
    assert!(installed.is_some(), "pip takes the wheel");
    uvx(machine, &out.join(&wheel));
    answers(machine, &bin.join("sinew"), &bin);
    answers(machine, &bin.join("sinew-cli"), &bin);
}

fn debian(machine: &TestMachine, out: &Path) {
    let root = machine.path("debian");
    let package = out.join(format!("sinew_{VERSION}_amd64.deb"));
    if tool("dpkg-deb", &["--extract", shown(&package), shown(&root)]).is_none() {
        return;
    }
    let bin = root.join("usr/bin");
    answers(machine, &bin.join("sinew"), &bin);
    let control = tool("dpkg-deb", &["--field", shown(&package)]).expect("its fields");
    let control = text(&control.stdout);
    assert!(
        control.contains("Package: sinew\n") && control.contains("Depends: libc6 (>= 2."),
        "{control}"
    );
    for file in [
        "usr/share/man/man1/sinew.1.gz",
        "usr/share/doc/sinew/copyright",
        "usr/share/bash-completion/completions/sinew",
    ] {
        assert!(root.join(file).is_file(), "{file}");
    }
}

/// A folder, served until it is dropped.
struct FileServer {
    process: Child,
    url: String,
}

impl FileServer {
    fn start(folder: &Path) -> Self {
        let mut process = Command::new("python3")
            .args(["-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory"])
            .arg(folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Python serves files");
        let mut line = String::new();
        let out = process.stdout.take().expect("its output");
        BufReader::new(out).read_line(&mut line).expect("a line");
        let port = line.split_whitespace().nth(5).expect("Serving HTTP on 127.0.0.1 port N");
        let url = format!("http://127.0.0.1:{port}");
        Self { process, url }
    }
}

impl Drop for FileServer {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

fn install_script(machine: &TestMachine, out: &Path) {
    let server = FileServer::start(out);
    let folder = machine.path("home/.local/bin");
    let run = || {
        Command::new("sh")
            .arg(out.join("install.sh"))
            .env("HOME", machine.path("home"))
            .env("SINEW_DOWNLOAD_URL", &server.url)
            .stdin(Stdio::null())
            .output()
            .expect("sh runs")
    };
    let done = run();
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert!(text(&done.stdout).contains("next: add "), "{}", text(&done.stdout));
    answers(machine, &folder.join("sinew"), &folder);

    // Another archive under the same name is refused, and what is installed stays.
    let archive = out.join(format!("sinew-{VERSION}-{TARGET}.tar.gz"));
    let released = fs::read(&archive).expect("an archive");
    fs::write(&archive, [&released[..], b"x"].concat()).expect("written");
    fs::write(folder.join("sinew"), "mine").expect("written");
    let refused = run();
    assert!(!refused.status.success());
    assert!(text(&refused.stderr).contains("is not the released one"), "{}", text(&refused.stderr));
    assert_eq!(fs::read(folder.join("sinew")).expect("a file"), b"mine");
    fs::write(&archive, released).expect("written");

    let script = fs::read_to_string(out.join("install.sh")).expect("a script");
    assert!(!script.contains("{{"), "every name of the template is filled in");
    match Command::new("shellcheck").arg("--norc").arg(out.join("install.sh")).output() {
        Ok(found) => assert!(found.status.success(), "{}", text(&found.stdout)),
        Err(_) => report_skip("shellcheck is not installed"),
    }
}

/// What cannot be run here holds at least the digest of the archive that it would fetch.
fn templates(out: &Path) {
    let sums = fs::read_to_string(out.join("SHA256SUMS")).expect("checksums");
    let archive = format!("sinew-{VERSION}-{TARGET}.tar.gz");
    let row = sums.lines().find(|row| row.ends_with(&archive)).expect("the archive's row");
    let formula = fs::read_to_string(out.join("sinew.rb")).expect("a formula");
    assert!(formula.contains(&row[..64]) && formula.contains(&archive), "{formula}");
    for file in ["sinew.rb", "Containerfile", "install.ps1"] {
        let text = fs::read_to_string(out.join(file)).expect(file);
        assert!(text.contains(VERSION) && !text.contains("{{"), "{file}: {text}");
    }
}

fn checksums_cover_every_file(out: &Path) {
    let sums = fs::read_to_string(out.join("SHA256SUMS")).expect("checksums");
    let named: Vec<&str> = sums.lines().map(|row| &row[66..]).collect();
    let mut there = files(out);
    there.retain(|name| name != "SHA256SUMS");
    assert_eq!(named, there);
}

fn files(out: &Path) -> Vec<String> {
    let names =
        fs::read_dir(out).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
