//! What skills are here, as a bill of materials in CycloneDX: for tools that keep count of what a machine
//! or a project carries.

use serde_json::{Value, json};
use sinew_catalog::{CatalogEntry, EntryState};
use sinew_hub::lock::LockEntry;

use crate::HubHandle;

/// The version of CycloneDX that is written.
const SPEC: &str = "1.6";

impl HubHandle<'_> {
    /// Every skill that is used here, with version, digest, source, signer and the programs that it
    /// declares. The same skills give the same bill.
    pub fn bill_of_materials(&self) -> Value {
        let snapshot = self.engine.snapshot();
        let trust = self.engine.trust();
        let used = snapshot.catalog.unshadowed().filter(|entry| entry.state != EntryState::Broken);
        let mut skills: Vec<&CatalogEntry> = used.collect();
        skills.sort_by(|a, b| (&a.name, &a.base_dir).cmp(&(&b.name, &b.base_dir)));
        let mut components = Vec::new();
        let mut dependencies = Vec::new();
        let mut programs: Vec<&String> = Vec::new();
        for entry in skills {
            let locked = trust.locked_skill(&entry.base_dir).map(|(_, locked)| locked);
            let component = component(entry, locked);
            let needs = &entry.requirements;
            let declared: Vec<&String> = needs.bins.iter().chain(&needs.any_bins).collect();
            dependencies.push(json!({
                "ref": component["bom-ref"],
                "dependsOn": declared.iter().map(|name| program_ref(name)).collect::<Vec<_>>(),
            }));
            programs.extend(declared);
            components.push(component);
        }
        programs.sort();
        programs.dedup();
        components.extend(programs.into_iter().map(
            |name| json!({ "type": "application", "bom-ref": program_ref(name), "name": name }),
        ));
        json!({
            "bomFormat": "CycloneDX",
            "specVersion": SPEC,
            "version": 1,
            "metadata": { "tools": { "components": [{
                "type": "application",
                "name": "sinew",
                "version": env!("CARGO_PKG_VERSION"),
            }]}},
            "components": components,
            "dependencies": dependencies,
        })
    }
}

fn program_ref(name: &str) -> String {
    format!("program:{name}")
}

fn component(entry: &CatalogEntry, locked: Option<&LockEntry>) -> Value {
    let digest = match locked {
        Some(locked) => Some(locked.tree_sha256.as_str()),
        None => entry.scan.as_ref().map(|scan| scan.digest.as_str()),
    };
    let digest = digest.map(|digest| digest.strip_prefix("sha256:").unwrap_or(digest));
    let source = locked.map_or_else(|| entry.source.clone(), |locked| locked.source.identity());
    let version = locked.map(|locked| locked.version.clone());
    let mut properties = vec![json!({ "name": "sinew:source", "value": source })];
    if let Some(locked) = locked {
        let said = locked.signature.sentence();
        properties.push(json!({ "name": "sinew:signature", "value": said }));
        properties.push(json!({ "name": "sinew:verdict", "value": locked.scan.verdict }));
    }
    let mut component = json!({
        "type": "library",
        "bom-ref": format!("skill:{}@{}", entry.name, digest.unwrap_or("unknown")),
        "name": entry.name,
        "description": entry.description,
        "properties": properties,
    });
    let fields = [
        ("version", version.map(Value::from)),
        ("hashes", digest.map(|hex| json!([{ "alg": "SHA-256", "content": hex }]))),
        (
            "externalReferences",
            entry.homepage.as_ref().map(|url| json!([{ "type": "website", "url": url }])),
        ),
    ];
    for (name, value) in fields {
        if let Some(value) = value {
            component[name] = value;
        }
    }
    component
}
