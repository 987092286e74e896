//! The calls by which JavaScript tests and suites are made, and their parts.

use crate::language::syntax::At;

const TESTS: [&str; 9] = ["it", "test", "specify", "xit", "xtest", "fit", "xspecify", "t", "Deno"];

const SUITES: [&str; 7] = [
    "describe",
    "context",
    "suite",
    "xdescribe",
    "fdescribe",
    "xcontext",
    "xsuite",
];

/// The dotted name that is called, through `test.each(…)(…)`.
pub(super) fn callee(at: At<'_>) -> String {
    let mut function = at.field("function");
    while let Some(inner) = function.filter(|function| function.is(&["call_expression"])) {
        function = inner.field("function");
    }
    let text = function.map_or("", At::text);
    text.replace("[\"", ".")
        .replace("['", ".")
        .replace("\"]", "")
        .replace("']", "")
}

/// `it`, `test.skip`, `t.test`: whether a called name makes a test.
pub(super) fn makes_test(name: &str) -> bool {
    let mut parts = name.split('.');
    match (parts.next(), parts.next()) {
        (Some("t" | "Deno"), second) => second == Some("test"),
        (Some(first), second) => {
            TESTS.contains(&first)
                && !matches!(
                    second,
                    Some(
                        "step"
                            | "extend"
                            | "use"
                            | "describe"
                            | "beforeEach"
                            | "afterEach"
                            | "beforeAll"
                            | "afterAll"
                            | "before"
                            | "after"
                            | "mock"
                    )
                )
        }
        (None, _) => false,
    }
}

fn makes_suite(name: &str) -> bool {
    name.split('.').next().is_some_and(|first| SUITES.contains(&first)) || name.starts_with("test.describe")
}

/// The suites and tests around a call, the inmost first.
pub(super) fn suites_around(at: At<'_>) -> Vec<At<'_>> {
    at.ancestors()
        .filter(|outer| outer.is(&["call_expression"]) && (makes_suite(&callee(*outer)) || makes_test(&callee(*outer))))
        .collect()
}

/// What a test or a suite is called.
pub(super) fn title(at: At<'_>) -> String {
    let first = at.field("arguments").and_then(|list| list.children().next());
    first.map_or_else(String::new, |first| {
        first.text().trim_matches(['"', '\'', '`']).to_owned()
    })
}

/// The function that is the test.
pub(super) fn callback(at: At<'_>) -> Option<At<'_>> {
    at.field("arguments")?
        .children()
        .filter(|argument| argument.is(&["arrow_function", "function_expression"]))
        .last()
}
