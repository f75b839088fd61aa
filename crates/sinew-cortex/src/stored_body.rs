//! Records as a database stores them: short, because a log only grows.
//!
//! Nearly all records are outcomes. Their type is in its own column, nearly all of them succeed,
//! and a digest in hexadecimal is twice as long as necessary. So an outcome is stored without its
//! type and its usual result, and with its digest and sizes packed. Older, unpacked records can
//! still be read.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::ser::{Error as _, Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::record::{RecordBody, SkillOutcome};

const PREFIX: &str = "sha256:";

/// The content of a record for a database that stores its type separately.
#[derive(Debug, Clone, Copy)]
pub struct StoredBody<'b>(pub &'b RecordBody);

impl Serialize for StoredBody<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let RecordBody::Outcome(outcome) = self.0 else { return self.0.serialize(serializer) };
        let mut value = serde_json::to_value(outcome).map_err(S::Error::custom)?;
        if let Value::Object(fields) = &mut value {
            shorten(fields);
        }
        value.serialize(serializer)
    }
}

/// Reads a stored record of a type, including older, unpacked ones.
pub fn from_stored(kind: &str, text: &str) -> serde_json::Result<RecordBody> {
    if kind != "outcome" {
        return serde_json::from_str(text);
    }
    let mut fields: Map<String, Value> = serde_json::from_str(text)?;
    if fields.contains_key("type") {
        return serde_json::from_value(Value::Object(fields));
    }
    lengthen(&mut fields);
    serde_json::from_value::<SkillOutcome>(Value::Object(fields))
        .map(|it| RecordBody::Outcome(Box::new(it)))
}

fn shorten(fields: &mut Map<String, Value>) {
    if fields.get("result").is_some_and(|result| result == "success") {
        fields.remove("result");
    }
    if let Some(packed) = fields.get("digest").and_then(Value::as_str).and_then(pack) {
        fields.remove("digest");
        fields.insert("sha256".to_owned(), json!(packed));
    }
    if let Some(chars) = fields.remove("skill_md_chars") {
        let sizes = [Some(chars), fields.remove("skill_md_bytes")];
        fields.insert("md".to_owned(), sizes.into_iter().flatten().collect());
    }
}

fn lengthen(fields: &mut Map<String, Value>) {
    fields.entry("result").or_insert_with(|| json!("success"));
    if let Some(Value::String(packed)) = fields.remove("sha256") {
        fields.insert("digest".to_owned(), json!(unpack(&packed)));
    }
    if let Some(Value::Array(sizes)) = fields.remove("md") {
        let names = ["skill_md_chars", "skill_md_bytes"];
        fields.extend(names.map(str::to_owned).into_iter().zip(sizes));
    }
}

/// A digest in three fifths of its length, if it has the usual form.
fn pack(digest: &str) -> Option<String> {
    let hex = digest.strip_prefix(PREFIX)?.as_bytes();
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let pairs = hex.chunks_exact(2).map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?));
    let bytes: Vec<u8> = pairs.collect::<Option<_>>()?;
    (hex.len() == 64).then(|| URL_SAFE_NO_PAD.encode(bytes))
}

fn unpack(packed: &str) -> String {
    let bytes = URL_SAFE_NO_PAD.decode(packed).unwrap_or_default();
    bytes.iter().fold(PREFIX.to_owned(), |text, byte| text + &format!("{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::failure::FailureKind;
    use crate::record::{RegionSkill, UseResult};

    fn outcome(body: RecordBody) -> SkillOutcome {
        match body {
            RecordBody::Outcome(outcome) => *outcome,
            other => panic!("{other:?}"),
        }
    }

    fn read(kind: &str, value: &Value) -> RecordBody {
        from_stored(kind, &value.to_string()).unwrap()
    }

    #[test]
    fn an_outcome_of_a_run_is_kept_without_what_is_usual() {
        let full = SkillOutcome {
            run: Some("01ARZ3NDEKTSV4RRFFQ69G5FAV".to_owned()),
            digest: Some(format!("sha256:{}", "0f".repeat(32))),
            skill_md_chars: Some(3_200),
            skill_md_bytes: Some(3_300),
            ..SkillOutcome::success("image-convert", "imagemagick", "1.2.0")
        };
        let body = RecordBody::Outcome(Box::new(full));
        let stored = serde_json::to_value(StoredBody(&body)).unwrap();
        assert_eq!(
            stored,
            json!({
                "run": "01ARZ3NDEKTSV4RRFFQ69G5FAV", "region": "image-convert",
                "slug": "imagemagick", "version": "1.2.0", "side_effects": [],
                "sha256": "Dw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8", "md": [3200, 3300],
            })
        );
        assert_eq!(read("outcome", &stored), body);
    }

    #[test]
    fn what_was_written_before_reads_as_it_did() {
        let failure = SkillOutcome::failure("a", "b", "1", FailureKind::ApiError);
        let old = serde_json::to_value(RecordBody::Outcome(Box::new(failure.clone()))).unwrap();
        assert_eq!(old["type"], "outcome");
        assert_eq!(outcome(read("outcome", &old)), failure);
    }

    #[test]
    fn other_records_are_kept_as_they_are() {
        let place = RegionSkill { slug: "a".to_owned(), region: "b".to_owned(), run: None };
        let body = RecordBody::Retained(place);
        let stored = serde_json::to_value(StoredBody(&body)).unwrap();
        assert_eq!(stored["type"], "retained");
        assert_eq!(read("retained", &stored), body);
        assert_eq!(read("of-tomorrow", &json!({"type": "of-tomorrow"})), RecordBody::Unknown);
    }

    proptest! {
        #[test]
        fn whatever_is_kept_comes_back(
            result in prop_oneof![
                Just(UseResult::Success), Just(UseResult::Failure), Just(UseResult::Unknown)
            ],
            digest in proptest::option::of("(sha256:)?[0-9a-fA-F]{60,66}|sha256:[0-9a-f]{64}|\\PC{0,9}"),
            chars in proptest::option::of(any::<u64>()),
            bytes in proptest::option::of(any::<u64>()),
        ) {
            let full = SkillOutcome {
                digest, skill_md_chars: chars, skill_md_bytes: bytes,
                ..SkillOutcome::new("r", "s", "v", result)
            };
            let stored = serde_json::to_value(StoredBody(&RecordBody::Outcome(Box::new(full.clone())))).unwrap();
            prop_assert_eq!(outcome(read("outcome", &stored)), full);
        }
    }
}
