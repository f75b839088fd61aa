//! Where an agent looks for a skill that is meant for it: one folder of the user, one of a project.
//!
//! The hosts of `host_table.rs` say it in their rows. Agents with rules of their own read several
//! folders, so theirs are named here.

use std::path::PathBuf;

use sinew_settings::Environment;

use crate::host_table::HOSTS;
use crate::roots::{CallerFolders, expand_root_path};

/// Whose skills a folder holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SkillFolderScope {
    /// The user's, for every project.
    User,
    /// A project's.
    Project,
}

/// Agent, its folder of the user's skills, and that of a project's.
const FOLDERS: &[(&str, &str, &str)] = &[
    ("claude-code", "{claude}/skills", "{workspace}/.claude/skills"),
    ("codex", "{home}/.agents/skills", "{workspace}/.agents/skills"),
    ("copilot", "{copilot}/skills", "{workspace}/.github/skills"),
    ("cursor", "{home}/.cursor/skills", "{workspace}/.cursor/skills"),
    ("gemini", "{gemini}/skills", "{workspace}/.gemini/skills"),
    ("goose", "{home}/.agents/skills", "{workspace}/.goose/skills"),
    ("openclaw", "{state}/skills", "{workspace}/skills"),
    ("opencode", "{config}/opencode/skills", "{workspace}/.opencode/skills"),
    ("openpocket", "{openpocket}/skills", "{workspace}/skills"),
    ("vscode", "{home}/.copilot/skills", "{workspace}/.github/skills"),
];

/// Other words for agents, as other programs' manifests have them.
const ALIASES: &[(&str, &str)] =
    &[("claude", "claude-code"), ("gemini-cli", "gemini"), ("github-copilot", "copilot")];

/// The name under which an agent is known here.
pub fn agent_name(word: &str) -> Option<&'static str> {
    let word = word.trim().to_ascii_lowercase();
    let word = ALIASES.iter().find(|(alias, _)| *alias == word).map_or(&*word, |(_, name)| name);
    let own = FOLDERS.iter().map(|(name, ..)| *name);
    own.chain(HOSTS.iter().map(|host| host.id)).find(|name| *name == word)
}

/// Every agent that has a folder for skills, by name.
pub fn agents_with_folders() -> Vec<&'static str> {
    let mut names: Vec<&str> = FOLDERS.iter().map(|(name, ..)| *name).collect();
    names.extend(HOSTS.iter().map(|host| host.id));
    names.sort_unstable();
    names.dedup();
    names
}

/// The folder in which an agent looks for skills of this scope.
pub fn agent_skill_folder(
    agent: &str,
    scope: SkillFolderScope,
    places: &CallerFolders,
    env: &Environment,
) -> Option<PathBuf> {
    let own =
        FOLDERS.iter().find(|(name, ..)| *name == agent).map(|(_, user, project)| match scope {
            SkillFolderScope::User => *user,
            SkillFolderScope::Project => *project,
        });
    let listed = || {
        let host = HOSTS.iter().find(|host| host.id == agent)?;
        let folders = match scope {
            SkillFolderScope::User => host.personal,
            SkillFolderScope::Project => host.project,
        };
        folders.first().copied()
    };
    Some(expand_root_path(own.or_else(listed)?, places, env))
}

#[cfg(test)]
mod tests {
    use super::{FOLDERS, agent_name, agents_with_folders};
    use crate::profile::{AGENT_ROOTS, Profile};

    #[test]
    fn every_agent_with_a_folder_is_one_that_is_known() {
        for (name, ..) in FOLDERS {
            let roots = AGENT_ROOTS.iter().any(|agent| agent.agent == *name);
            assert!(roots || Profile::find(name).is_some(), "{name}");
        }
        assert_eq!(agent_name(" Claude "), Some("claude-code"));
        assert!(agents_with_folders().len() > 40);
    }
}
