//! What another registry announced about a skill, and whether its files match that.

use std::collections::BTreeMap;

use sinew_hub::digest::META_FILE;
use sinew_hub::tree::{SkillTree, TreeFile};
use sinew_hub::wire::{SkillDetailWire, VersionDetailWire};

use super::bundle::RegistryBundleFile;
use super::refusal::RegistryRefusal;
use super::upload::content_type;

/// How upstream's moderators flag a skill.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum UpstreamFlag {
    Suspicious,
    Malicious,
}

pub(super) fn upstream_flag(detail: &SkillDetailWire) -> Option<UpstreamFlag> {
    let moderation = detail.moderation.as_ref()?;
    match () {
        () if moderation.is_malware_blocked => Some(UpstreamFlag::Malicious),
        () if moderation.verdict.as_deref() == Some("malicious") => Some(UpstreamFlag::Malicious),
        () if moderation.is_suspicious => Some(UpstreamFlag::Suspicious),
        () => None,
    }
}

/// The files of an archive, each as upstream announced it.
pub(super) fn verified_files(
    document: &VersionDetailWire,
    archive: &[u8],
) -> Result<Vec<RegistryBundleFile>, RegistryRefusal> {
    let announced = document.files.as_ref();
    let announced =
        announced.ok_or_else(|| RegistryRefusal::bad("upstream announces no digests"))?;
    let mut announced: BTreeMap<&str, (u64, &str)> =
        announced.iter().map(|file| (&*file.path, (file.size, &*file.sha256))).collect();
    let tree = SkillTree::from_archive(archive, 0)
        .map_err(|error| RegistryRefusal::bad(error.to_string()))?;
    let tree = tree.without(|path| path == META_FILE);
    for record in tree.records() {
        let known = announced.remove(&*record.path);
        if known != Some((record.size, &*record.sha256)) {
            let text = format!("{} is not what upstream announced", record.path);
            return Err(RegistryRefusal::bad(text));
        }
    }
    if let Some(missing) = announced.keys().next() {
        return Err(RegistryRefusal::bad(format!("{missing} is missing in upstream's archive")));
    }
    Ok(uploads(&tree))
}

/// The files of a tree, as they are published.
pub(super) fn uploads(tree: &SkillTree) -> Vec<RegistryBundleFile> {
    let upload = |file: &TreeFile| RegistryBundleFile {
        path: file.path.clone(),
        bytes: file.bytes.clone(),
        content_type: content_type(None),
    };
    tree.files().iter().map(upload).collect()
}
