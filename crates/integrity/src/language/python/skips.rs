//! What keeps a Python test from running.

use super::{
    checks, decorators,
    names::{defined, root},
    swallows::{is_async, runs_what_it_decorates, swallows_inside},
};
use crate::language::{
    outline::{Mark, quoted},
    syntax::At,
};
use domain::integrity::Rule;

const SKIPS: [&str; 8] = [
    "skip",
    "skipif",
    "skipIf",
    "skipUnless",
    "xfail",
    "expectedFailure",
    "skip_unless",
    "SkipTest",
];

/// Everything that keeps a test from running: on it, on its classes, around it and in it.
pub(super) fn skips_of_test(at: At<'_>, classes: &[At<'_>], body: At<'_>) -> Vec<Mark> {
    let mut skips: Vec<Mark> = classes
        .iter()
        .chain([&at])
        .flat_map(|at| decorators(*at))
        .filter_map(skip_decorator)
        .collect();
    skips.extend(decorators(at).filter_map(hollow_decorator));
    skips.extend(unawaited(at, classes));
    skips.extend(body.below().filter_map(skip_statement));
    skips.extend(
        at.ancestors()
            .filter(|outer| outer.is(&["if_statement"]))
            .filter_map(|outer| outer.field("condition"))
            .map(|condition| {
                Mark::at(
                    Rule::SkipConditional,
                    condition,
                    format!("the test is only defined if {}", quoted(condition.text())),
                )
            }),
    );
    skips.extend(checks::early_return(body));
    skips
}

/// A coroutine in a plain test case of unittest, which makes it and does not wait for it.
fn unawaited(at: At<'_>, classes: &[At<'_>]) -> Option<Mark> {
    let bases = classes.first().and_then(|class| class.field("superclasses"))?;
    let of_unittest = root(at).children().any(|part| {
        part.is(&["import_from_statement"])
            && part.field_text("module_name") == "unittest"
            && part.below().any(|name| name.text() == "TestCase")
    });
    let plain = bases
        .children()
        .any(|base| base.text() == "unittest.TestCase" || base.text() == "TestCase" && of_unittest);
    let what = format!(
        "`{}` is a coroutine that the test case does not wait for",
        at.field_text("name")
    );
    (is_async(at) && plain).then(|| Mark::at(Rule::SkipAdded, at, what))
}

/// A decorator of the same file that does not run the test, or hears its failures and says nothing.
fn hollow_decorator(at: At<'_>) -> Option<Mark> {
    let named = at.children().next()?;
    let makes_one = named.is(&["call"]);
    let name = if makes_one {
        named.field_text("function")
    } else {
        named.text()
    };
    let own = defined(root(at), name).filter(|own| own.is(&["function_definition"]));
    let hollow = own.is_some_and(|own| swallows_inside(own) || !makes_one && !runs_what_it_decorates(own));
    let what = format!(
        "{} does not run the test, or does not let its failures be heard",
        quoted(at.text())
    );
    hollow.then(|| Mark::at(Rule::SkipAdded, at, what))
}

/// A decorator that skips, or that leaves no case to run.
pub(super) fn skip_decorator(at: At<'_>) -> Option<Mark> {
    let words = at.words();
    let end = words
        .iter()
        .position(|word| word == "\"" || word.contains('"'))
        .unwrap_or(words.len());
    let names: Vec<&str> = words.iter().take(end).map(String::as_str).collect();
    let skips = names.iter().any(|word| SKIPS.contains(word))
        || at.below().any(|part| {
            part.is(&["keyword_argument"])
                && part.field_text("name") == "marks"
                && SKIPS
                    .iter()
                    .any(|skip| part.phrase().ends_with(skip) || part.phrase().contains(&format!(". {skip} ")))
        });
    let empty =
        names.contains(&"parametrize") && matches!(words.as_slice(), [.., open, close] if open == "[" && close == "]");
    let some = names.contains(&"parametrize") && goes_through_some(at);
    if some && !skips && !empty {
        let what = format!("{} goes through only some of its rows", quoted(at.text()));
        return Some(Mark::at(Rule::AssertionRemoved, at, what));
    }
    let what = format!("{} skips the test", quoted(at.text()));
    let rule = if skips && is_conditional(at) {
        Rule::SkipConditional
    } else {
        Rule::SkipAdded
    };
    (skips || empty).then(|| Mark {
        key: skip_key(at, &names),
        ..Mark::at(rule, at, what)
    })
}

/// Whether a decorator skips only where something holds that is not written there.
fn is_conditional(at: At<'_>) -> bool {
    let calls = at.below().filter(|part| part.is(&["call"]));
    let skips = |call: &At<'_>| {
        let name = call.field_text("function").rsplit('.').next().unwrap_or_default();
        matches!(name, "skipif" | "skipIf" | "skipUnless" | "skip_unless" | "xfail")
    };
    calls.filter(skips).any(|call| {
        let mut arguments = call.field("arguments").into_iter().flat_map(At::children);
        let said = |part: &At<'_>| match part.kind() {
            "keyword_argument" => part.field_text("name") == "condition",
            kind => kind != "string",
        };
        let condition = arguments.find(said).map(|part| part.field("value").unwrap_or(part));
        condition.is_some_and(|condition| !is_written_out(condition))
    })
}

/// Whether a condition is made of constants alone.
fn is_written_out(condition: At<'_>) -> bool {
    let is_name = |part: &At<'_>| part.is(&["identifier", "call", "attribute", "subscript"]);
    !is_name(&condition) && !condition.below().any(|part| is_name(&part))
}

/// Whether the rows of a table are chosen from a list that is written there.
fn goes_through_some(at: At<'_>) -> bool {
    let arguments = at.below().find(|part| part.is(&["argument_list"]));
    let rows = arguments.and_then(|list| list.children().nth(1));
    rows.is_some_and(|rows| match rows.kind() {
        "subscript" => rows.below().any(|part| part.is(&["slice"])),
        "list_comprehension" => rows.below().any(|part| part.is(&["if_clause"])),
        _ => false,
    })
}

/// A skip is the same if its reason was reworded, and another if its condition was.
fn skip_key(at: At<'_>, names: &[&str]) -> String {
    let reasonless = at.below().find(|part| part.is(&["argument_list"]));
    let condition = reasonless
        .into_iter()
        .flat_map(At::children)
        .filter(|part| !part.is(&["keyword_argument", "string"]));
    let name = names.iter().find(|word| SKIPS.contains(word)).unwrap_or(&"");
    format!("{name} {}", condition.map(At::phrase).collect::<Vec<_>>().join(" "))
}

/// `pytest.skip()`, `self.skipTest()`, `raise SkipTest`, `pytest.importorskip()`.
pub(super) fn skip_statement(at: At<'_>) -> Option<Mark> {
    let skips = match at.kind() {
        "call" => {
            let called = at.field_text("function");
            matches!(
                called,
                "pytest.skip" | "pytest.xfail" | "pytest.importorskip" | "importorskip" | "xfail"
            ) || called.ends_with(".skipTest")
        }
        "raise_statement" => {
            at.words()
                .iter()
                .any(|word| matches!(word.as_str(), "SkipTest" | "Skipped"))
                || at.text().contains("skip.Exception")
        }
        _ => false,
    };
    let decided = at.ancestors().take_while(|outer| !outer.is(&["function_definition"]));
    let on_condition = at.text().contains("importorskip")
        || decided
            .into_iter()
            .any(|outer| outer.is(&["if_statement", "except_clause"]));
    let rule = if on_condition {
        Rule::SkipConditional
    } else {
        Rule::SkipAdded
    };
    skips.then(|| Mark::at(rule, at, format!("{} skips the test", quoted(at.text()))))
}
