//! Who signed a skill: the file `skill.oms.sig` in its folder, an OpenSSF model signature in a Sigstore
//! bundle.
//!
//! It is checked offline, against keys and a trusted root that the configuration names, or against
//! the public Sigstore root that is built in. What is signed is the list of all files with their
//! digests; a file that is not on the list, or not as it says, breaks the signature.
//!
//! **Must never happen here:** a request, or a signer's name that was not proved.

mod manifest;
mod ring_provider;
mod rules;
mod sign;

use serde::{Deserialize, Serialize};
use sigstore_verify::crypto::{KeyAlgorithm, verify_signature};
use sigstore_verify::types::bundle::VerificationMaterialContent;
use sigstore_verify::types::{
    Artifact, Bundle, DerPublicKey, Sha256Hash, SignatureContent, Statement,
};
use sigstore_verify::{VerificationPolicy, Verifier};
use sinew_guard::Untrusted;

use crate::tree::SkillTree;
use manifest::SignedManifest;

pub use rules::SignatureRules;
pub use sign::{SigningKey, SigningKeyError, sign};

/// The file that holds a skill's signature.
pub const SIGNATURE_FILE: &str = "skill.oms.sig";
/// A bundle with a certificate, a log entry and a manifest of a thousand files stays below this.
const MAX_SIGNATURE: usize = 1_000_000;

/// What a signature is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum SignatureState {
    /// There is none.
    #[default]
    Unsigned,
    /// There is one, and nothing here proves who made it.
    Unproved,
    /// Its signer is proved, and the files are as they signed them.
    Proved,
    /// It does not fit the files.
    Broken,
}

/// Who signed a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SkillSigner {
    /// The name of the key in the configuration, or the identity of the certificate.
    pub name: String,
    /// Who vouched for the identity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// Whether the configuration trusts this signer.
    pub trusted: bool,
}

/// What is known about a skill's signature.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SignatureRecord {
    /// What it is worth.
    pub state: SignatureState,
    /// Who signed, where that is proved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signer: Option<SkillSigner>,
    /// What is wrong with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl SignatureRecord {
    fn broken(why: impl Into<String>) -> Self {
        Self { state: SignatureState::Broken, signer: None, why: Some(why.into()) }
    }

    fn unproved(why: &str) -> Self {
        let why = Untrusted::new(why).for_terminal();
        Self { state: SignatureState::Unproved, signer: None, why: Some(why) }
    }

    fn proved(signer: SkillSigner) -> Self {
        Self { state: SignatureState::Proved, signer: Some(signer), why: None }
    }

    /// Whether there is no signature.
    pub fn is_unsigned(&self) -> bool {
        self.state == SignatureState::Unsigned
    }

    /// Whether the configuration trusts who signed.
    pub fn is_trusted(&self) -> bool {
        self.signer.as_ref().is_some_and(|signer| signer.trusted)
    }

    /// In a sentence, for people.
    pub fn sentence(&self) -> String {
        let why = self.why.as_deref().unwrap_or_default();
        match (self.state, &self.signer) {
            (SignatureState::Proved, Some(signer)) => {
                let name = Untrusted::new(&signer.name).for_terminal();
                let by = match &signer.issuer {
                    Some(issuer) => format!("{name} ({})", Untrusted::new(issuer).for_terminal()),
                    None => name,
                };
                match signer.trusted {
                    true => format!("signed by {by}"),
                    false => format!("signed by {by}, whom your configuration does not name"),
                }
            }
            (SignatureState::Unsigned, _) => "not signed".to_owned(),
            (SignatureState::Broken, _) => format!("its signature is broken: {why}"),
            _ => format!("its signer is not proved: {why}"),
        }
    }
}

/// What the signature of these files is worth.
pub fn judge(tree: &SkillTree, rules: &SignatureRules) -> SignatureRecord {
    let Some(file) = tree.get(SIGNATURE_FILE) else { return SignatureRecord::default() };
    if file.bytes.len() > MAX_SIGNATURE {
        return SignatureRecord::broken("the signature is too large");
    }
    let bundle =
        std::str::from_utf8(&file.bytes).ok().and_then(|text| Bundle::from_json(text).ok());
    let Some(bundle) = bundle else {
        return SignatureRecord::broken(format!("{SIGNATURE_FILE} is not a Sigstore bundle"));
    };
    let SignatureContent::DsseEnvelope(envelope) = &bundle.content else {
        return SignatureRecord::broken("it signs no list of files");
    };
    let manifest = match SignedManifest::read(envelope.payload.as_bytes()) {
        Ok(manifest) => manifest,
        Err(why) => return SignatureRecord::broken(why),
    };
    if let Err(why) = manifest.compare(tree) {
        return SignatureRecord::broken(why);
    }
    match prove(&bundle, manifest.root(), rules) {
        Ok(signer) => SignatureRecord::proved(signer),
        Err(why) => SignatureRecord::unproved(&why),
    }
}

/// What an attestation says about an archive: a bundle whose statement names the archive's digest, as
/// code hosts publish beside a release.
pub fn judge_attestation(bytes: &[u8], bundle: &str, rules: &SignatureRules) -> SignatureRecord {
    let Ok(bundle) = Bundle::from_json(bundle) else {
        return SignatureRecord::broken("the attestation is not a Sigstore bundle");
    };
    let mut digest = [0; 32];
    digest.copy_from_slice(ring::digest::digest(&ring::digest::SHA256, bytes).as_ref());
    match prove(&bundle, digest, rules) {
        Ok(signer) => SignatureRecord::proved(signer),
        Err(why) => SignatureRecord::unproved(&why),
    }
}

/// The signer of a bundle about what has this digest.
fn prove(bundle: &Bundle, digest: [u8; 32], rules: &SignatureRules) -> Result<SkillSigner, String> {
    ring_provider::install();
    if let Some(fault) = rules.faults.first() {
        return Err(fault.clone());
    }
    let digest = Sha256Hash::new(digest);
    if let VerificationMaterialContent::PublicKey(_) = &bundle.verification_material.content {
        return prove_by_key(bundle, &digest, rules);
    }
    let mut policy = VerificationPolicy::any_identity();
    if rules.root.ctlogs.is_empty() {
        // A root of one's own may have no log of certificates; the public one has.
        policy = policy.skip_sct();
    }
    let verifier = Verifier::new(&rules.root).map_err(|error| error.to_string())?;
    let proof = verifier
        .verify(Artifact::from_digest(digest), bundle, &policy)
        .map_err(|error| error.to_string())?;
    let name = proof.identity().map(|identity| identity.as_str().to_owned());
    let name = name.ok_or("its certificate names nobody")?;
    let issuer = proof.issuer().map(str::to_owned);
    let trusted = rules.trusts(&name, issuer.as_deref());
    Ok(SkillSigner { name, issuer, trusted })
}

/// The same by a key of the configuration, which vouches for itself: no log and no time is asked for,
/// as the format has it. The hint in the bundle is unsigned, so every key is tried.
fn prove_by_key(
    bundle: &Bundle,
    digest: &Sha256Hash,
    rules: &SignatureRules,
) -> Result<SkillSigner, String> {
    const PAYLOAD: &str = "application/vnd.in-toto+json";
    let SignatureContent::DsseEnvelope(envelope) = &bundle.content else {
        return Err("it signs no statement".to_owned());
    };
    let statement: Statement = serde_json::from_slice(envelope.payload.as_bytes())
        .map_err(|_| "it signs no statement".to_owned())?;
    if envelope.payload_type != PAYLOAD || !statement.matches_sha256(digest) {
        return Err("it is about something else".to_owned());
    }
    let signed = envelope.pae();
    let fits = |key: &DerPublicKey| {
        KeyAlgorithm::from_spki(key).is_ok_and(|algorithm| {
            let scheme = algorithm.default_signing_scheme();
            verify_signature(key, &signed, &envelope.signature.sig, scheme).is_ok()
        })
    };
    let known = rules.keys.iter().find(|(_, key)| fits(key));
    let (name, _) =
        known.ok_or("it was made with a key that security.signatures.keys does not name")?;
    Ok(SkillSigner { name: name.clone(), issuer: None, trusted: true })
}
