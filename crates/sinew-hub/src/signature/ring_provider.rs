//! The arithmetic of signatures for the Sigstore crates: that of `ring`, which TLS uses already, in
//! place of a second library in C.

use ring::digest;
use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P256_SHA384_ASN1, ECDSA_P384_SHA256_ASN1, ECDSA_P384_SHA384_ASN1,
    ED25519, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512,
    RSA_PSS_2048_8192_SHA256, RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512,
    UnparsedPublicKey, VerificationAlgorithm,
};
use sigstore_verify::crypto::{
    CryptoProvider, Error, HashContext, SigningScheme, install_default_provider,
};
use sigstore_verify::types::HashAlgorithm;

/// Makes `ring` what the Sigstore crates reckon with; once per process is enough.
pub(super) fn install() {
    static RING: RingProvider = RingProvider;
    // It was installed before.
    let _ = install_default_provider(&RING);
}

#[derive(Debug)]
struct RingProvider;

struct RingHash(digest::Context);

impl HashContext for RingHash {
    fn update(&mut self, data: &[u8]) {
        self.0.update(data);
    }

    fn finalize(self: Box<Self>) -> Vec<u8> {
        self.0.finish().as_ref().to_vec()
    }
}

impl CryptoProvider for RingProvider {
    fn hash(&self, algorithm: HashAlgorithm) -> Result<Box<dyn HashContext>, Error> {
        let algorithm = match algorithm {
            HashAlgorithm::Sha2256 => &digest::SHA256,
            HashAlgorithm::Sha2384 => &digest::SHA384,
            HashAlgorithm::Sha2512 => &digest::SHA512,
            other => return Err(Error::UnsupportedAlgorithm(format!("{other:?}"))),
        };
        Ok(Box::new(RingHash(digest::Context::new(algorithm))))
    }

    fn verify_raw(
        &self,
        scheme: SigningScheme,
        key: &[u8],
        data: &[u8],
        signature: &[u8],
    ) -> Result<(), Error> {
        let algorithm: &dyn VerificationAlgorithm = match scheme {
            SigningScheme::EcdsaP256Sha256 => &ECDSA_P256_SHA256_ASN1,
            SigningScheme::EcdsaP256Sha384 => &ECDSA_P256_SHA384_ASN1,
            SigningScheme::EcdsaP384Sha256 => &ECDSA_P384_SHA256_ASN1,
            SigningScheme::EcdsaP384Sha384 => &ECDSA_P384_SHA384_ASN1,
            SigningScheme::Ed25519 => &ED25519,
            SigningScheme::RsaPssSha256 => &RSA_PSS_2048_8192_SHA256,
            SigningScheme::RsaPssSha384 => &RSA_PSS_2048_8192_SHA384,
            SigningScheme::RsaPssSha512 => &RSA_PSS_2048_8192_SHA512,
            SigningScheme::RsaPkcs1Sha256 => &RSA_PKCS1_2048_8192_SHA256,
            SigningScheme::RsaPkcs1Sha384 => &RSA_PKCS1_2048_8192_SHA384,
            SigningScheme::RsaPkcs1Sha512 => &RSA_PKCS1_2048_8192_SHA512,
            other => return Err(Error::UnsupportedAlgorithm(other.name().to_owned())),
        };
        UnparsedPublicKey::new(algorithm, key)
            .verify(data, signature)
            .map_err(|_| Error::Verification("the signature does not fit".to_owned()))
    }

    /// `ring` signs and verifies messages, never digests that others computed.
    fn verify_prehashed(
        &self,
        scheme: SigningScheme,
        _key: &[u8],
        _digest: &[u8],
        _signature: &[u8],
    ) -> Result<(), Error> {
        Err(Error::UnsupportedAlgorithm(format!("{} over a digest", scheme.name())))
    }
}
