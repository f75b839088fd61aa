//! Which skills an agent lists by itself: those in the folders that it reads.
//!
//! Listing them again would cost the context what they cost already, and show each command twice.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use sinew_catalog::{
    AGENT_ROOTS, CatalogEntry, PluginState, Profile, RootLocation, RootTemplate, SKILL_FILE,
    expand_root_path,
};

use crate::SkillsHandle;

/// The folders an agent reads its skills from.
#[derive(Debug, Clone)]
pub struct HostListing {
    roots: Vec<PathBuf>,
}

impl SkillsHandle<'_> {
    /// The folders of an agent; one that is not known lists nothing that is known.
    pub fn host_listing(&self, agent: &str) -> HostListing {
        let templates: &[RootTemplate] = match Profile::find(agent) {
            Some(profile) => profile.roots,
            None => AGENT_ROOTS
                .iter()
                .find(|known| known.agent == agent)
                .map_or(&[][..], |known| known.roots),
        };
        let (places, env) = (&self.engine.places, &self.engine.env);
        if let Some(profile) = Profile::find(agent).filter(|profile| profile.name != "openclaw") {
            // Everything that the agent reads by itself, its plugins and the folders above this one too.
            let (roots, _) =
                sinew_catalog::resolve_roots(profile, places, &self.engine.config, env);
            let own = roots.into_iter().filter(|root| {
                root.plugin.as_ref().is_none_or(|plugin| plugin.state == PluginState::Enabled)
            });
            return HostListing { roots: own.map(|root| root.path).collect() };
        }
        let paths = templates.iter().filter_map(|template| match template.place {
            RootLocation::Path(path) => Some(expand_root_path(path, places, env)),
            _ => None,
        });
        HostListing { roots: paths.collect() }
    }
}

impl HostListing {
    /// Whether the agent lists a skill: its file lies in one of the folders, or a copy of it does.
    pub fn knows(&self, entry: &CatalogEntry) -> bool {
        self.roots.iter().any(|root| {
            entry.file_path.starts_with(root) || root.join(&entry.id).join(SKILL_FILE).exists()
        })
    }

    /// The names of those skills that the agent lists.
    pub fn names<'c>(&self, entries: impl Iterator<Item = &'c CatalogEntry>) -> BTreeSet<String> {
        // One look into each folder instead of one per skill and folder.
        let folders: BTreeSet<String> = self
            .roots
            .iter()
            .filter_map(|root| fs::read_dir(root).ok())
            .flatten()
            .flatten()
            .filter(|child| child.path().join(SKILL_FILE).exists())
            .filter_map(|child| child.file_name().into_string().ok())
            .collect();
        let listed = entries.filter(|entry| {
            folders.contains(&entry.id)
                || self.roots.iter().any(|root| entry.file_path.starts_with(root))
        });
        listed.map(|entry| entry.name.clone()).collect()
    }
}
