//! Checks a document against the schema before any of it is run. The texts and codes are those of GitHub's GraphQL
//! library, see <https://github.com/rmosolgo/graphql-ruby/tree/master/lib/graphql/static_validation/rules>.

use super::{
    document::{Field, Literal, Operation, Set, key, literal},
    schema::{Input, Schema, Shape, Type, inner, is_required},
};
use graphql_parser::{Pos, query::Selection};
use serde_json::{Map, Value, json};
use std::{collections::BTreeSet, fmt};

/// Returns the document's errors; empty if it can be run.
pub(super) fn faults(schema: &Schema, operation: &Operation<'_>) -> Vec<Value> {
    let kind = operation.root.to_lowercase();
    let mut reading = Reading {
        schema,
        operation,
        path: vec![
            operation
                .name
                .map_or_else(|| kind.clone(), |name| format!("{kind} {name}")),
        ],
        used: BTreeSet::new(),
        faults: Vec::new(),
    };
    reading.set(operation.root, operation.set);
    for variable in operation.variables {
        if !reading.used.contains(&variable.name) {
            let (name, declarer) = (&variable.name, reading.operation_name());
            let message = format!("Variable ${name} is declared by {declarer} but not used");
            reading.fault(operation.at, "variableNotUsed", message);
        }
    }
    reading.faults
}

struct Reading<'a> {
    schema: &'a Schema,
    operation: &'a Operation<'a>,
    path: Vec<String>,
    used: BTreeSet<String>,
    faults: Vec<Value>,
}

/// A field or input object that takes arguments, as errors name it.
#[derive(Clone, Copy)]
enum Taker<'a> {
    Field(&'a str),
    InputObject(&'a str),
}

impl fmt::Display for Taker<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(f, "Field '{name}'"),
            Self::InputObject(name) => write!(f, "InputObject '{name}'"),
        }
    }
}

impl Reading<'_> {
    fn fault(&mut self, at: Pos, code: &str, message: String) {
        self.faults.push(json!({
            "path": self.path,
            "extensions": {"code": code},
            "locations": [{"line": at.line, "column": at.column}],
            "message": message,
        }));
    }

    fn operation_name(&self) -> String {
        let Operation { name, root, .. } = self.operation;
        name.map_or_else(|| format!("anonymous {}", root.to_lowercase()), str::to_owned)
    }

    fn set(&mut self, holder: &str, set: &Set) {
        for item in &set.items {
            match item {
                Selection::Field(field) => {
                    self.path.push(key(field).to_owned());
                    self.field(holder, field);
                    self.path.pop();
                }
                Selection::FragmentSpread(_) | Selection::InlineFragment(_) => {
                    self.fault(set.span.0, "notServed", "Fragments are not served".to_owned());
                }
            }
        }
    }

    fn field(&mut self, holder: &str, field: &Field) {
        let (schema, at, name) = (self.schema, field.position, &field.name);
        let known = match schema.shape(holder) {
            Shape::Fields(fields) => fields.iter().find(|known| known.name == *name),
            Shape::Inputs(_) | Shape::Scalar => None,
        };
        let Some(known) = known else {
            let message = format!("Field '{name}' doesn't exist on type '{holder}'");
            return self.fault(at, "undefinedField", message);
        };
        self.arguments(at, Taker::Field(name), &field.arguments, &known.arguments);
        let kind = inner(&known.field_type);
        let is_object = matches!(schema.shape(kind), Shape::Fields(_));
        match (is_object, field.selection_set.items.is_empty()) {
            (true, false) => self.set(kind, &field.selection_set),
            (false, true) => {}
            (true, true) => {
                let message = format!(
                    "Field must have selections (field '{name}' returns {kind} but has no selections. \
                     Did you mean '{name} {{ ... }}'?)"
                );
                self.fault(at, "selectionMismatch", message);
            }
            (false, false) => {
                let inside = super::document::fields(&field.selection_set).map(|one| format!("\"{}\"", one.name));
                let inside: Vec<String> = inside.collect();
                let message = format!(
                    "Selections can't be made on scalars (field '{name}' returns {kind} but has selections [{}])",
                    inside.join(", ")
                );
                self.fault(at, "selectionMismatch", message);
            }
        }
    }

    fn arguments(&mut self, at: Pos, taker: Taker<'_>, given: &[(String, Literal)], known: &[Input]) {
        for (name, value) in given {
            self.path.push(name.clone());
            match known.iter().find(|input| input.name == *name) {
                Some(input) => self.value(at, taker, input, value),
                None => {
                    let message = format!("{taker} doesn't accept argument '{name}'");
                    self.fault(at, "argumentNotAccepted", message);
                }
            }
            self.path.pop();
        }
        let is_given = |input: &Input| given.iter().any(|(name, _)| *name == input.name);
        let missing: Vec<&Input> = known
            .iter()
            .filter(|input| is_required(input) && !is_given(input))
            .collect();
        self.missing(at, taker, &missing);
    }

    fn missing(&mut self, at: Pos, taker: Taker<'_>, missing: &[&Input]) {
        match taker {
            Taker::Field(_) if missing.is_empty() => {}
            Taker::Field(_) => {
                let names: Vec<&str> = missing.iter().map(|input| input.name.as_str()).collect();
                let message = format!("{taker} is missing required arguments: {}", names.join(", "));
                self.fault(at, "missingRequiredArguments", message);
            }
            Taker::InputObject(_) => {
                for Input { name, value_type, .. } in missing {
                    let message = format!("Argument '{name}' on {taker} is required. Expected type {value_type}");
                    self.fault(at, "missingRequiredInputObjectAttribute", message);
                }
            }
        }
    }

    fn value(&mut self, at: Pos, taker: Taker<'_>, input: &Input, value: &Literal) {
        let schema = self.schema;
        let kind = inner(&input.value_type);
        match (value, schema.shape(kind)) {
            (Literal::Variable(name), _) => self.variable(at, name, input),
            (Literal::Object(given), Shape::Inputs(known)) => {
                let given: Vec<(String, Literal)> = given.clone().into_iter().collect();
                self.arguments(at, Taker::InputObject(kind), &given, known);
            }
            (Literal::Enum(_), _) => self.unfit(at, taker, input, value),
            (value, _) if schema.takes(&input.value_type, &literal(&Map::new(), value)) => {}
            (value, _) => self.unfit(at, taker, input, value),
        }
    }

    fn unfit(&mut self, at: Pos, taker: Taker<'_>, Input { name, value_type, .. }: &Input, value: &Literal) {
        let expected = format!("Expected type '{value_type}'.");
        let message = format!("Argument '{name}' on {taker} has an invalid value ({value}). {expected}");
        self.fault(at, "argumentLiteralsIncompatible", message);
    }

    fn variable(&mut self, at: Pos, name: &str, input: &Input) {
        self.used.insert(name.to_owned());
        let Some(declared) = self.operation.variables.iter().find(|one| one.name == name) else {
            let message = format!("Variable ${name} is used by {} but not declared", self.operation_name());
            return self.fault(at, "variableNotDefined", message);
        };
        let has_value = matches!(declared.var_type, Type::NonNullType(_)) || declared.default_value.is_some();
        let trouble = match inner(&declared.var_type) == inner(&input.value_type) {
            false => "Type mismatch",
            true if is_required(input) && !has_value => "Nullability mismatch",
            true => return,
        };
        let (own, wanted) = (&declared.var_type, &input.value_type);
        let message = format!(
            "{trouble} on variable ${name} and argument {} ({own} / {wanted})",
            input.name
        );
        self.fault(at, "variableMismatch", message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the codes and texts of a document's errors.
    fn errors(text: &str) -> Vec<String> {
        let document = graphql_parser::parse_query::<String>(text).unwrap().into_static();
        let operation = Operation::of(&document).unwrap();
        let faults = faults(&Schema::read(), &operation);
        let told = faults.iter().map(|fault| {
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            format!("{}: {}", text(&fault["extensions"]["code"]), text(&fault["message"]))
        });
        told.collect()
    }

    fn ready(variables: &str, input: &str) -> String {
        format!("mutation{variables} {{ markPullRequestReadyForReview({input}) {{ pullRequest {{ isDraft }} }} }}")
    }

    #[test]
    fn documents_that_keep_to_the_schema_are_run() {
        for text in [
            "{ repository(owner: \"a\", name: \"b\") { id name issue(number: 1) { a: id number editor { login } } } }",
            &ready("($id: ID!)", "input: {pullRequestId: $id, clientMutationId: \"c\"}"),
            &ready("($id: ID = 1)", "input: {pullRequestId: $id}"),
            &ready("($input: MarkPullRequestReadyForReviewInput!)", "input: $input"),
            &ready("", "input: {pullRequestId: 1}"),
        ] {
            assert_eq!(errors(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn variables_are_declared_used_and_of_the_type_that_is_wanted() {
        let mismatch = "on variable $id and argument pullRequestId";
        for (variables, input, fault) in [
            (
                "($id: String!)",
                "input: {pullRequestId: $id}",
                format!("variableMismatch: Type mismatch {mismatch} (String! / ID!)"),
            ),
            (
                "($id: ID)",
                "input: {pullRequestId: $id}",
                format!("variableMismatch: Nullability mismatch {mismatch} (ID / ID!)"),
            ),
            (
                "",
                "input: {pullRequestId: $id}",
                "variableNotDefined: Variable $id is used by anonymous mutation but not declared".to_owned(),
            ),
            (
                " Ready($id: ID!)",
                "input: {pullRequestId: 1}",
                "variableNotUsed: Variable $id is declared by Ready but not used".to_owned(),
            ),
        ] {
            assert_eq!(errors(&ready(variables, input)), [fault], "{variables} {input}");
        }
    }

    #[test]
    fn arguments_are_known_given_if_required_and_fit() {
        let input = "InputObject 'MarkPullRequestReadyForReviewInput'";
        for (given, fault) in [
            ("input: {pullRequestId: 1, foo: 1}", format!("argumentNotAccepted: {input} doesn't accept argument 'foo'")),
            (
                "input: {}",
                format!("missingRequiredInputObjectAttribute: Argument 'pullRequestId' on {input} is required. Expected type ID!"),
            ),
            (
                "input: {pullRequestId: true}",
                format!("argumentLiteralsIncompatible: Argument 'pullRequestId' on {input} has an invalid value (true). Expected type 'ID!'."),
            ),
            (
                "input: 1",
                "argumentLiteralsIncompatible: Argument 'input' on Field 'markPullRequestReadyForReview' has an invalid value (1). \
                 Expected type 'MarkPullRequestReadyForReviewInput!'."
                    .to_owned(),
            ),
        ] {
            assert_eq!(errors(&ready("", given)), [fault], "{given}");
        }
        assert_eq!(
            errors("{ repository(owner: \"a\") { id } }"),
            ["missingRequiredArguments: Field 'repository' is missing required arguments: name"]
        );
    }

    #[test]
    fn selections_stand_on_objects_alone() {
        for (selected, fault) in [
            ("title", "undefinedField: Field 'title' doesn't exist on type 'Issue'"),
            (
                "editor { name }",
                "undefinedField: Field 'name' doesn't exist on type 'Actor'",
            ),
            (
                "editor",
                "selectionMismatch: Field must have selections (field 'editor' returns Actor but has no selections. \
                 Did you mean 'editor { ... }'?)",
            ),
            (
                "id { a }",
                "selectionMismatch: Selections can't be made on scalars (field 'id' returns ID but has selections [\"a\"])",
            ),
            ("... on Issue { id }", "notServed: Fragments are not served"),
        ] {
            let text = format!("{{ repository(owner: \"a\", name: \"b\") {{ issue(number: 1) {{ {selected} }} }} }}");
            assert_eq!(errors(&text), [fault], "{text}");
        }
    }
}
