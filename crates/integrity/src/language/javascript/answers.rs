//! JavaScript tests that put an answer in the place of a method, and then check that very answer.

use crate::language::{
    Role,
    outline::{Mark, Source, quoted},
    syntax::At,
};
use domain::integrity::Rule;

const ANSWERS: [&str; 5] = [
    "mockReturnValue",
    "mockReturnValueOnce",
    "mockImplementation",
    "mockResolvedValue",
    "returns",
];

/// `spyOn(calc, 'add').mockReturnValue(4)`, `mock.method(calc, 'add', () => 4)`, where the same test expects of `calc.add()`.
pub(super) fn by_spy(source: &Source<'_>, at: At<'_>) -> Option<Mark> {
    let spies = ["jest.spyOn", "vi.spyOn", "sinon.stub"];
    let answering = at
        .field("function")
        .filter(|function| ANSWERS.contains(&function.field_text("property")))
        .and_then(|function| function.field("object"))
        .filter(|spy| spies.contains(&spy.field_text("function")));
    let method = matches!(
        at.field_text("function"),
        "mock.method" | "t.mock.method" | "context.mock.method"
    );
    let spy = answering.or_else(|| method.then_some(at))?;
    let mut given = spy.field("arguments")?.children();
    let called = format!(
        "{}.{}",
        given.next()?.text(),
        given.next()?.text().trim_matches(['"', '\'', '`'])
    );
    (!method || given.next().is_some()).then_some(())?;
    mark(source, at, &called)
}

/// `queue.length = () => 1` where the same test expects of `queue.length()`.
pub(super) fn by_assignment(source: &Source<'_>, at: At<'_>) -> Option<Mark> {
    let left = at.field("left").filter(|left| left.is(&["member_expression"]))?;
    let made = at.field("right")?;
    let answers = made.is(&["arrow_function", "function_expression"])
        || made.is(&["call_expression"]) && made.text().contains(".fn(");
    answers.then(|| mark(source, at, left.text())).flatten()
}

fn mark(source: &Source<'_>, at: At<'_>, called: &str) -> Option<Mark> {
    let body = at
        .ancestors()
        .find(|outer| outer.is(&["arrow_function", "function_expression"]))?;
    let is_check = |call: At<'_>| {
        let name = call.field_text("function");
        name == "expect" || name == "assert" || name.starts_with("assert.") || name.starts_with("t.assert")
    };
    let expected = |part: At<'_>| {
        part.is(&["call_expression"])
            && part.field_text("function") == called
            && part
                .ancestors()
                .take_while(|outer| !outer.is(&["arrow_function", "function_expression"]))
                .any(|outer| outer.is(&["arguments"]) && outer.parent().is_some_and(is_check))
    };
    let tests_itself = source.role == Role::Test && body.below().any(expected);
    let what = format!("{} puts an answer in the place of what is tested", quoted(at.text()));
    tests_itself.then(|| Mark::at(Rule::ShadowModule, at, what))
}
