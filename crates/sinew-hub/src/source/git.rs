//! Any git repository, through the `git` program, with everything switched off that could run code
//! or reach other hosts.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::Duration;

use sinew_exec::child::{
    self, ExitCause, OutputStream, ProcessControl, ProgramLimits, ProgramSpec, StdinMode,
    StdoutMode,
};
use sinew_guard::{Untrusted, private_files};
use sinew_settings::{Environment, ErrorCode};

use crate::error::HubError;
use crate::net::NetworkAccess;
use crate::reference::GitRef;
use crate::source::github::is_commit;
use crate::tree::SkillTree;

/// How long one step may take; a large repository over a slow line needs a minute.
const STEP: Duration = Duration::from_secs(120);
/// The cap on the output of `git archive`: a whole repository; the skill in it is held to the usual
/// caps.
const MAX_OUTPUT: u64 = 200_000_000;
/// How a Git LFS pointer starts: a file whose content is stored elsewhere.
const LFS: &[u8] = b"version https://git-lfs.github.com/spec/";

/// A repository at a commit.
#[derive(Debug)]
pub struct GitCheckout {
    /// The commit.
    pub commit: String,
    /// Its paths.
    pub paths: Vec<String>,
    archive: Vec<u8>,
}

/// Fetches one commit of a repository.
pub fn fetch(
    at: &GitRef,
    commit: Option<&str>,
    env: &Environment,
    network: NetworkAccess,
) -> Result<GitCheckout, HubError> {
    fetch_within(at, commit, env, network, GitReach::Anywhere)
}

/// Fetches a repository whose files are looked at and not used: also one on this machine, by a
/// `file://` address. Nothing of it is left when the checkout is dropped.
pub fn fetch_to_look(
    at: &GitRef,
    env: &Environment,
    network: NetworkAccess,
) -> Result<GitCheckout, HubError> {
    match at.url.starts_with("file://") {
        true => fetch_within(at, None, env, NetworkAccess::On, GitReach::ThisMachine),
        false => fetch_within(at, None, env, network, GitReach::Anywhere),
    }
}

fn fetch_within(
    at: &GitRef,
    commit: Option<&str>,
    env: &Environment,
    network: NetworkAccess,
    reach: GitReach,
) -> Result<GitCheckout, HubError> {
    if network == NetworkAccess::Off {
        return Err(HubError::new(
            ErrorCode::Offline,
            format!("{} was not contacted: sinew is offline", at.url),
        ));
    }
    if at.url.starts_with('-') {
        return Err(HubError::new(ErrorCode::BadReference, "an address must not start with `-`"));
    }
    let folder = env.sinew_home().join("cache/git");
    private_files::create_folder(&folder)
        .map_err(|error| HubError::file("create", &folder, error))?;
    let work = tempfile::Builder::new()
        .prefix("fetch-")
        .tempdir_in(&folder)
        .map_err(|error| HubError::file("create", &folder, error))?;
    let git = GitRunner { env, folder: work.path(), reach };
    let wanted = commit.or(at.at.as_deref());
    let commit = match wanted.filter(|wanted| is_commit(wanted)) {
        Some(commit) => commit.to_ascii_lowercase(),
        None => git.resolve(&at.url, wanted.unwrap_or("HEAD"))?,
    };
    git.run(&["init", "--quiet", "."])?;
    git.run(&[
        "fetch",
        "--quiet",
        "--depth",
        "1",
        "--no-tags",
        "--no-recurse-submodules",
        "--",
        &at.url,
        &commit,
    ])?;
    let found = git.run(&["rev-parse", "FETCH_HEAD^{commit}"])?;
    let found = String::from_utf8_lossy(&found).trim().to_owned();
    if found != commit {
        let message = format!("{} sent the commit {found} for {commit}", at.url);
        return Err(HubError::new(ErrorCode::IntegrityMismatch, message));
    }
    let listed = git.run(&["ls-tree", "-r", "-z", "--name-only", &commit])?;
    let paths = listed
        .split(|byte| *byte == 0)
        .filter(|path| !path.is_empty())
        .map(|path| String::from_utf8_lossy(path).into_owned())
        .collect();
    let archive = git.run(&["archive", "--format=zip", "-0", "--prefix=repository/", &commit])?;
    Ok(GitCheckout { commit, paths, archive })
}

impl GitCheckout {
    /// The files below a folder. LFS pointers are reported as an error, not taken as files.
    pub fn subtree(&self, folder: &str) -> Result<SkillTree, HubError> {
        let archive = super::github::CommitArchive {
            bytes: self.archive.clone(),
            commit: self.commit.clone(),
        };
        let tree = archive.subtree(folder)?;
        match tree.files().iter().find(|file| file.bytes.starts_with(LFS)) {
            Some(pointer) => Err(HubError::new(
                ErrorCode::Invalid,
                format!("{:?} is stored in Git LFS, so its content is missing", pointer.path),
            )),
            None => Ok(tree),
        }
    }
}

/// Whose repository is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GitReach {
    /// One that a reference names: https and ssh, without the user's credentials.
    Anywhere,
    /// One on this machine that is only looked at, without the user's git configuration.
    ThisMachine,
    /// The person's own, whose address they typed: also a folder or a server on this machine, with
    /// their git configuration, because it may need their credentials.
    Own,
}

/// Runs `git` in a folder.
pub(crate) struct GitRunner<'a> {
    pub(crate) env: &'a Environment,
    pub(crate) folder: &'a Path,
    pub(crate) reach: GitReach,
}

impl GitRunner<'_> {
    /// The commit a name stands for now: branches and tags move, so the commit is fixed before
    /// anything is fetched.
    fn resolve(&self, url: &str, name: &str) -> Result<String, HubError> {
        let peeled = format!("{name}^{{}}");
        let listed = self.run(&["ls-remote", "--quiet", "--", url, name, &peeled])?;
        let listed = String::from_utf8_lossy(&listed).into_owned();
        let rows: Vec<(&str, &str)> =
            listed.lines().filter_map(|row| row.split_once('\t')).collect();
        let exact = |suffix: &str| {
            ["", "refs/tags/", "refs/heads/"].iter().find_map(|prefix| {
                let full = format!("{prefix}{name}{suffix}");
                rows.iter()
                    .find(|(_, found)| *found == full)
                    .map(|(commit, _)| (*commit).to_owned())
            })
        };
        exact("^{}").or_else(|| exact("")).filter(|commit| is_commit(commit)).ok_or_else(|| {
            HubError::new(ErrorCode::NotFound, format!("{url} has no `{name}`"))
                .hint("check the branch or tag")
        })
    }

    pub(crate) fn run(&self, args: &[&str]) -> Result<Vec<u8>, HubError> {
        let vars = self.variables();
        let cannot = |error: child::ProgramStartError| {
            HubError::new(ErrorCode::File, error.to_string())
                .caused_by(error)
                .hint("install git, or name a GitHub repository")
        };
        let file =
            child::locate(OsStr::new("git"), &vars, self.folder, self.env).map_err(cannot)?;
        let hardened = [
            "core.hooksPath=/dev/null",
            "core.symlinks=false",
            "core.fsmonitor=false",
            "protocol.allow=never",
            "protocol.https.allow=always",
            "protocol.ssh.allow=always",
            "protocol.ext.allow=never",
            "submodule.recurse=false",
            "filter.lfs.smudge=",
            "filter.lfs.process=",
            "filter.lfs.required=false",
        ];
        let reach: &[&str] = match self.reach {
            GitReach::Anywhere => &["credential.helper="],
            GitReach::ThisMachine => &["credential.helper=", "protocol.file.allow=always"],
            GitReach::Own => &[
                "protocol.file.allow=always",
                "protocol.http.allow=always",
                "gc.auto=0",
                "commit.gpgSign=false",
                "core.autocrlf=false",
                "core.attributesFile=/dev/null",
            ],
        };
        let mut all: Vec<OsString> = Vec::new();
        for setting in hardened.iter().chain(reach) {
            all.extend(["-c".into(), setting.into()]);
        }
        all.extend(args.iter().map(OsString::from));
        let program = ProgramSpec {
            file,
            args: all,
            env: vars,
            cwd: self.folder.to_owned(),
            stdin: StdinMode::Null,
            stdout: StdoutMode::Keep,
            limits: ProgramLimits { time: Some(STEP), silence: None, output: Some(MAX_OUTPUT) },
        };
        let mut out = Vec::new();
        let ended = child::run(program, &ProcessControl::default(), &mut |stream, bytes| {
            if stream == OutputStream::Out {
                out.extend_from_slice(bytes);
            }
        })
        .map_err(cannot)?;
        match ended.how {
            ExitCause::Exit(0) => Ok(out),
            ExitCause::TimedOut => Err(HubError::new(ErrorCode::Network, "git took too long")),
            ExitCause::TooMuchOutput => {
                Err(HubError::new(ErrorCode::TooLarge, "the repository is too large"))
            }
            _ => {
                let stderr = ended.stderr.text(&sinew_exec::SecretMasker::default());
                let last_line =
                    stderr.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it failed");
                let last_line: String = last_line.chars().take(300).collect();
                let last_line = Untrusted::new(&last_line).for_terminal();
                Err(HubError::new(ErrorCode::Network, format!("git: {last_line}"))
                    .hint("check the address, and that you may read it"))
            }
        }
    }

    fn variables(&self) -> BTreeMap<String, String> {
        let mut vars = BTreeMap::new();
        for name in ["PATH", "SSH_AUTH_SOCK", "SSL_CERT_FILE", "LANG"] {
            if let Some(value) = self.env.var(name) {
                vars.insert(name.to_owned(), value.to_owned());
            }
        }
        vars.insert("HOME".to_owned(), self.env.home.to_string_lossy().into_owned());
        for (name, value) in [
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_ASKPASS", ""),
            ("SSH_ASKPASS", ""),
            ("GIT_LFS_SKIP_SMUDGE", "1"),
            ("GIT_SSH_COMMAND", "ssh -o BatchMode=yes"),
        ] {
            vars.insert(name.to_owned(), value.to_owned());
        }
        let (protocols, configuration) = match self.reach {
            GitReach::Anywhere => ("https:ssh", Some("/dev/null")),
            GitReach::ThisMachine => ("file", Some("/dev/null")),
            GitReach::Own => ("https:ssh:file:http", None),
        };
        vars.insert("GIT_ALLOW_PROTOCOL".to_owned(), protocols.to_owned());
        if let Some(file) = configuration {
            vars.insert("GIT_CONFIG_GLOBAL".to_owned(), file.to_owned());
        }
        vars
    }
}
