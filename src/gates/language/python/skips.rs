//! What keeps a Python test from running.

use super::checks;
use super::decorators;
use crate::domain::integrity::Rule;
use crate::gates::language::outline::Mark;
use crate::gates::language::outline::quoted;
use crate::gates::language::syntax::At;

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
    skips.extend(body.below().filter_map(skip_statement));
    skips.extend(
        at.ancestors()
            .filter(|outer| outer.is(&["if_statement"]))
            .filter_map(|outer| outer.field("condition"))
            .map(|condition| {
                Mark::at(
                    Rule::SkipAdded,
                    condition,
                    format!("the test is only defined if {}", quoted(condition.text())),
                )
            }),
    );
    skips.extend(checks::early_return(body));
    skips
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
    let what = format!("{} skips the test", quoted(at.text()));
    (skips || empty).then(|| Mark {
        key: skip_key(at, &names),
        ..Mark::at(Rule::SkipAdded, at, what)
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
    skips.then(|| Mark::at(Rule::SkipAdded, at, format!("{} skips the test", quoted(at.text()))))
}
