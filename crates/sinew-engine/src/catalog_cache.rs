//! The catalog's cache between processes: a short command reads what the last one parsed.

use std::path::PathBuf;
use std::sync::Once;
use std::time::UNIX_EPOCH;

use sinew_catalog::{LiveCatalog, Profile, ScanGate};
use sinew_guard::atomic::{self, FileAccess};
use sinew_guard::mapped_file::MappedFile;
use sinew_settings::Environment;

/// Where one profile's catalog is kept.
#[derive(Debug)]
pub(crate) struct CatalogCache {
    path: PathBuf,
    /// Which program wrote it.
    program: String,
    recalled: Once,
}

impl CatalogCache {
    /// `None` where no program file distinguishes one build from the next: results of an older parser
    /// would then be taken for this one's.
    pub(crate) fn below(env: &Environment, profile: &Profile) -> Option<Self> {
        let program = std::fs::metadata(env.exe.as_ref()?).ok()?;
        let built = program.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(Self {
            path: env.sinew_home().join(format!("cache/catalog-{}.bin", profile.name)),
            program: format!("{} {} {built:?}", env!("CARGO_PKG_VERSION"), program.len()),
            recalled: Once::new(),
        })
    }

    /// Loads what was kept, before the first refresh.
    pub(crate) fn load(&self, live: &LiveCatalog, gate: &ScanGate) {
        self.recalled.call_once(|| {
            if let Ok(bytes) = MappedFile::open(&self.path) {
                live.builder().load_cache(bytes, &self.tag(gate));
            }
        });
    }

    /// Keeps what was read. A file that cannot be written only costs time, so it is no error.
    pub(crate) fn save(&self, live: &LiveCatalog, gate: &ScanGate) {
        if let Some(bytes) = live.builder().take_unsaved_cache(&self.tag(gate))
            && let Err(error) = atomic::write(&self.path, &bytes, FileAccess::OwnerOnly)
        {
            tracing::warn!(path = %self.path.display(), %error, "the catalog cache was not saved");
        }
    }

    /// What the records of this program and these acceptances are marked with.
    pub(crate) fn tag(&self, gate: &ScanGate) -> String {
        format!("{}\n{}", self.program, gate.tag())
    }
}
