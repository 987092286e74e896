//! Holds a document against the schema, and words what does not fit as GitHub does.

mod given;

use super::schema::{Schema, inner, is_builtin};
use graphql_parser::{
    Pos,
    query::{Field, FragmentDefinition, Selection, SelectionSet, TypeCondition, VariableDefinition},
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

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
}
