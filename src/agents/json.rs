//! Reads some keys of JSON values, without relying on their presence or type.

use serde_json::Value;

/// Returns the text of a key; empty if there is none.
pub(crate) fn word<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the whole number of a key, without its fraction; 0 if there is none.
pub(crate) fn number(value: &Value, key: &str) -> u64 {
    let found = value.get(key);
    let whole = |number: &Value| {
        let digits = number.to_string();
        digits.split('.').next().and_then(|digits| digits.parse().ok())
    };
    found.and_then(|found| found.as_u64().or_else(|| whole(found))).unwrap_or(0)
}

/// Returns the dollars of a key in millionths.
pub(crate) fn micros(value: &Value, key: &str) -> Option<u64> {
    let dollars = value.get(key).and_then(Value::as_f64)?;
    let fine = dollars.is_finite() && dollars >= 0.0;
    fine.then(|| format!("{:.0}", dollars * 1_000_000.0).parse().ok()).flatten()
}

/// Returns the items of a key's list; empty if there is no list.
pub(crate) fn items<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    let list = value.get(key).and_then(Value::as_array);
    list.map(Vec::as_slice).unwrap_or_default()
}

/// `true` for null and for an empty object.
pub(crate) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(object) => object.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{micros, number};
    use serde_json::json;

    #[test]
    fn odd_numbers_are_read_or_left_out() {
        let value = json!({"whole": 7, "split": 1081.4, "below": -3, "text": "9", "huge": 1e300});
        let read = ["whole", "split", "below", "text", "none"].map(|key| number(&value, key));
        assert_eq!(read, [7, 1081, 0, 0, 0]);
        let read = ["whole", "split", "below", "text", "huge"].map(|key| micros(&value, key));
        assert_eq!(read, [Some(7_000_000), Some(1_081_400_000), None, None, None]);
    }
}
