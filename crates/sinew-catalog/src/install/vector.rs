//! Argument vectors: what would be run, one argument for what the skill named.

use sinew_settings::{Reason, ReasonCode};

use super::{CheckedInstaller, InstallerKind, invalid, rules};
use crate::config::NodeManager;

/// What of this machine and its configuration decides about a vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct InstallerSetup {
    /// Who installs what comes from npm's registry.
    pub node: NodeManager,
    /// Whether the user may install system packages without `sudo`.
    pub root: bool,
}

impl InstallerSetup {
    /// The program that a kind of installer runs; sinew downloads itself.
    pub fn manager(&self, kind: InstallerKind) -> &'static str {
        match kind {
            InstallerKind::Brew => "brew",
            InstallerKind::Node => self.node.program(),
            InstallerKind::Go => "go",
            InstallerKind::Uv => "uv",
            InstallerKind::Apt => "apt-get",
            InstallerKind::Download => "sinew",
        }
    }

    /// The arguments before what the skill named. `sudo` only ever without a password.
    fn leading(&self, kind: InstallerKind, cask: bool) -> &'static [&'static str] {
        match kind {
            InstallerKind::Brew if cask => &["brew", "install", "--cask"],
            InstallerKind::Brew => &["brew", "install"],
            InstallerKind::Node => match self.node {
                NodeManager::Npm => &["npm", "install", "-g", "--ignore-scripts"],
                NodeManager::Pnpm => &["pnpm", "add", "-g", "--ignore-scripts"],
                NodeManager::Yarn => &["yarn", "global", "add", "--ignore-scripts"],
                NodeManager::Bun => &["bun", "add", "-g", "--ignore-scripts"],
            },
            InstallerKind::Go => &["go", "install"],
            InstallerKind::Uv => &["uv", "tool", "install"],
            InstallerKind::Apt if self.root => {
                &["apt-get", "install", "-y", "--no-install-recommends"]
            }
            InstallerKind::Apt => {
                &["sudo", "-n", "apt-get", "install", "-y", "--no-install-recommends"]
            }
            InstallerKind::Download => &["sinew", "download"],
        }
    }
}

impl CheckedInstaller {
    /// The second stage and the vector. A download's vector is for reading: nothing is started.
    pub fn argument_vector(&self, setup: &InstallerSetup) -> Result<Vec<String>, Reason> {
        if self.kind == InstallerKind::Go && !self.what.contains('@') {
            return Err(Reason::new(
                ReasonCode::NeedsVersion,
                format!("the module {} has no version", self.what),
            )
            .key(self.spec.id.as_str())
            .remedy(format!("confirm {}@latest, or name a version", self.what)));
        }
        rules::check_second_stage(self.kind, &self.what)
            .map_err(|problem| invalid(&self.spec, &format!("`{}` {problem}", self.what)))?;
        if let Some(download) = &self.download
            && download.url.scheme() == "http"
            && download.sha256.is_none()
        {
            let detail = "it comes over http without a digest, so anybody on the way may change it";
            return Err(invalid(&self.spec, detail));
        }
        let leading = setup.leading(self.kind, self.cask).iter().map(|word| (*word).to_owned());
        Ok(leading.chain([self.what.clone()]).collect())
    }

    /// The same installer with `@latest`, where a Go module was named without a version and a
    /// person confirmed that.
    #[must_use]
    pub fn with_latest_version(mut self) -> Self {
        if self.kind == InstallerKind::Go && !self.what.contains('@') {
            self.what.push_str("@latest");
        }
        self
    }
}
