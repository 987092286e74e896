//! Python code that puts something else in the place of what the tests use.

use super::{decorators, marks::function_of, skips::skip_decorator, stand_ins::is_mock};
use crate::language::{
    Role,
    outline::{Mark, Outline, Replaced, Source, quoted},
    syntax::At,
};
use domain::integrity::Rule;

/// What an assignment gives another meaning: the run, the test tools, a module.
pub(super) fn assignment(source: &Source<'_>, at: At<'_>, outline: &mut Outline) {
    let left = at.field_text("left");
    let right = at.field("right");
    let for_tests = source.role != Role::Source;
    match left {
        "pytestmark" if for_tests => {
            let skipping = right.and_then(skip_decorator);
            outline.marks.extend(skipping.map(|mark| Mark {
                line: at.line(),
                what: format!("{} skips tests", quoted(at.text())),
                ..mark
            }));
        }
        "collect_ignore" | "collect_ignore_glob" if right.is_some_and(|right| right.children().next().is_some()) => {
            outline.marks.push(Mark::at(
                Rule::SkipAdded,
                at,
                format!("{} keeps tests from being collected", quoted(at.text())),
            ));
        }
        "failureException" if for_tests => {
            let what = format!("{} decides what counts as a failure", quoted(at.text()));
            outline.marks.push(Mark::at(Rule::RunnerWeakened, at, what));
        }
        _ if for_tests && left.contains("config.option.") => {
            let what = format!("{} decides which tests are run", quoted(at.text()));
            outline.marks.push(Mark::at(Rule::RunnerWeakened, at, what));
        }
        _ if ["pytest.", "unittest.", "builtins.", "_pytest."]
            .iter()
            .any(|module| left.starts_with(module))
            || is_of_test_tools(at, left) =>
        {
            outline.marks.push(Mark::at(
                Rule::ShadowModule,
                at,
                format!("{} gives the test tools another meaning", quoted(at.text())),
            ));
        }
        _ => {
            outline.marks.extend(own_answer(source, at));
            outline.replaced.extend(replaced(at, left, for_tests));
        }
    }
}

/// The module or the attribute that an assignment puts something else in the place of.
fn replaced(at: At<'_>, left: &str, for_tests: bool) -> Option<Replaced> {
    let module = left
        .strip_prefix("sys.modules[")
        .map(|rest| rest.trim_end_matches(']').trim_matches(['"', '\'']));
    let attribute = at
        .field("left")
        .filter(|left| left.is(&["attribute"]) && function_of(*left).is_none() && for_tests)
        .map(At::text);
    module.or(attribute).map(|name| Replaced {
        name: name.to_owned(),
        line: at.line(),
        what: format!("{} puts something else in its place", quoted(at.text())),
    })
}

/// `queue.length = lambda: 1` where the same function asserts something of `queue.length()`.
fn own_answer(source: &Source<'_>, at: At<'_>) -> Option<Mark> {
    let left = at.field("left").filter(|left| left.is(&["attribute"]))?;
    let right = at.field("right")?;
    let body = function_of(at)?;
    let answered = |part: At<'_>| part.is(&["call"]) && part.field_text("function") == left.text() && is_in_check(part);
    let answers = source.role == Role::Test && (right.is(&["lambda"]) || is_mock(right)) && body.below().any(answered);
    let what = format!("{} puts an answer in the place of what is tested", quoted(at.text()));
    answers.then(|| Mark::at(Rule::ShadowModule, at, what))
}

/// Whether `Function.runtest` is an attribute of something that the file imports from the test tools.
fn is_of_test_tools(at: At<'_>, left: &str) -> bool {
    let Some((name, _)) = left.split_once('.') else {
        return false;
    };
    let Some(root) = at.ancestors().last() else {
        return false;
    };
    let imports = root.below().filter(|at| at.is(&["import_from_statement"]));
    imports.into_iter().any(|import| {
        let from = import.field_text("module_name").split('.').next().unwrap_or_default();
        matches!(from, "pytest" | "_pytest" | "unittest" | "pluggy")
            && import
                .below()
                .any(|part| part.is(&["identifier"]) && part.text() == name)
    })
}

/// `monkeypatch.setattr` and `patch` for every test at once: in a fixture that is used without being asked for.
pub(super) fn patch(source: &Source<'_>, at: At<'_>, outline: &mut Outline) {
    let called = at.field_text("function");
    outline.marks.extend(own_answer_by_patch(source, at));
    let Some(first) = at.field("arguments").and_then(|list| list.children().next()) else {
        return;
    };
    let tools = ["pytest", "unittest", "builtins"]
        .iter()
        .any(|tool| first.text().trim_matches(['"', '\'']).split('.').next() == Some(tool));
    if source.role != Role::Source && called == "setattr" && tools {
        outline.marks.push(Mark::at(
            Rule::ShadowModule,
            at,
            format!("{} gives the test tools another meaning", quoted(at.text())),
        ));
    }
    let patches = called.ends_with(".setattr")
        || called == "patch"
        || called.ends_with(".patch")
        || called.ends_with("patch.object");
    let decorates = at.ancestors().any(|outer| outer.is(&["decorator"]));
    let everywhere = function_of(at).is_none() && !decorates
        || function_of(at)
            .is_some_and(|function| decorators(function).any(|at| at.phrase().contains("autouse = True")));
    if source.role == Role::Source || !patches || !everywhere && !calls_what_it_patches(at, first) {
        return;
    }
    let second = at
        .field("arguments")
        .and_then(|list| list.children().nth(1))
        .filter(|second| second.is(&["string"]) && !first.is(&["string"]));
    let mut name = first.text().trim_matches(['"', '\'']).to_owned();
    if let Some(second) = second {
        name = format!("{name}.{}", second.text().trim_matches(['"', '\'']));
    }
    outline.replaced.push(Replaced {
        name,
        line: at.line(),
        what: format!("{} puts something else in its place", quoted(at.text())),
    });
}

/// `monkeypatch.setattr(rates, "convert", …)` where the same test asserts something of `rates.convert()`.
fn own_answer_by_patch(source: &Source<'_>, at: At<'_>) -> Option<Mark> {
    let called = at.field_text("function");
    let plain = |part: At<'_>| part.text().trim_matches(['"', '\'']).to_owned();
    let mut given = at.field("arguments")?.children();
    let (first, second) = (given.next()?, given.next());
    let by_name = second.filter(|second| second.is(&["string"])).map(plain);
    let target = match (first.is(&["string"]), by_name) {
        (true, _) => plain(first),
        (false, Some(name)) if called.ends_with(".setitem") && first.text() == "globals()" => name,
        (false, Some(name)) => format!("{}.{name}", first.text()),
        (false, None) => return None,
    };
    let patches = [".setattr", ".setitem", "patch", "patch.object"]
        .iter()
        .any(|end| called.ends_with(end));
    let decorated = at.ancestors().find(|outer| outer.is(&["decorated_definition"]));
    let test = function_of(at).or_else(|| decorated?.field("definition"))?;
    let is_it = |name: &str| !name.is_empty() && (target == name || target.ends_with(&format!(".{name}")));
    // What stands behind a `with` is not answered by it.
    let within = at.ancestors().find(|outer| outer.is(&["with_statement"]));
    let within = within
        .filter(|outer| outer.field("body").is_some_and(|body| !body.holds(at)))
        .unwrap_or(test);
    let asked = |part: At<'_>| part.is(&["call"]) && is_it(part.field_text("function")) && is_in_check(part);
    let answers = source.role == Role::Test && patches && !at.text().contains("wraps") && within.below().any(asked);
    let what = format!("{} puts an answer in the place of what is tested", quoted(at.text()));
    answers.then(|| Mark::at(Rule::ShadowModule, at, what))
}

/// Whether a place is part of what an assertion is about.
fn is_in_check(at: At<'_>) -> bool {
    at.ancestors().any(|outer| {
        outer.is(&["assert_statement"])
            || outer.is(&["call"])
                && outer
                    .field_text("function")
                    .rsplit('.')
                    .next()
                    .is_some_and(|name| name.starts_with("assert"))
    })
}

/// Whether the function that patches something calls just that.
fn calls_what_it_patches(at: At<'_>, target: At<'_>) -> bool {
    let last = |text: &str| {
        text.trim_matches(['"', '\''])
            .rsplit('.')
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    let name = last(target.text());
    let decorated = at
        .ancestors()
        .find(|outer| outer.is(&["decorated_definition"]))
        .and_then(|outer| outer.field("definition"));
    let Some(body) = function_of(at)
        .or(decorated)
        .and_then(|function| function.field("body"))
    else {
        return false;
    };
    target.is(&["string"])
        && body
            .below()
            .any(|part| part.is(&["call"]) && last(part.field_text("function")) == name)
}
