//! Argument vectors: what would be run; the name that the skill gave is always a single argument.

use sinew_settings::config::NodeManager;
use sinew_settings::{Reason, ReasonCode};

use super::{CheckedInstaller, InstallerKind, invalid, rules};

/// Facts about this machine and its configuration that affect a vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct InstallerSetup {
    /// Which program installs npm packages.
    pub node: NodeManager,
    /// Whether system packages can be installed without `sudo`.
    pub root: bool,
}

impl InstallerSetup {
    /// The program that a kind of installer runs; sinew does downloads itself.
    pub fn manager(&self, kind: InstallerKind) -> &'static str {
        match kind {
            InstallerKind::Brew => "brew",
            InstallerKind::Node => self.node.as_str(),
            InstallerKind::Go => "go",
            InstallerKind::Uv => "uv",
            InstallerKind::Apt => "apt-get",
            InstallerKind::Download => "sinew",
        }
    }

    /// The arguments before the name that the skill gave. `sudo` is only used without a password.
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
    /// Runs the second stage and builds the vector. A download's vector is for display: no program
    /// is started.
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
            let detail = "it comes over http without a digest, so it could be changed on the way";
            return Err(invalid(&self.spec, detail));
        }
        let leading = setup.leading(self.kind, self.cask).iter().map(|word| (*word).to_owned());
        Ok(leading.chain([self.what.clone()]).collect())
    }

    /// The same installer with `@latest`, for a Go module without a version that a person has
    /// confirmed.
    #[must_use]
    pub fn with_latest_version(mut self) -> Self {
        if self.kind == InstallerKind::Go && !self.what.contains('@') {
            self.what.push_str("@latest");
        }
        self
    }
}
