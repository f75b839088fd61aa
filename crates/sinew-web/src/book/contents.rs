//! The order of the book. A test compares it with the files.

/// Sections, and the pages of each.
pub(super) const CONTENTS: &[(&str, &[&str])] = &[
    ("Start", &["README.md", "install.md", "tutorial.md", "concepts.md"]),
    (
        "Agents",
        &[
            "agents/README.md",
            "agents/claude-code.md",
            "agents/codex.md",
            "agents/openclaw.md",
            "agents/cursor.md",
            "agents/gemini.md",
            "agents/vscode.md",
            "agents/goose.md",
            "agents/opencode.md",
            "agents/openpocket.md",
            "does-it-work.md",
        ],
    ),
    (
        "How to",
        &["sync.md", "ci.md", "docker.md", "team.md", "macos.md", "windows.md", "dashboard.md"],
    ),
    ("Understand", &["hooks.md", "mcp.md", "writing-skills.md", "security.md", "comparison.md"]),
    ("When it fails", &["troubleshooting.md"]),
    (
        "Reference",
        &[
            "reference/commands.md",
            "reference/configuration.md",
            "reference/reasons.md",
            "reference/rules.md",
            "reference/errors.md",
            "reference/http.md",
        ],
    ),
    ("Developers", &["releasing.md"]),
];
