//! The list of files that a model signature signs, and whether a tree is exactly that.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sinew_guard::Untrusted;

use super::SIGNATURE_FILE;
use crate::digest::META_FILE;
use crate::tree::SkillTree;

/// What the statement is about.
const PREDICATE: &str = "https://model_signing/signature/v1.0";
/// The kind of statement.
const STATEMENT: &str = "https://in-toto.io/Statement/v1";
/// Files of version control, which the format leaves out at the root of a tree.
const LEFT_OUT: &[&str] = &[".git", ".gitattributes", ".github", ".gitignore"];

#[derive(Debug, Serialize, Deserialize)]
struct SignedResource {
    name: String,
    digest: String,
    algorithm: String,
}

/// The list.
#[derive(Debug)]
pub(super) struct SignedManifest {
    resources: Vec<SignedResource>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ManifestStatement {
    predicate_type: String,
    predicate: ManifestPredicate,
}

#[derive(Deserialize)]
struct ManifestPredicate {
    resources: Vec<SignedResource>,
    serialization: ManifestSerialization,
}

#[derive(Deserialize)]
struct ManifestSerialization {
    method: String,
    hash_type: String,
}

impl SignedManifest {
    /// The list of a tree.
    pub(super) fn of(tree: &SkillTree) -> Self {
        let records = tree.records().into_iter().filter(|record| is_signed(&record.path));
        let resource = |record: crate::digest::FileRecord| SignedResource {
            digest: hex(&record.sha256).to_owned(),
            name: record.path,
            algorithm: "sha256".to_owned(),
        };
        let mut resources: Vec<SignedResource> = records.map(resource).collect();
        resources.sort_by(|a, b| a.name.cmp(&b.name));
        Self { resources }
    }

    /// The list that a statement holds.
    pub(super) fn read(payload: &[u8]) -> Result<Self, String> {
        let statement: ManifestStatement = serde_json::from_slice(payload)
            .map_err(|_| "what is signed is not a list of files".to_owned())?;
        let how = &statement.predicate.serialization;
        if statement.predicate_type != PREDICATE {
            return Err("what is signed is not a list of files".to_owned());
        }
        if how.method != "files" || how.hash_type != "sha256" {
            return Err("the list is not one of whole files by SHA-256".to_owned());
        }
        Ok(Self { resources: statement.predicate.resources })
    }

    /// Whether the tree has exactly these files.
    pub(super) fn compare(&self, tree: &SkillTree) -> Result<(), String> {
        let shown = |path: &str| Untrusted::new(path).for_terminal();
        let mut signed: BTreeMap<&str, &str> = BTreeMap::new();
        for resource in &self.resources {
            let twice = signed.insert(&resource.name, &resource.digest).is_some();
            if twice || resource.algorithm != "sha256" {
                return Err(format!("{} is listed twice or oddly", shown(&resource.name)));
            }
        }
        for file in Self::of(tree).resources {
            match signed.remove(file.name.as_str()) {
                None => return Err(format!("{} was not signed", shown(&file.name))),
                Some(digest) if digest != file.digest => {
                    return Err(format!("{} is not as it was signed", shown(&file.name)));
                }
                Some(_) => {}
            }
        }
        match signed.first_key_value() {
            Some((missing, _)) => Err(format!("{} is missing", shown(missing))),
            None => Ok(()),
        }
    }

    /// The digest that stands for all of them.
    pub(super) fn root(&self) -> [u8; 32] {
        let mut bytes = Vec::new();
        for resource in &self.resources {
            let pairs = resource.digest.as_bytes().chunks(2);
            let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
            // What is no digest was refused by the comparison.
            bytes.extend(pairs.filter_map(byte));
        }
        let digest = ring::digest::digest(&ring::digest::SHA256, &bytes);
        let mut root = [0; 32];
        root.copy_from_slice(digest.as_ref());
        root
    }

    /// The statement about a skill of this name.
    pub(super) fn statement(&self, name: &str) -> Value {
        let mut root = String::new();
        for byte in self.root() {
            let _ = write!(root, "{byte:02x}");
        }
        json!({
            "_type": STATEMENT,
            "subject": [{ "name": name, "digest": { "sha256": root } }],
            "predicateType": PREDICATE,
            "predicate": {
                "serialization": {
                    "method": "files",
                    "hash_type": "sha256",
                    "allow_symlinks": false,
                    "ignore_paths": [SIGNATURE_FILE],
                },
                "resources": self.resources,
            },
        })
    }
}

/// Whether a file belongs to the list: all but the signature, files of version control, and the record
/// that a registry adds to what it serves. What a signer leaves out beyond that is not signed,
/// whatever they say.
fn is_signed(path: &str) -> bool {
    let first = path.split('/').next().unwrap_or_default();
    path != SIGNATURE_FILE && path != META_FILE && !LEFT_OUT.contains(&first)
}

fn hex(digest: &str) -> &str {
    digest.strip_prefix("sha256:").unwrap_or(digest)
}
