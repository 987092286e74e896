//! Suspicious places in Rust: stubs, exits, assertions with another meaning, code that knows of its tests.

use super::{attribute, checks::macro_call, is_test, is_test_code, reached, stubs};
use crate::language::{
    Role,
    outline::{Mark, Source, quoted},
    syntax::At,
};
use domain::integrity::Rule;

const ASSERTIONS: [&str; 9] = [
    "assert",
    "assert_eq",
    "assert_ne",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "panic",
    "unreachable",
    "matches",
];

/// What is suspicious about one place.
pub(super) fn at(source: &Source<'_>, at: At<'_>, marks: &mut Vec<Mark>) {
    match at.kind() {
        "identifier" | "scoped_identifier" => marks.extend(by_macro(source, at)),
        "call_expression" => {
            marks.extend(exit(source, at));
            marks.extend(stubs::as_error(source, at));
        }
        "function_item" if at.field_text("name") == "eq" => {
            let what = "`eq` does not look at what it compares with, so that comparisons say nothing";
            // Beside tests, types may differ from all others in ways of their own; none is equal to everything.
            let counts =
                source.role == Role::Source || at.field("body").is_some_and(|body| body.phrase() == "{ true }");
            marks.extend((counts && is_blind(at)).then(|| Mark::at(Rule::AssertionTrivial, at, what)));
        }
        "function_item" => {
            marks.extend(own_version(source, at));
            marks.extend(stubs::with_excuse(source, at));
            marks.extend(stubs::idle(source, at));
            marks.extend(reached::lets_go(source, at));
        }
        "impl_item" => marks.extend(stubs::idle_impl(source, at)),
        "macro_definition" if ASSERTIONS.contains(&at.field_text("name")) => {
            let what = format!(
                "`{}!` is defined anew, so that assertions mean something else",
                at.field_text("name")
            );
            marks.push(Mark::at(Rule::ShadowModule, at, what));
        }
        "use_declaration" => {
            marks.extend(shadowing_use(at));
            marks.extend(stubs::renamed(source, at));
        }
        "attribute_item" | "inner_attribute_item" => marks.extend(by_attribute(source, at)),
        "line_comment" | "block_comment" => marks.extend(by_comment(source, at)),
        _ => {}
    }
}

/// A function inside of a test that is called like one of the product in the same file: the test tries its own.
fn own_version(source: &Source<'_>, function: At<'_>) -> Option<Mark> {
    let test = function
        .ancestors()
        .find(|outer| outer.is(&["function_item"]) && is_test(*outer))?;
    let name = function.field_text("name");
    let mut others = source
        .root
        .below()
        .filter(|at| at.is(&["function_item"]) && at.field_text("name") == name);
    let is_product = others.any(|other| !test.holds(other) && !is_test_code(source, other));
    let what = format!("`{name}` inside of a test stands in for the product's own");
    is_product.then(|| Mark::at(Rule::ShadowModule, function, what))
}

/// Whether a comparison never asks for the other side, and does not say that all differ.
fn is_blind(function: At<'_>) -> bool {
    let Some(body) = function.field("body") else {
        return false;
    };
    let parameters = function.field("parameters").into_iter().flat_map(At::children);
    let other = parameters
        .filter_map(|at| at.field("pattern"))
        .last()
        .map_or("", At::text);
    let is_put_away = |at: At<'_>| {
        at.ancestors()
            .any(|outer| outer.is(&["let_declaration"]) && outer.field_text("pattern") == "_")
    };
    let asks = body
        .below()
        .any(|at| at.kind().ends_with("identifier") && at.text() == other && !is_put_away(at));
    let takes_self = function
        .parent()
        .and_then(At::parent)
        .is_some_and(|outer| outer.is(&["impl_item"]) && outer.field_text("trait").contains("PartialEq"));
    takes_self && !asks && body.phrase() != "{ false }" && !body.phrase().contains("matches !")
}

/// The function that a place stands in, for a key that survives a move.
pub(super) fn within(at: At<'_>) -> &str {
    at.ancestors()
        .find(|outer| outer.is(&["function_item"]))
        .map_or("", |outer| outer.field_text("name"))
}

fn by_macro(source: &Source<'_>, at: At<'_>) -> Option<Mark> {
    let (name, tokens) = macro_call(at)?;
    let words = tokens.words().join(" ");
    if name == "cfg" {
        let knows = tokens.words().iter().any(|word| word == "test") && !is_test_code(source, at);
        let what = format!(
            "{} lets the code behave differently under test",
            quoted(&format!("cfg!{}", tokens.text()))
        );
        return knows.then(|| Mark {
            key: format!("{} {words}", within(at)),
            ..Mark::at(Rule::DiffersUnderTest, at, what)
        });
    }
    stubs::by_macro(source, at, name, tokens)
}

fn exit(source: &Source<'_>, at: At<'_>) -> Option<Mark> {
    let called = at.field_text("function");
    let path = called.rsplit_once("::").map_or("", |(path, _)| path);
    let name = called.rsplit("::").next().unwrap_or_default();
    let exits = matches!(name, "exit" | "abort" | "_exit")
        && (path.is_empty() && name != "abort" || path.ends_with("process") || path == "libc");
    let in_hook = || {
        at.ancestors()
            .any(|outer| outer.is(&["call_expression"]) && outer.field_text("function").ends_with("set_hook"))
    };
    let what = format!("{} ends the process, and the tests with it", quoted(at.text()));
    (exits && (is_test_code(source, at) || in_hook())).then(|| Mark::at(Rule::ExitInTest, at, what))
}

fn shadowing_use(at: At<'_>) -> Option<Mark> {
    let words = at.words();
    let own = words
        .get(1)
        .is_some_and(|first| matches!(first.as_str(), "crate" | "super" | "self"));
    let last = words.last().map_or("", String::as_str);
    let renamed = words.iter().any(|word| word == "as") && ASSERTIONS.contains(&last);
    let what = format!("{} gives an assertion or `#[test]` another meaning", quoted(at.text()));
    // A function called `matches` leaves the macro as it is, and other macros of that name are seen where they are made.
    let replaces = ASSERTIONS.contains(&last) && last != "matches" || last == "test";
    (renamed || own && replaces).then(|| Mark::at(Rule::ShadowModule, at, what))
}

fn by_attribute(source: &Source<'_>, at: At<'_>) -> Option<Mark> {
    let text = attribute(at);
    let words: Vec<&str> = text.split_whitespace().collect();
    if is_test_code(source, at) || source.role != Role::Source {
        return None;
    }
    if matches!(words.as_slice(), ["coverage", "off", ..] | ["no_coverage", ..])
        || words.contains(&"coverage") && words.contains(&"off")
        || words.first() == Some(&"cfg") && words.iter().any(|word| word.starts_with("tarpaulin"))
    {
        let what = format!("{} keeps code out of the coverage", quoted(at.text()));
        return Some(Mark {
            key: format!("{text} {}", named_next(at)),
            ..Mark::at(Rule::CoverageWeakened, at, what)
        });
    }
    let conditional = words.first() == Some(&"cfg") && words.contains(&"test");
    let item = std::iter::successors(at.next(), |next| next.next()).find(|next| !next.is(&["attribute_item"]))?;
    let for_tests_alone = item.is(&["mod_item", "use_declaration", "extern_crate_declaration"]);
    let what = format!("{} lets the code behave differently under test", quoted(at.text()));
    (conditional && !for_tests_alone).then(|| Mark {
        key: format!("{text} {}", named_next(at)),
        ..Mark::at(Rule::DiffersUnderTest, at, what)
    })
}

/// The name of the item that an attribute belongs to.
fn named_next(at: At<'_>) -> &str {
    let item = std::iter::successors(at.next(), |next| next.next()).find(|next| !next.is(&["attribute_item"]));
    item.map_or("", |item| item.field_text("name"))
}

fn by_comment(source: &Source<'_>, at: At<'_>) -> Option<Mark> {
    let excluded = ["LCOV_EXCL_", "grcov-excl", "tarpaulin::skip"]
        .iter()
        .any(|mark| at.text().contains(mark));
    let what = format!("{} keeps code out of the coverage", quoted(at.text()));
    (excluded && source.role == Role::Source).then(|| Mark {
        key: at.text().to_owned(),
        ..Mark::at(Rule::CoverageWeakened, at, what)
    })
}
