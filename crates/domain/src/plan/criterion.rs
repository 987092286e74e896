//! Reads acceptance criteria: each a sentence bound to a check.

use crate::{
    fields::{Field, Fields},
    mistake::{Mistakes, Place},
    node::Shape,
    plan::{Check, Criterion, read, value},
};

const MOST_CRITERIA: usize = 50;
const FORMS: &str = "human, or one of {test: name}, {command: line} or {file: path}";

/// The criteria of one task: at least one, and at least one that is not for a person.
pub fn criteria(
    field: &Field<'_>,
    task: &str,
    unknown: &mut Vec<(String, Option<Place>)>,
    mistakes: &mut Mistakes,
) -> Vec<Criterion> {
    let before = mistakes.0.len();
    let items = field.list(mistakes);
    if items.len() > MOST_CRITERIA {
        field.refuse(&format!("has more than {MOST_CRITERIA} criteria"), mistakes);
        return Vec::new();
    }
    let criteria: Vec<Criterion> = items
        .iter()
        .filter_map(|item| criterion(item, unknown, mistakes))
        .collect();
    if mistakes.0.len() > before {
        return criteria;
    }
    if criteria.is_empty() {
        mistakes.add(
            format!("{task}there is no acceptance criterion, and each task needs one"),
            field.node.place,
        );
    } else if criteria.iter().all(|criterion| criterion.check == Check::Human) {
        let rule = "every criterion is for a person (human), and at least one must be checked by test, command or file";
        mistakes.add(format!("{task}{rule}"), field.node.place);
    }
    criteria
}

fn criterion(
    item: &Field<'_>,
    unknown: &mut Vec<(String, Option<Place>)>,
    mistakes: &mut Mistakes,
) -> Option<Criterion> {
    if let Shape::Text(_) = item.node.value {
        item.refuse(
            &format!("is a bare string; a criterion has `text` and `check`, which is {FORMS}"),
            mistakes,
        );
        return None;
    }
    let mut fields = item.map(mistakes)?;
    let text = fields
        .required("text", mistakes)
        .and_then(|field| sentence(&field, mistakes));
    let check = fields
        .required("check", mistakes)
        .and_then(|field| check(&field, unknown, mistakes));
    read::keep_unknown(&fields, unknown);
    Some(Criterion {
        text: text?,
        check: check?,
    })
}

fn sentence(field: &Field<'_>, mistakes: &mut Mistakes) -> Option<String> {
    let text = value::free_text(field, mistakes)?;
    if text.trim().is_empty() {
        field.refuse("is empty", mistakes);
        return None;
    }
    if text.chars().count() > 2_000 {
        field.refuse("is longer than 2000 characters", mistakes);
        return None;
    }
    Some(text)
}

fn check(field: &Field<'_>, unknown: &mut Vec<(String, Option<Place>)>, mistakes: &mut Mistakes) -> Option<Check> {
    match &field.node.value {
        Shape::Text(word) if word == "human" => Some(Check::Human),
        Shape::Map(_) => bound_check(field.map(mistakes)?, field, unknown, mistakes),
        Shape::Null | Shape::Flag(_) | Shape::Whole(_) | Shape::Number(_) | Shape::Text(_) | Shape::List(_) => {
            field.wrong(FORMS, mistakes);
            None
        }
    }
}

fn bound_check(
    mut fields: Fields<'_>,
    field: &Field<'_>,
    unknown: &mut Vec<(String, Option<Place>)>,
    mistakes: &mut Mistakes,
) -> Option<Check> {
    let given = (
        fields.optional("test"),
        fields.optional("command"),
        fields.optional("file"),
    );
    read::keep_unknown(&fields, unknown);
    match given {
        (Some(test), None, None) => value::line(&test, mistakes).map(Check::Test),
        (None, Some(command), None) => value::command(&command, mistakes).map(Check::Command),
        (None, None, Some(file)) => value::repository_path(&file, mistakes).map(Check::File),
        (None, None, None) | (Some(_), Some(_), _) | (_, Some(_), Some(_)) | (Some(_), _, Some(_)) => {
            field.refuse(&format!("must be {FORMS}"), mistakes);
            None
        }
    }
}
