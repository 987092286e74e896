//! The values that come with a document, checked against the types that it declares.

use super::{
    document::{Operation, literal},
    schema::{Schema, inner},
};
use serde_json::{Map, Value, json};

/// Returns the value of each variable, or else an error for each value that does not fit its type.
pub(super) fn values(
    schema: &Schema,
    operation: &Operation<'_>,
    given: &Value,
) -> Result<Map<String, Value>, Vec<Value>> {
    let (mut values, mut errors) = (Map::new(), Vec::new());
    for variable in operation.variables {
        let (name, kind, at) = (&variable.name, &variable.var_type, variable.position);
        let default = || Some(literal(&Map::new(), variable.default_value.as_ref()?));
        let value = given.get(name).cloned().or_else(default).unwrap_or_default();
        if schema.takes(kind, &value) {
            values.insert(name.clone(), value);
            continue;
        }
        let why = if value.is_null() {
            "Expected value to not be null".to_owned()
        } else {
            format!("Could not coerce value {value} to {}", inner(kind))
        };
        errors.push(json!({
            "message": format!("Variable ${name} of type {kind} was provided invalid value"),
            "locations": [{"line": at.line, "column": at.column}],
            "extensions": {"value": value, "problems": [{"path": [], "explanation": why}]},
        }));
    }
    if errors.is_empty() { Ok(values) } else { Err(errors) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coerced(text: &str, given: &Value) -> Result<Value, Vec<String>> {
        let document = graphql_parser::parse_query::<String>(text).unwrap().into_static();
        let operation = Operation::of(&document).unwrap();
        let values = values(&Schema::read(), &operation, given);
        let text = |error: &Value| error["message"].as_str().unwrap().to_owned();
        values
            .map(Value::Object)
            .map_err(|errors| errors.iter().map(text).collect())
    }

    #[test]
    fn values_are_of_the_types_that_the_document_declares() {
        let issue = "query($issue: Int!) { a }";
        let input = "mutation($input: MarkPullRequestReadyForReviewInput!) { a }";
        let invalid = |name: &str| Err(vec![format!("Variable ${name} was provided invalid value")]);
        for (text, given, told_of_it) in [
            (issue, json!({"issue": 7}), Ok(json!({"issue": 7}))),
            (issue, json!({}), invalid("issue of type Int!")),
            (issue, json!({"issue": "7"}), invalid("issue of type Int!")),
            ("query($issue: Int = 3) { a }", json!({}), Ok(json!({"issue": 3}))),
            ("query($issue: Int) { a }", json!({}), Ok(json!({"issue": null}))),
            (
                input,
                json!({"input": {"pullRequestId": "P"}}),
                Ok(json!({"input": {"pullRequestId": "P"}})),
            ),
            (
                input,
                json!({"input": {"foo": 1, "pullRequestId": "P"}}),
                invalid("input of type MarkPullRequestReadyForReviewInput!"),
            ),
            (
                input,
                json!({"input": {}}),
                invalid("input of type MarkPullRequestReadyForReviewInput!"),
            ),
        ] {
            assert_eq!(coerced(text, &given), told_of_it, "{text} {given}");
        }
    }
}
