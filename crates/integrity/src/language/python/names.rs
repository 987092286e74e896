//! What the names of a Python file stand for.

use crate::language::syntax::At;

/// Larger files are not searched for what a name means: it would have to be done for every check.
const MOST_PLACES: usize = 30_000;

/// The file that a place stands in.
pub(super) fn root(at: At<'_>) -> At<'_> {
    at.ancestors().last().unwrap_or(at)
}

/// The value that a name is given, where the function around it, or else the file, gives it one exactly once.
pub(super) fn assigned(name: At<'_>) -> Option<At<'_>> {
    if root(name).size() > MOST_PLACES {
        return None;
    }
    let functions = name.ancestors().filter(|outer| outer.is(&["function_definition"]));
    let scopes = functions.chain(std::iter::once(root(name)));
    for scope in scopes {
        let mut values = scope.below().filter(|at| gives(*at, name.text()));
        if let Some(first) = values.next() {
            let plain = first.is(&["assignment"]) && first.field_text("left") == name.text();
            return (plain && values.next().is_none())
                .then(|| first.field("right"))
                .flatten();
        }
    }
    None
}

/// Whether a place gives a name a value: by an assignment, a loop, a parameter, `with … as`.
fn gives(at: At<'_>, name: &str) -> bool {
    let names = |part: At<'_>| part.below().any(|leaf| leaf.is(&["identifier"]) && leaf.text() == name);
    match at.kind() {
        "assignment" | "augmented_assignment" | "for_statement" | "for_in_clause" => {
            at.field("left").is_some_and(names)
        }
        "named_expression" => at.field_text("name") == name,
        "parameters" | "lambda_parameters" | "as_pattern_target" | "global_statement" | "nonlocal_statement" => {
            names(at)
        }
        "function_definition" | "class_definition" => at.field_text("name") == name,
        _ => false,
    }
}

/// Whether a name is nothing but what the file imports.
pub(super) fn is_imported(name: At<'_>) -> bool {
    name.is(&["identifier"])
        && root(name).size() <= MOST_PLACES
        && root(name).below().any(|at| {
            at.is(&["import_from_statement", "import_statement"])
                && at
                    .below()
                    .any(|part| part.is(&["identifier"]) && part.text() == name.text())
        })
        && !root(name).below().any(|at| gives(at, name.text()))
}

/// Whether a list holds nothing: written so, or a name that was given such a list and nothing fills.
pub(super) fn is_empty(list: At<'_>) -> bool {
    match list.kind() {
        "list" | "tuple" | "dictionary" | "set" => list.children().next().is_none(),
        "call" => matches!(
            list.phrase().as_str(),
            "range 0" | "list" | "tuple" | "dict" | "set" | "iter ()"
        ),
        "generator_expression" | "list_comprehension" => list
            .below()
            .any(|part| part.is(&["for_in_clause"]) && part.field("right").is_some_and(is_empty)),
        "identifier" => {
            let filled = |at: At<'_>| {
                at.is(&["attribute", "subscript"])
                    && at.children().next().is_some_and(|object| object.text() == list.text())
            };
            let looks = [
                "len",
                "all",
                "any",
                "enumerate",
                "zip",
                "sorted",
                "list",
                "tuple",
                "iter",
                "reversed",
            ];
            let given = |at: At<'_>| {
                at.is(&["call"])
                    && !looks.contains(&at.field_text("function"))
                    && at
                        .field("arguments")
                        .is_some_and(|given| given.children().any(|part| part.text() == list.text()))
            };
            assigned(list).is_some_and(|value| !value.is(&["identifier"]) && is_empty(value))
                && !root(list).below().any(|at| filled(at) || given(at))
        }
        _ => false,
    }
}

/// The function of this name that the file defines at its top.
pub(super) fn defined<'t>(root: At<'t>, name: &str) -> Option<At<'t>> {
    root.children().find_map(|at| {
        let definition = if at.is(&["decorated_definition"]) {
            at.field("definition")?
        } else {
            at
        };
        (definition.is(&["function_definition", "class_definition"]) && definition.field_text("name") == name)
            .then_some(definition)
    })
}
