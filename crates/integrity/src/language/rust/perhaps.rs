//! Checks in Rust tests that hold whatever the code answers: what is expected is put in the place of a failure, or the check
//! is only reached where there is an answer.

use crate::language::syntax::At;

/// Methods that put a value in the place of a failure.
const FALLBACKS: [&str; 2] = ["unwrap_or", "unwrap_or_else"];

/// Whether an assertion compares with the very value that is put in the place of a failure.
pub(super) fn falls_back(at: At<'_>, tokens: At<'_>, arguments: &[Vec<String>]) -> bool {
    let is_argument = |value: &Vec<String>| arguments.iter().any(|argument| argument == value);
    let times = |value: &Vec<String>| {
        let first = arguments.first().map_or(&[][..], Vec::as_slice);
        first
            .windows(value.len().max(1))
            .filter(|window| window == value)
            .count()
    };
    let names = tokens.below().filter(|part| part.is(&["identifier"]));
    let bound = names
        .filter_map(|name| bound(at, name.text()))
        .flat_map(fallbacks)
        .collect::<Vec<_>>();
    fallbacks(tokens)
        .iter()
        .any(|value| is_argument(value) || times(value) > 1)
        || bound.iter().any(|value| is_argument(value) || times(value) > 0)
}

/// The values that stand in for a failure in a piece of code, parsed or not.
fn fallbacks(code: At<'_>) -> Vec<Vec<String>> {
    let called = code
        .below()
        .filter(|at| at.kind().ends_with("identifier") && FALLBACKS.contains(&at.text()));
    let values = called.filter_map(arguments).map(|given| {
        let mut words = given.words();
        if let Some(bar) = words.iter().rposition(|word| word == "|" || word == "||") {
            words.drain(..=bar);
        }
        words
    });
    values.filter(|words| !words.is_empty()).collect()
}

/// What stands in brackets behind a name, whether parsed or inside of a macro's tokens.
fn arguments(name: At<'_>) -> Option<At<'_>> {
    let outer = name
        .parent()
        .filter(|outer| outer.is(&["field_expression", "scoped_identifier"]));
    of_call(name).or_else(|| outer.and_then(of_call))
}

fn of_call(at: At<'_>) -> Option<At<'_>> {
    let next = at.next()?;
    (next.is(&["token_tree", "arguments"]) && next.text().starts_with('(')).then_some(next)
}

/// The names of functions that are called in a piece of code.
fn calls<'t>(code: At<'t>) -> Vec<&'t str> {
    let names = code
        .below()
        .filter(|at| at.kind().ends_with("identifier") && arguments(*at).is_some());
    let names = names
        .map(At::text)
        .filter(|name| name.starts_with(|c: char| c.is_lowercase()));
    names
        .filter(|name| !METHODS.contains(name) && !name.contains(':'))
        .collect()
}

/// Methods of everything, which say nothing of what is under test.
const METHODS: [&str; 12] = [
    "iter",
    "len",
    "is_empty",
    "unwrap",
    "expect",
    "to_owned",
    "to_string",
    "clone",
    "starts_with",
    "contains",
    "is_err",
    "is_ok",
];

/// What a name is bound to in the function around.
fn bound<'t>(at: At<'t>, name: &str) -> Option<At<'t>> {
    let function = at.ancestors().find(|outer| outer.is(&["function_item"]))?;
    let mut lets = function.below().filter(|at| at.is(&["let_declaration"]));
    lets.find(|at| at.field_text("pattern") == name)?.field("value")
}

/// Whether a check stands in a loop over what the code under test answers: an error gives nothing to go through.
pub(super) fn is_in_an_answer(at: At<'_>, body: At<'_>) -> bool {
    let around = at.ancestors().take_while(|outer| !outer.is_same(body));
    around.filter(|outer| outer.is(&["for_expression"])).any(|outer| {
        let over = outer.field("value").filter(|value| !value.holds(at));
        over.is_some_and(|over| is_answer(over))
    })
}

/// Whether a loop around a check only goes through what the code under test let through: the loop's filter calls what the
/// check calls.
pub(super) fn is_filtered_by_itself(at: At<'_>, body: At<'_>) -> bool {
    let Some(tokens) = at.next().and_then(At::next) else {
        return false;
    };
    let checked = calls(tokens);
    let mut around = at.ancestors().take_while(|outer| !outer.is_same(body));
    around.any(|outer| {
        let over = outer
            .field("value")
            .filter(|over| outer.is(&["for_expression"]) && !over.holds(at));
        let filters = over
            .into_iter()
            .flat_map(At::below)
            .filter(|at| matches!(at.text(), "filter" | "skip_while"));
        let mut filters = filters.filter_map(arguments);
        filters.any(|filter| calls(filter).iter().any(|name| checked.contains(name)))
    })
}

/// Whether a test writes the very value into the file that it then reads to compare the value with.
pub(super) fn is_written_first(at: At<'_>, tokens: At<'_>) -> bool {
    let plain = |text: &str| {
        text.chars()
            .filter(|c| !c.is_whitespace() && *c != '&')
            .collect::<String>()
    };
    let compared = plain(tokens.text());
    let Some(test) = at.ancestors().find(|outer| outer.is(&["function_item"])) else {
        return false;
    };
    let always = |call: &At<'_>| {
        call.ancestors()
            .take_while(|outer| !outer.is_same(test))
            .all(|outer| !outer.is(&["if_expression", "match_expression", "closure_expression"]))
    };
    let mut calls = test.below().filter(|call| {
        let function = call.field_text("function");
        call.is(&["call_expression"]) && call.line() < at.line() && function.ends_with("fs::write") && always(call)
    });
    calls.any(|call| {
        let given: Vec<String> = call
            .field("arguments")
            .into_iter()
            .flat_map(At::children)
            .map(|part| plain(part.text()))
            .collect();
        let [path, value] = given.as_slice() else {
            return false;
        };
        let reads = ["read_to_string", "read"]
            .iter()
            .any(|read| compared.contains(&format!("fs::{read}({path})")));
        reads && (compared.starts_with(&format!("({value},")) || compared.contains(&format!(",{value})")))
    })
}

/// Whether what is expected comes from a function beside the test that only hands on what the code under test answers.
pub(super) fn is_echo(at: At<'_>, tokens: At<'_>) -> bool {
    let Some(root) = at.ancestors().last() else {
        return false;
    };
    let called = calls(tokens);
    let mut helpers = root.below().filter(|at| at.is(&["function_item"]));
    helpers.any(|helper| {
        let name = helper.field_text("name");
        let Some(body) = helper
            .field("body")
            .filter(|body| called.contains(&name) && !body.holds(at))
        else {
            return false;
        };
        let hands_on = body.children().count() == 1;
        let says_something = body.below().any(|part| {
            part.kind().ends_with("_literal") || part.is(&["binary_expression", "match_expression", "for_expression"])
        });
        let asks = calls(body).iter().any(|inner| *inner != name && called.contains(inner));
        hands_on && !says_something && asks
    })
}

/// Whether an expression is the call of a function by name that stands in another file.
fn is_answer(over: At<'_>) -> bool {
    let Some(function) = over.field("function").filter(|_| over.is(&["call_expression"])) else {
        return false;
    };
    let name = function.text();
    let first = name.split("::").next().unwrap_or_default();
    let is_plain = function.is(&["identifier", "scoped_identifier"])
        && !matches!(first, "std" | "core" | "alloc" | "iter")
        && name
            .rsplit("::")
            .nth(1)
            .is_none_or(|path| path.starts_with(|c: char| c.is_lowercase()));
    let module = |at: At<'_>| {
        at.ancestors()
            .find(|outer| outer.is(&["mod_item", "source_file"]))
            .map(At::range)
    };
    let root = over.ancestors().last();
    let own = root.is_some_and(|root| {
        let mut all = root.below().filter(|at| at.is(&["function_item"]));
        all.any(|at| at.field_text("name") == name && module(at) == module(over))
    });
    is_plain && !own
}

#[cfg(test)]
mod tests {
    use crate::{language, language::outline::Strength};

    #[test]
    fn what_is_expected_in_the_place_of_a_failure_says_little() {
        let table = [
            ("assert_eq!(sum(\"1\").unwrap_or(-1), -1);", Strength::Weak),
            ("assert_eq!(sum(\"1\").unwrap_or_else(|_| 7), 7);", Strength::Weak),
            ("assert_eq!(sum(\"1\").unwrap_or(0), 7);", Strength::Strong),
            (
                "let found = sum(\"1\").unwrap_or(3.0); assert!((found - 3.0).abs() < 0.1);",
                Strength::Weak,
            ),
            (
                "let found = sum(\"1\").unwrap(); assert!((found - 3.0).abs() < 0.1);",
                Strength::Strong,
            ),
            ("for found in sum(\"1\") { assert_eq!(found, 1); }", Strength::Weak),
            ("for found in rows() { assert_eq!(sum(found), 1); }", Strength::Strong),
            (
                "let _all = rows().iter().map(|row| assert_eq!(sum(row), 1));",
                Strength::Silenced,
            ),
            (
                "let _ = sum(\"1\").map(|found| assert_eq!(found, 1));",
                Strength::Silenced,
            ),
            (
                "rows().iter().map(|row| { assert_eq!(sum(row), 1); 1 }).sum::<u32>();",
                Strength::Strong,
            ),
        ];
        for (body, expected) in table {
            let text = format!("use a::sum;\nfn rows() -> Vec<u32> {{ vec![1] }}\n#[test]\nfn t() {{ {body} }}\n");
            let outline = language::read("tests/a.rs", &text).unwrap();
            let checks = outline.tests.iter().flat_map(|test| &test.checks);
            let strongest = checks
                .filter(|check| check.words.iter().any(|word| word.starts_with("assert")))
                .map(|check| check.strength)
                .max();
            assert_eq!(strongest, Some(expected), "{body}");
        }
    }
}
