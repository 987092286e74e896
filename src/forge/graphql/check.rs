//! Holds a document against the schema, and words what does not fit as GitHub does.

use super::schema::FieldDef;
use super::schema::InputDef;
use super::schema::Kind;
use super::schema::Schema;
use super::schema::inner;
use super::schema::is_builtin;
use super::schema::is_optional;
use super::values::literal_fits;
use graphql_parser::Pos;
use graphql_parser::query::Directive;
use graphql_parser::query::Field;
use graphql_parser::query::FragmentDefinition;
use graphql_parser::query::Selection;
use graphql_parser::query::SelectionSet;
use graphql_parser::query::Type;
use graphql_parser::query::TypeCondition;
use graphql_parser::query::Value as Literal;
use graphql_parser::query::VariableDefinition;
use serde_json::Value;
use serde_json::json;
use std::collections::BTreeMap;
use std::collections::BTreeSet;

/// The fragments of a document, by name.
pub(super) type Fragments<'a> = BTreeMap<&'a str, &'a FragmentDefinition<'static, String>>;

/// An operation of a document.
#[derive(Clone, Copy)]
pub(super) struct Operation<'a> {
    /// `Query` or `Mutation`.
    pub(super) root: &'static str,
    pub(super) name: Option<&'a str>,
    pub(super) variables: &'a [VariableDefinition<'static, String>],
    pub(super) selection: &'a SelectionSet<'static, String>,
}

impl Operation<'_> {
    fn word(&self) -> String {
        self.root.to_lowercase()
    }

    /// `anonymous query`, or its name.
    fn called(&self) -> String {
        self.name
            .map_or_else(|| format!("anonymous {}", self.word()), str::to_owned)
    }
}

/// What does not fit the schema.
pub(super) fn check(operation: &Operation<'_>, fragments: &Fragments<'_>) -> Vec<Value> {
    let mut checker = Checker {
        schema: Schema::get(),
        operation,
        fragments,
        path: vec![match operation.name {
            Some(name) => format!("{} {name}", operation.word()),
            None => operation.word(),
        }],
        used: BTreeSet::new(),
        inside: Vec::new(),
        errors: Vec::new(),
    };
    checker.declarations();
    checker.selections(operation.selection, operation.root);
    checker.unused();
    checker.errors
}

/// Where a value is given: in an argument of a field, a field of an input object, or an argument of a directive.
struct Slot<'a> {
    /// `Field`, `InputObject` or `Directive`.
    holder: &'static str,
    name: &'a str,
    argument: &'a str,
    at: Pos,
}

struct Checker<'a> {
    schema: &'static Schema,
    operation: &'a Operation<'a>,
    fragments: &'a Fragments<'a>,
    path: Vec<String>,
    used: BTreeSet<String>,
    /// Fragments being looked at.
    inside: Vec<String>,
    errors: Vec<Value>,
}

impl Checker<'_> {
    fn error(&mut self, at: Pos, message: String, extensions: Value) {
        self.errors.push(json!({
            "path": self.path,
            "extensions": extensions,
            "locations": [{"line": at.line, "column": at.column}],
            "message": message,
        }));
    }

    fn declarations(&mut self) {
        for one in self.operation.variables {
            let name = inner(&one.var_type);
            let is_input = is_builtin(name) || self.schema.knows(name) && !self.schema.is_composite(name);
            if !is_input {
                let message = format!("{name} isn't a defined input type (on ${})", one.name);
                let more = json!({"code": "variableRequiresValidType", "typeName": name, "variableName": one.name});
                self.error(one.position, message, more);
            }
        }
    }

    fn unused(&mut self) {
        for one in self.operation.variables {
            if !self.used.contains(&one.name) {
                let message = format!(
                    "Variable ${} is declared by {} but not used",
                    one.name,
                    self.operation.called()
                );
                self.error(
                    one.position,
                    message,
                    json!({"code": "variableNotUsed", "variableName": one.name}),
                );
            }
        }
    }

    fn selections(&mut self, set: &SelectionSet<'static, String>, holder: &str) {
        for item in &set.items {
            match item {
                Selection::Field(field) => {
                    self.directives(&field.directives);
                    self.path
                        .push(field.alias.clone().unwrap_or_else(|| field.name.clone()));
                    self.field(field, holder);
                    self.path.pop();
                }
                Selection::InlineFragment(one) => {
                    self.directives(&one.directives);
                    let on = one
                        .type_condition
                        .as_ref()
                        .map_or(holder, |TypeCondition::On(name)| name.as_str());
                    self.path.push(format!("... on {on}"));
                    if self.may_be(holder, on, one.position) {
                        self.selections(&one.selection_set, on);
                    }
                    self.path.pop();
                }
                Selection::FragmentSpread(one) => {
                    self.directives(&one.directives);
                    self.spread(&one.fragment_name, holder, one.position);
                }
            }
        }
    }

    fn spread(&mut self, name: &str, holder: &str, at: Pos) {
        let Some(fragment) = self.fragments.get(name) else {
            let message = format!("Fragment {name} was used, but not defined");
            return self.error(
                at,
                message,
                json!({"code": "useAndDefineFragment", "fragmentName": name}),
            );
        };
        if self.inside.iter().any(|known| known == name) {
            let message = format!("Fragment {name} contains an infinite loop");
            return self.error(at, message, json!({"code": "infiniteLoop", "fragmentName": name}));
        }
        let TypeCondition::On(on) = &fragment.type_condition;
        if self.may_be(holder, on, at) {
            self.inside.push(name.to_owned());
            self.selections(&fragment.selection_set, on);
            self.inside.pop();
        }
    }

    /// Whether what is a `holder` can be an `on` as well.
    fn may_be(&mut self, holder: &str, on: &str, at: Pos) -> bool {
        if !self.schema.is_composite(on) {
            let message = format!("No such type {on}, so it can't be a fragment condition");
            self.error(at, message, json!({"code": "undefinedType", "typeName": on}));
            return false;
        }
        if !self.schema.overlap(holder, on) {
            let message = format!("Fragment on {on} can't be spread inside {holder}");
            let more = json!({"code": "cannotSpreadFragment", "typeName": holder, "fragmentName": "unknown", "parentName": holder});
            self.error(at, message, more);
            return false;
        }
        true
    }

    fn field(&mut self, field: &Field<'static, String>, holder: &str) {
        if field.name == "__typename" {
            return;
        }
        let Some(def) = self.schema.field(holder, &field.name) else {
            let message = format!("Field '{}' doesn't exist on type '{holder}'", field.name);
            let more = json!({"code": "undefinedField", "typeName": holder, "fieldName": field.name});
            return self.error(field.position, message, more);
        };
        self.arguments(field, def);
        let name = inner(&def.field_type);
        let selected = !field.selection_set.items.is_empty();
        match (self.schema.is_composite(name), selected) {
            (true, true) => self.selections(&field.selection_set, name),
            (false, false) => {}
            (true, false) => {
                let called = &field.name;
                let message = format!(
                    "Field must have selections (field '{called}' returns {name} but has no selections. Did you mean \
                     '{called} {{ ... }}'?)"
                );
                self.selection_mismatch(field, name, message);
            }
            (false, true) => {
                let message = format!(
                    "Selections can't be made on scalars (field '{}' returns {name} but has selections)",
                    field.name
                );
                self.selection_mismatch(field, name, message);
            }
        }
    }

    fn selection_mismatch(&mut self, field: &Field<'static, String>, name: &str, message: String) {
        let node = format!("field '{}'", field.name);
        self.error(
            field.position,
            message,
            json!({"code": "selectionMismatch", "nodeName": node, "typeName": name}),
        );
    }

    fn arguments(&mut self, field: &Field<'static, String>, def: &FieldDef) {
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
    fn directives(&mut self, directives: &[Directive<'static, String>]) {
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
