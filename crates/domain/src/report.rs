//! The Player's report on its turn. It is a claim, never a fact.

pub use crate::problem::LeftOut;

use crate::{evidence::Finding, inquiry, inquiry::Inquiries, plan::schema::of_answer, question::AnswerClaim};
use serde::{Deserialize, Serialize};
use serde_json::json;
use text::{
    fields::{Field, Fields, Reading},
    mistake::Mistakes,
    node::Node,
    shorten,
};

/// Limits of the answers to questions: how many are kept, and how many characters of each text.
const MOST_CLAIMS: usize = 100;
const LONGEST_CLAIM: usize = 2_000;

/// The Player's own report on its turn. Every field is a claim; code checks some of them against the tree and the
/// Gates.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlayerReport {
    pub approach: String,
    /// A summary of the work, in a paragraph.
    pub summary: String,
    /// Paths claimed to be modified.
    pub files_modified: Vec<String>,
    /// Paths claimed to be new.
    pub files_created: Vec<String>,
    /// Tests claimed to be written.
    pub tests_written: Vec<String>,
    /// The claim to have run tests.
    pub tests_run: bool,
    /// The claim that they passed.
    pub tests_passed: bool,
    /// The claimed output of the tests.
    pub test_output_summary: String,
    /// Notes for the next reader.
    pub implementation_notes: String,
    pub concerns: Vec<String>,
    /// Criteria claimed to be met.
    pub requirements_addressed: Vec<String>,
    /// Criteria named as still open.
    pub requirements_remaining: Vec<String>,
    /// The claim that the work is ready for review.
    pub ready_for_validation: bool,
    /// The Player's answers to the questions of the last turn.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<AnswerClaim>,
    /// The Player's questions to a person.
    #[serde(skip_serializing_if = "Inquiries::is_empty")]
    pub inquiries: Inquiries,
    /// Unknown keys of the answer. They are ignored and shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<String>,
}

/// A claim that the tree or the Gates contradict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Discrepancy {
    /// `files_modified` names a file that the turn did not change.
    NotModified(String),
    /// `files_created` names a file that the turn did not create.
    NotCreated {
        path: String,
        /// The turn's other change to it, if any.
        instead: InsteadOfCreating,
    },
    /// `tests_written` names a test that the commit does not have.
    NoSuchTest(String),
    /// The report claims that tests ran or passed, and they did not.
    Tests {
        claim: TestClaim,
        /// The result of the test run.
        finding: Finding,
    },
    /// `requirements_addressed` names a criterion whose check failed.
    CheckFailed {
        /// The criterion's number, from 1.
        number: usize,
        text: String,
        /// The result of the check.
        finding: Finding,
    },
    /// `ready_for_validation` is true, and `requirements_remaining` names these.
    NotReady {
        first: String,
        /// The number of further ones.
        more: usize,
    },
    /// The work is called complete, and ignore rules left new files out of the commit.
    LeftOut(LeftOut),
}

/// The change of a turn to a file that it says it created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InsteadOfCreating {
    Deleted,
    /// It changed the file, which was there before.
    Changed,
    Nothing,
}

/// A claim about a test run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestClaim {
    /// `tests_passed` is true.
    Passed,
    /// `tests_run` is true.
    Ran,
}

/// Parses a Player's answer. An answer with questions to a person needs no report.
pub fn parse_report(answer: &serde_json::Value) -> Result<PlayerReport, Mistakes> {
    let (node, reading) = (Node::from_json(answer), Reading::default());
    let inquiries = Inquiries::of_answer(answer);
    let report = reading.fields(&node, "a report", "").map(|fields| report(fields, inquiries));
    reading.value(report, |report, ignored| report.ignored = ignored)
}

fn report<'a>(mut fields: Fields<'a>, inquiries: Inquiries) -> PlayerReport {
    let needed: fn(&mut Fields<'a>, &'static str) -> Option<Field<'a>> =
        if inquiries.is_empty() { Fields::required } else { Fields::optional };
    fields.optional("inquiries");
    let text = |field: Option<Field<'_>>| field.and_then(|field| field.text()).unwrap_or_default();
    let texts = |field: Option<Field<'_>>| field.map(|field| field.texts()).unwrap_or_default();
    let flag = |field: Option<Field<'_>>| field.and_then(|field| field.flag()).unwrap_or_default();
    let report = PlayerReport {
        approach: fields.text("approach"),
        summary: text(needed(&mut fields, "summary")),
        files_modified: texts(needed(&mut fields, "files_modified")),
        files_created: texts(needed(&mut fields, "files_created")),
        tests_written: fields.texts("tests_written"),
        tests_run: flag(fields.optional("tests_run")),
        tests_passed: flag(fields.optional("tests_passed")),
        test_output_summary: fields.text("test_output_summary"),
        implementation_notes: fields.text("implementation_notes"),
        concerns: fields.texts("concerns"),
        requirements_addressed: fields.texts("requirements_addressed"),
        requirements_remaining: fields.texts("requirements_remaining"),
        ready_for_validation: flag(needed(&mut fields, "ready_for_validation")),
        answers: claims(fields.optional("answers")),
        inquiries,
        ignored: Vec::new(),
    };
    fields.end();
    report
}

/// Reads answers to questions. An answer without a number is left out: a claim decides nothing.
fn claims(field: Option<Field<'_>>) -> Vec<AnswerClaim> {
    let items = field.map(|field| field.list()).unwrap_or_default();
    let claims = items.iter().filter_map(|item| {
        let mut fields = item.map()?;
        let question = fields.optional("question");
        let (because, quote) = (fields.text("because"), fields.text("quote"));
        fields.end();
        Some(AnswerClaim {
            question: question?.node.ordinal()?,
            because: shorten::middle(&because, LONGEST_CLAIM),
            quote: shorten::middle(&quote, LONGEST_CLAIM),
        })
    });
    claims.take(MOST_CLAIMS).collect()
}

/// Returns the JSON Schema of a Player's answer.
pub fn schema() -> serde_json::Value {
    let text = || json!({ "type": "string" });
    let texts = || json!({ "type": "array", "items": { "type": "string" } });
    let flag = || json!({ "type": "boolean" });
    let properties = json!({
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
        "ready_for_validation": flag(),
        "answers": { "type": "array", "items": {
            "type": "object",
            "required": ["question", "because"],
            "properties": {
                "question": { "type": "integer", "minimum": 1, "description": "The number of a question of the last turn." },
                "because": { "type": "string" },
                "quote": { "type": "string", "description": "Words of the issue, the task or a person; or path:line." }
            }
        } },
        "inquiries": inquiry::schema()
    });
    let required = ["summary", "files_modified", "files_created", "ready_for_validation"];
    of_answer("PlayerReport", &required, properties)
}

/// The paths that a turn changed, read from the tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedPaths {
    /// Files whose content or mode changed.
    pub modified: Vec<String>,
    /// New files.
    pub created: Vec<String>,
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
            assert!(parse_report(&answer).unwrap_err().to_string().starts_with("a report must be a map with keys"));
        }
    }

    #[test]
    fn answers_to_questions_are_claims_by_number() {
        let answers = json!([
            { "question": 2, "because": "the issue wants it", "quote": "no longer count" },
            { "question": "#1", "because": "it is new" },
            { "because": "no number" },
            { "question": -1, "because": "no question" },
        ]);
        let report = json!({
            "summary": "s", "files_modified": [], "files_created": [], "ready_for_validation": true, "answers": answers
        });
        let read = parse_report(&report).unwrap().answers;
        let read: Vec<(usize, &str)> = read.iter().map(|claim| (claim.question, claim.quote.as_str())).collect();
        assert_eq!(read, [(2, "no longer count"), (1, "")]);
    }

    #[test]
    fn a_player_that_asks_needs_no_report() {
        let answer = json!({ "inquiries": [{ "question": "Tabs?", "default": "spaces" }], "summary": "read" });
        let report = parse_report(&answer).unwrap();
        assert_eq!((report.inquiries.questions.len(), report.summary.as_str()), (1, "read"));
        assert!(parse_report(&json!({ "inquiries": [{ "question": " " }] })).is_err());
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
