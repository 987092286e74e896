//! Values of arguments and variables: literals and JSON, held against their types.

use super::schema::{InputDef, Kind, Schema};
use graphql_parser::query::{Type, Value as Literal, VariableDefinition};
use serde_json::{Map, Value, json};

/// The values of variables, by name.
pub(super) type Variables = Map<String, Value>;

/// Reads the variables of a request; an error is GitHub's answer to it.
pub(super) fn variables(
    definitions: &[VariableDefinition<'static, String>],
    given: &Value,
) -> Result<Variables, Vec<Value>> {
    let mut read = Variables::new();
    let mut errors = Vec::new();
    for one in definitions {
        let value = match (given.get(&one.name), &one.default_value) {
            (Some(value), _) => value.clone(),
            (None, Some(default)) => literal(default, &Variables::new()),
            (None, None) if !matches!(one.var_type, Type::NonNullType(_)) => continue,
            (None, None) => Value::Null,
        };
        match problem(&one.var_type, &value) {
            None => {
                read.insert(one.name.clone(), value);
            }
            Some((path, explanation)) => errors.push(json!({
                "message": format!("Variable ${} of type {} was provided invalid value", one.name, one.var_type),
                "locations": [{"line": one.position.line, "column": one.position.column}],
                "extensions": {"value": value, "problems": [{"path": path, "explanation": explanation}]},
            })),
        }
    }
    if errors.is_empty() { Ok(read) } else { Err(errors) }
}

/// Where a JSON value does not fit its type, and why.
fn problem(kind: &Kind, value: &Value) -> Option<(Vec<String>, String)> {
    let here = |text: String| Some((Vec::new(), text));
    let name = match (kind, value) {
        (Type::NonNullType(_), Value::Null) => return here("Expected value to not be null".to_owned()),
        (Type::NonNullType(kind), value) => return problem(kind, value),
        (_, Value::Null) => return None,
        (Type::ListType(kind), Value::Array(items)) => {
            let mut found = items.iter().enumerate();
            return found.find_map(|(at, item)| problem(kind, item).map(|found| below(&at.to_string(), found)));
        }
        (Type::ListType(kind), value) => return problem(kind, value),
        (Type::NamedType(name), _) => name.as_str(),
    };
    let schema = Schema::get();
    if let Some(input) = schema.input(name) {
        let Value::Object(fields) = value else {
            return here(format!("Expected {value} to be a key-value object."));
        };
        let unknown = fields
            .keys()
            .find(|key| !input.fields.iter().any(|def| def.name == **key));
        if let Some(key) = unknown {
            return Some(below(key, (Vec::new(), format!("Field is not defined on {name}"))));
        }
        return input.fields.iter().find_map(|def| {
            let given = fields.get(&def.name).unwrap_or(&Value::Null);
            problem(&def.value_type, given).map(|found| below(&def.name, found))
        });
    }
    let fits = match (name, value) {
        ("Int", Value::Number(number)) => number.as_i64().is_some_and(|number| i32::try_from(number).is_ok()),
        ("Float", value) => value.is_number(),
        ("Boolean", value) => value.is_boolean(),
        ("ID", Value::Number(number)) => number.is_i64(),
        (_, Value::String(word)) => schema
            .words(name)
            .map_or(name != "Int", |known| known.values.iter().any(|one| one.name == *word)),
        _ => false,
    };
    if fits {
        None
    } else {
        here(format!("Could not coerce value {value} to {name}"))
    }
}

fn below(key: &str, (mut path, text): (Vec<String>, String)) -> (Vec<String>, String) {
    path.insert(0, key.to_owned());
    (path, text)
}

/// Whether a literal without variables fits a named type that is no input object.
pub(super) fn literal_fits(name: &str, value: &Literal<'static, String>) -> bool {
    match (name, value) {
        ("Int", Literal::Int(number)) => number.as_i64().is_some_and(|number| i32::try_from(number).is_ok()),
        ("Float", Literal::Int(_) | Literal::Float(_)) | ("Boolean", Literal::Boolean(_)) | ("ID", Literal::Int(_)) => {
            true
        }
        ("Int" | "Float" | "Boolean", _) => false,
        (name, Literal::Enum(word)) => Schema::get()
            .words(name)
            .is_some_and(|known| known.values.iter().any(|one| one.name == *word)),
        (name, Literal::String(_)) => Schema::get().words(name).is_none(),
        _ => false,
    }
}

/// The value of a literal.
pub(super) fn literal(value: &Literal<'static, String>, variables: &Variables) -> Value {
    match value {
        Literal::Variable(name) => variables.get(name).cloned().unwrap_or_default(),
        Literal::Int(number) => number.as_i64().map_or(Value::Null, Value::from),
        Literal::Float(number) => Value::from(*number),
        Literal::String(text) | Literal::Enum(text) => Value::from(text.clone()),
        Literal::Boolean(truth) => Value::from(*truth),
        Literal::Null => Value::Null,
        Literal::List(items) => items.iter().map(|item| literal(item, variables)).collect(),
        Literal::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(name, value)| (name.clone(), literal(value, variables)));
            Value::Object(fields.collect())
        }
    }
}

/// The arguments of a field, with what the schema gives where nothing is said.
pub(super) fn arguments(
    definitions: &[InputDef],
    given: &[(String, Literal<'static, String>)],
    variables: &Variables,
) -> Variables {
    let value = |def: &InputDef| {
        let said = given.iter().find(|(name, _)| *name == def.name).map(|(_, value)| value);
        let value = said.or(def.default_value.as_ref())?;
        Some((def.name.clone(), literal(value, variables)))
    };
    definitions.iter().filter_map(value).collect()
}
