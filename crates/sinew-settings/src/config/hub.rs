//! `hub`: where skills are found that are not here.

use std::collections::BTreeMap;

use super::section::{choices, section};

/// The public registry.
pub const CLAWHUB: &str = "https://clawhub.ai";

section! {
    /// `hub`: where skills are found that are not here.
    pub struct HubSection at "hub" {
        /// The registry that a bare slug means.
        "registry" => registry: Option<String> = None, shown CLAWHUB;
        /// A further registry's address; `name:slug` asks it.
        "registries.<name>" => registries: BTreeMap<String, String> = BTreeMap::new(), shown "";
        /// Send GITHUB_TOKEN or GH_TOKEN to GitHub's API.
        "github.useToken" => github_token: bool = false;
        /// Where GitHub's API is.
        "github.apiUrl" => github_api: String = "https://api.github.com".to_owned();
        /// Where GitHub's archives are.
        "github.codeloadUrl" => github_codeload: String = "https://codeload.github.com".to_owned();
        /// Where skills.sh's search is.
        "skillsShUrl" => skills_sh: String = "https://skills.sh".to_owned();
        /// auto-safe applies an update without asking where only text changed and nothing was found.
        "updates" => updates: UpdatePolicy = UpdatePolicy::Ask;
    }
}

choices! {
    /// Whether updates are applied without asking.
    #[derive(Default)]
    pub enum UpdatePolicy {
        /// Never.
        #[default]
        Ask = "ask",
        /// Where only text changed and nothing was found.
        AutoSafe = "auto-safe",
    }
}
