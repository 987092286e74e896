//! Finds the answer in an agent's output: a JSON object, with any words before and behind it.

use crate::config::Role;
use domain::blocked::Failure;
use serde_json::Value;
use text::{
    clean::{is_invisible, without_colours},
    json::object_at_start,
};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoAnswer {
    /// The output holds no object.
    #[error("there is none")]
    Missing,
    /// Part of the output looks like the answer but is not JSON.
    #[error("it is not JSON: {0}")]
    NotJson(String),
    /// The output ends within the answer.
    #[error("it is not JSON: its last bracket is missing")]
    CutOff,
    /// It is an object, but not the requested one.
    #[error("{0}")]
    Malformed(String),
    /// It is not the requested one, and the program gives no reason.
    #[error("it does not fit the schema")]
    Unfit,
}

/// An answer, or why there is none.
pub(crate) type AgentAnswer = Result<Value, NoAnswer>;

/// Returns the last object in `output` that has a key of the answer's schema, or else the last one. Objects inside
/// other objects do not count.
///
/// A later piece that begins like an object and names a key of the schema, but is not JSON, is a broken answer. It is
/// not skipped, because the object before it may be an example or an earlier draft.
pub(crate) fn last_object(output: &str, schema: &Value) -> AgentAnswer {
    let keys: Vec<&String> = properties(schema).collect();
    let (mut answer, mut other) = (None, None);
    let output = without_colours(output);
    let mut rest = output.as_str();
    while let Some(start) = rest.find('{') {
        rest = rest.get(start..).unwrap_or_default();
        if !begins_like_an_object(rest) {
            rest = rest.get(1..).unwrap_or_default();
            continue;
        }
        let (object, length) = match object_at_start(rest) {
            Some((text, length)) => (parse(&text), length),
            None => (Err(NoAnswer::CutOff), rest.len()),
        };
        let (piece, behind) = rest.split_at_checked(length).unwrap_or((rest, ""));
        rest = behind;
        let has = |key: &&String| match &object {
            Ok(object) => object.get(key.as_str()).is_some(),
            Err(_) => piece.contains(&format!("\"{key}\"")),
        };
        if keys.iter().any(has) { answer = Some(object) } else { other = Some(object) }
    }
    answer.or(other).unwrap_or(Err(NoAnswer::Missing))
}

fn properties(schema: &Value) -> impl Iterator<Item = &String> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flat_map(|properties| properties.keys())
}

fn parse(object: &str) -> AgentAnswer {
    serde_json::from_str(object).map_err(|error| NoAnswer::NotJson(error.to_string()))
}

/// `true` if the bracket at the start of `text` is followed by its closing one or by a string and a colon. Code in an
/// agent's words has other brackets.
fn begins_like_an_object(text: &str) -> bool {
    let between = |c: char| c.is_whitespace() || is_invisible(c);
    let inside = text.strip_prefix('{').unwrap_or_default().trim_start_matches(between);
    let Some(key) = inside.strip_prefix('"') else {
        return inside.starts_with('}');
    };
    let mut escaped = false;
    let end = key.find(|c| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    });
    let behind = end.and_then(|end| key.get(end + 1..)).unwrap_or(":");
    behind.trim_start_matches(between).starts_with(':')
}

pub(super) fn no_answer(role: Role, why: &NoAnswer) -> Failure {
    let problem = (*why != NoAnswer::Missing).then(|| why.to_string());
    match (role, problem) {
        (Role::Coach, None) => Failure::DecisionMissing,
        (Role::Coach, Some(problem)) => Failure::DecisionInvalid { problem },
        (Role::Planner | Role::Designer | Role::Player, None) => Failure::ReportMissing,
        (Role::Planner | Role::Designer | Role::Player, Some(problem)) => Failure::ReportInvalid { problem },
    }
}

#[cfg(test)]
mod tests {
    use super::{NoAnswer, last_object, no_answer};
    use crate::config::Role;
    use domain::blocked::Failure;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn schema() -> Value {
        json!({"properties": {"a": {}, "b": {}}})
    }

    #[test]
    fn words_around_the_answer_do_not_matter() {
        let table = [
            ("{\"a\": 1}", json!({"a": 1})),
            ("words\n{\"a\": 1}\n\n", json!({"a": 1})),
            ("{\"a\": 1}\n{\"a\": {\"b\": [{}]}}", json!({"a": {"b": [{}]}})),
            ("Done:\n```json\n{\"a\": \"x\"}\n```\nThat is all.", json!({"a": "x"})),
            ("~~~~\n{}\n~~~~", json!({})),
            ("{\"other\": 1} words {}", json!({})),
            (r#"{ not this } {"a": "}{\"", "b\\": "\\"}"#, json!({"a": "}{\"", "b\\": "\\"})),
            ("it's {\"a\":1}", json!({"a": 1})),
            ("an open \" quote and { bracket {\"a\": \"{\"}", json!({"a": "{"})),
            (
                r#"{"a": 1} I wrote `format!("{x}")`, `fn f() {}`, { "c" }, {"c": 2}, {"c": d} and {"c": "#,
                json!({"a": 1}),
            ),
            ("{\"c\": d} {\"a\": 1}", json!({"a": 1})),
            ("\u{feff}\u{1b}[1m{\u{1b}[0m\u{1b}[34m\"a\"\u{1b}[0m:\0 1}\u{1b}[0m\u{7}", json!({"a": 1})),
            (r#"{"a": "\ud800"}"#, json!({"a": "\u{fffd}"})),
            ("{\"a\": \"one\ntwo\"}", json!({"a": "one\ntwo"})),
        ];
        for (output, expected) in table {
            assert_eq!(last_object(output, &schema()), Ok(expected), "{output}");
        }
    }

    #[test]
    fn silence_words_and_lists_are_no_answer() {
        for output in
            ["", "  \n", "done!", "[1, 2]", "```\n```", "{{{{{", "null", "}", "{a: 1}", "{'a': 1}", "{ \"a\" }"]
        {
            assert_eq!(last_object(output, &schema()), Err(NoAnswer::Missing), "{output}");
        }
    }

    /// Otherwise an example that the agent quotes, or a part of its answer, would be taken for the answer.
    #[test]
    fn a_broken_answer_is_never_passed_over() {
        for output in [
            "{\"a\": }",
            "{\"a\": 1]}",
            "{\"a\": 1} {\"a\": }",
            "{\"a\": 1} {\"a\": \"the output ends he",
            "{\"a\": 1} {\"c\": 1, \"a\": }",
            "{\"a\": 1} {\"a\": [{\"b\": 1}], \"c\": tru",
            "{\"a\": {\"b\": 1}, }",
        ] {
            let answer = last_object(output, &schema());
            assert!(matches!(answer, Err(NoAnswer::NotJson(_) | NoAnswer::CutOff)), "{output}: {answer:?}");
        }
    }

    #[test]
    fn hostile_outputs_are_read_in_one_pass() {
        for piece in ["{", "}", "{\"", "\\", "\"", "\\\"", "[{", "{\"a\":", "{\"a\":[", "{ ", "\u{1b}[1m{\"a\":1}"] {
            let output = format!("{}}}", piece.repeat(300_000));
            let answer = last_object(&output, &schema());
            let read = [Ok(json!({})), Ok(json!({"a": 1}))];
            assert!(answer.is_err() || read.contains(&answer), "{piece}: {answer:?}");
        }
    }

    #[test]
    fn the_reason_for_no_answer_is_the_true_one() {
        let problem = "it is not JSON: its last bracket is missing".to_owned();
        let cut_off = || last_object("{\"a\": [", &schema()).unwrap_err();
        let table = [
            (Role::Player, NoAnswer::Missing, Failure::ReportMissing),
            (Role::Coach, NoAnswer::Missing, Failure::DecisionMissing),
            (Role::Player, cut_off(), Failure::ReportInvalid { problem: problem.clone() }),
            (Role::Coach, cut_off(), Failure::DecisionInvalid { problem }),
        ];
        for (role, why, failure) in table {
            assert_eq!(no_answer(role, &why), failure);
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
        fn every_object_is_found_behind_any_words(words in "[^\\x00{\\x1b]{0,40}", value in any_json()) {
            let schema = json!({"properties": {"value": {}}});
            let object = json!({ "value": value });
            for printed in [object.to_string(), serde_json::to_string_pretty(&object).unwrap()] {
                prop_assert_eq!(last_object(&format!("{words}\n{printed}"), &schema), Ok(object.clone()));
            }
        }
    }
}
