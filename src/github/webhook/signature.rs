//! The signature of a delivery: HMAC-SHA256 over the raw bytes, compared in constant time.

use hmac::{Hmac, Mac};
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;

/// Why a delivery is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// There is no `X-Hub-Signature-256`: the hook has no secret, or the sender is not GitHub.
    #[error("the X-Hub-Signature-256 header is missing")]
    Missing,
    /// The header is not `sha256=` and 64 hexadecimal digits.
    #[error("the X-Hub-Signature-256 header is not sha256=<64 hexadecimal digits>")]
    Malformed,
    /// The signature was not made with any of our secrets.
    #[error("the signature does not match")]
    Wrong,
}

/// The claimed signature. Only [`verify`] shows if it is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signature([u8; 32]);

impl Signature {
    pub fn read(header: Option<&str>) -> Result<Self, SignatureError> {
        let header = header.ok_or(SignatureError::Missing)?;
        let digest = header.strip_prefix("sha256=").and_then(hex32);
        digest.map(Self).ok_or(SignatureError::Malformed)
    }
}

/// Checks `signature` against `body` with each of `secrets` (the current one and, while it is being replaced, the
/// previous one). An empty secret never matches.
pub fn verify(secrets: &[SecretString], body: &[u8], signature: &Signature) -> Result<(), SignatureError> {
    let matches = |secret: &SecretString| {
        let key = secret.expose_secret().as_bytes();
        match Hmac::<Sha256>::new_from_slice(key) {
            Ok(mut mac) if !key.is_empty() => {
                mac.update(body);
                mac.verify_slice(&signature.0).is_ok()
            }
            Ok(_) | Err(_) => false,
        }
    };
    if secrets.iter().any(matches) { Ok(()) } else { Err(SignatureError::Wrong) }
}

fn hex32(text: &str) -> Option<[u8; 32]> {
    let mut digest = [0; 32];
    let pairs = text.as_bytes().chunks_exact(2);
    if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    for (byte, pair) in digest.iter_mut().zip(pairs) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example from GitHub's page "Validating webhook deliveries".
    const SECRET: &str = "It's a Secret to Everybody";
    const BODY: &[u8] = b"Hello, World!";
    const HEADER: &str = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";

    fn verify(secrets: &[SecretString], body: &[u8], header: Option<&str>) -> Result<(), SignatureError> {
        super::verify(secrets, body, &Signature::read(header)?)
    }

    fn secrets(texts: &[&str]) -> Vec<SecretString> {
        texts.iter().map(|text| SecretString::from(*text)).collect()
    }

    #[test]
    fn the_published_example_is_believed() {
        assert_eq!(verify(&secrets(&[SECRET]), BODY, Some(HEADER)), Ok(()));
    }

    #[test]
    fn the_previous_secret_still_counts() {
        assert_eq!(verify(&secrets(&["new", SECRET]), BODY, Some(HEADER)), Ok(()));
    }

    #[test]
    fn another_body_or_secret_is_wrong() {
        assert_eq!(verify(&secrets(&[SECRET]), b"Hello, World?", Some(HEADER)), Err(SignatureError::Wrong));
        assert_eq!(verify(&secrets(&["other"]), BODY, Some(HEADER)), Err(SignatureError::Wrong));
        assert_eq!(verify(&[], BODY, Some(HEADER)), Err(SignatureError::Wrong));
    }

    #[test]
    fn an_empty_secret_believes_nobody() {
        let mac = Hmac::<Sha256>::new_from_slice(b"").unwrap().chain_update(BODY).finalize();
        let digits = text::hex::encode(&mac.into_bytes());
        assert_eq!(verify(&secrets(&[""]), BODY, Some(&format!("sha256={digits}"))), Err(SignatureError::Wrong));
    }

    #[test]
    fn a_header_of_another_shape_is_malformed() {
        assert_eq!(verify(&secrets(&[SECRET]), BODY, None), Err(SignatureError::Missing));
        let multibyte = format!("sha256={}", "é".repeat(32));
        for header in ["", "sha256=", "sha1=757107ea", &HEADER[..70], &format!("{HEADER}0"), &multibyte, "757107ea"] {
            assert_eq!(verify(&secrets(&[SECRET]), BODY, Some(header)), Err(SignatureError::Malformed), "{header}");
        }
    }
}
