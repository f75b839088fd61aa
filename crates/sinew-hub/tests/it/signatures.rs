//! Who signed a skill: keys, identities of certificates, and what breaks a signature.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{
    BasicConstraints, CertificateParams, CustomExtension, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyPair, KeyUsagePurpose, PublicKeyData as _, SanType,
};
use ring::digest::{SHA256, digest};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair};
use serde_json::{Value, json};
use sinew_hub::signature::{
    SIGNATURE_FILE, SignatureRecord, SignatureRules, SignatureState, SigningKey, judge,
    judge_attestation, sign,
};
use sinew_hub::tree::{SkillTree, TreeFile};
use sinew_settings::config::{SignatureDemand, SignaturesSection};
use sinew_testkit::TestMachine;

const ISSUER: &str = "https://issuer.example.org";
const IDENTITY: &str =
    "https://code.example.org/acme/skills/.github/workflows/release.yml@refs/tags/v1";

fn tree(files: &[(&str, &str)]) -> SkillTree {
    let files = files.iter().map(|(path, text)| TreeFile::new(*path, *text)).collect();
    SkillTree::new(files).expect("a tree")
}

fn skill() -> SkillTree {
    tree(&[("SKILL.md", "---\nname: tides\ndescription: d\n---\n"), ("run.py", "print(1)\n")])
}

fn with(base: &SkillTree, path: &str, text: &[u8]) -> SkillTree {
    let mut files: Vec<TreeFile> =
        base.files().iter().filter(|file| file.path != path).cloned().collect();
    files.push(TreeFile::new(path, text));
    SkillTree::new(files).expect("a tree")
}

fn new_key() -> (SigningKey, String) {
    let key = KeyPair::generate().expect("a key");
    let key = SigningKey::from_pem(&key.serialize_pem()).expect("a key of P-256");
    let public = key.public_pem();
    (key, public)
}

fn rules(section: &SignaturesSection) -> SignatureRules {
    SignatureRules::read(section, &TestMachine::new().environment())
}

fn naming(name: &str, key: &str) -> SignaturesSection {
    SignaturesSection {
        keys: [(name.to_owned(), key.to_owned())].into(),
        ..SignaturesSection::default()
    }
}

fn state(tree: &SkillTree, section: &SignaturesSection) -> SignatureState {
    judge(tree, &rules(section)).state
}

#[test]
fn a_key_of_the_configuration_proves_who_signed() {
    let (key, public) = new_key();
    let signed = sign(&skill(), "tides", &key).expect("signed");
    let record = judge(&signed, &rules(&naming("ada", &public)));
    assert_eq!(record.sentence(), "signed by ada");
    assert!(record.is_trusted());
    assert_eq!(judge(&skill(), &rules(&naming("ada", &public))).sentence(), "not signed");
    let machine = TestMachine::new().file("home/ada.pub", &public);
    let section = naming("ada", "~/ada.pub");
    let read = SignatureRules::read(&section, &machine.environment());
    assert_eq!(judge(&signed, &read).state, SignatureState::Proved, "a key can stand in a file");
}

#[test]
fn a_key_that_is_not_named_proves_nothing() {
    let (key, _) = new_key();
    let (_, other) = new_key();
    let signed = sign(&skill(), "tides", &key).expect("signed");
    assert_eq!(state(&signed, &naming("eve", &other)), SignatureState::Unproved);
    assert_eq!(state(&signed, &SignaturesSection::default()), SignatureState::Unproved);
    let damaged = judge(&signed, &rules(&naming("ada", "~/none.pub")));
    assert_eq!(damaged.state, SignatureState::Unproved);
    assert!(damaged.sentence().contains("none.pub"), "{}", damaged.sentence());
}

#[test]
fn every_change_of_the_files_breaks_the_signature() {
    let (key, public) = new_key();
    let section = naming("ada", &public);
    let signed = sign(&skill(), "tides", &key).expect("signed");
    let why = |tree: &SkillTree| {
        let record = judge(tree, &rules(&section));
        assert_eq!(record.state, SignatureState::Broken, "{record:?}");
        record.why.unwrap_or_default()
    };
    assert_eq!(why(&with(&signed, "run.py", b"print(2)\n")), "run.py is not as it was signed");
    assert_eq!(why(&with(&signed, "more.py", b"")), "more.py was not signed");
    let less = signed.clone().without(|path| path == "run.py");
    assert_eq!(why(&less), "run.py is missing");
    assert!(why(&with(&signed, SIGNATURE_FILE, b"{}")).contains("not a Sigstore bundle"));
    // The signature of another skill does not fit this one.
    let other = sign(&tree(&[("SKILL.md", "x")]), "other", &key).expect("signed");
    let file = other.get(SIGNATURE_FILE).expect("a signature").bytes.clone();
    why(&with(&skill(), SIGNATURE_FILE, &file));
}

/// The list and the signature stand in one file: a list that was rewritten is not proved.
#[test]
fn a_list_that_was_rewritten_is_not_proved() {
    let (key, public) = new_key();
    let section = naming("ada", &public);
    let signed = sign(&skill(), "tides", &key).expect("signed");
    let evil = with(&signed, "run.py", b"print(2)\n");
    // What the list of the changed files would say, under the signature of the others.
    let (eve, _) = new_key();
    let theirs = sign(&evil, "tides", &eve).expect("signed");
    let bundle = |tree: &SkillTree| -> Value {
        serde_json::from_slice(&tree.get(SIGNATURE_FILE).expect("a signature").bytes).expect("JSON")
    };
    let mut mixed = bundle(&signed);
    mixed["dsseEnvelope"]["payload"] = bundle(&theirs)["dsseEnvelope"]["payload"].clone();
    let mixed = with(&evil, SIGNATURE_FILE, mixed.to_string().as_bytes());
    assert_eq!(state(&mixed, &section), SignatureState::Unproved);
    // A list that leaves a file out, and says so, is still a list that leaves it out.
    let mut open = bundle(&signed);
    let payload =
        STANDARD.decode(open["dsseEnvelope"]["payload"].as_str().expect("text")).expect("base64");
    let mut statement: Value = serde_json::from_slice(&payload).expect("JSON");
    statement["predicate"]["serialization"]["ignore_paths"] = json!(["more.py"]);
    open["dsseEnvelope"]["payload"] = STANDARD.encode(statement.to_string()).into();
    let open = with(&signed, SIGNATURE_FILE, open.to_string().as_bytes());
    let open = with(&open, "more.py", b"evil");
    assert_eq!(state(&open, &section), SignatureState::Broken);
}

#[test]
fn an_install_needs_what_the_configuration_asks_for() {
    let (key, public) = new_key();
    let signed =
        judge(&sign(&skill(), "tides", &key).expect("signed"), &rules(&naming("ada", &public)));
    let unsigned = SignatureRecord::default();
    let broken = SignatureRecord { state: SignatureState::Broken, ..SignatureRecord::default() };
    let code = |demand, record: &SignatureRecord| {
        let section = SignaturesSection { require: demand, ..naming("ada", &public) };
        rules(&section).check("tides", record).err().map(|error| error.code.to_string())
    };
    for demand in [SignatureDemand::Nothing, SignatureDemand::Signed, SignatureDemand::Trusted] {
        assert_eq!(code(demand, &signed), None);
        assert_eq!(code(demand, &broken).as_deref(), Some("bad-signature"));
    }
    assert_eq!(code(SignatureDemand::Nothing, &unsigned), None);
    assert_eq!(code(SignatureDemand::Signed, &unsigned).as_deref(), Some("not-signed"));
    assert_eq!(code(SignatureDemand::Trusted, &unsigned).as_deref(), Some("not-signed"));
}

/// An authority, a log and a signer of a test's own: what Sigstore is in public.
struct OwnSigstore {
    authority: (rcgen::Certificate, KeyPair),
    log: KeyPair,
}

impl OwnSigstore {
    fn new() -> Self {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let certificate = params.self_signed(&key).expect("a certificate");
        Self { authority: (certificate, key), log: KeyPair::generate().expect("a key") }
    }

    fn trusted_root(&self) -> String {
        let since = json!({ "start": "2020-01-01T00:00:00Z" });
        let key = self.log.subject_public_key_info();
        json!({
            "mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
            "tlogs": [{
                "baseUrl": "https://log.example.org",
                "hashAlgorithm": "SHA2_256",
                "publicKey": {
                    "rawBytes": STANDARD.encode(&key),
                    "keyDetails": "PKIX_ECDSA_P256_SHA_256",
                    "validFor": since,
                },
                "logId": { "keyId": STANDARD.encode(digest(&SHA256, &key)) },
            }],
            "certificateAuthorities": [{
                "subject": { "organization": "example.org", "commonName": "authority" },
                "uri": "https://authority.example.org",
                "certChain": {
                    "certificates": [{ "rawBytes": STANDARD.encode(self.authority.0.der()) }],
                },
                "validFor": since,
            }],
            "ctlogs": [],
            "timestampAuthorities": [],
        })
        .to_string()
    }

    /// A bundle about this statement by a signer with a certificate of this authority.
    fn bundle(&self, statement: &str, identity: &str) -> Value {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::default();
        params.subject_alt_names = vec![SanType::URI(identity.try_into().expect("an address"))];
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::CodeSigning];
        params.use_authority_key_identifier_extension = true;
        let mut issuer = vec![0x0c, u8::try_from(ISSUER.len()).expect("short")];
        issuer.extend(ISSUER.as_bytes());
        params.custom_extensions =
            vec![CustomExtension::from_oid_content(&[1, 3, 6, 1, 4, 1, 57264, 1, 8], issuer)];
        let mut authority = CertificateParams::default();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = Issuer::new(authority, &self.authority.1);
        let certificate = params.signed_by(&key, &authority).expect("a certificate");
        let kind = "application/vnd.in-toto+json";
        let signed = format!("DSSEv1 {} {kind} {} {statement}", kind.len(), statement.len());
        let signature = STANDARD.encode(signature(&key, signed.as_bytes()));
        let hex = |bytes: &[u8]| -> String {
            digest(&SHA256, bytes).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
        };
        let body = json!({
            "apiVersion": "0.0.1",
            "kind": "dsse",
            "spec": {
                "envelopeHash": { "algorithm": "sha256", "value": hex(b"envelope") },
                "payloadHash": { "algorithm": "sha256", "value": hex(statement.as_bytes()) },
                "signatures": [{
                    "signature": signature,
                    "verifier": STANDARD.encode(certificate.pem()),
                }],
            },
        })
        .to_string();
        json!({
            "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
            "verificationMaterial": {
                "certificate": { "rawBytes": STANDARD.encode(certificate.der()) },
                "tlogEntries": [self.entry(&body)],
            },
            "dsseEnvelope": {
                "payload": STANDARD.encode(statement),
                "payloadType": kind,
                "signatures": [{ "sig": signature }],
            },
        })
    }

    /// The log's entry: the only one in it.
    fn entry(&self, body: &str) -> Value {
        let key = self.log.subject_public_key_info();
        let id = digest(&SHA256, &key);
        let root = digest(&SHA256, &[&[0], body.as_bytes()].concat());
        let root = STANDARD.encode(root);
        let body = STANDARD.encode(body);
        let at = 1_760_000_000;
        let hex: String = id.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        // The order of the names is that of the alphabet.
        let promise = format!(
            "{{\"body\":\"{body}\",\"integratedTime\":{at},\"logID\":\"{hex}\",\"logIndex\":0}}"
        );
        let note = format!("log.example.org\n1\n{root}\n");
        let mut line = id.as_ref()[..4].to_vec();
        line.extend(signature(&self.log, note.as_bytes()));
        json!({
            "logIndex": "0",
            "logId": { "keyId": STANDARD.encode(id) },
            "kindVersion": { "kind": "dsse", "version": "0.0.1" },
            "integratedTime": at.to_string(),
            "inclusionPromise": {
                "signedEntryTimestamp": STANDARD.encode(signature(&self.log, promise.as_bytes())),
            },
            "inclusionProof": {
                "logIndex": "0",
                "rootHash": root,
                "treeSize": "1",
                "hashes": [],
                "checkpoint": {
                    "envelope": format!("{note}\n— log.example.org {}\n", STANDARD.encode(line)),
                },
            },
            "canonicalizedBody": body,
        })
    }

    fn section(&self, machine: &TestMachine) -> SignaturesSection {
        machine.write("home/root.json", self.trusted_root());
        SignaturesSection {
            trusted_root: Some("~/root.json".to_owned()),
            identities: vec![format!("{ISSUER} https://code.example.org/acme/*")],
            ..SignaturesSection::default()
        }
    }
}

fn signature(key: &KeyPair, message: &[u8]) -> Vec<u8> {
    let random = SystemRandom::new();
    let key =
        EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &key.serialize_der(), &random);
    key.expect("a key").sign(&random, message).expect("a signature").as_ref().to_vec()
}

/// The statement that signs a tree, as signing with a key writes it.
fn statement(tree: &SkillTree) -> String {
    let (key, _) = new_key();
    let signed = sign(tree, "tides", &key).expect("signed");
    let bundle: Value =
        serde_json::from_slice(&signed.get(SIGNATURE_FILE).expect("a file").bytes).expect("JSON");
    let payload = bundle["dsseEnvelope"]["payload"].as_str().expect("text");
    String::from_utf8(STANDARD.decode(payload).expect("base64")).expect("text")
}

#[test]
fn a_certificate_of_the_trusted_root_proves_an_identity() {
    let (machine, sigstore) = (TestMachine::new(), OwnSigstore::new());
    let rules = SignatureRules::read(&sigstore.section(&machine), &machine.environment());
    let bundle = sigstore.bundle(&statement(&skill()), IDENTITY);
    let signed = with(&skill(), SIGNATURE_FILE, bundle.to_string().as_bytes());
    let record = judge(&signed, &rules);
    assert_eq!(record.sentence(), format!("signed by {IDENTITY} ({ISSUER})"));
    assert!(record.is_trusted());
    let bundle = sigstore.bundle(&statement(&skill()), "https://code.example.org/eve/skills");
    let stranger = with(&skill(), SIGNATURE_FILE, bundle.to_string().as_bytes());
    let record = judge(&stranger, &rules);
    assert_eq!(record.state, SignatureState::Proved);
    assert!(!record.is_trusted(), "{}", record.sentence());
    let changed = with(&signed, "run.py", b"print(2)\n");
    assert_eq!(judge(&changed, &rules).state, SignatureState::Broken);
}

#[test]
fn nothing_of_a_bundle_can_be_exchanged() {
    let (machine, sigstore) = (TestMachine::new(), OwnSigstore::new());
    let rules = SignatureRules::read(&sigstore.section(&machine), &machine.environment());
    let good = sigstore.bundle(&statement(&skill()), IDENTITY);
    let other = OwnSigstore::new().bundle(&statement(&skill()), IDENTITY);
    let again = sigstore.bundle(&statement(&skill()), IDENTITY);
    let judged = |bundle: &Value| {
        judge(&with(&skill(), SIGNATURE_FILE, bundle.to_string().as_bytes()), &rules).state
    };
    assert_eq!(judged(&good), SignatureState::Proved);
    assert_ne!(judged(&other), SignatureState::Proved, "another authority");
    let entry = "/verificationMaterial/tlogEntries/0";
    for place in [
        "/verificationMaterial/certificate".to_owned(),
        "/dsseEnvelope/signatures".to_owned(),
        entry.to_owned(),
        format!("{entry}/inclusionPromise"),
        format!("{entry}/inclusionProof"),
        format!("{entry}/canonicalizedBody"),
    ] {
        for from in [&other, &again] {
            let mut mixed = good.clone();
            *mixed.pointer_mut(&place).expect("a place") =
                from.pointer(&place).expect("a place").clone();
            assert_ne!(judged(&mixed), SignatureState::Proved, "{place}");
        }
    }
    let mut unlogged = good.clone();
    unlogged["verificationMaterial"]["tlogEntries"] = json!([]);
    assert_ne!(judged(&unlogged), SignatureState::Proved, "without a log there is no time");
    let mut later = good;
    *later.pointer_mut(&format!("{entry}/integratedTime")).expect("a place") = "1760000001".into();
    assert_ne!(judged(&later), SignatureState::Proved, "the time is part of the promise");
}

#[test]
fn an_attestation_is_about_exactly_one_archive() {
    let (machine, sigstore) = (TestMachine::new(), OwnSigstore::new());
    let rules = SignatureRules::read(&sigstore.section(&machine), &machine.environment());
    let archive = b"the bytes of an archive";
    let hex: String =
        digest(&SHA256, archive).as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    let statement = json!({
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{ "name": "tides.zip", "digest": { "sha256": hex } }],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": { "buildDefinition": {} },
    });
    let bundle = sigstore.bundle(&statement.to_string(), IDENTITY).to_string();
    assert!(judge_attestation(archive, &bundle, &rules).is_trusted());
    let other = judge_attestation(b"others", &bundle, &rules);
    assert_eq!(other.state, SignatureState::Unproved);
    assert_eq!(judge_attestation(archive, "{}", &rules).state, SignatureState::Broken);
}

/// The root that is built in can be read, so that a configuration without one proves something.
#[test]
fn the_public_root_is_built_in() {
    let (key, public) = new_key();
    let signed = sign(&skill(), "tides", &key).expect("signed");
    assert_eq!(state(&signed, &naming("ada", &public)), SignatureState::Proved);
    let own = OwnSigstore::new().bundle(&statement(&skill()), IDENTITY);
    let own = with(&skill(), SIGNATURE_FILE, own.to_string().as_bytes());
    assert_eq!(state(&own, &SignaturesSection::default()), SignatureState::Unproved);
}
