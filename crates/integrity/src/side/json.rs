//! Merges the keys of two versions of a JSON object, each value as it is written.

use super::ecosystem::{is_above, is_below};
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;
use std::fmt;

/// The most members of an object that people write.
const MOST: usize = 5_000;

struct Members<'t>(Vec<(String, &'t RawValue)>);

impl<'de: 't, 't> Deserialize<'de> for Members<'t> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

fn members(text: &str) -> Option<Vec<(String, &RawValue)>> {
    let text = text.trim_start_matches('\u{feff}');
    let text = if text.trim().is_empty() { "{}" } else { text };
    let Members(members) = serde_json::from_str(text).ok()?;
    (members.len() <= MOST).then_some(members)
}

/// Returns the product's object with the tests' keys of the other version; `None` if one cannot be parsed. If the
/// tests' keys are already the same, the text is not changed.
pub(super) fn merged(product: &str, tests: &str, keys: &[&str]) -> Option<String> {
    let made = object((&members(product)?, &members(tests)?), &mut Vec::new(), keys);
    let own = object((&members(product)?, &members(product)?), &mut Vec::new(), keys);
    Some(if made == own { product.to_owned() } else { format!("{made}\n") })
}

type Pair<'a, 't> = (&'a [(String, &'t RawValue)], &'a [(String, &'t RawValue)]);

fn object((product, tests): Pair<'_, '_>, path: &mut Vec<String>, keys: &[&str]) -> String {
    let find = |list: &[(String, &RawValue)], name: &str| {
        list.iter().find(|(own, _)| own == name).map(|(_, value)| value.get().to_owned())
    };
    let is_here = |name: &str| product.iter().any(|(own, _)| own == name);
    let new = tests.iter().filter(|(name, _)| !is_here(name));
    let mut written = Vec::new();
    for (name, value) in product.iter().chain(new) {
        path.push(name.clone());
        let value = match (keys.iter().any(|key| is_below(key, path)), keys.iter().any(|key| is_above(key, path))) {
            (true, _) => find(tests, name),
            (false, true) => nested(find(product, name), find(tests, name), path, keys),
            (false, false) => Some(value.get().to_owned()).filter(|_| is_here(name)),
        };
        path.pop();
        let name = serde_json::Value::from(name.as_str());
        written.extend(value.map(|value| format!("{}{name}: {value}", "  ".repeat(path.len().saturating_add(1)))));
    }
    let indent = "  ".repeat(path.len());
    if written.is_empty() { "{}".to_owned() } else { format!("{{\n{}\n{indent}}}", written.join(",\n")) }
}

/// Merges two values that may be objects. An object that the product lacks is added only if it has keys of the tests.
fn nested(product: Option<String>, tests: Option<String>, path: &mut Vec<String>, keys: &[&str]) -> Option<String> {
    let Some(own) = members(product.as_deref().unwrap_or_default()) else {
        return product;
    };
    let others = members(tests.as_deref().unwrap_or_default()).unwrap_or_default();
    let made = object((&own, &others), path, keys);
    (product.is_some() || made != "{}").then_some(made)
}
