//! The part of GitHub's schema that the forge serves: its types, their fields, and the values that they take.

use graphql_parser::schema::{Definition, Document, TypeDefinition};
use serde_json::Value;

/// The excerpt, in GraphQL's schema language.
const TEXT: &str = include_str!("schema.graphql");

pub(super) type Field = graphql_parser::schema::Field<'static, String>;
pub(super) type Input = graphql_parser::schema::InputValue<'static, String>;
pub(super) type Type = graphql_parser::schema::Type<'static, String>;

pub(super) struct Schema(Document<'static, String>);

pub(super) enum Shape<'a> {
    Fields(&'a [Field]),
    Inputs(&'a [Input]),
    /// A single value. Every type that the excerpt does not describe counts as a scalar.
    Scalar,
}

impl Schema {
    pub(super) fn read() -> Self {
        let document = graphql_parser::parse_schema::<String>(TEXT).map(Document::into_static);
        Self(document.unwrap_or_default())
    }

    /// Returns the structure of the type with this name, which is without lists and `!`.
    pub(super) fn shape(&self, kind: &str) -> Shape<'_> {
        let types = self.0.definitions.iter().filter_map(|definition| match definition {
            Definition::TypeDefinition(one) => Some(one),
            Definition::SchemaDefinition(_) | Definition::TypeExtension(_) | Definition::DirectiveDefinition(_) => None,
        });
        for one in types {
            let (name, shape) = match one {
                TypeDefinition::Object(one) => (&one.name, Shape::Fields(&one.fields)),
                TypeDefinition::Interface(one) => (&one.name, Shape::Fields(&one.fields)),
                TypeDefinition::InputObject(one) => (&one.name, Shape::Inputs(&one.fields)),
                TypeDefinition::Scalar(_) | TypeDefinition::Union(_) | TypeDefinition::Enum(_) => continue,
            };
            if name == kind {
                return shape;
            }
        }
        Shape::Scalar
    }

    /// `true` if the value fits the type.
    pub(super) fn takes(&self, kind: &Type, value: &Value) -> bool {
        match (kind, value) {
            (Type::NonNullType(kind), value) => !value.is_null() && self.takes(kind, value),
            (_, Value::Null) => true,
            (Type::ListType(kind), Value::Array(items)) => items.iter().all(|item| self.takes(kind, item)),
            (Type::ListType(kind), value) => self.takes(kind, value),
            (Type::NamedType(name), value) => match (self.shape(name), value) {
                (Shape::Inputs(known), Value::Object(given)) => {
                    let takes = |input: &Input| match given.get(&input.name) {
                        Some(value) => self.takes(&input.value_type, value),
                        None => !is_required(input),
                    };
                    let is_known = |name: &String| known.iter().any(|input| input.name == *name);
                    known.iter().all(takes) && given.keys().all(is_known)
                }
                (_, value) => is_scalar(name, value),
            },
        }
    }
}

/// `true` if the value fits the scalar type.
fn is_scalar(kind: &str, value: &Value) -> bool {
    let of: &[&str] = match value {
        Value::String(_) => &["ID", "String", "DateTime"],
        Value::Number(number) if number.is_f64() => &["Float"],
        Value::Number(_) => &["ID", "Int", "Float"],
        Value::Bool(_) => &["Boolean"],
        Value::Null | Value::Array(_) | Value::Object(_) => &[],
    };
    of.contains(&kind)
}

/// Returns the name of a type, without lists and `!`.
pub(super) fn inner(kind: &Type) -> &str {
    match kind {
        Type::NamedType(name) => name,
        Type::ListType(kind) | Type::NonNullType(kind) => inner(kind),
    }
}

/// `true` if a document or a variable must give this input.
pub(super) fn is_required(input: &Input) -> bool {
    matches!(input.value_type, Type::NonNullType(_)) && input.default_value.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_excerpt_can_be_read() {
        let schema = Schema::read();
        for name in ["Query", "Mutation", "Actor"] {
            assert!(matches!(schema.shape(name), Shape::Fields([_, ..])), "{name}");
        }
    }
}
