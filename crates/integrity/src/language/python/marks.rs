//! Suspicious places in Python: skips of whole files, hooks of pytest, exits, replaced modules, code that knows of its
//! tests.

use super::{
    decorators,
    hooks::hook,
    patches::{assignment, patch},
    skips::skip_statement,
    statements,
    swallows::forgiving,
};
use crate::language::{
    Role,
    outline::{Mark, Outline, Replaced, Source, quoted},
    role::in_support_folder,
    syntax::At,
};
use domain::integrity::Rule;

/// What is suspicious about one place.
pub(super) fn at(source: &Source<'_>, at: At<'_>, outline: &mut Outline) {
    let for_tests = source.role != Role::Source;
    match at.kind() {
        "function_definition" => {
            outline.marks.extend(hook(at));
            outline.marks.extend(equal_to_all(source, at));
            outline.marks.extend(own_assertion(source, at));
        }
        "decorator" if for_tests => outline.marks.extend(retried(at)),
        "assignment" => assignment(source, at, outline),
        "try_statement" if for_tests => outline
            .forgiving
            .extend(forgiving(at).map(|name| (name.to_owned(), at.line()))),
        "call" | "raise_statement" => {
            if for_tests && at.field_text("function") == "getattr" && at.text().contains("pytest.mark") {
                let what = format!("{} makes a mark whose name is hidden", quoted(at.text()));
                outline.marks.push(Mark::at(Rule::SkipAdded, at, what));
            }
            if for_tests && !in_test(at) && at.ancestors().all(|outer| !outer.is(&["decorator", "assignment"])) {
                outline.marks.extend(skip_statement(at).filter(|_| !in_hook(at)));
            }
            outline.marks.extend(exit(source, at));
            outline.marks.extend(unreadable(at).filter(|_| for_tests));
            patch(source, at, outline);
        }
        "string_content" if at.text().contains("PYTEST_CURRENT_TEST") => outline.marks.extend(differs(source, at)),
        "string_content" | "import_from_statement" | "import_statement" if !for_tests => {
            outline.borrowed.extend(borrowed(at));
        }
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

/// `@pytest.mark.flaky(reruns=3)`, `@flaky`: a test that is tried again until it passes.
fn retried(at: At<'_>) -> Option<Mark> {
    let name = at
        .text()
        .trim_start_matches('@')
        .split('(')
        .next()
        .unwrap_or_default()
        .trim();
    let is_of_test = at
        .next()
        .is_some_and(|next| next.field_text("name").to_lowercase().starts_with("test"));
    let what = format!("{} tries tests again until they pass", quoted(at.text()));
    let tries_again = name.ends_with("mark.flaky") || is_of_test && name.rsplit('.').next() == Some("flaky");
    tries_again.then(|| Mark::at(Rule::RunnerWeakened, at, what))
}

/// `exec(b64decode(…))`
fn unreadable(at: At<'_>) -> Option<Mark> {
    let hides = ["b64decode", "fromhex", "unhexlify", "decompress"];
    let runs = matches!(at.field_text("function"), "exec" | "eval");
    let what = format!("{} runs what nobody can read", quoted(at.text()));
    (runs && hides.iter().any(|word| at.text().contains(word))).then(|| Mark::at(Rule::RunnerWeakened, at, what))
}

/// Something that belongs to tests and is used here: a path, a module of theirs, what makes mocks.
fn borrowed(at: At<'_>) -> Option<Replaced> {
    let named = at.field("module_name").or_else(|| at.field("name"));
    let name = named.map_or(at.text(), At::text);
    let of_tests = ["tests.", "test."].iter().any(|start| name.starts_with(start));
    let belongs = match at.kind() {
        "string_content" => name.contains("test") && name.contains('/'),
        _ => of_tests || name == "unittest.mock" || name == "unittest" && at.text().ends_with("import mock"),
    };
    belongs.then(|| Replaced {
        name: name.to_owned(),
        line: at.line(),
        what: format!(
            "{} takes from the tests what the product should do",
            quoted(at.whole_line())
        ),
    })
}

/// The function around a place.
pub(super) fn function_of(at: At<'_>) -> Option<At<'_>> {
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
        || function_of(at).is_some_and(|function| decorators(function).any(|at| at.text().contains("atexit.register")));
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
    let ends = hard || soft && !nested && !as_script && !expected;
    if ends && !is_in_child(at) { mark() } else { None }
}

/// Whether a place only runs in a process that the test forked.
fn is_in_child(at: At<'_>) -> bool {
    function_of(at).is_some_and(|function| function.text().contains("fork("))
        && at
            .ancestors()
            .any(|outer| outer.is(&["if_statement"]) && outer.field_text("condition").ends_with("== 0"))
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
    // A branch that cannot be tried here is everybody's; a whole function or class is not.
    let is_whole = ["def ", "async def ", "class ", "@"]
        .iter()
        .any(|start| code.starts_with(start));
    (source.role == Role::Source && is_whole && !usual).then(|| Mark {
        key: format!("no cover {code}"),
        ..Mark::at(Rule::CoverageWeakened, at, what)
    })
}
