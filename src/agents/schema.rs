//! Turns JSON Schemas into the forms that programs and providers accept, and cleans answers made with them.

use crate::agents::json::items;
use serde_json::{Map, Value, json};

/// Keywords of a schema that do not restrict the values.
const LEFT_OUT: [&str; 5] = ["$schema", "title", "default", "examples", "format"];

/// Returns a schema without descriptive keywords, because programs refuse keywords that they do not know.
#[expect(clippy::wildcard_enum_match_arm, reason = "the enum is not ours: it has many variants, and more will come")]
pub(crate) fn bare(schema: &Value) -> Value {
    match schema {
        Value::Object(object) => object
            .iter()
            .filter(|(name, _)| !LEFT_OUT.contains(&name.as_str()))
            .map(|(name, value)| {
                let value = match (name.as_str(), value) {
                    // These keys are the answer's own.
                    ("properties" | "$defs" | "definitions", Value::Object(fields)) => each(fields, bare),
                    _ => bare(value),
                };
                (name.clone(), value)
            })
            .collect(),
        Value::Array(items) => items.iter().map(bare).collect(),
        other => other.clone(),
    }
}

/// Returns the strict form of a schema, with which a provider constrains a model's output: every key is required and no
/// other is allowed. An optional value may be null instead.
pub(crate) fn strict(schema: &Value) -> Value {
    let Value::Object(object) = schema else {
        return schema.clone();
    };
    let mut strict: Map<String, Value> = object
        .iter()
        .filter(|(name, _)| !LEFT_OUT.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), inner(name, value)))
        .collect();
    let Some(properties) = object.get("properties").and_then(Value::as_object) else {
        return Value::Object(strict);
    };
    let required = items(schema, "required");
    let strict_field = |(name, field): (&String, &Value)| {
        let field = self::strict(field);
        let field = if required.iter().any(|found| found == name.as_str()) {
            field
        } else {
            json!({ "anyOf": [field, { "type": "null" }] })
        };
        (name.clone(), field)
    };
    let fields: Map<String, Value> = properties.iter().map(strict_field).collect();
    strict.insert("required".to_owned(), fields.keys().cloned().collect());
    strict.insert("properties".to_owned(), Value::Object(fields));
    strict.insert("additionalProperties".to_owned(), Value::Bool(false));
    Value::Object(strict)
}

fn each(fields: &Map<String, Value>, convert: fn(&Value) -> Value) -> Value {
    let fields = fields.iter();
    fields.map(|(name, value)| (name.clone(), convert(value))).collect()
}

fn inner(name: &str, value: &Value) -> Value {
    match (name, value) {
        ("items", schema) => strict(schema),
        ("anyOf" | "oneOf" | "allOf", Value::Array(schemas)) => schemas.iter().map(strict).collect(),
        ("$defs" | "definitions", Value::Object(schemas)) => each(schemas, strict),
        _ => value.clone(),
    }
}

/// Returns an answer without the nulls for missing optional values.
#[expect(clippy::wildcard_enum_match_arm, reason = "the enum is not ours: it has many variants, and more will come")]
pub(crate) fn without_nulls(answer: Value) -> Value {
    match answer {
        Value::Object(fields) => fields
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name, without_nulls(value)))
            .collect(),
        Value::Array(items) => items.into_iter().map(without_nulls).collect(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::{bare, strict, without_nulls};
    use serde_json::json;

    #[test]
    fn every_key_is_required_and_the_optional_ones_may_be_null() {
        let schema = json!({
            "$schema": "x", "title": "T", "type": "object", "required": ["a"],
            "properties": {
                "a": { "type": "array", "items": { "type": "object", "properties": { "b": { "type": "string" } } } },
                "c": { "type": "integer" },
            },
        });
        let inner = json!({
            "type": "object", "required": ["b"], "additionalProperties": false,
            "properties": { "b": { "anyOf": [{ "type": "string" }, { "type": "null" }] } },
        });
        assert_eq!(
            strict(&schema),
            json!({
                "type": "object", "required": ["a", "c"], "additionalProperties": false,
                "properties": {
                    "a": { "type": "array", "items": inner },
                    "c": { "anyOf": [{ "type": "integer" }, { "type": "null" }] },
                },
            })
        );
    }

    #[test]
    fn only_rules_are_left_of_a_schema() {
        let schema = json!({
            "$schema": "x", "title": "T", "type": "object",
            "properties": { "title": { "type": "integer", "format": "uint32", "minimum": 0 }, "format": { "enum": ["default"] } },
        });
        let rules = json!({
            "type": "object",
            "properties": { "title": { "type": "integer", "minimum": 0 }, "format": { "enum": ["default"] } },
        });
        assert_eq!(bare(&schema), rules);
    }

    #[test]
    fn nulls_of_an_answer_are_what_was_left_out() {
        let answer = json!({"a": null, "b": [{"c": null, "d": 1}], "e": false});
        assert_eq!(without_nulls(answer), json!({"b": [{"d": 1}], "e": false}));
    }
}
