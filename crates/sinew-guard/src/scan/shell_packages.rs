//! Packages that a command installs, and where they come from from now on; settings that it widens.

use super::shell_programs::name;
use crate::shell::ShellCommand;

/// Where packages or code come from from now on.
pub(crate) fn redirects(command: &ShellCommand) -> Option<&'static str> {
    let words: Vec<&str> = command.operands().map(|word| word.text.as_str()).collect();
    let any = |part: &str| words.iter().any(|word| word.contains(part));
    match (name(command), words.first().copied().unwrap_or("")) {
        ("npm" | "pnpm" | "yarn" | "bun", "config" | "set")
            if any("registry") && words.contains(&"set") =>
        {
            Some("registry-redirect")
        }
        ("pip" | "pip3" | "uv", "config") if any("index-url") || any("index_url") => {
            Some("registry-redirect")
        }
        ("go", "env") if any("goproxy=") => Some("registry-redirect"),
        ("gem", "sources") | ("bundle", "config") if any("://") => Some("registry-redirect"),
        ("poetry", "source" | "config") if any("://") => Some("registry-redirect"),
        ("git", "remote") if any("set-url") || any("add") => Some("remote-redirect"),
        ("git", "config") if any("insteadof") || any("pushinsteadof") => Some("registry-redirect"),
        _ => None,
    }
}

/// Whether it takes a question or a limit away from an agent or an editor.
pub(crate) fn widens_settings(command: &ShellCommand) -> bool {
    let name = name(command);
    let words: Vec<&str> = command.arguments().iter().map(|word| word.text.as_str()).collect();
    let any = |part: &str| words.iter().any(|word| word.contains(part));
    match name {
        "claude" | "codex" | "gemini" | "openclaw" | "cursor" => {
            any("config")
                && (any("bypasspermissions")
                    || any("danger-full-access")
                    || any("approval_policy") && any("never")
                    || any("exec.ask") && any("off"))
        }
        "osascript" => any("login item"),
        "jq" => any(".permissions.allow") || any("defaultmode") && any("bypass"),
        "sed" | "echo" | "printf" => any("bypasspermissions"),
        _ => false,
    }
}

/// A package that is worth a look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PackageSpec {
    /// Run at once, whatever its newest version is, or from a repository.
    Run(String),
    /// One slip away from the name of a package that everyone knows.
    Squat(String),
}

const KNOWN_PACKAGES: &[&str] = &[
    "requests",
    "python-dotenv",
    "numpy",
    "pandas",
    "flask",
    "django",
    "fastapi",
    "uvicorn",
    "urllib3",
    "beautifulsoup4",
    "selenium",
    "playwright",
    "pydantic",
    "httpx",
    "aiohttp",
    "cryptography",
    "paramiko",
    "openai",
    "anthropic",
    "langchain",
    "matplotlib",
    "pillow",
    "pyyaml",
    "setuptools",
    "pytest",
    "tensorflow",
    "pytorch",
    "scikit-learn",
    "sqlalchemy",
    "lodash",
    "express",
    "react",
    "axios",
    "chalk",
    "commander",
    "typescript",
    "webpack",
    "eslint",
    "prettier",
    "next",
    "dotenv",
    "nodemon",
    "puppeteer",
    "discord.js",
    "telegraf",
    "mongoose",
    "jsonwebtoken",
    "colors",
    "cross-env",
    "electron",
    "vite",
    "tailwindcss",
    "socket.io",
];

/// Packages that a command installs or runs and that are worth a look.
pub(crate) fn packages(command: &ShellCommand) -> Vec<PackageSpec> {
    let name = name(command);
    let words: Vec<&str> = command.operands().map(|word| word.text.as_str()).collect();
    let mut found = Vec::new();
    let runner = matches!(name, "npx" | "bunx" | "uvx" | "pnpx")
        || name == "pipx" && words.first() == Some(&"run")
        || name == "pnpm" && words.first() == Some(&"dlx");
    if runner && command.arguments().iter().any(|word| word.text.starts_with("git+")) {
        let from = command.arguments().iter().find(|word| word.text.starts_with("git+"));
        found.extend(from.map(|word| PackageSpec::Run(word.text.clone())));
    }
    let installs = match name {
        "pip" | "pip3" | "pipx" => words.first() == Some(&"install"),
        "uv" => words.starts_with(&["add"]) || words.starts_with(&["pip", "install"]),
        "npm" | "pnpm" | "yarn" | "bun" => {
            matches!(words.first(), Some(&("install" | "i" | "add")))
        }
        "npx" | "uvx" | "bunx" => !words.is_empty(),
        _ => false,
    };
    if installs {
        let names = words.iter().skip(usize::from(!matches!(name, "npx" | "uvx" | "bunx")));
        for word in names.take(32) {
            let package = word.split(['@', '=', '<', '>', '[', '~', '!']).next().unwrap_or("");
            if is_squat(package) {
                found.push(PackageSpec::Squat(package.to_owned()));
            }
        }
    }
    found
}

/// Whether a name is one slip away from a known one.
fn is_squat(name: &str) -> bool {
    // Short names are near to everything.
    name.len() >= 6
        && !KNOWN_PACKAGES.contains(&name)
        && KNOWN_PACKAGES.iter().any(|known| known.len() >= 6 && is_one_slip(name, known))
}

fn is_one_slip(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let common = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let whole = a;
    let (a, b) = (&a[common..], &b[common..]);
    let last = common.checked_sub(1).map(|at| whole[at]);
    // Only slips that no other project takes for its name: a doubled letter, two that swapped.
    match a.len() as isize - b.len() as isize {
        1 => a[1..] == *b && Some(a[0]) == last,
        0 => a.len() >= 2 && a[0] == b[1] && a[1] == b[0] && a[2..] == b[2..],
        _ => false,
    }
}
