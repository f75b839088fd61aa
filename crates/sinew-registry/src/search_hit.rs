//! A hit as a search shows it, field by field as the upstream registry does.
//!
//! Rows are serialised straight from the index: as JSON trees, each would be dozens of small
//! allocations.

use serde::Serialize;

use super::details::{self, RegistryOwnerWire};
use super::index::{HitScoreParts, IndexHit};

/// One row.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RegistryHitWire<'a> {
    id: &'a str,
    source: &'static str,
    slug: &'a str,
    display_name: &'a str,
    summary: Option<&'a str>,
    icon: (),
    score: f32,
    canonical_url: String,
    links: HitLinksWire,
    publisher: HitPublisherWire<'a>,
    official: bool,
    featured: bool,
    install: HitInstallWire,
    trust: HitTrustWire,
    owner_handle: &'a str,
    owner: RegistryOwnerWire<'a>,
    version: Option<&'a str>,
    downloads: u64,
    stars: u64,
    updated_at: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    explain: Option<HitScoreParts>,
}

#[derive(Debug, Serialize)]
struct HitLinksWire {
    canonical: String,
    source: (),
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct HitPublisherWire<'a> {
    kind: &'static str,
    handle: &'a str,
    display_name: &'a str,
    image: (),
    official: bool,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct HitInstallWire {
    kind: &'static str,
    reference: String,
    source_url: (),
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct HitTrustWire {
    visibility: &'static str,
    installability: &'static str,
    claw_hub_verdict: &'static str,
    upstream_scanners: (),
    source_freshness: &'static str,
}

impl<'a> RegistryHitWire<'a> {
    /// The row of a hit, for a caller who knows the registry as `base`.
    pub(crate) fn of(hit: &IndexHit<'a>, base: &str) -> Self {
        let (entry, skill) = (hit.entry, &hit.entry.skill);
        let url = format!("{base}/api/v1/skills/{}?ownerHandle={}", skill.slug, skill.owner);
        Self {
            id: &skill.id,
            source: "clawhub",
            slug: &skill.slug,
            display_name: &skill.display_name,
            summary: skill.summary.as_deref(),
            icon: (),
            score: hit.score,
            canonical_url: url.clone(),
            links: HitLinksWire { canonical: url, source: () },
            publisher: HitPublisherWire {
                kind: "user",
                handle: &skill.owner,
                display_name: &skill.owner,
                image: (),
                official: false,
            },
            official: false,
            featured: false,
            install: HitInstallWire {
                kind: "clawhub",
                reference: format!("@{}/{}", skill.owner, skill.slug),
                source_url: (),
            },
            trust: HitTrustWire {
                visibility: "public",
                installability: "installable",
                claw_hub_verdict: if skill.is_suspicious() { "suspicious" } else { "clean" },
                upstream_scanners: (),
                source_freshness: "native",
            },
            owner_handle: &skill.owner,
            owner: details::owner(skill),
            version: skill.latest().map(|line| line.version.as_str()),
            downloads: entry.downloads,
            stars: skill.stars,
            updated_at: skill.updated_at,
            explain: None,
        }
    }

    /// The row with what its score is made of.
    pub(crate) fn explained(hit: &IndexHit<'a>, base: &str) -> Self {
        Self { explain: Some(hit.parts), ..Self::of(hit, base) }
    }
}
