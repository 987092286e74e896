//! Replaces the bodies of Python functions by empty ones.

use super::is_nothing;
use crate::language::{bodies::ExecutableCode, outline::Source, syntax::At};

/// A value that supports every operation.
const ANYTHING: &str = "__import__('unittest.mock').mock.MagicMock()";

pub(super) fn executable_code(source: &Source<'_>) -> ExecutableCode {
    let mut code = ExecutableCode::default();
    source.root.children().for_each(|at| statement(at, &mut code));
    code
}

fn statement(at: At<'_>, code: &mut ExecutableCode) {
    match at.kind() {
        "function_definition" => function(at, at, code),
        "decorated_definition" => match at.field("definition") {
            Some(inner) if inner.is(&["function_definition"]) => function(at, inner, code),
            Some(inner) => statement(inner, code),
            None => {}
        },
        "if_statement" if is_entry(at) => {}
        "class_definition" | "try_statement" | "with_statement" | "if_statement" | "else_clause" | "except_clause"
        | "finally_clause" | "block" => {
            let inner = at.children().filter(|part| is_statement(*part));
            inner.for_each(|part| statement(part, code));
        }
        "expression_statement" => expression_statement(at, code),
        "import_statement"
        | "import_from_statement"
        | "future_import_statement"
        | "pass_statement"
        | "type_alias_statement" => {}
        _ => code.value(None, at),
    }
}

/// `true` if a part of a statement is executed, and is not a condition or a name.
fn is_statement(at: At<'_>) -> bool {
    at.kind().ends_with("_statement")
        || at.is(&[
            "block",
            "else_clause",
            "except_clause",
            "finally_clause",
            "function_definition",
            "decorated_definition",
            "class_definition",
        ])
}

/// `true` if a condition checks that the file is run directly or read by a type checker.
fn is_entry(at: At<'_>) -> bool {
    let asked = at.field_text("condition");
    asked.contains("__name__") || asked.contains("TYPE_CHECKING")
}

fn expression_statement(at: At<'_>, code: &mut ExecutableCode) {
    let Some(inner) = at.children().next() else { return };
    match inner.kind() {
        "string" | "ellipsis" => {}
        "assignment" if inner.field("right").is_none() => {}
        "assignment" => {
            let left = inner.field("left").filter(|left| left.is(&["identifier"]));
            match left.map(At::text) {
                Some("__all__" | "__version__" | "__slots__") => {}
                name => code.value(name, inner),
            }
        }
        _ => code.value(None, inner),
    }
}

fn function(whole: At<'_>, at: At<'_>, code: &mut ExecutableCode) {
    let Some(body) = at.field("body") else { return };
    let name = at.field_text("name");
    if body.children().all(is_unwritten) {
        return;
    }
    let (first, second) = answers(name, at.field_text("return_type"));
    let empty_bodies = if yields(body) {
        ["return; yield".to_owned(), format!("yield {ANYTHING}")]
    } else {
        [format!("return {first}"), format!("return {second}")]
    };
    code.body(name, whole, body, empty_bodies);
}

/// `true` if a statement does nothing, or says that subclasses do the work.
fn is_unwritten(statement: At<'_>) -> bool {
    let is_docstring = || statement.children().all(|part| part.is(&["string"]));
    is_nothing(statement)
        || statement.is(&["expression_statement"]) && is_docstring()
        || statement.is(&["raise_statement"]) && statement.text().contains("NotImplementedError")
}

fn yields(body: At<'_>) -> bool {
    let own = |at: &At<'_>| {
        let function = at.ancestors().find(|outer| outer.is(&["function_definition", "lambda"]));
        function.is_some_and(|function| function.field("body").is_some_and(|own| own.is_same(body)))
    };
    body.below().any(|at| at.is(&["yield"]) && own(&at))
}

/// Returns two values that fit the written type, or the type that the language requires from a method of this name.
fn answers(name: &str, written: &str) -> (&'static str, &'static str) {
    let written = match name {
        "__init__" | "__init_subclass__" | "__setattr__" | "__set__" | "__delattr__" => "None",
        "__repr__" | "__str__" | "__format__" => "str",
        "__eq__" | "__ne__" | "__lt__" | "__le__" | "__gt__" | "__ge__" | "__bool__" | "__contains__" => "bool",
        "__len__" | "__hash__" | "__int__" | "__index__" => return ("0", "7919"),
        _ => written,
    };
    let outer = written.split(['[', ' ']).next().unwrap_or_default();
    if written.contains('|') {
        return ("None", ANYTHING);
    }
    match outer.rsplit('.').next().unwrap_or(outer) {
        "None" => ("None", "None"),
        "int" => ("7919", "-7919"),
        "float" => ("7919.0", "-7919.0"),
        "str" => ("''", "'hollow'"),
        "bytes" => ("b''", "b'hollow'"),
        "bool" => ("False", "True"),
        "list" | "List" => ("[]", "[None]"),
        "dict" | "Dict" => ("{}", "{'hollow': None}"),
        "set" | "Set" => ("set()", "{'hollow'}"),
        "tuple" | "Tuple" => ("()", "(None,)"),
        _ => ("None", ANYTHING),
    }
}
