//! Which signers count: keys, identities and roots that the configuration names.

use std::path::Path;

use sigstore_verify::trust_root::{SIGSTORE_PRODUCTION_TRUSTED_ROOT, TrustedRoot};
use sigstore_verify::types::DerPublicKey;
use sinew_settings::config::{SignatureDemand, SignaturesSection};
use sinew_settings::{Environment, ErrorCode};

use super::SignatureRecord;
use crate::error::HubError;

/// Which signers count, and what an install needs.
#[derive(Debug, Clone)]
pub struct SignatureRules {
    pub(super) keys: Vec<(String, DerPublicKey)>,
    pub(super) root: TrustedRoot,
    identities: Vec<String>,
    demand: SignatureDemand,
    /// What of the configuration could not be read. Then no signer is proved.
    pub(super) faults: Vec<String>,
}

impl SignatureRules {
    /// The rules of a configuration.
    pub fn read(section: &SignaturesSection, env: &Environment) -> Self {
        let mut faults = Vec::new();
        let read = |path: &Path| {
            std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
        };
        let mut keys = Vec::new();
        for (name, place) in &section.keys {
            let text = match place.contains("-----BEGIN") {
                true => Ok(place.clone()),
                false => read(&env.expand_home(place)),
            };
            let key = text.and_then(|text| {
                DerPublicKey::from_pem(&text)
                    .map_err(|error| format!("the key {name} is no public key: {error}"))
            });
            match key {
                Ok(key) => keys.push((name.clone(), key)),
                Err(fault) => faults.push(fault),
            }
        }
        let text = match &section.trusted_root {
            Some(path) => read(&env.expand_home(path)),
            None => Ok(SIGSTORE_PRODUCTION_TRUSTED_ROOT.to_owned()),
        };
        let root = text.and_then(|text| {
            TrustedRoot::from_json(&text).map_err(|error| format!("the trusted root: {error}"))
        });
        let root = root.unwrap_or_else(|fault| {
            faults.push(fault);
            empty_root()
        });
        let identities = section.identities.clone();
        Self { keys, root, identities, demand: section.require, faults }
    }

    /// Whether an identity is one of those that the configuration names: `<issuer> <identity>`, where
    /// a `*` at the end stands for anything.
    pub(super) fn trusts(&self, name: &str, issuer: Option<&str>) -> bool {
        self.identities.iter().any(|entry| {
            let Some((by, wanted)) = entry.trim().split_once(char::is_whitespace) else {
                return false;
            };
            let wanted = wanted.trim();
            Some(by) == issuer
                && match wanted.strip_suffix('*') {
                    Some(start) => name.starts_with(start),
                    None => name == wanted,
                }
        })
    }

    /// Whether a skill with this signature may be installed.
    pub fn check(&self, key: &str, signature: &SignatureRecord) -> Result<(), HubError> {
        use super::SignatureState::{Broken, Proved};
        let told = signature.sentence();
        if signature.state == Broken {
            let error = HubError::new(ErrorCode::BadSignature, format!("{key}: {told}"));
            return Err(error.hint("get it again from its author; these are not the signed files"));
        }
        let enough = match self.demand {
            SignatureDemand::Nothing => true,
            SignatureDemand::Signed => signature.state == Proved,
            SignatureDemand::Trusted => signature.is_trusted(),
        };
        if enough {
            return Ok(());
        }
        let message = format!("{key}: {told}; security.signatures.require asks for more");
        Err(HubError::new(ErrorCode::NotSigned, message)
            .hint("`security.signatures` names the keys and identities that count"))
    }
}

fn empty_root() -> TrustedRoot {
    const EMPTY: &str =
        r#"{"mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1"}"#;
    #[allow(clippy::unwrap_used, reason = "a constant, which a test reads")]
    TrustedRoot::from_json(EMPTY).unwrap()
}
