//! What a Player says of its turn. A claim, never a fact.

use crate::{
    fields::{Fields, Reading},
    mistake::Mistakes,
    node::Node,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The Player's own account of its turn. Every field is a claim that code checks against the tree and the Gates.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlayerReport {
    /// How the work was approached.
    pub approach: String,
    /// What was done, in a paragraph.
    pub summary: String,
    /// Paths said to be modified.
    pub files_modified: Vec<String>,
    /// Paths said to be new.
    pub files_created: Vec<String>,
    /// Tests said to be written.
    pub tests_written: Vec<String>,
    /// Whether tests are said to have been run.
    pub tests_run: bool,
    /// Whether they are said to have passed.
    pub tests_passed: bool,
    /// What the tests are said to have printed.
    pub test_output_summary: String,
    /// Remarks for the next reader.
    pub implementation_notes: String,
    /// Doubts.
    pub concerns: Vec<String>,
    /// Criteria said to be met.
    pub requirements_addressed: Vec<String>,
    /// Criteria said to be open.
    pub requirements_remaining: Vec<String>,
    /// Whether the Player thinks a Coach should look.
    pub ready_for_validation: bool,
    /// Keys of the answer that no rule knows: they are ignored and shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<String>,
}

/// A claim that the tree or the Gates contradict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Discrepancy {
    /// What was claimed.
    pub claim: String,
    /// What is so.
    pub fact: String,
}

/// Reads a Player's answer.
pub fn parse_report(answer: &serde_json::Value) -> Result<PlayerReport, Mistakes> {
    let (node, reading) = (Node::from_json(answer), Reading::default());
    let report = reading.fields(&node, "a report", "").map(report);
    reading.value(report, |report, ignored| report.ignored = ignored)
}

fn report(mut fields: Fields<'_>) -> PlayerReport {
    let required_texts = |fields: &mut Fields<'_>, key| fields.required(key).map(|field| field.texts());
    let flag = |fields: &mut Fields<'_>, key| fields.optional(key).and_then(|field| field.flag());
    let report = PlayerReport {
        approach: fields.text("approach"),
        summary: fields
            .required("summary")
            .and_then(|field| field.text())
            .unwrap_or_default(),
        files_modified: required_texts(&mut fields, "files_modified").unwrap_or_default(),
        files_created: required_texts(&mut fields, "files_created").unwrap_or_default(),
        tests_written: fields.texts("tests_written"),
        tests_run: flag(&mut fields, "tests_run").unwrap_or_default(),
        tests_passed: flag(&mut fields, "tests_passed").unwrap_or_default(),
        test_output_summary: fields.text("test_output_summary"),
        implementation_notes: fields.text("implementation_notes"),
        concerns: fields.texts("concerns"),
        requirements_addressed: fields.texts("requirements_addressed"),
        requirements_remaining: fields.texts("requirements_remaining"),
        ready_for_validation: fields
            .required("ready_for_validation")
            .and_then(|field| field.flag())
            .unwrap_or_default(),
        ignored: Vec::new(),
    };
    fields.end();
    report
}

/// The JSON Schema of a Player's answer.
pub fn schema() -> serde_json::Value {
    let text = || json!({ "type": "string" });
    let texts = || json!({ "type": "array", "items": { "type": "string" } });
    let flag = || json!({ "type": "boolean" });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "PlayerReport",
        "type": "object",
        "required": ["summary", "files_modified", "files_created", "ready_for_validation"],
        "properties": {
            "approach": text(),
            "summary": text(),
            "files_modified": texts(),
            "files_created": texts(),
            "tests_written": texts(),
            "tests_run": flag(),
            "tests_passed": flag(),
            "test_output_summary": text(),
            "implementation_notes": text(),
            "concerns": texts(),
            "requirements_addressed": texts(),
            "requirements_remaining": texts(),
            "ready_for_validation": flag()
        }
    })
}

/// What a turn changed, read from the tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedPaths {
    /// Files with another content or mode.
    pub modified: Vec<String>,
    /// New files.
    pub created: Vec<String>,
    /// Files that are gone.
    pub deleted: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    #[test]
    fn the_least_report_is_enough_and_unknown_keys_are_shown() {
        let answer = json!({
            "summary": "did it", "files_modified": [], "files_created": ["a"], "ready_for_validation": true,
            "task": "TASK-001", "concerns": null
        });
        let expected = PlayerReport {
            summary: "did it".to_owned(),
            files_created: vec!["a".to_owned()],
            ready_for_validation: true,
            ignored: vec!["task".to_owned()],
            ..PlayerReport::default()
        };
        assert_eq!(parse_report(&answer), Ok(expected));
    }

    #[test]
    fn every_wrong_type_is_named_with_its_key() {
        let refused = parse_report(&json!({
            "summary": 1, "files_modified": "a", "files_created": [true], "tests_run": "yes", "approach": []
        }))
        .unwrap_err()
        .to_string();
        let expected = [
            "approach must be text, not a list",
            "summary must be text, not the number 1; put it in quotes",
            "files_modified must be a list, not the text `a`",
            "files_created[0] must be text, not the boolean true; put it in quotes",
            "tests_run must be true or false, not the text `yes`",
            "ready_for_validation is missing",
        ];
        assert_eq!(refused.lines().collect::<Vec<_>>(), expected);
        for answer in [json!([]), json!("x"), json!(null), json!(1.5)] {
            assert!(
                parse_report(&answer)
                    .unwrap_err()
                    .to_string()
                    .starts_with("a report must be a map with keys")
            );
        }
    }

    proptest! {
        #[test]
        fn what_was_stored_is_read_again(summary in "\\PC{0,20}", files in proptest::collection::vec("\\PC{0,9}", 0..4)) {
            let report = PlayerReport { summary, files_modified: files, tests_run: true, ..PlayerReport::default() };
            let stored: Value = serde_json::to_value(&report).unwrap();
            prop_assert_eq!(parse_report(&stored), Ok(report));
        }
    }
}
