//! Hooks of pytest that take tests out of the run or write their results.

use crate::language::{outline::Mark, syntax::At};
use domain::integrity::Rule;

/// Words of a hook that takes tests out of the run.
const TAKES_OUT: [&str; 9] = [
    "skip",
    "xfail",
    "skipif",
    "deselect",
    "pytest_deselected",
    "clear",
    "remove",
    "pop",
    "del",
];

/// Attributes that hold the result of a test or of the run.
const RESULTS: [&str; 7] = [
    "outcome",
    "exitstatus",
    "testsfailed",
    "longrepr",
    "wasxfail",
    "failed",
    "passed",
];

/// Functions that pytest calls by name, where they take tests out or write results.
pub(super) fn hook(at: At<'_>) -> Option<Mark> {
    let name = at.field_text("name");
    if name == "load_tests" && !at.text().trim_end().ends_with("return tests") {
        return Some(Mark {
            key: name.to_owned(),
            ..Mark::at(Rule::RunnerWeakened, at, "`load_tests` decides which tests are run")
        });
    }
    if !name.starts_with("pytest_") {
        return None;
    }
    let body = at.field("body")?;
    let (rule, what) = meddling(name, body)?;
    Some(Mark {
        key: format!("{name} {what}"),
        ..Mark::at(rule, at, format!("`{name}` {what}"))
    })
}

/// What a hook does to the tests or to their results.
fn meddling(name: &str, body: At<'_>) -> Option<(Rule, &'static str)> {
    let words = body.words();
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
    match name {
        "pytest_ignore_collect" | "pytest_deselected" => Some((Rule::SkipAdded, "keeps tests from being collected")),
        "pytest_collection_modifyitems"
        | "pytest_itemcollected"
        | "pytest_collection_finish"
        | "pytest_runtest_setup"
        | "pytest_pycollect_makeitem"
            if has(&TAKES_OUT) || assigns(body, &["items[", "items ["]) =>
        {
            Some((Rule::SkipAdded, "takes tests out of the run"))
        }
        "pytest_runtest_protocol" | "pytest_pyfunc_call" | "pytest_runtest_call" | "pytest_runtestloop"
            if body.phrase().ends_with("return True")
                || !has(&["obj", "testfunction"]) && body.phrase().contains("return True")
                || has(&["suppress", "force_result"])
                || body.below().any(|part| part.is(&["except_clause"])) =>
        {
            Some((Rule::RunnerWeakened, "runs tests in a way that hides failures"))
        }
        _ if assigns(body, &RESULTS) || has(&["force_result"]) => {
            Some((Rule::RunnerWeakened, "changes the results of tests"))
        }
        _ => None,
    }
}

/// Whether a body assigns to an attribute or an item whose name begins so.
fn assigns(body: At<'_>, names: &[&str]) -> bool {
    let lefts = body
        .below()
        .filter(|part| part.is(&["assignment"]))
        .map(|part| part.field_text("left"))
        .filter(|left| left.contains(['.', '[']));
    let mut lefts = lefts.map(|left| left.rsplit('.').next().unwrap_or_default());
    lefts.any(|left| names.iter().any(|name| left.starts_with(name)))
}
