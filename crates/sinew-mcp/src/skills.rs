//! The skills extension (SEP-2640): skills as lists of files with digests.
//!
//! The library has no types for it yet; ours stay in this file until it does.

use std::collections::BTreeSet;

use rmcp::ErrorData;
use rmcp::model::{CustomRequest, CustomResult, Resource};
use serde::Deserialize;
use serde_json::{Value, json};
use sinew_catalog::SKILL_FILE;
use sinew_engine::{LiveView, ServedSkill};

use super::caller::ProtocolEra;
use super::resources::{CACHE_MS, mime_type};

/// The extension's name.
pub(super) const EXTENSION: &str = "io.modelcontextprotocol/skills";
/// What folders are called among files.
const FOLDER: &str = "inode/directory";
/// Skills on a page. Each may name 512 files; a page stays below a megabyte or two.
const PAGE: usize = 20;
/// Children of a folder on a page.
const CHILDREN: usize = 200;

/// The methods of the extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SkillsMethod {
    List,
    Get,
    Folder,
}

impl SkillsMethod {
    pub(super) fn named(method: &str) -> Option<Self> {
        match method {
            "skills/list" => Some(Self::List),
            "skills/get" => Some(Self::Get),
            "resources/directory/read" => Some(Self::Folder),
            _ => None,
        }
    }
}

#[derive(Deserialize, Default)]
struct SkillsParams {
    uri: Option<String>,
    cursor: Option<String>,
}

/// Answers a request of the extension.
pub(super) fn answer(
    method: SkillsMethod,
    request: &CustomRequest,
    era: ProtocolEra,
    look: &LiveView,
) -> Result<CustomResult, ErrorData> {
    let params: SkillsParams = request
        .params_as()
        .map_err(|error| ErrorData::invalid_params(error.to_string(), None))?
        .unwrap_or_default();
    let mut result = match (method, &params.uri) {
        (SkillsMethod::List, _) => list(look, params.cursor.as_deref())?,
        (SkillsMethod::Get, Some(uri)) => get(look, uri)?,
        (SkillsMethod::Folder, Some(uri)) => folder(look, uri, params.cursor.as_deref())?,
        (_, None) => return Err(ErrorData::invalid_params("uri is required", None)),
    };
    // Older revisions do not define these.
    if era == ProtocolEra::Stateless {
        result["resultType"] = json!("complete");
        result["ttlMs"] = json!(CACHE_MS);
        result["cacheScope"] = json!("private");
    }
    Ok(CustomResult::new(result))
}

fn list(look: &LiveView, cursor: Option<&str>) -> Result<Value, ErrorData> {
    let catalog = &look.snapshot.catalog;
    let from = cursor_offset(cursor, look)?;
    let candidates: Vec<_> = catalog
        .unshadowed()
        .filter(|entry| look.engine.skills().skill_uri(entry).is_some())
        .collect();
    let page = candidates.iter().skip(from).take(PAGE);
    let served = page.filter_map(|entry| look.engine.skills().serve(entry, look.digests()).ok());
    let mut result = json!({"skills": served.map(|skill| record(&skill)).collect::<Vec<_>>()});
    if from + PAGE < candidates.len() {
        result["nextCursor"] = json!(cursor_of(look, from + PAGE));
    }
    Ok(result)
}

fn get(look: &LiveView, uri: &str) -> Result<Value, ErrorData> {
    let found = look.engine.skills().served_at(&look.snapshot.catalog, uri);
    let entry = found.filter(|(_, below)| below == SKILL_FILE).map(|(entry, _)| entry);
    let served = entry.and_then(|entry| look.engine.skills().serve(entry, look.digests()).ok());
    let skill = served.ok_or_else(|| unserved("no skill is served at this address", uri))?;
    Ok(json!({"skill": record(&skill)}))
}

/// The direct children of a folder.
fn folder(look: &LiveView, uri: &str, cursor: Option<&str>) -> Result<Value, ErrorData> {
    let refuse = || unserved("this is not a folder of a served skill", uri);
    let (entry, below) =
        look.engine.skills().served_at(&look.snapshot.catalog, uri).ok_or_else(refuse)?;
    let skill = look.engine.skills().serve(entry, look.digests()).map_err(|_| refuse())?;
    let prefix = if below.is_empty() { String::new() } else { format!("{below}/") };
    let (mut folders, mut children) = (BTreeSet::new(), Vec::new());
    for (path, file) in &skill.files {
        let Some(rest) = path.strip_prefix(&prefix) else { continue };
        match rest.split_once('/') {
            None => children.push(
                Resource::new(&file.uri, rest).with_mime_type(mime_type(rest)).with_size(file.size),
            ),
            Some((name, _)) => {
                let address = file.uri.split('/').count() - rest.split('/').count() + 1;
                let uri: Vec<&str> = file.uri.split('/').take(address).collect();
                folders.insert((name.to_owned(), uri.join("/")));
            }
        }
    }
    if children.is_empty() && folders.is_empty() {
        return Err(refuse());
    }
    let folders =
        folders.into_iter().map(|(name, uri)| Resource::new(uri, name).with_mime_type(FOLDER));
    children.splice(0..0, folders);
    let from = cursor_offset(cursor, look)?;
    let page: Vec<&Resource> = children.iter().skip(from).take(CHILDREN).collect();
    let mut result = json!({"resources": page});
    if from + CHILDREN < children.len() {
        result["nextCursor"] = json!(cursor_of(look, from + CHILDREN));
    }
    Ok(result)
}

fn record(skill: &ServedSkill) -> Value {
    let resources: Vec<Value> = skill
        .files
        .values()
        .map(|file| {
            json!({"uri": file.uri, "digest": format!("sha256:{}", file.sha256), "size": file.size})
        })
        .collect();
    json!({"uri": skill.uri(), "frontmatter": skill.frontmatter, "resources": resources})
}

/// A place in one version of the catalog.
pub(super) fn cursor_of(look: &LiveView, at: usize) -> String {
    format!("{}:{at}", look.snapshot.version)
}

/// Where a page begins. Pages are cut from one version; with another one, the client begins anew.
pub(super) fn cursor_offset(cursor: Option<&str>, look: &LiveView) -> Result<usize, ErrorData> {
    let Some(cursor) = cursor else { return Ok(0) };
    let parts = cursor.split_once(':');
    let parts = parts.and_then(|(of, at)| Some((of.parse::<u64>().ok()?, at.parse().ok()?)));
    match parts {
        Some((of, at)) if of == look.snapshot.version => Ok(at),
        _ => Err(ErrorData::invalid_params(
            "the cursor belongs to another version of the catalog",
            Some(json!({"hint": "begin again without a cursor"})),
        )),
    }
}

fn unserved(message: &'static str, uri: &str) -> ErrorData {
    ErrorData::invalid_params(message, Some(json!({"uri": uri})))
}
