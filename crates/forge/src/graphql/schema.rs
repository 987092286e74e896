//! The types that documents are held against.

use graphql_parser::{
    query::Type,
    schema::{Definition, Document, EnumType, Field, InputObjectType, InputValue, TypeDefinition},
};
use std::{collections::BTreeMap, sync::LazyLock};

/// A type as documents and the schema write it.
pub(super) type Kind = Type<'static, String>;
/// A field of an object or interface.
pub(super) type FieldDef = Field<'static, String>;
/// An argument, or a field of an input object.
pub(super) type InputDef = InputValue<'static, String>;

/// The types by name.
#[derive(Debug)]
pub(super) struct Schema(BTreeMap<String, TypeDefinition<'static, String>>);

static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
    let text = include_str!("schema.graphql");
    // A test reads it: what cannot be parsed knows no type.
    let document = graphql_parser::parse_schema::<String>(text).map(Document::into_static);
    let definitions = document.map(|document| document.definitions).unwrap_or_default();
    let types = definitions.into_iter().filter_map(|one| match one {
        Definition::TypeDefinition(one) => Some((name_of(&one).to_owned(), one)),
        Definition::SchemaDefinition(_) | Definition::TypeExtension(_) | Definition::DirectiveDefinition(_) => None,
    });
    Schema(types.collect())
});

fn name_of<'a>(one: &'a TypeDefinition<'static, String>) -> &'a str {
    match one {
        TypeDefinition::Scalar(one) => &one.name,
        TypeDefinition::Object(one) => &one.name,
        TypeDefinition::Interface(one) => &one.name,
        TypeDefinition::Union(one) => &one.name,
        TypeDefinition::Enum(one) => &one.name,
        TypeDefinition::InputObject(one) => &one.name,
    }
}

impl Schema {
    pub(super) fn get() -> &'static Self {
        &SCHEMA
    }

    pub(super) fn knows(&self, name: &str) -> bool {
        self.0.contains_key(name) || is_builtin(name)
    }

    /// The field of an object or interface.
    pub(super) fn field(&self, holder: &str, name: &str) -> Option<&FieldDef> {
        let fields = match self.0.get(holder)? {
            TypeDefinition::Object(one) => &one.fields,
            TypeDefinition::Interface(one) => &one.fields,
            TypeDefinition::Scalar(_)
            | TypeDefinition::Union(_)
            | TypeDefinition::Enum(_)
            | TypeDefinition::InputObject(_) => return None,
        };
        fields.iter().find(|field| field.name == name)
    }

    /// Whether values of the type have fields to select.
    pub(super) fn is_composite(&self, name: &str) -> bool {
        matches!(
            self.0.get(name),
            Some(TypeDefinition::Object(_) | TypeDefinition::Interface(_) | TypeDefinition::Union(_))
        )
    }

    pub(super) fn input(&self, name: &str) -> Option<&InputObjectType<'static, String>> {
        match self.0.get(name) {
            Some(TypeDefinition::InputObject(one)) => Some(one),
            _ => None,
        }
    }

    pub(super) fn words(&self, name: &str) -> Option<&EnumType<'static, String>> {
        match self.0.get(name) {
            Some(TypeDefinition::Enum(one)) => Some(one),
            _ => None,
        }
    }

    /// Whether an object of the type `object` is a `name` as well.
    pub(super) fn is_a(&self, object: &str, name: &str) -> bool {
        object == name
            || match self.0.get(name) {
                Some(TypeDefinition::Union(one)) => one.types.iter().any(|member| member == object),
                Some(TypeDefinition::Interface(_)) => match self.0.get(object) {
                    Some(TypeDefinition::Object(one)) => one.implements_interfaces.iter().any(|one| one == name),
                    _ => false,
                },
                _ => false,
            }
    }

    /// Whether some object is both.
    pub(super) fn overlap(&self, one: &str, other: &str) -> bool {
        let objects = self
            .0
            .iter()
            .filter(|(_, one)| matches!(one, TypeDefinition::Object(_)));
        objects
            .map(|(name, _)| name)
            .any(|name| self.is_a(name, one) && self.is_a(name, other))
    }
}

pub(super) fn is_builtin(name: &str) -> bool {
    ["Boolean", "Float", "ID", "Int", "String"].contains(&name)
}

/// The name inside lists and exclamation marks.
pub(super) fn inner(kind: &Kind) -> &str {
    match kind {
        Type::NamedType(name) => name,
        Type::ListType(kind) | Type::NonNullType(kind) => inner(kind),
    }
}

/// Whether nothing has to be given for it.
pub(super) fn is_optional(def: &InputDef) -> bool {
    def.default_value.is_some() || !matches!(def.value_type, Type::NonNullType(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_that_is_named_is_there() {
        let schema = Schema::get();
        assert!(schema.knows("Mutation") && !schema.knows("Discussion"));
        for (name, one) in &schema.0 {
            let fields = match one {
                TypeDefinition::Object(one) => one.fields.as_slice(),
                TypeDefinition::Interface(one) => &one.fields,
                _ => &[],
            };
            for field in fields {
                assert!(schema.knows(inner(&field.field_type)), "{name}.{}", field.name);
                for argument in &field.arguments {
                    assert!(schema.knows(inner(&argument.value_type)), "{name}.{}", field.name);
                }
            }
        }
        assert!(schema.is_a("Bot", "Actor") && !schema.is_a("Bot", "RepositoryOwner"));
        assert!(schema.overlap("Node", "Actor") && !schema.overlap("Issue", "PullRequest"));
    }
}
