//! Suspicious places in Python: skips of whole files, hooks of pytest, exits, replaced modules, code that knows of its
//! tests.

use super::skip_decorator;
use super::skip_statement;
use super::statements;
use crate::domain::integrity::Rule;
use crate::gates::language::Role;
use crate::gates::language::outline::Mark;
use crate::gates::language::outline::Outline;
use crate::gates::language::outline::Replaced;
use crate::gates::language::outline::Source;
use crate::gates::language::outline::quoted;
use crate::gates::language::role::in_support_folder;
use crate::gates::language::syntax::At;

/// What is suspicious about one place.
pub(super) fn at(source: &Source<'_>, at: At<'_>, outline: &mut Outline) {
    let for_tests = source.role != Role::Source;
    match at.kind() {
        "function_definition" => {
            outline.marks.extend(hook(at));
            outline.marks.extend(equal_to_all(source, at));
            outline.marks.extend(own_assertion(source, at));
        }
        "assignment" => assignment(source, at, outline),
        "call" | "raise_statement" => {
            if for_tests && at.field_text("function") == "getattr" && at.text().contains("pytest.mark") {
                let what = format!("{} makes a mark whose name is hidden", quoted(at.text()));
                outline.marks.push(Mark::at(Rule::SkipAdded, at, what));
            }
            if for_tests && !in_test(at) && at.ancestors().all(|outer| !outer.is(&["decorator", "assignment"])) {
                outline.marks.extend(skip_statement(at).filter(|_| !in_hook(at)));
            }
            outline.marks.extend(exit(source, at));
            patch(source, at, outline);
        }
        "string_content" if at.text().contains("PYTEST_CURRENT_TEST") => outline.marks.extend(differs(source, at)),
        "string_content" if for_tests && at.text().contains("PYTEST_ADDOPTS") => {
            let what = format!("{} decides which tests are run", quoted(at.whole_line()));
            outline.marks.push(Mark::at(Rule::RunnerWeakened, at, what));
        }
        "comparison_operator"
            if at.text().contains("sys.modules")
                && ["pytest", "unittest"].iter().any(|name| at.text().contains(name)) =>
        {
            outline.marks.extend(differs(source, at));
        }
        "comment" if at.text().replace(' ', "").contains("pragma:nocover") => {
            outline.marks.extend(uncovered(source, at))
        }
        _ => {}
    }
}

fn function_of(at: At<'_>) -> Option<At<'_>> {
    at.ancestors().find(|outer| outer.is(&["function_definition"]))
}

fn in_test(at: At<'_>) -> bool {
    at.ancestors()
        .any(|outer| outer.is(&["function_definition"]) && outer.field_text("name").starts_with("test"))
}

fn in_hook(at: At<'_>) -> bool {
    at.ancestors()
        .any(|outer| outer.is(&["function_definition"]) && outer.field_text("name").starts_with("pytest_"))
}

/// Functions that pytest calls by name, where they take tests out or write results.
fn hook(at: At<'_>) -> Option<Mark> {
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
    let words = body.words();
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
    let assigns = |names: &[&str]| {
        let lefts = body
            .below()
            .filter(|part| part.is(&["assignment"]))
            .map(|part| part.field_text("left"))
            .filter(|left| left.contains(['.', '[']));
        let mut lefts = lefts.map(|left| left.rsplit('.').next().unwrap_or_default());
        lefts.any(|left| names.iter().any(|name| left.starts_with(name)))
    };
    let (rule, what) = match name {
        "pytest_ignore_collect" | "pytest_deselected" => (Rule::SkipAdded, "keeps tests from being collected"),
        "pytest_collection_modifyitems"
        | "pytest_itemcollected"
        | "pytest_collection_finish"
        | "pytest_runtest_setup"
        | "pytest_pycollect_makeitem"
            if has(&[
                "skip",
                "xfail",
                "skipif",
                "deselect",
                "pytest_deselected",
                "clear",
                "remove",
                "pop",
                "del",
            ]) || assigns(&["items[", "items ["]) =>
        {
            (Rule::SkipAdded, "takes tests out of the run")
        }
        "pytest_runtest_protocol" | "pytest_pyfunc_call" | "pytest_runtest_call" | "pytest_runtestloop"
            if body.phrase().ends_with("return True")
                || has(&["suppress", "force_result"])
                || body.below().any(|part| part.is(&["except_clause"])) =>
        {
            (Rule::RunnerWeakened, "runs tests in a way that hides failures")
        }
        _ if assigns(&[
            "outcome",
            "exitstatus",
            "testsfailed",
            "longrepr",
            "wasxfail",
            "failed",
            "passed",
        ]) || has(&["force_result"]) =>
        {
            (Rule::RunnerWeakened, "changes the results of tests")
        }
        _ => return None,
    };
    Some(Mark {
        key: format!("{name} {what}"),
        ..Mark::at(rule, at, format!("`{name}` {what}"))
    })
}

/// A product class that equals everything makes every comparison true.
fn equal_to_all(source: &Source<'_>, at: At<'_>) -> Option<Mark> {
    let always = at.field_text("name") == "__eq__"
        && statements(at.field("body")?)
            .first()
            .is_some_and(|first| first.text() == "return True");
    let what = "`__eq__` always returns `True`, so that every comparison with it holds";
    (always && source.role == Role::Source).then(|| Mark::at(Rule::AssertionTrivial, at, what))
}

fn own_assertion(source: &Source<'_>, at: At<'_>) -> Option<Mark> {
    const OF_UNITTEST: [&str; 8] = [
        "assertEqual",
        "assertTrue",
        "assertFalse",
        "assertRaises",
        "assertIn",
        "assertIsNone",
        "assertAlmostEqual",
        "assertDictEqual",
    ];
    let name = at.field_text("name");
    let what = format!("`{name}` is defined anew, so that assertions mean something else");
    (source.role != Role::Source && OF_UNITTEST.contains(&name)).then(|| Mark::at(Rule::ShadowModule, at, what))
}

fn assignment(source: &Source<'_>, at: At<'_>, outline: &mut Outline) {
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
        _ if for_tests && left.contains("config.option.") => {
            let what = format!("{} decides which tests are run", quoted(at.text()));
            outline.marks.push(Mark::at(Rule::RunnerWeakened, at, what));
        }
        _ if ["pytest.", "unittest.", "builtins.", "_pytest."]
            .iter()
            .any(|module| left.starts_with(module)) =>
        {
            outline.marks.push(Mark::at(
                Rule::ShadowModule,
                at,
                format!("{} gives the test tools another meaning", quoted(at.text())),
            ));
        }
        _ => {
            let inside = left
                .strip_prefix("sys.modules[")
                .map(|rest| rest.trim_end_matches(']').trim_matches(['"', '\'']));
            let attribute = at
                .field("left")
                .filter(|left| left.is(&["attribute"]) && function_of(*left).is_none() && for_tests)
                .map(At::text);
            outline.replaced.extend(inside.or(attribute).map(|name| Replaced {
                name: name.to_owned(),
                line: at.line(),
                what: format!("{} puts something else in its place", quoted(at.text())),
            }));
        }
    }
}

/// `monkeypatch.setattr` and `patch` for every test at once: in a fixture that is used without being asked for.
fn patch(source: &Source<'_>, at: At<'_>, outline: &mut Outline) {
    let called = at.field_text("function");
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
    let everywhere = function_of(at).is_none()
        || function_of(at)
            .is_some_and(|function| super::decorators(function).any(|at| at.phrase().contains("autouse = True")));
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

fn exit(source: &Source<'_>, at: At<'_>) -> Option<Mark> {
    let called = if at.is(&["raise_statement"]) {
        at.children().next()?.text()
    } else {
        at.field_text("function")
    };
    let registered =
        called.ends_with("atexit.register") && ["os._exit", "os.abort"].iter().any(|exit| at.text().contains(exit));
    if registered {
        return Some(Mark::at(
            Rule::ExitInTest,
            at,
            format!("{} ends the process well, whatever the tests found", quoted(at.text())),
        ));
    }
    let hard = matches!(called, "os._exit" | "_exit" | "os.abort" | "pytest.exit")
        || called == "os.kill" && at.text().contains("getpid");
    let soft = matches!(called, "sys.exit" | "exit" | "quit") || called.starts_with("SystemExit");
    let at_exit = at
        .ancestors()
        .any(|outer| outer.is(&["call"]) && outer.field_text("function").ends_with("atexit.register"))
        || function_of(at)
            .is_some_and(|function| super::decorators(function).any(|at| at.text().contains("atexit.register")));
    let what = format!("{} ends the process, and the tests with it", quoted(at.text()));
    let mark = || Some(Mark::at(Rule::ExitInTest, at, what.clone()));
    if source.role == Role::Source || in_support_folder(source.path) {
        return if hard && at_exit { mark() } else { None };
    }
    let as_script = at
        .ancestors()
        .any(|outer| outer.is(&["if_statement"]) && outer.field_text("condition").contains("__main__"));
    let expected = at.ancestors().any(|outer| {
        outer.is(&["with_statement"])
            && outer
                .children()
                .next()
                .is_some_and(|clause| clause.text().contains("SystemExit"))
    });
    let nested = at
        .ancestors()
        .filter(|outer| outer.is(&["function_definition", "lambda"]))
        .count()
        > 1;
    if hard || soft && !nested && !as_script && !expected {
        mark()
    } else {
        None
    }
}

fn differs(source: &Source<'_>, at: At<'_>) -> Option<Mark> {
    let what = format!("{} lets the code behave differently under test", quoted(at.text()));
    (source.role == Role::Source).then(|| Mark::at(Rule::DiffersUnderTest, at, what))
}

fn uncovered(source: &Source<'_>, at: At<'_>) -> Option<Mark> {
    let line = at.whole_line();
    let usual = [
        "TYPE_CHECKING",
        "__main__",
        "NotImplementedError",
        "ImportError",
        "abstractmethod",
        "__repr__",
        "...",
    ]
    .iter()
    .any(|word| line.contains(word));
    let what = format!("{} keeps code out of the coverage", quoted(line));
    let code = line.split('#').next().unwrap_or_default().trim().to_owned();
    (source.role == Role::Source && !usual).then(|| Mark {
        key: format!("no cover {code}"),
        ..Mark::at(Rule::CoverageWeakened, at, what)
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
