//! Programs: what the known ones do with their input, their arguments and the network.
//!
//! Names and options are compared in lower case, because folded text has no other; where an option
//! means two things by its case, its value decides.

use crate::shell::{RedirectionKind, ShellCommand, ShellWord, base_name};

/// What runs a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interpreter {
    Shell,
    Language,
}

const SHELLS: &[&str] = &[
    "sh",
    "bash",
    "zsh",
    "dash",
    "ksh",
    "mksh",
    "fish",
    "ash",
    "csh",
    "tcsh",
    "pwsh",
    "powershell",
    "osascript",
    "$shell",
    "${shell}",
    "$0",
    "$bash",
    "rbash",
];
const LANGUAGES: &[&str] = &[
    "python", "python2", "python3", "node", "nodejs", "perl", "ruby", "php", "lua", "bun", "deno",
    "tclsh",
];
const FETCHERS: &[&str] =
    &["curl", "wget", "aria2c", "axel", "fetch", "http", "https", "xh", "lynx", "w3m", "links"];
const FILTERS: &[&str] = &[
    "cat", "tee", "tr", "sed", "awk", "head", "tail", "grep", "cut", "sort", "dos2unix", "iconv",
    "pv", "gunzip", "zcat", "gzip", "xz", "xzcat", "bzcat", "unxz", "rev", "openssl", "base64",
    "base32", "xxd", "jq", "fold", "sponge", "mbuffer", "buffer", "envsubst", "gpg", "strings",
];

/// The name of the program, without its version.
pub(super) fn name(command: &ShellCommand) -> &str {
    let name = command.program().unwrap_or("");
    name.strip_suffix(".exe").unwrap_or(name)
}

/// Whether its program is an interpreter.
pub(crate) fn interpreter(command: &ShellCommand) -> Option<Interpreter> {
    let name = name(command);
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if SHELLS.contains(&name) || SHELLS.contains(&bare) {
        Some(Interpreter::Shell)
    } else if LANGUAGES.contains(&name) || LANGUAGES.contains(&bare) {
        Some(Interpreter::Language)
    } else {
        None
    }
}

fn is_under_xargs(command: &ShellCommand) -> bool {
    command.wrappers().iter().any(|word| matches!(base_name(&word.text), "xargs" | "parallel"))
}

/// Whether a flag of an interpreter holds one of these letters: `-euc` has `c`.
fn has_letter(word: &ShellWord, letters: &[char]) -> bool {
    word.is_flag() && !word.text.starts_with("--") && word.text.contains(letters)
}

/// The first argument that is neither an option nor the value of one.
fn script_operand(command: &ShellCommand) -> Option<&ShellWord> {
    let mut arguments = command.arguments().iter();
    while let Some(word) = arguments.next() {
        let text = word.text.as_str();
        if text == "-" || text == "--" {
            return arguments.next().filter(|_| text == "--");
        }
        if !word.is_flag() {
            return Some(word);
        }
        // `-o pipefail`, `--rcfile file`, `-W ignore`, `-x lib`
        let takes = text.len() <= 6 && text.ends_with('o') && !text.starts_with("--")
            || matches!(text, "--rcfile" | "--init-file" | "-w" | "-x" | "--require" | "-r");
        if takes {
            arguments.next();
        }
    }
    None
}

/// Whether it runs what it reads from its input.
pub(crate) fn runs_input(command: &ShellCommand) -> bool {
    let arguments = command.arguments();
    let stdin = |word: &ShellWord| {
        matches!(word.text.as_str(), "/dev/stdin" | "-" | "/dev/fd/0" | "/proc/self/fd/0")
    };
    match (interpreter(command), name(command)) {
        (Some(Interpreter::Shell), _) => {
            if arguments.iter().any(|word| has_letter(word, &['c'])) {
                // `xargs sh -c` runs its input.
                return is_under_xargs(command);
            }
            arguments.iter().any(|word| has_letter(word, &['s']) && word.text.len() <= 8)
                || script_operand(command).is_none_or(stdin)
                || is_under_xargs(command) && script_operand(command).is_none()
        }
        (Some(Interpreter::Language), _) => {
            let inline = |word: &ShellWord| {
                has_letter(word, &['c', 'e', 'm', 'n', 'p'])
                    || matches!(
                        word.text.as_str(),
                        "--eval" | "--print" | "--version" | "-v" | "run" | "eval"
                    )
            };
            !arguments.iter().any(inline) && script_operand(command).is_none_or(stdin)
        }
        (None, "source" | ".") => arguments.first().is_some_and(stdin),
        (None, "at" | "batch") => !arguments.iter().any(|word| word.text == "-l"),
        (None, "crontab") => arguments.iter().any(|word| word.text == "-"),
        (None, "su") => {
            su_text(command).is_some_and(|word| SHELLS.contains(&base_name(&word.text)))
        }
        (None, "eval") => is_under_xargs(command),
        _ => false,
    }
}

fn su_text(command: &ShellCommand) -> Option<&ShellWord> {
    let at = command.arguments().iter().position(|word| word.text == "-c")?;
    command.arguments().get(at + 1)
}

/// The text that a command hands to a shell: `sh -c text`, `eval text`, `su -c text`.
pub(crate) fn command_text(command: &ShellCommand) -> Option<&ShellWord> {
    match (interpreter(command), name(command)) {
        (Some(Interpreter::Shell), _) => {
            let arguments = command.arguments();
            let at = arguments
                .iter()
                .position(|word| has_letter(word, &['c']) && word.text.len() <= 8)?;
            arguments.get(at + 1)
        }
        (None, "eval" | "trap" | "watch") => command.arguments().first(),
        (None, "su" | "script" | "runuser") => su_text(command),
        (None, "ssh") => command.operands().nth(1),
        _ => None,
    }
}

/// Whether it brings something from the network.
pub(crate) fn fetches(command: &ShellCommand) -> bool {
    let name = name(command);
    match name {
        "lynx" | "w3m" | "links" => {
            command.flags().any(|word| word.text.contains("dump") || word.text.contains("source"))
        }
        "http" | "https" | "fetch" | "xh" => {
            command.operands().any(|word| word.text.contains("://") || word.text.contains('.'))
        }
        // A text about `curl … | sh` names a habit; without an address there is nothing to fetch.
        "curl" | "wget" => command
            .arguments()
            .iter()
            .any(|word| !matches!(word.text.as_str(), "..." | "…" | "[...]")),
        "nc" | "ncat" | "netcat" => command.operands().count() >= 2 && command.input().is_none(),
        _ => FETCHERS.contains(&name),
    }
}

/// Whether what comes in comes out, perhaps changed.
pub(crate) fn passes_through(command: &ShellCommand) -> bool {
    FILTERS.contains(&name(command))
}

/// Whether it writes something decoded.
pub(crate) fn decodes(command: &ShellCommand) -> bool {
    let has = |flags: &[&str]| command.flags().any(|word| flags.contains(&word.text.as_str()));
    match name(command) {
        "base64" | "base32" | "basenc" => has(&["-d", "--decode", "-di", "-id", "-D"]),
        "xxd" => command.flags().any(|word| has_letter(word, &['r'])),
        "openssl" => {
            has(&["-d"])
                && command.operands().any(|word| {
                    matches!(word.text.as_str(), "enc" | "base64") || word.text.starts_with("aes")
                })
        }
        "uudecode" | "gunzip" | "zcat" | "bzcat" | "xzcat" | "unxz" => true,
        "gzip" | "xz" | "bzip2" => has(&["-d", "-dc", "-cd", "--decompress"]),
        "gpg" => has(&["-d", "--decrypt"]),
        "rev" => command.operands().next().is_none(),
        "tr" => {
            // Rotations; deleting characters decodes nothing.
            let sets: Vec<&str> = command.operands().map(|word| word.text.as_str()).collect();
            matches!(sets[..], [from, to] if from.len() >= 6 && to.len() >= 6 && from.contains('-'))
        }
        "python" | "python3" | "perl" | "ruby" | "node" => command.arguments().iter().any(|word| {
            ["b64decode", "fromhex", "decode_base64", "base64.decode", "unhexlify"]
                .iter()
                .any(|call| word.text.contains(call))
        }),
        _ => false,
    }
}

/// An address without a scheme, as `curl` takes it.
pub(crate) fn bare_address(text: &str) -> Option<(&str, &str)> {
    let (host, path) = text.split_once('/').unwrap_or((text, ""));
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let host = host.split(':').next().unwrap_or(host);
    let labels: Vec<&str> = host.split('.').collect();
    let is_label = |label: &&str| {
        !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let top = labels.last()?;
    let is_host = labels.len() >= 2
        && labels.iter().all(is_label)
        && (labels.len() == 4 && labels.iter().all(|label| label.parse::<u8>().is_ok())
            || matches!(
                *top,
                "com"
                    | "net"
                    | "org"
                    | "io"
                    | "dev"
                    | "sh"
                    | "app"
                    | "cc"
                    | "xyz"
                    | "co"
                    | "ai"
                    | "me"
                    | "ru"
                    | "cn"
                    | "site"
                    | "online"
                    | "top"
                    | "info"
                    | "tk"
                    | "pro"
                    | "run"
                    | "cloud"
            ) && (labels.len() > 2 || *top != "sh" || !path.is_empty()));
    is_host.then_some((host, path))
}

/// Values of one of these options, `--option=value` and `-ovalue` included.
fn values<'a>(command: &'a ShellCommand, options: &'a [&str]) -> impl Iterator<Item = &'a str> {
    let arguments = command.arguments();
    arguments.iter().enumerate().filter_map(move |(at, word)| {
        let text = word.text.as_str();
        for option in options {
            if text == *option {
                return arguments.get(at + 1).map(|next| next.text.as_str());
            }
            if let Some(rest) = text.strip_prefix(option)
                && (option.starts_with("--") && rest.starts_with('=')
                    || !option.starts_with("--") && !text.starts_with("--") && option.len() == 2)
            {
                return Some(rest.trim_start_matches('='));
            }
        }
        None
    })
}

fn last_part(url: &str) -> Option<String> {
    let path = url.split("://").nth(1)?.split(['?', '#']).next()?;
    let name = path.rsplit('/').next()?;
    (path.contains('/') && !name.is_empty()).then(|| name.to_owned())
}

/// Files into which a download is saved; none when it goes to the output.
pub(crate) fn saved_as(command: &ShellCommand) -> Vec<String> {
    let urls = || command.arguments().iter().filter(|word| word.text.contains("://"));
    let mut files = Vec::new();
    match name(command) {
        "curl" => {
            for (at, word) in command.arguments().iter().enumerate() {
                let text = word.text.as_str();
                let joined = text.strip_prefix("--output=");
                let short = !text.starts_with("--") && word.is_flag() && text.ends_with('o');
                if let Some(file) = joined {
                    files.push(file.to_owned());
                } else if text == "--remote-name" {
                    files.extend(urls().filter_map(|word| last_part(&word.text)));
                } else if short || text == "--output" {
                    let next = command.arguments().get(at + 1).map_or("", |word| &word.text);
                    if next.contains("://")
                        || next.starts_with('-') && next.len() > 1
                        || next.is_empty()
                    {
                        // `-O`: the name is the address's.
                        files.extend(urls().filter_map(|word| last_part(&word.text)));
                    } else {
                        files.push(next.to_owned());
                    }
                } else if short_o(text) {
                    files.extend(urls().filter_map(|word| last_part(&word.text)));
                }
            }
        }
        "wget" => {
            let named: Vec<&str> = wget_outputs(command);
            if named.is_empty() {
                files.extend(urls().filter_map(|word| last_part(&word.text)));
            }
            files.extend(named.into_iter().map(str::to_owned));
        }
        "aria2c" | "axel" => {
            files.extend(values(command, &["-o", "--out", "--output"]).map(str::to_owned));
            files.extend(urls().filter_map(|word| last_part(&word.text)));
        }
        _ => {}
    }
    let goes_out = |file: &str| matches!(file, "-" | "/dev/stdout" | "/dev/fd/1");
    let written = command.written_files().map(|word| word.text.clone());
    files.extend(written.filter(|file| !file.starts_with("/dev/")));
    if files.iter().any(|file| goes_out(file)) { Vec::new() } else { files }
}

/// `-LOsS`: `o` inside a cluster is `-O` in its usual spelling.
fn short_o(text: &str) -> bool {
    text.len() > 2
        && text.len() <= 8
        && text.starts_with('-')
        && !text.starts_with("--")
        && text[1..].contains('o')
        && text[1..].bytes().all(|byte| byte.is_ascii_alphabetic())
}

fn wget_outputs(command: &ShellCommand) -> Vec<&str> {
    let arguments = command.arguments();
    let mut found = Vec::new();
    for (at, word) in arguments.iter().enumerate() {
        let text = word.text.as_str();
        if let Some(rest) = text.strip_prefix("--output-document") {
            let next = arguments.get(at + 1).map_or("", |word| word.text.as_str());
            found.push(rest.strip_prefix('=').unwrap_or(next));
        } else if !text.starts_with("--") && word.is_flag() {
            // `-O -`, `-O-`, `-qO-`, `-qO file`
            if let Some((_, rest)) = text.split_once('o') {
                let next = arguments.get(at + 1).map_or("", |word| word.text.as_str());
                found.push(if rest.is_empty() { next } else { rest });
            }
        }
    }
    found
}

/// A file from which `curl` takes its options: `-K file`, which lower case makes `-k file`.
pub(crate) fn config_file(command: &ShellCommand) -> Option<String> {
    if name(command) != "curl" {
        return None;
    }
    let arguments = command.arguments();
    let has_url = arguments
        .iter()
        .any(|word| word.text.contains("://") || bare_address(&word.text).is_some());
    let value = values(command, &["--config"]).next().or_else(|| {
        let at = arguments.iter().position(|word| word.text == "-k")?;
        arguments.get(at + 1).map(|word| word.text.as_str())
    })?;
    (!has_url && !value.starts_with('-')).then(|| value.to_owned())
}

/// Whether it sends a body, a file or its input to the network.
pub(crate) fn sends(command: &ShellCommand) -> bool {
    match name(command) {
        "curl" => command.arguments().iter().enumerate().any(|(at, word)| {
            let text = word.text.as_str();
            let next = command.arguments().get(at + 1).map_or("", |word| word.text.as_str());
            let long = ["--data", "--form", "--upload-file", "--json", "--post"];
            long.iter().any(|option| text.starts_with(option))
                || text == "-d"
                || text.starts_with("-d@")
                || text == "-t" && !next.starts_with("ttype")
                || text == "-f" && next.contains(['=', '@'])
                || text.len() > 2
                    && !text.starts_with("--")
                    && word.is_flag()
                    && text.ends_with('d')
                    && text.len() <= 6
        }),
        "wget" => command
            .flags()
            .any(|word| word.text.starts_with("--post-") || word.text.starts_with("--body-")),
        "nc" | "ncat" | "netcat" | "socat" | "telnet" => {
            command.operands().count() >= 2
                && (command.stage > 0
                    || command.input().is_some_and(|input| input.kind == RedirectionKind::Input))
        }
        "scp" | "rsync" | "sftp" => {
            let operands: Vec<&ShellWord> = command.operands().collect();
            operands.last().is_some_and(|last| {
                last.text.contains(':') && !last.text.contains("://")
                    || last.text.starts_with("rsync://")
            }) && operands.len() >= 2
        }
        "http" | "xh" => {
            command.operands().any(|word| matches!(word.text.as_str(), "post" | "put"))
        }
        _ => false,
    }
}

/// Whether it puts files where the world can read them.
pub(crate) fn publishes(command: &ShellCommand) -> bool {
    let words: Vec<&str> = command.operands().map(|word| word.text.as_str()).take(2).collect();
    matches!(
        (name(command), &words[..]),
        ("gh", ["gist", "create"])
            | ("gist" | "transfer" | "croc" | "wormhole" | "pastebinit", [_, ..])
    )
}

/// Files that it starts, sources or makes executable.
pub(crate) fn run_files(command: &ShellCommand) -> Vec<String> {
    let Some(program) = command.program_word() else { return Vec::new() };
    let mut files = Vec::new();
    let path = program.text.as_str();
    if interpreter(command).is_some() {
        let inline = |word: &ShellWord| has_letter(word, &['c', 'e', 'm']);
        if !command.arguments().iter().any(inline) {
            files.extend(script_operand(command).map(|word| word.text.clone()));
        }
        if let Some(input) = command.input().filter(|input| input.kind == RedirectionKind::Input) {
            files.push(input.target.text.clone());
        }
    } else if path.contains('/')
        && !path.contains("://")
        && !path.starts_with("/usr/")
        && !path.starts_with("/bin/")
    {
        files.push(path.to_owned());
    } else {
        match name(command) {
            "source" | "." => {
                files.extend(command.arguments().first().map(|word| word.text.clone()));
            }
            "chmod" => {
                let mut operands = command.operands();
                let runs = command.arguments().first().is_some_and(|mode| {
                    mode.text.contains("+x")
                        || mode.text.contains('x') && mode.text.contains('=')
                        || mode.text.bytes().any(|byte| matches!(byte, b'1' | b'3' | b'5' | b'7'))
                });
                if runs {
                    operands.next();
                    files.extend(operands.map(|word| word.text.clone()));
                }
            }
            "open" | "start" | "xdg-open" | "installer" | "msiexec" => {
                files.extend(command.operands().map(|word| word.text.clone()));
            }
            _ => {}
        }
    }
    files.retain(|file| base_name(file).len() <= 80 && !file.contains("$()") && !is_document(file));
    files
}

fn is_document(file: &str) -> bool {
    const ENDINGS: &[&str] = &[
        ".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".pdf", ".html", ".htm", ".md", ".txt",
        ".csv", ".json", ".mp3", ".mp4", ".wav", ".mov", ".docx", ".xlsx", ".pptx",
    ];
    ENDINGS.iter().any(|ending| file.ends_with(ending))
}

/// Files that it writes because they are its arguments.
pub(crate) fn written_operands(command: &ShellCommand) -> Vec<String> {
    match name(command) {
        "tee" | "sponge" => command.operands().map(|word| word.text.clone()).collect(),
        "cp" | "mv" | "install" | "ln" => {
            command.operands().last().map(|word| word.text.clone()).into_iter().collect()
        }
        "sed" if command.flags().any(|word| word.text.starts_with("-i")) => {
            command.operands().skip(1).map(|word| word.text.clone()).collect()
        }
        "dd" => {
            let of = |word: &ShellWord| word.text.strip_prefix("of=").map(str::to_owned);
            command.arguments().iter().filter_map(of).collect()
        }
        _ => Vec::new(),
    }
}

/// Files that a shell or a desktop runs at its start.
pub(crate) fn is_start_up_file(path: &str) -> bool {
    const NAMES: &[&str] = &[
        ".bashrc",
        ".zshrc",
        ".profile",
        ".bash_profile",
        ".zprofile",
        ".zshenv",
        ".zlogin",
        ".bash_login",
        ".xinitrc",
        ".xprofile",
        "config.fish",
        "bash.bashrc",
        "$profile",
    ];
    let home = ["~", "$home", "${home}", "/root", "/home/", "/users/", "/etc/", ".config/"];
    let name = base_name(path);
    NAMES.contains(&name)
        && (home.iter().any(|start| path.starts_with(start)) || path.starts_with('.'))
        || path.starts_with("/etc/profile.d/")
}
