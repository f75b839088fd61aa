//! Signing a skill with a key of one's own.

use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::json;
use sigstore_verify::types::PayloadBytes;

use super::manifest::SignedManifest;
use super::{SIGNATURE_FILE, ring_provider};
use crate::tree::{SkillTree, TreeFile};

/// What stands before the point of a public key of the curve P-256.
const PUBLIC_KEY_HEAD: &[u8] = &[
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a,
    0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];
/// The media type of a bundle.
const BUNDLE: &str = "application/vnd.dev.sigstore.bundle.v0.3+json";
/// The type of what is in the envelope.
const PAYLOAD: &str = "application/vnd.in-toto+json";

/// Why a key cannot sign.
#[derive(Debug, thiserror::Error)]
#[error("the key cannot be used: {0}")]
pub struct SigningKeyError(&'static str);

/// A private key of the curve P-256.
#[derive(Debug)]
pub struct SigningKey(EcdsaKeyPair);

impl SigningKey {
    /// The key of a PEM file in PKCS #8, as `openssl genpkey` writes it.
    pub fn from_pem(text: &str) -> Result<Self, SigningKeyError> {
        const HEAD: &str = "-----BEGIN PRIVATE KEY-----";
        let body = text.split_once(HEAD).and_then(|(_, rest)| rest.split_once("-----END"));
        let (body, _) = body.ok_or(SigningKeyError("it is no private key in PKCS #8"))?;
        let body: String = body.split_whitespace().collect();
        let der = PayloadBytes::from_base64(&body)
            .map_err(|_| SigningKeyError("its text is not base64"))?;
        EcdsaKeyPair::from_pkcs8(
            &ECDSA_P256_SHA256_ASN1_SIGNING,
            der.as_bytes(),
            &SystemRandom::new(),
        )
        .map(Self)
        .map_err(|_| SigningKeyError("it is not a key of the curve P-256"))
    }

    /// The public key, for `security.signatures.keys`.
    pub fn public_pem(&self) -> String {
        let key = PayloadBytes::new(self.public_der()).to_base64();
        let lines: Vec<&str> =
            key.as_bytes().chunks(64).filter_map(|line| std::str::from_utf8(line).ok()).collect();
        format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n", lines.join("\n"))
    }

    fn public_der(&self) -> Vec<u8> {
        [PUBLIC_KEY_HEAD, self.0.public_key().as_ref()].concat()
    }
}

/// The tree with a signature over all its files.
pub fn sign(tree: &SkillTree, name: &str, key: &SigningKey) -> Result<SkillTree, SigningKeyError> {
    ring_provider::install();
    let files = tree.files().iter().filter(|file| file.path != SIGNATURE_FILE);
    let mut files: Vec<TreeFile> = files.cloned().collect();
    let payload = SignedManifest::of(tree).statement(name).to_string();
    let signed = pre_authentication(PAYLOAD, payload.as_bytes());
    let signature = key
        .0
        .sign(&SystemRandom::new(), &signed)
        .map_err(|_| SigningKeyError("the system gives no random numbers"))?;
    let hint = ring::digest::digest(&ring::digest::SHA256, &key.public_der());
    let hint: String = hint.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    let encoded = |bytes: &[u8]| PayloadBytes::from_bytes(bytes).to_base64();
    let bundle = json!({
        "mediaType": BUNDLE,
        "verificationMaterial": { "publicKey": { "hint": hint } },
        "dsseEnvelope": {
            "payload": encoded(payload.as_bytes()),
            "payloadType": PAYLOAD,
            "signatures": [{ "sig": encoded(signature.as_ref()), "keyid": "" }],
        },
    });
    files.push(TreeFile::new(SIGNATURE_FILE, format!("{bundle:#}\n")));
    SkillTree::new(files).map_err(|_| SigningKeyError("the files cannot be signed"))
}

/// What a DSSE signature is made over: the type and the payload with their lengths.
fn pre_authentication(kind: &str, payload: &[u8]) -> Vec<u8> {
    let head = format!("DSSEv1 {} {kind} {} ", kind.len(), payload.len());
    [head.as_bytes(), payload].concat()
}
