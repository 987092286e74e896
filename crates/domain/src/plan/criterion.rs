//! Reads acceptance criteria: sentences, each bound to a check.

use crate::plan::{Check, Criterion, value};
use text::{fields::Field, node::Shape};

const MOST_CRITERIA: usize = 50;
const LONGEST_CRITERION: usize = 2_000;
const FORMS: &str = "human, or one of {test: name}, {command: line} or {file: path}";

/// Reads the criteria of one task: at least one, and at least one that a program can check.
pub fn criteria(field: &Field<'_>, task: &str) -> Vec<Criterion> {
    let reading = field.reading;
    let before = reading.noted();
    let items = field.list();
    if items.len() > MOST_CRITERIA {
        field.refuse(&format!("has more than {MOST_CRITERIA} criteria"));
        return Vec::new();
    }
    let criteria: Vec<Criterion> = items.iter().filter_map(criterion).collect();
    if reading.noted() > before {
        return criteria;
    }
    if criteria.is_empty() {
        let rule = "there is no acceptance criterion, and each task needs one";
        reading.note(format!("{task}{rule}"), field.node.place);
    } else if criteria.iter().all(|criterion| criterion.check == Check::Human) {
        let rule = "every criterion is for a person (human), and at least one must be checked by test, command or file";
        reading.note(format!("{task}{rule}"), field.node.place);
    }
    criteria
}

fn criterion(item: &Field<'_>) -> Option<Criterion> {
    if item.node.text().is_some() {
        let rule = format!("is a bare string; a criterion has `text` and `check`, which is {FORMS}");
        item.refuse(&rule);
        return None;
    }
    let mut fields = item.map()?;
    let text = fields.required("text").and_then(|field| sentence(&field));
    let check = fields.required("check").and_then(|field| check(&field));
    fields.end();
    Some(Criterion { text: text?, check: check? })
}

fn sentence(field: &Field<'_>) -> Option<String> {
    let text = value::free_text(field)?;
    if text.trim().is_empty() {
        field.refuse("is empty");
    } else if text.chars().count() > LONGEST_CRITERION {
        field.refuse(&format!("is longer than {LONGEST_CRITERION} characters"));
    } else {
        return Some(text);
    }
    None
}

fn check(field: &Field<'_>) -> Option<Check> {
    match &field.node.value {
        Shape::Text(word) if word == "human" => Some(Check::Human),
        Shape::Map(_) => bound_check(field),
        Shape::Null | Shape::Flag(_) | Shape::Whole(_) | Shape::Number(_) | Shape::Text(_) | Shape::List(_) => {
            field.wrong(FORMS);
            None
        }
    }
}

fn bound_check(field: &Field<'_>) -> Option<Check> {
    let mut fields = field.map()?;
    let given = ["test", "command", "file"].map(|key| fields.optional(key));
    fields.end();
    match given {
        [Some(test), None, None] => value::line(&test).map(Check::Test),
        [None, Some(command), None] => value::command(&command).map(Check::Command),
        [None, None, Some(file)] => value::repository_path(&file).map(Check::File),
        _ => {
            field.refuse(&format!("must be {FORMS}"));
            None
        }
    }
}
