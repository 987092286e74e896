//! A designer's answer about a task before its first turn: a plan of the change, a pattern, and a review of both. It is
//! advice to the Player and information for people; no verdict rests on it.

use crate::{
    check_boxes::CheckBox,
    inquiry,
    inquiry::Inquiries,
    plan::{Check, schema as plan_schema},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use text::{
    fields::{Field, Fields, Reading},
    mistake::Mistakes,
    node::Node,
    shorten,
};

const MOST_PLAN: usize = 20_000;
const MOST_TEXT: usize = 4_000;
const MOST_FINDINGS: usize = 30;
const LONGEST_NAME: usize = 200;

/// Keys of a designer's answer that belong to the planned task.
const TASK_KEYS: [&str; 4] = ["type", "acceptance_criteria", "files", "factors"];

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Design {
    /// The steps of the change.
    pub plan: String,
    /// The chosen pattern and the reason for it.
    pub pattern: String,
    /// The designer's score for its own architecture, 0 to 100.
    pub score: Option<u8>,
    /// The findings of the architecture review.
    pub findings: Vec<String>,
    /// The designer's estimate of the complexity, 1 to 10. It is informational: AutoBuild computes the one that counts.
    pub complexity: Option<u8>,
    /// The designer's questions to a person.
    #[serde(skip_serializing_if = "Inquiries::is_empty")]
    pub inquiries: Inquiries,
    /// Unknown keys of the answer. They are ignored and shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<String>,
}

/// The state of a task's design, which is made before its first turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PreLoop {
    /// No design is wanted.
    #[default]
    Off,
    /// The design is still to be made.
    Due,
    Done(Box<Design>),
}

impl PreLoop {
    /// Returns the design, if there is one.
    pub fn design(&self) -> Option<&Design> {
        match self {
            Self::Done(design) => Some(design),
            Self::Off | Self::Due => None,
        }
    }
}

/// Parses a designer's answer, without the keys that belong to the planned task. An answer with questions to a person
/// needs no plan.
pub fn parse_design(answer: &Value) -> Result<Design, Mistakes> {
    let (node, reading) = (Node::from_json(answer), Reading::default());
    let inquiries = Inquiries::of_answer(answer);
    let design = reading.fields(&node, "a design", "").map(|fields| design(fields, inquiries));
    let lacks_plan = |design: &Design| design.plan.trim().is_empty() && design.inquiries.is_empty();
    if reading.noted() == 0 && design.as_ref().is_some_and(lacks_plan) {
        reading.note("plan is empty", None);
    }
    reading.value(design, |design, ignored| design.ignored = ignored)
}

fn design(mut fields: Fields<'_>, inquiries: Inquiries) -> Design {
    let plan = if inquiries.is_empty() { fields.required("plan") } else { fields.optional("plan") };
    let plan = plan.map(|field| prose(&field, MOST_PLAN));
    fields.optional("inquiries");
    let pattern = fields.optional("pattern").map(|field| prose(&field, MOST_TEXT));
    let complexity = fields.optional("complexity").and_then(|field| field.within(1, 10));
    let (mut score, mut findings) = (None, Vec::new());
    if let Some(mut review) = fields.optional("architecture_review").and_then(|field| field.map()) {
        score = review.required("score").and_then(|field| field.within(0, 100));
        findings = review.texts("findings");
    }
    // `plan_of_one_task` reads these keys.
    for key in TASK_KEYS {
        fields.optional(key);
    }
    fields.end();
    findings.truncate(MOST_FINDINGS);
    Design {
        plan: plan.unwrap_or_default(),
        pattern: pattern.unwrap_or_default(),
        score,
        findings: findings.iter().map(|text| shorten::middle(text, MOST_TEXT)).collect(),
        complexity,
        inquiries,
        ignored: Vec::new(),
    }
}

/// Returns a text, or a list of texts joined by line ends, shortened to `most` characters.
fn prose(field: &Field<'_>, most: usize) -> String {
    let text = match field.node.items() {
        Some(_) => field.texts().join("\n"),
        None => field.text().unwrap_or_default(),
    };
    shorten::middle(&text, most)
}

/// The parts of the answer that the designer is asked for.
#[derive(Clone, Copy, Debug)]
pub enum DesignRequest {
    /// Only the design: the task has its criteria.
    Design,
    /// The design and criteria, for an issue with these check boxes.
    Criteria,
}

/// Returns the JSON Schema of a designer's answer.
pub fn schema(asked: DesignRequest) -> Value {
    let mut properties = json!({
        "plan": { "type": "string", "description": "The steps of the change, in order." },
        "pattern": { "type": "string", "description": "The pattern chosen, and why." },
        "architecture_review": {
            "type": "object",
            "required": ["score"],
            "properties": {
                "score": { "type": "integer", "minimum": 0, "maximum": 100 },
                "findings": { "type": "array", "items": { "type": "string" } }
            }
        },
        "complexity": { "type": "integer", "minimum": 1, "maximum": 10 },
        "inquiries": inquiry::schema()
    });
    let required: &[&str] = match asked {
        DesignRequest::Design => &["plan"],
        DesignRequest::Criteria => {
            if let Some(known) = properties.as_object_mut() {
                known.extend(plan_schema::of_task(&TASK_KEYS));
            }
            &["plan", "acceptance_criteria"]
        }
    };
    plan_schema::of_answer("Design", required, properties)
}

/// Returns the plan of a Feature with a single task, as the JSON object that a planner would answer. It is made from
/// the check boxes and, if there is one, from a designer's answer.
pub fn plan_of_one_task(
    title: &str,
    description: &str,
    boxes: &[CheckBox],
    answer: Option<&Value>,
) -> Result<Value, Mistakes> {
    let name = name(title);
    let of_answer = |key: &str| answer?.get(key).filter(|value| !value.is_null());
    let criteria = criteria(boxes, of_answer("acceptance_criteria"))?;
    let mut task = json!({
        "id": "TASK-001", "name": name, "type": "feature", "description": description,
        "files": with_checked_files(of_answer("files"), &criteria), "acceptance_criteria": criteria,
    });
    for key in ["type", "factors"] {
        if let (Some(value), Some(task)) = (of_answer(key), task.as_object_mut()) {
            task.insert(key.to_owned(), value.clone());
        }
    }
    Ok(json!({ "name": name, "description": description, "tasks": [task] }))
}

/// Adds the files that criteria name to the task's files: this is the only task, so no other could create them.
fn with_checked_files(files: Option<&Value>, criteria: &[Value]) -> Value {
    let named = criteria.iter().filter_map(|criterion| criterion.get("check")?.get("file"));
    let checked = named.cloned();
    match files {
        Some(Value::Array(files)) => files.iter().cloned().chain(checked).collect(),
        // The rules of plans refuse a value that is no list.
        Some(other) => other.clone(),
        None => checked.collect(),
    }
}

/// Returns the name of a plan or task that has only the title of its issue.
pub(crate) fn name(title: &str) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let line: String = title.chars().map(plain).take(LONGEST_NAME).collect();
    match line.trim() {
        "" => "The issue".to_owned(),
        // A plan's name is refused if it reads like a path out of the repository.
        line if line.contains(['/', '\\']) && !line.contains(char::is_whitespace) => {
            format!("Do {line}").chars().take(LONGEST_NAME).collect()
        }
        line => line.to_owned(),
    }
}

/// Returns the boxes, each with its own check or with the one that the designer gave for the same words. Without boxes,
/// returns the designer's criteria.
fn criteria(boxes: &[CheckBox], given: Option<&Value>) -> Result<Vec<Value>, Mistakes> {
    let given = given.and_then(Value::as_array).cloned().unwrap_or_default();
    if boxes.is_empty() {
        return Ok(given);
    }
    let mut wrong = Mistakes::default();
    let mut criteria = Vec::new();
    for (number, wanted) in (1..).zip(boxes) {
        let number: usize = number;
        let text = &wanted.text;
        let own = wanted.check.as_ref().map(|check| json!(check));
        match own.or_else(|| find_check(&given, text).cloned()) {
            Some(check) => criteria.push(json!({ "text": text, "check": check })),
            None => {
                let entry = format!("an entry whose `text` is exactly `{text}`, with a `check`");
                wrong.add(format!("acceptance_criteria must bind check box {number}: {entry}"), None);
            }
        }
    }
    let human = json!(Check::Human);
    if criteria.iter().all(|criterion| criterion.get("check") == Some(&human)) {
        let is_box = |more: &Value| boxes.iter().any(|wanted| same_words(&wanted.text, more));
        criteria.extend(given.iter().filter(|more| !is_box(more)).cloned());
    }
    if wrong.0.is_empty() { Ok(criteria) } else { Err(wrong) }
}

fn find_check<'a>(given: &'a [Value], text: &str) -> Option<&'a Value> {
    let same = given.iter().find(|criterion| same_words(text, criterion))?;
    same.get("check").filter(|check| !check.is_null())
}

/// `true` if a criterion has this text, ignoring white space.
fn same_words(text: &str, criterion: &Value) -> bool {
    let other = criterion.get("text").and_then(Value::as_str);
    other.is_some_and(|other| text.split_whitespace().eq(other.split_whitespace()))
}

/// `true` if the boxes are enough as criteria: each is bound, and at least one to something that a program can check.
pub fn suffice_as_criteria(boxes: &[CheckBox]) -> bool {
    let for_machines = |found: &CheckBox| !matches!(found.check, None | Some(Check::Human));
    boxes.iter().all(|found| found.check.is_some()) && boxes.iter().any(for_machines)
}

/// Returns the texts of the check boxes that name no check.
pub fn unbound(boxes: &[CheckBox]) -> Vec<String> {
    let unbound = boxes.iter().filter(|found| found.check.is_none());
    unbound.map(|found| found.text.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        check_boxes::check_boxes,
        plan::{Plan, parse::PlanContext, yaml::PlanHeader},
    };

    #[test]
    fn a_full_design_is_read() {
        let answer = json!({
            "plan": ["first", "second"], "pattern": "none", "complexity": 3,
            "architecture_review": { "score": 82, "findings": ["couples a to b"] },
            "files": [], "mood": "fine",
        });
        let expected = Design {
            plan: "first\nsecond".to_owned(),
            pattern: "none".to_owned(),
            score: Some(82),
            findings: vec!["couples a to b".to_owned()],
            complexity: Some(3),
            inquiries: Inquiries::default(),
            ignored: vec!["mood".to_owned()],
        };
        assert_eq!(parse_design(&answer), Ok(expected));
    }

    #[test]
    fn every_mistake_of_a_design_is_named() {
        let refused = |answer: Value| parse_design(&answer).unwrap_err().to_string();
        assert_eq!(refused(json!({})), "plan is missing");
        assert_eq!(refused(json!({ "plan": " " })), "plan is empty");
        let wrong = json!({ "plan": 3, "complexity": 11, "architecture_review": { "score": -1 } });
        assert_eq!(
            refused(wrong).lines().collect::<Vec<_>>(),
            [
                "plan must be text, not the number 3; put it in quotes",
                "complexity must be a whole number from 1 to 10, not the number 11",
                "architecture_review.score must be a whole number from 0 to 100, not the number -1",
            ]
        );
        assert!(refused(json!([])).starts_with("a design must be a map"));
    }

    fn planned(body: &str, answer: Option<&Value>) -> Result<Plan, String> {
        let header = PlanHeader::planned("FEAT-1", "2026-01-01T00:00:00Z");
        let context =
            PlanContext { max_tasks: 20, header: &header, file_exists: &|_| false, protecting: &|_| None, words: &[] };
        let json = plan_of_one_task("Say hello", "As asked.", &check_boxes(body), answer)
            .map_err(|wrong| wrong.to_string())?;
        Plan::from_json(&json, &context).map(|checked| checked.plan).map_err(|wrong| wrong.to_string())
    }

    #[test]
    fn bound_boxes_make_a_plan_of_one_task_that_the_plan_rules_hold_for() {
        let body = "- [ ] It greets (`test: t::greets`)\n- [ ] `file: docs/new.md`\n- [ ] Reads well `human`";
        assert!(suffice_as_criteria(&check_boxes(body)));
        let plan = planned(body, None).unwrap();
        assert_eq!(plan.tasks.len(), 1);
        let checks: Vec<&Check> = plan.tasks[0].acceptance_criteria.iter().map(|c| &c.check).collect();
        assert_eq!(
            checks,
            [&Check::Test("t::greets".to_owned()), &Check::File("docs/new.md".to_owned()), &Check::Human]
        );
    }

    #[test]
    fn the_designer_binds_what_no_box_binds_and_changes_no_words() {
        let body = "- [ ] It greets\n- [ ] It waves (`test: t::waves`)";
        assert!(!suffice_as_criteria(&check_boxes(body)));
        let refused = planned(body, Some(&json!({ "acceptance_criteria": [] }))).unwrap_err();
        assert!(refused.contains("must bind check box 1") && refused.contains("It greets"), "{refused}");
        let answer = json!({ "files": ["a.rs"], "acceptance_criteria": [
            { "text": "It  greets", "check": { "test": "t::greets" } },
            { "text": "It waves", "check": "human" },
            { "text": "It does more", "check": { "test": "t::more" } },
        ] });
        let criteria = planned(body, Some(&answer)).unwrap().tasks[0].acceptance_criteria.clone();
        let read: Vec<(&str, &Check)> = criteria.iter().map(|c| (c.text.as_str(), &c.check)).collect();
        assert_eq!(
            read,
            [("It greets", &Check::Test("t::greets".to_owned())), ("It waves", &Check::Test("t::waves".to_owned())),]
        );
    }

    #[test]
    fn without_boxes_the_criteria_are_the_designers_and_one_must_be_for_a_machine() {
        let human = json!({ "acceptance_criteria": [{ "text": "nice", "check": "human" }] });
        assert!(planned("words", Some(&human)).unwrap_err().contains("every criterion is for a person"));
        let more = json!({ "acceptance_criteria": [
            { "text": "nice", "check": "human" }, { "text": "there", "check": { "file": "a.txt" } },
        ] });
        assert_eq!(planned("- [ ] nice `human`", Some(&more)).unwrap().tasks[0].acceptance_criteria.len(), 2);
        assert!(planned("words", Some(&json!({}))).unwrap_err().contains("no acceptance criterion"));
    }

    #[test]
    fn any_title_makes_a_name() {
        for title in ["", "../../x", "a\nb", &"x".repeat(999), "/etc"] {
            let json = plan_of_one_task(title, "", &check_boxes("- [ ] `file: a`"), None).unwrap();
            let header = PlanHeader::planned("FEAT-1", "");
            let context = PlanContext {
                max_tasks: 1,
                header: &header,
                file_exists: &|_| false,
                protecting: &|_| None,
                words: &[],
            };
            assert!(Plan::from_json(&json, &context).is_ok(), "{title:?}: {:?}", Plan::from_json(&json, &context));
        }
    }
}
