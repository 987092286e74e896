//! Finds the answer in an agent's output: the JSON object at the end of its standard output.

use crate::config::Role;
use domain::blocked::AgentFailure;
use serde_json::Value;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// The output does not end with an object.
    Missing,
    /// The end of the output looks like an object but is not JSON.
    NotJson(String),
    /// It is an object, but not the requested one.
    Malformed(String),
}

/// Returns the object at the end of `output`. White space and the end of a code fence may follow it.
///
/// One pass from the end finds the object's beginning and one parse reads it, so the time stays linear for any output.
pub(crate) fn ending_object(output: &str) -> Result<Value, NoAnswer> {
    let text = without_closing_fence(output.trim_end());
    if !text.ends_with('}') {
        return Err(NoAnswer::Missing);
    }
    let Some(start) = start_of_last_object(text.as_bytes()) else {
        return Err(NoAnswer::NotJson("its brackets do not match".to_owned()));
    };
    let object = text.get(start..).unwrap_or_default();
    serde_json::from_str(object).map_err(|error| NoAnswer::NotJson(error.to_string()))
}

fn without_closing_fence(text: &str) -> &str {
    let last_line = text.rsplit('\n').next().unwrap_or_default().trim_start();
    let is_fence = |mark: char| last_line.len() >= 3 && last_line.chars().all(|c| c == mark);
    match is_fence('`') || is_fence('~') {
        true => text.get(..text.len() - last_line.len()).unwrap_or_default().trim_end(),
        false => text,
    }
}

/// Walks back from the closing bracket to the one that opens it, and skips strings.
///
/// Read backwards, a quote is inside a string if and only if an odd number of backslashes precedes it.
fn start_of_last_object(bytes: &[u8]) -> Option<usize> {
    let mut depth = 0usize;
    let mut in_string = false;
    let mut at = bytes.len();
    while let Some(before) = at.checked_sub(1) {
        at = before;
        match bytes.get(at)? {
            b'"' => {
                let slashes = bytes.get(..at)?.iter().rev().take_while(|byte| **byte == b'\\').count();
                if slashes % 2 == 0 {
                    in_string = !in_string;
                }
                at -= slashes;
            }
            b'}' if !in_string => depth += 1,
            b'{' if !in_string => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// Returns the failure of a role that gave no usable answer.
pub(super) fn no_answer(role: Role, why: NoAnswer) -> AgentFailure {
    match (role, why) {
        (Role::Coach, NoAnswer::Missing | NoAnswer::NotJson(_)) => AgentFailure::DecisionMissing,
        (Role::Coach, NoAnswer::Malformed(problem)) => AgentFailure::DecisionInvalid { problem },
        (Role::Planner | Role::Designer | Role::Player, NoAnswer::Missing | NoAnswer::NotJson(_)) => {
            AgentFailure::ReportMissing
        }
        (Role::Planner | Role::Designer | Role::Player, NoAnswer::Malformed(problem)) => {
            AgentFailure::ReportInvalid { problem }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{NoAnswer, ending_object};
    use proptest::prelude::*;
    use serde_json::{Value, json};

    #[test]
    fn the_object_that_ends_the_output_is_the_answer() {
        let table = [
            ("{\"a\": 1}", json!({"a": 1})),
            ("words\n{\"a\": 1}\n\n", json!({"a": 1})),
            ("{\"first\": 1}\n{\"a\": {\"b\": [{}]}}", json!({"a": {"b": [{}]}})),
            ("Done:\n```json\n{\"a\": \"x\"}\n```\n", json!({"a": "x"})),
            ("~~~~\n{}\n~~~~", json!({})),
            (
                r#"{ not this } {"a": "}{\"", "b\\": "\\"}"#,
                json!({"a": "}{\"", "b\\": "\\"}),
            ),
            ("it's {\"a\":1}", json!({"a": 1})),
            ("an open \" quote and { bracket {\"a\": \"{\"}", json!({"a": "{"})),
        ];
        for (output, expected) in table {
            assert_eq!(ending_object(output), Ok(expected), "{output}");
        }
    }

    #[test]
    fn silence_words_and_lists_are_no_answer() {
        for output in [
            "",
            "  \n",
            "done!",
            "[1, 2]",
            "{\"a\": 1} and more",
            "```\n```",
            "{{{{{",
            "null",
        ] {
            assert_eq!(ending_object(output), Err(NoAnswer::Missing), "{output}");
        }
    }

    #[test]
    fn what_only_looks_like_an_object_is_malformed() {
        for output in ["}", "{\"a\": }", "{a: 1}", "{'a': 1}", "{\"a\": 1]}", "\"}"] {
            let answer = ending_object(output);
            assert!(matches!(answer, Err(NoAnswer::NotJson(_))), "{output}: {answer:?}");
        }
    }

    #[test]
    fn hostile_outputs_are_read_in_one_pass() {
        for piece in ["{", "}", "{\"", "\\", "\"", "\\\"", "[{"] {
            let output = format!("{}}}", piece.repeat(300_000));
            let answer = ending_object(&output);
            assert!(answer.is_err() || answer == Ok(json!({})), "{piece}: {answer:?}");
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i32>().prop_map(Value::from),
            r#"["\\{}\[\]a-z \n]{0,12}"#.prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(r#"["\\{}a-z]{0,6}"#, inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn every_object_is_found_behind_any_words(words in "[^\\x00]{0,40}", value in any_json()) {
            let object = json!({ "value": value });
            for printed in [object.to_string(), serde_json::to_string_pretty(&object).unwrap()] {
                prop_assert_eq!(ending_object(&format!("{words}\n{printed}")), Ok(object.clone()));
            }
        }
    }
}
