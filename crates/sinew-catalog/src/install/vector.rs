//! Argument vectors: what would be run, one argument for what the skill named.

use sinew_skill::{Code, Reason};

use super::{Installer, Kind, invalid, rules};
use crate::config::NodeManager;

/// What of this machine and its configuration decides about a vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Setup {
    /// Who installs what comes from npm's registry.
    pub node: NodeManager,
    /// Whether the user may install system packages without `sudo`.
    pub root: bool,
}

impl Setup {
    /// The program that a kind of installer runs; sinew downloads itself.
    pub fn manager(&self, kind: Kind) -> &'static str {
        match kind {
            Kind::Brew => "brew",
            Kind::Node => self.node.program(),
            Kind::Go => "go",
            Kind::Uv => "uv",
            Kind::Apt => "apt-get",
            Kind::Download => "sinew",
        }
    }

    /// The arguments before what the skill named. `sudo` only ever without a password.
    fn leading(&self, kind: Kind, cask: bool) -> &'static [&'static str] {
        match kind {
            Kind::Brew if cask => &["brew", "install", "--cask"],
            Kind::Brew => &["brew", "install"],
            Kind::Node => match self.node {
                NodeManager::Npm => &["npm", "install", "-g", "--ignore-scripts"],
                NodeManager::Pnpm => &["pnpm", "add", "-g", "--ignore-scripts"],
                NodeManager::Yarn => &["yarn", "global", "add", "--ignore-scripts"],
                NodeManager::Bun => &["bun", "add", "-g", "--ignore-scripts"],
            },
            Kind::Go => &["go", "install"],
            Kind::Uv => &["uv", "tool", "install"],
            Kind::Apt if self.root => &["apt-get", "install", "-y", "--no-install-recommends"],
            Kind::Apt => &["sudo", "-n", "apt-get", "install", "-y", "--no-install-recommends"],
            Kind::Download => &["sinew", "download"],
        }
    }
}

impl Installer {
    /// The second stage and the vector. A download's vector is for reading: nothing is started.
    pub fn vector(&self, setup: &Setup) -> Result<Vec<String>, Reason> {
        if self.kind == Kind::Go && !self.what.contains('@') {
            return Err(Reason::new(
                Code::NeedsVersion,
                format!("the module {} has no version", self.what),
            )
            .key(self.spec.id.as_str())
            .remedy(format!("confirm {}@latest, or name a version", self.what)));
        }
        rules::second(self.kind, &self.what)
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
    pub fn latest(mut self) -> Self {
        if self.kind == Kind::Go && !self.what.contains('@') {
            self.what.push_str("@latest");
        }
        self
    }
}
