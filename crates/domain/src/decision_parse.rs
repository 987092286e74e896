//! Parses a Coach's answer and checks its shape; the contracts decide if an approval counts. If the answer is too long,
//! the entries that speak against the work stay: criteria that are not met and `must_fix` issues.

use crate::{
    decision::{CoachDecision, CoachTests, CriterionFinding, CriterionMet, DecisionKind, Probing},
    plan::{Criterion, schema::of_answer},
    problem::{Problem, ReviewItem, Severity},
    question::{AnswerVerdict, QuestionAnswer},
};
use serde_json::json;
use std::collections::BTreeSet;
use text::{
    fields::{Field, Fields, Reading},
    mistake::Mistakes,
    node::Node,
    shorten,
};

/// The most commands of one probe.
const MOST_COMMANDS: usize = 3;

/// The most characters of one such command.
const LONGEST_COMMAND: usize = 1_000;

/// The criteria and questions that an answer may be about.
#[derive(Clone, Copy)]
pub struct NumberedItems<'a> {
    pub criteria: &'a [Criterion],
    pub questions: usize,
}

/// Parses a Coach's answer about a task with these criteria and questions.
pub fn parse_decision(answer: &serde_json::Value, numbered: NumberedItems<'_>) -> Result<CoachDecision, Mistakes> {
    let (node, reading) = (Node::from_json(answer), Reading::default());
    let fields = reading.fields(&node, "a decision", "");
    let decision = fields.map(|fields| decision(fields, numbered));
    if let Some(decision) = decision.as_ref().filter(|_| reading.noted() == 0) {
        check_required_by_kind(decision, &reading);
    }
    let decision = reading.value(decision, |decision, ignored| decision.ignored = ignored)?;
    Ok(bounded(decision))
}

fn decision(mut fields: Fields<'_>, numbered: NumberedItems<'_>) -> CoachDecision {
    let kind = fields.required("decision").and_then(|field| field.word(&DecisionKind::ALL));
    let summary = fields.required("summary").and_then(|field| field.text());
    let found = match kind {
        Some(DecisionKind::Approve) => fields.required("criteria"),
        Some(DecisionKind::Feedback | DecisionKind::Probe) | None => fields.optional("criteria"),
    };
    let decision = CoachDecision {
        decision: kind.unwrap_or(DecisionKind::Feedback),
        summary: summary.unwrap_or_default(),
        criteria: read_each(found, |item| finding(item, numbered.criteria)),
        answers: answers(&mut fields, numbered.questions),
        tests: fields.optional("tests").and_then(|field| tests(&field)),
        issues: read_each(fields.optional("issues"), issue),
        feedback: fields.text("feedback"),
        commands: fields.texts("commands"),
        ignored: Vec::new(),
    };
    fields.end();
    decision
}

fn check_required_by_kind(decision: &CoachDecision, reading: &Reading) {
    match decision.decision {
        DecisionKind::Approve => {}
        DecisionKind::Feedback => {
            if decision.issues.is_empty() && decision.feedback.trim().is_empty() {
                let sentence = "feedback needs at least one entry in issues, or words in feedback";
                reading.note(sentence, None);
            }
        }
        DecisionKind::Probe => {
            let fits = |command: &String| {
                let line = command.trim();
                !line.is_empty() && line.chars().count() <= LONGEST_COMMAND && !line.contains(char::is_control)
            };
            if !decision.commands.iter().all(fits) || !(1..=MOST_COMMANDS).contains(&decision.commands.len()) {
                let sentence = format!(
                    "probe needs commands: a list of 1 to {MOST_COMMANDS} texts, each one line of at most \
                     {LONGEST_COMMAND} characters that is not blank"
                );
                reading.note(sentence, None);
            }
        }
    }
}

/// The evidence and the answers that an approval lacked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Supplement {
    /// Findings about criteria.
    pub criteria: Vec<CriterionFinding>,
    pub answers: Vec<QuestionAnswer>,
    /// Unknown keys. They are ignored and shown.
    pub ignored: Vec<String>,
}

/// Parses a Coach's answer to the request for evidence and answers alone.
pub fn parse_supplement(answer: &serde_json::Value, numbered: NumberedItems<'_>) -> Result<Supplement, Mistakes> {
    let (node, reading) = (Node::from_json(answer), Reading::default());
    let fields = reading.fields(&node, "the supplement", "");
    let supplement = fields.map(|mut fields| {
        let criteria = fields.optional("criteria");
        let has_answers = numbered.questions > 0 && fields.optional("answers").is_some();
        if criteria.is_none() && !has_answers {
            reading.note("criteria and answers are missing", None);
        }
        let supplement = Supplement {
            criteria: read_each(criteria, |item| finding(item, numbered.criteria)),
            answers: answers(&mut fields, numbered.questions),
            ignored: Vec::new(),
        };
        fields.end();
        supplement
    });
    let mut supplement = reading.value(supplement, |supplement, ignored| supplement.ignored = ignored)?;
    supplement.criteria.truncate(MOST_FINDINGS);
    for finding in &mut supplement.criteria {
        shorten_to(&mut finding.evidence, LONGEST_TEXT);
    }
    Ok(supplement)
}

/// Reads the answers to questions. If nothing was asked, the key counts as unknown.
fn answers(fields: &mut Fields<'_>, questions: usize) -> Vec<QuestionAnswer> {
    if questions == 0 {
        return Vec::new();
    }
    let mut answers = read_each(fields.optional("answers"), |item| question_answer(item, questions));
    // An answer "not fine" outweighs all others to the same question, so it comes first.
    answers.sort_by_key(|answer| answer.verdict == AnswerVerdict::Fine);
    answers.truncate(MOST_FINDINGS);
    answers.sort_by_key(|answer| answer.question);
    answers
}

fn question_answer(item: &Field<'_>, questions: usize) -> Option<QuestionAnswer> {
    let mut fields = item.map()?;
    let question = fields.required("question").and_then(|field| question_number(&field, questions));
    let verdict = fields.required("verdict").and_then(|field| field.word(&AnswerVerdict::ALL));
    let (mut because, mut quote) = (fields.text("because"), fields.text("quote"));
    fields.end();
    shorten_to(&mut because, LONGEST_TEXT);
    shorten_to(&mut quote, LONGEST_TEXT);
    Some(QuestionAnswer { question: question?, verdict: verdict?, because, quote })
}

/// Returns a question's number, which may be given as text.
fn question_number(field: &Field<'_>, questions: usize) -> Option<usize> {
    let number = field.node.ordinal();
    let number = number.filter(|number| (1..=questions).contains(number));
    if number.is_none() {
        field.wrong(&format!("a question's number from 1 to {questions}"));
    }
    number
}

/// Applies `read` to each item of a list, and drops the items without a result.
fn read_each<T>(field: Option<Field<'_>>, read: impl Fn(&Field<'_>) -> Option<T>) -> Vec<T> {
    let items = field.map(|field| field.list()).unwrap_or_default();
    items.iter().filter_map(read).collect()
}

fn finding(item: &Field<'_>, criteria: &[Criterion]) -> Option<CriterionFinding> {
    let mut fields = item.map()?;
    let criterion = fields.required("criterion").and_then(|field| number(&field, criteria));
    let met = fields.required("met").and_then(|field| field.flag());
    let evidence = fields.text("evidence");
    fields.end();
    let met = if met? { CriterionMet::Met } else { CriterionMet::NotMet };
    Some(CriterionFinding { criterion: criterion?, met, evidence })
}

/// Returns the number of a criterion that is named by its number or by its exact text.
fn number(field: &Field<'_>, criteria: &[Criterion]) -> Option<usize> {
    let by_text = |text| criteria.iter().position(|criterion| criterion.text == text);
    let by_number = |number: i64| usize::try_from(number).ok();
    let number = match (field.node.whole(), field.node.text()) {
        (Some(number), _) => by_number(number).filter(|number| (1..=criteria.len()).contains(number)),
        (None, Some(text)) => by_text(text).map(|index| index + 1),
        (None, None) => None,
    };
    if number.is_none() {
        let most = criteria.len();
        field.wrong(&format!("a criterion's number from 1 to {most} or its exact text"));
    }
    number
}

fn tests(field: &Field<'_>) -> Option<CoachTests> {
    let mut fields = field.map()?;
    let tests = CoachTests {
        command: fields.text("command"),
        passed: count(&mut fields, "passed"),
        failed: count(&mut fields, "failed"),
        coverage: fields.optional("coverage").and_then(|field| field.number()),
        failures: fields.texts("failures"),
    };
    fields.end();
    Some(tests)
}

fn count(fields: &mut Fields<'_>, key: &'static str) -> u64 {
    let Some(field) = fields.optional(key) else { return 0 };
    let Some(number) = field.whole() else { return 0 };
    u64::try_from(number).unwrap_or_else(|_| {
        field.wrong("a whole number from 0");
        0
    })
}

fn issue(item: &Field<'_>) -> Option<ReviewItem> {
    let mut fields = item.map()?;
    let severity = fields.required("severity").and_then(|field| field.word(&Severity::ALL));
    let description = fields.required("description").and_then(|field| field.text());
    let category = fields.text("category");
    let file = fields.optional("file").and_then(|field| field.text());
    let line = fields.optional("line").and_then(|field| field.whole());
    let suggestion = fields.optional("suggestion").and_then(|field| field.text());
    fields.end();
    let text = description?;
    Some(ReviewItem {
        severity: severity?,
        problem: Problem::Remark { category, text },
        file,
        line: line.and_then(|line| u32::try_from(line).ok()).filter(|line| *line > 0),
        suggestion,
    })
}

/// Returns the JSON Schema of a Coach's answer to the request for evidence and answers alone.
pub fn supplement_schema() -> serde_json::Value {
    of_answer("CoachSupplement", &[], json!({ "criteria": findings(), "answers": answers_schema() }))
}

/// Returns the JSON Schema of a Coach's answer.
pub fn schema(probing: Probing) -> serde_json::Value {
    let required = |kind: &str, key: &str| {
        let is_kind = json!({ "properties": { "decision": { "const": kind } } });
        json!({ "if": is_kind, "then": { "required": [key] } })
    };
    let (kinds, rules) = match probing {
        Probing::Allowed => {
            (json!(DecisionKind::ALL), vec![required("approve", "criteria"), required("probe", "commands")])
        }
        Probing::Over => (json!(["approve", "feedback"]), vec![required("approve", "criteria")]),
    };
    let mut properties = properties(&kinds);
    if let (Probing::Allowed, Some(known)) = (probing, properties.as_object_mut()) {
        let commands = json!({ "type": "array", "items": { "type": "string" }, "maxItems": MOST_COMMANDS });
        known.insert("commands".to_owned(), commands);
    }
    let mut schema = of_answer("CoachDecision", &["decision", "summary"], properties);
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("allOf".to_owned(), rules.into());
    }
    schema
}

fn properties(kinds: &serde_json::Value) -> serde_json::Value {
    let text = || json!({ "type": "string" });
    let texts = || json!({ "type": "array", "items": { "type": "string" } });
    json!({
        "decision": { "enum": kinds },
        "summary": text(),
        "criteria": findings(),
        "answers": answers_schema(),
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

fn findings() -> serde_json::Value {
    json!({ "type": "array", "items": {
        "type": "object",
        "required": ["criterion", "met"],
        "properties": {
            "criterion": {
                "anyOf": [{ "type": "integer", "minimum": 1 }, { "type": "string" }],
                "description": "The criterion's number from 1, or its exact text."
            },
            "met": { "type": "boolean" },
            "evidence": { "type": "string", "description": "A file, test or command that shows it." }
        }
    } })
}

fn answers_schema() -> serde_json::Value {
    let quote = "The words of the issue, the task or a person that want it, word for word; or a place of the diff as path:line.";
    json!({ "type": "array", "items": {
        "type": "object",
        "required": ["question", "verdict", "because"],
        "properties": {
            "question": { "type": "integer", "minimum": 1, "description": "The question's number." },
            "verdict": { "enum": AnswerVerdict::ALL },
            "because": { "type": "string", "description": "A sentence." },
            "quote": { "type": "string", "description": quote }
        }
    } })
}

fn issue_schema() -> serde_json::Value {
    let or_null = |kind: &str| json!({ "type": [kind, "null"] });
    json!({
        "type": "object",
        "required": ["severity", "description"],
        "properties": {
            "severity": { "enum": Severity::ALL },
            "category": { "type": "string", "description": "correctness, requirement, test, design, security or another." },
            "description": { "type": "string" },
            "file": or_null("string"),
            "line": or_null("integer"),
            "suggestion": or_null("string")
        }
    })
}

/// The most entries of lists.
const MOST_ISSUES: usize = 100;
const MOST_FINDINGS: usize = 500;
const MOST_FAILURES: usize = 50;
/// The most characters of texts.
const LONGEST_SUMMARY: usize = 20_000;
const LONGEST_TEXT: usize = 4_000;
const LONGEST_NAME: usize = 500;

/// Removes repeated issues, and shortens every list and text to its limit.
pub(super) fn bounded(mut decision: CoachDecision) -> CoachDecision {
    shorten_to(&mut decision.summary, LONGEST_SUMMARY);
    shorten_to(&mut decision.feedback, LONGEST_SUMMARY);
    for finding in &mut decision.criteria {
        shorten_to(&mut finding.evidence, LONGEST_TEXT);
    }
    if decision.criteria.len() > MOST_FINDINGS {
        let rank = |finding: &CriterionFinding| (finding.met == CriterionMet::Met, finding.criterion);
        decision.criteria.sort_by_key(rank);
        decision.criteria.dedup();
        decision.criteria.truncate(MOST_FINDINGS);
    }
    if let Some(tests) = &mut decision.tests {
        shorten_to(&mut tests.command, LONGEST_NAME);
        tests.failures.truncate(MOST_FAILURES);
        for name in &mut tests.failures {
            shorten_to(name, LONGEST_NAME);
        }
    }
    decision.issues = issues(decision.issues);
    decision
}

fn issues(all: Vec<ReviewItem>) -> Vec<ReviewItem> {
    // Looked up as text: to compare each with all others takes too long if there are tens of thousands.
    let mut texts = BTreeSet::new();
    let mut kept: Vec<ReviewItem> = all.iter().map(short).filter(|issue| texts.insert(format!("{issue:?}"))).collect();
    let named = kept.len();
    if named > MOST_ISSUES {
        kept.sort_by_key(|issue| issue.severity);
        kept.truncate(MOST_ISSUES);
        let more = Problem::MoreIssues { named, kept: MOST_ISSUES };
        kept.push(ReviewItem { severity: Severity::NiceToHave, ..ReviewItem::must_fix(more) });
    }
    kept
}

fn short(issue: &ReviewItem) -> ReviewItem {
    let mut issue = issue.clone();
    if let Problem::Remark { category, text } = &mut issue.problem {
        shorten_to(category, LONGEST_NAME);
        shorten_to(text, LONGEST_TEXT);
    }
    for text in [&mut issue.file, &mut issue.suggestion].into_iter().flatten() {
        shorten_to(text, LONGEST_TEXT);
    }
    issue
}

fn shorten_to(text: &mut String, most: usize) {
    // A text has at least as many bytes as characters, so most texts need no counting and no copy.
    if text.len() > most {
        *text = shorten::middle(text, most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Check;
    use proptest::prelude::*;
    use serde_json::Value;

    fn criteria() -> Vec<Criterion> {
        ["it parses", "it prints"].map(|text| Criterion { text: text.to_owned(), check: Check::Human }).to_vec()
    }

    fn numbered(criteria: &[Criterion]) -> NumberedItems<'_> {
        NumberedItems { criteria, questions: 2 }
    }

    fn refused(answer: &Value) -> Vec<String> {
        let refused = parse_decision(answer, numbered(&criteria())).unwrap_err().to_string();
        refused.lines().map(str::to_owned).collect()
    }

    #[test]
    fn findings_alone_are_read_as_in_a_decision() {
        let answer =
            json!({ "criteria": [{ "criterion": "it prints", "met": true, "evidence": "src/a.rs" }], "more": 1 });
        let expected = CriterionFinding { criterion: 2, met: CriterionMet::Met, evidence: "src/a.rs".to_owned() };
        assert_eq!(
            parse_supplement(&answer, numbered(&criteria())),
            Ok(Supplement { criteria: vec![expected], answers: Vec::new(), ignored: vec!["more".to_owned()] })
        );
        for wrong in [json!({}), json!([]), json!({ "criteria": [{ "criterion": 3, "met": true }] })] {
            assert!(parse_supplement(&wrong, numbered(&criteria())).is_err(), "{wrong}");
        }
    }

    #[test]
    fn answers_name_a_question_by_its_number() {
        let answers = json!([
            { "question": 2, "verdict": "fine", "because": "asked for", "quote": "no longer count" },
            { "question": "#1", "verdict": "not_fine", "because": "it is not", "mood": 1 },
        ]);
        let decision = json!({ "decision": "feedback", "summary": "s", "feedback": "f", "answers": answers });
        let expected = [
            QuestionAnswer {
                question: 1,
                verdict: AnswerVerdict::NotFine,
                because: "it is not".to_owned(),
                quote: String::new(),
            },
            QuestionAnswer {
                question: 2,
                verdict: AnswerVerdict::Fine,
                because: "asked for".to_owned(),
                quote: "no longer count".to_owned(),
            },
        ];
        let read = parse_decision(&decision, numbered(&criteria())).unwrap();
        assert_eq!((read.answers.as_slice(), read.ignored), (&expected[..], vec!["answers[1].mood".to_owned()]));
        let alone = parse_supplement(&json!({ "answers": answers }), numbered(&criteria())).unwrap();
        assert_eq!(alone.answers, expected);
        let unasked = NumberedItems { criteria: &criteria(), questions: 0 };
        assert!(parse_supplement(&json!({ "answers": answers }), unasked).is_err());
        let read = parse_decision(&decision, unasked).unwrap();
        assert_eq!((read.answers, read.ignored), (Vec::new(), vec!["answers".to_owned()]));
        for number in [json!(0), json!(3), json!("x"), json!(-1), json!(1.5), json!(null)] {
            let answers = json!([{ "question": number, "verdict": "fine", "because": "b" }]);
            let wrong = json!({ "decision": "approve", "summary": "s", "criteria": [], "answers": answers });
            assert!(refused(&wrong)[0].starts_with("answers[0].question "), "{number}");
        }
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
        let decision = parse_decision(&answer, numbered(&criteria())).unwrap();
        let mut seen = decision.ignored.clone();
        seen.sort_unstable();
        assert_eq!(seen, ["criteria[1].why", "extra"]);
        let findings: Vec<(usize, CriterionMet)> = decision.criteria.iter().map(|f| (f.criterion, f.met)).collect();
        assert_eq!(findings, [(2, CriterionMet::NotMet), (1, CriterionMet::Met)]);
        assert_eq!(decision.tests.unwrap().coverage, Some(80.0));
        let issue = |severity, category: &str, description: &str| ReviewItem {
            severity,
            ..ReviewItem::must_fix_remark(category, description)
        };
        let first = ReviewItem {
            file: Some("./a".to_owned()),
            suggestion: Some("s".to_owned()),
            ..issue(Severity::MustFix, "test", "d")
        };
        let second = ReviewItem { line: Some(7), ..issue(Severity::NiceToHave, "", "e") };
        assert_eq!(decision.issues, [first, second, issue(Severity::ShouldFix, "", "f")]);
    }

    #[test]
    fn each_kind_demands_its_own_keys() {
        let table = [
            (json!({ "decision": "approve", "summary": "s" }), "criteria is missing"),
            (json!({ "decision": "feedback", "summary": "s" }), "feedback needs at least one entry"),
            (json!({ "decision": "feedback", "summary": "s", "feedback": " ", "issues": [] }), "feedback needs"),
            (json!({ "decision": "probe", "summary": "s" }), "probe needs commands"),
            (json!({ "decision": "probe", "summary": "s", "commands": [] }), "probe needs commands"),
            (json!({ "decision": "probe", "summary": "s", "commands": ["a", "b", "c", "d"] }), "probe needs commands"),
            (json!({ "decision": "probe", "summary": "s", "commands": [" "] }), "probe needs commands"),
            (json!({ "summary": "s", "feedback": "f" }), "decision is missing"),
            (json!({ "decision": "feedback", "feedback": "f" }), "summary is missing"),
        ];
        for (answer, expected) in table {
            assert!(refused(&answer)[0].starts_with(expected), "{answer}: {:?}", refused(&answer));
        }
        let fine = [
            json!({ "decision": "approve", "summary": "s", "criteria": [] }),
            json!({ "decision": "feedback", "summary": "", "feedback": "f" }),
            json!({ "decision": "feedback", "summary": "", "issues": [{ "severity": "must_fix", "description": "d" }] }),
            json!({ "decision": "probe", "summary": "s", "commands": ["ls"] }),
        ];
        for answer in fine {
            assert!(parse_decision(&answer, numbered(&criteria())).is_ok(), "{answer}");
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
            let _ = parse_decision(&answer, numbered(&criteria()));
            let _ = crate::report::parse_report(&answer);
        }
    }

    mod decision_limits {
        use super::super::*;
        use crate::decision::{CriterionFinding, DecisionKind};

        fn decision() -> CoachDecision {
            CoachDecision {
                decision: DecisionKind::Approve,
                summary: "x".repeat(1_000_000),
                criteria: Vec::new(),
                tests: None,
                issues: Vec::new(),
                feedback: String::new(),
                answers: Vec::new(),
                commands: Vec::new(),
                ignored: Vec::new(),
            }
        }

        #[test]
        fn ten_thousand_issues_become_a_hundred_and_the_one_that_must_be_fixed_stays() {
            let mut hostile = decision();
            let nice = |number: usize| ReviewItem {
                severity: Severity::NiceToHave,
                ..ReviewItem::must_fix_remark("design", &format!("taste {number}"))
            };
            hostile.issues = (0..10_000).map(nice).collect();
            hostile.issues.push(ReviewItem::must_fix_remark("correctness", &"wrong ".repeat(10_000)));
            hostile.issues.extend_from_within(..5_000);
            let kept = bounded(hostile);
            assert_eq!(kept.issues.len(), 101);
            assert_eq!(kept.issues[0].severity, Severity::MustFix);
            assert!(kept.issues[0].problem.words().unwrap().chars().count() <= LONGEST_TEXT);
            let more = Problem::MoreIssues { named: 10_001, kept: MOST_ISSUES };
            assert_eq!(kept.issues[100].problem, more);
            assert!(kept.summary.chars().count() <= LONGEST_SUMMARY);
        }

        #[test]
        fn repetitions_are_kept_once_and_a_criterion_that_is_not_met_is_never_cut() {
            let mut hostile = decision();
            hostile.issues = vec![ReviewItem::must_fix_remark("test", "the same"); 50];
            let finding = |met, criterion| CriterionFinding { criterion, met, evidence: "src/a.rs".to_owned() };
            hostile.criteria = (0..10_000).map(|number| finding(CriterionMet::Met, number)).collect();
            hostile.criteria.push(finding(CriterionMet::NotMet, 1));
            let kept = bounded(hostile);
            assert_eq!(kept.issues.len(), 1);
            assert_eq!(kept.criteria.len(), MOST_FINDINGS);
            assert_eq!(kept.criteria[0].met, CriterionMet::NotMet);
        }
    }
}
