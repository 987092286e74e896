//! Replaces the bodies of JavaScript and TypeScript functions by empty ones.

use super::FUNCTIONS;
use crate::language::{bodies::ExecutableCode, outline::Source, syntax::At};

const CLASSES: [&str; 3] = ["class_declaration", "class", "abstract_class_declaration"];

pub(super) fn executable_code(source: &Source<'_>) -> ExecutableCode {
    let mut code = ExecutableCode::default();
    source.root.children().for_each(|at| statement(at, &mut code));
    code
}

fn statement(at: At<'_>, code: &mut ExecutableCode) {
    match at.kind() {
        "export_statement" => {
            if let Some(inner) = at.field("declaration").or_else(|| at.field("value")) {
                statement(inner, code);
            }
        }
        "lexical_declaration" | "variable_declaration" => {
            for declarator in at.children().filter(|part| part.is(&["variable_declarator"])) {
                let name = declarator.field("name").filter(|name| name.is(&["identifier"]));
                if let Some(value) = declarator.field("value").filter(|value| !is_import(*value)) {
                    functions_in(name.map(At::text), value, code);
                }
            }
        }
        "expression_statement" => {
            let inner = at.children().next().unwrap_or(at);
            match inner.kind() {
                "string" => {}
                "assignment_expression" => {
                    let name = inner.field("left").and_then(|left| left.field("property"));
                    if let Some(value) = inner.field("right") {
                        functions_in(name.map(At::text), value, code);
                    }
                }
                _ => code.value(None, inner),
            }
        }
        "if_statement" if at.field_text("condition").contains("main") => {}
        "import_statement"
        | "interface_declaration"
        | "type_alias_declaration"
        | "ambient_declaration"
        | "empty_statement"
        | "function_signature"
        | "hash_bang_line" => {}
        "enum_declaration" => code.value(Some(at.field_text("name")), at),
        _ => functions_in(None, at, code),
    }
}

/// Adds the outermost functions in the value that is assigned to a name; if there are none, adds the value itself.
fn functions_in(name: Option<&str>, at: At<'_>, code: &mut ExecutableCode) {
    if at.is(&["identifier"]) || is_list_of_names(at) {
        return;
    }
    let outermost = at.outermost(|inner| inner.is_one_of(FUNCTIONS) && inner.field("body").is_some());
    if outermost.is_empty() && !at.is(&CLASSES) {
        code.value(name, at);
    }
    let is_field = |part: &At<'_>| part.is(&["field_definition", "public_field_definition"]);
    for field in at.below().filter(is_field) {
        let in_function = outermost.iter().any(|function| function.holds(field));
        let holds_function = outermost.iter().any(|function| field.holds(*function));
        if field.field("value").is_some() && !in_function && !holds_function {
            let named = field.field("name").or_else(|| field.field("property"));
            code.value(named.map(At::text), field);
        }
    }
    for function in outermost {
        empty(name, function, code);
    }
}

/// `true` for an object such as in `module.exports = { a, b }`.
fn is_list_of_names(at: At<'_>) -> bool {
    at.is(&["object"]) && at.children().all(|part| part.is(&["shorthand_property_identifier"]))
}

fn is_import(at: At<'_>) -> bool {
    at.text().starts_with("require(") || at.text().starts_with("await import(")
}

fn empty(name: Option<&str>, function: At<'_>, code: &mut ExecutableCode) {
    let Some(body) = function.field("body") else { return };
    let own = function.field_text("name");
    let name = match (own, name) {
        ("", Some(name)) => name,
        (own, _) => own,
    };
    let [first, second] = answers(function.field_text("return_type"), is_typed(function));
    let is_maker = function.kind().starts_with("generator") || function.parts().any(|part| part.kind() == "*");
    let empty_bodies = match (name, is_maker, body.is(&["statement_block"])) {
        ("constructor", _, _) if extends(function) => {
            ["{ super(...arguments); }".into(), "{ super(...arguments); }".into()]
        }
        ("constructor", _, _) => ["{}".into(), "{}".into()],
        (_, true, _) => ["{}".into(), format!("{{ yield {second}; }}")],
        (_, false, true) => [format!("{{ return {first}; }}"), format!("{{ return {second}; }}")],
        (_, false, false) => [format!("({first})"), format!("({second})")],
    };
    code.body(name, function, body, empty_bodies);
}

fn extends(function: At<'_>) -> bool {
    let class = function.ancestors().find(|outer| outer.is(&CLASSES));
    class.is_some_and(|class| class.children().any(|part| part.is(&["class_heritage"])))
}

/// `true` if the function has type annotations, so that the replacement may use types too.
fn is_typed(function: At<'_>) -> bool {
    function.field("return_type").is_some()
        || function.field("parameters").is_some_and(|all| all.below().any(|part| part.is(&["type_annotation"])))
}

/// Returns two values that fit the written type.
fn answers(written: &str, typed: bool) -> [&'static str; 2] {
    let written = written.trim_start_matches([':', ' ']);
    let promised = written.strip_prefix("Promise<").and_then(|inner| inner.strip_suffix('>'));
    match promised.unwrap_or(written).trim() {
        "number" => ["7919", "-7919"],
        "bigint" => ["7919n", "-7919n"],
        "string" => ["''", "'hollow'"],
        "boolean" => ["false", "true"],
        "void" | "undefined" => ["undefined", "undefined"],
        list if list.ends_with("[]") || list.starts_with("Array<") => ["[]", "[undefined as any]"],
        _ if typed => ["undefined as any", "'hollow' as any"],
        _ => ["undefined", "'hollow'"],
    }
}
