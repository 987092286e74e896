//! Tests that are tried again until they pass.

use crate::language::{
    Role,
    outline::{Mark, Source, quoted},
    syntax::At,
};
use domain::integrity::Rule;

/// `jest.retryTimes(3)`, `this.retries(3)`, and `retry: 3` among the options of a test or of all.
pub(super) fn retried(source: &Source<'_>, at: At<'_>) -> Option<Mark> {
    let called = at.field_text("function");
    let first = called.split('.').next().unwrap_or_default();
    let arguments = || at.field("arguments").into_iter().flat_map(At::children);
    let more_than_none = |at: At<'_>| !matches!(at.text(), "0" | "undefined" | "false");
    let by_call = matches!(called, "jest.retryTimes" | "this.retries")
        && arguments()
            .next()
            .is_some_and(|times| times.is(&["number"]) && more_than_none(times));
    let takes_options = matches!(first, "test" | "it" | "describe") || called == "vi.setConfig";
    let is_option = |pair: &At<'_>| {
        let value = pair.field("value").filter(|value| value.is(&["number"]));
        matches!(pair.field_text("key"), "retry" | "retries") && value.is_some_and(more_than_none)
    };
    let options = arguments().filter(|given| given.is(&["object"])).flat_map(At::children);
    let by_option = takes_options && options.filter(|pair| pair.is(&["pair"])).any(|pair| is_option(&pair));
    let what = format!("{} tries tests again until they pass", quoted(at.whole_line()));
    (source.role != Role::Source && (by_call || by_option)).then(|| Mark::at(Rule::RunnerWeakened, at, what))
}
