//! Which models rank: those in the program, one from a folder, or one behind an address.
//!
//! A model that cannot be had is never an error: words and static vectors answer, and every answer
//! says what is missing and what to do about it.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use sinew_route::{ModelLoadError, RouterModels, TextEncoder};
use sinew_settings::config::ModelChoice;

use super::recent_messages::keeping_recent;
use crate::Engine;

/// Larger weights are not BERT's: its largest have 1.3 GB.
const MAX_MODEL_FILE: u64 = 2 << 30;

impl Engine {
    /// The models of a choice. Those of the default one are opened once.
    pub(crate) fn models(&self, choice: ModelChoice) -> RouterModels {
        if choice == ModelChoice::Default {
            let open = || keeping_recent(self.open_models(self.config.route.model));
            return self.models.get_or_init(open).clone();
        }
        self.open_models(choice)
    }

    fn open_models(&self, choice: ModelChoice) -> RouterModels {
        match choice {
            ModelChoice::Default => {
                let folder = self.env.exe.as_deref().and_then(Path::parent);
                beside(RouterModels::embedded(), folder)
            }
            ModelChoice::Static => RouterModels::embedded_table(),
            ModelChoice::Words => RouterModels::none(),
            ModelChoice::File => {
                let folder = self.config.route.file.as_deref();
                in_folder(folder.map(|folder| self.env.expand_home(folder)).as_deref())
            }
            ModelChoice::Remote => {
                super::embedding_client::models(&self.config.route.remote, &self.env)
            }
        }
    }
}

/// Models of a program that was built without the encoder, with the one that lies beside it.
fn beside(models: RouterModels, folder: Option<&Path>) -> RouterModels {
    let path = match folder {
        Some(folder) if models.encoder.is_none() => folder.join("encoder.bin"),
        _ => return models,
    };
    let Ok(bytes) = fs::read(&path) else { return models };
    match TextEncoder::from_bytes(bytes) {
        Ok(encoder) => models.with_encoder(Arc::new(encoder)),
        Err(error) => {
            let mut models = models.without_encoder();
            models.add_missing(
                "encoder",
                &format!("{}: {error}", path.display()),
                "replace the file with the encoder.bin of this release, or remove it",
            );
            models
        }
    }
}

/// The static table, and the model of a folder in the encoder's place.
fn in_folder(folder: Option<&Path>) -> RouterModels {
    let mut models = RouterModels::embedded_table();
    let remedy = "route.file must name a folder with config.json, tokenizer.json and \
                  model.safetensors of a BERT model; words and static vectors answer until then";
    let Some(folder) = folder else {
        models.add_missing("encoder", "route.file is not set", remedy);
        return models;
    };
    let name = folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy();
    let opened = if folder.is_dir() {
        TextEncoder::from_folder(&name, &|file| read(&folder.join(file)))
    } else {
        Err(ModelLoadError::Missing("the folder".to_owned()))
    };
    match opened {
        Ok(encoder) => models.with_encoder(Arc::new(encoder)),
        Err(error) => {
            models.add_missing("encoder", &format!("{}: {error}", folder.display()), remedy);
            models
        }
    }
}

/// The bytes of a file that can be part of a model.
fn read(path: &Path) -> Option<Vec<u8>> {
    let facts = fs::metadata(path).ok()?;
    if !facts.is_file() || facts.len() > MAX_MODEL_FILE {
        return None;
    }
    fs::read(path).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encoder_beside_the_program_is_used_and_a_damaged_one_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let bare = RouterModels::embedded_table();
        assert!(beside(bare.clone(), Some(folder.path())).encoder.is_none());
        let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sinew-weights/encoder.bin");
        let path = folder.path().join("encoder.bin");
        fs::copy(shipped, &path).expect("the encoder is part of the repository");
        let found = beside(bare.clone(), Some(folder.path()));
        assert!(found.encoder.is_some() && found.missing.is_empty());
        fs::write(&path, "rubbish").expect("writable");
        let found = beside(bare, Some(folder.path()));
        assert!(found.encoder.is_none() && found.missing[0].message.contains("encoder.bin"));
    }
}
