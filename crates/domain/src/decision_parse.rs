//! Reads a Coach's answer. Shape only: whether an approval holds is the contracts' part.

use crate::{
    decision::{CoachDecision, CoachTests, CriterionFinding, CriterionMet, DecisionKind, Issue, Probing, Severity},
    decision_limits::bounded,
    fields::{Field, Fields, ignored},
    mistake::Mistakes,
    node::{Node, Shape},
    plan::Criterion,
};
use serde_json::json;

/// Commands that one probe may ask for.
const MOST_COMMANDS: usize = 3;

/// The longest of them.
const LONGEST_COMMAND: usize = 1_000;

/// Reads a Coach's answer on a task with these criteria.
pub fn parse_decision(answer: &serde_json::Value, criteria: &[Criterion]) -> Result<CoachDecision, Mistakes> {
    let node = Node::from_json(answer);
    let mut wrong = Mistakes::default();
    let mut unknown = Vec::new();
    let Some(mut fields) = Fields::of(&node, "a decision", "", &mut wrong) else {
        return Err(wrong);
    };
    let kind = fields
        .required("decision", &mut wrong)
        .and_then(|field| field.word(&KINDS, &mut wrong));
    let summary = fields
        .required("summary", &mut wrong)
        .and_then(|field| field.text(&mut wrong))
        .unwrap_or_default();
    let found = match kind {
        Some(DecisionKind::Approve) => fields.required("criteria", &mut wrong),
        Some(DecisionKind::Feedback | DecisionKind::Probe) | None => fields.optional("criteria"),
    };
    let mut decision = CoachDecision {
        decision: kind.unwrap_or(DecisionKind::Feedback),
        summary,
        criteria: findings(found, criteria, &mut unknown, &mut wrong),
        tests: fields
            .optional("tests")
            .and_then(|field| tests(&field, &mut unknown, &mut wrong)),
        issues: issues(fields.optional("issues"), &mut unknown, &mut wrong),
        feedback: text(&mut fields, "feedback", &mut wrong),
        commands: fields
            .optional("commands")
            .map(|field| field.texts(&mut wrong))
            .unwrap_or_default(),
        ignored: Vec::new(),
    };
    if wrong.0.is_empty() {
        demanded_by_kind(&decision, &mut wrong);
    }
    keep_unknown(&fields, &mut unknown);
    decision.ignored = ignored(unknown);
    wrong.or_else_value(bounded(decision))
}

const KINDS: [(&str, DecisionKind); 3] = [
    ("approve", DecisionKind::Approve),
    ("feedback", DecisionKind::Feedback),
    ("probe", DecisionKind::Probe),
];

const SEVERITIES: [(&str, Severity); 3] = [
    ("must_fix", Severity::MustFix),
    ("should_fix", Severity::ShouldFix),
    ("nice_to_have", Severity::NiceToHave),
];

fn demanded_by_kind(decision: &CoachDecision, wrong: &mut Mistakes) {
    match decision.decision {
        DecisionKind::Approve => {}
        DecisionKind::Feedback => {
            if decision.issues.is_empty() && decision.feedback.trim().is_empty() {
                wrong.add(
                    "feedback needs at least one entry in issues, or words in feedback",
                    None,
                );
            }
        }
        DecisionKind::Probe => {
            let fits = |command: &String| {
                let line = command.trim();
                !line.is_empty() && line.chars().count() <= LONGEST_COMMAND && !line.contains(char::is_control)
            };
            if !decision.commands.iter().all(fits) || !(1..=MOST_COMMANDS).contains(&decision.commands.len()) {
                wrong.add(
                    format!(
                        "probe needs commands: a list of 1 to {MOST_COMMANDS} texts, each one line of at most \
                         {LONGEST_COMMAND} characters that is not blank"
                    ),
                    None,
                );
            }
        }
    }
}

fn keep_unknown(fields: &Fields<'_>, unknown: &mut Vec<String>) {
    unknown.extend(fields.unknown().into_iter().map(|(key, _)| key));
}

fn text(fields: &mut Fields<'_>, key: &'static str, wrong: &mut Mistakes) -> String {
    fields
        .optional(key)
        .and_then(|field| field.text(wrong))
        .unwrap_or_default()
}

fn findings(
    field: Option<Field<'_>>,
    criteria: &[Criterion],
    unknown: &mut Vec<String>,
    wrong: &mut Mistakes,
) -> Vec<CriterionFinding> {
    let items = field.map(|field| field.list(wrong)).unwrap_or_default();
    items
        .iter()
        .filter_map(|item| finding(item, criteria, unknown, wrong))
        .collect()
}

fn finding(
    item: &Field<'_>,
    criteria: &[Criterion],
    unknown: &mut Vec<String>,
    wrong: &mut Mistakes,
) -> Option<CriterionFinding> {
    let mut fields = item.map(wrong)?;
    let criterion = fields
        .required("criterion", wrong)
        .and_then(|field| number(&field, criteria, wrong));
    let met = fields.required("met", wrong).and_then(|field| field.flag(wrong));
    let evidence = text(&mut fields, "evidence", wrong);
    keep_unknown(&fields, unknown);
    let met = if met? { CriterionMet::Met } else { CriterionMet::NotMet };
    Some(CriterionFinding {
        criterion: criterion?,
        met,
        evidence,
    })
}

/// A criterion's number, from itself or from the criterion's exact text.
fn number(field: &Field<'_>, criteria: &[Criterion], wrong: &mut Mistakes) -> Option<usize> {
    let number = match &field.node.value {
        Shape::Whole(number) => usize::try_from(*number)
            .ok()
            .filter(|number| (1..=criteria.len()).contains(number)),
        Shape::Text(text) => criteria
            .iter()
            .position(|criterion| criterion.text == *text)
            .map(|index| index + 1),
        Shape::Null | Shape::Flag(_) | Shape::Number(_) | Shape::List(_) | Shape::Map(_) => None,
    };
    if number.is_none() {
        field.wrong(
            &format!("a criterion's number from 1 to {} or its exact text", criteria.len()),
            wrong,
        );
    }
    number
}

fn tests(field: &Field<'_>, unknown: &mut Vec<String>, wrong: &mut Mistakes) -> Option<CoachTests> {
    let mut fields = field.map(wrong)?;
    let tests = CoachTests {
        command: text(&mut fields, "command", wrong),
        passed: count(&mut fields, "passed", wrong),
        failed: count(&mut fields, "failed", wrong),
        coverage: fields.optional("coverage").and_then(|field| field.number(wrong)),
        failures: fields
            .optional("failures")
            .map(|field| field.texts(wrong))
            .unwrap_or_default(),
    };
    keep_unknown(&fields, unknown);
    Some(tests)
}

fn count(fields: &mut Fields<'_>, key: &'static str, wrong: &mut Mistakes) -> u64 {
    let Some(field) = fields.optional(key) else { return 0 };
    let Some(number) = field.whole(wrong) else { return 0 };
    u64::try_from(number).unwrap_or_else(|_| {
        field.wrong("a whole number from 0", wrong);
        0
    })
}

fn issues(field: Option<Field<'_>>, unknown: &mut Vec<String>, wrong: &mut Mistakes) -> Vec<Issue> {
    let items = field.map(|field| field.list(wrong)).unwrap_or_default();
    items.iter().filter_map(|item| issue(item, unknown, wrong)).collect()
}

fn issue(item: &Field<'_>, unknown: &mut Vec<String>, wrong: &mut Mistakes) -> Option<Issue> {
    let mut fields = item.map(wrong)?;
    let severity = fields
        .required("severity", wrong)
        .and_then(|field| field.word(&SEVERITIES, wrong));
    let description = fields
        .required("description", wrong)
        .and_then(|field| field.text(wrong));
    let category = text(&mut fields, "category", wrong);
    let file = fields.optional("file").and_then(|field| field.text(wrong));
    let line = fields.optional("line").and_then(|field| field.whole(wrong));
    let suggestion = fields.optional("suggestion").and_then(|field| field.text(wrong));
    keep_unknown(&fields, unknown);
    Some(Issue {
        severity: severity?,
        category,
        description: description?,
        file,
        line: line.and_then(|line| u32::try_from(line).ok()).filter(|line| *line > 0),
        suggestion,
        rule: None,
        what: None,
    })
}

/// The JSON Schema of a Coach's answer.
pub fn schema(probing: Probing) -> serde_json::Value {
    let demanded = |kind: &str, key: &str| {
        json!({
            "if": { "properties": { "decision": { "const": kind } } }, "then": { "required": [key] }
        })
    };
    let (kinds, rules) = match probing {
        Probing::Allowed => (
            json!(["approve", "feedback", "probe"]),
            vec![demanded("approve", "criteria"), demanded("probe", "commands")],
        ),
        Probing::Over => (json!(["approve", "feedback"]), vec![demanded("approve", "criteria")]),
    };
    let mut properties = properties(&kinds);
    if let (Probing::Allowed, Some(known)) = (probing, properties.as_object_mut()) {
        let commands = json!({ "type": "array", "items": { "type": "string" }, "maxItems": MOST_COMMANDS });
        known.insert("commands".to_owned(), commands);
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "CoachDecision",
        "type": "object",
        "required": ["decision", "summary"],
        "properties": properties,
        "allOf": rules
    })
}

fn properties(kinds: &serde_json::Value) -> serde_json::Value {
    let text = || json!({ "type": "string" });
    let texts = || json!({ "type": "array", "items": { "type": "string" } });
    json!({
        "decision": { "enum": kinds },
        "summary": text(),
        "criteria": { "type": "array", "items": {
            "type": "object",
            "required": ["criterion", "met"],
            "properties": {
                "criterion": {
                    "type": ["integer", "string"],
                    "minimum": 1,
                    "description": "The criterion's number from 1, or its exact text."
                },
                "met": { "type": "boolean" },
                "evidence": { "type": "string", "description": "A file, test or command that shows it." }
            }
        } },
        "tests": { "type": ["object", "null"], "properties": {
            "command": text(),
            "passed": { "type": "integer", "minimum": 0 },
            "failed": { "type": "integer", "minimum": 0 },
            "coverage": { "type": ["number", "null"] },
            "failures": texts()
        } },
        "issues": { "type": "array", "items": issue_schema() },
        "feedback": text()
    })
}

fn issue_schema() -> serde_json::Value {
    let or_null = |kind: &str| json!({ "type": [kind, "null"] });
    json!({
        "type": "object",
        "required": ["severity", "description"],
        "properties": {
            "severity": { "enum": ["must_fix", "should_fix", "nice_to_have"] },
            "category": { "type": "string", "description": "correctness, requirement, test, design, security or another." },
            "description": { "type": "string" },
            "file": or_null("string"),
            "line": or_null("integer"),
            "suggestion": or_null("string")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Check;
    use proptest::prelude::*;
    use serde_json::Value;

    fn criteria() -> Vec<Criterion> {
        ["it parses", "it prints"]
            .map(|text| Criterion {
                text: text.to_owned(),
                check: Check::Human,
            })
            .to_vec()
    }

    fn refused(answer: &Value) -> Vec<String> {
        let refused = parse_decision(answer, &criteria()).unwrap_err().to_string();
        refused.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_full_decision_is_read() {
        let answer = json!({
            "decision": "feedback", "summary": "nearly", "extra": 1,
            "criteria": [
                { "criterion": 2, "met": false, "evidence": "src/a.rs" },
                { "criterion": "it parses", "met": true, "why": "?" },
            ],
            "tests": { "command": "t", "passed": 3, "failed": 1, "coverage": 80, "failures": ["x"] },
            "issues": [
                { "severity": "must_fix", "category": "test", "description": "d", "file": "./a", "line": null, "suggestion": "s" },
                { "severity": "nice_to_have", "description": "e", "line": 7 },
                { "severity": "should_fix", "description": "f", "line": -3, "file": null },
            ],
            "feedback": "go on",
        });
        let decision = parse_decision(&answer, &criteria()).unwrap();
        let mut seen = decision.ignored.clone();
        seen.sort_unstable();
        assert_eq!(seen, ["criteria[1].why", "extra"]);
        let findings: Vec<(usize, CriterionMet)> = decision.criteria.iter().map(|f| (f.criterion, f.met)).collect();
        assert_eq!(findings, [(2, CriterionMet::NotMet), (1, CriterionMet::Met)]);
        assert_eq!(decision.tests.unwrap().coverage, Some(80.0));
        let issue = |severity, category: &str, description: &str| Issue {
            severity,
            category: category.to_owned(),
            ..Issue::must_fix("", description)
        };
        let first = Issue {
            file: Some("./a".to_owned()),
            suggestion: Some("s".to_owned()),
            ..issue(Severity::MustFix, "test", "d")
        };
        let second = Issue {
            line: Some(7),
            ..issue(Severity::NiceToHave, "", "e")
        };
        assert_eq!(decision.issues, [first, second, issue(Severity::ShouldFix, "", "f")]);
    }

    #[test]
    fn each_kind_demands_its_own_keys() {
        let table = [
            (json!({ "decision": "approve", "summary": "s" }), "criteria is missing"),
            (
                json!({ "decision": "feedback", "summary": "s" }),
                "feedback needs at least one entry",
            ),
            (
                json!({ "decision": "feedback", "summary": "s", "feedback": " ", "issues": [] }),
                "feedback needs",
            ),
            (json!({ "decision": "probe", "summary": "s" }), "probe needs commands"),
            (
                json!({ "decision": "probe", "summary": "s", "commands": [] }),
                "probe needs commands",
            ),
            (
                json!({ "decision": "probe", "summary": "s", "commands": ["a", "b", "c", "d"] }),
                "probe needs commands",
            ),
            (
                json!({ "decision": "probe", "summary": "s", "commands": [" "] }),
                "probe needs commands",
            ),
            (json!({ "summary": "s", "feedback": "f" }), "decision is missing"),
            (json!({ "decision": "feedback", "feedback": "f" }), "summary is missing"),
        ];
        for (answer, expected) in table {
            assert!(
                refused(&answer)[0].starts_with(expected),
                "{answer}: {:?}",
                refused(&answer)
            );
        }
        let fine = [
            json!({ "decision": "approve", "summary": "s", "criteria": [] }),
            json!({ "decision": "feedback", "summary": "", "feedback": "f" }),
            json!({ "decision": "feedback", "summary": "", "issues": [{ "severity": "must_fix", "description": "d" }] }),
            json!({ "decision": "probe", "summary": "s", "commands": ["ls"] }),
        ];
        for answer in fine {
            assert!(parse_decision(&answer, &criteria()).is_ok(), "{answer}");
        }
    }

    #[test]
    fn every_wrong_type_is_named_with_its_key() {
        let answer = json!({
            "decision": "approved", "summary": [], "feedback": 1, "commands": "ls",
            "criteria": [{ "criterion": 3, "met": "yes", "evidence": 1 }, { "criterion": "It parses", "met": true }, 7],
            "tests": { "passed": -1, "failed": 1.5, "coverage": "high" },
            "issues": [{ "severity": "blocker", "description": null, "line": "12" }],
        });
        let expected = [
            "decision must be approve, feedback or probe, not the text `approved`",
            "summary must be text, not a list",
            "criteria[0].criterion must be a criterion's number from 1 to 2 or its exact text, not the number 3",
            "criteria[0].met must be true or false, not the text `yes`",
            "criteria[0].evidence must be text, not the number 1; put it in quotes",
            "criteria[1].criterion must be a criterion's number from 1 to 2 or its exact text, not the text `It parses`",
            "criteria[2] must be a map with keys, not the number 7",
            "tests.passed must be a whole number from 0, not the number -1",
            "tests.failed must be a whole number, not the number 1.5",
            "tests.coverage must be a number, not the text `high`",
            "issues[0].severity must be must_fix, should_fix or nice_to_have, not the text `blocker`",
            "issues[0].description is missing",
            "issues[0].line must be a whole number, not the text `12`",
            "feedback must be text, not the number 1; put it in quotes",
            "commands must be a list, not the text `ls`",
        ];
        assert_eq!(refused(&answer), expected);
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            "\\PC{0,6}".prop_map(Value::from),
        ];
        let key = prop_oneof![
            Just("decision"),
            Just("summary"),
            Just("criteria"),
            Just("criterion"),
            Just("issues"),
            Just("tests"),
            Just("line")
        ];
        leaf.prop_recursive(3, 24, 4, move |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::btree_map(key.clone().prop_map(str::to_owned), inner, 0..4)
                    .prop_map(|map| Value::from(serde_json::Map::from_iter(map))),
            ]
        })
    }

    proptest! {
        #[test]
        fn no_answer_makes_the_readers_fail(answer in any_json()) {
            let _ = parse_decision(&answer, &criteria());
            let _ = crate::report::parse_report(&answer);
        }
    }
}
