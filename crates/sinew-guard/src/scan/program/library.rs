//! The libraries that matter: what brings, takes, decodes, reads and runs. Names are those that
//! programs use after their imports are resolved.

use super::value::ValueOrigin;

/// What a call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LibraryRole {
    /// Sends its arguments to an address and brings the answer.
    Request,
    /// Opens a way to an address; what is sent over it follows.
    Channel,
    /// Looks a name up: the name itself may carry data.
    Lookup,
    /// Runs its argument as code.
    Evaluate,
    /// Starts a program.
    Start,
    /// Opens a file to read or to write.
    Open,
    /// Reads the file that is its first argument.
    Read,
    /// Writes its second argument to its first.
    Write,
    /// Copies a file.
    Copy,
    /// Names below a folder.
    List,
    /// Puts paths together.
    JoinPath,
    /// Leaves a text as it is.
    Same,
    /// The home folder.
    Home,
    Decode(Codec),
    /// Says little about its argument.
    Measure,
    Show,
    Clipboard,
    /// Objects that are made from data by running code of it.
    Load,
    Import,
    Getattr,
    /// One variable of the environment.
    Variable,
}

/// How something was encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Codec {
    Base64,
    Base85,
    Hex,
    Codecs,
    Buffer,
    Percent,
    Chars,
    /// Encrypted or packed: what comes out cannot be said.
    Other,
}

/// What a library's function does; `path` is in lower case.
pub(crate) fn role(path: &str) -> Option<LibraryRole> {
    use LibraryRole as R;
    let path = path.strip_prefix("node:").unwrap_or(path);
    let path = path.strip_prefix("globalthis.").or(path.strip_prefix("window.")).unwrap_or(path);
    let path = path.strip_suffix(".default").unwrap_or(path);
    let (library, name) = path.rsplit_once('.').unwrap_or(("", path));
    let first = path.split(['.', '/']).next().unwrap_or("");
    Some(match (first, name) {
        (
            "requests" | "httpx" | "aiohttp" | "axios" | "got" | "needle" | "superagent" | "ky"
            | "undici" | "urllib3" | "$" | "jquery" | "phin" | "bent" | "request" | "session",
            "post" | "put" | "patch" | "get" | "request" | "head" | "delete" | "options" | "stream"
            | "ajax" | "fetch" | "urlopen" | "send" | "getjson",
        ) => R::Request,
        (
            "axios" | "got" | "ky" | "node-fetch" | "cross-fetch" | "request" | "phin"
            | "superagent" | "needle" | "fetch" | "isomorphic-fetch" | "$fetch",
            _,
        ) if library.is_empty() => R::Request,
        ("urllib" | "urllib2" | "urlopen", "urlopen" | "urlretrieve") => R::Request,
        ("urllib" | "urllib2", "request") if !library.is_empty() => R::Channel,
        ("navigator", "sendbeacon") => R::Request,
        ("", _) => return None,
        ("http" | "https", "get" | "request") => R::Channel,
        (
            _,
            "httpsconnection" | "httpconnection" | "websocket" | "xmlhttprequest" | "smtp"
            | "smtp_ssl" | "ftp" | "ftp_tls" | "eventsource" | "create_connection" | "telnet",
        ) => R::Channel,
        ("net" | "tls" | "dgram", "connect" | "createconnection" | "socket" | "createsocket") => {
            R::Channel
        }
        ("socket", "socket") => R::Channel,
        ("socket", "gethostbyname" | "getaddrinfo" | "gethostbyname_ex") => R::Lookup,
        ("dns", "lookup" | "resolve" | "resolve4" | "resolvetxt" | "query") => R::Lookup,
        ("dns", _) if name.starts_with("resolve") => R::Lookup,
        ("eval" | "exec" | "execfile" | "function" | "compile", _) if library.is_empty() => {
            R::Evaluate
        }
        ("builtins" | "__builtins__", "eval" | "exec" | "compile") => R::Evaluate,
        (
            "vm",
            "runinthiscontext" | "runinnewcontext" | "runincontext" | "script" | "compilefunction",
        ) => R::Evaluate,
        ("types", "functiontype" | "codetype") => R::Evaluate,
        ("os", "system" | "popen" | "startfile") => R::Start,
        ("os", _)
            if name.starts_with("exec")
                || name.starts_with("spawn")
                || name.starts_with("posix_spawn") =>
        {
            R::Start
        }
        (
            "subprocess" | "commands",
            "run" | "call" | "popen" | "check_output" | "check_call" | "getoutput"
            | "getstatusoutput",
        ) => R::Start,
        ("asyncio", "create_subprocess_shell" | "create_subprocess_exec") => R::Start,
        ("child_process", _) => R::Start,
        ("pty", "spawn") => R::Start,
        ("execa" | "shelljs" | "zx" | "cross-spawn", _) => R::Start,
        ("bun", "spawn" | "spawnsync") => R::Start,
        ("deno", "command" | "run") => R::Start,
        ("runpy", "run_path") => R::Start,
        (
            "pickle" | "cpickle" | "marshal" | "dill" | "cloudpickle" | "shelve",
            "load" | "loads",
        ) => R::Load,
        ("open", _) if library.is_empty() => R::Open,
        ("io" | "codecs" | "gzip" | "tarfile" | "aiofiles", "open") => R::Open,
        ("zipfile", "zipfile") => R::Open,
        ("fs", "createwritestream" | "open" | "opensync") => R::Open,
        (
            "fs" | "fs-extra",
            "readfilesync" | "readfile" | "createreadstream" | "readjson" | "readjsonsync",
        ) => R::Read,
        ("deno", "readtextfile" | "readfile" | "readtextfilesync" | "readfilesync") => R::Read,
        ("bun", "file") => R::Read,
        ("linecache", "getlines") | ("numpy", "fromfile") => R::Read,
        (
            "fs" | "fs-extra",
            "writefilesync" | "writefile" | "appendfile" | "appendfilesync" | "outputfile"
            | "outputfilesync",
        ) => R::Write,
        ("deno", "writetextfile" | "writefile" | "writetextfilesync") | ("bun", "write") => {
            R::Write
        }
        ("shutil", "copy" | "copy2" | "copyfile" | "copytree" | "move" | "make_archive") => R::Copy,
        (
            "fs" | "fs-extra",
            "copyfilesync" | "copyfile" | "cpsync" | "cp" | "copysync" | "copy" | "renamesync"
            | "rename",
        ) => R::Copy,
        ("os", "rename" | "replace" | "symlink" | "link") => R::Copy,
        ("os", "walk" | "listdir" | "scandir") | ("glob", "glob" | "iglob") => R::List,
        ("fs", "readdirsync" | "readdir") | ("glob" | "fast-glob" | "globby", _) => R::List,
        ("os", "join") if library.ends_with("path") => R::JoinPath,
        ("path" | "posixpath" | "ntpath", "join" | "resolve") => R::JoinPath,
        ("pathlib", "path" | "purepath" | "posixpath") | ("path", _)
            if name == "path" || name == "purepath" || name == "posixpath" =>
        {
            R::JoinPath
        }
        ("os", "homedir") => R::Home,
        ("pathlib" | "path", "home") => R::Home,
        (
            "os",
            "expanduser" | "expandvars" | "abspath" | "realpath" | "normpath" | "fspath"
            | "fsencode" | "fsdecode",
        ) => R::Same,
        ("path", "normalize" | "posix") => R::Same,
        ("str" | "bytes" | "bytearray" | "string" | "memoryview", _) if library.is_empty() => {
            R::Same
        }
        (
            "base64",
            "b64decode" | "urlsafe_b64decode" | "standard_b64decode" | "decodebytes" | "b16decode"
            | "b32decode",
        ) => R::Decode(match name {
            "b16decode" => Codec::Hex,
            "b32decode" => Codec::Other,
            _ => Codec::Base64,
        }),
        ("base64", "b85decode" | "a85decode") => R::Decode(Codec::Base85),
        ("atob", _) if library.is_empty() => R::Decode(Codec::Base64),
        ("binascii", "unhexlify" | "a2b_hex") | ("bytes" | "bytearray", "fromhex") => {
            R::Decode(Codec::Hex)
        }
        ("binascii", "a2b_base64") => R::Decode(Codec::Base64),
        ("codecs", "decode") => R::Decode(Codec::Codecs),
        ("buffer", "from") => R::Decode(Codec::Buffer),
        ("urllib", "unquote" | "unquote_plus") => R::Decode(Codec::Percent),
        ("decodeuricomponent" | "unescape" | "decodeuri", _) if library.is_empty() => {
            R::Decode(Codec::Percent)
        }
        ("chr", _) if library.is_empty() => R::Decode(Codec::Chars),
        ("string", "fromcharcode" | "fromcodepoint") => R::Decode(Codec::Chars),
        (
            "zlib" | "gzip" | "bz2" | "lzma" | "brotli",
            "decompress" | "gunzipsync" | "inflatesync" | "unzipsync" | "brotlidecompresssync",
        ) => R::Decode(Codec::Other),
        ("crypto", "createdecipheriv" | "createdecipher") => R::Decode(Codec::Other),
        (_, "decrypt") => R::Decode(Codec::Other),
        (
            "len" | "bool" | "int" | "float" | "isinstance" | "hash" | "type" | "any" | "all"
            | "ord" | "id" | "hasattr" | "number" | "parseint" | "boolean",
            _,
        ) if library.is_empty() => R::Measure,
        (
            "hashlib" | "hmac" | "secrets" | "uuid" | "math" | "time" | "datetime" | "logging"
            | "random",
            _,
        ) => R::Measure,
        (
            "os",
            "exists" | "isfile" | "isdir" | "getsize" | "stat" | "access" | "getmtime" | "chmod"
            | "remove" | "unlink" | "basename" | "dirname" | "makedirs" | "mkdir" | "getpid"
            | "islink" | "lexists",
        ) => R::Measure,
        (
            "fs" | "fs-extra",
            "existssync" | "statsync" | "stat" | "accesssync" | "access" | "chmodsync"
            | "unlinksync" | "mkdirsync" | "ensuredirsync",
        ) => R::Measure,
        ("print" | "pprint", _) if library.is_empty() => R::Show,
        ("console" | "sys" | "process", "log" | "error" | "warn" | "info" | "write") => R::Show,
        ("pyperclip", "paste") | ("clipboardy", "readsync" | "read") => R::Clipboard,
        ("__import__", _) if library.is_empty() => R::Import,
        ("importlib", "import_module") => R::Import,
        ("require" | "import", _) if library.is_empty() => R::Import,
        ("getattr", _) if library.is_empty() => R::Getattr,
        ("reflect", "get") => R::Getattr,
        ("os", "getenv") => R::Variable,
        _ => return None,
    })
}

/// Methods that send, whatever their object is called; the object's way leads to the address.
pub(crate) fn sends_by_method(method: &str) -> bool {
    matches!(
        method,
        "post"
            | "put"
            | "patch"
            | "sendall"
            | "sendto"
            | "sendmail"
            | "send_message"
            | "sendmessage"
            | "upload_file"
            | "upload_fileobj"
            | "put_object"
            | "putobject"
            | "upload_from_string"
            | "upload_from_filename"
            | "storbinary"
            | "publish"
            | "send_document"
            | "senddocument"
            | "files_upload"
            | "files_upload_v2"
            | "upload"
            | "urlopen"
    )
}

/// Methods of a channel that send.
pub(crate) fn sends_over_channel(method: &str) -> bool {
    sends_by_method(method)
        || matches!(
            method,
            "send" | "write" | "end" | "request" | "connect" | "putrequest" | "open"
        )
}

/// Methods that say little about their object.
pub(crate) fn measures(method: &str) -> bool {
    matches!(
        method,
        "exists"
            | "is_file"
            | "is_dir"
            | "stat"
            | "hexdigest"
            | "digest"
            | "isalpha"
            | "isdigit"
            | "startswith"
            | "startsWith"
            | "endswith"
            | "endsWith"
            | "count"
            | "index"
            | "indexOf"
            | "includes"
            | "mkdir"
            | "unlink"
            | "chmod"
            | "status_code"
            | "returncode"
            | "status"
            | "ok"
            | "length"
            | "size"
            | "test"
    )
}

/// What the file with this name holds; `path` is in lower case, with a mark for what is not known.
pub(crate) fn content_of(path: &str) -> ValueOrigin {
    const SECRETS: &[&str] = &[
        "/id_rsa",
        "/id_ed25519",
        "/id_ecdsa",
        "/id_dsa",
        "id_rsa\u{1}",
        ".ssh/\u{1}",
        ".ssh/*",
        ".aws/credentials",
        ".aws/\u{1}",
        "/.netrc",
        "/.npmrc",
        "/.pypirc",
        ".docker/config.json",
        ".kube/config",
        ".gnupg",
        "gcloud/credentials",
        "gcloud/access_tokens",
        "gcloud/legacy_credentials",
        "application_default_credentials",
        "/etc/shadow",
        ".git-credentials",
        "/.pgpass",
        ".config/gh/",
        ".vault-token",
        ".claude/.credentials",
        ".claude/\u{1}credential",
        "/.claude.json",
        ".codex/auth.json",
        "oauth_creds.json",
        ".openclaw/credentials",
        "auth-profiles.json",
        "opencode/auth.json",
        ".cursor/mcp.json",
        "anthropic/credentials",
        "google/chrome",
        "login data",
        "cookies.sqlite",
        "key4.db",
        "logins.json",
        "wallet.dat",
        "exodus.wallet",
        ".electrum",
        "solana/id.json",
        "ethereum/keystore",
        "/keychains/",
        "login.keychain",
        ".kdbx",
        "_history",
        ".azure/",
        ".terraform.d/credentials",
        ".config/rclone",
        ".m2/settings.xml",
    ];
    const ENDINGS: &[&str] = &["/.ssh", "/.aws", "/.gnupg", ".ssh/", ".aws/", "/.kube"];
    const AGENTS: &[&str] = &[
        ".claude/projects",
        ".claude/history",
        ".codex/sessions",
        ".codex/history",
        ".openclaw/agents",
        ".openclaw/sessions",
        ".clawdbot/agents",
        ".gemini/tmp",
        "/memory.md",
        "/soul.md",
        "conversation_history",
        "chat_history",
    ];
    let path = path.replace('\\', "/");
    if path.ends_with(".pub") || path.contains("known_hosts") || path.contains(".example") {
        return ValueOrigin::NONE;
    }
    let name = path.rsplit('/').next().unwrap_or(&path);
    let mut origin = ValueOrigin::NONE;
    if SECRETS.iter().any(|part| path.contains(part))
        || ENDINGS.iter().any(|end| path.ends_with(end))
        || matches!(name, "id_rsa" | "id_ed25519" | ".netrc" | ".git-credentials")
    {
        origin = origin | ValueOrigin::SECRET;
    }
    if AGENTS.iter().any(|part| path.contains(part)) {
        origin = origin | ValueOrigin::AGENT;
    }
    if name == ".env" || name.starts_with(".env.") || path.contains("**/.env") {
        origin = origin | ValueOrigin::DOTENV;
    }
    origin
}

/// What a command prints; `command` is in lower case.
pub(crate) fn output_of(command: &str) -> ValueOrigin {
    let mut words = command.split_whitespace();
    let program = words.next().unwrap_or("");
    let program = program.rsplit('/').next().unwrap_or(program);
    let second = words.next().unwrap_or("");
    match program {
        "env" | "printenv" | "set" | "export" if second.is_empty() || second.starts_with('|') => {
            ValueOrigin::ENVIRONMENT
        }
        "pbpaste" | "xclip" | "xsel" | "wl-paste" => ValueOrigin::SECRET,
        "security" if command.contains("dump-keychain") || command.contains("-password") => {
            ValueOrigin::SECRET
        }
        "cat" | "head" | "tail" | "base64" | "tar" | "zip" | "type" | "less" | "gpg" | "find"
        | "xxd" | "grep" | "bash" | "sh" => {
            let origins = command.split([' ', '"', '\'', ';', '|']).map(content_of);
            origins.fold(ValueOrigin::NONE, |all, one| all | one).without(ValueOrigin::DOTENV)
        }
        _ => ValueOrigin::NONE,
    }
}

/// Vendors whose keys have no business with strangers.
pub(crate) fn vendor_of(variable: &str) -> Option<&'static str> {
    const VENDORS: &[(&str, &str)] = &[
        ("OPENAI_", "openai"),
        ("ANTHROPIC_", "anthropic"),
        ("CLAUDE_CODE_", "anthropic"),
        ("AWS_SECRET", "amazonaws"),
        ("AWS_SESSION", "amazonaws"),
        ("GITHUB_TOKEN", "github"),
        ("GH_TOKEN", "github"),
        ("NPM_TOKEN", "npmjs"),
        ("STRIPE_", "stripe"),
        ("GEMINI_API", "googleapis"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "googleapis"),
        ("HF_TOKEN", "huggingface"),
        ("HUGGINGFACE_", "huggingface"),
        ("SLACK_BOT", "slack"),
    ];
    VENDORS.iter().find(|(start, _)| variable.starts_with(start)).map(|(_, vendor)| *vendor)
}

/// Files that a shell, a desktop or an editor runs by itself; `path` is in lower case.
pub(crate) fn is_start_up(path: &str) -> bool {
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
        "authorized_keys",
    ];
    const PARTS: &[&str] = &[
        "launchagents/",
        "launchdaemons/",
        ".config/autostart/",
        "systemd/user/",
        "/etc/systemd/",
        "/etc/cron",
        "/etc/profile.d/",
        "/var/spool/cron",
        ".git/hooks/",
        "start menu/programs/startup",
        "sitecustomize.py",
        "usercustomize.py",
    ];
    let path = path.replace('\\', "/");
    let name = path.rsplit('/').next().unwrap_or(&path);
    NAMES.contains(&name) && path.len() > name.len() || PARTS.iter().any(|part| path.contains(part))
}

/// Files in a user's home that tell an agent what to do or what it may; `path` is in lower case.
pub(crate) fn is_agent_file(path: &str) -> bool {
    const PARTS: &[&str] = &[
        ".claude/claude.md",
        ".claude/settings",
        ".claude/commands/",
        ".claude/agents/",
        ".claude/hooks",
        ".codex/config",
        ".codex/agents.md",
        ".codex/instructions",
        ".gemini/settings",
        ".gemini/gemini.md",
        ".openclaw/openclaw.json",
        ".openclaw/workspace/",
        ".cursor/rules",
        ".cursor/mcp.json",
        "claude_desktop_config.json",
        ".cursorrules",
    ];
    let path = path.replace('\\', "/");
    // A project's own settings are the project's.
    let is_home = path.starts_with('~')
        || path.starts_with("/home/")
        || path.starts_with("/users/")
        || path.starts_with("/root/")
        || path.contains("claude_desktop_config");
    is_home && PARTS.iter().any(|part| path.contains(part))
}

/// Whether settings take a question or a limit away; `text` is in lower case.
pub(crate) fn widens(text: &str) -> bool {
    text.contains("bypasspermissions")
        || text.contains("danger-full-access")
        || text.contains("enableallprojectmcpservers")
        || text.contains("skipdangerousmode")
        || text.contains("\"allow\"")
            && (text.contains("[\"*\"]") || text.contains("bash(*)") || text.contains("\"bash\""))
        || text.contains("approval_policy") && text.contains("never")
}
