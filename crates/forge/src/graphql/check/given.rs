//! What is given to fields, directives and input objects: known, complete, and of the right type.

use super::{
    super::{
        schema::{FieldDef, InputDef, Kind, is_optional},
        values::literal_fits,
    },
    Checker,
};
use graphql_parser::{
    Pos,
    query::{Directive, Field, Type, Value as Literal},
};
use serde_json::json;
use std::collections::BTreeMap;

/// Where a value is given: in an argument of a field, a field of an input object, or an argument of a directive.
struct Slot<'a> {
    /// `Field`, `InputObject` or `Directive`.
    holder: &'static str,
    name: &'a str,
    argument: &'a str,
    at: Pos,
}

impl Checker<'_> {
    pub(super) fn arguments(&mut self, field: &Field<'static, String>, def: &FieldDef) {
        for (name, value) in &field.arguments {
            match def.arguments.iter().find(|def| def.name == *name) {
                Some(def) => {
                    let slot = Slot {
                        holder: "Field",
                        name: &field.name,
                        argument: name,
                        at: field.position,
                    };
                    self.value(&def.value_type, is_optional(def), value, &slot);
                }
                None => {
                    let message = format!("Field '{}' doesn't accept argument '{name}'", field.name);
                    let more = json!({
                        "code": "argumentNotAccepted", "name": field.name, "typeName": "Field", "argumentName": name,
                    });
                    self.error(field.position, message, more);
                }
            }
        }
        let given = |def: &&InputDef| field.arguments.iter().any(|(name, _)| *name == def.name);
        let missing = def.arguments.iter().filter(|def| !is_optional(def) && !given(def));
        let missing: Vec<&str> = missing.map(|def| def.name.as_str()).collect();
        if !missing.is_empty() {
            let names = missing.join(", ");
            let message = format!("Field '{}' is missing required arguments: {names}", field.name);
            let more = json!({
                "code": "missingRequiredArguments", "className": "Field", "name": field.name, "arguments": names,
            });
            self.error(field.position, message, more);
        }
    }

    /// `@include` and `@skip` are all that there is.
    pub(super) fn directives(&mut self, directives: &[Directive<'static, String>]) {
        for one in directives {
            if !["include", "skip"].contains(&one.name.as_str()) {
                let message = format!("Directive @{} is not defined", one.name);
                self.error(
                    one.position,
                    message,
                    json!({"code": "undefinedDirective", "directiveName": one.name}),
                );
                continue;
            }
            let truth = Type::NonNullType(Box::new(Type::NamedType("Boolean".to_owned())));
            for (name, value) in &one.arguments {
                let slot = Slot {
                    holder: "Directive",
                    name: &one.name,
                    argument: name,
                    at: one.position,
                };
                self.value(&truth, false, value, &slot);
            }
        }
    }

    fn value(&mut self, kind: &Kind, optional: bool, value: &Literal<'static, String>, slot: &Slot<'_>) {
        let given = match kind {
            Type::NonNullType(inner) if *value != Literal::Null => inner,
            kind => kind,
        };
        match (given, value) {
            (_, Literal::Variable(name)) => self.variable(kind, optional, name, slot),
            (Type::ListType(kind), Literal::List(items)) => {
                items.iter().for_each(|item| self.value(kind, false, item, slot));
            }
            (Type::ListType(kind), value) if *value != Literal::Null => self.value(kind, optional, value, slot),
            (Type::ListType(_) | Type::NamedType(_), Literal::Null) => {}
            (Type::NamedType(name), Literal::Object(fields)) if self.schema.input(name).is_some() => {
                self.input(name, fields, slot.at);
            }
            (Type::NamedType(name), value) if literal_fits(name, value) => {}
            (_, value) => {
                let Slot {
                    holder, name, argument, ..
                } = slot;
                let message = format!(
                    "Argument '{argument}' on {holder} '{name}' has an invalid value ({value}). Expected type '{kind}'."
                );
                let more = json!({
                    "code": "argumentLiteralsIncompatible", "typeName": holder, "argumentName": argument,
                });
                self.error(slot.at, message, more);
            }
        }
    }

    fn input(&mut self, name: &str, fields: &BTreeMap<String, Literal<'static, String>>, at: Pos) {
        let Some(input) = self.schema.input(name) else { return };
        for (key, value) in fields {
            let Some(def) = input.fields.iter().find(|def| def.name == *key) else {
                let message = format!("InputObject '{name}' doesn't accept argument '{key}'");
                let more = json!({
                    "code": "argumentNotAccepted", "name": name, "typeName": "InputObject", "argumentName": key,
                });
                self.error(at, message, more);
                continue;
            };
            let slot = Slot {
                holder: "InputObject",
                name,
                argument: key,
                at,
            };
            self.value(&def.value_type, is_optional(def), value, &slot);
        }
        for def in &input.fields {
            if !is_optional(def) && !fields.contains_key(&def.name) {
                let message = format!(
                    "Argument '{}' on InputObject '{name}' is required. Expected type {}",
                    def.name, def.value_type
                );
                let more = json!({
                    "code": "missingRequiredInputObjectAttribute", "argumentName": def.name,
                    "argumentType": def.value_type.to_string(), "inputObjectType": name,
                });
                self.error(at, message, more);
            }
        }
    }

    fn variable(&mut self, kind: &Kind, optional: bool, name: &str, slot: &Slot<'_>) {
        self.used.insert(name.to_owned());
        let Some(def) = self.operation.variables.iter().find(|one| one.name == name) else {
            let message = format!(
                "Variable ${name} is used by {} but not declared",
                self.operation.called()
            );
            return self.error(
                slot.at,
                message,
                json!({"code": "variableNotDefined", "variableName": name}),
            );
        };
        if !fits(&def.var_type, def.default_value.is_some() || optional, kind) {
            let message = format!(
                "Type mismatch on variable ${name} and argument {} ({} / {kind})",
                slot.argument, def.var_type
            );
            let more = json!({
                "code": "variableMismatch", "variableName": name, "typeName": def.var_type.to_string(),
                "argumentName": slot.argument, "errorMessage": "Type mismatch",
            });
            self.error(slot.at, message, more);
        }
    }
}

/// Whether a variable of the type `given` may stand where `wanted` is; one with a value by default is never absent.
fn fits(given: &Kind, defaulted: bool, wanted: &Kind) -> bool {
    match (given, wanted) {
        (Type::NonNullType(given), Type::NonNullType(wanted)) => fits(given, false, wanted),
        (Type::NonNullType(given), wanted) => fits(given, false, wanted),
        (given, Type::NonNullType(wanted)) => defaulted && fits(given, false, wanted),
        (Type::ListType(given), Type::ListType(wanted)) => fits(given, false, wanted),
        (Type::NamedType(given), Type::NamedType(wanted)) => given == wanted,
        (Type::ListType(_), Type::NamedType(_)) | (Type::NamedType(_), Type::ListType(_)) => false,
    }
}
