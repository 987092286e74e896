//! What the names of a JavaScript file stand for.

use crate::language::syntax::At;

/// Larger files are not searched for what a name means: it would have to be done for every check.
const MOST_PLACES: usize = 30_000;

/// The file that a place stands in.
pub(super) fn root(at: At<'_>) -> At<'_> {
    at.ancestors().last().unwrap_or(at)
}

/// The value that a name is given, where the functions around it, or else the file, declare it once and never assign it.
pub(super) fn assigned(name: At<'_>) -> Option<At<'_>> {
    let file = root(name);
    if file.size() > MOST_PLACES {
        return None;
    }
    let blocks = name
        .ancestors()
        .filter(|outer| outer.is(&["statement_block", "program"]));
    for block in blocks {
        let mut declared = block.below().filter(|at| declares(*at, name.text()));
        if let Some(first) = declared.next() {
            let changed = file.below().any(|at| {
                at.is(&[
                    "assignment_expression",
                    "augmented_assignment_expression",
                    "update_expression",
                ]) && assigns(at, name.text())
            });
            let plain = first.is(&["variable_declarator"]) && first.field_text("name") == name.text();
            return (plain && !changed && declared.next().is_none())
                .then(|| first.field("value"))
                .flatten();
        }
    }
    None
}

fn assigns(at: At<'_>, name: &str) -> bool {
    at.field("left").or_else(|| at.field("argument")).is_some_and(|left| {
        left.below()
            .any(|leaf| leaf.is(&["identifier", "shorthand_property_identifier_pattern"]) && leaf.text() == name)
    })
}

fn declares(at: At<'_>, name: &str) -> bool {
    let names = |part: At<'_>| {
        part.below()
            .any(|leaf| leaf.is(&["identifier", "shorthand_property_identifier_pattern"]) && leaf.text() == name)
    };
    match at.kind() {
        "variable_declarator" | "function_declaration" | "class_declaration" => at.field("name").is_some_and(names),
        "formal_parameters" => names(at),
        "arrow_function" => at.field("parameter").is_some_and(names),
        "for_in_statement" => at.field("left").is_some_and(names),
        _ => false,
    }
}

/// Whether a name is nothing but what the file imports.
pub(super) fn is_imported(name: At<'_>) -> bool {
    let brings = |at: At<'_>| {
        let required = at.is(&["variable_declarator"])
            && at.ancestors().take(2).any(|outer| outer.is(&["program"]))
            && at.field_text("value").starts_with("require(");
        (at.is(&["import_statement"]) || required)
            && at.below().any(|part| {
                part.is(&["identifier", "shorthand_property_identifier_pattern"]) && part.text() == name.text()
            })
    };
    name.is(&["identifier"])
        && root(name).size() <= MOST_PLACES
        && root(name).children().flat_map(At::below).any(brings)
        && assigned(name).is_none_or(|value| value.text().starts_with("require("))
}

/// Whether a list holds nothing: written so, or a name that was given such a list and nothing fills.
pub(super) fn is_empty(list: At<'_>) -> bool {
    match list.kind() {
        "array" | "object" => list.children().next().is_none(),
        "call_expression" => {
            let object = list.field("function").and_then(|function| function.field("object"));
            let passes_on = matches!(
                list.field("function")
                    .map_or("", |function| function.field_text("property")),
                "entries" | "keys" | "values" | "filter" | "map" | "slice"
            );
            passes_on && object.is_some_and(is_empty)
        }
        "identifier" => {
            let filled = |at: At<'_>| {
                at.is(&["member_expression", "subscript_expression"])
                    && at.field_text("object") == list.text()
                    && !matches!(
                        at.field_text("property"),
                        "length" | "forEach" | "map" | "every" | "some" | "entries" | "filter"
                    )
            };
            let given = |at: At<'_>| {
                at.is(&["arguments", "spread_element"]) && at.children().any(|part| part.text() == list.text())
            };
            assigned(list).is_some_and(|value| value.is(&["array"]) && is_empty(value))
                && !root(list).below().any(|at| filled(at) || given(at))
        }
        _ => false,
    }
}

/// The function of this name that the file defines at its top.
pub(super) fn defined<'t>(root: At<'t>, name: &str) -> Option<At<'t>> {
    let declarations = root.children().flat_map(|at| {
        let inner = if at.is(&["export_statement"]) {
            at.field("declaration")
        } else {
            Some(at)
        };
        inner
            .into_iter()
            .flat_map(|at| std::iter::once(at).chain(at.children()))
    });
    let mut named = declarations.filter(|at| at.field_text("name") == name);
    named.find_map(|at| match at.kind() {
        "function_declaration" => Some(at),
        "variable_declarator" => at
            .field("value")
            .filter(|value| value.is(&["arrow_function", "function_expression"])),
        _ => None,
    })
}
