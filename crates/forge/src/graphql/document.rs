//! A document with one operation, and the functions that read its parts.

use graphql_parser::{
    Pos,
    query::{Definition, Document, OperationDefinition, Selection, SelectionSet},
};
use serde_json::{Map, Value};

pub(super) type Field = graphql_parser::query::Field<'static, String>;
pub(super) type Literal = graphql_parser::query::Value<'static, String>;
pub(super) type Set = SelectionSet<'static, String>;
pub(super) type Variable = graphql_parser::query::VariableDefinition<'static, String>;

pub(super) struct Operation<'a> {
    /// The type that has its fields: `Query` or `Mutation`.
    pub(super) root: &'static str,
    pub(super) name: Option<&'a str>,
    pub(super) variables: &'a [Variable],
    pub(super) set: &'a Set,
    pub(super) at: Pos,
}

impl<'a> Operation<'a> {
    /// Returns the document's only operation, or else the reason why the document is not run.
    pub(super) fn of(document: &'a Document<'static, String>) -> Result<Self, &'static str> {
        let [Definition::Operation(operation)] = document.definitions.as_slice() else {
            return Err("One operation without fragments must be given");
        };
        Ok(match operation {
            OperationDefinition::SelectionSet(set) => Self {
                root: "Query",
                name: None,
                variables: &[],
                set,
                at: set.span.0,
            },
            OperationDefinition::Query(one) => Self {
                root: "Query",
                name: one.name.as_deref(),
                variables: &one.variable_definitions,
                set: &one.selection_set,
                at: one.position,
            },
            OperationDefinition::Mutation(one) => Self {
                root: "Mutation",
                name: one.name.as_deref(),
                variables: &one.variable_definitions,
                set: &one.selection_set,
                at: one.position,
            },
            OperationDefinition::Subscription(_) => return Err("Subscriptions are not served"),
        })
    }
}

pub(super) fn fields(set: &Set) -> impl Iterator<Item = &Field> {
    set.items.iter().filter_map(|item| match item {
        Selection::Field(field) => Some(field),
        Selection::FragmentSpread(_) | Selection::InlineFragment(_) => None,
    })
}

pub(super) fn key(field: &Field) -> &str {
    field.alias.as_ref().unwrap_or(&field.name)
}

/// Returns the value of a literal in a document. Each variable in it is replaced by its value.
pub(super) fn literal(variables: &Map<String, Value>, value: &Literal) -> Value {
    match value {
        Literal::Variable(name) => variables.get(name).cloned().unwrap_or_default(),
        Literal::Int(number) => number.as_i64().map_or(Value::Null, Value::from),
        Literal::Float(number) => Value::from(*number),
        Literal::String(text) | Literal::Enum(text) => Value::from(text.clone()),
        Literal::Boolean(truth) => Value::from(*truth),
        Literal::Null => Value::Null,
        Literal::List(items) => items.iter().map(|item| literal(variables, item)).collect(),
        Literal::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(name, value)| (name.clone(), literal(variables, value)));
            Value::Object(fields.collect())
        }
    }
}
