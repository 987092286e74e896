//! Suspicious places in JavaScript: exits, assertions with another meaning, replaced modules, code that knows of its
//! tests.

use super::{answers, retries, swallows::forgives_what_it_is_given};
use crate::language::{
    Role,
    outline::{Mark, Outline, Replaced, Source, quoted},
    role::{file_name, in_support_folder},
    syntax::At,
};
use domain::integrity::Rule;

const TOOLS: [&str; 5] = ["expect", "it", "test", "describe", "assert"];
const MATCHERS: [&str; 12] = [
    "toBe",
    "toEqual",
    "toStrictEqual",
    "toMatchObject",
    "toThrow",
    "toContain",
    "toHaveLength",
    "toBeNull",
    "toBeDefined",
    "toBeTruthy",
    "toMatch",
    "toBeCloseTo",
];

/// What is suspicious about one place.
pub(super) fn at(source: &Source<'_>, at: At<'_>, outline: &mut Outline) {
    match at.kind() {
        "call_expression" => {
            outline.marks.extend(exit(source, at));
            outline.marks.extend(retries::retried(source, at));
            outline.marks.extend(own_matchers(source, at));
            outline.marks.extend(required_tool(source, at));
            outline.marks.extend(answers::by_spy(source, at));
            outline.replaced.extend(mocked(source, at));
        }
        "assignment_expression" => {
            outline.marks.extend(exit_code(source, at));
            outline.marks.extend(assigned_tool(source, at));
            outline.marks.extend(answers::by_assignment(source, at));
            outline.marks.extend(own_loader(source, at));
            outline.replaced.extend(cached(source, at));
        }
        "try_statement" if source.role == Role::Support && is_of_global(at) && forgives_what_it_is_given(at) => {
            let what = "what is run here may fail without anybody hearing of it";
            outline.marks.push(Mark::at(Rule::AssertionRemoved, at, what));
        }
        "variable_declarator" | "function_declaration" => outline.marks.extend(own_tool(source, at)),
        "import_statement" => outline.marks.extend(imported_tool(source, at)),
        "member_expression" | "binary_expression" => outline.marks.extend(differs(source, at)),
        "string_fragment" if source.role == Role::Source && at.text().contains('/') && at.text().contains("test") => {
            outline.borrowed.push(Replaced {
                name: at.text().to_owned(),
                line: at.line(),
                what: format!(
                    "{} takes from the tests what the product should do",
                    quoted(at.whole_line())
                ),
            });
        }
        "comment" => outline.marks.extend(uncovered(source, at)),
        _ => {}
    }
}

/// Whether a place stands in a function that runs when the process ends.
fn at_exit(at: At<'_>) -> bool {
    at.ancestors().any(|outer| {
        let hooks = outer.is(&["call_expression"])
            && matches!(
                outer.field_text("function"),
                "process.on" | "process.once" | "process.prependListener"
            );
        let event = outer
            .field("arguments")
            .and_then(|list| list.children().next())
            .map_or("", At::text);
        hooks && matches!(event.trim_matches(['"', '\'']), "exit" | "beforeExit")
    })
}

fn exit(source: &Source<'_>, at: At<'_>) -> Option<Mark> {
    let called = at.field_text("function");
    let exits = matches!(
        called,
        "process.exit" | "process.abort" | "process.reallyExit" | "Deno.exit"
    ) || called == "process.kill" && at.text().contains("process.pid");
    let what = format!("{} ends the process, and the tests with it", quoted(at.text()));
    let for_tests = source.role == Role::Test
        || source.role == Role::Support && !in_support_folder(source.path)
        || source.role == Role::Settings;
    (exits && (for_tests || at_exit(at))).then(|| Mark::at(Rule::ExitInTest, at, what))
}

fn exit_code(source: &Source<'_>, at: At<'_>) -> Option<Mark> {
    let left = at.field_text("left");
    let for_tests = matches!(source.role, Role::Test | Role::Support) && !in_support_folder(source.path);
    let replaces = left == "process.exit";
    let what = format!("{} decides over the exit code of the tests", quoted(at.text()));
    ((left == "process.exitCode" || replaces) && (for_tests || at_exit(at)))
        .then(|| Mark::at(Rule::ExitInTest, at, what))
}

/// Whether a place is part of what a name of all tests is given: `globalThis.it = …`
fn is_of_global(at: At<'_>) -> bool {
    let mut outer = at.ancestors().filter(|outer| outer.is(&["assignment_expression"]));
    outer.any(|outer| outer.field_text("left").starts_with("global"))
}

fn shadow(at: At<'_>) -> Mark {
    Mark::at(
        Rule::ShadowModule,
        at,
        format!("{} gives the test tools another meaning", quoted(at.text())),
    )
}

fn own_matchers(source: &Source<'_>, at: At<'_>) -> Option<Mark> {
    let extends = source.role != Role::Source && at.field_text("function") == "expect.extend";
    let mut named = at.below().filter(|part| part.is(&["pair", "method_definition"]));
    (extends
        && named.any(|part| MATCHERS.contains(&part.field("key").or_else(|| part.field("name")).map_or("", At::text))))
    .then(|| shadow(at))
}

/// `const expect = …` in a test that is neither imported nor made from the real one.
fn own_tool(source: &Source<'_>, at: At<'_>) -> Option<Mark> {
    let name = at.field_text("name");
    let made = at.is(&["function_declaration"])
        || at.field("value").is_some_and(|value| {
            value.is(&[
                "arrow_function",
                "function_expression",
                "object",
                "class",
                "new_expression",
            ])
        });
    let nested = at
        .ancestors()
        .any(|outer| outer.is(&["function_declaration", "class_declaration"]));
    // A value of a test's own, called by a common word.
    let is_local = at.field("value").is_some_and(|value| value.is(&["object"]))
        && at
            .ancestors()
            .any(|outer| outer.is(&["arrow_function", "function_expression"]));
    let nested = nested || is_local;
    (source.role != Role::Source && !nested && made && TOOLS.contains(&name)).then(|| shadow(at))
}

fn assigned_tool(source: &Source<'_>, at: At<'_>) -> Option<Mark> {
    let left = at.field_text("left");
    let of_all = ["global.", "globalThis.", "window."]
        .iter()
        .find_map(|root| left.strip_prefix(root));
    let tool = of_all.is_some_and(|name| TOOLS.contains(&name))
        || ["assert.", "expect.", "assert[", "expect["]
            .iter()
            .any(|root| left.starts_with(root))
        || left.starts_with("require(") && ["assert", "chai", "expect"].iter().any(|tool| left.contains(tool));
    let made = at
        .field("right")
        .is_some_and(|right| right.is(&["arrow_function", "function_expression", "object"]));
    // The product has no assertions of its own to change, unless it is a library of them.
    let taken_from_tests = || {
        let root = at.ancestors().last();
        root.is_some_and(|root| {
            root.children().filter(|at| at.is(&["import_statement"])).any(|at| {
                let from = at.field_text("source");
                ["assert", "vitest", "jest", "chai", "node:test"]
                    .iter()
                    .any(|tool| from.contains(tool))
            })
        })
    };
    (tool && made && (source.role != Role::Source || taken_from_tests())).then(|| shadow(at))
}

/// Whether a relative path names a file that is called like a test tool.
fn is_own_tool(path: &str) -> bool {
    let path = path.trim_matches(['"', '\'', '`']);
    let stem = file_name(path).split('.').next().unwrap_or_default();
    path.starts_with('.')
        && matches!(
            stem,
            "assert" | "vitest" | "jest" | "chai" | "mocha" | "expect" | "node-test" | "globals"
        )
}

fn imported_tool(source: &Source<'_>, at: At<'_>) -> Option<Mark> {
    let words = at.words();
    let names_tool = words.iter().any(|word| TOOLS.contains(&word.as_str()));
    (source.role == Role::Test && names_tool && is_own_tool(at.field_text("source"))).then(|| shadow(at))
}

fn required_tool(source: &Source<'_>, at: At<'_>) -> Option<Mark> {
    let path = at
        .field("arguments")
        .and_then(|list| list.children().next())
        .map_or("", At::text);
    (source.role == Role::Test && at.field_text("function") == "require" && is_own_tool(path)).then(|| shadow(at))
}

fn mocked(source: &Source<'_>, at: At<'_>) -> Option<Replaced> {
    let called = at.field_text("function");
    let mocks = matches!(
        called,
        "jest.mock"
            | "vi.mock"
            | "jest.doMock"
            | "vi.doMock"
            | "mock.module"
            | "jest.setMock"
            | "jest.unstable_mockModule"
    );
    let first = at.field("arguments")?.children().next()?;
    let keeps = ["requireActual", "importActual", "importOriginal", "spy: true"]
        .iter()
        .any(|word| at.text().contains(word));
    (mocks && !keeps && source.role != Role::Source).then(|| Replaced {
        name: first.text().trim_matches(['"', '\'', '`']).to_owned(),
        line: at.line(),
        what: format!("{} puts something else in its place", quoted(at.text())),
    })
}

/// `Module._load = …`: every import may lead elsewhere.
fn own_loader(source: &Source<'_>, at: At<'_>) -> Option<Mark> {
    let ends = ["._load", "._resolveFilename", ".prototype.require", "._extensions"];
    let left = at.field_text("left");
    let loads = left.contains("odule") && ends.iter().any(|end| left.contains(end));
    let what = format!("{} decides what imports lead to", quoted(at.text()));
    (loads && source.role != Role::Source).then(|| Mark::at(Rule::ShadowModule, at, what))
}

/// `require.cache[require.resolve("./queue")] = …`
fn cached(source: &Source<'_>, at: At<'_>) -> Option<Replaced> {
    let left = at
        .field("left")
        .filter(|left| left.text().starts_with("require.cache["))?;
    let path = left.below().find(|part| part.is(&["string"]))?;
    (source.role != Role::Source).then(|| Replaced {
        name: path.text().trim_matches(['"', '\'', '`']).to_owned(),
        line: at.line(),
        what: format!("{} puts something else in its place", quoted(left.text())),
    })
}

fn differs(source: &Source<'_>, at: At<'_>) -> Option<Mark> {
    if source.role != Role::Source {
        return None;
    }
    let knows = if at.is(&["member_expression"]) {
        matches!(
            at.field_text("property"),
            "JEST_WORKER_ID" | "VITEST" | "VITEST_WORKER_ID" | "NODE_TEST_CONTEXT" | "VITEST_POOL_ID"
        )
    } else {
        let text = at.text();
        let sides = [at.field_text("left"), at.field_text("right")];
        let compares = at.field_text("operator").contains('=');
        let of_environment = text.contains("NODE_ENV")
            && sides
                .iter()
                .any(|side| matches!(side.trim_matches(['"', '\'']), "test" | "testing"));
        let of_globals = sides.iter().any(|side| {
            [
                "typeof describe",
                "typeof it",
                "typeof jest",
                "typeof vi",
                "typeof expect",
            ]
            .contains(side)
        });
        compares && (of_environment || of_globals)
    };
    let what = format!("{} lets the code behave differently under test", quoted(at.text()));
    knows.then(|| Mark::at(Rule::DiffersUnderTest, at, what))
}

fn uncovered(source: &Source<'_>, at: At<'_>) -> Option<Mark> {
    let text = at.text();
    let excluded = [
        "istanbul ignore",
        "c8 ignore",
        "v8 ignore",
        "node:coverage ignore",
        "node:coverage disable",
    ]
    .iter()
    .any(|mark| text.contains(mark));
    let what = format!("{} keeps code out of the coverage", quoted(text));
    (excluded && source.role == Role::Source).then(|| Mark {
        key: text.to_owned(),
        ..Mark::at(Rule::CoverageWeakened, at, what)
    })
}
